//! The crash states that a model allows.

use crate::cat::Evaluator;
use crate::execution::{executions, Execution};
use crate::litmus::{Instruction, LocationId, LocationKind, Quantifier, Test};
use crate::model::Model;
use crate::relation::Relation;
use crate::structure::{EventKind, Wanted};
use crate::unroll::Unrolled;
use crate::Fault;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Maximum number of cuts, over all executions.
const MOST_CUTS: u64 = 2_000_000;

/// Maximum number of places to which the threads that fail may have come.
const MOST_MOMENTS: usize = 10_000;

/// The values of [`Test::observed`], in its order.
pub type State = Vec<u8>;

/// What a model allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// The states.
    pub states: BTreeSet<State>,
    /// Whether the model leaves the test undefined.
    pub undefined: bool,
}

/// The crash states of a test that a model allows.
///
/// # Errors
/// The test has too many executions, or they have too many cuts.
pub fn allowed(test: &Test, model: &Model) -> Result<Allowed, Fault> {
    let mut allowed = Allowed {
        states: BTreeSet::new(),
        undefined: false,
    };
    let mut left = Some(MOST_CUTS);
    for moment in &moments(test, model.wanted())? {
        insert_states(moment, model, &mut allowed, &mut left)?;
    }
    match left {
        Some(_) => Ok(allowed),
        None => Err(Fault::of_whole(format!(
            "more than {MOST_CUTS} cuts of executions: use fewer stores and outputs, or order more of them"
        ))),
    }
}

/// What may have happened of a test when hosts fail: all of it, of which the cuts leave out some; or, where a model asks for all
/// that happened, each beginning of the threads that do not survive. They end with a store or an output: nothing else that comes
/// last makes a state possible.
///
/// # Errors
/// There are too many.
pub(crate) fn moments(test: &Test, wanted: Wanted) -> Result<Vec<Cow<'_, Test>>, Fault> {
    let mut moments = vec![Cow::Borrowed(test)];
    for thread in (0..test.threads.len()).filter(|thread| wanted.owners && !test.hosts.survives(*thread)) {
        let instructions = test.threads[thread].iter().enumerate();
        let shows =
            instructions.filter(|(_, instruction)| instruction.stores() || matches!(instruction, Instruction::Out(..)));
        let ends: Vec<usize> = std::iter::once(0).chain(shows.map(|(at, _)| at + 1)).collect();
        let shorter = |moment: &Cow<'_, Test>| {
            let ended = ends.iter().map(|end| {
                let mut moment = moment.clone().into_owned();
                moment.threads[thread].truncate(*end);
                Cow::Owned(moment)
            });
            ended.collect::<Vec<_>>()
        };
        if moments.len() * ends.len() > MOST_MOMENTS {
            return Err(Fault::of_whole(format!(
                "threads that fail may have come to more than {MOST_MOMENTS} places: use fewer stores and outputs"
            )));
        }
        moments = moments.iter().flat_map(shorter).collect();
    }
    Ok(moments)
}

/// Adds the states of a test's executions, as long as cuts are left.
fn insert_states(test: &Test, model: &Model, allowed: &mut Allowed, left: &mut Option<u64>) -> Result<(), Fault> {
    let unrolled = Unrolled::of(test, model.wanted());
    let persists = Persists::of(test, &unrolled);
    let mut evaluator = Evaluator::new(model.program(), &unrolled.structure);
    executions(test, &unrolled, |execution| {
        let Some(cuts) = *left else {
            return;
        };
        if let Some(verdict) = evaluator.verdict(&execution.candidate) {
            allowed.undefined |= verdict.flagged;
            let order = persists.order(&verdict.pmo);
            *left = insert_cuts(&mut allowed.states, &persists, &execution, &order, cuts);
        }
    })
}

