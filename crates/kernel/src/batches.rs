//! Values by the time at which they came, in few bins: a run's batches.

use crate::{drifts, half_width, half_width_beside_drift, Histogram};

/// Bins after which neighbours are merged and each bin is twice as long.
const MOST_BINS: usize = 64;

/// The logarithm of the shortest bin, in cycles. Merging takes some ten thousand instructions of the host for each
/// doubling, so bins begin where a bin has a few tasks.
const SHORTEST: u32 = 11;

/// Values of a batch, on average, below which two batches are one: the ends of the batches cut values off.
const LEAST_VALUES: f64 = 10.0;

/// Values of a batch, on average, that are beyond a quantile, for an interval of it: otherwise few batches have any.
const LEAST_BEYOND: f64 = 2.0;

/// Values counted by the time at which they came, since a first cycle.
///
/// A value costs the same at any time, and the order of values that come in one bin does not matter. Bins are as long as
/// a power of two, so those of several cores have a common length.
#[derive(Clone, Debug, PartialEq)]
pub struct Batches {
    since: u64,
    length: u32,
    bins: Vec<Histogram>,
}

impl Default for Batches {
    fn default() -> Batches {
        Batches::since(0)
    }
}

impl Batches {
    /// No values; the first bin begins at the cycle `since`.
    #[must_use]
    pub fn since(since: u64) -> Batches {
        Batches {
            since,
            length: SHORTEST,
            bins: Vec::new(),
        }
    }

    /// Counts `value`, which came at the cycle `at`; before the first bin it counts as in it.
    pub fn add(&mut self, at: u64, value: u64) {
        let after = at.saturating_sub(self.since);
        let mut bin = (after >> self.length) as usize;
        if bin >= self.bins.len() {
            bin = self.extend(after);
        }
        self.bins[bin].add(value);
    }

    /// Makes the bin of the cycle that comes so long after the first: its number.
    #[cold]
    fn extend(&mut self, after: u64) -> usize {
        while after >> self.length >= MOST_BINS as u64 {
            self.lengthen();
        }
        let bin = (after >> self.length) as usize;
        self.bins.resize(self.bins.len().max(bin + 1), Histogram::default());
        bin
    }

    /// Makes each bin twice as long.
    fn lengthen(&mut self) {
        self.length += 1;
        for bin in 0..self.bins.len().div_ceil(2) {
            let mut first = std::mem::take(&mut self.bins[2 * bin]);
            if let Some(second) = self.bins.get(2 * bin + 1) {
                first.merge(second);
            }
            self.bins[bin] = first;
        }
        self.bins.truncate(self.bins.len().div_ceil(2));
    }

    /// Adds the values of `other`, which begins at the same cycle.
    pub fn merge(&mut self, mut other: Batches) {
        while self.length < other.length {
            self.lengthen();
        }
        while other.length < self.length {
            other.lengthen();
        }
        if self.bins.len() < other.bins.len() {
            self.bins.resize(other.bins.len(), Histogram::default());
        }
        for (mine, theirs) in self.bins.iter_mut().zip(&other.bins) {
            mine.merge(theirs);
        }
    }

    /// All values.
    #[must_use]
    pub fn all(&self) -> Histogram {
        let mut all = Histogram::default();
        self.bins.iter().for_each(|bin| all.merge(bin));
        all
    }

    /// How often values came, by time, up to the cycle `end`.
    #[must_use]
    pub fn pace(&self, end: u64) -> Pace {
        Pace::of([self], end)
    }

    /// Half the width of the 95 % interval of the quantile `q` (0 to 1), up to the cycle `end`; `None` if there are too few
    /// values for one.
    ///
    /// The share of values that do not exceed the quantile has an interval by batch means: each batch's share is one mean.
    /// The quantiles at its ends are those of the interval (Woodruff, JASA 47, 1952). So correlated values count as what
    /// they are worth, while quantiles of single batches would be biased: a batch has few values beyond the 99th
    /// percentile. The wider side counts, so that the interval is symmetric, and the histogram's resolution is part of it.
    #[must_use]
    pub fn half_width_of_quantile(&self, q: f64, end: u64) -> Option<u64> {
        let full = self.full_bins(end);
        let all = self.all();
        let quantile = all.quantile(q)?;
        let beyond = q.min(1.0 - q) * all.count() as f64;
        let batches = together(&full.iter().map(|bin| bin.count() as f64).collect::<Vec<_>>())?;
        if beyond / (full.len() / batches) as f64 <= LEAST_BEYOND {
            return None;
        }
        let half = half_width_of_share(full, batches, &ranked(&all, quantile, q))?;
        let (low, high) = (q - half, q + half);
        if low <= 0.0 || high >= 1.0 {
            return None;
        }
        let off = |share| Some(all.quantile(share)?.abs_diff(quantile));
        Some(off(low)?.max(off(high)?) + Histogram::resolution(quantile))
    }

