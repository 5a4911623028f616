use super::two_three::{inner, leaf};
use super::*;
use crate::testing::damage;
use crate::trees::header;
use crate::trees::testing::{built, holds_what_a_set_would, logs_what_it_writes, root, several_structures};
use strandline_isa::{Addr, Image};
use strandline_runtime::Workload;

#[test]
fn the_tree_holds_the_keys_that_a_set_would() {
    holds_what_a_set_would::<TwoThree>(ABOUT.params);
}

#[test]
fn large_trees_log_what_they_write() {
    logs_what_it_writes::<TwoThree>(ABOUT.params);
}

#[test]
fn structures_are_apart() {
    several_structures::<TwoThree>(ABOUT.params);
}

/// A single changed word breaks each rule of the invariant.
#[test]
fn damage_to_the_tree_is_named() {
    let (trees, memory) = built::<TwoThree>(ABOUT.params, &[("keys", 60), ("init_ops", 300)]);
    let (header, root) = root(&trees, &memory);
    let word = |node: u64, at: u64| memory.word(Addr(node + at));
    let height = word(header, header::HEIGHT);
    let [first, second] = [0, 1].map(|i| word(root, inner::CHILDREN[i]));
    let first_leaf = (0..height).fold(root, |node, _| word(node, inner::CHILDREN[0]));
    damage(
        &memory,
        |image| trees.check(image),
        &[
            (header + header::SIZE, 99, "but its size is 99"),
            (header + header::HEIGHT, 40, "40 levels of inner nodes"),
            (header + header::HEIGHT, height - 1, "not one of"),
            (root + inner::CHILDREN[0], second, "not one of"),
            (root + inner::CHILDREN[1], first, "is linked twice"),
            (root + inner::CHILDREN[0], 0, "lacks a child before others"),
            (root + inner::CHILDREN[1], first + 8, "which is no node"),
            (root + inner::KEYS[2], 59, "a key too many"),
            (root + inner::KEYS[0], 0, "..0"),
            (first_leaf + leaf::KEY, 59, "not one of"),
            (first_leaf + leaf::VALUE, 1 << 63, "a value that is not its"),
        ],
    );
}
