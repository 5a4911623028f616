//! A core's speculative state: its epochs, its buffer, its block look-up table.

use super::buffer::Buffer;
use super::settings::Settings;
use super::table::Table;
use std::collections::VecDeque;
use strandline_design::{Checkpoint, Occupancy, StoreId};
use strandline_kernel::Cycles;

/// A speculative epoch: what follows a fence or locked instruction that retired speculatively.
#[derive(Clone, Copy, Debug)]
pub struct Epoch {
    /// Its number among all of the core's epochs.
    pub number: u64,
    /// The state at its beginning; `None` if its fence is part of a `sfence-pcommit-sfence`, whose
    /// last fence has the checkpoint.
    pub checkpoint: Option<Checkpoint>,
    /// The newest entry of the store queue before it.
    pub after: StoreId,
    /// The context of the stores and flushes between the epoch before and it.
    pub before: u8,
    /// All before it is done.
    pub drained: bool,
    /// It begins with a locked instruction that is not performed: another core's store must not
    /// come between its read and its write.
    pub locked: bool,
    /// It has loaded something.
    pub loaded: bool,
    /// Its fence waits for a free checkpoint.
    pub waits: bool,
}

/// What the buffer waits for before its next entry leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Busy {
    No,
    /// A store that is being performed.
    Store(StoreId),
    /// A `clflush` that is not acknowledged.
    Clflush,
}

/// The state of one core.
#[derive(Clone, Debug)]
pub struct CoreState {
    pub epochs: VecDeque<Epoch>,
    pub buffer: Buffer,
    pub table: Table,
    pub busy: Busy,
    /// When the cache's port is free.
    pub port: Cycles,
    /// A message about the port is under way.
    pub asks_port: bool,
    /// Epochs begun so far.
    pub begun: u64,
    /// The context of stores and flushes from now on.
    pub context: u8,
    /// The youngest `pcommit` that has entered the store queue.
    pub last_pcommit: Option<StoreId>,
    /// The youngest `pcommit` in the store queue, until it leaves.
    pub queued_pcommit: Option<StoreId>,
    /// `pcommit`s that are not answered.
    pub in_flight: usize,
    /// It counts as active: the frequent hooks are asked.
    pub active: bool,
    /// Somebody waits for [`super::own::Gate::Progress`].
    pub awaited: bool,
    pub occupancy: Occupancy,
}

impl CoreState {
    pub fn new(settings: &Settings) -> CoreState {
        CoreState {
            epochs: VecDeque::new(),
            buffer: Buffer::new(settings.entries, settings.filter_bytes),
            table: Table::new(settings.table_entries, settings.by_epoch),
            busy: Busy::No,
            port: Cycles(0),
            asks_port: false,
            begun: 0,
            context: 0,
            queued_pcommit: None,
            last_pcommit: None,
            in_flight: 0,
            active: false,
            awaited: false,
            occupancy: Occupancy::default(),
        }
    }

    /// Whether it executes speculatively.
    pub fn speculates(&self) -> bool {
        !self.epochs.is_empty()
    }

    /// Whether neither speculation nor its buffer has anything left.
    pub fn is_idle(&self) -> bool {
        self.epochs.is_empty() && self.is_settled()
    }

    /// Whether the buffer is empty, and what left it last is done if others wait for that.
    fn is_settled(&self) -> bool {
        self.buffer.is_empty() && self.busy == Busy::No
    }

    /// Whether the store-queue entry of this number goes into the buffer: it is speculative, or
    /// older ones are in there.
    pub fn keeps(&self, id: StoreId) -> bool {
        !self.is_settled() || self.is_speculative(id)
    }

    /// Whether the store-queue entry of this number is of an epoch that has not committed.
    pub fn is_speculative(&self, id: StoreId) -> bool {
        self.epochs.front().is_some_and(|epoch| id > epoch.after)
    }

    /// The epoch of the store-queue entry of this number.
    pub fn epoch_of(&self, id: StoreId) -> Option<u64> {
        let epoch = self.epochs.iter().rev().find(|epoch| id > epoch.after);
        epoch.map(|epoch| epoch.number)
    }

    /// Checkpoints in use.
    pub fn used(&self) -> usize {
        let holds = |epoch: &&Epoch| epoch.checkpoint.is_some() && !epoch.waits;
        self.epochs.iter().filter(holds).count()
    }

    /// Whether a `pcommit` of this core is not answered.
    pub fn has_pcommit(&self) -> bool {
        self.in_flight > 0 || self.queued_pcommit.is_some() || self.buffer.has_pcommit()
    }

    /// Whether the youngest epoch consists of one `pcommit`, behind a fence: with the fence that
    /// comes now it is a `sfence-pcommit-sfence`.
    pub fn is_one_pcommit(&self, newest: StoreId) -> bool {
        let Some(epoch) = self.epochs.back() else { return false };
        let alone = newest.0 == epoch.after.0 + 1 && self.last_pcommit == Some(newest);
        alone && !epoch.loaded && !epoch.locked
    }

    /// The oldest checkpoint that is not committed, from the epoch of this number on.
    pub fn oldest_checkpoint(&self, from: u64) -> Option<Checkpoint> {
        let mut epochs = self.epochs.iter().filter(|epoch| epoch.number >= from);
        epochs.find_map(|epoch| epoch.checkpoint)
    }

    /// Discards the epochs from the one with this checkpoint on, and returns it.
    pub fn cut(&mut self, checkpoint: Checkpoint) -> Option<Epoch> {
        let index = self
            .epochs
            .iter()
            .position(|epoch| epoch.checkpoint == Some(checkpoint))?;
        let epoch = self.epochs[index];
        self.epochs.truncate(index);
        Some(epoch)
    }
}
