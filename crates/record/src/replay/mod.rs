//! Recorded machine code as a program of a back end: it issues the instructions with their register dependences and so
//! times them.

mod access;
mod counts;
mod fences;
mod marks;
mod policy;
mod space;
mod walk;
mod write;

pub use counts::{Counts, Stall};
pub use fences::{Fences, Reading};
pub use policy::{Policy, NAME as POLICY};
pub use space::{Lookup, Space};

use crate::code::address_of;
use crate::micro::Code;
use crate::order::check_waits;
use crate::{At, RecordError, Recording, SharedLines, PAGE_BYTES};
use marks::Synced;
use std::collections::BTreeMap;
use std::ops::Range;
use strandline_isa::{Addr, Memory, Replay, PM_BASE};
use walk::Walk;

/// A recording, prepared for replay under any design.
pub struct Replayed {
    recording: Recording,
    code: Code,
    space: Space,
    synced: Synced,
    reading: Reading,
}

/// Simulated memory at the start of a recording.
pub struct Start {
    /// Persistent memory has its recorded contents; volatile memory holds zeros, because nothing uses its values.
    pub memory: Memory,
    /// The nonzero pages of persistent memory.
    pub filled: Vec<Addr>,
}

impl Replayed {
    /// Decodes the code of a recording and allocates its memory; `fences` says how its fences are read.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn new(recording: Recording, fences: Fences) -> Result<Replayed, RecordError> {
        if recording.may_wait() {
            check_waits(&recording)?;
        }
        let synced = Synced::of(&recording)?;
        let reading = Reading::of(fences, &recording, &synced)?;
        let space = Space::new(recording.regions(), recording.volatile_pages(), synced.signals.clone());
        let mut code = Code::of_recording(&recording);
        code.weaken(&reading.weakened());
        Ok(Replayed {
            code,
            space,
            synced,
            reading,
            recording,
        })
    }

    /// The recording.
    #[must_use]
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// How its fences and flushes are read.
    #[must_use]
    pub fn reading(&self) -> Reading {
        self.reading
    }

    /// The cost of each fence of the code in a replay with the counts `counts`, the most expensive first. Blocks with
    /// several definitions are merged.
    #[must_use]
    pub fn stalls(&self, counts: &Counts) -> Vec<(At, Stall)> {
        let mut by_place: BTreeMap<At, Stall> = BTreeMap::new();
        for (fence, stall) in counts.stalls.borrow().iter() {
            let block = &self.recording.blocks()[fence.block as usize];
            let instruction = block.fences.get(usize::from(fence.fence)).copied().unwrap_or(0);
            let pc = address_of(block, instruction);
            let sum = by_place.entry(At { pc, from: fence.from }).or_default();
            sum.fences += stall.fences;
            sum.cycles += stall.cycles;
        }
        let mut stalls: Vec<(At, Stall)> = by_place.into_iter().collect();
        stalls.sort_by_key(|(_, stall)| std::cmp::Reverse(stall.cycles));
        stalls
    }

    /// Where its memory lies.
    #[must_use]
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// An address of each line of volatile memory by which threads may communicate, in simulated memory.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn shared(&self) -> Result<Vec<Addr>, RecordError> {
        let lines = SharedLines::of(&self.recording)?;
        let recorded = lines.addresses().map(|address| self.space.simulated(address));
        let signals = self
            .synced
            .signals
            .iter()
            .filter_map(|number| self.space.signal(*number));
        Ok(recorded.chain(signals).filter(|addr| !addr.is_persistent()).collect())
    }

    /// Simulated memory at the start of the recording.
    ///
    /// # Errors
    /// The file is damaged, or its memory exceeds the host's.
    pub fn start(&self) -> Result<Start, RecordError> {
        self.space.has_room()?;
        let memory = Memory::new(self.space.dram_bytes(), self.space.pm_bytes());
        let mut filled = Vec::new();
        for (recorded, bytes) in self.recording.initial_pages()? {
            let at = self.space.simulated(recorded);
            if !at.is_persistent() {
                continue;
            }
            filled.push(at);
            for (index, word) in bytes.chunks_exact(8).enumerate() {
                let value = word.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
                memory.write(Addr(at.0 + 8 * index as u64), 8, value);
            }
        }
        Ok(Start { memory, filled })
    }

    /// The contents of a warm LLC of this size: the volatile pages that the recording accesses, then the initially
    /// nonzero pages of persistent memory, as far as they fit.
    #[must_use]
    pub fn footprint(&self, filled: &[Addr], bytes: u64) -> Vec<Range<u64>> {
        let volatile = PAGE_BYTES..self.space.dram_bytes();
        let persistent = filled.iter().map(|page| page.0..page.0 + PAGE_BYTES);
        let mut left = bytes;
        let mut footprint = Vec::new();
        for range in std::iter::once(volatile).chain(persistent) {
            let taken = (range.end.saturating_sub(range.start)).min(left);
            if taken > 0 {
                footprint.push(range.start..range.start + taken);
            }
            left -= taken;
        }
        footprint
    }
}

/// Replays a thread of the recording.
///
/// Synchronising accesses keep their recorded order. Each waits for its turn without executing instructions. They are
/// annotated if the design's lowering has a primitive for acquire or release. If the recording is damaged, the thread
/// ends, and [`Counts::failure`] has the reason.
pub fn replay<C: Replay>(replayed: &Replayed, thread: usize, cpu: &C, counts: &Counts) {
    let walk = Walk::new(replayed, thread, cpu, counts);
    let walked = match replayed.recording.stream(thread) {
        Ok(stream) => walk.all(stream),
        Err(error) => Err(error),
    };
    if let Err(error) = walked {
        *counts.failure.borrow_mut() = Some(error);
    }
}

const _: () = assert!(PM_BASE % PAGE_BYTES == 0, "places in pages are kept");
