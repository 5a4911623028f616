//! The running example of COSPlay, section 4.5 and Figure 6, looked at cycle by cycle.
//!
//! The program is the two tasks' code in the order in which the text has the runtime switch between them. A switch
//! issues no store and no flush here: it is that time in cycles of arithmetic, one instruction a cycle.

use super::with_contexts;
use crate::common::{preset, start};
use std::cell::Cell;
use std::rc::Rc;
use strandline_design::{
    boxed, About, Acceptance, Admission, AnyDesign, ControllerId, Design, Key, Keys, Ordering, Services, Store, Until,
    Write, WriteKind, WriteRequest,
};
use strandline_isa::{Addr, CoreId, Cpu, Flush, Line, Lowering, Memory, Primitive, PM_BASE};
use strandline_kernel::{forward, Cycles};
use strandline_machine::{CoreView, MachineConfig, Options, Queued, SimCpu, System, What};

const A: u64 = PM_BASE;
const B: u64 = PM_BASE + 0x1000;
const C: u64 = PM_BASE + 0x2000;
const D: u64 = PM_BASE + 0x3000;

/// Cycles of a switch.
const SWITCH: u64 = 100;
/// How much later than others a write of A's line is accepted.
const REMOTE: u64 = 600;
/// The gate of a write that waits, and the message that opens it; COSPlay has none.
const OPENS: Key = Key(1);

/// Fences by context, on a machine on which A's home is far away: the text's "addrA's home location resides in a remote
/// socket's memory range".
struct FarA {
    design: Box<AnyDesign>,
    opens: Option<Cycles>,
}

impl Design for FarA {
    type Own = Keys;

    forward! { self.design =>
        fn about(&self) -> About;
        fn lowering(&self) -> Lowering;
        fn primitive(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, primitive: Primitive) -> Admission<Key>;
    }

    fn arrived(&mut self, hw: &mut dyn Services<Keys>, _: ControllerId, write: &WriteRequest<Key>) -> Acceptance<Key> {
        let now = hw.now();
        if write.line != Addr(A).line() || self.opens.is_some_and(|opens| opens <= now) {
            return Acceptance::Queue;
        }
        let opens = now + Cycles(REMOTE);
        self.opens = Some(opens);
        hw.send(opens, OPENS);
        Acceptance::Wait(Until::Open(OPENS))
    }

    fn message(&mut self, hw: &mut dyn Services<Keys>, _: Key) {
        hw.open(OPENS);
    }
}

/// One instruction a cycle; a store waits some 200 cycles for its line, longer than a switch and shorter than two; the
/// store queue lets one entry go every 20 cycles, so that each is seen to leave; a flush takes 20 cycles and a little.
fn machine() -> MachineConfig {
    let mut machine = preset("cosplay");
    machine.core.dispatch_width = 1;
    // The figure's stores enter the queue as they execute.
    machine.core.drop_rules();
    machine.core.store_drain_interval = Cycles(20);
    machine.pm.read_latency = Cycles(90);
    machine.pm.write_to_controller = Cycles(20);
    machine
}

/// Instructions by their tags: 6 is 0.6, 106 is 1.6.
type Tag = u64;

const fn tag(context: Tag, line: Tag) -> Tag {
    100 * context + line
}

fn store_and_flush(cpu: &SimCpu<'_>, addr: u64, context: Tag, line: Tag, last: &Cell<Tag>) {
    cpu.word(addr).store(cpu.word(1));
    last.set(tag(context, line));
    cpu.word(addr).flush_by(Flush::Clwb);
    last.set(tag(context, line + 1));
}

fn switch(cpu: &SimCpu<'_>) {
    let mut x = cpu.word(1);
    for _ in 0..SWITCH {
        x = x + 1;
    }
}

