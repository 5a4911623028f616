//! Whether a test is worth keeping.

use super::family::FAMILIES;
use strandline_isa::Primitive;
use strandline_order::litmus::{Class, Instruction, LocationId, Operand};
use strandline_order::{allowed, Fault, Model, State, Test};

/// All models, and the variants that decide a family's conditions. Other variants are left out, because a test of a
/// variant is also a test of its model.
pub struct Judge {
    models: Vec<Model>,
}

/// The verdicts of the models on a test's condition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Verdict {
    /// The models that accept the test, each with whether it forbids the condition's state.
    pub forbidden: Vec<(String, bool)>,
}

impl Verdict {
    /// Whether a model forbids the state.
    pub fn of(&self, model: &str) -> bool {
        self.forbidden
            .iter()
            .any(|(name, forbidden)| name == model && *forbidden)
    }

    /// Whether it distinguishes two models.
    pub fn tells_apart(&self) -> bool {
        self.forbidden.iter().any(|(_, forbidden)| *forbidden) && self.forbidden.iter().any(|(_, forbidden)| !forbidden)
    }
}

impl Judge {
    /// With all built-in models.
    pub fn new() -> Result<Judge, Fault> {
        let mut names = Model::names();
        names.extend(FAMILIES.iter().map(|family| family.main.to_owned()));
        names.sort();
        names.dedup();
        let models = names.iter().map(|name| Model::named(name)).collect::<Result<_, _>>()?;
        Ok(Judge { models })
    }

    /// What all models say.
    pub fn verdict(&self, test: &Test) -> Result<Verdict, Fault> {
        let mut forbidden = Vec::new();
        for model in self.models.iter().filter(|model| model.takes(test)) {
            forbidden.push((model.name(), forbids(test, model)?));
        }
        Ok(Verdict { forbidden })
    }

    /// Whether some model's verdict needs the whole test: no claim or instruction is redundant.
    pub fn is_minimal(&self, test: &Test, claims: &[(String, u8)], verdict: &Verdict) -> Result<bool, Fault> {
        for model in self.models.iter().filter(|model| model.takes(test)) {
            let needed = match verdict.of(&model.name()) {
                true => needs_all(test, claims, model)?,
                false => is_released(test, claims, model)?,
            };
            if needed {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn forbids(test: &Test, model: &Model) -> Result<bool, Fault> {
    let allowed = allowed(test, model)?;
    Ok(!allowed.undefined && !allowed.states.iter().any(|state| test.is_claimed(state)))
}

/// Whether the model forbids the state, and allows it without any one claim or with any one instruction weakened.
fn needs_all(test: &Test, claims: &[(String, u8)], model: &Model) -> Result<bool, Fault> {
    let allowed = allowed(test, model)?;
    let observed = test.observed();
    let holds = |state: &State, (name, value): &(String, u8)| {
        let index = observed.iter().position(|at| test.location(*at).name == *name);
        index.is_some_and(|index| state[index] == *value)
    };
    let others_hold = |left_out: usize, state: &State| {
        let others = claims.iter().enumerate().filter(|(index, _)| *index != left_out);
        others.into_iter().all(|(_, claim)| holds(state, claim))
    };
    let idle = |left_out: usize| !allowed.states.iter().any(|state| others_hold(left_out, state));
    if allowed.undefined || (0..claims.len()).any(idle) {
        return Ok(false);
    }
    for weaker in weaker(test, claims) {
        if forbids(&weaker, model)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the model allows the state only because of an instruction that removes order.
fn is_released(test: &Test, claims: &[(String, u8)], model: &Model) -> Result<bool, Fault> {
    for stronger in stronger(test) {
        if model.takes(&stronger) && forbids(&stronger, model)? && needs_all(&stronger, claims, model)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the test has an instruction that may order something.
pub fn may_order(test: &Test, claims: &[(String, u8)]) -> bool {
    !weaker(test, claims).is_empty()
}

/// The test with one ordering instruction removed or made plain.
fn weaker(test: &Test, claims: &[(String, u8)]) -> Vec<Test> {
    changed(test, |instruction| match instruction {
        Instruction::Store(at, ..) if is_private(test, at) && !is_claimed(test, at, claims) => Some(None),
        Instruction::Flush(..)
        | Instruction::Persist(_)
        | Instruction::ContextFence(_)
        | Instruction::SetContext(_) => Some(None),
        Instruction::Fence(class) if !takes_order_away(class) => Some(None),
        Instruction::StoreNt(at, value) | Instruction::Store(at, value, true) => {
            Some(Some(Instruction::Store(at, value, false)))
        }
        Instruction::Load(register, at, true) => Some(Some(Instruction::Load(register, at, false))),
        Instruction::Exchange(at, register) => Some(Some(Instruction::Store(at, Operand::Register(register), false))),
        Instruction::LoadAt(register, at, _) => Some(Some(Instruction::Load(register, at, false))),
        Instruction::StoreAt(at, _, value) => Some(Some(Instruction::Store(at, value, false))),
        Instruction::Jump(_) => Some(None),
        _ => None,
    })
}

/// The test with one order-removing instruction removed or made plain.
fn stronger(test: &Test) -> Vec<Test> {
    changed(test, |instruction| match instruction {
        Instruction::Fence(class) if takes_order_away(class) => Some(None),
        Instruction::SetContext(_) => Some(None),
        Instruction::ContextFence(context) if context > 0 => Some(Some(Instruction::ContextFence(0))),
        Instruction::StoreNt(at, value) => Some(Some(Instruction::Store(at, value, false))),
        _ => None,
    })
}

/// Whether only one thread names a location.
fn is_private(test: &Test, at: LocationId) -> bool {
    let names = |thread: &&Vec<Instruction>| thread.iter().any(|instruction| instruction.location() == Some(at));
    test.threads.iter().filter(names).count() == 1
}

fn is_claimed(test: &Test, at: LocationId, claims: &[(String, u8)]) -> bool {
    claims.iter().any(|(name, _)| *name == test.location(at).name)
}

fn takes_order_away(class: Class) -> bool {
    matches!(class, Class::Primitive(Primitive::NewStrand) | Class::Strand)
}

fn changed(test: &Test, change: impl Fn(Instruction) -> Option<Option<Instruction>>) -> Vec<Test> {
    let mut tests = Vec::new();
    for (thread, instructions) in test.threads.iter().enumerate() {
        for (index, instruction) in instructions.iter().enumerate() {
            let Some(new) = change(*instruction) else { continue };
            let mut other = test.clone();
            match new {
                Some(new) => other.threads[thread][index] = new,
                None => _ = other.threads[thread].remove(index),
            }
            tests.push(other);
        }
    }
    tests
}
