//! `b-tree`: insertions and deletions of random keys in a 2-3 tree.
//!
//! Speculative Persistence (ISCA 2017), Table 1 "B-tree" and Figures 4 and 5 (`trees` has what its trees
//! share). Keys and values are in the leaves, a node each. Another node has two or three children, and a key before
//! each but the first: no key to the right of it is less, all to the left are. All leaves have the same depth, which
//! the header holds.
//!
//! An insertion that gives a node a fourth child splits it into two. A deletion that leaves it a single one moves a
//! child over from the sibling to its left (to its right, if it is the first), or merges the two.
//!
//! Full logging: "we always assume the worst and log all nodes which may be involved if rebalancing is triggered"
//! (5.2). An insertion logs the header and every inner node of the path, each of which may be split ("the entire
//! root-to-near-leaf nodes are logged", 3.2); new nodes need no log. A deletion logs the path, and that sibling of each
//! inner node of it, with which the node may be merged. No other node is written: the model tests assert it.
//!
//! Incremental logging: the insertion or removal of a leaf is a step, which may leave a node with four children or with
//! one. So is each split, move or merge, with the link in the parent, and so is a root with a single child when it
//! goes.

mod check;
mod delete;
mod insert;
mod two_three;

use crate::papers::SPECULATIVE;
use crate::trees::{params, records, Shape, Toggles, MOST_KEYS};
use crate::About;
use two_three::{lines, TwoThree};

/// The workload's description.
pub const ABOUT: About = About {
    name: "b-tree",
    line: "insertions and deletions in a 2-3 tree",
    paper: "Speculative Persistence (ISCA 2017), Table 1, B-tree",
    tasks: 50_000,
    params: &params(1_000_000, records(lines(MOST_KEYS), TwoThree::NODE)),
    small: &[("keys", "24"), ("init_ops", "40"), ("log_records", "190")],
    ..SPECULATIVE
};

/// 2-3 trees.
pub type BTree = Toggles<TwoThree>;

#[cfg(test)]
mod tests;
