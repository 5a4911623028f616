//! One core's epochs that are not durable.

use super::frontier::Frontier;
use crate::parts::dependence_wait::Waiting;
use crate::parts::rules::Rule;
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use strandline_design::ControllerId;
use strandline_isa::CoreId;
use strandline_rules::broken;

/// An epoch of some core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EpochId {
    /// The core.
    pub core: CoreId,
    /// The epoch's number there.
    pub number: u64,
}

/// A core's epochs from the oldest that is not durable to the current one: its epoch table (ASAP V-A).
///
/// Two rules prevent cycles of dependences (ASAP IV-E). An epoch that another depends on has ended,
/// so that it never gets a write or a dependence again. A dependence is the current epoch's. So
/// each epoch depends on epochs that ended before it did.
#[derive(Clone, Debug)]
pub struct EpochTable {
    pub(super) core: CoreId,
    pub(super) epochs: VecDeque<Epoch>,
    /// The epochs before this one precede every strand (the last join).
    joined: u64,
    /// None after this one is safe.
    pub(super) last_safe: u64,
    /// An epoch may have become able to commit.
    pub(super) may_commit: bool,
    /// Epochs that are gone, for their memory.
    pub(super) spare: Vec<Epoch>,
    /// When it commits its epochs.
    pub(super) commits: Commits,
    /// The epochs whose commits have begun.
    pub(super) proved: Frontier,
    /// Those of them that a controller has answered to know.
    pub(super) answered: Frontier,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Epoch {
    pub(super) number: u64,
    /// It has had a write.
    pub(super) wrote: bool,
    /// Writes that are not acknowledged.
    pub(super) writes: usize,
    /// Epochs ordered before it that are not durable, of this core and of others. Where commits are pipelined, this core's are
    /// here until their commits begin.
    pub(super) awaits: Vec<EpochId>,
    /// Epochs of this core ordered before it whose commits have begun and are not answered.
    pub(super) behind: Vec<u64>,
    /// Other cores with an epoch that awaits it.
    pub(super) dependents: Vec<CoreId>,
    /// The controllers to which writes of it were flushed early, in order.
    pub(super) early: Vec<ControllerId>,
    /// While it commits: the outstanding acknowledgements of controllers.
    pub(super) commits: Option<u64>,
}

impl Epoch {
    /// Whether it, and all that is ordered before it, is durable.
    fn is_durable(&self) -> bool {
        self.writes == 0 && self.awaits.is_empty() && self.behind.is_empty() && self.early.is_empty()
    }
}

/// When a core commits the epoch after one that commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commits {
    /// When all controllers have answered the one before (ASAP V-C).
    InTurn,
    /// At once, and nothing keeps a controller from hearing of an epoch before another has heard of the one before it: a crash
    /// may undo the older one and keep the younger. As ASAP's public code has it.
    Sent,
    /// At once. Each commit, and each safe flush, carries the frontier of all whose commits have begun.
    Pipelined,
}

/// Which of its core's epochs are ordered before a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// The current one.
    Current,
    /// Those before the last join: it begins a strand.
    Join,
    /// All of them: it joins the strands.
    All,
}

impl EpochTable {
    /// A core's first epoch.
    #[must_use]
    pub fn new(core: CoreId, commits: Commits) -> EpochTable {
        EpochTable {
            core,
            commits,
            proved: Frontier::default(),
            answered: Frontier::default(),
            epochs: VecDeque::from([Epoch::default()]),
            joined: 0,
            last_safe: 0,
            may_commit: false,
            spare: Vec::new(),
        }
    }

    /// The current epoch.
    #[must_use]
    pub fn current(&self) -> u64 {
        self.epochs.back().map_or(0, |epoch| epoch.number)
    }

    /// Entries in use: the epochs that are not durable, with the current one.
    #[must_use]
    pub fn occupied(&self) -> usize {
        self.epochs.len()
    }

    /// Ends the current epoch and begins the next; true if that is another one. An epoch without a
    /// write, which awaits no other core's and is awaited by none, is not ended: it becomes the
    /// next one.
    pub fn begin(&mut self, follows: Follows) -> bool {
        let current = self.current();
        let Some(last) = self.epochs.back() else { return false };
        let is_new = last.wrote || !last.dependents.is_empty() || last.awaits.iter().any(|on| on.core != self.core);
        let before = match follows {
            Follows::Current if !is_new => return false,
            Follows::Current => current..current + 1,
            Follows::Join => 0..self.joined,
            Follows::All => {
                self.joined = current + u64::from(is_new);
                0..self.joined
            }
        };
        let mut next = match is_new {
            true => self.new_epoch(current + 1),
            false => self.epochs.pop_back().unwrap_or_default(),
        };
        next.awaits.clear();
        next.behind.clear();
        self.await_own(before, &mut next);
        if next.awaits.is_empty() {
            self.last_safe = next.number;
        }
        self.epochs.push_back(next);
        self.may_commit |= is_new;
        is_new
    }

    fn new_epoch(&mut self, number: u64) -> Epoch {
        let spare = self.spare.pop().unwrap_or_default();
        Epoch { number, ..spare }
    }

    /// Makes an epoch await those of the core's epochs that have these numbers.
    fn await_own(&self, numbers: Range<u64>, epoch: &mut Epoch) {
        if broken(Rule::EpochsInOrder) {
            return;
        }
        let core = self.core;
        for Epoch { number, commits, .. } in self.epochs.iter().filter(|epoch| numbers.contains(&epoch.number)) {
            match commits {
                Some(_) if self.passes() => epoch.behind.push(*number),
                _ => epoch.awaits.push(EpochId { core, number: *number }),
            }
        }
    }

