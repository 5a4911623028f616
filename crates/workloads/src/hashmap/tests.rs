use super::*;
use crate::testing::{built, drawn, plain, run};
use proptest::prelude::*;
use std::collections::HashMap;
use strandline_runtime::Random;

/// The number of writes of each key in the table since its insertion.
fn versions(map: &Hashmap, image: &dyn Image) -> HashMap<u64, u64> {
    let mut versions = HashMap::new();
    for bucket in 0..map.heads.rows() {
        let mut at = image.word(map.heads.addr(bucket));
        while at != 0 {
            let (key, value) = (image.word(Addr(at + node::KEY)), image.word(Addr(at + node::VALUE)));
            versions.insert(key, (value - first_value(key)) / VERSION);
            at = image.word(Addr(at + node::NEXT));
        }
    }
    versions
}

proptest! {
    #[test]
    fn the_table_holds_what_a_map_would(
        seed: u64,
        keys in 1_u64..100,
        buckets in 1_u64..20,
        updates in 0_u64..=100,
        operations in 1_u64..8,
        tasks in 0_u64..200,
    ) {
        let sizes = [("keys", keys), ("buckets", buckets), ("updates", updates), ("operations", operations), ("loaded", 50)];
        let (map, memory) = built::<Hashmap, _>(PARAMS, seed, &sizes);
        prop_assert_eq!(map.check(&memory), Ok(()));
        let mut expected = versions(&map, &memory);

        let cpu = plain(&memory);
        let mut random = Random::new(&cpu, seed, 0);
        for _ in 0..tasks * operations {
            let key = drawn(&mut random, keys);
            if drawn(&mut random, 100) < updates {
                expected.entry(key).and_modify(|version| *version += 1).or_insert(0);
            }
        }
        run(&map, &cpu, seed, tasks);
        prop_assert_eq!(map.check(&memory), Ok(()));
        prop_assert_eq!(versions(&map, &memory), expected);
    }
}
