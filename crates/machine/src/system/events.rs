//! Events at controllers and in write-back buffers, in time order, and the waiters that they wake.

use super::clock::Clock;
use super::hardware::{Command, ProgramState};
use super::running::Running;
use super::waiters::{Condition, Then, Waiter};
use crate::core::Core;
use crate::memory::Origin;
use crate::timeline::{Recorder, Who};
use strandline_design::{ControllerId, Key, StoreId, WriteId};
use strandline_isa::CoreId;
use strandline_kernel::Cycles;
use strandline_rules::broken;
use strandline_rules::time::Rule;

/// An event outside of the cores.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A write arrives at a controller.
    Arrives { controller: ControllerId, write: WriteId },
    /// A write is on the media.
    OnMedia {
        controller: ControllerId,
        write: WriteId,
        bytes: u32,
    },
    /// A controller looks for a write to issue.
    Look { controller: ControllerId },
    /// A commit request arrives at a controller.
    CommitArrives {
        controller: ControllerId,
        core: CoreId,
        tag: Key,
    },
    /// A flush in a write-back buffer that wrote nothing completes.
    BufferDone { core: CoreId, slot: u64 },
    /// A flush of the design's that wrote nothing completes.
    DesignFlushed { core: CoreId, tag: Key },
    /// A store that the design kept gets its line.
    Perform { core: CoreId, id: StoreId },
    /// The design's own event.
    Message(Key),
}

impl Event {
    /// Tells the recorder what acts.
    fn acts(self, recorder: &Recorder) {
        match self {
            Event::Message(message) => recorder.message_arrives(message),
            // Those of writes name them as they are handled.
            _ => recorder.op_acts(None),
        }
    }
}

impl Running {
    pub(super) fn event(&mut self, at: u64, event: Event) {
        if broken(Rule::TurnIsNoAction) {
            self.hw.clock = Clock::default();
        }
        self.hw.clock.begin(at);
        self.hw.record(move |recorder, _| event.acts(recorder));
        if broken(Rule::EveryWakeArrives) {
            self.repair_wakes(None);
        }
        match event {
            Event::Arrives { controller, write } => self.arrives(controller, write, false),
            Event::OnMedia {
                controller,
                write,
                bytes,
            } => self.on_media(controller, write, bytes),
            Event::Look { controller } => {
                let queue = &mut self.hw.controllers[controller.0 as usize];
                if queue.look_at == at {
                    queue.look_at = u64::MAX;
                    self.issue(controller);
                }
            }
            Event::CommitArrives { controller, core, tag } => {
                self.hw.controllers[controller.0 as usize].commit(core, tag);
                self.commits(controller);
            }
            Event::BufferDone { core, slot } => self.buffer_done(core, slot),
            Event::DesignFlushed { core, tag } => self.design_acknowledged(core, tag),
            Event::Perform { core, id } => self.perform_kept(core, id),
            Event::Message(message) => self.design.message(&mut self.hw, message),
        }
        self.obey();
    }

    /// A flush that the design has sent is acknowledged.
    pub(super) fn design_acknowledged(&mut self, core: CoreId, tag: Key) {
        self.hw
            .record(move |recorder, at| recorder.acknowledged(Origin::Design { core, tag }, at));
        self.design.acknowledged(&mut self.hw, core, tag);
    }

    /// A flush in a core's write-back buffer, or a write-combining buffer, is acknowledged.
    pub(super) fn buffer_done(&mut self, core: CoreId, slot: u64) {
        self.hw
            .record(move |recorder, at| recorder.acknowledged(Origin::Buffer { core, slot }, at));
        let now = self.hw.now();
        let hart = self.hw.hart(core);
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
        let now = self.hw.now();
        let hart = self.hw.hart(core);
        hart.settled = hart.settled.max(now);
        hart.core.complete(context, now);
        if !hart.when_drained.is_empty() && hart.core.is_drained(Some(context)) {
            self.message_drained(core);
        }
        if !self.loses_wake(core) {
            self.look_at_waits(core);
        }
    }

    /// Whether the waiters of a core hear nothing of what has completed: broken rules. They are woken by
    /// [`Running::repair_wakes`].
    #[inline(always)]
    fn loses_wake(&self, core: CoreId) -> bool {
        let others_run = || {
            let others = self.hw.harts.iter().filter(|hart| hart.core.id != core);
            others
                .into_iter()
                .any(|hart| !matches!(hart.state, ProgramState::Ended))
        };
        broken(Rule::WokenByItsOwn) && others_run() || broken(Rule::EveryWakeArrives) && self.hw.now() % 3 == 0
    }

    /// Wakes the waiters of the other cores, of whose wakes some are lost.
    #[cold]
    pub(super) fn repair_wakes(&mut self, by: Option<CoreId>) {
        for core in 0..self.hw.harts.len() {
            let core = CoreId(core as u16);
            if by != Some(core) {
                self.look_at_waits(core);
            }
        }
    }

    /// Wakes a core's waiters for its stores and flushes.
    #[inline(always)]
    pub(super) fn look_at_waits(&mut self, core: CoreId) {
        if self.hw.waiters.await_drained(core) {
            self.wake_drained(core);
        }
    }

