//! Commits of one core's epochs, and what is durable by them.

use super::epoch_table::{Commits, Epoch};
use super::{EpochId, EpochTable, Frontier};
use crate::parts::rules::Rule;
use std::mem::take;
use strandline_design::ControllerId;
use strandline_isa::CoreId;
use strandline_rules::{breaks, broken};

/// An epoch that commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The epoch.
    pub epoch: EpochId,
    /// The controllers to which writes of it were flushed early, in order.
    pub early: Vec<ControllerId>,
}

impl EpochTable {
    /// Notes that a write of an epoch is flushed early to this controller.
    pub fn note_early(&mut self, number: u64, controller: ControllerId) {
        if let Some(epoch) = self.get_mut(number) {
            if let Err(index) = epoch.early.binary_search(&controller) {
                epoch.early.insert(index, controller);
            }
        }
    }

    /// Commits the oldest epoch that has ended, is safe and complete (every write acknowledged) and does not commit yet. It waits
    /// for an acknowledgement ([`EpochTable::acknowledge_commit`]) of each controller that got early writes of it.
    pub fn start_commit(&mut self) -> Option<Commit> {
        if !self.may_commit {
            return None;
        }
        let (core, current, proved, commits) = (self.core, self.current(), self.proved, self.commits);
        let is_ready = |epoch: &&mut Epoch| {
            let is_open = epoch.number == current || epoch.commits.is_some();
            let has_place = commits != Commits::Pipelined || proved.reaches(epoch.number);
            !is_open && epoch.writes == 0 && epoch.awaits.is_empty() && has_place
        };
        let Some(epoch) = self.epochs.iter_mut().find(is_ready) else {
            self.may_commit = false;
            return None;
        };
        epoch.commits = Some(epoch.early.len() as u64);
        let (number, early) = (epoch.number, epoch.early.clone());
        let epoch = EpochId { core, number };
        if self.passes() {
            self.pass(epoch);
        }
        Some(Commit { epoch, early })
    }

    /// Whether epochs commit while those before them still do.
    pub(super) fn passes(&self) -> bool {
        self.commits != Commits::InTurn || broken(Rule::CommitsInTurn)
    }

    /// An epoch commits: those after it no longer await it, but its answers.
    fn pass(&mut self, done: EpochId) {
        if self.commits == Commits::Pipelined {
            self.prove(done.number);
        }
        for epoch in &mut self.epochs {
            let before = epoch.awaits.len();
            epoch.awaits.retain(|on| *on != done);
            if epoch.awaits.len() != before {
                epoch.behind.push(done.number);
            }
            if epoch.awaits.is_empty() {
                self.last_safe = self.last_safe.max(epoch.number);
            }
        }
    }

    fn prove(&mut self, number: u64) {
        let older = self
            .epochs
            .iter()
            .map(|epoch| epoch.number)
            .take_while(|older| *older < number);
        breaks(Rule::FrontierHasStrands, || {
            older.for_each(|older| self.proved.add(older))
        });
        self.proved.add(number);
    }

    /// The epochs that are proved: their writes, and all that is ordered before them, are in the persistence domain.
    #[must_use]
    pub fn proved(&self) -> Frontier {
        self.proved
    }

    /// Notes that a controller has learnt of these proved epochs.
    pub fn note_answered(&mut self, proved: Frontier) {
        self.answered = self.answered.join(proved);
    }

    /// Makes an epoch that commits wait for `more` further acknowledgements.
    pub fn await_acknowledgements(&mut self, number: u64, more: u64) {
        if let Some(Some(commits)) = self.get_mut(number).map(|epoch| epoch.commits.as_mut()) {
            *commits += more;
        }
    }

    /// Counts an acknowledgement of a commit.
    pub fn acknowledge_commit(&mut self, number: u64) {
        if let Some(Some(commits)) = self.get_mut(number).map(|epoch| epoch.commits.as_mut()) {
            *commits = commits.saturating_sub(1);
        }
    }

    /// The oldest epoch whose commit all its controllers have acknowledged, with those of the epochs before it.
    #[must_use]
    pub fn next_settled(&self) -> Option<EpochId> {
        let is_settled = |epoch: &&Epoch| {
            let is_first = epoch.behind.is_empty() || broken(Rule::ResolvedByAllAnswers);
            epoch.commits == Some(0) && is_first
        };
        let number = self.epochs.iter().find(is_settled)?.number;
        Some(EpochId {
            core: self.core,
            number,
        })
    }

    /// Removes an epoch that is durable: the cores with epochs that await it.
    pub fn remove(&mut self, number: u64) -> Vec<CoreId> {
        let Some(index) = self.index(number) else {
            return Vec::new();
        };
        let core = self.core;
        let mut dependents = Vec::new();
        if let Some(mut removed) = self.epochs.remove(index) {
            dependents = take(&mut removed.dependents);
            self.recycle(removed);
        }
        for epoch in &mut self.epochs {
            epoch.behind.retain(|behind| *behind != number);
        }
        self.resolve(EpochId { core, number });
        dependents
    }

    /// Keeps the memory of an epoch that is gone.
    fn recycle(&mut self, gone: Epoch) {
        let Epoch {
            mut awaits,
            mut behind,
            mut early,
            ..
        } = gone;
        awaits.clear();
        behind.clear();
        early.clear();
        self.spare.push(Epoch {
            awaits,
            behind,
            early,
            ..Epoch::default()
        });
    }

    /// Whether an epoch and all of the core's before it are durable. Where commits are pipelined, one controller's answer is
    /// enough: recovery takes the largest frontier. An epoch without early writes has no records, and each of its safe writes
    /// has carried the frontier of those before it.
    #[must_use]
    pub fn are_durable_through(&self, number: u64) -> bool {
        if self.commits == Commits::InTurn {
            return self.oldest().0 > number;
        }
        let mut epochs = self.epochs.iter().take_while(|epoch| epoch.number <= number);
        epochs.all(|epoch| {
            let is_known = epoch.early.is_empty() || self.answered.contains(epoch.number);
            let is_passed = epoch.early.is_empty() && broken(Rule::FenceAwaitsSafe);
            is_passed || epoch.commits.is_some() && (is_known || broken(Rule::FenceAwaitsAnswer))
        })
    }
}
