use super::*;

const ONE: CoreId = CoreId(0);
const TWO: CoreId = CoreId(1);
/// A persistent line.
const P: Line = Line(strandline_isa::PM_BASE / LINE_BYTES);

/// Untimed of two cores: an L1 of two lines, no L2, an LLC of four lines, one set each.
fn caches(wants: &Wants) -> Untimed {
    let mut machine = MachineConfig::preset("dpo").expect("a preset");
    (machine.l1.bytes, machine.l1.ways) = (2 * LINE_BYTES, 2);
    (machine.llc.bytes, machine.llc.ways) = (4 * LINE_BYTES, 4);
    machine.l2 = None;
    Untimed::new(&machine, wants, 2)
}

/// Lines and dirty lines of the LLC after these accesses.
fn left(accesses: impl FnOnce(&mut Untimed)) -> (u64, u64) {
    let mut caches = caches(&Wants::default());
    accesses(&mut caches);
    let parts = caches.into_parts();
    (parts.lines, parts.dirty)
}

fn line(number: u64) -> Line {
    Line(P.0 + number)
}

#[test]
fn what_is_written_and_not_flushed_since_is_dirty() {
    assert_eq!(left(|c| c.read(ONE, P)), (1, 0));
    assert_eq!(left(|c| c.write(ONE, P)), (1, 1));
    let flushed = |c: &mut Untimed| {
        c.write(ONE, P);
        c.flush(P, Flush::Clwb);
    };
    assert_eq!(left(flushed), (1, 0));
    let again = |c: &mut Untimed| {
        flushed(c);
        c.write(ONE, P);
    };
    assert_eq!(left(again), (1, 1));
}

#[test]
fn a_flush_that_invalidates_and_a_non_temporal_store_leave_no_line() {
    for drop in [
        |c: &mut Untimed| c.flush(P, Flush::ClflushOpt),
        |c: &mut Untimed| c.write_nt(TWO, P),
    ] {
        let dropped = |c: &mut Untimed| {
            c.write(ONE, P);
            drop(c);
        };
        assert_eq!(left(dropped), (0, 0));
    }
    let cached = Wants {
        nt_cached: true,
        ..Wants::default()
    };
    let mut caches = caches(&cached);
    caches.write_nt(ONE, P);
    assert_eq!(caches.into_parts().dirty, 1);
}

#[test]
fn a_line_that_leaves_the_private_levels_stays_dirty_and_a_flush_finds_it() {
    let leaves = |c: &mut Untimed| {
        c.write(ONE, P);
        (1..3).for_each(|other| c.read(ONE, line(other)));
    };
    assert_eq!(left(leaves), (3, 1));
    let flushed = |c: &mut Untimed| {
        leaves(c);
        c.flush(P, Flush::Clwb);
    };
    assert_eq!(left(flushed), (3, 0));
}

#[test]
fn another_core_takes_over_that_a_line_is_dirty_unless_the_design_hands_it_over_clean() {
    let taken = |c: &mut Untimed| {
        c.write(ONE, P);
        c.read(TWO, P);
    };
    assert_eq!(left(taken), (1, 1));
    let clean = Wants {
        handed_over_clean: true,
        ..Wants::default()
    };
    let mut caches = caches(&clean);
    caches.write(ONE, P);
    caches.write(TWO, P);
    caches.flush(P, Flush::Clwb);
    caches.read(ONE, P);
    assert_eq!(caches.into_parts().dirty, 0);
}

#[test]
fn the_llc_evicts_the_least_recently_used_line_from_the_private_levels_too() {
    let mut caches = caches(&Wants::default());
    (0..4).for_each(|number| caches.write(ONE, line(number)));
    assert_eq!((caches.taken, caches.evicted), (4, 0));
    caches.read(TWO, line(4));
    caches.read(ONE, line(0));
    assert_eq!((caches.taken, caches.evicted), (6, 2));
    let parts = caches.into_parts();
    assert_eq!((parts.lines, parts.dirty), (4, 2));
    assert_eq!(
        [0, 1, 2].map(|number| parts.llc.peek(line(number)).is_some()),
        [true, false, true]
    );
}

#[test]
fn private_levels_are_kept_with_their_states_and_no_persistent_line_is_modified_there() {
    let mut caches = caches(&Wants::default());
    let volatile = Line(7);
    caches.write(ONE, volatile);
    caches.write(ONE, P);
    caches.read(TWO, line(1));
    let Parts {
        llc, private, dirty, ..
    } = caches.into_parts();
    let states = |at: Line| [0, 1].map(|core: usize| private[core].state(at));
    assert_eq!(states(volatile), [Some(State::Modified), None]);
    assert_eq!(states(P), [Some(State::Exclusive), None]);
    assert_eq!(states(line(1)), [None, Some(State::Exclusive)]);
    // The directory knows the owners; the persistent line is dirty in the LLC.
    let known = |at| llc.peek(at).expect("the LLC includes the private levels");
    assert_eq!((known(P).dirty, known(volatile).dirty, dirty), (true, false, 2));
    for (at, core) in [(volatile, ONE), (P, ONE), (line(1), TWO)] {
        assert_eq!((known(at).owned, known(at).sharers), (true, Sharers::only(core)));
    }
}
