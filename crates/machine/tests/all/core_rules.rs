//! What a core may be limited by besides its entries and widths, on whole cores: each rule alone.

use crate::common::{self, preset, Reports};
use strandline_isa::{Addr, Cpu, Primitive, Rmw, Site, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::config::DecodeEnd;
use strandline_machine::{MachineConfig, SimCpu, Stats};

/// Runs a program on COSPlay's core at four micro-ops a cycle, changed by `change`; what it reported.
fn reported(
    change: impl FnOnce(&mut MachineConfig),
    program: impl FnOnce(&SimCpu<'_>, Reports) + 'static,
) -> (Vec<u64>, Stats) {
    let mut machine = preset("cosplay");
    machine.core.dispatch_width = 4;
    machine.core.drop_rules();
    change(&mut machine);
    common::reported(&machine, program)
}

/// Six additions in three basic blocks of two: when the op behind them is dispatched.
fn behind_three_blocks(change: impl FnOnce(&mut MachineConfig)) -> u64 {
    let program = |cpu: &SimCpu<'_>, cycles: Reports| {
        for site in 0..3 {
            let sum = cpu.word(1) + cpu.word(1);
            // Branches that are not taken are predicted from the beginning.
            cpu.branch(sum.tag(), false, Site(site));
        }
        cycles.borrow_mut().push(cpu.cycles().bits());
    };
    reported(change, program).0[0]
}

#[test]
fn a_decoder_ends_its_cycle_with_a_basic_block() {
    assert_eq!(behind_three_blocks(|_| ()), 1, "six ops, four a cycle");
    assert_eq!(
        behind_three_blocks(|machine| machine.core.decode_queue_entries = 28),
        3,
        "a block a cycle"
    );
}

/// When four independent additions have their results, after the last of which nothing is dispatched.
fn additions(change: impl FnOnce(&mut MachineConfig)) -> Vec<u64> {
    let program = |cpu: &SimCpu<'_>, cycles: Reports| {
        for _ in 0..4 {
            cycles.borrow_mut().push((cpu.word(1) + cpu.word(1)).tag());
        }
    };
    reported(change, program).0
}

#[test]
fn ops_without_a_port_issue_in_a_later_cycle() {
    assert_eq!(additions(|_| ()), [2; 4], "dispatched in cycle 0, issued in cycle 1");
    assert_eq!(additions(|machine| machine.core.alu_ports = 3), [2, 2, 2, 3]);
    assert_eq!(additions(|machine| machine.core.alu_ports = 1), [2, 3, 4, 5]);
    assert_eq!(
        additions(|machine| (machine.core.load_ports, machine.core.store_ports) = (1, 1)),
        [2; 4]
    );
}

/// A load that misses, and then two of its line and an address each: when these have their data.
fn loads_of_one_line(change: impl FnOnce(&mut MachineConfig)) -> [u64; 2] {
    let program = |cpu: &SimCpu<'_>, cycles: Reports| {
        let first = cpu.word(PM_BASE).load();
        for _ in 0..2 {
            let address = cpu.word(PM_BASE) + (first & cpu.word(0));
            let ready = address.load().tag();
            cycles.borrow_mut().push(ready);
        }
    };
    let (cycles, _) = reported(change, program);
    [cycles[0], cycles[1]]
}

#[test]
fn loads_share_their_port() {
    let [first, second] = loads_of_one_line(|_| ());
    assert_eq!(first, second, "both addresses are ready with the first load");
    let [first, second] = loads_of_one_line(|machine| machine.core.load_ports = 1);
    assert_eq!(second, first + 1);
}

/// Two stores: when the op behind them is dispatched, and the instructions of the run.
fn behind_two_stores(change: impl FnOnce(&mut MachineConfig)) -> (u64, u64) {
    let program = |cpu: &SimCpu<'_>, cycles: Reports| {
        cpu.start_line();
        for line in 0..2 {
            cpu.word(PM_BASE + 64 * line).store(cpu.word(1));
        }
        cycles.borrow_mut().push(cpu.cycles().bits());
    };
    let (cycles, stats) = reported(change, program);
    (cycles[0], stats.instructions)
}

#[test]
fn a_store_of_two_micro_ops_is_one_instruction() {
    let (fused, instructions) = behind_two_stores(|_| ());
    let (split, as_many) = behind_two_stores(|machine| machine.core.store_micro_ops = 2);
    assert_eq!(split, fused + 1, "four micro-ops fill a cycle");
    assert_eq!(instructions, as_many);
}

