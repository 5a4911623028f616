//! What a mutant is: the rule that it breaks, where the rule is written down, and what notices.

pub use super::altered::Change;
use crate::planted::FoundFault;
pub use strandline_crash::FaultKind;
pub use strandline_design::{Access, Admission, Level, Until};
pub use strandline_isa::Primitive;
use strandline_rules::{Breakable, Of, Rule};
use strandline_workloads::describe;

/// What is broken.
#[derive(Clone, Copy)]
pub enum Broken {
    /// The design: its changed answer, the rule in words, and the rule's source.
    Design(Change, &'static str, &'static str),
    /// A rule of the machine, of a part that designs share, or of a log.
    Rule(Breakable),
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
    Reported(FaultKind),
    /// The machine refuses to go on and says this.
    Refused(&'static str),
}

impl Shows {
    /// Whether it was found so.
    pub fn is(self, found: &FoundFault) -> bool {
        match self {
            Shows::Reported(kind) => found.kind == Some(kind),
            Shows::Refused(words) => found.kind.is_none() && found.text.contains(words),
        }
    }

    /// As a reader knows it.
    pub fn name(self) -> &'static str {
        match self {
            Shows::Reported(FaultKind::Forbidden) => "forbidden",
            Shows::Reported(FaultKind::Unrecovered) => "not recovered",
            Shows::Reported(FaultKind::Stuck) => "nothing goes on",
            Shows::Reported(FaultKind::Starved) => "no task ends",
            Shows::Refused(_) => "refused by the machine",
        }
    }
}

/// Every state recovers that exploration meets; the model forbids one of them.
pub const FORBIDDEN: Shows = Shows::Reported(FaultKind::Forbidden);

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
    /// The runtime under which the rule matters, where it is not the undo log.
    pub runtime: Option<&'static str>,
    /// What must be reported of it where that is not what its catchers look for.
    shows: Option<Shows>,
    /// The seed of the first random program that is tried: most programs do not show it.
    pub first_seed: u64,
    /// Whether runs of more tasks show it, and the others do not.
    pub is_late: bool,
}

impl Mutant {
    /// The rule, and what happens when it is broken.
    pub fn rule(&self) -> &'static str {
        match self.broken {
            Broken::Design(_, rule, _) => rule,
            Broken::Rule(rule) => rule.words,
        }
    }

    /// Whether it is a log's or its recovery's, or of how tasks share a thread.
    pub fn is_of_log(&self) -> bool {
        matches!(self.broken, Broken::Rule(rule) if rule.of == Of::Log)
    }

    /// Whether a core's loads do not get what it has stored.
    pub fn is_of_own_stores(&self) -> bool {
        let rules = [Rule::ForwardsYoungest, Rule::LoadSeesOwnStores].map(Rule::any);
        matches!(self.broken, Broken::Rule(rule) if rules.contains(&rule))
    }

    /// What a catcher must report: a mutant that stops for another reason has not been caught.
    pub fn must_show(&self, catcher: Catcher) -> Shows {
        let own = match catcher {
            Catcher::Exploration => FaultKind::Unrecovered,
            Catcher::Program if self.is_of_log() => FaultKind::Unrecovered,
            Catcher::Program | Catcher::Litmus | Catcher::Random => FaultKind::Forbidden,
        };
        self.shows.unwrap_or(Shows::Reported(own))
    }

    /// This mutant, which shows this.
    pub const fn shows(self, shows: Shows) -> Mutant {
        Mutant {
            shows: Some(shows),
            ..self
        }
    }

    /// This mutant, whose rule matters under this runtime.
    pub const fn under(self, runtime: &'static str) -> Mutant {
        Mutant {
            runtime: Some(runtime),
            ..self
        }
    }

    /// This mutant, which shows in runs of more tasks only.
    pub const fn late(self) -> Mutant {
        Mutant { is_late: true, ..self }
    }

    /// This mutant, which a random program of about this seed shows.
    pub const fn about_seed(self, seed: u64) -> Mutant {
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
            Broken::Rule(rule) => rule.source,
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
        runtime: None,
        shows: None,
        first_seed: 1,
        is_late: false,
    }
}

