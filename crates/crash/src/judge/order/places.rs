//! The locations of a run: groups of addresses that are accessed together.

use std::collections::BTreeSet;
use strandline_isa::{Addr, LINE_BYTES};
use strandline_machine::{Trace, TraceOp};

/// Bytes that some access touches together: overlapping accesses of different sizes share a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BytePlace {
    /// The first byte.
    pub addr: Addr,
    /// How many bytes, at most 8.
    pub size: u8,
    /// More than one core uses it.
    pub shared: bool,
    /// Some core writes it.
    pub written: bool,
}

impl BytePlace {
    /// Its bits in the word that holds it.
    pub fn bits(&self, word: u64) -> u64 {
        (word >> ((self.addr.0 % 8) * 8)) & mask(self.size)
    }

    /// Its content after a write of `value` (`size` bytes) at `addr`, when it was `content`.
    pub fn written_over(&self, content: u64, addr: Addr, size: u8, value: u64) -> u64 {
        let shift = (addr.0 - self.addr.0) * 8;
        let mask = mask(size) << shift;
        (content & !mask) | ((value << shift) & mask)
    }

    /// Its index in the line.
    pub fn word_of_line(&self) -> usize {
        (self.addr.0 % LINE_BYTES / 8) as usize
    }

    /// Whether the oracle also needs its reads.
    pub fn is_seen(&self) -> bool {
        self.shared && self.written
    }

    /// Whether the oracle needs it at all.
    pub fn matters(&self) -> bool {
        self.written && (self.shared || self.addr.is_persistent())
    }
}

fn mask(size: u8) -> u64 {
    u64::MAX >> (64 - 8 * u32::from(size))
}

/// An access: address, size, and whether it writes.
pub fn touched(op: &TraceOp) -> Option<(Addr, u8, bool)> {
    match *op {
        TraceOp::Load { addr, size, .. } => Some((addr, size, false)),
        TraceOp::Store { addr, size, .. } | TraceOp::StoreNt { addr, size, .. } => Some((addr, size, true)),
        TraceOp::Rmw { addr, .. } => Some((addr, 8, true)),
        TraceOp::Flush { .. } | TraceOp::Primitive(_) | TraceOp::Note(_) => None,
    }
}

/// The locations of a trace, sorted by address.
pub fn places(trace: &Trace) -> Vec<BytePlace> {
    let mut accesses = BTreeSet::new();
    for (core, op) in trace
        .programs
        .iter()
        .enumerate()
        .flat_map(|(core, ops)| ops.iter().map(move |op| (core, op)))
    {
        accesses.extend(touched(op).map(|(addr, size, writes)| (addr, size, core, writes)));
    }
    let mut places: Vec<(BytePlace, usize)> = Vec::new();
    for (addr, size, core, writes) in accesses {
        match places.last_mut() {
            Some((last, first_core)) if addr.0 < last.addr.0 + u64::from(last.size) => {
                last.size = last.size.max((addr.0 - last.addr.0) as u8 + size);
                last.shared |= core != *first_core;
                last.written |= writes;
            }
            _ => places.push((
                BytePlace {
                    addr,
                    size,
                    shared: false,
                    written: writes,
                },
                core,
            )),
        }
    }
    places.into_iter().map(|(place, _)| place).collect()
}

/// The location that an access is in.
pub fn place_of(places: &[BytePlace], addr: Addr) -> usize {
    places.partition_point(|place| place.addr <= addr).saturating_sub(1)
}
