//! Eager flushing: ASAP.

use super::super::asap::{asap_ep, Asap};
use super::*;
use strandline_design::{Access, Eviction, Level, Services, Supply};

fn both() -> Both<Asap> {
    eager(asap_ep())
}

#[test]
fn figure_1c_epochs_are_flushed_at_once_whatever_they_depend_on() {
    let mut both = both();
    both.store(ONE, X);
    both.executes(ONE, Primitive::Ofence);
    both.store(ONE, Y);
    both.ask(ONE, ZERO, Y);
    both.store(ZERO, Z);
    assert_eq!(both.lines_sent(), [(ONE, X.line()), (ONE, Y.line()), (ZERO, Z.line())]);
    let counters = both.counters();
    assert_eq!((counters.early_flushes, counters.blocked_cycles), (Some(2), Some(0)));
}

#[test]
fn a_crash_undoes_what_came_before_its_predecessors() {
    let mut both = both();
    both.store_value(ZERO, X, 1);
    both.executes(ZERO, Primitive::Ofence);
    both.store_value(ZERO, Y, 2);
    assert!(both.arrive(1), "Y first");
    assert_eq!(both.hw.memory.get(&Y.line()), Some(&2), "memory is speculative");
    assert_eq!((both.after_crash(X), both.after_crash(Y)), (0, 0));
    assert!(both.arrive(0));
    assert_eq!((both.after_crash(X), both.after_crash(Y)), (1, 0));
    both.executes(ZERO, Primitive::Ofence);
    assert_eq!(both.deliver(), 2, "the read of Y's old value, and the commit");
    assert_eq!((both.after_crash(X), both.after_crash(Y)), (1, 2));
    assert_eq!(both.hw.reads, 1, "an undo record costs a read");
}

#[test]
fn figure_5_writes_of_three_threads_that_arrive_in_the_opposite_order() {
    let mut both = both();
    for (core, value) in [(ZERO, 1), (ONE, 2), (TWO, 3)] {
        if core != ZERO {
            both.ask(CoreId(core.0 - 1), core, X);
        }
        both.store_value(core, X, value);
    }
    assert_eq!(both.hw.sent.len(), 3);
    assert!(both.arrive(2));
    assert!(both.arrive(1));
    assert_eq!((both.hw.memory[&X.line()], both.after_crash(X)), (3, 0));
    assert!(both.arrive(0));
    assert_eq!(
        (both.hw.memory[&X.line()], both.after_crash(X)),
        (3, 1),
        "core 0's was safe"
    );
    both.executes(TWO, Primitive::Dfence);
    both.run_to_end();
    assert_eq!((both.hw.memory[&X.line()], both.after_crash(X)), (3, 3));
    assert!(both.has_opened(fence(TWO)));
}

#[test]
fn an_epoch_is_durable_when_its_controllers_have_answered_and_then_says_so() {
    let mut both = both();
    both.store(ZERO, X);
    both.executes(ZERO, Primitive::Ofence);
    both.store(ZERO, Y);
    both.executes(ZERO, Primitive::Dfence);
    both.acknowledge();
    both.acknowledge();
    assert!(
        !both.has_opened(fence(ZERO)),
        "both are acknowledged, and Y can still be undone"
    );
    both.deliver();
    assert!(both.has_opened(fence(ZERO)));
}

#[test]
fn a_core_learns_of_a_durable_epoch_by_a_message_from_core_to_core() {
    let mut both = both();
    both.store(ZERO, X);
    both.ask(ZERO, ONE, X);
    both.hw.now = 40;
    both.acknowledge();
    let at: Vec<u64> = both.hw.messages.iter().map(|(at, _)| at.0).collect();
    assert_eq!(at, [44]);
}

