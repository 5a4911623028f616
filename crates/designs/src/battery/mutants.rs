//! Broken variants of eADR and BBB, and what notices each. The tests of `crates/crash` compile this file.

use crate::mutants::table::*;
use strandline_rules::Rule;

#[rustfmt::skip]
pub const MUTANTS: &[Mutant] = &[
    // eadr.
    mutant("eadr/domain-at-controllers", "eadr", D(Change::Saves(None), "A visible store is durable. Broken: only what the write queue has.", "ASAP II-C"), &[], &[E, T]),
    mutant("eadr/durable-unfenced", "eadr", D(Change::Lowering(|l| l.durable = &[]), "What is acknowledged is visible. Broken: it may be in the store queue.", "ASAP II-C"), &[], &[E, T]),
    mutant("eadr/no-log", "eadr", D(Change::Lowering(|l| l.log = false), "A region of several stores is logged. Broken: it is not.", "ASAP II-C"), &[], &[E]),
    mutant("eadr/sfence-passes", "eadr", D(Change::Primitive(Primitive::Sfence, Admission::Pass), "An sfence waits until stores are visible. Broken: for nothing.", "ASAP II-C"), &[], &[E, P, T]),
    mutant("eadr/stores-out-of-order", "eadr", B(Rule::StoresInOrder.any()), &[], &[E, P, T]).shows(FORBIDDEN),
    mutant("eadr/caches-drain-first", "eadr", B(Rule::CachesDrainLast.any()), &[], &[E, T]).shows(FORBIDDEN),
    // bbb.
    mutant("bbb/domain-at-controllers", "bbb", D(Change::Saves(None), "A visible store is durable: the battery saves the buffers. Broken: only what the write queue has.", "ASAP II-C"), &[], &[E, T]),
    mutant("bbb/durable-unfenced", "bbb", D(Change::Lowering(|l| l.durable = &[]), "What is acknowledged is visible. Broken: it may be in the store queue.", "ASAP II-C"), &[], &[E, T]),
    mutant("bbb/no-log", "bbb", D(Change::Lowering(|l| l.log = false), "A region of several stores is logged. Broken: it is not.", "ASAP II-C"), &[], &[E]),
    mutant("bbb/sfence-passes", "bbb", D(Change::Primitive(Primitive::Sfence, Admission::Pass), "An sfence waits until stores are visible. Broken: for nothing.", "ASAP II-C"), &[], &[E, P, T]),
    mutant("bbb/stores-out-of-order", "bbb", B(Rule::StoresInOrder.any()), &[], &[E, P, T]).shows(FORBIDDEN),
];
