//! A thread's steps, issued one micro-op after the other.

use super::access::{bytes, mask, piece};
use super::counts::{count, Counts};
use super::policy::Policy;
use super::space::{Lookup, Space};
use crate::micro::{Body, Code, Kind, Op, Slot, SLOTS};
use crate::{Event, Executed, FenceClass, Marker, RecordError, Step, Stream, Turn};
use strandline_capture::VALUE_BYTES;
use strandline_isa::{Addr, Alu, Flush, Intent, Note, Primitive, Replay, Rmw, Site, LINE_BYTES};

/// A thread on its way through its recording.
pub struct Walk<'r, C: Replay> {
    code: &'r Code,
    space: &'r Space,
    cpu: &'r C,
    counts: &'r Counts,
    policy: Policy,
    lookup: Lookup,
    tags: [C::Tag; SLOTS],
    branch: Pending<C::Tag>,
    /// Where the jump or call at each block's end went last.
    last_targets: Vec<u32>,
    /// What the primitives since the last access to persistent memory have done already.
    covered: Covered,
    string: LastLines,
}

/// A branch that waits for its target: the block that comes next.
#[derive(Clone, Copy)]
enum Pending<T> {
    None,
    Conditional { tag: T, site: u32, falls_to: u64 },
    Indirect { tag: T, site: u32, block: u32 },
}

/// How much the last primitives have ordered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Covered {
    Nothing,
    Order,
    Durable,
}

/// The lines that the last iteration of a string instruction touched: the next one needs none of its own to touch them again.
#[derive(Clone, Copy)]
struct LastLines {
    block: u32,
    load: u64,
    store: u64,
}

impl LastLines {
    const NONE: LastLines = LastLines {
        block: u32::MAX,
        load: u64::MAX,
        store: u64::MAX,
    };
}

/// How far the execution of a block has come.
struct Cursor<'s> {
    executed: Executed<'s>,
    /// Accesses, value words, fences and turns so far.
    access: usize,
    value: usize,
    fence: usize,
    turn: usize,
    /// The access that waits for its turn next; none if out of range.
    turn_at: usize,
    repeats: bool,
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
            repeats,
        }
    }

    /// The address of the next access.
    #[inline(always)]
    fn address(&self) -> Option<u64> {
        self.executed.addresses.get(self.access).copied()
    }

    /// The value of the next access, of so many bytes.
    #[inline(always)]
    fn words(&mut self, size: u16) -> &'s [u64] {
        if size > VALUE_BYTES {
            return &[];
        }
        let end = self.value + usize::from(size.div_ceil(8));
        let words = self.executed.values.get(self.value..end).unwrap_or(&[]);
        self.value = end;
        words
    }
}

impl<'r, C: Replay> Walk<'r, C> {
    pub fn new(code: &'r Code, space: &'r Space, cpu: &'r C, counts: &'r Counts) -> Self {
        Walk {
            code,
            space,
            cpu,
            counts,
            policy: Policy::of(cpu.lowering()),
            lookup: Lookup::default(),
            tags: [C::Tag::default(); SLOTS],
            branch: Pending::None,
            last_targets: vec![0; code.blocks()],
            covered: Covered::Nothing,
            string: LastLines::NONE,
        }
    }

    /// Replays all that the stream tells.
    pub async fn all(mut self, mut stream: Stream) -> Result<(), RecordError> {
        while let Some(step) = stream.next()? {
            match step {
                Step::Block(executed) => self.block(executed).await,
                Step::Event(event) => self.event(event).await,
            }
        }
        self.decide(None);
        Ok(())
    }

