//! Issues a thread's steps as micro-ops.

use super::counts::{count, Counts, FenceAt};
use super::marks::{wants, Synced};
use super::policy::Policy;
use super::space::{Lookup, Space};
use super::Replayed;
use crate::micro::{Body, Code, Flow, MicroKind, MicroOp, Slot, SLOTS};
use crate::stack::Stack;
use crate::{Event, Executed, Execution, FenceClass, LinkEvent, Marker, RecordError, Stream, ThreadStep, Turn};
use std::cell::Cell;
use std::collections::HashSet;
use strandline_capture::VALUE_BYTES;
use strandline_isa::{Addr, Alu, Intent, Note, Primitive, Replay, Site, LINE_BYTES};

/// A thread's position in its recording.
pub struct Walk<'r, C: Replay> {
    code: &'r Code,
    space: &'r Space,
    pub(super) cpu: &'r C,
    pub(super) counts: &'r Counts,
    pub(super) policy: Policy,
    /// The synchronisation of threads, if accesses are annotated.
    pub(super) synced: Option<&'r Synced>,
    lookup: Lookup,
    tags: [C::Tag; SLOTS],
    branch: Pending<C::Tag>,
    /// The last target of the jump or call at each block's end.
    last_targets: Vec<u32>,
    /// The strongest primitives since the last access to persistent memory.
    pub(super) covered: Covered,
    pub(super) string: LastLines,
    stack: Stack,
    /// The last fence, and the cycles lost at fences until then.
    last_fence: Option<FenceAt>,
    stalls: u64,
    /// Flushes and fences so far, and those that are left out.
    ordering: u64,
    left_out: &'r HashSet<Execution>,
    thread: u32,
    /// How often it has counted something.
    steps: u64,
}

/// A branch that waits for its target: the next block.
#[derive(Clone, Copy)]
enum Pending<T> {
    None,
    Conditional { tag: T, site: u32, falls_to: u64 },
    Indirect { tag: T, site: u32, block: u32 },
}

/// How much the last primitives have ordered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Covered {
    Nothing,
    Order,
    Durable,
}

/// The lines that the last iteration of a string instruction accessed, for which the next one needs no micro-ops.
#[derive(Clone, Copy)]
pub(super) struct LastLines {
    block: u32,
    pub load: u64,
    pub store: u64,
}

impl LastLines {
    const NONE: LastLines = LastLines {
        block: u32::MAX,
        load: u64::MAX,
        store: u64::MAX,
    };
}

/// The position in the execution of a block.
pub(super) struct Cursor<'s> {
    executed: Executed<'s>,
    /// Accesses, value words, fences and turns so far.
    access: usize,
    value: usize,
    fence: usize,
    turn: usize,
    /// The next access with a turn; none if out of range.
    turn_at: usize,
    /// The same of links.
    link: usize,
    link_at: usize,
    /// It is an iteration of a string instruction.
    pub(super) repeats: bool,
}

impl<'s> Cursor<'s> {
    fn new(executed: Executed<'s>, repeats: bool) -> Cursor<'s> {
        Cursor {
            executed,
            access: 0,
            value: 0,
            fence: 0,
            turn: 0,
            turn_at: executed.turns.first().map_or(usize::MAX, |t| usize::from(t.access)),
            link: 0,
            link_at: executed.links.first().map_or(usize::MAX, |l| usize::from(l.access)),
            repeats,
        }
    }

    /// Whether the next access has a turn.
    #[inline(always)]
    pub(super) fn has_turn(&self) -> bool {
        self.access == self.turn_at
    }

    /// Whether the next access has a link that is still to come.
    #[inline(always)]
    pub(super) fn has_link(&self) -> bool {
        self.access == self.link_at
    }

    fn link_passed(&mut self) {
        self.link += 1;
        let next = self.executed.links.get(self.link);
        self.link_at = next.map_or(usize::MAX, |link| usize::from(link.access));
    }

    /// The address of the next access.
    #[inline(always)]
    fn address(&self) -> Option<u64> {
        self.executed.addresses.get(self.access).copied()
    }

    /// The value of the next access, of this size.
    #[inline(always)]
    pub(super) fn words(&mut self, size: u16) -> &'s [u64] {
        if size > VALUE_BYTES {
            return &[];
        }
        let end = self.value + usize::from(size.div_ceil(8));
        let words = self.executed.values.get(self.value..end).unwrap_or(&[]);
        self.value = end;
        words
    }
}

