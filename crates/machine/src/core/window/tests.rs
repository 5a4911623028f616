use super::*;

fn core(dispatch_width: u64, retire_width: u64, rob_entries: u64, load_queue_entries: u64) -> config::Core {
    config::Core {
        dispatch_width,
        retire_width,
        rob_entries,
        load_queue_entries,
        ..config::Core::default()
    }
}

fn window(dispatch_width: u64, retire_width: u64, rob_entries: u64, load_queue_entries: u64) -> Window {
    Window::new(&core(dispatch_width, retire_width, rob_entries, load_queue_entries))
}

fn op(w: &Window, latency: u64) -> (u64, u64) {
    let at = w.dispatch();
    (at, w.retire(at + latency))
}

#[test]
fn four_ops_a_cycle_enter_and_leave_in_order() {
    let w = window(4, 4, 16, 8);
    let times: Vec<_> = (0..6).map(|_| op(&w, 1)).collect();
    assert_eq!(times, [(0, 1), (0, 1), (0, 1), (0, 1), (1, 2), (1, 2)]);
}

#[test]
fn a_full_window_waits_for_its_oldest_op() {
    let w = window(4, 4, 4, 4);
    assert_eq!(op(&w, 100), (0, 100));
    (0..3).for_each(|_| _ = op(&w, 1));
    assert_eq!(op(&w, 1).0, 100, "the fifth op takes the entry of the first");
}

#[test]
fn a_full_load_queue_waits_for_its_oldest_load() {
    let w = window(4, 4, 64, 2);
    for _ in 0..2 {
        let at = w.dispatch_load();
        w.retire(at + 50);
    }
    op(&w, 1);
    assert_eq!(w.dispatch_load(), 50);
}

#[test]
fn behind_a_held_op_the_load_queue_is_full_of_the_loads_behind_it() {
    let w = window(4, 4, 64, 2);
    let load = || w.retire(w.dispatch_load() + 1);
    load();
    w.dispatch();
    w.hold();
    // The first load leaves in time.
    for full in [false, false, true] {
        assert_eq!(w.lacks_load_entry(), full);
        load();
    }
    w.release(300);
    assert!(!w.lacks_load_entry());
}

#[test]
fn behind_a_held_op_work_goes_on_and_retires_with_it() {
    let w = window(4, 4, 8, 8);
    w.dispatch();
    w.hold();
    assert_eq!(op(&w, 1), (0, 1));
    assert!(w.is_held());
    w.release(300);
    assert_eq!(w.retired(), 300);
    (0..6).for_each(|_| _ = op(&w, 1));
    assert_eq!(op(&w, 1).0, 300, "the ninth op takes the entry of the fence");
    assert_eq!(
        w.stalls().fence.get(),
        298,
        "dispatch stood from cycle 2 to the fence's release at 300"
    );
}

#[test]
fn more_arithmetic_than_entries_behind_a_held_op_does_not_disturb_the_window() {
    let w = window(1, 1, 4, 4);
    w.dispatch();
    w.hold();
    (0..10).for_each(|_| _ = op(&w, 1));
    w.release(50);
    assert!(op(&w, 1).0 >= 50);
}

/// Dispatches an op whose operands are ready at `operands` and that takes a cycle: its dispatch.
fn waiting(w: &Window, operands: u64) -> u64 {
    let at = w.dispatch();
    let issue = (at + 1).max(operands);
    w.execute(issue, issue + 1);
    at
}

#[test]
fn a_full_issue_queue_waits_for_the_first_op_to_issue() {
    let core = config::Core {
        issue_queue_entries: 3,
        ..core(4, 4, 64, 8)
    };
    let w = Window::new(&core);
    let first = [100, 0, 100].map(|operands| waiting(&w, operands));
    assert_eq!(first, [0, 0, 0]);
    assert_eq!(waiting(&w, 100), 1, "the second op has issued");
    assert_eq!(waiting(&w, 0), 100);
    assert_eq!(
        w.stalls().fetch.get(),
        100,
        "cycles 0, of which a slot was left, and 1 to 99"
    );
    assert_eq!(w.stalls().fence.get() + w.stalls().buffer.get(), 0);
}

