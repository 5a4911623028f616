//! The orders of a recording whose states are explored.

use super::{Audit, Ops, Rules};
use crate::order::{Detail, Entry, Interleaved, Places, PmOp, Reordered, What};
use crate::{RecordError, Recording};
use std::collections::HashSet;
use std::sync::Arc;

/// Orders that are explored of a small recording of several threads, unless another number is given.
const ORDERS: u64 = 8;

/// Instructions that are executed in further orders, unless their number is given.
const INSTRUCTIONS: u64 = 200_000_000;

/// The orders of a recording: number 0 is the recorded one.
#[derive(Clone, Debug)]
pub struct Orders {
    recording: Arc<Recording>,
    places: Arc<Places>,
}

/// Tells orders apart by the sequence of threads that changed persistent memory.
#[derive(Debug)]
pub struct Fingerprint {
    hash: u64,
    /// Threads whose next fence orders something.
    waits: Vec<bool>,
}

impl Orders {
    /// Of a recording.
    #[must_use]
    pub fn of(recording: &Arc<Recording>, places: &Arc<Places>) -> Orders {
        Orders {
            recording: Arc::clone(recording),
            places: Arc::clone(places),
        }
    }

    /// How many orders are explored, including the recorded one, if at most `asked` are wanted.
    #[must_use]
    pub fn count(&self, asked: Option<u32>) -> u32 {
        let instructions = self.recording.totals().instructions.max(1);
        match self.recording.threads().len() {
            0 | 1 => 1,
            _ => asked
                .unwrap_or((1 + INSTRUCTIONS / instructions).min(ORDERS) as u32)
                .max(1),
        }
    }

    /// The operations in the order of this number. With loads if stores need flushes.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub fn ops(&self, number: u32, rules: Rules) -> Result<Ops<'static>, RecordError> {
        let loads = rules == Rules::Flushed;
        let detail = match (number, loads) {
            (0, false) => Detail::Persistent,
            (0, true) => Detail::Loads,
            _ => Detail::Accesses,
        };
        let base = Interleaved::with(&self.recording, &self.places, detail)?;
        if number == 0 {
            return Ok(Box::new(base));
        }
        let order = Reordered::new(base.entries(), number, self.recording.threads().len());
        Ok(Box::new(order.filter_map(move |entry| operation(entry, loads))))
    }

    /// The audit of the orders that are explored by default.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub fn audited(&self) -> Result<Audit, RecordError> {
        let mut audit = Audit::new(self.recording.threads().len());
        for op in self.ops(0, Rules::Flushed)? {
            audit.see(&op?);
        }
        self.audit(&mut audit)?;
        Ok(audit)
    }

    /// Adds to an audit of the recorded order what further orders show.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub fn audit(&self, audit: &mut Audit) -> Result<(), RecordError> {
        for number in 1..self.count(None) {
            let mut other = Audit::new(self.recording.threads().len());
            for op in self.ops(number, Rules::Flushed)? {
                other.see(&op?);
            }
            audit.merge(&other);
        }
        Ok(())
    }
}

fn operation(entry: Result<Entry, RecordError>, loads: bool) -> Option<Result<PmOp, RecordError>> {
    match entry {
        Ok(Entry::Op(op)) if loads || !matches!(op.what, What::Load { .. }) => Some(Ok(op)),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    }
}

impl Fingerprint {
    pub fn new(threads: usize) -> Fingerprint {
        Fingerprint {
            hash: 0,
            waits: vec![false; threads],
        }
    }

    /// Sees the next operation.
    pub fn see(&mut self, op: &PmOp) {
        let waits = &mut self.waits[op.thread as usize];
        let counts = match op.what {
            What::Fence(_) => std::mem::take(waits),
            What::Flush(_, Some(_)) | What::StoreNt(_) => {
                *waits = true;
                true
            }
            What::Store(_) | What::Sync { .. } => true,
            What::Flush(_, None) | What::Load { .. } | What::Unknown | What::Marker(_) | What::Exit => false,
        };
        if counts {
            let mixed = self.hash.rotate_left(5) ^ u64::from(op.thread + 1);
            self.hash = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    /// Whether no order seen before was the same.
    pub fn is_new(&self, seen: &mut HashSet<u64>) -> bool {
        seen.insert(self.hash)
    }
}
