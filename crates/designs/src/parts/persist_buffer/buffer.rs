//! One core's persist buffer.

use super::Entries;
use strandline_isa::{Line, LineData};
use strandline_kernel::Param;
use strandline_rules::{broken, Rule};

/// `--set design.entries=N`: ASAP, Table II.
pub const BUFFER_ENTRIES: Param = Param {
    name: "entries",
    default: 32,
    min: 1,
    max: 4096,
    help: "entries of a core's persist buffer",
    words: &[],
};

/// Bits of a line's number in an entry: physical addresses have 48 bits; the papers do not say.
pub const LINE_NUMBER_BITS: u64 = 42;

/// Entries in the order in which they were allocated. An entry is freed when its write is acknowledged (ASAP V-A).
#[derive(Clone, Debug)]
pub struct Buffer {
    entries: Entries<Entry>,
    /// Those that wait to be flushed.
    waiting: usize,
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
    Waiting {
        /// Whether its controller has refused it before.
        refused: bool,
    },
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
        matches!(self.state, State::Waiting { .. })
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
    /// An empty buffer of so many entries.
    #[must_use]
    pub fn new(capacity: usize) -> Buffer {
        Buffer {
            entries: Entries::new(capacity),
            waiting: 0,
        }
    }

    /// Whether it has room for a store to this line in this epoch: an entry to coalesce with, or a
    /// free one.
    #[must_use]
    pub fn has_room(&self, line: Line, epoch: u64) -> bool {
        !self.entries.is_full() || self.coalesces_with(line, epoch).is_some()
    }

    /// Inserts a store, after which the line's bytes are `data`; true if it has allocated an entry.
    pub fn insert(&mut self, line: Line, data: LineData, epoch: u64) -> bool {
        if let Some(index) = self.coalesces_with(line, epoch) {
            self.entries.at_mut(index).data = data;
            return false;
        }
        self.entries.push(Entry {
            line,
            data,
            epoch,
            state: State::Waiting { refused: false },
        });
        self.waiting += 1;
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
    /// may be flushed now, and how. The entry `held` and younger ones are held back, so that later
    /// stores coalesce with them.
    ///
    /// Writes of one line arrive in the order in which they are sent, and controllers refuse an
    /// early one behind one that they have refused. So a write waits for an older waiting one of
    /// its line and epoch, and a safe one for an early one.
    pub fn flush(&mut self, held: Option<u64>, how: impl Fn(u64) -> Option<Flush>) -> Option<Write> {
        if self.waiting == 0 {
            return None;
        }
        let (index, flush) = self.next_to_flush(held, how)?;
        self.waiting -= 1;
        let (id, entry) = self.entries.numbered_mut(index);
        let before = std::mem::replace(&mut entry.state, State::InFlight(flush));
        let was_refused = before == State::Waiting { refused: true };
        Some(entry.write(id, flush, was_refused))
    }

    /// The place of the entry to be flushed, and how.
    fn next_to_flush(&self, held: Option<u64>, how: impl Fn(u64) -> Option<Flush>) -> Option<(usize, Flush)> {
        let candidates = self.entries.iter().enumerate();
        let mut candidates = candidates.take_while(|(_, (id, _))| held.is_none_or(|held| *id < held));
        candidates.find_map(|(index, (_, entry))| {
            let flush = entry.is_waiting().then(|| how(entry.epoch)).flatten()?;
            (!self.is_behind_its_line(index, flush)).then_some((index, flush))
        })
    }

    /// Entries that wait to be flushed.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    fn is_behind_its_line(&self, index: usize, flush: Flush) -> bool {
        let entry = self.entries.at(index);
        let mut older = self.entries.iter().take(index).map(|(_, e)| e);
        let comes_first =
            |e: &Entry| matches!(e.state, State::InFlight(first) if flush == Flush::Early || first == Flush::Safe);
        older.any(|e| e.line == entry.line && e.epoch == entry.epoch && !comes_first(e))
    }

