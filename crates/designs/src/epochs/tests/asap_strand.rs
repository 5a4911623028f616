//! Strands on persist buffers.

use super::super::asap::{asap_strand, Asap};
use super::*;

fn both() -> Both<Asap> {
    eager(asap_strand())
}

/// How many of the writes sent were early.
fn early(both: &Both<Asap>) -> u64 {
    let counters = both.counters();
    counters.early_flushes.unwrap_or(0)
}

#[test]
fn strands_do_not_wait_for_each_other() {
    let mut both = both();
    both.store(ZERO, X);
    both.executes(ZERO, Primitive::NewStrand);
    both.store(ZERO, Y);
    assert_eq!((both.hw.sent.len(), early(&both)), (2, 0), "both are safe");
    both.executes(ZERO, Primitive::PersistBarrier);
    both.store(ZERO, Z);
    assert_eq!(early(&both), 1, "Z follows Y");
    both.executes(ZERO, Primitive::Ofence);
    both.arrive(1);
    assert_eq!((both.after_crash(Y), both.after_crash(Z)), (0, 0));
}

#[test]
fn strands_that_write_one_line_follow_each_other() {
    let mut both = both();
    both.store_value(ZERO, X, 1);
    both.executes(ZERO, Primitive::PersistBarrier);
    both.store_value(ZERO, Y, 1);
    both.executes(ZERO, Primitive::NewStrand);
    both.store_value(ZERO, Y, 2);
    both.executes(ZERO, Primitive::PersistBarrier);
    both.store_value(ZERO, Z, 1);
    // Z and both values of Y before X.
    for _ in 0..3 {
        assert!(both.arrive(1));
    }
    assert_eq!((both.after_crash(Y), both.after_crash(Z)), (0, 0));
    both.executes(ZERO, Primitive::Dfence);
    both.run_to_end();
    assert_eq!(
        (both.after_crash(X), both.after_crash(Y), both.after_crash(Z)),
        (1, 2, 1)
    );
}

#[test]
fn other_cores_follow_the_strand_that_wrote_the_line() {
    let mut both = both();
    both.store(ZERO, X);
    both.executes(ZERO, Primitive::NewStrand);
    both.store(ZERO, Y);
    assert_eq!(both.ask(ZERO, ONE, X), None, "reads order nothing");
    both.store(ONE, X);
    assert_eq!(early(&both), 1);
    both.executes(ONE, Primitive::Dfence);
    both.acknowledge();
    both.deliver();
    both.arrive(1);
    both.deliver();
    assert!(both.has_opened(fence(ONE)), "Y is another strand's");
}
