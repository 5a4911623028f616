//! The machine.

use super::*;
use crate::parts::persist_buffer::Carries;
use crate::parts::persist_buffer::PersistBuffers;
use std::collections::BTreeMap;
use strandline_design::{Acceptance, ControllerId, Message, Reply, Services, WriteRequest};
use strandline_isa::{Line, LineData};
use strandline_kernel::Cycles;

/// Cycles to a controller and back.
const TO_CONTROLLER: u64 = 100;
/// Cycles to another core.
const TO_CORE: u64 = 4;
/// Cycles of a read in a controller.
const READ: u64 = 300;

#[derive(Default)]
pub struct Machine {
    pub now: u64,
    /// What every line holds as cores see it.
    pub value: u64,
    /// Writes on their way, in the order in which they were sent.
    pub sent: Vec<WriteRequest>,
    pub messages: Vec<(Cycles, Message)>,
    pub opened: Vec<Gate>,
    /// What the controllers have accepted.
    pub memory: BTreeMap<Line, u64>,
    /// Reads of memory for undo records.
    pub reads: u64,
}

impl Services for Machine {
    fn now(&self) -> Cycles {
        Cycles(self.now)
    }
    fn cores(&self) -> usize {
        3
    }
    fn controllers(&self) -> usize {
        2
    }
    fn adr(&self) -> bool {
        true
    }
    fn controller_of(&self, line: Line) -> ControllerId {
        ControllerId((line.0 % 2) as u16)
    }
    fn send(&mut self, at: Cycles, message: Message) {
        self.messages.push((at, message));
    }
    fn open(&mut self, gate: Gate) {
        self.opened.push(gate);
    }
    fn set_context(&mut self, _: CoreId, _: u8) {}
    fn pending(&self, _: CoreId, _: Option<u8>) -> u64 {
        0
    }
    fn acknowledge(&mut self, _: CoreId, _: u8) {}
    fn point_at_store(&mut self, _: CoreId, _: Line) -> Option<u64> {
        None
    }
    fn ask_stores(&mut self, _: CoreId, _: Line) {}
    fn unask_stores(&mut self, _: CoreId, _: Line) {}
    fn holds_modified(&self, _: CoreId, _: Line) -> bool {
        false
    }
    fn flush_line(&mut self, _: CoreId, _: Line, _: u64) {}
    fn write(&mut self, core: CoreId, line: Line, data: LineData, tag: u64) {
        let core = Some(core);
        self.sent.push(WriteRequest { line, data, core, tag });
    }
    fn put(&mut self, core: CoreId, line: Line, data: LineData, tag: u64) {
        self.write(core, line, data, tag);
    }
    fn read_line(&mut self, _: Line) -> Cycles {
        self.reads += 1;
        Cycles(self.now + READ)
    }
    fn to_controller(&mut self) -> Cycles {
        Cycles(TO_CONTROLLER)
    }
    fn to_core(&self) -> Cycles {
        Cycles(TO_CORE)
    }
    fn visible_line(&self, _: Line) -> LineData {
        [self.value; 8]
    }
    fn durable_line(&self, line: Line) -> LineData {
        [self.memory.get(&line).copied().unwrap_or(0); 8]
    }
    fn commit(&mut self, _: CoreId, _: ControllerId, _: u64) {}
    fn crash_state_changed(&mut self) {}
}

/// The buffers and their machine.
pub struct Both {
    pub hw: Machine,
    pub buffers: PersistBuffers,
}

impl Both {
    pub fn conservative(carries: Carries) -> Both {
        Both::of(PersistBuffers::conservative(carries)).gathering(1)
    }

    pub fn eager(carries: Carries) -> Both {
        Both::of(PersistBuffers::eager(carries)).gathering(1)
    }

    fn of(buffers: PersistBuffers) -> Both {
        let hw = Machine::default();
        Both { hw, buffers }
    }

    /// Writes of an epoch that has not ended go when so many wait.
    pub fn gathering(mut self, most: usize) -> Both {
        self.buffers.shape.gather = most;
        self
    }

