//! The trace against what random programs on random machines know of themselves: they share words, and accesses of
//! different sizes overlap.

use crate::common::{memory, put, random_machine, Plain};
use proptest::prelude::*;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use strandline_design::{
    boxed, About, Admission, Claim, Departure, Design, Domain, Entry, Forward, Hook, Load, Never, Services, Store,
    StoreId,
};
use strandline_isa::{Addr, CoreId, Cpu, Flush, Lowering, Memory, Note, Primitive, Rmw, PM_BASE};
use strandline_kernel::{Cycles, Rng};
use strandline_machine::config::Consistency;
use strandline_machine::{Journal, Machine, Op, OpId, Options, Seen, SimCpu, Stats, System, Trace};

/// Answers as the plain machine, asked everywhere or nowhere.
struct Asked {
    everywhere: bool,
    domain: Domain,
}

type Hw<'a> = dyn Services<strandline_design::Plain> + 'a;

impl Asked {
    fn asked(&self, hw: &mut Hw<'_>, hook: Hook) {
        if !self.everywhere {
            hw.skip(hook);
        }
    }
}

impl Design for Asked {
    type Own = strandline_design::Plain;

    fn about(&self) -> About {
        Plain.about()
    }

    fn domain(&self) -> Domain {
        self.domain
    }

    fn snoops_all(&self) -> bool {
        self.everywhere
    }

    fn claim(&mut self, hw: &mut Hw<'_>, _: CoreId, _: Entry) -> Claim<Never> {
        self.asked(hw, Hook::Claim);
        Claim::No
    }

    fn primitive(&mut self, hw: &mut Hw<'_>, _: CoreId, primitive: Primitive) -> Admission<Never> {
        self.asked(hw, Hook::Primitive);
        Admission::plain(primitive)
    }

    fn load(&mut self, hw: &mut Hw<'_>, _: CoreId, _: Load) -> Forward<Never> {
        self.asked(hw, Hook::Load);
        Forward::Caches { after: Cycles(0) }
    }

    fn keep(&mut self, hw: &mut Hw<'_>, _: CoreId, _: Entry, _: StoreId) -> Departure<Never> {
        self.asked(hw, Hook::Keep);
        Departure::Go
    }

    fn store(&mut self, hw: &mut Hw<'_>, _: CoreId, _: Entry) -> Departure<Never> {
        self.asked(hw, Hook::Store);
        Departure::Go
    }

    fn visible(&mut self, hw: &mut Hw<'_>, _: CoreId, _: Store) {
        self.asked(hw, Hook::Visible);
    }

    fn lowering(&self) -> Lowering {
        Lowering::NOTHING
    }
}

/// What a program did, with the values that it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Did {
    Load { addr: Addr, size: u8, value: u64 },
    Store { addr: Addr, size: u8, value: u64 },
    StoreNt { addr: Addr, size: u8, value: u64 },
    Rmw { addr: Addr, old: u64, new: u64 },
    Flush(Addr, Flush),
    Primitive(Primitive),
    Note(Note),
}

type Deeds = Rc<RefCell<Vec<Did>>>;

/// A naturally aligned access to the first two words of one of three lines, two persistent and one volatile.
fn access(rng: &mut Rng) -> (Addr, u8) {
    let size = 1u8 << rng.below(4);
    let line = [PM_BASE, PM_BASE + 64, 128][rng.below(3) as usize];
    let offset = rng.below(16 / u64::from(size)) * u64::from(size);
    (Addr(line + offset), size)
}

fn low(size: u8, value: u64) -> u64 {
    value & (u64::MAX >> (64 - 8 * u32::from(size)))
}

