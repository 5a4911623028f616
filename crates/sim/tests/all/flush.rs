//! Flush on fail against a reference that moves line after line, and against what BBB's paper reports.

use strandline_design::{Place, Wants};
use strandline_designs::design;
use strandline_kernel::Rng;
use strandline_machine::places::flush::{Flush, Part, Rates};
use strandline_machine::places::{Failure, Fate, Node, Places, Way};
use strandline_machine::MachineConfig;
use strandline_rules::breaking;
use strandline_rules::flush::Rule;

const LINE: f64 = 64.0;

/// A machine, a way and what is in the places.
#[derive(Debug)]
struct Case {
    places: Places,
    rates: Rates,
    dirty: u64,
    hold_up_ns: f64,
}

/// A small machine, so that the reference is quick.
fn case(seed: u64) -> Case {
    let mut rng = Rng::new(seed);
    let mut below = |most: u64| rng.below(most);
    let mut machine = MachineConfig::preset("common").expect("a preset");
    machine.l1.bytes = 1024 << below(3);
    machine.llc.bytes = 4096 << below(3);
    machine.fail.dirty = 25 * below(5);
    machine.controllers.wpq_entries = 1 + below(64);
    let way = Way {
        hosts: 1,
        adr: true,
        has_device: true,
        switch_bytes: (below(2) == 0).then_some(64 * below(32)),
        device_cache_bytes: (below(2) == 0).then_some(64 * below(512)),
    };
    let wants = Wants {
        saves: Some(Place::Private),
        ..Wants::default()
    };
    let rates = Rates {
        way_ns: below(2000) as f64,
        way: (below(2) == 0).then_some(0.5 + below(16) as f64),
        media: 0.5 + below(8) as f64,
    };
    Case {
        places: Places::of(way, &machine, 1 + below(4), &wants, &[]),
        rates,
        dirty: machine.fail.dirty,
        hold_up_ns: below(60_000) as f64,
    }
}

