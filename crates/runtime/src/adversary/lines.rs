//! The durable part of each line.

use std::collections::{BTreeMap, BTreeSet};
use strandline_isa::{Addr, Line, LineData, Memory};
use strandline_kernel::Rng;

/// A line's bytes at a flush, their age, and the context in which it was flushed.
struct Flushed {
    context: u8,
    place: StrandPlace,
    line: Line,
    data: LineData,
    version: u64,
}

/// The place of a flush in a core's strands: persist barriers divide a strand into epochs. Without
/// strands all places are one.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct StrandPlace {
    pub strand: u64,
    pub epoch: u64,
}

/// A candidate for a write-back.
pub(super) enum Choice {
    /// One of this core's flushed lines.
    Flushed(usize),
    /// This line.
    Dirty(Line),
}

/// The durable image, the lines that differ from it, and the flushes that no fence has waited for.
pub(super) struct Lines {
    durable: Memory,
    /// Stores to each line so far, and how many of them are durable.
    versions: BTreeMap<Line, (u64, u64)>,
    dirty: BTreeSet<Line>,
    /// The core that last stored to a dirty line.
    writers: BTreeMap<Line, usize>,
    flushed: Vec<Vec<Flushed>>,
    /// The place of each core.
    places: Vec<StrandPlace>,
}

impl Lines {
    pub fn new(memory: &Memory, cores: usize) -> Lines {
        Lines {
            durable: memory.clone(),
            versions: BTreeMap::new(),
            dirty: BTreeSet::new(),
            writers: BTreeMap::new(),
            flushed: (0..cores).map(|_| Vec::new()).collect(),
            places: vec![StrandPlace::default(); cores],
        }
    }

    pub fn durable(&self) -> &Memory {
        &self.durable
    }

    pub fn stored(&mut self, core: usize, addr: Addr) {
        if addr.is_persistent() {
            self.versions.entry(addr.line()).or_default().0 += 1;
            self.dirty.insert(addr.line());
            self.writers.insert(addr.line(), core);
        }
    }

    /// Orders the core's later flushes behind the earlier flushes of its strand.
    pub fn barrier(&mut self, core: usize) {
        self.places[core].epoch += 1;
    }

    /// Orders the core's later flushes behind nothing.
    pub fn new_strand(&mut self, core: usize) {
        self.places[core].strand += 1;
    }

    /// The core whose flushes precede a line that another core writes or that is written back: with
    /// strands, those of the core that stored to it last (StrandWeaver IV: coherence and evictions
    /// overtake no older flush).
    pub fn before(&self, line: Line) -> Option<usize> {
        let writer = *self.writers.get(&line)?;
        (self.dirty.contains(&line) && self.places[writer] != StrandPlace::default()).then_some(writer)
    }

    pub fn flush(&mut self, core: usize, context: u8, addr: Addr, memory: &Memory) {
        let line = addr.line();
        if self.dirty.contains(&line) {
            self.flushed[core].push(Flushed {
                context,
                place: self.places[core],
                line,
                data: memory.line(line),
                version: self.versions[&line].0,
            });
        }
    }

    /// The next write-back: one of a core's flushed lines, or a dirty line; `None` without either.
    pub fn choose(&self, rng: &mut Rng) -> Option<Choice> {
        let core = rng.below(self.flushed.len() as u64) as usize;
        if rng.one_in(2) && !self.flushed[core].is_empty() {
            return Some(Choice::Flushed(core));
        }
        let line = self
            .dirty
            .iter()
            .nth(rng.below(self.dirty.len() as u64) as usize)
            .copied()?;
        Some(Choice::Dirty(line))
    }

    /// Writes back a dirty line; whether the durable image changed.
    pub fn write_back(&mut self, line: Line, memory: &Memory) -> bool {
        let version = self.versions[&line].0;
        self.persist(line, &memory.line(line), version)
    }

    /// Makes one line durable that the core has flushed in this context, or in any, and that no
    /// barrier holds back. Returns whether the durable image changed; `None` if there is no such
    /// line.
    pub fn accept_of(&mut self, core: usize, context: Option<u8>, rng: &mut Rng) -> Option<bool> {
        let flushed = self.flushed[core].iter().enumerate();
        let of_context: Vec<usize> = flushed
            .filter(|(_, flushed)| context.is_none_or(|context| context == flushed.context))
            .filter(|(_, flushed)| !self.is_kept_back(core, flushed))
            .map(|(which, _)| which)
            .collect();
        let which = of_context.get(rng.below(of_context.len() as u64) as usize)?;
        Some(self.accept_at(core, *which))
    }

    /// Whether a flush waits for another: on its strand for those before a barrier; on any strand
    /// for an older one of its line, as persists to one address are ordered (StrandWeaver, equation
    /// 3).
    fn is_kept_back(&self, core: usize, flushed: &Flushed) -> bool {
        let place = flushed.place;
        let older = |other: &Flushed| {
            let on_strand = other.place.strand == place.strand && other.place.epoch < place.epoch;
            let of_line = other.place != place && other.line == flushed.line && other.version < flushed.version;
            on_strand || of_line
        };
        self.flushed[core].iter().any(older)
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
