//! Conservative flushing: HOPS.

use super::super::hops::{hops_ep, hops_rp, Hops};
use super::*;
use strandline_design::{Eviction, Level};

fn both() -> Both<Hops> {
    eager(hops_ep())
}

#[test]
fn a_dfence_opens_when_the_last_epoch_before_it_is_acknowledged() {
    let mut both = both();
    both.store(ZERO, X);
    both.executes(ZERO, Primitive::Ofence);
    both.store(ZERO, Y);
    both.executes(ZERO, Primitive::Dfence);
    assert_eq!(both.acknowledge(), (ZERO, X.line()));
    assert!(both.hw.opened.is_empty());
    assert_eq!(both.acknowledge(), (ZERO, Y.line()));
    assert_eq!(both.hw.opened, [fence(ZERO)]);
}

#[test]
fn a_dfence_with_nothing_before_it_opens_at_once() {
    let mut both = both();
    both.executes(ZERO, Primitive::Dfence);
    assert_eq!(both.hw.opened, [fence(ZERO)]);
}

#[test]
fn a_dependent_epoch_is_sent_when_the_other_core_says_that_its_own_is_complete() {
    let mut both = both();
    both.store(ZERO, X);
    assert!(both.ask(ZERO, ONE, X).is_some());
    both.store(ONE, Y);
    assert_eq!(both.lines_sent(), [(ZERO, X.line())]);
    both.acknowledge();
    assert_eq!(both.lines_sent(), []);
    assert_eq!(both.deliver(), 1);
    assert_eq!(both.lines_sent(), [(ONE, Y.line())]);
}

#[test]
fn volatile_lines_carry_dependences() {
    let mut both = both();
    both.store(ZERO, X);
    both.store(ZERO, FLAG);
    assert!(both.ask(ZERO, ONE, FLAG).is_some());
    both.store(ONE, Y);
    assert_eq!(both.lines_sent(), [(ZERO, X.line())]);
}

#[test]
fn who_has_not_written_a_line_or_has_all_durable_gives_no_note() {
    let mut both = both();
    both.store(ZERO, X);
    assert_eq!(both.ask(ONE, ZERO, X), None);
    assert_eq!(both.ask(ZERO, ONE, Y), None);
    both.acknowledge();
    assert_eq!(both.ask(ZERO, ONE, X), None);
}

#[test]
fn a_dependence_passes_through_a_core_that_writes_nothing_persistent() {
    let mut both = both();
    both.store(ZERO, X);
    both.ask(ZERO, ONE, X);
    both.store(ONE, FLAG);
    assert!(both.ask(ONE, TWO, FLAG).is_some());
    both.store(TWO, Y);
    both.acknowledge();
    assert_eq!(both.deliver(), 1, "core 1 hears of core 0");
    assert_eq!(both.lines_sent(), []);
    assert_eq!(both.deliver(), 1, "core 2 hears of core 1");
    assert_eq!(both.lines_sent(), [(TWO, Y.line())]);
}

#[test]
fn cores_that_depend_on_each_other_do_not_wait_in_a_circle() {
    let mut both = both();
    both.store(ZERO, X);
    both.store(ONE, Y);
    both.ask(ZERO, ONE, X);
    both.store(ONE, X);
    both.ask(ONE, ZERO, Y);
    both.store(ZERO, Y);
    both.executes(ZERO, Primitive::Dfence);
    both.executes(ONE, Primitive::Dfence);
    both.run_to_end();
    let mut opened = both.hw.opened.clone();
    opened.sort_unstable();
    assert_eq!(opened, [fence(ZERO), fence(ONE)]);
}

#[test]
fn entries_wait_for_stores_that_join_them_until_they_are_many_or_their_epoch_ends() {
    let mut both = both().with(&[("gather", 2)]);
    both.store(ZERO, X);
    both.store_value(ZERO, X, 7);
    assert_eq!(both.lines_sent(), []);
    both.store(ZERO, Y);
    assert_eq!(both.lines_sent(), [(ZERO, X.line())]);
    assert_eq!(both.hw.sent[0].data, [7; 8]);
    both.executes(ZERO, Primitive::Ofence);
    assert_eq!(both.lines_sent(), [(ZERO, X.line()), (ZERO, Y.line())]);
}

#[test]
fn entries_wait_for_stores_that_join_them_for_some_time_and_younger_ones_for_as_long_again() {
    let mut both = both().with(&[("gather", 16)]);
    both.store(ZERO, X);
    let timer = both.hw.messages[0].0;
    assert_eq!(timer, strandline_kernel::Cycles(4000));
    both.store(ZERO, Y);
    assert_eq!(both.deliver(), 1, "one message for both");
    assert_eq!(both.lines_sent(), [(ZERO, X.line())]);
    assert_eq!(both.deliver(), 1);
    assert_eq!(both.lines_sent(), [(ZERO, X.line()), (ZERO, Y.line())]);
    assert_eq!(both.deliver(), 0);
}