async fn play(cpu: SimCpu, seed: u64, length: u64, deeds: Deeds) {
    let mut rng = Rng::new(seed);
    let mut last = 0;
    for _ in 0..length {
        let (addr, size) = access(&mut rng);
        let address = cpu.word(addr.0);
        let value = rng.next_u64();
        let did = match rng.below(24) {
            0..=6 => {
                address.store_sized(cpu.word(value), size).await;
                let value = low(size, value);
                Did::Store { addr, size, value }
            }
            7 | 8 => {
                cpu.store_nt(addr, 0, size, value, 0).await;
                let value = low(size, value);
                Did::StoreNt { addr, size, value }
            }
            9..=15 => {
                let value = address.load_sized(size).await.bits();
                last = value;
                Did::Load { addr, size, value }
            }
            16 | 17 => {
                let addr = Addr(addr.0 & !7);
                let op = [Rmw::Swap, Rmw::Add, Rmw::CompareSwap(last)][rng.below(3) as usize];
                let old = cpu.rmw(addr, 0, op, value, 0).await.bits();
                last = old;
                let new = op.apply(old, value);
                Did::Rmw { addr, old, new }
            }
            18 | 19 => {
                let kind = [Flush::Clwb, Flush::ClflushOpt, Flush::Clflush][rng.below(3) as usize];
                address.flush_by(kind).await;
                Did::Flush(addr, kind)
            }
            20 | 21 => {
                use Primitive::{Mfence, Pcommit, Sfence, StoreBarrier};
                let primitive = [Sfence, Mfence, StoreBarrier, Pcommit][rng.below(4) as usize];
                cpu.primitive(primitive).await;
                Did::Primitive(primitive)
            }
            22 => {
                let note = Note::Output {
                    location: 7,
                    value: last,
                };
                cpu.note(note);
                Did::Note(note)
            }
            _ => {
                let mut x = cpu.word(1);
                for _ in 0..rng.below(300) {
                    x = x + 1;
                }
                continue;
            }
        };
        deeds.borrow_mut().push(did);
    }
}

struct Ran {
    in_order: bool,
    deeds: Vec<Vec<Did>>,
    memory: Memory,
    stats: Stats,
    journal: Journal,
}

/// Memory in which no two words are equal.
fn initial() -> Memory {
    let memory = memory();
    for at in (0..64).map(|word| word * 8) {
        memory.write(Addr(at), 8, 0xd0d0_0000_0000_0000 + at);
        memory.write(Addr(PM_BASE + at), 8, 0xe0e0_0000_0000_0000 + at);
    }
    memory
}

fn run(seed: u64, cores: u64, length: u64, trace: bool) -> Ran {
    let mut rng = Rng::new(seed);
    let machine: Machine = random_machine(&mut rng);
    let design = Asked {
        everywhere: rng.one_in(3),
        domain: if rng.one_in(3) {
            Domain::Caches
        } else {
            Domain::Controllers
        },
    };
    let options = Options {
        seed,
        journal: true,
        trace,
        patience: Cycles(50_000_000),
        ..Options::default()
    };
    let mut system = System::new(&machine, boxed(design), cores as usize, initial(), options);
    let deeds: Vec<Deeds> = (0..cores).map(|_| Deeds::default()).collect();
    for (core, deeds) in deeds.iter().enumerate() {
        let (seed, deeds) = (rng.next_u64(), deeds.clone());
        put(&mut system, core as u16, move |cpu| play(cpu, seed, length, deeds));
    }
    let outcome = system.run().unwrap_or_else(|stuck| panic!("seed {seed}: {stuck}"));
    Ran {
        in_order: machine.core.consistency == Consistency::Tso,
        deeds: deeds.iter().map(|d| d.borrow().clone()).collect(),
        memory: system.memory().clone(),
        stats: outcome.stats,
        journal: outcome.journal.expect("kept"),
    }
}

/// The bytes that an operation writes.
fn written(op: &Op) -> Option<(Addr, u8, u64)> {
    match *op {
        Op::Store { addr, size, value } | Op::StoreNt { addr, size, value } => Some((addr, size, value)),
        Op::Rmw { addr, new, .. } => Some((addr, 8, new)),
        Op::Load { .. } | Op::Flush { .. } | Op::Primitive(_) | Op::Note(_) => None,
    }
}

fn overlap(a: (Addr, u8), b: (Addr, u8)) -> bool {
    a.0 .0 < b.0 .0 + u64::from(b.1) && b.0 .0 < a.0 .0 + u64::from(a.1)
}

/// The operations that read, with where and what they read.
fn reads(trace: &Trace) -> Vec<(OpId, Addr, u8, Seen)> {
    let mut found = Vec::new();
    for (core, program) in trace.programs.iter().enumerate() {
        for (index, op) in program.iter().enumerate() {
            let id = OpId {
                core: CoreId(core as u16),
                index: index as u32,
            };
            match *op {
                Op::Load { addr, size, from, .. } => found.push((id, addr, size, from)),
                Op::Rmw { addr, from, .. } => found.push((id, addr, 8, from)),
                _ => {}
            }
        }
    }
    found
}

