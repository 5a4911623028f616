//! How programs, fences and store queues begin to wait, and what ends their waits. The design is not asked.

use super::events::Event;
use super::hardware::{Hardware, ProgramState};
use super::waiters::{Condition, Then, Waiter};
use crate::core::{Core, Dispatched};
use crate::memory::Origin;
use crate::timeline::Who;
use strandline_design::{Admission, Hook, Key, Until};
use strandline_isa::{Addr, CoreId};
use strandline_kernel::Cycles;
use strandline_rules::time::{self, Rule};
use strandline_rules::{breaks, broken};

impl Hardware {
    /// A program goes on in its next turn, which is no earlier than what acts now: it may lag behind a locked instruction
    /// of its own. To ask for a turn is no action: however far ahead the turn is, the present stays as it is. Always
    /// returns false.
    pub(super) fn takes_turn(&mut self, core: CoreId) -> bool {
        let now = self.now();
        let hart = self.hart(core);
        hart.core.turn.not_before(now);
        hart.state = ProgramState::Runnable;
        let turn = hart.core.turn.next_op.get();
        breaks(time::Rule::TurnIsNoAction, || self.clock.advance(turn));
        false
    }

    /// Parks a core's program; always returns false.
    pub(super) fn wait(&mut self, core: CoreId, condition: Condition, then: Then) -> bool {
        self.hart(core).state = ProgramState::Waits;
        self.record(move |recorder, at| recorder.wait(Who::Program(core), condition.why(), at, None));
        self.waiters.park(condition, Waiter::Program(core, then));
        false
    }

    /// A program sleeps on a word, unless that has another value: whether the program continues.
    pub(super) fn sleep(&mut self, core: CoreId, word: Addr, value: u64) -> bool {
        if self.seen(core).read(word, 4) == value {
            let asleep = Condition::Woken(Addr(word.0 & !7));
            return self.wait(core, asleep, Then::GoOn { fenced: false });
        }
        self.hart(core).state = ProgramState::Runnable;
        true
    }

    /// The outcome of a primitive after this answer.
    pub(super) fn dispatched(&mut self, core: CoreId, admission: Admission<Key>) -> Dispatched {
        let shared = self.hart(core).core.clone();
        match admission {
            Admission::Pass => Dispatched::Passed,
            Admission::Enter => Dispatched::Entered,
            Admission::Claim { marks } => Dispatched::Claimed { marks },
            Admission::Hold(until) | Admission::HoldLoads(until) if shared.holds(until) => Dispatched::Passed,
            // What the design claims passes the store queue.
            Admission::Hold(Until::Drained(None)) if self.machine.core.fences_retire && !shared.asks(Hook::Claim) => {
                Dispatched::EnteredFence
            }
            Admission::Hold(until) => self.hold(core, until, false, Dispatched::Held),
            Admission::HoldLoads(until) => self.hold(core, until, true, Dispatched::Held),
            Admission::EnterHeld { until, loads } => self.hold(core, until, loads, Dispatched::EnteredHeld),
        }
    }

    /// Holds a primitive in its core's window until the condition holds.
    fn hold(&mut self, core: CoreId, until: Until<Key>, loads: bool, dispatched: Dispatched) -> Dispatched {
        self.hart(core).core.loads.held.set(loads);
        let condition = Condition::of(core, until);
        self.record(move |recorder, at| recorder.wait(Who::Fence(core), condition.why(), at, None));
        self.waiters.park(condition, Waiter::Fence(core));
        dispatched
    }

    /// A flush in a core's write-back buffer, or a write-combining buffer, is acknowledged.
    pub(super) fn buffer_done(&mut self, core: CoreId, slot: u64) {
        if self.has_failed(core) {
            return;
        }
        self.record(move |recorder, at| recorder.acknowledged(Origin::Buffer { core, slot }, at));
        let now = self.now();
        let hart = self.hart(core);
        if let Some(index) = hart.buffer.iter().position(|b| b.slot == slot) {
            let flush = hart.buffer.remove(index);
            hart.buffer_usage.leaves(now);
            if flush.is_head {
                hart.core.drain.shut.set(false);
                let head = hart.core.queue.borrow().front().map_or(0, |head| head.number);
                self.leave(core, head, now);
            }
            self.complete(core, flush.context);
        } else if let Some(index) = hart.combining.iter().position(|b| b.slot == slot) {
            let contexts = hart.combining.remove(index).contexts;
            hart.core.combines.set(!hart.combining.is_empty());
            for context in contexts {
                self.complete(core, context);
            }
        }
        self.retry_drain(core);
    }

