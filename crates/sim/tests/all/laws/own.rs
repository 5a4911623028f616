//! Independence: cores that share nothing take as long as one.

use super::programs::{machine, regions, run, think};
use super::{cases, cycles, designs, judge, spec, Verdict};
use std::cell::Cell;
use std::rc::Rc;
use strandline_isa::{Addr, Cpu};
use strandline_machine::factory;

/// Regions of each core, and the share by which they may take longer beside others.
const REGIONS: u64 = 20;
const TOLERANCE: f64 = 0.02;

/// Cycles of the slowest of so many cores, which compute for different times and load a line of their own before each of
/// two rounds of regions.
fn slowest(design: &str, cores: usize, additions: u64) -> Result<u64, String> {
    let mut machine = machine("asap", design, 64);
    // Ample, so that the cores share nothing.
    machine.pm.write_gbps = 64.0;
    machine.pm.read_gbps = 64.0;
    let took = Rc::new(Cell::new(0));
    let begins = |core: usize| {
        let slowest = took.clone();
        factory(move |cpu| {
            let (own, slowest) = (Rc::new(Cell::new(0)), slowest.clone());
            {
                regions(cpu, REGIONS, own.clone());
                slowest.set(slowest.get().max(own.get()));
                let sum = think(cpu, additions * core as u64);
                cpu.load(Addr((1 << 14) + 4096 * core as u64), sum, 8);
            }
        })
    };
    run(&machine, design, false, &(0..cores).map(begins).collect::<Vec<_>>())?;
    Ok(took.get())
}

pub fn holds(design: &str, cores: usize) -> Verdict {
    let [one, all] = [slowest(design, 1, 3_000)?, slowest(design, cores, 3_000)?];
    match (all as f64 / one as f64 - 1.0).abs() <= TOLERANCE {
        true => Ok(()),
        false => Err(format!(
            "{design}: {REGIONS} regions take {one} cycles on one core, {all} on the slowest of {cores}"
        )),
    }
}

/// A design, its machine, and settings.
type Row = (&'static str, &'static str, &'static [&'static str]);

const SHORT: [Row; 2] = [("volatile", "dpo", &["machine.media=pwq"]), ("x86", "asap", &[])];

/// Those of the thorough form beside them.
const MORE: [Row; 3] = [
    ("volatile", "asap", &[]),
    ("eadr", "asap", &[]),
    ("asap-rp", "asap", &[]),
];

/// Tasks of a thread that swap elements of their own, so seldom that media and caches are free.
const TASKS: u64 = 30;
const THINK: &str = "runtime.think=64000";
/// A run takes longer or shorter by this share for more threads. Measured: 0.4 to 0.5 %, 2,173 to 2,364 cycles of the first
/// task, which one thread's first region takes longer.
const THREADS: f64 = 0.01;

fn threads(row: Row, threads: u64) -> Verdict {
    let (design, machine, set) = row;
    let mut all = vec![THINK.to_owned()];
    all.extend(set.iter().map(|set| (*set).to_owned()));
    let [one, more] =
        [1, threads].map(|threads| cycles(&spec("array-swap", design, machine, threads, TASKS * threads, &all)));
    match (more / one - 1.0).abs() <= THREADS {
        true => Ok(()),
        false => Err(format!(
            "{row:?}: {TASKS} tasks take {one} cycles on one thread, {more} on each of {threads}"
        )),
    }
}

#[test]
fn threads_that_share_nothing_take_as_long_as_one() {
    for more in cases(&[2], &[2, 4]) {
        judge(
            cases(&SHORT, &[&SHORT[..], &MORE].concat())
                .into_iter()
                .map(|row| threads(row, more)),
        );
    }
}

#[test]
fn cores_that_share_nothing_take_as_long_as_one() {
    for cores in cases(&[2], &[2, 4, 8]) {
        judge(designs().into_iter().map(|design| holds(design, cores)));
    }
}
