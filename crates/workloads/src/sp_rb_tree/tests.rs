use super::red_black::{BLACK, RED};
use super::*;
use crate::trees::binary::node;
use crate::trees::header;
use crate::trees::testing::{built, damage, root, run_beside_a_set, several_structures};
use proptest::prelude::*;
use strandline_isa::{Addr, Image};

proptest! {
    #[test]
    fn the_tree_holds_the_keys_that_a_set_would(
        seed: u64,
        keys in 1_u64..60,
        incremental in 0_u64..2,
        tasks in 0_u64..200,
    ) {
        run_beside_a_set::<RedBlack>(ABOUT.params, [keys, incremental], seed, tasks, 1);
    }
}

#[test]
fn large_trees_log_what_they_write() {
    for (keys, every) in [(200, 10), (3000, 500), (100_000, 10_000)] {
        run_beside_a_set::<RedBlack>(ABOUT.params, [keys, 0], 7, 30_000, every);
        run_beside_a_set::<RedBlack>(ABOUT.params, [keys, 1], 8, 30_000, every);
    }
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
        &trees,
        &memory,
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
