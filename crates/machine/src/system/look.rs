//! A view of a core at a moment of a run: its store queue, its buffers, and what is pending.

use super::drain::write_of;
use super::hardware::Hart;
use super::waiters::{Condition, Waiters};
use crate::core::{Entry, EntryKind};
use strandline_design::{Key, Ordering, Until, Write, WriteKind};
use strandline_isa::Line;

/// The state of a core at a moment. A look changes nothing.
///
/// A store or flush may be in its queue one dispatch early: an entry is allocated once everything
/// up to the cycle before its dispatch has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreView {
    /// The context register: the context of stores and flushes that enter from now on.
    pub context: u8,
    /// The store queue, in program order.
    pub store_queue: Vec<Queued>,
    /// The write-back buffer, in the order in which its flushes arrived.
    pub writeback_buffer: Vec<Flushing>,
    /// The write-combining buffers, oldest first.
    pub combining: Vec<Joined>,
    /// Stores not yet visible and flushes not yet acknowledged, by context: contexts that have any, in order (COSPlay's
    /// Store-Clwb Tracker, section 4.3).
    pub pending: Vec<(u8, u64)>,
    /// What the held fence waits for. Nothing enters the store queue meanwhile.
    pub held: Option<Until<Key>>,
    /// Instructions dispatched so far.
    pub instructions: u64,
}

/// An instruction in the store queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// One that writes.
    Write(Write),
    /// One that orders or flushes.
    Ordering(Ordering),
}

/// A store-queue entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// What it is.
    pub what: What,
    /// The context that it belongs to.
    pub context: u8,
}

/// A flush in the write-back buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flushing {
    /// The line that it writes back.
    pub line: Line,
    /// The context that it belongs to.
    pub context: u8,
    /// It is a `clflush`, which also stays at the head of the store queue until it completes.
    pub at_head: bool,
}

/// A write-combining buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// Its line.
    pub line: Line,
    /// The contexts of the non-temporal stores in it, oldest first.
    pub contexts: Vec<u8>,
    /// Whether it is in flight to memory; it accepts no further stores then.
    pub sent: bool,
}

impl CoreView {
    pub(super) fn of(hart: &Hart, waiters: &Waiters) -> CoreView {
        let core = &hart.core;
        let pending = |context| core.pending(Some(context));
        CoreView {
            context: core.context.now.get(),
            store_queue: core.queue.borrow().iter().map(queued).collect(),
            writeback_buffer: hart
                .buffer
                .iter()
                .map(|b| Flushing {
                    line: b.line,
                    context: b.context,
                    at_head: b.is_head,
                })
                .collect(),
            combining: hart
                .combining
                .iter()
                .map(|b| Joined {
                    line: b.line,
                    contexts: b.contexts.clone(),
                    sent: b.sent,
                })
                .collect(),
            pending: (0..=u8::MAX)
                .map(|context| (context, pending(context)))
                .filter(|(_, count)| *count > 0)
                .collect(),
            held: waiters.of_fence(core.id).map(Condition::until),
            instructions: core.window.instructions(),
        }
    }

    /// Stores not yet visible and flushes not yet acknowledged of one context.
    #[must_use]
    pub fn pending_of(&self, context: u8) -> u64 {
        let found = self.pending.iter().find(|(of, _)| *of == context);
        found.map_or(0, |(_, count)| *count)
    }
}

fn queued(entry: &Entry) -> Queued {
    Queued {
        what: match entry.kind {
            EntryKind::Store { .. } => What::Write(write_of(WriteKind::Store, entry)),
            EntryKind::StoreNt { .. } => What::Write(write_of(WriteKind::NonTemporal, entry)),
            EntryKind::Flush(flush) => What::Ordering(Ordering::Flush(entry.line(), flush)),
            EntryKind::Primitive(primitive) => What::Ordering(Ordering::Primitive(primitive)),
        },
        context: entry.context,
    }
}
