//! `avl-tree`: insertions and deletions of random keys in an AVL tree.
//!
//! Speculative Persistence (ISCA 2017), Table 1 "AVL-tree" (`trees` has what its trees share). A node has key,
//! value, two links and its height, but no link to its parent.
//!
//! Full logging: "we always assume the worst and log all nodes which may be involved if rebalancing is triggered"
//! (5.2). An insertion logs the header and every node of the path, among which all rotations are. A deletion logs the
//! path to the removed node and, at each level of it, the sibling and the sibling's inner child, which a rotation there
//! would move.
//!
//! Incremental logging: each step of rebalancing writes one height, or makes one rotation (single or double).

mod balance;
mod check;

use crate::papers::SPECULATIVE;
use crate::trees::{binary, params, records, Toggles};
use crate::About;
use balance::{levels, lines, Avl};

/// The workload's description.
pub const ABOUT: About = About {
    name: "avl-tree",
    line: "insertions and deletions in an AVL tree",
    paper: "Speculative Persistence (ISCA 2017), Table 1, AVL-tree",
    tasks: 50_000,
    params: &params(1_000_000, MOST_RECORDS),
    small: &[("keys", "24"), ("init_ops", "40"), ("log_records", "378")],
    ..SPECULATIVE
};

/// The most records of an operation.
const MOST_RECORDS: u64 = records(lines(levels(crate::trees::MOST_KEYS)), binary::node::BYTES);

/// AVL trees.
pub type AvlTree = Toggles<Avl>;

#[cfg(test)]
mod tests;
