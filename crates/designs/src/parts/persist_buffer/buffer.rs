//! One core's persist buffer.

use std::collections::VecDeque;
use strandline_isa::{Line, LineData};
use strandline_rules::{broken, Rule};

/// A write that leaves a buffer for its controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// The entry's number, by which it is acknowledged.
    pub id: u64,
    /// The line written.
    pub line: Line,
    /// The line's bytes as its epoch's last store in this entry left them.
    pub data: LineData,
}

/// Entries in the order in which they were made. An entry stays until its write is acknowledged (ASAP V-A).
#[derive(Clone, Debug)]
pub struct Buffer {
    capacity: usize,
    entries: VecDeque<Entry>,
    next: u64,
}

/// An entry.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What it writes.
    pub write: Write,
    /// The epoch of the stores in it.
    pub epoch: u64,
    /// How far it is.
    pub flush: Flush,
}

/// How far an entry is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// It waits to be sent.
    Waits {
        /// Its controller has refused it before.
        refused: bool,
    },
    /// It has been sent and is not acknowledged.
    Sent {
        /// Before its epoch was safe.
        early: bool,
        /// Its controller has refused it before.
        refused: bool,
    },
}

impl Entry {
    fn is_sent(&self) -> bool {
        matches!(self.flush, Flush::Sent { .. })
    }
}

impl Buffer {
    /// An empty buffer of so many entries.
    #[must_use]
    pub fn new(capacity: usize) -> Buffer {
        Buffer {
            capacity,
            entries: VecDeque::new(),
            next: 0,
        }
    }

    /// Whether it takes a store to this line in this epoch: into an entry that it joins, or a free one.
    #[must_use]
    pub fn takes(&self, line: Line, epoch: u64) -> bool {
        self.entries.len() < self.capacity || self.joins(line, epoch).is_some()
    }

    /// Takes a store, after which the line's bytes are `data`; true if it has taken an entry of its own.
    pub fn enter(&mut self, line: Line, data: LineData, epoch: u64) -> bool {
        if let Some(index) = self.joins(line, epoch) {
            self.entries[index].write.data = data;
            return false;
        }
        let write = Write {
            id: self.next,
            line,
            data,
        };
        self.next += 1;
        self.entries.push_back(Entry {
            write,
            epoch,
            flush: Flush::Waits { refused: false },
        });
        true
    }

    /// The entry that a store coalesces with: the youngest of its line and epoch, if it is not on its way.
    fn joins(&self, line: Line, epoch: u64) -> Option<usize> {
        let any_epoch = broken(Rule::EpochsCoalesceApart);
        let same = |e: &Entry| e.write.line == line && (e.epoch == epoch || any_epoch);
        let youngest = self.entries.iter().rposition(same)?;
        (!self.entries[youngest].is_sent()).then_some(youngest)
    }

    /// Sends the oldest write that may go and has not gone. `how` says whether a write of an epoch may go, and if so whether that is
    /// early. `kept`: this entry and younger ones stay, so that stores that follow join them.
    ///
    /// Writes of one line arrive in the order in which they are sent, and controllers refuse an early one behind one that they have
    /// refused. So a write waits for an older one of its line and epoch that waits, and a safe one for an early one.
    pub fn send(&mut self, kept: Option<u64>, how: impl Fn(u64) -> Option<bool>) -> Option<Entry> {
        for index in 0..self.entries.len() {
            let entry = self.entries[index];
            if kept.is_some_and(|kept| entry.write.id >= kept) {
                return None;
            }
            let Flush::Waits { refused } = entry.flush else {
                continue;
            };
            if let Some(early) = how(entry.epoch).filter(|early| !self.is_behind_its_line(index, *early)) {
                let entry = &mut self.entries[index];
                entry.flush = Flush::Sent { early, refused };
                return Some(*entry);
            }
        }
        None
    }

    fn is_behind_its_line(&self, index: usize, early: bool) -> bool {
        let entry = &self.entries[index];
        let mut older = self.entries.iter().take(index);
        let comes_first = |e: &Entry| matches!(e.flush, Flush::Sent { early: first, .. } if early || !first);
        older.any(|e| e.write.line == entry.write.line && e.epoch == entry.epoch && !comes_first(e))
    }