impl Cursor<'_> {
    /// The mask of the next access, behind its value.
    pub(super) fn mask(&mut self) -> u64 {
        let mask = self.executed.values.get(self.value).copied();
        self.value += 1;
        mask.unwrap_or(u64::MAX)
    }
}

impl<'r, C: Replay> Walk<'r, C> {
    pub fn new(replayed: &'r Replayed, thread: usize, cpu: &'r C, counts: &'r Counts) -> Self {
        let code = &replayed.code;
        let marks = wants(cpu.lowering()) && !replayed.synced.is_empty();
        Walk {
            code,
            space: &replayed.space,
            synced: marks.then_some(&replayed.synced),
            cpu,
            counts,
            policy: Policy::of(cpu.lowering()),
            lookup: Lookup::default(),
            tags: [C::Tag::default(); SLOTS],
            branch: Pending::None,
            last_targets: vec![0; code.blocks()],
            covered: Covered::Nothing,
            string: LastLines::NONE,
            stack: Stack::default(),
            last_fence: None,
            stalls: 0,
            ordering: 0,
            left_out: &replayed.recording.edits().executions,
            thread: thread as u32,
            steps: 0,
        }
    }

    /// Counts one more, unless the thread had come so far before it was rolled back.
    pub(super) fn count(&mut self, counter: &'r Cell<u64>) {
        if self.is_new() {
            count(counter);
        }
    }

    fn is_new(&mut self) -> bool {
        self.steps += 1;
        self.counts.is_new(self.cpu.core().index(), self.steps)
    }

    /// Replays the whole stream.
    pub fn all(mut self, mut stream: Stream) -> Result<(), RecordError> {
        while let Some(step) = stream.next()? {
            match step {
                ThreadStep::Block(executed) => self.block(executed),
                ThreadStep::Event(event) => self.event(event),
            }
        }
        self.decide(None);
        self.account(None);
        Ok(())
    }

