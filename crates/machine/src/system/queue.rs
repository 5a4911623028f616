//! The store queues: what leaves them, and what waits at their heads or for their room. The design is not asked.

use super::hardware::{Hardware, ProgramState};
use super::mutants;
use super::waiters::{Condition, Then, Waiter};
use crate::core::{Core, Entry, EntryKind, StoreQueue};
use crate::timeline::{Who, Why};
use strandline_design::{Key, Until};
use strandline_isa::CoreId;
use strandline_rules::{broken, Rule};

impl Hardware {
    /// Whether the core's program waits for room in the queue.
    #[inline(always)]
    pub(super) fn wants_room(&self, core: CoreId) -> bool {
        let waits = matches!(self.harts[core.index()].state, ProgramState::Waits);
        waits && self.waiters.program_awaits(core, Condition::Room(core))
    }

    /// Sends the write-combining buffers if a fence, a locked instruction or the design waits for
    /// them, or the program has ended, once the last non-temporal store before it has joined them.
    pub(super) fn send_what_is_waited_for(&mut self, core: CoreId, at: u64) {
        let waits = self.waits_for_design(core) || matches!(self.hart(core).state, ProgramState::Ended);
        let hart = self.hart(core);
        // What the design waits for first: stores of later contexts may wait for that.
        let awaited = hart.when_drained.first().map(|(context, _)| *context);
        let queue = hart.core.queue.borrow();
        let left = |of: Option<u8>| {
            let mut all = queue.iter().filter(|e| matches!(e.kind, EntryKind::StoreNt { .. }));
            all.any(|e| of.is_none_or(|context| context == e.context))
        };
        let sends = waits && !left(None) || awaited.is_some() && !left(awaited);
        drop(queue);
        if sends {
            self.send_all_combined(core, at);
        }
    }

    /// Removes the entry of this number from the queue and wakes the waiters for room.
    #[inline]
    pub(super) fn leave(&mut self, core: CoreId, number: u64, at: u64) {
        let hart = self.hart(core);
        hart.settled = hart.settled.max(at);
        let mut queue = hart.core.queue.borrow_mut();
        if let Some(entry) = queue.get(number) {
            hart.core.leaves_now(entry, at);
        }
        queue.remove(number, at);
        hart.core.drain.next.set(next_of(&hart.core, &queue));
        let is_empty = queue.len() == 0;
        drop(queue);
        if is_empty && self.waiters.fence_awaits_visible(core) {
            self.all_visible(core);
        }
        self.has_room(core, at);
    }

    /// Wakes a program that waits for room in the queue, or for an empty queue.
    #[inline(always)]
    fn has_room(&mut self, core: CoreId, at: u64) {
        let waits = matches!(self.harts[core.index()].state, ProgramState::Waits);
        if waits && self.waiters.program_awaits_queue(core) {
            self.wake_for_room(core, at);
        }
    }

    #[inline(never)]
    fn wake_for_room(&mut self, core: CoreId, at: u64) {
        let shared = self.hart(core).core.clone();
        let is_met = |condition| match condition {
            Condition::Room(_) => shared.has_entries_free(),
            Condition::Empty(_) => shared.queue.borrow().len() == 0,
            _ => false,
        };
        let Some(then) = self.waiters.wake_program(core, is_met) else {
            return;
        };
        match then {
            Then::Ask(request) => {
                self.record(move |recorder, _| recorder.woken(Who::Program(core), at));
                shared.turn.not_before(at);
                self.hart(core).state = ProgramState::Again(request);
            }
            Then::GoOn { .. } | Then::Count(_) => {
                self.record(move |recorder, _| recorder.woken(Who::Program(core), at));
                shared.window.stall_queue(at, shared.drain.head_waits.since_mark(at));
                shared.turn.next_op.set(shared.window.cycle());
                self.hart(core).state = ProgramState::Runnable;
            }
        }
    }

    /// Wakes the waiters for stores that have drained without the system.
    pub(super) fn drained_hits(&mut self, core: CoreId) {
        let hart = self.hart(core);
        let at = hart.core.drain.last.get();
        hart.settled = hart.settled.max(at);
        self.has_room(core, at);
    }

