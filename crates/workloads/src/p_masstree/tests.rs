use super::permutation::{slots, sorted, Permutation};
use super::*;
use crate::testing::{self, plain};
use proptest::prelude::*;
use std::collections::BTreeSet;
use strandline_isa::Memory;
use strandline_runtime::{finish, LogLayout};

/// An empty map with these parameters, and its memory.
fn empty(set: &[(&str, u64)]) -> (Masstree, LogLayout, Memory) {
    let params = testing::params(PARAMS, set).expect("right parameters");
    let plan = testing::plan(3);
    let mut heap = Heap::new(&plan);
    let map = Masstree::lay_out(&params, &plan, &mut heap).expect("right parameters");
    let logs = LogLayout::allocate(&mut heap, 1, 8);
    let memory = heap.memory();
    map.format(&memory);
    map.restart(&memory);
    (map, logs, memory)
}

/// Gives each key itself as its value; whether there was room for all.
fn put_all(map: &Masstree, logs: LogLayout, memory: &Memory, keys: &[u64]) -> bool {
    let cpu = &plain(memory);
    let ended = finish(|| {
        let mut thread = testing::thread(cpu, &logs, 1);
        let mut is_done = true;
        for key in keys {
            is_done &= map.put(&mut thread, (cpu.word(*key), cpu.word(*key)), &mut Old::unwanted());
        }
        is_done
    });
    ended.expect("nobody holds a lock")
}

fn keys(count: u64) -> Vec<u64> {
    (1..=count)
        .map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .collect()
}

fn word(memory: &Memory, addr: u64) -> u64 {
    memory.word(Addr(addr))
}

/// The nodes that only siblings point to.
fn orphans(map: &Masstree, memory: &Memory) -> usize {
    let nodes = map.walk(memory).expect("a sound trie").nodes;
    let mut linked = BTreeSet::from([word(memory, map.root.0)]);
    for at in &nodes {
        linked.insert(word(memory, at + node::LEFTMOST));
        let entries = map.own_entries(memory, *at).expect("a sound node");
        linked.extend(entries.iter().map(|entry| word(memory, entry + SECOND)));
    }
    nodes.iter().filter(|at| !linked.contains(at)).count()
}

/// The words that hold roots: the first layer's, and the links to other layers.
fn roots(map: &Masstree, memory: &Memory) -> Vec<u64> {
    let mut roots = vec![map.root.0];
    for at in map.walk(memory).expect("a sound trie").nodes {
        if word(memory, at + node::LEVEL) == 0 && !map.is_inline() {
            let entries = map.own_entries(memory, at).expect("a sound node");
            let links = entries.iter().map(|entry| entry + SECOND);
            roots.extend(links.filter(|link| word(memory, *link) & IS_RECORD == 0));
        }
    }
    roots
}

/// A crash came before any root had grown, in each layer: all but the first border node are reached by siblings.
/// (RECIPE, 6.5)
#[test]
fn writers_give_parents_to_nodes_that_only_siblings_point_to() {
    for slice in [64, 8] {
        let (map, logs, memory) = empty(&[("slice", slice), ("width", 3), ("pool", 4096)]);
        let keys = keys(2000);
        assert!(put_all(&map, logs, &memory, &keys));
        assert_eq!(orphans(&map, &memory), 0);
        for root in roots(&map, &memory) {
            let mut at = word(&memory, root);
            while word(&memory, at + node::LEVEL) > 0 {
                at = word(&memory, at + node::LEFTMOST);
            }
            memory.set_word(Addr(root), at);
        }
        map.restart(&memory);
        let before = orphans(&map, &memory);
        assert!(before > 300, "{before} orphans");
        assert_eq!(map.pairs(&memory).unwrap().len(), keys.len());
        // Each operation gives one entry; those of the new levels have splits that leave nodes to the next writer.
        for _ in 0..3 {
            assert!(put_all(&map, logs, &memory, &keys));
        }
        assert_eq!(orphans(&map, &memory), 0, "of {before}");
        assert_eq!(map.pairs(&memory).unwrap().len(), keys.len());
    }
}

/// A crash came between the pointer to a sibling and the permutation: recovery drops what the sibling has.
#[test]
fn recovery_completes_a_split() {
    let (map, logs, memory) = empty(&[("width", 3)]);
    let keys = [10, 20, 30, 40];
    assert!(put_all(&map, logs, &memory, &keys));
    let first = map.nodes.addr(0).0;
    let done = word(&memory, first + node::PERMUTATION);
    memory.set_word(Addr(first + node::PERMUTATION), done + 1);
    memory.set_word(Addr(first + node::LOCK), maps::EXCLUSIVE);
    assert!(map.pairs(&memory).is_err());
    map.mend(&memory);
    assert_eq!(word(&memory, first + node::PERMUTATION), done);
    assert!(map.pairs(&memory).unwrap().into_keys().eq(keys));
}

