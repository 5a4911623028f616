//! One core's persist buffer.

use super::Entries;
use crate::parts::rules::Rule;
use strandline_isa::{Line, LineData};
use strandline_kernel::Param;
use strandline_rules::broken;

/// `--set design.entries=N`: ASAP, Table II.
pub const BUFFER_ENTRIES: Param = Param {
    name: "entries",
    default: 32,
    min: 1,
    max: 4096,
    help: "entries of a core's persist buffer",
    source: "ASAP, Table II",
    words: &[],
};

/// Bits of a line's number in an entry: physical addresses have 48 bits; the papers do not say.
pub const LINE_NUMBER_BITS: u64 = 42;

/// Entries in the order in which they were allocated. An entry is freed when its write is acknowledged (ASAP V-A).
#[derive(Clone, Debug)]
pub struct Buffer {
    entries: Entries<Entry>,
    /// Those that wait to be flushed, oldest first.
    waiting: Vec<Waiting>,
}

/// An entry that waits to be flushed.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    id: u64,
    epoch: u64,
    /// Its controller has refused it before.
    refused: bool,
}

/// An entry: the write of a line in an epoch.
#[derive(Clone, Copy, Debug)]
struct Entry {
    line: Line,
    /// The line's bytes as its epoch's last store in this entry left them.
    data: LineData,
    epoch: u64,
    state: State,
}

/// The write of an entry that is flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// The line written.
    pub line: Line,
    /// Its bytes.
    pub data: LineData,
    /// Its tag.
    pub tag: Sent,
}

/// The tag of an entry's write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The entry's number.
    pub id: u64,
    /// Its epoch.
    pub epoch: u64,
    /// How it was flushed.
    pub flush: Flush,
    /// Whether its controller had refused it before.
    pub was_refused: bool,
}

/// The state of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It waits to be flushed.
    Waiting,
    /// It is flushed in this way and not acknowledged.
    InFlight(Flush),
}

/// How an entry is flushed (ASAP IV-C).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// Everything ordered before its epoch is durable.
    Safe,
    /// Something ordered before it is not durable.
    Early,
}

impl Entry {
    fn is_waiting(&self) -> bool {
        self.state == State::Waiting
    }

    fn write(&self, id: u64, flush: Flush, was_refused: bool) -> Write {
        let Entry { line, data, epoch, .. } = *self;
        let tag = Sent {
            id,
            epoch,
            flush,
            was_refused,
        };
        Write { line, data, tag }
    }
}

impl Buffer {
    /// An empty buffer of `capacity` entries.
    #[must_use]
    pub fn new(capacity: usize) -> Buffer {
        Buffer {
            entries: Entries::new(capacity),
            waiting: Vec::new(),
        }
    }

    /// Whether it has room for a store to this line in this epoch: an entry to coalesce with, or a
    /// free one.
    #[must_use]
    pub fn has_room(&self, line: Line, epoch: u64) -> bool {
        !self.entries.is_full() || self.coalesces_with(line, epoch).is_some()
    }

    /// Inserts a store, after which the line's bytes are `data`, if there is room; true if it has allocated an entry.
    pub fn insert(&mut self, line: Line, data: LineData, epoch: u64) -> bool {
        if let Some(index) = self.coalesces_with(line, epoch) {
            self.entries.at_mut(index).data = data;
            return false;
        }
        if self.entries.is_full() {
            return false;
        }
        let id = self.entries.push(Entry {
            line,
            data,
            epoch,
            state: State::Waiting,
        });
        let refused = false;
        self.waiting.push(Waiting { id, epoch, refused });
        true
    }

    /// The entry that a store coalesces with: the youngest of its line and epoch, if that one is not in flight.
    fn coalesces_with(&self, line: Line, epoch: u64) -> Option<usize> {
        let any_epoch = broken(Rule::EpochsCoalesceApart);
        for index in (0..self.entries.len()).rev() {
            let entry = self.entries.at(index);
            // Epochs enter one after the other.
            if entry.epoch != epoch && !any_epoch {
                return None;
            }
            if entry.line == line {
                return entry.is_waiting().then_some(index);
            }
        }
        None
    }

    /// Flushes the oldest waiting entry that is allowed: `how` returns whether a write of an epoch
    /// may be flushed now, and how; none of an epoch after `last` may. The entry `held` and younger ones are held
    /// back, so that later stores coalesce with them.
    ///
    /// Writes of one line arrive in the order in which they are sent, and controllers refuse an
    /// early one behind one that they have refused. So a write waits for an older waiting one of
    /// its line and epoch, and a safe one for an early one.
    pub fn flush(&mut self, held: Option<u64>, last: u64, how: impl Fn(u64) -> Option<Flush>) -> Option<Write> {
        let held = held.unwrap_or(u64::MAX);
        let end = self
            .waiting
            .partition_point(|entry| entry.id < held && entry.epoch <= last);
        let (place, index, flush) = self.next_to_flush(end, how)?;
        let Waiting { id, refused, .. } = self.waiting.remove(place);
        let entry = self.entries.at_mut(index);
        entry.state = State::InFlight(flush);
        Some(entry.write(id, flush, refused))
    }