#[test]
fn figure_1a_a_later_epoch_waits_for_another_controller() {
    let mut both = both();
    both.store(ZERO, X);
    both.executes(ZERO, Primitive::Ofence);
    both.store(ZERO, Y);
    assert_eq!(
        both.lines_sent(),
        [(ZERO, X.line())],
        "Y's controller is idle meanwhile"
    );
    both.acknowledge();
    assert_eq!(both.lines_sent(), [(ZERO, Y.line())]);
}

#[test]
fn figure_1b_a_dependent_thread_waits_for_the_source_thread() {
    let mut both = both();
    both.store(ONE, X);
    both.executes(ONE, Primitive::Ofence);
    both.store(ONE, Y);
    both.ask(ONE, ZERO, Y);
    both.store(ZERO, Z);
    both.acknowledge();
    assert_eq!(
        both.lines_sent(),
        [(ONE, Y.line())],
        "thread 1 sends its own, thread 0 nothing"
    );
    both.acknowledge();
    both.deliver();
    assert_eq!(both.lines_sent(), [(ZERO, Z.line())]);
}

#[test]
fn a_core_hears_of_another_core_when_it_polls() {
    let mut both = both();
    both.hw.now = 40;
    both.store(ZERO, X);
    both.ask(ZERO, ONE, X);
    both.acknowledge();
    // Published 50 cycles later, polled at 500, read in 50.
    let at: Vec<u64> = both.hw.messages.iter().map(|(at, _)| at.0).collect();
    assert_eq!(at, [550]);
}

#[test]
fn with_release_persistency_only_releases_carry_dependences() {
    let mut both = eager(hops_rp());
    both.store(ZERO, X);
    both.store(ZERO, FLAG);
    assert_eq!(both.ask(ZERO, ONE, FLAG), None, "an ordinary store");
    assert_eq!(both.ask(ZERO, ONE, X), None, "an ordinary line");
    both.executes(ZERO, Primitive::Release);
    both.store(ZERO, FLAG);
    assert!(both.ask(ZERO, ONE, FLAG).is_some());
    assert_eq!(both.ask(ONE, TWO, FLAG), None, "core 1 has released nothing");
}

#[test]
fn with_release_persistency_what_precedes_a_release_persists_before_it() {
    let mut both = eager(hops_rp());
    both.store(ZERO, X);
    both.executes(ZERO, Primitive::Release);
    both.store(ZERO, Y);
    assert_eq!(both.lines_sent(), [(ZERO, X.line())]);
}

#[test]
fn with_release_persistency_a_line_is_not_flushed_with_bytes_of_another_core_that_may_not_persist() {
    let mut both = eager(hops_rp());
    both.store(ZERO, X);
    both.executes(ZERO, Primitive::Ofence);
    both.store(ZERO, Y);
    assert_eq!(both.ask(ZERO, ONE, Y), None, "a load may bring it, too");
    both.store(ONE, Y);
    both.acknowledge();
    assert_eq!(
        both.lines_sent(),
        [(ZERO, Y.line())],
        "core 1's flush of Y waits for core 0's"
    );
}

#[test]
fn tasks_that_share_a_core_wait_for_their_own_epochs() {
    let mut both = both();
    both.executes(ZERO, Primitive::Setctx(1));
    both.store(ZERO, X);
    both.executes(ZERO, Primitive::Setctx(2));
    both.store(ZERO, Y);
    both.executes(ZERO, Primitive::Setctx(1));
    both.executes(ZERO, Primitive::Dfence);
    assert!(!both.has_opened(fence(ZERO)));
    both.acknowledge();
    assert!(both.has_opened(fence(ZERO)), "Y is another task's");
}

#[test]
fn lines_that_leave_the_last_level_are_dropped() {
    let mut both = both();
    both.store(ZERO, X);
    let leaves = |both: &mut Both<Hops>, level| both.evict(level, X.line());
    assert_eq!(leaves(&mut both, Level::Private), Eviction::WriteBack);
    assert_eq!(leaves(&mut both, Level::Llc), Eviction::Drop);
}

#[test]
fn a_buffer_that_holds_writes_and_may_send_none_counts_as_blocked() {
    let mut both = both();
    both.store(ZERO, X);
    both.executes(ZERO, Primitive::Ofence);
    both.hw.now = 10;
    both.store(ZERO, Y);
    both.hw.now = 50;
    both.acknowledge();
    both.hw.now = 70;
    both.acknowledge();
    both.hw.now = 100;
    let counters = both.counters();
    assert_eq!(counters.blocked_cycles, Some(40), "from 10 to 50");
    // One entry until 10, two until 50, one until 70, none until 100.
    assert_eq!(counters.buffer_occupancy, Some(vec![30, 30, 40]));
    assert_eq!(counters.epochs, Some(1));
}
