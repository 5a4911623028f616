//! Random programs on random machines: they end, every word is what its core stored last, and what was flushed and
//! fenced is durable.

use crate::common::{put_any, random_machine, Plain};
use proptest::prelude::*;
use strandline_design::boxed;
use strandline_isa::{Addr, Code, Cpu, Flush, Memory, Primitive, Thread, PM_BASE};
use strandline_kernel::{Cycles, Rng};
use strandline_machine::{Journal, Options, Stats, System};

const LINES: u64 = 6;
const COUNTER: u64 = 64;

#[derive(Clone, Copy, Debug)]
enum Op {
    /// Stores the next value of the core's own word of a line.
    Store(u64),
    StoreNt(u64),
    Load(u64),
    Flush(u64, Flush),
    Fence(Primitive),
    Add,
    Work(u64),
}

fn op(rng: &mut Rng) -> Op {
    let line = rng.below(LINES);
    match rng.below(20) {
        0..=5 => Op::Store(line),
        6 => Op::StoreNt(line),
        7..=9 => Op::Load(line),
        10..=12 => Op::Flush(line, Flush::Clwb),
        13 => Op::Flush(line, Flush::ClflushOpt),
        14 => Op::Flush(line, Flush::Clflush),
        15 | 16 => Op::Fence(Primitive::Sfence),
        17 => Op::Fence([Primitive::Mfence, Primitive::StoreBarrier, Primitive::Pcommit][rng.below(3) as usize]),
        18 => Op::Add,
        _ => Op::Work(rng.below(300)),
    }
}

/// The core's own word of a line: cores share lines but no words.
fn word(core: u16, line: u64) -> u64 {
    PM_BASE + line * 64 + u64::from(core) * 8
}

fn play(cpu: &Thread<'_>, core: u16, ops: Vec<Op>) {
    let mut next = [0u64; LINES as usize];
    for op in ops {
        match op {
            Op::Store(line) | Op::StoreNt(line) => {
                next[line as usize] += 1;
                let address = cpu.word(word(core, line));
                let value = cpu.word(next[line as usize]);
                match op {
                    Op::Store(_) => address.store(value),
                    _ => address.store_nt(value),
                }
            }
            Op::Load(line) => {
                let seen = cpu.word(word(core, line)).load().bits();
                assert_eq!(seen, next[line as usize], "a core sees its own latest store");
            }
            Op::Flush(line, kind) => cpu.word(word(core, line)).flush_by(kind),
            Op::Fence(primitive) => cpu.primitive(primitive),
            Op::Add => _ = cpu.word(COUNTER).fetch_add(cpu.word(1)),
            Op::Work(n) => {
                let mut x = cpu.word(1);
                for _ in 0..n {
                    x = x + 1;
                }
            }
        }
    }
}

/// What each word must hold in the end, at least and at most: the last fenced value and the last stored one.
fn bounds(ops: &[Op]) -> Vec<(u64, u64)> {
    let lines = LINES as usize;
    let (mut stored, mut sent, mut fenced) = (vec![0; lines], vec![0; lines], vec![0; lines]);
    for op in ops {
        match op {
            Op::Store(line) => stored[*line as usize] += 1,
            Op::StoreNt(line) => {
                stored[*line as usize] += 1;
                sent[*line as usize] = stored[*line as usize];
            }
            Op::Flush(line, _) => sent[*line as usize] = stored[*line as usize],
            Op::Fence(Primitive::Sfence | Primitive::Mfence) => fenced.copy_from_slice(&sent),
            _ => {}
        }
    }
    fenced.into_iter().zip(stored).collect()
}

struct Ran {
    memory: Vec<u64>,
    counter: u64,
    stats: Stats,
    journal: Journal,
}

fn run(seed: u64, programs: &[Vec<Op>]) -> Ran {
    let mut rng = Rng::new(seed);
    let m = random_machine(&mut rng);
    let options = Options {
        seed,
        code: Code::ALL[rng.below(2) as usize],
        journal: true,
        patience: Cycles(50_000_000),
        ..Options::default()
    };
    let mut system = System::new(&m, boxed(Plain), programs.len(), Memory::new(4096, 4096), options);
    for (core, ops) in programs.iter().enumerate() {
        let ops = ops.clone();
        put_any(&mut system, core as u16, move |cpu| play(cpu, core as u16, ops));
    }
    let outcome = system.run().unwrap_or_else(|stuck| panic!("seed {seed}: {stuck}"));
    Ran {
        memory: system.memory().pm_words().iter().map(std::cell::Cell::get).collect(),
        counter: system.memory().read(Addr(COUNTER), 8),
        stats: outcome.stats,
        journal: outcome.journal.expect("kept"),
    }
}

fn programs(seed: u64, cores: u64, length: u64) -> Vec<Vec<Op>> {
    let mut rng = Rng::new(seed ^ 0xabcd);
    (0..cores)
        .map(|_| (0..length).map(|_| op(&mut rng)).collect())
        .collect()
}

fn check(seed: u64, cores: u64, length: u64) {
    let programs = programs(seed, cores, length);
    let ran = run(seed, &programs);
    let adds = programs.iter().flatten().filter(|op| matches!(op, Op::Add)).count() as u64;
    assert_eq!(ran.counter, adds, "atomics lose no increment");
    let mut image = vec![0u64; ran.memory.len()];
    for durable in &ran.journal.durable {
        let base = (durable.line.0 * 64 - PM_BASE) as usize / 8;
        for (i, value) in durable.data.iter().enumerate() {
            assert!(
                *value >= image[base + i],
                "seed {seed}: writes to one line persist in order"
            );
            image[base + i] = *value;
        }
    }
    for (core, ops) in programs.iter().enumerate() {
        for (line, (fenced, stored)) in bounds(ops).into_iter().enumerate() {
            let at = (word(core as u16, line as u64) - PM_BASE) as usize / 8;
            assert_eq!(ran.memory[at], stored, "seed {seed}: core {core}, line {line}");
            let durable = image[at];
            assert!(
                (fenced..=stored).contains(&durable),
                "seed {seed}: core {core}, line {line}: {fenced} <= {durable} <= {stored}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn programs_end_and_fenced_flushes_are_durable(seed: u64, cores in 1u64..5, length in 1u64..120) {
        check(seed, cores, length);
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in 0..20 {
        let programs = programs(seed, 3, 80);
        let (one, two) = (run(seed, &programs), run(seed, &programs));
        assert_eq!(format!("{:?}", one.stats), format!("{:?}", two.stats));
        assert_eq!(one.journal.durable, two.journal.durable);
    }
}
