use super::*;
use crate::config;
use std::cell::Cell;

/// A loop that waits: the loads of a turn, and when the line comes that they load.
#[derive(Clone, Copy, Debug)]
struct Loop {
    loads: u64,
    comes: u64,
}

/// A turn: each load with an op that tests the value, and a branch.
fn turn(w: &Window, Loop { loads, comes }: Loop) {
    for _ in 0..loads {
        let issue = w.dispatch_load() + 1;
        let loaded = (issue + 4).max(comes);
        w.execute(issue, loaded);
        w.dispatch();
        w.execute(loaded, loaded + 1);
    }
    let at = w.dispatch();
    w.execute(at + 1, at + 2);
}

/// Goes round the loop until `end`; passes laps wherever it may if it `notes`. Returns how many turns it executes.
fn go_round(w: &Window, waits: Loop, end: u64, notes: bool) -> usize {
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
            w.pass_noted(lap, 4, end);
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
fn state(w: &Window) -> (Vec<u64>, Vec<u64>, [u64; 2], [u64; 11]) {
    let all = |cells: &[Cell<u64>]| cells.iter().map(Cell::get).collect();
    let at = [w.next.get(), w.next_load.get()].map(|at| at as u64);
    (all(&w.leaves), all(&w.loads), at, w.times().map(Cell::get))
}

#[test]
fn laps_of_a_window_with_a_backlog_are_as_if_executed() {
    for widths in [[6, 8], [4, 5], [4, 8], [5, 5]] {
        for entries in [[224, 72], [224, 20], [97, 31], [40, 40]] {
            for (loads, comes) in [(1, 200), (2, 200), (3, 200), (1, 20), (2, 29), (3, 31)] {
                for end in (5..90).chain([190, 215, 260, 700]) {
                    let waits = Loop { loads, comes };
                    let [executed, passed] = [(); 2].map(|()| window(widths, entries));
                    go_round(&executed, waits, end, false);
                    go_round(&passed, waits, end, true);
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
    let waits = Loop { loads: 1, comes: 200 };
    for end in [190, 310] {
        let [executed, passed] = [(); 2].map(|()| window([6, 8], [224, 72]));
        let all = go_round(&executed, waits, end, false);
        let some = go_round(&passed, waits, end, true);
        assert!(some < all / 3, "until {end}: {some} of {all}");
    }
}
