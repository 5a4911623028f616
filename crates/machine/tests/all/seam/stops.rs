//! Writes that stop on their way, and reads of what is taken there.

use crate::common::{as_plain, memory, observed, preset, put, UnitTags};
use std::cell::Cell;
use std::rc::Rc;
use strandline_design::{
    boxed, Access, ByteMask, Design, Never, Passing, Place, PortId, Services, Supply, Types, Wants, WriteRequest,
};
use strandline_isa::{Addr, CoreId, Cpu, Flush, Line, LineData, Primitive, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::{Detail, MachineConfig, Options, Outcome, SimCpu, System};

/// How long a write waits that waits.
const WAITS: u64 = 5_000;

/// Answers the same of each write, and takes those that have waited.
struct Stopping {
    place: Option<Place>,
    answer: Passing,
    has_waited: bool,
    taken: Option<(Line, LineData)>,
    ports: Vec<PortId>,
}

struct Own;

impl Types for Own {
    type Gate = Never;
    type Message = ();
    type Tag = <UnitTags as Types>::Tag;
    type Note = Never;
}

impl Design for Stopping {
    type Own = Own;

    as_plain!();

    fn wants(&self) -> Wants {
        Wants {
            stop: self.place,
            saves: self.place,
            ..Wants::default()
        }
    }

    fn passes(&mut self, hw: &mut dyn Services<Own>, port: PortId, write: &WriteRequest<()>) -> Passing {
        self.ports.push(port);
        if self.answer == Passing::Wait && !std::mem::replace(&mut self.has_waited, true) {
            hw.send(hw.now() + Cycles(WAITS), ());
            return Passing::Wait;
        }
        if self.answer == Passing::GoOn {
            return Passing::GoOn;
        }
        self.taken = Some((write.line, write.data));
        hw.send_on(CoreId(0), write.line, write.data, write.bytes, ());
        hw.crash_state_changed();
        Passing::Take
    }

    fn message(&mut self, hw: &mut dyn Services<Own>, (): ()) {
        hw.look_at_stop();
    }

    fn missed(&mut self, _: &mut dyn Services<Own>, _: CoreId, line: Line, _: Access) -> Supply<Never> {
        match self.taken {
            Some((taken, data)) if taken == line => Supply::Stop(data, ByteMask::ALL),
            _ => Supply::Memory,
        }
    }

    fn acknowledged(&mut self, _: &mut dyn Services<Own>, _: CoreId, (): ()) {
        self.answer = Passing::GoOn;
    }

    fn power_fails(&self, image: &mut dyn FnMut(Line, LineData)) {
        self.taken.iter().for_each(|(line, data)| image(*line, *data));
    }
}

/// When a line is persisted, invalidated and read again, when it is durable, and the ports asked about.
fn timed(machine: &MachineConfig, place: Option<Place>, answer: Passing) -> ([u64; 2], Vec<PortId>) {
    let (outcome, read, ports) = run(machine, place, answer, observed());
    let durable = &outcome.journal.expect("kept").durable;
    assert_eq!(durable.iter().map(|event| event.data[0]).collect::<Vec<_>>(), [7]);
    ([read, durable[0].at.0], ports)
}

/// What is left, when the line is there again, and the ports asked about.
fn run(
    machine: &MachineConfig,
    place: Option<Place>,
    answer: Passing,
    options: Options,
) -> (Outcome, u64, Vec<PortId>) {
    let design = Stopping {
        place,
        answer,
        has_waited: false,
        taken: None,
        ports: Vec::new(),
    };
    let mut system = System::new(machine, boxed(design), 1, memory(), options);
    let times = Rc::new(Cell::new(0));
    let seen = times.clone();
    put(&mut system, 0, move |cpu: &SimCpu<'_>| {
        let at = Addr(PM_BASE);
        cpu.store(at, 0, 8, 7, 0);
        cpu.flush(at, 0, Flush::ClflushOpt);
        cpu.primitive(Primitive::Mfence);
        let read = cpu.load(at, 0, 8);
        assert_eq!(read.bits(), 7);
        seen.set(read.tag());
    });
    let outcome = system.run().expect("the program ends");
    let design: &Stopping = system.design().downcast_ref().expect("the design");
    (outcome, times.get(), design.ports.clone())
}

#[test]
fn a_timeline_has_the_way_of_a_line_from_the_middle_of_the_switch() {
    let machine = preset("cxl-switch");
    let (link, half) = (machine.cxl.link_latency.0, machine.cxl.switch_latency.0 / 2);
    let options = Options {
        timeline: Some(Detail::default()),
        ..Options::default()
    };
    let (outcome, ..) = run(&machine, Some(Place::Switch), Passing::Take, options);
    let crossings = outcome.timeline.expect("it was recorded").crossings.0;
    let read = crossings.last().expect("the line is read again");
    assert_eq!((read.back, read.line, read.device), (true, PM_BASE, None));
    assert_eq!([read.ready - read.asked, read.arrives - read.begins], [link + half; 2]);
    let in_switch = [read.begins, read.begins + half].map(Some);
    assert_eq!([read.enters, read.leaves], in_switch);
}

#[test]
fn a_write_that_is_taken_in_the_switch_is_durable_and_acknowledged_half_a_switch_earlier() {
    let machine = preset("cxl-switch");
    let half = machine.cxl.switch_latency.0 / 2;
    let ([plain, accepted], none) = timed(&machine, None, Passing::GoOn);
    assert_eq!(none, []);
    let ([through, passed], ports) = timed(&machine, Some(Place::Switch), Passing::GoOn);
    // Who lets a write go on loses nothing.
    assert_eq!((through, passed, ports), (plain, accepted, vec![PortId(0)]));
    let ([taken, durable], _) = timed(&machine, Some(Place::Switch), Passing::Take);
    assert_eq!(durable, accepted - half);
    // Half a switch less both ways of the flush, and of the read, which does not reach the media.
    assert_eq!(taken, plain - 4 * half - machine.pm.read_latency.0);
}

#[test]
fn a_write_waits_where_it_stops_until_the_design_has_it_looked_at() {
    let machine = preset("cxl-switch");
    let ([_, durable], _) = timed(&machine, Some(Place::Switch), Passing::Take);
    let ([_, later], ports) = timed(&machine, Some(Place::Switch), Passing::Wait);
    assert_eq!((later, ports.len()), (durable + WAITS, 2));
}

#[test]
fn what_the_device_takes_is_durable_before_the_backend_operation() {
    let mut machine = preset("cxl-switch");
    machine.controllers.bmo_latency = Cycles(700);
    let ([_, accepted], _) = timed(&machine, None, Passing::GoOn);
    let ([_, durable], _) = timed(&machine, Some(Place::ControllerBuffer), Passing::Take);
    assert_eq!(durable, accepted - 700);
}
