//! A machine that records what a design requests, for tests of designs.

mod speculation;

use speculation::Speculation;
use std::collections::BTreeMap;
use strandline_design::{
    Acceptance, Access, ByteMask, Checkpoint, ControllerId, Counters, Departure, Design, Eviction, GateOf, Hook, Level,
    LineTag, NoteOf, Ordering, Services, Snoop, Store, StoreId, Supply, Types, Write, WriteKind, WriteRequest,
};
use strandline_isa::{Addr, CoreId, Flush, Line, LineData, Primitive, PM_BASE};
use strandline_kernel::{Cycles, Params};

pub const ZERO: CoreId = CoreId(0);
pub const ONE: CoreId = CoreId(1);
pub const TWO: CoreId = CoreId(2);
pub const X: Addr = Addr(PM_BASE);
/// Of another controller than X, where there are two.
pub const Y: Addr = Addr(PM_BASE + 64);
pub const Z: Addr = Addr(PM_BASE + 128);
pub const FLAG: Addr = Addr(64);

/// Cycles to a controller and back.
const TO_CONTROLLER: u64 = 100;
/// Cycles to another core.
const TO_CORE: u64 = 4;
/// Cycles of a read in a controller.
const READ: u64 = 300;

pub struct Machine<T: Types> {
    pub now: u64,
    pub controllers: usize,
    pub adr: bool,
    /// Stores become visible in program order.
    pub in_order: bool,
    /// Coherence is by snooping.
    pub broadcasts: bool,
    /// The bytes of every line as cores see them.
    pub value: u64,
    /// Writes in flight, in the order in which they were sent.
    pub sent: Vec<WriteRequest<T::Tag>>,
    pub messages: Vec<(Cycles, T::Message)>,
    pub opened: Vec<T::Gate>,
    /// The bytes that the controllers have accepted.
    pub memory: BTreeMap<Line, u64>,
    /// Reads of memory for undo records.
    pub reads: u64,
    /// Controllers whose write queues the design had looked at again.
    pub looked_at: Vec<ControllerId>,
    /// The tags of lines.
    pub tags: BTreeMap<Line, LineTag>,
    pub spec: Speculation<T>,
}

