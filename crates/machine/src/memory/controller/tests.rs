//! Tests of the controller: banks, order and commits.

use super::*;
use strandline_kernel::Cycles;

/// One bank of two open-row latencies, all in cycles: reads 100, or 40 where the row is open; writes 200, or 20;
/// a line takes 10 at the port; rows of 16 lines.
fn machine() -> MachineConfig {
    let mut machine = MachineConfig::preset("dpo").expect("a preset");
    let pm = &mut machine.pm;
    (pm.read_latency, pm.row_hit_latency) = (Cycles(100), Cycles(40));
    (pm.write_latency, pm.row_hit_write_latency) = (Cycles(200), Cycles(20));
    // 64 bytes in 5 ns at 2 GHz.
    (pm.read_gbps, pm.write_gbps) = (12.8, 12.8);
    (pm.banks, pm.row_bytes) = (1, 1024);
    machine
}

/// A line of a row.
fn line(row: u64, line: u64) -> Line {
    Line(16 * row + line)
}

fn accept(controller: &mut Controller, writes: &[(u32, Line)]) {
    for (id, line) in writes {
        assert_eq!(controller.take(WriteId(*id), *line, |_| false), None);
    }
}

/// The write issued at `now` and its end, or when to look again.
fn issue(controller: &mut Controller, now: u64) -> Result<(u32, u64), u64> {
    let issued = controller.issue(now, |_| true)?;
    controller.complete(issued.write);
    Ok((issued.write.0, issued.done))
}

#[test]
fn a_read_waits_for_the_write_that_its_bank_is_busy_with() {
    for exclusive in [false, true] {
        let mut machine = machine();
        machine.pm.exclusive_banks = exclusive;
        let mut controller = Controller::new(&machine);
        accept(&mut controller, &[(0, line(0, 0))]);
        assert_eq!(issue(&mut controller, 0), Ok((0, 200)));
        // The write has opened the row.
        let begins = if exclusive { 200 } else { 50 };
        assert_eq!(controller.media.read(line(0, 1), 50), begins + 40);
    }
}

#[test]
fn a_read_of_another_bank_waits_for_none() {
    let mut machine = machine();
    machine.pm.banks = 2;
    let mut controller = Controller::new(&machine);
    accept(&mut controller, &[(0, line(0, 0))]);
    assert_eq!(issue(&mut controller, 0), Ok((0, 200)));
    assert_eq!(controller.media.read(line(1, 0), 50), 50 + 100);
}

#[test]
fn a_write_waits_for_the_reads_of_its_bank() {
    let mut controller = Controller::new(&machine());
    // It opens its row in 100 - 40, and transfers a line in 10; the rest is the controller's.
    assert_eq!(controller.media.read(line(0, 0), 0), 100);
    accept(&mut controller, &[(0, line(2, 0))]);
    assert_eq!(issue(&mut controller, 0), Err(70));
    // It arrives while the write waits, and goes first.
    assert_eq!(controller.media.read(line(1, 0), 30), 70 + 100);
    assert_eq!(issue(&mut controller, 70), Err(140));
    assert_eq!(issue(&mut controller, 140), Ok((0, 340)));
}

#[test]
fn writes_go_before_reads_from_the_high_mark_to_the_low_one() {
    let mut machine = machine();
    (machine.controllers.drain_high, machine.controllers.drain_low) = (3, 1);
    let mut controller = Controller::new(&machine);
    assert_eq!(controller.media.read(line(0, 0), 0), 100);
    accept(&mut controller, &[(1, line(1, 0)), (2, line(2, 0))]);
    assert_eq!(issue(&mut controller, 0), Err(70));
    assert_eq!(controller.media.read(line(3, 0), 10), 70 + 100);
    accept(&mut controller, &[(3, line(4, 0))]);
    // Two of the three go before this read, behind the two earlier reads, which end at 140.
    assert_eq!(controller.media.read(line(5, 0), 20), 140 + 2 * 200 + 100);
    assert_eq!(issue(&mut controller, 0), Err(140));
    assert_eq!(issue(&mut controller, 140), Ok((1, 340)));
    assert_eq!(issue(&mut controller, 340), Ok((2, 540)));
    // The third waits for the read.
    assert_eq!(issue(&mut controller, 540), Err(540 + 70));
    assert_eq!(issue(&mut controller, 610), Ok((3, 810)));
}

