//! Distributes visited states over intervals.

use strandline_kernel::Rng;

/// The number of states of a visited interval if not all can be visited: enough to isolate a few lines.
const A_FEW: u32 = 8;

/// The number of crash states to visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// All.
    All,
    /// At most this number.
    Most(u64),
}

/// The number of states of each interval to visit, from its total (at most [`u32::MAX`]).
///
/// All intervals have the same share, or all their states if these are fewer. If that share is below the minimum, the
/// seed selects intervals, which have the minimum.
#[must_use]
pub fn quotas(states: &[u32], budget: Budget, seed: u64) -> Vec<u32> {
    let all: u64 = states.iter().map(|states| u64::from(*states)).sum();
    match budget {
        Budget::Most(most) if most < all => match share(states, most) {
            share if share >= A_FEW => level(states, share, most),
            _ => some(states, most, seed),
        },
        _ => states.to_vec(),
    }
}

fn spent(states: &[u32], share: u32) -> u64 {
    states.iter().map(|states| u64::from(*states.min(&share))).sum()
}

/// The largest share that all intervals can have.
fn share(states: &[u32], most: u64) -> u32 {
    let (mut fits, mut over) = (0, u32::MAX);
    while over - fits > 1 {
        let middle = fits + (over - fits) / 2;
        match spent(states, middle) <= most {
            true => fits = middle,
            false => over = middle,
        }
    }
    fits
}

fn level(states: &[u32], share: u32, most: u64) -> Vec<u32> {
    let mut left = most - spent(states, share);
    let quota = |states: &u32| {
        let more = u32::from(*states > share && left > 0);
        left -= u64::from(more);
        *states.min(&share) + more
    };
    states.iter().map(quota).collect()
}

fn some(states: &[u32], most: u64, seed: u64) -> Vec<u32> {
    let mut quotas = vec![0; states.len()];
    let mut order: Vec<usize> = (0..states.len()).collect();
    let mut rng = Rng::new(seed);
    let mut left = most;
    for drawn in 0..order.len() {
        if left == 0 {
            break;
        }
        order.swap(drawn, drawn + rng.below((states.len() - drawn) as u64) as usize);
        let interval = order[drawn];
        quotas[interval] = states[interval].min(A_FEW).min(left.min(u64::from(u32::MAX)) as u32);
        left -= u64::from(quotas[interval]);
    }
    quotas
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_budget_is_spent_and_no_interval_gets_more_than_it_has(
            states in prop::collection::vec(1u32..40, 0..60), most in 1u64..200, seed in any::<u64>(),
        ) {
            let quotas = quotas(&states, Budget::Most(most), seed);
            let all: u64 = states.iter().map(|n| u64::from(*n)).sum();
            prop_assert!(quotas.iter().zip(&states).all(|(quota, states)| quota <= states));
            prop_assert_eq!(quotas.iter().map(|n| u64::from(*n)).sum::<u64>(), all.min(most));
        }
    }

    #[test]
    fn intervals_get_equal_shares_as_far_as_they_have_states() {
        assert_eq!(quotas(&[2, 100, 1000], Budget::Most(42), 1), [2, 20, 20]);
    }

    #[test]
    fn all_means_all() {
        assert_eq!(quotas(&[2, 100], Budget::All, 1), [2, 100]);
    }
}
