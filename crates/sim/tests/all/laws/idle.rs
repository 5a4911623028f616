//! An idle neighbour: what one core computes by itself does not delay another one's fences.

use super::programs::{machine, regions, run, think};
use super::{cases, designs, judge_pairs, Verdict};
use std::cell::Cell;
use std::rc::Rc;
use strandline_isa::{Addr, Cpu};
use strandline_machine::factory;

/// Additions of the neighbour. The longest outlast the regions, the others end among them.
const ADDITIONS: [u64; 4] = [0, 700, 5_000, 100_000];
const REGIONS: u64 = 24;

/// Slacks that agree within [`SLACKEN`].
const SLACKS: [u64; 3] = [0, 16, 64];
const SLACKEN: f64 = 0.01;

/// Cycles of core 0's regions beside a core that executes so many additions and one load of its own line.
pub fn takes(preset: &str, design: &str, slack: u64, additions: u64) -> Result<u64, String> {
    let took = Rc::new(Cell::new(0));
    let result = took.clone();
    let busy = factory(move |cpu| regions(cpu, REGIONS, took.clone()));
    let idle = factory(move |cpu| {
        cpu.start_line();
        let sum = think(cpu, additions);
        cpu.load(Addr(1 << 14), sum, 8);
    });
    run(&machine(preset, design, slack), design, false, &[busy, idle])?;
    Ok(result.get())
}

/// Core 0 does not depend on the neighbour's additions, nor, within a tolerance, on the slack.
pub fn holds(preset: &str, design: &str) -> Verdict {
    let mut all = Vec::new();
    for slack in SLACKS {
        for additions in ADDITIONS {
            all.push((slack, additions, takes(preset, design, slack, additions)?));
        }
    }
    let exact = all[0].2;
    let wrong = all.iter().find(|(slack, _, took)| match slack {
        0 => *took != exact,
        _ => (*took as f64 / exact as f64 - 1.0).abs() > SLACKEN,
    });
    match wrong {
        None => Ok(()),
        Some((slack, additions, took)) => Err(format!(
            "{design} on {preset}: {REGIONS} regions take {took} cycles beside {additions} additions with a slack of \
             {slack}, {exact} beside none with none"
        )),
    }
}

#[test]
fn an_idle_neighbour_delays_no_fence() {
    let presets = cases(&["asap"], &["asap", "cosplay", "dpo", "strandweaver", "zen4"]);
    judge_pairs(&presets, &designs(), holds);
}