#[test]
fn the_writes_of_a_full_queue_go_before_reads() {
    let mut machine = machine();
    (machine.controllers.wpq_entries, machine.controllers.drain_high) = (1, 0);
    let mut controller = Controller::new(&machine);
    accept(&mut controller, &[(0, line(0, 0))]);
    assert_eq!(controller.media.read(line(1, 0), 0), 200 + 100);
    assert_eq!(issue(&mut controller, 0), Ok((0, 200)));
}

#[test]
fn a_write_to_the_open_row_goes_first_as_often_as_the_row_has_lines() {
    for hits_first in [false, true] {
        let mut machine = machine();
        machine.controllers.row_hits_first = hits_first;
        let mut controller = Controller::new(&machine);
        accept(&mut controller, &[(0, line(0, 0)), (100, line(1, 0))]);
        let (_, mut now) = issue(&mut controller, 0).expect("the bank is free");
        let mut hits = 0;
        loop {
            accept(&mut controller, &[(hits, line(0, u64::from(hits) % 16))]);
            let (write, done) = issue(&mut controller, now).expect("the bank is free");
            if write == 100 {
                break;
            }
            assert_eq!(done, now + 20, "the row is open");
            (now, hits) = (done, hits + 1);
        }
        assert_eq!(hits, if hits_first { 16 } else { 0 });
    }
}

#[test]
fn writes_to_one_line_keep_their_order() {
    let mut controller = Controller::new(&machine());
    accept(
        &mut controller,
        &[(0, line(0, 0)), (1, line(1, 0)), (2, line(0, 0)), (3, line(0, 0))],
    );
    let mut now = 0;
    let order: Vec<_> = (0..4)
        .map(|_| {
            let (write, done) = issue(&mut controller, now).expect("the bank is free");
            now = done;
            write
        })
        .collect();
    // Row hits go first, in their order.
    assert_eq!(order, [0, 2, 3, 1]);
}

#[test]
fn a_commit_waits_for_writes_behind_reads() {
    let mut controller = Controller::new(&machine());
    assert_eq!(controller.media.read(line(0, 0), 0), 100);
    accept(&mut controller, &[(0, line(0, 1))]);
    controller.commit(CoreId(0), Key(0));
    assert_eq!(issue(&mut controller, 0), Err(70));
    assert_eq!(controller.next_answered(), None);
    assert_eq!(issue(&mut controller, 70), Ok((0, 90)));
    assert_eq!(controller.next_answered(), Some((CoreId(0), Key(0))));
    assert!(!controller.has_commits());
}

#[test]
fn a_write_that_the_design_held_goes_before_younger_ones_of_its_line() {
    let mut machine = machine();
    machine.controllers.wpq_entries = 1;
    let mut controller = Controller::new(&machine);
    let alone = |_: WriteId| false;
    // The design holds 1 and 2, one entry is taken meanwhile, and 3 waits for room.
    assert!(controller.admits(WriteId(1), line(0, 0), false, alone));
    assert!(controller.admits(WriteId(2), line(0, 1), false, alone));
    accept(&mut controller, &[(0, line(2, 0))]);
    assert!(!controller.admits(WriteId(3), line(0, 0), false, alone));
    // They are let go in this order.
    assert!(!controller.admits(WriteId(1), line(0, 0), true, alone));
    assert!(!controller.admits(WriteId(2), line(0, 1), true, alone));
    let mut order = Vec::new();
    let mut now = 0;
    while order.len() < 3 {
        now = issue(&mut controller, now).expect("the media are free").1;
        let next = controller.next_waiting().expect("there is room");
        accept(&mut controller, &[(next.0, line(0, 0))]);
        order.push(next.0);
    }
    assert_eq!(order, [1, 2, 3]);
}

