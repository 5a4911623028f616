//! StrandWeaver: strand persistency by a persist queue beside the load-store queue and strand buffers beside the L1.
//!
//! What: flushes, persist barriers, `NewStrand` and `JoinStrand` go through a persist queue of their own, so that stores need
//! not wait in the store queue for flushes to complete: behind a barrier only until older flushes have issued to the strand
//! buffers, behind a join until everything before it has completed. Strand buffers issue flushes of different strands
//! concurrently; write-backs and other cores' requests for dirty lines wait for their recorded tails.
//! Source: StrandWeaver (ISCA 2020), section IV.
//! Simplified: nothing. Added, where the paper is silent and Equations 1 to 4 ask for it: flushes of one line stay in order
//! across strand buffers; a store waits for older flushes of its line to look it up; a dirty line that another core comes to
//! own is written back on its way; a line that another core only reads waits as one that it takes does.

use super::{Operation, PersistQueue, Shape, StrandUnit, BUFFERS, ENTRIES, QUEUE_ENTRIES};
use std::collections::VecDeque;
use strandline_design::{
    About, Access, Admission, Answer, Asked, Departure, Design, Entry, Eviction, Level, Message, Needs, Places,
    Services, Sizes, Until,
};
use strandline_isa::{CoreId, Line, Lowering, Primitive};
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
    /// Somebody waits at the gate of that number.
    waits: [bool; 2],
}

/// Gates: room in the persist queue; a mark at the head of the store queue may go.
const ROOM: u8 = 0;
const MARK: u8 = 1;

/// The message that an operation has retired.
const RETIRED: u32 = 0;

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
    fn gate(&self, number: u8) -> Until {
        Until::Open(self.unit.own_gate(number + 1))
    }

    fn wait(&mut self, number: u8) -> Until {
        self.waits[number as usize] = true;
        self.gate(number)
    }

    /// Lets everything go as far as it can.
    fn advance(&mut self, hw: &mut dyn Services) {
        loop {
            let mut changed = self.queue.issue(&mut self.unit.buffers);
            let done = self.unit.buffers.retire();
            changed |= !done.is_empty();
            self.queue.completed(&done);
            if !changed {
                break;
            }
            self.unit.issue(hw);
        }
        self.unit.issue(hw);
        for number in [ROOM, MARK] {
            if std::mem::take(&mut self.waits[number as usize]) {
                hw.open(self.unit.own_gate(number + 1));
            }
        }
    }

    /// The mark of the oldest barrier or join is at the head of the store queue.
    fn mark(&mut self, hw: &mut dyn Services, primitive: Primitive) -> Departure {
        let Some(id) = self.marks.front().copied() else {
            return Departure::Go;
        };
        let goes = match primitive {
            Primitive::JoinStrand => self.queue.join_lets_pass(id),
            _ => self.queue.barrier_lets_pass(id),
        };
        if !goes {
            let until = self.wait(MARK);
            return Departure::Wait(until);
        }
        self.marks.pop_front();
        self.advance(hw);
        Departure::Go
    }
}

impl StrandWeaver {
    fn core(&mut self, core: CoreId) -> &mut Core {
        while self.cores.len() <= core.index() {
            let number = self.cores.len() as u16;
            self.cores.push(Core {
                queue: PersistQueue::new(self.queue_entries),
                unit: StrandUnit::new(CoreId(number), self.shape),
                marks: VecDeque::new(),
                waits: [false; 2],
            });
        }
        &mut self.cores[core.index()]
    }

    /// What the persist queue of a core holds, oldest first: the operation, `HasIssued` and `Completed`.
    #[must_use]
    pub fn persist_queue(&self, core: CoreId) -> Vec<(Operation, bool, bool)> {
        self.cores
            .get(core.index())
            .map_or(Vec::new(), |core| core.queue.contents().collect())
    }

    /// What the strand buffers of a core hold, oldest first: the line of a flush and whether it has issued, none for a
    /// persist barrier.
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
    fn about(&self) -> About {
        About {
            name: "strandweaver",
            paper: "StrandWeaver IV",
            summary: "persist queue and strand buffers: strands persist concurrently, barriers order within one",
            needs: Needs { adr: true, tso: true },
            promises_recovery: true,
            model: "strandweaver",
            intents: Some("intents"),
            window: None,
        }
    }

    fn places(&self) -> Places {
        Places {
            primitives: true,
            strands: true,
            ..Places::default()
        }
    }

