use super::*;
use crate::testing::{self, damage, drawn, plain};
use proptest::prelude::*;
use std::collections::BTreeSet;
use strandline_isa::{CoreId, Flush, Lowering};
use strandline_runtime::{finish, Plain, Random};

fn built(seed: u64, set: &[(&str, u64)]) -> (SpHashmap, Memory) {
    testing::built(PARAMS, seed, set)
}

/// The lines of the entries in this state.
fn lines(map: &SpHashmap, image: &dyn Image, state: u64) -> Vec<u64> {
    let (table, entries) = map.table(image, 0).unwrap();
    let all = (0..entries).map(|number| table + number * LINE_BYTES);
    all.filter(|at| image.word(Addr(at + entry::STATE)) == state).collect()
}

fn keys(map: &SpHashmap, image: &dyn Image) -> BTreeSet<u64> {
    let full = lines(map, image, FULL);
    full.iter().map(|at| image.word(Addr(at + entry::KEY))).collect()
}

fn run(map: &SpHashmap, memory: &Memory, seed: u64, tasks: u64) {
    testing::run(map, &plain(memory), seed, tasks);
}

proptest! {
    #[test]
    fn the_table_holds_what_a_set_would(
        seed: u64,
        keys_drawn in 1_u64..60,
        init_ops in 0_u64..100,
        tasks in 0_u64..200,
    ) {
        let (map, memory) = built(seed, &[("keys", keys_drawn), ("entries", 4), ("init_ops", init_ops)]);
        let mut expected = keys(&map, &memory);
        let cpu = plain(&memory);
        let mut random = Random::new(&cpu, seed, 0);
        for _ in 0..tasks {
            let key = drawn(&mut random, keys_drawn);
            if !expected.remove(&key) {
                expected.insert(key);
            }
        }
        run(&map, &memory, seed, tasks);
        prop_assert_eq!(map.check(&memory), Ok(()));
        // Only a table of the largest size refuses keys.
        if map.table(&memory, 0).unwrap().1 < map.most {
            prop_assert_eq!(keys(&map, &memory), expected);
        }
    }
}

#[test]
fn a_table_doubles_when_three_quarters_are_used_and_drops_tombstones() {
    // 1,000 keys at even odds do not fit into three quarters of 512 entries. In 20,000 operations each key takes an
    // entry, and leaves a tombstone there: more than three quarters of 1,024. Three quarters of 2,048 have room for
    // all.
    let (map, memory) = built(5, &[("keys", 1_000), ("entries", 4), ("init_ops", 20_000)]);
    assert_eq!(map.check(&memory), Ok(()));
    let (_, entries) = map.table(&memory, 0).unwrap();
    assert_eq!(entries, 2_048);
    let held = keys(&map, &memory).len();
    assert!((420..580).contains(&held), "{held}");
}

#[test]
fn a_resizing_clears_what_one_that_was_not_finished_has_left() {
    let (map, memory) = built(5, &[("keys", 60), ("entries", 16), ("init_ops", 6)]);
    let (table, entries) = map.table(&memory, 0).unwrap();
    assert_eq!(entries, 16);
    for number in 0..32 {
        let at = table + (16 + number) * LINE_BYTES;
        memory.set_word(Addr(at + entry::STATE), FULL);
        memory.set_word(Addr(at + entry::KEY), 7);
    }
    run(&map, &memory, 9, 30);
    assert!(map.table(&memory, 0).unwrap().1 > 16);
    assert_eq!(map.check(&memory), Ok(()));
}

#[test]
fn the_largest_table_takes_no_more_than_it_has_room_for() {
    let (mut map, memory) = built(5, &[("keys", 1_000), ("entries", 16), ("init_ops", 6)]);
    map.most = map.first;
    run(&map, &memory, 9, 1_000);
    assert_eq!(map.table(&memory, 0).unwrap().1, 16);
    assert_eq!(map.check(&memory), Ok(()));
    assert_eq!(lines(&map, &memory, EMPTY).len(), 4);
}

/// Counts flushes and fences of a resizing from 64 entries: one flush a record.
#[test]
fn each_copied_record_is_flushed_once() {
    let lowering = Lowering {
        log: true,
        flush: Some(Flush::Clwb),
        ..Lowering::NOTHING
    };
    let (map, memory) = built(5, &[("keys", 1_000), ("entries", 64), ("init_ops", 30)]);
    let before = lines(&map, &memory, FULL).len();
    let cpu = Plain::recording(&memory, CoreId(0), lowering);
    let header = map.headers.addr(0).0;
    finish(|| {
        let mut thread = testing::thread(&cpu, &map.logs, 1);
        assert!(map.double(&mut thread, cpu.word(header)));
    })
    .unwrap();
    let fresh = |note: &strandline_isa::Note| matches!(note, strandline_isa::Note::RegionFresh { .. });
    assert_eq!(cpu.take_notes().iter().filter(|note| fresh(note)).count(), before);
    assert_eq!(lines(&map, &memory, FULL).len(), before);
    assert_eq!(map.check(&memory), Ok(()));
}

#[test]
fn damage_is_named() {
    let (map, memory) = built(5, &[("keys", 64), ("entries", 128), ("init_ops", 60)]);
    let full = lines(&map, &memory, FULL);
    let empty = lines(&map, &memory, EMPTY);
    let header = map.headers.addr(0).0;
    let cases = [
        (full[0] + entry::STATE, 3, "has state 0x3"),
        (full[0] + entry::STATE, EMPTY, "has size"),
        (full[0] + entry::KEY, 64, "never drawn"),
        (full[0] + entry::VALUE, 1, "the value of key"),
        (header + header::SIZE, 0, "has size 0"),
        (header + header::SHIFT, 3, "none of its tables"),
    ];
    damage(&memory, |image| map.check(image), &cases);
    // A record that no probe reaches, and the same record twice.
    for (moves, fault) in [(true, "no probe finds"), (false, "twice")] {
        let damaged = memory.clone();
        let (from, to) = (full[0], if moves { *empty.last().unwrap() } else { full[1] });
        for word in (0..LINE_BYTES).step_by(8) {
            damaged.set_word(Addr(to + word), damaged.word(Addr(from + word)));
            if moves {
                damaged.set_word(Addr(from + word), 0);
            }
        }
        let found = map.check(&damaged).unwrap_err();
        assert!(found.contains(fault), "{found}");
    }
}