/// The two tasks. `last` is the tag of the last instruction that has been issued; a fence that blocks counts as issued.
fn tasks(cpu: &SimCpu<'_>, last: Rc<Cell<Tag>>) {
    let issue = |context: Tag, line: Tag, primitive: Primitive| {
        cpu.primitive(primitive);
        last.set(tag(context, line));
    };
    for (context, addr) in [(0, A), (1, C)] {
        issue(context, 1, Primitive::Setctx(context as u8));
        store_and_flush(cpu, addr, context, 2, &last);
        switch(cpu);
    }
    for (context, addr) in [(0, B), (1, D)] {
        issue(context, 5, Primitive::Setctx(context as u8));
        issue(context, 6, Primitive::Cfence(context as u8));
        store_and_flush(cpu, addr, context, 7, &last);
        switch(cpu);
    }
    for context in [0, 1] {
        issue(context, 10, Primitive::Setctx(context as u8));
        issue(context, 11, Primitive::Cfence(context as u8));
    }
}

fn st(addr: u64, context: u8) -> Queued {
    let (addr, size, value) = (Addr(addr), 8, 1);
    let store = Store { addr, size, value };
    let kind = WriteKind::Store;
    let what = What::Write(Write { kind, store });
    Queued { what, context }
}

fn clwb(addr: u64, context: u8) -> Queued {
    let what = What::Ordering(Ordering::Flush(Addr(addr).line(), Flush::Clwb));
    Queued { what, context }
}

/// The example on its way.
struct Example {
    system: System,
    last: Rc<Cell<Tag>>,
    cycle: u64,
}

impl Example {
    fn new() -> Example {
        let design = FarA {
            design: boxed(with_contexts(2)),
            opens: None,
        };
        let mut system = System::new(
            &machine(),
            Box::new(design),
            1,
            Memory::new(1 << 20, 1 << 20),
            Options::default(),
        );
        let last = Rc::new(Cell::new(0));
        let issued = last.clone();
        start(&mut system, 0, move |cpu| tasks(cpu, issued.clone()));
        Example { system, last, cycle: 0 }
    }

    fn view(&self) -> CoreView {
        self.system.look(CoreId(0))
    }

    /// Goes on a cycle at a time until `there`; what the core holds then. A hundred thousand cycles are the end of the
    /// whole example many times over.
    fn until(&mut self, there: impl Fn(&CoreView, Tag) -> bool) -> CoreView {
        while self.cycle < 100_000 {
            self.system.run_until(self.cycle).expect("the example goes on");
            let view = self.view();
            if there(&view, self.last.get()) {
                return view;
            }
            self.cycle += 1;
        }
        panic!("not reached: {:?}", self.view());
    }

    /// Until an instruction is issued.
    fn issued(&mut self, context: Tag, line: Tag) -> CoreView {
        self.until(|_, last| last == tag(context, line))
    }
}

fn flushing(view: &CoreView) -> Vec<(Line, u8)> {
    assert!(view.writeback_buffer.iter().all(|f| !f.at_head));
    view.writeback_buffer.iter().map(|f| (f.line, f.context)).collect()
}

/// Context register, store queue, write-back buffer and Store-Clwb Tracker are exactly these.
fn expect(step: &str, view: &CoreView, context: u8, queue: &[Queued], buffer: &[(u64, u8)], tracker: [u64; 2]) {
    let buffer: Vec<(Line, u8)> = buffer.iter().map(|(addr, c)| (Addr(*addr).line(), *c)).collect();
    assert_eq!(view.context, context, "({step}) context register");
    assert_eq!(view.store_queue, queue, "({step}) store queue");
    assert_eq!(flushing(view), buffer, "({step}) write-back buffer");
    assert_eq!([view.pending_of(0), view.pending_of(1)], tracker, "({step}) SCT");
    assert!(view.combining.is_empty(), "({step}) nothing is combined");
}

const CFENCE_0: Option<Until<Key>> = Some(Until::Drained(Some(0)));
const CFENCE_1: Option<Until<Key>> = Some(Until::Drained(Some(1)));

