//! The demand of a failure-atomic region on its log, and the capacity of logs.

use crate::model::set::MOST_ITEMS;
use crate::{Logging, Runtime};
use std::fmt;

/// The most that a failure-atomic region of a workload writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// Lines.
    pub lines: u64,
    /// Words, without trailers.
    pub words: u64,
}

/// Error: a region writes more than its log holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// The unit that exceeds the limit: `lines` or `words`.
    pub what: &'static str,
    /// Their number; unknown where the region was cut short.
    pub needed: Option<u64>,
}

impl TooLarge {
    /// The limit.
    pub const MOST: u64 = MOST_ITEMS;
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, most) = (self.what, TooLarge::MOST);
        match self.needed {
            Some(needed) => write!(
                f,
                "a region may write {needed} {what} and the runtime's set holds {most}"
            ),
            None => write!(
                f,
                "a region writes more {what} than the {most} that the runtime's set holds"
            ),
        }
    }
}

impl Logging {
    /// Whether the largest region fits into the log. The undo log has a limit for steps only, which
    /// no setting changes; redo keeps words, the others lines.
    ///
    /// # Errors
    /// It does not fit.
    pub fn admits(&self, demand: Demand) -> Result<(), TooLarge> {
        let (what, needed) = match self.runtime {
            Runtime::Undo => return Ok(()),
            Runtime::Txn | Runtime::Atlas | Runtime::Sfr | Runtime::Wal(_) => ("lines", demand.lines),
            Runtime::Redo => ("words", demand.words),
        };
        match needed <= TooLarge::MOST {
            true => Ok(()),
            false => Err(TooLarge {
                what,
                needed: Some(needed),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_512_lines_of_pairs_or_words_of_redo() {
        let demand = Demand { lines: 512, words: 513 };
        let admits = |runtime| {
            Logging {
                runtime,
                batch: 1,
                ..Logging::UNDO
            }
            .admits(demand)
        };
        for runtime in [Runtime::Undo, Runtime::Txn, Runtime::Atlas, Runtime::Sfr] {
            assert_eq!(admits(runtime), Ok(()));
        }
        let error = admits(Runtime::Redo).unwrap_err().to_string();
        assert_eq!(error, "a region may write 513 words and the runtime's set holds 512");
    }
}
