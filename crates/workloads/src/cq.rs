//! `cq`, concurrent queues: pushes to and pops from linked queues. `queue` is the same with one queue.
//!
//! COSPlay (MICRO 2021), section 5, Table 3 "CQ" and its variants CQ-4, CQ-16, CQ-64, after Kolli et al. (ASPLOS 2016).
//! Each queue has one lock; a node is the address of the next and 64 four-byte items (264 bytes, five lines). A task
//! picks a queue at random and, at even odds, fills a node and pushes it, or pops one. The log and the flushes take
//! whole rows: the node with its five lines, the queue's header, and a push the link of the last node; two fences a task.
//!
//! Simplified: nodes come from a fixed stock, by volatile free lists (one for each thread, rebuilt after a crash from
//! what is reachable); half of them are linked at the start. A push without a free node and a pop of an empty queue do
//! nothing. A node's items are consecutive numbers, so that a torn node shows.

use crate::filler::{halves, pair};
use crate::{About, Alias};
use std::ops::Range;
use strandline_isa::{Addr, Cpu, Image, Memory, LINE_BYTES, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{
    log_records, place, BuildPlan, FreeLists, Heap, Locks, LogLayout, Step, Table, ThreadState, Workload, PAYLOAD_BYTES,
};

/// What is to be known of it.
pub const ABOUT: About = About {
    name: "cq",
    alias: Some(Alias {
        name: "queue",
        set: &[("queues", "1")],
    }),
    line: "pushes to and pops from linked queues",
    paper: "COSPlay (MICRO 2021), Table 3, CQ",
    machine: "cosplay",
    runtime: "undo",
    tasks: 20_000,
    params: PARAMS,
};

const PARAMS: &[Param] = &[
    Param {
        name: "queues",
        default: 16,
        min: 1,
        max: 1 << 16,
        help: "queues",
    },
    Param {
        name: "nodes",
        default: 512,
        min: 2,
        max: 1 << 16,
        help: "nodes for each queue, half of them linked at the start",
    },
    // Ten records for a node, one for the header, one for the last node's link; two regions.
    log_records(24),
];

const ITEMS: u64 = 64;
const NODE_BYTES: u64 = 8 + 4 * ITEMS;

/// Offsets in a queue's header.
mod header {
    pub const HEAD: u64 = 0;
    pub const TAIL: u64 = 8;
    pub const COUNT: u64 = 16;
    pub const BYTES: u64 = 24;
}

/// Linked queues and the nodes that they are made of.
pub struct Cq {
    headers: Table<{ header::BYTES }>,
    nodes: Table<NODE_BYTES>,
    locks: Locks,
    free: FreeLists<NODE_BYTES>,
    logs: LogLayout,
}

/// Lines of a node.
const NODE_LINES: u64 = NODE_BYTES.div_ceil(PAYLOAD_BYTES);

/// Where item `i` lies in its node.
fn item(i: u64) -> u64 {
    place(8 + 4 * i)
}

/// The first item in line `line` of a node, and the end of those in the line before.
const fn first_item(line: u64) -> u64 {
    let items = (line * PAYLOAD_BYTES).saturating_sub(8) / 4;
    if items < ITEMS {
        items
    } else {
        ITEMS
    }
}

/// Where item `i` lies in its node if it is in line `line`: behind so many trailers, which takes no division.
fn item_of(line: u64, i: u64) -> u64 {
    8 + 4 * i + (LINE_BYTES - PAYLOAD_BYTES) * line
}

impl Cq {
    async fn push<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, queue: W<'c, C>) {
        let cpu = thread.cpu;
        let Some(node) = self.free.take(cpu, thread.thread, &mut thread.log).await else {
            return;
        };
        let value = thread.random.word();
        let header = self.headers.row(queue);
        let guard = self.locks.at(queue);
        thread.log.lock(guard).await;

        let (tail, count) = (
            header.at(header::TAIL).load().await,
            header.at(header::COUNT).load().await,
        );
        let was_empty = tail.is(0).branch();
        let mut region = thread.log.begin();
        region.log_row(node, NODE_BYTES).await;
        region.log(header, 0, header::BYTES).await;
        if !was_empty {
            region.log(tail, 0, 8).await;
        }
        region.order(Step::Last).await;
        region.update(node, cpu.word(0), 8).await;
        for line in 0..NODE_LINES {
            for i in first_item(line)..first_item(line + 1) {
                let value = if i == 0 { value } else { value + i };
                region.update(node.at(item_of(line, i)), value, 4).await;
            }
        }
        let link = if was_empty { header.at(header::HEAD) } else { tail };
        region.update(link, node, 8).await;
        region.update(header.at(header::TAIL), node, 8).await;
        region.update(header.at(header::COUNT), count + 1, 8).await;
        region.finish().await;

        thread.log.unlock(guard).await;
    }

    async fn pop<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, queue: W<'c, C>) {
        let cpu = thread.cpu;
        let header = self.headers.row(queue);
        let guard = self.locks.at(queue);
        thread.log.lock(guard).await;
        let node = header.at(header::HEAD).load().await;
        if node.is(0).branch() {
            thread.log.unlock(guard).await;
            return;
        }

        let (next, count) = (node.load().await, header.at(header::COUNT).load().await);
        let mut region = thread.log.begin();
        region.log_row(node, NODE_BYTES).await;
        region.log(header, 0, header::BYTES).await;
        region.order(Step::Last).await;
        region.update(node, cpu.word(0), 8).await;
        region.update(header.at(header::HEAD), next, 8).await;
        if next.is(0).branch() {
            region.update(header.at(header::TAIL), next, 8).await;
        }
        region.update(header.at(header::COUNT), count - 1, 8).await;
        region.finish().await;

        thread.log.unlock(guard).await;
        // Not before the region is durable: another thread may overwrite the node at once.
        self.free.give(cpu, thread.thread, node, &thread.log).await;
    }

    /// Calls `visit` with the address of each node of a queue, from its head on.
    fn walk(
        &self,
        image: &dyn Image,
        queue: u64,
        mut visit: impl FnMut(u64) -> Result<(), String>,
    ) -> Result<(), String> {
        let header = self.headers.addr(queue).0;
        let mut node = image.word(Addr(header + header::HEAD));
        let mut last = 0;
        let mut length = 0;
        while node != 0 {
            visit(node)?;
            (last, node) = (node, image.word(Addr(node)));
            length += 1;
        }
        let (tail, count) = (
            image.word(Addr(header + header::TAIL)),
            image.word(Addr(header + header::COUNT)),
        );
        if tail != last {
            return Err(format!(
                "queue {queue} ends at {}, but its tail is {}",
                Addr(last),
                Addr(tail)
            ));
        }
        if count != length {
            return Err(format!("queue {queue} has {length} nodes, but its count is {count}"));
        }
        Ok(())
    }

    /// Whether the items of a node are consecutive.
    fn check_items(image: &dyn Image, node: u64) -> Result<(), String> {
        let (first, _) = halves(image, Addr(node + item(0)));
        for i in (0..ITEMS).step_by(2) {
            let expected = (
                first.wrapping_add(i) & 0xffff_ffff,
                first.wrapping_add(i + 1) & 0xffff_ffff,
            );
            if halves(image, Addr(node + item(i))) != expected {
                return Err(format!(
                    "items {i} and {} of the node at {} are not those that were pushed",
                    i + 1,
                    Addr(node)
                ));
            }
        }
        Ok(())
    }

    /// The nodes that some queue holds, by number; also checks the links.
    fn reachable(&self, image: &dyn Image) -> Result<Vec<bool>, String> {
        let mut seen = vec![false; self.nodes.rows() as usize];
        for queue in 0..self.headers.rows() {
            self.walk(image, queue, |node| match self.nodes.index_of(node) {
                None => Err(format!("queue {queue} links to {}, which is no node", Addr(node))),
                Some(index) if std::mem::replace(&mut seen[index as usize], true) => {
                    Err(format!("the node at {} is linked twice", Addr(node)))
                }
                Some(_) => Ok(()),
            })?;
        }
        Ok(seen)
    }

    fn fill(&self, memory: &Memory, per_queue: u64) {
        for queue in 0..self.headers.rows() {
            let node = |i: u64| self.nodes.addr(queue * per_queue + i).0;
            for i in 0..per_queue {
                let next = if i + 1 < per_queue { node(i + 1) } else { 0 };
                memory.set_word(Addr(node(i)), next);
                for k in (0..ITEMS).step_by(2) {
                    memory.set_word(Addr(node(i) + item(k)), pair(i + k, i + k + 1));
                }
            }
            let header = self.headers.addr(queue).0;
            memory.set_word(Addr(header + header::HEAD), node(0));
            memory.set_word(Addr(header + header::TAIL), node(per_queue - 1));
            memory.set_word(Addr(header + header::COUNT), per_queue);
        }
    }
}

