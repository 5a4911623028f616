use super::*;
use crate::testing::damage;
use crate::trees::binary::node;
use crate::trees::header;
use crate::trees::testing::{built, holds_what_a_set_would, logs_what_it_writes, root, several_structures};
use strandline_isa::{Addr, Image};
use strandline_runtime::Workload;

#[test]
fn the_tree_holds_the_keys_that_a_set_would() {
    holds_what_a_set_would::<Avl>(ABOUT.params);
}

#[test]
fn large_trees_log_what_they_write() {
    logs_what_it_writes::<Avl>(ABOUT.params);
}

#[test]
fn structures_are_apart() {
    several_structures::<Avl>(ABOUT.params);
}

/// A single changed word breaks each rule of the invariant.
#[test]
fn damage_to_the_tree_is_named() {
    let (trees, memory) = built::<Avl>(ABOUT.params, &[("keys", 40), ("init_ops", 300)]);
    let (header, root) = root(&trees, &memory);
    let left = memory.word(Addr(root + node::LEFT));
    let height = memory.word(Addr(root + node::STATE));
    damage(
        &memory,
        |image| trees.check(image),
        &[
            (header + header::SIZE, 99, "but its size is 99"),
            (header + header::ROOT, root + 8, "which is no node"),
            (root + node::STATE, height + 1, "levels and right"),
            (root + node::LEFT, 0, "but its size is"),
            (root + node::RIGHT, left, "is linked twice"),
            (left + node::KEY, 0, "key 0 comes after key"),
            (left + node::VALUE, 1 << 63, "a value that is not its"),
        ],
    );
}

/// The least tree of h levels has Fibonacci(h + 2) - 1 nodes (Knuth): 1, 2, 4, 7, 12, 20, 33.
#[test]
fn levels_are_those_of_the_least_trees() {
    let found: Vec<u64> = [1, 2, 3, 4, 6, 7, 11, 12, 19, 20, 32, 33].map(levels).into();
    assert_eq!(found, [1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7]);
}
