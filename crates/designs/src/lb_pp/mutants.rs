//! Broken variants of LB++, and what notices each. The tests of `crates/crash` compile this file.

use crate::mutants::table::*;
use strandline_designs::rules::LbPp;
use strandline_rules::Rule;

#[rustfmt::skip]
pub const MUTANTS: &[Mutant] = &[
    // lb-pp.
    mutant("lb-pp/log-unordered", "lb-pp", D(Change::Lowering(|l| l.log_before_update = &[]), "A log record persists before its update. Broken: no ofence between them.", LB), &[], &[E, T]),
    mutant("lb-pp/durable-ordered-only", "lb-pp", D(Change::Lowering(|l| l.durable = &[Primitive::Ofence]), "What is acknowledged is durable. Broken: an ofence, which nobody waits for, in place of the dfence.", LB), &[], &[E, T]),
    mutant("lb-pp/ofence-passes", "lb-pp", D(Change::Primitive(Primitive::Ofence, Admission::Pass), "An ofence begins a new epoch. Broken: it does nothing.", LB), &[], &[E, T]),
    mutant("lb-pp/dfence-passes", "lb-pp", D(Change::Primitive(Primitive::Dfence, Admission::Pass), "A dfence waits until everything before it is durable. Broken: for nothing.", LB), &[], &[E, T]),
    mutant("lb-pp/evictions-not-held", "lb-pp", D(Change::EvictionsWrittenBack(Level::Llc), "A line that leaves the LLC is held until its epoch is durable. Broken: it is written back at once.", LB), &[EVICTIONS], &[E, T, R]),
    mutant("lb-pp/conflicts-ignored", "lb-pp", B(LbPp::ConflictFlushesEpoch.any()), &["design.proactive=0"], &[T, R]),
    mutant("lb-pp/flushed-before-sources", "lb-pp", B(LbPp::FlushAwaitsSources.any()), &[], &[T, R]).about_seed(9101),
    mutant("lb-pp/source-stays-open", "lb-pp", B(LbPp::SourceEnds.any()), &[], &[T, R]).shows(Shows::Reported(FaultKind::Stuck)),
    mutant("lb-pp/dependence-not-recorded", "lb-pp", B(LbPp::RequesterRecords.any()), &[], &[T, R]),
    mutant("lb-pp/register-of-a-core", "lb-pp", B(LbPp::RegisterNamesEpoch.any()), &["design.proactive=0"], &[T]),
    mutant("lb-pp/fence-an-epoch-short", "lb-pp", B(LbPp::FenceAwaitsOwnEpoch.any()), &[], &[E, T, R]),
    mutant("lb-pp/acknowledged-twice", "lb-pp", B(LbPp::LineAcknowledgedOnce.any()), &[], &[E, T, R]),
    mutant("lb-pp/fence-opens-early", "lb-pp", B(LbPp::FenceOpensWhenDurable.any()), &[], &[E, T, R]),
    mutant("lb-pp/llc-loses-tag", "lb-pp", B(Rule::LlcKeepsTag.any()), &[], &[T, R]),
];
