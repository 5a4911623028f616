//! A gate opens when the waiter behind it may go on, and not before.

use super::*;
use crate::mock::{Both, X, Y, Z, ZERO};
use strandline_design::{Claim, Departure, Design, Ordering, Until};
use strandline_isa::{Addr, Flush, Primitive};
use strandline_kernel::Cycles;

fn flush_of(addr: Addr) -> Ordering {
    Ordering::Flush(addr.line(), Flush::Clwb)
}

impl Both<StrandWeaver> {
    /// An operation claims an entry of the persist queue, and retires at once.
    fn claims(&mut self, ordering: Ordering) {
        assert_eq!(self.design.claim(&mut self.hw, ZERO, ordering), Claim::Yes);
        self.design.claimed(&mut self.hw, ZERO, ordering, 0, Cycles(0));
        self.deliver();
    }
}

impl<D: Design<Own = Own>> Both<D> {
    /// The oldest flush that was sent is acknowledged.
    fn acknowledge_flush(&mut self) {
        let (core, _, _, tag) = self.hw.spec.flushes.remove(0);
        self.design.acknowledged(&mut self.hw, core, tag);
    }
}

const HEAD: Gate = Gate::Head(ZERO);
const ROOM: Gate = Gate::Room(ZERO);

#[test]
fn a_claim_waits_until_the_persist_queue_has_room() {
    let mut both = Both::of(StrandWeaver::default()).with(&[("queue", 2)]);
    both.claims(flush_of(X));
    assert_eq!(both.design.claim(&mut both.hw, ZERO, flush_of(Y)), Claim::Yes);
    both.design.claimed(&mut both.hw, ZERO, flush_of(Y), 0, Cycles(0));
    let waits = Claim::Wait(Until::Open(ROOM));
    assert_eq!(both.design.claim(&mut both.hw, ZERO, flush_of(Z)), waits);
    both.deliver();
    assert!(!both.has_opened(ROOM), "the second has retired, and none has completed");
    both.acknowledge_flush();
    assert!(both.has_opened(ROOM));
}

#[test]
fn a_join_waits_until_the_last_flush_before_it_has_completed() {
    let mut both = Both::of(StrandWeaver::default());
    both.claims(flush_of(X));
    both.claims(flush_of(Y));
    both.claims(Ordering::Primitive(Primitive::JoinStrand));
    let waits = Departure::Wait(Until::Open(HEAD));
    assert_eq!(both.departs(ZERO, Primitive::JoinStrand), waits);
    both.acknowledge_flush();
    assert!(!both.has_opened(HEAD), "another flush has not completed");
    both.acknowledge_flush();
    assert!(both.has_opened(HEAD));
    both.executes(ZERO, Primitive::JoinStrand);
}

#[test]
fn without_a_persist_queue_the_head_of_the_store_queue_waits_as_long() {
    let mut both = Both::of(NoPersistQueue::default()).with(&[("entries", 3)]);
    for addr in [X, Y, Z] {
        let departs = both.design.departs(&mut both.hw, ZERO, flush_of(addr), 0);
        assert_eq!(departs, Departure::Keep);
    }
    let waits = Departure::Wait(Until::Open(HEAD));
    assert_eq!(
        both.departs(ZERO, Primitive::PersistBarrier),
        waits,
        "the buffer is full"
    );
    both.acknowledge_flush();
    assert_eq!(std::mem::take(&mut both.hw.opened), [HEAD]);
    assert_eq!(both.departs(ZERO, Primitive::JoinStrand), waits);
    both.acknowledge_flush();
    assert!(!both.has_opened(HEAD), "one has not completed");
    both.acknowledge_flush();
    assert!(both.has_opened(HEAD));
}

/// What becomes of a flush behind a barrier, without a persist queue, before and after the flush before the barrier has completed.
fn behind_a_barrier(waits: u64) -> [Departure<Gate>; 2] {
    let mut both = Both::of(NoPersistQueue::default()).with(&[("clwb_waits", waits)]);
    let departs = |both: &mut Both<NoPersistQueue>| both.design.departs(&mut both.hw, ZERO, flush_of(Y), 0);
    let first = both.design.departs(&mut both.hw, ZERO, flush_of(X), 0);
    assert_eq!(first, Departure::Keep);
    both.executes(ZERO, Primitive::PersistBarrier);
    let before = departs(&mut both);
    both.acknowledge_flush();
    assert_eq!(both.has_opened(HEAD), before != Departure::Keep);
    [before, departs(&mut both)]
}

#[test]
fn without_a_persist_queue_a_flush_waits_for_its_barrier_at_the_head_of_the_store_queue() {
    let waits = Departure::Wait(Until::Open(HEAD));
    assert_eq!(behind_a_barrier(0), [waits, Departure::Keep]);
    assert_eq!(behind_a_barrier(1), [Departure::Keep, Departure::Keep]);
}
