//! ASAP: persist buffers that flush eagerly, and memory that can be undone, with epoch (`asap-ep`),
//! release (`asap-rp`) or strand persistency (`asap-strand`); and `asap-frontier`, ours, whose commits are pipelined.
//!
//! What: as HOPS, but buffers flush eagerly: no write waits for an epoch, and a write whose epoch
//! is not safe is marked as early. The controllers write early ones to memory, too. A recovery
//! table keeps the values that power failure restores (undo records), and values that arrive behind
//! newer ones of their line (delay records). An epoch that is safe and complete commits: the
//! controllers that got its early writes free its records. It is durable when they have
//! acknowledged that. Then the cores with epochs that depend on it are notified. A full table
//! refuses the write (NACK), and the core flushes conservatively until that epoch is durable. The
//! private caches evict a line when the writes buffered by then are acknowledged, and the LLC when
//! no write of it is refused.
//! Source: ASAP (HPCA 2022), sections IV and V. `asap-strand` is named there as possible (IV-A):
//! persist barriers order within a strand, an `ofence` orders all strands, two strands that write
//! one line are ordered, and only such conflicts make epochs of different cores depend on one
//! another.
//! Beyond the paper's text: a safe flush replaces the records that its own epoch created for the
//! line before it was safe. A controller that has refused a write refuses early ones of its line,
//! so that they stay in order. With release persistency a write to a line that another core has
//! written and that is not durable is a dependence, since flushes are of whole lines. A request for
//! a line waits for room in the epoch tables of both cores. The directory remembers the last writer
//! of a line, as HOPS's does, since a line that its writer has evicted may be flushed and not yet
//! durable. An early write is accepted when its record is created, and stays in the write queue
//! until its old value has been read.
//! `asap-frontier-ep`, `-rp`, `-strand` (ours; docs/asap-frontier.md has the protocol and the argument): an epoch commits as soon
//! as it is complete, its dependences are resolved and the commits of its core's epochs before it have been sent. Each commit
//! and each safe flush carries the core's frontier, the epochs that are proved so. Controllers keep the largest frontier that they
//! have heard of each core, and recovery commits what any of them knows to be proved. So a `dfence` waits for one answer;
//! dependences wait for all.
//! Simplified: instructions of other ISAs as in HOPS. The value of a line that misses in every
//! cache comes from its controller even if a persist buffer holds a newer one, which the simulated
//! load sees.

mod commit;
mod controllers;
mod frontiers;
mod own;
mod recovery;
mod recovery_table;
mod storage;
mod variants;

pub use variants::{asap_ep, asap_frontier_ep, asap_frontier_rp, asap_frontier_strand, asap_rp, asap_strand};

use super::buffers::{self, PersistBuffers, EPOCH_ENTRIES, GATHER, GATHER_TIME};
use super::persistency::Persistency;
use super::rules::Rule;
use crate::parts::epochs::{admission, Commits, EpochId, EpochTable, Numbers, WINDOW};
use crate::parts::persist_buffer::{Flush, Sent, BUFFER_ENTRIES};
use controllers::Controllers;
use own::{Gate, Message, Own, Tag};
use storage::{Frontiers, Storage};
use strandline_design::{
    About, Acceptance, Access, Admission, ControllerId, Counter, Counters, Departure, Design, Eviction, Held, Level,
    Ordering, OwnCounts, Services, Sizes, Snoop, Store, Supply, Until, Wants, Write, WriteRequest,
};
use strandline_isa::{CoreId, Line, LineData, Lowering, Primitive};
use strandline_kernel::{Cycles, Param, Params};
use strandline_rules::kept;

/// `--set design.table=N`: ASAP, Table II.
const TABLE_ENTRIES: Param = Param {
    name: "table",
    default: 32,
    min: 1,
    max: 4096,
    help: "undo and delay records of a controller's recovery table",
    source: "ASAP, Table II",
    words: &[],
};

/// `--set design.number_bits=N`: ours.
const NUMBER_BITS: Param = Param {
    name: "number_bits",
    default: 32,
    min: 8,
    max: 63,
    help: "bits of an epoch's number in messages, records and frontiers; numbers wrap",
    source: "ours: docs/asap-frontier.md",
    words: &[],
};

/// The same where a core's epochs are in one order, so that a frontier is a number alone.
const ORDERED_NUMBER_BITS: Param = Param { min: 4, ..NUMBER_BITS };

/// `--set design.commit_latency=N`: the paper has no latency of a commit.
const COMMIT_LATENCY: Param = Param {
    name: "commit_latency",
    default: 0,
    min: 0,
    max: 1_000_000,
    help: "cycles of a commit message and its answer; 0 (write): as of a write and its acknowledgement",
    source: "not in the paper: as of a write; ASAP's public artifact has 60 ns for both",
    words: &["write"],
};

/// `--set design.as_artifact=WORD`: what ASAP's public code does and its text does not.
const AS_ARTIFACT: Param = Param {
    name: "as_artifact",
    default: 0,
    min: 0,
    max: 3,
    help: "as the public code: commits go without waiting for answers (unsafe: no crash test takes it), undo records read nothing, or both",
    source: "ASAP's public artifact; not in the paper",
    words: &["none", "commits", "reads", "both"],
};