/// Adds the states of an execution's cuts; returns the remaining number of cuts, `None` if there were too many.
fn insert_cuts(
    states: &mut BTreeSet<State>,
    persists: &Persists,
    execution: &Execution,
    order: &[u64],
    mut left: u64,
) -> Option<u64> {
    let flow = each_cut(order, persists.certain, persists.never, &mut |cut| {
        if left == 0 {
            return ControlFlow::Break(());
        }
        left -= 1;
        states.insert(persists.state(execution, cut));
        ControlFlow::Continue(())
    });
    flow.is_continue().then_some(left)
}

/// The candidate states: each location with each value that it has in some candidate execution. Empty if there are more
/// than `most`.
///
/// # Errors
/// The test has too many executions.
pub fn thinkable(test: &Test, most: usize) -> Result<BTreeSet<State>, Fault> {
    let unrolled = Unrolled::of(
        test,
        Wanted {
            rest: true,
            ..Wanted::default()
        },
    );
    let persists = Persists::of(test, &unrolled);
    let mut values: Vec<BTreeSet<u8>> = persists
        .cells
        .iter()
        .map(|cell| BTreeSet::from([cell.initial]))
        .collect();
    executions(test, &unrolled, |execution| {
        for (cell, values) in persists.cells.iter().zip(&mut values) {
            values.extend(cell.events.iter().map(|event| execution.values[*event]));
        }
    })?;
    if values
        .iter()
        .map(BTreeSet::len)
        .try_fold(1usize, usize::checked_mul)
        .is_none_or(|count| count > most)
    {
        return Ok(BTreeSet::new());
    }
    let longer = |states: Vec<State>, values: &BTreeSet<u8>| {
        let with = |state: &State| {
            values
                .iter()
                .map(|value| [state.as_slice(), &[*value]].concat())
                .collect::<Vec<_>>()
        };
        states.iter().flat_map(with).collect()
    };
    Ok(values.iter().fold(vec![State::new()], longer).into_iter().collect())
}

impl Test {
    /// Whether the condition's formula is true of a state.
    #[must_use]
    pub fn is_claimed(&self, state: &[u8]) -> bool {
        let observed = self.observed();
        let value = |at: LocationId| observed.iter().position(|id| *id == at).map_or(0, |index| state[index]);
        self.condition.formula.holds(&value)
    }

    /// Whether the condition is true of a set of states.
    #[must_use]
    pub fn condition_holds(&self, states: &BTreeSet<State>) -> bool {
        let mut claimed = states.iter().map(|state| self.is_claimed(state));
        match self.condition.quantifier {
            Quantifier::Exists => claimed.any(|claimed| claimed),
            Quantifier::NotExists => !claimed.any(|claimed| claimed),
            Quantifier::Forall => claimed.all(|claimed| claimed),
        }
    }
}

/// The persistent events of a test, which a crash state shows.
pub(crate) struct Persists {
    /// The events, as bits of a cut: the first is bit 0.
    pub events: Vec<usize>,
    /// The bit of each event of the test; 0 if it is not persistent.
    bits: Vec<u64>,
    /// The bits of what happens whatever fails: outputs and ends of threads that survive.
    pub certain: u64,
    /// The bit of the failure of hosts, behind which nothing of theirs is kept.
    pub never: u64,
    /// For each observed location, its initial value and the events that may change it.
    cells: Vec<ObservedCell>,
}

struct ObservedCell {
    location: usize,
    initial: u8,
    events: Vec<usize>,
    output: bool,
}

