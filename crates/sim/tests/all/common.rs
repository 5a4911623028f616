//! What tests of whole runs share.

use serde_json::Value;
use strandline_isa::{CoreId, Line};
use strandline_kernel::Cycles;
use strandline_machine::{factory, Journal, MachineConfig, Options, SimCpu, System};
use strandline_sim::Record;

/// A preset in which nothing runs ahead.
pub fn preset(name: &str) -> MachineConfig {
    let mut machine = MachineConfig::preset(name).expect("a preset");
    machine.simulation.slack = Cycles(0);
    machine
}

/// Of a run that keeps a journal.
pub fn observed() -> Options {
    Options {
        journal: true,
        ..Options::default()
    }
}

/// Starts a program on a core of the system.
pub fn start(system: &mut System, core: u16, program: impl Fn(&SimCpu<'_>) + 'static) {
    system.start(CoreId(core), factory(program));
}

/// When a line first became durable.
pub fn durable_at(journal: &Journal, line: Line) -> Cycles {
    let found = journal.durable.iter().find(|durable| durable.line == line);
    found.expect("it became durable").at
}

/// A record without what depends on the host.
pub fn without_host(record: &Record) -> Value {
    let mut result = serde_json::json!(record);
    let keys = result.as_object_mut().expect("a record is a map");
    keys.retain(|key, _| !key.starts_with("host_"));
    result
}
