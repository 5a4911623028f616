//! The machine's services to the design.

use super::events::Event;
use super::hardware::{Command, Hardware};
use crate::memory::Origin;
use strandline_design::{ControllerId, Gate, Message, Services};
use strandline_isa::{CoreId, Line, LineData};
use strandline_kernel::Cycles;

impl Services for Hardware {
    fn now(&self) -> Cycles {
        Cycles(self.now)
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

    fn controller_of(&self, line: Line) -> ControllerId {
        Hardware::controller_of(self, line)
    }

    fn send(&mut self, at: Cycles, message: Message) {
        self.events.post(Cycles(at.0.max(self.now)), Event::Message(message));
    }

    fn open(&mut self, gate: Gate) {
        self.opened.push(gate);
    }

    fn set_context(&mut self, core: CoreId, context: u8) {
        self.hart(core).core.context.set(context);
    }

    fn pending(&self, core: CoreId, context: Option<u8>) -> u64 {
        self.harts[core.index()].core.pending(context)
    }

    fn acknowledge(&mut self, core: CoreId, context: u8) {
        self.commands.push_back(Command::Acknowledge { core, context });
    }

    fn point_at_store(&mut self, core: CoreId, line: Line) -> Option<u64> {
        let core = &self.hart(core).core;
        let number = core.pointed.get() + 1;
        let found = core.queue.borrow_mut().point_at(line, number);
        core.pointed.set(core.pointed.get().max(found.unwrap_or(0)));
        found
    }

    fn ask_stores(&mut self, core: CoreId, line: Line) {
        self.hart(core).core.asked_lines.borrow_mut().push(line);
    }

    fn unask_stores(&mut self, core: CoreId, line: Line) {
        let mut lines = self.hart(core).core.asked_lines.borrow_mut();
        if let Some(index) = lines.iter().position(|asked| *asked == line) {
            lines.swap_remove(index);
        }
    }

    fn holds_modified(&self, core: CoreId, line: Line) -> bool {
        let private = self.harts[core.index()].core.private.borrow();
        private.state(line) == Some(crate::cache::State::Modified)
    }

    fn flush_line(&mut self, core: CoreId, line: Line, tag: u64) {
        self.commands.push_back(Command::FlushLine { core, line, tag });
    }

    fn write(&mut self, core: CoreId, line: Line, data: LineData, tag: u64) {
        let now = self.now;
        let id = self.send_write(line, data, Some(core), tag, now);
        self.writes.get_mut(id).waiting.push(Origin::Design { core, tag });
    }

    fn put(&mut self, core: CoreId, line: Line, data: LineData, tag: u64) {
        let (id, at) = self.writes.add(line, data, Some(core), tag, self.now);
        let controller = Hardware::controller_of(self, line);
        self.events.post(Cycles(at), Event::Arrives { controller, write: id });
        self.writes.get_mut(id).waiting.push(Origin::Design { core, tag });
    }

    fn read_line(&mut self, line: Line) -> Cycles {
        let controller = Hardware::controller_of(self, line);
        let queue = &mut self.controllers[controller.0 as usize];
        if queue.holds(line) {
            return Cycles(self.now);
        }
        self.tally.pm_reads += 1;
        Cycles(queue.media.read(line, self.now))
    }

    fn to_controller(&mut self) -> Cycles {
        Cycles(Hardware::to_controller(self) + self.jitter())
    }

    fn to_core(&self) -> Cycles {
        Cycles(2 * self.hop())
    }

    fn visible_line(&self, line: Line) -> LineData {
        self.memory.line(line)
    }

    fn durable_line(&self, line: Line) -> LineData {
        match &self.crash_image {
            Some(image) => image.persisted(line),
            None => self.memory.line(line),
        }
    }

    fn commit(&mut self, core: CoreId, controller: ControllerId, tag: u64) {
        let at = self.now + Hardware::to_controller(self);
        self.events
            .post(Cycles(at), Event::CommitArrives { controller, core, tag });
        self.tally.commits += 1;
        let in_flight = (self.tally.commits - self.tally.commits_answered).div_ceil(self.controllers.len() as u64);
        self.tally.commits_in_flight_max = self.tally.commits_in_flight_max.max(in_flight);
    }

    fn crash_state_changed(&mut self) {
        self.commands.push_back(Command::CrashStateChanged);
    }
}