#[test]
fn a_full_table_refuses_and_the_core_flushes_conservatively_until_that_epoch_is_durable() {
    let mut both = both().with(&[("table", 1), ("gather", 1)]);
    both.store(ZERO, X);
    both.executes(ZERO, Primitive::Ofence);
    // Of one controller: its table has one record.
    both.store(ZERO, Z);
    both.store(ZERO, Addr(PM_BASE + 256));
    both.executes(ZERO, Primitive::Ofence);
    assert!(both.arrive(1), "Z makes the record");
    assert!(!both.arrive(1), "the next one is refused");
    both.deliver();
    assert_eq!(
        both.lines_sent(),
        [(ZERO, X.line())],
        "it waits until its epoch is safe"
    );
    both.store(ZERO, Y);
    assert_eq!(
        both.lines_sent(),
        [(ZERO, X.line())],
        "nothing else is sent early meanwhile"
    );
    both.acknowledge();
    let refused = Addr(PM_BASE + 256).line();
    assert_eq!(both.lines_sent(), [(ZERO, refused)], "its epoch is safe");
    both.acknowledge();
    both.deliver();
    assert_eq!(both.lines_sent(), [(ZERO, Y.line())], "and now it is durable");
    let counters = both.counters();
    assert_eq!((counters.nacks, counters.table_occupancy_max), (Some(1), Some(1)));
}

#[test]
fn a_line_of_which_a_write_was_refused_stays_in_the_last_level_until_it_is_taken() {
    let mut both = both().with(&[("table", 1), ("gather", 1)]);
    let refused = Addr(PM_BASE + 256).line();
    both.store(ZERO, X);
    both.executes(ZERO, Primitive::Ofence);
    both.store(ZERO, Z);
    both.store(ZERO, refused.addr());
    both.arrive(1);
    both.arrive(1);
    both.deliver();
    let leaves = |both: &mut Both<Asap>, line| both.evict(Level::Llc, line);
    assert_eq!(leaves(&mut both, Z.line()), Eviction::Drop);
    let Eviction::Hold(Until::Open(gate)) = leaves(&mut both, refused) else {
        panic!("it is held");
    };
    both.run_to_end();
    assert!(both.has_opened(gate));
    assert_eq!(leaves(&mut both, refused), Eviction::Drop);
}

#[test]
fn a_line_leaves_the_private_caches_when_the_writes_before_are_acknowledged() {
    let mut both = both();
    let leaves = |both: &mut Both<Asap>| both.evict(Level::Private, X.line());
    assert_eq!(leaves(&mut both), Eviction::WriteBack, "nothing is buffered");
    both.store(ZERO, X);
    both.store(ZERO, Y);
    let Eviction::Hold(Until::Open(gate)) = leaves(&mut both) else {
        panic!("it is held");
    };
    both.store(ZERO, Z);
    both.acknowledge();
    assert!(!both.has_opened(gate), "Y is not acknowledged");
    both.acknowledge();
    assert!(both.has_opened(gate), "Z came later");
}

#[test]
fn a_write_that_is_demanded_before_it_is_safe_is_tried_again_after_its_time() {
    let mut both = both().with(&[("table", 1), ("gather", 16)]);
    both.store(ZERO, X);
    for of_the_same_controller in [Z, Addr(PM_BASE + 256)] {
        both.executes(ZERO, Primitive::Ofence);
        both.store(ZERO, of_the_same_controller);
    }
    both.executes(ZERO, Primitive::Ofence);
    assert!(both.arrive(1) && !both.arrive(1), "the core flushes conservatively now");
    both.deliver();
    both.store(ZERO, Y);
    assert!(matches!(both.evict(Level::Private, Z.line()), Eviction::Hold(_)));
    both.store(ZERO, Addr(PM_BASE + 512));
    assert_eq!(both.lines_sent(), [(ZERO, X.line())], "Y's epoch is not safe");
    let timers = |both: &Both<Asap>| both.hw.messages.len();
    assert_eq!(
        (both.deliver(), timers(&both)),
        (1, 1),
        "Y has waited, and the newer one will have"
    );
}