impl<T: Types> Services<T> for Machine<T> {
    fn now(&self) -> Cycles {
        Cycles(self.now)
    }
    fn cores(&self) -> usize {
        3
    }
    fn controllers(&self) -> usize {
        self.controllers
    }
    fn adr(&self) -> bool {
        self.adr
    }
    fn stores_in_order(&self) -> bool {
        self.in_order
    }
    fn broadcasts(&self) -> bool {
        self.broadcasts
    }
    fn controller_of(&self, line: Line) -> ControllerId {
        ControllerId((line.0 % self.controllers as u64) as u16)
    }
    fn pending(&self, core: CoreId, context: Option<u8>) -> u64 {
        self.spec.pending(core, context)
    }
    fn holds_modified(&self, _: CoreId, _: Line) -> bool {
        false
    }
    fn to_core(&self) -> Cycles {
        Cycles(TO_CORE)
    }
    fn to_llc(&self) -> Cycles {
        Cycles(TO_CORE)
    }
    fn line_tag(&self, line: Line) -> Option<LineTag> {
        self.tags.get(&line).copied()
    }
    fn tag_line(&mut self, line: Line, tag: LineTag) {
        self.tags.insert(line, tag);
    }
    fn untag_line(&mut self, line: Line) {
        self.tags.remove(&line);
    }
    fn on_its_way(&self, _: Line) -> bool {
        false
    }
    fn visible_line(&self, _: Line) -> LineData {
        [self.value; 8]
    }
    fn durable_line(&self, line: Line) -> LineData {
        [self.memory.get(&line).copied().unwrap_or(0); 8]
    }
    fn newest_entry(&self, core: CoreId) -> StoreId {
        self.spec.newest(core)
    }
    fn entry_at_turn(&self, _: CoreId) -> StoreId {
        self.spec.turn
    }
    fn ask_again(&mut self, _: Hook) {}
    fn skip(&mut self, _: Hook) {}
    fn send(&mut self, at: Cycles, message: T::Message) {
        self.messages.push((at, message));
    }
    fn draw_controller_delay(&mut self) -> Cycles {
        Cycles(TO_CONTROLLER)
    }
    fn open(&mut self, gate: T::Gate) {
        self.opened.push(gate);
    }
    fn set_context(&mut self, core: CoreId, context: u8) {
        self.spec.contexts.insert(core, context);
    }
    fn announce_when(&mut self, core: CoreId, gate: T::Gate) {
        self.spec.announced.push((core, gate));
    }
    fn acknowledge(&mut self, core: CoreId, context: u8) {
        self.spec.done(core, context);
    }
    fn point_at_store(&mut self, _: CoreId, _: Line) -> Option<StoreId> {
        None
    }
    fn watch_stores(&mut self, _: CoreId, _: Line) {}
    fn unwatch_stores(&mut self, _: CoreId, _: Line) {}
    fn perform(&mut self, core: CoreId, id: StoreId, at: Cycles) {
        self.spec.performs.push((core, id, at));
    }
    fn flush_line(&mut self, core: CoreId, line: Line, flush: Flush, tag: T::Tag) {
        self.spec.flushes.push((core, line, flush, tag));
    }
    fn message_when_drained(&mut self, core: CoreId, context: u8, message: T::Message) {
        self.spec.drained.push((core, context, message));
    }
    fn write(&mut self, core: CoreId, line: Line, data: LineData, tag: T::Tag) {
        self.sent.push(WriteRequest {
            line,
            data,
            bytes: ByteMask::ALL,
            core: Some(core),
            tag: Some(tag),
        });
    }
    fn write_in_order(&mut self, core: CoreId, line: Line, data: LineData, _: ByteMask, tag: T::Tag) -> Cycles {
        self.write(core, line, data, tag);
        self.now()
    }
    fn send_in_order(&mut self, _: CoreId, _: ControllerId, message: T::Message) -> Cycles {
        self.send(self.now(), message);
        self.now()
    }
    fn put(&mut self, core: CoreId, line: Line, data: LineData, tag: T::Tag) {
        self.write(core, line, data, tag);
    }
    fn send_on(&mut self, core: CoreId, line: Line, data: LineData, _: ByteMask, tag: T::Tag) {
        self.write(core, line, data, tag);
    }
    fn look_at_stop(&mut self) {}
    fn look_at_queue(&mut self, controller: ControllerId) {
        self.looked_at.push(controller);
    }
    fn read_line(&mut self, _: Line) -> Cycles {
        self.reads += 1;
        Cycles(self.now + READ)
    }
    fn reload(&mut self, _: Line) {}

    fn commit(&mut self, core: CoreId, controller: ControllerId, tag: T::Tag) {
        self.spec.commits.push((core, controller, tag));
    }
    fn checkpoint(&mut self, core: CoreId) -> Option<Checkpoint> {
        self.spec.take_checkpoint(core)
    }
    fn release(&mut self, core: CoreId, checkpoint: Checkpoint) {
        self.spec.release(core, checkpoint);
    }
    fn roll_back(&mut self, _: CoreId, _: Checkpoint) {}
    fn interrupt(&mut self, _: CoreId) {}
    fn crash_state_changed(&mut self) {}
}

/// A design and its machine.
pub struct Both<D: Design> {
    pub hw: Machine<D::Own>,
    pub design: D,
}

impl<D: Design> Both<D> {
    /// A design on a machine with two controllers and ADR.
    pub fn of(design: D) -> Both<D> {
        let hw = Machine {
            now: 0,
            controllers: 2,
            adr: true,
            in_order: true,
            broadcasts: false,
            value: 0,
            sent: Vec::new(),
            messages: Vec::new(),
            opened: Vec::new(),
            memory: BTreeMap::new(),
            reads: 0,
            looked_at: Vec::new(),
            tags: BTreeMap::new(),
            spec: Speculation::default(),
        };
        Both { hw, design }
    }

    /// The design with these parameters, and the defaults of the others.
    pub fn with(mut self, set: &[(&str, u64)]) -> Both<D> {
        let texts: Vec<(&str, String)> = set.iter().map(|(key, value)| (*key, value.to_string())).collect();
        let set = texts.iter().map(|(key, value)| (*key, value.as_str()));
        let params = Params::parse("design", self.design.params(), set).expect("parameters of the design");
        self.design.set(&params);
        self
    }

