//! Events at controllers and in write-back buffers, in time order.

use super::hardware::{Command, ProgramState};
use super::run::System;
use super::waiters::{Condition, Then, Waiter};
use crate::core::Core;
use crate::memory::{Issued, Origin, Waiting};
use strandline_design::{Acceptance, ControllerId, Domain, Hook, Key, StoreId, WriteId, WriteRequest};
use strandline_isa::{CoreId, Line, LineData};
use strandline_kernel::Cycles;
use strandline_rules::{broken, Rule};

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

impl System {
    pub(super) fn event(&mut self, at: u64, event: Event) {
        (self.hw.now, self.hw.step) = (at, at);
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
            Event::DesignFlushed { core, tag } => self.design.acknowledged(&mut self.hw, core, tag),
            Event::Perform { core, id } => self.perform_kept(core, id),
            Event::Message(message) => self.design.message(&mut self.hw, message),
        }
        self.obey();
    }

    /// A write arrives; `again` if it was parked for want of room.
    fn arrives(&mut self, controller: ControllerId, write: WriteId, again: bool) {
        let (design, writes) = (&*self.design, &self.hw.writes);
        let request = writes.get(write);
        let may = |queued: WriteId| design.may_coalesce(controller, writes.get(queued), request);
        if !self.hw.controllers[controller.0 as usize].admits(write, request.line, again, may) {
            if broken(Rule::AcknowledgedAfterAcceptance) {
                let waiting = self.hw.writes.take_waiting(write);
                self.acknowledge(waiting);
            }
        } else if self.hw.asks(Hook::Arrived) {
            self.ask_at_arrival(controller, write);
        } else {
            self.queued(controller, write);
        }
    }

    /// Place 7: the design decides about a write that has arrived.
    #[inline(never)]
    fn ask_at_arrival(&mut self, controller: ControllerId, write: WriteId) {
        let request = *self.hw.writes.get(write);
        match self.design.arrived(&mut self.hw, controller, &request) {
            Acceptance::Wait(until) => {
                let core = request.core.unwrap_or(CoreId(0));
                let condition = Condition::of(core, until);
                self.hw.waiters.park(condition, Waiter::Arrival { controller, write });
            }
            Acceptance::Queue => self.queued(controller, write),
            Acceptance::Absorb => {
                let waiting = self.hw.writes.accept(write);
                self.hw.writes.remove(write);
                self.acknowledge(waiting);
            }
            Acceptance::Refuse => {
                self.hw.writes.accept(write);
                self.hw.writes.remove(write);
            }
        }
    }

    /// Inserts a write into the queue, or coalesces it with a queued one.
    #[inline(always)]
    fn queued(&mut self, controller: ControllerId, write: WriteId) {
        let (design, writes) = (&*self.design, &self.hw.writes);
        let request = writes.get(write);
        let may = |queued: WriteId| design.may_coalesce(controller, writes.get(queued), request);
        let queue = &mut self.hw.controllers[controller.0 as usize];
        if let Some(queued) = queue.take(write, request.line, may) {
            return self.coalesce(controller, write, queued);
        }
        self.accepted(write);
        self.issue(controller);
    }

    #[inline(never)]
    fn coalesce(&mut self, controller: ControllerId, write: WriteId, queued: WriteId) {
        let request = *self.hw.writes.get(write);
        self.hw.tally.coalesced += 1;
        if self.keeps_queued_bytes(controller, queued) {
            self.hw.writes.get_mut(write).data = self.hw.writes.get(queued).data;
        } else {
            let queued = self.hw.writes.get_mut(queued);
            request.bytes.copy(&request.data, &mut queued.data);
            queued.bytes.0 |= request.bytes.0;
        }
        self.accepted(write);
        self.design.coalesced(&mut self.hw, controller, &request);
        self.hw.writes.remove(write);
    }

    /// Whether a write leaves the queued write with which it coalesces as it is: a broken rule.
    fn keeps_queued_bytes(&self, controller: ControllerId, queued: WriteId) -> bool {
        let issued = || self.hw.controllers[controller.0 as usize].has_issued(queued);
        broken(Rule::CoalescingTakesNewer) || broken(Rule::CoalescingBeforeIssue) && issued()
    }

    /// A write is in the write queue (perhaps coalesced): with ADR it is durable.
    #[inline(always)]
    fn accepted(&mut self, write: WriteId) {
        if self.hw.keeps_durable() {
            self.persist_accepted(write);
        }
        let waiting = self.hw.writes.accept(write);
        self.acknowledge(waiting);
    }

    #[inline(never)]
    fn persist_accepted(&mut self, write: WriteId) {
        let now = self.hw.now;
        let request = *self.hw.writes.get(write);
        match self.design.domain() {
            Domain::Caches if broken(Rule::CachesDrainLast) => self.durable(now, request.line, request.data),
            Domain::Caches => {
                let data = self.hw.memory.line(request.line);
                self.durable(now, request.line, data);
            }
            Domain::Controllers if broken(Rule::AdrSavesQueue) => {}
            Domain::Controllers if broken(Rule::AdrSavesUnissued) => {}
            Domain::Controllers if self.hw.machine.controllers.adr => self.persist(now, &request),
            Domain::Controllers => {}
        }
    }

    /// Notifies the waiters for a write's acceptance.
    #[inline(always)]
    fn acknowledge(&mut self, waiting: Waiting) {
        let Some(first) = waiting.first else { return };
        self.acknowledge_one(first);
        if !waiting.others.is_empty() {
            self.acknowledge_others(waiting.others);
        }
    }

    #[inline(never)]
    fn acknowledge_others(&mut self, others: Vec<Origin>) {
        for origin in others {
            self.acknowledge_one(origin);
        }
    }

    #[inline]
    fn acknowledge_one(&mut self, origin: Origin) {
        match origin {
            Origin::Buffer { core, slot } => self.buffer_done(core, slot),
            Origin::Design { core, tag } => self.design.acknowledged(&mut self.hw, core, tag),
        }
    }

    /// A write has reached the persistence domain, whose bytes the machine keeps.
    fn persist(&mut self, at: u64, request: &WriteRequest<Key>) {
        let data = self.hw.persisted(request);
        self.durable(at, request.line, data);
    }

    /// A line has reached the persistence domain.
    pub(super) fn durable(&mut self, at: u64, line: Line, data: LineData) {
        if let Some(memory) = &self.hw.durable {
            memory.set_line(line, &data);
        }
        self.crash_image_changes(at, Some((line, data)));
    }

    /// Place 9, called in observed runs whenever the image that a crash would leave may have
    /// changed.
    fn crash_image_changes(&mut self, at: u64, persists: Option<(Line, LineData)>) {
        let Some(image) = &mut self.hw.crash_image else { return };
        let mut named = Vec::new();
        self.design.power_fails(&mut |line, data| named.push((line, data)));
        image.update(Cycles(at), persists, &named);
    }

    #[inline(always)]
    fn issue(&mut self, controller: ControllerId) {
        if self.hw.controllers[controller.0 as usize].wants_look(self.hw.now) {
            self.issue_queued(controller);
        }
    }

    /// Issues all writes that the media can accept now, and schedules the next look.
    #[inline(never)]
    fn issue_queued(&mut self, controller: ControllerId) {
        let now = self.hw.now;
        loop {
            let (design, writes) = (&*self.design, &self.hw.writes);
            let may = |write: WriteId| design.may_issue(controller, writes.get(write));
            let queue = &mut self.hw.controllers[controller.0 as usize];
            match queue.issue(now, may) {
                Ok(Issued { write, done, bytes }) => {
                    let event = Event::OnMedia {
                        controller,
                        write,
                        bytes,
                    };
                    self.hw.events.post(Cycles(done), event);
                    if broken(Rule::AdrSavesUnissued) && self.hw.machine.controllers.adr && self.hw.keeps_durable() {
                        let request = *self.hw.writes.get(write);
                        self.persist(now, &request);
                    }
                }
                Err(again) => {
                    if again < queue.look_at {
                        queue.look_at = again;
                        self.hw.events.post(Cycles(again), Event::Look { controller });
                    }
                    return;
                }
            }
        }
    }

    fn on_media(&mut self, controller: ControllerId, write: WriteId, bytes: u32) {
        self.hw.tally.pm_writes += 1;
        self.hw.tally.pm_write_bytes += u64::from(bytes);
        self.hw.controllers[controller.0 as usize].complete(write);
        // The design's own writes are always reported, so that their tags are forgotten.
        let is_tagged = self.hw.writes.get(write).tag.is_some();
        if is_tagged || self.hw.asks(Hook::ReachedMedia) || self.hw.keeps_durable() {
            self.reached_media(controller, write);
        } else {
            self.hw.writes.remove(write);
        }
        self.commits(controller);
        while let Some(next) = self.hw.controllers[controller.0 as usize].next_waiting() {
            self.arrives(controller, next, true);
        }
        self.issue(controller);
    }

    /// A write is on the media; without ADR it is durable now.
    #[inline(never)]
    fn reached_media(&mut self, controller: ControllerId, write: WriteId) {
        let request = *self.hw.writes.get(write);
        self.hw.writes.remove(write);
        let saved = self.hw.machine.controllers.adr && !broken(Rule::AdrSavesQueue);
        if !saved && self.hw.keeps_durable() && self.design.domain() == Domain::Controllers {
            self.persist(self.hw.now, &request);
        }
        self.design.reached_media(&mut self.hw, controller, &request);
    }

    #[inline(always)]
    fn commits(&mut self, controller: ControllerId) {
        if self.hw.controllers[controller.0 as usize].has_commits() {
            self.answer_commits(controller);
        }
    }

    #[inline(never)]
    fn answer_commits(&mut self, controller: ControllerId) {
        while let Some((core, tag)) = self.hw.controllers[controller.0 as usize].next_answered() {
            self.hw.hart(core).commit_answered(controller);
            self.design.committed(&mut self.hw, core, tag);
        }
    }

    /// A flush in a core's write-back buffer, or a write-combining buffer, is acknowledged.
    pub(super) fn buffer_done(&mut self, core: CoreId, slot: u64) {
        let hart = self.hw.hart(core);
        if let Some(index) = hart.buffer.iter().position(|b| b.slot == slot) {
            let flush = hart.buffer.remove(index);
            if flush.is_head {
                hart.core.shut.set(false);
                let head = hart.core.queue.borrow().front().map_or(0, |head| head.number);
                self.leave(core, head, self.hw.now);
            }
            self.settle(core, flush.context);
        } else if let Some(index) = hart.combining.iter().position(|b| b.slot == slot) {
            let contexts = hart.combining.remove(index).contexts;
            hart.core.combines.set(!hart.combining.is_empty());
            for context in contexts {
                self.settle(core, context);
            }
        }
        self.retry_drain(core);
    }

    /// Completes one store, flush or primitive of a core.
    pub(super) fn settle(&mut self, core: CoreId, context: u8) {
        let now = self.hw.now;
        let hart = self.hw.hart(core);
        hart.settled = hart.settled.max(now);
        hart.core.settle(context);
        if !hart.when_drained.is_empty() && hart.core.is_drained(Some(context)) {
            self.message_drained(core);
        }
        self.look_at_waits(core);
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
            self.go_on(core, then);
        }
        let (shared, waiters) = self.hw.waits_of(core);
        if waiters.wake_store_queue(core, |condition| is_drained(shared, condition)) {
            self.retry_drain(core);
        }
    }

    /// Sends the design the messages that waited for a context that is drained.
    pub(super) fn message_drained(&mut self, core: CoreId) {
        let now = Cycles(self.hw.now);
        let hart = &mut self.hw.harts[core.index()];
        let (shared, events) = (&hart.core, &mut self.hw.events);
        hart.when_drained.retain(|(context, message)| {
            let waits = !shared.is_drained(Some(*context));
            if !waits {
                events.post(now, Event::Message(*message));
            }
            waits
        });
        shared.awaits_drained.set(!hart.when_drained.is_empty());
    }

    /// Retires the held fence of a core now.
    fn release(&mut self, id: CoreId) {
        let now = self.hw.now;
        let (core, waiters) = self.hw.waits_of(id);
        core.window.release(now);
        core.notes.settle(now);
        if core.holds_loads.replace(false) {
            core.load_floor.set(core.load_floor.get().max(now));
        }
        let program = waiters.wake_program(id, |condition| condition == Condition::Retired(id));
        if let Some(Then::GoOn { fenced }) = program {
            if fenced {
                core.window.stall_fence(now);
            }
            core.next_op.set(core.window.cycle());
            self.hw.hart(id).state = ProgramState::Runnable;
        }
    }

    /// Resumes a core's program that has waited for a design's gate, or for its own stores and
    /// flushes.
    fn go_on(&mut self, core: CoreId, then: Then) {
        let now = self.hw.now;
        let hart = self.hw.hart(core);
        hart.core.next_op.set(hart.core.next_op.get().max(now));
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
        while let Some(command) = self.hw.commands.pop_front() {
            match command {
                Command::FlushLine { core, line, flush, tag } => self.design_flush(core, line, flush, tag),
                Command::LookAtDrained(core) => self.message_drained(core),
                Command::Acknowledge { core, context } => self.settle(core, context),
                Command::Open(gate) => self.open(gate),
                Command::LookAtQueue(controller) => self.issue(controller),
                Command::Perform { core, id } => self.perform_kept(core, id),
                Command::RollBack { core, checkpoint } => _ = self.roll_back(core, checkpoint),
                Command::Interrupt(core) => self.interrupt(core),
                Command::CrashStateChanged => self.crash_image_changes(self.hw.step, None),
            }
        }
    }

    fn open(&mut self, gate: Key) {
        for waiter in self.hw.waiters.wake(Condition::Open(gate)) {
            match waiter {
                Waiter::Fence(core) => self.release(core),
                Waiter::Program(core, then) => self.go_on(core, then),
                Waiter::StoreQueue(core) => self.retry_drain(core),
                Waiter::Speculation { core, number } => self.confirm(core, number),
                Waiter::Eviction { level, core, line } => self.release_line(level, core, line),
                Waiter::Flush { core, line, flush, tag } => self.design_flush(core, line, flush, tag),
                Waiter::Perform { core, id } => self.perform_kept(core, id),
                Waiter::Arrival { controller, write } => self.arrives(controller, write, false),
            }
        }
    }
}

/// Whether the condition is that stores and flushes of this core are done, and they are.
fn is_drained(core: &Core, condition: Condition) -> bool {
    matches!(condition, Condition::Drained(_, context) if core.is_drained(context))
}
