//! Stores and locked instructions that a design keeps before their core owns the line.

use crate::common::{as_plain, memory, patient, preset, put, random_machine, set_caches, system, Plain};
use crate::trace::checker::{check_order, deeds, replay, words};
use crate::trace::programs::{run_under, Ran};
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use strandline_design::{
    boxed, ByteMask, Departure, Design, Forward, Load, Never, Services, Store, StoreId, Types, Until, Write, WriteKind,
};
use strandline_isa::{Addr, CoreId, Cpu, Primitive, LINE_BYTES, PM_BASE};
use strandline_kernel::{Cycles, Rng};
use strandline_machine::{MachineConfig, Options, Seen, SimCpu, System, Trace, TraceOp, Traces};

/// It keeps nothing of this core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct KeepsNothing(CoreId);

/// The oldest store that it keeps of this core is to be performed.
#[derive(Clone, Debug)]
struct Perform(CoreId);

struct Own;

impl Types for Own {
    type Gate = KeepsNothing;
    type Message = Perform;
    type Tag = Never;
    type Note = Never;
}

type Hw<'a> = dyn Services<Own> + 'a;

/// What happened to kept stores, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Did {
    Kept(CoreId, StoreId),
    Performed(CoreId, StoreId),
}

/// Keeps each core's stores and performs them in order, each so long after the one before it. Supplies its core's loads.
struct Keeper {
    kept: Vec<VecDeque<(StoreId, Store)>>,
    /// The least and the most cycles from one store to the next.
    delay: (u64, u64),
    /// One store in this number goes the machine's way, if it keeps none then; 0: it keeps all.
    leaves_one_in: u64,
    /// It hides what it keeps from its core's loads: a mistake, which tests must see.
    hides: bool,
    rng: Rng,
    did: Rc<RefCell<Vec<Did>>>,
}

impl Keeper {
    fn new(cores: u64, delay: (u64, u64)) -> Keeper {
        Keeper {
            kept: vec![VecDeque::new(); cores as usize],
            delay,
            leaves_one_in: 0,
            hides: false,
            rng: Rng::new(1),
            did: Rc::default(),
        }
    }

    fn random(cores: u64, seed: u64) -> Keeper {
        let mut rng = Rng::new(seed);
        let delay = [(0, 0), (0, 100), (500, 900)][rng.below(3) as usize];
        Keeper {
            leaves_one_in: [0, 3][rng.below(2) as usize],
            rng,
            ..Keeper::new(cores, delay)
        }
    }

    fn note(&self, did: Did) {
        self.did.borrow_mut().push(did);
    }

    fn perform_next(&mut self, hw: &mut Hw<'_>, core: CoreId) {
        let (least, most) = self.delay;
        let after = least + self.rng.below(most - least + 1);
        hw.send(hw.now() + Cycles(after), Perform(core));
    }

    fn keep_store(&mut self, hw: &mut Hw<'_>, core: CoreId, store: Store, id: StoreId) -> Departure<KeepsNothing> {
        let is_first = self.kept[core.index()].is_empty();
        if is_first && self.leaves_one_in > 0 && self.rng.one_in(self.leaves_one_in) {
            return Departure::Go;
        }
        self.note(Did::Kept(core, id));
        self.kept[core.index()].push_back((id, store));
        if is_first {
            self.perform_next(hw, core);
        }
        Departure::Keep
    }
}

impl Design for Keeper {
    type Own = Own;

    as_plain!();

    fn keep(&mut self, hw: &mut Hw<'_>, core: CoreId, write: Write, id: StoreId) -> Departure<KeepsNothing> {
        match write.kind {
            WriteKind::Store | WriteKind::Locked => self.keep_store(hw, core, write.store, id),
            _ if self.kept[core.index()].is_empty() => Departure::Go,
            _ => Departure::Wait(Until::Open(KeepsNothing(core))),
        }
    }

