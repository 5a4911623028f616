//! Reserve power that lasts for none of the caches leaves what ADR saves; one that lasts leaves what one without end does.

use super::programs::{initial, run_under};
use crate::common::{random_machine, Attentive};
use proptest::prelude::*;
use std::collections::BTreeMap;
use strandline_design::{boxed, Place, Wants};
use strandline_isa::{Line, LineData};
use strandline_kernel::{Cycles, Rng};
use strandline_machine::Traces;

/// The changes of the image, of a run on a machine with ADR.
fn changes(seed: u64, cores: u64, saves: Option<Place>, hold_up: u64) -> Vec<(Cycles, Line, LineData)> {
    let mut rng = Rng::new(seed);
    let mut machine = random_machine(&mut rng);
    machine.simulation.slack = Cycles(0);
    machine.controllers.adr = true;
    // ADR saves none.
    machine.cxl.cache_bytes = 0;
    // A core then tells of every store, as where visible stores are saved: that takes its time.
    machine.simulation.evict_one_in = machine.simulation.evict_one_in.max(1 << 30);
    machine.fail.hold_up = Cycles(hold_up);
    let wants = Wants {
        saves,
        ..Wants::default()
    };
    let design = boxed(Attentive { skips: true, wants });
    let durable = run_under(&machine, design, rng, (seed, cores, 60), Traces::Nothing)
        .journal
        .durable;
    let (first, mut image) = (initial(), BTreeMap::new());
    let is_new = |change: &(Cycles, Line, LineData)| {
        let before = image.insert(change.1, change.2);
        before.unwrap_or_else(|| first.line(change.1)) != change.2
    };
    let each = durable.into_iter().map(|each| (each.at, each.line, each.data));
    each.filter(is_new).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_reserve_that_lasts_for_nothing_leaves_what_adr_saves(seed: u64, cores in 1u64..4) {
        let none = changes(seed, cores, Some(Place::Private), 1);
        prop_assert_eq!(none, changes(seed, cores, None, 0));
    }

    #[test]
    fn a_reserve_that_lasts_leaves_what_one_without_end_does(seed: u64, cores in 1u64..4) {
        let lasting = changes(seed, cores, Some(Place::Private), 1_000_000_000);
        prop_assert_eq!(lasting, changes(seed, cores, Some(Place::Private), 0));
    }
}
