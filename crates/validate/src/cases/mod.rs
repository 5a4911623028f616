//! The microbenchmarks.

mod flushes;
mod loads;
mod pipeline;
mod swaps;

use crate::routine::{EffectiveAddress, Reg, Routine, RoutineOp};
use serde::Serialize;
use strandline_isa::LINE_BYTES;

/// What a case is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Unit {
    /// Cycles of the core: what the core alone decides.
    #[serde(rename = "cycles")]
    Cycles,
    /// Nanoseconds: what memory decides too.
    #[serde(rename = "ns")]
    Nanoseconds,
}

/// A microbenchmark.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// Its name without its size: a curve has several cases.
    pub family: &'static str,
    /// Its size, if it belongs to a curve.
    pub size: Option<u64>,
    /// What one of its operations is.
    pub operation: &'static str,
    /// What it is measured in.
    pub unit: Unit,
    /// The code.
    pub routine: Routine,
    /// Operations of a lap.
    pub operations: u64,
}

impl Case {
    fn new(family: &'static str, operation: &'static str, unit: Unit, each: u64, routine: Routine) -> Case {
        Case {
            name: family.to_owned(),
            family,
            size: None,
            operation,
            unit,
            operations: each * routine.iterations,
            routine,
        }
    }

    /// As a point of its family's curve.
    fn of_size(self, size: u64) -> Case {
        Case {
            name: format!("{}-{size}", self.family),
            size: Some(size),
            ..self
        }
    }
}

/// All of them, in the order of the table.
#[must_use]
pub fn cases() -> Vec<Case> {
    let groups = [pipeline::cases(), loads::cases(), flushes::cases(), swaps::cases()];
    groups.into_iter().flatten().collect()
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub use pipeline::clock;

/// The register of a routine's memory.
const MEMORY: Reg = Reg(0);
/// An offset in it.
const OFFSET: Reg = Reg(1);
/// Any value.
const VALUE: Reg = Reg(2);

/// The sizes of a curve.
const SIZES: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];

const LINE: u64 = LINE_BYTES;
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// This byte of memory.
fn byte(offset: u64) -> EffectiveAddress {
    EffectiveAddress {
        base: MEMORY,
        index: None,
        offset: offset as i32,
    }
}

/// Instructions, repeated with the number of the repetition.
fn repeated(times: u64, ops: impl Fn(u64) -> Vec<RoutineOp>) -> Vec<RoutineOp> {
    (0..times).flat_map(ops).collect()
}
