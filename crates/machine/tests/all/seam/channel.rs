//! The in-order channel from a core to all controllers.

use crate::common::{as_plain, memory, preset, put};
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;
use strandline_design::{
    boxed, Acceptance, Admission, ByteMask, ControllerId, Design, Never, Services, Types, WriteRequest,
};
use strandline_isa::{Addr, CoreId, Cpu, Line, Primitive, PM_BASE};
use strandline_kernel::{Cycles, Rng};
use strandline_machine::{MachineConfig, Options, System};

/// A packet's line, on the controller of this number; some have the same.
fn line(packet: usize, controller: u64, controllers: u64) -> Line {
    let number = packet as u64 % 5;
    Addr(PM_BASE + 64 * (number * controllers + controller)).line()
}

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// [`Services::write_in_order`].
    Write,
    /// [`Services::send_in_order`].
    Message,
    /// [`Services::write`], beside the channel.
    Beside,
}

/// What is sent when, by which core to which controller.
#[derive(Clone, Copy, Debug)]
struct Packet {
    at: u64,
    core: u16,
    controller: u64,
    kind: Kind,
}

/// When a packet came, and when it was to come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Came {
    said: Option<Cycles>,
    at: Option<Cycles>,
}

#[derive(Clone, Debug)]
enum Message {
    /// It is time to send the packet of this index.
    Send(usize),
    /// The packet has come.
    Came(usize),
}

/// A tag is the index of a packet.
struct Own;

impl Types for Own {
    type Gate = Never;
    type Message = Message;
    type Tag = usize;
    type Note = Never;
}

type Hw<'a> = dyn Services<Own> + 'a;

/// The packets in the order in which they came, and the times of each.
#[derive(Clone, Debug, Default)]
struct Log {
    order: Vec<usize>,
    came: Vec<Came>,
}

struct Sender {
    packets: Vec<Packet>,
    log: Rc<RefCell<Log>>,
}

impl Sender {
    fn send(&self, hw: &mut Hw<'_>, index: usize) {
        let Packet {
            core, controller, kind, ..
        } = self.packets[index];
        let (core, line) = (CoreId(core), line(index, controller, hw.controllers() as u64));
        let to = ControllerId(controller as u16);
        assert_eq!(hw.controller_of(line), to);
        self.log.borrow_mut().came[index].said = match kind {
            Kind::Write => Some(hw.write_in_order(core, line, [1; 8], ByteMask::ALL, index)),
            Kind::Message => Some(hw.send_in_order(core, to, Message::Came(index))),
            Kind::Beside => {
                hw.write(core, line, [1; 8], index);
                None
            }
        };
    }

    fn came(&self, now: Cycles, index: usize) {
        let mut log = self.log.borrow_mut();
        log.order.push(index);
        log.came[index].at = Some(now);
    }
}

impl Design for Sender {
    type Own = Own;

    as_plain!();

    fn primitive(&mut self, hw: &mut Hw<'_>, _: CoreId, _: Primitive) -> Admission<Never> {
        for (index, packet) in self.packets.iter().enumerate() {
            hw.send(Cycles(packet.at), Message::Send(index));
        }
        Admission::Pass
    }

    fn message(&mut self, hw: &mut Hw<'_>, message: Message) {
        match message {
            Message::Send(index) => self.send(hw, index),
            Message::Came(index) => self.came(hw.now(), index),
        }
    }

    fn arrived(&mut self, hw: &mut Hw<'_>, _: ControllerId, write: &WriteRequest<usize>) -> Acceptance<Never> {
        self.came(hw.now(), write.tag.expect("only the design writes"));
        Acceptance::Queue
    }
}

fn run(machine: &MachineConfig, packets: &[Packet], seed: u64) -> Log {
    let log = Rc::new(RefCell::new(Log {
        order: Vec::new(),
        came: vec![Came::default(); packets.len()],
    }));
    let design = Sender {
        packets: packets.to_vec(),
        log: Rc::clone(&log),
    };
    let options = Options {
        seed,
        ..Options::default()
    };
    let mut system = System::new(machine, boxed(design), 4, memory(), options);
    put(&mut system, 0, |cpu| {
        cpu.primitive(Primitive::Sfence);
    });
    system.run().expect("ends");
    log.take()
}

/// Two controllers and room for all writes.
fn machine() -> MachineConfig {
    let mut machine = preset("asap");
    machine.controllers.count = 2;
    machine.controllers.interleave_bytes = 64;
    machine.controllers.wpq_entries = 64;
    machine.controllers.bmo_latency = Cycles(0);
    machine.pm.write_to_controller = Cycles(100);
    machine
}

/// Packets of core 0 that are sent at cycle 1000: to which controller, and what.
fn at_once(packets: &[(u64, Kind)]) -> Vec<Packet> {
    let packet = |&(controller, kind)| Packet {
        at: 1_000,
        core: 0,
        controller,
        kind,
    };
    packets.iter().map(packet).collect()
}

