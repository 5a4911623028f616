//! Sorted linked lists of nodes, whose heads are lines of their own: `linked-list`, and the edges of each vertex of
//! `graph`.
//!
//! Speculative Persistence (ISCA 2017), 3.1.1 and Figure 2. A region logs the node before the changed one ("we log data
//! of node nn and the address of nn"). A new node is not logged: nothing reaches it yet. A node is a line.

use crate::structures::Structures;
use strandline_isa::{sites, Addr, Cpu, Image, W};
use strandline_runtime::{Demand, Region, Step, ThreadState, PAYLOAD_BYTES};

sites! {
    CHAIN_ENDS = 0x2f61_b8d3;
    KEY_IS_LOWER = 0x8c05_4ea7;
    KEY_IS_HERE = 0xd37b_196c;
}

/// Offsets in a node.
pub(crate) mod node {
    /// The next node, or 0. A head has the first node at the same offset.
    pub const NEXT: u64 = 0;
    pub const KEY: u64 = 8;
    pub const VALUE: u64 = 16;
    pub const BYTES: u64 = 24;
}

/// Lists with a head of one word.
pub(crate) type Chains = Structures<8, { node::BYTES }>;

/// What an insertion writes: a node, and the link to it.
pub(crate) const LARGEST: Demand = Demand { lines: 2, words: 4 };

/// Records of two regions in an undo log, which has two for a line.
pub(crate) const LEAST_RECORDS: u64 = 8;

/// Added to a key, it gives the key's value: a torn node shows.
const VALUE: u64 = 0x5a5a_0000_0000;

/// An operation: deletes the key's node from list `index`, or inserts one if there is none.
pub(crate) fn operate<'c, C: Cpu>(chains: &Chains, thread: &mut ThreadState<'c, C>, index: W<'c, C>, key: W<'c, C>) {
    let _call = thread.cpu.call(4);
    let cpu = thread.cpu;
    chains.lock(&mut thread.log, index);
    let (before, found) = search(chains.headers.row(index), key);
    match found {
        Some(node) => {
            delete(&mut thread.log.begin(), before, node);
            chains.give(cpu, index, node);
        }
        None => {
            let mut free = chains.free(cpu, index);
            if let Some(node) = chains.next(cpu, &mut free) {
                insert(&mut thread.log.begin(), before, node, key);
                chains.allocate(free);
            }
        }
    }
    chains.unlock(&mut thread.log, index);
}

/// The node after which the key belongs, or the head; and the node with the key, if it is there.
fn search<'c, C: Cpu>(head: W<'c, C>, key: W<'c, C>) -> (W<'c, C>, Option<W<'c, C>>) {
    let _call = head.call(2);
    let mut before = head;
    let mut at = head.at(node::NEXT).load();
    while !at.is(0).branch(CHAIN_ENDS) {
        let found = at.at(node::KEY).load();
        if !found.less(key).branch(KEY_IS_LOWER) {
            return (before, found.equals(key).branch(KEY_IS_HERE).then_some(at));
        }
        before = at;
        at = at.at(node::NEXT).load();
    }
    (before, None)
}

fn insert<'c, C: Cpu>(region: &mut Region<'_, 'c, C>, before: W<'c, C>, node: W<'c, C>, key: W<'c, C>) {
    let _call = before.call(4);
    region.log(before, 0, PAYLOAD_BYTES);
    region.fresh(node);
    region.order(Step::Last);
    let next = region.read(before.at(node::NEXT), 8);
    region.update(node.at(node::NEXT), next, 8);
    region.update(node.at(node::KEY), key, 8);
    region.update(node.at(node::VALUE), key + VALUE, 8);
    region.update(before.at(node::NEXT), node, 8);
    region.finish();
}

fn delete<'c, C: Cpu>(region: &mut Region<'_, 'c, C>, before: W<'c, C>, node: W<'c, C>) {
    let _call = before.call(3);
    region.log(before, 0, PAYLOAD_BYTES);
    region.order(Step::Last);
    let next = region.read(node.at(node::NEXT), 8);
    region.update(before.at(node::NEXT), next, 8);
    region.finish();
}

/// Passes each node that list `index` reaches, by number, and its key to `see`.
///
/// # Errors
/// A node that is not the list's, keys that do not ascend, or a value that is not its key's.
pub(crate) fn walk(
    chains: &Chains,
    image: &dyn Image,
    index: u64,
    mut see: impl FnMut(u64, u64) -> Result<(), String>,
) -> Result<(), String> {
    let mut last = None;
    let mut at = image.word(chains.headers.addr(index));
    while at != 0 {
        let Some(node) = chains
            .nodes
            .index_of(at)
            .filter(|node| chains.own(index).contains(node))
        else {
            return Err(format!("list {index} reaches {at:#x}, which is none of its nodes"));
        };
        let word = |offset| image.word(Addr(at + offset));
        let key = word(node::KEY);
        // Ascending keys exclude a circle, too.
        if last.is_some_and(|last| last >= key) {
            return Err(format!("list {index} has key {key} after {last:?}"));
        }
        if word(node::VALUE) != key + VALUE {
            return Err(format!(
                "list {index}: the value of key {key} is {:#x}",
                word(node::VALUE)
            ));
        }
        see(node, key)?;
        last = Some(key);
        at = word(node::NEXT);
    }
    Ok(())
}

/// Checks each list as [`walk`] does, its keys by `check_key`, and that the nodes that no list reaches are free.
///
/// # Errors
/// The first fault.
pub(crate) fn check(
    chains: &Chains,
    image: &dyn Image,
    check_key: impl Fn(u64, u64) -> Result<(), String>,
) -> Result<(), String> {
    let mut seen = vec![false; chains.nodes.rows() as usize];
    for index in 0..chains.headers.rows() {
        walk(chains, image, index, |node, key| {
            seen[node as usize] = true;
            check_key(index, key)
        })?;
    }
    chains.check_free(image, &seen)
}

/// Makes every node free that no list reaches. Of a broken list, no node is free.
pub(crate) fn restart(chains: &Chains, image: &dyn Image) {
    let mut seen = vec![false; chains.nodes.rows() as usize];
    for index in 0..chains.headers.rows() {
        let walked = walk(chains, image, index, |node, _| {
            seen[node as usize] = true;
            Ok(())
        });
        if walked.is_err() {
            chains.own(index).for_each(|node| seen[node as usize] = true);
        }
    }
    chains.rebuild(image, |node| seen[node as usize]);
}
