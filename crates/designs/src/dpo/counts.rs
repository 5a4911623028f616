//! What Delegated Persist Ordering counts.

use super::dependences::{BufferedKind, Dependences};
use crate::parts::bloom::LookUps;
use strandline_design::{Counter, Counters, OwnCounts};

/// The counters.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Entries that have drained.
    pub drains: u64,
    /// Fences that have drained.
    pub epochs: u64,
    /// Stores that have coalesced in a buffer.
    pub coalesced: u64,
    /// Look-ups in read and write sets.
    pub look_ups: LookUps,
    persist_persist: u64,
    epoch_persist: u64,
    persist_epoch: u64,
    epoch_epoch: u64,
    volatile: u64,
}

const PERSIST_PERSIST: Counter = Counter::sum(
    "persist_persist",
    "dependences",
    "Dependences of a persist on another core's persist.",
);
const EPOCH_PERSIST: Counter = Counter::sum(
    "epoch_persist",
    "dependences",
    "Dependences of a persist on another core's fence.",
);
const PERSIST_EPOCH: Counter = Counter::sum(
    "persist_epoch",
    "dependences",
    "Dependences of a fence on another core's persist.",
);
const EPOCH_EPOCH: Counter = Counter::sum(
    "epoch_epoch",
    "dependences",
    "Dependences of a fence on another core's fence.",
);
const VOLATILE: Counter = Counter::sum(
    "volatile_dependences",
    "dependences",
    "Dependences found by an access to volatile memory.",
);
const BLOCKED_L1: Counter = Counter::sum(
    "l1_blocked_cycles",
    "cycles",
    "A core's L1 is blocked, because its persist buffer is full of entries or fences; summed over the cores.",
);
const DRAINS: Counter = Counter::sum(
    "drains",
    "entries",
    "Persists and fences that have drained from persist buffers to controllers.",
);
const COALESCED: Counter = Counter::sum(
    "buffer_coalesced",
    "stores",
    "Stores that have coalesced in a persist buffer.",
);

/// The counters that only this design has.
pub const OWN: &[Counter] = &[
    PERSIST_PERSIST,
    EPOCH_PERSIST,
    PERSIST_EPOCH,
    EPOCH_EPOCH,
    VOLATILE,
    BLOCKED_L1,
    DRAINS,
    COALESCED,
];

impl Counts {
    /// Counts the dependences of a new entry.
    pub fn found(&mut self, waits: &Dependences, kind: BufferedKind) {
        for dependence in waits.iter() {
            let count = match (dependence.kind, kind) {
                (BufferedKind::Persist, BufferedKind::Persist) => &mut self.persist_persist,
                (BufferedKind::Fence, BufferedKind::Persist) => &mut self.epoch_persist,
                (BufferedKind::Persist, BufferedKind::Fence) => &mut self.persist_epoch,
                (BufferedKind::Fence, BufferedKind::Fence) => &mut self.epoch_epoch,
            };
            *count += 1;
            self.volatile += u64::from(dependence.volatile);
        }
    }

    /// All of them, with the cycles for which L1s were blocked.
    #[must_use]
    pub fn counters(&self, blocked_l1: u64) -> Counters {
        let kinds = [
            self.persist_persist,
            self.epoch_persist,
            self.persist_epoch,
            self.epoch_epoch,
        ];
        let values = [
            kinds[0],
            kinds[1],
            kinds[2],
            kinds[3],
            self.volatile,
            blocked_l1,
            self.drains,
            self.coalesced,
        ];
        Counters {
            epochs: Some(self.epochs),
            cross_dependences: Some(kinds.iter().sum()),
            bloom_lookups: Some(self.look_ups.all),
            bloom_false_positives: Some(self.look_ups.false_positives),
            own: OwnCounts(OWN.iter().copied().zip(values).collect()),
            ..Counters::default()
        }
    }
}
