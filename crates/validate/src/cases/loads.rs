//! Loads by level, translation, and streams of stores.

use super::{byte, repeated, Case, Unit, KIB, LINE, MEMORY, MIB, OFFSET, VALUE};
use crate::routine::{EffectiveAddress, Filling, Routine, RoutineOp, Word, PAGE_BYTES};

/// Dependent loads of a loop.
const UNROLLED: u64 = 16;
/// Loads, or lines of a stream, of a lap.
const LAP: u64 = 8192;

pub fn cases() -> Vec<Case> {
    let level =
        |family, bytes: u64, unit| Case::new(family, "dependent load", unit, UNROLLED, chase(bytes / LINE, LINE));
    let pages = |pages: u64| {
        let routine = chase(pages, PAGE_BYTES);
        Case::new("pages", "dependent load", Unit::Cycles, UNROLLED, routine).of_size(pages)
    };
    let mut memory = level("load-memory", 64 * MIB, Unit::Nanoseconds);
    memory.routine.cold = true;
    memory.routine.warm_laps = 1;
    vec![
        level("load-l1", 16 * KIB, Unit::Cycles),
        level("load-l2", 256 * KIB, Unit::Cycles),
        level("load-l3", 8 * MIB, Unit::Cycles),
        memory,
        pages(64),
        pages(1024),
        pages(8192),
        stream("stores-l2", 256 * KIB, false),
        stream("stores-memory", 64 * MIB, false),
        stream("stores-nt", 64 * MIB, true),
    ]
}

/// Loads each of which takes its address from the one before, over lines in random order.
fn chase(lines: u64, distance: u64) -> Routine {
    let pointer = EffectiveAddress {
        base: VALUE,
        index: None,
        offset: 0,
    };
    Routine {
        registers: vec![(VALUE, Word::Address(0))],
        bytes: lines * distance,
        filling: Filling::Chain { lines, distance },
        body: repeated(UNROLLED, |_| vec![RoutineOp::Load { to: VALUE, at: pointer }]),
        iterations: LAP / UNROLLED,
        // Twice through all of them.
        warm_laps: 2 * lines.div_ceil(LAP),
        cold: false,
    }
}

/// Eight stores to each line, line after line, over and over.
fn stream(family: &'static str, bytes: u64, non_temporal: bool) -> Case {
    const LINES: u64 = 8;
    let store = |word: u64| {
        let at = EffectiveAddress {
            index: Some(OFFSET),
            ..byte(8 * word)
        };
        match non_temporal {
            true => RoutineOp::StoreNt { from: VALUE, at },
            false => RoutineOp::Store { from: VALUE, at },
        }
    };
    let mut body: Vec<RoutineOp> = (0..8 * LINES).map(store).collect();
    body.push(RoutineOp::AddConstant {
        to: OFFSET,
        value: (LINES * LINE) as i32,
    });
    body.push(RoutineOp::And {
        to: OFFSET,
        mask: (bytes - 1) as i32,
    });
    let fits = bytes < MIB;
    let routine = Routine {
        registers: vec![(MEMORY, Word::Address(0)), (VALUE, Word::Value(1))],
        bytes,
        filling: Filling::Zero,
        body,
        iterations: LAP / LINES,
        warm_laps: 2,
        cold: !fits,
    };
    let unit = if fits { Unit::Cycles } else { Unit::Nanoseconds };
    Case::new(family, "line of eight stores", unit, LINES, routine)
}
