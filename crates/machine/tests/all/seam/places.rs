//! Every place of the seam: a design that answers it, and what the machine then does.

use super::script::{Note, Odd, Script, OPENS_AFTER};
use crate::common::{memory, preset, put, set_caches};
use strandline_design::boxed;
use strandline_isa::{Addr, CoreId, Cpu, Primitive, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::{MachineConfig, OpId, Options, Outcome, Seen, SimCpu, System, TraceOp, Traces};

fn machine() -> MachineConfig {
    preset("cosplay")
}

fn system(machine: &MachineConfig, odd: Odd, cores: usize) -> System {
    System::new(
        machine,
        boxed(Script::new(odd)),
        cores,
        memory(),
        Options {
            journal: true,
            trace: Traces::Everything,
            ..Options::default()
        },
    )
}

/// The design.
fn script(system: &System) -> &Script {
    system.design().downcast_ref().expect("the scripted design")
}

/// One store, flushed and fenced, on one core.
fn persist_one(cpu: &SimCpu<'_>) {
    let address = cpu.word(PM_BASE);
    address.store(cpu.word(3));
    address.flush_by(strandline_isa::Flush::Clwb);
    cpu.primitive(Primitive::Sfence);
}

fn persist_under(odd: Odd) -> (Outcome, System) {
    let mut system = system(&machine(), odd, 1);
    put(&mut system, 0, persist_one);
    let outcome = system.run().expect("the program ends");
    (outcome, system)
}

fn plain_cycles() -> u64 {
    persist_under(Odd::Nothing).0.stats.cycles.0
}

#[test]
fn claim_store_and_arrival_wait_for_the_gate() {
    for odd in [Odd::ClaimWaits, Odd::StoreWaits, Odd::ArrivalWaits] {
        let (outcome, system) = persist_under(odd);
        assert!(outcome.stats.cycles.0 >= OPENS_AFTER);
        assert_eq!(system.memory().read(Addr(PM_BASE), 8), 3);
        assert_eq!(outcome.stats.pm_writes, 1);
        assert!(plain_cycles() < OPENS_AFTER);
    }
}

#[test]
fn a_kept_store_stays_pending_and_invisible_until_it_is_performed() {
    let mut system = system(&machine(), Odd::StoreKept, 1);
    put(&mut system, 0, persist_one);
    assert_eq!(system.run_until(OPENS_AFTER), Ok(true));
    assert_eq!(
        system.look(CoreId(0)).pending_of(0),
        1,
        "the flush found nothing to write"
    );
    assert_eq!(system.memory().read(Addr(PM_BASE), 8), 0, "it is invisible");
    let outcome = system.run().expect("the fence retires");
    assert!(outcome.stats.cycles.0 > OPENS_AFTER, "the fence waits for the store");
    assert_eq!(system.memory().read(Addr(PM_BASE), 8), 3);
    assert_eq!(script(&system).performed, [script(&system).kept.expect("a store")]);
    let trace = outcome.journal.expect("kept").trace;
    assert!(matches!(trace.programs[0][0], TraceOp::Store { .. }));
    assert_eq!(
        trace.visible,
        [OpId {
            core: CoreId(0),
            index: 0
        }]
    );
}

#[test]
fn a_flush_that_the_design_sends_costs_what_the_machines_own_costs() {
    assert_eq!(persist_under(Odd::FlushTakenOver).0.stats.cycles.0, plain_cycles());
}

#[test]
fn a_blocked_issue_keeps_the_write_queued_but_acknowledged() {
    let (outcome, _) = persist_under(Odd::IssueBlocked);
    assert_eq!(
        outcome.stats.cycles.0,
        plain_cycles(),
        "with ADR the fence does not wait for the media"
    );
    assert_eq!(outcome.stats.pm_writes, 0, "nothing opened the gate");
}

#[test]
fn loads_are_supplied_or_wait() {
    let mut supplied = system(&machine(), Odd::LoadSupplied, 1);
    put(&mut supplied, 0, |cpu| {
        let value = cpu.word(PM_BASE).load();
        assert_eq!(value.bits(), 99);
    });
    // Dispatched in cycle 0, issued in 1, 33 cycles later there.
    let outcome = supplied.run().expect("ends");
    assert_eq!(outcome.stats.cycles, Cycles(34));
    let load = TraceOp::Load {
        addr: Addr(PM_BASE),
        size: 8,
        value: 99,
        from: Seen::Memory(0),
    };
    assert_eq!(outcome.journal.expect("kept").trace.programs, [[load]]);
    let mut waits = system(&machine(), Odd::LoadWaits, 1);
    put(&mut waits, 0, |cpu| {
        assert_eq!(cpu.word(PM_BASE).load().bits(), 0);
    });
    waits.run().expect("the gate opens");
}

#[test]
fn a_fence_that_holds_loads_keeps_them_until_it_opens() {
    for (odd, later) in [(Odd::HoldsLoads, true), (Odd::Nothing, false)] {
        let mut s = system(&machine(), odd, 1);
        put(&mut s, 0, |cpu| {
            cpu.primitive(Primitive::Mfence);
            cpu.word(PM_BASE).load();
        });
        let cycles = s.run().expect("ends").stats.cycles.0;
        assert_eq!(cycles > OPENS_AFTER, later);
    }
}

/// Core 0 writes a line; after the start line core 1 writes it too.
fn two_writers(odd: Odd) -> (Outcome, System) {
    let mut s = system(&machine(), odd, 2);
    for core in 0..2 {
        put(&mut s, core, move |cpu| {
            if core == 1 {
                cpu.start_line();
            }
            cpu.word(PM_BASE).store(cpu.word(u64::from(core) + 1));
            cpu.primitive(Primitive::Sfence);
            if core == 0 {
                cpu.start_line();
            }
        });
    }
    let outcome = s.run().expect("both end");
    (outcome, s)
}

#[test]
fn an_owner_delays_a_request_and_annotates_its_reply() {
    let (outcome, s) = two_writers(Odd::SnoopWaits);
    assert!(outcome.stats.cycles.0 > OPENS_AFTER / 2);
    assert_eq!(s.memory().read(Addr(PM_BASE), 8), 2);
    let (_, s) = two_writers(Odd::SnoopAnnotates);
    assert!(script(&s).replies.contains(&(CoreId(1), CoreId(0), Note(5))));
    let (_, s) = two_writers(Odd::Nothing);
    assert!(script(&s).replies.is_empty());
}

/// Writes a line and drives it out of every cache by writing more lines than they hold.
fn overflow(odd: Odd) -> Outcome {
    let mut m = machine();
    set_caches(&mut m, (1024, 2), (4096, 4));
    let mut s = system(&m, odd, 1);
    put(&mut s, 0, |cpu| {
        for line in 0..128 {
            cpu.word(PM_BASE + line * 64).store(cpu.word(1));
        }
        cpu.primitive(Primitive::Sfence);
    });
    s.run().expect("ends")
}

#[test]
fn evictions_are_written_back_dropped_or_held() {
    // 64 lines fit; half of the 128 dirty lines are driven out.
    assert_eq!(overflow(Odd::Nothing).stats.pm_writes, 64);
    assert_eq!(overflow(Odd::EvictionDropped).stats.pm_writes, 0);
    let held = overflow(Odd::EvictionHeld);
    assert_eq!(held.stats.pm_writes, 64, "held ones are written when the gate opens");
    let first = held.journal.expect("kept").durable.first().map(|d| d.at);
    assert!(first.is_some_and(|at| at.0 > OPENS_AFTER));
}

#[test]
fn a_miss_supplied_by_the_design_reads_no_memory() {
    let (supplied, _) = persist_under(Odd::MissSupplied);
    let (plain, _) = persist_under(Odd::Nothing);
    assert_eq!((supplied.stats.pm_reads, plain.stats.pm_reads), (0, 1));
    let read = machine().pm.read_latency.0;
    assert_eq!(plain.stats.cycles.0 - supplied.stats.cycles.0, read - 11);
}

/// One line written back three times by ever later flushes, while the media are busy.
fn flush_one_line_again_and_again(odd: Odd) -> Outcome {
    let mut m = machine();
    m.pm.banks = 1;
    let mut s = system(&m, odd, 1);
    put(&mut s, 0, |cpu| {
        for value in 0..6 {
            cpu.word(PM_BASE).store(cpu.word(value));
            cpu.word(PM_BASE).flush_by(strandline_isa::Flush::Clwb);
            cpu.primitive(Primitive::Sfence);
        }
    });
    s.run().expect("ends")
}

#[test]
fn a_write_joins_a_queued_one_unless_the_design_says_no() {
    let joined = flush_one_line_again_and_again(Odd::Nothing).stats;
    let apart = flush_one_line_again_and_again(Odd::NoCoalescing).stats;
    assert!(joined.coalesced > 0 && joined.pm_writes + joined.coalesced == 6);
    assert_eq!((apart.coalesced, apart.pm_writes), (0, 6));
}

#[test]
fn what_a_power_failure_adds_is_durable_when_the_first_write_is() {
    let durable = |odd| persist_under(odd).0.journal.expect("kept").durable;
    let plain = durable(Odd::Nothing);
    assert_eq!(plain.len(), 1);
    let [event] = &durable(Odd::PowerFails)[..] else {
        panic!("the design's line lies over the one written, and is told once");
    };
    assert_eq!(
        (event.at, event.line, event.data),
        (plain[0].at, Addr(PM_BASE).line(), [6; 8])
    );
}

/// Writes a line, drives it out of caches of two lines, and flushes it.
fn flush_what_was_evicted(cpu: &SimCpu<'_>) {
    let address = cpu.word(PM_BASE);
    // Younger loads wait for a locked instruction.
    address.fetch_add(cpu.word(3));
    cpu.word(PM_BASE + 128).load();
    address.flush();
    cpu.primitive(Primitive::Sfence);
}

fn flush_evicted_under(odd: Odd) -> Outcome {
    let mut m = machine();
    set_caches(&mut m, (128, 1), (128, 1));
    let mut s = system(&m, odd, 1);
    put(&mut s, 0, flush_what_was_evicted);
    s.run().expect("the program ends")
}

#[test]
fn a_flush_that_the_design_sends_finds_a_line_in_a_held_eviction() {
    let outcome = flush_evicted_under(Odd::HeldLineFlushed);
    assert_eq!(
        outcome.stats.pm_writes, 1,
        "nothing else writes the line: its gate stays shut"
    );
    let durable = outcome.journal.expect("kept").durable;
    assert_eq!(durable.first().map(|change| change.data[0]), Some(3));
}

/// As any request for the line.
#[test]
fn a_programs_flush_waits_for_a_held_eviction_of_its_line() {
    let outcome = flush_evicted_under(Odd::EvictionHeld);
    assert!(outcome.stats.cycles.0 > OPENS_AFTER);
    assert_eq!(outcome.stats.pm_writes, 1);
}
