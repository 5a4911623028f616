//! Microbenchmarks, measured and simulated.

use serde_json::{json, Value};
use strandline_machine::MachineConfig;
use strandline_sim::Error;
use strandline_validate::{cases, simulated, Case, Processor};

/// The cases, in order, without their code.
pub fn listed() -> Value {
    let entry = |case: &Case| {
        json!({
            "name": case.name, "family": case.family, "size": case.size, "operation": case.operation,
            "unit": case.unit, "flushes": case.routine.flushes(),
        })
    };
    cases().iter().map(entry).collect()
}

/// The time of an operation of a case on a machine.
pub fn on_machine(name: &str, machine: &MachineConfig) -> Result<Value, Error> {
    Ok(json!(simulated(&case(name)?, machine)?))
}

/// The time of an operation of a case on the processor at hand; nothing if it lacks an instruction.
pub fn on_processor(name: &str, processor: &Processor) -> Result<Value, Error> {
    Ok(json!(processor.measured(&case(name)?)?))
}

fn case(name: &str) -> Result<Case, Error> {
    let found = cases().into_iter().find(|case| case.name == name);
    found.ok_or_else(|| Error::input(format!("no microbenchmark {name}")))
}
