//! StrandWeaver: strand persistency by a persist queue beside the load-store queue and strand buffers beside the L1.
//!
//! What: flushes, persist barriers, `NewStrand` and `JoinStrand` have a persist queue of their own,
//! so that stores do not wait in the store queue for flushes to complete. They wait behind a
//! barrier only until older flushes have issued to the strand buffers, behind a join until
//! everything before it has completed. Strand buffers issue flushes of different strands
//! concurrently; write-backs and other cores' requests for dirty lines wait for their recorded
//! tails.
//! Source: StrandWeaver (ISCA 2020), section IV.
//! Simplified: nothing. Added, where the paper is silent and Equations 1 to 4 require it: flushes
//! of one line stay in order across strand buffers; a store waits until older flushes of its line
//! have looked it up; a dirty line that gets another owner is written back; a request to read a
//! line waits like one for ownership.

use super::{Gate, Operation, Own, PersistQueue, Retired, Shape, StrandUnit, BUFFERS, ENTRIES, QUEUE_ENTRIES};
use crate::parts::per_core;
use std::collections::VecDeque;
use strandline_design::{
    About, Access, Admission, Claim, Departure, Design, Eviction, Hosts, Level, Needs, Never, Ordering, Services,
    Sizes, Snoop, StoreId, Until, Wants,
};
use strandline_isa::{CoreId, Flush, Line, Lowering, Primitive};
use strandline_kernel::{Cycles, Param, Params};

/// Strand persistency as StrandWeaver builds it.
#[derive(Clone, Debug)]
pub struct StrandWeaver {
    shape: Shape,
    queue_entries: usize,
    cores: Vec<Core>,
}

#[derive(Clone, Debug)]
struct Core {
    queue: PersistQueue,
    unit: StrandUnit,
    /// The marks that barriers and joins have left in the store queue, oldest first.
    marks: VecDeque<u64>,
    /// The primitive whose mark waits at the head of the store queue.
    mark_waits: Option<Primitive>,
    /// A flush or primitive waits for room in the persist queue.
    claim_waits: bool,
}

impl Default for StrandWeaver {
    fn default() -> Self {
        StrandWeaver {
            shape: Shape::default(),
            queue_entries: QUEUE_ENTRIES.default as usize,
            cores: Vec::new(),
        }
    }
}

impl Core {
    /// Claims an operation if the persist queue has room.
    fn claim(&mut self) -> Claim<Gate> {
        if self.queue.has_room() {
            return Claim::Yes;
        }
        self.claim_waits = true;
        Claim::Wait(Until::Open(Gate::Room(self.unit.core)))
    }

    /// Issues and retires entries until nothing changes.
    fn advance(&mut self, hw: &mut dyn Services<Own>) {
        let mut issued = false;
        loop {
            let mut changed = self.queue.issue(&mut self.unit.buffers);
            let done = self.unit.buffers.retire();
            changed |= !done.is_empty();
            self.queue.completed(done);
            if !changed {
                break;
            }
            issued |= self.unit.issue(hw);
        }
        issued |= self.unit.issue(hw);
        if self.mark_waits.is_some_and(|primitive| self.passes(primitive)) {
            self.mark_waits = None;
            hw.open(Gate::Head(self.unit.core));
        }
        if self.claim_waits && self.queue.has_room() {
            self.claim_waits = false;
            hw.open(Gate::Room(self.unit.core));
        }
        self.unit.release(hw, issued);
    }

    /// Answers the mark of the oldest barrier or join at the head of the store queue.
    fn mark(&mut self, hw: &mut dyn Services<Own>, primitive: Primitive) -> Departure<Gate> {
        if !self.passes(primitive) {
            self.mark_waits = Some(primitive);
            return Departure::Wait(Until::Open(Gate::Head(self.unit.core)));
        }
        self.mark_waits = None;
        if self.marks.pop_front().is_some() {
            self.advance(hw);
        }
        Departure::Go
    }

    /// Whether the mark of the oldest barrier or join, which is at the head of the store queue, leaves it.
    fn passes(&mut self, primitive: Primitive) -> bool {
        let Some(id) = self.marks.front().copied() else {
            return true;
        };
        match primitive {
            Primitive::JoinStrand => self.queue.pass_join(id),
            _ => self.queue.pass_barrier(id),
        }
    }
}

impl StrandWeaver {
    #[inline(always)]
    fn core(&mut self, core: CoreId) -> &mut Core {
        let (entries, shape) = (self.queue_entries, self.shape);
        per_core::state(&mut self.cores, core, |core| Core {
            queue: PersistQueue::new(entries),
            unit: StrandUnit::new(core, shape),
            marks: VecDeque::new(),
            mark_waits: None,
            claim_waits: false,
        })
    }

    /// The content of a core's persist queue, oldest first: the operation, `HasIssued` and
    /// `Completed`.
    #[must_use]
    pub fn persist_queue(&self, core: CoreId) -> Vec<(Operation, bool, bool)> {
        self.cores
            .get(core.index())
            .map_or(Vec::new(), |core| core.queue.contents().collect())
    }

