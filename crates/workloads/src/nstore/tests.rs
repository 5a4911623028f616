use super::*;
use crate::testing::{built, drawn, plain, run};
use proptest::prelude::*;
use strandline_runtime::{finish, Random};

proptest! {
    #[test]
    fn versions_count_the_updates_of_each_key(
        seed: u64,
        rows in 1_u64..40,
        reads in 0_u64..=100,
        written in 1_u64..=FIELDS,
        operations in 1_u64..8,
        tasks in 0_u64..100,
    ) {
        let sizes = [("rows", rows), ("reads", reads), ("written", written), ("operations", operations)];
        let (store, memory) = built::<Nstore, _>(PARAMS, seed, &sizes);
        prop_assert_eq!(store.check(&memory), Ok(()));

        let cpu = plain(&memory);
        let mut random = Random::new(&cpu, seed, 0);
        let mut expected = vec![0; rows as usize];
        for _ in 0..tasks {
            let update = drawn(&mut random, 100) >= reads;
            for _ in 0..operations {
                let key = finish(|| store.zipf.draw(&mut random)).unwrap().bits();
                expected[key as usize] += u64::from(update);
            }
        }
        run(&store, &cpu, seed, tasks);
        prop_assert_eq!(store.check(&memory), Ok(()));
        let versions: Vec<u64> = store.rows().map(|row| memory.word(Addr(row + tuple::VERSION))).collect();
        prop_assert_eq!(versions, expected);
    }

    #[test]
    fn the_index_leads_to_each_key(rows in 1_u64..3000) {
        let mut heap = Heap::default();
        let index = Index::allocate(&mut heap, rows);
        let memory = heap.memory();
        let tuples = || (0..rows).map(|key| 1000 + 64 * key);
        index.fill(&memory, tuples());
        prop_assert_eq!(index.check(&memory, tuples()), Ok(()));
        let cpu = plain(&memory);
        for (key, tuple) in (0..).zip(tuples()) {
            prop_assert_eq!(finish(|| index.find(&cpu, cpu.word(key))).unwrap().bits(), tuple);
        }
    }
}

/// YCSB's weights: the most popular of 1000 keys has 1 / (1 + 1/2^0.99 + 1/3^0.99 + ...) = 12.9 % of all draws.
#[test]
fn the_most_popular_key_is_drawn_as_often_as_ycsb_says() {
    let mut heap = Heap::default();
    let zipf = Zipf::allocate(&mut heap, 1000, 99, 5);
    let memory = heap.memory();
    zipf.write(&memory);
    let cpu = plain(&memory);
    let mut random = Random::new(&cpu, 1, 0);
    let mut drawn = vec![0_u32; 1000];
    for _ in 0..100_000 {
        drawn[finish(|| zipf.draw(&mut random)).unwrap().bits() as usize] += 1;
    }
    drawn.sort_unstable();
    let sum: f64 = (1..=1000).map(|rank| f64::from(rank).powf(-0.99)).sum();
    for (place, rank) in [(999, 1_u32), (998, 2), (997, 3)] {
        let expected = 100_000.0 / f64::from(rank).powf(0.99) / sum;
        // Five standard deviations.
        let off = (f64::from(drawn[place]) - expected).abs();
        assert!(
            off < 5.0 * expected.sqrt(),
            "rank {rank}: {} of {expected}",
            drawn[place]
        );
    }
}
