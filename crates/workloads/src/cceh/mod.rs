//! `cceh`: cacheline-conscious extendible hashing, without a log.
//!
//! Nam et al., "Write-Optimized Dynamic Hashing for Persistent Memory" (FAST 2019): a directory of pointers to segments,
//! each of many buckets of a line with four pairs. The leading bits of a key's hash choose the directory's entry, the
//! trailing ones the bucket; probing goes on linearly over eight buckets (section 4.2, "linear probing ... bounded").
//!
//! - *Insertion* (4.2): a pair's slot is claimed by a compare-and-swap of its key with a mark; then the value is stored,
//!   then the key: all in one line, so that one flush makes the pair durable, and a crash leaves the mark or the pair.
//!   The insertion shares the segment's lock, and releases it before the pair is durable. This loses nothing: the next
//!   store to the slot is flushed with the same line, and a split copies the pair to a segment that it flushes itself.
//! - *Split* (4.3): with the segment's lock held alone, the upper half of its hashes is copied to a new segment, which is
//!   durable before the directory points to it; the directory is durable before the old segment's depth says that it has
//!   lost that half. Copied pairs stay where they are ("lazy deletion"): a slot is free if its key's hash does not have
//!   the segment's prefix. Where the segment is as deep as the directory, a directory of twice the size replaces it by
//!   one store. All locks are released after durability; a new segment is born locked, since what others would insert
//!   there could be durable before the directory's entry is.
//! - *Search* takes no lock.
//! - *Recovery* (4.4): an entry's segment covers a stride of the directory. If the upper half of a stride points
//!   elsewhere, a split has reached the directory: it is completed. Marks become free slots, and locks free.
//!
//! Not in the paper: *deletion* holds the lock alone, until the slot is durably free. An insertion that finds the mark of
//! another thread in its way waits for its key, so that no key is there twice. The prefix and the depth of a segment are
//! one word. Segments and directories that a crash has left unreachable are free after it.

mod recovery;
mod split;