/// What the reference finds: each line's place and the time at which it is on the media, in that order, and when the hosts know that
/// all lines were accepted and that all are on the media.
struct Reference {
    lines: Vec<(&'static str, f64)>,
    accepted_ns: f64,
    ends_ns: f64,
}

/// Moves line after line: over the way, into a queue with room, to the media.
fn reference(case: &Case) -> Reference {
    let Case {
        places, rates, dirty, ..
    } = case;
    let is_cache = |node: &Node| matches!(node.place, Place::Private | Place::Llc | Place::DeviceCache);
    let lines = |node: &Node| {
        let bytes = node.bytes.unwrap_or(0);
        (if is_cache(node) { bytes * dirty / 100 } else { bytes } / LINE as u64) as usize
    };
    let saved = |node: &&Node| node.place != Place::Link && places.fate(node.place, Failure::Power) == Fate::Flushed;
    let each = |node: &Node| vec![(node.name, node.place >= Place::Queue); lines(node)];
    let all: Vec<(&str, bool)> = places.nodes.iter().rev().filter(saved).flat_map(each).collect();
    let behind = |node: &&Node| matches!(node.place, Place::Queue | Place::DeviceCache);
    let room = places
        .nodes
        .iter()
        .filter(behind)
        .filter_map(|node| node.bytes)
        .sum::<u64>() as usize
        / LINE as usize;
    let (mut done, mut sent, mut accepted, mut found) = (Vec::<f64>::new(), rates.way_ns, 0.0_f64, Vec::new());
    for (number, (name, is_there)) in all.into_iter().enumerate() {
        let free = if number < room { 0.0 } else { done[number - room] };
        let comes = if is_there {
            0.0
        } else {
            sent += rates.way.map_or(0.0, |rate| LINE / rate);
            accepted = accepted.max(sent).max(free);
            sent.max(free)
        };
        let begins = done.last().copied().unwrap_or(0.0).max(comes);
        done.push(begins + LINE / rates.media);
        found.push((name, begins + LINE / rates.media));
    }
    let accepted_ns = accepted.max(rates.way_ns) + rates.way_ns;
    let last = done.last().copied().unwrap_or(0.0);
    // The second message finds the media at work or idle; its answer follows.
    let ends_ns = (accepted_ns + rates.way_ns).max(last) + rates.way_ns;
    Reference {
        lines: found,
        accepted_ns,
        ends_ns,
    }
}

/// What is wrong with the answer for a case. Pipes and lines differ by a few lines.
fn wrong(case: &Case) -> Option<String> {
    let flush: Flush = case.places.flush(&case.rates, Some(case.hold_up_ns));
    let found = reference(case);
    let near = 4.0 * LINE;
    let slack_ns = near / case.rates.media + near / case.rates.way.unwrap_or(f64::INFINITY);
    let far = |ours: f64, theirs: f64| (ours - theirs).abs() > slack_ns;
    if far(flush.accepted_ns, found.accepted_ns) || far(flush.ends_ns, found.ends_ns) {
        return Some(format!("{flush:?} but {} and {}", found.accepted_ns, found.ends_ns));
    }
    let lines_of = |name: &str| found.lines.iter().filter(move |(of, _)| *of == name).count();
    let late_of = |name: &str| {
        let late = found
            .lines
            .iter()
            .filter(|(of, at)| *of == name && *at > case.hold_up_ns);
        late.count() as f64 * LINE
    };
    let written: f64 = flush.parts.iter().map(|part| part.bytes).sum();
    if (written - found.lines.len() as f64 * LINE).abs() > near {
        return Some(format!("{written} bytes of {}", found.lines.len()));
    }
    let part = |part: &Part| {
        (part.lost - late_of(part.name)).abs() > 2.0 * near
            || (part.bytes - lines_of(part.name) as f64 * LINE).abs() > near
    };
    flush
        .parts
        .iter()
        .find(|each| part(each))
        .map(|part| format!("{part:?}"))
}

const CASES: u64 = 400;

#[test]
fn a_flush_is_that_of_line_after_line() {
    for seed in 0..CASES {
        let case = case(seed);
        assert_eq!(wrong(&case), None, "seed {seed}: {case:?}");
    }
}

#[test]
fn the_reference_catches_every_planted_fault() {
    for rule in Rule::ALL {
        let caught = (0..CASES).find(|seed| breaking(Some(*rule), || wrong(&case(*seed))).is_some());
        assert!(caught.is_some(), "{}: no case shows it", rule.name);
    }
}

/// BBB (HPCA 2021) reports for a phone of 6 cores and a server of 32: energy and time to drain the caches under eADR, 44.9 % of
/// which are dirty, and the buffers of 32 lines a core. A channel writes 2.3 GB/s.
#[test]
fn bbb_reports_the_same_energy_and_time() {
    let machine = |cores: u64, l1, l2, llc: u64, channels: u64| {
        let mut machine = MachineConfig::preset("common").expect("a preset");
        machine.l1.bytes = l1;
        machine.l2 = (l2 > 0).then(|| strandline_machine::config::Cache {
            bytes: l2,
            ..machine.l1.clone()
        });
        machine.llc.bytes = llc;
        (
            machine.controllers.count,
            machine.pm.write_gbps,
            machine.controllers.wpq_entries,
        ) = (channels, 2.3, 1);
        machine.fail.dirty = 45;
        (machine, cores)
    };
    let mib = 1 << 20;
    let phone = machine(6, mib / 8, 0, 8 * mib, 2);
    let server = machine(32, mib / 32, mib, 143 * mib / 2, 12);
    let drain = |(machine, cores): &(MachineConfig, u64), name: &str| {
        let places = machine.places(*cores, &*design(name).expect("a design"));
        let rates = Rates {
            way_ns: 0.0,
            ..machine.flush_rates()
        };
        let flush = places.flush(&rates, None);
        let own = flush.parts.iter().filter(|part| part.name != "write queues");
        (own.map(|part| part.nanojoules).sum::<f64>() / 1e6, flush.ends_ns / 1e6)
    };
    let near = |(ours, theirs): (f64, f64), within: f64| (ours / theirs - 1.0).abs() < within;
    let (phone_eadr, server_eadr) = (drain(&phone, "eadr"), drain(&server, "eadr"));
    assert!(
        near((phone_eadr.0, 46.5), 0.01) && near((server_eadr.0, 550.0), 0.01),
        "{phone_eadr:?} {server_eadr:?} mJ"
    );
    assert!(near((server_eadr.1, 1.8), 0.02), "{server_eadr:?} ms");
    let (phone_bbb, server_bbb) = (drain(&phone, "bbb"), drain(&server, "bbb"));
    assert!(
        near((phone_bbb.0, 0.145), 0.01) && near((server_bbb.0, 0.775), 0.01),
        "{phone_bbb:?} {server_bbb:?} mJ"
    );
    assert!(
        near((phone_bbb.1, 0.0026), 0.04) && near((server_bbb.1, 0.0024), 0.04),
        "{phone_bbb:?} {server_bbb:?} ms"
    );
}

/// What fits is what ends in time, and a per cent more does not.
#[test]
fn the_greatest_share_in_time_is_the_greatest() {
    let with = |dirty| {
        let mut machine = MachineConfig::preset("common").expect("a preset");
        machine.fail.dirty = dirty;
        machine
    };
    let rates = with(0).flush_rates();
    let places = |dirty| with(dirty).places(8, &*design("eadr").expect("a design"));
    let share = places(100).dirty_in_time(&rates, 1e6).expect("some fits");
    let is_late = |dirty| places(dirty).flush(&rates, Some(1e6)).is_dirty;
    assert!(
        (1..100).contains(&share) && !is_late(share) && is_late(share + 1),
        "{share}"
    );
    assert_eq!(places(1).dirty_in_time(&rates, 1e12), Some(100));
    assert_eq!(places(1).dirty_in_time(&rates, 1.0), None);
}