#[test]
fn the_running_example_goes_through_the_states_of_figure_6() {
    let mut example = Example::new();
    // (b) The context register is 0 and everything else unused.
    expect("b", &example.view(), 0, &[], &[], [0, 0]);

    // (c) A's store still waits for its line when, a switch later, 1.2 enters.
    let view = example.issued(1, 2);
    expect("c", &view, 1, &[st(A, 0), clwb(A, 0), st(C, 1)], &[], [2, 1]);
    assert_eq!(view.held, None);

    // (d) 0.2 has drained and 0.3 has moved to the write-back buffer. The text says that 1.2 has entered the queue; its
    // SCT[1] = 2 says that it is 1.3. Context 1 is still switching away.
    let view = example.until(|view, _| !view.writeback_buffer.is_empty());
    expect("d", &view, 1, &[st(C, 1), clwb(C, 1)], &[(A, 0)], [1, 2]);
    assert_eq!((example.last.get(), view.held), (tag(1, 3), None));

    // (e) 0.5 has set the register, 0.6 blocks; 1.2 has drained and 1.3 has moved.
    let blocked_at = example.issued(0, 6);
    assert_eq!(blocked_at.held, CFENCE_0, "SCT[0] is {}", blocked_at.pending_of(0));
    let view = example.until(|view, _| view.writeback_buffer.len() == 2);
    expect("e", &view, 0, &[], &[(A, 0), (C, 1)], [1, 1]);
    assert_eq!((example.last.get(), view.held), (tag(0, 6), CFENCE_0));

    // (f) C, which came later, is done first; 0.6 still blocks, until A is done.
    let view = example.until(|view, _| view.writeback_buffer.len() == 1);
    expect("f", &view, 0, &[], &[(A, 0)], [1, 0]);
    let since = example.cycle;
    let released = example.until(|view, _| {
        let blocks = view.held.is_some();
        assert_eq!(
            blocks,
            flushing(view) == [(Addr(A).line(), 0)],
            "0.6 waits for A and for nothing else"
        );
        !blocks
    });
    assert!(example.cycle - since > REMOTE / 2, "A is far away");
    // 0.7 is dispatched in the cycle in which 0.6 retires, and 0.8, of the next cycle, has its entry (see `CoreView`).
    expect("f to g", &released, 0, &[st(B, 0), clwb(B, 0)], &[], [2, 0]);

    // (g) 0.6 to 0.9 are done; 1.5 has set the register, 1.6 retires at once, 1.7 and 1.8 have entered.
    let before = example.issued(1, 5);
    expect("before g", &before, 1, &[st(B, 0), clwb(B, 0)], &[], [2, 0]);
    let set_at = example.cycle;
    let view = example.issued(1, 8);
    expect(
        "g",
        &view,
        1,
        &[st(B, 0), clwb(B, 0), st(D, 1), clwb(D, 1)],
        &[],
        [2, 2],
    );
    assert_eq!(view.held, None);
    assert!(
        example.cycle <= set_at + 3,
        "1.6, 1.7 and 1.8 take a cycle each: 1.6 has not waited"
    );

    // (h) A switch later B is durable, D is not yet: 0.11 finds SCT[0] = 0.
    let view = example.issued(0, 11);
    expect("h", &view, 0, &[st(D, 1), clwb(D, 1)], &[], [0, 2]);
    assert_eq!(view.held, None, "0.11 retires at once");

    // And the end: 1.11 waits for the last clwb of context 1.
    let view = example.issued(1, 11);
    assert_eq!((view.held, view.pending_of(1)), (CFENCE_1, 2));
    let view = example.until(|view, _| view.held.is_none());
    expect("end", &view, 1, &[], &[], [0, 0]);
    assert!(!example.system.run_until(u64::MAX - 1).expect("it ends"));
}

#[test]
fn a_run_that_is_looked_at_every_cycle_takes_as_long_as_one_that_is_not() {
    let mut example = Example::new();
    example.until(|view, last| last == tag(1, 11) && view.held.is_none());
    let watched = example.system.run().expect("ends").stats;
    let unwatched = Example::new().system.run().expect("ends").stats;
    assert_eq!(format!("{watched:?}"), format!("{unwatched:?}"));
}
