//! What the program was promised: from its notes, what a recovered image must hold.

use std::collections::{BTreeMap, BTreeSet};
use strandline_isa::{Addr, CoreId, Memory, Note};

/// A region's writes: the last value of each address and size.
type Writes = BTreeMap<(Addr, u8), u64>;

/// Acknowledged regions and those under way.
pub struct Watch {
    /// Memory with the acknowledged regions' writes.
    promised: Memory,
    touched: BTreeSet<Addr>,
    open: Vec<Option<Writes>>,
    acknowledged: u64,
}

impl Watch {
    pub(super) fn new(memory: &Memory, cores: usize) -> Watch {
        Watch {
            promised: memory.clone(),
            touched: BTreeSet::new(),
            open: vec![None; cores],
            acknowledged: 0,
        }
    }

    pub(super) fn note(&mut self, core: CoreId, note: Note) {
        let open = &mut self.open[core.index()];
        match note {
            Note::RegionBegin => *open = Some(Writes::new()),
            Note::RegionWrite { addr, size, value } => {
                self.touched.insert(Addr(addr.0 & !7));
                open.get_or_insert_default().insert((addr, size), value);
            }
            Note::RegionDurable => {
                self.acknowledged += 1;
                for ((addr, size), value) in open.take().unwrap_or_default() {
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
        for writes in self.open.iter().flatten() {
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