/// How long after cycle 1000 each packet came.
fn delays(machine: &MachineConfig, packets: &[Packet]) -> Vec<u64> {
    let log = run(machine, packets, 1);
    let delay = |came: &Came| came.at.expect("it came").0 - 1_000;
    log.came.iter().map(delay).collect()
}

use Kind::{Beside, Message as Token, Write};

#[test]
fn a_packet_takes_as_long_as_any_other_write_unless_the_machine_says_otherwise() {
    let each = |machine: &MachineConfig, kind| delays(machine, &at_once(&[(0, kind)]));
    let mut machine = machine();
    for kind in [Beside, Write, Token] {
        assert_eq!(each(&machine, kind), [100], "{kind:?}");
    }
    machine.channel.latency = Cycles(30);
    assert_eq!(each(&machine, Write), [30]);
    assert_eq!(each(&machine, Token), [30]);
    assert_eq!(each(&machine, Beside), [100], "it is not on the channel");
}

#[test]
fn a_write_has_its_backend_operation_on_the_channel_too_and_a_message_has_none() {
    let mut machine = machine();
    machine.controllers.bmo_latency = Cycles(300);
    assert_eq!(delays(&machine, &at_once(&[(0, Beside)])), [400]);
    assert_eq!(delays(&machine, &at_once(&[(0, Write)])), [400]);
    assert_eq!(delays(&machine, &at_once(&[(0, Token)])), [100]);
    let both = at_once(&[(0, Write), (0, Token)]);
    assert_eq!(delays(&machine, &both), [400, 400], "behind the write");
}

#[test]
fn a_farther_controller_takes_longer_by_a_step_for_each_number() {
    let mut machine = machine();
    machine.channel.step = Cycles(40);
    assert_eq!(delays(&machine, &at_once(&[(0, Write)])), [100]);
    assert_eq!(delays(&machine, &at_once(&[(1, Write)])), [140]);
    let from_core_3 = [Packet {
        core: 3,
        ..at_once(&[(1, Token)])[0]
    }];
    assert_eq!(delays(&machine, &from_core_3), [180]);
}

#[test]
fn what_one_core_sends_comes_in_order_though_the_second_controller_is_nearer() {
    let mut machine = machine();
    machine.channel.step = Cycles(40);
    for kind in [Write, Token] {
        let packets = at_once(&[(1, Write), (0, kind)]);
        let log = run(&machine, &packets, 1);
        assert_eq!(log.order, [0, 1]);
        assert_eq!(delays(&machine, &packets), [140, 140]);
    }
    // Another core's packets overtake, and so does what goes beside the channel.
    let mut packets = at_once(&[(1, Write), (0, Write), (0, Beside)]);
    packets[1].core = 1;
    packets[1].controller = 1;
    assert_eq!(run(&machine, &packets, 1).order, [1, 2, 0]);
}

#[test]
fn packets_of_all_cores_take_turns_on_a_bus_that_they_share() {
    let mut machine = machine();
    let mut packets = at_once(&[(0, Write), (0, Token), (0, Write)]);
    packets[1].core = 1;
    machine.channel.step = Cycles(0);
    assert_eq!(delays(&machine, &packets), [100, 100, 100], "no such bus");
    machine.channel.occupancy = Cycles(25);
    assert_eq!(delays(&machine, &packets), [100, 125, 150]);
    packets[2].at = 1_200;
    assert_eq!(delays(&machine, &packets)[2], 300, "the bus is free again");
}

fn random_packets(rng: &mut Rng, count: usize, controllers: u64) -> Vec<Packet> {
    let mut at = 1_000;
    let mut packet = |_| {
        at += rng.below(4) * rng.below(100);
        Packet {
            at,
            core: rng.below(3) as u16,
            controller: rng.below(controllers),
            kind: [Write, Write, Token][rng.below(3) as usize],
        }
    };
    (0..count).map(&mut packet).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_core_keeps_its_order_on_shaken_machines_and_what_is_said_comes_true(seed: u64, count in 1usize..30) {
        let mut rng = Rng::new(seed);
        let mut machine = machine();
        machine.controllers.count = 1 << rng.below(3);
        machine.controllers.bmo_latency = Cycles(rng.below(2) * 300);
        machine.channel.latency = Cycles(rng.below(3) * 40);
        machine.channel.step = Cycles(rng.below(3) * 50);
        machine.channel.occupancy = Cycles(rng.below(2) * 20);
        machine.simulation.jitter = Cycles(rng.below(2) * 500);
        let packets = random_packets(&mut rng, count, machine.controllers.count);
        let log = run(&machine, &packets, seed);
        for core in 0..3 {
            let own = log.order.iter().filter(|index| packets[**index].core == core);
            prop_assert!(own.is_sorted(), "core {}: {:?}", core, log);
        }
        prop_assert_eq!(log.order.len(), count);
        let least = if machine.channel.latency.0 == 0 { 100 } else { machine.channel.latency.0 };
        for (came, packet) in log.came.iter().zip(&packets) {
            prop_assert_eq!(came.said, came.at);
            prop_assert!(came.at.expect("it came").0 >= packet.at + least);
        }
    }
}
