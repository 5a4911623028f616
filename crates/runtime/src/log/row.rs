//! Packed records: a row's old bytes in consecutive lines of the ring, as of a program that copies the whole row.

use super::UndoLog;
use crate::layout::{field, Meta, FURTHER, FURTHER_WORDS, RECORD_WORDS};
use crate::place;
use strandline_isa::{Cpu, W};
use strandline_rules::{kept, Rule};

impl<'c, C: Cpu> UndoLog<'c, C> {
    /// Writes the record of the first `words` words of the row at `row`, except for the fields of the whole step.
    /// `trailer` is that of its first line.
    #[inline]
    pub(crate) fn record_row(&mut self, row: W<'c, C>, words: u64, trailer: W<'c, C>) {
        let _call = row.call(3);
        let first = words.min(RECORD_WORDS);
        let more = kept(Rule::EveryWordLogged, words - first, || 0);
        debug_assert!(more <= Meta::MORE, "a row of {words} words");
        self.packs = true;
        let own = Meta {
            words: first,
            more,
            ..Meta::NOTHING
        };
        self.first_line(row, 0, own, trailer);
        let mut done = first;
        while done < first + more {
            let now = (first + more - done).min(FURTHER_WORDS);
            self.further_line(row, done, now);
            done += now;
        }
    }

    /// Writes a further line with `words` words of the row's payload from the word `from` on.
    #[inline(always)]
    fn further_line(&mut self, row: W<'c, C>, from: u64, words: u64) {
        let slot = self.advance();
        slot.at(field::SEQUENCE).store(self.cpu.word(0));
        for i in 0..words {
            let old = row.at(place(8 * (from + i))).load();
            slot.at(8 * i).store(old);
        }
        let list = self.lists.records;
        let end = list.end(self.cpu);
        list.push(self.cpu, end, [slot, self.cpu.word(FURTHER)]);
    }
}