    /// Of the first `end` that wait the entry to be flushed, by its places among those that wait and among all, and how.
    fn next_to_flush(&self, end: usize, how: impl Fn(u64) -> Option<Flush>) -> Option<(usize, usize, Flush)> {
        let mut place = 0;
        for of_epoch in by_epoch(&self.waiting[..end]) {
            if let Some(flush) = how(of_epoch[0].epoch) {
                for (nth, entry) in of_epoch.iter().enumerate() {
                    let index = self.entries.place(entry.id)?;
                    if !self.is_behind_its_line(index, flush) {
                        return Some((place + nth, index, flush));
                    }
                }
            }
            place += of_epoch.len();
        }
        None
    }

    /// Entries that wait to be flushed.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn is_behind_its_line(&self, index: usize, flush: Flush) -> bool {
        let entry = self.entries.at(index);
        let older = (0..index).rev().map(|index| self.entries.at(index));
        // Epochs enter one after the other.
        let mut of_epoch = older.take_while(|e| e.epoch == entry.epoch);
        let is_taken = |first| flush == Flush::Early || first == Flush::Safe || broken(Rule::FlightHoldsYounger);
        let comes_first = |e: &Entry| matches!(e.state, State::InFlight(first) if is_taken(first));
        of_epoch.any(|e| e.line == entry.line && !comes_first(e))
    }

    /// Among the entries of an epoch that wait for stores to coalesce with them, `after` this one:
    /// the oldest, and their number. A refused one is excluded: others may already wait for it.
    #[must_use]
    pub fn gathering(&self, epoch: u64, after: Option<u64>) -> Option<(u64, usize)> {
        let of_epoch = self.waiting.iter().rev().take_while(|entry| entry.epoch == epoch);
        let younger = of_epoch.filter(|entry| !entry.refused && after.is_none_or(|after| entry.id > after));
        younger.fold(None, |found, entry| {
            let count = found.map_or(0, |(_, count)| count);
            Some((entry.id, count + 1))
        })
    }

    /// Whether entries wait and none of their epochs may be flushed; none after `last` may.
    #[must_use]
    pub fn is_blocked(&self, last: u64, may: impl Fn(u64) -> bool) -> bool {
        let end = self.waiting.partition_point(|entry| entry.epoch <= last);
        !self.waiting.is_empty() && !by_epoch(&self.waiting[..end]).any(|of_epoch| may(of_epoch[0].epoch))
    }

    /// Frees the entry of a write that is acknowledged: its epoch, if there was such a write in flight.
    pub fn acknowledge(&mut self, id: u64) -> Option<u64> {
        let index = self.in_flight(id)?;
        self.entries.remove_at(index).map(|entry| entry.epoch)
    }

    /// Requeues a refused write: its epoch, if there was such a write in flight.
    pub fn refuse(&mut self, id: u64) -> Option<u64> {
        let index = self.in_flight(id)?;
        let entry = self.entries.at_mut(index);
        entry.state = State::Waiting;
        let (epoch, refused) = (entry.epoch, true);
        let place = self.waiting.partition_point(|older| older.id < id);
        self.waiting.insert(place, Waiting { id, epoch, refused });
        Some(epoch)
    }

    fn in_flight(&self, id: u64) -> Option<usize> {
        let index = self.entries.place(id)?;
        (!self.entries.at(index).is_waiting()).then_some(index)
    }

    /// The number of the oldest entry.
    #[must_use]
    pub fn oldest(&self) -> Option<u64> {
        self.entries.first().map(|(id, _)| id)
    }

    /// The number of the newest entry.
    #[must_use]
    pub fn newest(&self) -> Option<u64> {
        self.entries.last().map(|(id, _)| id)
    }

    /// Entries in use.
    #[must_use]
    pub fn occupied(&self) -> usize {
        self.entries.len()
    }
}

/// The waiting entries of one epoch after the other. Epochs enter in order.
fn by_epoch(waiting: &[Waiting]) -> impl Iterator<Item = &[Waiting]> {
    waiting.chunk_by(|one, next| one.epoch == next.epoch)
}

#[cfg(test)]
#[path = "buffer_tests.rs"]
mod tests;
