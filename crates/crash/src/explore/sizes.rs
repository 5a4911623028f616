//! The small structures of crash runs: threads contend often, logs wrap around, and the invariant is cheap.

use strandline_sim::Spec;
use strandline_workloads::{describe, About};

/// Default maximum of each size in a crash run.
const SMALL: &[(&str, u64)] = &[
    ("rows", 32),
    ("queues", 2),
    ("nodes", 8),
    ("districts", 2),
    ("customers", 8),
    ("items", 32),
    ("orders", 16),
    ("new_orders", 8),
    ("keys", 32),
    ("init_ops", 64),
    ("entries", 8),
    ("strings", 16),
    ("vertices", 8),
    ("neighbours", 8),
    ("buckets", 8),
    // Percent: many keys are absent at first.
    ("loaded", 50),
    ("log_records", 32),
    ("blocks", 2),
    ("writes", 4),
    ("depth", 1),
    ("lines", 2),
    ("segments", 64),
    ("pool", 64),
    ("records", 64),
    ("slice", 4),
    ("width", 3),
    ("pages", 4),
    ("page", 12),
    ("interval", 4),
    ("relations", 6),
    ("bookings", 4),
    ("seats", 1),
    ("batch", 2),
    ("versions", 2),
    ("slots", 4),
];

/// Other maxima of a workload: a segment of Dash overflows only with more keys than others need, and `heap` has some
/// levels; nodes of `p-art` grow, and get prefixes, only where keys are near each other; nodes of `p-masstree` split, and
/// layers come, only with keys that are new.
const OWN: &[(&str, &str, u64)] = &[
    ("dash-eh", "keys", 400),
    ("dash-eh", "init_ops", 90),
    ("dash-eh", "buckets", 2),
    ("dash-eh", "records", 512),
    ("heap", "nodes", 24),
    ("p-art", "keys", 40),
    ("p-art", "init_ops", 4),
    ("p-art", "gap", 8),
    ("p-masstree", "keys", 200),
    ("p-masstree", "init_ops", 24),
    ("p-masstree", "pool", 128),
    ("p-masstree", "records", 256),
    ("dash-lh", "keys", 400),
    ("dash-lh", "init_ops", 110),
    ("dash-lh", "buckets", 2),
    ("dash-lh", "stride", 1),
    ("dash-lh", "records", 512),
    // Readers meet writers, and rings are full.
    ("publish", "slots", 1),
    ("host-queue", "slots", 2),
    // Room for all versions, and for those of open batches.
    ("echo", "keys", 16),
    ("echo", "pool", 128),
];

/// Tasks of a crash run, for workloads whose tasks write at most some ten lines; fewer for others.
const TASKS: u64 = 64;
const HEAVY: &[(&str, u64)] = &[("tpcc", 16)];

/// Default number of tasks of a crash run, all threads together.
pub fn tasks(spec: &Spec) -> u64 {
    let name = describe(&spec.workload).map_or("", |about| about.name);
    HEAVY
        .iter()
        .find(|(heavy, _)| *heavy == name)
        .map_or(TASKS, |(_, tasks)| *tasks)
}

/// A size of a workload that crash exploration sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The workload's parameter.
    pub name: &'static str,
    /// Its least value.
    pub least: u64,
    /// What it is made.
    pub value: u64,
}

impl Size {
    /// The setting that gives this size `value`.
    pub fn set(&self, value: u64) -> String {
        format!("workload.{}={value}", self.name)
    }
}

/// The sizes that the user has not set and whose defaults are too large for a crash run.
pub fn small(spec: &Spec) -> Vec<Size> {
    let Ok(about) = describe(&spec.workload) else {
        return Vec::new();
    };
    let wanted = SMALL
        .iter()
        .filter(|(name, _)| !is_set(spec, &format!("workload.{name}")));
    wanted
        .filter_map(|(name, most)| size(about, &spec.workload, name, *most))
        .collect()
}

fn size(about: &'static About, workload: &str, name: &str, most: u64) -> Option<Size> {
    let param = about.params.iter().find(|param| param.name == name)?;
    let preset = about.sets(workload).iter().any(|set| set.0 == name);
    let own = OWN.iter().find(|own| (own.0, own.1) == (about.name, name));
    let most = own.map_or(most, |own| own.2);
    let value = most.max(param.min);
    (!preset && value < param.default).then_some(Size {
        name: param.name,
        least: param.min,
        value,
    })
}

/// Whether the user has set `key`.
pub fn is_set(spec: &Spec, key: &str) -> bool {
    spec.set
        .iter()
        .any(|set| set.split_once('=').is_some_and(|(name, _)| name == key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(spec: &Spec) -> Vec<String> {
        small(spec).iter().map(|size| size.set(size.value)).collect()
    }

    #[test]
    fn what_the_user_sets_is_left_alone() {
        let mut spec = Spec::new("sps", "x86");
        assert_eq!(sets(&spec), ["workload.rows=32", "workload.log_records=32"]);
        spec.set = vec!["workload.rows=1000".into()];
        assert_eq!(sets(&spec), ["workload.log_records=32"]);
    }

    #[test]
    fn no_size_is_less_than_the_workload_admits() {
        // Two new-order regions of fifteen items, 5 + 8 x 15 lines of records each.
        let spec = Spec::new("tpcc", "x86");
        assert!(sets(&spec).contains(&"workload.log_records=250".to_owned()));
    }

    #[test]
    fn every_alias_has_the_sizes_of_its_workload() {
        for alias in ["nstore-rd", "nstore-bal", "nstore-wr"] {
            // Two updates of ten fields, with four records each, and of a version; each region with one of the log's own.
            assert_eq!(
                sets(&Spec::new(alias, "x86")),
                ["workload.rows=32", "workload.log_records=84"]
            );
        }
    }

    #[test]
    fn an_alias_keeps_its_own_sizes() {
        let keys: Vec<&str> = small(&Spec::new("queue", "x86")).iter().map(|size| size.name).collect();
        assert_eq!(keys, ["nodes", "log_records"]);
    }
}
