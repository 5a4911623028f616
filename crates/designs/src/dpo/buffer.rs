//! A core's persist buffer, its read and write sets and its accumulated dependences.

use super::accesses::Accesses;
use super::dependences::{BufferedKind, Dependence, Dependences, Id};
use crate::dpo::rules::Rule;
use crate::parts::bloom::{Bloom, LookUps};
use crate::parts::dependence_wait::Waiting;
use crate::parts::persist_buffer::Entries;
use strandline_design::Access;
use strandline_isa::{CoreId, Line, LineData};
use strandline_kernel::Cycles;
use strandline_rules::{breaks, keeps, kept};

/// What an entry holds besides its dependences.
#[derive(Clone, Debug)]
pub enum Content {
    /// A persist: fields A, D and Y.
    Persist {
        /// Its line.
        line: Line,
        /// The line's bytes.
        data: LineData,
        /// It is the youngest persist of its line in all buffers.
        youngest: bool,
    },
    /// A fence: the accesses that follow it, up to the next one.
    Fence {
        /// The number of the core's `dfence` that it is, if it is one.
        durable: Option<u64>,
        /// The accesses.
        accesses: Accesses,
    },
}

/// An entry (DPO IV-D).
#[derive(Clone, Debug)]
pub struct Entry {
    /// Fields T, A, D and Y.
    pub content: Content,
    /// Field DP.
    pub waits: Dependences,
    /// It is on its way to the controllers.
    pub sent: bool,
    /// Another core depends on it, so that it is not held back.
    wanted: bool,
    /// Until when it may be held back for stores that coalesce with it.
    held: Cycles,
}

impl Entry {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> BufferedKind {
        match self.content {
            Content::Persist { .. } => BufferedKind::Persist,
            Content::Fence { .. } => BufferedKind::Fence,
        }
    }

    fn is_youngest_of(&self, of: Line) -> bool {
        matches!(self.content, Content::Persist { line, youngest: true, .. } if line == of)
    }
}

/// An entry whose drain begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drain {
    /// A persist of this line with these bytes.
    Persist(Line, LineData),
    /// A fence.
    Fence,
}

/// The persist buffer of a core, and what it knows of the other cores' buffers.
#[derive(Clone, Debug)]
pub struct PersistBuffer {
    core: CoreId,
    most_fences: usize,
    entries: Entries<Entry>,
    fences: usize,
    /// AccumDP: dependences of the next persist or fence.
    accumulated: Dependences,
    /// Dependences that are not resolved, whether or not an entry has them.
    inherited: Dependences,
    /// Accesses since the oldest of the inherited ones was found.
    since: Accesses,
    /// Empty sets, for their memory.
    spare: Vec<Accesses>,
}

impl PersistBuffer {
    /// An empty buffer of `entries` entries, `most_fences` of them fences.
    #[must_use]
    pub fn new(core: CoreId, entries: usize, most_fences: usize) -> PersistBuffer {
        PersistBuffer {
            core,
            most_fences,
            entries: Entries::new(entries),
            fences: 0,
            accumulated: Dependences::default(),
            inherited: Dependences::default(),
            since: Accesses::default(),
            spare: Vec::new(),
        }
    }

