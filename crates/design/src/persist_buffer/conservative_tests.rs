//! The buffers of two cores against a machine that writes down what it is asked for.

use super::*;
use crate::ControllerId;
use strandline_isa::{LineData, PM_BASE};

const ZERO: CoreId = CoreId(0);
const ONE: CoreId = CoreId(1);
const X: Addr = Addr(PM_BASE);
const Y: Addr = Addr(PM_BASE + 64);
const FLAG: Addr = Addr(64);

/// A write that was sent: the core, its line, its number.
type Sent = (CoreId, Line, u64);

#[derive(Default)]
struct Machine {
    now: u64,
    line: LineData,
    /// Stores and fences in the store queues.
    pending: u64,
    sent: Vec<Sent>,
    messages: Vec<(Cycles, Message)>,
    opened: Vec<Gate>,
}

impl Services for Machine {
    fn now(&self) -> Cycles {
        Cycles(self.now)
    }
    fn cores(&self) -> usize {
        2
    }
    fn controllers(&self) -> usize {
        1
    }
    fn adr(&self) -> bool {
        true
    }
    fn controller_of(&self, _: Line) -> ControllerId {
        ControllerId(0)
    }
    fn send(&mut self, at: Cycles, message: Message) {
        self.messages.push((at, message));
    }
    fn open(&mut self, gate: Gate) {
        self.opened.push(gate);
    }
    fn set_context(&mut self, _: CoreId, _: u8) {}
    fn pending(&self, _: CoreId, _: Option<u8>) -> u64 {
        self.pending
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
    fn write(&mut self, core: CoreId, line: Line, _: LineData, tag: u64) {
        self.sent.push((core, line, tag));
    }
    fn visible_line(&self, _: Line) -> LineData {
        self.line
    }
    fn commit(&mut self, _: CoreId, _: ControllerId, _: u64) {}
    fn crash_state_changed(&mut self) {}
}

/// The buffers and their machine.
#[derive(Default)]
struct Both {
    hw: Machine,
    buffers: ConservativeBuffers,
}

impl Both {
    fn store(&mut self, core: CoreId, addr: Addr) {
        assert_eq!(self.buffers.departs(&mut self.hw, core, addr), Departure::Go);
        self.buffers.visible(&mut self.hw, core, addr);
    }

    fn ofence(&mut self, core: CoreId) {
        self.buffers.ordered(&mut self.hw, core);
    }

    fn dfence(&mut self, core: CoreId) {
        self.buffers.fence(&mut self.hw, core);
    }

    /// `requester` asks for a line of `owner`'s: the note, which it reads.
    fn ask(&mut self, owner: CoreId, requester: CoreId, addr: Addr, access: Access) -> Option<Reply> {
        let reply = self
            .buffers
            .asked(&mut self.hw, owner, requester, addr.line(), access)?;
        self.buffers.told(&mut self.hw, requester, owner, reply);
        Some(reply)
    }

    /// Acknowledges the oldest write that was sent.
    fn acknowledge(&mut self) -> (CoreId, Line) {
        let (core, line, id) = self.hw.sent.remove(0);
        self.buffers.flushed(&mut self.hw, core, id);
        (core, line)
    }

    /// Delivers the messages.
    fn deliver(&mut self) -> usize {
        let messages = std::mem::take(&mut self.hw.messages);
        for (at, message) in &messages {
            self.hw.now = self.hw.now.max(at.0);
            self.buffers.message(&mut self.hw, *message);
        }
        messages.len()
    }