    pub fn store(&mut self, core: CoreId, addr: Addr) {
        assert_eq!(self.stores(core, addr), Departure::Go);
        self.design.visible(&mut self.hw, core, word(addr));
    }

    /// As [`Both::store`], of this value.
    pub fn store_value(&mut self, core: CoreId, addr: Addr, value: u64) {
        self.hw.value = value;
        self.store(core, addr);
    }

    /// A store is about to become visible: the answer.
    pub fn stores(&mut self, core: CoreId, addr: Addr) -> Departure<GateOf<D>> {
        self.design.store(
            &mut self.hw,
            core,
            Write {
                kind: WriteKind::Store,
                store: word(addr),
            },
        )
    }

    /// A primitive is at the head of the store queue: the answer.
    pub fn departs(&mut self, core: CoreId, primitive: Primitive) -> Departure<GateOf<D>> {
        self.design
            .departs(&mut self.hw, core, Ordering::Primitive(primitive), 0)
    }

    pub fn executes(&mut self, core: CoreId, primitive: Primitive) {
        assert_eq!(self.departs(core, primitive), Departure::Go);
    }

    /// `requester` requests a line of `owner`'s: the note of the reply, which it reads.
    pub fn ask(&mut self, owner: CoreId, requester: CoreId, addr: Addr) -> Option<NoteOf<D>> {
        self.asks(owner, requester, addr, Access::Own)
    }

    /// As [`Both::ask`], to read the line or to own it.
    pub fn asks(&mut self, owner: CoreId, requester: CoreId, addr: Addr, access: Access) -> Option<NoteOf<D>> {
        let line = addr.line();
        match self.design.snooped(&mut self.hw, owner, requester, line, access) {
            Snoop::Grant(note) => {
                if let Some(note) = note.clone() {
                    self.design.replied(&mut self.hw, requester, owner, line, note);
                }
                note
            }
            other => panic!("the line is granted: {other:?}"),
        }
    }

    /// Delivers the `index`-th write that was sent: whether it is accepted.
    pub fn arrive(&mut self, index: usize) -> bool {
        let write = self.hw.sent.remove(index);
        let controller = self.hw.controller_of(write.line);
        let acceptance = self.design.arrived(&mut self.hw, controller, &write);
        match acceptance {
            Acceptance::Queue => _ = self.hw.memory.insert(write.line, write.data[0]),
            Acceptance::Absorb => {}
            Acceptance::Refuse => return false,
            Acceptance::Wait(until) => panic!("no write waits: {until:?}"),
        }
        let core = write.core.expect("a core's");
        self.design
            .acknowledged(&mut self.hw, core, write.tag.expect("a design's"));
        true
    }

    /// Delivers the oldest write that was sent: its core, and its line.
    pub fn acknowledge(&mut self) -> (CoreId, Line) {
        let WriteRequest { core, line, .. } = self.hw.sent[0];
        assert!(self.arrive(0));
        (core.expect("a core's"), line)
    }

    /// Delivers the messages: how many there were.
    pub fn deliver(&mut self) -> usize {
        let messages = std::mem::take(&mut self.hw.messages);
        let count = messages.len();
        for (at, message) in messages {
            self.hw.now = self.hw.now.max(at.0);
            self.design.message(&mut self.hw, message);
        }
        count
    }

    /// Delivers everything, in this order, until nothing is in flight.
    pub fn run_to_end(&mut self) {
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
        self.design.power_fails(&mut |line, data| {
            if line == addr.line() {
                left = data[0];
            }
        });
        left
    }

    /// A dirty line is evicted from a level of core 0.
    pub fn evict(&mut self, level: Level, line: Line) -> Eviction<GateOf<D>> {
        self.design.evicted(&mut self.hw, ZERO, level, line)
    }

    /// Core 0 misses a line in every cache.
    pub fn missed(&mut self, addr: Addr) -> Supply<GateOf<D>> {
        self.design.missed(&mut self.hw, ZERO, addr.line(), Access::Read)
    }

    pub fn counters(&self) -> Counters {
        self.design.counters(self.hw.now())
    }

    pub fn has_opened(&self, gate: GateOf<D>) -> bool {
        self.hw.opened.contains(&gate)
    }
}

/// A store of a word.
fn word(addr: Addr) -> Store {
    Store {
        addr,
        size: 8,
        value: 1,
    }
}
