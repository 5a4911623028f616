//! LB++ on a machine that records its requests.

use super::own::{EpochId, Gate};
use super::LbPp;
use crate::mock::{Both, FLAG, ONE, TWO, X, Y, ZERO};
use strandline_design::{Access, Departure, Design, Eviction, Level, Until};
use strandline_isa::{Addr, CoreId, Flush, Line, Primitive};

const LAZY: &[(&str, u64)] = &[("proactive", 0)];
const LB: &[(&str, u64)] = &[("proactive", 0), ("idt", 0)];

fn with(set: &[(&str, u64)]) -> Both<LbPp> {
    Both::of(LbPp::default()).with(set)
}

/// The lines that the banks flush now.
fn flushes(both: &mut Both<LbPp>) -> Vec<(CoreId, Line)> {
    both.deliver();
    both.hw
        .spec
        .flushes
        .iter()
        .map(|(core, line, ..)| (*core, *line))
        .collect()
}

/// All flushes so far are acknowledged, and the banks answer.
fn acknowledge(both: &mut Both<LbPp>) {
    let flushes: Vec<(CoreId, Line, Flush, EpochId)> = std::mem::take(&mut both.hw.spec.flushes);
    for (core, _, _, id) in flushes {
        both.design.acknowledged(&mut both.hw, core, id);
    }
    both.deliver();
}

/// A core's request for a line that another wrote: what it waits for.
fn request(both: &mut Both<LbPp>, requester: CoreId, addr: Addr, access: Access) -> Option<Until<Gate>> {
    let tag = both.hw.tags.get(&addr.line()).copied()?;
    both.design.tagged(&mut both.hw, requester, addr.line(), access, tag)
}

fn durable(core: CoreId) -> Until<Gate> {
    Until::Open(Gate::Durable(core))
}

#[test]
fn an_epoch_stays_in_the_caches_until_its_line_is_written_again() {
    let mut both = with(LAZY);
    both.store(ZERO, X);
    both.store(ZERO, X);
    both.executes(ZERO, Primitive::Ofence);
    assert_eq!(flushes(&mut both), []);
    assert_eq!(both.stores(ZERO, X), Departure::Wait(durable(ZERO)));
    assert_eq!(flushes(&mut both), [(ZERO, X.line())]);
    acknowledge(&mut both);
    assert!(both.has_opened(Gate::Durable(ZERO)));
    assert_eq!(both.hw.tags.len(), 0, "what is durable has no tag");
    both.store(ZERO, X);
}

#[test]
fn an_epoch_is_flushed_proactively_when_it_has_ended() {
    let mut both = with(&[]);
    both.store(ZERO, X);
    assert_eq!(flushes(&mut both), []);
    both.executes(ZERO, Primitive::Ofence);
    both.store(ZERO, Y);
    both.executes(ZERO, Primitive::Ofence);
    assert_eq!(flushes(&mut both), [(ZERO, X.line())], "the second is behind the first");
    acknowledge(&mut both);
    assert_eq!(flushes(&mut both), [(ZERO, Y.line())]);
}

#[test]
fn a_read_of_another_epoch_is_a_dependence() {
    let mut both = with(LAZY);
    both.store(ZERO, X);
    assert_eq!(request(&mut both, ONE, X, Access::Read), None);
    both.store(ONE, Y);
    both.executes(ONE, Primitive::Dfence);
    assert_eq!(flushes(&mut both), [(ZERO, X.line())], "the source first");
    acknowledge(&mut both);
    both.deliver();
    assert_eq!(flushes(&mut both), [(ONE, Y.line())]);
    assert!(!both.has_opened(Gate::Fence(ONE)));
    acknowledge(&mut both);
    assert!(both.has_opened(Gate::Fence(ONE)));
    assert_eq!(both.counters().cross_dependences, Some(1));
}

