//! BBB: battery-backed buffers beside the caches.
//!
//! What: each core has a buffer of lines beside its private caches, saved by a battery when power
//! fails. A store to persistent memory enters it as it becomes visible, so it is durable then, as
//! under eADR, and neither flushes nor fences are needed. A line is in one buffer at most: a store
//! coalesces with an unsent entry, and the entry moves to the buffer of a core that requests to
//! write the line. The oldest entries are sent to the controllers while more than three quarters of
//! a buffer wait; a store that finds no room waits. Dirty persistent lines that the LLC evicts are
//! dropped, since a buffer has persisted them.
//! Source: ASAP (HPCA 2022), sections II-C and VI-B; BBB (HPCA 2021), whose buffers start to drain at three quarters.
//! Simplified, and optimistic as ASAP's: moving an entry costs no time, and one that finds the
//! other buffer full is sent to its controller instead. A line that misses in every cache while a
//! buffer holds it arrives when memory would have answered. The battery never fails.

use crate::parts::per_core;
use crate::parts::persist_buffer::BUFFER_ENTRIES;
use std::collections::VecDeque;
use strandline_design::{
    About, Access, Counters, Departure, Design, Eviction, Held, Hosts, Level, Needs, Never, Occupancy, Place, Services,
    Sizes, Snoop, Store, Types, Until, Wants, Write,
};
use strandline_isa::{CoreId, Line, Lowering, Primitive, LINE_BYTES};
use strandline_kernel::{Cycles, Param, Params};

/// Battery-backed buffers.
#[derive(Clone, Debug)]
pub struct Bbb {
    entries: usize,
    buffers: Vec<Buffer>,
}

/// The types of BBB.
#[derive(Clone, Copy, Debug)]
pub struct Own;

/// A gate that opens when a core's buffer has room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Room(CoreId);

impl Types for Own {
    type Gate = Room;
    type Message = Never;
    type Tag = ();
    type Note = Never;
}

/// A core's buffer. Its entries hold no bytes: a line in it has the bytes that all cores see, since
/// another core's store would have moved the entry.
#[derive(Clone, Debug, Default)]
struct Buffer {
    /// Lines not sent yet, oldest first.
    waiting: VecDeque<Line>,
    /// Writes sent and not acknowledged.
    in_flight: usize,
    store_waits: bool,
    occupancy: Occupancy,
}

impl Buffer {
    fn in_use(&self) -> usize {
        self.waiting.len() + self.in_flight
    }

    /// Removes a line that has not been sent; whether there was one.
    fn remove(&mut self, line: Line) -> bool {
        let found = self.waiting.iter().position(|waiting| *waiting == line);
        found.and_then(|index| self.waiting.remove(index)).is_some()
    }
}

impl Default for Bbb {
    fn default() -> Self {
        Bbb {
            entries: BUFFER_ENTRIES.default as usize,
            buffers: Vec::new(),
        }
    }
}

impl Bbb {
    fn buffer(&mut self, core: CoreId) -> &mut Buffer {
        per_core::state(&mut self.buffers, core, |_| Buffer::default())
    }

    /// Whether the buffer has room for a store to this line.
    fn has_room(&mut self, core: CoreId, line: Line) -> bool {
        let entries = self.entries;
        let buffer = self.buffer(core);
        buffer.waiting.contains(&line) || buffer.in_use() < entries
    }

    fn insert(&mut self, hw: &mut dyn Services<Own>, core: CoreId, line: Line) {
        let buffer = self.buffer(core);
        if !buffer.waiting.contains(&line) {
            buffer.waiting.push_back(line);
        }
        self.drain(hw, core);
    }

    /// Sends the oldest entries while more than three quarters of the buffer wait.
    fn drain(&mut self, hw: &mut dyn Services<Own>, core: CoreId) {
        let most = self.entries * 3 / 4;
        while self.buffer(core).waiting.len() > most {
            if let Some(line) = self.buffer(core).waiting.pop_front() {
                self.send(hw, core, line);
            }
        }
        let buffer = self.buffer(core);
        buffer.occupancy.set(hw.now(), buffer.in_use());
    }

