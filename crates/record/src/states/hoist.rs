//! Non-temporal stores that become visible early.
//!
//! Under models in which visible stores are durable, the order of visibility matters, and a non-temporal store may
//! overtake ordinary ones (`models/lib/tso.cat`, `stores`). It is moved as early as possible: behind the last fence,
//! the last `clflush` and the last store to its own word. The walk then finds the states in which it is late.

use super::Ops;
use crate::order::{Flush, PmOp, What};
use crate::{Marker, RecordError};
use std::collections::VecDeque;

/// Maximum number of operations that a store overtakes.
const WINDOW: usize = 1024;

/// Operations with non-temporal stores moved forward.
pub struct Hoist<'r> {
    ops: Ops<'r>,
    window: VecDeque<PmOp>,
    /// What the operations ended with.
    end: Option<Option<RecordError>>,
}

impl<'r> Hoist<'r> {
    pub fn new(ops: Ops<'r>) -> Hoist<'r> {
        Hoist {
            ops,
            window: VecDeque::new(),
            end: None,
        }
    }

    fn take(&mut self, op: PmOp) {
        let stays = |before: &PmOp| !may_overtake(&op, before);
        let at = match op.what {
            What::StoreNt(_) => self.window.iter().rposition(stays).map_or(0, |last| last + 1),
            _ => self.window.len(),
        };
        self.window.insert(at, op);
    }
}

/// Whether a non-temporal store may become visible before an earlier operation. It may not overtake another thread's
/// operation, which may be its cause.
fn may_overtake(op: &PmOp, before: &PmOp) -> bool {
    let (What::StoreNt(piece), true) = (op.what, op.thread == before.thread) else {
        return false;
    };
    match before.what {
        What::Store(other) | What::StoreNt(other) => other.word != piece.word,
        What::Flush(kind, _) => kind != Flush::Clflush,
        What::Marker(Marker::TransactionBegin | Marker::TransactionEnd) => false,
        What::Marker(_) | What::Unknown | What::Exit | What::Load { .. } => true,
        What::Fence(_) | What::Sync { .. } => false,
    }
}

impl Iterator for Hoist<'_> {
    type Item = Result<PmOp, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.end.is_none() && self.window.len() < WINDOW {
            match self.ops.next() {
                Some(Ok(op)) => self.take(op),
                Some(Err(error)) => self.end = Some(Some(error)),
                None => self.end = Some(None),
            }
        }
        match self.window.pop_front() {
            Some(op) => Some(Ok(op)),
            None => self.end.as_mut()?.take().map(Err),
        }
    }
}
