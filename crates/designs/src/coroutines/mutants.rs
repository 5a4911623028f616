//! Broken variants of COSPlay and the coroutines, and what notices each. The tests of `crates/crash` compile this file.

use crate::mutants::table::*;

#[rustfmt::skip]
pub const MUTANTS: &[Mutant] = &[
    // cosplay, and freeswitch, which is the same machine.
    mutant("cosplay/log-unfenced", "cosplay", D(Change::Lowering(|l| l.log_before_update = &[]), "A log record is durable before its update. Broken: no fence between them.", CP4), &[], &[E, T]),
    mutant("cosplay/context-never-set", "cosplay", D(Change::Lowering(|l| l.resumed = &[]), "A task's stores and flushes belong to its context. Broken: it never sets it.", "COSPlay Figure 4(b)"), &[], &[E]),
    mutant("cosplay/cfence-passes", "cosplay", D(Change::Cfence(|_| Admission::Pass), "A cfence waits for stores and flushes of its context. Broken: for nothing.", CP4), &[], &[E, P, T]),
    mutant("cosplay/cfence-awaits-other-context", "cosplay", D(Change::Cfence(|context| Admission::Hold(Until::Drained(Some(context ^ 1)))), "A cfence waits for stores and flushes of its own context. Broken: for those of another.", CP4), &[], &[E, P, T]),
    mutant("cosplay/cfence-queues", "cosplay", D(Change::Cfence(|_| Admission::Enter), "A cfence waits for flushes to be acknowledged. Broken: it only takes its turn in the store queue.", CP4), &[], &[E, P, T]),
    mutant("cosplay/setctx-ignored", "cosplay", D(Change::SetctxIgnored, "Stores and flushes behind a setctx belong to its context. Broken: all belong to context 0.", CP4), &[], &[E, P, T]),
    mutant("cosplay/collisions-unseen", "cosplay", D(Change::Cfence(|context| Admission::Hold(Until::Drained(Some(context)))), "A cfence looks at the counter that its context shares with others. Broken: at one that nobody counts with.", "COSPlay 4.3"), &[FEW_CONTEXTS], &[E, R]),
    mutant("cosplay/locked-waits-for-nothing", "cosplay", D(Change::LockedWaitsForNothing, "A locked instruction orders its context's flushes where it orders any. Broken: it waits for none.", PX86), &[LOCKS_ORDER], &[P, R]),
    mutant("cosplay/flush-acknowledged-at-departure", "cosplay", D(Change::FlushAcknowledgedAtDeparture, "A flush is acknowledged by the controller. Broken: when it is sent.", "COSPlay 4.3"), &[], &[E, P, T]),
    mutant("freeswitch/cfence-passes", "freeswitch", D(Change::Cfence(|_| Admission::Pass), "A cfence waits for stores and flushes of its context. Broken: for nothing.", CP4), &[], &[E, P, T]),
    mutant("freeswitch/setctx-ignored", "freeswitch", D(Change::SetctxIgnored, "Stores and flushes behind a setctx belong to its context. Broken: all belong to context 0.", CP4), &[], &[E, P, T]),
    // sbatch.
    mutant("sbatch/sfence-passes", "sbatch", D(Change::Primitive(Primitive::Sfence, Admission::Pass), "An sfence waits for older stores and flushes. Broken: for nothing.", SM), &[], &[E, P, T]).shows(FORBIDDEN),
    mutant("sbatch/durable-unfenced", "sbatch", D(Change::Lowering(|l| l.durable = &[]), "What is acknowledged is durable. Broken: a task goes on without waiting for the round's fence.", "COSPlay 5"), &[], &[E, T]),
];
