//! The amounts of each suite: in `cargo test`, and with `STRANDLINE_THOROUGH=1`, as in `make thorough`.
//!
//! One rule: a short suite covers every pair of values (each design with each workload, each runtime with each number
//! of threads, ...), a thorough one every triple. `cases -- --list` lists the cases.

use strandline_crash::Points;

/// How much a suite runs.
#[derive(Clone, Copy)]
pub struct Amount {
    /// Whether these are the thorough suites.
    pub thorough: bool,
    /// Number of axes whose values are covered in combination.
    pub strength: usize,
    /// Tasks of a run; `tpcc_tasks` for tpcc, whose tasks write some hundred lines.
    pub tasks: u64,
    /// As `tasks`.
    pub tpcc_tasks: u64,
    /// Recovered crash states of all runs of a case. The model judges all states.
    pub points: Points,
    /// Number of machines for a litmus test.
    pub machines: u64,
    /// Random programs under one design with the paper's parameters.
    pub programs: u64,
    /// The same under a design whose rarest bugs are found by them alone.
    pub rare_programs: u64,
    /// Random programs with one set of other parameters.
    pub least_programs: u64,
    /// Random commands under one design.
    pub commands: u64,
}

/// The short suites. A case takes some hundred milliseconds. Most of it is the model, which judges every crash state;
/// so fewer tasks save more than fewer points.
const SHORT: Amount = Amount {
    thorough: false,
    strength: 2,
    tasks: 6,
    tpcc_tasks: 2,
    points: Points::Count(80),
    machines: 20,
    programs: 600,
    rare_programs: 7_000,
    least_programs: 200,
    commands: 1,
};

/// The thorough suites, with as many tasks as `strandline crash`, so that logs wrap around several times.
const THOROUGH: Amount = Amount {
    thorough: true,
    strength: 3,
    tasks: 64,
    tpcc_tasks: 8,
    points: Points::Count(1_000),
    machines: 300,
    programs: 20_000,
    rare_programs: 20_000,
    least_programs: 20_000,
    commands: 30,
};

/// What is asked for.
pub fn amount() -> Amount {
    match std::env::var_os("STRANDLINE_THOROUGH") {
        Some(_) => THOROUGH,
        None => SHORT,
    }
}
