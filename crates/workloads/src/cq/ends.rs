//! Queues with a lock for pushes and one for pops (Delegated Persist Ordering, MICRO 2016, section V), after Michael and
//! Scott's two-lock queue (PODC 1996).
//!
//! The head is a dummy: a pop unlinks it, and its successor is the next one. Each end has a header in a line of its own,
//! and counts what was pushed or popped. So a push and a pop of one queue at the same time write no line in common, if
//! the pop keeps off a node whose push is not durable: a crash would undo the push and leave the pop. So a push hands its
//! node over when its region has ended: in volatile memory, under a third lock, which is held for two instructions. The
//! runtimes whose regions are durable later find there what a pop depends on.

use super::{Cq, NODE_BYTES};
use std::ops::Range;
use strandline_isa::{sites, Addr, Cpu, Image, Memory, LINE_BYTES, W};
use strandline_runtime::{Heap, Step, ThreadState, LOCK_BYTES};

sites! {
    NOTHING_HANDED_OVER = 0x9e37_79b1;
}

/// Offsets in the header of an end.
mod end {
    /// Of the head: the dummy. Of the tail: the last node.
    pub const NODE: u64 = 0;
    /// Nodes popped, or pushed.
    pub const COUNT: u64 = 8;
    pub const BYTES: u64 = 16;
}

/// Volatile memory of a queue, a line each: the lock of pushes, that of pops, and that of the hand-over, with the number
/// of nodes handed over.
#[derive(Clone, Copy)]
pub(super) struct Ends(Addr);

/// Bytes of a queue, as a power of two, so that its address is a shift and an addition.
const STRIDE: u64 = 8;
const POPS: u64 = LINE_BYTES;
const HAND_OVER: u64 = 2 * LINE_BYTES;
const HANDED_OVER: u64 = HAND_OVER + LOCK_BYTES;

impl Ends {
    pub fn allocate(heap: &mut Heap, queues: u64) -> Ends {
        Ends(heap.dram(queues << STRIDE))
    }

    pub fn range(self, queues: u64) -> Range<u64> {
        self.0 .0..self.0 .0 + (queues << STRIDE)
    }

    fn of<'c, C: Cpu>(self, queue: W<'c, C>) -> W<'c, C> {
        (queue << STRIDE) + self.0 .0
    }
}

impl Cq {
    /// The addresses of the headers of a queue's head and tail.
    fn end_headers(&self, queue: u64) -> [u64; 2] {
        [2 * queue, 2 * queue + 1].map(|row| self.headers.addr(row).0)
    }

    /// Fills the headers of a queue of `count` nodes behind a dummy.
    pub(super) fn populate_ends(&self, memory: &Memory, queue: u64, nodes: [u64; 2], count: u64) {
        for ((header, node), count) in self.end_headers(queue).into_iter().zip(nodes).zip([0, count]) {
            memory.set_word(Addr(header + end::NODE), node);
            memory.set_word(Addr(header + end::COUNT), count);
        }
    }

    /// The dummy of a queue, its last node, and how many there should be, with the dummy.
    pub(super) fn both_ends(&self, image: &dyn Image, queue: u64) -> [u64; 3] {
        let [head, tail] = self.end_headers(queue);
        let [popped, pushed] = [head, tail].map(|header| image.word(Addr(header + end::COUNT)));
        let count = pushed.wrapping_sub(popped).wrapping_add(1);
        [
            image.word(Addr(head + end::NODE)),
            image.word(Addr(tail + end::NODE)),
            count,
        ]
    }

    /// What is linked is handed over: nothing else runs.
    pub(super) fn hand_over_all(&self, image: &dyn Image) {
        let Some(ends) = self.ends else { return };
        for queue in 0..self.queues {
            let pushed = image.word(Addr(self.end_headers(queue)[1] + end::COUNT));
            image.set_word(Addr(ends.0 .0 + (queue << STRIDE) + HANDED_OVER), pushed);
        }
    }

    pub(super) fn push_to_end<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, ends: Ends, queue: W<'c, C>) {
        let _call = thread.cpu.call(3);
        let cpu = thread.cpu;
        let Some(taken) = self.free.take(cpu, thread.thread) else {
            return;
        };
        thread.log.takes(taken);
        let node = taken.row();
        let value = thread.random.number();
        let header = self.headers.row((queue << 1) + 1);
        let of_queue = ends.of(queue);
        let (guard, hand_over) = (of_queue, of_queue.at(HAND_OVER));
        thread.log.lock(guard);

