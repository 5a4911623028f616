//! Sets of addresses, as ranges.

use std::ops::Range;

/// A set of addresses: sorted ranges that neither overlap nor touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges {
    ranges: Vec<Range<u64>>,
}

impl Ranges {
    /// Adds a range.
    pub fn add(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let first = self.ranges.partition_point(|r| r.end < range.start);
        let last = self.ranges.partition_point(|r| r.start <= range.end);
        let merged = match self.ranges.get(first..last) {
            Some([one]) => range.start.min(one.start)..range.end.max(one.end),
            Some([low, .., high]) => range.start.min(low.start)..range.end.max(high.end),
            _ => range,
        };
        self.ranges.splice(first..last, [merged]);
    }

    /// Adds a range that starts after all others start and overlaps none.
    pub fn push(&mut self, range: Range<u64>) {
        match self.ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.ranges.push(range),
        }
    }

    /// Takes a range out.
    pub fn remove(&mut self, range: &Range<u64>) {
        let cut = |r: Range<u64>| [r.start..r.end.min(range.start), r.start.max(range.end)..r.end];
        let left = std::mem::take(&mut self.ranges).into_iter().flat_map(cut);
        self.ranges = left.filter(|r| r.start < r.end).collect();
    }

    /// Whether the set contains this address.
    pub fn contains(&self, address: u64) -> bool {
        match &self.ranges[..] {
            [] => false,
            [one] => one.contains(&address),
            many => {
                let after = many.partition_point(|r| r.start <= address);
                after > 0 && address < many[after - 1].end
            }
        }
    }

    /// Its ranges, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Range<u64>> {
        self.ranges.iter()
    }

    /// Its ranges, in order.
    pub fn into_vec(self) -> Vec<Range<u64>> {
        self.ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_or_overlap_become_one() {
        let mut set = Ranges::default();
        for range in [10..20, 30..40, 50..60, 20..30, 55..70, 5..6] {
            set.add(range);
        }
        assert_eq!(set.ranges, [5..6, 10..40, 50..70]);
        set.add(0..100);
        assert_eq!(set.ranges, std::slice::from_ref(&(0..100)));
    }

    #[test]
    fn a_range_taken_out_splits_what_it_lies_in() {
        let mut set = Ranges::default();
        set.add(0..100);
        set.remove(&(40..50));
        assert_eq!(set.ranges, [0..40, 50..100]);
        assert!(set.contains(39) && !set.contains(40) && !set.contains(49) && set.contains(50));
    }
}
