//! Bytes of storage that ASAP adds to a machine.

use super::super::buffers::Settings;
use crate::parts::bloom::FILTER_BYTES;
use crate::parts::epochs::bits;
use crate::parts::persist_buffer::LINE_NUMBER_BITS;
use strandline_design::Sizes;
use strandline_isa::LINE_BYTES;

/// The structures of all cores and controllers (ASAP V-A), with `records` records of a recovery table.
#[must_use]
pub fn parts(settings: &Settings, records: usize, machine: &Sizes) -> Vec<(&'static str, u64)> {
    let epochs = settings.epochs.unwrap_or_default() as u64;
    let epoch = bits(epochs);
    // Beyond the fields of every buffer: the entry's state.
    let buffers = settings.buffer_bytes(machine, epoch, 2);
    let tables = machine.cores * (epochs * epoch_entry_bits(settings, epoch, machine)).div_ceil(8);
    let recovery = machine.controllers * (records as u64 * record_bits(epoch, machine)).div_ceil(8);
    vec![
        ("persist buffers", buffers),
        ("epoch tables", tables),
        ("recovery tables", recovery),
        ("Bloom filters", machine.controllers * FILTER_BYTES),
    ]
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