use crate::extendible::{Extendible, Open};
use crate::maps::{self, hash, Map, Old, EXCLUSIVE};
use crate::papers::ASAP;
use crate::params::{omits, param};
use crate::About;
use std::collections::BTreeMap;
use std::ops::Range;
use strandline_isa::{sites, Cpu, Image, Intent, Primitive, LINE_BYTES, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{unlock, BuildPlan, FreeLists, Heap, ThreadState};

sites! {
    KEY_MATCHES = 0xf825_fc65;
    KEY_STAYED = 0x0784_0e1b;
    SLOT_IS_MARKED = 0x354f_b40f;
    SLOT_IS_EMPTY = 0x1996_0e54;
    SLOT_IS_STALE = 0xcae1_700e;
    WINDOW_ENDS = 0xde76_cb06;
    SEGMENT_STAYED = 0xd4a9_8894;
    LOCK_IS_ALONE = 0x29e5_a0b2;
    SEGMENT_IS_FREE = 0xb879_5b48;
    SEGMENT_IS_TAKEN = 0x10cf_bb19;
    LOCK_IS_SHARED = 0x8133_78da;
    STILL_MATCHES = 0xdca5_712e;
    CLAIMS = 0xd142_0347;
    SEARCH_ENDS = 0x7e26_872b;
    SEARCH_MATCHES = 0x91db_f67b;
    STILL_COVERS = 0x2119_d265;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "cceh",
    line: "inserts pairs of 16 bytes into an extendible hash table of segments",
    paper: "ASAP (HPCA 2022), Table III, after CCEH (FAST 2019)",
    tasks: 100_000,
    params: PARAMS,
    small: &[
        ("keys", "40"),
        ("init_ops", "4"),
        ("depth", "1"),
        ("lines", "2"),
        ("segments", "16"),
        ("reads", "10"),
        ("deletes", "15"),
        ("records", "64"),
    ],
    ..ASAP
};

const PARAMS: &[Param] = maps::params! {
    init_ops: 0, reads: 0;
    param(
        "depth",
        14,
        1..=24,
        "bits of a hash that choose a segment at first: the program that ASAP measures begins with 16,384 segments",
    ),
    param(
        "lines",
        256,
        1..=1 << 16,
        "buckets of a segment, each a line of four pairs; rounded up to a power of two",
    ),
    param("segments", 1 << 15, 2..=1 << 25, "segments that there is room for"),
    Omits::PARAM,
};

/// Buckets that a probe passes.
const WINDOW: u64 = 8;

/// Bytes of a pair.
const PAIR: u64 = 16;

/// A slot without a pair.
const EMPTY: u64 = 0;

/// A slot that is claimed. No key has this value: keys are odd multiples of numbers far below 2^64.
const MARK: u64 = u64::MAX;

/// Offsets in a segment's first line.
mod segment {
    /// 64 less its depth, in the lowest byte; above it the hash bits that all its keys share.
    pub const PREFIX: u64 = 0;
    /// Its lock.
    pub const LOCK: u64 = 8;
}

omits! {
    "the flush of a record of a large pair, the flush of a pair, the order of a new segment before the directory, or that of the directory before the old segment's depth":
    Value = "value",
    Pair = "pair",
    Segment = "segment",
    Directory = "directory",
}

/// The hash table.
pub struct Cceh {
    table: Extendible,
    free: FreeLists,
    /// Buckets of a segment.
    lines: u64,
    omits: Omits,
}

/// Where a probe has ended.
enum Probe<'c, C: Cpu> {
    Found(W<'c, C>),
    /// At a free slot, which holds this key.
    Free(W<'c, C>, W<'c, C>),
    Full,
}

impl Cceh {
    /// Bytes of a segment's buckets.
    fn bytes(&self) -> u64 {
        self.lines * LINE_BYTES
    }

    /// The offset of a hash's bucket among the buckets.
    fn home<'c, C: Cpu>(&self, hash: W<'c, C>) -> W<'c, C> {
        (hash & (self.lines - 1)) << u64::from(LINE_BYTES.trailing_zeros())
    }

    /// The offset of the slot behind this one.
    fn next<'c, C: Cpu>(&self, offset: W<'c, C>) -> W<'c, C> {
        (offset + PAIR) & (self.bytes() - 1)
    }

    /// Slots that a probe passes.
    fn window(&self) -> u64 {
        WINDOW.min(self.lines) * (LINE_BYTES / PAIR)
    }

    /// Looks for a key in a segment whose lock is held, at least shared, and for the first slot that is free for it.
    fn probe<'c, C: Cpu>(&self, cpu: &'c C, open: &Open<'c, C>, key: W<'c, C>, hash: W<'c, C>) -> Probe<'c, C> {
        let _call = cpu.call(3);
        let (mut offset, mut left) = (self.home(hash), cpu.word(self.window()));
        let mut free: Option<(W<'c, C>, W<'c, C>)> = None;
        loop {
            let slot = (open.segment + offset).at(LINE_BYTES);
            let mut held = slot.load();
            // Whoever has claimed it may be about to insert this key.
            while held.is(MARK).branch(SLOT_IS_MARKED) {
                cpu.give_way();
                cpu.spins();
                held = slot.load();
            }
            if held.equals(key).branch(KEY_MATCHES) {
                return Probe::Found(slot);
            }
            let is_free = held.is(EMPTY).branch(SLOT_IS_EMPTY) || !open.covers(maps::hash(held)).branch(SLOT_IS_STALE);
            if is_free && free.is_none() {
                free = Some((slot, held));
            }
            left = left - 1;
            if left.is(0).branch(WINDOW_ENDS) {
                break;
            }
            offset = self.next(offset);
        }
        match free {
            Some((slot, held)) => Probe::Free(slot, held),
            None => Probe::Full,
        }
    }

    /// Acquires a segment's lock shared.
    fn share<'c, C: Cpu>(cpu: &'c C, segment: W<'c, C>) {
        let _call = cpu.call(1);
        let lock = segment.at(segment::LOCK);
        loop {
            let holders = lock.load();
            if !holders.is(EXCLUSIVE).branch(LOCK_IS_ALONE)
                && lock
                    .compare_swap(holders, holders + 1)
                    .equals(holders)
                    .branch(LOCK_IS_SHARED)
            {
                break;
            }
            cpu.give_way();
            cpu.spins();
        }
        cpu.intent(Intent::Acquire);
    }

    /// Acquires a segment's lock alone.
    fn lock<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>) {
        let all = cpu.word(EXCLUSIVE);
        loop {
            let holders = lock.load();
            if holders.is(0).branch(SEGMENT_IS_FREE) && lock.compare_swap(holders, all).is(0).branch(SEGMENT_IS_TAKEN) {
                break;
            }
            cpu.give_way();
            cpu.spins();
        }
        cpu.intent(Intent::Acquire);
    }

    /// Releases a segment's lock, which is held shared.
    fn unshare<'c, C: Cpu>(cpu: &'c C, segment: W<'c, C>) {
        cpu.intent(Intent::Release);
        cpu.primitive(Primitive::StoreBarrier);
        segment.at(segment::LOCK).fetch_add(cpu.word(u64::MAX));
    }

    fn flush_pair<'c, C: Cpu>(&self, slot: W<'c, C>) {
        if self.omits != Omits::Pair {
            slot.flush();
        }
    }
}

/// The outcome of an attempt.
enum Attempt {
    Done,
    Again,
    Full,
}