#[test]
fn a_write_that_the_design_held_does_not_wait_behind_a_younger_one() {
    let mut machine = machine();
    machine.controllers.wpq_entries = 1;
    let mut controller = Controller::new(&machine);
    let alone = |_: WriteId| false;
    assert!(controller.admits(WriteId(1), line(0, 0), false, alone));
    accept(&mut controller, &[(0, line(2, 0))]);
    assert!(!controller.admits(WriteId(2), line(0, 0), false, alone));
    assert!(issue(&mut controller, 0).is_ok());
    assert!(controller.admits(WriteId(1), line(0, 0), true, alone), "there is room");
}

/// A controller with one write before a commit, and whether it admits another after it.
fn behind_a_commit(pcommit: PcommitWait) -> (Controller, bool) {
    let mut machine = machine();
    machine.controllers.pcommit = pcommit;
    let mut controller = Controller::new(&machine);
    accept(&mut controller, &[(0, line(0, 0))]);
    controller.commit(CoreId(0), Key(7));
    let admits = controller.admits(WriteId(1), line(1, 0), false, |_| false);
    if admits {
        accept(&mut controller, &[(1, line(1, 0))]);
    }
    (controller, admits)
}

#[test]
fn a_commit_waits_for_what_its_machine_says() {
    use PcommitWait::{Accepted, Alone, Empty, Serial};
    for pcommit in [Accepted, Empty, Alone, Serial] {
        let (mut controller, admits) = behind_a_commit(pcommit);
        assert_eq!(admits, pcommit != Alone, "{pcommit:?}");
        assert_eq!(controller.next_answered(), None, "{pcommit:?}");
        assert_eq!(issue(&mut controller, 0).map(|(write, _)| write), Ok(0));
        let answered = controller.next_answered().is_some();
        assert_eq!(answered, pcommit != Empty, "{pcommit:?}");
        match pcommit {
            Alone => assert_eq!(controller.next_waiting(), Some(WriteId(1))),
            Accepted | Empty | Serial => assert_eq!(issue(&mut controller, 1000).map(|(write, _)| write), Ok(1)),
        }
        assert_eq!(controller.next_answered().is_some(), pcommit == Empty, "{pcommit:?}");
    }
}

#[test]
fn commits_one_after_the_other_wait_for_what_was_accepted_before_their_turn() {
    let (mut controller, admits) = behind_a_commit(PcommitWait::Serial);
    assert!(admits);
    controller.commit(CoreId(1), Key(8));
    accept(&mut controller, &[(2, line(2, 0))]);
    assert!(issue(&mut controller, 0).is_ok());
    assert_eq!(controller.next_answered(), Some((CoreId(0), Key(7))));
    assert_eq!(
        controller.next_answered(),
        None,
        "two writes were accepted before its turn"
    );
    assert!(issue(&mut controller, 1000).is_ok());
    assert_eq!(controller.next_answered(), None);
    assert!(issue(&mut controller, 2000).is_ok());
    assert_eq!(controller.next_answered(), Some((CoreId(1), Key(8))));
}

#[test]
fn an_issued_write_keeps_its_entry_until_it_is_written_or_not() {
    for (leaves, frees) in [(WpqLeave::Written, false), (WpqLeave::Issued, true)] {
        let mut machine = machine();
        (machine.controllers.wpq_entries, machine.controllers.wpq_leaves) = (1, leaves);
        let alone = |_: WriteId| false;
        let mut controller = Controller::new(&machine);
        accept(&mut controller, &[(0, line(0, 0))]);
        assert!(!controller.admits(WriteId(1), line(1, 0), false, alone), "queued");
        let issued = controller.issue(0, |_| true).map(|issued| issued.write);
        assert_eq!(issued, Ok(WriteId(0)));
        assert_eq!(controller.next_waiting().is_some(), frees, "{leaves:?}");
        controller.complete(WriteId(0));
        assert_eq!(controller.next_waiting().is_some(), !frees, "{leaves:?}");
    }
}
