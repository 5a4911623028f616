//! What a design counts, and the occupancy of its buffers over time.

use strandline_kernel::{counters, Adds, Counts, Cycles};

counters! {
    /// What a design has counted since the run began. `None`: the design has no such counter.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Counters {
        /// A core's buffer holds unsent writes, and the order of persists blocks all of them;
        /// summed over the cores.
        blocked_cycles: Option<u64> = Sum of "cycles",
        /// Epochs begun.
        epochs: Option<u64> = Sum of "epochs",
        /// Dependences of an epoch on an epoch of another core that is not durable.
        cross_dependences: Option<u64> = Sum of "dependences",
        /// Dependences for which the flush or the commit of a core's oldest epoch waited.
        blocking_dependences: Option<u64> = Sum of "dependences",
        /// A core's oldest epoch waits for epochs of other cores alone; summed over the cores.
        dependence_wait_cycles: Option<u64> = Sum of "cycles",
        /// Flushes sent before every write that is ordered before them was durable.
        early_flushes: Option<u64> = Sum of "flushes",
        /// Undo records created in the controllers.
        undo_records: Option<u64> = Sum of "records",
        /// Delay records created in the controllers.
        delay_records: Option<u64> = Sum of "records",
        /// Flushes that a controller refused (NACK).
        nacks: Option<u64> = Sum of "flushes",
        /// Rollbacks of speculation.
        rollbacks: Option<u64> = Sum of "rollbacks",
        /// Look-ups in Bloom filters.
        bloom_lookups: Option<u64> = Sum of "questions",
        /// Look-ups that hit although the filter held no such line.
        bloom_false_positives: Option<u64> = Sum of "questions",
        /// The most records that one controller's recovery table held at a time, over the whole run
        /// (warm-up included).
        table_occupancy_max: Option<u64> = Max of "records",
    }
    beside {
        /// Cycles spent with k entries of a core's buffer in use, at index k; summed over the cores.
        #[serde(skip)]
        buffer_occupancy: Option<Vec<u64>> = Sum,
        /// Counters of the design's own.
        #[serde(skip)]
        own: OwnCounts = Sum,
    }
}

/// A counter that only one design has ([`crate::Design::own_counters`]). Its name is a key of the
/// record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The key of the record.
    pub name: &'static str,
    /// What it counts, in the plural, for tables and lists.
    pub unit: &'static str,
    /// How the values of several threads, cores and runs add up.
    pub adds: Adds,
    /// Its description: one sentence.
    pub help: &'static str,
}

impl Counter {
    /// One whose values of several threads, cores and runs sum up.
    #[must_use]
    pub const fn sum(name: &'static str, unit: &'static str, help: &'static str) -> Counter {
        let adds = Adds::Sum;
        Counter { name, unit, adds, help }
    }
}

/// Counters of a design's own, with their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnCounts(pub Vec<(Counter, u64)>);

impl Counts for OwnCounts {
    fn since(self, earlier: &OwnCounts) -> OwnCounts {
        let before = |counter: &Counter| earlier.0.iter().find(|(of, _)| of.name == counter.name);
        let difference = |(counter, value): (Counter, u64)| match counter.adds {
            Adds::Sum => (counter, value - before(&counter).map_or(0, |(_, value)| *value)),
            _ => (counter, value),
        };
        OwnCounts(self.0.into_iter().map(difference).collect())
    }
}

impl Counters {
    /// Entries of a core's buffer in use, averaged over time and cores.
    #[must_use]
    pub fn buffer_occupancy_mean(&self) -> Option<f64> {
        let cycles = self.buffer_occupancy.as_ref()?;
        let time: u64 = cycles.iter().sum();
        let entries: u64 = (0..).zip(cycles).map(|(level, cycles)| level * cycles).sum();
        (time > 0).then(|| entries as f64 / time as f64)
    }

