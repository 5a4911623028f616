//! The guarantees to the program: from its notes, the required content of a recovered image.

use crate::Operations;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use strandline_isa::{Addr, CoreId, Image, Line, Memory, Note, Running};

/// Acknowledged regions and open ones.
pub struct Watch {
    /// Memory with the acknowledged regions' writes.
    promised: Memory,
    /// The words that any region has written.
    touched: BTreeSet<Addr>,
    cores: Vec<Core>,
    /// Regions that have ended so far.
    ended: u64,
    acknowledged: u64,
    aborted: u64,
    operations: Operations,
    /// The time of the operations: how many notes of tasks there were.
    time: u64,
}

/// A region's bytes in one word: their mask and their values.
#[derive(Clone, Copy, Default)]
struct Bits {
    mask: u64,
    value: u64,
}

/// A region that is not acknowledged.
struct Open {
    /// Its number among all regions that have ended; `None` before its end.
    ended: Option<u64>,
    writes: BTreeMap<Addr, Bits>,
    /// Lines that nothing reaches unless the region is there.
    fresh: BTreeSet<Line>,
}

/// A core's regions that are not acknowledged, of each slot of its window, oldest first; slot 0
/// where tasks do not share it.
struct Core {
    running: Running,
    open: BTreeMap<u32, VecDeque<Open>>,
}

impl Default for Core {
    fn default() -> Self {
        Core {
            running: Running::Task(0),
            open: BTreeMap::new(),
        }
    }
}

impl Watch {
    pub(super) fn new(memory: &Memory, cores: usize) -> Watch {
        Watch {
            promised: memory.clone(),
            touched: BTreeSet::new(),
            cores: (0..cores).map(|_| Core::default()).collect(),
            ended: 0,
            acknowledged: 0,
            aborted: 0,
            operations: Operations::default(),
            time: 0,
        }
    }

    pub(super) fn note(&mut self, core: CoreId, note: Note) {
        let number = core.index();
        let core = &mut self.cores[number];
        if let Note::Running(running) = note {
            core.running = running;
        }
        // The library has no regions.
        let Running::Task(slot) = core.running else { return };
        self.time += 1;
        self.operations.note((number, slot), note, self.time);
        let open = core.open.entry(slot).or_default();
        match (note, open.back_mut()) {
            (Note::RegionBegin, _) => open.push_back(Open {
                ended: None,
                writes: BTreeMap::new(),
                fresh: BTreeSet::new(),
            }),
            (Note::RegionWrite { addr, size, value }, Some(region)) => {
                self.touched.insert(word(addr));
                region.write(addr, size, value);
            }
            (Note::RegionFresh { line }, Some(region)) => _ = region.fresh.insert(line),
            (Note::RegionEnd, Some(region)) => {
                region.ended = Some(self.ended);
                self.ended += 1;
            }
            (Note::RegionAbort, _) => {
                // What nothing reaches keeps what the region left.
                let fresh = open.pop_back().map(|region| region.fresh).unwrap_or_default();
                self.touched.retain(|addr| !fresh.contains(&addr.line()));
                self.aborted += 1;
            }
            (Note::RegionDurable, _) => {
                self.acknowledged += 1;
                for (addr, bits) in open.pop_front().map(|region| region.writes).unwrap_or_default() {
                    let before = self.promised.word(addr);
                    self.promised.set_word(addr, (before & !bits.mask) | bits.value);
                }
            }
            _ => {}
        }
    }

    /// Regions and operations begun so far.
    #[must_use]
    pub fn begun(&self) -> u64 {
        let open = self.cores.iter().flat_map(|core| core.open.values());
        self.operations.begun() + self.acknowledged + open.map(|open| open.len() as u64).sum::<u64>()
    }

    /// Regions acknowledged and operations returned so far.
    #[must_use]
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged + self.operations.returned()
    }

    /// Regions aborted so far.
    #[must_use]
    pub fn aborted(&self) -> u64 {
        self.aborted
    }

    /// Whether a map that held `initial` before the run may hold `contents` after a crash now. A program that has
    /// announced no operations promises regions.
    ///
    /// # Errors
    /// The first key that no order of the operations explains.
    pub fn explain(&self, initial: &BTreeMap<u64, u64>, contents: &BTreeMap<u64, u64>) -> Result<(), String> {
        if self.operations.begun() == 0 {
            return Ok(());
        }
        let explained = self.operations.explain(initial, contents, self.time, self.time + 1);
        explained.map_err(|unexplained| unexplained.to_string())
    }

    /// Whether a recovered image holds every acknowledged region, and of each open one all or
    /// nothing.
    ///
    /// # Errors
    /// The first address with a forbidden value.
    pub fn verify(&self, image: &Memory) -> Result<(), String> {
        let mut open: Vec<&Open> = self
            .cores
            .iter()
            .flat_map(|core| core.open.values())
            .flatten()
            .collect();
        // Newest first: bytes of a region that later ones do not overwrite must be its own. To
        // count a region that is there is never wrong.
        open.sort_by_key(|region| std::cmp::Reverse(region.ended.unwrap_or(u64::MAX)));
        let mut taken: BTreeMap<Addr, u64> = BTreeMap::new();
        let mut unreached: BTreeSet<Line> = BTreeSet::new();
        for region in open {
            let left = |addr: &Addr| !taken.get(addr).copied().unwrap_or_default();
            let there = |(addr, bits): (&Addr, &Bits)| (image.word(*addr) ^ bits.value) & bits.mask & left(addr) == 0;
            if region.writes.iter().all(there) {
                for (addr, bits) in &region.writes {
                    *taken.entry(*addr).or_default() |= bits.mask;
                }
            } else {
                unreached.extend(&region.fresh);
            }
        }
        for addr in self.touched.iter().filter(|addr| !unreached.contains(&addr.line())) {
            let (found, promised) = (image.word(*addr), self.promised.word(*addr));
            let left = !taken.get(addr).copied().unwrap_or_default();
            if (found ^ promised) & left != 0 {
                return Err(format!(
                    "{addr} holds {found:#x}; acknowledged was {promised:#x}, and no region under way is there as a whole"
                ));
            }
        }
        Ok(())
    }
}

impl Open {
    fn write(&mut self, addr: Addr, size: u8, value: u64) {
        let shift = (addr.0 & 7) * 8;
        let mask = (u64::MAX >> (64 - 8 * u32::from(size))) << shift;
        let bits = self.writes.entry(word(addr)).or_default();
        bits.mask |= mask;
        bits.value = (bits.value & !mask) | ((value << shift) & mask);
    }
}

/// The word that holds `addr`.
fn word(addr: Addr) -> Addr {
    Addr(addr.0 & !7)
}
