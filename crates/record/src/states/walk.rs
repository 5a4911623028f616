//! From interval to interval.

use super::hoist::Hoist;
use super::pending::Pending;
use super::{Image, Interval, Rules};
use crate::order::{PmOp, PmPlace, What};
use crate::{Marker, RecordError};
use std::collections::BTreeSet;

/// The source of a recording's operations.
pub type Ops<'r> = Box<dyn Iterator<Item = Result<PmOp, RecordError>> + Send + 'r>;

/// A walk over a recording that stops at the end of each interval with states of its own.
pub struct Walk<'r> {
    ops: Ops<'r>,
    pending: Pending,
    held: Option<PmOp>,
    boundary: u64,
    number: u64,
    changed: BTreeSet<PmPlace>,
    has_own: bool,
    /// A task has ended in the interval.
    acknowledges: bool,
    /// The walk stands at an interval's end.
    stands: bool,
    /// The operation that started the interval.
    pub began: Option<PmOp>,
    /// Number of tasks that started, by the program's markers.
    pub tasks: u64,
    /// Number of ended tasks of each thread, by the program's markers.
    pub done: Vec<u64>,
}

impl<'r> Walk<'r> {
    /// Nothing was done yet.
    pub fn new(ops: Ops<'r>, pending: Pending) -> Walk<'r> {
        let done = vec![0; pending.threads().len()];
        let ops = match pending.rules() {
            Rules::Flushed => ops,
            Rules::Visible => Box::new(Hoist::new(ops)),
        };
        Walk {
            ops,
            pending,
            held: None,
            boundary: 0,
            number: 0,
            changed: BTreeSet::new(),
            has_own: false,
            acknowledges: false,
            stands: false,
            began: None,
            tasks: 0,
            done,
        }
    }

    /// Advances to the end of the next interval with states of its own. Returns its number, or `None` at the program's
    /// end. Calls `see` with each operation before it executes.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub fn next(&mut self, see: &mut dyn FnMut(&PmOp)) -> Result<Option<u64>, RecordError> {
        if std::mem::take(&mut self.stands) {
            self.number += 1;
            self.boundary = self.pending.serial();
            self.has_own = false;
            self.acknowledges = false;
        }
        loop {
            let op = match self.held.take() {
                Some(op) => op,
                None => match self.ops.next().transpose()? {
                    Some(op) => {
                        see(&op);
                        op
                    }
                    None => {
                        self.stands = self.has_states();
                        return Ok(self.stands.then_some(self.number));
                    }
                },
            };
            // A load changes no memory, unless it fetches what another host has stored.
            if matches!(op.what, What::Load { .. }) && !self.pending.has_hosts() {
                continue;
            }
            // The held operation was already seen, and its interval has ended.
            if self.has_states() && self.pending.settles(&op) {
                self.held = Some(op);
                self.stands = true;
                return Ok(Some(self.number));
            }
            self.apply(&op);
        }
    }

    /// Whether a crash here leaves what no earlier one leaves: a store, or less than what was acknowledged.
    fn has_states(&self) -> bool {
        self.has_own || (self.acknowledges && !self.pending.lines.is_empty())
    }

    fn apply(&mut self, op: &PmOp) {
        let settles = self.pending.settles(op);
        if settles {
            self.began = Some(*op);
            self.changed.extend(self.pending.settled_by(op));
        }
        match op.what {
            What::Store(piece) | What::StoreNt(piece) => {
                self.changed.insert(piece.line());
                self.has_own |= !self.pending.holds(op);
            }
            What::Marker(Marker::TransactionEnd) => {
                let lines = self.pending.committed(op);
                self.has_own |= !lines.is_empty();
                self.changed.extend(lines);
            }
            What::Marker(Marker::TaskBegin) => self.tasks += 1,
            What::Marker(Marker::TaskEnd) => {
                self.done[op.thread as usize] += 1;
                self.acknowledges = true;
            }
            _ => {}
        }
        self.pending.apply(op);
    }

    /// The lines whose states may have changed since the last call.
    pub fn changed(&mut self) -> BTreeSet<PmPlace> {
        std::mem::take(&mut self.changed)
    }

    /// The operation that ends the interval; `None` at the program's end.
    #[must_use]
    pub fn ends(&self) -> Option<PmOp> {
        self.held
    }

    /// Stores after this position in the global order are the interval's own.
    #[must_use]
    pub fn boundary(&self) -> u64 {
        self.boundary
    }

    /// Whether a store of the interval's own can be durable.
    #[must_use]
    pub fn has_own(&self) -> bool {
        self.has_own
    }

    /// Whether a task has ended in the interval.
    #[must_use]
    pub fn acknowledges(&self) -> bool {
        self.acknowledges
    }

    /// The states at hand.
    #[must_use]
    pub fn interval(&self) -> Interval<'_> {
        Interval::new(&self.pending, self.boundary, self.acknowledges)
    }

    /// Memory with all pending stores durable.
    #[must_use]
    pub fn all_durable(self) -> Image {
        self.pending.all_durable()
    }

    /// Memory.
    #[must_use]
    pub fn pending(&self) -> &Pending {
        &self.pending
    }
}

impl std::fmt::Debug for Walk<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Walk")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}