#[test]
fn a_volatile_line_carries_a_dependence() {
    let mut both = with(LAZY);
    both.store(ZERO, X);
    both.executes(ZERO, Primitive::Ofence);
    both.store(ZERO, FLAG);
    assert_eq!(request(&mut both, ONE, FLAG, Access::Own), None);
    both.store(ONE, Y);
    both.executes(ONE, Primitive::Dfence);
    assert_eq!(flushes(&mut both), [(ZERO, X.line())]);
}

#[test]
fn a_request_to_write_another_epochs_line_waits() {
    let mut both = with(&[]);
    both.store(ZERO, X);
    assert_eq!(request(&mut both, ONE, X, Access::Own), Some(durable(ZERO)));
    assert_eq!(flushes(&mut both), [(ZERO, X.line())], "the open epoch has been split");
    acknowledge(&mut both);
    assert_eq!(request(&mut both, ONE, X, Access::Own), None);
}

#[test]
fn without_registers_a_read_waits() {
    let mut both = with(LB);
    both.store(ZERO, X);
    assert_eq!(request(&mut both, ONE, X, Access::Read), Some(durable(ZERO)));
    let mut both = with(&[("proactive", 0), ("registers", 1)]);
    both.store(ZERO, X);
    both.store(TWO, Y);
    assert_eq!(request(&mut both, ONE, X, Access::Read), None);
    assert_eq!(request(&mut both, ONE, X, Access::Read), None, "it is noted");
    let two = durable(TWO);
    assert_eq!(
        request(&mut both, ONE, Y, Access::Read),
        Some(two),
        "no register is free"
    );
}

#[test]
fn a_line_that_leaves_the_llc_is_held_until_its_epoch_is_durable() {
    let mut both = with(LAZY);
    both.store(ZERO, X);
    assert_eq!(both.evict(Level::Private, X.line()), Eviction::WriteBack);
    assert_eq!(both.evict(Level::Llc, X.line()), Eviction::Hold(durable(ZERO)));
    assert_eq!(flushes(&mut both), [(ZERO, X.line())]);
    acknowledge(&mut both);
    assert_eq!(
        both.evict(Level::Llc, X.line()),
        Eviction::Drop,
        "the flush has written it"
    );
}

#[test]
fn a_volatile_line_without_its_epoch_is_written_back() {
    let mut both = with(LAZY);
    both.store(ZERO, FLAG);
    assert_eq!(
        both.evict(Level::Llc, FLAG.line()),
        Eviction::WriteBack,
        "its epoch has no line to flush"
    );
}

#[test]
fn a_dfence_with_nothing_before_it_does_not_wait() {
    let mut both = with(LAZY);
    both.executes(ZERO, Primitive::Dfence);
    assert!(both.has_opened(Gate::Fence(ZERO)));
    assert_eq!(both.counters().epochs, Some(0));
}

#[test]
fn an_ofence_waits_for_a_number() {
    let mut both = with(&[("proactive", 0), ("epochs", 2)]);
    both.store(ZERO, X);
    both.executes(ZERO, Primitive::Ofence);
    both.store(ZERO, Y);
    assert_eq!(both.departs(ZERO, Primitive::Ofence), Departure::Wait(durable(ZERO)));
    flushes(&mut both);
    acknowledge(&mut both);
    both.executes(ZERO, Primitive::Ofence);
}

#[test]
fn tags_name_their_epochs() {
    for (core, number) in [(0, 0), (63, 1), (1, u64::from(u32::MAX))] {
        let id = EpochId {
            core: CoreId(core),
            number,
        };
        assert_eq!(EpochId::of(id.tag()), id);
    }
}

#[test]
fn waits_says_what_the_oldest_epoch_lacks() {
    let mut both = with(LAZY);
    both.store(ONE, Y);
    request(&mut both, ZERO, Y, Access::Read);
    both.store(ZERO, X);
    both.executes(ZERO, Primitive::Ofence);
    let waits = both.design.waits();
    assert_eq!(
        waits[0],
        "core 0: its epoch 0 is Ended, not wanted, behind epoch 0 of core 1"
    );
}
