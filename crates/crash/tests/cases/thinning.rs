//! How much each suite runs: in `cargo test`, and with `STRANDLINE_THOROUGH=1`, as `make thorough` does.
//!
//! One rule: a short suite has every pair of values (each design with each workload, each runtime with each number of
//! threads, ...) in some run, a thorough one every triple. `cases -- --list` shows the cases.

use strandline_crash::Points;

/// How much a suite runs.
#[derive(Clone, Copy)]
pub struct Amount {
    /// Whether this is what the thorough suites run.
    pub thorough: bool,
    /// Values of how many axes stand together in some run.
    pub strength: usize,
    /// Tasks of a run; of tpcc, whose tasks write some hundred lines, `tpcc_tasks`.
    pub tasks: u64,
    /// As `tasks`.
    pub tpcc_tasks: u64,
    /// Crash states that are recovered, all runs of a case together. The model judges all there are.
    pub points: Points,
    /// Machines on which a litmus test is run.
    pub machines: u64,
    /// Random programs under one design with one set of parameters.
    pub programs: u64,
    /// Random commands under one design.
    pub commands: u64,
}

/// The short suites. A case takes some hundred milliseconds: the model that judges every crash state costs most of it, so
/// fewer tasks save more than fewer points.
const SHORT: Amount = Amount {
    thorough: false,
    strength: 2,
    tasks: 16,
    tpcc_tasks: 4,
    points: Points::Count(160),
    machines: 30,
    programs: 1_000,
    commands: 2,
};

/// The thorough suites: tasks as `strandline crash` has them, so that logs come round several times.
const THOROUGH: Amount = Amount {
    thorough: true,
    strength: 3,
    tasks: 64,
    tpcc_tasks: 8,
    points: Points::Count(1_000),
    machines: 300,
    programs: 20_000,
    commands: 30,
};

/// What is asked for.
pub fn amount() -> Amount {
    match std::env::var_os("STRANDLINE_THOROUGH") {
        Some(_) => THOROUGH,
        None => SHORT,
    }
}
