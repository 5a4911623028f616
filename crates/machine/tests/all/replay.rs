//! Replays of recorded code need more of a core than programs do: stores of many pieces, and waits
//! for writes.

use crate::common::{preset, put, run_one, system, Plain};
use std::cell::Cell;
use std::rc::Rc;
use strandline_isa::{Addr, Alu, Cpu, Primitive, Replay, PM_BASE};
use strandline_machine::{Outcome, SimCpu};

/// A store of 32 bytes at this address: four words.
fn store_32(cpu: &SimCpu<'_>, addr: u64) {
    cpu.store(Addr(addr), 0, 8, 1, 0);
    for word in 1..4 {
        cpu.store_rest(Addr(addr + 8 * word), 8, word + 1, true);
    }
}

#[test]
fn further_pieces_take_no_instruction_and_no_room_in_the_store_queue() {
    let mut machine = preset("cosplay");
    machine.core.store_queue_entries = 8;
    let stores = |wide: bool| {
        run_one(&machine, 1 << 16, move |cpu| {
            // A locked instruction beyond the caches holds nothing; eight stores just fill the queue.
            for line in 0..8 {
                let addr = PM_BASE + 64 * line;
                match wide {
                    true => store_32(cpu, addr),
                    false => cpu.store(Addr(addr), 0, 8, 1, 0),
                }
            }
        })
    };
    let (narrow, wide): (Outcome, Outcome) = (stores(false), stores(true));
    assert_eq!(wide.stats.instructions, 8);
    assert_eq!(wide.stats.stores, 8);
    assert_eq!(
        wide.stats.buffer_stall_cycles, 0,
        "the queue has room for eight stores, however wide"
    );
    assert_eq!(narrow.stats.buffer_stall_cycles, 0);
}

#[test]
fn further_pieces_leave_with_the_first() {
    let machine = preset("cosplay");
    let cycles = |wide: bool| {
        let outcome = run_one(&machine, 1 << 16, move |cpu| {
            for line in 0..64 {
                let addr = PM_BASE + 64 * (line % 4);
                match wide {
                    true => store_32(cpu, addr),
                    false => cpu.store(Addr(addr), 0, 8, 1, 0),
                }
            }
        });
        outcome.stats.cycles
    };
    assert_eq!(cycles(true), cycles(false), "a piece costs no turn of its own");
}

#[test]
fn a_load_sees_all_pieces_of_a_store_before_and_after_it_has_left() {
    let seen = Rc::new(Cell::new([0; 4]));
    let kept = seen.clone();
    let mut system = system(&preset("cosplay"), Plain, 1);
    put(&mut system, 0, move |cpu| {
        store_32(cpu, PM_BASE);
        let mut words = [0; 4];
        for (index, word) in words.iter_mut().enumerate() {
            *word = cpu.load(Addr(PM_BASE + 8 * index as u64), 0, 8).bits();
        }
        kept.set(words);
    });
    system.run().expect("ends");
    assert_eq!(seen.get(), [1, 2, 3, 4], "forwarded from the store queue");
    let left: Vec<u64> = (0..4)
        .map(|word| system.memory().read(Addr(PM_BASE + 8 * word), 8))
        .collect();
    assert_eq!(left, [1, 2, 3, 4]);
}

#[test]
fn many_pieces_of_one_word_are_forwarded_and_leave() {
    let mut system = system(&preset("cosplay"), Plain, 1);
    let seen = Rc::new(Cell::new(0));
    let kept = seen.clone();
    put(&mut system, 0, move |cpu| {
        // More stores to a word than a byte counts.
        for round in 0..70u64 {
            cpu.store(Addr(PM_BASE), 0, 1, round, 0);
            for byte in 1..8 {
                cpu.store_rest(Addr(PM_BASE + byte), 1, round + byte, true);
            }
        }
        kept.set(cpu.load(Addr(PM_BASE), 0, 8).bits());
    });
    system.run().expect("ends");
    let expected = u64::from_le_bytes([69, 70, 71, 72, 73, 74, 75, 76]);
    assert_eq!(seen.get(), expected);
    assert_eq!(system.memory().read(Addr(PM_BASE), 8), expected);
}

/// When the second core resumes that waits for writes of the first, which follow so much work, and
/// the instructions of both.
fn waited(times: u32, work: u64) -> (Outcome, u64) {
    let went_on = Rc::new(Cell::new(0));
    let kept = went_on.clone();
    let mut system = system(&preset("cosplay"), Plain, 2);
    put(&mut system, 0, move |cpu| {
        let mut busy = 0;
        for _ in 0..times {
            for _ in 0..work {
                busy = cpu.alu(Alu::Simple, busy, 0);
            }
            cpu.count_next();
            cpu.store(Addr(64), busy, 8, 0, 0);
        }
        // A write that is not counted.
        cpu.store(Addr(64), 0, 8, 0, 0);
    });
    put(&mut system, 1, move |cpu| {
        cpu.written(Addr(64), times);
        kept.set(cpu.alu(Alu::Simple, 0, 0));
    });
    let outcome = system.run().expect("ends");
    (outcome, went_on.get())
}

#[test]
fn who_waits_for_writes_goes_on_when_they_are_visible_at_no_cost() {
    let (outcome, at) = waited(3, 1000);
    assert!(at > 3 * 1000, "after all three: {at}");
    assert_eq!(outcome.stats.instructions, 3 * 1001 + 1 + 1);
    let (_, at) = waited(0, 0);
    assert!(at < 10, "no writes are there from the start: {at}");
}

#[test]
fn a_locked_instruction_counts_as_a_write() {
    let mut system = system(&preset("cosplay"), Plain, 2);
    put(&mut system, 0, |cpu| {
        cpu.count_next();
        cpu.rmw(Addr(64), 0, strandline_isa::Rmw::Merge(0xff00), 0x1234, 0);
        cpu.primitive(Primitive::Sfence);
    });
    put(&mut system, 1, |cpu| {
        cpu.written(Addr(64), 1);
        cpu.load(Addr(64), 0, 8);
    });
    system.run().expect("the second core's turn comes");
    assert_eq!(system.memory().read(Addr(64), 8), 0x1200, "the mask's bits alone");
}

#[test]
fn who_waits_for_writes_that_never_come_is_named() {
    let mut system = system(&preset("cosplay"), Plain, 1);
    put(&mut system, 0, |cpu| cpu.written(Addr(128), 2));
    let stuck = system.run().expect_err("nobody writes");
    assert!(
        stuck.to_string().contains("waits for write 2 to the word at dram+0x80"),
        "{stuck}"
    );
}