    fn load(&mut self, _: &mut Hw<'_>, core: CoreId, load: Load) -> Forward<KeepsNothing> {
        let word = load.addr.0 & !7;
        let (mut bytes, mut mask) = (0u64, 0u64);
        let kept = self.kept[core.index()].iter().map(|(_, store)| *store);
        for store in kept.filter(|store| store.addr.0 & !7 == word && !self.hides) {
            let shift = 8 * (store.addr.0 - word);
            let written = u64::MAX >> (64 - 8 * u32::from(store.size)) << shift;
            bytes = bytes & !written | store.value << shift & written;
            mask |= ByteMask::of(Addr(store.addr.0 - word), store.size).0;
        }
        let first = load.addr.0 - word;
        match (mask >> first) as u8 & ((1u64 << load.size) - 1) as u8 {
            0 => Forward::Caches { after: Cycles(0) },
            mask => Forward::Bytes {
                mask,
                value: bytes >> (8 * first),
                after: Cycles(2),
            },
        }
    }

    fn message(&mut self, hw: &mut Hw<'_>, Perform(core): Perform) {
        let (id, _) = self.kept[core.index()].front().expect("a kept store");
        hw.perform(core, *id, hw.now());
    }

    fn performed(&mut self, hw: &mut Hw<'_>, core: CoreId, id: StoreId) {
        self.note(Did::Performed(core, id));
        let performed = self.kept[core.index()].pop_front().map(|(id, _)| id);
        assert_eq!(performed, Some(id), "in order");
        match self.kept[core.index()].is_empty() {
            true => hw.open(KeepsNothing(core)),
            false => self.perform_next(hw, core),
        }
    }
}

/// What loads of one core got, in order.
type Got = Rc<RefCell<Vec<u64>>>;

const BEFORE: u64 = 0xa7a6_a5a4_a3a2_a1a0;

