use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn items(spec: &[(u8, bool, bool)]) -> Vec<Item> {
    let mut segment = 0;
    let item = |(serial, (word, nt, next)): (usize, &(u8, bool, bool))| {
        segment += u32::from(*next);
        Item {
            serial: serial as u64,
            thread: 0,
            at: At::default(),
            rest: false,
            piece: Piece {
                word: 8 * u64::from(*word),
                bytes: [serial as u8; 8],
                mask: 0xff,
            },
            nt: *nt,
            segment,
            glued: false,
        }
    };
    spec.iter().enumerate().map(item).collect()
}

/// All closed sets, by trying every set against the pairwise rules in the module's documentation.
fn closed_sets(items: &[Item]) -> BTreeSet<Vec<bool>> {
    let before = |a: &Item, b: &Item| (!a.nt && !b.nt) || a.word() == b.word() || a.segment < b.segment;
    let all = (0..1u32 << items.len()).map(|bits| (0..items.len()).map(|i| bits >> i & 1 == 1).collect::<Vec<bool>>());
    let is_closed = |set: &Vec<bool>| {
        (0..items.len()).all(|later| {
            !set[later] || (0..later).all(|earlier| set[earlier] || !before(&items[earlier], &items[later]))
        })
    };
    all.filter(is_closed).collect()
}

proptest! {
    #[test]
    fn the_numbered_sets_are_the_closed_ones(spec in prop::collection::vec((0u8..4, any::<bool>(), prop::bool::weighted(0.2)), 0..10)) {
        let items = items(&spec);
        let expected = closed_sets(&items);
        let found: Vec<Vec<bool>> = (0..count(&items)).map(|index| chosen(&items, index).expect("a set")).collect();
        prop_assert_eq!(found.len(), expected.len(), "none comes twice");
        prop_assert_eq!(found.iter().cloned().collect::<BTreeSet<_>>(), expected);
        prop_assert!(found[0].iter().all(|kept| !kept));
        prop_assert!(found[found.len() - 1].iter().all(|kept| *kept));
        prop_assert_eq!(chosen(&items, count(&items)), None);
    }

    #[test]
    fn closing_a_set_gives_the_smallest_closed_one(
        spec in prop::collection::vec((0u8..4, any::<bool>(), prop::bool::weighted(0.2)), 1..9),
        seed in any::<u32>(),
    ) {
        let items = items(&spec);
        let some: Vec<bool> = (0..items.len()).map(|i| seed >> i & 1 == 1).collect();
        let has = |set: &&Vec<bool>| some.iter().zip(*set).all(|(want, have)| !want || *have);
        let sets = closed_sets(&items);
        let smallest = sets.iter().filter(has).min_by_key(|set| set.iter().filter(|kept| **kept).count());
        prop_assert_eq!(Some(&close(&items, some.clone())), smallest);
    }
}

#[test]
fn glued_stores_are_not_told_apart() {
    let mut three = items(&[(0, false, false), (1, false, false), (2, false, false)]);
    three[0].glued = true;
    assert_eq!(count(&three), 3);
    assert_eq!(chosen(&three, 1), Some(vec![true, true, false]));
}
