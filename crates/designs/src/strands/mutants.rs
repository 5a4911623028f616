//! Broken variants of StrandWeaver and the strand buffers without its persist queue, and what notices each. The tests of `crates/crash` compile this file.

use crate::mutants::table::*;
use strandline_designs::rules::Strands;
use strandline_rules::Rule;

#[rustfmt::skip]
pub const MUTANTS: &[Mutant] = &[
    // strandweaver, and the same strand buffers without the persist queue.
    mutant("strandweaver/no-barrier", "strandweaver", D(Change::Primitive(Primitive::PersistBarrier, Admission::Pass), "A persist barrier orders what its strand persists. Broken: it does nothing.", SW), &[], &[E, T]),
    mutant("strandweaver/join-passes", "strandweaver", D(Change::Primitive(Primitive::JoinStrand, Admission::Pass), "A join waits for all strands. Broken: for nothing.", SW), &[], &[E, T]),
    mutant("strandweaver/log-unordered", "strandweaver", D(Change::Lowering(|l| l.log_before_update = &[]), "A log record persists before its update. Broken: no persist barrier between them.", "StrandWeaver Figure 5"), &[], &[E, T]),
    mutant("strandweaver/log-on-another-strand", "strandweaver", D(Change::Lowering(|l| l.log_before_update = &[Primitive::PersistBarrier, Primitive::NewStrand]), "A log record and its update are on one strand. Broken: the update is on the next one.", "StrandWeaver Figure 5"), &[], &[E, T]),
    mutant("strandweaver/durable-unjoined", "strandweaver", D(Change::Lowering(|l| l.durable = &[Primitive::PersistBarrier]), "What is acknowledged is durable. Broken: a persist barrier, which nobody waits for, in place of the join.", "StrandWeaver Figure 5"), &[], &[E, T]),
    mutant("strandweaver/barrier-holds-no-buffer", "strandweaver", B(Strands::BarrierHoldsBuffer.any()), &[], &[T]),
    mutant("strandweaver/barrier-completes-early", "strandweaver", B(Strands::BarrierAwaitsAll.any()), &[], &[E, T]),
    mutant("strandweaver/line-out-of-order", "strandweaver", B(Strands::LineInOrderAcrossStrands.any()), &[], &[T]),
    mutant("strandweaver/flush-before-store", "strandweaver", B(Strands::FlushAwaitsStore.any()), &[], &[E, T]),
    mutant("strandweaver/barrier-holds-no-stores", "strandweaver", B(Strands::BarrierHoldsStores.any()), &[], &[R]).about_seed(801),
    mutant("strandweaver/join-awaits-issue", "strandweaver", B(Strands::JoinAwaitsCompletion.any()), &[], &[E, T]),
    mutant("strandweaver/store-before-flush", "strandweaver", B(Strands::StoreAwaitsFlush.any()), &[], &[R]).about_seed(1601),
    mutant("strandweaver/eviction-overtakes", "strandweaver", D(Change::EvictionsWrittenBack(Level::Private), "A dirty line that leaves the L1 waits for the recorded tails of the strand buffers. Broken: it is written back at once.", "StrandWeaver IV, managing cache writebacks"), &[], &[T]),
    mutant("strandweaver/snoop-overtakes", "strandweaver", D(Change::Given(|_, _| true), "A request for a dirty line waits for the recorded tails of its owner's strand buffers. Broken: it is answered at once.", "StrandWeaver IV, enabling inter-thread persist order"), &[], &[T]),
    mutant("strandweaver/snooped-line-stored-to", "strandweaver", B(Strands::SnoopHoldsStores.any()), &[], &[R]).about_seed(7101),
    mutant("strandweaver/one-tail-awaited", "strandweaver", B(Strands::TailsOfAllBuffers.any()), &[], &[T, R]),
    mutant("strandweaver/handed-over-dirty", "strandweaver", D(Change::HandedOverDirty, "A dirty line that gets a new owner is written back on its way. Broken: it is handed over dirty.", "StrandWeaver III-A, Equation 2"), &[], &[R]),
    mutant("no-persist-queue/no-barrier", "no-persist-queue", D(Change::Primitive(Primitive::PersistBarrier, Admission::Pass), "A persist barrier orders what its strand persists. Broken: it does nothing.", SW), &[], &[E, T]),
    mutant("no-persist-queue/join-passes", "no-persist-queue", D(Change::Primitive(Primitive::JoinStrand, Admission::Pass), "A join waits for all strands. Broken: for nothing.", SW), &[], &[E, T]),
    mutant("no-persist-queue/barrier-holds-no-buffer", "no-persist-queue", B(Strands::BarrierHoldsBuffer.any()), &[], &[T]),
    mutant("no-persist-queue/eviction-overtakes", "no-persist-queue", D(Change::EvictionsWrittenBack(Level::Private), "A dirty line that leaves the L1 waits for the recorded tails of the strand buffers. Broken: it is written back at once.", "StrandWeaver IV, managing cache writebacks"), &[], &[T]),
    mutant("strandweaver/held-line-clean", "strandweaver", B(Rule::HeldLineJoinsDirty.any()), &[], &[T, R]),
];
