//! Handwritten tests of crash exploration and conformance; `cases` has the generated ones.

mod eager;
mod exploration;
mod gambler;
mod recordings;
mod tasks;
mod until;

use strandline_sim::Spec;

/// A run of `threads` threads, with defaults for everything else.
fn spec(workload: &str, design: &str, threads: u64) -> Spec {
    Spec {
        threads: Some(threads),
        ..Spec::new(workload, design)
    }
}
