//! Where the cycles of a run went, for its record.

use serde_json::{json, Value};
use strandline_machine::{Class, Detail, MachineConfig, Timeline};

/// Operations that are recorded at most. What is behind is not classified.
const MOST: usize = 2_000_000;
/// Bytes of the rows that belong to so many operations, about: an operation, a write, their waits and stalls.
pub const MOST_BYTES: u64 = MOST as u64 * 400;

/// What the timeline must have.
pub fn detail(machine: &MachineConfig) -> Detail {
    Detail {
        most: MOST,
        heads: Some(hit(machine)),
        ..Detail::default()
    }
}

/// Cycles up to which an instruction at the window's head misses nothing: a hit's.
pub fn hit(machine: &MachineConfig) -> u64 {
    machine.l1.latency.0
}

/// The slots of all cores together by class, those of a cycle, and up to which cycle of the timed region.
pub fn classified(timeline: &Timeline, cores: u64, width: u64) -> Value {
    let spent = timeline.why(cores as usize, width);
    let sum = |class: &Class| spent.iter().map(|core| core.of(*class)).sum::<u64>();
    let classes: serde_json::Map<String, Value> = Class::ALL
        .iter()
        .map(|class| (class.key().to_owned(), json!(sum(class))))
        .collect();
    let known = timeline
        .stopped
        .map(|at| at.min(timeline.end).saturating_sub(timeline.start));
    json!({ "slots": classes, "width": width, "until": known })
}
