use super::*;
use crate::config;
use proptest::collection::vec;
use proptest::prelude::*;
use std::cell::Cell;

/// An op of a turn; it needs the result of an earlier one in the turn, this number of ops before it, if there is one.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// Of the line that comes, or of one that is there.
    Load {
        waits: bool,
        needs: usize,
    },
    Arithmetic {
        latency: u64,
        needs: usize,
    },
}

/// A loop that waits, and when the line comes.
#[derive(Clone, Debug)]
struct Loop {
    ops: Vec<Op>,
    comes: u64,
}

const LOAD_LATENCY: u64 = 4;

/// Loads of the line that comes, each with an op that tests the value, and a branch.
fn loads(number: usize, comes: u64) -> Loop {
    let load = Op::Load { waits: true, needs: 0 };
    let test = Op::Arithmetic { latency: 1, needs: 1 };
    let branch = Op::Arithmetic { latency: 1, needs: 0 };
    let ops = [load, test].repeat(number).into_iter().chain([branch]).collect();
    Loop { ops, comes }
}

/// Executes a turn.
fn turn(w: &Window, Loop { ops, comes }: &Loop) {
    let mut results = Vec::new();
    for op in ops {
        let (at, needs) = match *op {
            Op::Load { needs, .. } => (w.dispatch_load(), needs),
            Op::Arithmetic { needs, .. } => (w.dispatch(), needs),
        };
        let result = needs
            .checked_sub(1)
            .and_then(|back| results.iter().rev().nth(back).copied());
        let issue = (at + 1).max(result.unwrap_or(0));
        let complete = match *op {
            Op::Load { waits: true, .. } => (issue + LOAD_LATENCY).max(*comes),
            Op::Load { .. } => issue + LOAD_LATENCY,
            Op::Arithmetic { latency, .. } => issue + latency,
        };
        w.execute(issue, complete);
        results.push(complete);
    }
}

/// Goes round the loop until `end`; passes laps wherever it may if it `notes`. Returns how many turns it executes.
fn go_round(w: &Window, waits: &Loop, end: u64, notes: bool) -> usize {
    turn(w, waits);
    let mut began = w.position();
    let mut turns = 1;
    while w.cycle() < end {
        if notes && !w.is_noting() {
            w.start_noting();
            began = w.position();
        }
        turn(w, waits);
        turns += 1;
        let Some((ops, cycles)) = w.dispatched_since(&began).filter(|_| notes) else {
            continue;
        };
        if let Some(lap) = w.noted_lap(ops, cycles) {
            w.pass_noted(lap, LOAD_LATENCY, end);
        }
        began = w.position();
    }
    turns
}

fn window([dispatch_width, retire_width]: [u64; 2], [rob_entries, load_queue_entries]: [u64; 2]) -> Window {
    Window::new(&config::Core {
        dispatch_width,
        retire_width,
        rob_entries,
        load_queue_entries,
        ..config::Core::default()
    })
}

/// All that a window is.
fn state(w: &Window) -> impl std::fmt::Debug + PartialEq {
    let all = |cells: &[Cell<u64>]| cells.iter().map(Cell::get).collect::<Vec<_>>();
    let times = [
        &w.cycle,
        &w.in_cycle,
        &w.retirement.cycle,
        &w.retirement.filled,
        &w.count,
        &w.seconds,
        &w.held,
        &w.complete,
        &w.released,
    ];
    let at = [w.next.get(), w.next_load.get()];
    (
        all(&w.leaves),
        all(&w.loads),
        at,
        times.map(Cell::get),
        w.stalls.all().map(Cell::get),
    )
}

#[test]
fn laps_of_a_window_with_a_backlog_are_as_if_executed() {
    for widths in [[6, 8], [4, 5], [4, 8], [5, 5]] {
        for entries in [[224, 72], [224, 20], [97, 31], [40, 40]] {
            for waits in [(1, 200), (2, 200), (3, 200), (1, 20), (2, 29), (3, 31)].map(|(n, comes)| loads(n, comes)) {
                for end in (5..90).chain([190, 215, 260, 700]) {
                    let [executed, passed] = [(); 2].map(|()| window(widths, entries));
                    go_round(&executed, &waits, end, false);
                    go_round(&passed, &waits, end, true);
                    let case = || format!("{widths:?} wide, {entries:?} entries, {waits:?} until {end}");
                    assert_eq!(state(&executed), state(&passed), "{}", case());
                }
            }
        }
    }
}

#[test]
fn few_turns_of_a_backlog_are_executed() {
    // The line comes when the window has long been full, which 75 turns fill; 224 take part in the backlog.
    let waits = loads(1, 200);
    for end in [190, 310] {
        let [executed, passed] = [(); 2].map(|()| window([6, 8], [224, 72]));
        let all = go_round(&executed, &waits, end, false);
        let some = go_round(&passed, &waits, end, true);
        assert!(some < all / 3, "until {end}: {some} of {all}");
    }
}

fn any_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        (any::<bool>(), 0..3usize).prop_map(|(waits, needs)| Op::Load { waits, needs }),
        (1..20u64, 0..4usize).prop_map(|(latency, needs)| Op::Arithmetic { latency, needs }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn laps_of_any_loop_are_as_if_executed(
        (dispatch, more) in (1..8u64, 0..4u64),
        entries in (16..128u64, 4..64u64),
        ops in vec(any_op(), 1..9),
        comes in prop_oneof![0..30u64, 0..300u64],
        end in prop_oneof![1..40u64, 1..400u64],
    ) {
        let waits = Loop { ops, comes };
        let [executed, passed] = [(); 2].map(|()| window([dispatch, dispatch + more], entries.into()));
        go_round(&executed, &waits, end, false);
        go_round(&passed, &waits, end, true);
        prop_assert_eq!(state(&executed), state(&passed));
    }
}
