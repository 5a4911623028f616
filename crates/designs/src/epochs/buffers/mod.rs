//! The persist buffers of all cores, and the epochs that order what is in them.
//!
//! [`PersistBuffers`] inserts stores, begins epochs and notes their dependences. It names the cores
//! that have changed ([`PersistBuffers::next_changed`]); a design then decides what to flush, and
//! commits epochs.

mod core;
mod dependences;
mod flushing;
mod ordering;
mod own;
mod settings;

use self::core::CoreState;
use super::persistency::Persistency;
use crate::parts::dependence_wait::DependenceWait;
use crate::parts::epochs::{Commits, EpochId, EpochTable, Follows, LastWriters};
use crate::parts::per_core;
pub use own::{Gate, Message, Own, Wraps};
pub use settings::{Settings, EPOCH_ENTRIES, GATHER, GATHER_TIME};
use std::collections::VecDeque;
use strandline_design::{Counters, Hosts, Occupancy, Wants};
use strandline_isa::CoreId;
use strandline_kernel::{Cycles, Params};

/// The hosts of designs whose flushes do nothing, and whose buffers fail with their host.
pub const BUFFERED: Hosts = Hosts::Coherent(
    "its flushes do nothing, so that a reader has no invalidate, and epochs that others wait for are lost in the buffers of a failed host",
);

/// The persist buffers of all cores.
///
/// A store to persistent memory enters its core's buffer as it becomes visible, in the core's
/// current epoch. Entries of an epoch that has not ended are held back for stores to their lines,
/// until [`GATHER`] of them wait or some time has passed. The papers describe coalescing and
/// background flushes, but not their timing. Power failure loses the buffers' contents.
#[derive(Clone, Debug)]
pub struct PersistBuffers {
    persistency: Persistency,
    settings: Settings,
    commits: Commits,
    cores: Vec<CoreState>,
    writers: LastWriters,
    /// Cores whose entries or epochs have changed, oldest change first.
    changed: VecDeque<CoreId>,
    /// Epochs begun so far.
    epochs: u64,
    /// Dependences of an epoch on another core's so far.
    dependences: u64,
}

impl PersistBuffers {
    /// What persist buffers want: they take all stores, and follow what any core has written.
    #[must_use]
    pub fn wants() -> Wants {
        Wants {
            nt_cached: true,
            snoops_all: true,
            orders_evictions: true,
            ..Wants::default()
        }
    }

    /// Empty buffers, with epoch tables of `epochs` entries (`None`: not limited).
    #[must_use]
    pub fn new(persistency: Persistency, epochs: Option<u64>, commits: Commits) -> PersistBuffers {
        PersistBuffers {
            persistency,
            settings: Settings::new(epochs),
            commits,
            cores: Vec::new(),
            writers: LastWriters::default(),
            changed: VecDeque::new(),
            epochs: 0,
            dependences: 0,
        }
    }

    /// The persistency model.
    #[must_use]
    pub fn persistency(&self) -> Persistency {
        self.persistency
    }

    /// When epochs commit.
    #[must_use]
    pub fn commits(&self) -> Commits {
        self.commits
    }

    /// The sizes.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Takes the values of the parameters.
    pub fn set(&mut self, params: &Params) {
        self.settings.set(params);
    }

    /// Epochs are to commit so.
    pub fn commit(&mut self, commits: Commits) {
        self.commits = commits;
    }

    /// No core's epochs are to be this many or more apart.
    pub fn keep_within(&mut self, epochs: u64) {
        self.settings.within = epochs;
    }

    /// A core whose entries or epochs have changed since its last call: its design then flushes and
    /// commits what is allowed.
    pub fn next_changed(&mut self) -> Option<CoreId> {
        self.changed.pop_front()
    }

    /// Whether there is such a core.
    #[inline(always)]
    pub fn have_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Notes that a core's epochs have changed.
    pub fn note_changed(&mut self, core: CoreId) {
        self.core(core).settled = false;
        if self.changed.back() != Some(&core) {
            self.changed.push_back(core);
        }
    }

    /// The epochs of a core.
    pub fn epochs(&mut self, core: CoreId) -> &mut EpochTable {
        &mut self.core(core).epochs
    }

    #[inline(always)]
    fn core(&mut self, core: CoreId) -> &mut CoreState {
        let (entries, commits) = (self.settings.entries, self.commits);
        per_core::state(&mut self.cores, core, |core| CoreState::new(core, entries, commits))
    }

    /// Runs a step that may begin epochs of a core, and counts them.
    fn counting(&mut self, core: CoreId, does: impl FnOnce(&mut CoreState)) {
        let state = self.core(core);
        let before = state.epochs.current();
        state.settled = false;
        does(state);
        let begun = state.epochs.current() - before;
        self.epochs += begun;
    }

    /// The counts by `now`.
    #[must_use]
    pub fn counters(&self, now: Cycles) -> Counters {
        let (blocking, waited) = DependenceWait::sum(self.cores.iter().map(CoreState::dependence_wait), now);
        Counters {
            epochs: Some(self.epochs),
            cross_dependences: Some(self.dependences),
            blocking_dependences: Some(blocking),
            dependence_wait_cycles: Some(waited),
            blocked_cycles: Some(self.cores.iter().map(|core| core.blocked(now)).sum()),
            buffer_occupancy: Some(Occupancy::sum(self.cores.iter().map(CoreState::occupancy), now)),
            ..Counters::default()
        }
    }

    /// The waiting cores and what each waits for, in words.
    #[must_use]
    pub fn waits(&self) -> Vec<String> {
        let all = self.cores.iter().enumerate();
        let waiting = all.filter(|(_, state)| state.buffer.occupied() > 0 || state.fence.is_some());
        waiting
            .map(|(core, state)| {
                let (oldest, awaits) = state.epochs.oldest();
                let others = awaits
                    .iter()
                    .map(|on| format!(", waits for epoch {} of core {}", on.number, on.core.0));
                let others: String = others.collect();
                let entries = state.buffer.occupied();
                format!("core {core}: epoch {oldest} is its oldest, {entries} entries{others}")
            })
            .collect()
    }
}
