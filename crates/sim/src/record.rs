//! The record of a run: flat, with every key; null if a design or machine lacks it.

use crate::{why, Plan, Source, Spec, Written};
use serde_json::{json, Value};
use std::collections::BTreeMap;
use strandline_design::{About, Counter, Counters, OwnCounts};
use strandline_designs::own_counters_of_all;
use strandline_kernel::{keys, Adds, Key, TypeName};
use strandline_machine::{Outcome, Stats};
use strandline_runtime::Window;

keys! {
    /// What ran, and how.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Ran {
        /// The figure of the run.
        figure: Option<String> = Given of "",
        /// The workload, or the recording.
        workload: String = Given of "",
        /// The design.
        design: String = Given of "",
        /// The implementation of failure-atomic regions; `recorded` for a recording.
        runtime: String = Given of "",
        /// The machine.
        machine: String = Given of "",
        /// Simulated cores.
        cores: u64 = Given of "cores",
        /// Hardware threads.
        threads: u64 = Given of "threads",
        /// Latency of backend memory operations.
        bmo_cycles: u64 = Given of "cycles",
        /// The seed of everything random.
        seed: u64 = Given of "",
        /// The initial contents of the caches and the warm-up tasks.
        warmup: String = Given of "",
    }
}

keys! {
    /// What made the record, and how to repeat the run.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Origin {
        /// The version of strandline.
        version: String = Given of "",
        /// The commit that strandline was built from; a number identifies uncommitted changes; `unknown` without a
        /// checkout.
        commit: String = Given of "",
        /// The command line; null if there was none.
        command: Option<String> = Given of "",
        /// The run with every setting, for `strandline run --from`. `parameters` has the value of each parameter of
        /// machine, design, runtime and workload, `set` the user's changes, `checksum` that of a recording's file.
        spec: Params = Given of "",
    }
}

keys! {
    /// Values computed from counts and from the design's structures.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Derived {
        /// Half the width of the 95 % interval of `cycles`, by the means of batches of equal time; the cycles of a task, and
        /// tasks a second, are off by the same share. Null if there are too few tasks.
        error_cycles: Option<u64> = Derived of "cycles",
        /// Half the width of the 95 % interval of `task_latency_p50_cycles`; null if there are too few tasks, or if it is not
        /// within the latencies of the run.
        task_latency_p50_error_cycles: Option<u64> = Derived of "cycles",
        /// Half the width of the 95 % interval of `task_latency_p99_cycles`; null likewise.
        task_latency_p99_error_cycles: Option<u64> = Derived of "cycles",
        /// Whether tasks come ever faster or slower in the timed region (a test at 1 %), so that its mean depends on its
        /// length; null if there are too few tasks.
        drifts: Option<bool> = Derived of "",
        /// Maximum number of a core's `pcommit`s that are executed and not completed, for designs with `pcommit`.
        pcommits_in_flight_max: Option<u64> = Max of "pcommits",
        /// Stores, locked instructions and flushes that a core executes while one of its `pcommit`s is not completed, over
        /// all `pcommit`s executed.
        stores_per_pcommit: Option<f64> = Derived of "stores",
        /// Occupied entries of a core's buffer, averaged over time and cores.
        buffer_occupancy_mean: Option<f64> = Derived of "entries",
        /// Occupied entries of a core's buffer, not exceeded for 99 per cent of that time.
        buffer_occupancy_p99: Option<u64> = Derived of "entries",
        /// Occupied entries of a core's store queue, from an entry's dispatch until it leaves for the caches, the write-back
        /// buffer or the design; averaged over time and cores.
        store_queue_occupancy_mean: Option<f64> = Derived of "entries",
        /// Most occupied entries of a core's store queue, counted as each is allocated.
        store_queue_occupancy_max: u64 = Derived of "entries",
        /// Occupied entries of a core's write-back buffer, averaged over time and cores; flushes that the design takes are
        /// not in it.
        writeback_buffer_occupancy_mean: Option<f64> = Derived of "entries",
        /// Most occupied entries of a core's write-back buffer.
        writeback_buffer_occupancy_max: u64 = Derived of "entries",
        /// Contexts of a core that have a store not yet visible or a flush not yet acknowledged (COSPlay's Store-Clwb
        /// Tracker), averaged over time and cores; null if the design has no contexts.
        context_table_occupancy_mean: Option<f64> = Derived of "contexts",
        /// Most such contexts of a core at once; null likewise.
        context_table_occupancy_max: Option<u64> = Derived of "contexts",
        /// Maximum number of bytes to write on reserve power at a power failure, without the controllers' write queues
        /// (under eADR: half of the caches, as ASAP VI-D assumes).
        drain_bytes_max: u64 = Max of "bytes",
        /// Storage that the design adds.
        storage_bytes: u64 = Derived of "bytes",
    }
}