/// A run of `program` on core 0 under a design that keeps stores for 1000 cycles; memory holds [`BEFORE`].
fn run_kept(program: impl FnOnce(&SimCpu<'_>, Got) + 'static) -> (Vec<u64>, Vec<Did>, u64, Trace) {
    let initial = memory();
    initial.write(Addr(PM_BASE), 8, BEFORE);
    let design = Keeper::new(1, (1_000, 1_000));
    let did = design.did.clone();
    let options = Options {
        journal: true,
        trace: Traces::Everything,
        ..Options::default()
    };
    let mut system = System::new(&preset("cosplay"), boxed(design), 1, initial, options);
    let got = Got::default();
    let kept = got.clone();
    put(&mut system, 0, |cpu| program(cpu, kept));
    let outcome = system.run().expect("ends");
    let trace = outcome.journal.expect("kept").trace;
    let left = system.memory().read(Addr(PM_BASE), 8);
    (got.take(), did.take(), left, trace)
}

/// The word as stores of these sizes and values at these offsets leave it.
fn stored(stores: &[(u64, u8, u64)]) -> u64 {
    let word = memory();
    word.write(Addr(PM_BASE), 8, BEFORE);
    for (offset, size, value) in stores {
        word.write(Addr(PM_BASE + offset), *size, *value);
    }
    word.read(Addr(PM_BASE), 8)
}

#[test]
fn loads_of_every_size_see_what_is_kept_over_what_the_caches_have() {
    const STORES: [(u64, u8, u64); 3] = [(0, 4, 0x1313_1212), (3, 1, 0x44), (6, 2, 0x7766)];
    let (got, did, left, trace) = run_kept(|cpu, got| {
        for (offset, size, value) in STORES {
            let address = cpu.word(PM_BASE + offset);
            address.store_sized(cpu.word(value), size);
        }
        // They have left the store queue, and are not performed.
        for _ in 0..200 {
            cpu.alu(strandline_isa::Alu::Simple, 0, 0);
        }
        for size in [1, 2, 4, 8u8] {
            for offset in (0..8).step_by(usize::from(size)) {
                let value = cpu.word(PM_BASE + offset).load_sized(size);
                got.borrow_mut().push(value.bits());
            }
        }
    });
    let word = stored(&STORES);
    let mut expected = Vec::new();
    for size in [1, 2, 4, 8u32] {
        let low = u64::MAX >> (64 - 8 * size);
        expected.extend((0..8).step_by(size as usize).map(|offset| word >> (8 * offset) & low));
    }
    assert_eq!((got, left), (expected, word));
    let kept: Vec<_> = (1..=3).map(|id| Did::Kept(CoreId(0), StoreId(id))).collect();
    assert_eq!(did[..3], kept, "all were kept before the first was performed");
    let from = trace.programs[0].iter().filter_map(|op| match op {
        TraceOp::Load { from, .. } => Some(*from),
        _ => None,
    });
    let from: Vec<Seen> = from.collect();
    use Seen::{Memory, Merged, Own};
    let bytes = [Own(0), Own(0), Own(0), Own(1), Memory(0), Memory(0), Own(2), Own(2)];
    assert_eq!(from[..8], bytes);
    assert_eq!(from[8..12], [Own(0), Merged(0), Memory(0), Own(2)]);
    assert_eq!(from[12..], [Merged(0); 3]);
}

#[test]
fn a_store_in_the_queue_wins_over_one_that_is_kept() {
    let (got, _, left, _) = run_kept(|cpu, got| {
        cpu.word(PM_BASE).store(cpu.word(1));
        for _ in 0..200 {
            cpu.alu(strandline_isa::Alu::Simple, 0, 0);
        }
        cpu.word(PM_BASE + 1).store_sized(cpu.word(2), 1);
        let value = cpu.word(PM_BASE).load().bits();
        got.borrow_mut().push(value);
    });
    assert_eq!((got, left), (vec![0x201], 0x201));
}

#[test]
fn kept_stores_are_performed_in_order_and_a_fence_waits_for_them() {
    let (got, did, left, trace) = run_kept(|cpu, got| {
        for value in 1..=3 {
            cpu.word(PM_BASE).store(cpu.word(value));
        }
        cpu.primitive(Primitive::Mfence);
        let value = cpu.word(PM_BASE).load().bits();
        got.borrow_mut().push(value);
    });
    let ids = |did: &dyn Fn(CoreId, StoreId) -> Did| (1..=3).map(|id| did(CoreId(0), StoreId(id))).collect::<Vec<_>>();
    assert_eq!(did, [ids(&Did::Kept), ids(&Did::Performed)].concat());
    assert_eq!((got, left), (vec![3], 3));
    assert!(matches!(
        trace.programs[0].last(),
        Some(TraceOp::Load {
            from: Seen::Memory(3),
            ..
        })
    ));
}

#[test]
fn a_kept_locked_instruction_reads_what_is_kept_and_writes_when_it_is_performed() {
    let (got, did, left, trace) = run_kept(|cpu, got| {
        cpu.word(PM_BASE).store(cpu.word(5));
        let first = cpu.word(PM_BASE).swap(cpu.word(6)).bits();
        let second = cpu.word(PM_BASE).swap(cpu.word(7)).bits();
        let last = cpu.word(PM_BASE).load().bits();
        got.borrow_mut().extend([first, second, last]);
    });
    assert_eq!((got, left), (vec![5, 6, 7], 7));
    let first_performed = did.iter().position(|did| matches!(did, Did::Performed(..)));
    assert_eq!(
        first_performed,
        Some(3),
        "a store and two locked instructions are kept: {did:?}"
    );
    let from = trace.programs[0].iter().skip(1).map(|op| match op {
        TraceOp::Rmw { from, .. } | TraceOp::Load { from, .. } => *from,
        other => panic!("{other:?}"),
    });
    let from: Vec<Seen> = from.collect();
    assert_eq!(from, [Seen::Own(0), Seen::Own(1), Seen::Own(2)]);
}

#[test]
fn another_core_sees_nothing_before_it_is_performed() {
    let design = Keeper::new(2, (5_000, 5_000));
    let mut system = system(&preset("cosplay"), design, 2);
    put(&mut system, 0, |cpu| {
        cpu.word(PM_BASE).store(cpu.word(1));
        cpu.word(PM_BASE).swap(cpu.word(2));
        assert_eq!(cpu.word(PM_BASE).load().bits(), 2);
    });
    let got = Got::default();
    let seen = got.clone();
    put(&mut system, 1, move |cpu| {
        loop {
            let value = cpu.word(PM_BASE).load();
            let bits = value.bits();
            if seen.borrow().last() != Some(&bits) {
                seen.borrow_mut().push(bits);
            }
            if bits == 2 {
                break;
            }
            // The next load begins when this one is done.
            cpu.branch(value.tag(), true, SPINS);
        }
    });
    assert_eq!(system.run_until(4_900), Ok(true));
    assert_eq!(*got.borrow(), [0]);
    system.run().expect("ends");
    assert_eq!(*got.borrow(), [0, 1, 2], "one after the other");
}

strandline_isa::sites! {
    SPINS = 0x51a3_77c1;
}

fn run_random(design: Keeper, seed: u64, cores: u64, length: u64) -> Ran {
    let mut rng = Rng::new(seed);
    let machine = random_machine(&mut rng);
    run_under(&machine, boxed(design), rng, (seed, cores, length), Traces::Everything)
}

/// Every value that the programs were given is explained by the trace, and so is memory in the end.
fn check(ran: &Ran) {
    let trace = &ran.journal.trace;
    let (values, memory) = replay(trace);
    assert_eq!(deeds(&ran.journal, &values), ran.deeds);
    assert!(words(&memory) == words(&ran.memory), "memory in the end");
    check_order(trace, ran.in_order);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_random_programs_are_given_is_explained_by_the_trace(seed: u64, cores in 1u64..4, length in 1u64..120) {
        check(&run_random(Keeper::random(cores, seed), seed, cores, length));
    }

    #[test]
    fn a_core_alone_does_as_on_the_plain_machine(seed: u64, length in 1u64..120) {
        let kept = run_random(Keeper::random(1, seed), seed, 1, length);
        let mut rng = Rng::new(seed);
        let machine = random_machine(&mut rng);
        let plain = run_under(&machine, boxed(Plain), rng, (seed, 1, length), Traces::Everything);
        prop_assert_eq!(kept.deeds, plain.deeds);
        prop_assert!(words(&kept.memory) == words(&plain.memory));
    }
}

#[test]
fn random_programs_have_their_loads_and_locked_instructions_served_by_kept_stores() {
    let wrong = (0..60).filter(|seed| {
        let hides = Keeper {
            hides: true,
            ..Keeper::random(1, *seed)
        };
        let ran = run_random(hides, *seed, 1, 100);
        let plain = run_random(Keeper::random(1, *seed), *seed, 1, 100);
        ran.deeds != plain.deeds
    });
    assert!(wrong.count() >= 20);
}

/// Core 0 stores to a line under a design that keeps the store. The last core loads two other lines of the set until the
/// store is performed.
fn run_crowded(machine: &MachineConfig, cores: u16) {
    let design = Keeper::new(cores.into(), (0, 0));
    let did = design.did.clone();
    let mut system = System::new(machine, boxed(design), cores.into(), memory(), patient(1_000_000));
    for core in 0..cores {
        let did = did.clone();
        put(&mut system, core, move |cpu| {
            if core == 0 {
                cpu.word(PM_BASE).store(cpu.word(1));
            }
            while core == cores - 1 && !matches!(did.borrow().last(), Some(Did::Performed(..))) {
                cpu.word(PM_BASE + LINE_BYTES).load();
                let value = cpu.word(PM_BASE + 2 * LINE_BYTES).load();
                cpu.branch(value.tag(), true, SPINS);
            }
        });
    }
    system.run().unwrap_or_else(|stuck| panic!("{stuck}"));
    assert_eq!(system.memory().read(Addr(PM_BASE), 8), 1);
}

fn crowded(llc_latency: u64) -> MachineConfig {
    let mut machine = preset("cosplay");
    machine.core.store_prefetch = false;
    machine.l2 = None;
    machine.llc.latency = Cycles(llc_latency);
    machine
}

/// Without the rule for lost stores, 56 of the 59 runs do not end.
#[test]
fn a_kept_store_does_not_lose_its_line_to_its_own_cores_loads_endlessly() {
    for llc_latency in 1..60 {
        let mut machine = crowded(llc_latency);
        (machine.l1.bytes, machine.l1.ways) = (LINE_BYTES, 1);
        run_crowded(&machine, 1);
    }
}

/// Without the rule for lost stores, none of the runs ends.
#[test]
fn a_kept_store_does_not_lose_its_line_to_another_cores_loads_endlessly() {
    for llc_latency in 1..60 {
        let mut machine = crowded(llc_latency);
        set_caches(&mut machine, (2 * LINE_BYTES, 2), (2 * LINE_BYTES, 2));
        run_crowded(&machine, 2);
    }
}
