//! One core's persist buffer.

use crate::rules::{Broken, Rule};
use std::collections::VecDeque;
use strandline_isa::{Line, LineData};

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
    broken: Broken,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    write: Write,
    epoch: u64,
    sent: bool,
}

impl Buffer {
    /// An empty buffer of so many entries.
    #[must_use]
    pub fn new(capacity: usize) -> Buffer {
        Buffer {
            capacity,
            entries: VecDeque::new(),
            next: 0,
            broken: Broken::default(),
        }
    }

    /// The same, with a rule broken.
    pub(crate) fn breaking(self, broken: Broken) -> Buffer {
        Buffer { broken, ..self }
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
            sent: false,
        });
        true
    }

    /// The entry that a store coalesces with: of its line and epoch, and not on its way yet.
    fn joins(&self, line: Line, epoch: u64) -> Option<usize> {
        let any_epoch = self.broken.is(Rule::EpochsCoalesceApart);
        let same = |e: &Entry| e.write.line == line && !e.sent && (e.epoch == epoch || any_epoch);
        self.entries.iter().rposition(same)
    }

    /// The oldest write of an epoch that has not been sent, which it is now. `but_newest`: the newest entry stays, so that
    /// stores that follow join it.
    pub fn send(&mut self, epoch: u64, but_newest: bool) -> Option<Write> {
        let candidates = self.entries.len() - usize::from(but_newest && !self.entries.is_empty());
        let mut candidates = self.entries.iter_mut().take(candidates);
        let entry = candidates.find(|e| e.epoch == epoch && !e.sent)?;
        entry.sent = true;
        Some(entry.write)
    }

    /// A write is acknowledged and its entry free: its epoch, if there was such a write.
    pub fn acknowledged(&mut self, id: u64) -> Option<u64> {
        let index = self.entries.iter().position(|e| e.sent && e.write.id == id)?;
        self.entries.remove(index).map(|entry| entry.epoch)
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

    #[test]
    fn stores_of_one_epoch_to_a_line_share_an_entry_until_it_is_sent() {
        let mut buffer = Buffer::new(2);
        assert!(buffer.enter(A, [1; 8], 0));
        assert!(!buffer.enter(A, [2; 8], 0));
        let sent = buffer.send(0, false).expect("a write");
        assert_eq!((sent.line, sent.data), (A, [2; 8]));
        assert!(buffer.enter(A, [3; 8], 0), "what is on its way does not change");
    }

    #[test]
    fn stores_of_two_epochs_to_a_line_have_an_entry_each() {
        let mut buffer = Buffer::new(4);
        buffer.enter(A, [1; 8], 0);
        assert!(buffer.enter(A, [2; 8], 1));
        assert_eq!(buffer.send(0, false).map(|w| w.data), Some([1; 8]));
        assert_eq!(buffer.send(0, false), None, "the other entry is the next epoch's");
    }

    #[test]
    fn a_full_buffer_takes_what_coalesces_and_nothing_else() {
        let mut buffer = Buffer::new(1);
        buffer.enter(A, [1; 8], 0);
        assert!(buffer.takes(A, 0));
        assert!(!buffer.takes(B, 0) && !buffer.takes(A, 1));
        let sent = buffer.send(0, false).expect("a write");
        assert!(!buffer.takes(A, 0), "an entry is used until its write is acknowledged");
        assert_eq!(buffer.acknowledged(sent.id), Some(0));
        assert!(buffer.takes(B, 0));
        assert_eq!(buffer.occupied(), 0);
    }

    #[test]
    fn the_newest_entry_can_be_kept_for_what_follows() {
        let mut buffer = Buffer::new(4);
        buffer.enter(A, [1; 8], 0);
        assert_eq!(buffer.send(0, true), None);
        buffer.enter(B, [1; 8], 0);
        assert_eq!(buffer.send(0, true).map(|w| w.line), Some(A));
        assert!(!buffer.enter(B, [2; 8], 0), "it joins the entry that was kept");
        assert_eq!(buffer.send(0, false).map(|w| w.data), Some([2; 8]));
    }

    #[test]
    fn a_line_is_sent_again_while_its_older_write_is_under_way() {
        let mut buffer = Buffer::new(4);
        buffer.enter(A, [1; 8], 0);
        let first = buffer.send(0, false).expect("a write");
        buffer.enter(A, [2; 8], 0);
        let second = buffer.send(0, false).expect("a write");
        assert_ne!(first.id, second.id);
        assert_eq!((buffer.acknowledged(first.id), buffer.occupied()), (Some(0), 1));
    }

    #[test]
    fn a_write_that_was_not_sent_cannot_be_acknowledged() {
        let mut buffer = Buffer::new(1);
        buffer.enter(A, [1; 8], 0);
        assert_eq!(buffer.acknowledged(0), None);
        assert_eq!(buffer.occupied(), 1);
    }
}
