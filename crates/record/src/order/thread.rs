//! One thread of the order.

use super::code::{Point, PointKind};
use super::entry::{Access, Detail, Entry, Sync, SyncKind};
use super::exits::Frames;
use super::op::{Fence, Flush, Piece, PmOp, What, LINE};
use super::places::Places;
use super::{Code, Shared};
use crate::{
    AccessKind, At, Block, Edits, Event, Executed, Link, LinkEvent, Marker, RecordError, Recording, Stream, ThreadStep,
    Turn,
};
use std::collections::VecDeque;

/// The result of advancing a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// It did something.
    On,
    /// It waits for another thread.
    Waits,
    /// It has ended.
    Ended,
}

/// A thread on its way.
#[derive(Debug)]
pub struct Runner {
    thread: u32,
    stream: Stream,
    held: Held,
}

/// A step that the thread could not finish.
#[derive(Debug)]
enum Held {
    Nothing,
    Signal(u32, u32),
    Block(Stopped),
}

/// A block's execution that waits for a turn.
#[derive(Debug)]
struct Stopped {
    block: u32,
    instructions: u32,
    addresses: Vec<u64>,
    values: Vec<u64>,
    turns: Vec<Turn>,
    links: Vec<Link>,
    /// Points that are done.
    done: usize,
}

/// Where operations go.
pub(super) struct Sink<'a> {
    pub thread: u32,
    /// The code that executes is the program's own.
    pub is_own: bool,
    places: &'a Places,
    pub shared: &'a mut Shared,
    detail: Detail,
    pub edits: &'a Edits,
    pub ready: &'a mut VecDeque<Entry>,
}

impl Runner {
    pub fn new(thread: u32, stream: Stream) -> Runner {
        Runner {
            thread,
            stream,
            held: Held::Nothing,
        }
    }

    /// Executes one step, or the rest of one.
    pub fn step(
        &mut self,
        recording: &Recording,
        blocks: &[Code],
        places: &Places,
        shared: &mut Shared,
        detail: Detail,
        ready: &mut VecDeque<Entry>,
    ) -> Result<Ran, RecordError> {
        let mut sink = Sink {
            thread: self.thread,
            is_own: true,
            places,
            shared,
            detail,
            edits: recording.edits(),
            ready,
        };
        match std::mem::replace(&mut self.held, Held::Nothing) {
            Held::Nothing => {}
            Held::Signal(number, times) => return Ok(self.wait(&mut sink, number, times)),
            Held::Block(stopped) => {
                let executed = stopped.executed();
                let block = &recording.blocks()[executed.block as usize];
                let Code { points, is_own, .. } = &blocks[executed.block as usize];
                sink.is_own = *is_own;
                let done = sink.run(block, points, &executed, stopped.done);
                return Ok(match done == points.len() {
                    true => Ran::On,
                    false => {
                        let on = if done > stopped.done { Ran::On } else { Ran::Waits };
                        self.held = Held::Block(Stopped { done, ..stopped });
                        on
                    }
                });
            }
        }
        match self.stream.next()? {
            None if sink.ends_late() => Ok(Ran::On),
            None => Ok(Ran::Ended),
            Some(ThreadStep::Block(executed)) => {
                let block = &recording.blocks()[executed.block as usize];
                let Code { points, ends, is_own } = &blocks[executed.block as usize];
                sink.is_own = *is_own;
                if sink.frames().enter(*ends) {
                    sink.put(block.pc, What::Exit);
                }
                let done = sink.run(block, points, &executed, 0);
                if done < points.len() {
                    self.held = Held::Block(Stopped::of(&executed, done));
                }
                Ok(Ran::On)
            }
            Some(ThreadStep::Event(event)) => Ok(self.event(&mut sink, event)),
        }
    }