pub const WEAK: &str = "machine.core.consistency=weak";
pub const NO_ADR: &str = "machine.controllers.adr=false";
pub const TWO_CONTROLLERS: [&str; 2] = ["machine.controllers.count=2", "machine.controllers.interleave_bytes=64"];
/// Numbers of epochs wrap after 16.
pub const NUMBERS_WRAP: [&str; 3] = [TWO_CONTROLLERS[0], TWO_CONTROLLERS[1], "design.number_bits=4"];
/// The same, with room for more epochs than there are numbers.
pub const FEW_NUMBERS: [&str; 5] = [
    NUMBERS_WRAP[0],
    NUMBERS_WRAP[1],
    NUMBERS_WRAP[2],
    "design.entries=32",
    "design.epochs=32",
];
pub const LOCKS_ORDER: &str = "machine.core.lock_orders_flushes=true";
pub const QUEUED_FENCES: &str = "machine.core.fences_retire=true";
pub const ONE_FLUSH: &str = "machine.core.writeback_buffer_entries=1";
pub const BACKEND: &str = "machine.controllers.bmo_latency=1000";
pub const SMALL_QUEUE: &str = "machine.controllers.wpq_entries=1";
pub const NO_PREFETCH: &str = "machine.core.store_prefetch=false";
pub const EVICTIONS: &str = "machine.simulation.evict_one_in=4";
pub const ALWAYS_EVICTS: &str = "machine.simulation.evict_one_in=1";
pub const SLOW_FLUSHES: &str = "machine.simulation.jitter=5000";
/// Two hosts, behind links.
pub const HOSTS: [&str; 2] = ["machine.hosts=2", "machine.cxl.link_latency=100"];
pub const SMALL_HOSTS: [&str; 3] = ["machine.hosts=2", "machine.cxl.link_latency=100", SMALL_QUEUE];
/// The first of two hosts fails while the acknowledgement of its first flush is on its way.
pub const FAILING_HOST: [&str; 4] = [
    "machine.hosts=2",
    "machine.cxl.link_latency=2000",
    "machine.simulation.fails=h0",
    "machine.simulation.fails_at=8000",
];
pub const FAILING_ALIKE: [&str; 5] = [
    FAILING_HOST[0],
    FAILING_HOST[1],
    FAILING_HOST[2],
    FAILING_HOST[3],
    "machine.cxl.coherence=hardware",
];
pub const BATCHES: [&str; 2] = ["runtime.log_batch=3", "runtime.log_group=3"];
/// Records of one epoch stand beside one another.
pub const MANY_RECORDS: [&str; 4] = [
    "machine.controllers.count=2",
    "design.table=32",
    "design.entries=32",
    "design.epochs=32",
];
pub const ONE_RECORD: [&str; 3] = [
    "machine.controllers.count=2",
    "machine.controllers.interleave_bytes=64",
    "design.table=1",
];
/// Writes go as soon as they enter their buffer, so that two of one epoch and line can be on their way.
pub const ONE_RECORD_AT_ONCE: [&str; 4] = [ONE_RECORD[0], ONE_RECORD[1], ONE_RECORD[2], "design.gather=1"];
pub const FEW_CONTEXTS: &str = "design.contexts=2";
pub const SMALL_L1: [&str; 3] = ["machine.l2.bytes=0", "machine.l1.bytes=512", "machine.l1.ways=1"];

/// Regions of several operations, whose lines leave the LLC soon.
pub const STALE: [&str; 6] = [
    "workload.operations=3",
    "machine.l2.bytes=0",
    "machine.l1.bytes=512",
    "machine.l1.ways=2",
    "machine.llc.bytes=2048",
    "machine.llc.ways=4",
];

pub use Broken::{Design as D, Rule as B};
pub use Catcher::{Exploration as E, Litmus as T, Program as P, Random as R};

pub const SM: &str = "COSPlay 2.1; StrandWeaver II-B";
pub const SO: &str = "Delegated Persist Ordering II-A";
pub const CVAP: &str = "Delegated Persist Ordering II-C";
pub const SW: &str = "StrandWeaver III";
pub const HOPS: &str = "StrandWeaver VI-A; ASAP IV-A";
pub const ASAP: &str = "ASAP IV-A";
pub const CP4: &str = "COSPlay 4.1";
pub const SPEC: &str = "PMEM-Spec (ASPLOS 2021); designs/src/pmem_spec";
pub const DPO: &str = "Delegated Persist Ordering III and IV; designs/src/dpo";
pub const LB: &str = "LB++ (MICRO 2015); designs/src/lb_pp";
pub const SP: &str = "Speculative Persistence 2.2 and 4.2; designs/src/speculative";
pub const PCS: &str = "Persistent CXL Switches (arXiv 2503.04991); designs/src/switch";
pub const PX86: &str = "Intel SDM; Px86 (Raad et al., POPL 2020)";
