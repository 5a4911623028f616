//! `linked-list`: insertions and deletions in a sorted linked list.
//!
//! Speculative Persistence (ISCA 2017), Table 1 "Linked-List", and 3.1.1. An operation searches a random key from the
//! head on. If the key is there, its node is deleted; otherwise a node with the key is inserted (`chain.rs`).
//!
//! "We limit its maximum nodes to 1024, so that the search time does not dominate" (5.2). So many nodes are allocated.
//! An insertion into a full list ends behind its search: it logs and orders nothing, and the list stays as it is. The
//! paper does not say what happens then. There are twice as many keys as nodes (`keys_for`), so that the list would
//! have that many nodes in the long run without the limit, and few operations meet it: 2 in a hundred.

use crate::chain::{self, Chains, LARGEST, LEAST_RECORDS};
use crate::papers::SPECULATIVE;
use crate::params::param;
use crate::populate::populate;
use crate::structures::{init_ops, keys_for, STRUCTURES};
use crate::About;
use std::ops::Range;
use strandline_isa::{Cpu, Image, Memory};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{log_records, BuildPlan, Demand, Heap, LogLayout, ThreadState, Workload};

/// The workload's description.
pub const ABOUT: About = About {
    name: "linked-list",
    line: "inserts and deletes nodes of a sorted linked list",
    paper: "Speculative Persistence (ISCA 2017), Table 1, Linked-List",
    tasks: 50_000,
    drift: Some("the list grows from a few hundred nodes to its limit, and with it the way to a key"),
    params: PARAMS,
    small: &[
        ("keys", "24"),
        ("nodes", "10"),
        ("init_ops", "20"),
        ("structures", "2"),
        ("log_records", "8"),
    ],
    ..SPECULATIVE
};

/// The most nodes of a list (Table 1).
const MOST_NODES: u64 = 1024;

const PARAMS: &[Param] = &[
    param("keys", keys_for(MOST_NODES), 1..=1 << 21, "number of keys"),
    param(
        "nodes",
        MOST_NODES,
        1..=1 << 20,
        "the most nodes of a list; a full one takes no key",
    ),
    init_ops(500),
    STRUCTURES,
    log_records(LEAST_RECORDS),
];

/// Sorted linked lists.
pub struct LinkedList {
    lists: Chains,
    keys: u64,
    init_ops: u64,
    logs: LogLayout,
}

impl Workload for LinkedList {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let keys = params.get("keys");
        let mut heap = Heap::new(plan);
        let list = LinkedList {
            lists: Chains::lay_out(&mut heap, plan, params.get("structures"), params.get("nodes")),
            keys,
            init_ops: params.get("init_ops"),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), params.get("log_records")),
        };
        Ok((list, heap))
    }

    fn fill(&self, memory: &Memory, seed: u64) {
        self.restart(memory);
        populate(self, memory, seed, self.init_ops);
    }

    fn region(_params: &Params) -> Demand {
        LARGEST
    }

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let list = self.lists.draw(thread.cpu, &mut thread.random);
        let key = thread.random.below(self.keys);
        chain::operate(&self.lists, thread, list, key);
    }

    /// Each list reaches nodes of its own, with ascending keys, and values that belong to them. Its other nodes are
    /// free.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        let is_known = |list: u64, key: u64| match key < self.keys {
            true => Ok(()),
            false => Err(format!("list {list} has key {key}, which is never drawn")),
        };
        chain::check(&self.lists, image, is_known)
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        let mut ranges = self.lists.footprint();
        ranges.extend([self.logs.lists(), self.logs.range()]);
        ranges
    }

    fn restart(&self, image: &dyn Image) {
        chain::restart(&self.lists, image);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::node;
    use crate::testing::{self, damage, drawn, plain};
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use strandline_isa::Addr;
    use strandline_runtime::Random;

    fn built(seed: u64, [keys, nodes]: [u64; 2], init_ops: u64) -> (LinkedList, Memory) {
        let set = [("keys", keys), ("nodes", nodes), ("init_ops", init_ops)];
        testing::built(PARAMS, seed, &set)
    }

    fn held(list: &LinkedList, image: &dyn Image) -> BTreeSet<u64> {
        let mut keys = BTreeSet::new();
        let see = |_, key| {
            keys.insert(key);
            Ok(())
        };
        chain::walk(&list.lists, image, 0, see).unwrap();
        keys
    }

    proptest! {
        #[test]
        fn the_list_holds_what_a_set_would(
            seed: u64,
            keys in 1_u64..60,
            nodes in 1_u64..60,
            init_ops in 0_u64..100,
            tasks in 0_u64..200,
        ) {
            let (list, memory) = built(seed, [keys, nodes], init_ops);
            let mut expected = held(&list, &memory);
            let cpu = plain(&memory);
            let mut random = Random::new(&cpu, seed, 0);
            for _ in 0..tasks {
                let key = drawn(&mut random, keys);
                if !expected.remove(&key) && (expected.len() as u64) < nodes {
                    expected.insert(key);
                }
            }
            testing::run(&list, &cpu, seed, tasks);
            prop_assert_eq!(list.check(&memory), Ok(()));
            prop_assert_eq!(held(&list, &memory), expected);
        }
    }

    #[test]
    fn the_list_is_nearly_full_after_many_operations() {
        let (list, memory) = built(1, [2048, 1024], 20_000);
        // Without the limit, each key is there at even odds: 1,024, and a deviation of 23. Five deviations.
        let nodes = held(&list, &memory).len();
        assert!((909..=1024).contains(&nodes), "{nodes}");
    }

    #[test]
    fn damage_is_named() {
        let (list, memory) = built(1, [16, 16], 40);
        let first = memory.word(list.lists.headers.addr(0));
        let second = memory.word(Addr(first + node::NEXT));
        let cases = [
            (first + node::NEXT, first, "has key"),
            (first + node::NEXT, first + 8, "none of its nodes"),
            (second + node::KEY, 0, "has key"),
            (first + node::VALUE, 1, "the value of key"),
        ];
        damage(&memory, |image| list.check(image), &cases);
    }
}
