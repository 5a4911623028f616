//! What the core alone decides: arithmetic, branches, accesses that hit the L1.

use super::{byte, repeated, Case, Unit, KIB, MEMORY, VALUE};
use crate::routine::{Reg, Routine, RoutineOp, Word};

/// Instructions of a loop, so many that its own branch does not count.
const UNROLLED: u64 = 96;
/// A lap of such a loop takes some ten to hundred microseconds: few are interrupted.
const ITERATIONS: u64 = 1000;

/// What multiplications of 64 bits take on AMD's cores since the first Zen.
const CYCLES_A_MULTIPLICATION: f64 = 3.0;

fn looped(body: Vec<RoutineOp>) -> Routine {
    Routine {
        registers: vec![(MEMORY, Word::Address(0)), (VALUE, Word::Value(1))],
        bytes: 16 * KIB,
        body,
        iterations: ITERATIONS,
        warm_laps: 2,
        ..Routine::default()
    }
}

/// Multiplications that depend on one another, by which the clock is found, and the cycles of one.
pub fn clock() -> (Case, f64) {
    let body = repeated(UNROLLED, |_| vec![RoutineOp::Mul { to: VALUE, from: VALUE }]);
    let case = Case::new("clock", "multiplication", Unit::Cycles, UNROLLED, looped(body));
    (case, CYCLES_A_MULTIPLICATION)
}

pub fn cases() -> Vec<Case> {
    let of = |family, operation, body| Case::new(family, operation, Unit::Cycles, UNROLLED, looped(body));
    let branches = |bit| repeated(UNROLLED, |_| vec![RoutineOp::Branch { on: VALUE, mask: bit }]);
    vec![
        of(
            "adds-dependent",
            "add",
            repeated(UNROLLED, |_| vec![RoutineOp::Add { to: VALUE, from: VALUE }]),
        ),
        of(
            "adds-independent",
            "add",
            repeated(UNROLLED, |number| {
                let to = Reg(3 + (number % 8) as u8);
                vec![RoutineOp::Add { to, from: VALUE }]
            }),
        ),
        of(
            "loads-independent",
            "load",
            repeated(UNROLLED, |number| {
                let to = Reg(3 + (number % 8) as u8);
                vec![RoutineOp::Load {
                    to,
                    at: byte(64 * number),
                }]
            }),
        ),
        of(
            "stores-l1",
            "store",
            repeated(UNROLLED, |number| {
                vec![RoutineOp::Store {
                    from: VALUE,
                    at: byte(64 * number),
                }]
            }),
        ),
        of(
            "forwarding",
            "store and load",
            repeated(UNROLLED, |_| {
                let at = byte(0);
                vec![RoutineOp::Store { from: VALUE, at }, RoutineOp::Load { to: VALUE, at }]
            }),
        ),
        of("branches-not-taken", "branch", branches(2)),
        of("branches-taken", "branch", branches(1)),
        random_branches(),
    ]
}

/// Branches on bit 31 of a linear congruential generator: half of them are mispredicted.
fn random_branches() -> Case {
    let (state, factor) = (Reg(3), Reg(4));
    let body = repeated(UNROLLED, |_| {
        vec![
            RoutineOp::Mul {
                to: state,
                from: factor,
            },
            RoutineOp::AddConstant {
                to: state,
                value: 1_013_904_223,
            },
            RoutineOp::Branch {
                on: state,
                mask: i32::MIN,
            },
        ]
    });
    let mut routine = looped(body);
    // Knuth's factor, modulo 2^64.
    routine.registers.push((factor, Word::Value(6_364_136_223_846_793_005)));
    routine.iterations = 200;
    Case::new("branches-random", "branch", Unit::Cycles, UNROLLED, routine)
}
