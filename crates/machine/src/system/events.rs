//! What happens at controllers and in write-back buffers, in time order.

use super::hardware::{Command, Front};
use super::run::System;
use crate::memory::{Origin, Waiting};
use strandline_design::{Acceptance, ControllerId, Domain, Message, Until, WriteId, WriteRequest};
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
        bytes: u64,
    },
    /// A controller looks for a write to issue.
    Look { controller: ControllerId },
    /// A request to commit arrives at a controller.
    CommitArrives {
        controller: ControllerId,
        core: CoreId,
        tag: u64,
    },
    /// A flush in a write-back buffer that wrote nothing is done.
    BufferDone { core: CoreId, slot: u64 },
    /// A flush of the design's that wrote nothing is done.
    DesignFlushed { core: CoreId, tag: u64 },
    /// The design's own.
    Message(Message),
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
            Event::DesignFlushed { core, tag } => self.design.flushed(&mut self.hw, core, tag),
            Event::Message(message) => self.design.message(&mut self.hw, message),
        }
        self.obey();
    }

    /// A write arrives; `again` if it has waited for room.
    fn arrives(&mut self, controller: ControllerId, write: WriteId, again: bool) {
        let request = self.hw.writes.get(write).request;
        let (design, writes) = (&*self.design, &self.hw.writes);
        let may = |queued: WriteId| design.may_coalesce(controller, &writes.get(queued).request, &request);
        if !self.hw.controllers[controller.0 as usize].admits(write, request.line, again, may) {
            if broken(Rule::AcknowledgedAfterAcceptance) {
                let waiting = std::mem::take(&mut self.hw.writes.get_mut(write).waiting);
                self.acknowledge(waiting);
            }
            return;
        }
        match self.design.arrived(&mut self.hw, controller, &request) {
            Acceptance::Wait(until) => self.refused.push((until, controller, write)),
            Acceptance::Queue => self.queued(controller, write, &request),
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

    /// A write enters the queue, or the bytes of one that is there.
    fn queued(&mut self, controller: ControllerId, write: WriteId, request: &WriteRequest) {
        let (design, writes) = (&*self.design, &self.hw.writes);
        let may = |queued: WriteId| design.may_coalesce(controller, &writes.get(queued).request, request);
        let queue = &mut self.hw.controllers[controller.0 as usize];
        let Some(queued) = queue.take(write, request.line, may) else {
            self.accepted(write);
            return self.issue(controller);
        };
        self.hw.tally.coalesced += 1;
        if self.keeps_queued_bytes(controller, queued) {
            self.hw.writes.get_mut(write).request.data = self.hw.writes.get(queued).request.data;
        } else {
            self.hw.writes.get_mut(queued).request.data = request.data;
        }
        self.accepted(write);
        self.hw.writes.remove(write);
    }

    /// Whether a write that joins a queued one leaves it as it is: never, unless a rule is broken.
    fn keeps_queued_bytes(&self, controller: ControllerId, queued: WriteId) -> bool {
        let issued = || self.hw.controllers[controller.0 as usize].has_issued(queued);
        broken(Rule::CoalescingTakesNewer) || broken(Rule::CoalescingBeforeIssue) && issued()
    }

    /// A write is in the write queue (or in the bytes of one that is): with ADR it is durable.
    fn accepted(&mut self, write: WriteId) {
        let now = self.hw.now;
        let request = self.hw.writes.get(write).request;
        match self.design.domain() {
            Domain::Caches if broken(Rule::CachesDrainLast) => self.durable(now, request.line, request.data),
            Domain::Caches => {
                let data = self.hw.memory.line(request.line);
                self.durable(now, request.line, data);
            }
            Domain::Controllers if broken(Rule::AdrSavesQueue) => {}
            Domain::Controllers if broken(Rule::AdrSavesUnissued) => {}
            Domain::Controllers if self.hw.machine.controllers.adr => self.durable(now, request.line, request.data),
            Domain::Controllers => {}
        }
        let waiting = self.hw.writes.accept(write);
        self.acknowledge(waiting);
    }

    /// Tells those who wait for a write's acceptance.
    fn acknowledge(&mut self, waiting: Waiting) {
        for origin in waiting.first.into_iter().chain(waiting.others) {
            match origin {
                Origin::Buffer { core, slot } => self.buffer_done(core, slot),
                Origin::Design { core, tag } => self.design.flushed(&mut self.hw, core, tag),
            }
        }
    }

    /// A line has reached the persistence domain.
    pub(super) fn durable(&mut self, at: u64, line: Line, data: LineData) {
        self.crash_image_changes(at, Some((line, data)));
    }

    /// Place 9, asked in observed runs whenever the image that a crash would leave may have changed.
    fn crash_image_changes(&mut self, at: u64, persists: Option<(Line, LineData)>) {
        let Some(image) = &mut self.hw.crash_image else { return };
        let mut named = Vec::new();
        self.design.power_fails(&mut |line, data| named.push((line, data)));
        image.update(Cycles(at), persists, &named);
    }

    fn issue(&mut self, controller: ControllerId) {
        let now = self.hw.now;
        loop {
            let (design, writes) = (&*self.design, &self.hw.writes);
            let may = |write: WriteId| design.may_issue(controller, &writes.get(write).request);
            let queue = &mut self.hw.controllers[controller.0 as usize];
            match queue.issue(now, may) {
                Ok(issued) => {
                    let (write, bytes) = (issued.write, issued.bytes);
                    let event = Event::OnMedia {
                        controller,
                        write,
                        bytes,
                    };
                    self.hw.events.post(Cycles(issued.done), event);
                    if broken(Rule::AdrSavesUnissued) && self.hw.machine.controllers.adr {
                        let request = self.hw.writes.get(write).request;
                        self.durable(now, request.line, request.data);
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

    fn on_media(&mut self, controller: ControllerId, write: WriteId, bytes: u64) {
        let now = self.hw.now;
        self.hw.tally.pm_writes += 1;
        self.hw.tally.pm_write_bytes += bytes;
        self.hw.controllers[controller.0 as usize].complete(write);
        let request = self.hw.writes.remove(write).request;
        let saved = self.hw.machine.controllers.adr && !broken(Rule::AdrSavesQueue);
        if !saved && self.design.domain() == Domain::Controllers {
            self.durable(now, request.line, request.data);
        }
        self.design.reached_media(&mut self.hw, controller, &request);
        self.commits(controller);
        while let Some(next) = self.hw.controllers[controller.0 as usize].next_waiting() {
            self.arrives(controller, next, true);
        }
        self.issue(controller);
    }

    fn commits(&mut self, controller: ControllerId) {
        for (core, tag) in self.hw.controllers[controller.0 as usize].take_commits() {
            self.hw.tally.commits_answered += 1;
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
                let now = self.hw.now;
                self.leave(core, 0, now);
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

    /// One store, flush or primitive of a core is done.
    pub(super) fn settle(&mut self, core: CoreId, context: u8) {
        let now = self.hw.now;
        let hart = self.hw.hart(core);
        hart.settled = hart.settled.max(now);
        hart.core.settle(context);
        self.look_at_waits(core);
    }

    /// Looks whether what a core waits for has come.
    pub(super) fn look_at_waits(&mut self, core: CoreId) {
        let now = self.hw.now;
        let hart = self.hw.hart(core);
        if hart.core.held.get().is_some_and(|until| hart.holds(until)) {
            self.release(core);
        }
        let hart = self.hw.hart(core);
        if let Front::Until(until, request) = hart.front {
            if hart.holds(until) {
                hart.front = Front::Again(request);
                hart.core.front.set(hart.core.front.get().max(now));
            }
        }
        if hart.drain_waits.is_some_and(|until| hart.holds(until)) {
            self.retry_drain(core);
        }
    }

    /// The held op of a core retires now.
    pub(super) fn release(&mut self, id: CoreId) {
        let now = self.hw.now;
        let hart = self.hw.hart(id);
        let core = &hart.core;
        core.held.set(None);
        core.window.release(now);
        core.notes.settle(now);
        if core.holds_loads.replace(false) {
            core.load_floor.set(core.load_floor.get().max(now));
        }
        if let Front::Released { blocks } = hart.front {
            if blocks {
                core.window.stall_fence(now);
            }
            core.front.set(core.window.cycle());
            hart.front = Front::Runnable;
        }
    }

    /// Does what the design has asked for, and lets those go on whose gates it has opened.
    #[inline]
    pub(super) fn obey(&mut self) {
        if !self.hw.commands.is_empty() || !self.hw.opened.is_empty() {
            self.obey_all();
        }
    }

    fn obey_all(&mut self) {
        loop {
            if let Some(command) = self.hw.commands.pop_front() {
                match command {
                    Command::FlushLine { core, line, tag } => self.design_flush(core, line, tag),
                    Command::Acknowledge { core, context } => {
                        self.settle(core, context);
                    }
                    Command::CrashStateChanged => self.crash_image_changes(self.hw.step, None),
                }
            } else if let Some(gate) = self.hw.opened.pop() {
                self.open(Until::Open(gate));
            } else {
                return;
            }
        }
    }

    fn open(&mut self, gate: Until) {
        for index in 0..self.hw.harts.len() {
            let core = CoreId(index as u16);
            let now = self.hw.now;
            let hart = self.hw.hart(core);
            if hart.core.held.get() == Some(gate) {
                self.release(core);
            }
            let hart = self.hw.hart(core);
            if let Front::Until(until, request) = hart.front {
                if until == gate {
                    hart.front = Front::Again(request);
                    hart.core.front.set(hart.core.front.get().max(now));
                }
            }
            if hart.drain_waits == Some(gate) {
                self.retry_drain(core);
            }
        }
        self.release_evictions(gate);
        let (go, stay) = std::mem::take(&mut self.refused).into_iter().partition(|r| r.0 == gate);
        self.refused = stay;
        let go: Vec<(Until, ControllerId, WriteId)> = go;
        let (flushes, stay) = std::mem::take(&mut self.flushes_waiting)
            .into_iter()
            .partition(|f| f.0 == gate);
        self.flushes_waiting = stay;
        let flushes: Vec<(Until, CoreId, strandline_isa::Line, u64)> = flushes;
        for (_, core, line, tag) in flushes {
            self.design_flush(core, line, tag);
        }
        for (_, controller, write) in go {
            self.arrives(controller, write, false);
        }
        for index in 0..self.hw.controllers.len() {
            self.issue(ControllerId(index as u16));
        }
    }
}