const PARAMS: [Param; 6] = [
    BUFFER_ENTRIES,
    GATHER,
    GATHER_TIME,
    EPOCH_ENTRIES,
    TABLE_ENTRIES,
    COMMIT_LATENCY,
];

/// Those, and one more.
const fn with(last: Param) -> [Param; 7] {
    let [a, b, c, d, e, f] = PARAMS;
    [a, b, c, d, e, f, last]
}

/// Had such a flush waited for its epoch, at most as long as it took, its epoch would have paid no commit for it.
const SAFE_IN_FLIGHT: Counter = Counter::sum(
    "early_flushes_safe_in_flight",
    "flushes",
    "Early flushes whose epoch turned safe before they were acknowledged: they pay for a flush and for a commit.",
);

/// Persist buffers, flushed eagerly, and controllers that undo what was flushed too early.
#[derive(Clone, Debug)]
pub struct Asap {
    about: About,
    buffers: PersistBuffers,
    controllers: Controllers,
    /// Epochs with writes that were refused: while a core has any, it flushes conservatively (ASAP V-D).
    refused: Vec<EpochId>,
    /// Writes flushed early so far.
    early_flushes: u64,
    /// Of them, those whose epoch turned safe before they were acknowledged.
    safe_in_flight: u64,
    /// Whether an undo record's value is read from the media.
    undo_reads: bool,
    /// Of a commit and its answer; zero: drawn as a write's.
    commit_latency: Cycles,
    /// For the order of crash states: what the frontier committed that came with the last write, and then the write.
    carried: Vec<(Line, LineData)>,
}

impl Asap {
    fn new(about: About, persistency: Persistency, commits: Commits) -> Asap {
        Asap {
            about,
            buffers: PersistBuffers::new(persistency, Some(EPOCH_ENTRIES.default), commits),
            controllers: Controllers::new(TABLE_ENTRIES.default as usize, Numbers::new(NUMBER_BITS.default)),
            refused: Vec::new(),
            early_flushes: 0,
            safe_in_flight: 0,
            undo_reads: true,
            commit_latency: Cycles(COMMIT_LATENCY.default),
            carried: Vec::new(),
        }
    }

    /// Does what the public code does in place of the paper's text, by the value of [`AS_ARTIFACT`].
    fn follow_artifact(&mut self, which: u64) {
        let [sends, reads_nothing] = [which & 1 != 0, which & 2 != 0];
        self.buffers.commit(if sends { Commits::Sent } else { Commits::InTurn });
        self.undo_reads = !reads_nothing;
        self.about.promises_recovery = !sends;
    }

    /// Whether commits are pipelined (`asap-frontier`).
    fn is_pipelined(&self) -> bool {
        self.buffers.commits() == Commits::Pipelined
    }

    fn recovery_storage(&self) -> Storage {
        let more = match self.buffers.persistency() {
            Persistency::Strand => WINDOW,
            _ => 0,
        };
        let number = self.controllers.numbers().bits();
        Storage {
            records: self.controllers.entries() as u64,
            frontiers: self.is_pipelined().then_some(Frontiers { number, more }),
        }
    }

    /// Whether a core flushes before its epochs are safe.
    fn is_eager(&self, core: CoreId) -> bool {
        self.refused.iter().all(|epoch| epoch.core != core)
    }

    /// Flushes and commits what is allowed, in buffers that have changed.
    #[inline(always)]
    fn advance(&mut self, hw: &mut dyn Services<Own>) {
        if self.buffers.have_changed() {
            self.advance_changed(hw);
        }
    }

    fn advance_changed(&mut self, hw: &mut dyn Services<Own>) {
        while let Some(core) = self.buffers.next_changed() {
            loop {
                self.flush(hw, core);
                let Some(commit) = self.buffers.start_commit(core) else {
                    break;
                };
                self.commit(hw, commit);
            }
            let eager = self.is_eager(core);
            self.buffers.release_fence(hw, core, eager);
        }
    }

    /// Flushes a core's buffer: all of it, or after a NACK only what is safe (ASAP IV-C).
    fn flush(&mut self, hw: &mut dyn Services<Own>, core: CoreId) {
        let eager = self.is_eager(core);
        while let Some(write) = self.buffers.flush(hw, core, eager, tag) {
            if write.tag.flush == Flush::Early {
                let controller = hw.controller_of(write.line);
                self.buffers.epochs(core).note_early(write.tag.epoch, controller);
                self.early_flushes += 1;
            }
        }
    }
}

/// The tag of a write. A safe one carries its core's frontier, if commits are pipelined.
fn tag(epochs: &EpochTable, sent: Sent) -> Tag {
    let carries = kept(Rule::SafeFlushCarriesFrontier, sent.flush == Flush::Safe, || false);
    Tag::Entry(sent, carries.then(|| epochs.proved()))
}

impl Design for Asap {
    type Own = Own;

    hooks_of_buffers!();

