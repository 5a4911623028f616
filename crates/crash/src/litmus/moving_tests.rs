//! Threads that move.

use super::*;
use strandline_isa::{Note, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::{Noted, Trace};

#[test]
fn what_a_thread_does_on_its_second_core_follows_what_it_did_on_its_first() {
    let store = |value| TraceOp::Store {
        addr: Addr(PM_BASE),
        size: 8,
        value,
    };
    let load = |from| TraceOp::Load {
        addr: Addr(PM_BASE),
        size: 8,
        value: 2,
        from,
    };
    let noted = |at| Noted {
        at: Cycles(at),
        note: Note::RegionDurable,
    };
    let op = |core, index| OpId {
        core: CoreId(core),
        index,
    };
    let journal = Journal {
        notes: vec![vec![noted(1)], Vec::new(), vec![noted(2)]],
        trace: Trace {
            programs: vec![
                vec![store(1), TraceOp::Note(0)],
                vec![store(3), load(Seen::Own(0))],
                vec![store(2), load(Seen::Own(0)), TraceOp::Note(0)],
            ],
            visible: vec![op(0, 0), op(1, 0), op(2, 0)],
        },
        ..Journal::default()
    };
    let joined = joined(journal, CoreId(0), CoreId(2));
    let whole = vec![
        store(1),
        TraceOp::Note(0),
        store(2),
        load(Seen::Own(2)),
        TraceOp::Note(1),
    ];
    let other = vec![store(3), load(Seen::Own(0))];
    assert_eq!(joined.trace.programs, [whole, other, Vec::new()]);
    assert_eq!(joined.trace.visible, [op(0, 0), op(1, 0), op(0, 2)]);
    assert_eq!(joined.notes, [vec![noted(1), noted(2)], Vec::new(), Vec::new()]);
}

#[test]
fn a_thread_leaves_from_each_context_that_it_has_used_and_returns_to_the_last() {
    let moves = Move {
        after: 3,
        to: CoreId(1),
        mailbox: Addr(0),
    };
    let used = [2, 1, 2].map(Instruction::SetContext);
    assert_eq!(Journey::behind(used.iter(), moves).contexts, [0, 1, 2]);
    assert_eq!(Journey::behind([].iter(), moves).contexts, [0]);
}
