//! Programs of a few instructions, each with states that it must not leave or observe.

use crate::planted::Planted;
use std::cell::RefCell;
use std::rc::Rc;
use strandline_crash::litmus::Subject;
use strandline_isa::{Addr, Alu, CoreId, Cpu, Flush, Image, Memory, Note, Primitive, LINE_BYTES, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::{factory, Journal, MachineConfig, Options, SimCpu, System};

/// A persistent word: `X`, `Y` and `Z` in separate lines, `X2` and `X3` in the line of `X`. It is initially [`INITIAL`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct At(u64);
pub const X: At = At(PM_BASE);
pub const X2: At = At(PM_BASE + 32);
const X3: At = At(PM_BASE + 48);
pub const Y: At = At(PM_BASE + LINE_BYTES);
pub const A: At = At(PM_BASE + 2 * LINE_BYTES);
pub const B: At = At(PM_BASE + 3 * LINE_BYTES);
/// Volatile words, in separate lines. They are initially 0.
pub const V: At = At(LINE_BYTES);
pub const W: At = At(2 * LINE_BYTES);

/// The initial content of every word.
pub const INITIAL: u64 = 7;

/// An instruction.
#[derive(Clone, Copy)]
pub enum Op {
    Store(At, u64),
    StoreNt(At, u64),
    Flush(At, Flush),
    Fence(Primitive),
    /// Its value becomes the thread's next register.
    Load(At),
    /// A locked addition of 1.
    Increment(At),
    /// An output: the thread has reached this point.
    Out,
    /// The thread waits this many cycles.
    Pause(u64),
    /// As `Pause`, times the run's seed.
    Stagger(u64),
}

/// A program, and its forbidden states.
pub struct Program {
    pub name: &'static str,
    pub threads: &'static [&'static [Op]],
    /// Whether the program must not leave a state.
    pub forbidden: fn(&View<'_>) -> bool,
}

/// A crash state with the outputs so far; the last one is the state at the end.
pub struct View<'a> {
    image: &'a Memory,
    end: &'a Memory,
    registers: &'a [Vec<u64>],
    told: &'a [bool],
    last: bool,
}

impl View<'_> {
    fn durable(&self, at: At) -> u64 {
        self.image.word(Addr(at.0))
    }

    fn finally(&self, at: At) -> u64 {
        self.end.word(Addr(at.0))
    }

    fn register(&self, thread: usize, index: usize) -> u64 {
        self.registers[thread][index]
    }

    /// The thread has made its output, and the word lacks its durable value.
    fn told_without(&self, thread: usize, at: At, value: u64) -> bool {
        self.told[thread] && self.durable(at) != value
    }
}

use Flush::{Clflush, ClflushOpt, Clwb};
use Op::{Fence, Flush as F, Increment, Load, Out, Pause, Stagger, Store, StoreNt};
use Primitive::{Cfence, Mfence, Pcommit, PersistBarrier, Setctx, Sfence, StoreBarrier};

const INCREMENTS: &[Op] = &[Increment(A); 16];

/// Reads the second store first, at different times.
const LOOKS: &[Op] = &[Stagger(150), Load(Y), Load(X)];

/// Owns the second store's line; the first store's line is in flight to [`OTHER`] when its turn comes.
const STORES: &[Op] = &[Load(Y), Pause(700), Store(X, 1), Store(Y, 1)];
const BARRIER_BETWEEN: &[Op] = &[Load(Y), Pause(700), Store(X, 1), Fence(StoreBarrier), Store(Y, 1)];
const OTHER: &[Op] = &[Pause(1_000), Store(X, 2)];

fn saw_the_second_store_only(view: &View<'_>) -> bool {
    let (second, first) = (view.register(0, 0), view.register(0, 1));
    second == 1 && (first == INITIAL || first == 2 && view.finally(X) == 1)
}

/// The second of two persists is durable without the first.
fn second_alone(view: &View<'_>) -> bool {
    view.durable(Y) == 1 && view.durable(X) != 1
}