keys! {
    /// The result of a run, flat when serialised. The name of a key that is not a count ends in its unit.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Record {
        /// Whether recovery is promised by design and runtime, and every visited crash state recovers, of small structures;
        /// null if it was not asked. The longer the run, the more states: at least 3, up to 300; so that they cost about a
        /// tenth of it at most.
        recovers: Option<bool> = Derived of "",
        /// Further settings and counts: the clock, the slack, the bytes of the design's structures (`storage`), the
        /// coroutine library (`coroutines`) and its mispredicted jumps (`jumps_mispredicted`), `window` if it is
        /// `auto`, how the caches began (`warm`: `rule`, and of a steady start why it `ended`, the `tasks` that it took,
        /// the `lines` in the LLC, the `dirty_lines` among them, and what was `unsettled` at its bound), if the
        /// machine has a `fail.hold_up` what a flush on fail writes (`flush_on_fail`), with
        /// `--precision` its `share` and why the run `ended` (`precision`: `precise`, after all `tasks`, because it
        /// `drifts`, or as it is `not stationary`), with `--why` the `slots` of all cores by class (`width` of them are a cycle) and, if there were too many
        /// operations, the cycle `until` which they were classified (`why`), and the values of `--set`. For a recording also its file, the replay
        /// policy and the policy's counts (`recording_...`).
        params: Params = Derived of "",
        /// Wall time of the host, without what the run begins with.
        host_seconds: f64 = Derived of "seconds",
        /// Simulated instructions per second of the host.
        host_mips: f64 = Derived of "million instructions",
    }
    beside {
        /// What made it.
        #[serde(flatten)]
        origin: Origin,
        /// What ran.
        #[serde(flatten)]
        ran: Ran,
        /// What machine and design counted.
        #[serde(flatten)]
        stats: Stats,
        /// Quantiles of the time from a task's first instruction to its acknowledgement.
        #[serde(flatten)]
        task_latency: BTreeMap<String, Option<u64>>,
        /// Counters of single designs; null under all others.
        #[serde(flatten)]
        own: BTreeMap<String, Option<u64>>,
        /// What is computed from counts.
        #[serde(flatten)]
        derived: Derived,
    }
}

/// The entries of a record that are not keys of their own.
pub type Params = BTreeMap<String, Value>;

/// The percentiles of task latency in a record.
const QUANTILES: [u8; 12] = [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99];

/// The key of a percentile of task latency.
fn latency_key(percent: u8) -> String {
    format!("task_latency_p{percent:02}_cycles")
}

/// Measurements around a run.
pub struct Measured {
    /// The run with every setting.
    pub resolved: Spec,
    /// The structures that the design adds, with their bytes of storage.
    pub storage: Vec<(&'static str, u64)>,
    /// Maximum number of bytes that the design must write at a power failure.
    pub drain_bytes: u64,
    /// What a flush on fail does, where the reserve does not last for ever.
    pub on_fail: Option<Written>,
    /// How the run began: the rule, and what it took.
    pub warm: Value,
    /// Seconds of the host, without what the run begins with.
    pub host_seconds: f64,
}

impl Record {
    /// The record of a run with the counts `stats`.
    #[must_use]
    pub fn of(spec: &Spec, plan: &Plan, about: &About, outcome: &Outcome, measured: &Measured) -> Record {
        let stats = &outcome.stats;
        let latencies = stats.latencies.all();
        let latency = |percent| latencies.quantile(f64::from(percent) / 100.0);
        Record {
            origin: Origin::of(&measured.resolved),
            ran: Ran::of(spec, plan, about, &measured.warm),
            stats: Stats {
                switch_instructions: plan.sharing.and(stats.switch_instructions),
                ..stats.clone()
            },
            task_latency: QUANTILES.map(|percent| (latency_key(percent), latency(percent))).into(),
            own: own_counters(&stats.design.own),
            derived: Derived::of(stats, plan, measured),
            recovers: None,
            params: params(spec, plan, outcome, measured),
            host_seconds: measured.host_seconds,
            host_mips: stats.instructions_simulated as f64 / measured.host_seconds / 1e6,
        }
    }