    /// The bins that ended by the cycle `end`.
    fn full_bins(&self, end: u64) -> &[Histogram] {
        &self.bins[..full(self.bins.len(), self.since, self.length, end)]
    }
}

/// How many of these bins ended by the cycle `end`.
fn full(bins: usize, since: u64, length: u32, end: u64) -> usize {
    bins.min((end.saturating_sub(since) >> length) as usize)
}

/// How many neighbours make a batch of enough values; `None` without any.
fn together(counts: &[f64]) -> Option<usize> {
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    (mean > 0.0).then(|| ((LEAST_VALUES / mean).ceil() as usize).max(1).next_power_of_two())
}

/// The sums of each so many neighbours; a rest is left out.
fn sums(parts: &[f64], of: usize) -> Vec<f64> {
    parts.chunks_exact(of).map(|batch| batch.iter().sum()).collect()
}

/// Counts the values of a bin that belong to the share `q` of `all`: those below the quantile, and as much of its own bucket
/// as makes up the share. Many values may lie in that bucket, and these are none that chance puts on either side.
fn ranked(all: &Histogram, quantile: u64, q: f64) -> impl Fn(&Histogram) -> f64 {
    let (below, within) = (
        all.below(quantile) as f64,
        (all.at_most(quantile) - all.below(quantile)) as f64,
    );
    let part = (q * all.count() as f64 - below) / within;
    move |bin| bin.below(quantile) as f64 + part * (bin.at_most(quantile) - bin.below(quantile)) as f64
}

/// Half the width of the 95 % interval of the share of values that `counted` counts.
fn half_width_of_share(bins: &[Histogram], together: usize, counted: &impl Fn(&Histogram) -> f64) -> Option<f64> {
    let number: Vec<f64> = bins.iter().map(|bin| bin.count() as f64).collect();
    let those: Vec<f64> = bins.iter().map(counted).collect();
    let (every, share) = (number.iter().sum::<f64>(), those.iter().sum::<f64>());
    let share = share / every;
    // By how many values each batch's share is off.
    let off = those.iter().zip(&number).map(|(those, number)| those - share * number);
    let batches = sums(&off.collect::<Vec<_>>(), together);
    Some(half_width(&batches)? / together as f64 / (every / bins.len() as f64))
}

/// How often values came, by time: the number in each bin.
#[derive(Clone, Debug, PartialEq)]
pub struct Pace(Vec<f64>);

