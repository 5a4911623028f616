//! Hosts that share a device and whose caches nothing keeps alike: what each sees, what the device holds, and what the failure
//! of a host leaves.

use crate::common::{memory, observed, preset, put, Plain};
use std::cell::RefCell;
use std::rc::Rc;
use strandline_design::boxed;
use strandline_isa::{Addr, Alu, CoreId, Cpu, Flush, Primitive, Rmw, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::config::{Failing, HostCoherence};
use strandline_machine::{Crossing, Detail, HostFailure, MachineConfig, Options, Outcome, SimCpu, System};

const DATA: Addr = Addr(PM_BASE);
const SAME_LINE: Addr = Addr(PM_BASE + 8);
const FLAG: Addr = Addr(PM_BASE + 64);

/// Two hosts of a core each.
fn two_hosts() -> MachineConfig {
    let mut machine = preset("cxl-asic");
    machine.hosts = 2;
    machine
}

type Program = Box<dyn FnOnce(&SimCpu<'_>)>;

/// Runs a program on each core.
fn run(machine: &MachineConfig, programs: Vec<Program>) -> Outcome {
    let mut system = System::new(machine, boxed(Plain), programs.len(), memory(), observed());
    for (core, program) in programs.into_iter().enumerate() {
        put(&mut system, core as u16, program);
    }
    system.run().expect("the programs end")
}

/// What the device holds of a word at the end.
fn left(outcome: &Outcome, word: Addr) -> u64 {
    let journal = outcome.journal.as_ref().expect("it was kept");
    let of_line = journal.durable.iter().rev().find(|event| event.line == word.line());
    of_line.map_or(0, |event| event.data[(word.0 / 8 % 8) as usize])
}

/// Arithmetic until this cycle, about: its result is ready then.
fn until(cpu: &SimCpu<'_>, cycle: u64) -> u64 {
    let mut ready = 0;
    while ready < cycle {
        ready = cpu.alu(Alu::Simple, ready.max(1), 0);
    }
    ready
}

fn store(cpu: &SimCpu<'_>, addr: Addr, value: u64, ready: u64) {
    cpu.store(addr, 0, 8, value, ready);
}

fn persist(cpu: &SimCpu<'_>, addr: Addr) {
    cpu.flush(addr, 0, Flush::Clwb);
    cpu.primitive(Primitive::Sfence);
}

/// Those of a device with a directory.
fn coherent_hosts() -> MachineConfig {
    let mut machine = two_hosts();
    machine.cxl.coherence = HostCoherence::Hardware;
    machine
}

/// What a host reads at cycle 20,000 of what the other has stored at 5,000, and read itself at first.
fn read_after(machine: &MachineConfig, publish: fn(&SimCpu<'_>), acquire: fn(&SimCpu<'_>)) -> u64 {
    let read = Rc::new(RefCell::new(0));
    let reads = read.clone();
    let writer = move |cpu: &SimCpu<'_>| {
        let ready = until(cpu, 5000);
        store(cpu, DATA, 7, ready);
        publish(cpu);
    };
    let reader = move |cpu: &SimCpu<'_>| {
        let first = cpu.load(DATA, 0, 8);
        let ready = until(cpu, 20_000);
        // The fences wait for a store that is late.
        store(cpu, FLAG, first.bits(), ready);
        acquire(cpu);
        *reads.borrow_mut() = cpu.load(DATA, ready, 8).bits();
    };
    run(machine, vec![Box::new(writer), Box::new(reader)]);
    read.take()
}

fn invalidate(cpu: &SimCpu<'_>, fence: Primitive) {
    cpu.flush(DATA, 0, Flush::ClflushOpt);
    cpu.primitive(fence);
}

