//! Write-ahead logging with a logged bit (Speculative Persistence, ISCA 2017, section 3.1), and the paper's variants of
//! it.
//!
//! A region takes four durable steps: its undo records are copied; the logged word is set; its updates are made in
//! place; the logged word is cleared. Each step is flushed and ordered before the next one, so a region has four
//! orders. Recovery undoes the records of each lane whose logged word is not zero.
//!
//! The paper's `logged_bit` is a word here: the number of valid records. A region of several steps raises it at each,
//! after the step's records are durable and before its updates. With one step a region has exactly the paper's four
//! orders.
//!
//! The lines that a region has logged are flushed once a step. A free line that the region links is not logged, only
//! flushed: nothing reaches it before the region is durable, or after it is undone.
//!
//! The log's code is textbook C's (`python/strandline/twins/wal.h`): a record is made by a call of a function that
//! copies words, and the numbers of records and of lines are variables in memory.

mod layout;
mod log;
mod recovery;
mod region;

pub(crate) use layout::WalLayout;
pub use log::WalLog;
pub(crate) use recovery::undo_logged;

use strandline_isa::{Cpu, Intent, Lowering, Primitive};

/// How much of write-ahead logging a program does: the variants of section 6 of the paper, and the plain program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wal {
    /// The plain program: no log, no flush, no ordering primitive.
    None,
    /// The undo log's code alone: the records, the logged word and its clearing.
    Log,
    /// With flushes and `pcommit`s, where the design has them. It orders nothing: there is no fence.
    LogP,
    /// With all ordering. The only variant that survives a crash.
    LogPSf,
}

impl Wal {
    /// Whether the program writes the log on a design of this lowering.
    pub(crate) fn logs(self, lowering: &Lowering) -> bool {
        self != Wal::None && lowering.log
    }

    /// Whether the program flushes on a design of this lowering.
    pub(crate) fn flushes(self, lowering: &Lowering) -> bool {
        matches!(self, Wal::LogP | Wal::LogPSf) && lowering.flush.is_some()
    }

    /// Orders as the variant does: all primitives of the design for the intent, or of these only the `pcommit`s, or
    /// none.
    #[inline(always)]
    pub(crate) fn order<C: Cpu>(self, cpu: &C, intent: Intent) {
        match self {
            Wal::None | Wal::Log => {}
            Wal::LogP => {
                for primitive in cpu.lowering().of(intent) {
                    if *primitive == Primitive::Pcommit {
                        cpu.primitive(*primitive);
                    }
                }
            }
            Wal::LogPSf => cpu.intent(intent),
        }
    }
}

#[cfg(test)]
mod tests;
