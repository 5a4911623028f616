//! Random programs before the oracle.

use super::observe::observe;
use super::owners::Owners;
use super::subject::Subject;
use super::timing::Timings;
use crate::fault::Kind;
use crate::order::{judge_all, Models};
use serde::Serialize;
use strandline_isa::Primitive;
use strandline_kernel::Rng;
use strandline_order::litmus::{
    Class, Condition, FlushKind, Formula, Instruction, Location, LocationId, LocationKind, Operand, Quantifier,
    Register,
};
use strandline_order::{Model, Test};
use strandline_sim::Error;

/// What random programs showed of a design.
#[derive(Clone, Debug, Serialize)]
pub struct RandomReport {
    /// The design.
    pub design: &'static str,
    /// Programs run.
    pub programs: u64,
    /// Programs whose run the model says nothing about, since it has a race.
    pub undefined: u64,
    /// Crash states judged.
    pub crash_states: u64,
    /// What was found, shrunk; at most one of each call.
    pub violations: Vec<RandomViolation>,
}

/// A program with a crash state that the model does not allow.
#[derive(Clone, Debug, Serialize)]
pub struct RandomViolation {
    /// The design.
    pub design: &'static str,
    /// The seed that makes the program, before it was shrunk, and its run again.
    pub seed: u64,
    /// The preset that the machine was made of.
    pub machine: String,
    /// What is wrong, in a word.
    pub kind: Kind,
    /// Instructions of the program.
    pub size: usize,
    /// The program, as a litmus test.
    pub program: String,
    /// What is wrong, by lines.
    pub detail: Vec<String>,
}

/// Runs a random program of each seed on a random machine, and looks at every state that a crash would leave. Stops at the first
/// violation, and shrinks it.
///
/// # Errors
/// A run without progress.
pub fn random(subject: &dyn Subject, first_seed: u64, programs: u64) -> Result<RandomReport, Error> {
    let about = subject.about();
    let mut tester = Tester {
        subject,
        timings: Timings::of(about, None)?,
        models: Models::named(about.model)?,
    };
    let mut report = RandomReport {
        design: about.name,
        programs: 0,
        undefined: 0,
        crash_states: 0,
        violations: Vec::new(),
    };
    for seed in first_seed..first_seed + programs {
        let test = program(tester.models.plain(), &mut Rng::new(seed));
        let tried = tester.run(&test, seed)?;
        report.programs += 1;
        report.undefined += u64::from(tried.undefined);
        report.crash_states += tried.crash_states;
        if let Some((kind, _)) = tried.wrong {
            report.violations.push(tester.shrunk(test, seed, kind)?);
            break;
        }
    }
    Ok(report)
}

struct Tester<'s> {
    subject: &'s dyn Subject,
    timings: Timings,
    models: Models,
}

/// Machines on which a shrunk program is tried.
const TRIES: u64 = 400;

/// How a program went.
struct Tried {
    crash_states: u64,
    /// The model says nothing about it.
    undefined: bool,
    machine: String,
    /// What is wrong: in a word, and by lines.
    wrong: Option<(Kind, Vec<String>)>,
}

impl Tester<'_> {
    fn run(&mut self, test: &Test, seed: u64) -> Result<Tried, Error> {
        let observed = match observe(self.subject, &self.timings, test, seed) {
            Ok(observed) => observed,
            // No program may bring the machine to a stop.
            Err(Error::Stuck { dead, text }) => {
                return Ok(Tried {
                    crash_states: 0,
                    undefined: false,
                    machine: String::new(),
                    wrong: Some((Kind::of_stuck(dead), vec![text])),
                })
            }
            Err(error) => return Err(error),
        };
        let model = self.models.on(&observed.machine)?;
        let judged = judge_all(model, &observed.journal, &observed.initial);
        let wrong = judged.disorder.map(|disorder| {
            let mut lines = vec![format!("power fails at cycle {}: {}", disorder.at, disorder.what)];
            lines.extend(observed.describe(test, disorder.event));
            (Kind::Forbidden, lines)
        });
        Ok(Tried {
            crash_states: match judged.is_undefined {
                true => 0,
                false => observed.journal.durable.len() as u64 + 1,
            },
            undefined: judged.is_undefined,
            machine: observed.machine.name,
            wrong,
        })
    }

    /// A seed with which the program fails in this way.
    fn failing(&mut self, test: &Test, seed: u64, kind: Kind) -> Option<u64> {
        let mut seeds = std::iter::once(seed).chain(0..TRIES);
        seeds.find(|seed| {
            let tried = self.run(test, *seed).ok();
            tried.and_then(|tried| tried.wrong).is_some_and(|wrong| wrong.0 == kind)
        })
    }

    /// The smallest program found by leaving instructions out, one after the other, that still fails in this way.
    fn shrunk(&mut self, mut test: Test, seed: u64, kind: Kind) -> Result<RandomViolation, Error> {
        let mut timing = seed;
        let mut index = 0;
        while index < size(&test) {
            let smaller = without(&test, index);
            match self.failing(&smaller, timing, kind) {
                Some(found) => {
                    timing = found;
                    test = smaller;
                    index = 0;
                }
                None => index += 1,
            }
        }
        let tried = self.run(&test, timing)?;
        Ok(RandomViolation {
            design: self.subject.about().name,
            seed,
            machine: tried.machine,
            kind,
            size: size(&test),
            program: test.to_string(),
            detail: tried.wrong.map(|wrong| wrong.1).unwrap_or_default(),
        })
    }
}

