//! Broken variants of x86, pcommit and dc cvap, and what notices each. The tests of `crates/crash` compile this file.

use crate::mutants::table::*;
use strandline_designs::rules::Plain;
use strandline_rules::Rule;

#[rustfmt::skip]
pub const MUTANTS: &[Mutant] = &[
    // x86: lowering.
    mutant("x86/log-unfenced", "x86", D(Change::Lowering(|l| l.log_before_update = &[]), "A log record is durable before its update. Broken: no fence between them.", SM), &[], &[E, T]),
    mutant("x86/durable-unfenced", "x86", D(Change::Lowering(|l| l.durable = &[]), "What is acknowledged is durable. Broken: no fence before the acknowledgement.", SM), &[], &[E, T]),
    mutant("x86/commit-unfenced", "x86", D(Change::Lowering(|l| l.commit = &[]), "What comes before a commit is durable before what follows. Broken: no fence.", SM), &[], &[T]),
    mutant("x86/no-flush", "x86", D(Change::Lowering(|l| l.flush = None), "What was written is flushed. Broken: lines leave the caches when they are evicted.", SM), &[], &[E, T]),
    mutant("x86/no-log", "x86", D(Change::Lowering(|l| l.log = false), "A region of several stores is logged. Broken: it is not.", "COSPlay Figure 4(a)"), &[], &[E]),
    // x86: fences.
    mutant("x86/sfence-passes", "x86", D(Change::Primitive(Primitive::Sfence, Admission::Pass), "An sfence waits for older stores and flushes. Broken: for nothing.", SM), &[], &[E, P, T]),
    mutant("x86/sfence-queues", "x86", D(Change::Primitive(Primitive::Sfence, Admission::Enter), "An sfence waits for flushes to be acknowledged. Broken: it only takes its turn in the store queue.", SM), &[], &[E, P, T]),
    mutant("x86/sfence-awaits-half", "x86", D(Change::SfenceAwaitsHalf, "An sfence waits for every flush. Broken: for every other one.", "COSPlay 4.3"), &[], &[E, P, T]),
    mutant("x86/sfence-looks-once", "x86", D(Change::SfenceLooksOnce, "An sfence looks until everything is done. Broken: it looks once, waits a little and goes on.", SM), &[], &[E, P, T]),
    mutant("x86/mfence-passes", "x86", D(Change::Primitive(Primitive::Mfence, Admission::Pass), "An mfence waits for older stores and flushes. Broken: for nothing.", PX86), &[], &[P, T]),
    mutant("x86/mfence-as-sfence", "x86", D(Change::Primitive(Primitive::Mfence, Admission::Hold(strandline_design::Until::Drained(None))), "Loads wait for an older mfence. Broken: they pass it.", PX86), &[], &[P, T]),
    // x86: flushes, evictions, locked instructions, barriers.
    mutant("x86/flush-dropped", "x86", D(Change::FlushDropped, "A flush writes its line back. Broken: it is acknowledged and not sent.", SM), &[], &[E, P, T]),
    mutant("x86/flush-halved", "x86", D(Change::FlushHalved, "Every flush is sent. Broken: every other one is.", SM), &[], &[E, P, T]),
    mutant("x86/flush-acknowledged-at-departure", "x86", D(Change::FlushAcknowledgedAtDeparture, "A flush is acknowledged by the controller. Broken: when it is sent.", "COSPlay 4.3"), &[], &[E, P, T]),
    mutant("x86/flush-sent-late", "x86", D(Change::FlushSentLate, "A flush is sent when it leaves the store queue. Broken: it is acknowledged then and sent later.", "COSPlay 4.3"), &[], &[E, P, T]),
    mutant("x86/locked-waits-for-nothing", "x86", D(Change::LockedWaitsForNothing, "A locked instruction orders flushes like a fence. Broken: it waits for none.", PX86), &[LOCKS_ORDER], &[P, R]),
    mutant("x86/evictions-dropped", "x86", D(Change::EvictionsDropped(Level::Llc), "A dirty line that leaves the LLC is written back. Broken: it is dropped.", PX86), &[], &[E, T]),
    mutant("x86/private-evictions-dropped", "x86", D(Change::EvictionsDropped(Level::Private), "A dirty line that leaves the private caches is dirty in the next level. Broken: it is dropped.", PX86), &SMALL_L1, &[E, T]),
    mutant("x86/store-barrier-passes", "x86", D(Change::Primitive(Primitive::StoreBarrier, Admission::Pass), "On weak machines a store barrier orders stores. Broken: it does nothing.", "Delegated Persist Ordering V"), &[WEAK, NO_PREFETCH], &[P]),
    // x86-pcommit.
    mutant("x86-pcommit/log-unfenced", "x86-pcommit", D(Change::Lowering(|l| l.log_before_update = &[]), "A log record is on the media before its update. Broken: no sync barrier between them.", SO), &[NO_ADR], &[E, T]),
    mutant("x86-pcommit/durable-unfenced", "x86-pcommit", D(Change::Lowering(|l| l.durable = &[]), "What is acknowledged is on the media. Broken: no sync barrier before the acknowledgement.", SO), &[NO_ADR], &[E, T]),
    mutant("x86-pcommit/commit-unfenced", "x86-pcommit", D(Change::Lowering(|l| l.commit = &[]), "What comes before a commit is on the media before what follows. Broken: no sync barrier.", SO), &[NO_ADR], &[T]),
    mutant("x86-pcommit/no-pcommit", "x86-pcommit", D(Change::Lowering(|l| { l.log_before_update = &[Primitive::Sfence]; l.durable = &[Primitive::Sfence]; }), "Without ADR an accepted write is not durable before a pcommit. Broken: sync barriers have none.", SO), &[NO_ADR], &[E, T]),
    mutant("x86-pcommit/no-first-sfence", "x86-pcommit", D(Change::Lowering(|l| { l.log_before_update = &[Primitive::Pcommit, Primitive::Sfence]; l.durable = &[Primitive::Pcommit, Primitive::Sfence]; }), "An sfence orders flushes before the pcommit. Broken: it is left out.", SO), &[NO_ADR], &[E, T]),
    mutant("x86-pcommit/no-second-sfence", "x86-pcommit", D(Change::Lowering(|l| { l.log_before_update = &[Primitive::Sfence, Primitive::Pcommit]; l.durable = &[Primitive::Sfence, Primitive::Pcommit]; }), "An sfence orders later stores behind the pcommit. Broken: it is left out.", SO), &[NO_ADR], &[E, T]),
    mutant("x86-pcommit/at-once", "x86-pcommit", D(Change::PcommitAtOnce, "A pcommit is done when the controllers have answered. Broken: when it leaves the store queue.", SO), &[NO_ADR], &[E, T]),
    mutant("x86-pcommit/first-answer", "x86-pcommit", D(Change::PcommitFirstAnswer, "A pcommit is done when every controller has answered. Broken: when one has.", SO), &[NO_ADR, TWO_CONTROLLERS[0], TWO_CONTROLLERS[1]], &[E, T]),
    mutant("x86-pcommit/one-controller", "x86-pcommit", D(Change::PcommitOneController, "A pcommit asks every controller. Broken: the first.", SO), &[NO_ADR, TWO_CONTROLLERS[0], TWO_CONTROLLERS[1]], &[E, T]),
    mutant("x86-pcommit/each-answer", "x86-pcommit", D(Change::PcommitEachAnswer, "A pcommit is acknowledged once. Broken: for each controller.", SO), &[NO_ADR, TWO_CONTROLLERS[0], TWO_CONTROLLERS[1]], &[T]).shows(Shows::Refused("where nothing is pending")),
    mutant("x86-pcommit/sfence-passes", "x86-pcommit", D(Change::Primitive(Primitive::Sfence, Admission::Pass), "An sfence waits for an older pcommit. Broken: for nothing.", SO), &[NO_ADR], &[E, T]),
    mutant("x86-pcommit/commit-awaits-media", "x86-pcommit", B(Rule::CommitAwaitsMedia.any()), &[NO_ADR], &[E, T]),
    mutant("dccvap/acknowledged-when-accepted", "dccvap", D(Change::Primitive(Primitive::Sfence, Admission::Hold(Until::Drained(None))), "Without ADR a flush is done when its line is on the media. Broken: when a write queue has accepted it.", CVAP), &[NO_ADR], &[E, T, R]),
    mutant("dccvap/queued-line-durable", "dccvap", B(Plain::QueuedLineAwaited.any()), &[NO_ADR], &[R]),
    mutant("dccvap/clflush-accepted", "dccvap", B(Plain::ClflushDurable.any()), &[NO_ADR], &[P]),
    mutant("dccvap/non-temporal-accepted", "dccvap", B(Plain::NonTemporalDurable.any()), &[NO_ADR], &[T, R]),
    mutant("dccvap/locked-awaits-acceptance", "dccvap", B(Plain::LockedAwaitsDurable.any()), &[NO_ADR, LOCKS_ORDER], &[R]),
    mutant("dccvap/log-unfenced", "dccvap", D(Change::Lowering(|l| l.log_before_update = &[]), "A log record is durable before its update. Broken: no fence between them.", CVAP), &[NO_ADR], &[E, T]),
    mutant("dccvap/media-order", "dccvap", B(Rule::MediaOrderOfALine.any()), &[NO_ADR], &[E, R]),
    mutant("x86-pcommit/media-order", "x86-pcommit", B(Rule::MediaOrderOfALine.any()), &[NO_ADR], &[E, R]),
    // The bounds promise no recovery: only their models can tell.
    mutant("non-atomic/durable-unfenced", "non-atomic", D(Change::Lowering(|l| l.durable = &[]), "What is acknowledged is durable. Broken: no fence before the acknowledgement.", "StrandWeaver VI-A"), &[], &[T]),
    mutant("non-atomic/sfence-awaits-stores", "non-atomic", D(Change::FlushAcknowledgedAtDeparture, "An sfence waits for flushes. Broken: only for stores.", "StrandWeaver VI-A"), &[], &[P, T]),
    mutant("unordered/writes-overtake", "unordered", B(Rule::WritesOfALineInOrder.any()), &[], &[P]),
    mutant("volatile/locked-not-atomic", "volatile", B(Rule::LockedIsAtomic.any()), &[], &[P, T]),
    mutant("volatile/forwards-oldest", "volatile", B(Rule::ForwardsYoungest.any()), &[], &[P, R]),
];
