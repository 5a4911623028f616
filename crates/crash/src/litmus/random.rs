//! Random programs before the oracle.

use super::observe::{Case, HOST_SEEDS};
use super::owners::Owners;
use super::subject::Subject;
use super::timing::Timings;
use super::varied::varied;
use crate::judge::fault::FaultKind;
use crate::judge::order::{judge_all, Models};
use serde::Serialize;
use strandline_isa::Primitive;
use strandline_kernel::Rng;
use strandline_order::litmus::{
    Class, Condition, FlushKind, Formula, Hosts, Instruction, Location, LocationId, LocationKind, Operand, Quantifier,
    Register,
};
use strandline_order::{Model, Test};
use strandline_sim::Error;

/// The results of random programs under a design.
#[derive(Clone, Debug, Serialize)]
pub struct RandomReport {
    /// The design.
    pub design: &'static str,
    /// Programs run.
    pub programs: u64,
    /// Programs whose run the model leaves undefined, because of a race.
    pub undefined: u64,
    /// Crash states judged.
    pub crash_states: u64,
    /// Violations, shrunk; at most one for each call.
    pub violations: Vec<RandomViolation>,
}

/// A program with a crash state that the model forbids.
#[derive(Clone, Debug, Serialize)]
pub struct RandomViolation {
    /// The design.
    pub design: &'static str,
    /// The seed of the unshrunk program and of its run.
    pub seed: u64,
    /// The preset of the machine.
    pub machine: String,
    /// The kind of violation, in one word.
    pub kind: FaultKind,
    /// Instructions of the program.
    pub size: usize,
    /// The program, as a litmus test.
    pub program: String,
    /// What is wrong, by lines.
    pub detail: Vec<String>,
}

/// Runs a random program of each seed on a random machine, and judges every crash state. Stops at the first violation,
/// and shrinks it.
///
/// # Errors
/// A run without progress.
pub fn random(subject: &dyn Subject, first_seed: u64, programs: u64) -> Result<RandomReport, Error> {
    aimed(subject, first_seed, programs, &mut || false)
}

