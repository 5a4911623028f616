//! What a core may be limited by besides its entries and widths, on whole cores: each rule alone.

use crate::common::{memory, preset, put, Plain};
use std::cell::RefCell;
use std::rc::Rc;
use strandline_design::boxed;
use strandline_isa::{Cpu, Site, PM_BASE};
use strandline_machine::{MachineConfig, Options, SimCpu, Stats, System};

/// What a program reports: cycles.
type Cycles = Rc<RefCell<Vec<u64>>>;

/// Runs a program on COSPlay's core at four micro-ops a cycle, changed by `change`; what it reported.
fn reported(
    change: impl FnOnce(&mut MachineConfig),
    program: impl FnOnce(&SimCpu<'_>, Cycles) + 'static,
) -> (Vec<u64>, Stats) {
    let mut machine = preset("cosplay");
    machine.core.dispatch_width = 4;
    machine.core.drop_rules();
    change(&mut machine);
    let cycles = Cycles::default();
    let mut system = System::new(&machine, boxed(Plain), 1, memory(), Options::default());
    let reports = cycles.clone();
    put(&mut system, 0, move |cpu| program(cpu, reports));
    let outcome = system.run().expect("the program ends");
    let cycles = cycles.borrow().clone();
    (cycles, outcome.stats)
}

/// Six additions in three basic blocks of two: when the op behind them is dispatched.
fn behind_three_blocks(change: impl FnOnce(&mut MachineConfig)) -> u64 {
    let program = |cpu: &SimCpu<'_>, cycles: Cycles| {
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
    let program = |cpu: &SimCpu<'_>, cycles: Cycles| {
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
    let program = |cpu: &SimCpu<'_>, cycles: Cycles| {
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
    let program = |cpu: &SimCpu<'_>, cycles: Cycles| {
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
    let program = |cpu: &SimCpu<'_>, cycles: Cycles| {
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
    let program = |cpu: &SimCpu<'_>, cycles: Cycles| {
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
