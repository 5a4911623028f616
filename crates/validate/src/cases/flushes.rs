//! Write-backs and fences.

use super::{byte, repeated, Case, Unit, KIB, LINE, MEMORY, SIZES, VALUE};
use crate::routine::{Reg, Routine, RoutineOp, Word};

/// Lines that are written back in turn.
const LINES: u64 = 256;
/// Fences of a lap, at least.
const FENCES: u64 = 256;
/// Cycles of arithmetic for each fence of a burst: longer than a fence takes.
const IDLE_CYCLES: u64 = 900;
/// Of the processors that a case was made for.
const CYCLES_A_MULTIPLICATION: u64 = 3;
/// What the arithmetic computes.
const CHAIN: Reg = Reg(3);
/// Store and write-back pairs of a loop.
const PAIRS: u64 = 64;

pub fn cases() -> Vec<Case> {
    let fences = SIZES.map(fence);
    let again = SIZES.map(store_again);
    let bursts = SIZES.map(burst);
    let streamed = repeated(PAIRS, |number| {
        vec![
            RoutineOp::StoreNt {
                from: VALUE,
                at: byte(number * LINE),
            },
            RoutineOp::Fence,
        ]
    });
    let nt = Case::new(
        "nt-fence",
        "nt store and sfence",
        Unit::Nanoseconds,
        PAIRS,
        looped(streamed, 4),
    );
    fences.into_iter().chain([nt]).chain(again).chain(bursts).collect()
}

fn looped(body: Vec<RoutineOp>, iterations: u64) -> Routine {
    Routine {
        registers: vec![(MEMORY, Word::Address(0)), (VALUE, Word::Value(1))],
        bytes: 16 * KIB,
        body,
        iterations,
        warm_laps: 2,
        ..Routine::default()
    }
}

/// A store to a line, and its write-back.
fn pair(line: u64) -> [RoutineOp; 2] {
    let at = byte(line * LINE);
    [RoutineOp::Store { from: VALUE, at }, RoutineOp::Clwb { at }]
}

/// So many lines stored and written back, and a fence.
fn fence(lines: u64) -> Case {
    let groups = LINES / lines;
    let body = repeated(groups, |group| {
        let lines = (0..lines).flat_map(|line| pair(group * lines + line));
        lines.chain([RoutineOp::Fence]).collect()
    });
    let routine = looped(body, FENCES.div_ceil(groups));
    Case::new("clwb", "N lines and sfence", Unit::Nanoseconds, groups, routine).of_size(lines)
}

/// Lines stored and written back without a fence, the same ones after so many others.
fn store_again(lines: u64) -> Case {
    let body = repeated(PAIRS, |number| pair(number % lines).to_vec());
    let operation = "line, again after N, unfenced";
    Case::new("store-again", operation, Unit::Nanoseconds, PAIRS, looped(body, 32)).of_size(lines)
}

/// Fences in a row, and then arithmetic while they drain, [`IDLE_CYCLES`] for each fence.
fn burst(fences: u64) -> Case {
    let idle = repeated(fences * IDLE_CYCLES / CYCLES_A_MULTIPLICATION, |_| {
        vec![RoutineOp::Mul { to: CHAIN, from: CHAIN }]
    });
    let stored = repeated(fences, |line| {
        pair(line).into_iter().chain([RoutineOp::Fence]).collect()
    });
    let body = stored.into_iter().chain(idle).collect();
    let operation = "line and sfence, N in a row, then 900 cycles of arithmetic each";
    Case::new("burst", operation, Unit::Cycles, fences, looped(body, 128 / fences)).of_size(fences)
}
