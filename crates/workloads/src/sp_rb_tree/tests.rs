use super::red_black::{BLACK, RED};
use super::*;
use crate::testing::damage;
use crate::trees::binary::node;
use crate::trees::header;
use crate::trees::testing::{built, holds_what_a_set_would, logs_what_it_writes, root, several_structures};
use strandline_isa::{Addr, Image};
use strandline_runtime::Workload;

#[test]
fn the_tree_holds_the_keys_that_a_set_would() {
    holds_what_a_set_would::<RedBlack>(ABOUT.params);
}

#[test]
fn large_trees_log_what_they_write() {
    logs_what_it_writes::<RedBlack>(ABOUT.params);
}

#[test]
fn structures_are_apart() {
    several_structures::<RedBlack>(ABOUT.params);
}

/// A single changed word breaks each rule of the invariant.
#[test]
fn damage_to_the_tree_is_named() {
    let (trees, memory) = built::<RedBlack>(ABOUT.params, &[("keys", 60), ("init_ops", 300)]);
    let (header, root) = root(&trees, &memory);
    let word = |node: u64, at: u64| memory.word(Addr(node + at));
    let (left, right) = (word(root, node::LEFT), word(root, node::RIGHT));
    let mut nodes = vec![left, right];
    for i in 0.. {
        let Some(at) = nodes.get(i).copied() else { break };
        nodes.extend(
            [node::LEFT, node::RIGHT]
                .map(|side| word(at, side))
                .iter()
                .filter(|child| **child != 0),
        );
    }
    let is_red = |at: u64| at != 0 && word(at, node::STATE) == RED;
    let has_red = |at: u64| is_red(word(at, node::LEFT)) || is_red(word(at, node::RIGHT));
    let find = |wanted: &dyn Fn(u64) -> bool| *nodes.iter().find(|at| wanted(**at)).expect("there is one");
    let red = find(&|at| is_red(at));
    let over_red = find(&|at| !is_red(at) && has_red(at));
    let without_red = find(&|at| !is_red(at) && !has_red(at));
    damage(
        &memory,
        |image| trees.check(image),
        &[
            (header + header::SIZE, 99, "but its size is 99"),
            (root + node::STATE, RED, "the root at"),
            (red + node::STATE, 7, "has 7 as its colour"),
            (red + node::STATE, BLACK, "black nodes on a path"),
            (without_red + node::STATE, RED, "black nodes on a path"),
            (over_red + node::STATE, RED, "is red, and so is its parent"),
            (root + node::LEFT, left + 8, "which is no node"),
            (root + node::RIGHT, left, "is linked twice"),
            (left + node::KEY, 0, "key 0 comes after key"),
            (left + node::VALUE, 1 << 63, "a value that is not its"),
        ],
    );
}
