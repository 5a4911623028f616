//! What speculative persistence counts.

use strandline_design::{Counter, Counters, OwnCounts};

/// The counts of all cores.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub epochs: u64,
    pub rollbacks: u64,
    pub epochs_undone: u64,
    pub look_ups: u64,
    pub hits: u64,
    pub false_positives: u64,
    pub checkpoint_waits: u64,
    pub buffer_full: u64,
    pub table_full: u64,
}

/// The counters that only these designs have.
pub const OWN: &[Counter] = &[
    Counter::sum(
        "ssb_hits",
        "loads",
        "Loads that found bytes in the speculative store buffer.",
    ),
    Counter::sum(
        "ssb_full",
        "entries",
        "Stores, flushes and pcommits that found the speculative store buffer full.",
    ),
    Counter::sum(
        "checkpoint_waits",
        "fences",
        "Fences and locked instructions that waited for a free checkpoint.",
    ),
    Counter::sum(
        "epochs_undone",
        "epochs",
        "Speculative epochs that roll-backs have undone.",
    ),
    Counter::sum(
        "blt_full",
        "accesses",
        "Accesses that found the block look-up table full.",
    ),
];

impl Counts {
    /// All of them.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let values = [
            self.hits,
            self.buffer_full,
            self.checkpoint_waits,
            self.epochs_undone,
            self.table_full,
        ];
        Counters {
            epochs: Some(self.epochs),
            rollbacks: Some(self.rollbacks),
            bloom_lookups: Some(self.look_ups),
            bloom_false_positives: Some(self.false_positives),
            own: OwnCounts(OWN.iter().copied().zip(values).collect()),
            ..Counters::default()
        }
    }
}
