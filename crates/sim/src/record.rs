//! The record of a run: flat, every key always there, null where a design or machine does not have it.

use crate::{Plan, Source, Spec};
use serde::Serialize;
use serde_json::{json, Map, Value};
use strandline_design::About;
use strandline_machine::Stats;
use strandline_runtime::Window;

/// What a run yields. Units stand in the names where a value is not a count.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the keys are the documentation; docs/records.md lists them")]
pub struct Record {
    pub figure: Option<String>,
    pub workload: String,
    pub design: String,
    pub runtime: String,
    pub machine: String,
    pub cores: u64,
    pub threads: u64,
    pub window: u64,
    pub bmo_cycles: u64,
    pub seed: u64,
    pub warmup: String,
    pub tasks: u64,
    pub instructions: u64,
    pub cycles: u64,
    pub task_latency_p01_cycles: Option<u64>,
    pub task_latency_p10_cycles: Option<u64>,
    pub task_latency_p20_cycles: Option<u64>,
    pub task_latency_p30_cycles: Option<u64>,
    pub task_latency_p40_cycles: Option<u64>,
    pub task_latency_p50_cycles: Option<u64>,
    pub task_latency_p60_cycles: Option<u64>,
    pub task_latency_p70_cycles: Option<u64>,
    pub task_latency_p80_cycles: Option<u64>,
    pub task_latency_p90_cycles: Option<u64>,
    pub task_latency_p95_cycles: Option<u64>,
    pub task_latency_p99_cycles: Option<u64>,
    pub loads: u64,
    pub stores: u64,
    pub flushes: u64,
    pub fences: u64,
    pub fence_stall_cycles: u64,
    pub buffer_stall_cycles: u64,
    pub fetch_stall_cycles: u64,
    pub blocked_cycles: Option<u64>,
    pub switch_instructions: Option<u64>,
    pub pm_reads: u64,
    pub pm_writes: u64,
    pub pm_write_bytes: u64,
    pub coalesced: u64,
    pub epochs: Option<u64>,
    pub cross_dependences: Option<u64>,
    pub early_flushes: Option<u64>,
    pub undo_records: Option<u64>,
    pub delay_records: Option<u64>,
    pub nacks: Option<u64>,
    pub rollbacks: Option<u64>,
    pub pcommits_in_flight_max: Option<u64>,
    pub stores_per_pcommit: Option<f64>,
    pub bloom_lookups: Option<u64>,
    pub bloom_false_positives: Option<u64>,
    pub buffer_occupancy_mean: Option<f64>,
    pub buffer_occupancy_p99: Option<u64>,
    pub table_occupancy_max: Option<u64>,
    pub drain_bytes_max: u64,
    pub storage_bytes: u64,
    pub recovers: Option<bool>,
    pub params: Map<String, Value>,
    pub host_seconds: f64,
    pub host_mips: f64,
}

