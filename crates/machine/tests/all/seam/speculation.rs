//! What the machine does for designs that speculate: messages when a context is drained, flushes by instruction, and
//! snoops of cores that have a checkpoint.

use crate::common::{as_plain, preset, put, system};
use std::cell::RefCell;
use std::rc::Rc;
use strandline_design::{
    Access, Admission, Checkpoint, Departure, Design, Never, Ordering, RollsBack, Services, Snoop, Store, Types, Wants,
};
use strandline_isa::{Addr, CoreId, Cpu, Flush, Line, Primitive, PM_BASE};
use strandline_machine::{factory, Outcome, SimCpu, System};

/// The context of this number is drained.
#[derive(Clone, Debug)]
struct Drained(u8);

/// A flush of this context.
#[derive(Clone, Debug)]
struct Of(u8);

struct Own;

impl Types for Own {
    type Gate = Never;
    type Message = Drained;
    type Tag = Of;
    type Note = Never;
}

type Hw<'a> = dyn Services<Own> + 'a;

/// What happened, and in which cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Did {
    Visible(Addr),
    Acknowledged(u8),
    Drained(u8),
    Snooped(CoreId, CoreId, Line, Access),
}

/// At an `sfence` it asks for a message and begins the next context. It sends flushes itself. At a `pcommit` it takes a
/// checkpoint, which it never releases.
#[derive(Default)]
struct Contexts {
    context: u8,
    checkpoint: Option<Checkpoint>,
    did: Log,
}

/// What happened, each in its cycle.
type Log = Rc<RefCell<Vec<(u64, Did)>>>;

impl Contexts {
    fn note(&self, hw: &Hw<'_>, did: Did) {
        self.did.borrow_mut().push((hw.now().0, did));
    }
}

impl Design for Contexts {
    type Own = Own;

    as_plain!();

    fn wants(&self) -> Wants {
        rolls_back()
    }

    fn primitive(&mut self, hw: &mut Hw<'_>, core: CoreId, primitive: Primitive) -> Admission<Never> {
        match primitive {
            Primitive::Sfence => {
                hw.message_when_drained(core, self.context, Drained(self.context));
                self.context += 1;
                hw.set_context(core, self.context);
            }
            Primitive::Pcommit => self.checkpoint = hw.checkpoint(core),
            other => panic!("{other:?}"),
        }
        Admission::Pass
    }

    fn departs(&mut self, hw: &mut Hw<'_>, core: CoreId, ordering: Ordering, context: u8) -> Departure<Never> {
        let Ordering::Flush(line, flush) = ordering else {
            panic!("{ordering:?}")
        };
        hw.flush_line(core, line, flush, Of(context));
        Departure::Keep
    }

    fn acknowledged(&mut self, hw: &mut Hw<'_>, core: CoreId, Of(context): Of) {
        self.note(hw, Did::Acknowledged(context));
        hw.acknowledge(core, context);
    }

    fn visible(&mut self, hw: &mut Hw<'_>, _: CoreId, store: Store) {
        self.note(hw, Did::Visible(store.addr));
    }

    fn message(&mut self, hw: &mut Hw<'_>, Drained(context): Drained) {
        self.note(hw, Did::Drained(context));
    }

    fn snooped(
        &mut self,
        hw: &mut Hw<'_>,
        owner: CoreId,
        requester: CoreId,
        line: Line,
        access: Access,
    ) -> Snoop<Never, Never> {
        self.note(hw, Did::Snooped(owner, requester, line, access));
        Snoop::Grant(None)
    }
}

fn rolls_back() -> Wants {
    Wants {
        rolls_back: RollsBack::Always,
        ..Wants::default()
    }
}

const A: u64 = PM_BASE;
const B: u64 = PM_BASE + 4096;

/// What happened in a run of this program.
fn run(program: fn(&SimCpu<'_>)) -> (Vec<(u64, Did)>, Outcome) {
    let (mut system, did) = contexts(1);
    put(&mut system, 0, program);
    let outcome = system.run().expect("it ends");
    (did.take(), outcome)
}

/// A system of `cores` cores, and what happens in it.
fn contexts(cores: usize) -> (System, Log) {
    let design = Contexts::default();
    let did = design.did.clone();
    (system(&preset("sp"), design, cores), did)
}

fn fence(cpu: &SimCpu<'_>) {
    cpu.primitive(Primitive::Sfence);
}

fn store(cpu: &SimCpu<'_>, at: u64) {
    cpu.word(at).store(cpu.word(1));
}

#[test]
fn a_message_comes_in_the_cycle_in_which_its_context_is_drained() {
    let (did, _) = run(|cpu: &SimCpu<'_>| {
        store(cpu, A);
        cpu.word(A).flush_by(Flush::Clwb);
        fence(cpu);
        store(cpu, B);
        fence(cpu);
        fence(cpu);
    });
    let (times, did): (Vec<u64>, Vec<Did>) = did.into_iter().unzip();
    let expected = [
        // No store or flush is of this context.
        Did::Drained(2),
        Did::Visible(Addr(A)),
        // A store of a later context is not waited for, and does not wait.
        Did::Visible(Addr(B)),
        Did::Drained(1),
        Did::Acknowledged(0),
        Did::Drained(0),
    ];
    assert_eq!(did, expected);
    assert_eq!(times[2], times[3]);
    assert_eq!(times[4], times[5]);
}

