//! Stalls of dispatch, by cause.

use super::Window;
use crate::core::restore::restore;
use crate::timeline::Cause;
use std::cell::Cell;

/// Cycles in which nothing could be dispatched, by cause.
#[derive(Clone, Default)]
pub struct Stalls {
    /// Behind a fence: a store blocked from its queue, or a window full behind the fence.
    pub fence: Cell<u64>,
    /// Of these, with a window full behind the fence.
    pub window_behind_fence: Cell<u64>,
    /// Behind a full store queue or a design's full buffer.
    pub buffer: Cell<u64>,
    /// Of these, behind a design's full buffer.
    pub design_buffer: Cell<u64>,
    /// Of these, behind a full store queue whose head waited for flushes, or for the design.
    pub queue_persists: Cell<u64>,
    /// By any back-pressure: the above, and a window, issue queue or load queue full for other reasons;
    /// those cycles that the fetch queue did not absorb.
    pub fetch: Cell<u64>,
}

fn add(cycles: &Cell<u64>, more: u64) {
    cycles.set(cycles.get() + more);
}

impl Stalls {
    /// All of them, in this order.
    pub(super) fn all(&self) -> [&Cell<u64>; 6] {
        [
            &self.fence,
            &self.window_behind_fence,
            &self.buffer,
            &self.design_buffer,
            &self.queue_persists,
            &self.fetch,
        ]
    }
}

restore! { Stalls { fence, window_behind_fence, buffer, design_buffer, queue_persists, fetch } }

impl Window {
    #[cold]
    pub(super) fn stall_until_free(&self, free: u64) {
        if !self.overflows() {
            self.stall_until_left(free);
        }
    }

    /// Stalls dispatch until an op leaves the window, at `free`.
    #[cold]
    pub fn stall_until_left(&self, free: u64) {
        let (from, used) = self.next_slot();
        let released = self.released.get();
        let behind_fence = match from < released {
            true => free.min(released).saturating_sub(from),
            false => 0,
        };
        add(&self.stalls.fence, behind_fence);
        add(&self.stalls.window_behind_fence, behind_fence);
        let fetch = self.advance(free).1;
        if let Some(lane) = &self.lane {
            let split = from + behind_fence;
            let used_behind = if split == from { used } else { 0 };
            lane.stall((from, split), used, Cause::Fence, behind_fence, fetch.min(behind_fence));
            let rest = fetch.saturating_sub(behind_fence);
            lane.stall((split, free), used_behind, Cause::Window, 0, rest);
        }
    }

    /// The cycle in which the next op would be dispatched without back-pressure.
    pub fn next_cycle(&self) -> u64 {
        self.cycle.get() + u64::from(self.in_cycle.get() == self.dispatch_width)
    }

    /// That cycle, and the micro-ops that were dispatched in it.
    pub(super) fn next_slot(&self) -> (u64, u64) {
        match self.in_cycle.get() {
            used if used < self.dispatch_width => (self.cycle.get(), used),
            _ => (self.cycle.get() + 1, 0),
        }
    }

    /// Dispatch goes on at `to` at the earliest: the cycles that it stalls, and those that the fetch queue does not absorb.
    fn advance(&self, to: u64) -> (u64, u64) {
        let mut blocked = 0;
        let stall = to.saturating_sub(self.next_cycle());
        if stall > 0 {
            self.noted.borrow_mut().clear();
            let dispatched = self.in_cycle.get() % self.dispatch_width;
            blocked = self.fetch_queue.absorb(stall, dispatched, self.dispatch_width);
            add(&self.stalls.fetch, blocked);
        }
        self.resume(to);
        (stall, blocked)
    }

    /// Dispatch was stalled until `at` by a fence.
    pub fn stall_fence(&self, at: u64) {
        let (from, used) = self.next_slot();
        let (stall, fetch) = self.advance(at);
        add(&self.stalls.fence, stall);
        if let Some(lane) = &self.lane {
            lane.stall((from, at), used, Cause::Fence, stall, fetch);
        }
    }

    /// Dispatch was stalled until `at` by a full buffer of the design.
    pub fn stall_design_buffer(&self, at: u64) {
        add(&self.stalls.design_buffer, at.saturating_sub(self.next_cycle()));
        self.stall_buffer(at);
    }

    /// Dispatch was stalled until `at` by a full store queue, whose head waited `persists` cycles of these for flushes or for the
    /// design.
    pub fn stall_queue(&self, at: u64, persists: u64) {
        let stall = at.saturating_sub(self.next_cycle());
        add(&self.stalls.queue_persists, persists.min(stall));
        self.stall_buffer(at);
    }

    /// Dispatch was stalled until `at` by a full store queue.
    pub fn stall_buffer(&self, at: u64) {
        let (from, used) = self.next_slot();
        let (stall, fetch) = self.advance(at);
        add(&self.stalls.buffer, stall);
        if let Some(lane) = &self.lane {
            lane.stall((from, at), used, Cause::Buffer, stall, fetch);
        }
    }

    /// Stalls dispatch from `from` until an op issues, at `to`.
    #[inline(never)]
    pub(super) fn stall_unissued(&self, from: u64, to: u64) {
        let used = self.next_slot().1;
        let fetch = self.advance(to).1;
        if let Some(lane) = &self.lane {
            lane.stall((from, to), used, Cause::Window, 0, fetch);
        }
    }
}