fn both_loads_old(view: &View<'_>) -> bool {
    let last = |thread: usize| view.registers[thread].last() == Some(&INITIAL);
    last(0) && last(1)
}

/// All of them.
#[rustfmt::skip]
pub const PROGRAMS: &[Program] = &[
    Program { name: "clwb; sfence", threads: &[&[Store(X, 1), F(X, Clwb), Fence(Sfence), Out]],
        forbidden: |v| v.told_without(0, X, 1) },
    Program { name: "clwb; mfence", threads: &[&[Store(X, 1), F(X, Clwb), Fence(Mfence), Out]],
        forbidden: |v| v.told_without(0, X, 1) },
    Program { name: "clwb; cfence", threads: &[&[Fence(Setctx(1)), Store(X, 1), F(X, Clwb), Fence(Cfence(1)), Out]],
        forbidden: |v| v.told_without(0, X, 1) },
    Program { name: "clwb; setctx; cfence", threads: &[&[Fence(Setctx(1)), Store(X, 1), F(X, Clwb), Fence(Setctx(0)), Store(Y, 1), Fence(Cfence(1)), Out]],
        forbidden: |v| v.told_without(0, X, 1) },
    Program { name: "clflushopt; sfence", threads: &[&[Store(X, 1), F(X, ClflushOpt), Fence(Sfence), Out]],
        forbidden: |v| v.told_without(0, X, 1) },
    Program { name: "clflush; store", threads: &[&[Store(X, 1), F(X, Clflush), Store(Y, 1), F(Y, Clwb), Fence(Sfence)]],
        forbidden: |v| v.durable(Y) == 1 && v.durable(X) != 1 },
    // Without ADR the first write keeps the media busy, so that the second one stays in the write queue.
    Program { name: "clflush behind a write; store", threads: &[&[Store(X, 1), F(X, Clwb), Store(X, 2), F(X, Clflush), Store(Y, 1), F(Y, Clwb), Fence(Sfence)]],
        forbidden: |v| v.durable(Y) == 1 && v.durable(X) != 2 },
    Program { name: "clwb; locked", threads: &[&[Store(X, 1), F(X, Clwb), Increment(A), Out]],
        forbidden: |v| v.told_without(0, X, 1) },
    Program { name: "clwb twice; sfence", threads: &[&[Store(X, 1), F(X, Clwb), Store(X, 2), F(X, Clwb), Fence(Sfence), Out]],
        forbidden: |v| v.told_without(0, X, 2) },
    Program { name: "clwb on two cores", threads: &[&[Store(X, 1), F(X, Clwb), Fence(Sfence)], &[Pause(700), Store(X, 2), F(X, Clwb), Fence(Sfence)]],
        forbidden: |v| v.last && v.durable(X) != v.finally(X) },
    Program { name: "clwb of another core's store", threads: &[&[Store(X, 1), Store(Y, 1)], &[Pause(3_000), Load(Y), F(X, Clwb), Fence(Sfence), Out]],
        forbidden: |v| v.register(1, 0) == 1 && v.told_without(1, X, 1) },
    Program { name: "clwb of a line that was loaded", threads: &[&[Store(X, 1)], &[Pause(3_000), Load(X), F(X, Clwb), Fence(Sfence), Out]],
        forbidden: |v| v.register(1, 0) == 1 && v.told_without(1, X, 1) },
    Program { name: "movnti; sfence", threads: &[&[StoreNt(X, 1), Fence(Sfence), Out]],
        forbidden: |v| v.told_without(0, X, 1) },
    Program { name: "movnti beside another word", threads: &[&[StoreNt(X, 1), Fence(Sfence), Out]],
        forbidden: |v| v.durable(X2) != INITIAL },
    Program { name: "load of an own store", threads: &[&[Store(X, 1), Store(X, 2), Load(X)]],
        forbidden: |v| v.register(0, 0) != 2 },
    Program { name: "two stores seen", threads: &[LOOKS, STORES, OTHER],
        forbidden: saw_the_second_store_only },
    Program { name: "two stores seen; barrier", threads: &[LOOKS, BARRIER_BETWEEN, OTHER],
        forbidden: saw_the_second_store_only },
    Program { name: "store buffering; mfence",
        threads: &[&[Load(Y), Pause(3_000), Store(X, 1), Fence(Mfence), Load(Y)], &[Load(X), Pause(3_000), Store(Y, 1), Fence(Mfence), Load(X)]],
        forbidden: both_loads_old },
    Program { name: "store buffering; locked",
        threads: &[&[Increment(A), Load(Y), Pause(3_000), Store(X, 1), Increment(A), Load(Y)], &[Increment(B), Load(X), Pause(3_000), Store(Y, 1), Increment(B), Load(X)]],
        forbidden: both_loads_old },
    Program { name: "increments", threads: &[INCREMENTS, INCREMENTS],
        forbidden: |v| v.last && v.finally(A) != INITIAL + 2 * INCREMENTS.len() as u64 },
];