/// Reads and writes of persistent memory when a stored line is flushed by this instruction, and then loaded.
fn traffic(program: fn(&SimCpu<'_>)) -> (u64, u64) {
    let (_, outcome) = run(program);
    (outcome.stats.pm_reads, outcome.stats.pm_writes)
}

fn flush_and_load(cpu: &SimCpu<'_>, flush: Flush) {
    store(cpu, A);
    cpu.word(A).flush_by(flush);
    // The flush is over before the load begins.
    let mut at = cpu.word(0);
    for _ in 0..5_000 {
        at = at + 1;
    }
    (cpu.word(A) + (at - 5_000)).load();
}

#[test]
fn a_flush_of_the_design_leaves_the_line_or_takes_it_from_the_caches_as_its_instruction_says() {
    // The store reads the line; a load reads it again if the flush has taken it.
    assert_eq!(traffic(|cpu| flush_and_load(cpu, Flush::Clwb)), (1, 1));
    assert_eq!(traffic(|cpu| flush_and_load(cpu, Flush::ClflushOpt)), (2, 1));
    assert_eq!(traffic(|cpu| flush_and_load(cpu, Flush::Clflush)), (2, 1));
}

/// The snoops for a non-temporal store of core 1, with a checkpoint of core 0 or without.
fn snoops_for_a_non_temporal_store(speculates: bool) -> Vec<Did> {
    let core_1 = |cpu: &SimCpu<'_>| {
        // Core 0 has its checkpoint.
        let mut value = cpu.word(0);
        for _ in 0..500 {
            value = value + 1;
        }
        cpu.word(A).store_nt(value);
    };
    let (mut system, did) = contexts(2);
    put(&mut system, 0, move |cpu| {
        if speculates {
            cpu.primitive(Primitive::Pcommit);
        }
    });
    put(&mut system, 1, core_1);
    system.run().expect("it ends");
    let did = did.take().into_iter().map(|(_, did)| did);
    did.filter(|did| matches!(did, Did::Snooped(..))).collect()
}

/// It has never used the line, so that the caches know nothing of it.
#[test]
fn a_core_with_a_checkpoint_is_snooped_for_non_temporal_stores() {
    let snoop = Did::Snooped(CoreId(0), CoreId(1), Addr(A).line(), Access::Own);
    assert_eq!(snoops_for_a_non_temporal_store(true), [snoop]);
    assert_eq!(snoops_for_a_non_temporal_store(false), []);
}

/// At each `pcommit` it asks for a checkpoint, and at the first `sfence` it rolls the core back to the one of this number.
struct LosesOneOf {
    lost: Option<usize>,
    checkpoints: Rc<RefCell<Vec<Option<Checkpoint>>>>,
}

impl Design for LosesOneOf {
    type Own = Own;

    as_plain!();

    fn wants(&self) -> Wants {
        rolls_back()
    }

    fn primitive(&mut self, hw: &mut Hw<'_>, core: CoreId, primitive: Primitive) -> Admission<Never> {
        let mut checkpoints = self.checkpoints.borrow_mut();
        match (primitive, self.lost) {
            (Primitive::Pcommit, _) => checkpoints.push(hw.checkpoint(core)),
            (_, Some(lost)) => {
                self.lost = None;
                hw.roll_back(core, checkpoints[lost].expect("a checkpoint"));
            }
            (_, None) => {}
        }
        Admission::Pass
    }
}

/// A program that asks about an instruction, and is rolled back by the answer, does not go on behind it. The one that is
/// begun anew does.
#[test]
fn a_program_that_is_rolled_back_when_it_asks_ends_there() {
    let reached = Rc::new(RefCell::new(Vec::new()));
    let design = LosesOneOf {
        lost: Some(0),
        checkpoints: Rc::default(),
    };
    let mut system = system(&preset("sp"), design, 1);
    let log = reached.clone();
    let program = move |cpu: &SimCpu<'_>| {
        let log = log.clone();
        {
            log.borrow_mut().push("begin");
            cpu.primitive(Primitive::Pcommit);
            log.borrow_mut().push("checkpoint");
            fence(cpu);
            log.borrow_mut().push("end");
        }
    };
    system.start(CoreId(0), factory(program));
    system.run().expect("it ends");
    assert_eq!(reached.take(), ["begin", "checkpoint", "begin", "checkpoint", "end"]);
}

/// A core that is rolled back gets no checkpoint there again, so that it makes progress; with an older one it does, since
/// what is before that becomes certain.
#[test]
fn a_core_that_is_rolled_back_has_a_checkpoint_there_again_if_an_older_one_is_kept() {
    let again = |lost| {
        let checkpoints = Rc::default();
        let design = LosesOneOf {
            lost: Some(lost),
            checkpoints: Rc::clone(&checkpoints),
        };
        let mut system = system(&preset("sp"), design, 1);
        let program = |cpu: &SimCpu<'_>| {
            cpu.primitive(Primitive::Pcommit);
            cpu.word(A).load();
            cpu.primitive(Primitive::Pcommit);
            fence(cpu);
        };
        system.start(CoreId(0), factory(program));
        system.run().expect("it ends");
        let taken: Vec<bool> = checkpoints.borrow().iter().map(Option::is_some).collect();
        taken[2..].to_vec()
    };
    assert_eq!(again(0), [false, true], "the oldest");
    assert_eq!(again(1), [true], "a younger one");
}

/// The machine is given back by a program that panics: its state can still be read.
#[test]
fn a_program_that_panics_gives_the_machine_back() {
    let (mut system, _) = contexts(1);
    put(&mut system, 0, |cpu: &SimCpu<'_>| {
        cpu.word(A).load();
        panic!("a bug of the program");
    });
    let run = std::panic::AssertUnwindSafe(|| system.run().map(|_| ()));
    assert!(std::panic::catch_unwind(run).is_err());
    assert_eq!(system.look(CoreId(0)).instructions, 1);
}