    fn params(&self) -> &'static [Param] {
        &[BUFFERS, ENTRIES, QUEUE_ENTRIES]
    }

    fn set(&mut self, params: &Params) {
        self.shape = Shape::of(params);
        self.queue_entries = params.get(QUEUE_ENTRIES.name) as usize;
    }

    /// The persist queue and the strand buffers of each core (section VI-A), and the tail indices on each entry of its
    /// write-back buffer; the paper counts the snoop buffers' with them and does not say how many there are.
    fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        let queue = PersistQueue::storage_bytes(self.queue_entries as u64);
        let tails = (machine.writeback_buffer_entries * self.shape.tail_bits()).div_ceil(8);
        vec![
            ("persist queues", machine.cores * queue),
            ("strand buffers", machine.cores * self.shape.storage_bytes()),
            ("tail indices", machine.cores * tails),
        ]
    }

    fn lowering(&self) -> Lowering {
        StrandUnit::lowering()
    }

    fn admit(&mut self, _: &mut dyn Services, core: CoreId, _: Entry) -> Answer {
        let core = self.core(core);
        if core.queue.has_room() {
            return Answer::Go;
        }
        Answer::Wait(core.wait(ROOM))
    }

    fn primitive(&mut self, _: &mut dyn Services, _: CoreId, primitive: Primitive) -> Admission {
        match primitive {
            Primitive::PersistBarrier | Primitive::JoinStrand => Admission::Take { marks: true },
            Primitive::NewStrand => Admission::Take { marks: false },
            other => Admission::plain(other),
        }
    }

    fn taken(&mut self, hw: &mut dyn Services, id: CoreId, entry: Entry, context: u8, retires: Cycles) {
        let core = self.core(id);
        let (operation, store) = match entry {
            Entry::Flush(line, _) => (Operation::Flush(line), hw.point_at_store(id, line)),
            Entry::Primitive(Primitive::NewStrand) => (Operation::NewStrand, None),
            Entry::Primitive(Primitive::JoinStrand) => (Operation::Join, None),
            _ => (Operation::Barrier, None),
        };
        let number = core.queue.insert(operation, store);
        if matches!(operation, Operation::Barrier | Operation::Join) {
            core.marks.push_back(number);
        }
        if let Operation::Flush(line) = operation {
            core.unit.announce(hw, number, line, context);
        }
        let (kind, to, body) = (RETIRED, u32::from(id.0), number);
        hw.send(retires, Message { kind, to, body });
    }

    fn message(&mut self, hw: &mut dyn Services, message: Message) {
        let core = self.core(CoreId(message.to as u16));
        core.queue.retired(message.body);
        core.advance(hw);
    }

    fn stored(&mut self, hw: &mut dyn Services, core: CoreId, store: u64) {
        let core = self.core(core);
        core.queue.stored(store);
        core.advance(hw);
    }

    fn departs(&mut self, hw: &mut dyn Services, core: CoreId, entry: Entry, _: u8) -> Departure {
        let core = self.core(core);
        match entry {
            Entry::Store(addr) => {
                let older = core.queue.waits_to_flush(addr.line());
                core.unit.store(hw, addr.line(), older)
            }
            Entry::Primitive(primitive) if primitive.is_of_strands() => core.mark(hw, primitive),
            _ => Departure::Go,
        }
    }

    fn flushed(&mut self, hw: &mut dyn Services, id: CoreId, tag: u64) {
        let core = self.core(id);
        let done = core.unit.flushed(hw, tag);
        core.queue.completed(&done);
        core.advance(hw);
    }

    fn locked_waits_for(&self, _: CoreId) -> Option<Until> {
        None
    }

    fn asked(&mut self, hw: &mut dyn Services, owner: CoreId, requester: CoreId, line: Line, _: Access) -> Asked {
        self.core(owner).unit.asked(hw, requester, line)
    }

    fn hands_over_clean(&self) -> bool {
        true
    }

    fn evicted(&mut self, _: &mut dyn Services, core: CoreId, level: Level, line: Line) -> Eviction {
        match level {
            Level::Private => self.core(core).unit.evicted(line),
            // It has waited when it came there.
            Level::Last => Eviction::WriteBack,
        }
    }

    fn waits(&self) -> Vec<String> {
        self.cores.iter().flat_map(|core| core.unit.waits()).collect()
    }
}
