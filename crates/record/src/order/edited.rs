//! What is changed of a thread's stores: flushes and fences behind them, and their delay.

use super::entry::Entry;
use super::op::{Fence, Flush, PmOp, PmPlace, What};
use super::thread::Sink;
use crate::Edit;
use std::collections::{BTreeSet, VecDeque};

/// Delayed stores of an instruction, or of a call.
#[derive(Clone, Debug)]
pub struct Late {
    /// Its address.
    own: u64,
    /// The instruction behind which they come.
    until: u64,
    entries: VecDeque<Entry>,
}

fn ops(entries: &VecDeque<Entry>, first: usize) -> impl Iterator<Item = &PmOp> {
    entries.range(first..).filter_map(|entry| match entry {
        Entry::Op(op) => Some(op),
        Entry::Access(_) | Entry::Sync(_) => None,
    })
}

/// The stored words.
fn words(entries: &VecDeque<Entry>, first: usize) -> BTreeSet<PmPlace> {
    let word = |op: &PmOp| match op.what {
        What::Store(piece) | What::StoreNt(piece) => Some(piece.word),
        _ => None,
    };
    ops(entries, first).filter_map(word).collect()
}

impl Sink<'_> {
    /// The address of the program's own instruction that executes: of a library's, the call.
    fn own(&self, pc: u64) -> u64 {
        match self.shared.stacks[self.thread as usize].from() {
            from if !self.is_own && from != 0 => from,
            _ => pc,
        }
    }

    fn late(&mut self) -> &mut Vec<Late> {
        &mut self.shared.late[self.thread as usize]
    }

    /// An access has made the entries from `first` on: they are changed as its instruction is.
    pub fn change(&mut self, pc: u64, first: usize) {
        if self.edits.code.is_empty() {
            return;
        }
        let (own, stored) = (self.own(pc), words(self.ready, first));
        if stored.is_empty() {
            return;
        }
        let edit = self.edits.of(own);
        let meets = |late: &Late| !stored.is_disjoint(&words(&late.entries, 0));
        let again = |late: &Late| late.own == own && self.is_own;
        if self.shared.late[self.thread as usize]
            .iter()
            .any(|late| meets(late) || again(late))
        {
            let mut new = self.ready.split_off(first);
            self.ends_late();
            let first = self.ready.len();
            self.ready.append(&mut new);
            return self.as_edited(edit, own, pc, first);
        }
        self.as_edited(edit, own, pc, first);
    }

    fn as_edited(&mut self, edit: Option<Edit>, own: u64, pc: u64, first: usize) {
        match edit {
            Some(Edit::Later(until)) => {
                let entries = self.ready.split_off(first);
                self.late().push(Late { own, until, entries });
            }
            Some(edit @ (Edit::Flush | Edit::Persist)) => {
                self.flush_lines(pc, words(self.ready, first));
                if edit == Edit::Persist && self.is_own {
                    self.put(pc, What::Fence(Fence::Sfence));
                }
            }
            _ => {}
        }
        self.behind(pc);
    }

    fn flush_lines(&mut self, pc: u64, words: BTreeSet<PmPlace>) {
        let lines: BTreeSet<PmPlace> = words.iter().map(|word| word & !(super::LINE - 1)).collect();
        for line in lines {
            self.put(pc, What::Flush(Flush::Clwb, Some(line)));
        }
    }

    /// A call of the program's own has returned.
    pub fn returned(&mut self, call: u64) {
        if self.edits.of(call) == Some(Edit::Persist) {
            self.put(call, What::Fence(Fence::Sfence));
        }
        self.behind(call);
    }

    /// An instruction has executed: delayed stores may come, and are made durable.
    pub fn behind(&mut self, pc: u64) {
        if !self.shared.targets.contains(&pc) {
            return;
        }
        let (due, rest): (Vec<Late>, Vec<Late>) = std::mem::take(self.late())
            .into_iter()
            .partition(|late| late.until == pc);
        *self.late() = rest;
        for mut late in due {
            let stored = words(&late.entries, 0);
            self.ready.append(&mut late.entries);
            self.flush_lines(pc, stored);
            self.put(pc, What::Fence(Fence::Sfence));
        }
    }

    /// Delayed stores come now, because they cannot wait longer; whether there were any.
    pub fn ends_late(&mut self) -> bool {
        let late = std::mem::take(self.late());
        let any = !late.is_empty();
        for mut late in late {
            self.ready.append(&mut late.entries);
        }
        any
    }
}
