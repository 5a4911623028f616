//! Writes of some bytes of a line leave the others, on the media and in the write queue.

use crate::common::{as_plain, memory, preset, put, UnitTags};
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;
use strandline_design::{boxed, Admission, ByteMask, ControllerId, Design, Never, Services, Wants, WriteRequest};
use strandline_isa::{Addr, CoreId, Cpu, Line, LineData, Memory, Primitive, PM_BASE};
use strandline_kernel::Rng;
use strandline_machine::{Options, Outcome, System};

const LINES: u64 = 2;

fn line(number: u64) -> Line {
    Addr(PM_BASE + 64 * number).line()
}

/// Bytes on their way to a line; those that are not written are noise.
#[derive(Clone, Copy)]
struct Packet {
    line: Line,
    data: LineData,
    bytes: ByteMask,
}

impl Packet {
    fn random(rng: &mut Rng) -> Packet {
        let first = rng.below(64);
        let bytes = match rng.below(4) {
            0 => ByteMask::ALL,
            1 => ByteMask(1 << first),
            2 => ByteMask(0xff << (first & !7)),
            _ => ByteMask(rng.next_u64()),
        };
        Packet {
            line: line(rng.below(LINES)),
            data: [(); 8].map(|()| rng.next_u64()),
            bytes,
        }
    }
}

/// Puts all packets on the channel at the first fence.
struct Sender {
    packets: Vec<Packet>,
    /// What it has seen of lines on the media, after each write there.
    on_media: Rc<RefCell<Vec<(Line, LineData)>>>,
}

impl Design for Sender {
    type Own = UnitTags;

    as_plain!();

    fn wants(&self) -> Wants {
        Wants {
            durable_lines: true,
            ..Wants::default()
        }
    }

    fn primitive(&mut self, hw: &mut dyn Services<UnitTags>, core: CoreId, _: Primitive) -> Admission<Never> {
        for packet in self.packets.drain(..) {
            hw.write_in_order(core, packet.line, packet.data, packet.bytes, ());
        }
        Admission::Pass
    }

    fn reached_media(&mut self, hw: &mut dyn Services<UnitTags>, _: ControllerId, write: &WriteRequest<()>) {
        let durable = hw.durable_line(write.line);
        self.on_media.borrow_mut().push((write.line, durable));
    }
}

/// Memory whose words are all different.
fn initial() -> Memory {
    let memory = memory();
    (0..8 * LINES).for_each(|word| memory.write(Addr(PM_BASE + 8 * word), 8, 0xabab_0000_0000_0000 + word));
    memory
}

struct Ran {
    outcome: Outcome,
    on_media: Vec<(Line, LineData)>,
}

/// A run in which these packets are sent, to media that are slow if the queue is to coalesce.
fn run(packets: &[Packet], adr: bool, coalesces: bool, journal: bool) -> Ran {
    let mut machine = preset("asap");
    machine.controllers.adr = adr;
    if coalesces {
        machine.pm.banks = 1;
    }
    let on_media = Rc::default();
    let design = Sender {
        packets: packets.to_vec(),
        on_media: Rc::clone(&on_media),
    };
    let options = Options {
        journal,
        ..Options::default()
    };
    let mut system = System::new(&machine, boxed(design), 1, initial(), options);
    put(&mut system, 0, |cpu| {
        cpu.primitive(Primitive::Sfence);
    });
    let outcome = system.run().expect("ends");
    let on_media = on_media.take();
    Ran { outcome, on_media }
}

/// The lines when all is durable, by the journal.
fn left(ran: &Ran) -> Vec<LineData> {
    let image = initial();
    for durable in &ran.outcome.journal.as_ref().expect("kept").durable {
        image.set_line(durable.line, &durable.data);
    }
    (0..LINES).map(|number| image.line(line(number))).collect()
}

/// The lines when all is durable, by each packet's own bytes.
fn expected(packets: &[Packet]) -> Vec<LineData> {
    let image = initial();
    for packet in packets {
        for byte in (0..64).filter(|byte| packet.bytes.0 >> byte & 1 != 0) {
            let value = packet.data[byte / 8] >> (8 * (byte % 8)) & 0xff;
            image.write(Addr(packet.line.addr().0 + byte as u64), 1, value);
        }
    }
    (0..LINES).map(|number| image.line(line(number))).collect()
}

#[test]
fn a_byte_that_is_written_leaves_the_rest_of_its_line() {
    let packet = Packet {
        line: line(0),
        data: [u64::MAX; 8],
        bytes: ByteMask(1 << 9),
    };
    for adr in [false, true] {
        let ran = run(&[packet], adr, false, true);
        let mut data = initial().line(line(0));
        data[1] |= 0xff00;
        assert_eq!(left(&ran)[0], data);
        assert_eq!(ran.on_media, [(line(0), data)]);
        assert_eq!(run(&[packet], adr, false, false).on_media, ran.on_media, "unobserved");
    }
}

#[test]
fn bytes_that_coalesce_reach_the_media_as_one_write_of_them_all() {
    // The first write keeps the only bank busy; the others meet in the queue.
    let packet = |number, byte: u64, value| Packet {
        line: line(number),
        data: [value; 8],
        bytes: ByteMask(1 << byte),
    };
    let packets = [packet(1, 0, 1), packet(0, 3, u64::MAX), packet(0, 17, 0)];
    let ran = run(&packets, false, true, true);
    assert_eq!(ran.outcome.stats.coalesced, 1);
    let mut data = initial().line(line(0));
    data[0] |= 0xff00_0000;
    data[2] &= !0xff00;
    let changed = ran.outcome.journal.expect("kept").durable;
    let changes: Vec<_> = changed.iter().filter(|durable| durable.line == line(0)).collect();
    assert_eq!(changes.len(), 1, "the queue is not in the persistence domain");
    assert_eq!(changes[0].data, data);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_is_that_of_the_last_packet_that_writes_it(seed: u64, count in 1usize..12, adr: bool, coalesces: bool) {
        let mut rng = Rng::new(seed);
        let packets: Vec<Packet> = (0..count).map(|_| Packet::random(&mut rng)).collect();
        let ran = run(&packets, adr, coalesces, true);
        prop_assert_eq!(left(&ran), expected(&packets));
        let unobserved = run(&packets, adr, coalesces, false);
        prop_assert_eq!(&unobserved.on_media, &ran.on_media);
    }
}