#[test]
fn a_fetch_queue_absorbs_the_start_of_a_stall() {
    let core = config::Core {
        issue_queue_entries: 3,
        fetch_queue_entries: 8,
        ..core(4, 4, 64, 8)
    };
    let w = Window::new(&core);
    (0..4).for_each(|_| _ = waiting(&w, 100));
    // In cycle 0 three of four fetched ops were dispatched. The queue takes 1 op, 4 in cycle 1, and 3 of
    // 4 in cycle 2: blocked from there to 99.
    assert_eq!((w.cycle(), w.stalls().fetch.get()), (100, 98));
    w.redirect(200);
    w.stall_buffer(203);
    // It was emptied: it takes 8 ops in cycles 200 and 201 and none in 202.
    assert_eq!(w.stalls().fetch.get(), 99);
}

#[test]
fn a_restored_window_forgets_ops_that_wait() {
    let core = config::Core {
        issue_queue_entries: 2,
        load_store_queue_entries: 4,
        fetch_queue_entries: 8,
        ..core(4, 4, 64, 8)
    };
    let w = Window::new(&core);
    let saved = w.clone();
    w.enter_shared_load();
    w.dispatch_load();
    w.execute(500, 600);
    waiting(&w, 500);
    assert_eq!((w.cycle(), w.shared_loads(599)), (500, 1));
    w.restore(&saved);
    assert_eq!((w.cycle(), w.shared_loads(0)), (0, 0));
    assert_eq!(
        [0, 0, 0].map(|operands| waiting(&w, operands)),
        [0, 0, 1],
        "two entries are free"
    );
}

#[test]
fn a_load_leaves_the_shared_queue_when_it_retires() {
    let core = config::Core {
        load_store_queue_entries: 4,
        ..core(4, 4, 64, 8)
    };
    let w = Window::new(&core);
    assert_eq!(w.next_shared_load_leaves(), None);
    w.dispatch();
    w.retire(50);
    for complete in [40, 60] {
        w.enter_shared_load();
        w.dispatch_load();
        w.retire(complete);
    }
    assert_eq!(
        w.next_shared_load_leaves(),
        Some(50),
        "in order: behind the op before it"
    );
    assert_eq!([49, 50, 60].map(|at| w.shared_loads(at)), [2, 1, 0]);
    w.dispatch();
    w.hold();
    w.enter_shared_load();
    w.dispatch_load();
    w.retire(70);
    assert_eq!((w.shared_loads(1000), w.next_shared_load_leaves()), (1, None), "held");
    w.release(300);
    assert_eq!(w.next_shared_load_leaves(), Some(300));
}

/// A turn of a loop that waits: a load that hits the L1, a comparison, a branch.
fn turn(w: &Window) {
    let loaded = w.dispatch_load() + 1 + 4;
    w.retire(loaded);
    let compared = (w.dispatch() + 1).max(loaded) + 1;
    w.retire(compared);
    let branched = (w.dispatch() + 1).max(compared) + 1;
    w.retire(branched);
}

/// A window behind a miss of 500 cycles, after `turns` turns.
fn behind_a_miss(turns: u64) -> Window {
    let w = window(6, 8, 224, 72);
    op(&w, 500);
    (0..turns).for_each(|_| turn(&w));
    w
}

#[test]
fn repeated_laps_leave_the_window_as_dispatched_ones_do() {
    for turns in [300, 301, 606] {
        let (repeated, dispatched) = (behind_a_miss(turns), behind_a_miss(turns));
        let before = repeated.position();
        for w in [&repeated, &dispatched] {
            (0..12).for_each(|_| turn(w));
        }
        let lap = repeated.lap(&before, &repeated.position(), 1).expect("a settled loop");
        repeated.repeat(&lap, 5);
        (0..5 * 12).for_each(|_| turn(&dispatched));
        assert_eq!(repeated.count(), dispatched.count());
        assert_eq!(repeated.stalls().fetch.get(), dispatched.stalls().fetch.get());
        for _ in 0..300 {
            assert_eq!(op(&repeated, 9), op(&dispatched, 9));
            assert_eq!(repeated.dispatch_load(), dispatched.dispatch_load());
            assert_eq!(repeated.retire(0), dispatched.retire(0));
        }
    }
}

#[test]
fn a_loop_that_does_not_fill_the_window_has_no_lap() {
    let w = behind_a_miss(60);
    let before = w.position();
    (0..12).for_each(|_| turn(&w));
    assert_eq!(w.lap(&before, &w.position(), 1), None);
}
