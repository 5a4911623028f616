//! Broken variants of HOPS and ASAP, and what notices each. The tests of `crates/crash` compile this file.

use crate::mutants::table::*;
use strandline_crash::litmus::MOVING_SEEDS;
use strandline_designs::rules::{Epochs, Parts};
use strandline_rules::Rule;

#[rustfmt::skip]
pub const MUTANTS: &[Mutant] = &[
    // hops-ep.
    mutant("hops-ep/log-unordered", "hops-ep", D(Change::Lowering(|l| l.log_before_update = &[]), "A log record persists before its update. Broken: no ofence between them.", HOPS), &[], &[E, T]),
    mutant("hops-ep/durable-ordered-only", "hops-ep", D(Change::Lowering(|l| l.durable = &[Primitive::Ofence]), "What is acknowledged is durable. Broken: an ofence, which nobody waits for, in place of the dfence.", HOPS), &[], &[E, T]),
    mutant("hops-ep/commit-unfenced", "hops-ep", D(Change::Lowering(|l| l.commit = &[]), "What comes before a commit persists before what follows. Broken: no fence.", HOPS), &[], &[T]),
    mutant("hops-ep/no-log", "hops-ep", D(Change::Lowering(|l| l.log = false), "A region of several stores is logged. Broken: it is not.", HOPS), &[], &[E]),
    mutant("hops-ep/ofence-passes", "hops-ep", D(Change::Primitive(Primitive::Ofence, Admission::Pass), "An ofence begins a new epoch. Broken: it does nothing.", HOPS), &[], &[E, T]),
    mutant("hops-ep/dfence-passes", "hops-ep", D(Change::Primitive(Primitive::Dfence, Admission::Pass), "A dfence waits until everything before it is durable. Broken: for nothing.", HOPS), &[], &[E, T]),
    mutant("hops-ep/dfence-queues", "hops-ep", D(Change::Primitive(Primitive::Dfence, Admission::Enter), "The core waits with a dfence. Broken: it goes on while the dfence takes its turn in the store queue.", HOPS), &[], &[E, T]),
    mutant("hops-ep/dfence-awaits-stores", "hops-ep", D(Change::Primitive(Primitive::Dfence, Admission::HoldLoads(Until::Drained(None))), "A dfence waits for the persist buffer. Broken: only for stores to be visible.", HOPS), &[], &[E, T]),
    mutant("hops-ep/evictions-written-back", "hops-ep", D(Change::EvictionsWrittenBack(Level::Llc), "Persistent lines that leave the LLC are dropped. Broken: they are written back, past the epochs.", "ASAP V-A"), &[EVICTIONS], &[E, T]),
    mutant("hops-ep/evicted-lines-forgotten", "hops-ep", D(Change::HoldersAsked, "A core is asked for lines that its caches have evicted, too. Broken: only for those that they hold.", "ASAP VI-F"), &[EVICTIONS], &[T]),
    mutant("hops-ep/epochs-overtake", "hops-ep", B(Parts::EpochsInOrder.any()), &[], &[E, T]),
    mutant("hops-ep/epoch-awaits-no-writes", "hops-ep", B(Epochs::EpochAwaitsWrites.any()), &[], &[E, T]),
    mutant("hops-ep/dependences-dropped", "hops-ep", B(Parts::EpochAwaitsOthers.any()), &[], &[T]),
    mutant("hops-ep/reads-do-not-depend", "hops-ep", D(Change::Given(|_, access| access == Access::Read), "A read of what another core has written is a dependence, too. Broken: only a write is.", "ASAP IV-A"), &[], &[T]),
    mutant("hops-ep/volatile-lines-do-not-depend", "hops-ep", D(Change::Given(|line, _| !line.is_persistent()), "Volatile lines carry dependences, too. Broken: only persistent ones do.", "ASAP IV-A"), &[], &[R]),
    mutant("hops-ep/epochs-not-split", "hops-ep", B(Parts::DependenceSplitsEpochs.any()), &[], &[T]).shows(Shows::Reported(FaultKind::Stuck)),
    mutant("hops-ep/epochs-coalesce", "hops-ep", B(Parts::EpochsCoalesceApart.any()), &[], &[R]),
    mutant("hops-ep/entry-sent-as-it-is", "hops-ep", B(Epochs::EntryKeepsBytes.any()), &[], &[R]),
    mutant("hops-ep/full-buffer-drops", "hops-ep", B(Epochs::FullBufferHoldsStore.any()), &["design.entries=1"], &[T]),
    mutant("hops-ep/locked-not-atomic", "hops-ep", B(Rule::LockedIsAtomic.any()), &[], &[T]),
    // hops-rp.
    mutant("hops-rp/releases-do-not-depend", "hops-rp", D(Change::Given(|_, _| true), "A store that a release marks carries a dependence. Broken: none.", "ASAP IV-A and IV-E"), &[], &[T]),
    mutant("hops-rp/release-joins-epoch", "hops-rp", B(Epochs::ReleaseBeginsEpoch.any()), &[], &[T]),
    mutant("hops-rp/acquire-passes", "hops-rp", D(Change::Primitive(Primitive::Acquire, Admission::Pass), "What follows an acquire persists after what it has read. Broken: it does nothing, so a core's own release has no effect.", ASAP), &[], &[R]),
    mutant("hops-rp/lines-do-not-depend", "hops-rp", B(Epochs::LinesDepend.any()), &[], &[R]),
    mutant("hops-rp/dfence-passes", "hops-rp", D(Change::Primitive(Primitive::Dfence, Admission::Pass), "A dfence waits until everything before it is durable. Broken: for nothing.", ASAP), &[], &[E, T]),
    // asap-ep.
    mutant("asap-ep/log-unordered", "asap-ep", D(Change::Lowering(|l| l.log_before_update = &[]), "A log record persists before its update. Broken: no ofence between them.", ASAP), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-ep/nothing-undone", "asap-ep", D(Change::NothingUndone, "Memory can be brought back from what came early: an undo record is made. Broken: none is.", "ASAP IV-D and Table I"), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-ep/delays-dropped", "asap-ep", B(Epochs::CollisionDelays.any()), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-ep/delays-apart", "asap-ep", B(Epochs::EpochsDelaysCoalesce.any()), &MANY_RECORDS, &[R]).about_seed(3501),
    mutant("asap-ep/own-records-stay", "asap-ep", B(Epochs::SafeReplacesOwnRecords.any()), &TWO_CONTROLLERS, &[R]),
    mutant("asap-ep/commit-keeps-undo", "asap-ep", B(Epochs::CommitForgetsUndo.any()), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-ep/commit-unanswered", "asap-ep", B(Epochs::CommitAwaitsControllers.any()), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-ep/refused-overtaken", "asap-ep", B(Epochs::RefusedInOrder.any()), &ONE_RECORD_AT_ONCE, &[R]).about_seed(5201),
    mutant("asap-ep/refused-forgotten", "asap-ep", B(Epochs::RefusedComesAgain.any()), &ONE_RECORD, &[E, T]),
    mutant("asap-ep/epochs-overtake", "asap-ep", B(Parts::EpochsInOrder.any()), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-ep/dependences-dropped", "asap-ep", B(Parts::EpochAwaitsOthers.any()), &TWO_CONTROLLERS, &[T]),
    mutant("asap-ep/dfence-passes", "asap-ep", D(Change::Primitive(Primitive::Dfence, Admission::Pass), "A dfence waits until everything before it is durable. Broken: for nothing.", ASAP), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-ep/evictions-written-back", "asap-ep", D(Change::EvictionsWrittenBack(Level::Llc), "Persistent lines that leave the LLC are dropped. Broken: they are written back, past the epochs.", "ASAP V-A"), &[EVICTIONS], &[R]).about_seed(801),
    mutant("asap-ep/evicted-lines-forgotten", "asap-ep", D(Change::HoldersAsked, "A core is asked for lines that its caches have evicted, too. Broken: only for those that they hold.", "ASAP V-F"), &[EVICTIONS], &[T]),
    mutant("asap-ep/commits-sent", "asap-ep", B(Parts::CommitsInTurn.any()), &TWO_CONTROLLERS, &[E, T, R]),
    mutant("asap-ep/moves-unfenced", "asap-ep", D(Change::Lowering(|l| l.hand_over = &[]), "A dfence comes before a thread goes on on another core. Broken: none does.", "ASAP V-F"), &TWO_CONTROLLERS, &[R]).about_seed(MOVING_SEEDS),
    // asap-rp.
    mutant("asap-rp/releases-do-not-depend", "asap-rp", D(Change::Given(|_, _| true), "A store that a release marks carries a dependence. Broken: none.", "ASAP IV-A and IV-E"), &TWO_CONTROLLERS, &[T]),
    mutant("asap-rp/lines-do-not-depend", "asap-rp", B(Epochs::LinesDepend.any()), &TWO_CONTROLLERS, &[R]),
    mutant("asap-rp/nothing-undone", "asap-rp", D(Change::NothingUndone, "Memory can be brought back from what came early: an undo record is made. Broken: none is.", "ASAP IV-D and Table I"), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-rp/moves-unfenced", "asap-rp", D(Change::Lowering(|l| l.hand_over = &[]), "A dfence comes before a thread goes on on another core. Broken: none does.", "ASAP V-F"), &TWO_CONTROLLERS, &[R]).about_seed(MOVING_SEEDS),
    // asap-strand.
    mutant("asap-strand/barrier-passes", "asap-strand", D(Change::Primitive(Primitive::PersistBarrier, Admission::Pass), "A persist barrier orders its strand. Broken: it does nothing.", SW), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-strand/ofence-passes", "asap-strand", D(Change::Primitive(Primitive::Ofence, Admission::Pass), "An ofence orders all strands. Broken: it does nothing.", ASAP), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-strand/conflicts-concurrent", "asap-strand", B(Epochs::StrandsOfALineInOrder.any()), &TWO_CONTROLLERS, &[T]),
    mutant("asap-strand/nothing-undone", "asap-strand", D(Change::NothingUndone, "Memory can be brought back from what came early: an undo record is made. Broken: none is.", "ASAP IV-D and Table I"), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-strand/moves-unfenced", "asap-strand", D(Change::Lowering(|l| l.hand_over = &[]), "A dfence comes before a thread goes on on another core. Broken: none does.", "ASAP V-F"), &TWO_CONTROLLERS, &[R]).about_seed(MOVING_SEEDS),
    // asap-frontier-ep.
    mutant("asap-frontier-ep/nothing-undone", "asap-frontier-ep", D(Change::NothingUndone, "Memory can be brought back from what came early: an undo record is made. Broken: none is.", "ASAP IV-D and Table I"), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-frontier-ep/commits-one-epoch", "asap-frontier-ep", B(Epochs::CommitsCumulate.any()), &TWO_CONTROLLERS, &[E]),
    mutant("asap-frontier-ep/commits-newest-first", "asap-frontier-ep", B(Epochs::CommitsInOrder.any()), &TWO_CONTROLLERS, &[E]),
    mutant("asap-frontier-ep/frontier-falls", "asap-frontier-ep", B(Epochs::FrontierNeverFalls.any()), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-frontier-ep/due-forgotten", "asap-frontier-ep", B(Epochs::DueIsWhatLineHolds.any()), &TWO_CONTROLLERS, &[R]),
    mutant("asap-frontier-ep/safe-flush-bare", "asap-frontier-ep", B(Epochs::SafeFlushCarriesFrontier.any()), &TWO_CONTROLLERS, &[E]),
    mutant("asap-frontier-ep/frontier-behind-flush", "asap-frontier-ep", B(Epochs::FrontierBeforeFlush.any()), &TWO_CONTROLLERS, &[E]),
    mutant("asap-frontier-ep/fenced-forgotten", "asap-frontier-ep", B(Epochs::FencedStaySources.any()), &TWO_CONTROLLERS, &[R]).about_seed(84401),
    mutant("asap-frontier-ep/own-frontier", "asap-frontier-ep", B(Epochs::RecoveryTakesLargest.any()), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-frontier-ep/delays-lost", "asap-frontier-ep", B(Epochs::DelaysAreSaved.any()), &TWO_CONTROLLERS, &[E]),
    mutant("asap-frontier-ep/saved-erased", "asap-frontier-ep", B(Epochs::SavedUntilRecovered.any()), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-frontier-ep/incomplete-proved", "asap-frontier-ep", B(Epochs::EpochAwaitsWrites.any()), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-frontier-ep/refused-forgotten", "asap-frontier-ep", B(Epochs::RefusedComesAgain.any()), &ONE_RECORD, &[T]),
    mutant("asap-frontier-ep/resolved-by-own-answers", "asap-frontier-ep", B(Parts::ResolvedByAllAnswers.any()), &TWO_CONTROLLERS, &[R]),
    mutant("asap-frontier-ep/fence-unanswered", "asap-frontier-ep", B(Parts::FenceAwaitsAnswer.any()), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-frontier-ep/epochs-overtake", "asap-frontier-ep", B(Parts::EpochsInOrder.any()), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-frontier-ep/dependences-dropped", "asap-frontier-ep", B(Parts::EpochAwaitsOthers.any()), &TWO_CONTROLLERS, &[T]),
    mutant("asap-frontier-ep/numbers-too-old", "asap-frontier-ep", B(Epochs::AllHearInTime.any()), &NUMBERS_WRAP, &[E]).late(),
    mutant("asap-frontier-ep/epochs-far-apart", "asap-frontier-ep", B(Epochs::EpochsStayNear.any()), &FEW_NUMBERS, &[E]),
    mutant("asap-frontier-ep/moves-unfenced", "asap-frontier-ep", D(Change::Lowering(|l| l.hand_over = &[]), "A dfence comes before a thread goes on on another core. Broken: none does.", "ASAP V-F"), &TWO_CONTROLLERS, &[R]).about_seed(MOVING_SEEDS),
    // asap-frontier-rp.
    mutant("asap-frontier-rp/nothing-undone", "asap-frontier-rp", D(Change::NothingUndone, "Memory can be brought back from what came early: an undo record is made. Broken: none is.", "ASAP IV-D and Table I"), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-frontier-rp/own-frontier", "asap-frontier-rp", B(Epochs::RecoveryTakesLargest.any()), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-frontier-rp/moves-unfenced", "asap-frontier-rp", D(Change::Lowering(|l| l.hand_over = &[]), "A dfence comes before a thread goes on on another core. Broken: none does.", "ASAP V-F"), &TWO_CONTROLLERS, &[R]).about_seed(MOVING_SEEDS),
    // asap-frontier-strand.
    mutant("asap-frontier-strand/strands-share-frontier", "asap-frontier-strand", B(Parts::FrontierHasStrands.any()), &TWO_CONTROLLERS, &[R]).about_seed(428001),
    mutant("asap-frontier-strand/conflicts-concurrent", "asap-frontier-strand", B(Epochs::StrandsOfALineInOrder.any()), &TWO_CONTROLLERS, &[T]),
    mutant("asap-frontier-strand/moves-unfenced", "asap-frontier-strand", D(Change::Lowering(|l| l.hand_over = &[]), "A dfence comes before a thread goes on on another core. Broken: none does.", "ASAP V-F"), &TWO_CONTROLLERS, &[R]).about_seed(MOVING_SEEDS),
];
