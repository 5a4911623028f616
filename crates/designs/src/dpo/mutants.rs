//! Broken variants of Delegated Persist Ordering, and what notices each. The tests of `crates/crash` compile this file.

use crate::mutants::table::*;
use strandline_designs::rules::Dpo;

#[rustfmt::skip]
pub const MUTANTS: &[Mutant] = &[
    // dpo.
    mutant("dpo/log-unordered", "dpo", D(Change::Lowering(|l| l.log_before_update = &[]), "A log record persists before its update. Broken: no fence between them.", DPO), &[NO_ADR], &[E]),
    mutant("dpo/durable-ordered-only", "dpo", D(Change::Lowering(|l| l.durable = &[Primitive::StoreBarrier]), "What is acknowledged is durable. Broken: a fence, which nobody waits for, in place of the dfence.", DPO), &[], &[E]),
    mutant("dpo/no-log", "dpo", D(Change::Lowering(|l| l.log = false), "A region of several stores is logged. Broken: it is not.", DPO), &[], &[E]),
    mutant("dpo/fence-passes", "dpo", D(Change::Primitive(Primitive::StoreBarrier, Admission::Pass), "A fence ends an epoch. Broken: it does nothing.", DPO), &[], &[T]),
    mutant("dpo/dfence-passes", "dpo", D(Change::Primitive(Primitive::Dfence, Admission::Pass), "A dfence waits until everything before it is durable. Broken: for nothing.", DPO), &[], &[E, T]),
    mutant("dpo/dfence-awaits-drain", "dpo", B(Dpo::DurableAwaitsEpochs.any()), &[NO_ADR], &[E, R]),
    mutant("dpo/accumulated-ignored", "dpo", B(Dpo::AccumulatedApplies.any()), &[], &[P, R]),
    mutant("dpo/dependences-not-passed-on", "dpo", B(Dpo::DependencesPassOn.any()), &[], &[P]),
    mutant("dpo/accesses-forgotten", "dpo", B(Dpo::AccessesKeptWhileInherited.any()), &[], &[R]).about_seed(90_301),
    mutant("dpo/reads-do-not-conflict", "dpo", B(Dpo::ReadsConflict.any()), &[WEAK], &[P]),
    mutant("dpo/volatile-lines-ignored", "dpo", D(Change::Given(|line, _| !line.is_persistent()), "Accesses to volatile memory conflict, too. Broken: only those to persistent memory do.", "DPO IV-C"), &[], &[P]),
    mutant("dpo/youngest-not-cleared", "dpo", B(Dpo::YoungestIsCleared.any()), &[EVICTIONS], &[R]),
    mutant("dpo/older-stays-youngest", "dpo", B(Dpo::YoungestIsOne.any()), &[EVICTIONS], &[R]),
    mutant("dpo/filter-forgets", "dpo", B(Dpo::FiltersNeverForget.any()), &[], &[P]),
    mutant("dpo/separators-dropped", "dpo", B(Dpo::SeparatorsBind.any()), &[NO_ADR], &[R]).about_seed(4001),
    mutant("dpo/controllers-disagree", "dpo", B(Dpo::ControllersAgree.any()), &[NO_ADR, TWO_CONTROLLERS[0], TWO_CONTROLLERS[1]], &[R]).about_seed(4001),
    mutant("dpo/coalesces-with-dependences", "dpo", B(Dpo::CoalescingNeedsNoDependence.any()), &[], &[R]).about_seed(2701),
    mutant("dpo/queue-coalesces-across", "dpo", B(Dpo::QueueCoalescesWithinEpoch.any()), &[NO_ADR], &[R]).about_seed(2201),
    mutant("dpo/evictions-written-back", "dpo", D(Change::EvictionsWrittenBack(Level::Llc), "Persistent lines that leave the LLC are dropped. Broken: they are written back, past the buffers.", "DPO IV-B"), &[EVICTIONS], &[T, R]),
];