/// A load that misses gives a store its address; an independent load of a line that the core has: when the first and
/// the second have their data.
fn load_behind_a_store(change: impl FnOnce(&mut MachineConfig)) -> (u64, u64) {
    let program = |cpu: &SimCpu<'_>, cycles: Reports| {
        let warm = cpu.word(PM_BASE).load();
        let behind = |line: u64| cpu.word(PM_BASE + 64 * line) + (warm & cpu.word(0));
        let missed = behind(1).load();
        let address = cpu.word(PM_BASE + 128) + (missed & cpu.word(0));
        address.store(cpu.word(1));
        let second = behind(0).load();
        cycles.borrow_mut().extend([missed.tag(), second.tag()]);
    };
    let (cycles, _) = reported(change, program);
    (cycles[0], cycles[1])
}

#[test]
fn a_load_waits_until_the_addresses_of_older_stores_are_known() {
    let (missed, second) = load_behind_a_store(|_| ());
    assert!(second < missed, "it waits for nothing");
    let (missed, second) = load_behind_a_store(|machine| machine.core.loads_wait_for_addresses = true);
    // The address is computed by two operations, and is known when its op has executed; then the load
    // hits the L1.
    let l1 = preset("cosplay").l1.latency.0;
    assert_eq!(second, missed + 2 + 1 + l1);
}

/// A store that misses and more additions than the reorder buffer holds: when the op behind them is dispatched.
fn behind_a_full_window(change: impl FnOnce(&mut MachineConfig)) -> u64 {
    let program = |cpu: &SimCpu<'_>, cycles: Reports| {
        cpu.word(PM_BASE).store(cpu.word(1));
        (0..8).for_each(|_| _ = cpu.word(1) + cpu.word(1));
        cycles.borrow_mut().push(cpu.cycles().bits());
    };
    let small = |machine: &mut MachineConfig| {
        machine.core.rob_entries = 8;
        change(machine);
    };
    reported(small, program).0[0]
}

#[test]
fn a_store_may_stay_in_the_window_until_the_l1_has_its_line() {
    let executed = behind_a_full_window(|_| ());
    let cached = behind_a_full_window(|machine| machine.core.stores_retire_cached = true);
    assert!(executed < 10, "stores and additions retire as they execute: {executed}");
    let machine = preset("cosplay");
    assert!(cached > machine.pm.read_latency.0, "the line comes from PM: {cached}");
}

#[test]
fn branches_may_have_ports_of_their_own() {
    let taken = |change: fn(&mut MachineConfig)| {
        let program = |cpu: &SimCpu<'_>, cycles: Reports| {
            (0..3).for_each(|site| cpu.branch(0, false, Site(site)));
            cycles.borrow_mut().push((cpu.word(1) + cpu.word(1)).tag());
        };
        reported(change, program).0[0]
    };
    assert_eq!(
        taken(|machine| machine.core.alu_ports = 1),
        5,
        "the addition issues behind three branches"
    );
    assert_eq!(
        taken(|machine| (machine.core.alu_ports, machine.core.branch_ports) = (1, 1)),
        2,
        "dispatched in cycle 0, issued in cycle 1"
    );
}

#[test]
fn a_decoder_may_end_its_cycle_at_taken_branches_alone() {
    let taken_only = |machine: &mut MachineConfig| {
        (machine.core.decode_queue_entries, machine.core.decode_ends) = (28, DecodeEnd::Taken);
    };
    assert_eq!(behind_three_blocks(taken_only), 1, "none is taken");
}

/// A load of what a store has just written: how long after the store it has its value.
fn forwarded(change: impl FnOnce(&mut MachineConfig)) -> u64 {
    let program = |cpu: &SimCpu<'_>, cycles: Reports| {
        cpu.word(PM_BASE).load();
        cpu.start_line();
        let sum = cpu.word(1) + cpu.word(1);
        let stored = sum.tag() + 1;
        cpu.word(PM_BASE).store(sum);
        cycles.borrow_mut().push(cpu.word(PM_BASE).load().tag() - stored);
    };
    reported(change, program).0[0]
}

#[test]
fn a_renamed_load_has_its_value_as_soon_as_the_store_has() {
    assert_eq!(forwarded(|_| ()), preset("cosplay").l1.latency.0);
    assert_eq!(forwarded(|machine| machine.core.memory_renaming = true), 0);
}