    fn lines_sent(&self) -> Vec<(CoreId, Line)> {
        self.hw.sent.iter().map(|(core, line, _)| (*core, *line)).collect()
    }
}

fn drained(core: CoreId) -> Gate {
    match ConservativeBuffers::drained(core) {
        Until::Open(gate) => gate,
        Until::Drained(_) => panic!("a fence waits for a gate"),
    }
}

#[test]
fn a_dfence_opens_when_the_last_epoch_before_it_is_acknowledged() {
    let mut both = Both::default();
    both.store(ZERO, X);
    both.ofence(ZERO);
    both.store(ZERO, Y);
    both.dfence(ZERO);
    assert_eq!(both.acknowledge(), (ZERO, X.line()));
    assert!(both.hw.opened.is_empty());
    assert_eq!(both.acknowledge(), (ZERO, Y.line()));
    assert_eq!(both.hw.opened, [drained(ZERO)]);
}

#[test]
fn a_dfence_with_nothing_before_it_opens_at_once() {
    let mut both = Both::default();
    both.dfence(ZERO);
    assert_eq!(both.hw.opened, [drained(ZERO)]);
}

#[test]
fn a_dependent_epoch_is_sent_when_the_other_core_says_that_its_own_is_complete() {
    let mut both = Both::default();
    both.store(ZERO, X);
    assert!(both.ask(ZERO, ONE, X, Access::Read).is_some());
    both.store(ONE, Y);
    assert_eq!(both.lines_sent(), [(ZERO, X.line())]);
    both.acknowledge();
    assert_eq!(both.lines_sent(), []);
    assert_eq!(both.deliver(), 1);
    assert_eq!(both.lines_sent(), [(ONE, Y.line())]);
}

#[test]
fn volatile_lines_carry_dependences() {
    let mut both = Both::default();
    both.store(ZERO, X);
    both.store(ZERO, FLAG);
    assert!(both.ask(ZERO, ONE, FLAG, Access::Read).is_some());
    both.store(ONE, Y);
    assert_eq!(both.lines_sent(), [(ZERO, X.line())]);
}

#[test]
fn who_has_not_written_a_line_or_has_all_durable_gives_no_note() {
    let mut both = Both::default();
    both.store(ZERO, X);
    assert_eq!(both.ask(ONE, ZERO, X, Access::Own), None);
    assert_eq!(both.ask(ZERO, ONE, Y, Access::Own), None);
    both.acknowledge();
    assert_eq!(both.ask(ZERO, ONE, X, Access::Own), None);
}

#[test]
fn a_dependence_passes_through_a_core_that_writes_nothing_persistent() {
    const TWO: CoreId = CoreId(2);
    let mut both = Both::default();
    both.store(ZERO, X);
    both.ask(ZERO, ONE, X, Access::Read);
    both.store(ONE, FLAG);
    assert!(both.ask(ONE, TWO, FLAG, Access::Read).is_some());
    both.store(TWO, Y);
    both.acknowledge();
    assert_eq!(both.deliver(), 1, "core 1 hears of core 0");
    assert_eq!(both.lines_sent(), []);
    assert_eq!(both.deliver(), 1, "core 2 hears of core 1");
    assert_eq!(both.lines_sent(), [(TWO, Y.line())]);
}

#[test]
fn cores_that_depend_on_each_other_do_not_wait_in_a_circle() {
    let mut both = Both::default();
    both.store(ZERO, X);
    both.store(ONE, Y);
    both.ask(ZERO, ONE, X, Access::Own);
    both.store(ONE, X);
    both.ask(ONE, ZERO, Y, Access::Own);
    both.store(ZERO, Y);
    both.dfence(ZERO);
    both.dfence(ONE);
    while !both.hw.sent.is_empty() || both.deliver() > 0 {
        if !both.hw.sent.is_empty() {
            both.acknowledge();
        }
    }
    let mut opened = both.hw.opened.clone();
    opened.sort_unstable();
    assert_eq!(opened, [drained(ZERO), drained(ONE)]);
}

#[test]
fn the_newest_entry_stays_while_more_stores_follow_and_goes_when_its_epoch_ends() {
    let mut both = Both::default();
    both.hw.pending = 2;
    both.store(ZERO, X);
    assert_eq!(both.lines_sent(), []);
    both.store(ZERO, Y);
    assert_eq!(both.lines_sent(), [(ZERO, X.line())]);
    both.ofence(ZERO);
    assert_eq!(both.lines_sent(), [(ZERO, X.line()), (ZERO, Y.line())]);
}

#[test]
fn a_full_buffer_sends_what_it_kept_and_opens_when_there_is_room() {
    let mut both = Both {
        buffers: ConservativeBuffers::of(1),
        ..Both::default()
    };
    both.hw.pending = 2;
    both.store(ZERO, X);
    let Departure::Wait(Until::Open(gate)) = both.buffers.departs(&mut both.hw, ZERO, Y) else {
        panic!("there is no room");
    };
    assert_eq!(both.lines_sent(), [(ZERO, X.line())]);
    both.acknowledge();
    assert_eq!(both.hw.opened, [gate]);
    both.store(ZERO, Y);
}

#[test]
fn storage_grows_with_entries_and_cores() {
    let machine = |cores| Sizes {
        cores,
        controllers: 1,
        store_queue_entries: 1,
        writeback_buffer_entries: 1,
        ..Sizes::default()
    };
    // Of 32 entries: 512 bits of data, 42 of address, 6 of epoch, 1 sent; 1 + 3 + 6 for a dependence on one of 8 cores; and two
    // registers of 6 bits a core.
    let bits: u64 = 32 * (512 + 42 + 6 + 1 + 10) + 12;
    assert_eq!(
        ConservativeBuffers::of(32).storage_bytes(&machine(8)),
        8 * bits.div_ceil(8)
    );
}
