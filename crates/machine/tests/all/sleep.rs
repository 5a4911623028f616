//! Threads that sleep in the kernel.

use crate::common::{preset, put, system, Plain};
use std::cell::RefCell;
use std::rc::Rc;
use strandline_isa::{Addr, Alu, Cpu, Rmw, PM_BASE};
use strandline_machine::SimCpu;

const WORD: Addr = Addr(64);

/// Arithmetic of so many cycles: when it is done.
fn busy(cpu: &SimCpu<'_>, cycles: u64) -> u64 {
    (0..cycles).fold(0, |ready, _| cpu.alu(Alu::Simple, ready, 0))
}

fn swap(cpu: &SimCpu<'_>, value: u64, ready: u64) {
    cpu.rmw(WORD, 0, Rmw::Swap, value, ready);
}

#[test]
fn each_release_wakes_the_one_that_has_slept_longest_and_sleep_costs_no_instruction() {
    let woken = Rc::new(RefCell::new(Vec::new()));
    let mut system = system(&preset("cosplay"), Plain, 3);
    // Two threads sleep, the one of core 2 first.
    for (core, begins) in [(1, 2000), (2, 1000)] {
        let woken = woken.clone();
        put(&mut system, core, move |cpu| {
            let ready = busy(cpu, begins);
            cpu.store(WORD, 0, 8, 2, ready);
            swap(cpu, 2, 0);
            cpu.sleep(cpu.word(WORD.0), 2);
            let at = cpu.alu(Alu::Simple, 0, 0);
            woken.borrow_mut().push((core, at));
        });
    }
    put(&mut system, 0, |cpu| {
        for _ in 0..2 {
            let ready = busy(cpu, 10_000);
            cpu.wakes();
            swap(cpu, 0, ready);
        }
    });
    let outcome = system.run().expect("both are woken");
    let woken = woken.borrow();
    let [(first, first_at), (second, second_at)] = woken[..] else {
        panic!("{woken:?}")
    };
    assert_eq!((first, second), (2, 1));
    assert!(first_at > 10_000 && second_at > first_at + 9000, "{woken:?}");
    // Arithmetic, a store, a swap and the last micro-op of each sleeper; the releases.
    assert_eq!(outcome.stats.instructions, 2003 + 1003 + 20_002);
}

#[test]
fn nobody_sleeps_on_a_word_that_has_changed() {
    let mut system = system(&preset("cosplay"), Plain, 1);
    put(&mut system, 0, |cpu| {
        swap(cpu, 1, 0);
        cpu.sleep(cpu.word(WORD.0), 2);
        cpu.store(Addr(PM_BASE), 0, 8, 7, 0);
    });
    system.run().expect("it does not sleep");
    assert_eq!(system.memory().read(Addr(PM_BASE), 8), 7);
}

#[test]
fn who_sleeps_and_is_not_woken_is_named() {
    let mut system = system(&preset("cosplay"), Plain, 1);
    put(&mut system, 0, |cpu| cpu.sleep(cpu.word(WORD.0), 0));
    let stuck = system.run().expect_err("nobody wakes it");
    assert!(
        stuck
            .to_string()
            .contains("until it is woken, asleep on the word at dram+0x40"),
        "{stuck}"
    );
}