    /// The queue waits for a buffer to become free; see [`Hardware::retry_drain`].
    pub(super) fn wait_for_buffer(&mut self, core: CoreId) {
        self.record_blocked(core, Why::Buffer);
        self.stop_drain(core);
    }

    /// The queue's head waits for flushes, or for the design.
    fn stop_drain(&mut self, core: CoreId) {
        let now = self.now();
        let drain = &self.hart(core).core.drain;
        drain.next.set(u64::MAX);
        drain.head_waits.begin(now);
    }

    pub(super) fn block_drain(&mut self, core: CoreId, until: Until<Key>) {
        self.stop_drain(core);
        let condition = Condition::of(core, until);
        self.record_blocked(core, condition.why());
        self.waiters.park(condition, Waiter::StoreQueue(core));
    }

    /// Records that the entry that has reached the queue's head waits there.
    fn record_blocked(&self, core: CoreId, why: Why) {
        self.record(move |recorder, at| {
            let hart = &self.harts[core.index()];
            let op = hart.core.queue.borrow().get(hart.at_turn).map(|entry| entry.op);
            recorder.wait(Who::Queue(core), why, at, op);
        });
    }

    /// Looks at the queue's head again now.
    pub(super) fn retry_drain(&mut self, core: CoreId) {
        let now = self.now();
        _ = self.waiters.wake_store_queue(core, |_| true);
        self.record(move |recorder, _| recorder.woken(Who::Queue(core), now));
        let hart = self.hart(core);
        hart.core.drain.head_waits.end(now);
        let next = next_time(&hart.core);
        if next != u64::MAX {
            hart.core.drain.next.set(next.max(now));
        }
    }
}

/// The entry that drains at `at`.
pub fn next_entry<'q>(core: &Core, queue: &'q StoreQueue, at: u64) -> Option<&'q Entry> {
    if core.drain.in_order {
        return mutants::overtaking_flush(queue, at).or(queue.front());
    }
    let (number, _) = eligible(core, queue).find(|(_, when)| *when <= at)?;
    queue.get(number)
}

/// When the next entry drains, as far as the queue alone decides.
pub fn next_time(core: &Core) -> u64 {
    next_of(core, &core.queue.borrow())
}

/// When the next entry of the core's queue drains, as far as the queue alone decides.
#[inline(always)]
fn next_of(core: &Core, queue: &StoreQueue) -> u64 {
    let next = match core.drain.in_order {
        true => queue.front().map(|e| core.leaves_at(e, e.ready.max(e.owned))),
        false => first_eligible(core, queue),
    };
    next.unwrap_or(u64::MAX)
}

/// When the first entry drains on machines that drain out of order.
#[inline(never)]
fn first_eligible(core: &Core, queue: &StoreQueue) -> Option<u64> {
    // None drains before, but for those that leave with the one before them.
    let earliest = match queue.all_need_room() {
        true => core.leaves_from(),
        false => 0,
    };
    let mut first = None;
    for (_, when) in eligible(core, queue) {
        if when == earliest {
            return Some(when);
        }
        first = Some(first.map_or(when, |first: u64| first.min(when)));
    }
    first
}

/// On machines that drain out of order: the entries, by number, with no older barrier and no older entry to
/// their line, and the earliest time at which each drains.
fn eligible<'q>(core: &'q Core, queue: &'q StoreQueue) -> impl Iterator<Item = (u64, u64)> + 'q {
    let mut ends = false;
    // A bit for each hash of an older entry's line.
    let mut lines = 0;
    let found = queue.iter().enumerate().map_while(move |(older, entry)| {
        if std::mem::replace(&mut ends, entry.is_barrier()) {
            return None;
        }
        if entry.is_barrier() {
            return Some((older == 0).then(|| (entry.number, core.leaves_at(entry, entry.ready))));
        }
        let bit = 1u64 << (entry.line().0 % 64);
        let may_be_older = lines & bit != 0;
        lines |= bit;
        let is_older = || queue.iter().take(older).any(|older| older.line() == entry.line());
        if may_be_older && is_older() && !broken(Rule::SameLineInOrder) {
            return Some(None);
        }
        ends = entry.lost;
        let at = core.leaves_at(entry, entry.ready.max(entry.owned));
        Some(Some((entry.number, at)))
    });
    found.flatten()
}
