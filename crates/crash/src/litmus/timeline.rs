//! A run of a litmus test with its timeline.

use super::observe::Case;
use super::subject::Registered;
use super::timing::Timings;
use super::Subject;
use serde::Serialize;
use std::collections::BTreeMap;
use strandline_isa::Addr;
use strandline_machine::{Stats, Timeline};
use strandline_order::litmus::LocationKind;
use strandline_order::Test;
use strandline_sim::{durable_in, Error};

/// A run of a test, and what happened in it.
#[derive(Debug, Serialize)]
pub struct Drawn {
    /// What ran, with the keys that a record has.
    pub record: Ran,
    /// What happened.
    pub timeline: Timeline,
    /// Where a store becomes durable, as in [`strandline_sim::Drawn`].
    pub durable: &'static str,
    /// The last cycle.
    pub to_cycle: u64,
    /// Never: tests are short.
    pub is_shortened: bool,
    /// The names of locations, and of unused lines that threads write, by address.
    pub names: BTreeMap<u64, String>,
}

/// What ran.
#[derive(Debug, Serialize)]
pub struct Ran {
    /// The test.
    pub workload: String,
    /// The design.
    pub design: &'static str,
    /// The machine.
    pub machine: String,
    /// Its cores.
    pub cores: usize,
    /// The counts of the run.
    #[serde(flatten)]
    pub stats: Stats,
}

/// Runs a test once: the seed decides the machine, placements and delays, as in a test of conformance.
///
/// # Errors
/// The test has hosts, the design needs what no machine has, or the run makes no progress.
pub fn timeline(subject: &Registered, test: &Test, machines: Option<&[String]>, seed: u64) -> Result<Drawn, Error> {
    if test.hosts.are_named() {
        let message = format!(
            "{}: the test names hosts, and it would run on one: take a test without `P0@h0`",
            test.name
        );
        return Err(Error::input(message));
    }
    let about = subject.about();
    let case = Case::of(subject, &Timings::of(about, machines)?, test, seed);
    let outcome = case.recorded(subject)?;
    let timeline = outcome.timeline.unwrap_or_default();
    let persistent = test.ids().filter(|id| test.location(*id).kind != LocationKind::Output);
    let named = persistent.map(|id| case.layout.address(id));
    let traffic = case
        .threads
        .iter()
        .flat_map(|thread| thread.beside.traffic.iter().copied());
    let name = |addr: Addr| (addr.0, case.name(test, addr));
    Ok(Drawn {
        record: Ran {
            workload: test.name.clone(),
            design: about.name,
            machine: case.machine.name.clone(),
            cores: case.cores(),
            stats: outcome.stats,
        },
        durable: durable_in(about.name, &case.machine)?,
        to_cycle: timeline.end - timeline.start,
        is_shortened: false,
        names: named.chain(traffic).map(name).collect(),
        timeline,
    })
}
