//! Which pages accesses touch.

use crate::ranges::Ranges;
use std::collections::HashMap;
use strandline_capture::PAGE_BYTES;

/// Number of recent pages that need no table lookup.
const RECENT: usize = 1 << 12;

/// A set of pages that is fast for nearby accesses.
#[derive(Clone, Debug)]
pub(crate) struct Pages {
    /// The numbers of pages that are in the table.
    recent: Vec<u64>,
    /// 64 pages an entry.
    table: HashMap<u64, u64>,
}

impl Pages {
    /// No page.
    pub fn new() -> Pages {
        Pages {
            recent: vec![u64::MAX; RECENT],
            table: HashMap::new(),
        }
    }

    /// An access of this size at this address, which is below the highest half of the address space.
    #[inline]
    pub fn touch(&mut self, address: u64, bytes: u16) {
        let first = address / PAGE_BYTES;
        let last = (address + u64::from(bytes.saturating_sub(1))) / PAGE_BYTES;
        if self.recent[first as usize % RECENT] != first || first != last {
            self.add(first, last);
        }
    }

    fn add(&mut self, first: u64, last: u64) {
        for page in first..=last {
            *self.table.entry(page / 64).or_default() |= 1 << (page % 64);
            self.recent[page as usize % RECENT] = page;
        }
    }

    /// The addresses of its pages that are not wholly inside `regions`.
    pub fn outside(&self, regions: &Ranges) -> Ranges {
        let mut groups: Vec<_> = self.table.iter().collect();
        groups.sort_unstable();
        let mut outside = Ranges::default();
        for (group, bits) in groups {
            let set = (0..64).filter(|bit| bits >> bit & 1 == 1);
            for page in set.map(|bit| group * 64 + bit) {
                outside.push(page * PAGE_BYTES..(page + 1) * PAGE_BYTES);
            }
        }
        for region in regions.iter() {
            let whole = region.start.next_multiple_of(PAGE_BYTES)..region.end / PAGE_BYTES * PAGE_BYTES;
            if !whole.is_empty() {
                outside.remove(&whole);
            }
        }
        outside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_outside_of_regions_are_found_also_where_an_access_crosses_into_them() {
        let mut pages = Pages::new();
        pages.touch(0x1000, 8);
        pages.touch(0x2ffc, 8); // Reaches into the page at 0x3000.
        pages.touch(0x9000, 64);
        pages.touch(0xa000, 1);
        let mut regions = Ranges::default();
        regions.add(0x9000..0xa800); // The page at 0xa000 is persistent only in half.
        let outside = pages.outside(&regions).into_vec();
        assert_eq!(outside, [0x1000..0x4000, 0xa000..0xb000]);
    }
}
