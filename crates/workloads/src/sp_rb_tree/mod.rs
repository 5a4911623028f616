//! `sp-rb-tree`: insertions and deletions of random keys in a red-black tree.
//!
//! Speculative Persistence (ISCA 2017), Table 1 "RB-tree" (`trees` has what its trees share). A node has key,
//! value, two links and its colour, but no link to its parent, as recursion needs none. (`rb-tree` is StrandWeaver's:
//! with parent links, and each store logged before it is made.)
//!
//! Full logging: "we always assume the worst and log all nodes which may be involved if rebalancing is triggered"
//! (5.2). An insertion logs the header, every node of the path, and its sibling: as an uncle, it may be recoloured. A
//! deletion logs the path to the removed node, and that node's child. At each level of the path it logs the sibling and
//! those below it that recolouring and rotations there may write: the sibling's children, or, if the sibling is red,
//! its child on the side of the path with its two children.
//!
//! Incremental logging: each recolouring that moves the fault up is a step, and so is each rotation. Between two steps,
//! a red node may have a red parent, or paths through one child have a black node too few.

mod check;
mod delete;
mod red_black;

use crate::papers::SPECULATIVE;
use crate::trees::{params, records, Shape, Toggles, MOST_KEYS};
use crate::About;
use red_black::{lines, RedBlack};

/// The workload's description.
pub const ABOUT: About = About {
    name: "sp-rb-tree",
    line: "insertions and deletions in a red-black tree, all logged before",
    paper: "Speculative Persistence (ISCA 2017), Table 1, RB-tree",
    tasks: 50_000,
    params: &params(1_500_000, records(lines(MOST_KEYS), RedBlack::NODE)),
    small: &[("keys", "24"), ("init_ops", "40"), ("log_records", "890")],
    ..SPECULATIVE
};

/// Red-black trees.
pub type SpRbTree = Toggles<RedBlack>;

#[cfg(test)]
mod tests;