    /// What it waits for, if anything.
    pub fn waits(&self, recording: &Recording) -> Option<String> {
        let thread = self.thread;
        match &self.held {
            Held::Nothing => None,
            Held::Signal(number, times) => Some(format!(
                "thread {thread} waits for signal {number} to be given {times} times"
            )),
            Held::Block(stopped) => {
                let pc = recording.blocks()[stopped.block as usize].pc;
                Some(format!(
                    "thread {thread} waits in block {} ({pc:#x}) for its turn",
                    stopped.block
                ))
            }
        }
    }

    fn event(&mut self, sink: &mut Sink<'_>, event: Event) -> Ran {
        match event {
            Event::Syscall(number) => sink.tie(Access::of_call(sink.thread, number)),
            Event::Sync { start, bytes } => sink.sync(start, bytes),
            Event::Signal { number } => {
                *sink.shared.signals.entry(number).or_default() += 1;
                sink.sync_with(SyncKind::Gives(number), false);
                sink.tie(Some(Access::of_signal(sink.thread, number, true)));
            }
            Event::Wait { number, times } => {
                self.wait(sink, number, times);
            }
        }
        Ran::On
    }

    fn wait(&mut self, sink: &mut Sink<'_>, number: u32, times: u32) -> Ran {
        match sink.shared.given(number) >= times {
            true => {
                sink.sync_with(SyncKind::Waits(number, times), false);
                sink.tie(Some(Access::of_signal(sink.thread, number, false)));
                Ran::On
            }
            false => {
                self.held = Held::Signal(number, times);
                Ran::Waits
            }
        }
    }
}

impl Stopped {
    fn of(executed: &Executed<'_>, done: usize) -> Stopped {
        Stopped {
            block: executed.block,
            instructions: executed.instructions,
            addresses: executed.addresses.to_vec(),
            values: executed.values.to_vec(),
            turns: executed.turns.to_vec(),
            links: executed.links.to_vec(),
            done,
        }
    }

    fn executed(&self) -> Executed<'_> {
        Executed {
            block: self.block,
            instructions: self.instructions,
            addresses: &self.addresses,
            values: &self.values,
            fences: &[],
            turns: &self.turns,
            links: &self.links,
        }
    }
}

