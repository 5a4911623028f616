//! Finds the accesses of a recording that synchronise threads, for designs whose programs annotate them.
//!
//! An x86 program synchronises by locked instructions, and by plain loads and stores of the same words or of those for which
//! a thread has waited. So a locked instruction acquires and releases. For each word that any locked instruction of the
//! recording accesses, or an access that has a turn or a link, stores release and loads acquire. Only the first word of a store
//! counts.

use super::walk::{Cursor, Walk};
use crate::micro::MicroOp;
use crate::{Event, LinkEvent, RecordError, Recording, ThreadStep, Turn};
use std::collections::{BTreeSet, HashSet};
use strandline_capture::{AccessKind, VALUE_BYTES};
use strandline_isa::{Addr, Intent, Lowering, Replay};

/// How the threads of a recording synchronise; empty with one thread.
#[derive(Clone, Debug, Default)]
pub struct Synced {
    /// The words of locked instructions, and those whose plain accesses have turns or links.
    words: HashSet<u64>,
    /// The numbers of the signals that threads give.
    pub signals: Vec<u32>,
}

impl Synced {
    /// Reads through all threads of a recording.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn of(recording: &Recording) -> Result<Synced, RecordError> {
        let threads = recording.threads().len();
        let mut synced = Synced::default();
        let mut signals = BTreeSet::new();
        let locked = locked(recording);
        for thread in 0..if threads > 1 { threads } else { 0 } {
            let mut stream = recording.stream(thread)?;
            while let Some(step) = stream.next()? {
                match step {
                    ThreadStep::Event(Event::Signal { number }) => _ = signals.insert(number),
                    ThreadStep::Event(_) => {}
                    ThreadStep::Block(executed) => {
                        let all = locked.get(executed.block as usize).map_or(&[][..], Vec::as_slice);
                        for (access, size) in all {
                            if let Some(address) = executed.addresses.get(*access) {
                                synced.words.insert(Turn::word(*address));
                                synced.words.insert(Turn::word(address.saturating_add(*size - 1)));
                            }
                        }
                        let turns = executed.turns.iter().map(|turn| turn.access);
                        let links = executed.links.iter().map(|link| link.access);
                        for access in turns.chain(links) {
                            let address = executed.addresses.get(usize::from(access));
                            synced.words.extend(address.map(|address| Turn::word(*address)));
                        }
                        signals.extend(executed.links.iter().filter_map(|link| match link.event {
                            LinkEvent::Signal { number } => Some(number),
                            LinkEvent::Wait { .. } => None,
                        }));
                    }
                }
            }
        }
        synced.signals = signals.into_iter().collect();
        Ok(synced)
    }

    /// Whether threads synchronise at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.signals.is_empty()
    }

    /// Whether threads synchronise by the word of this recorded address.
    #[must_use]
    pub fn contains(&self, recorded: u64) -> bool {
        self.words.contains(&Turn::word(recorded))
    }
}

/// The locked accesses of each block: their indices and sizes.
fn locked(recording: &Recording) -> Vec<Vec<(usize, u64)>> {
    let of_block = |block: &crate::Block| {
        let accesses = block.accesses.iter().enumerate();
        let locked = accesses.filter(|(_, access)| access.kind == AccessKind::Atomic);
        locked
            .map(|(index, access)| (index, u64::from(access.size.max(1))))
            .collect()
    };
    recording.blocks().iter().map(of_block).collect()
}

/// Whether accesses are annotated at all.
pub(super) fn wants(lowering: &Lowering) -> bool {
    !lowering.acquire.is_empty() || !lowering.release.is_empty()
}

impl<C: Replay> Walk<'_, C> {
    /// An access that synchronises independently of its address is about to issue, or has issued.
    #[inline(always)]
    pub(super) fn mark(&self, intent: Intent) {
        if self.synced.is_some() {
            self.cpu.intent(intent);
        }
    }

    /// A signal has arrived. The thread, whose wait executed no instruction, loads the signal's word, so that there is
    /// an acquire.
    pub(super) fn heed(&self, signal: Addr) {
        if self.synced.is_some() {
            self.cpu.load(signal, C::Tag::default(), 8);
            self.cpu.intent(Intent::Acquire);
        }
    }

    /// A store is about to issue.
    #[inline(always)]
    pub(super) fn mark_store(&self, op: &MicroOp, recorded: u64, at: &Cursor<'_>) {
        let Some(synced) = self.synced else { return };
        // Some of these are not separate stores, and no program synchronises by them.
        let is_plain = !at.repeats && op.size <= VALUE_BYTES;
        if is_plain && synced.contains(recorded) {
            self.cpu.intent(Intent::Release);
        }
    }

    /// A load has been issued.
    #[inline(always)]
    pub(super) fn mark_load(&self, recorded: u64, at: &Cursor<'_>) {
        let Some(synced) = self.synced else { return };
        if !at.repeats && synced.contains(recorded) {
            self.cpu.intent(Intent::Acquire);
        }
    }
}