#[test]
fn a_request_waits_for_room_in_the_epoch_tables() {
    let mut both = both().with(&[("epochs", 2), ("gather", 1)]);
    both.store(ZERO, X);
    both.executes(ZERO, Primitive::Ofence);
    both.store(ZERO, Y);
    let answer = both.design.snooped(&mut both.hw, ZERO, ONE, Y.line(), Access::Read);
    let Snoop::Wait(Until::Open(gate)) = answer else {
        panic!("core 0's table is full");
    };
    assert_eq!(
        both.departs(ZERO, Primitive::Ofence),
        Departure::Wait(Until::Open(gate))
    );
    both.acknowledge();
    assert!(both.has_opened(gate));
    assert!(both.ask(ZERO, ONE, Y).is_some());
}

#[test]
fn the_newest_value_of_a_line_may_be_in_the_recovery_table() {
    let mut both = both();
    both.store_value(ZERO, Y, 1);
    both.executes(ZERO, Primitive::Ofence);
    both.store_value(ZERO, X, 1);
    both.executes(ZERO, Primitive::Ofence);
    both.store_value(ZERO, X, 2);
    both.arrive(1);
    assert_eq!(both.missed(X), Supply::Memory);
    both.arrive(1);
    assert!(matches!(both.missed(X), Supply::Design(_)));
    assert_eq!(both.hw.memory[&X.line()], 1, "memory has the value of the epoch before");
    both.executes(ZERO, Primitive::Dfence);
    both.run_to_end();
    assert_eq!(both.hw.memory[&X.line()], 2);
    assert_eq!(both.missed(X), Supply::Memory);
}

#[test]
fn the_media_are_not_written_before_the_old_value_was_read() {
    let mut both = both();
    both.store(ZERO, X);
    both.executes(ZERO, Primitive::Ofence);
    both.store(ZERO, Y);
    let write = both.hw.sent[1];
    let controller = both.hw.controller_of(write.line);
    both.arrive(1);
    assert!(!both.design.may_issue(controller, &write));
    both.deliver();
    assert!(both.design.may_issue(controller, &write));
}

#[test]
fn a_line_is_written_as_soon_as_a_safe_value_replaces_the_one_that_is_being_read() {
    let mut both = both();
    both.store(ZERO, X);
    both.executes(ZERO, Primitive::Ofence);
    both.store(ZERO, X);
    let early = both.hw.sent[1];
    let controller = both.hw.controller_of(early.line);
    both.arrive(1);
    assert!(!both.design.may_issue(controller, &early) && both.hw.looked_at.is_empty());
    both.arrive(0);
    assert!(both.design.may_issue(controller, &early));
    assert_eq!(both.hw.looked_at, [controller]);
}

#[test]
fn cores_that_depend_on_each_other_do_not_wait_in_a_circle() {
    let mut both = both().with(&[("entries", 2), ("epochs", 2), ("table", 1), ("gather", 1)]);
    both.store(ZERO, X);
    both.store(ONE, Y);
    both.ask(ZERO, ONE, X);
    both.run_to_end();
    both.store(ONE, X);
    both.ask(ONE, ZERO, Y);
    both.run_to_end();
    both.store(ZERO, Y);
    both.executes(ZERO, Primitive::Dfence);
    both.executes(ONE, Primitive::Dfence);
    both.run_to_end();
    assert!(both.has_opened(fence(ZERO)) && both.has_opened(fence(ONE)));
}

#[test]
fn a_store_without_room_and_an_evicted_line_end_the_wait_for_stores() {
    let mut both = both().with(&[("entries", 1), ("gather", 16)]);
    both.store(ZERO, X);
    assert!(matches!(both.stores(ZERO, Y), Departure::Wait(_)));
    assert_eq!(both.lines_sent(), [(ZERO, X.line())]);
    let mut both = eager(asap_ep()).with(&[("gather", 16)]);
    both.store(ZERO, X);
    assert!(matches!(both.evict(Level::Private, Z.line()), Eviction::Hold(_)));
    assert_eq!(both.lines_sent(), [(ZERO, X.line())]);
}