/// A locked addition and a load of another line, both in the L1: how long before the addition the load is done.
fn ahead_of_locked(change: impl FnOnce(&mut MachineConfig)) -> i64 {
    let program = |cpu: &SimCpu<'_>, cycles: Reports| {
        cpu.word(PM_BASE).store(cpu.word(1));
        let warm = cpu.word(PM_BASE + 64).load();
        cpu.primitive(Primitive::Sfence);
        cpu.start_line();
        let locked = cpu.rmw(Addr(PM_BASE), warm.tag(), Rmw::Add, 1, 0);
        let loaded = cpu.word(PM_BASE + 64).load();
        cycles.borrow_mut().extend([locked.tag(), loaded.tag()]);
    };
    let cycles = reported(change, program).0;
    cycles[0] as i64 - cycles[1] as i64
}

#[test]
fn loads_may_pass_a_locked_instruction() {
    let l1 = preset("cosplay").l1.latency.0 as i64;
    assert_eq!(
        ahead_of_locked(|_| ()),
        -l1,
        "the load begins once the addition is done"
    );
    assert!(ahead_of_locked(|machine| machine.core.locked_holds_loads = false) > 0);
}

/// Eight stores to a line that the L1 has, and a locked instruction: when the latter is done.
fn behind_eight_stores(change: impl FnOnce(&mut MachineConfig)) -> u64 {
    let program = |cpu: &SimCpu<'_>, cycles: Reports| {
        cpu.word(PM_BASE).store(cpu.word(1));
        cpu.primitive(Primitive::Mfence);
        cpu.start_line();
        (0..8).for_each(|word| cpu.word(PM_BASE + 8 * word).store(cpu.word(1)));
        cycles
            .borrow_mut()
            .push(cpu.rmw(Addr(PM_BASE), 0, Rmw::Add, 1, 0).tag());
    };
    reported(change, program).0[0]
}

#[test]
fn neighbouring_stores_to_a_line_may_leave_together() {
    let one = behind_eight_stores(|_| ());
    let two = behind_eight_stores(|machine| machine.core.store_drain_width = 2);
    // At four a cycle, the last store is dispatched in cycle 1.
    assert_eq!(one - two, 4, "eight stores leave in four cycles, not in eight");
}

/// Two lines that the L1 has, stored and flushed, and a fence: when the op behind a store behind the fence is dispatched,
/// and how long it takes.
fn behind_a_fence(change: impl FnOnce(&mut MachineConfig)) -> (u64, u64) {
    let program = |cpu: &SimCpu<'_>, cycles: Reports| {
        (0..3).for_each(|line| cpu.word(PM_BASE + 64 * line).store(cpu.word(1)));
        cpu.primitive(Primitive::Mfence);
        cpu.start_line();
        cycles.borrow_mut().push(cpu.cycles().bits());
        for line in 0..2 {
            cpu.word(PM_BASE + 64 * line).store(cpu.word(1));
            cpu.word(PM_BASE + 64 * line).flush();
        }
        cpu.primitive(Primitive::Sfence);
        cpu.word(PM_BASE + 128).store(cpu.word(1));
        cycles.borrow_mut().push(cpu.cycles().bits());
    };
    let (cycles, stats) = reported(change, program);
    (cycles[1] - cycles[0], stats.cycles.0)
}

#[test]
fn a_fence_may_wait_in_the_store_queue() {
    let way = preset("cosplay").pm.write_to_controller.0;
    let (dispatched, took) = behind_a_fence(|_| ());
    assert!(dispatched > way, "{dispatched}: the store waits for the fence");
    let (dispatched, as_long) = behind_a_fence(|machine| machine.core.fences_retire = true);
    assert!(dispatched < 10, "{dispatched}: nothing waits");
    assert!(
        as_long > way && as_long <= took,
        "{as_long}: the store leaves the queue behind the fence, as in {took}"
    );
}

#[test]
fn flushes_may_set_out_late_and_one_behind_the_other() {
    let (_, free) = behind_a_fence(|_| ());
    let (_, late) = behind_a_fence(|machine| machine.core.flush_latency = Cycles(50));
    assert_eq!(late, free + 50);
    let (_, apart) = behind_a_fence(|machine| machine.core.flush_interval = Cycles(50));
    // The second store and flush leave the queue two cycles behind the first.
    assert_eq!(apart, free + 48);
}
