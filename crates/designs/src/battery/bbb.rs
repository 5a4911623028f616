//! BBB: battery-backed buffers beside the caches.
//!
//! What: each core has a buffer of lines beside its private caches, saved by a battery when power fails. A store to persistent
//! memory enters it as it becomes visible, so it is durable then, as under eADR, and neither flushes nor fences are needed. A
//! line is in one buffer at most: it joins an entry that has not been sent, and moves to the buffer of a core that asks to
//! write it. The oldest entries are sent to the controllers while more than three quarters of a buffer wait; a store that
//! finds no room waits. Dirty persistent lines that leave the last level are dropped, since a buffer has persisted them.
//! Source: ASAP (HPCA 2022), sections II-C and VI-B; BBB (HPCA 2021), whose buffers start to drain at three quarters.
//! Simplified, and optimistic as ASAP's: moving an entry takes no time, and one that finds the other buffer full is sent to
//! its controller instead. A line that is missed in every cache while a buffer holds it is there when memory would have
//! answered. The battery never fails.

use std::collections::VecDeque;

use crate::parts::persist_buffer::BUFFER_ENTRIES;
use strandline_design::{
    About, Access, Asked, Counters, Departure, Design, Domain, Entry, Eviction, Gate, Level, Needs, Occupancy, Places,
    Services, Sizes, Until,
};
use strandline_isa::{Addr, CoreId, Line, Lowering, Primitive, LINE_BYTES};
use strandline_kernel::{Cycles, Param, Params};

/// Battery-backed buffers.
#[derive(Clone, Debug)]
pub struct Bbb {
    entries: usize,
    buffers: Vec<Buffer>,
    /// Writes sent so far, by which acknowledgements are told apart.
    sent: u64,
}

/// A core's buffer. What an entry holds is what its line is for everybody: another core's store would have moved it.
#[derive(Clone, Debug, Default)]
struct Buffer {
    /// Lines not sent yet, oldest first.
    waiting: VecDeque<Line>,
    /// Writes sent and not acknowledged.
    on_their_way: Vec<u64>,
    stores_wait: bool,
    occupancy: Occupancy,
}

impl Buffer {
    fn in_use(&self) -> usize {
        self.waiting.len() + self.on_their_way.len()
    }

    /// Takes a line out that has not been sent.
    fn take(&mut self, line: Line) -> bool {
        let found = self.waiting.iter().position(|waiting| *waiting == line);
        found.and_then(|index| self.waiting.remove(index)).is_some()
    }
}

impl Default for Bbb {
    fn default() -> Self {
        Bbb {
            entries: BUFFER_ENTRIES.default as usize,
            buffers: Vec::new(),
            sent: 0,
        }
    }
}

impl Bbb {
    fn buffer(&mut self, core: CoreId) -> &mut Buffer {
        if self.buffers.len() <= core.index() {
            self.buffers.resize(core.index() + 1, Buffer::default());
        }
        &mut self.buffers[core.index()]
    }

    /// Whether a store to this line finds an entry.
    fn takes(&mut self, core: CoreId, line: Line) -> bool {
        let entries = self.entries;
        let buffer = self.buffer(core);
        buffer.waiting.contains(&line) || buffer.in_use() < entries
    }

    fn enter(&mut self, hw: &mut dyn Services, core: CoreId, line: Line) {
        let buffer = self.buffer(core);
        if !buffer.waiting.contains(&line) {
            buffer.waiting.push_back(line);
        }
        self.drain(hw, core);
    }

    /// Sends the oldest entries while more than three quarters of the buffer wait.
    fn drain(&mut self, hw: &mut dyn Services, core: CoreId) {
        let most = self.entries * 3 / 4;
        while self.buffer(core).waiting.len() > most {
            if let Some(line) = self.buffer(core).waiting.pop_front() {
                self.send(hw, core, line);
            }
        }
        let buffer = self.buffer(core);
        buffer.occupancy.set(hw.now(), buffer.in_use());
    }

