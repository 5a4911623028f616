//! Broken variants of PMEM-Spec, and what notices each. The tests of `crates/crash` compile this file.

use crate::mutants::table::*;
use strandline_designs::rules::PmemSpec;
use strandline_rules::Rule;

#[rustfmt::skip]
pub const MUTANTS: &[Mutant] = &[
    // pmem-spec.
    mutant("pmem-spec/no-log", "pmem-spec", D(Change::Lowering(|l| l.log = false), "A region of several stores is logged. Broken: it is not.", SPEC), &[], &[E]),
    mutant("pmem-spec/dfence-passes", "pmem-spec", D(Change::Primitive(Primitive::Dfence, Admission::Pass), "A dfence waits until everything before it is durable. Broken: for nothing.", SPEC), &[], &[E, T, R]),
    mutant("pmem-spec/evictions-written-back", "pmem-spec", D(Change::EvictionsWrittenBack(Level::Llc), "Persistent lines that leave the LLC are dropped. Broken: they are written back, past the paths.", SPEC), &[EVICTIONS], &[T, R]),
    mutant("pmem-spec/path-out-of-order", "pmem-spec", B(PmemSpec::PathInOrder.any()), &TWO_CONTROLLERS, &[T, R]),
    mutant("pmem-spec/stale-load-unnoticed", "pmem-spec", B(PmemSpec::StaleLoadFound.any()), &[], &[R]),
    mutant("pmem-spec/buffer-forgets", "pmem-spec", B(PmemSpec::BufferHoldsWindow.any()), &[], &[R]),
    mutant("pmem-spec/dfence-awaits-own-path", "pmem-spec", B(PmemSpec::DurableWaitsWindow.any()), &[], &[T]),
    mutant("pmem-spec/not-validated", "pmem-spec", B(Rule::ValidateBeforeCommit.any()), &[], &[P]),
    mutant("pmem-spec/abort-not-delivered", "pmem-spec", B(Rule::AbortDelivered.any()), &STALE, &[E]).shows(FORBIDDEN),
    mutant("pmem-spec/word-not-undone", "pmem-spec", B(Rule::EveryWordUndone.any()), &STALE, &[E]),
];
