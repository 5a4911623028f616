//! From interval to interval.

use super::hoist::Hoist;
use super::pending::Pending;
use super::{Image, Interval, Rules};
use crate::order::{Op, Place, What};
use crate::{Marker, RecordError};
use std::collections::BTreeSet;

/// The source of a recording's operations.
pub type Ops<'r> = Box<dyn Iterator<Item = Result<Op, RecordError>> + Send + 'r>;

/// A walk over a recording that stops at the end of each interval with states of its own.
pub struct Walk<'r> {
    ops: Ops<'r>,
    pending: Pending,
    held: Option<Op>,
    boundary: u64,
    number: u64,
    changed: BTreeSet<Place>,
    has_own: bool,
    /// The operation that started the interval.
    pub began: Option<Op>,
    /// Number of tasks that started, by the program's markers.
    pub tasks: u64,
}

impl<'r> Walk<'r> {
    /// Nothing was done yet.
    pub fn new(ops: Ops<'r>, pending: Pending) -> Walk<'r> {
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
            began: None,
            tasks: 0,
        }
    }

    /// Advances to the end of the next interval with states of its own. Returns its number, or `None` at the program's
    /// end. Calls `see` with each operation before it executes.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub fn next(&mut self, see: &mut dyn FnMut(&Op)) -> Result<Option<u64>, RecordError> {
        if std::mem::take(&mut self.has_own) {
            self.number += 1;
            self.boundary = self.pending.serial();
        }
        loop {
            let op = match self.held.take() {
                Some(op) => op,
                None => match self.ops.next().transpose()? {
                    Some(op) => {
                        see(&op);
                        op
                    }
                    None => return Ok(self.has_own.then_some(self.number)),
                },
            };
            // A load changes no memory.
            if matches!(op.what, What::Load { .. }) {
                continue;
            }
            // The held operation was already seen, and its interval has ended.
            if self.has_own && self.pending.settles(&op) {
                self.held = Some(op);
                return Ok(Some(self.number));
            }
            self.apply(&op);
        }
    }

    fn apply(&mut self, op: &Op) {
        let settles = self.pending.settles(op);
        if settles {
            self.began = Some(*op);
            self.changed.extend(self.pending.settled_by(op));
        }
        match op.what {
            What::Store(piece) | What::StoreNt(piece) => {
                self.changed.insert(piece.line());
                self.has_own = true;
            }
            What::Marker(Marker::TaskBegin) => self.tasks += 1,
            _ => {}
        }
        self.pending.apply(op);
    }

    /// The lines whose states may have changed since the last call.
    pub fn changed(&mut self) -> BTreeSet<Place> {
        std::mem::take(&mut self.changed)
    }

    /// The operation that ends the interval; `None` at the program's end.
    #[must_use]
    pub fn ends(&self) -> Option<Op> {
        self.held
    }

    /// Stores after this position in the global order are the interval's own.
    #[must_use]
    pub fn boundary(&self) -> u64 {
        self.boundary
    }

    /// The states at hand.
    #[must_use]
    pub fn interval(&self) -> Interval<'_> {
        Interval::new(&self.pending, self.boundary)
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
