use super::*;
use strandline_isa::{Addr, CoreId, Flush, LineData, Memory, Primitive, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::{Durable, Journal, Op, OpId, Seen, Trace};

/// The first word of a line of persistent memory.
fn word(line: u64) -> Addr {
    Addr(PM_BASE + 64 * line)
}

pub fn store(line: u64, value: u64) -> Op {
    Op::Store {
        addr: word(line),
        size: 8,
        value,
    }
}

pub fn load(line: u64, value: u64, from: Seen) -> Op {
    Op::Load {
        addr: word(line),
        size: 8,
        value,
        from,
    }
}

fn holding(value: u64) -> LineData {
    [value, 0, 0, 0, 0, 0, 0, 0]
}

/// A run of these programs; `visible` says in which order the stores became visible, by core and index, and `durable` which
/// line held what in the end, a cycle after the other.
pub fn run(programs: Vec<Vec<Op>>, visible: &[(u16, u32)], durable: &[(u64, u64)]) -> Journal {
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
        trace: Trace {
            programs,
            visible: visible.collect(),
        },
        durable: durable.collect(),
        power_failures: Vec::new(),
    }
}

/// What is wrong with a run from memory that is all zero, if anything: after how many durable events, and what.
fn wrong(journal: &Journal) -> Option<(usize, String)> {
    let models = Models::named("px86").expect("a model");
    let disorder = judge(models.plain(), journal, &Memory::new(4096, 4096));
    disorder.map(|disorder| (disorder.event, disorder.what))
}

/// Line 2 durable whenever, line 0 before line 1 is stored to; yet line 1 is durable first.
fn early() -> Journal {
    let flush = Op::Flush {
        addr: word(0),
        kind: Flush::Clwb,
    };
    let fence = Op::Primitive(Primitive::Sfence);
    let program = vec![store(2, 1), store(0, 1), flush, fence, store(1, 1)];
    run(vec![program], &[(0, 0), (0, 1), (0, 4)], &[(1, 1), (2, 1), (0, 1)])
}

fn undone() -> Vec<(strandline_isa::Line, LineData)> {
    vec![(word(1).line(), holding(0))]
}

#[test]
fn what_is_durable_too_early_is_wrong() {
    let (event, what) = wrong(&early()).expect("line 1 is early");
    assert_eq!(event, 1);
    assert!(what.contains("which comes before it, is not"), "{what}");
}

/// A design may write early if a power failure takes it back (ASAP, IV-D).
#[test]
fn what_a_power_failure_takes_back_is_not_left() {
    let mut journal = early();
    journal.power_failures = vec![(1, undone()), (2, undone())];
    assert_eq!(wrong(&journal), None);
}

#[test]
fn what_is_taken_back_no_more_is_wrong_though_nothing_else_of_it_has_changed() {
    let mut journal = early();
    journal.power_failures = vec![(1, undone())];
    assert_eq!(wrong(&journal).map(|(event, _)| event), Some(2));
    journal.power_failures = vec![(1, undone()), (2, vec![(word(2).line(), holding(0))])];
    assert_eq!(wrong(&journal).map(|(event, _)| event), Some(2));
}

#[test]
fn what_no_store_left_is_wrong_until_it_is_taken_back() {
    let mut journal = early();
    journal.durable[0].data = holding(7);
    journal.power_failures = vec![(1, undone())];
    assert_eq!(
        wrong(&journal),
        Some((2, format!("{} holds what no store left there", word(1))))
    );
}

#[test]
fn a_load_is_given_what_its_own_core_has_made_visible() {
    let of = |value| run(vec![vec![store(0, 1), load(0, value, Seen::Memory(1))]], &[(0, 0)], &[]);
    assert_eq!(wrong(&of(1)), None);
    let (_, what) = wrong(&of(0)).expect("a stale load");
    assert!(what.starts_with("core 0 reads 0x0 from"), "{what}");
}

/// A failed compare-and-swap writes what it has read; one that reads what is not there is broken.
#[test]
fn a_locked_instruction_is_given_what_is_there() {
    let locked = |old, new| Op::Rmw {
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
