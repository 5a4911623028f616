//! IDs of persists and fences in flight, and the dependences on them.

use strandline_isa::CoreId;

/// A persist or fence in flight: "{core}:{entry}" (DPO IV-D, field ID). Entries are numbered in the
/// order of a core's program and never used again; the hardware's number is this one modulo the
/// buffer's entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    /// The core.
    pub core: CoreId,
    /// The entry of its persist buffer.
    pub number: u64,
}

/// What an entry is (DPO IV-D, field T).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BufferedKind {
    /// A persist.
    Persist,
    /// A fence, which ends an epoch.
    Fence,
}

/// A dependence on another core's persist or fence, as a coherence reply carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// On what.
    pub on: Id,
    /// Whether that is a persist or a fence.
    pub kind: BufferedKind,
    /// Whether the line of the request is in volatile memory.
    pub volatile: bool,
}

/// Dependences, at most one on each core: on its youngest entry, before which all its older ones
/// drain (DPO IV-D, field DP).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependences(Vec<Dependence>);

impl Dependences {
    /// Adds one.
    pub fn add(&mut self, new: Dependence) {
        match self.0.iter_mut().find(|old| old.on.core == new.on.core) {
            Some(old) if old.on.number >= new.on.number => {}
            Some(old) => *old = new,
            None => self.0.push(new),
        }
    }

    /// Clears the one on an entry that has drained; whether there was one.
    pub fn resolve(&mut self, drained: Id) -> bool {
        let before = self.0.len();
        self.0
            .retain(|d| d.on.core != drained.core || d.on.number > drained.number);
        self.0.len() < before
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Dependence> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(core: u16, number: u64) -> Dependence {
        let core = CoreId(core);
        Dependence {
            on: Id { core, number },
            kind: BufferedKind::Persist,
            volatile: false,
        }
    }

    #[test]
    fn the_youngest_of_each_core_is_kept() {
        let mut all = Dependences::default();
        for dependence in [on(1, 4), on(2, 0), on(1, 7), on(1, 5)] {
            all.add(dependence);
        }
        assert_eq!(all.iter().collect::<Vec<_>>(), [&on(1, 7), &on(2, 0)]);
    }

    #[test]
    fn a_dependence_is_resolved_by_its_entry_and_not_by_an_older_one() {
        let mut all = Dependences::default();
        all.add(on(1, 7));
        assert!(!all.resolve(on(1, 6).on) && !all.resolve(on(2, 7).on));
        assert!(all.resolve(on(1, 7).on));
        assert!(all.is_empty());
    }
}
