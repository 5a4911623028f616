//! Common parts of the workloads of Speculative Persistence (ISCA 2017), Table 1: equal structures of nodes, each with
//! a lock and free nodes of its own, and their initial operations.
//!
//! The paper runs one thread. So a program of one lane takes no locks; with several lanes, a task holds the lock of its
//! structure.

use crate::params::param;
use std::ops::Range;
use strandline_isa::{sites, Addr, Cpu, Image, LINE_BYTES, W};
use strandline_kernel::Param;
use strandline_runtime::{BuildPlan, Heap, Locks, Log, Random, Table};

sites! {
    NO_NODE_IS_FREE = 0x6b1f_93d2;
    TAKE_WRAPS = 0x11e0_4c5a;
    GIVE_WRAPS = 0xc4a7_2e81;
}

/// The parameter: how many structures there are.
pub(crate) const STRUCTURES: Param = param(
    "structures",
    1,
    1..=4096,
    "independent structures, each with a lock; a task uses one",
);

/// The parameter: how many operations run before the run, untimed (Table 1, #InitOps).
pub(crate) const fn init_ops(default: u64) -> Param {
    param(
        "init_ops",
        default,
        0..=1 << 32,
        "operations that fill the structures before the run, untimed",
    )
}

/// Keys of a structure that `operations` operations fill, or that holds at most as many nodes: twice as many.
///
/// The paper gives no range. An operation deletes a key that is there and inserts one that is not, so of K keys K/2 are
/// there in the long run: with fewer keys than this, the structure would be smaller than Table 1's numbers say. With
/// many more, hardly any operation would delete. With twice as many, #InitOps operations leave 0.63 nodes each, so a
/// third of the operations that follow delete.
pub(crate) const fn keys_for(operations: u64) -> u64 {
    2 * operations
}

/// Offsets in the line before a structure's ring of free nodes.
const FIRST: u64 = 0;
const END: u64 = 8;
const COUNT: u64 = 16;

/// Structures with a header of `HEADER` bytes and nodes of `NODE` bytes in persistent memory.
///
/// Free nodes are in a ring in volatile memory; the one that was freed last is allocated last: "a deleted node is not
/// immediately garbage collected" (5.2). The structure's lock guards the ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Structures<const HEADER: u64, const NODE: u64> {
    pub headers: Table<HEADER>,
    pub nodes: Table<NODE>,
    locks: Locks,
    rings: Addr,
    /// Nodes of each structure.
    each: u64,
    shared: bool,
}

impl<const HEADER: u64, const NODE: u64> Structures<HEADER, NODE> {
    /// Allocates `number` structures of `each` nodes.
    pub fn lay_out(heap: &mut Heap, plan: &BuildPlan, number: u64, each: u64) -> Self {
        let headers = heap.table(number);
        let nodes = heap.table(number * each);
        let locks = Locks::allocate(heap, number);
        Structures {
            headers,
            nodes,
            locks,
            rings: heap.dram(number * Self::stride(each)),
            each,
            shared: plan.lanes() > 1,
        }
    }

    /// Bytes from ring to ring.
    fn stride(each: u64) -> u64 {
        LINE_BYTES + (each * 8).next_multiple_of(LINE_BYTES)
    }

    fn ring(&self, index: u64) -> u64 {
        self.rings.0 + index * Self::stride(self.each)
    }

    fn ring_of<'c, C: Cpu>(&self, cpu: &'c C, index: W<'c, C>) -> W<'c, C> {
        match self.headers.rows() {
            1 => cpu.word(self.rings.0),
            _ => index * Self::stride(self.each) + self.rings.0,
        }
    }

    /// The nodes of structure `index`, by number among all nodes.
    pub fn own(&self, index: u64) -> Range<u64> {
        index * self.each..(index + 1) * self.each
    }

    /// A random structure. One of one costs nothing.
    pub fn draw<'c, C: Cpu>(&self, cpu: &'c C, random: &mut Random<'c, C>) -> W<'c, C> {
        match self.headers.rows() {
            1 => cpu.word(0),
            rows => random.below(rows),
        }
    }

