//! What the graph of places says of each failure.

use strandline_design::{Held, Place, Wants};
use strandline_kernel::Cycles;
use strandline_machine::places::{Failure, Fate, Places, Way};
use strandline_machine::MachineConfig;

/// Every way between cores and media.
fn ways() -> Vec<Way> {
    let bits = |number: u32| [number & 1 > 0, number & 2 > 0, number & 4 > 0, number & 8 > 0];
    let way = |[adr, has_device, switch, cache]: [bool; 4]| Way {
        hosts: 1,
        adr,
        has_device: has_device || switch || cache,
        switch_bytes: switch.then_some(4096),
        device_cache_bytes: cache.then_some(1 << 20),
    };
    (0..16).map(bits).map(way).collect()
}

fn saving(saves: Option<Place>) -> Wants {
    Wants {
        saves,
        ..Wants::default()
    }
}

/// A machine's places with a buffer at the core and one at the controller.
fn places(way: Way, saves: Option<Place>) -> Places {
    let held = |name, place| Held {
        name,
        place,
        bytes: 640,
    };
    let buffers = [
        held("beside", Place::CoreBuffer),
        held("tables", Place::ControllerBuffer),
    ];
    let machine = MachineConfig::preset("common").expect("a preset");
    Places::of(way, &machine, 2, &saving(saves), &buffers)
}

const SAVES: [Option<Place>; 3] = [None, Some(Place::Private), Some(Place::CoreBuffer)];

/// What the manuals and papers say of power failure: ADR saves the write queues (StrandWeaver II-B), eADR the caches too, and
/// BBB its buffers but no cache (ASAP II-C).
#[test]
fn power_failure_takes_what_the_papers_say() {
    let lost = |adr, saves| {
        let places = places(
            Way {
                hosts: 1,
                adr,
                ..Way::default()
            },
            saves,
        );
        let lost = |place: &Place| places.fate(*place, Failure::Power) == Fate::Lost;
        let all = places.nodes.iter().map(|node| node.place);
        all.filter(lost).collect::<Vec<Place>>()
    };
    use Place::*;
    assert_eq!(
        lost(false, None),
        [
            StoreQueue,
            Private,
            Private,
            Llc,
            CoreBuffer,
            Link,
            Queue,
            ControllerBuffer
        ]
    );
    assert_eq!(lost(true, None), [StoreQueue, Private, Private, Llc, CoreBuffer, Link]);
    assert_eq!(lost(true, Some(CoreBuffer)), [StoreQueue, Private, Private, Llc]);
    assert_eq!(lost(true, Some(Private)), [StoreQueue]);
}

/// A byte that a failure of all power does not take is not taken by less, but for what is under way to a device that is gone.
#[test]
fn no_part_takes_more_than_all_of_them() {
    for (way, saves) in ways().into_iter().flat_map(|way| SAVES.map(|saves| (way, saves))) {
        let places = places(way, saves);
        for (node, failure) in places
            .nodes
            .iter()
            .flat_map(|node| Failure::ALL.map(|failure| (node, failure)))
        {
            let fate = places.fate(node.place, failure);
            let worst = places.fate(node.place, Failure::Power);
            let to_nobody = (failure, node.place) == (Failure::Device, Place::Link);
            assert!(
                to_nobody || fate != Fate::Lost || worst == Fate::Lost,
                "{way:?} {saves:?} {node:?} {failure:?}"
            );
            assert_eq!(node.place == Place::Media, node.bytes.is_none());
            assert!(node.place != Place::Media || fate == Fate::Survives);
        }
    }
}

/// A host's failure leaves a device as it is; without one the controllers are the host's.
#[test]
fn a_device_outlives_a_host() {
    for way in ways() {
        let places = places(way, None);
        let outlives = places.fate(Place::Queue, Failure::Host) == Fate::Survives;
        assert_eq!(outlives, way.has_device);
        assert_eq!(
            places.failures().count(),
            1 + 2 * usize::from(way.has_device) + usize::from(way.switch_bytes.is_some())
        );
        assert_eq!(places.fate(Place::Private, Failure::Host), Fate::Lost);
        assert_eq!(places.fate(Place::Private, Failure::Device), Fate::Survives);
    }
}

/// A buffer before a write queue takes a store before that does; at a device both are the device's.
#[test]
fn what_a_buffer_takes_first_is_durable_then() {
    let stop = Some(Place::ControllerBuffer);
    let wants = Wants { stop, ..saving(stop) };
    let when = |name: &str| {
        let machine = MachineConfig::preset(name).expect("a preset");
        Places::of(machine.way(), &machine, 1, &wants, &[]).durable_when()
    };
    assert_eq!(when("common"), "once the buffer before its write queue has accepted it");
    assert_eq!(when("cxl-asic"), "once the device has accepted it");
}

/// Half of the caches under eADR (ASAP VI-D), the buffers where those are saved, and no queue.
#[test]
fn what_is_written_on_reserve_power() {
    let drained = |saves| {
        places(
            Way {
                hosts: 1,
                adr: true,
                ..Way::default()
            },
            saves,
        )
        .drain_bytes()
    };
    assert_eq!(drained(None), 640);
    assert_eq!(drained(Some(Place::CoreBuffer)), 1280);
    // Two cores with 32 and 256 KiB, and an LLC of 32 MiB.
    assert_eq!(
        drained(Some(Place::Private)),
        (2 * (32 + 256) + 32 * 1024) * 1024 / 2 + 1280
    );
}

#[test]
fn a_devices_cache_is_written_before_the_caches_of_hosts() {
    let mut machine = MachineConfig::preset("cmm-h").expect("a preset");
    let mut lines = |ms: u64| {
        machine.fail.hold_up = Cycles(ms * 2_000_000);
        machine.lines_in_time()
    };
    // The queue of 4 KiB and half of 64 MiB take 16.779264 ms at 2 GB/s; behind them come lines of 64 bytes.
    assert_eq!(lines(16), Some(0));
    assert_eq!(lines(17), Some((17_000_000 - 16_779_264) * 2 / 64));
}