impl Workload for Cq {
    fn build(params: &Params, plan: &BuildPlan) -> Result<(Self, Memory), ParamError> {
        let (queues, per_queue) = (params.get("queues"), params.get("nodes"));
        if queues * per_queue > 1 << 24 {
            return Err(ParamError(format!(
                "workload.queues={queues} times workload.nodes={per_queue}: at most {} nodes in all; set one lower",
                1 << 24
            )));
        }
        let mut heap = Heap::new(plan);
        let headers = heap.table(queues);
        let nodes = heap.table(queues * per_queue);
        let cq = Cq {
            headers,
            nodes,
            locks: Locks(heap.dram(queues * 8)),
            free: FreeLists::allot(&mut heap, nodes, plan.threads),
            logs: LogLayout::allot(&mut heap, plan.lanes(), params.get("log_records")),
        };
        let memory = heap.memory();
        cq.fill(&memory, per_queue / 2);
        cq.restart(&memory);
        Ok((cq, memory))
    }

    async fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let queue = thread.random.below(self.headers.rows());
        let pushes = (thread.random.word() >> 63).is(0).branch();
        if pushes {
            self.push(thread, queue).await;
        } else {
            self.pop(thread, queue).await;
        }
    }

    /// Each queue is a list that ends at its tail and is as long as its count; no node is in two places; the items of
    /// each node belong together.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        let linked = self.reachable(image)?;
        let nodes = (0..self.nodes.rows()).filter(|index| linked[*index as usize]);
        nodes
            .map(|index| self.nodes.addr(index).0)
            .try_for_each(|node| Cq::check_items(image, node))
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        let locks = self.locks.range(self.headers.rows());
        vec![
            self.nodes.range(),
            self.free.range(),
            self.headers.range(),
            locks,
            self.logs.lists(),
            self.logs.range(),
        ]
    }

    /// Every node that no queue holds is free. A queue whose links are broken keeps all nodes from being used.
    fn restart(&self, image: &dyn Image) {
        let linked = self
            .reachable(image)
            .unwrap_or_else(|_| vec![true; self.nodes.rows() as usize]);
        self.free.rebuild(image, |node| linked[node as usize]);
    }
}

#[cfg(test)]
mod tests {
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
