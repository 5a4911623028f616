//! Runs with annotated acquires and releases, judged by the model `rp`.

use super::judge::{judge_all, Models};
use super::tests::{load, run, store};
use strandline_isa::{Addr, Memory, Primitive};
use strandline_machine::{Journal, Seen, TraceOp};

/// A lock's word in volatile memory.
const LOCK: Addr = Addr(512);

const RELEASE: TraceOp = TraceOp::Primitive(Primitive::Release);
const ACQUIRE: TraceOp = TraceOp::Primitive(Primitive::Acquire);

/// The lines of x and y, each stored to by a different core, and of a persistent flag.
const X: u64 = 0;
const Y: u64 = 1;
const FLAG: u64 = 2;

fn locked(old: u64, new: u64, visible: u32) -> TraceOp {
    TraceOp::Rmw {
        addr: LOCK,
        old,
        new,
        from: Seen::Memory(visible),
    }
}

fn of_lock(value: u64, visible: u32) -> TraceOp {
    TraceOp::Load {
        addr: LOCK,
        size: 8,
        value,
        from: Seen::Memory(visible),
    }
}

fn to_lock(value: u64) -> TraceOp {
    TraceOp::Store {
        addr: LOCK,
        size: 8,
        value,
    }
}

/// The model's verdict on a run after which y is durable and x is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// y before x may be.
    Allowed,
    /// It may not.
    Forbidden,
    /// There is a race.
    Undefined,
}

fn said(journal: &Journal) -> Says {
    let models = Models::named("rp").expect("a model");
    let judged = judge_all(models.plain(), journal, &Memory::new(4096, 4096), &|addr| {
        addr.to_string()
    });
    match (judged.is_undefined, judged.disorder) {
        (true, None) => Says::Undefined,
        (false, None) => Says::Allowed,
        (false, Some(disorder)) => {
            assert!(
                disorder.what.contains("which comes before it, is not"),
                "{}",
                disorder.what
            );
            Says::Forbidden
        }
        (true, Some(disorder)) => panic!("undefined and wrong: {}", disorder.what),
    }
}

/// The first core stores x, the second one y; the first core's stores become visible first.
fn one_after_the_other(first: &[TraceOp], second: &[TraceOp]) -> Says {
    let programs = vec![[&[store(X, 1)], first].concat(), [second, &[store(Y, 1)]].concat()];
    let mut visible = Vec::new();
    for (core, ops) in programs.iter().enumerate() {
        let writes = |op: &TraceOp| {
            matches!(
                op,
                TraceOp::Store { .. } | TraceOp::StoreNt { .. } | TraceOp::Rmw { .. }
            )
        };
        let writers = (0u32..).zip(ops).filter(|(_, op)| writes(op));
        visible.extend(writers.map(|(index, _)| (core as u16, index)));
    }
    said(&run(programs, &visible, &[(Y, 1)]))
}

#[test]
fn what_is_behind_an_acquire_persists_after_what_is_before_the_release_that_it_saw() {
    let flagged = |release: &[TraceOp], acquire: &[TraceOp]| {
        one_after_the_other(
            &[release, &[store(FLAG, 1)]].concat(),
            &[&[load(FLAG, 1, Seen::Memory(2))], acquire].concat(),
        )
    };
    assert_eq!(flagged(&[RELEASE], &[ACQUIRE]), Says::Forbidden);
    assert_eq!(flagged(&[RELEASE], &[]), Says::Allowed, "it looks and acquires nothing");
    assert_eq!(flagged(&[], &[]), Says::Undefined, "a race");
    assert_eq!(
        flagged(&[], &[ACQUIRE]),
        Says::Undefined,
        "nobody releases what is acquired"
    );
}

#[test]
fn a_lock_in_volatile_memory_synchronises_too() {
    let handed_over = |release: &[TraceOp], acquire: &[TraceOp]| {
        one_after_the_other(
            &[release, &[to_lock(0)]].concat(),
            &[&[locked(0, 1, 2)], acquire].concat(),
        )
    };
    assert_eq!(handed_over(&[RELEASE], &[ACQUIRE]), Says::Forbidden);
    assert_eq!(handed_over(&[RELEASE], &[]), Says::Allowed);
    assert_eq!(handed_over(&[], &[ACQUIRE]), Says::Undefined);
}

