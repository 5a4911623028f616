//! Memory that searches may still look at: reclamation by epochs, in volatile memory.
//!
//! As in RECIPE's P-ART. An operation announces the epoch in which it began. What it takes out of a structure is given
//! back once every operation under way has begun in a later epoch. A restart begins without any.

use crate::maps;
use std::ops::Range;
use strandline_isa::{sites, Addr, Cpu, Image, LINE_BYTES, W};
use strandline_runtime::{BuildPlan, Heap, ThreadState};

sites! {
    BATCH_IS_FULL = 0xd7ac_f0cc;
    MORE_LANES = 0xdb8c_f604;
    LANE_IS_IDLE = 0x9282_9a61;
    LANE_IS_OLDER = 0x869e_f05a;
    MORE_RETIRED = 0xb2d5_895e;
    STILL_LOOKED_AT = 0x94c7_b57d;
}

/// The most rows of a lane that wait before it looks which of them are free.
const BATCH: u64 = 64;

/// Offsets in a lane's part.
mod lane {
    /// The epoch in which its operation began; 0 between operations.
    pub const EPOCH: u64 = 0;
    /// Rows given back so far.
    pub const FREED: u64 = 8;
    /// Rows taken out of the structure so far.
    pub const RETIRED: u64 = 16;
    /// A ring of them: the row and its kind, and the epoch.
    pub const RING: u64 = super::LINE_BYTES;
}

/// The bits of a retired row's address that hold its kind.
const KIND_BITS: u64 = LINE_BYTES - 1;

/// Whom retired rows belong to.
pub(crate) trait Owner {
    /// Takes back a row of this kind that nobody looks at any more.
    fn take_back<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, row: W<'c, C>, kind: W<'c, C>);
}

/// The epochs of all lanes, and what they have retired.
pub(crate) struct Epochs {
    /// The current epoch; behind it, the lanes' parts.
    base: Addr,
    lanes: u64,
    /// Places in a lane's ring: a power of two, and enough for all rows.
    places: u64,
    /// Rows that wait: few where there are few.
    batch: u64,
}

impl Epochs {
    /// Allocates them for a structure that has so many rows in all.
    pub fn allocate(heap: &mut Heap, plan: &BuildPlan, rows: u64) -> Epochs {
        let lanes = plan.lanes() as u64;
        let places = rows.next_power_of_two();
        let bytes = LINE_BYTES + lanes * Epochs::stride(places);
        Epochs {
            base: heap.dram_of_which(bytes, LINE_BYTES * (1 + 8 * lanes)),
            lanes,
            places,
            batch: (rows / 256).clamp(1, BATCH),
        }
    }

    fn stride(places: u64) -> u64 {
        lane::RING + 16 * places
    }

    fn lane(&self, lane: u64) -> u64 {
        self.base.0 + LINE_BYTES + lane * Epochs::stride(self.places)
    }

    /// The current epoch, and the first lane's.
    pub fn range(&self) -> Range<u64> {
        self.base.0..self.lane(0) + LINE_BYTES
    }

    /// Begins anew.
    pub fn restart(&self, image: &dyn Image) {
        maps::set(image, self.base.0, 1);
        for number in 0..self.lanes {
            for word in [lane::EPOCH, lane::FREED, lane::RETIRED] {
                maps::set(image, self.lane(number) + word, 0);
            }
        }
    }

    /// An operation begins: nothing that it may reach from now on is given back.
    pub fn enter<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>) {
        let cpu = thread.cpu;
        let now = cpu.word(self.base.0).load();
        // A locked instruction: no later load comes before it.
        cpu.word(self.lane(thread.lane as u64) + lane::EPOCH).swap(now);
    }

    /// The operation ends.
    pub fn leave<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>) {
        let cpu = thread.cpu;
        let epoch = cpu.word(self.lane(thread.lane as u64) + lane::EPOCH);
        epoch.store(cpu.word(0));
    }

    /// A row of this kind, below a line's bytes, has been taken out of the structure.
    pub fn retire<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, row: W<'c, C>, kind: u64) {
        let _call = thread.cpu.call(3);
        let cpu = thread.cpu;
        let own = cpu.word(self.lane(thread.lane as u64));
        // A locked instruction: the epoch is loaded once all see that the row was taken out.
        let retired = own.at(lane::RETIRED).fetch_add(cpu.word(1));
        let place = self.place(own, retired);
        place.store(row.at(kind));
        place.at(8).store(cpu.word(self.base.0).load());
    }

    fn place<'c, C: Cpu>(&self, own: W<'c, C>, number: W<'c, C>) -> W<'c, C> {
        (own + ((number & (self.places - 1)) << 4)).at(lane::RING)
    }

    /// The earliest epoch in which an operation that is under way has begun.
    fn oldest<'c, C: Cpu>(&self, cpu: &'c C) -> W<'c, C> {
        let _call = cpu.call(0);
        let mut oldest = cpu.word(u64::MAX);
        let mut at = cpu.word(self.lane(0));
        let end = cpu.word(self.lane(self.lanes));
        while at.less(end).branch(MORE_LANES) {
            let epoch = at.at(lane::EPOCH).load();
            if !epoch.is(0).branch(LANE_IS_IDLE) && epoch.less(oldest).branch(LANE_IS_OLDER) {
                oldest = epoch;
            }
            at = at + Epochs::stride(self.places);
        }
        oldest
    }

    /// Gives back rows of this lane if many wait. Its operation has ended.
    pub fn reclaim_if_full<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, owner: &impl Owner) {
        let _call = thread.cpu.call(1);
        let own = thread.cpu.word(self.lane(thread.lane as u64));
        let (freed, retired) = (own.at(lane::FREED).load(), own.at(lane::RETIRED).load());
        if !(retired - freed).below(self.batch).branch(BATCH_IS_FULL) {
            self.reclaim(thread, owner);
        }
    }

    /// Gives back the rows of this lane that nobody can look at any more.
    pub fn reclaim<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, owner: &impl Owner) {
        let _call = thread.cpu.call(1);
        let cpu = thread.cpu;
        // Operations that begin now do not reach what has been retired.
        cpu.word(self.base.0).fetch_add(cpu.word(1));
        let oldest = self.oldest(cpu);
        let own = cpu.word(self.lane(thread.lane as u64));
        let retired = own.at(lane::RETIRED).load();
        let mut freed = own.at(lane::FREED).load();
        while freed.less(retired).branch(MORE_RETIRED) {
            let place = self.place(own, freed);
            if !place.at(8).load().less(oldest).branch(STILL_LOOKED_AT) {
                break;
            }
            let item = place.load();
            owner.take_back(thread, item & !KIND_BITS, item & KIND_BITS);
            freed = freed + 1;
        }
        own.at(lane::FREED).store(freed);
    }
}
