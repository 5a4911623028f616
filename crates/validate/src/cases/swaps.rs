//! Undo-logged swaps in windows.

use super::{Case, Unit, LINE, MEMORY, SIZES};
use crate::routine::{shuffled, EffectiveAddress, Filling, Reg, Routine, RoutineOp, Word, PAGE_BYTES};

/// Swaps of a loop. Each has two lines of its own.
const SWAPS: u64 = 128;
/// Lines of the log, used in turn.
const LOG_LINES: u64 = 64;
/// Where the elements begin, where the log does, and what follows both: pairs of pointers to elements.
const ELEMENTS: u64 = 0;
const LOG: u64 = 2 * SWAPS * LINE;
const POINTERS: u64 = LOG + LOG_LINES * LINE;
const BYTES: u64 = (POINTERS + 16 * SWAPS).next_multiple_of(PAGE_BYTES);

const FIRST: Reg = Reg(3);
const SECOND: Reg = Reg(4);
const A: Reg = Reg(5);
const B: Reg = Reg(6);

pub fn cases() -> Vec<Case> {
    SIZES.map(swaps).into()
}

/// Windows of so many swaps: their log records, a fence, their updates, a fence.
fn swaps(window: u64) -> Case {
    let mut body = Vec::new();
    for first in (0..SWAPS).step_by(window as usize) {
        (first..first + window).for_each(|swap| body.extend(logged(swap)));
        body.push(RoutineOp::Fence);
        (first..first + window).for_each(|swap| body.extend(updated(swap)));
        body.push(RoutineOp::Fence);
    }
    let routine = Routine {
        registers: vec![(MEMORY, Word::Address(0))],
        bytes: BYTES,
        filling: Filling::Words(pointers()),
        body,
        iterations: 2,
        warm_laps: 2,
        cold: false,
    };
    Case::new(
        "swaps",
        "undo-logged swap in windows of N",
        Unit::Nanoseconds,
        SWAPS,
        routine,
    )
    .of_size(window)
}

/// Two elements of each swap, in random order.
fn pointers() -> Vec<(u64, Word)> {
    let pointer = |(number, element): (u64, u64)| (POINTERS + 8 * number, Word::Address(ELEMENTS + element * LINE));
    (0..).zip(shuffled(2 * SWAPS)).map(pointer).collect()
}

fn at(base: Reg, offset: u64) -> EffectiveAddress {
    EffectiveAddress {
        base,
        index: None,
        offset: offset as i32,
    }
}

fn loads(swap: u64) -> [RoutineOp; 4] {
    let pointer = |number: u64| at(MEMORY, POINTERS + 16 * swap + 8 * number);
    [
        RoutineOp::Load {
            to: FIRST,
            at: pointer(0),
        },
        RoutineOp::Load {
            to: SECOND,
            at: pointer(1),
        },
        RoutineOp::Load {
            to: A,
            at: at(FIRST, 0),
        },
        RoutineOp::Load {
            to: B,
            at: at(SECOND, 0),
        },
    ]
}

/// A record of both elements' places and values, written back.
fn logged(swap: u64) -> Vec<RoutineOp> {
    let word = |number: u64| at(MEMORY, LOG + swap % LOG_LINES * LINE + 8 * number);
    let stores = (0..).zip([FIRST, A, SECOND, B]);
    let stores = stores.map(|(number, from)| RoutineOp::Store { from, at: word(number) });
    loads(swap)
        .into_iter()
        .chain(stores)
        .chain([RoutineOp::Clwb { at: word(0) }])
        .collect()
}

/// Both elements exchanged and written back.
fn updated(swap: u64) -> Vec<RoutineOp> {
    let (first, second) = (at(FIRST, 0), at(SECOND, 0));
    let update = [
        RoutineOp::Store { from: B, at: first },
        RoutineOp::Store { from: A, at: second },
        RoutineOp::Clwb { at: first },
        RoutineOp::Clwb { at: second },
    ];
    loads(swap).into_iter().chain(update).collect()
}
