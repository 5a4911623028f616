//! Merges all threads of a recording into one legal order of operations on persistent memory.

mod clocks;
mod code;
mod edited;
mod entry;
mod exits;
mod op;
mod places;
mod reordered;
mod thread;

pub(crate) use clocks::{Clock, Clocks, Numbers};
pub(crate) use code::points;
pub use entry::{Access, Detail, Entry, Sync, SyncKind};
pub use op::{Fence, Flush, Piece, PmOp, PmPlace, What, LINE, OFFSET_BITS};
pub use places::{Places, PoolFile};
pub use reordered::Reordered;

use crate::error::RECORD_AGAIN;
use crate::stack::{Libraries, Stack};
use crate::{RecordError, Recording};
use code::Point;
use edited::Late;
use exits::{Ends, Frames};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use thread::{Ran, Runner};

/// What threads wait for (writes to words, and signals), and where each is.
#[derive(Debug, Default)]
struct Shared {
    words: HashMap<u64, u32>,
    signals: HashMap<u32, u32>,
    frames: Vec<Frames>,
    stacks: Vec<Stack>,
    /// The delayed stores of each thread.
    late: Vec<Vec<Late>>,
    /// The instructions behind which they come.
    targets: BTreeSet<u64>,
}

impl Shared {
    /// How often a signal was given.
    fn given(&self, number: u32) -> u32 {
        self.signals.get(&number).copied().unwrap_or_default()
    }
}

/// A block.
#[derive(Debug)]
struct Code {
    points: Vec<Point>,
    ends: Ends,
    /// It is the program's own, not of a library.
    is_own: bool,
}

/// The operations of all threads. A thread executes until it must wait for another; then the next one executes. So the
/// order is deterministic.
pub struct Interleaved {
    runners: Vec<Runner>,
    current: usize,
    shared: Shared,
    blocks: Arc<[Code]>,
    places: Arc<Places>,
    ready: VecDeque<Entry>,
    recording: Arc<Recording>,
    detail: Detail,
}

impl Interleaved {
    /// The operations of a recording, from its start.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub fn new(recording: &Arc<Recording>, places: &Arc<Places>) -> Result<Interleaved, RecordError> {
        Interleaved::with(recording, places, Detail::Persistent)
    }

    /// The operations of a recording, and what else it says in this detail.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub fn with(recording: &Arc<Recording>, places: &Arc<Places>, detail: Detail) -> Result<Interleaved, RecordError> {
        let threads = recording.threads().len();
        let runners = (0..threads).map(|thread| Ok(Runner::new(thread as u32, recording.stream(thread)?)));
        let blocks = recording.blocks().iter().zip(exits::ends(recording));
        let libraries = Libraries::of(recording.modules());
        let blocks = blocks.map(|(block, ends)| Code {
            points: points(block, threads > 1, recording.edits()),
            ends,
            is_own: libraries.is_own(block.pc),
        });
        Ok(Interleaved {
            runners: runners.collect::<Result<_, RecordError>>()?,
            current: 0,
            shared: Shared {
                frames: vec![Frames::default(); threads],
                stacks: vec![Stack::default(); threads],
                late: vec![Vec::new(); threads],
                targets: recording.edits().targets(),
                ..Shared::default()
            },
            blocks: blocks.collect(),
            places: Arc::clone(places),
            ready: VecDeque::new(),
            recording: Arc::clone(recording),
            detail,
        })
    }

    /// Advances a thread; `false` once all have ended.
    fn advance(&mut self) -> Result<bool, RecordError> {
        let mut waiting = 0;
        for _ in 0..self.runners.len() {
            let runner = &mut self.runners[self.current];
            let ran = runner.step(
                &self.recording,
                &self.blocks,
                &self.places,
                &mut self.shared,
                self.detail,
                &mut self.ready,
            )?;
            match ran {
                Ran::On => return Ok(true),
                Ran::Waits => waiting += 1,
                Ran::Ended => {}
            }
            self.current = (self.current + 1) % self.runners.len();
        }
        match waiting {
            0 => Ok(false),
            _ => Err(self.stuck(waiting)),
        }
    }

    /// Every thread waits or has ended.
    fn stuck(&self, waiting: usize) -> RecordError {
        let waits: Vec<String> = self
            .runners
            .iter()
            .filter_map(|runner| runner.waits(&self.recording))
            .collect();
        let first = waits.first().map_or("", String::as_str);
        let others = match waiting - 1 {
            0 => String::new(),
            1 => "; 1 more thread waits".to_owned(),
            others => format!("; {others} more threads wait"),
        };
        RecordError::new(format!("{first}, which never happens{others}"), RECORD_AGAIN)
    }
}

impl Interleaved {
    /// The next operation or access.
    pub fn entry(&mut self) -> Option<Result<Entry, RecordError>> {
        while self.ready.is_empty() {
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.runners.clear();
                    return Some(Err(error));
                }
            }
        }
        self.ready.pop_front().map(Ok)
    }

    /// Operations and accesses.
    pub fn entries(mut self) -> impl Iterator<Item = Result<Entry, RecordError>> + Send {
        std::iter::from_fn(move || self.entry())
    }
}

impl Iterator for Interleaved {
    type Item = Result<PmOp, RecordError>;

    fn next(&mut self) -> Option<Result<PmOp, RecordError>> {
        loop {
            match self.entry()? {
                Ok(Entry::Op(op)) => return Some(Ok(op)),
                Ok(Entry::Access(_) | Entry::Sync(_)) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Follows all waits of a recording in a legal order. A wait counts past events. So if all waits end in one order, they
/// end in every order.
///
/// # Errors
/// The recording is damaged: a wait never ends.
pub(crate) fn check_waits(recording: &Recording) -> Result<(), RecordError> {
    let places = Arc::new(Places::default());
    Interleaved::new(&Arc::new(recording.clone()), &places)?.try_for_each(|op| op.map(drop))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
