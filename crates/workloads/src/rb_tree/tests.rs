use super::*;
use crate::testing::{built, damage, drawn, plain, run};
use proptest::prelude::*;
use std::collections::BTreeSet;
use strandline_runtime::finish;

/// The keys in the tree, by the mirror.
fn mirrored(tree: &RbTree, image: &dyn Image) -> BTreeSet<u64> {
    let is_in = |key: &u64| image.word(tree.mirror.addr(key / MIRROR_BITS)) >> (key % MIRROR_BITS) & 1 == 1;
    (0..tree.keys).filter(is_in).collect()
}

proptest! {
    #[test]
    fn the_tree_holds_the_keys_that_a_set_would(seed: u64, keys in 1_u64..200, operations in 1_u64..8, tasks in 0_u64..200) {
        let set = [("keys", keys), ("operations", operations)];
        let (tree, memory) = built::<RbTree, _>(PARAMS, seed, &set);
        prop_assert_eq!(tree.check(&memory), Ok(()));
        let mut expected = mirrored(&tree, &memory);

        let cpu = plain(&memory);
        let mut random = Random::new(&cpu, seed, 0);
        for _ in 0..tasks * operations {
            let key = drawn(&mut random, keys);
            finish(|| random.word()).unwrap();
            if !expected.remove(&key) {
                expected.insert(key);
            }
        }
        run(&tree, &cpu, seed, tasks);
        prop_assert_eq!(tree.check(&memory), Ok(()));
        // The check has compared the tree with the mirror.
        prop_assert_eq!(mirrored(&tree, &memory), expected);
    }
}

/// A single changed word breaks each rule of the invariant.
#[test]
fn damage_to_the_tree_is_named() {
    let (tree, memory) = built::<RbTree, _>(PARAMS, 3, &[("keys", 40)]);
    let header = tree.header.addr(0).0;
    let root = memory.word(Addr(header + header::ROOT));
    let left = memory.word(Addr(root + node::LEFT));
    let right = memory.word(Addr(root + node::RIGHT));
    let cases = [
        (header + header::SIZE, 99, "but its size is 99"),
        (root + node::COLOUR, RED, "the root is red"),
        (root + node::COLOUR, 7, "has 7 as its colour"),
        (root + node::LEFT, 0, "black nodes on a path"),
        (root + node::LEFT, left + 8, "which is none"),
        (left + node::PARENT, right, "as its parent, and is a child of"),
        (left + node::COLOUR, RED, "left of the node"),
        (left + node::KEY, 0, "key 0 comes after key"),
        (left + node::VALUE, 1 << 63, "a value that is not its"),
        (tree.mirror.addr(0).0, 0, "tree and mirror disagree on key"),
    ];
    damage(&memory, |image| tree.check(image), &cases);
}