impl Persists {
    pub(crate) fn of(test: &Test, unrolled: &Unrolled) -> Persists {
        let cells = test.observed().into_iter().map(|id| {
            let output = test.location(id).kind == LocationKind::Output;
            let events = unrolled.origin.iter().enumerate().filter(|(index, origin)| {
                let event = &unrolled.events[*index];
                let instruction = origin.map(|(thread, place)| test.threads[thread][place]);
                let named = instruction.and_then(|instruction| instruction.location());
                match event.kind {
                    EventKind::Output => named == Some(id),
                    // The rest of a line is of another location than the instruction names.
                    kind => {
                        kind.writes()
                            && origin.is_some()
                            && event.cell.and_then(|cell| cell.location) == Some(id.0.into())
                    }
                }
            });
            ObservedCell {
                location: id.0 as usize,
                initial: test.location(id).initial,
                events: events.map(|(index, _)| index).collect(),
                output,
            }
        });
        let cells: Vec<ObservedCell> = cells.collect();
        let survives = |event: usize| {
            let event = &unrolled.events[event];
            matches!(event.kind, EventKind::Output | EventKind::End)
                && event
                    .thread
                    .is_some_and(|thread| unrolled.all_is_known || test.hosts.survives(thread))
        };
        let written = cells.iter().flat_map(|cell| cell.events.iter().copied());
        let events: BTreeSet<usize> = written
            .chain((0..unrolled.events.len()).filter(|event| survives(*event)))
            .chain(unrolled.failure)
            .collect();
        let events: Vec<usize> = events.into_iter().collect();
        let mut bits = vec![0; unrolled.events.len()];
        events
            .iter()
            .enumerate()
            .for_each(|(bit, event)| bits[*event] = 1 << bit);
        let certain = (0..bits.len()).filter(|event| survives(*event));
        Persists {
            certain: certain.fold(0, |certain, event| certain | bits[event]),
            never: unrolled.failure.map_or(0, |failure| bits[failure]),
            events,
            bits,
            cells,
        }
    }

    /// For each persistent event, as bits, those that must persist before it.
    pub(crate) fn order(&self, pmo: &Relation) -> Vec<u64> {
        let closed = pmo.clone().closure();
        let mut before = vec![0; self.events.len()];
        for (bit, event) in self.events.iter().enumerate() {
            let later = closed.after(*event).map(|later| self.bits[later]);
            later
                .filter(|later| *later != 0)
                .for_each(|later| before[later.trailing_zeros() as usize] |= 1 << bit);
        }
        before
    }

    pub(crate) fn has(&self, cut: u64, event: usize) -> bool {
        cut & self.bits[event] != 0
    }

    /// What a cut leaves.
    pub(crate) fn state(&self, execution: &Execution, cut: u64) -> State {
        let value = |cell: &ObservedCell| {
            let inside = |event: &&usize| self.has(cut, **event);
            let last = match cell.output {
                true => cell.events.iter().find(inside),
                false => execution.orders[cell.location].iter().rev().find(inside),
            };
            last.map_or(cell.initial, |event| execution.values[*event])
        };
        self.cells.iter().map(value).collect()
    }
}

/// Calls `see` with every cut: each set that has, with an event, all events that must persist before it, and has what
/// is certain, and nothing that `never` must precede. Stops when `see` breaks.
pub(crate) fn each_cut(
    before: &[u64],
    certain: u64,
    never: u64,
    see: &mut impl FnMut(u64) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut after = vec![0u64; before.len()];
    for (later, bits) in before.iter().enumerate() {
        (0..before.len())
            .filter(|bit| bits >> bit & 1 == 1)
            .for_each(|bit| after[bit] |= 1 << later);
    }
    let sure = (0..before.len()).filter(|bit| certain >> bit & 1 == 1);
    let inside = sure.fold(certain, |inside, bit| inside | before[bit]);
    let lost = (0..before.len()).filter(|bit| never >> bit & 1 == 1);
    let outside = lost.fold(never, |outside, bit| outside | after[bit]);
    match inside & outside {
        0 => decide(before, &after, 0, inside, outside, see),
        _ => ControlFlow::Continue(()),
    }
}

fn decide(
    before: &[u64],
    after: &[u64],
    next: usize,
    inside: u64,
    outside: u64,
    see: &mut impl FnMut(u64) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if next == before.len() {
        return see(inside);
    }
    let bit = 1u64 << next;
    if inside & bit != 0 || outside & bit != 0 {
        return decide(before, after, next + 1, inside, outside, see);
    }
    let with = bit | before[next];
    if with & outside == 0 {
        decide(before, after, next + 1, inside | with, outside, see)?;
    }
    let without = bit | after[next];
    if without & inside == 0 {
        decide(before, after, next + 1, inside, outside | without, see)?;
    }
    ControlFlow::Continue(())
}