impl Sink<'_> {
    /// Executes a block's points from this one on; returns the first one that must wait, or their number.
    fn run(&mut self, block: &Block, points: &[Point], executed: &Executed<'_>, from: usize) -> usize {
        for (index, point) in points.iter().enumerate().skip(from) {
            match point.kind {
                PointKind::Fence(_) | PointKind::Marker(_) if u32::from(point.instruction) >= executed.instructions => {
                }
                PointKind::Fence(fence) => {
                    self.put(point.pc, What::Fence(fence));
                    self.behind(point.pc);
                }
                PointKind::Marker(marker) => self.marker(point.pc, marker),
                PointKind::Call(access) => self.call(point.pc, executed, access),
                PointKind::Return(access) => self.returns(executed, access),
                PointKind::Flush(access, flush) => {
                    if let Some(address) = executed.addresses.get(usize::from(access)) {
                        self.flush(point.pc, flush, *address);
                        self.behind(point.pc);
                    }
                }
                PointKind::Access(access, words) => {
                    let Some(address) = executed.addresses.get(usize::from(access)) else {
                        continue;
                    };
                    let access_of = &block.accesses[usize::from(access)];
                    let turn = executed.turns.iter().find(|turn| turn.access == access);
                    let links = || executed.links.iter().filter(|link| link.access == access);
                    let waits = links().any(|link| self.waits(link.event));
                    if waits || turn.is_some_and(|turn| !self.may(turn, *address, access_of.kind)) {
                        return index;
                    }
                    links().for_each(|link| self.waited(link.event));
                    if turn.is_some() {
                        let (word, writes) = (Turn::word(*address), access_of.kind.writes());
                        let is_persistent = self.places.of_address(word).is_some();
                        self.sync_with(SyncKind::Turn { word, writes }, is_persistent);
                    }
                    let values = executed.values.get(words..).unwrap_or_default();
                    let tied = Access::of(self.thread, *address, access_of.size, access_of.kind, self.places);
                    let (has_turn, pc) = (turn.is_some(), if self.is_own { point.pc } else { 0 });
                    self.tie(tied.map(|tied| Access { has_turn, pc, ..tied }));
                    let first = self.ready.len();
                    self.access(point.pc, access_of.kind, access_of.size, *address, values);
                    self.change(point.pc, first);
                    links().for_each(|link| self.signals(link.event));
                }
            }
        }
        points.len()
    }

    /// A transaction that commits orders like a locked instruction.
    fn marker(&mut self, pc: u64, marker: Marker) {
        if marker == Marker::TransactionBegin {
            self.put(pc, What::Fence(Fence::Locked));
        }
        self.put(pc, What::Marker(marker));
        if marker == Marker::TransactionEnd {
            self.put(pc, What::Fence(Fence::Locked));
        }
    }

    fn frames(&mut self) -> &mut Frames {
        &mut self.shared.frames[self.thread as usize]
    }

    /// Only the first thread has a `main` to leave.
    fn call(&mut self, pc: u64, executed: &Executed<'_>, access: u16) {
        let Some(slot) = executed.addresses.get(usize::from(access)) else {
            return;
        };
        self.shared.stacks[self.thread as usize].call(*slot, pc, self.is_own);
        if self.thread == 0 {
            self.frames().call(*slot);
        }
    }

    fn returns(&mut self, executed: &Executed<'_>, access: u16) {
        let Some(slot) = executed.addresses.get(usize::from(access)) else {
            return;
        };
        let call = self.shared.stacks[self.thread as usize].returns(*slot);
        if self.thread == 0 {
            self.frames().returns(*slot);
        }
        if let Some(call) = call {
            self.returned(call);
        }
    }

    /// Whether an access must still wait for another thread's.
    fn waits(&self, event: LinkEvent) -> bool {
        match event {
            LinkEvent::Wait { number, times } => self.shared.given(number) < times,
            LinkEvent::Signal { .. } => false,
        }
    }

    fn waited(&mut self, event: LinkEvent) {
        if let LinkEvent::Wait { number, times } = event {
            self.sync_with(SyncKind::Waits(number, times), true);
        }
    }

    /// Another thread's access need not wait any longer. The order of the two is one of accesses, as any conflict's.
    fn signals(&mut self, event: LinkEvent) {
        if let LinkEvent::Signal { number } = event {
            *self.shared.signals.entry(number).or_default() += 1;
            self.sync_with(SyncKind::Gives(number), true);
        }
    }

    /// Threads synchronise, perhaps by persistent memory.
    fn sync_with(&mut self, kind: SyncKind, is_persistent: bool) {
        if self.detail == Detail::Synchronisation || (self.detail == Detail::Hosts && !is_persistent) {
            let thread = self.thread;
            self.ready.push_back(Entry::Sync(Sync { thread, kind }));
        }
    }

    /// Whether it is an access's turn; if so, counts it.
    fn may(&mut self, turn: &Turn, address: u64, kind: AccessKind) -> bool {
        let before = self.shared.words.entry(Turn::word(address)).or_default();
        let may = *before >= turn.before;
        *before += u32::from(may && kind.writes());
        may
    }

    pub fn put(&mut self, pc: u64, what: What) {
        self.push(pc, false, what);
    }

    fn push(&mut self, pc: u64, rest: bool, what: What) {
        let from = self.shared.stacks[self.thread as usize].from();
        self.ready.push_back(Entry::Op(PmOp {
            thread: self.thread,
            at: At { pc, from },
            rest,
            what,
        }));
    }

    fn access(&mut self, pc: u64, kind: AccessKind, size: u16, address: u64, values: &[u64]) {
        match kind {
            AccessKind::Load | AccessKind::LoadSeen => self.load(pc, size, address),
            AccessKind::Atomic => {
                self.put(pc, What::Fence(Fence::Locked));
                if self.detail == Detail::Hosts {
                    self.load(pc, size, address);
                }
                self.store(pc, false, size, address, values);
                self.put(pc, What::Fence(Fence::Locked));
            }
            AccessKind::Update => {
                self.load(pc, size, address);
                self.store(pc, false, size, address, values);
            }
            AccessKind::Store => self.store(pc, false, size, address, values),
            AccessKind::StoreNt => self.store(pc, true, size, address, values),
            AccessKind::StoreMasked | AccessKind::StoreNtMasked => {
                let mask = values.get(usize::from(size.div_ceil(8))).copied();
                self.masked(pc, kind.is_nt(), size, address, values, mask.unwrap_or(u64::MAX));
            }
            // A flush is a point of its own.
            AccessKind::Clwb | AccessKind::ClflushOpt | AccessKind::Clflush => {}
        }
    }

    fn flush(&mut self, pc: u64, flush: Flush, address: u64) {
        let line = self.places.of_address(address).map(|(place, _)| place & !(LINE - 1));
        self.put(pc, What::Flush(flush, line));
    }

    /// What keeps its order with other threads.
    fn tie(&mut self, access: Option<Access>) {
        if let (Detail::Accesses | Detail::Synchronisation, Some(access)) = (self.detail, access) {
            self.ready.push_back(Entry::Access(access));
        }
    }

    fn load(&mut self, pc: u64, size: u16, address: u64) {
        if self.detail == Detail::Persistent {
            return;
        }
        let (mut at, end) = (address, address.saturating_add(u64::from(size)));
        while at < end {
            let next = (at | 7).saturating_add(1).min(end);
            if let Some((place, mapped)) = self.places.of_address(at) {
                let bytes = mapped.min(next - at);
                let mask = ((1u16 << bytes) - 1) << (place & 7);
                let (word, mask) = (place & !7, mask as u8);
                self.push(pc, at > address, What::Load { word, mask });
            }
            at = next;
        }
    }

    fn store(&mut self, pc: u64, nt: bool, size: u16, address: u64, values: &[u64]) {
        self.masked(pc, nt, size, address, values, u64::MAX);
    }

    /// A store of the bytes that the mask selects, its lowest bit the first.
    fn masked(&mut self, pc: u64, nt: bool, size: u16, address: u64, values: &[u64], mask: u64) {
        let mut rest = false;
        let size = u64::from(size);
        let words = size.div_ceil(8) as usize;
        // A store may start before a region, or end after one.
        let (mut at, end) = (address, address.saturating_add(size));
        while at < end {
            let Some((place, mapped)) = self.places.of_address(at) else {
                at = (at | 7).saturating_add(1);
                continue;
            };
            if size > u64::from(strandline_capture::VALUE_BYTES) || values.len() < words {
                return self.put(pc, What::Unknown);
            }
            let mut bytes = [0; 64];
            for (chunk, value) in bytes.chunks_exact_mut(8).zip(&values[..words]) {
                chunk.copy_from_slice(&value.to_le_bytes());
            }
            let (from, upto) = (
                (at - address) as usize,
                (end.min(at.saturating_add(mapped)) - address) as usize,
            );
            let first = place.wrapping_sub(from as u64);
            for piece in Piece::of(place, &bytes[from..upto]).filter_map(|piece| piece.only(first, mask)) {
                let what = if nt { What::StoreNt(piece) } else { What::Store(piece) };
                self.push(pc, std::mem::replace(&mut rest, true), what);
            }
            at += (upto - from) as u64;
        }
    }

    fn sync(&mut self, start: u64, bytes: u64) {
        let places = self.places;
        for (start, bytes) in places.within(start, start.saturating_add(bytes)) {
            self.put(0, What::Sync { start, bytes });
        }
    }
}