impl Pace {
    /// That of the values of several cores together, up to the cycle `end`. They begin at the same cycle.
    pub fn of<'b>(cores: impl IntoIterator<Item = &'b Batches> + Clone, end: u64) -> Pace {
        let each = || cores.clone().into_iter();
        let length = each().map(|core| core.length).max().unwrap_or(SHORTEST);
        let since = each().map(|core| core.since).max().unwrap_or(0);
        let bins = each().map(|core| core.bins.len().div_ceil(1 << (length - core.length)));
        let mut counts = vec![0.0; full(bins.max().unwrap_or(0), since, length, end)];
        for core in each() {
            for (bin, values) in core.bins.iter().enumerate() {
                if let Some(count) = counts.get_mut(bin >> (length - core.length)) {
                    *count += values.count() as f64;
                }
            }
        }
        Pace(counts)
    }

    /// Batches with enough values each.
    fn batches(&self) -> Option<Vec<f64>> {
        Some(sums(&self.0, together(&self.0)?))
    }

    /// Half the width of the 95 % interval of the time of a value, as a share of it; `None` if there are too few values.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        self.share_of_mean(half_width)
    }

    /// As [`Pace::half_width`], of values that are known to come ever faster or slower: what chance adds to that.
    #[must_use]
    pub fn half_width_beside_drift(&self) -> Option<f64> {
        self.share_of_mean(half_width_beside_drift)
    }

    fn share_of_mean(&self, half_width: fn(&[f64]) -> Option<f64>) -> Option<f64> {
        let batches = self.batches()?;
        let mean = batches.iter().sum::<f64>() / batches.len() as f64;
        Some(half_width(&batches)? / mean)
    }

    /// Whether values come ever faster or slower; `None` if there are too few.
    #[must_use]
    pub fn drifts(&self) -> Option<bool> {
        drifts(&self.batches()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    /// The batches of a stationary stream of tasks, and when it ends: a task takes 1000 cycles on average, and its time has
    /// this share of that of the one before it.
    fn stream(seed: u64, share: f64, tasks: u64) -> (Batches, u64) {
        let mut rng = Rng::new(seed);
        // Exponential: many short tasks and a few long ones, as with locks and full queues.
        let mut next = || -1000.0 * ((rng.below(1 << 40) + 1) as f64 / (1u64 << 40) as f64).ln();
        let (mut batches, mut now, mut time) = (Batches::since(0), 0.0, 1000.0);
        for _ in 0..tasks {
            time = share * time + (1.0 - share) * next();
            now += time;
            batches.add(now as u64, time as u64);
        }
        (batches, now as u64)
    }

    #[test]
    fn bins_of_any_length_and_order_yield_the_same_batches() {
        let mut rng = Rng::new(1);
        let values: Vec<(u64, u64)> = (0..5000)
            .map(|_| (500 + rng.below(1 << 20), rng.below(1 << 12)))
            .collect();
        let counted = |values: &mut dyn Iterator<Item = &(u64, u64)>| {
            let mut batches = Batches::since(500);
            values.for_each(|(at, value)| batches.add(*at, *value));
            batches
        };
        let all = counted(&mut values.iter());
        assert_eq!(all, counted(&mut values.iter().rev()));
        assert_eq!(all.all().count(), 5000);
        assert_eq!(all.bins.len(), 64);
        // Two cores, one of which ends early and has short bins.
        let (early, late): (Vec<_>, Vec<_>) = values.iter().partition(|(at, _)| *at < 20_000);
        let (early, late) = (counted(&mut early.iter()), counted(&mut late.iter()));
        assert!(early.length < late.length);
        let end = 500 + (1 << 20);
        assert_eq!(Pace::of([&early, &late], end), all.pace(end));
        let mut merged = early;
        merged.merge(late);
        assert_eq!(merged, all);
    }

    /// The share of intervals that hold the truth, over seeds; each run must have one.
    fn coverage(half: impl Fn(&Batches, u64) -> (f64, Option<f64>), share: f64, truth: f64) -> f64 {
        let runs = 500;
        let holds = |seed| {
            let (batches, end) = stream(seed, share, 20_000);
            let (found, half) = half(&batches, end);
            half.map(|half| (found - truth).abs() <= half)
        };
        let known: Vec<bool> = (0..runs).filter_map(holds).collect();
        assert!(
            known.len() * 20 > runs as usize * 19,
            "{share}: {} of {runs}",
            known.len()
        );
        known.iter().filter(|held| **held).count() as f64 / known.len() as f64
    }

    #[test]
    fn about_95_of_100_intervals_hold_the_time_of_a_task() {
        let pace = |batches: &Batches, end: u64| {
            let mean = end as f64 / batches.all().count() as f64;
            (mean, batches.pace(end).half_width().map(|half| half * mean))
        };
        for share in [0.0, 0.9, 0.99] {
            let held = coverage(pace, share, 1000.0);
            assert!((0.92..0.98).contains(&held), "{share}: {held}");
        }
    }

    #[test]
    fn about_95_of_100_intervals_hold_a_quantile() {
        for (q, truth) in [(0.5, 693.1), (0.99, 4605.2)] {
            let quantile = |batches: &Batches, end: u64| {
                // A bucket is up to 1/128 of its value wide, and counts with its top.
                let half = batches
                    .half_width_of_quantile(q, end)
                    .map(|half| half as f64 + truth / 128.0);
                (batches.all().quantile(q).unwrap() as f64, half)
            };
            let held = coverage(quantile, 0.0, truth);
            assert!((0.92..=1.0).contains(&held), "{q}: {held}");
        }
    }

    #[test]
    fn correlated_latencies_have_a_wider_interval_than_independent_ones() {
        // Against that of the same values in random order: binomial.
        let wider = |share| {
            let (batches, end) = stream(3, share, 20_000);
            let quantile = |q| batches.all().quantile(q).unwrap() as f64;
            let binomial = quantile(0.5 + 1.96 * 0.5 / 20_000f64.sqrt()) - quantile(0.5);
            batches.half_width_of_quantile(0.5, end).unwrap() as f64 / binomial
        };
        assert!(wider(0.0) < 2.0 && wider(0.9) > 3.0, "{} {}", wider(0.0), wider(0.9));
    }

    #[test]
    fn few_tasks_have_no_interval() {
        let (few, end) = stream(1, 0.0, 60);
        assert_eq!((few.pace(end).half_width(), few.pace(end).drifts()), (None, None));
        assert_eq!(few.half_width_of_quantile(0.5, end), None);
        let (some, end) = stream(1, 0.0, 1000);
        assert!(some.pace(end).half_width().is_some());
        assert!(some.half_width_of_quantile(0.5, end).is_some());
        assert_eq!(some.half_width_of_quantile(0.99, end), None, "ten tasks beyond it");
        assert_eq!(Batches::default().pace(1 << 20).half_width(), None);
    }

    #[test]
    fn ever_slower_tasks_drift() {
        let slower = |by: f64| {
            let (mut batches, mut now, mut rng) = (Batches::since(0), 0.0, Rng::new(2));
            for task in 0..20_000 {
                now += 500.0 + rng.below(1000) as f64 + by * f64::from(task) / 20_000.0;
                batches.add(now as u64, 1);
            }
            batches.pace(now as u64).drifts()
        };
        assert_eq!(
            (slower(0.0), slower(50.0), slower(-50.0)),
            (Some(false), Some(true), Some(true))
        );
    }
}