    /// The smallest number of entries of a core's buffer that was not exceeded for this share of
    /// the time.
    #[must_use]
    pub fn buffer_occupancy_quantile(&self, share: f64) -> Option<u64> {
        let cycles = self.buffer_occupancy.as_ref()?;
        let time: u64 = cycles.iter().sum();
        let mut so_far = 0;
        (0..).zip(cycles).find_map(|(level, cycles)| {
            so_far += cycles;
            (time > 0 && so_far as f64 >= share * time as f64).then_some(level)
        })
    }
}

/// How long something that has a level (a buffer: entries in use; a condition: 0 or 1) was at each
/// level.
#[derive(Clone, Debug, Default)]
pub struct Occupancy {
    level: usize,
    /// The latest time of a report.
    since: Cycles,
    /// Cycles at this level up to then, since it was entered.
    here: u64,
    /// Cycles at each level that was left.
    cycles: Vec<u64>,
}

impl Occupancy {
    /// Sets the level from `now` on.
    #[inline]
    pub fn set(&mut self, now: Cycles, level: usize) {
        self.set_again(now);
        if level != self.level {
            self.leave();
            self.level = level;
        }
    }

    /// Sets the same level again. The slack of the simulation may report cores out of time order. A
    /// report of an earlier time adds no cycles.
    #[inline]
    pub fn set_again(&mut self, now: Cycles) {
        self.here += now.0.saturating_sub(self.since.0);
        self.since = self.since.max(now);
    }

    /// Adds the cycles at this level.
    fn leave(&mut self) {
        if self.cycles.len() <= self.level {
            self.cycles.resize(self.level + 1, 0);
        }
        self.cycles[self.level] += std::mem::take(&mut self.here);
    }

    /// Cycles at each level up to `now`, up to the highest level that it had.
    #[must_use]
    pub fn cycles(&self, now: Cycles) -> Vec<u64> {
        let mut passed = self.clone();
        passed.set_again(now);
        passed.leave();
        passed.cycles
    }

    /// Cycles at this level up to `now`.
    #[must_use]
    pub fn cycles_at(&self, now: Cycles, level: usize) -> u64 {
        self.cycles(now).get(level).copied().unwrap_or(0)
    }

    /// Cycles at each level up to `now`, summed over several.
    #[must_use]
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Occupancy>, now: Cycles) -> Vec<u64> {
        let mut sum = Vec::new();
        for cycles in all.into_iter().map(|one| one.cycles(now)) {
            sum.resize(cycles.len().max(sum.len()), 0);
            for (total, cycles) in sum.iter_mut().zip(cycles) {
                *total += cycles;
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occupancy_is_the_time_at_each_level() {
        let mut one = Occupancy::default();
        one.set(Cycles(10), 2);
        one.set(Cycles(15), 0);
        assert_eq!(one.cycles(Cycles(18)), [10 + 3, 0, 5]);
        // A look changes nothing, and an earlier time adds nothing.
        assert_eq!(one.cycles(Cycles(12)), [10, 0, 5]);
        assert_eq!((one.cycles_at(Cycles(18), 2), one.cycles_at(Cycles(18), 9)), (5, 0));
        let other = Occupancy::default();
        assert_eq!(Occupancy::sum([&other, &one], Cycles(18)), [18 + 13, 0, 5]);
    }

    #[test]
    fn mean_and_quantile_weigh_by_time() {
        let counters = |cycles: &[u64]| Counters {
            buffer_occupancy: Some(cycles.to_vec()),
            ..Counters::default()
        };
        // 90 cycles empty, 9 with one entry, 1 with three.
        let counted = counters(&[90, 9, 0, 1]);
        assert_eq!(counted.buffer_occupancy_mean(), Some(0.12));
        assert_eq!(counted.buffer_occupancy_quantile(0.9), Some(0));
        assert_eq!(counted.buffer_occupancy_quantile(0.99), Some(1));
        assert_eq!(counted.buffer_occupancy_quantile(1.0), Some(3));
        for none in [counters(&[]), counters(&[0, 0]), Counters::default()] {
            assert_eq!(
                (none.buffer_occupancy_mean(), none.buffer_occupancy_quantile(0.99)),
                (None, None)
            );
        }
    }
}