/// Those for delegated ordering, which needs no flush: two persists of two cores. The first waits in its buffer behind others.
#[rustfmt::skip]
const DELEGATED: &[Program] = &[
    Program { name: "fence; a volatile flag", threads: &[&[Store(A, 1), Store(B, 1), Store(X, 1), Fence(StoreBarrier), Store(V, 1)], &[Load(Y), Stagger(150), Load(V), Store(Y, 1)]],
        forbidden: |v| v.register(1, 1) == 1 && second_alone(v) },
    Program { name: "fence; a load that is overwritten", threads: &[&[Store(A, 1), Store(B, 1), Store(X, 1), Fence(StoreBarrier), Load(Y)], &[Stagger(60), Store(Y, 1)]],
        forbidden: |v| v.register(0, 0) == INITIAL && second_alone(v) },
    Program { name: "fence; a flag by way of another core",
        threads: &[&[Store(A, 1), Store(B, 1), Store(X, 1), Fence(StoreBarrier), Store(V, 1)], &[Stagger(150), Load(V), Store(W, 1)], &[Load(Y), Stagger(180), Load(W), Store(Y, 1)]],
        forbidden: |v| v.register(1, 0) == 1 && v.register(2, 1) == 1 && second_alone(v) },
];

/// Those for speculative persistence: what follows the second `sfence` is speculative until the `pcommit` is answered.
/// Another core meets it at different times.
#[rustfmt::skip]
const SPECULATIVE: &[Program] = &[
    Program { name: "speculative increments", threads: &[SPECULATIVE_INCREMENTS, SPECULATIVE_INCREMENTS],
        forbidden: |v| v.last && v.finally(A) != INITIAL + 4 },
    Program { name: "a committed store; a roll-back; a load",
        threads: &[&[Store(B, 1), F(B, Clwb), Fence(Sfence), Fence(Pcommit), Fence(Sfence), Store(A, 1), F(A, Clflush), Store(X, 1), Fence(Sfence), Load(Y), Load(X)], &[Load(Y), Stagger(150), Store(Y, 1)]],
        forbidden: |v| v.registers[0].last() == Some(&INITIAL) },
    Program { name: "speculative store buffering; mfence",
        threads: &[
            &[Load(Y), Pause(3_000), Store(A, 1), F(A, Clwb), Fence(Sfence), Fence(Pcommit), Fence(Sfence), Store(X, 1), Fence(Mfence), Load(Y)],
            &[Load(X), Pause(3_000), Stagger(20), Store(B, 1), F(B, Clwb), Fence(Sfence), Fence(Pcommit), Fence(Sfence), Store(Y, 1), Fence(Mfence), Load(X)]],
        forbidden: both_loads_old },
    Program { name: "a persist that is rolled back; an output",
        threads: &[&[Store(B, 1), F(B, Clwb), Fence(Sfence), Fence(Pcommit), Fence(Sfence), Store(X, 1), F(X, Clwb), Fence(Sfence), Fence(Pcommit), Fence(Sfence), Load(Y), Out], &[Load(Y), Stagger(150), Store(Y, 1)]],
        forbidden: |v| v.told_without(0, X, 1) },
];