    /// Acquires the lock of structure `index`, if there are several lanes.
    pub fn lock<'c, C: Cpu>(&self, log: &mut Log<'c, C>, index: W<'c, C>) {
        if self.shared {
            log.lock(self.locks.at(index));
        }
    }

    /// Releases it.
    pub fn unlock<'c, C: Cpu>(&self, log: &mut Log<'c, C>, index: W<'c, C>) {
        if self.shared {
            log.unlock(self.locks.at(index));
        }
    }

    /// The free nodes of structure `index`.
    pub fn free<'c, C: Cpu>(&self, cpu: &'c C, index: W<'c, C>) -> Free<'c, C> {
        let _call = cpu.call(1);
        let ring = self.ring_of(cpu, index);
        Free {
            ring,
            first: ring.at(FIRST).load(),
            count: ring.at(COUNT).load(),
        }
    }

    /// The next free node, if there is one. It stays free until [`Structures::allocate`].
    pub fn next<'c, C: Cpu>(&self, cpu: &'c C, free: &mut Free<'c, C>) -> Option<W<'c, C>> {
        let _call = cpu.call(1);
        if free.count.is(0).branch(NO_NODE_IS_FREE) {
            return None;
        }
        let node = (free.ring + free.first).at(LINE_BYTES).load();
        free.first = self.after(cpu, free.first, TAKE_WRAPS);
        free.count = free.count - 1;
        Some(node)
    }

    /// Allocates the nodes that [`Structures::next`] has gone through. The region that links them has finished: an
    /// aborted one leaves them free.
    pub fn allocate<'c, C: Cpu>(&self, free: Free<'c, C>) {
        free.ring.at(FIRST).store(free.first);
        free.ring.at(COUNT).store(free.count);
    }

    /// Frees a node of structure `index`: it is not reachable, and the region that removed it has finished.
    pub fn give<'c, C: Cpu>(&self, cpu: &'c C, index: W<'c, C>, node: W<'c, C>) {
        let _call = cpu.call(2);
        let ring = self.ring_of(cpu, index);
        let end = ring.at(END).load();
        (ring + end).at(LINE_BYTES).store(node);
        let next = self.after(cpu, end, GIVE_WRAPS);
        ring.at(END).store(next);
        let count = ring.at(COUNT).load();
        ring.at(COUNT).store(count + 1);
    }

    fn after<'c, C: Cpu>(&self, cpu: &'c C, offset: W<'c, C>, wraps: strandline_isa::Site) -> W<'c, C> {
        let next = offset + 8;
        match next.is(8 * self.each).branch(wraps) {
            true => cpu.word(0),
            false => next,
        }
    }

    /// Fills the rings with the nodes that are not `reachable` (by number among all nodes), the lowest first.
    pub fn rebuild(&self, image: &dyn Image, reachable: impl Fn(u64) -> bool) {
        for word in self.locks.range(self.headers.rows()).step_by(8) {
            image.set_word(Addr(word), 0);
        }
        for index in 0..self.headers.rows() {
            let ring = self.ring(index);
            let mut count = 0;
            for node in self.own(index).filter(|node| !reachable(*node)) {
                image.set_word(Addr(ring + LINE_BYTES + 8 * count), self.nodes.addr(node).0);
                count += 1;
            }
            image.set_word(Addr(ring + FIRST), 0);
            image.set_word(Addr(ring + END), if count == self.each { 0 } else { 8 * count });
            image.set_word(Addr(ring + COUNT), count);
        }
    }

    /// Checks that no free node is `reachable`, and that each other node is. After a crash, before
    /// [`Structures::rebuild`], there are no rings to check.
    ///
    /// # Errors
    /// The node, or the numbers.
    pub fn check_free(&self, image: &dyn Image, reachable: &[bool]) -> Result<(), String> {
        let mut seen = reachable.to_vec();
        for index in 0..self.headers.rows() {
            let ring = self.ring(index);
            let count = image.word(Addr(ring + COUNT));
            let mut at = image.word(Addr(ring + FIRST));
            let used = self.own(index).filter(|node| reachable[*node as usize]).count() as u64;
            if count > 0 && count + used != self.each {
                let each = self.each;
                return Err(format!(
                    "structure {index}: {count} nodes are free and {used} reachable, of {each}"
                ));
            }
            for _ in 0..count {
                let node = image.word(Addr(ring + LINE_BYTES + at));
                let row = self.nodes.index_of(node);
                if row.is_none_or(|row| std::mem::replace(&mut seen[row as usize], true)) {
                    return Err(format!(
                        "the free node at {} is reachable, free twice or none",
                        Addr(node)
                    ));
                }
                at = (at + 8) % (8 * self.each);
            }
        }
        Ok(())
    }

    /// What programs use repeatedly, most useful last.
    pub fn footprint(&self) -> Vec<Range<u64>> {
        let rings = self.rings.0..self.ring(self.headers.rows());
        vec![
            self.nodes.range(),
            rings,
            self.headers.range(),
            self.locks.range(self.headers.rows()),
        ]
    }
}

/// Free nodes of a structure, those that a task goes through first.
pub(crate) struct Free<'c, C: Cpu> {
    ring: W<'c, C>,
    first: W<'c, C>,
    count: W<'c, C>,
}

impl<C: Cpu> Clone for Free<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Cpu> Copy for Free<'_, C> {}