fn op(trace: &Trace, id: OpId) -> &Op {
    &trace.programs[id.core.index()][id.index as usize]
}

fn apply(memory: &Memory, op: &Op) {
    let (addr, size, value) = written(op).expect("only what writes becomes visible");
    memory.write(addr, size, value);
}

/// The older stores of the reader's own core that overlap what it reads, oldest first.
fn own_stores(trace: &Trace, id: OpId, addr: Addr, size: u8) -> Vec<OpId> {
    let older = 0..id.index;
    older
        .map(|index| OpId { core: id.core, index })
        .filter(|own| written(op(trace, *own)).is_some_and(|(at, width, _)| overlap((at, width), (addr, size))))
        .collect()
}

/// Each read's value by its definition, from nothing but the trace and the initial memory; and memory in the end.
fn replay(trace: &Trace) -> (HashMap<OpId, u64>, Memory) {
    let places: HashMap<OpId, usize> = trace.visible.iter().enumerate().map(|(n, id)| (*id, n)).collect();
    let mut values = HashMap::new();
    let mut by_count: HashMap<usize, Vec<(OpId, Addr, u8)>> = HashMap::new();
    for (id, addr, size, from) in reads(trace) {
        let own = own_stores(trace, id, addr, size);
        match from {
            Seen::Own(index) => {
                let store = OpId { core: id.core, index };
                assert_eq!(own.last(), Some(&store), "{id:?}: the youngest store is forwarded");
                let (at, width, value) = written(op(trace, store)).expect("a store");
                assert!(at.0 <= addr.0 && addr.0 + u64::from(size) <= at.0 + u64::from(width));
                values.insert(id, low(size, value >> (8 * (addr.0 - at.0))));
            }
            Seen::Memory(n) => {
                let seen = own.iter().all(|store| places[store] < n as usize);
                assert!(seen, "{id:?}: a core reads its own stores");
                by_count.entry(n as usize).or_default().push((id, addr, size));
            }
            Seen::Merged(n) => by_count.entry(n as usize).or_default().push((id, addr, size)),
        }
    }
    let memory = initial();
    for n in 0..=trace.visible.len() {
        for (id, addr, size) in by_count.remove(&n).unwrap_or_default() {
            let line = addr.line();
            let before = memory.line(line);
            for store in own_stores(trace, id, addr, size) {
                if places[&store] >= n {
                    apply(&memory, op(trace, store));
                }
            }
            values.insert(id, memory.read(addr, size));
            memory.set_line(line, &before);
        }
        if let Some(id) = trace.visible.get(n) {
            apply(&memory, op(trace, *id));
        }
    }
    assert!(by_count.is_empty(), "no read saw more than became visible");
    (values, memory)
}

/// What the trace says that the programs did.
fn told(journal: &Journal, values: &HashMap<OpId, u64>) -> Vec<Vec<Did>> {
    let told = |core: usize, index: usize, op: &Op| {
        let id = OpId {
            core: CoreId(core as u16),
            index: index as u32,
        };
        match *op {
            Op::Load { addr, size, .. } => Did::Load {
                addr,
                size,
                value: values[&id],
            },
            Op::Store { addr, size, value } => Did::Store { addr, size, value },
            Op::StoreNt { addr, size, value } => Did::StoreNt { addr, size, value },
            Op::Rmw { addr, old, new, .. } => {
                assert_eq!(values[&id], old, "{id:?}");
                Did::Rmw { addr, old, new }
            }
            Op::Flush { addr, kind } => Did::Flush(addr, kind),
            Op::Primitive(primitive) => Did::Primitive(primitive),
            Op::Note(n) => Did::Note(journal.notes[core][n as usize].note),
        }
    };
    let programs = journal.trace.programs.iter().enumerate();
    programs
        .map(|(core, program)| program.iter().enumerate().map(|(i, op)| told(core, i, op)).collect())
        .collect()
}

