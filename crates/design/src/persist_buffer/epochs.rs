//! One core's epochs that are not complete.

use crate::rules::{Broken, Rule};
use std::collections::VecDeque;
use std::ops::Range;
use strandline_isa::CoreId;

/// An epoch of some core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EpochId {
    /// The core.
    pub core: CoreId,
    /// The epoch's number there.
    pub number: u64,
}

/// An epoch that has completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completed {
    /// Its number.
    pub number: u64,
    /// Cores with an epoch that depends on it.
    pub dependents: Vec<CoreId>,
}

/// A core's epochs from the oldest that is not complete to the current one.
///
/// Two rules keep dependences from going round in circles (ASAP IV-E): an epoch that another depends on has ended, so that it
/// never gets a write or a dependence again; and a dependence is the current epoch's. So each epoch depends on epochs that
/// ended before it did.
#[derive(Clone, Debug)]
pub struct Epochs {
    oldest: u64,
    epochs: VecDeque<Epoch>,
    broken: Broken,
}

#[derive(Clone, Debug, Default)]
struct Epoch {
    /// Writes that are not acknowledged.
    writes: usize,
    /// Other cores' epochs that complete first.
    awaits: Vec<EpochId>,
    dependents: Vec<CoreId>,
}

impl Epoch {
    fn is_settled(&self) -> bool {
        self.writes == 0 && self.awaits.is_empty()
    }
}

impl Default for Epochs {
    fn default() -> Self {
        Epochs {
            oldest: 0,
            epochs: VecDeque::from([Epoch::default()]),
            broken: Broken::default(),
        }
    }
}

impl Epochs {
    /// A core's first epoch, with a rule broken.
    pub(crate) fn breaking(broken: Broken) -> Epochs {
        Epochs {
            broken,
            ..Epochs::default()
        }
    }

    /// The current epoch.
    #[must_use]
    pub fn current(&self) -> u64 {
        self.oldest + self.epochs.len() as u64 - 1
    }

    /// Ends the current epoch and begins the next: which one has ended.
    pub fn begin(&mut self) -> u64 {
        let ended = self.current();
        self.epochs.push_back(Epoch::default());
        ended
    }

    /// The current epoch has one write more.
    pub fn wrote(&mut self) {
        if let Some(epoch) = self.epochs.back_mut() {
            epoch.writes += 1;
        }
    }

    /// A write of an epoch is durable.
    pub fn acknowledged(&mut self, number: u64) {
        if let Some(epoch) = self.get_mut(number) {
            epoch.writes = epoch.writes.saturating_sub(1);
        }
    }

    /// Another core asks for a line that this one wrote in epoch `written`: the epoch that the other one's depends on, if
    /// not all is durable up to that write. A core answers with its current epoch and begins a new one (ASAP IV-E).
    pub fn asked(&mut self, written: u64, requester: CoreId) -> Option<u64> {
        let up_to = (written + 1).saturating_sub(self.oldest) as usize;
        if self.epochs.iter().take(up_to).all(Epoch::is_settled) {
            return None;
        }
        let dependents = &mut self.epochs.back_mut()?.dependents;
        if !dependents.contains(&requester) {
            dependents.push(requester);
        }
        if self.broken.is(Rule::DependenceSplitsEpochs) {
            return Some(self.current());
        }
        Some(self.begin())
    }

    /// Begins an epoch that depends on another core's.
    pub fn depend(&mut self, on: EpochId) {
        if !self.broken.is(Rule::DependenceSplitsEpochs) {
            self.begin();
        }
        if let Some(epoch) = self.epochs.back_mut() {
            if !self.broken.is(Rule::EpochAwaitsOthers) {
                epoch.awaits.push(on);
            }
        }
    }

    /// Another core's epochs up to this one are complete.
    pub fn resolve(&mut self, done: EpochId) {
        for epoch in &mut self.epochs {
            epoch
                .awaits
                .retain(|on| on.core != done.core || on.number > done.number);
        }
    }