/// Those for two hosts whose caches are not coherent, a core each.
#[rustfmt::skip]
const ACROSS_HOSTS: &[Program] = &[
    Program { name: "clwb; sfence", threads: &[&[Store(X, 1), F(X, Clwb), Fence(Sfence), Out], &[]],
        forbidden: |v| v.told_without(0, X, 1) },
    Program { name: "clwb twice; sfence", threads: &[&[Store(X, 1), F(X, Clwb), Store(X, 2), F(X, Clwb), Fence(Sfence), Out], &[]],
        forbidden: |v| v.told_without(0, X, 2) },
    Program { name: "clflushopt; sfence", threads: &[&[Store(X, 1), F(X, ClflushOpt), Fence(Sfence), Out], &[]],
        forbidden: |v| v.told_without(0, X, 1) },
    Program { name: "a message",
        threads: &[
            &[Pause(2_000), Store(X, 1), F(X, Clwb), Fence(Sfence), Store(Y, 1), F(Y, Clwb), Fence(Sfence)],
            &[Load(Y), Load(X), Pause(1_000), Stagger(500), F(Y, ClflushOpt), Fence(Mfence), Load(Y), F(X, ClflushOpt), Fence(Mfence), Load(X)]],
        forbidden: |v| v.register(1, 2) == 1 && v.register(1, 3) != 1 },
    Program { name: "a store of another host, long ago", threads: &[&[Store(X, 1), F(X, Clwb), Fence(Sfence)], &[Load(X), Pause(20_000), F(X, ClflushOpt), Fence(Mfence), Load(X)]],
        forbidden: |v| v.register(1, 1) != 1 },
    Program { name: "a message of two stores",
        threads: &[
            &[Pause(2_000), Store(X, 1), F(X, Clwb), Fence(Sfence), Store(X, 2), F(X, Clwb), Fence(Sfence), Store(Y, 1), F(Y, Clwb), Fence(Sfence)],
            &[Pause(2_000), Stagger(1_500), F(Y, ClflushOpt), Fence(Mfence), Load(Y), F(X, ClflushOpt), Fence(Mfence), Load(X)]],
        forbidden: |v| v.register(1, 0) == 1 && v.register(1, 1) != 2 },
    Program { name: "a line that is handed over",
        threads: &[
            &[Store(X, 1), F(X, Clwb), Fence(Sfence), Store(Y, 1), F(Y, Clwb), Fence(Sfence)],
            &[Pause(2_000), Stagger(1_000), F(Y, ClflushOpt), Fence(Mfence), Load(Y), F(X, ClflushOpt), Fence(Mfence), Store(X2, 1), F(X, Clwb), Fence(Sfence), Store(A, 1), F(A, Clwb), Fence(Sfence), Store(B, 1), F(B, Clwb), Fence(Sfence), Pause(20_000), Out]],
        forbidden: |v| v.register(1, 0) == 1 && (v.told_without(1, X, 1) || v.told_without(1, X2, 1)) },
    Program { name: "movnti of three words",
        threads: &[&[StoreNt(X, 1), Fence(Sfence), StoreNt(X2, 2), Fence(Sfence), StoreNt(X3, 3), Fence(Sfence), Pause(20_000), Out], &[]],
        forbidden: |v| v.told_without(0, X, 1) || v.told_without(0, X2, 2) || v.told_without(0, X3, 3) },
    Program { name: "a load behind an invalidated store", threads: &[&[Store(X, 1), F(X, ClflushOpt), Stagger(100), Load(X)], &[]],
        forbidden: |v| v.register(0, 0) != 1 },
    Program { name: "movnti beside another host's word",
        threads: &[&[Pause(2_000), Store(X, 1), F(X, Clwb), Fence(Sfence), Out], &[Load(X2), Pause(6_000), StoreNt(X2, 1), Fence(Sfence), Out]],
        forbidden: |v| v.told_without(0, X, 1) || v.told_without(1, X2, 1) },
];

