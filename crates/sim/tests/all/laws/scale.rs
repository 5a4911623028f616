//! Scale: a machine of twice the clock and the same cycles runs as this one, cycle for cycle.

use super::programs::{machine, regions, run};
use super::{cases, designs, judge_pairs, Verdict};
use std::cell::Cell;
use std::rc::Rc;
use strandline_machine::factory;
use strandline_machine::{MachineConfig, Stats};

/// Twice the clock, and all that is per second twice: the same cycles.
fn doubled(machine: &MachineConfig) -> MachineConfig {
    let mut machine = machine.clone();
    machine.core.clock_ghz *= 2.0;
    machine.pm.read_gbps *= 2.0;
    machine.pm.write_gbps *= 2.0;
    machine.dram.gbps *= 2.0;
    machine
}

fn stats(machine: &MachineConfig, design: &str) -> Result<Stats, String> {
    let both = [(); 2].map(|()| factory(|cpu| regions(cpu, 30, Rc::new(Cell::new(0)))));
    Ok(run(machine, design, false, &both)?.stats)
}

fn holds(preset: &str, design: &str) -> Verdict {
    let machine = machine(preset, design, 64);
    let [once, twice] = [stats(&machine, design)?, stats(&doubled(&machine), design)?];
    match once == twice {
        true => Ok(()),
        false => Err(format!("{design} on {preset}: {once:?}; at twice the clock {twice:?}")),
    }
}

#[test]
fn twice_the_clock_and_the_same_cycles_are_the_same_run() {
    let presets = cases(&["asap"], &["asap", "cosplay", "dpo", "strandweaver", "common", "zen4"]);
    judge_pairs(&presets, &designs(), holds);
}
