//! The epochs of a core.

use super::own::EpochId;
use crate::parts::dependence_wait::{DependenceWait, Waiting};
use std::collections::{BTreeSet, VecDeque};
use strandline_isa::{CoreId, Line};

/// How far an epoch is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Its core adds stores to it.
    #[default]
    Open,
    /// It has ended and is in the caches.
    Ended,
    /// Its lines are being flushed; this number of them has not been acknowledged.
    Flushing(usize),
}

/// An epoch that is not durable.
#[derive(Clone, Debug, Default)]
pub struct Epoch {
    /// How far it is.
    pub phase: Phase,
    /// The persistent lines with its tag. Hardware finds them by their tags.
    pub lines: BTreeSet<Line>,
    /// Epochs of other cores that must be durable before it is flushed: its dependence registers.
    pub sources: BTreeSet<EpochId>,
    /// Cores with epochs that depend on it: its inform registers.
    pub dependents: BTreeSet<CoreId>,
    /// Whether something waits for it to be durable.
    pub is_wanted: bool,
    /// Whether it has written a line.
    has_stores: bool,
}

/// The epochs of a core that are not durable, oldest first. The last is open.
#[derive(Clone, Debug)]
pub struct CoreEpochs {
    /// The number of the first.
    oldest: u64,
    epochs: VecDeque<Epoch>,
    /// The fence at which the core waits: for this epoch and all before.
    pub fence: Option<u64>,
    /// The dependences on other cores that it has waited for.
    pub waits: DependenceWait,
}

impl CoreEpochs {
    /// A core that has not begun.
    pub fn new() -> CoreEpochs {
        CoreEpochs {
            oldest: 0,
            epochs: VecDeque::from([Epoch::default()]),
            fence: None,
            waits: DependenceWait::default(),
        }
    }

    /// The number of epochs that are not durable.
    pub fn len(&self) -> usize {
        self.epochs.len()
    }

    /// The number of the open epoch.
    pub fn current(&self) -> u64 {
        self.oldest + self.epochs.len() as u64 - 1
    }

    /// The number of the oldest epoch that is not durable.
    pub fn oldest(&self) -> u64 {
        self.oldest
    }

    /// The oldest epoch that is not durable.
    pub fn first(&mut self) -> &mut Epoch {
        self.epochs.front_mut().expect("an epoch is open")
    }

    /// What the oldest epoch depends on, if it would be flushed otherwise.
    pub fn waits_for_others(&mut self, proactive: bool) -> Option<Waiting> {
        let number = self.oldest;
        let first = self.first();
        let waits = first.phase == Phase::Ended && (first.is_wanted || proactive) && !first.sources.is_empty();
        let on = first.sources.len();
        waits.then_some(Waiting { number, on })
    }

    /// The open epoch.
    pub fn open(&mut self) -> &mut Epoch {
        self.epochs.back_mut().expect("an epoch is open")
    }

    /// The epochs that are not durable, oldest first.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Epoch> {
        self.epochs.iter_mut()
    }

    /// Whether an epoch is durable.
    pub fn is_durable(&self, number: u64) -> bool {
        number < self.oldest
    }

    /// An epoch; `None` if it is durable.
    pub fn get(&mut self, number: u64) -> Option<&mut Epoch> {
        let index = number.checked_sub(self.oldest)?;
        self.epochs.get_mut(index as usize)
    }

    /// Notes a store of the open epoch, to this line.
    pub fn add(&mut self, line: Line) {
        let epoch = self.open();
        epoch.has_stores = true;
        if line.is_persistent() {
            epoch.lines.insert(line);
        }
    }

    /// Whether the open epoch orders anything: it has stores or depends on another core's.
    pub fn is_used(&self) -> bool {
        let open = self.epochs.back();
        open.is_some_and(|epoch| epoch.has_stores || !epoch.sources.is_empty())
    }

    /// Ends the open epoch, if it orders anything, and begins the next; whether it did.
    pub fn end(&mut self) -> bool {
        if !self.is_used() {
            return false;
        }
        self.open().phase = Phase::Ended;
        self.epochs.push_back(Epoch::default());
        true
    }

    /// How far the oldest epoch is, in words.
    pub fn in_words(&self) -> String {
        let epoch = &self.epochs[0];
        let sources: Vec<String> = epoch
            .sources
            .iter()
            .map(|source| format!("epoch {} of {}", source.number, source.core))
            .collect();
        let wanted = if epoch.is_wanted { "wanted" } else { "not wanted" };
        let behind = match sources.is_empty() {
            true => String::new(),
            false => format!(", behind {}", sources.join(", ")),
        };
        format!("its epoch {} is {:?}, {wanted}{behind}", self.oldest, epoch.phase)
    }

    /// Removes the oldest epoch, which is durable.
    pub fn pop(&mut self) -> Epoch {
        self.oldest += 1;
        self.epochs.pop_front().expect("an epoch has ended")
    }

    /// Removes a durable epoch of another core from the dependence registers.
    pub fn resolve(&mut self, source: EpochId) {
        for epoch in &mut self.epochs {
            epoch.sources.remove(&source);
        }
    }
}
