//! Random programs with fences by context on random machines: they end, and at no cycle has a fence retired before the
//! stores and flushes of its context that are older. What is pending is read from the core's queues and buffers and held
//! against what the program says it has issued; the counters that the fence itself asks are checked, not believed.

use super::ledger::{check, Issued, Kind, Ledger};
use super::random_machine::random_machine;
use super::with_contexts;
use crate::common::{preset, start};
use crate::laws::cases;
use proptest::prelude::*;
use strandline_design::{boxed, About, Admission, Design, Key, Never, Plain, Services, Until};
use strandline_designs::Cosplay;
use strandline_isa::{Addr, CoreId, Cpu, Flush, Lowering, Memory, Primitive, PM_BASE};
use strandline_kernel::{forward, Cycles, Rng};
use strandline_machine::{MachineConfig, Options, SimCpu, System};

const LINES: u64 = 6;
const COUNTER: u64 = 64;

/// What is wrong with a design, so that the check is seen to find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    /// `cfence` waits for the context after its own.
    NextContext,
    /// `cfence` waits for nothing.
    NoFence,
    /// `setctx` does nothing.
    NoSetctx,
}

/// COSPlay with a flaw.
struct Flawed {
    design: Cosplay,
    flaw: Flaw,
}

impl Design for Flawed {
    type Own = Plain;

    forward! { self.design =>
        fn about(&self) -> About;
        fn lowering(&self) -> Lowering;
        fn locked_waits_for(&mut self, core: CoreId) -> Option<Until<Never>>;
    }