    /// Of the entries of an epoch that have not been sent yet, `after` this one: the oldest, and how many they are. One that was
    /// refused is not among them: others may wait for it already.
    pub fn waiting(&self, epoch: u64, after: Option<u64>) -> Option<(u64, usize)> {
        let mut waiting = self.entries.iter().rev().take_while(|e| e.epoch == epoch);
        let is_new = |e: &Entry| e.flush == Flush::Waits { refused: false };
        let is_younger = |e: &&Entry| is_new(e) && after.is_none_or(|after| e.write.id > after);
        let newest = waiting.by_ref().find(is_younger)?;
        Some(
            waiting
                .filter(is_younger)
                .fold((newest.write.id, 1), |(_, count), e| (e.write.id, count + 1)),
        )
    }

    /// Whether an entry waits to be sent, and whether one of them may go.
    pub fn waits(&self, may: impl Fn(u64) -> bool) -> (bool, bool) {
        let mut waiting = self.entries.iter().filter(|e| !e.is_sent()).peekable();
        (waiting.peek().is_some(), waiting.any(|e| may(e.epoch)))
    }

    /// A write is acknowledged and its entry free: its epoch, if there was such a write.
    pub fn acknowledged(&mut self, id: u64) -> Option<u64> {
        let index = self.sent(id)?;
        self.entries.remove(index).map(|entry| entry.epoch)
    }

    /// A write is refused and waits again: its epoch, if there was such a write.
    pub fn refused(&mut self, id: u64) -> Option<u64> {
        let index = self.sent(id)?;
        self.entries[index].flush = Flush::Waits { refused: true };
        Some(self.entries[index].epoch)
    }

    fn sent(&self, id: u64) -> Option<usize> {
        self.entries.iter().position(|e| e.is_sent() && e.write.id == id)
    }

    /// The entry of this number.
    #[must_use]
    pub fn get(&self, id: u64) -> Option<&Entry> {
        self.entries.iter().find(|e| e.write.id == id)
    }

