//! StrandWeaver without its persist queue: flushes, barriers, `NewStrand` and `JoinStrand` wait in
//! the store queue.
//!
//! What: the store queue passes them in program order to the strand buffers, and blocks the stores
//! behind them: until the ongoing strand buffer has room, and behind a `JoinStrand` until
//! everything has completed. A `clwb` on the strand of a persist barrier waits at the head of the
//! store queue until the barrier has completed, and so for the acknowledgements of the flushes before
//! it: this is what the persist queue takes away. Strand buffers, write-backs and other cores'
//! requests are as in `strandweaver`.
//! Source: StrandWeaver (ISCA 2020), section VI-A, "NO-PERSIST-QUEUE"; for the head of the store queue,
//! the results of section VI: the persist queue prevents that `clwb`s of long latency block it.
//! Simplified: nothing; the additions are those of `strandweaver`.

use super::{Gate, Own, Shape, StrandUnit, BUFFERS, ENTRIES};
use crate::parts::per_core;
use strandline_design::{
    About, Access, Admission, Departure, Design, Eviction, Hosts, Level, Needs, Never, Ordering, Services, Sizes,
    Snoop, Until, Wants,
};
use strandline_isa::{CoreId, Flush, Line, Lowering, Primitive};
use strandline_kernel::{Param, Params};

/// `--set design.clwb_waits=store-queue` or `strand-buffer`.
const CLWB_WAITS: Param = Param {
    name: "clwb_waits",
    default: 0,
    min: 0,
    max: 1,
    help:
        "where a clwb waits for the persist barrier before it: at the head of the store queue, or in its strand buffer",
    source: "StrandWeaver VI (results: the persist queue prevents head-of-line blocking in the store queue)",
    words: &["store-queue", "strand-buffer"],
};

/// Strand buffers fed by the store queue.
#[derive(Clone, Debug)]
pub struct NoPersistQueue {
    shape: Shape,
    /// A `clwb` waits in the store queue for the barrier before it.
    blocks: bool,
    cores: Vec<Core>,
}

impl Default for NoPersistQueue {
    fn default() -> Self {
        NoPersistQueue {
            shape: Shape::default(),
            blocks: CLWB_WAITS.default == 0,
            cores: Vec::new(),
        }
    }
}

#[derive(Clone, Debug)]
struct Core {
    unit: StrandUnit,
    blocks: bool,
    newest: u64,
    /// What waits at the head of the store queue.
    waits: Option<Ordering>,
}

impl Core {
    /// Whether a flush or primitive at the head of the store queue may leave it.
    fn may_leave(&self, ordering: Ordering) -> bool {
        match ordering {
            Ordering::Flush(_, Flush::Clwb) => {
                self.unit.buffers.has_room() && !(self.blocks && self.unit.buffers.is_behind_barrier())
            }
            Ordering::Primitive(Primitive::PersistBarrier) => self.unit.buffers.has_room(),
            Ordering::Primitive(Primitive::JoinStrand) => self.unit.buffers.is_empty(),
            _ => true,
        }
    }

    fn departs(&mut self, hw: &mut dyn Services<Own>, ordering: Ordering, context: u8) -> Departure<Gate> {
        if !self.may_leave(ordering) {
            self.waits = Some(ordering);
            return Departure::Wait(Until::Open(Gate::Head(self.unit.core)));
        }
        self.waits = None;
        match ordering {
            Ordering::Flush(line, Flush::Clwb) => {
                self.flush(hw, line, context);
                return Departure::Keep;
            }
            Ordering::Primitive(Primitive::PersistBarrier) => {
                self.newest += 1;
                self.unit.buffers.barrier(self.newest);
                self.advance(hw);
            }
            Ordering::Primitive(Primitive::NewStrand) => self.unit.buffers.begin_strand(),
            _ => {}
        }
        Departure::Go
    }

    fn flush(&mut self, hw: &mut dyn Services<Own>, line: Line, context: u8) {
        self.newest += 1;
        self.unit.announce(self.newest, context);
        self.unit.watch(hw, line);
        self.unit.buffers.flush(self.newest, line);
        self.advance(hw);
    }

    fn advance(&mut self, hw: &mut dyn Services<Own>) {
        self.unit.buffers.retire();
        let issued = self.unit.issue(hw);
        if self.waits.is_some_and(|entry| self.may_leave(entry)) {
            self.waits = None;
            hw.open(Gate::Head(self.unit.core));
        }
        self.unit.release(hw, issued);
    }
}

impl NoPersistQueue {
    fn core(&mut self, core: CoreId) -> &mut Core {
        let (shape, blocks) = (self.shape, self.blocks);
        per_core::state(&mut self.cores, core, |core| Core {
            unit: StrandUnit::new(core, shape),
            blocks,
            newest: 0,
            waits: None,
        })
    }
}

impl Design for NoPersistQueue {
    type Own = Own;

    hooks_of_units!();

    fn about(&self) -> About {
        About {
            name: "no-persist-queue",
            paper: "StrandWeaver VI-A",
            summary: "strand buffers fed by the store queue: what they bring without a persist queue",
            needs: Needs {
                hosts: Hosts::Any,
                ..Needs::ADR_IN_ORDER
            },
            promises_recovery: true,
            model: "strandweaver",
            intents: Some("intents"),
            window: None,
        }
    }

    fn params(&self) -> &'static [Param] {
        &[BUFFERS, ENTRIES, CLWB_WAITS]
    }

    fn set(&mut self, params: &Params) {
        self.shape = Shape::of(params);
        self.blocks = params.get(CLWB_WAITS.name) == 0;
    }

    /// The strand buffers of each core (section VI-A), and the tail indices on each entry of its write-back buffer.
    fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        let tails = (machine.writeback_buffer_entries * self.shape.tail_bits()).div_ceil(8);
        vec![
            ("strand buffers", machine.cores * self.shape.storage_bytes()),
            ("tail indices", machine.cores * tails),
        ]
    }

    fn primitive(&mut self, _: &mut dyn Services<Own>, _: CoreId, primitive: Primitive) -> Admission<Gate> {
        match primitive.is_of_strands() {
            true => Admission::Enter,
            false => Admission::plain(primitive),
        }
    }

    fn departs(&mut self, hw: &mut dyn Services<Own>, id: CoreId, ordering: Ordering, context: u8) -> Departure<Gate> {
        self.core(id).departs(hw, ordering, context)
    }

    fn watched(&mut self, hw: &mut dyn Services<Own>, core: CoreId, line: Line) -> Departure<Gate> {
        self.core(core).unit.store(hw, line, false)
    }

    fn acknowledged(&mut self, hw: &mut dyn Services<Own>, id: CoreId, tag: u64) {
        let core = self.core(id);
        core.unit.acknowledged(hw, tag);
        core.advance(hw);
    }
}