    /// Whether the current epoch is this one or is ordered after it.
    #[inline]
    #[must_use]
    pub fn follows(&self, number: u64) -> bool {
        number == self.current() || self.index(number).is_none() || self.is_before_current(number)
    }

    /// Whether the current epoch is ordered after this one, which is not durable.
    fn is_before_current(&self, number: u64) -> bool {
        let mut reached = BTreeSet::from([self.current()]);
        while let Some(next) = reached.pop_last() {
            if next == number {
                return true;
            }
            if let Some(epoch) = self.get(next) {
                let own = epoch.awaits.iter().filter(|on| on.core == self.core);
                reached.extend(own.map(|on| on.number).chain(epoch.behind.iter().copied()));
            }
        }
        false
    }

    /// Whether the current epoch awaits this one of another core itself.
    #[must_use]
    pub fn awaits(&self, on: EpochId) -> bool {
        self.epochs.back().is_some_and(|epoch| epoch.awaits.contains(&on))
    }

    /// Counts a write of the current epoch.
    pub fn add_write(&mut self) {
        if let Some(epoch) = self.epochs.back_mut() {
            epoch.wrote = true;
            epoch.writes += 1;
        }
    }

    /// Counts a write of an epoch as acknowledged.
    pub fn acknowledge(&mut self, number: u64) {
        if let Some(epoch) = self.get_mut(number) {
            epoch.writes = epoch.writes.saturating_sub(1);
            self.may_commit = true;
        }
    }

    /// Whether an epoch, and all that is ordered before it, is durable.
    #[must_use]
    pub fn is_durable(&self, number: u64) -> bool {
        self.get(number).is_none_or(Epoch::is_durable)
    }

    /// Whether an epoch is safe: everything ordered before it is durable (ASAP IV-C), or where commits are pipelined proved.
    #[must_use]
    pub fn is_safe(&self, number: u64) -> bool {
        let is_pipelined = self.commits == Commits::Pipelined;
        self.get(number)
            .is_none_or(|epoch| epoch.awaits.is_empty() && (is_pipelined || epoch.behind.is_empty()))
    }

    /// An epoch after which none is safe.
    #[must_use]
    pub fn last_safe(&self) -> u64 {
        self.last_safe
    }

    /// Notes that an epoch of `requester` awaits this core's `number`, which ends if it is the current one.
    pub fn add_dependent(&mut self, number: u64, requester: CoreId) {
        let current = self.current();
        if let Some(epoch) = self.get_mut(number) {
            if !epoch.dependents.contains(&requester) {
                epoch.dependents.push(requester);
            }
        }
        if number == current && !broken(Rule::DependenceSplitsEpochs) {
            self.begin(Follows::Current);
        }
    }

    /// Begins an epoch that awaits the current one and `on`, an epoch of another core or of this one.
    pub fn depend_on(&mut self, on: EpochId) {
        if on.core == self.core || !broken(Rule::DependenceSplitsEpochs) {
            self.begin(Follows::Current);
        }
        if let Some(epoch) = self.epochs.back_mut() {
            if on.core == self.core || !broken(Rule::EpochAwaitsOthers) {
                epoch.awaits.push(on);
            }
        }
    }

    /// Resolves dependences on an epoch, which is durable.
    pub fn resolve(&mut self, done: EpochId) {
        for epoch in &mut self.epochs {
            let before = epoch.awaits.len();
            epoch.awaits.retain(|on| *on != done);
            self.may_commit |= epoch.awaits.len() != before;
            if epoch.awaits.is_empty() {
                self.last_safe = self.last_safe.max(epoch.number);
            }
        }
    }

    /// What the oldest epoch waits for, if that is other cores' epochs alone: until then it may not commit, and without
    /// `eager` not be flushed either.
    #[must_use]
    pub fn waits_for_others(&self, eager: bool) -> Option<Waiting> {
        let oldest = self.epochs.front().filter(|epoch| !epoch.awaits.is_empty())?;
        let is_complete = oldest.writes == 0 && self.epochs.len() > 1;
        let waits = is_complete || !eager && oldest.writes > 0;
        waits.then_some(Waiting {
            number: oldest.number,
            on: oldest.awaits.len(),
        })
    }

    /// The oldest epoch, and the epochs that it awaits.
    #[must_use]
    pub fn oldest(&self) -> (u64, &[EpochId]) {
        self.epochs
            .front()
            .map_or((0, &[]), |epoch| (epoch.number, &epoch.awaits))
    }

    pub(super) fn index(&self, number: u64) -> Option<usize> {
        // Mostly none is gone between the oldest and this one.
        let index = number.checked_sub(self.epochs.front()?.number)? as usize;
        match self.epochs.get(index) {
            Some(epoch) if epoch.number == number => Some(index),
            _ => self.epochs.binary_search_by_key(&number, |epoch| epoch.number).ok(),
        }
    }

    pub(super) fn get(&self, number: u64) -> Option<&Epoch> {
        self.epochs.get(self.index(number)?)
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut Epoch> {
        let index = self.index(number)?;
        self.epochs.get_mut(index)
    }
}

#[cfg(test)]
#[path = "epoch_table_tests.rs"]
mod tests;