    async fn block(&mut self, executed: Executed<'_>) {
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
                Kind::Alu => {
                    let [a, b, c] = self.sources(op);
                    let done = self.cpu.alu(op.alu, self.cpu.both(a, b), c);
                    self.set(op, done);
                }
                Kind::Load | Kind::UpdateLoad => {
                    let Some(recorded) = at.address() else { return };
                    self.take_turn(&at, recorded).await;
                    let done = self.load(op, recorded, &at).await;
                    self.set(op, done);
                    if op.kind == Kind::Load {
                        self.passed(&mut at);
                    }
                }
                Kind::Store | Kind::StoreNt => {
                    let Some(recorded) = at.address() else { return };
                    self.take_turn(&at, recorded).await;
                    self.store(op, recorded, &mut at).await;
                    self.passed(&mut at);
                }
                Kind::Fused => {
                    let [a, b, c] = self.sources(op);
                    let done = self.cpu.fused(op.alu, self.cpu.both(a, b), c);
                    self.set(op, done);
                }
                Kind::Entry => {
                    self.cpu.alu(Alu::Simple, C::Tag::default(), C::Tag::default());
                    let [a, ..] = self.sources(op);
                    self.set(op, a);
                }
                Kind::Join => {
                    let [a, b, c] = self.sources(op);
                    let joined = self.cpu.both(self.cpu.both(a, b), c);
                    self.set(op, joined);
                }
                Kind::Branch | Kind::NotTaken | Kind::Indirect => self.note_branch(op, body, executed.block),
                Kind::Locked => {
                    let Some(recorded) = at.address() else { return };
                    self.take_turn(&at, recorded).await;
                    let done = self.locked(op, recorded, &mut at).await;
                    self.set(op, done);
                    self.passed(&mut at);
                }
                Kind::Clwb | Kind::ClflushOpt | Kind::Clflush => {
                    let Some(recorded) = at.address() else { return };
                    self.flush(op, recorded).await;
                    self.passed(&mut at);
                }
                Kind::Sfence | Kind::Mfence => {
                    let class = executed.fences.get(at.fence).copied().unwrap_or(FenceClass::Idle);
                    at.fence += 1;
                    self.fence(op, class).await;
                }
                Kind::Marker => self.marker(op.site).await,
            }
        }
    }

    #[inline(always)]
    fn tag(&self, slot: Slot) -> C::Tag {
        self.tags[usize::from(slot.0) % SLOTS]
    }

    #[inline(always)]
    fn sources(&self, op: &Op) -> [C::Tag; 3] {
        op.sources.map(|slot| self.tag(slot))
    }

    #[inline(always)]
    fn set(&mut self, op: &Op, tag: C::Tag) {
        for slot in op.targets {
            self.tags[usize::from(slot.0) % SLOTS] = tag;
        }
    }

    #[inline(always)]
    fn address_tag(&self, op: &Op) -> C::Tag {
        self.cpu.both(self.tag(op.address[0]), self.tag(op.address[1]))
    }

    #[inline(always)]
    fn data_tag(&self, op: &Op) -> C::Tag {
        let [a, b, c] = self.sources(op);
        self.cpu.both(self.cpu.both(a, b), c)
    }

    #[inline(always)]
    fn simulated(&mut self, recorded: u64) -> Addr {
        self.lookup.simulated(self.space, recorded)
    }

    /// Waits for the turn of the next access, if it has one.
    #[inline(always)]
    async fn take_turn(&mut self, at: &Cursor<'_>, recorded: u64) {
        if at.access == at.turn_at {
            let word = self.simulated(Turn::word(recorded));
            let before = at.executed.turns[at.turn].before;
            self.cpu.written(word, before).await;
        }
    }

    /// The next write counts, if it has a turn.
    #[inline(always)]
    fn count_write(&self, at: &Cursor<'_>) {
        if at.access == at.turn_at {
            self.cpu.count_next();
        }
    }

    /// The access is issued; the next one comes.
    #[inline(always)]
    fn passed(&mut self, at: &mut Cursor<'_>) {
        if at.access == at.turn_at {
            at.turn += 1;
            let next = at.executed.turns.get(at.turn);
            at.turn_at = next.map_or(usize::MAX, |turn| usize::from(turn.access));
        }
        at.access += 1;
    }

    /// One load a line.
    async fn load(&mut self, op: &Op, recorded: u64, at: &Cursor<'_>) -> C::Tag {
        let address = self.address_tag(op);
        let first = self.simulated(recorded);
        if at.repeats {
            let line = first.line().0;
            if std::mem::replace(&mut self.string.load, line) == line {
                return address;
            }
        }
        let mut done = self.cpu.load(Addr(first.0 & !7), address, 8).await.tag();
        if first.0 % LINE_BYTES + u64::from(op.size) > LINE_BYTES {
            let end = recorded.saturating_add(u64::from(op.size));
            let mut line = (recorded | (LINE_BYTES - 1)).saturating_add(1);
            while line < end {
                let more = self.simulated(line);
                let loaded = self.cpu.load(more, address, 8).await.tag();
                done = self.cpu.both(done, loaded);
                line += LINE_BYTES;
            }
        }
        done
    }
}
