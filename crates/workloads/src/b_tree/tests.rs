use super::two_three::{inner, leaf};
use super::*;
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
        run_beside_a_set::<TwoThree>(ABOUT.params, [keys, incremental], seed, tasks, 1);
    }
}

#[test]
fn large_trees_log_what_they_write() {
    for (keys, every) in [(200, 10), (3000, 500), (100_000, 10_000)] {
        run_beside_a_set::<TwoThree>(ABOUT.params, [keys, 0], 7, 30_000, every);
        run_beside_a_set::<TwoThree>(ABOUT.params, [keys, 1], 8, 30_000, every);
    }
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
        &trees,
        &memory,
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
