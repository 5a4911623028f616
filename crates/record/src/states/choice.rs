//! Which classes of crash states to visit if there are fewer points than classes.
//!
//! Two classes differ by whose stores they have and whose they lack. Most bugs show where the store of one instruction is
//! durable and that of another is not, whatever else is. So each class that is taken is one with the most such pairs that no
//! earlier one had.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use strandline_kernel::Rng;

/// Instructions with a number of their own. Further ones share these numbers.
const MOST_CODE: usize = 1 << 11;

/// How often all pairs are had.
const ROUNDS: usize = 8;

/// The numbers of the instructions whose stores a class has, and of those whose stores it lacks.
#[derive(Clone, Debug, Default)]
pub struct Sides(pub [Box<[u32]>; 2]);

impl Sides {
    /// Its pairs; with nothing on a side, the other one's instructions.
    fn pairs(&self) -> impl Iterator<Item = usize> + '_ {
        let number = |code: &u32| 1 + *code as usize % MOST_CODE;
        let or_nothing = |side: &[u32]| side.is_empty().then_some(0);
        let [has, lacks] = &self.0;
        let has = move || has.iter().map(number).chain(or_nothing(has));
        let lacks = lacks.iter().map(number).chain(or_nothing(lacks));
        lacks.flat_map(move |lacks| has().map(move |has| lacks * (MOST_CODE + 1) + has))
    }
}

/// The numbers of `most` of these classes, in ascending order. Once no class has a new pair, all pairs count as new again; after
/// some such rounds, the generator draws.
pub fn choose(classes: &[Sides], most: usize, rng: &mut Rng) -> Vec<usize> {
    let mut left: Vec<usize> = (0..classes.len()).collect();
    for drawn in 1..left.len() {
        left.swap(drawn, rng.below(drawn as u64 + 1) as usize);
    }
    let mut chosen = Vec::new();
    for _ in 0..ROUNDS {
        let taken = cover(classes, &left, most - chosen.len());
        left.retain(|class| !taken.contains(class));
        chosen.extend(taken);
    }
    chosen.extend(left.into_iter().take(most - chosen.len()));
    chosen.sort_unstable();
    chosen
}

/// Takes classes until none has a new pair, the one with the most first; among equals, the earlier one.
fn cover(classes: &[Sides], left: &[usize], most: usize) -> BTreeSet<usize> {
    let mut seen = vec![false; (MOST_CODE + 1) * (MOST_CODE + 1)];
    let mut taken = BTreeSet::new();
    let first = left.iter().enumerate();
    let mut queue: BinaryHeap<_> = first
        .map(|(rank, class)| (classes[*class].pairs().count(), Reverse(rank)))
        .collect();
    while let Some((gain, rank)) = queue.pop().filter(|_| taken.len() < most) {
        let class = left[rank.0];
        // What a class adds can only have become less since it was counted.
        let now = classes[class].pairs().filter(|pair| !seen[*pair]).count();
        if now == gain && gain > 0 {
            classes[class].pairs().for_each(|pair| seen[pair] = true);
            taken.insert(class);
        } else if now > 0 {
            queue.push((now, rank));
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides(has: &[u32], lacks: &[u32]) -> Sides {
        Sides([has.into(), lacks.into()])
    }

    /// In a hundred classes of the same pair, a different one is found at once, whatever the seed.
    #[test]
    fn what_differs_is_taken_first() {
        let mut classes = vec![sides(&[1, 2], &[3]); 100];
        classes[70] = sides(&[1], &[2]);
        classes[90] = sides(&[], &[1, 2, 3]);
        for seed in 0..20 {
            let chosen = choose(&classes, 3, &mut Rng::new(seed));
            assert!(chosen.contains(&70) && chosen.contains(&90), "{seed}: {chosen:?}");
        }
    }

    #[test]
    fn as_many_as_asked_for_are_taken_each_once() {
        let classes: Vec<Sides> = (0..50).map(|number| sides(&[number % 7], &[number % 5])).collect();
        for most in [0, 1, 34, 36, 50, 60] {
            let mut chosen = choose(&classes, most, &mut Rng::new(1));
            assert_eq!(chosen.len(), most.min(50));
            chosen.dedup();
            assert_eq!(chosen.len(), most.min(50));
        }
    }
}
