//! A litmus test.

use super::{Class, Condition, Instruction};
use std::collections::BTreeSet;

/// A location of a test: its index in [`Test::locations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocationId(pub u8);

/// Where a location is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LocationKind {
    /// In persistent memory.
    Persistent,
    /// In DRAM.
    Volatile,
    /// An output, which the outside world observes.
    Output,
}

/// A location of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub kind: LocationKind,
    /// Its cache line, counted from 0; locations with the same number share it. Outputs ignore it.
    pub line: usize,
    /// Its value at first.
    pub initial: u8,
}

/// The hosts of a test's threads, and which of them fail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    /// The host of each thread; empty if the test names none, and all threads are on one.
    pub of_threads: Vec<u8>,
    /// The hosts that fail while the others go on, in order; empty if power fails everywhere.
    pub fail: Vec<u8>,
    /// The host that owns each location, or none if the device does; empty if the test names no owner.
    pub owners: Vec<Option<u8>>,
}

impl Hosts {
    /// Whether the test names hosts.
    #[must_use]
    pub fn are_named(&self) -> bool {
        !self.of_threads.is_empty()
    }

    /// The host that owns a location, if it is not the device's.
    #[must_use]
    pub fn owner(&self, id: LocationId) -> Option<u8> {
        self.owners.get(usize::from(id.0)).copied().flatten()
    }

    /// Whether the caches of a location's owner are lost: the device's if power fails everywhere.
    #[must_use]
    pub fn loses_owner(&self, id: LocationId) -> bool {
        self.fail_alone()
            .is_none_or(|fail| self.owner(id).is_some_and(|owner| fail.contains(&owner)))
    }

    /// The hosts that fail while others go on; none if power fails everywhere.
    #[must_use]
    pub fn fail_alone(&self) -> Option<&[u8]> {
        let goes_on = self.of_threads.iter().any(|host| !self.fail.contains(host));
        (goes_on && !self.fail.is_empty()).then_some(&self.fail)
    }

    /// Whether a thread runs to its end whatever fails.
    #[must_use]
    pub fn survives(&self, thread: usize) -> bool {
        let host = self.of_threads.get(thread);
        !self.fail.is_empty() && host.is_some_and(|host| !self.fail.contains(host))
    }
}

/// A litmus test: its locations (persistent and volatile ones by name, then the outputs by name), and its threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// One sentence, maybe empty.
    pub title: String,
    /// What its instructions name.
    pub locations: Vec<Location>,
    /// The threads' instructions.
    pub threads: Vec<Vec<Instruction>>,
    /// Where the threads run.
    pub hosts: Hosts,
    /// The state that the reader should note.
    pub condition: Condition,
}

impl Test {
    /// A location.
    #[must_use]
    pub fn location(&self, id: LocationId) -> &Location {
        &self.locations[id.0 as usize]
    }

    /// All locations, with their names for instructions.
    pub fn ids(&self) -> impl Iterator<Item = LocationId> {
        (0..self.locations.len()).map(|index| LocationId(index as u8))
    }

    /// The locations of a state, in this order: the persistent locations, then the outputs.
    #[must_use]
    pub fn observed(&self) -> Vec<LocationId> {
        let of = |kind| self.ids().filter(move |id| self.location(*id).kind == kind);
        of(LocationKind::Persistent).chain(of(LocationKind::Output)).collect()
    }

    /// The classes of its instructions, which a model must define.
    #[must_use]
    pub fn classes(&self) -> BTreeSet<Class> {
        let instructions = self.threads.iter().flatten();
        instructions.filter_map(|instruction| instruction.class()).collect()
    }

    /// Whether its locations have owners, as those of CXL0: it names one, or an instruction that says how far a value goes.
    #[must_use]
    pub fn has_owners(&self) -> bool {
        let of_owners = |class: &Class| Class::STORES_TO.contains(class) || Class::FLUSHES_TO.contains(class);
        !self.hosts.owners.is_empty() || self.classes().iter().any(of_owners)
    }

    /// Number of events of its executions.
    #[must_use]
    pub fn events(&self) -> usize {
        let initial = self
            .locations
            .iter()
            .filter(|at| at.kind != LocationKind::Output)
            .count();
        let instructions = self.threads.iter().flatten();
        let ends = (0..self.threads.len()).filter(|thread| self.hosts.survives(*thread));
        initial + instructions.map(|instruction| instruction.events()).sum::<usize>() + ends.count()
    }
}
