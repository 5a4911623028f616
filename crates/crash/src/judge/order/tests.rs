use super::*;
use std::cell::Cell;
use strandline_isa::{Addr, CoreId, Flush, LineData, Memory, Note, Primitive, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::{Durable, Journal, Noted, OpId, Seen, Trace, TraceOp};

/// The first word of a line of persistent memory.
fn word(line: u64) -> Addr {
    Addr(PM_BASE + 64 * line)
}

pub fn store(line: u64, value: u64) -> TraceOp {
    TraceOp::Store {
        addr: word(line),
        size: 8,
        value,
    }
}

pub fn load(line: u64, value: u64, from: Seen) -> TraceOp {
    TraceOp::Load {
        addr: word(line),
        size: 8,
        value,
        from,
    }
}

fn holding(value: u64) -> LineData {
    [value, 0, 0, 0, 0, 0, 0, 0]
}

/// A run of these programs. `visible` is the order of visible stores, by core and index. `durable` is the sequence of
/// lines that become durable, one each cycle.
pub fn run(programs: Vec<Vec<TraceOp>>, visible: &[(u16, u32)], durable: &[(u64, u64)]) -> Journal {
    let visible = visible.iter().map(|(core, index)| OpId {
        core: CoreId(*core),
        index: *index,
    });
    let durable = durable.iter().enumerate().map(|(index, (line, value))| Durable {
        at: Cycles(index as u64 + 1),
        line: word(*line).line(),
        data: holding(*value),
    });
    Journal {
        notes: vec![Vec::new(); programs.len()],
        visible_at: vec![Cycles::ZERO; visible.len()],
        trace: Trace {
            programs,
            visible: visible.collect(),
        },
        durable: durable.collect(),
        ..Journal::default()
    }
}

/// The violation in a run from zeroed memory, if any: the number of durable events, and the message.
fn wrong(journal: &Journal) -> Option<(usize, String)> {
    let models = Models::named("px86").expect("a model");
    let disorder = judge(models.plain(), journal, &Memory::new(4096, 4096), &|| false);
    disorder.map(|disorder| (disorder.event, disorder.what))
}

/// Line 2 is durable at any time, line 0 before the store to line 1.
fn ordered(durable: &[(u64, u64)]) -> Journal {
    let flush = TraceOp::Flush {
        addr: word(0),
        kind: Flush::Clwb,
    };
    let fence = TraceOp::Primitive(Primitive::Sfence);
    let program = vec![store(2, 1), store(0, 1), flush, fence, store(1, 1)];
    run(vec![program], &[(0, 0), (0, 1), (0, 4)], durable)
}

#[test]
fn the_judge_looks_at_no_further_state_once_it_is_stopped() {
    let (models, memory) = (Models::named("px86").expect("a model"), Memory::new(4096, 4096));
    let journal = ordered(&[(2, 1), (1, 1), (0, 1)]);
    for (most, is_found) in [(2, false), (3, true)] {
        let looks = Cell::new(0);
        let is_stopped = || looks.replace(looks.get() + 1) == most;
        let found = judge(models.plain(), &journal, &memory, &is_stopped);
        assert_eq!(
            (found.is_some(), looks.get()),
            (is_found, 3),
            "{most} states, and the third is wrong"
        );
    }
}

#[test]
fn what_is_durable_too_early_is_wrong() {
    let (event, what) = wrong(&ordered(&[(1, 1), (2, 1), (0, 1)])).expect("line 1 is early");
    assert_eq!(event, 1);
    assert!(what.contains("which comes before it, is not"), "{what}");
}

/// A design may write early if it undoes the write at a power failure (ASAP, IV-D). The line counts from the time when
/// the write is no longer undone.
#[test]
fn what_is_undone_until_what_comes_before_it_is_durable_is_right() {
    assert_eq!(wrong(&ordered(&[(0, 1), (1, 1), (2, 1)])), None);
}

#[test]
fn what_is_taken_back_is_wrong_while_what_comes_after_it_is_not() {
    assert_eq!(wrong(&ordered(&[(0, 1), (0, 0), (0, 1), (1, 1)])), None);
    assert_eq!(wrong(&ordered(&[(0, 1), (1, 1), (1, 0), (0, 0)])), None);
    let (event, what) = wrong(&ordered(&[(0, 1), (1, 1), (2, 1), (0, 0)])).expect("line 1 is still there");
    assert_eq!(event, 4);
    assert!(what.contains("which comes before it, is not"), "{what}");
}

#[test]
fn what_no_store_left_is_wrong() {
    assert_eq!(
        wrong(&ordered(&[(2, 1), (1, 7), (1, 0)])),
        Some((2, format!("{} has a value that no store left there", word(1))))
    );
}

/// An output in the cycle of the second of three changes, or directly before it.
#[test]
fn an_output_is_held_against_the_image_of_its_own_cycle() {
    let fence = TraceOp::Primitive(Primitive::Sfence);
    let flush = TraceOp::Flush {
        addr: word(0),
        kind: Flush::Clwb,
    };
    let note = Note::Output { location: 0, value: 1 };
    let told = |at| {
        let program = vec![store(0, 1), flush, fence, TraceOp::Note(0)];
        let mut journal = run(vec![program], &[(0, 0)], &[(2, 0), (0, 1), (2, 0)]);
        journal.notes[0] = vec![Noted { at: Cycles(at), note }];
        wrong(&journal).map(|(event, _)| event)
    };
    assert_eq!((told(1), told(2)), (Some(1), None));
}

#[test]
fn a_load_is_given_what_its_own_core_has_made_visible() {
    let of = |value| run(vec![vec![store(0, 1), load(0, value, Seen::Memory(1))]], &[(0, 0)], &[]);
    assert_eq!(wrong(&of(1)), None);
    let (_, what) = wrong(&of(0)).expect("a stale load");
    assert!(what.starts_with("core 0 reads 0x0 from"), "{what}");
}

/// A failed compare-and-swap writes the value that it has read; one that reads a wrong value is a fault.
#[test]
fn a_locked_instruction_is_given_what_is_there() {
    let locked = |old, new| TraceOp::Rmw {
        addr: word(0),
        old,
        new,
        from: Seen::Memory(1),
    };
    let of = |old, new| {
        run(
            vec![vec![store(0, 1)], vec![locked(old, new)]],
            &[(0, 0), (1, 0)],
            &[(0, new)],
        )
    };
    assert_eq!(wrong(&of(1, 2)), None);
    assert_eq!(wrong(&of(1, 1)), None);
    let (_, what) = wrong(&of(0, 2)).expect("a stale locked instruction");
    assert!(what.starts_with("core 1 reads 0x0 from"), "{what}");
}