#[test]
fn a_host_sees_a_store_of_another_once_that_has_flushed_and_it_has_invalidated() {
    let read = |publish, acquire| read_after(&two_hosts(), publish, acquire);
    let flush: fn(&SimCpu<'_>) = |cpu| persist(cpu, DATA);
    let acquire: fn(&SimCpu<'_>) = |cpu| invalidate(cpu, Primitive::Mfence);
    let nothing: fn(&SimCpu<'_>) = |_| ();
    assert_eq!(read(flush, acquire), 7);
    assert_eq!(read(nothing, acquire), 0, "not flushed");
    assert_eq!(read(flush, nothing), 0, "not invalidated");
    assert_eq!(
        read(flush, |cpu| cpu.flush(DATA, 0, Flush::Clwb)),
        0,
        "clwb keeps the line"
    );
    // A load is not ordered behind a clflushopt by an sfence.
    assert_eq!(read(flush, |cpu| invalidate(cpu, Primitive::Sfence)), 0);
    assert_eq!(
        read_after(&coherent_hosts(), nothing, nothing),
        7,
        "a directory invalidates"
    );
}

#[test]
fn with_a_directory_hosts_share_lines_and_locked_instructions_are_atomic() {
    let add = |cpu: &SimCpu<'_>| {
        for _ in 0..10 {
            cpu.rmw(DATA, 0, Rmw::Add, 1, 0);
        }
        persist(cpu, DATA);
    };
    let write = |cpu: &SimCpu<'_>| {
        let ready = until(cpu, 9000);
        store(cpu, SAME_LINE, 8, ready);
        cpu.rmw(DATA, 0, Rmw::Add, 1, 0);
        persist(cpu, DATA);
    };
    let mut machine = coherent_hosts();
    machine.hosts = 3;
    let outcome = run(&machine, vec![Box::new(add), Box::new(add), Box::new(write)]);
    assert_eq!((left(&outcome, DATA), left(&outcome, SAME_LINE)), (21, 8));
}

/// A host stores a word, in its cache or around it, and never flushes it; the other reads it or not, before the first fails, and after.
fn read_of_the_failed(stores: fn(&SimCpu<'_>), before: bool) -> (Vec<u64>, u64) {
    read_of_the_failed_on(coherent_hosts(), stores, before)
}

fn read_of_the_failed_on(mut machine: MachineConfig, stores: fn(&SimCpu<'_>), before: bool) -> (Vec<u64>, u64) {
    machine.simulation.fails = Failing::H0;
    machine.simulation.fails_at = Cycles(10_000);
    let read = Rc::new(RefCell::new(Vec::new()));
    let reads = read.clone();
    let writer = move |cpu: &SimCpu<'_>| {
        stores(cpu);
        let ready = until(cpu, 30_000);
        store(cpu, FLAG, 1, ready);
    };
    let reader = move |cpu: &SimCpu<'_>| {
        cpu.load(DATA, 0, 8);
        let ready = until(cpu, 1000);
        // Where caches are small, these leave no room for it.
        (1..=8).for_each(|line| _ = cpu.load(Addr(64 * line), ready, 8));
        for (at, reads_then) in [(5000, before), (20_000, true)] {
            let ready = until(cpu, at);
            if reads_then {
                store(cpu, Addr(64), 1, ready);
                cpu.primitive(Primitive::Mfence);
                reads.borrow_mut().push(cpu.load(DATA, ready, 8).bits());
            }
        }
    };
    let outcome = run(&machine, vec![Box::new(writer), Box::new(reader)]);
    (read.take(), left(&outcome, DATA))
}

#[test]
fn a_value_of_a_failed_host_is_gone_unless_another_has_read_it() {
    let cached: fn(&SimCpu<'_>) = |cpu| store(cpu, DATA, 7, 0);
    // It stays in a write-combining buffer.
    let around: fn(&SimCpu<'_>) = |cpu| cpu.store_nt(DATA, 0, 8, 7, 0);
    for stores in [cached, around] {
        assert_eq!(read_of_the_failed(stores, false), (vec![0], 0));
        // The read has brought it to the device.
        assert_eq!(read_of_the_failed(stores, true), (vec![7, 7], 7));
    }
}

#[test]
fn a_host_that_shared_a_line_asks_before_it_writes_although_nobody_else_has_it_now() {
    let mut machine = coherent_hosts();
    (machine.l1.bytes, machine.l1.ways) = (64, 1);
    machine.l2 = None;
    (machine.llc.bytes, machine.llc.ways) = (512, 4);
    let stores = |cpu: &SimCpu<'_>| {
        cpu.load(DATA, 0, 8);
        let ready = until(cpu, 2000);
        // It leaves the private caches alone.
        cpu.load(Addr(PM_BASE + 128), ready, 8);
        let ready = until(cpu, 3000);
        cpu.load(DATA, ready, 8);
        let ready = until(cpu, 4000);
        store(cpu, DATA, 7, ready);
    };
    assert_eq!(read_of_the_failed_on(machine, stores, true), (vec![7, 7], 7));
}

#[test]
fn hosts_that_write_one_line_lose_what_the_other_wrote() {
    let write = |word: Addr, value: u64, at: u64| {
        move |cpu: &SimCpu<'_>| {
            let before = cpu.load(word, 0, 8);
            let ready = until(cpu, at);
            store(cpu, word, value + before.bits(), ready);
            persist(cpu, word);
        }
    };
    let outcome = run(
        &two_hosts(),
        vec![Box::new(write(DATA, 7, 5000)), Box::new(write(SAME_LINE, 8, 9000))],
    );
    assert_eq!((left(&outcome, DATA), left(&outcome, SAME_LINE)), (0, 8));
}

#[test]
fn a_locked_instruction_is_atomic_on_its_host_alone() {
    let adds = |hosts: u64| {
        let mut machine = two_hosts();
        machine.hosts = hosts;
        let add = |cpu: &SimCpu<'_>| {
            for _ in 0..10 {
                cpu.rmw(DATA, 0, Rmw::Add, 1, 0);
            }
            persist(cpu, DATA);
        };
        left(&run(&machine, vec![Box::new(add), Box::new(add)]), DATA)
    };
    assert_eq!((adds(1), adds(2)), (20, 10));
}