#[test]
fn a_locked_instruction_acquires_by_its_read_and_releases_by_its_write() {
    let counted = |release: &[TraceOp], acquire: &[TraceOp]| {
        one_after_the_other(
            &[release, &[locked(0, 1, 1)]].concat(),
            &[&[locked(1, 2, 2)], acquire].concat(),
        )
    };
    assert_eq!(counted(&[RELEASE], &[ACQUIRE]), Says::Forbidden);
    // Two threads that increment a counter do not race, and do not synchronise.
    for (release, acquire) in [(&[RELEASE][..], &[][..]), (&[], &[ACQUIRE]), (&[], &[])] {
        assert_eq!(counted(release, acquire), Says::Allowed);
    }
    // An instruction with both annotations passes on the order.
    let programs = vec![
        vec![store(X, 1), RELEASE, locked(0, 1, 1)],
        vec![RELEASE, locked(1, 2, 2), ACQUIRE],
        vec![locked(2, 3, 3), ACQUIRE, store(Y, 1)],
    ];
    let visible = [(0, 0), (0, 2), (1, 1), (2, 0), (2, 2)];
    assert_eq!(said(&run(programs.clone(), &visible, &[(Y, 1)])), Says::Forbidden);
    let mut without = programs;
    without[1].pop();
    assert_eq!(said(&run(without, &visible, &[(Y, 1)])), Says::Allowed);
}

#[test]
fn the_next_store_releases_whatever_else_comes_before_it_and_no_other_one() {
    let between = [
        RELEASE,
        load(X, 1, Seen::Memory(1)),
        TraceOp::Primitive(Primitive::StoreBarrier),
        to_lock(0),
    ];
    assert_eq!(
        one_after_the_other(&between, &[locked(0, 1, 2), ACQUIRE]),
        Says::Forbidden
    );
    let taken = [RELEASE, store(FLAG, 1), to_lock(0)];
    assert_eq!(
        one_after_the_other(&taken, &[locked(0, 1, 3), ACQUIRE]),
        Says::Undefined
    );
}

#[test]
fn on_its_own_core_what_is_before_a_release_persists_first() {
    let of = |mark: &[TraceOp]| {
        let program = [&[store(X, 1)], mark, &[store(Y, 1)]].concat();
        let last = program.len() as u32 - 1;
        said(&run(vec![program], &[(0, 0), (0, last)], &[(Y, 1)]))
    };
    assert_eq!(of(&[RELEASE]), Says::Forbidden);
    assert_eq!(of(&[]), Says::Allowed, "nothing orders two stores of an epoch");
}

/// Core 1 reads the lock, loses it, reads it again, and takes it.
#[test]
fn of_a_loop_the_read_that_succeeds_acquires_and_the_others_do_not_race() {
    let first = [RELEASE, to_lock(0)];
    let second = [
        of_lock(0, 0),
        of_lock(0, 0),
        locked(1, 1, 1),
        of_lock(1, 2),
        of_lock(1, 2),
        of_lock(0, 4),
        locked(0, 1, 4),
        ACQUIRE,
        store(Y, 1),
    ];
    let taken = [locked(0, 1, 0), store(X, 1)];
    let programs = |second: &[TraceOp]| vec![[&taken[..], &first].concat(), second.to_vec()];
    let visible = [(0, 0), (1, 2), (0, 1), (0, 3), (1, 6), (1, 8)];
    assert_eq!(said(&run(programs(&second), &visible, &[(Y, 1)])), Says::Forbidden);
    // If the loop's first read is the acquire, before any release, nothing is ordered.
    let mut early = second;
    early[7] = TraceOp::Primitive(Primitive::StoreBarrier);
    early[1] = ACQUIRE;
    assert_eq!(said(&run(programs(&early), &visible, &[(Y, 1)])), Says::Allowed);
}

#[test]
fn a_load_acquires_though_it_sees_what_was_seen_before() {
    let again = [
        load(FLAG, 1, Seen::Memory(2)),
        load(FLAG, 1, Seen::Memory(2)),
        load(FLAG, 1, Seen::Memory(2)),
        ACQUIRE,
    ];
    assert_eq!(one_after_the_other(&[RELEASE, store(FLAG, 1)], &again), Says::Forbidden);
}

#[test]
fn what_acquires_a_private_place_is_no_event() {
    let private = TraceOp::Load {
        addr: Addr(1024),
        size: 8,
        value: 0,
        from: Seen::Memory(0),
    };
    let second = [load(FLAG, 1, Seen::Memory(2)), private, ACQUIRE];
    assert_eq!(
        one_after_the_other(&[RELEASE, store(FLAG, 1)], &second),
        Says::Allowed,
        "not the flag"
    );
}