/// Two keys that differ in their fourth slice of four bits: three layers below the first.
#[test]
fn a_layer_comes_for_each_slice_that_keys_share() {
    let (map, logs, memory) = empty(&[("slice", 4), ("width", 3)]);
    assert!(put_all(&map, logs, &memory, &[0x1230 << 48, 0x1234 << 48]));
    assert_eq!(map.walk(&memory).unwrap().nodes.len(), 4);
    // A third key, which leaves in the second layer.
    assert!(put_all(&map, logs, &memory, &[0x1930 << 48]));
    assert_eq!(map.walk(&memory).unwrap().nodes.len(), 4);
    assert_eq!(map.pairs(&memory).unwrap().len(), 3);
}

/// Nodes run out in the middle of a chain of layers: those that were taken for it are free again.
#[test]
fn what_finds_no_room_leaves_nothing() {
    let (map, logs, memory) = empty(&[("slice", 4), ("pool", 4)]);
    let (short, long) = (0x10 << 56, [0x1230_u64 << 48, 0x1234 << 48]);
    assert!(put_all(&map, logs, &memory, &[long[0]]));
    assert!(
        !put_all(&map, logs, &memory, &[long[0] | 1]),
        "fifteen layers of three nodes"
    );
    assert!(put_all(&map, logs, &memory, &[long[1], short]));
    assert!(map.pairs(&memory).unwrap().into_keys().eq([short, long[0], long[1]]));
}

/// A single changed word breaks each rule.
#[test]
fn damage_is_named() {
    let (map, logs, memory) = empty(&[("slice", 8), ("width", 3)]);
    assert!(put_all(&map, logs, &memory, &keys(500)));
    let root = word(&memory, map.root.0);
    let leaf = map.nodes.addr(0).0;
    let entries = map.own_entries(&memory, leaf).unwrap();
    let layer = entries
        .iter()
        .find(|entry| word(&memory, **entry + SECOND) & IS_RECORD == 0)
        .unwrap();
    let record = map.walk(&memory).unwrap().records[0];
    for (addr, value, expected) in [
        (map.root.0, root + 8, "which is no node"),
        (root + node::LEVEL, 65, "is at level 65"),
        (root + node::LEFTMOST, root, "of level"),
        (root + node::LOW, u64::MAX, "is not in its place"),
        (leaf + node::LOCK, 1, "is held"),
        (leaf + node::NEXT, leaf, "is among those of level 0"),
        (leaf + node::PERMUTATION, 0x11, "has the permutation 0x11"),
        (layer + SECOND, IS_RECORD, "which is no record"),
        (record, word(&memory, record) ^ 1 << 63, "has the record of key"),
    ] {
        let right = memory.word(Addr(addr));
        memory.set_word(Addr(addr), value);
        let found = map.pairs(&memory).unwrap_err();
        assert!(found.contains(expected), "{found}");
        // Recovery survives it.
        map.mend(&memory.clone());
        memory.set_word(Addr(addr), right);
    }
    assert_eq!(map.pairs(&memory).unwrap().len(), 500);
}

proptest! {
    /// Against a list of slots.
    #[test]
    fn permutations_order_slots(
        width in 2_u64..=15,
        edits in prop::collection::vec((any::<bool>(), 0_u64..15), 0..60),
    ) {
        let memory = Memory::new(64, 0);
        let cpu = &plain(&memory);
        let (mut now, mut expected) = (sorted(width, 0), Vec::new());
        for (inserts, place) in edits {
            let permutation = Permutation { word: cpu.word(now), width };
            let count = expected.len() as u64;
            if inserts && count < width {
                let (place, slot) = (place % (count + 1), permutation.free().bits());
                prop_assert!(!expected.contains(&slot));
                expected.insert(place as usize, slot);
                now = permutation.insert(cpu, cpu.word(place)).bits();
            } else if count > 0 {
                let slot = expected.remove((place % count) as usize);
                now = permutation.remove(cpu, cpu.word(place % count)).bits();
                prop_assert_eq!(Permutation { word: cpu.word(now), width }.free().bits(), slot);
            }
            prop_assert_eq!(slots(now, width), Some(expected.clone()));
        }
    }
}