    fn send(&mut self, hw: &mut dyn Services, core: CoreId, line: Line) {
        self.sent += 1;
        let id = self.sent;
        self.buffer(core).on_their_way.push(id);
        hw.write(core, line, hw.visible_line(line), id);
    }

    /// The owner's entry of a line that another core asks to write.
    fn hand_over(&mut self, hw: &mut dyn Services, owner: CoreId, requester: CoreId, line: Line) {
        if !self.buffer(owner).take(line) {
            return;
        }
        if self.takes(requester, line) {
            self.enter(hw, requester, line);
            self.made_room(hw, owner);
        } else {
            self.send(hw, owner, line);
        }
    }

    fn made_room(&mut self, hw: &mut dyn Services, core: CoreId) {
        if std::mem::take(&mut self.buffer(core).stores_wait) {
            hw.open(room(core));
        }
        self.drain(hw, core);
    }
}

fn room(core: CoreId) -> Gate {
    Gate(u64::from(core.0))
}

impl Design for Bbb {
    fn about(&self) -> About {
        About {
            name: "bbb",
            paper: "BBB (HPCA 2021); ASAP II-C",
            summary: "battery-backed buffers beside the caches; no flushes, fences only to acknowledge",
            needs: Needs { adr: true, tso: true },
            promises_recovery: true,
            model: "bbb",
            intents: Some("intents"),
            window: None,
        }
    }

    fn places(&self) -> Places {
        Places {
            stores: true,
            plain_nt: true,
            all_cores_asked: true,
            ..Places::default()
        }
    }

    fn domain(&self) -> Domain {
        Domain::Caches
    }

    fn params(&self) -> &'static [Param] {
        &[BUFFER_ENTRIES]
    }

    fn set(&mut self, params: &Params) {
        self.entries = params.get(BUFFER_ENTRIES.name) as usize;
    }

    /// An entry is a line, its number and whether it is on its way. Physical addresses have 48 bits.
    fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        let of_a_core = (self.entries as u64 * (8 * LINE_BYTES + 42 + 1)).div_ceil(8);
        vec![("persist buffers", machine.cores * of_a_core)]
    }

    /// The lines of all buffers.
    fn drain_bytes(&self, machine: &Sizes) -> u64 {
        machine.cores * self.entries as u64 * LINE_BYTES
    }

    /// As under eADR: what has retired may still wait in the store queue.
    fn lowering(&self) -> Lowering {
        Lowering {
            log: true,
            durable: &[Primitive::Sfence],
            ..Lowering::NOTHING
        }
    }

    fn departs(&mut self, _: &mut dyn Services, core: CoreId, entry: Entry, _: u8) -> Departure {
        match entry {
            Entry::Store(addr) | Entry::StoreNt(addr) if addr.is_persistent() && !self.takes(core, addr.line()) => {
                self.buffer(core).stores_wait = true;
                Departure::Wait(Until::Open(room(core)))
            }
            _ => Departure::Go,
        }
    }

    fn visible(&mut self, hw: &mut dyn Services, core: CoreId, addr: Addr) {
        if addr.is_persistent() {
            self.enter(hw, core, addr.line());
        }
    }

    fn flushed(&mut self, hw: &mut dyn Services, core: CoreId, tag: u64) {
        self.buffer(core).on_their_way.retain(|id| *id != tag);
        self.made_room(hw, core);
    }

    fn asked(&mut self, hw: &mut dyn Services, owner: CoreId, requester: CoreId, line: Line, access: Access) -> Asked {
        if access == Access::Own {
            self.hand_over(hw, owner, requester, line);
        }
        Asked::Give(None)
    }

    fn evicted(&mut self, _: &mut dyn Services, _: CoreId, level: Level, _: Line) -> Eviction {
        match level {
            Level::Private => Eviction::WriteBack,
            Level::Last => Eviction::Drop,
        }
    }

    fn counters(&self, now: Cycles) -> Counters {
        let occupancies = self.buffers.iter().map(|buffer| &buffer.occupancy);
        Counters {
            buffer_occupancy: Some(Occupancy::sum(occupancies, now)),
            ..Counters::default()
        }
    }
}
