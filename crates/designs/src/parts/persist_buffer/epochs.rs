//! One core's epochs that are not complete.

use std::collections::{BTreeSet, VecDeque};
use strandline_design::ControllerId;
use strandline_isa::CoreId;
use strandline_rules::{broken, Rule};

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
/// Two rules keep dependences from going round in circles (ASAP IV-E): an epoch that another depends on has ended, so that it
/// never gets a write or a dependence again; and a dependence is the current epoch's. So each epoch depends on epochs that
/// ended before it did.
#[derive(Clone, Debug)]
pub struct Epochs {
    core: CoreId,
    epochs: VecDeque<Epoch>,
    /// The epochs before this one come before every strand (the last join).
    joined: u64,
}

#[derive(Clone, Debug, Default)]
struct Epoch {
    number: u64,
    /// It has had a write.
    wrote: bool,
    /// Writes that are not acknowledged.
    writes: usize,
    /// Epochs that come first and are not durable, of this core and of others.
    awaits: Vec<EpochId>,
    /// Other cores with an epoch that awaits it.
    dependents: Vec<CoreId>,
    /// The controllers that got writes of it before it was safe, one bit each.
    early: u64,
    /// Answers of controllers that it waits for, while it commits.
    commits: Option<u64>,
}

impl Epoch {
    /// Whether all of it, and all that comes before it, is durable.
    fn is_settled(&self) -> bool {
        self.writes == 0 && self.awaits.is_empty() && self.early == 0
    }
}

/// How a new epoch follows those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// The current one.
    Current,
    /// The last join alone: it begins a strand.
    Join,
    /// All of them: it joins the strands.
    All,
}

impl Epochs {
    /// A core's first epoch.
    #[must_use]
    pub fn new(core: CoreId) -> Epochs {
        Epochs {
            core,
            epochs: VecDeque::from([Epoch::default()]),
            joined: 0,
        }
    }

    /// The current epoch.
    #[must_use]
    pub fn current(&self) -> u64 {
        self.epochs.back().map_or(0, |epoch| epoch.number)
    }

    /// How many epochs are not durable, with the current one.
    #[must_use]
    pub fn occupied(&self) -> usize {
        self.epochs.len()
    }

    /// Ends the current epoch and begins the next; true if it is another one. An epoch in which nothing was written, and which
    /// awaits and is awaited by no other core's, is not ended: it becomes the next one.
    pub fn begin(&mut self, follows: Follows) -> bool {
        let current = self.current();
        let Some(last) = self.epochs.back() else { return false };
        let is_new = last.wrote || !last.dependents.is_empty() || last.awaits.iter().any(|on| on.core != self.core);
        let awaits = match follows {
            Follows::Current if !is_new => return false,
            Follows::Current => self.own(|epoch| epoch.number == current),
            Follows::Join => self.own(|epoch| epoch.number < self.joined),
            Follows::All => {
                self.joined = current + u64::from(is_new);
                self.own(|epoch| epoch.number < self.joined)
            }
        };
        if is_new {
            self.epochs.push_back(Epoch {
                number: current + 1,
                awaits,
                ..Epoch::default()
            });
        } else if let Some(last) = self.epochs.back_mut() {
            last.awaits = awaits;
        }
        is_new
    }

    /// Those of its own epochs that a new one awaits.
    fn own(&self, which: impl Fn(&Epoch) -> bool) -> Vec<EpochId> {
        if broken(Rule::EpochsInOrder) {
            return Vec::new();
        }
        let core = self.core;
        let those = self.epochs.iter().filter(|epoch| which(epoch));
        those
            .map(|epoch| EpochId {
                core,
                number: epoch.number,
            })
            .collect()
    }

    /// Whether the current epoch is this one or comes after it.
    #[must_use]
    pub fn follows(&self, number: u64) -> bool {
        let mut reached = BTreeSet::from([self.current()]);
        while let Some(next) = reached.pop_last() {
            if next == number {
                return true;
            }
            if let Some(epoch) = self.get(next) {
                let own = epoch.awaits.iter().filter(|on| on.core == self.core);
                reached.extend(own.map(|on| on.number));
            }
        }
        self.get(number).is_none()
    }

    /// Whether the current epoch awaits this one of another core itself.
    #[must_use]
    pub fn awaits(&self, on: EpochId) -> bool {
        self.epochs.back().is_some_and(|epoch| epoch.awaits.contains(&on))
    }