/// As [`random`]. What `reaches` says to be worth it is kept after its run, and every other program is then a variation of one
/// that was kept.
///
/// # Errors
/// As [`random`].
pub fn aimed(
    subject: &dyn Subject,
    first_seed: u64,
    programs: u64,
    reaches: &mut dyn FnMut() -> bool,
) -> Result<RandomReport, Error> {
    let mut kept: Vec<Test> = Vec::new();
    let mut tester = Tester::of(subject)?;
    let mut report = RandomReport {
        design: subject.about().name,
        programs: 0,
        undefined: 0,
        crash_states: 0,
        violations: Vec::new(),
    };
    for seed in first_seed..first_seed + programs {
        let test = match kept.is_empty() || seed % 2 == 0 {
            true => program(tester.models.plain(), seed),
            false => varied(&kept, &mut Rng::new(seed)),
        };
        let tried = tester.run(&test, seed)?;
        if reaches() {
            kept.push(test.clone());
        }
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

/// What the first of these programs that fails shows, without shrinking it.
///
/// # Errors
/// As [`random`].
pub fn first_failure(subject: &dyn Subject, first_seed: u64, programs: u64) -> Result<Option<FaultKind>, Error> {
    let mut tester = Tester::of(subject)?;
    for seed in first_seed..first_seed + programs {
        let test = program(tester.models.plain(), seed);
        if let Some((kind, _)) = tester.run(&test, seed)?.wrong {
            return Ok(Some(kind));
        }
    }
    Ok(None)
}

struct Tester<'s> {
    subject: &'s dyn Subject,
    timings: Timings,
    models: Models,
}

/// Number of machines on which a shrunk program is tried.
const TRIES: u64 = 400;

/// How a program went.
struct Tried {
    crash_states: u64,
    /// The model leaves it undefined.
    undefined: bool,
    machine: String,
    /// The violation: its kind, and lines of detail.
    wrong: Option<(FaultKind, Vec<String>)>,
}

impl<'s> Tester<'s> {
    fn of(subject: &'s dyn Subject) -> Result<Tester<'s>, Error> {
        let about = subject.about();
        Ok(Tester {
            subject,
            timings: Timings::of(about, None)?,
            models: Models::named(about.model)?,
        })
    }

    fn run(&mut self, test: &Test, seed: u64) -> Result<Tried, Error> {
        let case = Case::of(self.subject, &self.timings, test, seed);
        let observed = match case.observe(self.subject) {
            Ok(observed) => observed,
            // No program may hang the machine.
            Err(Error::Stuck { dead, text }) => {
                let mut lines = vec![text];
                lines.extend(case.describe(test));
                return Ok(Tried {
                    crash_states: 0,
                    undefined: false,
                    machine: case.machine.name,
                    wrong: Some((FaultKind::of_stuck(dead), lines)),
                });
            }
            Err(error) => return Err(error),
        };
        let model = self.models.on(&case.machine)?;
        let judged = judge_all(model, &observed.journal, &case.initial, &|addr| case.name(test, addr));
        let wrong = judged.disorder.map(|disorder| {
            let mut lines = vec![format!("power fails at cycle {}: {}", disorder.at, disorder.what)];
            lines.extend(observed.describe(test, disorder.event));
            (FaultKind::Forbidden, lines)
        });
        Ok(Tried {
            crash_states: match judged.is_undefined {
                true => 0,
                false => observed.journal.durable.len() as u64 + 1,
            },
            undefined: judged.is_undefined,
            machine: case.machine.name,
            wrong,
        })
    }

    /// A seed with which the program fails in this way.
    fn failing(&mut self, test: &Test, seed: u64, kind: FaultKind) -> Option<u64> {
        let mut seeds = std::iter::once(seed).chain(0..TRIES);
        seeds.find(|seed| {
            let tried = self.run(test, *seed).ok();
            tried.and_then(|tried| tried.wrong).is_some_and(|wrong| wrong.0 == kind)
        })
    }

    /// The smallest program that still fails in this way, found by leaving out one instruction after the other.
    fn shrunk(&mut self, mut test: Test, seed: u64, kind: FaultKind) -> Result<RandomViolation, Error> {
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

/// Number of instructions of a program.
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

/// Maximum number of threads, and of instructions per thread.
const THREADS: u64 = 4;
const INSTRUCTIONS: u64 = 14;

/// One in this many threads ends with a line that leaves the caches and returns.
const RETURNS_ONE_IN: u64 = 8;

/// Number of contexts of a program, if any; one in this many instructions sets a context or fences one.
const CONTEXTS: u64 = 3;
const CONTEXT_ONE_IN: u64 = 5;

/// One in this many instructions acquires or releases, if the model has such instructions.
const SYNCHRONISING_ONE_IN: u64 = 3;

/// A random program of instructions that the model defines and the machine executes. Hosts share no volatile memory.
fn program(model: &Model, seed: u64) -> Test {
    let rng = &mut Rng::new(seed);
    let threads = 1 + rng.below(THREADS) as usize;
    let has = |class: Class| model.isa().contains(&class);
    let flushes = [
        (Class::Clwb, FlushKind::Clwb),
        (Class::ClflushOpt, FlushKind::ClflushOpt),
        (Class::Clflush, FlushKind::Clflush),
    ];
    // A store barrier belongs to the machine, whatever the model.
    let fences = model.isa().iter().copied().filter(|class| class.alone().is_some());
    let (persistent, mut volatile) = (1 + rng.below(5), rng.below(3));
    if seed >= HOST_SEEDS {
        volatile = 0;
    }
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
        hosts: Hosts::default(),
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
    /// Ownership of locations, if the model leaves races undefined.
    owners: Option<Owners>,
    outputs: u64,
    values: u8,
    /// The flushes and fences of the model's instruction set, the simplest first.
    flushes: Vec<FlushKind>,
    fences: Vec<Class>,
    non_temporal: bool,
    /// Whether there are contexts, and fences that name one.
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
        let mut thread: Vec<Instruction> = (0..count).map(|_| self.instruction()).collect();
        if self.rng.one_in(RETURNS_ONE_IN) {
            thread.extend(self.return_of_a_line());
        }
        thread
    }

    /// A line that is written, leaves the caches, is read back and flushed, before another store.
    fn return_of_a_line(&mut self) -> Vec<Instruction> {
        let (at, then) = (self.persistent_data(), self.persistent_data());
        let others: Vec<LocationId> = (0..3).map(|_| self.data()).collect();
        let load = |register: Register, at: LocationId| Instruction::Load(register, at, false);
        let mut thread = vec![Instruction::Store(at, self.operand(), false), self.locked()];
        thread.extend(others.into_iter().map(|other| load(Register(1), other)));
        if !self.rng.one_in(3) {
            thread.push(load(Register(0), at));
        }
        let kind = self.flushes.first().copied();
        thread.push(kind.map_or(Instruction::Persist(at), |kind| Instruction::Flush(at, kind)));
        thread.extend([self.fence(), Instruction::Store(then, self.operand(), false)]);
        thread
    }

    fn persistent(&mut self) -> LocationId {
        LocationId(self.rng.below(self.persistent) as u8)
    }

    fn any(&mut self) -> LocationId {
        LocationId(self.rng.below(self.persistent + self.volatile) as u8)
    }

    /// The location of a plain load or store.
    fn data(&mut self) -> LocationId {
        match &self.owners {
            Some(owners) => owners.data(self.rng),
            None => self.any(),
        }
    }

    /// The location of a persistent store.
    fn persistent_data(&mut self) -> LocationId {
        match &self.owners {
            Some(owners) => owners.data(self.rng),
            None => self.persistent(),
        }
    }

    /// An acquire load or a release store.
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

    /// A unique value, so that memory shows its store; or a loaded value, so that the store depends on it.
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

    /// A random index; the first is as frequent as all others together.
    fn index(&mut self, count: usize) -> usize {
        match self.rng.one_in(2) {
            true => 0,
            false => self.rng.below(count.max(1) as u64) as usize,
        }
    }

    /// A flush, or the flush intent without flush instructions.
    fn flush(&mut self) -> Instruction {
        let (at, index) = (self.persistent(), self.index(self.flushes.len()));
        let kind = self.flushes.get(index);
        kind.map_or(Instruction::Persist(at), |kind| Instruction::Flush(at, *kind))
    }

    fn fence(&mut self) -> Instruction {
        let index = self.index(self.fences.len());
        Instruction::Fence(self.fences[index])
    }

    /// Sets a context or fences one, whichever is current.
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
