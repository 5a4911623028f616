//! YCSB's key distribution: zipfian, with popular keys scattered over the table.

use crate::params::param;
use strandline_isa::{sites, Addr, Cpu, Image, W};
use strandline_kernel::{Param, Rng};
use strandline_runtime::{Heap, Random};

sites! {
    KEEPS_KEY = 0x524b_6f7f;
}

/// A table in volatile memory. A draw takes two random numbers and two loads.
///
/// YCSB (SoCC 2010) gives the k-th most popular of n keys a weight of 1 / k^theta, with theta 0.99, and scatters them
/// by a hash. N-Store draws all keys in advance. Here, a table for the alias method (Walker 1977, Vose 1991) has
/// exactly the same weights. A random permutation assigns ranks to keys.
#[derive(Clone, Copy)]
pub(crate) struct Zipf {
    base: Addr,
    keys: u64,
    theta: u64,
    seed: u64,
}

/// Words of a key's entry: the limit below which a random number selects the key itself, and the key that it selects
/// otherwise.
const ENTRY_BYTES: u64 = 16;

/// The parameter: how skewed keys are.
pub(crate) const fn theta(default: u64) -> Param {
    param(
        "theta",
        default,
        0..=100,
        "skew of the zipfian keys, in hundredths; 0 draws them evenly",
    )
}

/// How many words there are.
const RANDOM_NUMBERS: f64 = (1_u128 << 64) as f64;

impl Zipf {
    /// Allocates the table for `keys` keys, with `theta` in hundredths. It is empty until [`Zipf::write`].
    pub fn allocate(heap: &mut Heap, keys: u64, theta: u64, seed: u64) -> Zipf {
        Zipf {
            base: heap.dram(keys * ENTRY_BYTES),
            keys,
            theta,
            seed,
        }
    }

    /// The addresses of the table.
    pub fn range(&self) -> std::ops::Range<u64> {
        self.base.0..self.base.0 + self.keys * ENTRY_BYTES
    }

    /// The next key.
    pub fn draw<'c, C: Cpu>(&self, random: &mut Random<'c, C>) -> W<'c, C> {
        let key = random.below(self.keys);
        let entry = (key << u64::from(ENTRY_BYTES.trailing_zeros())) + self.base.0;
        match random.word().less(entry.load()).branch(KEEPS_KEY) {
            true => key,
            false => entry.at(8).load(),
        }
    }

    /// Writes the table.
    pub fn write(&self, image: &dyn Image) {
        for (key, (own, other)) in aliases(&self.weights()).into_iter().enumerate() {
            let entry = self.base.0 + key as u64 * ENTRY_BYTES;
            image.set_word(Addr(entry), own);
            image.set_word(Addr(entry + 8), other as u64);
        }
    }

    /// The weight of each key.
    fn weights(&self) -> Vec<f64> {
        let mut weights: Vec<f64> = (1..=self.keys).map(|rank| 1.0 / power(rank, self.theta)).collect();
        let mut rng = Rng::new(self.seed);
        for i in (1..weights.len()).rev() {
            let j = rng.next_u64() % (i as u64 + 1);
            weights.swap(i, j as usize);
        }
        weights
    }
}

/// `x` to the power of `hundredths` / 100. It uses only additions, multiplications and divisions, which give equal
/// results on every machine. A library's `pow` does not.
fn power(x: u64, hundredths: u64) -> f64 {
    let root = hundredth_root(x as f64);
    (0..hundredths).fold(1.0, |product, _| product * root)
}

/// The hundredth root of a number of at least 1, by Newton's method.
fn hundredth_root(x: f64) -> f64 {
    // An upper bound of the root: 1.25^100 is more than 2^32. So steps only go down.
    let mut root = 1.25;
    loop {
        let to_99 = (0..99).fold(1.0, |product, _| product * root);
        let next = (99.0 * root + x / to_99) / 100.0;
        if next >= root {
            return root;
        }
        root = next;
    }
}

/// The entries for these weights: a limit and the other key, for each.
fn aliases(weights: &[f64]) -> Vec<(u64, usize)> {
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    let mut shares: Vec<f64> = weights.iter().map(|weight| weight / mean).collect();
    let (mut poor, mut rich): (Vec<usize>, Vec<usize>) = (0..shares.len()).partition(|key| shares[*key] < 1.0);
    let mut entries: Vec<(u64, usize)> = (0..shares.len()).map(|key| (u64::MAX, key)).collect();
    while let (Some(low), Some(high)) = (poor.pop(), rich.last().copied()) {
        // The rich key fills the rest of the poor key's entry.
        entries[low] = ((shares[low] * RANDOM_NUMBERS) as u64, high);
        shares[high] -= 1.0 - shares[low];
        if shares[high] < 1.0 {
            rich.pop();
            poor.push(high);
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_those_of_the_library() {
        for x in [1, 2, 3, 1000, 1 << 20] {
            for hundredths in [0, 50, 99, 100] {
                let expected = (x as f64).powf(hundredths as f64 / 100.0);
                assert!(
                    (power(x, hundredths) / expected - 1.0).abs() < 1e-12,
                    "{x} {hundredths}"
                );
            }
        }
    }

    #[test]
    fn entries_give_each_key_its_weight() {
        let weights = [8.0, 1.0, 4.0, 2.0, 1.0];
        let mut shares = [0.0; 5];
        for (key, (own, other)) in aliases(&weights).into_iter().enumerate() {
            let own = own as f64 / RANDOM_NUMBERS;
            shares[key] += own / 5.0;
            shares[other] += (1.0 - own) / 5.0;
        }
        for (share, weight) in shares.iter().zip(weights) {
            assert!((share - weight / 16.0).abs() < 1e-12, "{shares:?}");
        }
    }
}
