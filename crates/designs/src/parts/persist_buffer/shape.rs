//! How large persist buffers and what belongs to them are, and what carries dependences.

use strandline_design::Sizes;
use strandline_kernel::{Cycles, Param};

/// Which accesses make an epoch depend on another core's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// Any access to a line that another core has written (epoch persistency, ASAP IV-A).
    EveryLine,
    /// An access to a line that another core's release has written (release persistency, ASAP IV-A and IV-E); and a write to a
    /// persistent line that another core has written, since flushes are of whole lines, with that core's bytes.
    Releases,
    /// A write to a persistent line that another core or another strand has written (strong persist atomicity alone: strand
    /// persistency, ASAP II-A).
    Conflicts,
}

/// `--set design.entries=N`: ASAP, Table II.
pub const BUFFER_ENTRIES: Param = Param {
    name: "entries",
    default: 32,
    min: 1,
    max: 4096,
    help: "entries of a core's persist buffer",
};

/// `--set design.epochs=N`: ASAP VI.
pub const EPOCH_ENTRIES: Param = Param {
    name: "epochs",
    default: 32,
    min: 2,
    max: 4096,
    help: "entries of a core's epoch table",
};

/// `--set design.table=N`: ASAP, Table II.
pub const TABLE_ENTRIES: Param = Param {
    name: "table",
    default: 32,
    min: 1,
    max: 4096,
    help: "undo and delay records of a controller's recovery table",
};

/// `--set design.gather=N`: not in the papers. ASAP's public artifact has 16 for HOPS and 2 for ASAP; one for both, so that neither
/// wins by it.
pub const GATHER: Param = Param {
    name: "gather",
    default: 16,
    min: 1,
    max: 4096,
    help: "writes of an epoch that has not ended go when so many wait, and stores join those that do",
};

/// `--set design.gather_time=N`: not in the papers; as [`GATHER`] (2,000 ns).
pub const GATHER_TIME: Param = Param {
    name: "gather_time",
    default: 4000,
    min: 1,
    max: 1_000_000,
    help: "cycles after which they go anyway",
};

/// `--set design.poll=N`: ASAP VI-B.
pub const POLL_PERIOD: Param = Param {
    name: "poll",
    default: 500,
    min: 1,
    max: 1_000_000,
    help: "cycles between two looks at the global register of complete epochs",
};

/// `--set design.poll_access=N`: ASAP VI-B.
pub const POLL_ACCESS: Param = Param {
    name: "poll_access",
    default: 50,
    min: 1,
    max: 1_000_000,
    help: "cycles of an access to the global register of complete epochs",
};

/// Sizes and times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Entries of a core's persist buffer.
    pub entries: usize,
    /// Entries of a core's epoch table; none: it is not limited.
    pub epochs: Option<usize>,
    /// How cores learn that other cores' epochs are durable.
    pub resolution: Resolution,
    /// Writes of an epoch that has not ended go when so many wait.
    pub gather: usize,
    /// They go when so many cycles have passed.
    pub gather_time: u64,
}

/// How cores learn that other cores' epochs are durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Each core publishes its last complete epoch in a global register, and looks there for others' (HOPS).
    Polled {
        /// Cycles between two looks.
        period: u64,
        /// Cycles of an access to the register.
        access: u64,
    },
    /// By messages from core to core (ASAP V-C).
    Told,
}

impl Resolution {
    /// When a core knows that another core's epoch is complete which has completed `now`; `message`: cycles of a message.
    #[must_use]
    pub fn known_at(self, now: Cycles, message: Cycles) -> Cycles {
        match self {
            Resolution::Told => now + message,
            Resolution::Polled { period, access } => {
                let published = now.0 + access;
                Cycles(published.next_multiple_of(period) + access)
            }
        }
    }
}

/// Bits of a line's number: physical addresses have 48 bits; the papers do not say.
const LINE_BITS: u64 = 42;

impl Shape {
    /// Bits that tell a core's epochs apart: one more than its buffer's entries need, or its epoch table's.
    fn epoch_bits(&self) -> u64 {
        bits(self.epochs.unwrap_or(2 * self.entries) as u64)
    }

    /// Bytes of all cores' persist buffers: a line, its number, its epoch, and how far it is. Where epochs have no table, an entry
    /// holds the epoch of another core that its own depends on, and a core its current and its last complete epoch.
    #[must_use]
    pub fn buffer_bytes(&self, machine: &Sizes) -> u64 {
        let epoch = self.epoch_bits();
        let flags = if self.epochs.is_some() { 2 } else { 1 };
        let others = if self.epochs.is_some() {
            0
        } else {
            1 + bits(machine.cores) + epoch
        };
        let entry = 512 + LINE_BITS + epoch + flags + others;
        machine.cores * (self.entries as u64 * entry + 2 * epoch).div_ceil(8)
    }

    /// Bytes of all cores' epoch tables: an epoch, its writes that are not acknowledged, one other core's epoch that it awaits, a bit
    /// for each core that awaits it and for each controller with early writes of it, and how far it is (ASAP V-A).
    #[must_use]
    pub fn epoch_table_bytes(&self, machine: &Sizes) -> u64 {
        let Some(epochs) = self.epochs else { return 0 };
        let epoch = self.epoch_bits();
        let awaits = 1 + bits(machine.cores) + epoch;
        let entry = epoch + bits(self.entries as u64) + 1 + awaits + machine.cores + machine.controllers + 2;
        machine.cores * (epochs as u64 * entry).div_ceil(8)
    }

    /// Bytes of all controllers' recovery tables of so many records: a line, its number, the core and epoch that made the record,
    /// and its kind (ASAP V-A).
    #[must_use]
    pub fn recovery_table_bytes(&self, records: u64, machine: &Sizes) -> u64 {
        let record = 512 + LINE_BITS + bits(machine.cores) + self.epoch_bits() + 2;
        machine.controllers * (records * record).div_ceil(8)
    }
}

/// Bits that tell so many things apart.
fn bits(things: u64) -> u64 {
    u64::from(things.next_power_of_two().ilog2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polling_cores_see_what_was_published_before_they_looked() {
        let polled = Resolution::Polled {
            period: 500,
            access: 50,
        };
        let at = |now| polled.known_at(Cycles(now), Cycles(4)).0;
        assert_eq!((at(0), at(449), at(450), at(451)), (550, 550, 550, 1050));
        let every_cycle = Resolution::Polled { period: 1, access: 1 };
        assert_eq!(every_cycle.known_at(Cycles(7), Cycles(4)), Cycles(9));
    }

    #[test]
    fn whoever_is_told_knows_after_a_message() {
        assert_eq!(Resolution::Told.known_at(Cycles(7), Cycles(4)), Cycles(11));
    }
}