/// What is measured around a run.
pub struct Measured {
    /// The structures that the design adds, and their bytes of storage.
    pub storage: Vec<(&'static str, u64)>,
    /// Bytes that the design must write when power fails, at most.
    pub drain_bytes: u64,
    /// Seconds of the host.
    pub host_seconds: f64,
}

impl Record {
    /// The record of a run that has counted `stats`.
    #[must_use]
    pub fn of(spec: &Spec, plan: &Plan, about: &About, stats: &Stats, measured: &Measured) -> Record {
        let pcommits = stats.commits / plan.machine.controllers.count;
        let design = &stats.design;
        let latency = |share| stats.task_latency.quantile(share);
        Record {
            figure: spec.figure.clone(),
            workload: plan.source.name(spec),
            design: about.name.to_owned(),
            runtime: plan.source.runtime(spec),
            machine: plan.machine.name.clone(),
            cores: plan.cores,
            threads: plan.threads,
            window: u64::from(stats.window),
            bmo_cycles: plan.machine.controllers.bmo_latency.0,
            seed: spec.seed,
            warmup: plan.warmup(),
            tasks: stats.tasks,
            instructions: stats.instructions,
            cycles: stats.cycles.0,
            task_latency_p01_cycles: latency(0.01),
            task_latency_p10_cycles: latency(0.10),
            task_latency_p20_cycles: latency(0.20),
            task_latency_p30_cycles: latency(0.30),
            task_latency_p40_cycles: latency(0.40),
            task_latency_p50_cycles: latency(0.50),
            task_latency_p60_cycles: latency(0.60),
            task_latency_p70_cycles: latency(0.70),
            task_latency_p80_cycles: latency(0.80),
            task_latency_p90_cycles: latency(0.90),
            task_latency_p95_cycles: latency(0.95),
            task_latency_p99_cycles: latency(0.99),
            loads: stats.loads,
            stores: stats.stores,
            flushes: stats.flushes,
            fences: stats.fences,
            fence_stall_cycles: stats.fence_stall_cycles,
            buffer_stall_cycles: stats.buffer_stall_cycles,
            fetch_stall_cycles: stats.fetch_stall_cycles,
            blocked_cycles: design.blocked_cycles,
            switch_instructions: plan.sharing.map(|_| stats.switch_instructions),
            pm_reads: stats.pm_reads,
            pm_writes: stats.pm_writes,
            pm_write_bytes: stats.pm_write_bytes,
            coalesced: stats.coalesced,
            epochs: design.epochs,
            cross_dependences: design.cross_dependences,
            early_flushes: design.early_flushes,
            undo_records: design.undo_records,
            delay_records: design.delay_records,
            nacks: design.nacks,
            rollbacks: None,
            pcommits_in_flight_max: (pcommits > 0).then_some(stats.commits_in_flight_max),
            stores_per_pcommit: (pcommits > 0).then(|| stats.stores_during_commits as f64 / pcommits as f64),
            bloom_lookups: design.bloom_lookups,
            bloom_false_positives: design.bloom_false_positives,
            buffer_occupancy_mean: design.buffer_occupancy_mean(),
            buffer_occupancy_p99: design.buffer_occupancy_quantile(0.99),
            table_occupancy_max: design.table_occupancy_max,
            drain_bytes_max: measured.drain_bytes,
            storage_bytes: measured.storage.iter().map(|(_, bytes)| bytes).sum(),
            recovers: None,
            params: params(spec, plan, stats, measured),
            host_seconds: measured.host_seconds,
            host_mips: stats.instructions_simulated as f64 / measured.host_seconds / 1e6,
        }
    }
}

/// What is not a key of its own: the clock, how tasks share a thread, what was replayed, the structures that storage is of, and what
/// the user set.
fn params(spec: &Spec, plan: &Plan, stats: &Stats, measured: &Measured) -> Map<String, Value> {
    let mut params = Map::new();
    params.insert("clock_ghz".into(), json!(plan.machine.core.clock_ghz));
    params.insert("slack_cycles".into(), json!(plan.machine.simulation.slack.0));
    if let Some(sharing) = plan.sharing {
        params.insert("coroutines".into(), json!(sharing.library.to_string()));
        params.insert("jumps_mispredicted".into(), json!(stats.jumps_mispredicted));
        if sharing.window == Window::Auto {
            params.insert("window".into(), json!("auto"));
        }
    }
    if let Source::Recording(recorded) = &plan.source {
        recorded.params(&mut params);
    }
    if !measured.storage.is_empty() {
        let parts = measured
            .storage
            .iter()
            .map(|(name, bytes)| ((*name).to_owned(), json!(bytes)));
        params.insert("storage".into(), Value::Object(parts.collect()));
    }
    let mut sets: Vec<&str> = spec.set.iter().map(String::as_str).collect();
    sets.sort_unstable();
    for set in sets {
        if let Some((key, value)) = set.split_once('=') {
            params.insert(key.into(), json!(value));
        }
    }
    params
}
