//! Slack: no core sees memory as it was longer ago than `simulation.slack`.

use super::programs::{machine, run, think};
use super::{cases, judge, Verdict};
use std::cell::RefCell;
use std::rc::Rc;
use strandline_isa::{Cpu, PM_BASE};
use strandline_machine::factory;

const STORES: u64 = 200;
const LOADS: u64 = 3_000;
const SLACKS: [u64; 3] = [0, 16, 64];

/// By how many cycles the oldest value was outdated that one core has loaded of a word, to which another stores. Measured:
/// 0 with a slack of 0 or 16, 14 with 64, 78 with 128: a store leaves its queue 50 cycles behind its dispatch.
fn outdated(design: &str, slack: u64) -> Result<u64, String> {
    let stores = factory(|cpu| {
        cpu.start_line();
        for number in 1..STORES {
            think(cpu, 40);
            cpu.word(PM_BASE).store(cpu.word(number));
        }
    });
    let loaded: Rc<RefCell<Vec<(u64, u64)>>> = Rc::default();
    let writes = loaded.clone();
    let loads = factory(move |cpu| {
        let loaded = writes.clone();
        {
            cpu.start_line();
            for _ in 0..LOADS {
                let at = cpu.cycles().bits();
                let value = cpu.word(PM_BASE).load().bits();
                loaded.borrow_mut().push((at, value));
                think(cpu, 3);
            }
        }
    });
    let outcome = run(&machine("asap", design, slack), design, true, &[stores, loads])?;
    let ops = outcome.timeline.expect("a timeline").ops.0;
    let visible: Vec<u64> = ops.iter().filter_map(|op| op.visible).collect();
    let since = |&(at, value): &(u64, u64)| Some(at.saturating_sub(*visible.get(value as usize)?));
    let longest = loaded.borrow().iter().filter_map(since).max();
    Ok(longest.unwrap_or(0))
}

pub fn holds(design: &str) -> Verdict {
    for slack in SLACKS {
        let outdated = outdated(design, slack)?;
        if outdated > slack {
            return Err(format!(
                "{design}: a core with a slack of {slack} sees what was {outdated} cycles ago"
            ));
        }
    }
    Ok(())
}

#[test]
fn no_core_sees_memory_as_it_was_before_its_slack() {
    judge(cases(&["eadr", "x86"], &super::designs()).into_iter().map(holds));
}
