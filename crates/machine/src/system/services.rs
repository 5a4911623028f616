//! The machine's services to the design.

use super::channel::Packet;
use super::events::Event;
use super::hardware::{Command, Hardware};
use super::waiters::{Condition, Waiter};
use crate::config::{Coherence, Consistency};
use crate::memory::Origin;
use crate::timeline::{Who, Why};
use strandline_design::{
    ByteMask, Checkpoint, ControllerId, Hook, Key, Keys, LineTag, Services, StoreId, WriteId, WriteRequest,
};
use strandline_isa::{CoreId, Flush, Line, LineData};
use strandline_kernel::Cycles;
use strandline_rules::kept;
use strandline_rules::time::Rule as Time;

impl Services<Keys> for Hardware {
    fn now(&self) -> Cycles {
        Cycles(self.now())
    }

    fn cores(&self) -> usize {
        self.harts.len()
    }

    fn controllers(&self) -> usize {
        self.controllers.len()
    }

    fn adr(&self) -> bool {
        self.machine.controllers.adr
    }

    fn stores_in_order(&self) -> bool {
        self.machine.core.consistency == Consistency::Tso
    }

    fn broadcasts(&self) -> bool {
        self.machine.interconnect.coherence == Coherence::Snoop && self.hosts.len() == 1
    }

    fn controller_of(&self, line: Line) -> ControllerId {
        Hardware::controller_of(self, line)
    }

    fn announce_when(&mut self, core: CoreId, gate: Key) {
        let number = self.hart(core).core.notes.speculate();
        self.record(move |recorder, at| recorder.wait(Who::Speculation(core, number), Why::Design, at, None));
        let waiter = Waiter::Speculation { core, number };
        self.waiters.park(Condition::Open(gate), waiter);
    }

    fn send(&mut self, at: Cycles, message: Key) {
        self.record(move |recorder, _| recorder.message_sent(message));
        self.post(at.0.max(self.now()), Event::Message(message));
    }

    fn skip(&mut self, hook: Hook) {
        self.skip_hook(hook);
    }

    fn ask_again(&mut self, hook: Hook) {
        for hart in &self.harts {
            hart.core.ask_again(hook);
        }
    }

    fn open(&mut self, gate: Key) {
        self.commands.push_back(Command::Open(gate));
    }

    fn set_context(&mut self, core: CoreId, context: u8) {
        self.hart(core).core.context.now.set(context);
    }

    fn pending(&self, core: CoreId, context: Option<u8>) -> u64 {
        self.harts[core.index()].core.pending(context)
    }

    fn acknowledge(&mut self, core: CoreId, context: u8) {
        self.commands.push_back(Command::Acknowledge { core, context });
    }

    fn point_at_store(&mut self, core: CoreId, line: Line) -> Option<StoreId> {
        self.hart(core).core.queue.borrow_mut().point_at(line)
    }

    fn watch_stores(&mut self, core: CoreId, line: Line) {
        self.hart(core).core.watch(line);
    }

    fn unwatch_stores(&mut self, core: CoreId, line: Line) {
        self.hart(core).core.unwatch(line);
    }

    fn perform(&mut self, core: CoreId, id: StoreId, at: Cycles) {
        if at.0 > self.now() {
            return self.post(at.0, Event::Perform { core, id });
        }
        self.commands.push_back(Command::Perform { core, id });
    }

    fn holds_modified(&self, core: CoreId, line: Line) -> bool {
        let private = self.harts[core.index()].core.private.borrow();
        private.state(line) == Some(crate::cache::State::Modified)
    }

    fn flush_line(&mut self, core: CoreId, line: Line, flush: Flush, tag: Key) {
        let command = Command::FlushLine { core, line, flush, tag };
        self.commands.push_back(command);
    }

    fn message_when_drained(&mut self, core: CoreId, context: u8, message: Key) {
        let hart = self.hart(core);
        hart.when_drained.push((context, message));
        hart.core.pending.awaited.set(true);
        if hart.core.is_drained(Some(context)) {
            self.commands.push_back(Command::LookAtDrained(core));
        }
    }

    fn write(&mut self, core: CoreId, line: Line, data: LineData, tag: Key) {
        let now = self.now();
        let request = WriteRequest {
            line,
            data,
            bytes: ByteMask::ALL,
            core: Some(core),
            tag: Some(tag),
        };
        let id = self.send_write(self.host_of(core), request, now);
        self.writes.wait_for(id, Origin::Design { core, tag });
    }

    fn write_in_order(&mut self, core: CoreId, line: Line, data: LineData, bytes: ByteMask, tag: Key) -> Cycles {
        let controller = Hardware::controller_of(self, line);
        let bmo = self.machine.controllers.bmo_latency.0;
        let arrives = self.through_channel(core, controller, Packet::Line, bmo);
        let request = WriteRequest {
            line,
            data,
            bytes,
            core: Some(core),
            tag: Some(tag),
        };
        let write = self.writes.add_unordered(self.host_of(core), request, arrives);
        self.sent(core, write, tag, arrives)
    }