fn words(memory: &Memory) -> Vec<u64> {
    let volatile = (0..memory.dram_bytes() / 8).map(|word| memory.read(Addr(word * 8), 8));
    volatile.chain(memory.pm_words().iter().map(Cell::get)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn replaying_gives_what_the_programs_did_and_the_final_memory(seed: u64, cores in 1u64..5, length in 1u64..120) {
        let ran = run(seed, cores, length, true);
        let (values, memory) = replay(&ran.journal.trace);
        prop_assert_eq!(told(&ran.journal, &values), ran.deeds);
        prop_assert!(words(&memory) == words(&ran.memory), "memory in the end");
    }

    #[test]
    fn every_store_becomes_visible_once_and_in_the_order_that_the_machine_keeps(seed: u64, cores in 1u64..5, length in 1u64..120) {
        let ran = run(seed, cores, length, true);
        let trace = &ran.journal.trace;
        let mut stores = 0;
        for core in (0..cores as u16).map(CoreId) {
            let program = &trace.programs[core.index()];
            stores += program.iter().filter(|op| written(op).is_some()).count();
            let own: Vec<u32> = trace.visible.iter().filter(|id| id.core == core).map(|id| id.index).collect();
            for (n, index) in own.iter().enumerate() {
                let (addr, size, _) = written(&program[*index as usize]).expect("a store");
                for later in &own[n + 1..] {
                    prop_assert!(later != index, "once");
                    let (at, width, _) = written(&program[*later as usize]).expect("a store");
                    let ordered = ran.in_order || overlap((addr, size), (at, width));
                    prop_assert!(!ordered || index < later, "{core}: {index} before {later}");
                }
            }
        }
        prop_assert_eq!(trace.visible.len(), stores);
    }

    #[test]
    fn a_core_sees_memory_grow_and_a_locked_instruction_sees_what_is_just_before_it(seed: u64, cores in 1u64..5, length in 1u64..120) {
        let trace = run(seed, cores, length, true).journal.trace;
        let mut before: HashMap<CoreId, u32> = HashMap::new();
        for (id, _, _, from) in reads(&trace) {
            let (Seen::Memory(n) | Seen::Merged(n)) = from else { continue };
            let older = before.insert(id.core, n).unwrap_or(0);
            prop_assert!(older <= n, "{id:?}");
            if let Op::Rmw { .. } = op(&trace, id) {
                prop_assert_eq!(trace.visible[n as usize], id);
            }
        }
    }

    #[test]
    fn tracing_changes_nothing(seed: u64, cores in 1u64..5, length in 1u64..120) {
        let (with, without) = (run(seed, cores, length, true), run(seed, cores, length, false));
        prop_assert_eq!(format!("{:?}", with.stats), format!("{:?}", without.stats));
        prop_assert_eq!(&with.journal.durable, &without.journal.durable);
        prop_assert_eq!(&with.journal.notes, &without.journal.notes);
        prop_assert_eq!(with.deeds, without.deeds);
        prop_assert_eq!(without.journal.trace, Trace::default());
    }
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for seed in 0..20 {
        let trace = |seed| run(seed, 3, 80, true).journal.trace;
        assert_eq!(trace(seed), trace(seed));
    }
}

/// The tests above would pass for want of cases if the programs met none of these.
#[test]
fn random_programs_forward_merge_reorder_and_read_each_other() {
    let (mut own, mut merged, mut foreign, mut reordered, mut failed) = (0, 0, 0, 0, 0);
    for seed in 0..60 {
        let ran = run(seed, 3, 100, true);
        let trace = &ran.journal.trace;
        for (id, addr, size, from) in reads(trace) {
            match from {
                Seen::Own(_) => own += 1,
                Seen::Merged(_) => merged += 1,
                Seen::Memory(n) => {
                    let writers = trace.visible[..n as usize].iter().rev();
                    let writer = |w: &&OpId| {
                        written(op(trace, **w)).is_some_and(|(at, width, _)| overlap((at, width), (addr, size)))
                    };
                    foreign += usize::from(writers.copied().find(|w| writer(&w)).is_some_and(|w| w.core != id.core));
                }
            }
        }
        for core in (0..3).map(CoreId) {
            let own: Vec<u32> = trace
                .visible
                .iter()
                .filter(|v| v.core == core)
                .map(|v| v.index)
                .collect();
            reordered += own.windows(2).filter(|w| w[0] > w[1]).count();
        }
        let deeds = ran.deeds.iter().flatten();
        failed += deeds
            .filter(|d| matches!(d, Did::Rmw { old, new, .. } if old == new))
            .count();
    }
    let met = [own, merged, foreign, reordered, failed];
    assert!(met.iter().all(|n| *n >= 20), "{met:?}");
}
