//! What the cores executed and in which order their stores became visible: an execution to check
//! against a memory model.

use crate::core::EntryKind;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use strandline_design::ByteMask;
use strandline_isa::{Addr, CoreId, Flush, Line, Primitive, LINE_BYTES};
use strandline_kernel::Cycles;

/// What the cores executed, and in which order their stores became visible.
///
/// The first `n` entries of `visible`, applied to the initial memory, give the memory that all
/// cores saw then; all of them give the final one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Each core's operations, in program order. Arithmetic, branches and the start line are left out.
    pub programs: Vec<Vec<TraceOp>>,
    /// The stores, non-temporal stores and locked instructions of all cores, each once, in the order in which their
    /// bytes were written to the memory that all cores see. A store that a design keeps for itself has no entry.
    pub visible: Vec<OpId>,
}

/// Names an operation of a [`Trace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId {
    /// The core that executed it.
    pub core: CoreId,
    /// Its index in the core's program.
    pub index: u32,
}

/// An operation as it was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TraceOp {
    /// A load.
    Load {
        /// Where.
        addr: Addr,
        /// How many bytes (1, 2, 4 or 8).
        size: u8,
        /// The value that the program got, little-endian; bytes beyond `size` are zero.
        value: u64,
        /// Where its value came from.
        from: Seen,
    },
    /// A store.
    Store {
        /// Where.
        addr: Addr,
        /// How many bytes (1, 2, 4 or 8).
        size: u8,
        /// The bytes written, little-endian; those beyond `size` are zero.
        value: u64,
    },
    /// A non-temporal store.
    StoreNt {
        /// Where.
        addr: Addr,
        /// How many bytes (1, 2, 4 or 8).
        size: u8,
        /// The bytes written, little-endian; those beyond `size` are zero.
        value: u64,
    },
    /// A locked instruction on 8 bytes. A compare-and-swap that fails writes the old value back: `new` is `old`, and it
    /// has its entry in [`Trace::visible`] as every other.
    Rmw {
        /// Where.
        addr: Addr,
        /// What it read.
        old: u64,
        /// What it wrote.
        new: u64,
        /// The source of `old`: memory, as it was just before this instruction's own entry; or, where
        /// the design keeps the write, the source that a load would have.
        from: Seen,
    },
    /// A flush of a line.
    Flush {
        /// An address in the line.
        addr: Addr,
        /// The instruction.
        kind: Flush,
    },
    /// A persist primitive; also one that the machine has no work for.
    Primitive(Primitive),
    /// A note of the program: its index in the core's notes of the journal.
    Note(u32),
}

impl TraceOp {
    /// Where it loads from volatile memory or stores to it, if it orders nothing else.
    fn volatile(&self) -> Option<Addr> {
        match self {
            TraceOp::Load { addr, .. } | TraceOp::Store { addr, .. } | TraceOp::StoreNt { addr, .. } => {
                (!addr.is_persistent()).then_some(*addr)
            }
            TraceOp::Rmw { .. } | TraceOp::Flush { .. } | TraceOp::Primitive(_) | TraceOp::Note(_) => None,
        }
    }

    /// An operation that enters the store queue.
    pub(crate) fn entering(addr: Addr, kind: EntryKind) -> TraceOp {
        let low = |size: u8, value: u64| value & (u64::MAX >> (64 - 8 * u32::from(size)));
        match kind {
            EntryKind::Store { size, value } => TraceOp::Store {
                addr,
                size,
                value: low(size, value),
            },
            EntryKind::StoreNt { size, value } => TraceOp::StoreNt {
                addr,
                size,
                value: low(size, value),
            },
            EntryKind::Flush(kind) => TraceOp::Flush { addr, kind },
            EntryKind::Primitive(primitive) => TraceOp::Primitive(primitive),
        }
    }
}

/// The source of a load's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seen {
    /// All from one store of its own core, of this index, that was still in the store queue.
    Own(u32),
    /// All from memory after this number of entries of [`Trace::visible`].
    Memory(u32),
    /// From several places: from memory after this number of entries of [`Trace::visible`], and
    /// over it, in program order, from the older stores of its own core that were in the store
    /// queue: those that are not among these entries. Happens only where accesses of different
    /// sizes overlap.
    Merged(u32),
    /// Some of them from a line that was filled from memory while a store to these bytes was in
    /// flight.
    Stale,
}

