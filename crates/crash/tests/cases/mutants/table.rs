//! All mutants: which rule each breaks, where the rule is written down, and what notices.

use super::altered::Change;
use crate::planted::Found;
use strandline_crash::Kind;
use strandline_design::{Access, Admission, Domain, Level, Until};
use strandline_isa::Primitive;
use strandline_rules::{Of, Rule};
use strandline_workloads::describe;

/// What is broken.
#[derive(Clone, Copy)]
pub enum Broken {
    /// The design: its changed answer, the rule in words, and the rule's source.
    Design(Change, &'static str, &'static str),
    /// A rule of the machine, of a part that designs share, or of a log.
    Rule(Rule),
}

/// What notices a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Catcher {
    /// Crash exploration: a state does not recover, or the run does not end.
    Exploration,
    /// A program of a few instructions in `programs.rs`, or of a few steps of regions in `log.rs`.
    Program,
    /// A litmus test of the shelf shows a state that the design's model forbids, or does not end.
    Litmus,
    /// A random program leaves a state that the design's model forbids, or does not end.
    Random,
}

impl Catcher {
    /// As a reader knows it.
    pub fn name(self) -> &'static str {
        match self {
            Catcher::Exploration => "crash exploration",
            Catcher::Program => "small programs",
            Catcher::Litmus => "litmus tests",
            Catcher::Random => "random programs",
        }
    }
}

/// What a caught mutant shows.
#[derive(Clone, Copy, Debug)]
pub enum Shows {
    /// This is reported.
    Reported(Kind),
    /// The machine refuses to go on and says this.
    Refused(&'static str),
}

impl Shows {
    /// Whether it was found so.
    pub fn is(self, found: &Found) -> bool {
        match self {
            Shows::Reported(kind) => found.kind == Some(kind),
            Shows::Refused(words) => found.kind.is_none() && found.text.contains(words),
        }
    }

    /// As a reader knows it.
    pub fn name(self) -> &'static str {
        match self {
            Shows::Reported(Kind::Forbidden) => "forbidden",
            Shows::Reported(Kind::Unrecovered) => "not recovered",
            Shows::Reported(Kind::Stuck) => "nothing goes on",
            Shows::Reported(Kind::Starved) => "no task ends",
            Shows::Refused(_) => "refused by the machine",
        }
    }
}

/// Every state recovers that exploration meets; the model forbids one of them.
const FORBIDDEN: Shows = Shows::Reported(Kind::Forbidden);

/// A broken variant of a design, with what runs on it and under it.
pub struct Mutant {
    /// Its name: the design's, and what is broken.
    pub name: &'static str,
    /// The registered design.
    pub design: &'static str,
    /// What is broken.
    pub broken: Broken,
    /// `machine.KEY=VALUE`: the machine on which the rule matters, where it is not the preset; `design.KEY=VALUE` likewise.
    pub sets: &'static [&'static str],
    /// What notices it.
    pub caught_by: &'static [Catcher],
    /// What must be reported of it where that is not what its catchers look for.
    shows: Option<Shows>,
    /// The seed of the first random program that is tried: most programs do not show it.
    pub first_seed: u64,
}

impl Mutant {
    /// The rule, and what happens when it is broken.
    pub fn rule(&self) -> &'static str {
        match self.broken {
            Broken::Design(_, rule, _) => rule,
            Broken::Rule(rule) => rule.words(),
        }
    }

    /// Whether it is a log's or its recovery's, or of how tasks share a thread.
    pub fn is_of_log(&self) -> bool {
        matches!(self.broken, Broken::Rule(rule) if rule.of() == Of::Log)
    }

    /// The runtime under which the rule matters, where it is not the undo log.
    pub fn runtime(&self) -> Option<&'static str> {
        match self.broken {
            Broken::Rule(
                Rule::EntriesFlushed
                | Rule::LinesFlushedAtEnd
                | Rule::MarkerBeforeInvalidation
                | Rule::HeadLast
                | Rule::CommitFinished,
            ) => Some("txn"),
            Broken::Rule(Rule::EntriesUndoneInReverse | Rule::ClockPassesStamps | Rule::CommitAwaitsDependences) => {
                Some("atlas")
            }
            Broken::Rule(Rule::GroupDurable | Rule::ReplayOfWholeRegions | Rule::ReplayAwaitsDependences) => {
                Some("redo")
            }
            Broken::Rule(
                Rule::WalRecordsFlushed
                | Rule::WalRecordsBeforeBit
                | Rule::WalBitBeforeUpdates
                | Rule::WalUpdatesBeforeClear
                | Rule::WalBitDecides
                | Rule::WalEveryRecordUndone
                | Rule::WalNewestUndoneFirst,
            ) => Some("log-p-sf"),
            _ => None,
        }
    }

    /// What a catcher must report: a mutant that stops for another reason has not been caught.
    pub fn must_show(&self, catcher: Catcher) -> Shows {
        let own = match catcher {
            Catcher::Exploration => Kind::Unrecovered,
            Catcher::Program if self.is_of_log() => Kind::Unrecovered,
            Catcher::Program | Catcher::Litmus | Catcher::Random => Kind::Forbidden,
        };
        self.shows.unwrap_or(Shows::Reported(own))
    }

    /// This mutant, which shows this.
    const fn shows(self, shows: Shows) -> Mutant {
        Mutant {
            shows: Some(shows),
            ..self
        }
    }

    /// This mutant, which a random program of about this seed shows.
    const fn about_seed(self, seed: u64) -> Mutant {
        Mutant {
            first_seed: seed,
            ..self
        }
    }

    /// The design's parameters among its settings.
    pub fn design_sets(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let sets = self.sets.iter().filter_map(|set| set.strip_prefix("design."));
        sets.filter_map(|set| set.split_once('='))
    }

    /// Its settings that a workload has.
    pub fn sets_of(&self, workload: &str) -> impl Iterator<Item = &'static str> {
        let params = describe(workload).expect("a workload").params;
        let is_known = move |key: &str| params.iter().any(|param| param.name == key);
        let of_workload = |set: &str| {
            set.strip_prefix("workload.")?
                .split_once('=')
                .map(|(key, _)| key.to_owned())
        };
        let sets = self.sets.iter().copied();
        sets.filter(move |set| of_workload(set).is_none_or(|key| is_known(&key)))
    }

    /// Where the rule is written down.
    pub fn source(&self) -> &'static str {
        match self.broken {
            Broken::Design(_, _, source) => source,
            Broken::Rule(rule) => rule.source(),
        }
    }
}