    fn primitive(&mut self, hw: &mut dyn Services<Plain>, core: CoreId, primitive: Primitive) -> Admission<Never> {
        match (self.flaw, primitive) {
            (Flaw::NextContext, Primitive::Cfence(c)) => self.design.primitive(hw, core, Primitive::Cfence(c + 1)),
            (Flaw::NoFence, Primitive::Cfence(_)) | (Flaw::NoSetctx, Primitive::Setctx(_)) => Admission::Pass,
            _ => self.design.primitive(hw, core, primitive),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Store(u64),
    StoreNt(u64),
    Flush(u64, Flush),
    Load(u64),
    Add,
    Work(u64),
    Setctx(u8),
    Cfence(u8),
    Sfence,
}

fn op(rng: &mut Rng, used: u64) -> Op {
    let line = rng.below(LINES);
    let context = rng.below(used) as u8;
    match rng.below(24) {
        0..=4 => Op::Store(line),
        5 => Op::StoreNt(line),
        6..=10 => Op::Flush(line, Flush::Clwb),
        11 => Op::Flush(line, [Flush::ClflushOpt, Flush::Clflush][rng.below(2) as usize]),
        12 => Op::Load(line),
        13 => Op::Add,
        14 => Op::Work(rng.below(300)),
        15..=18 => Op::Setctx(context),
        19..=22 => Op::Cfence(context),
        _ => Op::Sfence,
    }
}

/// The core's own word of a line: cores share lines but no words.
fn word(core: u16, line: u64) -> Addr {
    Addr(PM_BASE + line * 64 + u64::from(core) * 8)
}

fn play(cpu: &SimCpu<'_>, core: u16, ops: Vec<Op>, ledger: Ledger) {
    let mut context = 0;
    for op in ops {
        let write = |kind, line| Some(Issued::Write(kind, word(core, line).line(), context));
        let at = |line| cpu.word(word(core, line).0);
        let issued = match op {
            Op::Store(line) => {
                at(line).store(cpu.word(1));
                write(Kind::Store, line)
            }
            Op::StoreNt(line) => {
                at(line).store_nt(cpu.word(2));
                write(Kind::StoreNt, line)
            }
            Op::Flush(line, kind) => {
                at(line).flush_by(kind);
                write(Kind::Flush, line)
            }
            Op::Cfence(of) => {
                cpu.primitive(Primitive::Cfence(of));
                Some(Issued::Fence(Some(of)))
            }
            Op::Sfence => {
                cpu.primitive(Primitive::Sfence);
                Some(Issued::Fence(None))
            }
            Op::Setctx(to) => {
                cpu.primitive(Primitive::Setctx(to));
                context = to;
                None
            }
            Op::Load(line) => {
                at(line).load();
                None
            }
            Op::Add => {
                cpu.word(COUNTER).fetch_add(cpu.word(1));
                None
            }
            Op::Work(n) => {
                let mut x = cpu.word(1);
                for _ in 0..n {
                    x = x + 1;
                }
                None
            }
        };
        ledger.borrow_mut().extend(issued);
    }
}

/// What a run showed: that fences were held, and that they retired while other contexts were pending.
#[derive(Default)]
struct Seen {
    held: bool,
    passed_others: bool,
}

/// Long enough for every program here many times over.
const END: u64 = 3_000_000;

/// Runs programs and looks at every core in every cycle.
fn watch(machine: &MachineConfig, contexts: u64, flaw: Flaw, programs: &[Vec<Op>], seed: u64) -> Result<Seen, String> {
    let design = Flawed {
        design: with_contexts(contexts),
        flaw,
    };
    let options = Options {
        seed,
        ..Options::default()
    };
    let mut system = System::new(machine, boxed(design), programs.len(), Memory::new(4096, 4096), options);
    let ledgers: Vec<Ledger> = programs.iter().map(|_| Ledger::default()).collect();
    for (core, ops) in programs.iter().enumerate() {
        let (ops, ledger) = (ops.clone(), ledgers[core].clone());
        start(&mut system, core as u16, move |cpu| {
            play(cpu, core as u16, ops.clone(), ledger.clone())
        });
    }
    let mut seen = Seen::default();
    for cycle in 0..END {
        let goes_on = system.run_until(cycle).map_err(|stuck| stuck.to_string())?;
        for (core, ledger) in ledgers.iter().enumerate() {
            let (view, ledger) = (system.look(CoreId(core as u16)), ledger.borrow());
            check(&ledger, &view, contexts).map_err(|wrong| format!("cycle {cycle}, core {core}: {wrong}"))?;
            seen.held |= view.held.is_some();
            let passed = matches!(ledger.last(), Some(Issued::Fence(Some(_)))) && view.held.is_none();
            seen.passed_others |= passed && !view.pending.is_empty();
        }
        if !goes_on {
            return Ok(seen);
        }
    }
    Err(format!("no end after {END} cycles"))
}

/// A random case: in half of them more contexts are used than the design has.
fn case(seed: u64, cores: u64, length: u64, flaw: Flaw) -> Result<Seen, String> {
    let mut rng = Rng::new(seed);
    let mut machine = random_machine(&mut rng);
    // One that waits in the store queue has retired before.
    machine.core.fences_retire = false;
    let contexts = 1 + rng.below(8);
    let used = if rng.one_in(2) {
        1 + rng.below(contexts)
    } else {
        contexts + 1 + rng.below(8)
    };
    let programs: Vec<Vec<Op>> = (0..cores)
        .map(|_| (0..length).map(|_| op(&mut rng, used)).collect())
        .collect();
    watch(&machine, contexts, flaw, &programs, seed)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(&[100], &[200])[0], failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_fence_retires_while_an_older_store_or_flush_of_its_context_is_pending(
        seed: u64,
        cores in 1u64..3,
        length in 1u64..100,
    ) {
        let ran = case(seed, cores, length, Flaw::None).map(|_| ());
        prop_assert_eq!(ran, Ok(()));
    }
}

#[test]
fn the_random_programs_hold_fences_and_let_others_pass() {
    let seen: Vec<Seen> = (0..20)
        .map(|seed| case(seed, 2, 80, Flaw::None).expect("right"))
        .collect();
    assert!(seen.iter().filter(|seen| seen.held).count() >= 15);
    assert!(seen.iter().filter(|seen| seen.passed_others).count() >= 5);
}

#[test]
fn fences_that_wait_for_the_wrong_context_or_for_none_are_found() {
    for (flaw, complaint) in [
        (Flaw::NextContext, "has retired"),
        (Flaw::NoFence, "has retired"),
        (Flaw::NoSetctx, "contexts: the core says"),
    ] {
        let found = (0..20).filter_map(|seed| case(seed, 1, 80, flaw).err());
        let found = found.filter(|wrong| wrong.contains(complaint)).count();
        assert!(found > 0, "{flaw:?} was not found");
    }
}

/// A store and a flush of context 1, on a machine where a flush takes long, and right behind them a fence for context 0.
fn fence_behind_another_context(contexts: u64) -> (Option<Until<Key>>, Vec<(u8, u64)>) {
    let mut machine = preset("cosplay");
    machine.pm.write_to_controller = Cycles(5_000);
    let ops = [
        Op::Setctx(1),
        Op::Store(0),
        Op::Flush(0, Flush::Clwb),
        Op::Setctx(0),
        Op::Cfence(0),
    ];
    let design = Flawed {
        design: with_contexts(contexts),
        flaw: Flaw::None,
    };
    let mut system = System::new(&machine, boxed(design), 1, Memory::new(4096, 4096), Options::default());
    let ledger = Ledger::default();
    let issued = ledger.clone();
    start(&mut system, 0, move |cpu| play(cpu, 0, ops.to_vec(), issued.clone()));
    // Five instructions, four a cycle: all are dispatched by cycle 10, and the store alone takes longer than that.
    system.run_until(10).expect("goes on");
    assert!(matches!(ledger.borrow().last(), Some(Issued::Fence(Some(0)))));
    let view = system.look(CoreId(0));
    (view.held, view.pending)
}

#[test]
fn a_fence_waits_for_another_context_only_if_they_share_a_counter() {
    assert_eq!(fence_behind_another_context(2), (None, vec![(1, 2)]));
    let held = Some(Until::Drained(Some(0)));
    assert_eq!(fence_behind_another_context(1), (held, vec![(0, 2)]));
}
