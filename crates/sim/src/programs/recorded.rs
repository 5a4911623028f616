//! Recorded programs.

use super::{Prepared, Warmth};
use std::rc::Rc;
use strandline_isa::Image;
use strandline_machine::{factory, Factory};
use strandline_record::replay::{replay, Counts, Replayed};
use strandline_record::RecordError;
use strandline_runtime::Recoverable;

/// An open recording, and the counts of its replay.
pub struct Recorded {
    /// The recording, decoded.
    pub replayed: Replayed,
    /// What its replay counts.
    pub counts: Counts,
}

/// Prepares a recording for a machine with an LLC of this size in bytes.
///
/// # Errors
/// The file is damaged.
pub fn recorded(recorded: &Rc<Recorded>, llc_bytes: u64) -> Result<Prepared, RecordError> {
    let start = recorded.replayed.start()?;
    let threads = recorded.replayed.recording().threads().len();
    Ok(Prepared {
        fill: Box::new(move || start.memory),
        threads: (0..threads).map(|thread| thread_of(recorded.clone(), thread)).collect(),
        warmth: Warmth {
            footprint: recorded.replayed.footprint(&start.filled, llc_bytes),
            threads: Vec::new(),
            seeded: Vec::new(),
        },
        program: Rc::new(Unknown),
    })
}

fn thread_of(recorded: Rc<Recorded>, thread: usize) -> Factory {
    factory(move |cpu| replay(&recorded.replayed, thread, cpu, &recorded.counts))
}

/// A program without a recovery of its own.
struct Unknown;

impl Recoverable for Unknown {
    fn recover(&self, _: &dyn Image) {}

    fn check(&self, _: &dyn Image) -> Result<(), String> {
        Err("a recording has no invariant of its own: give a command with --verify".to_owned())
    }
}