    /// With these sizes.
    pub fn with(mut self, entries: usize, epochs: usize, records: u64) -> Both {
        let set = [
            ("entries", entries.to_string()),
            ("epochs", epochs.to_string()),
            ("table", records.to_string()),
            ("gather", "1".to_owned()),
        ];
        let params = PersistBuffers::eager_params();
        let set = set.iter().map(|(key, value)| (*key, value.as_str()));
        let params = strandline_kernel::Params::parse("design", params, set).expect("sizes");
        self.buffers.set(&params);
        self
    }

    pub fn store(&mut self, core: CoreId, addr: Addr) {
        assert_eq!(self.departs(core, Entry::Store(addr)), Departure::Go);
        self.buffers.visible(&mut self.hw, core, addr);
    }

    /// As [`Both::store`], of this value.
    pub fn store_value(&mut self, core: CoreId, addr: Addr, value: u64) {
        self.hw.value = value;
        self.store(core, addr);
    }

    pub fn departs(&mut self, core: CoreId, entry: Entry) -> Departure {
        self.buffers.departs(&mut self.hw, core, entry, 0)
    }

    pub fn executes(&mut self, core: CoreId, primitive: Primitive) {
        assert_eq!(self.departs(core, Entry::Primitive(primitive)), Departure::Go);
    }

    /// `requester` asks for a line of `owner`'s: the note, which it reads.
    pub fn ask(&mut self, owner: CoreId, requester: CoreId, addr: Addr) -> Option<Reply> {
        let line = addr.line();
        match self.buffers.asked(&mut self.hw, owner, requester, line) {
            Asked::Give(reply) => {
                if let Some(reply) = reply {
                    self.buffers.told(&mut self.hw, requester, owner, reply);
                }
                reply
            }
            Asked::Wait(until) => panic!("nobody waits: {until:?}"),
        }
    }

    /// The `index`-th write that was sent arrives: whether it is taken.
    pub fn arrive(&mut self, index: usize) -> bool {
        let write = self.hw.sent.remove(index);
        let controller = self.hw.controller_of(write.line);
        let acceptance = self.buffers.arrived(&mut self.hw, controller, &write);
        match acceptance {
            Acceptance::Queue => _ = self.hw.memory.insert(write.line, write.data[0]),
            Acceptance::Absorb => {}
            Acceptance::Refuse => return false,
            Acceptance::Wait(until) => panic!("no write waits: {until:?}"),
        }
        let core = write.core.expect("a core's");
        self.buffers.flushed(&mut self.hw, core, write.tag);
        true
    }

    /// The oldest write that was sent arrives: whose it was, and its line.
    pub fn acknowledge(&mut self) -> (CoreId, Line) {
        let WriteRequest { core, line, .. } = self.hw.sent[0];
        assert!(self.arrive(0));
        (core.expect("a core's"), line)
    }

    /// Delivers the messages: how many there were.
    pub fn deliver(&mut self) -> usize {
        let messages = std::mem::take(&mut self.hw.messages);
        for (at, message) in &messages {
            self.hw.now = self.hw.now.max(at.0);
            self.buffers.message(&mut self.hw, *message);
        }
        messages.len()
    }

    /// Lets everything arrive, in this order, until nothing is under way.
    pub fn settle(&mut self) {
        while !self.hw.sent.is_empty() || self.deliver() > 0 {
            if !self.hw.sent.is_empty() {
                self.arrive(0);
            }
        }
    }

    pub fn lines_sent(&self) -> Vec<(CoreId, Line)> {
        let all = self.hw.sent.iter();
        all.map(|write| (write.core.expect("a core's"), write.line)).collect()
    }

    /// What a crash leaves of a line.
    pub fn after_crash(&self, addr: Addr) -> u64 {
        let mut left = self.hw.memory.get(&addr.line()).copied().unwrap_or(0);
        self.buffers.power_fails(&mut |line, data| {
            if line == addr.line() {
                left = data[0];
            }
        });
        left
    }

    pub fn has_opened(&self, gate: Gate) -> bool {
        self.hw.opened.contains(&gate)
    }
}
