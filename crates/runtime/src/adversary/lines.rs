//! What of each line is durable.

use std::collections::{BTreeMap, BTreeSet};
use strandline_isa::{Addr, Line, LineData, Memory};
use strandline_kernel::Rng;

/// A line's bytes at a flush, how old they are, and the context in which it was flushed.
struct Flushed {
    context: u8,
    line: Line,
    data: LineData,
    version: u64,
}

/// The durable image, the lines that differ from it, and the flushes that no fence has waited for.
pub(super) struct Lines {
    durable: Memory,
    /// Stores to each line so far, and how many of them are durable.
    versions: BTreeMap<Line, (u64, u64)>,
    dirty: BTreeSet<Line>,
    flushed: Vec<Vec<Flushed>>,
}

impl Lines {
    pub fn new(memory: &Memory, cores: usize) -> Lines {
        Lines {
            durable: memory.clone(),
            versions: BTreeMap::new(),
            dirty: BTreeSet::new(),
            flushed: (0..cores).map(|_| Vec::new()).collect(),
        }
    }

    pub fn durable(&self) -> &Memory {
        &self.durable
    }

    pub fn stored(&mut self, addr: Addr) {
        if addr.is_persistent() {
            self.versions.entry(addr.line()).or_default().0 += 1;
            self.dirty.insert(addr.line());
        }
    }

    pub fn flush(&mut self, core: usize, context: u8, addr: Addr, memory: &Memory) {
        let line = addr.line();
        if self.dirty.contains(&line) {
            self.flushed[core].push(Flushed {
                context,
                line,
                data: memory.line(line),
                version: self.versions[&line].0,
            });
        }
    }

    /// Writes back a dirty line or a flushed one, whichever; says whether the durable image changed.
    pub fn evict(&mut self, rng: &mut Rng, memory: &Memory) -> bool {
        let core = rng.below(self.flushed.len() as u64) as usize;
        if rng.one_in(2) && !self.flushed[core].is_empty() {
            return self.accept(core, rng);
        }
        let Some(line) = self
            .dirty
            .iter()
            .nth(rng.below(self.dirty.len() as u64) as usize)
            .copied()
        else {
            return false;
        };
        let version = self.versions[&line].0;
        self.persist(line, &memory.line(line), version)
    }

    /// Makes one of the core's flushed lines durable; says whether the durable image changed.
    fn accept(&mut self, core: usize, rng: &mut Rng) -> bool {
        let which = rng.below(self.flushed[core].len() as u64) as usize;
        self.accept_at(core, which)
    }

    /// Makes one of the lines durable that the core has flushed in this context, or in any: whether the durable image
    /// changed; none if there is none.
    pub fn accept_of(&mut self, core: usize, context: Option<u8>, rng: &mut Rng) -> Option<bool> {
        let flushed = self.flushed[core].iter().enumerate();
        let of_context: Vec<usize> = flushed
            .filter(|(_, flushed)| context.is_none_or(|context| context == flushed.context))
            .map(|(which, _)| which)
            .collect();
        let which = of_context.get(rng.below(of_context.len() as u64) as usize)?;
        Some(self.accept_at(core, *which))
    }

    fn accept_at(&mut self, core: usize, which: usize) -> bool {
        let Flushed {
            line, data, version, ..
        } = self.flushed[core].swap_remove(which);
        self.persist(line, &data, version)
    }

    fn persist(&mut self, line: Line, data: &LineData, version: u64) -> bool {
        let Some((newest, durable)) = self.versions.get_mut(&line) else {
            return false;
        };
        if version <= *durable {
            return false;
        }
        *durable = version;
        if version == *newest {
            self.dirty.remove(&line);
        }
        self.durable.set_line(line, data);
        true
    }
}