    /// The epochs whose writes may be sent: the oldest, if it waits for no other core's.
    #[must_use]
    pub fn may_send(&self) -> Range<u64> {
        let free = self.epochs.iter().take_while(|epoch| epoch.awaits.is_empty()).count() as u64;
        let most = match self.broken.is(Rule::EpochsInOrder) {
            true => u64::MAX,
            false => 1,
        };
        self.oldest..self.oldest + free.min(most)
    }

    /// Completes the oldest epoch if it has ended, all its writes are durable and it waits for no other core's.
    pub fn complete(&mut self) -> Option<Completed> {
        if self.epochs.len() == 1 || !self.epochs.front()?.is_settled() {
            return None;
        }
        let epoch = self.epochs.pop_front()?;
        self.oldest += 1;
        Some(Completed {
            number: self.oldest - 1,
            dependents: epoch.dependents,
        })
    }

    /// Whether an epoch and all before it are complete.
    #[must_use]
    pub fn is_complete(&self, number: u64) -> bool {
        number < self.oldest
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut Epoch> {
        let index = number.checked_sub(self.oldest)?;
        self.epochs.get_mut(index as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: CoreId = CoreId(1);

    fn other(number: u64) -> EpochId {
        EpochId { core: OTHER, number }
    }

    #[test]
    fn an_epoch_completes_when_it_has_ended_and_its_writes_are_durable() {
        let mut epochs = Epochs::default();
        epochs.wrote();
        epochs.begin();
        assert_eq!(epochs.complete(), None, "its write is not durable");
        epochs.acknowledged(0);
        assert_eq!(epochs.complete().map(|done| done.number), Some(0));
        assert!(epochs.is_complete(0));
        assert_eq!(epochs.complete(), None, "the current epoch has not ended");
    }

    #[test]
    fn the_next_epoch_is_sent_only_when_the_one_before_is_complete() {
        let mut epochs = Epochs::default();
        epochs.wrote();
        epochs.begin();
        epochs.wrote();
        assert_eq!(epochs.may_send(), 0..1);
        epochs.acknowledged(0);
        epochs.complete();
        assert_eq!(epochs.may_send(), 1..2);
    }

    #[test]
    fn a_dependent_epoch_waits_for_the_other_core_but_those_before_it_do_not() {
        let mut epochs = Epochs::default();
        epochs.wrote();
        epochs.depend(other(4));
        assert_eq!(epochs.may_send(), 0..1);
        epochs.acknowledged(0);
        epochs.complete();
        assert!(epochs.may_send().is_empty());
        epochs.resolve(other(3));
        assert!(
            epochs.may_send().is_empty(),
            "an older epoch of that core is not the one"
        );
        epochs.resolve(other(4));
        assert_eq!(epochs.may_send(), 1..2);
    }

    #[test]
    fn an_epoch_without_writes_completes_no_earlier_than_what_it_depends_on() {
        let mut epochs = Epochs::default();
        epochs.depend(other(0));
        epochs.begin();
        assert_eq!(epochs.complete().map(|done| done.number), Some(0));
        assert_eq!(epochs.complete(), None);
        epochs.resolve(other(0));
        assert_eq!(epochs.complete().map(|done| done.number), Some(1));
    }

    #[test]
    fn who_is_asked_for_a_line_ends_its_epoch_and_names_it() {
        let mut epochs = Epochs::default();
        epochs.wrote();
        assert_eq!(epochs.asked(0, OTHER), Some(0));
        assert_eq!(epochs.current(), 1);
        epochs.acknowledged(0);
        let done = epochs.complete().expect("it has ended");
        assert_eq!(done.dependents, [OTHER]);
    }

    #[test]
    fn nobody_depends_on_a_write_before_which_all_is_durable() {
        let mut epochs = Epochs::default();
        assert_eq!(epochs.asked(0, OTHER), None, "a volatile write with nothing before it");
        epochs.begin();
        epochs.wrote();
        assert_eq!(epochs.asked(0, OTHER), None, "what is not durable was written later");
        assert_eq!(epochs.asked(1, OTHER), Some(1));
    }
}
