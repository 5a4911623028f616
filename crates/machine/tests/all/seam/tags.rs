//! A design's tags of lines: where they go, and when the design is asked about them.

use super::script::{Gate, Own, Timer, SHUT};
use crate::common::{as_plain, preset, put, system, tiny};
use std::cell::RefCell;
use std::rc::Rc;
use strandline_design::{Access, Design, Eviction, Level, LineTag, Services, Store, Until};
use strandline_isa::{Addr, CoreId, Cpu, Line, Primitive, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::SimCpu;

/// When the gate opens.
const OPENS: u64 = 9_000;

/// What the design was asked about a line, with the line's tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// A core requests it.
    Request(u16, Line, Access, u64),
    /// It leaves a level.
    Leaves(Level, Line, Option<u64>),
}

/// Tags what cores write with their numbers plus 1.
#[derive(Clone, Default)]
struct Tagging {
    /// Whether requests of other cores wait for the gate.
    holds: bool,
    asked: Rc<RefCell<Vec<Asked>>>,
}

impl Design for Tagging {
    type Own = Own;

    as_plain!();

    fn visible(&mut self, hw: &mut dyn Services<Own>, core: CoreId, store: Store) {
        hw.tag_line(store.line(), LineTag(u64::from(core.0) + 1));
    }

    fn tagged(
        &mut self,
        hw: &mut dyn Services<Own>,
        requester: CoreId,
        line: Line,
        access: Access,
        tag: LineTag,
    ) -> Option<Until<Gate>> {
        self.asked
            .borrow_mut()
            .push(Asked::Request(requester.0, line, access, tag.0));
        if !self.holds || tag.0 == u64::from(requester.0) + 1 {
            return None;
        }
        hw.send(Cycles(OPENS), Timer);
        Some(SHUT)
    }

    fn evicted(&mut self, hw: &mut dyn Services<Own>, _: CoreId, level: Level, line: Line) -> Eviction<Gate> {
        let tag = hw.line_tag(line).map(|tag| tag.0);
        self.asked.borrow_mut().push(Asked::Leaves(level, line, tag));
        Eviction::WriteBack
    }

    fn message(&mut self, hw: &mut dyn Services<Own>, _: Timer) {
        self.holds = false;
        hw.open(Gate);
    }
}

fn pm(line: u64) -> Addr {
    Addr(PM_BASE + 64 * line)
}

fn volatile(line: u64) -> Addr {
    Addr(64 * line)
}

/// The other core's store is visible after these locked instructions, which miss.
fn idle(cpu: &SimCpu<'_>) {
    for line in 100..110 {
        cpu.word(volatile(line).0).swap(cpu.word(1));
    }
}

#[test]
fn a_request_for_a_line_with_a_tag_asks_the_design_wherever_the_line_is() {
    let design = Tagging::default();
    let asked = Rc::clone(&design.asked);
    let mut machine = preset("cosplay");
    machine.core.store_prefetch = false;
    let mut system = system(&machine, design, 2);
    put(&mut system, 0, |cpu| {
        cpu.word(pm(0).0).store(cpu.word(1));
        cpu.word(pm(0).0).load();
    });
    put(&mut system, 1, |cpu| {
        idle(cpu);
        cpu.word(pm(0).0).load();
        cpu.word(pm(0).0).load();
        cpu.primitive(Primitive::Mfence);
        cpu.word(pm(0).0).store(cpu.word(2));
        cpu.word(pm(1).0).load();
    });
    system.run().expect("ends");
    let line = pm(0).line();
    assert_eq!(
        asked.borrow()[..],
        [
            Asked::Request(1, line, Access::Read, 1),
            Asked::Request(1, line, Access::Own, 1)
        ],
        "once for each request that leaves the core's caches"
    );
}

#[test]
fn a_request_waits_until_the_gate_opens() {
    let design = Tagging {
        holds: true,
        ..Tagging::default()
    };
    let asked = Rc::clone(&design.asked);
    let mut system = system(&preset("cosplay"), design, 2);
    put(&mut system, 0, |cpu| {
        cpu.word(volatile(1).0).store(cpu.word(7));
    });
    put(&mut system, 1, |cpu| {
        idle(cpu);
        assert_eq!(cpu.word(volatile(1).0).load().bits(), 7);
    });
    let cycles = system.run().expect("ends").stats.cycles.0;
    let request = Asked::Request(1, volatile(1).line(), Access::Read, 1);
    assert_eq!(asked.borrow()[..], [request, request], "it asks again");
    assert!((OPENS..OPENS + 1_000).contains(&cycles), "{cycles}");
}

#[test]
fn a_line_takes_its_tag_along_when_it_leaves() {
    let design = Tagging::default();
    let asked = Rc::clone(&design.asked);
    let mut system = system(&tiny(), design, 1);
    put(&mut system, 0, |cpu| {
        // A clean line, a volatile one, one without a tag.
        cpu.word(pm(0).0).store(cpu.word(1));
        cpu.word(pm(0).0).flush();
        cpu.word(volatile(0).0).store(cpu.word(1));
        cpu.primitive(Primitive::Mfence);
        for line in 2..6 {
            cpu.word(pm(line).0).load();
            cpu.primitive(Primitive::Mfence);
        }
        cpu.word(pm(0).0).load();
    });
    let outcome = system.run().expect("ends");
    assert_eq!(
        outcome.stats.pm_writes, 1,
        "the flush; what is clean is not written again"
    );
    let mut left = asked.borrow().clone();
    left.retain(|asked| matches!(asked, Asked::Leaves(Level::Llc, ..)));
    assert_eq!(
        left,
        [
            Asked::Leaves(Level::Llc, pm(0).line(), Some(1)),
            Asked::Leaves(Level::Llc, volatile(0).line(), Some(1))
        ]
    );
    let requests = asked
        .borrow()
        .iter()
        .filter(|asked| matches!(asked, Asked::Request(..)))
        .count();
    assert_eq!(requests, 0, "what memory has has no tag");
}