    /// The current epoch has one write more.
    pub fn wrote(&mut self) {
        if let Some(epoch) = self.epochs.back_mut() {
            epoch.wrote = true;
            epoch.writes += 1;
        }
    }

    /// A write of an epoch is at its controller.
    pub fn acknowledged(&mut self, number: u64) {
        if let Some(epoch) = self.get_mut(number) {
            epoch.writes = epoch.writes.saturating_sub(1);
        }
    }

    /// Whether all of an epoch, and all that comes before it, is durable.
    #[must_use]
    pub fn is_settled(&self, number: u64) -> bool {
        self.get(number).is_none_or(Epoch::is_settled)
    }

    /// Whether everything that comes before an epoch is durable.
    #[must_use]
    pub fn is_safe(&self, number: u64) -> bool {
        self.get(number).is_none_or(|epoch| epoch.awaits.is_empty())
    }

    /// The core of `requester` gets an epoch that awaits this core's `number`, which has ended then.
    pub fn awaited(&mut self, number: u64, requester: CoreId) {
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

    /// Begins an epoch that awaits the current one and this one, another core's or one of its own.
    pub fn depend(&mut self, on: EpochId) {
        if on.core == self.core || !broken(Rule::DependenceSplitsEpochs) {
            self.begin(Follows::Current);
        }
        if let Some(epoch) = self.epochs.back_mut() {
            if on.core == self.core || !broken(Rule::EpochAwaitsOthers) {
                epoch.awaits.push(on);
            }
        }
    }

    /// An epoch is durable.
    pub fn resolve(&mut self, done: EpochId) {
        for epoch in &mut self.epochs {
            epoch.awaits.retain(|on| *on != done);
        }
    }

    /// The oldest epoch, and what of other cores it waits for.
    #[must_use]
    pub fn oldest(&self) -> (u64, &[EpochId]) {
        self.epochs
            .front()
            .map_or((0, &[]), |epoch| (epoch.number, &epoch.awaits))
    }

    /// A write of an epoch goes to this controller before the epoch is safe.
    pub fn early(&mut self, number: u64, controller: ControllerId) {
        if let Some(epoch) = self.get_mut(number) {
            epoch.early |= 1 << controller.0;
        }
    }

    /// The oldest epoch that has ended, is safe and complete (every write acknowledged) and does not commit yet; it does now.
    /// With the controllers that got early writes of it, one bit each: what it waits for ([`Epochs::answered`]).
    pub fn commits(&mut self) -> Option<(u64, u64)> {
        let current = self.current();
        let is_ready = |epoch: &&mut Epoch| {
            epoch.number != current && epoch.writes == 0 && epoch.awaits.is_empty() && epoch.commits.is_none()
        };
        let epoch = self.epochs.iter_mut().find(is_ready)?;
        epoch.commits = Some(u64::from(epoch.early.count_ones()));
        Some((epoch.number, epoch.early))
    }

    /// An epoch that commits waits for so many answers more.
    pub fn awaits_answers(&mut self, number: u64, more: u64) {
        if let Some(Some(commits)) = self.get_mut(number).map(|epoch| epoch.commits.as_mut()) {
            *commits += more;
        }
    }

    /// An answer has come; true if it was the last one.
    pub fn answered(&mut self, number: u64) -> bool {
        let Some(Some(commits)) = self.get_mut(number).map(|epoch| epoch.commits.as_mut()) else {
            return false;
        };
        *commits = commits.saturating_sub(1);
        *commits == 0
    }

    /// An epoch is durable and leaves the table: who is to be told.
    pub fn leave(&mut self, number: u64) -> Vec<CoreId> {
        let Some(index) = self.index(number) else {
            return Vec::new();
        };
        let left = self.epochs.remove(index);
        let core = self.core;
        self.resolve(EpochId { core, number });
        left.map(|epoch| epoch.dependents).unwrap_or_default()
    }

    /// Whether an epoch and all of the core's before it are durable.
    #[must_use]
    pub fn is_complete(&self, number: u64) -> bool {
        self.oldest().0 > number
    }

    fn index(&self, number: u64) -> Option<usize> {
        self.epochs.binary_search_by_key(&number, |epoch| epoch.number).ok()
    }

    fn get(&self, number: u64) -> Option<&Epoch> {
        self.epochs.get(self.index(number)?)
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut Epoch> {
        let index = self.index(number)?;
        self.epochs.get_mut(index)
    }
}

#[cfg(test)]
#[path = "epochs_tests.rs"]
mod tests;