/// Those for two hosts of which the first fails.
#[rustfmt::skip]
const A_HOST_FAILS: &[Program] = &[
    // What has left it has arrived by then.
    Program { name: "two reads of a failed host's store",
        threads: &[
            &[Store(X, 1), F(X, Clwb), Fence(PersistBarrier), Store(Y, 1), F(Y, Clwb)],
            &[Pause(11_000), Stagger(20), F(Y, ClflushOpt), Fence(Mfence), Load(Y), Pause(30_000), F(Y, ClflushOpt), Fence(Mfence), Load(Y)]],
        forbidden: |v| v.register(1, 0) != v.register(1, 1) },
    Program { name: "a failed host's visible store", threads: &[&[Store(X, 1), Pause(20_000)], &[Pause(11_000), Stagger(20), Load(X)]],
        forbidden: |v| v.register(1, 0) != 1 },
];

const SPECULATIVE_INCREMENTS: &[Op] = &[
    Store(B, 1),
    F(B, Clwb),
    Fence(Sfence),
    Fence(Pcommit),
    Fence(Sfence),
    Increment(A),
    Store(B, 2),
    F(B, Clwb),
    Fence(Sfence),
    Fence(Pcommit),
    Fence(Sfence),
    Increment(A),
];

/// Seeds of each program.
const SEEDS: u64 = 12;

/// Longest random delays of a flush, in cycles: none, and more than the way to the controller.
const JITTERS: [&str; 2] = ["0", "2000"];

/// The programs that apply to this design, exclusively: without flushes only visibility counts.
fn applies(program: &Program, sets: &[&str]) -> bool {
    let sets = |key: &str| sets.iter().any(|set| set.contains(key));
    match program.name {
        "two stores seen" => !sets("consistency=weak"),
        // Loads pass a barrier where stores drain in order.
        "fence; a load that is overwritten" => sets("consistency=weak"),
        "a failed host's visible store" => sets("coherence=hardware"),
        "clwb; locked" => sets("lock_orders_flushes=true"),
        // Without ADR, an acknowledged flush is not durable, but for a `dc cvap`.
        "clflush behind a write; store" => true,
        _ => !sets("adr=false"),
    }
}

/// The first program that leaves a forbidden state, on a machine with these settings.
pub fn run(planted: &Planted, sets: &[&str]) -> Option<String> {
    let runs = (1..=SEEDS).flat_map(|seed| JITTERS.iter().map(move |jitter| (seed, *jitter)));
    let fails = |program: &&Program| {
        runs.clone()
            .any(|(seed, jitter)| fails(planted, program, &machine(sets, jitter), seed))
    };
    let programs = match planted.about().name {
        _ if sets.iter().any(|set| set.starts_with("machine.simulation.fails=")) => A_HOST_FAILS,
        _ if are_across_hosts(sets) => ACROSS_HOSTS,
        "dpo" => DELEGATED,
        "sp" | "sp-adr" => SPECULATIVE,
        _ => PROGRAMS,
    };
    let mut applying = programs.iter().filter(|program| applies(program, sets));
    applying.find(fails).map(|program| program.name.to_owned())
}

/// Whether these are settings of a machine with several hosts.
pub fn are_across_hosts(sets: &[&str]) -> bool {
    sets.iter().any(|set| set.starts_with("machine.hosts="))
}