    fn send(&mut self, hw: &mut dyn Services<Own>, core: CoreId, line: Line) {
        self.buffer(core).in_flight += 1;
        hw.write(core, line, hw.visible_line(line), ());
    }

    /// Moves the owner's entry of a line to the buffer of a core that requests ownership.
    fn hand_over(&mut self, hw: &mut dyn Services<Own>, owner: CoreId, requester: CoreId, line: Line) {
        if !self.buffer(owner).remove(line) {
            return;
        }
        if self.has_room(requester, line) {
            self.insert(hw, requester, line);
            self.release_store(hw, owner);
        } else {
            self.send(hw, owner, line);
        }
    }

    /// Releases a store that waits for room, once there is room.
    fn release_store(&mut self, hw: &mut dyn Services<Own>, core: CoreId) {
        if std::mem::take(&mut self.buffer(core).store_waits) {
            hw.open(Room(core));
        }
        self.drain(hw, core);
    }
}

impl Design for Bbb {
    type Own = Own;

    fn about(&self) -> About {
        About {
            name: "bbb",
            paper: "BBB (HPCA 2021); ASAP II-C",
            summary: "battery-backed buffers beside the caches; no flushes, fences only to acknowledge",
            needs: Needs {
                hosts: Hosts::Saved("a line in a battery-backed buffer is durable, and newer than what the device answers to other hosts"),
                ..Needs::ADR_IN_ORDER
            },
            promises_recovery: true,
            model: "bbb",
            intents: Some("intents"),
            window: None,
        }
    }

    fn wants(&self) -> Wants {
        Wants {
            saves: Some(Place::CoreBuffer),
            nt_cached: true,
            snoops_all: true,
            orders_evictions: true,
            ..Wants::default()
        }
    }

    fn params(&self) -> &'static [Param] {
        &[BUFFER_ENTRIES]
    }

    fn set(&mut self, params: &Params) {
        self.entries = params.get(BUFFER_ENTRIES.name) as usize;
    }

    /// An entry has a line, its number and whether it is in flight. Physical addresses have 48
    /// bits.
    fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        let of_a_core = (self.entries as u64 * (8 * LINE_BYTES + 42 + 1)).div_ceil(8);
        vec![("persist buffers", machine.cores * of_a_core)]
    }

    fn buffers(&self, machine: &Sizes) -> Vec<Held> {
        vec![Held {
            name: "persist buffers",
            place: Place::CoreBuffer,
            bytes: machine.cores * self.entries as u64 * LINE_BYTES,
        }]
    }

    /// As under eADR: retired stores may still wait in the store queue.
    fn lowering(&self) -> Lowering {
        Lowering {
            log: true,
            durable: &[Primitive::Sfence],
            ..Lowering::NOTHING
        }
    }

    fn store(&mut self, _: &mut dyn Services<Own>, core: CoreId, write: Write) -> Departure<Room> {
        match write.persistent_line() {
            Some(line) if !self.has_room(core, line) => {
                self.buffer(core).store_waits = true;
                Departure::Wait(Until::Open(Room(core)))
            }
            _ => Departure::Go,
        }
    }

    fn visible(&mut self, hw: &mut dyn Services<Own>, core: CoreId, store: Store) {
        if store.addr.is_persistent() {
            self.insert(hw, core, store.line());
        }
    }

    fn acknowledged(&mut self, hw: &mut dyn Services<Own>, core: CoreId, (): ()) {
        self.buffer(core).in_flight -= 1;
        self.release_store(hw, core);
    }

    fn snooped(
        &mut self,
        hw: &mut dyn Services<Own>,
        owner: CoreId,
        requester: CoreId,
        line: Line,
        access: Access,
    ) -> Snoop<Room, Never> {
        if access == Access::Own {
            self.hand_over(hw, owner, requester, line);
        }
        Snoop::Grant(None)
    }

    fn evicted(&mut self, _: &mut dyn Services<Own>, _: CoreId, level: Level, _: Line) -> Eviction<Room> {
        match level {
            Level::Private => Eviction::WriteBack,
            Level::Llc => Eviction::Drop,
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