    /// The keys of all parts, in the documented order.
    #[must_use]
    pub fn all_keys() -> Vec<Key> {
        let latencies = QUANTILES.map(|percent| Key {
            name: latency_key(percent),
            type_name: Option::<u64>::type_name(),
            unit: "cycles",
            adds: Adds::Derived,
            help: "From a task's first instruction to its acknowledgement: NN per cent of the tasks take no longer."
                .to_owned(),
        });
        [
            Ran::keys(),
            Stats::keys(),
            latencies.into(),
            Counters::keys(),
            own_keys(),
            Derived::keys(),
            Record::keys(),
            Origin::keys(),
        ]
        .concat()
    }
}

/// The keys of counters that single designs have.
fn own_keys() -> Vec<Key> {
    let key = |counter: Counter| Key {
        name: counter.name.to_owned(),
        type_name: Option::<u64>::type_name(),
        unit: counter.unit,
        adds: counter.adds,
        help: counter.help.to_owned(),
    };
    own_counters_of_all().into_iter().map(key).collect()
}

/// The counters of single designs, with the values of the one that ran.
fn own_counters(counted: &OwnCounts) -> BTreeMap<String, Option<u64>> {
    let value = |name| counted.0.iter().find(|(counter, _)| counter.name == name);
    let entry = |counter: Counter| (counter.name.to_owned(), value(counter.name).map(|(_, value)| *value));
    own_counters_of_all().into_iter().map(entry).collect()
}

impl Origin {
    /// This crate does not know its commit or the command line; `crates/py` adds them.
    fn of(resolved: &Spec) -> Origin {
        let keys = match serde_json::to_value(resolved) {
            Ok(Value::Object(keys)) => keys,
            other => unreachable!("a run is a map of keys: {other:?}"),
        };
        Origin {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: "unknown".to_owned(),
            command: None,
            spec: keys.into_iter().collect(),
        }
    }
}

impl Ran {
    fn of(spec: &Spec, plan: &Plan, about: &About, warm: &Value) -> Ran {
        Ran {
            figure: spec.figure.clone(),
            workload: plan.source.name(spec),
            design: about.name.to_owned(),
            runtime: plan.source.runtime(spec),
            machine: plan.machine.name.clone(),
            cores: plan.cores,
            threads: plan.threads,
            bmo_cycles: plan.machine.controllers.bmo_latency.0,
            seed: spec.seed,
            warmup: plan.warmup_to(&crate::warm::in_words(warm)),
        }
    }
}

impl Derived {
    fn of(stats: &Stats, plan: &Plan, measured: &Measured) -> Derived {
        // Designs that send no commits complete no pcommit.
        let pcommits = stats.pcommits.min(stats.commits);
        let (pace, latencies) = (stats.latencies.pace(), &stats.latencies);
        let of_cycles = |share: f64| (share * stats.cycles.0 as f64).round() as u64;
        let half_width = match plan.source.is_known_to_drift() {
            true => pace.half_width_beside_drift(),
            false => pace.half_width(),
        };
        Derived {
            error_cycles: half_width.map(of_cycles),
            task_latency_p50_error_cycles: latencies.half_width_of_quantile(0.5),
            task_latency_p99_error_cycles: latencies.half_width_of_quantile(0.99),
            drifts: pace.drifts(),
            pcommits_in_flight_max: (pcommits > 0).then_some(stats.pcommits_in_flight_max),
            stores_per_pcommit: (pcommits > 0).then(|| stats.stores_during_pcommits as f64 / stats.pcommits as f64),
            buffer_occupancy_mean: stats.design.buffer_occupancy_mean(),
            buffer_occupancy_p99: stats.design.buffer_occupancy_quantile(0.99),
            store_queue_occupancy_mean: stats.store_queue.mean(),
            store_queue_occupancy_max: stats.store_queue.most,
            writeback_buffer_occupancy_mean: stats.writeback_buffer.mean(),
            writeback_buffer_occupancy_max: stats.writeback_buffer.most,
            context_table_occupancy_mean: stats.context_table.and_then(|contexts| contexts.mean()),
            context_table_occupancy_max: stats.context_table.map(|contexts| contexts.most),
            drain_bytes_max: measured.drain_bytes,
            storage_bytes: measured.storage.iter().map(|(_, bytes)| bytes).sum(),
        }
    }
}

/// Why a run with a precision ended.
fn ended(plan: &Plan, outcome: &Outcome) -> &'static str {
    match plan.precision {
        None => "not stationary",
        Some(_) if outcome.is_precise => "precise",
        Some(_) if outcome.stats.latencies.pace().drifts() == Some(true) => "drifts",
        Some(_) => "tasks",
    }
}

/// The values of `params`: the clock, the sharing of threads, the replay, the parts of storage, and the user's
/// settings.
fn params(spec: &Spec, plan: &Plan, outcome: &Outcome, measured: &Measured) -> Params {
    let mut params = Params::new();
    if let Some(share) = spec.precision {
        params.insert(
            "precision".into(),
            json!({"share": share, "ended": ended(plan, outcome)}),
        );
    }
    params.insert("clock_ghz".into(), json!(plan.machine.core.clock_ghz));
    params.insert("slack_cycles".into(), json!(plan.machine.simulation.slack.0));
    params.insert("warm".into(), measured.warm.clone());
    if let Some(timeline) = outcome.timeline.as_ref().filter(|_| spec.why) {
        params.insert(
            "why".into(),
            why::classified(timeline, plan.cores, plan.machine.core.dispatch_width),
        );
    }
    if let Some(sharing) = plan.sharing {
        params.insert("coroutines".into(), json!(sharing.library.to_string()));
        params.insert("jumps_mispredicted".into(), json!(outcome.stats.jumps_mispredicted));
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
    if let Some(written) = &measured.on_fail {
        params.insert("flush_on_fail".into(), json!(written));
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