    /// Whether it is full, of entries or of fences: its L1 is blocked (DPO IV-D).
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.entries.is_full() || self.fences >= self.most_fences
    }

    /// Entries in use.
    #[must_use]
    pub fn occupied(&self) -> usize {
        self.entries.len()
    }

    /// Its entries with their numbers, oldest first.
    pub fn entries(&self) -> impl Iterator<Item = (u64, &Entry)> {
        self.entries.iter()
    }

    /// The register AccumDP.
    #[cfg(test)]
    pub fn accumulated(&self) -> &Dependences {
        &self.accumulated
    }

    /// Whether loads must be recorded.
    #[must_use]
    pub fn records_reads(&self) -> bool {
        self.fences > 0 || !self.inherited.is_empty()
    }

    /// Records a load: in the read set of the last fence, until that drains.
    pub fn record_read(&mut self, line: Line) {
        self.record(line, |accesses| &mut accesses.read);
    }

    /// Records a store: in the write set of the last fence, until that drains.
    pub fn record_write(&mut self, line: Line) {
        self.record(line, |accesses| &mut accesses.written);
    }

    fn record(&mut self, line: Line, set: impl Fn(&mut Accesses) -> &mut Bloom) {
        if !self.inherited.is_empty() {
            set(&mut self.since).add(line);
        }
        let youngest = self.entries.iter_mut().rev();
        let mut fences = youngest.filter_map(|(_, entry)| match &mut entry.content {
            Content::Fence { accesses, .. } => Some(accesses),
            Content::Persist { .. } => None,
        });
        if let Some(accesses) = fences.next() {
            set(accesses).add(line);
        }
    }

    /// Coalesces a persist with the most recent entry, if that is a persist of the same line and
    /// the youngest of its line, and no dependence has accumulated (DPO IV-F). What is on its way
    /// does not change.
    pub fn coalesce(&mut self, line: Line, data: LineData) -> bool {
        if !kept(Rule::CoalescingNeedsNoDependence, self.accumulated.is_empty(), || true) {
            return false;
        }
        match self.entries.last_mut() {
            Some((_, entry)) if !entry.sent && entry.is_youngest_of(line) => {
                if let Content::Persist { data: held, .. } = &mut entry.content {
                    *held = data;
                }
                true
            }
            _ => false,
        }
    }

    /// Appends a persist, which may be held back until then: its dependences.
    pub fn append_persist(&mut self, line: Line, data: LineData, held: Cycles) -> &Dependences {
        keeps(Rule::YoungestIsOne, || self.invalidate(line));
        let youngest = true;
        self.append(Content::Persist { line, data, youngest }, held)
    }

    /// Appends a fence: its dependences.
    pub fn append_fence(&mut self, durable: Option<u64>) -> &Dependences {
        self.fences += 1;
        let accesses = self.spare.pop().unwrap_or_default();
        self.append(Content::Fence { durable, accesses }, Cycles(0))
    }

    fn append(&mut self, content: Content, held: Cycles) -> &Dependences {
        let mut waits = std::mem::take(&mut self.accumulated);
        breaks(Rule::AccumulatedApplies, || waits = Dependences::default());
        self.entries.push(Entry {
            content,
            waits,
            sent: false,
            wanted: false,
            held,
        });
        &self.entries.at(self.entries.len() - 1).waits
    }

    /// Resets the Youngest bit of a line's persists: another core stores to it.
    pub fn invalidate(&mut self, of: Line) {
        for (_, entry) in self.entries.iter_mut() {
            if let Content::Persist { line, youngest, .. } = &mut entry.content {
                *youngest &= *line != of;
            }
        }
    }

    /// The youngest entry on which another core's request for a line depends: the youngest persist
    /// of the line, or a fence after which this core has accessed the line in conflict.
    pub fn conflict(&mut self, line: Line, access: Access, counts: &mut LookUps) -> Option<Dependence> {
        let mut youngest = self.entries.iter_mut().rev();
        let (number, entry) = youngest.find(|(_, entry)| match &entry.content {
            Content::Persist { .. } => entry.is_youngest_of(line),
            Content::Fence { accesses, .. } => accesses.conflict(line, access, counts),
        })?;
        entry.wanted = true;
        let core = self.core;
        Some(Dependence {
            on: Id { core, number },
            kind: entry.kind(),
            volatile: !line.is_persistent(),
        })
    }

    /// Whether another core's store to the line may depend on this core.
    #[must_use]
    pub fn watches(&self, line: Line) -> bool {
        let of_entry = |entry: &Entry| match &entry.content {
            Content::Persist { .. } => entry.is_youngest_of(line),
            Content::Fence { accesses, .. } => accesses.holds(line),
        };
        !self.inherited.is_empty() && self.since.holds(line) || self.entries.iter().any(|(_, entry)| of_entry(entry))
    }

    /// The unresolved dependences of this core that a request for a line inherits: those before an
    /// access of its own to the line.
    pub fn inherits(&mut self, line: Line, access: Access, counts: &mut LookUps) -> Vec<Dependence> {
        if self.inherited.is_empty() || !self.since.conflict(line, access, counts) {
            return Vec::new();
        }
        let volatile = !line.is_persistent();
        self.inherited.iter().map(|d| Dependence { volatile, ..*d }).collect()
    }

    /// The youngest persist of a line and its bytes, if it is here.
    #[must_use]
    pub fn youngest(&self, of: Line) -> Option<(u64, LineData)> {
        self.entries.iter().find_map(|(number, entry)| match entry.content {
            Content::Persist { line, data, youngest } if line == of && youngest => Some((number, data)),
            _ => None,
        })
    }

    /// Adds a dependence that a reply has brought.
    pub fn accumulate(&mut self, dependence: Dependence) {
        self.accumulated.add(dependence);
        self.inherited.add(dependence);
    }

    /// Another core's entry has drained; whether a dependence on it is resolved.
    pub fn resolve(&mut self, drained: Id) -> bool {
        self.accumulated.resolve(drained);
        if self.inherited.resolve(drained) && kept(Rule::AccessesKeptWhileInherited, self.inherited.is_empty(), || true)
        {
            self.since.clear();
        }
        let mut any = false;
        for (_, entry) in self.entries.iter_mut() {
            any |= entry.waits.resolve(drained);
        }
        any
    }

    /// Begins to drain the oldest entry, unless it is on its way, depends on something or is held
    /// back `now`: its number. A buffer drains one entry at a time; `fences`: whether a fence may.
    pub fn start_drain(&mut self, now: Cycles, fences: bool) -> Option<(u64, Drain)> {
        let (number, entry) = self.entries.first()?;
        if entry.sent || !entry.waits.is_empty() || self.is_held(entry, now) {
            return None;
        }
        let drain = match entry.content {
            Content::Persist { line, data, .. } => Drain::Persist(line, data),
            Content::Fence { .. } if !fences => return None,
            Content::Fence { .. } => Drain::Fence,
        };
        self.entries.at_mut(0).sent = true;
        Some((number, drain))
    }

    /// Whether the next entry to drain is a fence.
    #[must_use]
    pub fn has_fence_next(&self) -> bool {
        let oldest = self.entries.first();
        oldest.is_some_and(|(_, entry)| !entry.sent && entry.kind() == BufferedKind::Fence)
    }

    /// A persist is held back while nobody waits for it: no fence is behind it, no core depends on
    /// it, and the buffer has room.
    fn is_held(&self, entry: &Entry, now: Cycles) -> bool {
        let mut entries = self.entries.iter();
        let mut waits = || entries.any(|(_, later)| later.kind() == BufferedKind::Fence || later.wanted);
        now < entry.held && !self.is_full() && !waits()
    }

    /// Until when the oldest persist may be held back, unless it is on its way.
    #[must_use]
    pub fn held_until(&self) -> Option<Cycles> {
        let oldest = self.entries.first().filter(|(_, entry)| !entry.sent);
        oldest.map(|(_, entry)| entry.held)
    }

    /// What the oldest entry depends on, if it may not drain because of that.
    #[must_use]
    pub fn waits_for_others(&self) -> Option<Waiting> {
        let (number, entry) = self.entries.first().filter(|(_, entry)| !entry.waits.is_empty())?;
        let on = entry.waits.iter().count();
        Some(Waiting { number, on })
    }

    /// The oldest entry, if it is a fence: its number, and which `dfence` it is, if one.
    #[must_use]
    pub fn fence_first(&self) -> Option<(u64, Option<u64>)> {
        match self.entries.first() {
            Some((number, entry)) => match entry.content {
                Content::Fence { durable, .. } => Some((number, durable)),
                Content::Persist { .. } => None,
            },
            None => None,
        }
    }

    /// An entry has drained: the line of a persist.
    pub fn drained(&mut self, number: u64) -> Option<Line> {
        match self.entries.remove(number)?.content {
            Content::Persist { line, .. } => Some(line),
            Content::Fence { mut accesses, .. } => {
                self.fences -= 1;
                accesses.clear();
                self.spare.push(accesses);
                None
            }
        }
    }
}