impl Cceh {
    /// Inserts a pair into the open segment, whose lock is held shared.
    fn insert<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        open: &Open<'c, C>,
        (key, hash): (W<'c, C>, W<'c, C>),
        value: W<'c, C>,
        old: &mut Old<'c, C>,
    ) -> Attempt {
        let _call = cpu.call(2);
        match self.probe(cpu, open, key, hash) {
            Probe::Found(slot) => {
                // Others that share the lock may replace it, too.
                old.replace(slot.at(8), value);
                self.flush_pair(slot);
                Attempt::Done
            }
            Probe::Free(slot, held) => {
                let mark = cpu.word(MARK);
                if !slot.compare_swap(held, mark).equals(held).branch(CLAIMS) {
                    return Attempt::Again;
                }
                slot.at(8).store(value);
                cpu.primitive(Primitive::StoreBarrier);
                slot.store(key);
                self.flush_pair(slot);
                Attempt::Done
            }
            Probe::Full => Attempt::Full,
        }
    }
}

impl Map for Cceh {
    fn lay_out(params: &Params, plan: &BuildPlan, heap: &mut Heap) -> Result<Self, ParamError> {
        let lines = params.get("lines").next_power_of_two();
        let table = Extendible::lay_out(heap, params, LINE_BYTES * (1 + lines))?;
        Ok(Cceh {
            free: FreeLists::allocate(heap, table.segments, plan.threads),
            table,
            lines,
            omits: Omits::of(params),
        })
    }

    fn format(&self, image: &dyn Image) {
        self.table.format(image);
    }

    fn get<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>) -> Option<W<'c, C>> {
        let _call = thread.cpu.call(2);
        let (cpu, hash) = (thread.cpu, hash(key));
        loop {
            let open = self.table.open(cpu, hash);
            let (mut offset, mut left) = (self.home(hash), cpu.word(self.window()));
            while !left.is(0).branch(SEARCH_ENDS) {
                let slot = (open.segment + offset).at(LINE_BYTES);
                if slot.load().equals(key).branch(SEARCH_MATCHES) {
                    let value = slot.at(8).load();
                    // The slot may have been given to another key meanwhile.
                    if slot.load().equals(key).branch(KEY_STAYED) {
                        return Some(value);
                    }
                }
                (offset, left) = (self.next(offset), left - 1);
            }
            let prefix = open.segment.at(segment::PREFIX).load();
            if prefix.equals(open.prefix).branch(SEGMENT_STAYED) {
                return None;
            }
        }
    }

    fn put<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        (key, value): (W<'c, C>, W<'c, C>),
        old: &mut Old<'c, C>,
    ) -> bool {
        let _call = thread.cpu.call(3);
        let (cpu, hash) = (thread.cpu, hash(key));
        loop {
            let mut open = self.table.open(cpu, hash);
            Cceh::share(cpu, open.segment);
            open.prefix = open.segment.at(segment::PREFIX).load();
            let attempt = match open.covers(hash).branch(STILL_MATCHES) {
                true => self.insert(cpu, &open, (key, hash), value, old),
                false => Attempt::Again,
            };
            Cceh::unshare(cpu, open.segment);
            match attempt {
                Attempt::Done => break,
                Attempt::Again => {}
                Attempt::Full => {
                    if !self.split(thread, &open) {
                        return false;
                    }
                }
            }
        }
        cpu.intent(Intent::Durable);
        true
    }

    fn remove<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>, old: &mut Old<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let (cpu, hash) = (thread.cpu, hash(key));
        loop {
            let mut open = self.table.open(cpu, hash);
            let lock = open.segment.at(segment::LOCK);
            Cceh::lock(cpu, lock);
            open.prefix = open.segment.at(segment::PREFIX).load();
            if !open.covers(hash).branch(STILL_COVERS) {
                unlock(cpu, lock);
                continue;
            }
            let found = match self.probe(cpu, &open, key, hash) {
                Probe::Found(slot) => {
                    old.keep(slot.at(8));
                    slot.store(cpu.word(EMPTY));
                    self.flush_pair(slot);
                    cpu.intent(Intent::Durable);
                    true
                }
                _ => false,
            };
            unlock(cpu, lock);
            return found;
        }
    }

    fn mend(&self, image: &dyn Image) {
        self.table.complete_splits(image);
        self.free_slots_and_locks(image);
    }

    fn restart(&self, image: &dyn Image) {
        let reached = self.table.reached(image);
        self.free.rebuild(image, |row| reached[row as usize]);
    }

    fn read(&self, image: &dyn Image) -> Result<BTreeMap<u64, u64>, String> {
        self.pairs(image)
    }

    /// Not the segments, which are many times the cache.
    fn footprint(&self) -> Vec<Range<u64>> {
        let [directory, root] = self.table.footprint();
        vec![self.free.range(), directory, root]
    }
}
