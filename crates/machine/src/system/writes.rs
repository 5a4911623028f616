//! Writes at the controllers: arrival, acceptance, acknowledgement, issue to the media.

use super::events::Event;
use super::reserve::Reserve;
use super::running::Running;
use super::waiters::{Condition, Waiter};
use crate::memory::{Issued, Origin, Waiting};
use crate::timeline::Why;
use strandline_design::{Acceptance, ControllerId, Hook, Key, Place, WriteId, WriteRequest};
use strandline_isa::{CoreId, Line, LineData};
use strandline_kernel::Cycles;
use strandline_rules::{breaks, broken, kept, Rule};

impl Running {
    /// A write arrives; `again` if it waited for room, or the design held it.
    pub(super) fn arrives(&mut self, controller: ControllerId, write: WriteId, again: bool) {
        if self.hw.device.is_some() && !again && self.is_lost(write) {
            return;
        }
        self.hw.record(move |recorder, at| recorder.arrived(write, at));
        let (design, writes) = (&*self.design, &self.hw.writes);
        let request = writes.get(write);
        let may = |queued: WriteId| design.may_coalesce(controller, writes.get(queued), request);
        if !self.hw.controllers[controller.0 as usize].admits(write, request.line, again, may) {
            self.hw
                .record(move |recorder, at| recorder.held_at_controller(write, Why::WriteQueue, at));
            breaks(Rule::AcknowledgedAfterAcceptance, || {
                let waiting = self.hw.writes.take_waiting(write);
                self.acknowledge(waiting);
            });
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
                self.hw
                    .record(move |recorder, at| recorder.held_at_controller(write, condition.why(), at));
                self.hw.waiters.park(condition, Waiter::Arrival { controller, write });
            }
            Acceptance::Queue => self.queued(controller, write),
            Acceptance::Absorb => {
                self.hw.record(move |recorder, _| recorder.refused(write));
                let waiting = self.hw.writes.accept(write);
                self.hw.writes.remove(write);
                self.acknowledge(waiting);
            }
            Acceptance::Refuse => {
                self.hw.record(move |recorder, _| recorder.refused(write));
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
        self.hw.record(move |recorder, _| recorder.coalesced(write, queued));
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

    /// A write is in the write queue (perhaps coalesced): with ADR it is durable.
    #[inline(always)]
    fn accepted(&mut self, write: WriteId) {
        self.hw.record(move |recorder, at| recorder.accepted(write, at));
        if self.hw.keeps_durable() {
            self.persist_accepted(write);
        }
        if self.hw.device.is_some() {
            self.device_accepts(write);
        }
        let waiting = self.hw.writes.accept(write);
        self.acknowledge(waiting);
    }

    #[inline(never)]
    fn persist_accepted(&mut self, write: WriteId) {
        let now = self.hw.now();
        let request = *self.hw.writes.get(write);
        if self.durable_from.has_visible() {
            let seen = self.hw.seen_by_all().line(request.line);
            let newest = kept(Rule::CachesDrainLast, seen, || request.data);
            self.accepted_is_saved(now, &request, newest);
        } else if self.saves_queue() && !broken(Rule::AdrSavesUnissued) {
            self.persist(now, &request);
        }
    }

    /// Whether what the write queues have accepted reaches the media even if power fails.
    fn saves_queue(&self) -> bool {
        self.durable_from <= Place::Queue && !broken(Rule::AdrSavesQueue)
    }

    /// Notifies the waiters for a write's acceptance.
    #[inline(always)]
    fn acknowledge(&mut self, waiting: Waiting) {
        let Some(first) = waiting.first else { return };
        let way = match first {
            Origin::Stop { .. } => self.hw.way_back_to_stop(),
            Origin::Buffer { .. } | Origin::Design { .. } => self.hw.machine.cxl.way().0,
        };
        self.acknowledge_after(waiting, way);
    }

    /// Notifies the waiters for a write, who are this far away.
    #[inline(always)]
    pub(super) fn acknowledge_after(&mut self, waiting: Waiting, way: u64) {
        let Some(first) = waiting.first else { return };
        self.acknowledge_one(first, way);
        if !waiting.others.is_empty() {
            self.acknowledge_others(waiting.others, way);
        }
    }

    #[inline(never)]
    fn acknowledge_others(&mut self, others: Vec<Origin>, way: u64) {
        for origin in others {
            self.acknowledge_one(origin, way);
        }
    }

    #[inline]
    fn acknowledge_one(&mut self, origin: Origin, way: u64) {
        if way > 0 {
            return self.hw.post(self.hw.now() + way, origin.done());
        }
        match origin {
            Origin::Buffer { core, slot } => self.hw.buffer_done(core, slot),
            Origin::Design { core, tag } | Origin::Stop { core, tag } => self.design_acknowledged(core, tag),
        }
    }

    /// A write has reached the persistence domain, whose bytes the machine keeps.
    pub(super) fn persist(&mut self, at: u64, request: &WriteRequest<Key>) {
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
    pub(super) fn crash_image_changes(&mut self, at: u64, persists: Option<(Line, LineData)>) {
        let (mut named, is_cut) = self.cut_at_device(persists);
        let mut late = named.len();
        let Some(image) = &mut self.hw.crash_image else { return };
        named.extend(self.reserve.iter().flat_map(Reserve::written));
        self.design.power_fails(&mut |line, data| match is_cut {
            true => late += 1,
            false => named.push((line, data)),
        });
        image.update(Cycles(at), persists, &named);
        if self.reserve.is_some() || self.device_reserve.is_some() {
            image.is_late(late + self.reserve.as_ref().map_or(0, Reserve::late));
        }
    }

    #[inline(always)]
    pub(super) fn issue(&mut self, controller: ControllerId) {
        if self.hw.controllers[controller.0 as usize].wants_look(self.hw.now()) {
            self.issue_queued(controller);
            if self.hw.controllers[controller.0 as usize].frees_at_issue() {
                self.admit_waiting(controller);
            }
        }
    }

    /// Lets writes arrive again that waited for room, as far as there is room.
    fn admit_waiting(&mut self, controller: ControllerId) {
        while let Some(next) = self.hw.controllers[controller.0 as usize].next_waiting() {
            self.arrives(controller, next, true);
        }
    }

    /// Issues all writes that the media can accept now, and schedules the next look.
    #[inline(never)]
    fn issue_queued(&mut self, controller: ControllerId) {
        let now = self.hw.now();
        loop {
            let (design, writes) = (&*self.design, &self.hw.writes);
            let may = |write: WriteId| design.may_issue(controller, writes.get(write));
            let queue = &mut self.hw.controllers[controller.0 as usize];
            match queue.issue(now, may) {
                Ok(issued) => {
                    self.hw
                        .record(|recorder, _| recorder.issued(controller.0, &issued, now));
                    let Issued { write, done, bytes, .. } = issued;
                    let event = Event::OnMedia {
                        controller,
                        write,
                        bytes,
                    };
                    self.hw.post(done, event);
                    breaks(Rule::AdrSavesUnissued, || self.save_issued(now, write));
                }
                Err(again) => {
                    if again < queue.look_at {
                        queue.look_at = again;
                        self.hw.post(again, Event::Look { controller });
                    }
                    return;
                }
            }
        }
    }

    pub(super) fn on_media(&mut self, controller: ControllerId, write: WriteId, bytes: u32) {
        self.hw.record(move |recorder, at| recorder.on_media(write, bytes, at));
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
        self.admit_waiting(controller);
        self.issue(controller);
    }

    /// A write is on the media; without ADR it is durable now.
    #[inline(never)]
    fn reached_media(&mut self, controller: ControllerId, write: WriteId) {
        let request = *self.hw.writes.get(write);
        self.hw.writes.remove(write);
        let is_durable = self.durable_from.has_visible() || self.saves_queue();
        if !is_durable && self.hw.keeps_durable() {
            self.persist(self.hw.now(), &request);
        }
        self.design.reached_media(&mut self.hw, controller, &request);
    }

    #[inline(always)]
    pub(super) fn commits(&mut self, controller: ControllerId) {
        if self.hw.controllers[controller.0 as usize].has_commits() {
            self.answer_commits(controller);
        }
    }

    #[inline(never)]
    fn answer_commits(&mut self, controller: ControllerId) {
        while let Some((core, tag)) = self.hw.controllers[controller.0 as usize].next_answered() {
            match self.hw.way_of_commits() {
                0 => self.commit_answered(controller, core, tag),
                way => {
                    let back = self.hw.now() + way;
                    self.hw.post(back, Event::CommitAnswered { controller, core, tag });
                }
            }
        }
    }

    pub(super) fn commit_answered(&mut self, controller: ControllerId, core: CoreId, tag: Key) {
        self.hw.hart(core).commit_answered(controller);
        self.design.committed(&mut self.hw, core, tag);
    }
}