    fn block(&mut self, executed: Executed<'_>) {
        let code = self.code;
        let Some(body) = code.body(executed.block) else { return };
        self.decide(Some(body.pc));
        let ops = match executed.instructions == body.instructions {
            true => code.ops(body),
            false => code.first(body, executed.instructions),
        };
        if body.repeats && self.string.block != executed.block {
            self.string = LastLines {
                block: executed.block,
                ..LastLines::NONE
            };
        } else if !body.repeats {
            self.string.block = u32::MAX;
        }
        let mut at = Cursor::new(executed, body.repeats);
        for op in ops {
            match op.kind {
                MicroKind::Alu => {
                    let [a, b, c] = self.sources(op);
                    let done = self.cpu.alu(op.alu, self.cpu.both(a, b), c);
                    self.set(op, done);
                }
                MicroKind::Load | MicroKind::UpdateLoad => {
                    let Some(recorded) = at.address() else { return };
                    self.take_turn(&mut at, recorded);
                    let done = self.load(op, recorded, &at);
                    self.mark_load(recorded, &at);
                    self.set(op, done);
                    if op.kind == MicroKind::Load {
                        self.passed(&mut at);
                    }
                }
                MicroKind::Store | MicroKind::StoreNt | MicroKind::StoreMasked | MicroKind::StoreNtMasked => {
                    let Some(recorded) = at.address() else { return };
                    self.take_turn(&mut at, recorded);
                    self.mark_store(op, recorded, &at);
                    match op.kind {
                        MicroKind::Store | MicroKind::StoreNt => self.store(op, recorded, &mut at),
                        _ => self.store_masked(op, recorded, &mut at),
                    }
                    self.passed(&mut at);
                }
                MicroKind::Fused => {
                    let [a, b, c] = self.sources(op);
                    let done = self.cpu.fused(op.alu, self.cpu.both(a, b), c);
                    self.set(op, done);
                }
                MicroKind::Entry => {
                    self.cpu.alu(Alu::Simple, C::Tag::default(), C::Tag::default());
                    let [a, ..] = self.sources(op);
                    self.set(op, a);
                }
                MicroKind::Join => {
                    let [a, b, c] = self.sources(op);
                    let joined = self.cpu.both(self.cpu.both(a, b), c);
                    self.set(op, joined);
                }
                MicroKind::Branch | MicroKind::NotTaken | MicroKind::Indirect => {
                    self.note_branch(op, body, executed.block)
                }
                MicroKind::Locked => {
                    let Some(recorded) = at.address() else { return };
                    self.take_turn(&mut at, recorded);
                    self.mark(Intent::Release);
                    let done = self.locked(op, recorded, &mut at);
                    self.set(op, done);
                    self.passed(&mut at);
                }
                MicroKind::Clwb | MicroKind::ClflushOpt | MicroKind::Clflush => {
                    let Some(recorded) = at.address() else { return };
                    if self.orders() {
                        self.flush(op, recorded);
                    }
                    self.passed(&mut at);
                }
                MicroKind::Sfence | MicroKind::Mfence => {
                    if !self.orders() {
                        at.fence += 1;
                        continue;
                    }
                    let class = executed.fences.get(at.fence).copied().unwrap_or(FenceClass::Idle);
                    let from = if body.is_own { 0 } else { self.stack.from() };
                    let (block, fence) = (executed.block, at.fence as u16);
                    self.account(Some(FenceAt { block, fence, from }));
                    at.fence += 1;
                    self.fence(op, class);
                }
                MicroKind::NoFlush => {
                    self.orders();
                    self.passed(&mut at);
                }
                MicroKind::NoFence => {
                    self.orders();
                    at.fence += 1;
                }
                MicroKind::Marker => self.marker(op.site),
            }
        }
        self.leave(body, &executed);
    }

    /// A block's last instruction may call or return.
    #[inline(always)]
    fn leave(&mut self, body: &Body, executed: &Executed<'_>) {
        if body.flow == Flow::On || executed.instructions < body.instructions {
            return;
        }
        match (body.flow, executed.addresses.last()) {
            (Flow::Calls(pc), Some(slot)) => self.stack.call(*slot, pc, body.is_own),
            (Flow::Returns, Some(slot)) => {
                self.stack.returns(*slot);
            }
            _ => {}
        }
    }

    /// The next flush or fence; whether this execution of it is kept.
    fn orders(&mut self) -> bool {
        self.ordering += 1;
        self.left_out.is_empty() || !self.left_out.contains(&(self.thread, self.ordering))
    }

    #[inline(always)]
    fn tag(&self, slot: Slot) -> C::Tag {
        self.tags[usize::from(slot.0) % SLOTS]
    }

    #[inline(always)]
    fn sources(&self, op: &MicroOp) -> [C::Tag; 3] {
        op.sources.map(|slot| self.tag(slot))
    }

    #[inline(always)]
    fn set(&mut self, op: &MicroOp, tag: C::Tag) {
        for slot in op.targets {
            self.tags[usize::from(slot.0) % SLOTS] = tag;
        }
    }

    #[inline(always)]
    pub(super) fn address_tag(&self, op: &MicroOp) -> C::Tag {
        self.cpu.both(self.tag(op.address[0]), self.tag(op.address[1]))
    }