        let (last, count) = (header.at(end::NODE).load(), header.at(end::COUNT).load());
        let mut region = thread.log.begin();
        region.log_row(node, NODE_BYTES);
        region.log(header, 0, end::BYTES);
        region.log(last, 0, 8);
        region.order(Step::Last);
        Cq::fill_node(&mut region, cpu, node, value);
        region.update(last, node, 8);
        region.update(header.at(end::NODE), node, 8);
        region.update(header.at(end::COUNT), count + 1, 8);
        region.finish();

        thread.log.lock(hand_over);
        of_queue.at(HANDED_OVER).store(count + 1);
        thread.log.unlock(hand_over);
        thread.log.unlock(guard);
    }

    pub(super) fn pop_from_end<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, ends: Ends, queue: W<'c, C>) {
        let _call = thread.cpu.call(3);
        let cpu = thread.cpu;
        let header = self.headers.row(queue << 1);
        let of_queue = ends.of(queue);
        let (guard, hand_over) = (of_queue.at(POPS), of_queue.at(HAND_OVER));
        thread.log.lock(guard);
        thread.log.lock(hand_over);
        let handed_over = of_queue.at(HANDED_OVER).load();
        thread.log.unlock(hand_over);
        let count = header.at(end::COUNT).load();
        if count.equals(handed_over).branch(NOTHING_HANDED_OVER) {
            thread.log.unlock(guard);
            return;
        }

        let dummy = header.at(end::NODE).load();
        let next = dummy.load();
        let mut region = thread.log.begin();
        region.log_row(dummy, NODE_BYTES);
        region.log(header, 0, end::BYTES);
        region.order(Step::Last);
        region.update(dummy, cpu.word(0), 8);
        region.update(header.at(end::NODE), next, 8);
        region.update(header.at(end::COUNT), count + 1, 8);
        region.finish();

        thread.log.unlock(guard);
        // Only once the region is durable, because another thread may overwrite the node at once.
        self.free.give(cpu, thread.thread, dummy, &thread.log);
    }
}

#[cfg(test)]
mod tests {
    use super::super::ABOUT;
    use super::*;
    use crate::testing::{built, run};
    use std::collections::BTreeSet;
    use strandline_isa::{CoreId, Line, Lowering, Note, Primitive};
    use strandline_runtime::Plain;

    const FENCED: Lowering = Lowering {
        log: true,
        durable: &[Primitive::Sfence],
        ..Lowering::NOTHING
    };

    /// The lines that each of a hundred regions writes, on one queue, and the lines of its two headers.
    fn regions() -> (Vec<BTreeSet<Line>>, [Line; 2]) {
        let set = [("queues", 1), ("locks", 2)];
        let (cq, memory) = built::<Cq, _>(ABOUT.params, 1, &set);
        let cpu = Plain::recording(&memory, CoreId(0), FENCED);
        run(&cq, &cpu, 1, 100);
        let mut regions: Vec<BTreeSet<Line>> = Vec::new();
        for note in cpu.take_notes() {
            match note {
                Note::RegionBegin => regions.push(BTreeSet::new()),
                Note::RegionWrite { addr, .. } => _ = regions.last_mut().unwrap().insert(addr.line()),
                _ => {}
            }
        }
        (regions, cq.end_headers(0).map(|header| Addr(header).line()))
    }

    #[test]
    fn a_region_writes_the_header_of_one_end() {
        let (regions, [head, tail]) = regions();
        assert_ne!(head, tail);
        let ends = |lines: &BTreeSet<Line>| (lines.contains(&head), lines.contains(&tail));
        let (pops, pushes): (Vec<_>, Vec<_>) = regions.iter().partition(|lines| ends(lines).0);
        assert!(pops.iter().all(|lines| ends(lines) == (true, false)));
        assert!(pushes.iter().all(|lines| ends(lines) == (false, true)));
        // A pop writes the link of the node that it frees. A push writes a node's five lines, and the last one's link.
        let written = |regions: &[&BTreeSet<Line>], lines| regions.iter().all(|region| region.len() == lines);
        assert!(written(&pops, 2) && written(&pushes, 7));
        assert!(pops.len() > 20 && pushes.len() > 20, "even odds");
    }
}
