use super::*;
use proptest::prelude::*;
use std::collections::HashMap;
use strandline_isa::{CoreId, Lowering};
use strandline_runtime::{finish, run_thread, Plain, Random, ThreadPlan};

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
        let set = sizes.map(|(key, value)| (key, value.to_string()));
        let params = Params::parse("workload", PARAMS, set.iter().map(|(key, value)| (*key, value.as_str()))).unwrap();
        let (map, memory) = Hashmap::build(&params, &BuildPlan { threads: 1, window: None, seed,
 logging: strandline_runtime::Logging::UNDO, }).unwrap();
        prop_assert_eq!(map.check(&memory), Ok(()));
        let mut expected = versions(&map, &memory);

        let cpu = Plain::new(&memory, CoreId(0), Lowering::NOTHING);
        let mut random = Random::new(&cpu, seed, 0);
        for _ in 0..tasks * operations {
            let key = finish(|| random.below(keys)).unwrap().bits();
            if finish(|| random.below(100)).unwrap().bits() < updates {
                expected.entry(key).and_modify(|version| *version += 1).or_insert(0);
            }
        }
        let plan = ThreadPlan { thread: 0, threads: 1, warm_tasks: 0, tasks, seed };
        prop_assert_eq!(finish(|| run_thread(&map, &cpu, plan)), Ok(()));
        prop_assert_eq!(map.check(&memory), Ok(()));
        prop_assert_eq!(versions(&map, &memory), expected);
    }
}
