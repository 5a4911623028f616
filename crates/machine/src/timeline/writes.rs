//! Flushes and writes, from the store queue to the media.

use super::recorder::{Actor, Recorder, State};
use super::rows::{Wait, Write};
use super::waits::{Who, Why};
use crate::memory::{BankId, Issued, Origin};
use std::collections::{BTreeMap, VecDeque};
use strandline_design::{ByteMask, Key, WriteId, WriteRequest};
use strandline_isa::{Addr, CoreId, Line, LineData};

impl Recorder {
    /// A flush of a core leaves for the caches, in this slot of the write-back buffer.
    pub fn flush_sent(&self, core: CoreId, op: u32, slot: u64, at: u64) {
        self.left(op, at);
        let state = &mut *self.state.borrow_mut();
        state.slots.insert((core, slot), op);
        if let Some(addr) = state.ops.get(op as usize).and_then(|op| op.addr) {
            if let Some(unsent) = state.flushes.get_mut(&(core, Addr(addr).line())) {
                unsent.retain(|flush| *flush != op);
            }
        }
    }

    /// The design sends a flush of a line: it is the oldest of its core and line that has not been sent.
    pub fn design_flush(&self, core: CoreId, line: Line, tag: Key, at: u64) {
        let state = &mut *self.state.borrow_mut();
        if state.tags.contains_key(&(core, tag)) {
            return;
        }
        let Some(op) = state.flushes.get_mut(&(core, line)).and_then(VecDeque::pop_front) else {
            return;
        };
        state.tags.insert((core, tag), op);
        state.ops[op as usize].left.get_or_insert(at);
    }

    /// A flush waits for the acceptance of a write.
    pub fn flush_awaits(&self, origin: Origin, write: WriteId) {
        let state = &mut *self.state.borrow_mut();
        let row = state.rows.get(&write).copied();
        let op = state.flush_of(origin);
        if let Some(op) = op.and_then(|op| state.ops.get_mut(op as usize)) {
            op.write = row;
        }
    }

    /// A flush is acknowledged.
    pub fn acknowledged(&self, origin: Origin, at: u64) {
        let state = &mut *self.state.borrow_mut();
        let op = state.flush_of(origin);
        match origin {
            Origin::Buffer { core, slot } => state.slots.remove(&(core, slot)),
            Origin::Design { core, tag } | Origin::Stop { core, tag } => state.tags.remove(&(core, tag)),
        };
        let Some(op) = op else { return };
        let Some(row) = state.ops.get_mut(op as usize) else {
            return;
        };
        row.done = Some(at);
        if state.actor.write.is_none() {
            state.actor.op = Some(op);
        }
    }

    /// A write is sent to its controller.
    pub fn sent(&self, id: WriteId, request: &WriteRequest<Key>, controller: u16, at: u64) {
        let state = &mut *self.state.borrow_mut();
        if state.is_closed() {
            state.rows.remove(&id);
            return;
        }
        let row = state.writes.len() as u32;
        state.rows.insert(id, row);
        state.writes.push(Write {
            line: request.line.addr().0,
            core: request.core.map(|core| core.0),
            controller,
            by_design: request.tag.is_some(),
            sent: at,
            arrived: None,
            accepted: None,
            issued: None,
            media: None,
            bytes: 0,
            into: None,
            refused: false,
            timed: false,
        });
        state.carries(row, request);
    }

    fn write(&self, id: WriteId, change: impl FnOnce(&mut Write, bool)) {
        let state = &mut *self.state.borrow_mut();
        let timed = state.started.is_some() && state.over.is_none();
        if let Some(&row) = state.rows.get(&id) {
            change(&mut state.writes[row as usize], timed);
        }
    }

    /// A write is at its controller, for the first time or again.
    pub fn arrived(&self, id: WriteId, at: u64) {
        self.write(id, |write, _| _ = write.arrived.get_or_insert(at));
        let row = self.row(id);
        self.acts(Actor { op: None, write: row });
        if let Some(row) = row {
            self.woken(Who::Write(row), at);
        }
    }

    /// A write waits at its controller.
    pub fn held_at_controller(&self, id: WriteId, why: Why, at: u64) {
        if let Some(row) = self.row(id) {
            self.wait(Who::Write(row), why, at, None);
        }
    }

    /// The write queue takes a write.
    pub fn accepted(&self, id: WriteId, at: u64) {
        self.write(id, |write, _| write.accepted = Some(at));
    }

    /// A write coalesces with a queued one.
    pub fn coalesced(&self, id: WriteId, queued: WriteId) {
        let into = self.row(queued);
        self.write(id, |write, timed| (write.into, write.timed) = (into, timed));
    }

