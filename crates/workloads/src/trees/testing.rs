//! What the tests of all trees share.

use super::{header, Shape, Toggles};
use crate::structures::STRUCTURES;
use crate::testing::{self, drawn};
use proptest::prelude::*;
use std::collections::BTreeSet;
use strandline_isa::{Addr, CoreId, Image, Lowering, Memory, Thread};
use strandline_kernel::Param;
use strandline_runtime::{finish, Plain, Workload};

/// Builds trees with these parameters.
pub fn built<S: Shape>(params: &[Param], set: &[(&str, u64)]) -> (Toggles<S>, Memory) {
    testing::built(params, 3, set)
}

/// The keys of the first tree.
pub fn keys<S: Shape>(trees: &Toggles<S>, memory: &Memory) -> BTreeSet<u64> {
    trees.walk(memory).expect("a sound tree").keys.into_iter().collect()
}

/// Runs `tasks` tasks on one tree beside a set, and checks the invariant and the keys after every one in `every`.
fn run_beside_a_set<S: Shape>(params: &[Param], keys_and_mode: [u64; 2], seed: u64, tasks: u64, every: u64) {
    let [most, incremental] = keys_and_mode;
    let set = [("keys", most), ("init_ops", 0), ("incremental", incremental)];
    let (trees, memory) = built::<S>(params, &set);
    let (trees, memory) = (&trees, &memory);
    let plain = Plain::new(memory, CoreId(0), LOGGED);
    let cpu = &Thread::on(&plain);
    let mut expected = BTreeSet::new();
    let ended = finish(|| {
        let mut state = testing::thread(cpu, &trees.logs(), seed);
        for task in 1..=tasks {
            let key = drawn(&mut state.random.clone(), most);
            if !expected.remove(&key) {
                expected.insert(key);
            }
            trees.task(&mut state);
            if task % every == 0 {
                assert_eq!(trees.check(memory), Ok(()), "after {task} tasks");
                assert_eq!(keys(trees, memory), expected, "after {task} tasks");
            }
        }
    });
    ended.expect("nobody holds a lock");
}

/// Runs random operations on small trees, fully and incrementally logged, beside a set.
pub fn holds_what_a_set_would<S: Shape>(params: &[Param]) {
    proptest!(|(seed: u64, keys in 1_u64..60, incremental in 0_u64..2, tasks in 0_u64..200)| {
        run_beside_a_set::<S>(params, [keys, incremental], seed, tasks, 1);
    });
}

/// Runs long sequences of operations on trees of several sizes: the log asserts that it covers each update.
pub fn logs_what_it_writes<S: Shape>(params: &[Param]) {
    for (keys, every) in [(200, 10), (3000, 500), (100_000, 10_000)] {
        run_beside_a_set::<S>(params, [keys, 0], 7, 30_000, every);
        run_beside_a_set::<S>(params, [keys, 1], 8, 30_000, every);
    }
}

/// Everything is logged: the log asserts that each written line is, and none twice.
pub const LOGGED: Lowering = Lowering {
    log: true,
    ..Lowering::NOTHING
};

/// The addresses of the first tree's header and root.
pub fn root<S: Shape>(trees: &Toggles<S>, memory: &Memory) -> (u64, u64) {
    let header = trees.trees.structures.headers.addr(0).0;
    (header, memory.word(Addr(header + header::ROOT)))
}

/// Several structures share the keys and hold their own nodes.
pub fn several_structures<S: Shape>(params: &[Param]) {
    let (trees, memory) = built::<S>(params, &[("keys", 50), ("init_ops", 400), (STRUCTURES.name, 5)]);
    assert_eq!(trees.check(&memory), Ok(()));
    let linked = trees.walk(&memory).expect("sound trees").linked;
    let sizes: Vec<usize> = (0..5)
        .map(|tree| {
            trees
                .trees
                .structures
                .own(tree)
                .filter(|node| linked[*node as usize])
                .count()
        })
        .collect();
    // 80 operations on each: hardly any key is as at first.
    assert!(sizes.iter().all(|size| *size > 10), "{sizes:?}");
}