pub const fn mutant(
    name: &'static str,
    design: &'static str,
    broken: Broken,
    sets: &'static [&'static str],
    caught_by: &'static [Catcher],
) -> Mutant {
    Mutant {
        name,
        design,
        broken,
        sets,
        caught_by,
        shows: None,
        first_seed: 1,
    }
}

const WEAK: &str = "machine.core.consistency=weak";
const NO_ADR: &str = "machine.controllers.adr=false";
const TWO_CONTROLLERS: [&str; 2] = ["machine.controllers.count=2", "machine.controllers.interleave_bytes=64"];
const LOCKS_ORDER: &str = "machine.core.lock_orders_flushes=true";
const ONE_FLUSH: &str = "machine.core.writeback_buffer_entries=1";
const BACKEND: &str = "machine.controllers.bmo_latency=1000";
const SMALL_QUEUE: &str = "machine.controllers.wpq_entries=1";
const NO_PREFETCH: &str = "machine.core.store_prefetch=false";
const EVICTIONS: &str = "machine.simulation.evict_one_in=4";
const ALWAYS_EVICTS: &str = "machine.simulation.evict_one_in=1";
const SLOW_FLUSHES: &str = "machine.simulation.jitter=5000";
const BATCHES: [&str; 2] = ["runtime.log_batch=3", "runtime.log_group=3"];
/// Records of one epoch stand beside one another.
const MANY_RECORDS: [&str; 4] = [
    "machine.controllers.count=2",
    "design.table=32",
    "design.entries=32",
    "design.epochs=32",
];
const ONE_RECORD: [&str; 3] = [
    "machine.controllers.count=2",
    "machine.controllers.interleave_bytes=64",
    "design.table=1",
];
/// Writes go as soon as they enter their buffer, so that two of one epoch and line can be on their way.
const ONE_RECORD_AT_ONCE: [&str; 4] = [ONE_RECORD[0], ONE_RECORD[1], ONE_RECORD[2], "design.gather=1"];
const FEW_CONTEXTS: &str = "design.contexts=2";
const SMALL_L1: [&str; 3] = ["machine.l2.bytes=0", "machine.l1.bytes=512", "machine.l1.ways=1"];

/// Regions of several operations, whose lines leave the LLC soon.
const STALE: [&str; 6] = [
    "workload.operations=3",
    "machine.l2.bytes=0",
    "machine.l1.bytes=512",
    "machine.l1.ways=2",
    "machine.llc.bytes=2048",
    "machine.llc.ways=4",
];

use Broken::{Design as D, Rule as B};
use Catcher::{Exploration as E, Litmus as T, Program as P, Random as R};

const SM: &str = "COSPlay 2.1; StrandWeaver II-B";
const SO: &str = "Delegated Persist Ordering II-A";
const CVAP: &str = "Delegated Persist Ordering II-C";
const SW: &str = "StrandWeaver III";
const HOPS: &str = "StrandWeaver VI-A; ASAP IV-A";
const ASAP: &str = "ASAP IV-A";
const CP4: &str = "COSPlay 4.1";
const SPEC: &str = "PMEM-Spec (ASPLOS 2021); designs/src/pmem_spec";
const DPO: &str = "Delegated Persist Ordering III and IV; designs/src/dpo";
const LB: &str = "LB++ (MICRO 2015); designs/src/lb_pp";
const SP: &str = "Speculative Persistence 2.2 and 4.2; designs/src/speculative";
const PX86: &str = "Intel SDM; Px86 (Raad et al., POPL 2020)";

