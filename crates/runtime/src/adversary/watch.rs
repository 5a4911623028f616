//! What the program was promised: from its notes, what a recovered image must hold.

use std::collections::{BTreeMap, BTreeSet};
use strandline_isa::{Addr, CoreId, Memory, Note, Running};

/// A region's writes: the last value of each address and size.
type Writes = BTreeMap<(Addr, u8), u64>;

/// Acknowledged regions and those under way.
pub struct Watch {
    /// Memory with the acknowledged regions' writes.
    promised: Memory,
    touched: BTreeSet<Addr>,
    cores: Vec<Core>,
    acknowledged: u64,
}

/// A core's regions under way: one at most of each slot of its window, slot 0 where tasks do not share it.
struct Core {
    running: Running,
    open: BTreeMap<u32, Writes>,
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
            acknowledged: 0,
        }
    }

    pub(super) fn note(&mut self, core: CoreId, note: Note) {
        let core = &mut self.cores[core.index()];
        if let Note::Running(running) = note {
            core.running = running;
        }
        // The library has no regions.
        let Running::Task(slot) = core.running else { return };
        match note {
            Note::RegionBegin => {
                core.open.insert(slot, Writes::new());
            }
            Note::RegionWrite { addr, size, value } => {
                self.touched.insert(Addr(addr.0 & !7));
                core.open.entry(slot).or_default().insert((addr, size), value);
            }
            Note::RegionDurable => {
                self.acknowledged += 1;
                for ((addr, size), value) in core.open.remove(&slot).unwrap_or_default() {
                    self.promised.write(addr, size, value);
                }
            }
            _ => {}
        }
    }

    /// Regions acknowledged so far.
    #[must_use]
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Whether a recovered image holds every acknowledged region, and of each that is under way all or nothing.
    ///
    /// # Errors
    /// Which address holds what it must not.
    pub fn verify(&self, image: &Memory) -> Result<(), String> {
        let mut open = BTreeSet::new();
        for writes in self.cores.iter().flat_map(|core| core.open.values()) {
            self.all_or_nothing(image, writes)?;
            open.extend(writes.keys().map(|(addr, _)| Addr(addr.0 & !7)));
        }
        for addr in self.touched.difference(&open) {
            let (found, promised) = (image.read(*addr, 8), self.promised.read(*addr, 8));
            if found != promised {
                return Err(format!("{addr} holds {found:#x}; acknowledged was {promised:#x}"));
            }
        }
        Ok(())
    }

    fn all_or_nothing(&self, image: &Memory, writes: &Writes) -> Result<(), String> {
        let is = |addr: Addr, size, value| image.read(addr, size) == value;
        let nothing = writes
            .keys()
            .all(|(addr, size)| is(*addr, *size, self.promised.read(*addr, *size)));
        let all = writes.iter().all(|((addr, size), value)| is(*addr, *size, *value));
        if all || nothing {
            return Ok(());
        }
        let places: Vec<String> = writes.keys().map(|(addr, _)| addr.to_string()).collect();
        Err(format!("a region under way is there in part, at {}", places.join(", ")))
    }
}