    /// Completes one store, flush or primitive of a core.
    pub(super) fn complete(&mut self, core: CoreId, context: u8) {
        let now = self.now();
        let hart = self.hart(core);
        hart.settled = hart.settled.max(now);
        hart.core.complete(context, now);
        if !hart.when_drained.is_empty() && hart.core.is_drained(Some(context)) {
            self.message_drained(core);
        }
        if !self.loses_wake(core) {
            self.look_at_waits(core);
        }
    }

    /// Wakes a core's waiters for its stores and flushes.
    #[inline(always)]
    pub(super) fn look_at_waits(&mut self, core: CoreId) {
        if self.waiters.await_drained(core) {
            self.wake_drained(core);
        }
    }

    #[inline(never)]
    fn wake_drained(&mut self, core: CoreId) {
        let (shared, waiters) = self.waits_of(core);
        if waiters.wake_fence(core, |condition| is_drained(shared, condition)) {
            self.release(core);
        }
        let (shared, waiters) = self.waits_of(core);
        if let Some(then) = waiters.wake_program(core, |condition| is_drained(shared, condition)) {
            self.resume(core, then);
        }
        let (shared, waiters) = self.waits_of(core);
        let is_ahead_drained = |condition| match condition {
            Condition::Drained(_, None) => shared.is_drained_ahead(),
            condition => is_drained(shared, condition),
        };
        if waiters.wake_store_queue(core, is_ahead_drained) {
            self.retry_drain(core);
        }
    }

    /// Releases the fence of a core whose store queue is empty.
    pub(super) fn all_visible(&mut self, core: CoreId) {
        if self
            .waiters
            .wake_fence(core, |condition| condition == Condition::Visible(core))
        {
            self.release(core);
        }
    }

    /// Sends the design the messages that waited for a context that is drained.
    pub(super) fn message_drained(&mut self, core: CoreId) {
        let now = Cycles(self.now());
        let hart = &mut self.harts[core.index()];
        let (shared, events) = (&hart.core, &mut self.events);
        hart.when_drained.retain(|(context, message)| {
            let waits = !shared.is_drained(Some(*context));
            if !waits {
                if let Some(recorder) = &self.recorder {
                    recorder.message_sent(*message);
                }
                events.post(now, Event::Message(*message));
            }
            waits
        });
        shared.pending.awaited.set(!hart.when_drained.is_empty());
    }

    /// Retires the held fence of a core now.
    pub(super) fn release(&mut self, id: CoreId) {
        let present = self.now();
        let now = match present {
            now if broken(Rule::WokenAtOnce) => now + self.machine.simulation.slack.0,
            now if broken(Rule::WokenNoEarlier) => now.saturating_sub(4),
            now => now,
        };
        self.record(move |recorder, _| recorder.fence_retires(id, now));
        let (core, waiters) = self.waits_of(id);
        core.window.release(now);
        core.notes.fence_retired(now);
        if core.loads.held.replace(false) {
            core.loads.floor.set(core.loads.floor.get().max(now));
        }
        let program = waiters.wake_program(id, |condition| condition == Condition::Retired(id));
        if let Some(Then::GoOn { fenced }) = program {
            if fenced {
                core.window.stall_fence(now);
            }
            core.turn.next_op.set(core.window.cycle());
            core.turn.not_before(present);
            self.record(move |recorder, _| recorder.woken(Who::Program(id), now));
            self.hart(id).state = ProgramState::Runnable;
        }
    }

    /// Resumes a core's program that has waited for a design's gate, or for its own stores and
    /// flushes.
    pub(super) fn resume(&mut self, core: CoreId, then: Then) {
        let now = self.now();
        self.record(move |recorder, _| recorder.woken(Who::Program(core), now));
        let hart = self.hart(core);
        hart.core.turn.not_before(now);
        hart.state = match then {
            Then::Ask(request) => ProgramState::Again(request),
            Then::GoOn { .. } | Then::Count(_) => ProgramState::Runnable,
        };
    }
}

/// Whether the condition is that stores and flushes of this core are done, and they are.
fn is_drained(core: &Core, condition: Condition) -> bool {
    matches!(condition, Condition::Drained(_, context) if core.is_drained(context))
}