/// How many instructions a program has.
fn size(test: &Test) -> usize {
    test.threads.iter().map(Vec::len).sum()
}

/// The program without its `index`-th instruction.
fn without(test: &Test, index: usize) -> Test {
    let mut test = test.clone();
    let mut left = index;
    for thread in &mut test.threads {
        if left < thread.len() {
            thread.remove(left);
            break;
        }
        left -= thread.len();
    }
    test
}

/// The most threads, and instructions of one.
const THREADS: u64 = 4;
const INSTRUCTIONS: u64 = 14;

/// Contexts of a program, where there are any, and once in how many instructions one sets a context or fences one.
const CONTEXTS: u64 = 3;
const CONTEXT_ONE_IN: u64 = 5;

/// Once in how many instructions one acquires or releases, where there are any that do.
const SYNCHRONISING_ONE_IN: u64 = 3;

/// A random program of what a model gives a meaning to and the machine executes.
fn program(model: &Model, rng: &mut Rng) -> Test {
    let threads = 1 + rng.below(THREADS) as usize;
    let has = |class: Class| model.isa().contains(&class);
    let flushes = [
        (Class::Clwb, FlushKind::Clwb),
        (Class::ClflushOpt, FlushKind::ClflushOpt),
        (Class::Clflush, FlushKind::Clflush),
    ];
    // A store barrier is the machine's, whatever the model.
    let fences = model.isa().iter().copied().filter(|class| class.alone().is_some());
    let (persistent, volatile) = (1 + rng.below(5), rng.below(3));
    let owners = has(Class::Acquiring).then(|| Owners::of(threads, persistent, volatile, rng));
    let context_fences = has(Class::Primitive(Primitive::Cfence(0)));
    let mut maker = Maker {
        persistent: owners.as_ref().map_or(persistent, Owners::persistent),
        volatile,
        owners,
        outputs: 0,
        values: 0,
        flushes: flushes
            .into_iter()
            .filter(|(class, _)| has(*class))
            .map(|(_, kind)| kind)
            .collect(),
        fences: fences.chain([Class::Primitive(Primitive::StoreBarrier)]).collect(),
        non_temporal: has(Class::Nt),
        contexts: context_fences || has(Class::Primitive(Primitive::Dfence)),
        context_fences,
        rng,
    };
    let threads: Vec<Vec<Instruction>> = (0..threads).map(|thread| maker.thread(thread)).collect();
    let outputs = maker.outputs;
    let mut locations = maker.locations();
    locations.extend((0..outputs).map(|index| location(format!("o{index:02}"), LocationKind::Output, 0)));
    Test {
        name: "random".to_owned(),
        title: String::new(),
        locations,
        threads,
        condition: Condition {
            quantifier: Quantifier::Forall,
            formula: Formula::True,
        },
    }
}

fn location(name: String, kind: LocationKind, line: usize) -> Location {
    Location {
        name,
        kind,
        line,
        initial: 0,
    }
}

struct Maker<'r> {
    persistent: u64,
    volatile: u64,
    /// Who may access what, where the model says nothing of races.
    owners: Option<Owners>,
    outputs: u64,
    values: u8,
    /// The flushes and fences of the model's instruction set, the plainest first.
    flushes: Vec<FlushKind>,
    fences: Vec<Class>,
    non_temporal: bool,
    /// Whether there are contexts, and whether there are fences that name one.
    contexts: bool,
    context_fences: bool,
    rng: &'r mut Rng,
}