/// Lines of volatile memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VolatileLines {
    /// One bit each.
    bits: Vec<u64>,
}

impl VolatileLines {
    /// Adds the line of an address.
    pub fn add(&mut self, addr: Addr) {
        let (word, bit) = Self::place(addr);
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        self.bits[word] |= bit;
    }

    /// Whether the line of an address is among them.
    #[must_use]
    pub fn contains(&self, addr: Addr) -> bool {
        let (word, bit) = Self::place(addr);
        self.bits.get(word).is_some_and(|bits| bits & bit != 0)
    }

    fn place(addr: Addr) -> (usize, u64) {
        let line = addr.0 / LINE_BYTES;
        ((line / 64) as usize, 1 << (line % 64))
    }
}

/// What a trace has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Traces {
    /// There is no trace.
    #[default]
    Nothing,
    /// All operations.
    Everything,
    /// All but loads and stores of volatile memory outside these lines. If the lines are those by which threads may
    /// communicate, and the program does not annotate locks, a memory model orders what is left as before: a load or store
    /// that no other thread sees orders only what its thread's program order does, and locked instructions stay.
    Shared(Arc<VolatileLines>),
}

/// The index in the trace of what is not traced.
pub const UNTRACED: u32 = u32::MAX;

/// A trace under construction. Kept out of the callers' code, which is hot and mostly not traced.
#[derive(Default)]
pub struct Tracer {
    traces: Traces,
    trace: RefCell<Trace>,
    /// When each store of [`Trace::visible`] became so.
    times: RefCell<Vec<Cycles>>,
    /// Stale bytes of lines, one bit each: the cores see them as they were before their latest
    /// store.
    stale: RefCell<BTreeMap<Line, u64>>,
    /// Where the latest laps of each core's loop began, if it waits in one.
    laps: RefCell<Vec<Vec<usize>>>,
}

impl Tracer {
    /// For a machine of `cores` cores; it keeps all operations or only some.
    pub fn new(cores: usize, traces: Traces) -> Tracer {
        let trace = Trace {
            programs: vec![Vec::new(); cores],
            visible: Vec::new(),
        };
        Tracer {
            traces,
            trace: RefCell::new(trace),
            times: RefCell::default(),
            stale: RefCell::default(),
            laps: RefCell::new(vec![Vec::new(); cores]),
        }
    }

    /// A core's next operation: its index.
    #[cold]
    #[inline(never)]
    pub fn enter(&self, core: CoreId, op: TraceOp) -> u32 {
        if let (Traces::Shared(lines), Some(addr)) = (&self.traces, op.volatile()) {
            if !lines.contains(addr) {
                return UNTRACED;
            }
        }
        let program = &mut self.trace.borrow_mut().programs[core.index()];
        program.push(op);
        index(program.len() - 1)
    }

    /// Operations of a core so far, to which [`Tracer::truncate`] may return.
    pub fn mark(&self, core: CoreId) -> usize {
        self.laps.borrow_mut()[core.index()].clear();
        self.trace.borrow().programs[core.index()].len()
    }

    /// Removes all but the first `len` operations of a core.
    pub fn truncate(&self, core: CoreId, len: usize) {
        self.laps.borrow_mut()[core.index()].clear();
        self.trace.borrow_mut().programs[core.index()].truncate(len);
    }

    /// A core's program begins another lap of a loop in which it waits. The third of three equal laps
    /// is removed: equal loads from equal places, with nothing else in between. Whatever is before a
    /// load of that lap, or after one, is so of a load of the first two. A loop that waits long so
    /// adds little to a trace.
    pub fn laps(&self, core: CoreId) {
        let program = &mut self.trace.borrow_mut().programs[core.index()];
        let begun = &mut self.laps.borrow_mut()[core.index()];
        if let [first, second, third] = begun[..] {
            let laps = [&program[first..second], &program[second..third], &program[third..]];
            let is_load = |op: &TraceOp| matches!(op, TraceOp::Load { .. });
            if laps[2] == laps[1] && laps[1] == laps[0] && laps[2].iter().all(is_load) {
                return program.truncate(third);
            }
            begun.remove(0);
        }
        begun.push(program.len());
    }

