//! Bytes of storage that ASAP adds to a machine.

use super::super::buffers::Settings;
use crate::parts::bloom::FILTER_BYTES;
use crate::parts::epochs::bits;
use crate::parts::persist_buffer::LINE_NUMBER_BITS;
use strandline_design::{Held, Place, Sizes};
use strandline_isa::LINE_BYTES;

/// Sizes of what the controllers keep.
#[derive(Clone, Copy, Debug)]
pub struct Storage {
    /// Records of a recovery table.
    pub records: u64,
    /// The frontiers; `None`: there are none.
    pub frontiers: Option<Frontiers>,
}

/// The frontiers of `asap-frontier`.
#[derive(Clone, Copy, Debug)]
pub struct Frontiers {
    /// Bits of an epoch's number there and in records: a number outlives its entry of the epoch table.
    pub number: u64,
    /// Bits of a core's frontier beside its number.
    pub more: u64,
}

impl Frontiers {
    /// Bytes of the frontiers of all cores.
    fn bytes(self, machine: &Sizes) -> u64 {
        (machine.cores * (self.number + self.more)).div_ceil(8)
    }
}

impl Storage {
    /// The structures of all cores and controllers (ASAP V-A).
    #[must_use]
    pub fn parts(self, settings: &Settings, machine: &Sizes) -> Vec<(&'static str, u64)> {
        let epochs = settings.epochs.unwrap_or_default() as u64;
        let epoch = bits(epochs);
        // Beyond the fields of every buffer: the entry's state.
        let buffers = settings.buffer_bytes(machine, epoch, 2);
        let tables = machine.cores * (epochs * epoch_entry_bits(settings, epoch, machine)).div_ceil(8);
        let recovery = machine.controllers * self.table_bytes(settings, machine);
        let mut parts = vec![
            ("persist buffers", buffers),
            ("epoch tables", tables),
            ("recovery tables", recovery),
            ("Bloom filters", machine.controllers * FILTER_BYTES),
        ];
        // Each controller has one of each core; a core has its own, and what of it was answered.
        let frontiers = self
            .frontiers
            .map(|frontiers| (machine.controllers + 2) * frontiers.bytes(machine));
        parts.extend(frontiers.map(|bytes| ("frontiers", bytes)));
        parts
    }

    /// The lines of the buffers, and what is saved beside the queues: a line for every undo record (ASAP V-E); with frontiers
    /// the whole records, which recovery reads, and the frontiers.
    #[must_use]
    pub fn held(self, settings: &Settings, machine: &Sizes) -> Vec<Held> {
        let beside = |name, of_a_controller: u64| Held {
            name,
            place: Place::ControllerBuffer,
            bytes: machine.controllers * of_a_controller,
        };
        let mut held = vec![settings.held(machine)];
        match self.frontiers {
            None => held.push(beside("recovery tables", self.records * LINE_BYTES)),
            Some(frontiers) => held.extend([
                beside("recovery tables", self.table_bytes(settings, machine)),
                beside("frontiers", frontiers.bytes(machine)),
            ]),
        }
        held
    }

    /// Bytes of a recovery table.
    fn table_bytes(self, settings: &Settings, machine: &Sizes) -> u64 {
        let epoch = match self.frontiers {
            None => bits(settings.epochs.unwrap_or_default() as u64),
            Some(frontiers) => frontiers.number,
        };
        (self.records * record_bits(epoch, machine)).div_ceil(8)
    }
}

/// An epoch, its unacknowledged writes, the one epoch of another core that it awaits, a bit for
/// each core that awaits it and for each controller with early writes of it, and its state.
fn epoch_entry_bits(settings: &Settings, epoch: u64, machine: &Sizes) -> u64 {
    let awaits = 1 + bits(machine.cores) + epoch;
    epoch + bits(settings.entries as u64) + 1 + awaits + machine.cores + machine.controllers + 2
}

/// A line, its number, the core and epoch that created the record, and its kind.
fn record_bits(epoch: u64, machine: &Sizes) -> u64 {
    8 * LINE_BYTES + LINE_NUMBER_BITS + bits(machine.cores) + epoch + 2
}