    fn send_in_order(&mut self, core: CoreId, to: ControllerId, message: Key) -> Cycles {
        let arrives = self.through_channel(core, to, Packet::Message, 0);
        self.record(move |recorder, _| recorder.message_sent(message));
        self.post(arrives, Event::Message(message));
        Cycles(arrives)
    }

    fn put(&mut self, core: CoreId, line: Line, data: LineData, tag: Key) {
        let now = self.now();
        let request = WriteRequest {
            line,
            data,
            bytes: ByteMask::ALL,
            core: Some(core),
            tag: Some(tag),
        };
        let (write, arrives) = self.writes.add(self.host_of(core), request, now);
        self.sent(core, write, tag, arrives);
    }

    fn reload(&mut self, line: Line) {
        Hardware::reload(self, line);
    }

    fn send_on(&mut self, core: CoreId, line: Line, data: LineData, bytes: ByteMask, tag: Key) {
        let request = WriteRequest {
            line,
            data,
            bytes,
            core: Some(core),
            tag: Some(tag),
        };
        self.send_from_stop(core, request, tag);
    }

    fn look_at_stop(&mut self) {
        self.commands.push_back(Command::LookAtStop);
    }

    fn look_at_queue(&mut self, controller: ControllerId) {
        self.commands.push_back(Command::LookAtQueue(controller));
    }

    fn read_line(&mut self, line: Line) -> Cycles {
        let controller = Hardware::controller_of(self, line);
        if self.controllers[controller.0 as usize].holds(line) {
            return Cycles(self.now());
        }
        self.tally.pm_reads += 1;
        self.record(move |recorder, at| recorder.read(at));
        let now = self.now();
        Cycles(self.controllers[controller.0 as usize].media.read(line, now))
    }

    fn draw_controller_delay(&mut self) -> Cycles {
        let there_and_back = 2 * self.way_of_commits();
        Cycles(Hardware::to_controller(self) + there_and_back + self.jitter())
    }

    fn newest_entry(&self, core: CoreId) -> StoreId {
        StoreId(self.harts[core.index()].core.queue.borrow().newest())
    }

    fn entry_at_turn(&self, core: CoreId) -> StoreId {
        StoreId(self.harts[core.index()].at_turn)
    }

    fn to_core(&self) -> Cycles {
        let between_hosts = if self.hosts.len() > 1 {
            2 * self.machine.cxl.way().0
        } else {
            0
        };
        Cycles(2 * self.hop() + between_hosts)
    }

    fn to_llc(&self) -> Cycles {
        Cycles(self.hop() + self.hosts[0].llc.latency)
    }

    fn line_tag(&self, line: Line) -> Option<LineTag> {
        self.line_tags.get(line)
    }

    fn tag_line(&mut self, line: Line, tag: LineTag) {
        self.line_tags.set(line, tag);
    }

    fn untag_line(&mut self, line: Line) {
        self.line_tags.remove(line);
    }

    fn on_its_way(&self, line: Line) -> bool {
        let controller = Hardware::controller_of(self, line);
        self.writes.unaccepted(line).is_some() || self.controllers[controller.0 as usize].holds(line)
    }

    fn visible_line(&self, line: Line) -> LineData {
        self.seen_by_all().line(line)
    }

    fn durable_line(&self, line: Line) -> LineData {
        self.durable_bytes(line)
    }

    fn commit(&mut self, core: CoreId, controller: ControllerId, tag: Key) {
        let at = self.now() + Hardware::to_controller(self) + self.way_of_commits();
        self.post(at, Event::CommitArrives { controller, core, tag });
        self.tally.commits += 1;
    }

    fn checkpoint(&mut self, core: CoreId) -> Option<Checkpoint> {
        self.take_checkpoint(core)
    }

    fn release(&mut self, core: CoreId, checkpoint: Checkpoint) {
        self.record(move |recorder, at| recorder.released(core, checkpoint, at));
        self.hart(core).release(checkpoint);
    }

    fn roll_back(&mut self, core: CoreId, checkpoint: Checkpoint) {
        self.commands.push_back(Command::RollBack { core, checkpoint });
    }

    fn interrupt(&mut self, core: CoreId) {
        self.commands.push_back(Command::Interrupt(core));
    }

    fn crash_state_changed(&mut self) {
        self.commands.push_back(Command::CrashStateChanged);
    }
}

impl Hardware {
    /// How far commits and their answers go over the link.
    pub fn way_of_commits(&self) -> u64 {
        kept(Time::CommitsCrossLink, self.machine.cxl.way().0, || 0)
    }

    /// Posts the arrival of a design's write at its controller at `arrives`.
    fn sent(&mut self, core: CoreId, write: WriteId, tag: Key, arrives: u64) -> Cycles {
        let controller = Hardware::controller_of(self, self.writes.get(write).line);
        self.record(|recorder, at| recorder.sent(write, self.writes.get(write), controller.0, at));
        self.post(arrives, Event::Arrives { controller, write });
        self.writes.wait_for(write, Origin::Design { core, tag });
        Cycles(arrives)
    }
}