    #[inline(always)]
    pub(super) fn data_tag(&self, op: &MicroOp) -> C::Tag {
        let [a, b, c] = self.sources(op);
        self.cpu.both(self.cpu.both(a, b), c)
    }

    #[inline(always)]
    pub(super) fn simulated(&mut self, recorded: u64) -> Addr {
        self.lookup.simulated(self.space, recorded)
    }

    /// Waits for the turn of the next access, if any.
    #[inline(always)]
    fn take_turn(&mut self, at: &mut Cursor<'_>, recorded: u64) {
        if at.has_turn() {
            let word = self.simulated(Turn::word(recorded));
            let before = at.executed.turns[at.turn].before;
            self.cpu.written(word, before);
        }
        while at.has_link() {
            let LinkEvent::Wait { number, times } = at.executed.links[at.link].event else {
                return;
            };
            if let Some(word) = self.space.signal(number) {
                self.cpu.written(word, times);
            }
            at.link_passed();
        }
    }

    /// Gives a signal: a store to its word.
    fn give(&mut self, number: u32) {
        if let Some(word) = self.space.signal(number) {
            self.cpu.count_next();
            let none = C::Tag::default();
            self.cpu.store(word, none, 8, 0, none);
        }
    }

    /// The next write counts, if it has a turn.
    #[inline(always)]
    pub(super) fn count_write(&self, at: &Cursor<'_>) {
        if at.has_turn() {
            self.cpu.count_next();
        }
    }

    /// The access has issued; advances to the next.
    #[inline(always)]
    fn passed(&mut self, at: &mut Cursor<'_>) {
        if at.has_turn() {
            at.turn += 1;
            let next = at.executed.turns.get(at.turn);
            at.turn_at = next.map_or(usize::MAX, |turn| usize::from(turn.access));
        }
        while at.has_link() {
            if let LinkEvent::Signal { number } = at.executed.links[at.link].event {
                self.give(number);
            }
            at.link_passed();
        }
        at.access += 1;
    }

    /// One load a line.
    pub(super) fn load(&mut self, op: &MicroOp, recorded: u64, at: &Cursor<'_>) -> C::Tag {
        let address = self.address_tag(op);
        let first = self.simulated(recorded);
        if at.repeats {
            let line = first.line().0;
            if std::mem::replace(&mut self.string.load, line) == line {
                return address;
            }
        }
        let mut done = self.cpu.load(Addr(first.0 & !7), address, 8).tag();
        if first.0 % LINE_BYTES + u64::from(op.size) > LINE_BYTES {
            let end = recorded.saturating_add(u64::from(op.size));
            let mut line = (recorded | (LINE_BYTES - 1)).saturating_add(1);
            while line < end {
                let more = self.simulated(line);
                let loaded = self.cpu.load(more, address, 8).tag();
                done = self.cpu.both(done, loaded);
                line = line.saturating_add(LINE_BYTES);
            }
        }
        done
    }

    /// A branch at the block's end waits until the next block is known.
    fn note_branch(&mut self, op: &MicroOp, body: &Body, block: u32) {
        let tag = self.data_tag(op);
        let site = op.site;
        match op.kind {
            MicroKind::Branch => {
                self.branch = Pending::Conditional {
                    tag,
                    site,
                    falls_to: body.falls_to,
                }
            }
            MicroKind::Indirect => self.branch = Pending::Indirect { tag, site, block },
            _ => self.cpu.branch(tag, false, Site(site)),
        }
    }

    /// The next block is at this address (or there is none): the target of the previous branch.
    #[inline(always)]
    fn decide(&mut self, next: Option<u64>) {
        match self.branch {
            Pending::None => return,
            Pending::Conditional { tag, site, falls_to } => {
                let taken = next.is_some_and(|pc| pc != falls_to);
                self.cpu.branch(tag, taken, Site(site));
            }
            Pending::Indirect { tag, site, block } => {
                let target = next.map_or(0, |pc| (pc ^ pc >> 32) as u32);
                let last = &mut self.last_targets[block as usize];
                let moved = std::mem::replace(last, target) != target;
                self.cpu.branch(tag, moved, Site(site));
            }
        }
        self.branch = Pending::None;
    }

