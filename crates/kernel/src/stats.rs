//! Statistics that accumulate during a run.

/// A histogram of 64-bit values whose buckets are at most 1/128 of their value wide.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    sum: u128,
    max: u64,
}

const SUB_BITS: u32 = 7;

fn bucket_of(value: u64) -> usize {
    if value < 1 << SUB_BITS {
        return value as usize;
    }
    let exponent = value.ilog2();
    let sub = (value >> (exponent - SUB_BITS)) & ((1 << SUB_BITS) - 1);
    (((exponent - SUB_BITS + 1) << SUB_BITS) as u64 + sub) as usize
}

/// The largest value that falls into `bucket`.
fn bucket_top(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 1 << SUB_BITS {
        return bucket;
    }
    let exponent = (bucket >> SUB_BITS) as u32 + SUB_BITS - 1;
    let sub = bucket & ((1 << SUB_BITS) - 1);
    let width = 1u64 << (exponent - SUB_BITS);
    (1u64 << exponent) + (sub + 1) * width - 1
}

impl Histogram {
    /// Counts `value`.
    pub fn add(&mut self, value: u64) {
        let bucket = bucket_of(value);
        if bucket >= self.buckets.len() {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
        self.count += 1;
        self.sum += u128::from(value);
        self.max = self.max.max(value);
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Histogram) {
        if other.buckets.len() > self.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// How many values were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean of the values; `None` without any.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The largest value counted.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.max
    }

    /// How many values lie in buckets up to that of `value`.
    #[must_use]
    pub fn at_most(&self, value: u64) -> u64 {
        self.buckets.iter().take(bucket_of(value) + 1).sum()
    }

    /// How many values lie in buckets before that of `value`.
    #[must_use]
    pub fn below(&self, value: u64) -> u64 {
        self.buckets.iter().take(bucket_of(value)).sum()
    }

    /// By how much a quantile of this value may exceed the value that it stands for: the width of its bucket.
    #[must_use]
    pub fn resolution(value: u64) -> u64 {
        match bucket_of(value) {
            0 => 0,
            bucket => bucket_top(bucket) - bucket_top(bucket - 1) - 1,
        }
    }

    /// The smallest bucket top that at least a share `q` (0 to 1) of the values does not exceed; `None` without values.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let wanted = ((q * self.count as f64).ceil() as u64).clamp(1, self.count);
        let mut seen = 0;
        for (bucket, n) in self.buckets.iter().enumerate() {
            seen += n;
            if seen >= wanted {
                return Some(bucket_top(bucket).min(self.max));
            }
        }
        Some(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_a_bucket_whose_top_is_at_most_a_128th_above() {
        for value in (0..2000).chain([1 << 20, (1 << 20) + 12345, u64::MAX >> 1]) {
            let top = bucket_top(bucket_of(value));
            assert!(top >= value && top - value <= value / 128, "{value} -> {top}");
        }
    }

    #[test]
    fn quantiles_of_one_to_five_hundred() {
        let mut h = Histogram::default();
        (1..=500).for_each(|v| h.add(v));
        assert_eq!(h.quantile(0.2), Some(100));
        assert_eq!(h.quantile(0.8), Some(401), "400 shares the bucket 400..=401");
        assert_eq!(h.quantile(1.0), Some(500));
        assert_eq!(h.mean(), Some(250.5));
    }
}
