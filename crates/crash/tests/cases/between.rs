//! A program that relies on the order between cores: without that order it loses what had returned.
//!
//! P-CLHT as published has a new table's root visible before it is durable. What others insert there is kept by designs
//! under which a core's stores persist after those of other cores that it has seen.

use crate::case::Case;
use strandline_crash::{first_failure, Points};
use strandline_designs::rules::Parts;
use strandline_rules::{breaking, Breakable};
use strandline_sim::{observe, Spec};

const DESIGNS: [&str; 2] = ["hops-ep", "asap-ep"];

/// The seeds of a few runs: an insertion must end between a root's store and its flush, as in one of a dozen runs.
const SEEDS: std::ops::RangeInclusive<u64> = 9..=14;

fn spec(design: &str, seed: u64) -> Spec {
    let set = ["omits=next", "buckets=2", "reads=0", "init_ops=0", "keys=200"];
    Spec {
        threads: Some(4),
        tasks: Some(120),
        seed,
        set: set.map(|set| format!("workload.{set}")).to_vec(),
        ..Spec::new("p-clht", design)
    }
}

/// The first failure of any run, with this rule broken.
fn failure(design: &str, rule: Option<Breakable>) -> Result<Option<String>, String> {
    for seed in SEEDS {
        let found = breaking(rule, || {
            first_failure(&spec(design, seed), Points::Count(4000), &observe)
        });
        if let Some(failure) = found.map_err(|error| error.to_string())? {
            return Ok(Some(failure.why));
        }
    }
    Ok(None)
}

pub fn cases() -> Vec<Case> {
    let case = |design: &'static str| {
        Case::new("between", design.to_owned(), 200, move || {
            if let Some(why) = failure(design, None)? {
                return Err(format!("with the order between cores: {why}"));
            }
            let found = failure(design, Some(Parts::EpochAwaitsOthers.into()))?;
            match found.is_some_and(|why| why.starts_with("operations: ")) {
                true => Ok(()),
                false => Err("without the order between cores nothing is lost".to_owned()),
            }
        })
    };
    DESIGNS.into_iter().map(case).collect()
}