/// All of them.
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
    mutant("x86-pcommit/commit-awaits-media", "x86-pcommit", B(Rule::CommitAwaitsMedia), &[NO_ADR], &[E, T]),
    mutant("dccvap/acknowledged-when-accepted", "dccvap", D(Change::Primitive(Primitive::Sfence, Admission::Hold(Until::Drained(None))), "Without ADR a flush is done when its line is on the media. Broken: when a write queue has accepted it.", CVAP), &[NO_ADR], &[E, T, R]),
    mutant("dccvap/queued-line-durable", "dccvap", B(Rule::QueuedLineAwaited), &[NO_ADR], &[R]),
    mutant("dccvap/clflush-accepted", "dccvap", B(Rule::ClflushDurable), &[NO_ADR], &[P]),
    mutant("dccvap/non-temporal-accepted", "dccvap", B(Rule::NonTemporalDurable), &[NO_ADR], &[T, R]),
    mutant("dccvap/locked-awaits-acceptance", "dccvap", B(Rule::LockedAwaitsDurable), &[NO_ADR, LOCKS_ORDER], &[R]),
    mutant("dccvap/log-unfenced", "dccvap", D(Change::Lowering(|l| l.log_before_update = &[]), "A log record is durable before its update. Broken: no fence between them.", CVAP), &[NO_ADR], &[E, T]),
    mutant("dccvap/media-order", "dccvap", B(Rule::MediaOrderOfALine), &[NO_ADR], &[E, R]),
    mutant("x86-pcommit/media-order", "x86-pcommit", B(Rule::MediaOrderOfALine), &[NO_ADR], &[E, R]),
    // eadr.
    mutant("eadr/domain-at-controllers", "eadr", D(Change::Domain(Domain::Controllers), "A visible store is durable. Broken: only what the write queue has.", "ASAP II-C"), &[], &[E, T]),
    mutant("eadr/durable-unfenced", "eadr", D(Change::Lowering(|l| l.durable = &[]), "What is acknowledged is visible. Broken: it may be in the store queue.", "ASAP II-C"), &[], &[E, T]),
    mutant("eadr/no-log", "eadr", D(Change::Lowering(|l| l.log = false), "A region of several stores is logged. Broken: it is not.", "ASAP II-C"), &[], &[E]),
    mutant("eadr/sfence-passes", "eadr", D(Change::Primitive(Primitive::Sfence, Admission::Pass), "An sfence waits until stores are visible. Broken: for nothing.", "ASAP II-C"), &[], &[E, P, T]),
    mutant("eadr/stores-out-of-order", "eadr", B(Rule::StoresInOrder), &[], &[E, P, T]).shows(FORBIDDEN),
    mutant("eadr/caches-drain-first", "eadr", B(Rule::CachesDrainLast), &[], &[E, T]).shows(FORBIDDEN),
    // bbb.
    mutant("bbb/domain-at-controllers", "bbb", D(Change::Domain(Domain::Controllers), "A visible store is durable: the battery saves the buffers. Broken: only what the write queue has.", "ASAP II-C"), &[], &[E, T]),
    mutant("bbb/durable-unfenced", "bbb", D(Change::Lowering(|l| l.durable = &[]), "What is acknowledged is visible. Broken: it may be in the store queue.", "ASAP II-C"), &[], &[E, T]),
    mutant("bbb/no-log", "bbb", D(Change::Lowering(|l| l.log = false), "A region of several stores is logged. Broken: it is not.", "ASAP II-C"), &[], &[E]),
    mutant("bbb/sfence-passes", "bbb", D(Change::Primitive(Primitive::Sfence, Admission::Pass), "An sfence waits until stores are visible. Broken: for nothing.", "ASAP II-C"), &[], &[E, P, T]),
    mutant("bbb/stores-out-of-order", "bbb", B(Rule::StoresInOrder), &[], &[E, P, T]).shows(FORBIDDEN),
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
    // strandweaver, and the same strand buffers without the persist queue.
    mutant("strandweaver/no-barrier", "strandweaver", D(Change::Primitive(Primitive::PersistBarrier, Admission::Pass), "A persist barrier orders what its strand persists. Broken: it does nothing.", SW), &[], &[E, T]),
    mutant("strandweaver/join-passes", "strandweaver", D(Change::Primitive(Primitive::JoinStrand, Admission::Pass), "A join waits for all strands. Broken: for nothing.", SW), &[], &[E, T]),
    mutant("strandweaver/log-unordered", "strandweaver", D(Change::Lowering(|l| l.log_before_update = &[]), "A log record persists before its update. Broken: no persist barrier between them.", "StrandWeaver Figure 5"), &[], &[E, T]),
    mutant("strandweaver/log-on-another-strand", "strandweaver", D(Change::Lowering(|l| l.log_before_update = &[Primitive::PersistBarrier, Primitive::NewStrand]), "A log record and its update are on one strand. Broken: the update is on the next one.", "StrandWeaver Figure 5"), &[], &[E, T]),
    mutant("strandweaver/durable-unjoined", "strandweaver", D(Change::Lowering(|l| l.durable = &[Primitive::PersistBarrier]), "What is acknowledged is durable. Broken: a persist barrier, which nobody waits for, in place of the join.", "StrandWeaver Figure 5"), &[], &[E, T]),
    mutant("strandweaver/barrier-holds-no-buffer", "strandweaver", B(Rule::BarrierHoldsBuffer), &[], &[T]),
    mutant("strandweaver/barrier-completes-early", "strandweaver", B(Rule::BarrierAwaitsAll), &[], &[E, T]),
    mutant("strandweaver/line-out-of-order", "strandweaver", B(Rule::LineInOrderAcrossStrands), &[], &[T]),
    mutant("strandweaver/flush-before-store", "strandweaver", B(Rule::FlushAwaitsStore), &[], &[E, T]),
    mutant("strandweaver/barrier-holds-no-stores", "strandweaver", B(Rule::BarrierHoldsStores), &[], &[R]).about_seed(801),
    mutant("strandweaver/join-awaits-issue", "strandweaver", B(Rule::JoinAwaitsCompletion), &[], &[E, T]),
    mutant("strandweaver/store-before-flush", "strandweaver", B(Rule::StoreAwaitsFlush), &[], &[R]).about_seed(1601),
    mutant("strandweaver/eviction-overtakes", "strandweaver", D(Change::EvictionsWrittenBack(Level::Private), "A dirty line that leaves the L1 waits for the recorded tails of the strand buffers. Broken: it is written back at once.", "StrandWeaver IV, managing cache writebacks"), &[], &[T]),
    mutant("strandweaver/snoop-overtakes", "strandweaver", D(Change::Given(|_, _| true), "A request for a dirty line waits for the recorded tails of its owner's strand buffers. Broken: it is answered at once.", "StrandWeaver IV, enabling inter-thread persist order"), &[], &[T]),
    mutant("strandweaver/snooped-line-stored-to", "strandweaver", B(Rule::SnoopHoldsStores), &[], &[R]).about_seed(7101),
    mutant("strandweaver/handed-over-dirty", "strandweaver", D(Change::HandedOverDirty, "A dirty line that gets a new owner is written back on its way. Broken: it is handed over dirty.", "StrandWeaver III-A, Equation 2"), &[], &[R]),
    mutant("no-persist-queue/no-barrier", "no-persist-queue", D(Change::Primitive(Primitive::PersistBarrier, Admission::Pass), "A persist barrier orders what its strand persists. Broken: it does nothing.", SW), &[], &[E, T]),
    mutant("no-persist-queue/join-passes", "no-persist-queue", D(Change::Primitive(Primitive::JoinStrand, Admission::Pass), "A join waits for all strands. Broken: for nothing.", SW), &[], &[E, T]),
    mutant("no-persist-queue/barrier-holds-no-buffer", "no-persist-queue", B(Rule::BarrierHoldsBuffer), &[], &[T]),
    mutant("no-persist-queue/eviction-overtakes", "no-persist-queue", D(Change::EvictionsWrittenBack(Level::Private), "A dirty line that leaves the L1 waits for the recorded tails of the strand buffers. Broken: it is written back at once.", "StrandWeaver IV, managing cache writebacks"), &[], &[T]),
    // dpo.
    mutant("dpo/log-unordered", "dpo", D(Change::Lowering(|l| l.log_before_update = &[]), "A log record persists before its update. Broken: no fence between them.", DPO), &[NO_ADR], &[E]),
    mutant("dpo/durable-ordered-only", "dpo", D(Change::Lowering(|l| l.durable = &[Primitive::StoreBarrier]), "What is acknowledged is durable. Broken: a fence, which nobody waits for, in place of the dfence.", DPO), &[], &[E]),
    mutant("dpo/no-log", "dpo", D(Change::Lowering(|l| l.log = false), "A region of several stores is logged. Broken: it is not.", DPO), &[], &[E]),
    mutant("dpo/fence-passes", "dpo", D(Change::Primitive(Primitive::StoreBarrier, Admission::Pass), "A fence ends an epoch. Broken: it does nothing.", DPO), &[], &[T]),
    mutant("dpo/dfence-passes", "dpo", D(Change::Primitive(Primitive::Dfence, Admission::Pass), "A dfence waits until everything before it is durable. Broken: for nothing.", DPO), &[], &[E, T]),
    mutant("dpo/dfence-awaits-drain", "dpo", B(Rule::DurableAwaitsEpochs), &[NO_ADR], &[E, R]),
    mutant("dpo/accumulated-ignored", "dpo", B(Rule::AccumulatedApplies), &[], &[P, R]),
    mutant("dpo/dependences-not-passed-on", "dpo", B(Rule::DependencesPassOn), &[], &[P]),
    mutant("dpo/accesses-forgotten", "dpo", B(Rule::AccessesKeptWhileInherited), &[], &[R]).about_seed(90_301),
    mutant("dpo/reads-do-not-conflict", "dpo", B(Rule::ReadsConflict), &[WEAK], &[P]),
    mutant("dpo/volatile-lines-ignored", "dpo", D(Change::Given(|line, _| !line.is_persistent()), "Accesses to volatile memory conflict, too. Broken: only those to persistent memory do.", "DPO IV-C"), &[], &[P]),
    mutant("dpo/youngest-not-cleared", "dpo", B(Rule::YoungestIsCleared), &[EVICTIONS], &[R]),
    mutant("dpo/older-stays-youngest", "dpo", B(Rule::YoungestIsOne), &[EVICTIONS], &[R]),
    mutant("dpo/filter-forgets", "dpo", B(Rule::FiltersNeverForget), &[], &[P]),
    mutant("dpo/separators-dropped", "dpo", B(Rule::SeparatorsBind), &[NO_ADR], &[R]).about_seed(4001),
    mutant("dpo/controllers-disagree", "dpo", B(Rule::ControllersAgree), &[NO_ADR, TWO_CONTROLLERS[0], TWO_CONTROLLERS[1]], &[R]).about_seed(4001),
    mutant("dpo/coalesces-with-dependences", "dpo", B(Rule::CoalescingNeedsNoDependence), &[], &[R]).about_seed(16401),
    mutant("dpo/queue-coalesces-across", "dpo", B(Rule::QueueCoalescesWithinEpoch), &[NO_ADR], &[R]).about_seed(2201),
    mutant("dpo/evictions-written-back", "dpo", D(Change::EvictionsWrittenBack(Level::Llc), "Persistent lines that leave the LLC are dropped. Broken: they are written back, past the buffers.", "DPO IV-B"), &[EVICTIONS], &[T, R]),
    // lb-pp.
    mutant("lb-pp/log-unordered", "lb-pp", D(Change::Lowering(|l| l.log_before_update = &[]), "A log record persists before its update. Broken: no ofence between them.", LB), &[], &[E, T]),
    mutant("lb-pp/durable-ordered-only", "lb-pp", D(Change::Lowering(|l| l.durable = &[Primitive::Ofence]), "What is acknowledged is durable. Broken: an ofence, which nobody waits for, in place of the dfence.", LB), &[], &[E, T]),
    mutant("lb-pp/ofence-passes", "lb-pp", D(Change::Primitive(Primitive::Ofence, Admission::Pass), "An ofence begins a new epoch. Broken: it does nothing.", LB), &[], &[E, T]),
    mutant("lb-pp/dfence-passes", "lb-pp", D(Change::Primitive(Primitive::Dfence, Admission::Pass), "A dfence waits until everything before it is durable. Broken: for nothing.", LB), &[], &[E, T]),
    mutant("lb-pp/evictions-not-held", "lb-pp", D(Change::EvictionsWrittenBack(Level::Llc), "A line that leaves the LLC is held until its epoch is durable. Broken: it is written back at once.", LB), &[EVICTIONS], &[E, T, R]),
    mutant("lb-pp/conflicts-ignored", "lb-pp", B(Rule::ConflictFlushesEpoch), &["design.proactive=0"], &[T, R]),
    mutant("lb-pp/dependence-not-recorded", "lb-pp", B(Rule::RequesterRecords), &[], &[T, R]),
    mutant("lb-pp/fence-an-epoch-short", "lb-pp", B(Rule::FenceAwaitsOwnEpoch), &[], &[E, T, R]),
    mutant("lb-pp/acknowledged-twice", "lb-pp", B(Rule::LineAcknowledgedOnce), &[], &[E, T, R]),
    mutant("lb-pp/fence-opens-early", "lb-pp", B(Rule::FenceOpensWhenDurable), &[], &[E, T, R]),
    mutant("lb-pp/llc-loses-tag", "lb-pp", B(Rule::LlcKeepsTag), &[], &[T, R]),
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
    mutant("hops-ep/epochs-overtake", "hops-ep", B(Rule::EpochsInOrder), &[], &[E, T]),
    mutant("hops-ep/epoch-awaits-no-writes", "hops-ep", B(Rule::EpochAwaitsWrites), &[], &[E, T]),
    mutant("hops-ep/dependences-dropped", "hops-ep", B(Rule::EpochAwaitsOthers), &[], &[T]),
    mutant("hops-ep/reads-do-not-depend", "hops-ep", D(Change::Given(|_, access| access == Access::Read), "A read of what another core has written is a dependence, too. Broken: only a write is.", "ASAP IV-A"), &[], &[T]),
    mutant("hops-ep/volatile-lines-do-not-depend", "hops-ep", D(Change::Given(|line, _| !line.is_persistent()), "Volatile lines carry dependences, too. Broken: only persistent ones do.", "ASAP IV-A"), &[], &[R]),
    mutant("hops-ep/epochs-not-split", "hops-ep", B(Rule::DependenceSplitsEpochs), &[], &[T]).shows(Shows::Reported(Kind::Stuck)),
    mutant("hops-ep/epochs-coalesce", "hops-ep", B(Rule::EpochsCoalesceApart), &[], &[R]),
    mutant("hops-ep/entry-sent-as-it-is", "hops-ep", B(Rule::EntryKeepsBytes), &[], &[R]),
    mutant("hops-ep/full-buffer-drops", "hops-ep", B(Rule::FullBufferHoldsStore), &["design.entries=1"], &[T]),
    mutant("hops-ep/locked-not-atomic", "hops-ep", B(Rule::LockedIsAtomic), &[], &[T]),
    // hops-rp.
    mutant("hops-rp/releases-do-not-depend", "hops-rp", D(Change::Given(|_, _| true), "A store that a release marks carries a dependence. Broken: none.", "ASAP IV-A and IV-E"), &[], &[T]),
    mutant("hops-rp/release-joins-epoch", "hops-rp", B(Rule::ReleaseBeginsEpoch), &[], &[T]),
    mutant("hops-rp/acquire-passes", "hops-rp", D(Change::Primitive(Primitive::Acquire, Admission::Pass), "What follows an acquire persists after what it has read. Broken: it does nothing, so a core's own release has no effect.", ASAP), &[], &[R]),
    mutant("hops-rp/lines-do-not-depend", "hops-rp", B(Rule::LinesDepend), &[], &[R]),
    mutant("hops-rp/dfence-passes", "hops-rp", D(Change::Primitive(Primitive::Dfence, Admission::Pass), "A dfence waits until everything before it is durable. Broken: for nothing.", ASAP), &[], &[E, T]),
    // asap-ep.
    mutant("asap-ep/log-unordered", "asap-ep", D(Change::Lowering(|l| l.log_before_update = &[]), "A log record persists before its update. Broken: no ofence between them.", ASAP), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-ep/nothing-undone", "asap-ep", D(Change::NothingUndone, "Memory can be brought back from what came early: an undo record is made. Broken: none is.", "ASAP IV-D and Table I"), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-ep/delays-dropped", "asap-ep", B(Rule::CollisionDelays), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-ep/delays-apart", "asap-ep", B(Rule::EpochsDelaysCoalesce), &MANY_RECORDS, &[R]).about_seed(3501),
    mutant("asap-ep/own-records-stay", "asap-ep", B(Rule::SafeReplacesOwnRecords), &TWO_CONTROLLERS, &[R]),
    mutant("asap-ep/commit-keeps-undo", "asap-ep", B(Rule::CommitForgetsUndo), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-ep/commit-unanswered", "asap-ep", B(Rule::CommitAwaitsControllers), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-ep/refused-overtaken", "asap-ep", B(Rule::RefusedInOrder), &ONE_RECORD_AT_ONCE, &[R]).about_seed(5201),
    mutant("asap-ep/refused-forgotten", "asap-ep", B(Rule::RefusedComesAgain), &ONE_RECORD, &[E, T]),
    mutant("asap-ep/epochs-overtake", "asap-ep", B(Rule::EpochsInOrder), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-ep/dependences-dropped", "asap-ep", B(Rule::EpochAwaitsOthers), &TWO_CONTROLLERS, &[T]),
    mutant("asap-ep/dfence-passes", "asap-ep", D(Change::Primitive(Primitive::Dfence, Admission::Pass), "A dfence waits until everything before it is durable. Broken: for nothing.", ASAP), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-ep/evictions-written-back", "asap-ep", D(Change::EvictionsWrittenBack(Level::Llc), "Persistent lines that leave the LLC are dropped. Broken: they are written back, past the epochs.", "ASAP V-A"), &[EVICTIONS], &[R]).about_seed(801),
    mutant("asap-ep/evicted-lines-forgotten", "asap-ep", D(Change::HoldersAsked, "A core is asked for lines that its caches have evicted, too. Broken: only for those that they hold.", "ASAP V-F"), &[EVICTIONS], &[T]),
    // asap-rp.
    mutant("asap-rp/releases-do-not-depend", "asap-rp", D(Change::Given(|_, _| true), "A store that a release marks carries a dependence. Broken: none.", "ASAP IV-A and IV-E"), &TWO_CONTROLLERS, &[T]),
    mutant("asap-rp/lines-do-not-depend", "asap-rp", B(Rule::LinesDepend), &TWO_CONTROLLERS, &[R]),
    mutant("asap-rp/nothing-undone", "asap-rp", D(Change::NothingUndone, "Memory can be brought back from what came early: an undo record is made. Broken: none is.", "ASAP IV-D and Table I"), &TWO_CONTROLLERS, &[E, T]),
    // asap-strand.
    mutant("asap-strand/barrier-passes", "asap-strand", D(Change::Primitive(Primitive::PersistBarrier, Admission::Pass), "A persist barrier orders its strand. Broken: it does nothing.", SW), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-strand/ofence-passes", "asap-strand", D(Change::Primitive(Primitive::Ofence, Admission::Pass), "An ofence orders all strands. Broken: it does nothing.", ASAP), &TWO_CONTROLLERS, &[E, T]),
    mutant("asap-strand/conflicts-concurrent", "asap-strand", B(Rule::StrandsOfALineInOrder), &TWO_CONTROLLERS, &[T]),
    mutant("asap-strand/nothing-undone", "asap-strand", D(Change::NothingUndone, "Memory can be brought back from what came early: an undo record is made. Broken: none is.", "ASAP IV-D and Table I"), &TWO_CONTROLLERS, &[E, T]),
    // pmem-spec.
    mutant("pmem-spec/no-log", "pmem-spec", D(Change::Lowering(|l| l.log = false), "A region of several stores is logged. Broken: it is not.", SPEC), &[], &[E]),
    mutant("pmem-spec/dfence-passes", "pmem-spec", D(Change::Primitive(Primitive::Dfence, Admission::Pass), "A dfence waits until everything before it is durable. Broken: for nothing.", SPEC), &[], &[E, T, R]),
    mutant("pmem-spec/evictions-written-back", "pmem-spec", D(Change::EvictionsWrittenBack(Level::Llc), "Persistent lines that leave the LLC are dropped. Broken: they are written back, past the paths.", SPEC), &[EVICTIONS], &[T, R]),
    mutant("pmem-spec/path-out-of-order", "pmem-spec", B(Rule::PathInOrder), &TWO_CONTROLLERS, &[T, R]),
    mutant("pmem-spec/stale-load-unnoticed", "pmem-spec", B(Rule::StaleLoadFound), &[], &[R]),
    mutant("pmem-spec/buffer-forgets", "pmem-spec", B(Rule::BufferHoldsWindow), &[], &[R]),
    mutant("pmem-spec/dfence-awaits-own-path", "pmem-spec", B(Rule::DurableWaitsWindow), &[], &[T]),
    mutant("pmem-spec/not-validated", "pmem-spec", B(Rule::ValidateBeforeCommit), &[], &[P]),
    mutant("pmem-spec/abort-not-delivered", "pmem-spec", B(Rule::AbortDelivered), &STALE, &[E]).shows(FORBIDDEN),
    mutant("pmem-spec/word-not-undone", "pmem-spec", B(Rule::EveryWordUndone), &STALE, &[E]),
    // sp and sp-adr.
    mutant("sp/no-pcommit", "sp", D(Change::Lowering(|l| { l.log_before_update = &[Primitive::Sfence]; l.durable = &[Primitive::Sfence]; }), "Without ADR an accepted write is not durable before a pcommit. Broken: sync barriers have none.", SP), &[NO_ADR], &[E, T]),
    mutant("sp/pcommit-first-answer", "sp", B(Rule::SpAwaitsEveryController), &[NO_ADR, TWO_CONTROLLERS[0], TWO_CONTROLLERS[1]], &[E, T]),
    mutant("sp/stores-leave-early", "sp", B(Rule::SpStoresWaitForCommit), &[], &[P, R]),
    mutant("sp/pcommit-not-awaited", "sp", B(Rule::SpAwaitsPcommit), &[NO_ADR], &[E, T, R]),
    mutant("sp/void-stores-stay", "sp", B(Rule::SpRollBackVoidsStores), &[], &[P]).shows(Shows::Refused("Stuck")),
    mutant("sp/roll-back-resets-filter", "sp", B(Rule::SpRollBackKeepsFilter), &[], &[P]),
    mutant("sp/holders-asked", "sp", B(Rule::SpTableOutlivesCaches), &[ALWAYS_EVICTS], &[P]),
    mutant("sp/announcements-stay", "sp", B(Rule::RollBackTakesNotesBack), &[], &[P, E]),
    mutant("sp-adr/stores-leave-early", "sp-adr", B(Rule::SpStoresWaitForCommit), &[], &[P]),
    mutant("sp-adr/announcements-stay", "sp-adr", B(Rule::RollBackTakesNotesBack), &[], &[P, E]),
    mutant("sp-adr/void-stores-stay", "sp-adr", B(Rule::SpRollBackVoidsStores), &[], &[P]).shows(Shows::Refused("Stuck")),
    mutant("sp-adr/locked-passes-buffer", "sp-adr", B(Rule::SpLockedAwaitsBuffer), &[], &[R]).about_seed(100_901),
    mutant("sp-adr/loads-not-in-table", "sp-adr", B(Rule::SpTableHoldsLoads), &[], &[P]),
    mutant("sp-adr/roll-back-resets-filter", "sp-adr", B(Rule::SpRollBackKeepsFilter), &[], &[P]),
    // Tasks that share a thread.
    mutant("tasks/one-log", "cosplay", B(Rule::OwnLog), &[], &[E]),
    mutant("tasks/context-not-set-again", "cosplay", B(Rule::ContextSetAgain), &[], &[E]),
    mutant("tasks/fence-left-out-after-yield", "cosplay", B(Rule::FenceAfterYield), &[], &[E]),
    mutant("tasks/round-not-fenced", "sbatch", B(Rule::RoundFenced), &[], &[E]),
    mutant("tasks/round-fenced-early", "sbatch", B(Rule::FenceEndsRound), &[], &[E]),
    // The bounds promise no recovery: only their models can tell.
    mutant("non-atomic/durable-unfenced", "non-atomic", D(Change::Lowering(|l| l.durable = &[]), "What is acknowledged is durable. Broken: no fence before the acknowledgement.", "StrandWeaver VI-A"), &[], &[T]),
    mutant("non-atomic/sfence-awaits-stores", "non-atomic", D(Change::FlushAcknowledgedAtDeparture, "An sfence waits for flushes. Broken: only for stores.", "StrandWeaver VI-A"), &[], &[P, T]),
    mutant("unordered/writes-overtake", "unordered", B(Rule::WritesOfALineInOrder), &[], &[P]),
    mutant("volatile/locked-not-atomic", "volatile", B(Rule::LockedIsAtomic), &[], &[P, T]),
    mutant("volatile/forwards-oldest", "volatile", B(Rule::ForwardsYoungest), &[], &[P, R]),
    // x86: the machine's flushes and writes.
    mutant("x86/flush-before-stores", "x86", B(Rule::FlushBehindStores), &[], &[E, P, T]),
    mutant("x86/clean-flush-waits-not", "x86", B(Rule::CleanFlushWaitsForFlight), &[], &[E, T]),
    mutant("x86/writes-overtake", "x86", B(Rule::WritesOfALineInOrder), &[EVICTIONS, SLOW_FLUSHES], &[E, T]),
    mutant("x86/waiting-writes-overtake", "x86", B(Rule::WaitingWritesInOrder), &[SMALL_QUEUE, EVICTIONS, SLOW_FLUSHES], &[E, R]),
    mutant("x86/coalescing-keeps-older", "x86", B(Rule::CoalescingTakesNewer), &[], &[E, R]),
    mutant("x86/coalescing-after-issue", "x86", B(Rule::CoalescingBeforeIssue), &[], &[E, P, T]),
    mutant("x86/adr-loses-queue", "x86", B(Rule::AdrSavesQueue), &[], &[E, P, T]),
    mutant("x86/adr-loses-unissued", "x86", B(Rule::AdrSavesUnissued), &[], &[E, P, T]),
    mutant("x86/acknowledged-before-backend", "x86", B(Rule::AcknowledgedAfterBackend), &[BACKEND], &[E, P, T]),
    mutant("x86/acknowledged-before-acceptance", "x86", B(Rule::AcknowledgedAfterAcceptance), &[SMALL_QUEUE], &[E, P, T]),
    mutant("x86/clflush-lets-queue-go", "x86", B(Rule::ClflushBlocksQueue), &[], &[P, T]),
    mutant("x86/clflushopt-drops", "x86", B(Rule::ClflushoptWritesBack), &[], &[P, T]),
    mutant("x86/flush-own-core", "x86", B(Rule::FlushFindsOtherCores), &[], &[P, T]),
    mutant("x86/flush-private", "x86", B(Rule::FlushFindsSharedLevel), &SMALL_L1, &[E, P, T]),
    mutant("x86/combined-not-sent", "x86", B(Rule::FenceSendsCombined), &[], &[P, T]),
    mutant("x86/combined-not-awaited", "x86", B(Rule::FenceAwaitsCombined), &[], &[P, T]),
    mutant("x86/combining-zeroes-rest", "x86", B(Rule::CombiningKeepsRest), &[], &[P, T]),
    mutant("x86/fence-leaves-one", "x86", B(Rule::FenceWaitsForAll), &[], &[E, P, T]),
    mutant("x86/full-buffer-drops-flush", "x86", B(Rule::FullBufferKeepsFlush), &[ONE_FLUSH], &[E, P, T]),
    mutant("x86/same-line-flush-merged", "x86", B(Rule::SameLineFlushWaits), &[], &[P, R]),
    // x86: the machine's caches and cores. Programs that follow old pointers may never end: those that break a load are
    // not explored.
    mutant("x86/back-invalidation-drops", "x86", B(Rule::BackInvalidationWritesBack), &[], &[E, T]),
    mutant("x86/taken-line-clean", "x86", B(Rule::TakenLineStaysDirty), &[], &[P, T]),
    mutant("x86/read-back-clean", "x86", B(Rule::ReadBackStaysDirty), &[], &[T, R]),
    mutant("x86/owned-back-clean", "x86", B(Rule::OwnedBackStaysDirty), &[], &[T, R]),
    mutant("x86/shared-line-clean", "x86", B(Rule::SharedLineStaysDirty), &[], &[P, T, R]),
    mutant("x86/second-level-clean", "x86", B(Rule::SecondLevelTakesDirty), &[], &[T, R]),
    mutant("x86/second-level-victim-clean", "x86", B(Rule::SecondLevelVictimDirty), &[], &[T, R]),
    mutant("x86/second-level-not-flushed", "x86", B(Rule::FlushFindsSecondLevel), &[], &[T, R]),
    mutant("x86/reader-forgotten", "x86", B(Rule::ReaderIsKnown), &[], &[T, R]),
    mutant("strandweaver/held-line-clean", "strandweaver", B(Rule::HeldLineJoinsDirty), &[], &[T, R]),
    mutant("x86/stores-out-of-order", "x86", B(Rule::StoresInOrder), &[NO_PREFETCH], &[P, R]),
    mutant("x86/forwards-oldest", "x86", B(Rule::ForwardsYoungest), &[], &[P, R]),
    mutant("x86/load-misses-queue", "x86", B(Rule::LoadSeesOwnStores), &[], &[P, T]),
    mutant("x86/locked-before-stores", "x86", B(Rule::LockedDrainsQueue), &[], &[R]),
    mutant("x86/locked-not-atomic", "x86", B(Rule::LockedIsAtomic), &[], &[E, P, T]),
    mutant("x86/same-line-out-of-order", "x86", B(Rule::SameLineInOrder), &[WEAK], &[E, P, T]),
    // The undo log and its recovery.
    mutant("log/line-not-logged", "x86", B(Rule::EveryLineLogged), &[], &[E]),
    mutant("log/word-not-logged", "x86", B(Rule::EveryWordLogged), &[], &[E]),
    mutant("log/old-trailer-lost", "x86", B(Rule::RecordKeepsTrailer), &[], &[E]),
    mutant("log/records-not-flushed", "x86", B(Rule::RecordsFlushed), &[], &[E]),
    mutant("log/records-flushed-late", "x86", B(Rule::FlushBeforeFence), &[], &[E]),
    mutant("log/trailer-first", "x86", B(Rule::TrailerLast), &[], &[E]),
    mutant("log/trailer-missing", "x86", B(Rule::EveryTrailerWritten), &[], &[E]),
    mutant("log/update-not-flushed", "x86", B(Rule::EveryUpdateFlushed), &[], &[E]),
    mutant("log/released-early", "x86", B(Rule::DurableBeforeRelease), &[], &[E]),
    mutant("log/clock-stands-still", "x86", B(Rule::ClockPassesTrailers), &[], &[E]),
    mutant("log/one-line-decides", "x86", B(Rule::EveryLineDecides), &[], &[E]),
    mutant("log/any-step-decides", "x86", B(Rule::LastStepDecides), &[], &[E]),
    mutant("log/older-regions-undone", "x86", B(Rule::OlderRegionsStand), &[], &[E]),
    mutant("log/one-record-undone", "x86", B(Rule::EveryRecordUndone), &[], &[E]),
    mutant("log/oldest-undone-first", "x86", B(Rule::NewestUndoneFirst), &[], &[P]),
    mutant("log/one-thread-recovered", "x86", B(Rule::EveryThreadRecovered), &[], &[E]),
    // The logs of the language-level models.
    mutant("txn/entries-not-flushed", "x86", B(Rule::EntriesFlushed), &BATCHES, &[E]),
    mutant("txn/lines-not-flushed", "x86", B(Rule::LinesFlushedAtEnd), &BATCHES, &[E]),
    mutant("txn/marker-not-awaited", "x86", B(Rule::MarkerBeforeInvalidation), &BATCHES, &[E]),
    mutant("txn/head-first", "x86", B(Rule::HeadLast), &BATCHES, &[E]),
    mutant("txn/commit-not-finished", "x86", B(Rule::CommitFinished), &BATCHES, &[E]),
    mutant("atlas/oldest-undone-first", "x86", B(Rule::EntriesUndoneInReverse), &BATCHES, &[E]),
    mutant("atlas/clock-stands-still", "x86", B(Rule::ClockPassesStamps), &BATCHES, &[E]),
    mutant("atlas/commit-alone", "x86", B(Rule::CommitAwaitsDependences), &BATCHES, &[E]),
    mutant("redo/group-not-awaited", "x86", B(Rule::GroupDurable), &BATCHES, &[E]),
    mutant("redo/part-replayed", "x86", B(Rule::ReplayOfWholeRegions), &BATCHES, &[E]),
    mutant("redo/dependences-ignored", "x86", B(Rule::ReplayAwaitsDependences), &BATCHES, &[P]),
    // The write-ahead log with a logged bit.
    mutant("log-p-sf/records-not-flushed", "x86", B(Rule::WalRecordsFlushed), &[], &[E]),
    mutant("log-p-sf/bit-before-records", "x86", B(Rule::WalRecordsBeforeBit), &[], &[E]),
    mutant("log-p-sf/updates-before-bit", "x86", B(Rule::WalBitBeforeUpdates), &[], &[E]),
    mutant("log-p-sf/cleared-before-updates", "x86", B(Rule::WalUpdatesBeforeClear), &[], &[E]),
    mutant("log-p-sf/bit-ignored", "x86", B(Rule::WalBitDecides), &[], &[E]),
    mutant("log-p-sf/one-record-forgotten", "x86", B(Rule::WalEveryRecordUndone), &[], &[E]),
    mutant("log-p-sf/oldest-undone-first", "x86", B(Rule::WalNewestUndoneFirst), &[], &[P]),
];
