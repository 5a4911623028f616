//! Annotations of a core's accesses: the next write releases, the last read acquires.

use super::places::{place_of, touched, BytePlace};
use std::collections::BTreeSet;
use strandline_isa::{Addr, Primitive};
use strandline_machine::{Trace, TraceOp};

/// A load or locked instruction of a relevant location.
#[derive(Clone, Copy, Debug)]
pub struct LastRead {
    /// Its place among all reads.
    pub read: usize,
    /// Its operation's index in its core's program.
    pub index: usize,
    /// Its moment.
    pub stamp: u64,
}

/// A core's annotations so far.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// The next write releases.
    releases: bool,
    last_read: Option<LastRead>,
}

impl Marks {
    /// The next write releases.
    pub fn release(&mut self) {
        self.releases = true;
    }

    /// The last load or locked instruction, if its location is relevant.
    pub fn last_read(&self) -> Option<LastRead> {
        self.last_read
    }

    /// Processes an operation; returns whether it is the releasing write.
    pub fn passes(&mut self, op: &TraceOp) -> bool {
        if reads(op).is_some() {
            self.last_read = None;
        }
        writes(op).is_some() && std::mem::take(&mut self.releases)
    }

    /// The operation is this read.
    pub fn reads(&mut self, read: LastRead) {
        self.last_read = Some(read);
    }
}

fn reads(op: &TraceOp) -> Option<Addr> {
    match *op {
        TraceOp::Load { addr, .. } | TraceOp::Rmw { addr, .. } => Some(addr),
        _ => None,
    }
}

fn writes(op: &TraceOp) -> Option<Addr> {
    touched(op).filter(|(_, _, writes)| *writes).map(|(addr, ..)| addr)
}

/// The locations of a trace with an acquire or a release, by index.
///
/// In annotated programs, an unannotated load of such a location orders nothing. A program reads a lock before it tries
/// to take it, and this read does not race with the owner.
pub fn synchronising(trace: &Trace, places: &[BytePlace]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for ops in &trace.programs {
        let (mut releases, mut last_read) = (false, None);
        for op in ops {
            match op {
                TraceOp::Primitive(Primitive::Release) => releases = true,
                TraceOp::Primitive(Primitive::Acquire) => found.extend(last_read),
                _ => {}
            }
            last_read = reads(op).or(last_read);
            if let Some(addr) = writes(op) {
                if std::mem::take(&mut releases) {
                    found.insert(addr);
                }
            }
        }
    }
    found.into_iter().map(|addr| place_of(places, addr)).collect()
}
