//! Classes of made timelines.

use super::super::rows::{Cause, Head, InstructionKind, Stall, Wait, Write};
use super::super::waits::Why;
use super::super::{Table, Timeline};
use super::Class;

const FENCE: &str = "fence";

fn stall(from: u64, to: u64, cause: Cause) -> Stall {
    Stall {
        core: 0,
        from,
        to,
        used: 0,
        cause,
        counted: 0,
        fetch: 0,
        why: Why::Drained.name(),
        op: None,
        write: None,
        miss: None,
    }
}

fn wait(who: &'static str, why: Why, from: u64, to: u64) -> Wait {
    Wait {
        core: (who != "write").then_some(0),
        who,
        op: None,
        write: None,
        why: why.name(),
        from,
        to: Some(to),
        by_op: None,
        by_write: None,
    }
}

fn write(core: u16, sent: u64, arrived: u64, accepted: u64) -> Write {
    Write {
        line: 1 << 40,
        core: Some(core),
        controller: 0,
        by_design: false,
        sent,
        arrived: Some(arrived),
        accepted: Some(accepted),
        issued: None,
        media: None,
        bytes: 64,
        into: None,
        refused: false,
        timed: true,
    }
}

/// A core that dispatches in each of 200 cycles but for one stall.
fn stalled(stall: Stall, waits: Vec<Wait>, writes: Vec<Write>) -> Timeline {
    Timeline {
        end: 200,
        stalls: Table(vec![stall]),
        waits: Table(waits),
        writes: Table(writes),
        last: vec![200, 200],
        ..Timeline::default()
    }
}

fn found(timeline: &Timeline) -> Vec<(Class, u64)> {
    let spent = &timeline.why(2, 1)[0];
    assert_eq!(spent.sum(), 200, "each cycle is in one class");
    let all = Class::ALL.iter().map(|class| (*class, spent.of(*class)));
    all.filter(|(_, cycles)| *cycles > 0).collect()
}

#[test]
fn a_fence_waits_for_what_the_last_write_waited_for() {
    let fence = Wait {
        by_write: Some(0),
        ..wait(FENCE, Why::Drained, 10, 110)
    };
    let at_controller = Wait {
        write: Some(0),
        ..wait("write", Why::WriteQueue, 50, 90)
    };
    let timeline = stalled(
        stall(10, 110, Cause::Fence),
        vec![fence, at_controller],
        vec![write(0, 30, 50, 90)],
    );
    // Its store becomes visible up to 30; it is under way to 50, and its acknowledgement from 90 on.
    let expected = [
        (Class::Retiring, 100),
        (Class::Visible, 20),
        (Class::Way, 40),
        (Class::Media, 40),
    ];
    assert_eq!(found(&timeline), expected);
}

#[test]
fn a_fence_that_another_core_ends_waits_for_that_core() {
    let fence = Wait {
        by_write: Some(0),
        ..wait(FENCE, Why::Design, 10, 60)
    };
    let timeline = stalled(stall(10, 60, Cause::Fence), vec![fence], vec![write(1, 20, 30, 40)]);
    assert_eq!(found(&timeline), [(Class::Retiring, 150), (Class::Other, 50)]);
}

#[test]
fn a_branch_that_waits_for_a_line_is_no_front_end() {
    let mut timeline = stalled(stall(10, 60, Cause::Redirect), Vec::new(), Vec::new());
    timeline.heads = vec![Head {
        core: 0,
        kind: Some(InstructionKind::Load),
        from: 0,
        to: 45,
    }];
    let expected = [(Class::Retiring, 150), (Class::FrontEnd, 15), (Class::Data, 35)];
    assert_eq!(found(&timeline), expected);
}

#[test]
fn a_full_store_queue_orders_only_while_its_head_waits_for_a_flush() {
    let line = wait("store queue", Why::Line, 10, 30);
    let flush = wait("store queue", Why::Drained, 30, 60);
    let timeline = stalled(stall(10, 60, Cause::Buffer), vec![line, flush], Vec::new());
    let expected = [(Class::Retiring, 150), (Class::Data, 20), (Class::Way, 30)];
    assert_eq!(found(&timeline), expected);
}

#[test]
fn a_loop_that_waits_is_a_lock_and_what_is_behind_the_last_instruction_is_idle() {
    let mut timeline = stalled(stall(20, 40, Cause::Redirect), Vec::new(), Vec::new());
    timeline.heads = vec![Head {
        core: 0,
        kind: None,
        from: 10,
        to: 60,
    }];
    timeline.last = vec![149, 149];
    let expected = [(Class::Retiring, 100), (Class::Lock, 50), (Class::Idle, 50)];
    assert_eq!(found(&timeline), expected);
}
