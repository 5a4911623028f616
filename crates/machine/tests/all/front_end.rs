//! The queues that limit how far dispatch runs ahead, on whole cores.

use crate::common::{self, preset, Reports};
use strandline_isa::{Cpu, Primitive, PM_BASE};
use strandline_machine::{MachineConfig, SimCpu, Stats};

/// Runs a program on a core of Table 2 with caches that hold nothing, changed by `change`; what it reported.
fn reported(
    change: impl FnOnce(&mut MachineConfig),
    program: impl FnOnce(&SimCpu<'_>, Reports) + 'static,
) -> (Vec<u64>, Stats) {
    let mut machine = preset("sp");
    change(&mut machine);
    common::reported(&machine, program)
}

/// Two loads that miss, then `third`: when the first load has its line, and when the op behind the third is dispatched.
fn behind_two_loads(entries: u64, third_is_store: bool) -> (u64, u64) {
    let program = move |cpu: &SimCpu<'_>, cycles: Reports| {
        let at = |line: u64| cpu.word(PM_BASE + line * 64);
        let first = at(0).load().tag();
        at(1).load();
        match third_is_store {
            true => at(2).store(cpu.word(1)),
            false => _ = at(2).load(),
        }
        cycles.borrow_mut().extend([first, cpu.cycles().bits()]);
    };
    let change = |machine: &mut MachineConfig| machine.core.load_store_queue_entries = entries;
    let (cycles, _) = reported(change, program);
    (cycles[0], cycles[1])
}

#[test]
fn a_full_load_store_queue_waits_for_its_oldest_load_to_retire() {
    for third_is_store in [false, true] {
        let (loaded, dispatched) = behind_two_loads(2, third_is_store);
        assert_eq!(dispatched, loaded, "store: {third_is_store}");
        assert_eq!(behind_two_loads(3, third_is_store).1, 0, "there is room");
        assert_eq!(behind_two_loads(0, third_is_store).1, 0, "no such limit");
    }
}

#[test]
fn a_full_load_store_queue_waits_for_its_oldest_store_to_leave() {
    // A store to a line that is not in the caches leaves when the line has arrived, a cycle after a load of it would
    // have its data, or when the load that requested it with the store has.
    let program = |cpu: &SimCpu<'_>, cycles: Reports| {
        cpu.word(PM_BASE).store(cpu.word(1));
        cpu.word(PM_BASE + 64).load();
        cycles.borrow_mut().push(cpu.cycles().bits());
        cpu.primitive(Primitive::Sfence);
        cpu.fenced();
        cycles.borrow_mut().push(cpu.cycles().bits());
    };
    let run = |entries| reported(move |machine| machine.core.load_store_queue_entries = entries, program).0;
    let (room, full) = (run(2), run(1));
    assert_eq!(room[0], 0, "the load is dispatched with the store");
    // An sfence retires when the store has become visible, which is when it leaves the queue.
    assert_eq!(full[0], room[1], "the load is dispatched when the store leaves");
}

/// `waiting` additions that depend on a load that misses, then an op that depends on nothing: when the load has its
/// line, and the dispatch of the last op; with the fetch stalls of the program.
fn behind_additions(waiting: u64, change: impl FnOnce(&mut MachineConfig)) -> (u64, u64, u64) {
    let program = move |cpu: &SimCpu<'_>, cycles: Reports| {
        cpu.start_line();
        let loaded = cpu.word(PM_BASE).load();
        (0..waiting).for_each(|_| _ = loaded + cpu.word(1));
        cycles.borrow_mut().extend([loaded.tag(), cpu.cycles().bits()]);
    };
    let (cycles, stats) = reported(change, program);
    (cycles[0], cycles[1], stats.fetch_stall_cycles)
}

#[test]
fn ops_that_wait_for_a_load_fill_the_issue_queue_of_48() {
    // The load and 47 additions are dispatched in cycles 0 to 11, four a cycle; the load has issued by then.
    assert_eq!(behind_additions(47, |_| ()).1, 12);
    // 48 additions fill the queue in cycle 12, in which the last of them is dispatched. They issue with the load's data.
    let (loaded, dispatched, stalled) = behind_additions(48, |_| ());
    assert_eq!(dispatched, loaded);
    // In cycle 12, 1 op is dispatched, so the fetch queue takes 3 of the 4 that are fetched, then 4 in each of 11
    // cycles: to 23. In cycle 24 it takes the last and keeps back 3, and from there on fetch is blocked.
    assert_eq!(stalled, loaded - 24);
    let (loaded, dispatched, stalled) = behind_additions(48, |machine| machine.core.fetch_queue_entries = 0);
    assert_eq!((dispatched, stalled), (loaded, loaded - 12), "without a fetch queue");
    assert_eq!(
        behind_additions(48, |machine| machine.core.issue_queue_entries = 0).1,
        12,
        "no such limit"
    );
}