impl Maker<'_> {
    /// Persistent locations, some of which share a line, and volatile ones.
    fn locations(&mut self) -> Vec<Location> {
        let mut locations: Vec<Location> = Vec::new();
        for index in 0..self.persistent as usize {
            let line = match index > 0 && self.rng.one_in(4) {
                true => locations[index - 1].line,
                false => index,
            };
            locations.push(location(format!("a{index}"), LocationKind::Persistent, line));
        }
        let persistent = self.persistent as usize;
        let volatile = (0..self.volatile as usize)
            .map(|index| location(format!("f{index}"), LocationKind::Volatile, persistent + index));
        locations.extend(volatile);
        locations
    }

    fn thread(&mut self, number: usize) -> Vec<Instruction> {
        if let Some(owners) = &mut self.owners {
            owners.turn(number);
        }
        let count = 2 + self.rng.below(INSTRUCTIONS - 1);
        (0..count).map(|_| self.instruction()).collect()
    }

    fn persistent(&mut self) -> LocationId {
        LocationId(self.rng.below(self.persistent) as u8)
    }

    fn any(&mut self) -> LocationId {
        LocationId(self.rng.below(self.persistent + self.volatile) as u8)
    }

    /// Where a plain load or store goes.
    fn data(&mut self) -> LocationId {
        match &self.owners {
            Some(owners) => owners.data(self.rng),
            None => self.any(),
        }
    }

    /// Where a store that persists goes.
    fn persistent_data(&mut self) -> LocationId {
        match &self.owners {
            Some(owners) => owners.data(self.rng),
            None => self.persistent(),
        }
    }

    /// A load that acquires or a store that releases.
    fn synchronising(&mut self) -> Option<Instruction> {
        let owners = self.owners.as_ref()?;
        if !self.rng.one_in(SYNCHRONISING_ONE_IN) {
            return None;
        }
        let at = owners.synchronising(self.rng);
        Some(match self.rng.one_in(2) {
            true => Instruction::Load(self.register(), at, true),
            false => Instruction::Store(at, self.operand(), true),
        })
    }

    fn register(&mut self) -> Register {
        Register(self.rng.below(2) as u8)
    }

    /// A value of its own, so that memory tells which store it came from; or what was read, so that it depends on that.
    fn operand(&mut self) -> Operand {
        if self.rng.one_in(5) {
            return Operand::Register(self.register());
        }
        self.values = self.values.wrapping_add(1);
        Operand::Number(self.values)
    }

    fn instruction(&mut self) -> Instruction {
        if self.contexts && self.rng.one_in(CONTEXT_ONE_IN) {
            return self.context();
        }
        if let Some(instruction) = self.synchronising() {
            return instruction;
        }
        match self.rng.below(40) {
            0..=11 => Instruction::Store(self.data(), self.operand(), false),
            12..=13 if self.non_temporal => Instruction::StoreNt(self.persistent(), self.operand()),
            14..=17 => Instruction::Load(self.register(), self.data(), false),
            18..=25 => self.flush(),
            26..=32 => self.fence(),
            33..=34 => self.locked(),
            35..=36 => self.output(),
            37 => Instruction::Persist(self.persistent()),
            38 => self.intent(),
            _ => Instruction::Store(self.persistent_data(), self.operand(), false),
        }
    }

    /// An index of so many; the first as often as all others.
    fn index(&mut self, count: usize) -> usize {
        match self.rng.one_in(2) {
            true => 0,
            false => self.rng.below(count.max(1) as u64) as usize,
        }
    }

    /// A flush, or the intent of one where there is none.
    fn flush(&mut self) -> Instruction {
        let (at, index) = (self.persistent(), self.index(self.flushes.len()));
        let kind = self.flushes.get(index);
        kind.map_or(Instruction::Persist(at), |kind| Instruction::Flush(at, *kind))
    }

    fn fence(&mut self) -> Instruction {
        let index = self.index(self.fences.len());
        Instruction::Fence(self.fences[index])
    }

    /// A context is set, or waited for, whichever is current.
    fn context(&mut self) -> Instruction {
        let context = self.rng.below(CONTEXTS) as u8;
        match self.context_fences && self.rng.one_in(2) {
            true => Instruction::ContextFence(context),
            false => Instruction::SetContext(context),
        }
    }

    fn locked(&mut self) -> Instruction {
        let at = match &self.owners {
            Some(owners) => owners.locked(self.rng),
            None => self.any(),
        };
        match self.rng.one_in(2) {
            true => Instruction::Exchange(at, self.register()),
            false => Instruction::Add(at, self.register()),
        }
    }

    fn output(&mut self) -> Instruction {
        self.outputs += 1;
        let at = LocationId((self.persistent + self.volatile + self.outputs - 1) as u8);
        Instruction::Out(at, self.operand())
    }

    fn intent(&mut self) -> Instruction {
        let intents = [Class::Order, Class::Commit, Class::Durable, Class::Strand];
        Instruction::Fence(intents[self.rng.below(4) as usize])
    }
}