    /// The content of a core's strand buffers, oldest first: the line of a flush and whether it has
    /// issued, `None` for a persist barrier.
    #[must_use]
    pub fn strand_buffers(&self, core: CoreId) -> Vec<Vec<Option<(Line, bool)>>> {
        self.cores
            .get(core.index())
            .map_or(Vec::new(), |core| core.unit.buffers.contents().collect())
    }

    /// The ongoing buffer index of a core.
    #[must_use]
    pub fn ongoing_buffer(&self, core: CoreId) -> usize {
        self.cores
            .get(core.index())
            .map_or(0, |core| core.unit.buffers.current())
    }
}

impl Design for StrandWeaver {
    type Own = Own;

    hooks_of_units!();

    fn about(&self) -> About {
        About {
            name: "strandweaver",
            paper: "StrandWeaver IV",
            summary: "persist queue and strand buffers: strands persist concurrently, barriers order within one",
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
        &[BUFFERS, ENTRIES, QUEUE_ENTRIES]
    }

    fn set(&mut self, params: &Params) {
        self.shape = Shape::of(params);
        self.queue_entries = params.get(QUEUE_ENTRIES.name) as usize;
    }

    /// The persist queue and the strand buffers of each core (section VI-A), and the tail indices
    /// on each entry of its write-back buffer. The paper includes the snoop buffers' indices
    /// without a number of entries.
    fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        let queue = PersistQueue::storage_bytes(self.queue_entries as u64);
        let tails = (machine.writeback_buffer_entries * self.shape.tail_bits()).div_ceil(8);
        vec![
            ("persist queues", machine.cores * queue),
            ("strand buffers", machine.cores * self.shape.storage_bytes()),
            ("tail indices", machine.cores * tails),
        ]
    }

    fn claim(&mut self, _: &mut dyn Services<Own>, core: CoreId, ordering: Ordering) -> Claim<Gate> {
        match ordering {
            Ordering::Flush(_, Flush::Clwb) => self.core(core).claim(),
            Ordering::Primitive(primitive) if primitive.is_of_strands() => self.core(core).claim(),
            _ => Claim::No,
        }
    }

    fn primitive(&mut self, _: &mut dyn Services<Own>, _: CoreId, primitive: Primitive) -> Admission<Gate> {
        match primitive {
            Primitive::PersistBarrier | Primitive::JoinStrand => Admission::Claim { marks: true },
            Primitive::NewStrand => Admission::Claim { marks: false },
            other => Admission::plain(other),
        }
    }

    fn claimed(&mut self, hw: &mut dyn Services<Own>, id: CoreId, ordering: Ordering, context: u8, retires: Cycles) {
        let core = self.core(id);
        let (operation, store) = match ordering {
            Ordering::Flush(line, _) => (Operation::Flush(line), hw.point_at_store(id, line)),
            Ordering::Primitive(Primitive::NewStrand) => (Operation::NewStrand, None),
            Ordering::Primitive(Primitive::JoinStrand) => (Operation::Join, None),
            _ => (Operation::Barrier, None),
        };
        let number = core.queue.insert(operation, store);
        if matches!(operation, Operation::Barrier | Operation::Join) {
            core.marks.push_back(number);
        }
        if let Operation::Flush(line) = operation {
            core.unit.announce(number, context);
            // No younger store leaves the store queue before the one that it waits for.
            if !core.queue.awaits_store(number) {
                core.unit.watch(hw, line);
            }
        }
        let (core, operation) = (id, number);
        hw.send(retires, Retired { core, operation });
    }

    fn message(&mut self, hw: &mut dyn Services<Own>, message: Retired) {
        let core = self.core(message.core);
        core.queue.retired(message.operation);
        core.advance(hw);
    }

    fn performed(&mut self, hw: &mut dyn Services<Own>, core: CoreId, id: StoreId) {
        let core = self.core(core);
        for line in core.queue.performed(id) {
            core.unit.watch(hw, line);
        }
        core.advance(hw);
    }

    fn departs(&mut self, hw: &mut dyn Services<Own>, core: CoreId, ordering: Ordering, _: u8) -> Departure<Gate> {
        match ordering {
            Ordering::Primitive(primitive) if primitive.is_of_strands() => self.core(core).mark(hw, primitive),
            _ => Departure::Go,
        }
    }

    fn watched(&mut self, hw: &mut dyn Services<Own>, core: CoreId, line: Line) -> Departure<Gate> {
        let core = self.core(core);
        let older = core.queue.waits_to_flush(line);
        core.unit.store(hw, line, older)
    }

    fn acknowledged(&mut self, hw: &mut dyn Services<Own>, id: CoreId, tag: u64) {
        let core = self.core(id);
        let done = core.unit.acknowledged(hw, tag);
        core.queue.completed(done);
        core.advance(hw);
    }
}
