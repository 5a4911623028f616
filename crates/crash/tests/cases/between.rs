//! A program that relies on the order between cores: without that order it loses what had returned.
//!
//! P-CLHT as published has a new table's root visible before it is durable. What others insert there is kept by designs
//! under which a core's stores persist after those of other cores that it has seen.

use crate::case::Case;
use crate::thinning::amount;
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

/// The failure of a run, with this rule broken.
fn failure(design: &str, seed: u64, rule: Option<Breakable>) -> Result<Option<String>, String> {
    let found = breaking(rule, || {
        first_failure(&spec(design, seed), Points::Count(4000), &observe)
    });
    Ok(found.map_err(|error| error.to_string())?.map(|failure| failure.why))
}

/// Without the order between cores one of the runs loses what had returned. With it that run does not, nor in the thorough
/// suite any other.
fn order_matters(design: &str) -> Result<(), String> {
    let mut lost = None;
    for seed in SEEDS {
        let found = failure(design, seed, Some(Parts::EpochAwaitsOthers.into()))?;
        lost = found.map(|why| (seed, why));
        if lost.is_some() {
            break;
        }
    }
    let (seed, why) = lost.ok_or("without the order between cores nothing is lost")?;
    if !why.starts_with("operations: ") {
        return Err(format!("without the order between cores: {why}"));
    }
    let seeds = if amount().thorough { SEEDS } else { seed..=seed };
    for seed in seeds {
        if let Some(why) = failure(design, seed, None)? {
            return Err(format!("with the order between cores: {why}"));
        }
    }
    Ok(())
}

pub fn cases() -> Vec<Case> {
    let case = |design: &'static str| Case::new("between", design.to_owned(), 200, move || order_matters(design));
    DESIGNS.into_iter().map(case).collect()
}
