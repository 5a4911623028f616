//! Tests of crash exploration and conformance that are not generated; `cases` has those that are.

mod conformance;
mod eager;
mod exploration;
mod gambler;
mod pmem_spec;
mod recordings;
mod tasks;
mod until;

use strandline_sim::Spec;

/// A run of so many threads, all else by default.
fn spec(workload: &str, design: &str, threads: u64) -> Spec {
    Spec {
        threads: Some(threads),
        ..Spec::new(workload, design)
    }
}
