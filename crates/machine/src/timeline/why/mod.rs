//! Where the cycles of the cores went: one class for each slot of a cycle, the same classes for all designs.
//!
//! A core has as many slots in a cycle as it can dispatch micro-ops. A slot with a micro-op is its program's own. Any
//! other has one cause: what the oldest instruction, the fence or the store queue waited for *in that cycle*. A wait ends by an event, and that event's own way (through the
//! store queue, to the controller, into the write queue) says cycle by cycle what was awaited.

mod blame;
mod index;
#[cfg(test)]
mod tests;

use super::Timeline;
use index::Index;
use serde::Serialize;

macro_rules! classes {
    ($($(#[$doc:meta])* $class:ident = $key:ident $what:literal,)*) => {
        /// A class of cycles.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Class { $($(#[$doc])* $class,)* }

        impl Class {
            /// All of them, in the order in which they are shown.
            pub const ALL: &'static [Class] = &[$(Class::$class),*];

            /// The key of the class in results.
            #[must_use]
            pub fn key(self) -> &'static str {
                match self { $(Class::$class => stringify!($key),)* }
            }

            /// What the cycles were spent on, in a few words.
            #[must_use]
            pub fn what(self) -> &'static str {
                match self { $(Class::$class => $what,)* }
            }
        }
    };
}

classes! {
    /// A micro-op was dispatched.
    Retiring = retiring "instructions are dispatched",
    /// Arithmetic or a port kept the window or the issue queue full.
    Execution = execution "long arithmetic, or a want of ports",
    /// A misprediction, a decoder, or a page fault.
    FrontEnd = front_end "mispredictions, decoding, page faults",
    /// A load's or store's missing line or translation, with nothing to order.
    Data = data_misses "lines and translations that loads and stores miss",
    /// A locked instruction, or another thread for which the program waits.
    Lock = locks "locked instructions, and threads that wait for another",
    /// Ordering: older stores must become visible.
    Visible = stores_visible "older stores become visible",
    /// Ordering: flushes and writes on their way to the persistence domain, and the acknowledgement's way back.
    Way = way_to_domain "flushes and writes on their way, and their acknowledgements",
    /// Ordering: a queue or buffer of the core or the design is full.
    Full = buffer_full "a write-back, persist or other buffer is full",
    /// Ordering: the controller's write queue is full, or writes in it wait for the media.
    Media = media_bandwidth "writes wait, since the media are busy",
    /// Ordering: another core's epoch, line or write.
    Other = other_core "another core's epoch or write",
    /// Ordering: the design's own conditions, such as a commit.
    Commit = commit "the design's own conditions, such as a commit",
    /// What was executed and rolled back.
    RollBack = roll_back "work that was rolled back",
    /// The core has ended its tasks.
    Idle = idle "the thread has ended",
}

impl Class {
    /// Whether it is a part of persist ordering.
    #[must_use]
    pub fn orders(self) -> bool {
        (Class::Visible..=Class::RollBack).contains(&self)
    }
}

impl Serialize for Class {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key())
    }
}

/// The slots of one core, by class. They add up to the cycles of the timed region, times the slots of a cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spent([u64; Class::ALL.len()]);

impl Spent {
    /// The slots of a class.
    #[must_use]
    pub fn of(&self, class: Class) -> u64 {
        self.0[class as usize]
    }

    /// All slots.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.0.iter().sum()
    }

    fn add(&mut self, class: Class, slots: u64) {
        self.0[class as usize] += slots;
    }
}

impl Serialize for Spent {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Class::ALL.iter().map(|class| (class.key(), self.of(*class))))
    }
}

impl Timeline {
    /// Where the cycles of each of `cores` cores went, in the timed region, if a core dispatches `width` micro-ops a
    /// cycle. The timeline has all operations, and [`super::Detail::heads`].
    #[must_use]
    pub fn why(&self, cores: usize, width: u64) -> Vec<Spent> {
        let index = Index::new(self, cores, width);
        (0..cores).map(|core| index.spent(core as u16)).collect()
    }
}
