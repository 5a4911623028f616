//! Pushes and pops.

use super::{header, Cq, ITEMS, NODE_BYTES, NODE_LINES};
use strandline_isa::{sites, Cpu, LINE_BYTES, W};
use strandline_runtime::{Region, Step, ThreadState, PAYLOAD_BYTES};

sites! {
    PUSHES_TO_EMPTY = 0xb8df_aadd;
    POPS_OF_EMPTY = 0x243a_ca73;
    NODE_IS_LAST = 0x75aa_714d;
    ALL_OPERATIONS_DONE = 0x82b5_b417;
    OPERATION_PUSHES = 0xad3a_2d47;
    OPERATION_PUSHES_TO_EMPTY = 0x9312_4ec6;
    OPERATION_POPS_OF_EMPTY = 0x5c0b_4cbe;
    MORE_TO_FREE = 0x4107_f9ad;
}

/// The first item in line `line` of a node, and the end of those in the previous line.
const fn first_item(line: u64) -> u64 {
    let items = (line * PAYLOAD_BYTES).saturating_sub(8) / 4;
    if items < ITEMS {
        items
    } else {
        ITEMS
    }
}

/// Offset of item `i` in line `line` of its node. It adds the trailers before it, without a division.
fn item_of(line: u64, i: u64) -> u64 {
    8 + 4 * i + (LINE_BYTES - PAYLOAD_BYTES) * line
}

/// The end of a queue, from its header, to which a node is linked.
struct End<'c, C: Cpu> {
    header: W<'c, C>,
    tail: W<'c, C>,
    was_empty: bool,
    count: W<'c, C>,
}

impl Cq {
    pub(super) fn push<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, queue: W<'c, C>) {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let Some(taken) = self.free.take(cpu, thread.thread) else {
            return;
        };
        thread.log.takes(taken);
        let node = taken.row();
        let value = thread.random.number();
        let header = self.headers.row(queue);
        let guard = self.locks.at(queue);
        thread.log.lock(guard);

        let (tail, count) = (header.at(header::TAIL).load(), header.at(header::COUNT).load());
        let was_empty = tail.is(0).branch(PUSHES_TO_EMPTY);
        let mut region = thread.log.begin();
        let end = End {
            header,
            tail,
            was_empty,
            count,
        };
        Cq::link(&mut region, cpu, end, node, value, Step::Last);

        thread.log.unlock(guard);
    }

    pub(super) fn pop<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, queue: W<'c, C>) {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let header = self.headers.row(queue);
        let guard = self.locks.at(queue);
        thread.log.lock(guard);
        let node = header.at(header::HEAD).load();
        if node.is(0).branch(POPS_OF_EMPTY) {
            thread.log.unlock(guard);
            return;
        }

        let (next, count) = (node.load(), header.at(header::COUNT).load());
        let mut region = thread.log.begin();
        Cq::unlink(&mut region, cpu, header, [node, next, count], Step::Last);

        thread.log.unlock(guard);
        // Only once the region is durable, because another thread may overwrite the node at once.
        self.free.give(cpu, thread.thread, node, &thread.log);
    }

    /// Links a filled node behind the last one.
    fn link<'c, C: Cpu>(
        region: &mut Region<'_, 'c, C>,
        cpu: &'c C,
        end: End<'c, C>,
        node: W<'c, C>,
        value: W<'c, C>,
        step: Step,
    ) {
        let _call = cpu.call(5);
        let End {
            header,
            tail,
            was_empty,
            count,
        } = end;
        region.log_row(node, NODE_BYTES);
        region.log(header, 0, header::BYTES);
        if !was_empty {
            region.log(tail, 0, 8);
        }
        region.order(step);
        Cq::fill_node(region, cpu, node, value);
        let link = if was_empty { header.at(header::HEAD) } else { tail };
        region.update(link, node, 8);
        region.update(header.at(header::TAIL), node, 8);
        region.update(header.at(header::COUNT), count + 1, 8);
        region.finish();
    }

    /// Writes a node that is the last one, and whose items begin with `value`.
    pub(super) fn fill_node<'c, C: Cpu>(region: &mut Region<'_, 'c, C>, cpu: &'c C, node: W<'c, C>, value: W<'c, C>) {
        let _call = cpu.call(3);
        region.update(node, cpu.word(0), 8);
        for line in 0..NODE_LINES {
            for i in first_item(line)..first_item(line + 1) {
                let value = if i == 0 { value } else { value + i };
                region.update(node.at(item_of(line, i)), value, 4);
            }
        }
    }

    /// Removes the first node from a queue with `count` nodes. It is the only one if it has no successor.
    fn unlink<'c, C: Cpu>(
        region: &mut Region<'_, 'c, C>,
        cpu: &'c C,
        header: W<'c, C>,
        [node, next, count]: [W<'c, C>; 3],
        step: Step,
    ) {
        let _call = cpu.call(3);
        region.log_row(node, NODE_BYTES);
        region.log(header, 0, header::BYTES);
        region.order(step);
        region.update(node, cpu.word(0), 8);
        region.update(header.at(header::HEAD), next, 8);
        if next.is(0).branch(NODE_IS_LAST) {
            region.update(header.at(header::TAIL), next, 8);
        }
        region.update(header.at(header::COUNT), count - 1, 8);
        region.finish();
    }

    /// A region of several pushes and pops of one queue.
    pub(super) fn several<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let _call = thread.cpu.call(1);
        let cpu = thread.cpu;
        let queue = thread.random.below(self.queues);
        let header = self.headers.row(queue);
        let guard = self.locks.at(queue);
        let popped = self.popped.of(thread);
        let mut popped_end = popped;
        thread.log.lock(guard);
        let mut region = thread.log.begin();
        let mut left = cpu.word(self.operations);
        while !left.is(0).branch(ALL_OPERATIONS_DONE) {
            left = left - 1;
            let value = thread.random.word();
            if (value >> 63).is(0).branch(OPERATION_PUSHES) {
                if let Some(taken) = self.free.take(cpu, thread.thread) {
                    region.takes(taken);
                    let node = taken.row();
                    let tail = region.read(header.at(header::TAIL), 8);
                    let count = region.read(header.at(header::COUNT), 8);
                    let was_empty = tail.is(0).branch(OPERATION_PUSHES_TO_EMPTY);
                    let end = End {
                        header,
                        tail,
                        was_empty,
                        count,
                    };
                    Cq::link(&mut region, cpu, end, node, value, Step::More);
                }
                continue;
            }
            let node = region.read(header.at(header::HEAD), 8);
            if !node.is(0).branch(OPERATION_POPS_OF_EMPTY) {
                let next = region.read(node, 8);
                let count = region.read(header.at(header::COUNT), 8);
                Cq::unlink(&mut region, cpu, header, [node, next, count], Step::More);
                popped_end.store(node);
                popped_end = popped_end + 8;
            }
        }
        region.end();
        thread.log.unlock(guard);
        while popped.less(popped_end).branch(MORE_TO_FREE) {
            popped_end = popped_end - 8;
            let node = popped_end.load();
            self.free.give(cpu, thread.thread, node, &thread.log);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::item;
    use super::*;

    #[test]
    fn items_counted_by_lines_lie_where_their_payload_bytes_do() {
        let by_lines =
            (0..NODE_LINES).flat_map(|line| (first_item(line)..first_item(line + 1)).map(move |i| (line, i)));
        let found: Vec<(u64, u64)> = by_lines.map(|(line, i)| (i, item_of(line, i))).collect();
        let expected: Vec<(u64, u64)> = (0..ITEMS).map(|i| (i, item(i))).collect();
        assert_eq!(found, expected);
    }
}