    /// A fence, or the end: the cycles lost since the previous fence belong to that one.
    fn account(&mut self, next: Option<FenceAt>) {
        let stalls = self.cpu.fence_stalls();
        let is_new = self.is_new();
        if let Some(last) = self.last_fence.filter(|_| is_new) {
            self.counts.stalled(last, stalls.saturating_sub(self.stalls));
        }
        self.stalls = stalls;
        self.last_fence = next;
        if let Some(at) = next.filter(|_| is_new) {
            self.counts.fence(at);
        }
    }

    fn fence(&mut self, op: &MicroOp, recorded_class: FenceClass) {
        let marker = marker(op.site);
        if marker.is_some() {
            self.count(&self.counts.markers);
        }
        let class = match marker {
            Some(Marker::Durable) => FenceClass::Durable,
            Some(Marker::Order) => FenceClass::Order,
            _ => recorded_class,
        };
        let (counter, covers) = match class {
            FenceClass::Idle => (&self.counts.fences_idle, Covered::Nothing),
            FenceClass::Order => (&self.counts.fences_order, Covered::Order),
            FenceClass::Durable => (&self.counts.fences_durable, Covered::Durable),
        };
        self.count(counter);
        let recorded = match op.kind {
            MicroKind::Mfence => Primitive::Mfence,
            _ => Primitive::Sfence,
        };
        for primitive in self.policy.fence(class, recorded) {
            let kept = if *primitive == Primitive::Sfence {
                recorded
            } else {
                *primitive
            };
            self.cpu.primitive(kept);
        }
        let covers = if self.policy.is_exact() {
            Covered::Durable
        } else {
            covers
        };
        self.covered = self.covered.max(covers);
    }

    fn marker(&mut self, number: u32) {
        let Some(marker) = marker(number) else { return };
        self.count(&self.counts.markers);
        match marker {
            Marker::TaskBegin => self.cpu.note(Note::TaskBegin),
            Marker::TaskEnd => self.cpu.note(Note::TaskEnd),
            Marker::Durable => self.cover(Covered::Durable, Intent::Durable),
            Marker::Order => self.cover(Covered::Order, Intent::LogBeforeUpdate),
            Marker::NewStrand => self.cpu.intent(Intent::NewStrand),
            Marker::Acquire => self.cpu.intent(Intent::Acquire),
            Marker::Release => self.cpu.intent(Intent::Release),
            Marker::ContextSwitch | Marker::Dma => self.hand_over(),
            Marker::RegionBegin | Marker::RegionEnd | Marker::TransactionBegin | Marker::TransactionEnd => {}
        }
    }

    /// Issues an intent, unless the primitives since the last access to persistent memory order as much.
    fn cover(&mut self, covers: Covered, intent: Intent) {
        if self.covered < covers {
            self.cpu.intent(intent);
            self.covered = covers;
        }
    }

    /// This thread's writes must leave its core; nothing if the design keeps none there.
    fn hand_over(&mut self) {
        if !self.cpu.lowering().hand_over.is_empty() {
            self.cpu.intent(Intent::HandOver);
            self.covered = Covered::Durable;
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Syscall(_) => self.count(&self.counts.syscalls),
            Event::Sync { .. } => self.cover(Covered::Durable, Intent::Durable),
            Event::Signal { number } => {
                if self.space.signal(number).is_some() {
                    self.mark(Intent::Release);
                }
                self.give(number);
            }
            Event::Wait { number, times } => {
                if let Some(word) = self.space.signal(number) {
                    self.cpu.written(word, times);
                    self.heed(word);
                }
            }
        }
    }
}

fn marker(number: u32) -> Option<Marker> {
    Marker::ALL.into_iter().find(|marker| *marker as u32 == number)
}
