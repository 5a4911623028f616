//! The parameters of Delegated Persist Ordering, and the storage that follows from them.

use super::accesses::FILTER_BYTES;
use strandline_design::{Held, Place, Sizes};
use strandline_isa::LINE_BYTES;
use strandline_kernel::{Param, Params};

const ENTRIES: Param = Param {
    name: "entries",
    default: 8,
    min: 1,
    max: 4096,
    help: "entries of a core's persist buffer, fences among them",
    source: "Delegated Persist Ordering IV-D",
    words: &[],
};
const FENCES: Param = Param {
    name: "fences",
    default: 4,
    min: 1,
    max: 4096,
    help: "fences that a core's persist buffer holds at once",
    source: "Delegated Persist Ordering IV-D",
    words: &[],
};
const PUBLISHED: Param = Param {
    name: "published",
    default: 0,
    min: 0,
    max: 1,
    help: "1: no core passes on dependences that it has met without a persist or fence of its own, as in the paper",
    source: "Delegated Persist Ordering, Equation 6",
    words: &[],
};
const ANNOUNCES: Param = Param {
    name: "announces",
    default: 0,
    min: 0,
    max: 1,
    help: "1: no core waits for durability; what a program announces after a dfence becomes true when it is durable",
    source: "Delegated Persist Ordering: the paper has no instruction that waits for durability",
    words: &[],
};
const SEPARATORS: Param = Param {
    name: "separators",
    default: 1,
    min: 1,
    max: 1 << 16,
    help: "separators in the write queues at once: further fences wait in their buffers, and end one epoch together",
    source: "not in the paper, which says that epochs of several cores join, but not how",
    words: &[],
};
const DELAY: Param = Param {
    name: "delay",
    default: 0,
    min: 0,
    max: 1_000_000,
    help: "cycles for which a persist that nothing waits for is held back, to coalesce more",
    source: "Delegated Persist Ordering IV-F, future work there",
    words: &[],
};

/// Bytes of an entry and of AccumDP (DPO IV-D).
const ENTRY_BYTES: u64 = 72;
const ACCUMULATED_BYTES: u64 = 64;

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Entries of a persist buffer.
    pub entries: usize,
    /// Fences that it holds.
    pub fences: usize,
    /// No dependence is inherited.
    pub published: bool,
    /// No core waits for durability.
    pub announces: bool,
    /// Separators in the write queues at once.
    pub separators: u64,
    /// Cycles for which a persist may be held back.
    pub delay: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings::of(&Params::defaults(Settings::PARAMS))
    }
}

impl Settings {
    /// The parameters by name.
    pub const PARAMS: &[Param] = &[ENTRIES, FENCES, PUBLISHED, ANNOUNCES, SEPARATORS, DELAY];

    /// Those under which `models/rcbsp.cat` does not hold: Equation 6 without inherited dependences,
    /// and a `dfence` that nobody waits for.
    pub const MODES: &[&str] = &[PUBLISHED.name, ANNOUNCES.name];

    /// These values.
    #[must_use]
    pub fn of(params: &Params) -> Settings {
        Settings {
            entries: params.get(ENTRIES.name) as usize,
            fences: params.get(FENCES.name) as usize,
            published: params.get(PUBLISHED.name) > 0,
            announces: params.get(ANNOUNCES.name) > 0,
            separators: params.get(SEPARATORS.name),
            delay: params.get(DELAY.name),
        }
    }

    /// The lines of the buffers.
    #[must_use]
    pub fn held(&self, machine: &Sizes) -> Vec<Held> {
        vec![Held {
            name: "persist buffers",
            place: Place::CoreBuffer,
            bytes: machine.cores * self.entries as u64 * LINE_BYTES,
        }]
    }

    /// The paper's structures, with its bytes of an entry and of AccumDP whatever their number, and
    /// the pair of filters for inherited dependences.
    #[must_use]
    pub fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        let of_a_core = [
            ("persist buffers", self.entries as u64 * ENTRY_BYTES),
            ("read and write sets", 2 * self.fences as u64 * FILTER_BYTES),
            ("AccumDP", ACCUMULATED_BYTES),
            (
                "inherited dependences",
                if self.published { 0 } else { 2 * FILTER_BYTES },
            ),
        ];
        let used = of_a_core.into_iter().filter(|(_, bytes)| *bytes > 0);
        used.map(|(name, bytes)| (name, machine.cores * bytes)).collect()
    }
}