    /// The numbers of the oldest and the newest entry.
    #[must_use]
    pub fn ends(&self) -> Option<(u64, u64)> {
        Some((self.entries.front()?.write.id, self.entries.back()?.write.id))
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

    /// Sends the oldest write of an epoch.
    fn send(buffer: &mut Buffer, epoch: u64) -> Option<Write> {
        let how = |of: u64| (of == epoch).then_some(false);
        buffer.send(None, how).map(|entry| entry.write)
    }

    #[test]
    fn stores_of_one_epoch_to_a_line_share_an_entry_until_it_is_sent() {
        let mut buffer = Buffer::new(2);
        assert!(buffer.enter(A, [1; 8], 0));
        assert!(!buffer.enter(A, [2; 8], 0));
        let sent = send(&mut buffer, 0).expect("a write");
        assert_eq!((sent.line, sent.data), (A, [2; 8]));
        assert!(buffer.enter(A, [3; 8], 0), "what is on its way does not change");
    }

    #[test]
    fn stores_of_two_epochs_to_a_line_have_an_entry_each() {
        let mut buffer = Buffer::new(4);
        buffer.enter(A, [1; 8], 0);
        assert!(buffer.enter(A, [2; 8], 1));
        assert_eq!(send(&mut buffer, 0).map(|w| w.data), Some([1; 8]));
        assert_eq!(send(&mut buffer, 0), None, "the other entry is the next epoch's");
    }

    #[test]
    fn a_full_buffer_takes_what_coalesces_and_nothing_else() {
        let mut buffer = Buffer::new(1);
        buffer.enter(A, [1; 8], 0);
        assert!(buffer.takes(A, 0));
        assert!(!buffer.takes(B, 0) && !buffer.takes(A, 1));
        let sent = send(&mut buffer, 0).expect("a write");
        assert!(!buffer.takes(A, 0), "an entry is used until its write is acknowledged");
        assert_eq!(buffer.acknowledged(sent.id), Some(0));
        assert!(buffer.takes(B, 0));
        assert_eq!(buffer.occupied(), 0);
    }

    #[test]
    fn entries_can_be_kept_for_what_follows() {
        let mut buffer = Buffer::new(4);
        buffer.enter(A, [1; 8], 0);
        buffer.enter(B, [1; 8], 0);
        assert_eq!(buffer.waiting(0, None), Some((0, 2)));
        assert_eq!(buffer.waiting(0, Some(0)), Some((1, 1)));
        assert_eq!((buffer.waiting(0, Some(1)), buffer.waiting(1, None)), (None, None));
        assert!(buffer.send(Some(0), |_| Some(false)).is_none());
        assert_eq!(buffer.send(Some(1), |_| Some(false)).map(|e| e.write.line), Some(A));
        assert_eq!(
            buffer.waiting(0, None),
            Some((1, 1)),
            "what is on its way does not wait"
        );
        assert!(!buffer.enter(B, [2; 8], 0), "it joins the entry that was kept");
        assert_eq!(send(&mut buffer, 0).map(|w| w.data), Some([2; 8]));
    }

    #[test]
    fn a_safe_write_waits_for_an_early_one_of_its_line_and_epoch_and_no_other_does() {
        let mut buffer = Buffer::new(8);
        let send = |buffer: &mut Buffer, early| buffer.send(None, |_| Some(early)).map(|e| e.write.data);
        buffer.enter(A, [1; 8], 0);
        assert_eq!(send(&mut buffer, true), Some([1; 8]));
        buffer.enter(A, [2; 8], 0);
        assert_eq!(
            send(&mut buffer, true),
            Some([2; 8]),
            "both can be refused, and then in order"
        );
        buffer.enter(A, [3; 8], 0);
        assert_eq!(send(&mut buffer, false), None);
        buffer.enter(A, [4; 8], 1);
        assert_eq!(send(&mut buffer, false), Some([4; 8]), "another epoch's goes");
        buffer.acknowledged(0);
        assert_eq!(send(&mut buffer, false), None);
        buffer.acknowledged(1);
        assert_eq!(send(&mut buffer, false), Some([3; 8]));
        buffer.enter(A, [5; 8], 0);
        assert_eq!(send(&mut buffer, false), Some([5; 8]), "safe writes follow one another");
    }

    #[test]
    fn a_write_waits_for_a_refused_one_of_its_line_and_epoch() {
        let mut buffer = Buffer::new(4);
        buffer.enter(A, [1; 8], 0);
        buffer.send(None, |_| Some(true));
        buffer.enter(A, [2; 8], 0);
        buffer.send(None, |_| Some(true));
        assert_eq!(buffer.refused(0), Some(0));
        assert!(
            buffer.enter(A, [3; 8], 0),
            "what joined the older one would be overwritten by the younger"
        );
        assert_eq!(buffer.refused(1), Some(0));
        let again = |buffer: &mut Buffer| buffer.send(None, |_| Some(false)).map(|e| e.write.data);
        assert_eq!(again(&mut buffer), Some([1; 8]));
        assert_eq!(again(&mut buffer), Some([2; 8]));
        assert_eq!(again(&mut buffer), Some([3; 8]));
    }

    #[test]
    fn a_refused_write_waits_again_and_takes_stores_again() {
        let mut buffer = Buffer::new(4);
        buffer.enter(A, [1; 8], 3);
        let sent = buffer.send(None, |_| Some(true)).expect("a write");
        let early = Flush::Sent {
            early: true,
            refused: false,
        };
        assert_eq!(sent.flush, early);
        assert_eq!(buffer.refused(sent.write.id), Some(3));
        assert_eq!(buffer.waits(|_| false), (true, false));
        assert!(!buffer.enter(A, [2; 8], 3), "it joins the refused one");
        let again = buffer.send(None, |_| Some(false)).expect("a write");
        let safe = Flush::Sent {
            early: false,
            refused: true,
        };
        assert_eq!(
            (again.write.id, again.write.data, again.flush),
            (sent.write.id, [2; 8], safe)
        );
    }

    #[test]
    fn a_refused_write_is_not_kept_for_what_follows() {
        let mut buffer = Buffer::new(4);
        buffer.enter(A, [1; 8], 0);
        let sent = buffer.send(None, |_| Some(true)).expect("a write");
        buffer.refused(sent.write.id);
        assert_eq!(buffer.waiting(0, None), None, "no time is set for it to go");
        buffer.enter(B, [1; 8], 0);
        assert_eq!(buffer.waiting(0, None), Some((1, 1)));
    }

    #[test]
    fn a_write_that_was_not_sent_cannot_be_acknowledged() {
        let mut buffer = Buffer::new(1);
        buffer.enter(A, [1; 8], 0);
        assert_eq!(buffer.acknowledged(0), None);
        assert_eq!(buffer.occupied(), 1);
    }
}
