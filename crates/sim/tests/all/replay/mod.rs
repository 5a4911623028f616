//! Recorded programs under the simulator.

mod bytes;
mod damage;
mod edits;
mod fences;
mod forge;
mod input;
mod marks;
mod tape;
mod threads;
mod timing;

use std::path::Path;
use strandline_sim::{run, Record, Spec};

/// What a run of this recording needs.
fn spec(design: &str, path: &Path) -> Spec {
    Spec::new(path.to_str().expect("a path in UTF-8"), design)
}

/// The record of a recording under a design.
fn under(design: &str, path: &Path) -> Record {
    run(&spec(design, path)).unwrap_or_else(|error| panic!("{error}"))
}

/// A count of the record's `params`.
fn count(record: &Record, key: &str) -> u64 {
    record.params[key].as_u64().expect("a count")
}