    /// Among the entries of an epoch that wait for stores to coalesce with them, `after` this one:
    /// the oldest, and their number. A refused one is excluded: others may already wait for it.
    #[must_use]
    pub fn gathering(&self, epoch: u64, after: Option<u64>) -> Option<(u64, usize)> {
        let mut waiting = self.entries.iter().rev().take_while(|(_, e)| e.epoch == epoch);
        let is_new = |e: &Entry| e.state == State::Waiting { refused: false };
        let is_younger = |(id, e): &(u64, &Entry)| is_new(e) && after.is_none_or(|after| *id > after);
        let (newest, _) = waiting.by_ref().find(is_younger)?;
        Some(
            waiting
                .filter(is_younger)
                .fold((newest, 1), |(_, count), (id, _)| (id, count + 1)),
        )
    }

    /// Whether entries wait and none of their epochs may be flushed.
    #[must_use]
    pub fn is_blocked(&self, may: impl Fn(u64) -> bool) -> bool {
        let mut entries = self.entries.iter().map(|(_, e)| e);
        self.waiting > 0 && !entries.any(|e| e.is_waiting() && may(e.epoch))
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
        entry.state = State::Waiting { refused: true };
        self.waiting += 1;
        Some(entry.epoch)
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

#[cfg(test)]
mod tests {
    use super::*;

    const A: Line = Line(1);
    const B: Line = Line(2);

    /// Flushes the oldest write of an epoch.
    fn flush(buffer: &mut Buffer, epoch: u64) -> Option<Write> {
        buffer.flush(None, |of| (of == epoch).then_some(Flush::Safe))
    }

    #[test]
    fn stores_of_one_epoch_to_a_line_share_an_entry_until_it_is_sent() {
        let mut buffer = Buffer::new(2);
        assert!(buffer.insert(A, [1; 8], 0));
        assert!(!buffer.insert(A, [2; 8], 0));
        let sent = flush(&mut buffer, 0).expect("a write");
        assert_eq!((sent.line, sent.data), (A, [2; 8]));
        assert!(buffer.insert(A, [3; 8], 0), "what is in flight does not change");
    }

    #[test]
    fn stores_of_two_epochs_to_a_line_have_an_entry_each() {
        let mut buffer = Buffer::new(4);
        buffer.insert(A, [1; 8], 0);
        assert!(buffer.insert(A, [2; 8], 1));
        assert_eq!(flush(&mut buffer, 0).map(|w| w.data), Some([1; 8]));
        assert_eq!(flush(&mut buffer, 0), None, "the other entry is the next epoch's");
    }

    #[test]
    fn a_full_buffer_has_room_for_what_coalesces_and_nothing_else() {
        let mut buffer = Buffer::new(1);
        buffer.insert(A, [1; 8], 0);
        assert!(buffer.has_room(A, 0));
        assert!(!buffer.has_room(B, 0) && !buffer.has_room(A, 1));
        let sent = flush(&mut buffer, 0).expect("a write");
        assert!(
            !buffer.has_room(A, 0),
            "an entry is used until its write is acknowledged"
        );
        assert_eq!(buffer.acknowledge(sent.tag.id), Some(0));
        assert!(buffer.has_room(B, 0));
        assert_eq!(buffer.occupied(), 0);
    }

    #[test]
    fn entries_can_be_held_back_for_stores_that_follow() {
        let mut buffer = Buffer::new(4);
        buffer.insert(A, [1; 8], 0);
        buffer.insert(B, [1; 8], 0);
        assert_eq!(buffer.gathering(0, None), Some((0, 2)));
        assert_eq!(buffer.gathering(0, Some(0)), Some((1, 1)));
        assert_eq!((buffer.gathering(0, Some(1)), buffer.gathering(1, None)), (None, None));
        assert!(buffer.flush(Some(0), |_| Some(Flush::Safe)).is_none());
        assert_eq!(buffer.flush(Some(1), |_| Some(Flush::Safe)).map(|e| e.line), Some(A));
        assert_eq!(
            buffer.gathering(0, None),
            Some((1, 1)),
            "what is in flight does not wait"
        );
        assert!(
            !buffer.insert(B, [2; 8], 0),
            "it coalesces with the entry that was held back"
        );
        assert_eq!(flush(&mut buffer, 0).map(|w| w.data), Some([2; 8]));
    }

    #[test]
    fn a_safe_write_waits_for_an_early_one_of_its_line_and_epoch_and_no_other_does() {
        let mut buffer = Buffer::new(8);
        let flush = |buffer: &mut Buffer, how| buffer.flush(None, |_| Some(how)).map(|e| e.data);
        buffer.insert(A, [1; 8], 0);
        assert_eq!(flush(&mut buffer, Flush::Early), Some([1; 8]));
        buffer.insert(A, [2; 8], 0);
        assert_eq!(
            flush(&mut buffer, Flush::Early),
            Some([2; 8]),
            "both can be refused, and then in order"
        );
        buffer.insert(A, [3; 8], 0);
        assert_eq!(flush(&mut buffer, Flush::Safe), None);
        buffer.insert(A, [4; 8], 1);
        assert_eq!(
            flush(&mut buffer, Flush::Safe),
            Some([4; 8]),
            "another epoch's does not wait"
        );
        buffer.acknowledge(0);
        assert_eq!(flush(&mut buffer, Flush::Safe), None);
        buffer.acknowledge(1);
        assert_eq!(flush(&mut buffer, Flush::Safe), Some([3; 8]));
        buffer.insert(A, [5; 8], 0);
        assert_eq!(
            flush(&mut buffer, Flush::Safe),
            Some([5; 8]),
            "safe writes follow one another"
        );
    }

    #[test]
    fn a_write_waits_for_a_refused_one_of_its_line_and_epoch() {
        let mut buffer = Buffer::new(4);
        buffer.insert(A, [1; 8], 0);
        buffer.flush(None, |_| Some(Flush::Early));
        buffer.insert(A, [2; 8], 0);
        buffer.flush(None, |_| Some(Flush::Early));
        assert_eq!(buffer.refuse(0), Some(0));
        assert!(
            buffer.insert(A, [3; 8], 0),
            "what coalesced with the older one would be overwritten by the younger"
        );
        assert_eq!(buffer.refuse(1), Some(0));
        let again = |buffer: &mut Buffer| buffer.flush(None, |_| Some(Flush::Safe)).map(|e| e.data);
        assert_eq!(again(&mut buffer), Some([1; 8]));
        assert_eq!(again(&mut buffer), Some([2; 8]));
        assert_eq!(again(&mut buffer), Some([3; 8]));
    }

    #[test]
    fn a_refused_write_waits_again_and_coalesces_again() {
        let mut buffer = Buffer::new(4);
        buffer.insert(A, [1; 8], 3);
        let sent = buffer.flush(None, |_| Some(Flush::Early)).expect("a write");
        assert_eq!((sent.tag.flush, sent.tag.was_refused), (Flush::Early, false));
        assert_eq!(buffer.refuse(sent.tag.id), Some(3));
        assert!(buffer.is_blocked(|_| false) && !buffer.is_blocked(|_| true));
        assert!(!buffer.insert(A, [2; 8], 3), "it coalesces with the refused one");
        let again = buffer.flush(None, |_| Some(Flush::Safe)).expect("a write");
        assert_eq!((again.tag.id, again.data), (sent.tag.id, [2; 8]));
        assert!(again.tag.was_refused);
    }

    #[test]
    fn a_refused_write_is_not_held_back() {
        let mut buffer = Buffer::new(4);
        buffer.insert(A, [1; 8], 0);
        let sent = buffer.flush(None, |_| Some(Flush::Early)).expect("a write");
        buffer.refuse(sent.tag.id);
        assert_eq!(buffer.gathering(0, None), None, "no time is set for it");
        buffer.insert(B, [1; 8], 0);
        assert_eq!(buffer.gathering(0, None), Some((1, 1)));
    }

    #[test]
    fn a_write_that_was_not_sent_cannot_be_acknowledged() {
        let mut buffer = Buffer::new(1);
        buffer.insert(A, [1; 8], 0);
        assert_eq!(buffer.acknowledge(0), None);
        assert_eq!(buffer.occupied(), 1);
    }
}