    /// Records that a core's store has become visible.
    #[cold]
    #[inline(never)]
    pub fn visible(&self, core: CoreId, index: u32, at: Cycles) {
        self.trace.borrow_mut().visible.push(OpId { core, index });
        self.times.borrow_mut().push(at);
    }

    /// Marks these bytes of a line as stale.
    pub fn stale(&self, line: Line, bytes: u64) {
        *self.stale.borrow_mut().entry(line).or_default() |= bytes;
    }

    /// Marks all bytes of a line as fresh.
    pub fn fresh(&self, line: Line) {
        self.stale.borrow_mut().remove(&line);
    }

    /// The source of an access that finds these bytes outside of its core.
    pub fn in_memory(&self, addr: Addr, size: u8) -> Seen {
        let stale = self.stale.borrow().get(&addr.line()).copied().unwrap_or(0);
        match stale & ByteMask::of(addr, size).0 {
            0 => Seen::Memory(self.count()),
            _ => Seen::Stale,
        }
    }

    /// Visible stores so far.
    pub fn count(&self) -> u32 {
        index(self.trace.borrow().visible.len())
    }

    /// Takes when the stores of [`Trace::visible`] became so.
    pub fn take_times(&self) -> Vec<Cycles> {
        self.times.take()
    }

    /// Takes the finished trace.
    pub fn take(&self) -> Trace {
        self.trace.take()
    }
}

fn index(n: usize) -> u32 {
    u32::try_from(n).expect("a trace of fewer than 2^32 operations")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORE: CoreId = CoreId(0);

    fn load(addr: u64, count: u32) -> TraceOp {
        TraceOp::Load {
            addr: Addr(addr),
            size: 8,
            value: 1,
            from: Seen::Memory(count),
        }
    }

    /// A lap of three loads at a moment.
    fn lap(count: u32) -> [TraceOp; 3] {
        [load(0, count), load(64, count), load(8, count)]
    }

    fn spins(tracer: &Tracer, laps: usize, lap: &[TraceOp]) {
        for _ in 0..laps {
            lap.iter().for_each(|op| _ = tracer.enter(CORE, *op));
            tracer.laps(CORE);
        }
    }

    fn program(tracer: &Tracer) -> Vec<TraceOp> {
        tracer.take().programs.remove(0)
    }

    #[test]
    fn a_loop_that_waits_keeps_a_few_laps_for_each_moment() {
        let tracer = Tracer::new(1, Traces::Everything);
        spins(&tracer, 100, &lap(3));
        spins(&tracer, 100, &lap(4));
        // The first lap of a loop ends where the first boundary is.
        assert_eq!(program(&tracer), [vec![lap(3); 3], vec![lap(4); 2]].concat().concat());
    }

    #[test]
    fn what_differs_or_does_not_wait_stays() {
        let tracer = Tracer::new(1, Traces::Everything);
        let flush = TraceOp::Flush {
            addr: Addr(0),
            kind: Flush::Clwb,
        };
        spins(&tracer, 9, &[load(0, 1), flush]);
        assert_eq!(program(&tracer), [load(0, 1), flush].repeat(9), "something in between");
        let tracer = Tracer::new(1, Traces::Everything);
        (0..9).for_each(|_| _ = tracer.enter(CORE, load(0, 1)));
        assert_eq!(program(&tracer), [load(0, 1); 9], "no loop that waits");
    }

    #[test]
    fn a_roll_back_finds_what_was_there() {
        let tracer = Tracer::new(1, Traces::Everything);
        spins(&tracer, 2, &lap(1));
        tracer.enter(CORE, load(0, 1));
        let mark = tracer.mark(CORE);
        spins(&tracer, 9, &lap(1));
        tracer.truncate(CORE, mark);
        tracer.enter(CORE, load(8, 2));
        let kept = [lap(1).repeat(2), vec![load(0, 1), load(8, 2)]].concat();
        assert_eq!(program(&tracer), kept);
    }
}
