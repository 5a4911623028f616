//! Commands that failed in the past, and their faults.

use super::{tried, Check};
use crate::exploration::read;
use crate::thinning::amount;
use strandline_sim::Spec;

/// The fault, and the command from `crash` on.
pub const COMMANDS: &[(&str, &str)] = &[
    ("time-that-goes-back-cosplay", "crash cq -d cosplay --threads 8 --tasks 40 --runtime sfr --window 3"),
    ("time-that-goes-back-asap-ep", "crash cq -d asap-ep --threads 8 --tasks 40 --runtime txn --seed 121 --window 2"),
    (
        "inner-unlock-before-log",
        "crash sps -d asap-strand -m cosplay --runtime atlas --threads 4 --tasks 64 --window 3 --coroutines paper \
         --set machine.core.lock_orders_flushes=true --set runtime.log_batch=3 --set runtime.log_group=3",
    ),
    (
        "lines-driven-out-for-ever",
        "crash pc -d x86 --threads 4 --tasks 8 --runtime txn --window 2 --set workload.rows=8 --set machine.l1.bytes=128 \
         --set machine.l1.ways=2 --set machine.l2.bytes=256 --set machine.l2.ways=2 --set machine.llc.bytes=4096 \
         --set machine.llc.ways=4",
    ),
    (
        "line-that-always-arrives-elsewhere",
        "crash hashmap -d hops-ep -m asap --runtime atlas --threads 8 --tasks 31 --seed 285 --set machine.l1.bytes=128 \
         --set machine.l1.ways=2 --set machine.l2.bytes=256 --set machine.l2.ways=2 --set machine.llc.bytes=4096 \
         --set machine.llc.ways=4 --set workload.operations=2",
    ),
    (
        "kept-store-that-always-loses-its-line",
        "crash sps -d sp --threads 2 --tasks 5 --window auto --seed 1 --set workload.operations=3 \
         --set machine.l2.bytes=65536 --set machine.llc.bytes=65536 --set machine.llc.ways=2",
    ),
    (
        "stores-that-take-lines-in-turn",
        "crash sps -d sp --threads 4 --tasks 4 --window auto --seed 729 --set workload.operations=3 \
         --set machine.l2.bytes=65536 --set machine.llc.bytes=65536 --set machine.llc.ways=2",
    ),
    (
        "looks-that-double",
        "crash hashmap -d pmem-spec -m asap --runtime undo --threads 4 --tasks 64 --set runtime.log_batch=3 \
         --set runtime.log_group=3",
    ),
];

/// Commands with fewer tasks in the short suite: a fault of time on any run, on which another command is as it was.
const SHORTER: &[(&str, u64)] = &[("time-that-goes-back-asap-ep", 10)];

/// That the command finds nothing.
pub fn check(name: &str, words: &str) -> Check {
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut spec: Spec = read(&words).0;
    if let Some((_, tasks)) = SHORTER
        .iter()
        .find(|(shorter, _)| *shorter == name && !amount().thorough)
    {
        spec.tasks = Some(*tasks);
    }
    let design = strandline_sim::design_named(&spec.design)
        .expect("registered")
        .about()
        .name;
    Check {
        suite: "found",
        name: name.to_owned(),
        design,
        weight: 300,
        finds: Box::new(move |planted| tried(planted, &spec)),
    }
}
