//! Words that hold locks.

use super::Finding;
use crate::order::{Fence, PmOp, PmPlace, What, LINE};
use crate::At;
use std::collections::HashMap;

/// The words to which locked instructions store. Such a word is a lock if it is never flushed: its program sets it anew
/// after a crash, or does not read it.
#[derive(Debug, Default)]
pub struct Locks {
    /// By line: its words, as bits, and whether a flush followed.
    lines: HashMap<PmPlace, (u8, bool)>,
    /// The thread and place of the locked instruction that has just begun.
    locked: Option<(u32, At)>,
}

impl Locks {
    /// Sees the next operation.
    pub fn see(&mut self, op: &PmOp) {
        match op.what {
            What::Fence(Fence::Locked) => self.locked = Some((op.thread, op.at)),
            What::Store(piece) if self.locked == Some((op.thread, op.at)) => {
                self.lines.entry(piece.line()).or_default().0 |= bit(piece.word);
            }
            What::Flush(_, Some(line)) => {
                if let Some((_, is_flushed)) = self.lines.get_mut(&line) {
                    *is_flushed = true;
                }
            }
            _ => self.locked = None,
        }
    }

    /// What the lack of a flush is for a store to this word.
    pub fn finding(&self, word: PmPlace) -> Finding {
        match self.lines.get(&(word & !(LINE - 1))) {
            Some((words, false)) if words & bit(word) != 0 => Finding::LockWord,
            _ => Finding::NeverFlushed,
        }
    }
}

fn bit(word: PmPlace) -> u8 {
    1 << (word >> 3 & 7)
}