    #[inline(never)]
    fn wake_drained(&mut self, core: CoreId) {
        let (shared, waiters) = self.hw.waits_of(core);
        if waiters.wake_fence(core, |condition| is_drained(shared, condition)) {
            self.release(core);
        }
        let (shared, waiters) = self.hw.waits_of(core);
        if let Some(then) = waiters.wake_program(core, |condition| is_drained(shared, condition)) {
            self.resume(core, then);
        }
        let (shared, waiters) = self.hw.waits_of(core);
        if waiters.wake_store_queue(core, |condition| is_drained(shared, condition)) {
            self.retry_drain(core);
        }
    }

    /// Releases the fence of a core whose store queue is empty.
    pub(super) fn all_visible(&mut self, core: CoreId) {
        if self
            .hw
            .waiters
            .wake_fence(core, |condition| condition == Condition::Visible(core))
        {
            self.release(core);
        }
    }

    /// Sends the design the messages that waited for a context that is drained.
    pub(super) fn message_drained(&mut self, core: CoreId) {
        let now = Cycles(self.hw.now());
        let hart = &mut self.hw.harts[core.index()];
        let (shared, events) = (&hart.core, &mut self.hw.events);
        hart.when_drained.retain(|(context, message)| {
            let waits = !shared.is_drained(Some(*context));
            if !waits {
                if let Some(recorder) = &self.hw.recorder {
                    recorder.message_sent(*message);
                }
                events.post(now, Event::Message(*message));
            }
            waits
        });
        shared.pending.awaited.set(!hart.when_drained.is_empty());
    }

    /// Retires the held fence of a core now.
    fn release(&mut self, id: CoreId) {
        let present = self.hw.now();
        let now = match present {
            now if broken(Rule::WokenAtOnce) => now + self.hw.machine.simulation.slack.0,
            now if broken(Rule::WokenNoEarlier) => now.saturating_sub(4),
            now => now,
        };
        self.hw.record(move |recorder, _| recorder.fence_retires(id, now));
        let (core, waiters) = self.hw.waits_of(id);
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
            self.hw.record(move |recorder, _| recorder.woken(Who::Program(id), now));
            self.hw.hart(id).state = ProgramState::Runnable;
        }
    }

    /// Resumes a core's program that has waited for a design's gate, or for its own stores and
    /// flushes.
    fn resume(&mut self, core: CoreId, then: Then) {
        let now = self.hw.now();
        self.hw
            .record(move |recorder, _| recorder.woken(Who::Program(core), now));
        let hart = self.hw.hart(core);
        hart.core.turn.not_before(now);
        hart.state = match then {
            Then::Ask(request) => ProgramState::Again(request),
            Then::GoOn { .. } | Then::Count(_) => ProgramState::Runnable,
        };
    }

    /// Carries out the deferred services that the design has called.
    #[inline(always)]
    pub(super) fn obey(&mut self) {
        if !self.hw.commands.is_empty() {
            self.obey_all();
        }
    }

    #[cold]
    #[inline(never)]
    fn obey_all(&mut self) {
        let mut times = 0;
        while let Some(command) = self.hw.commands.pop_front() {
            times += 1;
            if self.repeats || !self.may_repeat(times) {
                return self.hw.commands.clear();
            }
            match command {
                Command::FlushLine { core, line, flush, tag } => self.design_flush(core, line, flush, tag),
                Command::LookAtDrained(core) => self.message_drained(core),
                Command::Acknowledge { core, context } => self.complete(core, context),
                Command::Open(gate) => self.open(gate),
                Command::LookAtQueue(controller) => self.issue(controller),
                Command::Perform { core, id } => self.perform_kept(core, id),
                Command::RollBack { core, checkpoint } => _ = self.roll_back(core, checkpoint),
                Command::Interrupt(core) => self.interrupt(core),
                Command::CrashStateChanged => self.crash_image_changes(self.hw.now(), None),
            }
        }
    }

    fn open(&mut self, gate: Key) {
        self.opened = match self.opened {
            (at, times) if at == self.hw.now() => (at, times + 1),
            _ => (self.hw.now(), 0),
        };
        // Its waiters stay, so that the report names them.
        if !self.may_repeat(self.opened.1) {
            return;
        }
        let woken = self.hw.waiters.wake(Condition::Open(gate));
        for waiter in &woken {
            match *waiter {
                Waiter::Fence(core) => self.release(core),
                Waiter::Program(core, then) => self.resume(core, then),
                Waiter::StoreQueue(core) => self.retry_drain(core),
                Waiter::Speculation { core, number } => self.confirm(core, number),
                Waiter::Eviction { level, core, line } => self.release_line(level, core, line),
                Waiter::Flush { core, line, flush, tag } => self.design_flush(core, line, flush, tag),
                Waiter::Perform { core, id } => self.perform_kept(core, id),
                Waiter::Arrival { controller, write } => self.arrives(controller, write, true),
            }
        }
        self.hw.waiters.recycle(woken);
    }
}

/// Whether the condition is that stores and flushes of this core are done, and they are.
fn is_drained(core: &Core, condition: Condition) -> bool {
    matches!(condition, Condition::Drained(_, context) if core.is_drained(context))
}