#[test]
fn non_temporal_stores_write_their_bytes_and_leave_those_of_other_hosts() {
    let first = |cpu: &SimCpu<'_>| {
        store(cpu, DATA, 7, 0);
        persist(cpu, DATA);
    };
    let second = |cpu: &SimCpu<'_>| {
        // It has the line as it was.
        let old = cpu.load(DATA, 0, 8);
        let ready = until(cpu, 9000);
        cpu.store_nt(SAME_LINE, 0, 8, 8 + old.bits(), ready);
        cpu.primitive(Primitive::Sfence);
    };
    let outcome = run(&two_hosts(), vec![Box::new(first), Box::new(second)]);
    assert_eq!((left(&outcome, DATA), left(&outcome, SAME_LINE)), (7, 8));
}

#[test]
fn a_host_reads_its_own_write_on_the_way_and_from_a_combining_buffer() {
    let read = Rc::new(RefCell::new(Vec::new()));
    let reads = read.clone();
    let program = move |cpu: &SimCpu<'_>| {
        store(cpu, DATA, 7, 0);
        // It leaves the caches, and is on its way for a hundred cycles and more.
        cpu.flush(DATA, 0, Flush::ClflushOpt);
        let ready = until(cpu, 700);
        reads.borrow_mut().push(cpu.load(DATA, ready, 8).bits());
        cpu.store_nt(FLAG, 0, 8, 9, ready);
        let ready = until(cpu, 1000);
        reads.borrow_mut().push(cpu.load(FLAG, ready, 8).bits());
    };
    run(&two_hosts(), vec![Box::new(program), Box::new(|_: &SimCpu<'_>| ())]);
    assert_eq!(*read.borrow(), [7, 9]);
}

#[test]
fn a_dirty_line_that_is_invalidated_reaches_the_device_whatever_fetches_it_meanwhile() {
    let mut machine = two_hosts();
    machine.simulation.evict_one_in = 1;
    let program = |cpu: &SimCpu<'_>| {
        for value in 1..=20 {
            store(cpu, DATA, value, 0);
            cpu.flush(DATA, 0, Flush::ClflushOpt);
            cpu.primitive(Primitive::Mfence);
        }
    };
    let outcome = run(&machine, vec![Box::new(program), Box::new(|_: &SimCpu<'_>| ())]);
    assert_eq!(left(&outcome, DATA), 20);
}

/// The word that the failing host writes in its number-th turn.
fn word(number: u64) -> Addr {
    Addr(PM_BASE + 64 * number)
}

/// A host stores and flushes a word every thousand cycles from 1,000 on, and fails; the other looks on, and says whether it
/// was told.
fn failing(at: u64) -> (Outcome, bool) {
    let mut machine = two_hosts();
    machine.simulation.fails = Failing::H0;
    machine.simulation.fails_at = Cycles(at);
    let dies = move |cpu: &SimCpu<'_>| {
        for number in 0..5 {
            let ready = until(cpu, 1000 * (number + 1));
            store(cpu, word(number), number + 1, ready);
            persist(cpu, word(number));
        }
    };
    let told = Rc::new(RefCell::new(false));
    let tells = told.clone();
    let survives = move |cpu: &SimCpu<'_>| {
        let ready = until(cpu, 50_000);
        store(cpu, Addr(64), 1, ready);
        cpu.primitive(Primitive::Mfence);
        *tells.borrow_mut() = cpu.has_failed(CoreId(0)) && !cpu.has_failed(CoreId(1));
    };
    let outcome = run(&machine, vec![Box::new(dies), Box::new(survives)]);
    (outcome, told.take())
}

fn words(outcome: &Outcome) -> Vec<u64> {
    (0..5).map(|number| left(outcome, word(number))).collect()
}

#[test]
fn a_host_that_fails_leaves_what_has_left_it() {
    for (at, expected, is_told) in [
        (500, [0; 5], true),
        (3900, [1, 2, 3, 0, 0], true),
        (60_000, [1, 2, 3, 4, 5], false),
    ] {
        let (outcome, told) = failing(at);
        assert_eq!((words(&outcome), told), (expected.to_vec(), is_told), "{at}");
    }
}

#[test]
fn what_is_on_the_link_when_its_host_fails_arrives() {
    let whole = failing(60_000).0.journal.expect("it was kept").durable;
    let third = whole.iter().find(|event| event.line == word(2).line());
    let accepted = third.expect("it was written").at.0;
    let way = two_hosts().cxl.way().0;
    assert_eq!(way, 106, "53 ns at 2 GHz");
    let arrives = |at: u64| words(&failing(at).0)[2] == 3;
    for at in accepted - way - 20..accepted + 5 {
        assert_eq!(arrives(at), at >= accepted - way, "{at}, accepted at {accepted}");
    }
}

#[test]
fn a_timeline_has_the_way_of_each_line_and_who_failed() {
    let mut machine = preset("cxl-switch");
    (machine.hosts, machine.simulation.fails, machine.simulation.fails_at) = (2, Failing::H1, Cycles(9000));
    let options = Options {
        timeline: Some(Detail::default()),
        ..Options::default()
    };
    let mut system = System::new(&machine, boxed(Plain), 2, memory(), options);
    put(&mut system, 0, |cpu: &SimCpu<'_>| {
        store(cpu, DATA, 7, 0);
        persist(cpu, DATA);
        until(cpu, 50_000);
    });
    put(&mut system, 1, |cpu: &SimCpu<'_>| _ = until(cpu, 50_000));
    let timeline = system
        .run()
        .expect("the programs end")
        .timeline
        .expect("it was recorded");
    assert_eq!(timeline.hosts, [0, 1]);
    // 53 ns over a link and 143 ns through the switch, at 2 GHz; a line takes a link of 19.3 GB/s 3.3 ns.
    let (link, switch, takes) = (106, 286, 7);
    let [read, write] = timeline.crossings.0[..] else {
        panic!("the line is read, and written back: {:?}", timeline.crossings.0)
    };
    let way = |line: &Crossing| (line.ends - line.begins, line.arrives - line.begins);
    for line in [&read, &write] {
        assert_eq!((line.host, line.line, way(line)), (0, DATA.0, (takes, link + switch)));
    }
    assert_eq!(
        (read.back, read.write, read.device),
        (true, None, Some(read.asked + link + switch))
    );
    assert_eq!(read.ready - read.device.expect("it was read"), 120, "60 ns");
    assert_eq!(
        (read.enters, read.leaves),
        (Some(read.begins), Some(read.begins + switch))
    );
    assert_eq!((write.back, write.write, write.device), (false, Some(0), None));
    assert_eq!(write.ready - write.asked, 60, "30 ns to the edge of the host");
    assert_eq!(
        (write.enters, write.leaves),
        (Some(write.begins + link), Some(write.arrives))
    );
    assert_eq!(timeline.writes.0[0].arrived, Some(write.arrives));
    // 10 us at 2 GHz until the other is told.
    let told = Some(9000 + 20_000);
    assert_eq!(
        timeline.failures.0,
        [HostFailure {
            host: 1,
            at: 9000,
            told
        }]
    );
}

/// What a power failure leaves of a word in each of three pages that are written behind a DRAM of so many pages, with reserve power
/// for so many ns; and how many of the three dirty pages it finds there `strandline places` says are lost.
fn left_behind_flash(hold_up: u64, pages: u64) -> ([u64; 3], u64) {
    let mut machine = preset("cmm-h");
    (machine.cxl.cache_bytes, machine.cxl.cache_ways) = (pages * 4096, pages);
    (machine.fail.hold_up, machine.fail.dirty) = (Cycles(2 * hold_up), 300 / pages);
    let words = [0, 1, 2].map(|page| Addr(PM_BASE + page * 4096));
    let program = move |cpu: &SimCpu<'_>| {
        // The second is written to again, when it is dirty already.
        for (at, value) in words.into_iter().chain([words[1]]).zip(1..) {
            store(cpu, at, value, 0);
            persist(cpu, at);
        }
    };
    let outcome = run(&machine, vec![Box::new(program)]);
    let flush = machine
        .places(1, &*boxed(Plain))
        .flush(&machine.flush_rates(), machine.hold_up_ns());
    let late = flush
        .parts
        .iter()
        .find(|part| part.name == "device cache")
        .map_or(0.0, |part| part.lost);
    (words.map(|at| left(&outcome, at)), (late / 4096.0).ceil() as u64)
}

/// At 2 GB/s a page of 4 KiB takes 2,048 ns. What was written to first is nearest to the flash.
#[test]
fn what_reserve_power_cannot_write_of_a_devices_cache_is_lost() {
    assert_eq!(left_behind_flash(0, 4), ([1, 4, 3], 0), "it lasts");
    assert_eq!(left_behind_flash(2_000, 4), ([0, 0, 0], 3), "for no page");
    assert_eq!(left_behind_flash(2_100, 4), ([1, 0, 0], 2), "for one");
    assert_eq!(left_behind_flash(4_200, 4), ([1, 4, 0], 1), "for two");
    assert_eq!(left_behind_flash(6_200, 4), ([1, 4, 3], 0), "for all pages");
    assert_eq!(left_behind_flash(20_000, 4), ([1, 4, 3], 0), "for the queue, too");
    // A page that has made room is on the flash: of two pages the first, for the third.
    assert_eq!(left_behind_flash(1, 2).0, [1, 0, 0]);
}

/// CXL-DMSim's ratio: a load from the device takes 2.18 times one from local memory.
#[test]
fn a_load_from_the_device_takes_2_18_times_a_local_one() {
    // A device whose cache has the line is as fast as its DRAM.
    for (name, ratio) in [("cxl-asic", 2.18), ("cxl-fpga", 2.88), ("cmm-h", 2.88)] {
        let times = Rc::new(RefCell::new(Vec::new()));
        let seen = times.clone();
        let program = move |cpu: &SimCpu<'_>| {
            let local = cpu.load(Addr(4096), 0, 8).tag();
            let far = cpu.load(Addr(PM_BASE + 4096), local, 8).tag();
            seen.borrow_mut().extend([local, far - local]);
        };
        run(&preset(name), vec![Box::new(program)]);
        let [local, far] = times.borrow()[..] else {
            panic!("two loads")
        };
        let found = far as f64 / local as f64;
        assert!((found - ratio).abs() < 0.03, "{name}: {found}");
    }
}
