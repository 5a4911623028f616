//! The record of a run: flat, every key always there, null where a design or machine does not have it.

use crate::{Plan, Source, Spec};
use serde_json::{json, Value};
use std::collections::BTreeMap;
use strandline_design::{About, Counter, Counters, OwnCounts};
use strandline_designs::own_counters_of_all;
use strandline_kernel::{keys, Adds, Key, TypeName};
use strandline_machine::Stats;
use strandline_runtime::Window;

keys! {
    /// What ran, and how.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Ran {
        /// The figure that it ran for.
        figure: Option<String> = Given of "",
        /// The workload, or the recording.
        workload: String = Given of "",
        /// The design.
        design: String = Given of "",
        /// How failure-atomic regions are made; of a recording `recorded`.
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
        /// How the caches were warmed before the timed region.
        warmup: String = Given of "",
    }
}

keys! {
    /// What made the record, and how it can be made again.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Origin {
        /// The version of strandline.
        version: String = Given of "",
        /// The commit that strandline was built from, with a number of the changes that were not committed; `unknown`
        /// without a checkout.
        commit: String = Given of "",
        /// The command line; null where there was none.
        command: Option<String> = Given of "",
        /// The run with every choice made: what `strandline run --from` repeats. `parameters` has each parameter of
        /// machine, design, runtime and workload with its value, `set` what the user changed, `checksum` that of a
        /// recording's file.
        spec: Params = Given of "",
    }
}

keys! {
    /// What is computed from counts and from the structures of the design.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Derived {
        /// Of designs with `pcommit`: the most of them in flight at once.
        pcommits_in_flight_max: Option<u64> = Max of "pcommits",
        /// Persistent stores visible while a `pcommit` is in flight, mean.
        stores_per_pcommit: Option<f64> = Derived of "stores",
        /// Entries of a core's buffer in use, averaged over time and cores.
        buffer_occupancy_mean: Option<f64> = Derived of "entries",
        /// Entries of a core's buffer in use, not exceeded for 99 per cent of that time.
        buffer_occupancy_p99: Option<u64> = Derived of "entries",
        /// What must be written on reserve power when power fails, at most, beyond the controllers' write queues (under
        /// eADR: half of the caches, as ASAP VI-D assumes).
        drain_bytes_max: u64 = Max of "bytes",
        /// Storage that the design adds.
        storage_bytes: u64 = Derived of "bytes",
    }
}

keys! {
    /// What a run yields: flat where it is serialised. Units stand in the names where a value is not a count.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Record {
        /// Whether every crash state looked at recovers; null if none was looked at.
        recovers: Option<bool> = Derived of "",
        /// The clock, the slack, the structures that the design adds and their bytes (`storage`), the library of
        /// coroutines (`coroutines`) and how often its jumps were mispredicted (`jumps_mispredicted`), `window` where
        /// it is `auto`, what `--set` changed, and of a recording its file, the policy of its replay and what that
        /// counted (`recording_...`).
        params: Params = Derived of "",
        /// Wall time of the simulating host.
        host_seconds: f64 = Derived of "seconds",
        /// Simulated instructions a second of the simulating host.
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

/// What a record says beside numbers of its own keys.
pub type Params = BTreeMap<String, Value>;

/// Per cent of the tasks, of which a record says how long the slowest takes.
const QUANTILES: [u8; 12] = [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99];

/// The key of a quantile of the tasks' latencies.
fn latency_key(percent: u8) -> String {
    format!("task_latency_p{percent:02}_cycles")
}

/// What is measured around a run.
pub struct Measured {
    /// The run with every choice made.
    pub resolved: Spec,
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
        let latency = |percent| stats.task_latency.quantile(f64::from(percent) / 100.0);
        Record {
            origin: Origin::of(&measured.resolved),
            ran: Ran::of(spec, plan, about),
            stats: Stats {
                switch_instructions: plan.sharing.and(stats.switch_instructions),
                ..stats.clone()
            },
            task_latency: QUANTILES.map(|percent| (latency_key(percent), latency(percent))).into(),
            own: own_counters(&stats.design.own),
            derived: Derived::of(plan, stats, measured),
            recovers: None,
            params: params(spec, plan, stats, measured),
            host_seconds: measured.host_seconds,
            host_mips: stats.instructions_simulated as f64 / measured.host_seconds / 1e6,
        }
    }

    /// The keys of all its parts, in the order in which they are read about.
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
    /// A crate does not know from which commit it is built, or on whose command it runs; what was built says so.
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
    fn of(spec: &Spec, plan: &Plan, about: &About) -> Ran {
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
            warmup: plan.warmup(),
        }
    }
}

impl Derived {
    fn of(plan: &Plan, stats: &Stats, measured: &Measured) -> Derived {
        let pcommits = stats.commits / plan.machine.controllers.count;
        Derived {
            pcommits_in_flight_max: (pcommits > 0).then_some(stats.commits_in_flight_max),
            stores_per_pcommit: (pcommits > 0).then(|| stats.stores_during_commits as f64 / pcommits as f64),
            buffer_occupancy_mean: stats.design.buffer_occupancy_mean(),
            buffer_occupancy_p99: stats.design.buffer_occupancy_quantile(0.99),
            drain_bytes_max: measured.drain_bytes,
            storage_bytes: measured.storage.iter().map(|(_, bytes)| bytes).sum(),
        }
    }
}

/// What is not a key of its own: the clock, how tasks share a thread, what was replayed, the structures that storage is
/// of, and what
/// the user set.
fn params(spec: &Spec, plan: &Plan, stats: &Stats, measured: &Measured) -> Params {
    let mut params = Params::new();
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