fn machine(sets: &[&str], jitter: &str) -> MachineConfig {
    let mut machine = MachineConfig::preset("cosplay").expect("a preset");
    machine.simulation.slack = Cycles(0);
    // Ops that find ports and addresses at once race most.
    machine.core.drop_rules();
    machine.set("simulation.jitter", jitter).expect("a time");
    // Small caches are made faster.
    machine.set("l2.bytes", "16KiB").expect("a size");
    machine.set("llc.bytes", "64KiB").expect("a size");
    for set in sets.iter().filter_map(|set| set.strip_prefix("machine.")) {
        let (key, value) = set.split_once('=').expect("KEY=VALUE");
        machine.set(key, value).expect("a setting");
    }
    machine
}

/// Whether the program leaves a forbidden state.
fn fails(planted: &Planted, program: &Program, machine: &MachineConfig, seed: u64) -> bool {
    let options = Options {
        seed,
        journal: true,
        ..Options::default()
    };
    let memory = Memory::new(4 * LINE_BYTES, 4 * LINE_BYTES);
    for word in (PM_BASE..PM_BASE + 4 * LINE_BYTES).step_by(8) {
        memory.set_word(Addr(word), INITIAL);
    }
    let initial = memory.clone();
    let cores = program.threads.len();
    let design = planted.with_all(&[]).expect("a design as it is");
    let mut system = System::new(machine, design, cores, memory, options);
    let registers: Vec<_> = (0..cores).map(|_| Rc::new(RefCell::new(Vec::new()))).collect();
    for (index, ops) in program.threads.iter().enumerate() {
        let (ops, registers) = (*ops, registers[index].clone());
        let program = factory(move |cpu| thread(cpu, ops, seed, registers.clone()));
        system.start(CoreId(index as u16), program);
    }
    let outcome = system.run().expect("a program without loops ends");
    let journal = outcome.journal.expect("kept");
    let registers: Vec<Vec<u64>> = registers.iter().map(|r| r.borrow().clone()).collect();
    leaves(program, &journal, &initial, system.memory(), &registers)
}

fn thread(cpu: &SimCpu<'_>, ops: &'static [Op], seed: u64, registers: Rc<RefCell<Vec<u64>>>) {
    // A core that was rolled back begins its program anew.
    registers.borrow_mut().clear();
    for op in ops {
        match *op {
            Op::Store(at, value) => cpu.word(at.0).store(cpu.word(value)),
            Op::StoreNt(at, value) => cpu.word(at.0).store_nt(cpu.word(value)),
            Op::Flush(at, flush) => cpu.word(at.0).flush_by(flush),
            Op::Fence(primitive) => cpu.primitive(primitive),
            Op::Load(at) => {
                let value = cpu.word(at.0).load().bits();
                registers.borrow_mut().push(value);
            }
            Op::Increment(at) => _ = cpu.word(at.0).fetch_add(cpu.word(1)),
            Op::Out => cpu.note(Note::RegionDurable),
            Op::Pause(cycles) => pause(cpu, cycles),
            Op::Stagger(cycles) => pause(cpu, cycles * seed),
        }
    }
}

fn pause(cpu: &SimCpu<'_>, cycles: u64) {
    (0..cycles * DISPATCH_WIDTH).for_each(|_| _ = cpu.alu(Alu::Simple, 0, 0));
}

/// Dispatch width of the preset, in micro-ops.
const DISPATCH_WIDTH: u64 = 4;

/// Whether a crash state of the run, or its end, is forbidden.
fn leaves(program: &Program, journal: &Journal, initial: &Memory, end: &Memory, registers: &[Vec<u64>]) -> bool {
    let image = initial.clone();
    (0..=journal.durable.len()).any(|event| {
        if let Some(durable) = event.checked_sub(1).map(|last| &journal.durable[last]) {
            image.set_line(durable.line, &durable.data);
        }
        // An output in the cycle of the next event may follow from that event.
        let until = journal.durable.get(event).map_or(Cycles::NEVER, |next| next.at);
        let told: Vec<bool> = journal
            .notes
            .iter()
            .map(|notes| notes.iter().any(|note| note.at < until))
            .collect();
        let last = event == journal.durable.len();
        (program.forbidden)(&View {
            image: &image,
            end,
            registers,
            told: &told,
            last,
        })
    })
}
