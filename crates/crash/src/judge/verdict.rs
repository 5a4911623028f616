//! Whether a recovered image is right: durable linearizability, from the write sets of regions.
//!
//! Acknowledged regions are applied in the order of acknowledgement. A started, unacknowledged region is present with
//! all of its bytes or with none, whether it has ended or not; an aborted one is absent. There is no further order
//! between such a region and a later conflicting one; the workload's invariant judges their combination. The lines that
//! nothing reaches without such a region may hold anything without it.

use super::fault::Fault;
use super::regions::{Region, Regions, Write};
use strandline_isa::{Addr, Image, Memory};
use strandline_kernel::Cycles;

/// Judges images of a run in the order of their times.
pub struct Judge<'r> {
    regions: &'r Regions,
    /// The first unacknowledged region of the list.
    open: usize,
    expected: Vec<u64>,
    /// The bits that any region writes.
    written: Vec<u64>,
    /// The newest acknowledged region that wrote each word.
    writer: Vec<Option<usize>>,
}

impl<'r> Judge<'r> {
    /// Before the run, when memory was `initial`.
    pub fn new(regions: &'r Regions, initial: &Memory) -> Judge<'r> {
        let mut written = vec![0; regions.words.len()];
        for write in regions.list.iter().flat_map(|region| &region.writes) {
            written[write.slot] |= write.mask;
        }
        Judge {
            regions,
            open: 0,
            expected: regions.words.iter().map(|addr| initial.word(*addr)).collect(),
            written,
            writer: vec![None; regions.words.len()],
        }
    }

    /// Advances to a crash: everything acknowledged before `time` is acknowledged.
    pub fn advance(&mut self, time: Cycles) {
        while let Some(region) = self
            .regions
            .list
            .get(self.open)
            .filter(|region| region.acknowledged < time)
        {
            for write in &region.writes {
                let word = &mut self.expected[write.slot];
                *word = (*word & !write.mask) | write.value;
                self.writer[write.slot] = Some(self.open);
            }
            self.open += 1;
        }
    }

    /// The regions that had started at `time` and are neither acknowledged nor aborted.
    pub fn under_way(&self, time: Cycles) -> impl DoubleEndedIterator<Item = &'r Region> {
        let open = &self.regions.list[self.open..];
        open.iter()
            .filter(move |region| region.begun <= time && time < region.aborted)
    }

    /// A region as text: its times and writes.
    pub fn describe(&self, region: &Region) -> String {
        let write = |write: &Write| format!("{}={:#x}", self.regions.words[write.slot], write.value);
        let writes: Vec<String> = region.writes.iter().map(write).collect();
        let Region {
            name,
            begun,
            acknowledged,
            ..
        } = region;
        format!(
            "{name}, begun at cycle {begun}, acknowledged at cycle {acknowledged}, writes {}",
            writes.join(" ")
        )
    }

    /// The fault of a recovered image in which regions that started by `time` may have left traces, the lowest address
    /// first.
    pub fn verdict(&self, image: &dyn Image, time: Cycles) -> Option<Fault> {
        let found: Vec<u64> = self.regions.words.iter().map(|addr| image.word(*addr)).collect();
        let mut left = self.written.clone();
        // Newest first: bytes of a region that no later region overwrites must be its own. Assuming that a region is
        // present is always safe if its bytes are, because it only relaxes the requirements on older regions.
        for region in self.under_way(time).rev() {
            let there = |write: &Write| (found[write.slot] ^ write.value) & write.mask & left[write.slot] == 0;
            if region.writes.iter().all(there) {
                region.writes.iter().for_each(|write| left[write.slot] &= !write.mask);
            } else {
                region.unreached.iter().for_each(|slot| left[*slot] = 0);
            }
        }
        // What nothing reaches keeps what an aborted region left, until a later region writes it.
        for region in self.regions.list.iter().filter(|region| region.aborted <= time) {
            let is_later = |writer: usize| self.regions.list[writer].begun > region.aborted;
            let kept = |slot: &&usize| !self.writer[**slot].is_some_and(is_later);
            region.unreached.iter().filter(kept).for_each(|slot| left[*slot] = 0);
        }
        let wrong = |slot: &usize| (found[*slot] ^ self.expected[*slot]) & left[*slot] != 0;
        let slot = (0..found.len()).find(wrong)?;
        Some(self.fault(slot, found[slot], time))
    }

    fn fault(&self, slot: usize, found: u64, time: Cycles) -> Fault {
        let (addr, expected): (Addr, u64) = (self.regions.words[slot], self.expected[slot]);
        let tears = |region: &&Region| {
            let mut writes = region.writes.iter().filter(|write| write.slot == slot);
            writes.any(|write| leaves_a_byte(write, found, expected))
        };
        if let Some(region) = self.under_way(time).find(tears) {
            return Fault::Torn {
                region: region.name,
                addr,
                found,
                expected,
            };
        }
        match self.writer[slot] {
            Some(index) => {
                let region = &self.regions.list[index];
                let acknowledged = region.acknowledged;
                Fault::Lost {
                    region: region.name,
                    acknowledged,
                    addr,
                    found,
                    expected,
                }
            }
            None => Fault::Foreign { addr, found, expected },
        }
    }
}

/// Whether `found` differs from `expected` in a byte of `write`.
fn leaves_a_byte(write: &Write, found: u64, expected: u64) -> bool {
    let bytes = (0..64).step_by(8).map(|shift| 0xff << shift);
    let own = |byte: u64| write.mask & byte != 0 && (found ^ write.value) & byte == 0;
    bytes
        .into_iter()
        .any(|byte| own(byte) && (found ^ expected) & byte != 0)
}
