//! What the core alone decides: arithmetic, branches, accesses that hit the L1.

use super::{byte, repeated, Case, Unit, KIB, LINE, MEMORY, VALUE};
use crate::routine::{EffectiveAddress, Filling, Reg, Routine, RoutineOp, Word};

/// Instructions of a loop, so many that its own branch does not count.
const UNROLLED: u64 = 96;
/// A lap of such a loop takes some ten to hundred microseconds: few are interrupted.
const ITERATIONS: u64 = 1000;

/// What multiplications of 64 bits take on AMD's cores since the first Zen.
const CYCLES_A_MULTIPLICATION: f64 = 3.0;

/// Lines of locked additions.
const LOCKED_LINES: u64 = 16;
/// A word that points to itself, behind them, and the register of loads that follow it.
const POINTER: u64 = LOCKED_LINES * LINE;
const CHASED: Reg = Reg(4);

fn looped(body: Vec<RoutineOp>) -> Routine {
    Routine {
        registers: vec![(MEMORY, Word::Address(0)), (VALUE, Word::Value(1))],
        bytes: 16 * KIB,
        body,
        iterations: ITERATIONS,
        filling: Filling::Words(vec![(POINTER, Word::Address(POINTER))]),
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
        of(
            "locked",
            "locked addition",
            repeated(UNROLLED, |number| vec![locked(number)]),
        ),
        of(
            "locked-loads",
            "locked addition and four dependent loads",
            locked_loads(),
        ),
    ]
}

/// A locked addition to one of sixteen lines.
fn locked(number: u64) -> RoutineOp {
    RoutineOp::LockedAdd {
        register: Reg(3),
        at: byte(number % LOCKED_LINES * LINE),
    }
}

/// Locked additions, and behind each loads that depend on one another and not on it.
fn locked_loads() -> Vec<RoutineOp> {
    let pointer = EffectiveAddress {
        base: CHASED,
        index: None,
        offset: 0,
    };
    let load = |at| RoutineOp::Load { to: CHASED, at };
    repeated(UNROLLED, |number| {
        let first = load(byte(POINTER));
        let rest = std::iter::repeat_n(load(pointer), 3);
        [locked(number), first].into_iter().chain(rest).collect()
    })
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
