//! Microbenchmarks that run on the processor at hand and on a simulated core.
//!
//! A case is a [`Routine`]: a loop of instructions, each of which is one instruction of x86-64 and one micro-op. The
//! same list is assembled and executed, and issued to a simulated core with the same addresses and values. What is
//! compared is time. Nothing here says what is durable: no running machine shows that.

mod cases;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod native;
mod processor;
mod routine;
mod simulated;

pub use cases::{cases, Case, Unit};
pub use processor::Processor;
pub use routine::{EffectiveAddress, Filling, Reg, Routine, RoutineOp, Word, REGISTERS};

use strandline_machine::MachineConfig;
use strandline_sim::Error;

/// Time of an operation of the case on a simulated core, in its unit.
///
/// # Errors
/// The run makes no progress.
pub fn simulated(case: &Case, machine: &MachineConfig) -> Result<f64, Error> {
    let cycles = simulated::cycles(&case.routine, machine)? as f64 / case.operations as f64;
    Ok(match case.unit {
        Unit::Cycles => cycles,
        Unit::Nanoseconds => cycles / machine.core.clock_ghz,
    })
}