    /// The design refuses a write, or keeps it.
    pub fn refused(&self, id: WriteId) {
        self.write(id, |write, _| write.refused = true);
    }

    /// The media of a controller begin with a write.
    pub fn issued(&self, controller: u16, issued: &Issued, at: u64) {
        self.write(issued.write, |write, _| write.issued = Some(at));
        let state = &mut *self.state.borrow_mut();
        let Some(&row) = state.rows.get(&issued.write) else {
            return;
        };
        let accepted = state.writes[row as usize].accepted.unwrap_or(at);
        if at > accepted {
            let (why, by_write) = state.banks.kept(controller, issued, at);
            state.waits.push(Wait {
                core: None,
                who: Who::Write(row).name(),
                op: None,
                write: Some(row),
                why: why.name(),
                from: accepted,
                to: Some(at),
                by_op: None,
                by_write,
            });
        }
        state.banks.take(controller, issued, row);
    }

    /// A write is on the media.
    pub fn on_media(&self, id: WriteId, bytes: u32, at: u64) {
        self.write(id, |write, timed| {
            (write.media, write.bytes, write.timed) = (Some(at), bytes, timed);
        });
        self.acts(Actor {
            op: None,
            write: self.row(id),
        });
    }

    pub(super) fn row(&self, id: WriteId) -> Option<u32> {
        self.state.borrow().rows.get(&id).copied()
    }

    /// A line is read from persistent memory.
    pub fn read(&self, at: u64) {
        let state = &mut *self.state.borrow_mut();
        if !state.is_closed() {
            state.reads.push(at);
        }
    }
}

/// What keeps the media busy: the latest write of each controller, and of each of its banks with its end.
#[derive(Default)]
pub(super) struct Banks {
    latest: BTreeMap<u16, u32>,
    busy: BTreeMap<(u16, BankId), (u32, u64)>,
}

impl Banks {
    /// What a write waited for last that goes now, and did not go at once.
    fn kept(&self, controller: u16, issued: &Issued, now: u64) -> (Why, Option<u32>) {
        let busy = self.busy.get(&(controller, issued.bank));
        let by_write = busy.filter(|(_, until)| *until >= issued.bank_free);
        match (issued.bank_free == now, issued.port_free == now, by_write) {
            (true, _, Some((row, _))) => (Why::Bank, Some(*row)),
            (true, _, None) => (Why::Reads, None),
            (false, true, _) => (Why::Bandwidth, self.latest.get(&controller).copied()),
            (false, false, _) => (Why::Design, None),
        }
    }

    /// The media take a write.
    fn take(&mut self, controller: u16, issued: &Issued, row: u32) {
        self.latest.insert(controller, row);
        if let Some((bank, until)) = issued.keeps {
            self.busy.insert((controller, bank), (row, until));
        }
    }
}

impl State {
    fn flush_of(&self, origin: Origin) -> Option<u32> {
        match origin {
            Origin::Buffer { core, slot } => self.slots.get(&(core, slot)).copied(),
            Origin::Design { core, tag } | Origin::Stop { core, tag } => self.tags.get(&(core, tag)).copied(),
        }
    }

    /// Finds the stores that a write carries: the youngest of its line whose bytes it has, and all older ones.
    fn carries(&mut self, row: u32, request: &WriteRequest<Key>) {
        let Some(stores) = self.uncarried.get_mut(&request.line) else {
            return;
        };
        let (ops, values) = (&mut self.ops, &self.values);
        let mask = |op: u32| {
            let op = &ops[op as usize];
            op.addr.map_or(0, |addr| ByteMask::of(Addr(addr), op.size).0) & request.bytes.0
        };
        let has = |op: u32| {
            let row = &ops[op as usize];
            let addr = row.addr.map_or(Addr(0), Addr);
            mask(op) != 0 && holds(&request.data, addr, row.size, values[op as usize])
        };
        let Some(last) = stores.iter().rposition(|store| has(*store)) else {
            return;
        };
        let carried: Vec<u32> = stores[..=last]
            .iter()
            .copied()
            .filter(|store| mask(*store) != 0)
            .collect();
        stores.retain(|store| !carried.contains(store));
        for store in carried {
            ops[store as usize].write = Some(row);
        }
    }
}

/// Whether a line holds these low `size` bytes at an address of it.
fn holds(line: &LineData, addr: Addr, size: u8, value: u64) -> bool {
    let word = line[(addr.0 % 64 / 8) as usize] >> (8 * (addr.0 % 8));
    let mask = u64::MAX >> (64 - 8 * u32::from(size));
    word & mask == value & mask
}
