//! Counts the states of each interval incrementally.

use super::count::Count;
use super::line;
use super::pending::Pending;
use crate::order::PmPlace;
use std::collections::BTreeMap;

/// Below this power of two, counts are exact.
const EXACT_LOG2: f64 = 100.0;

/// The number of sets of each pending line with more than one.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    counts: BTreeMap<PmPlace, u64>,
    log2: f64,
}

impl Ledger {
    /// The states of the interval that ends here; `changed` are the lines whose sets may differ from the last call.
    pub fn close(&mut self, pending: &Pending, changed: impl IntoIterator<Item = PmPlace>, boundary: u64) -> Count {
        let mut old = BTreeMap::new();
        let mut log2_old = 0.0;
        for at in changed {
            let items = pending.lines.get(&at).map_or(&[][..], |line| &line.items);
            let now = line::count(items);
            let before = line::count(&items[..items.partition_point(|item| item.serial <= boundary)]);
            let was = self.counts.remove(&at).unwrap_or(1);
            if now > 1 {
                self.counts.insert(at, now);
            }
            self.log2 += log2(now) - log2(was);
            log2_old += log2(before) - log2(now);
            old.insert(at, before);
        }
        log2_old += self.log2;
        if self.log2 > EXACT_LOG2 {
            let fewer = (log2_old - self.log2).min(0.0);
            return Count::about(self.log2 + (-fewer.exp2()).ln_1p() / std::f64::consts::LN_2);
        }
        let all: u128 = self.counts.values().map(|count| u128::from(*count)).product();
        let before = |(at, count): (&PmPlace, &u64)| u128::from(*old.get(at).unwrap_or(count));
        Count::exactly(all - self.counts.iter().map(before).product::<u128>())
    }
}

fn log2(count: u64) -> f64 {
    (count as f64).log2()
}
