//! The stores to each word of persistent memory, and which of them a crash left.
//!
//! A journal has lines and their bytes, not which stores these are of. So the store that left a durable word is the
//! newest one with that content which was visible when the line last became durable.

use super::stored;
use crate::judge::walk::Finding;
use std::collections::{BTreeMap, BTreeSet};
use strandline_isa::{Addr, Line};
use strandline_kernel::Cycles;
use strandline_machine::{Journal, OpId, TraceOp};
use strandline_sim::Observation;

/// When an operation was visible, and its place among those of that time.
pub type Time = (Cycles, usize);

struct Stored {
    op: OpId,
    /// The word behind it.
    content: u64,
}

struct Word {
    /// The stores that were visible when power failed, in order.
    stores: Vec<Stored>,
    /// Number of them that the durable word has.
    durable: usize,
}

/// The stored words of a run at a crash point.
pub struct Words<'o> {
    journal: &'o Journal,
    crash: Cycles,
    words: BTreeMap<Addr, Word>,
    times: BTreeMap<OpId, Time>,
}

impl<'o> Words<'o> {
    /// The words at this point of a run. `durable` is memory then.
    pub fn at(run: &'o Observation, finding: &Finding, durable: &dyn Fn(Addr) -> u64) -> Words<'o> {
        let journal = &run.journal;
        let visible = journal.trace.visible.iter().zip(&journal.visible_at).enumerate();
        let times: BTreeMap<OpId, Time> = visible.map(|(place, (op, at))| (*op, (*at, place))).collect();
        let mut words = Words {
            journal,
            crash: finding.at,
            words: BTreeMap::new(),
            times,
        };
        for op in &journal.trace.visible {
            if words.times[op].0 <= finding.at {
                words.store(*op, run);
            }
        }
        let mut last: BTreeMap<Line, Cycles> = BTreeMap::new();
        last.extend(
            journal.durable[..finding.event]
                .iter()
                .map(|durable| (durable.line, durable.at)),
        );
        let times = &words.times;
        for (addr, word) in &mut words.words {
            let content = durable(*addr);
            let was_there = |stored: &Stored| last.get(&addr.line()).is_some_and(|last| times[&stored.op].0 <= *last);
            let left = |stored: &Stored| stored.content == content && was_there(stored);
            word.durable = word.stores.iter().rposition(left).map_or(0, |place| place + 1);
        }
        words
    }

    fn store(&mut self, op: OpId, run: &Observation) {
        let Some((addr, size, value)) = stored(self.operation(op)) else {
            return;
        };
        if !addr.is_persistent() {
            return;
        }
        let written: BTreeSet<u64> = (addr.0..addr.0 + u64::from(size)).map(|byte| byte & !7).collect();
        for at in written.into_iter().map(Addr) {
            let initial = || run.initial.find(at).map_or(0, std::cell::Cell::get);
            let word = self.words.entry(at).or_insert(Word {
                stores: Vec::new(),
                durable: 0,
            });
            let before = word.stores.last().map_or_else(initial, |stored| stored.content);
            let content = written_over(before, at, (addr, size, value));
            word.stores.push(Stored { op, content });
        }
    }

    /// Whether a store had changed the word.
    pub fn is_stored(&self, addr: Addr) -> bool {
        self.words.contains_key(&addr)
    }

    /// The store that left the durable word.
    pub fn source(&self, addr: Addr) -> Option<OpId> {
        let word = self.words.get(&addr)?;
        Some(word.stores[word.durable.checked_sub(1)?].op)
    }

    /// The stores to the word that were visible and are lost, the oldest first.
    pub fn lost(&self, addr: Addr) -> Vec<OpId> {
        let word = self.words.get(&addr);
        word.map_or_else(Vec::new, |word| {
            word.stores[word.durable..].iter().map(|stored| stored.op).collect()
        })
    }

    /// When an operation was visible, or noted.
    pub fn time(&self, op: OpId) -> Option<Time> {
        let noted = || match self.operation(op) {
            TraceOp::Note(note) => Some((self.journal.notes[op.core.index()][*note as usize].at, usize::MAX)),
            _ => None,
        };
        self.times.get(&op).copied().or_else(noted)
    }

    /// Whether a store was durable when power failed, or an acknowledgement announced.
    pub fn is_durable(&self, op: OpId) -> bool {
        let Some((addr, ..)) = stored(self.operation(op)) else {
            return self.time(op).is_some_and(|(at, _)| at <= self.crash);
        };
        let word = self.words.get(&Addr(addr.0 & !7));
        word.is_some_and(|word| word.stores[..word.durable].iter().any(|stored| stored.op == op))
    }

    fn operation(&self, op: OpId) -> &'o TraceOp {
        &self.journal.trace.programs[op.core.index()][op.index as usize]
    }
}

/// A word with the bytes of a store.
fn written_over(word: u64, at: Addr, (addr, size, value): (Addr, u8, u64)) -> u64 {
    let mut bytes = word.to_le_bytes();
    for (byte, written) in value.to_le_bytes().into_iter().take(usize::from(size)).enumerate() {
        let place = (addr.0 + byte as u64).wrapping_sub(at.0) as usize;
        if let Some(here) = bytes.get_mut(place) {
            *here = written;
        }
    }
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_changes_its_own_bytes_of_a_word() {
        let at = |offset: u64| (Addr(16 + offset), 2, 0xbeef);
        assert_eq!(
            written_over(0x1122_3344_5566_7788, Addr(16), at(2)),
            0x1122_3344_beef_7788
        );
        // Across two words.
        assert_eq!(written_over(0, Addr(16), at(7)), 0xef << 56);
        assert_eq!(written_over(0, Addr(24), at(7)), 0xbe);
    }
}
