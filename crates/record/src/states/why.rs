//! Why a store of a crash state is not durable.

use super::line::Item;
use super::{Pending, Rules};
use crate::order::{PmOp, PmPlace, What, LINE};
use crate::At;
use std::borrow::Cow;
use std::collections::HashMap;

/// Maximum number of remembered flushes, fences and calls of `msync`. Beyond it, reasons are left out.
const MOST_EVENTS: usize = 1 << 22;

/// Why a store is not durable at a crash, the clearest fault first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Its line is never flushed.
    NeverFlushed,
    /// Its line was last flushed by this instruction, before the store.
    FlushedBefore(At),
    /// It was flushed by this instruction, and its thread has no later fence.
    NeverFenced(At),
    /// It is non-temporal, and its thread has no later fence.
    NtNeverFenced,
    /// It is flushed by this instruction, after the crash.
    NotYetFlushed(At),
    /// It was flushed by the first instruction, and is fenced by the second one, after the crash.
    NotYetFenced(At, At),
    /// It is non-temporal, and fenced by this instruction, after the crash.
    NtNotYetFenced(At),
    /// A system call makes it durable, after the crash.
    NotYetSynced,
    /// It had not become visible: the model makes visible stores durable.
    NotYetVisible,
}

/// A flush or fence: its position in the global order, its instruction and its thread.
#[derive(Clone, Copy, Debug)]
struct Event {
    serial: u64,
    at: At,
    thread: u32,
}

/// When lines are flushed and threads fence.
#[derive(Clone, Debug, Default)]
pub struct History {
    serial: u64,
    flushes: HashMap<PmPlace, Vec<Event>>,
    fences: HashMap<u32, Vec<Event>>,
    /// Threads with a flush or non-temporal store since their last fence.
    waits: HashMap<u32, bool>,
    syncs: Vec<(u64, PmPlace, PmPlace)>,
    events: usize,
}

impl History {
    /// Sees the next operation.
    pub fn see(&mut self, op: &PmOp) {
        self.serial += 1;
        let event = Event {
            serial: self.serial,
            at: op.at,
            thread: op.thread,
        };
        match op.what {
            _ if self.events == MOST_EVENTS => return,
            What::Flush(_, Some(line)) => {
                self.flushes.entry(line).or_default().push(event);
                self.waits.insert(op.thread, true);
            }
            What::StoreNt(_) => {
                self.waits.insert(op.thread, true);
                return;
            }
            What::Fence(_) if self.waits.insert(op.thread, false) == Some(true) => {
                self.fences.entry(op.thread).or_default().push(event);
            }
            What::Sync { start, bytes } => {
                let first = start & !(LINE - 1);
                self.syncs.push((self.serial, first, start.saturating_add(bytes)));
            }
            _ => return,
        }
        self.events += 1;
    }

    /// Why a pending store is not durable at a crash now; `None` if it is not known.
    #[must_use]
    pub fn why(&self, pending: &Pending, item: &Item) -> Option<Why> {
        let now = pending.serial();
        if self.events == MOST_EVENTS {
            return None;
        }
        if item.nt {
            return Some(match self.fence_after(item.thread, now) {
                Some(fence) => Why::NtNotYetFenced(fence.at),
                None if self.is_synced_after(now, item) => Why::NotYetSynced,
                None => Why::NtNeverFenced,
            });
        }
        if pending.rules() == Rules::Visible {
            return Some(Why::NotYetVisible);
        }
        let all = self.flushes.get(&item.piece.line()).map_or(&[][..], Vec::as_slice);
        let flushes = match pending.has_hosts() {
            true => Cow::Owned(
                all.iter()
                    .filter(|flush| flush.thread == item.thread)
                    .copied()
                    .collect(),
            ),
            false => Cow::Borrowed(all),
        };
        let (before, after) = flushes.split_at(flushes.partition_point(|flush| flush.serial < item.serial));
        Some(match after.first() {
            _ if self.is_synced_after(now, item) && after.first().is_none_or(|flush| flush.serial > now) => {
                Why::NotYetSynced
            }
            Some(flush) if flush.serial > now => Why::NotYetFlushed(flush.at),
            Some(flush) => match self.fence_after(flush.thread, now) {
                Some(fence) => Why::NotYetFenced(flush.at, fence.at),
                None => Why::NeverFenced(flush.at),
            },
            None => before
                .last()
                .map_or(Why::NeverFlushed, |flush| Why::FlushedBefore(flush.at)),
        })
    }

    /// The first fence of a thread after this position. A pending flush or store has had none before.
    fn fence_after(&self, thread: u32, position: u64) -> Option<&Event> {
        let fences = self.fences.get(&thread)?;
        fences.get(fences.partition_point(|fence| fence.serial <= position))
    }

    fn is_synced_after(&self, position: u64, item: &Item) -> bool {
        let place = item.piece.word;
        let covers =
            |(serial, start, end): &(u64, PmPlace, PmPlace)| *serial > position && (*start..*end).contains(&place);
        self.syncs.iter().any(covers)
    }
}

#[cfg(test)]
#[path = "why_tests.rs"]
mod tests;