    fn params(&self) -> &'static [Param] {
        match (self.buffers.commits(), self.buffers.persistency()) {
            (Commits::InTurn | Commits::Sent, _) => &const { with(AS_ARTIFACT) },
            (Commits::Pipelined, Persistency::Strand) => &const { with(NUMBER_BITS) },
            (Commits::Pipelined, _) => &const { with(ORDERED_NUMBER_BITS) },
        }
    }

    fn set(&mut self, params: &Params) {
        self.buffers.set(params);
        let mut numbers = self.controllers.numbers();
        if !self.is_pipelined() {
            self.follow_artifact(params.get(AS_ARTIFACT.name));
        } else {
            numbers = Numbers::new(params.get(NUMBER_BITS.name));
            self.buffers.keep_within(numbers.period());
        }
        self.controllers = Controllers::new(params.get(TABLE_ENTRIES.name) as usize, numbers);
        self.commit_latency = Cycles(params.get(COMMIT_LATENCY.name));
    }

    fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        self.recovery_storage().parts(self.buffers.settings(), machine)
    }

    fn buffers(&self, machine: &Sizes) -> Vec<Held> {
        self.recovery_storage().held(self.buffers.settings(), machine)
    }

    /// A write of a buffer, or the value of a delay record, is accepted by its controller.
    fn acknowledged(&mut self, hw: &mut dyn Services<Own>, core: CoreId, tag: Tag) {
        match tag {
            Tag::Delayed(_) if self.is_pipelined() => {}
            Tag::Delayed(epoch) => self.commit_acknowledged(hw, epoch),
            Tag::Entry(sent, proved) => {
                let is_safe = self.buffers.epochs(core).is_safe(sent.epoch);
                self.safe_in_flight += u64::from(sent.flush == Flush::Early && is_safe);
                self.buffers.acknowledged(hw, core, sent.id);
                if let Some(proved) = proved.filter(|_| self.is_pipelined()) {
                    self.answered(core, proved);
                }
            }
        }
        self.advance(hw);
    }

    /// The buffers persist the line. The private caches evict it when the present content of their
    /// buffer is acknowledged, and the LLC when no write of it waits to be repeated (ASAP V-F).
    fn evicted(&mut self, hw: &mut dyn Services<Own>, core: CoreId, level: Level, line: Line) -> Eviction<Gate> {
        let controller = hw.controller_of(line);
        let gate = match level {
            Level::Private => self.buffers.drain(core).map(Gate::from),
            Level::Llc => self.controllers.await_refused(controller, line),
        };
        self.advance(hw);
        match (gate, level) {
            (Some(gate), _) => Eviction::Hold(Until::Open(gate)),
            (None, Level::Private) => Eviction::WriteBack,
            (None, Level::Llc) => Eviction::Drop,
        }
    }

    /// A controller that holds a delay record of the line replies without its media, since only the
    /// record may hold the newest value.
    fn missed(&mut self, hw: &mut dyn Services<Own>, _: CoreId, line: Line, _: Access) -> Supply<Gate> {
        match self.controllers.delays(hw.controller_of(line), line) {
            true => Supply::Design(hw.draw_controller_delay()),
            false => Supply::Memory,
        }
    }

    fn arrived(
        &mut self,
        hw: &mut dyn Services<Own>,
        controller: ControllerId,
        write: &WriteRequest<Tag>,
    ) -> Acceptance<Gate> {
        self.arrives(hw, controller, write)
    }

    /// The value for an undo record is read before its line is written to the media.
    fn may_issue(&self, controller: ControllerId, write: &WriteRequest<Tag>) -> bool {
        self.controllers.may_write(controller, write.line)
    }

    fn message(&mut self, hw: &mut dyn Services<Own>, message: Message) {
        self.take_message(hw, message);
        self.advance(hw);
    }

    fn own_counters(&self) -> &'static [Counter] {
        &[SAFE_IN_FLIGHT]
    }

    fn counters(&self, now: Cycles) -> Counters {
        let (bloom_lookups, bloom_false_positives) = self.controllers.filter_counts();
        let records = self.controllers.counts;
        Counters {
            early_flushes: Some(self.early_flushes),
            undo_records: Some(records.undo),
            delay_records: Some(records.delay),
            nacks: Some(records.refused),
            bloom_lookups: Some(bloom_lookups),
            bloom_false_positives: Some(bloom_false_positives),
            table_occupancy_max: Some(records.most as u64),
            own: OwnCounts(vec![(SAFE_IN_FLIGHT, self.safe_in_flight)]),
            ..self.buffers.counters(now)
        }
    }

    fn waits(&self) -> Vec<String> {
        let refused = self.refused.iter();
        let refused =
            refused.map(|epoch| format!("core {}: a write of epoch {} was refused", epoch.core.0, epoch.number));
        self.buffers.waits().into_iter().chain(refused).collect()
    }

    /// Undo records are written to memory (ASAP V-E). Where commits are pipelined the tables are saved, and recovery writes.
    fn power_fails(&self, image: &mut dyn FnMut(Line, LineData)) {
        if self.is_pipelined() {
            return self.controllers.recovered(&self.carried, image);
        }
        for (line, data) in self.controllers.undone() {
            image(line, data);
        }
    }
}
