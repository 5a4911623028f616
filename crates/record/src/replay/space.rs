//! Recorded addresses as simulated ones.

use crate::{RecordError, Region, PAGE_BYTES};
use std::ops::Range;
use strandline_isa::{Addr, LINE_BYTES, PM_BASE};

/// Allocates the memory of a recording in simulated memory.
///
/// Persistent regions follow each other from [`PM_BASE`] on, rounded to pages. The accessed volatile pages are packed
/// from the second page of volatile memory on, followed by a line for each signal. The first page represents every
/// unknown address.
#[derive(Clone, Debug)]
pub struct Space {
    /// By recorded address, without overlap.
    spans: Vec<Span>,
    /// The simulated address of each region, without the rounding.
    regions: Vec<Range<u64>>,
    /// The sorted signal numbers, and the address of the first one's word.
    signals: Vec<u32>,
    signals_at: u64,
    dram_bytes: u64,
    pm_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: u64,
    end: u64,
    /// What is added to a recorded address.
    delta: u64,
}

impl Space {
    /// Allocates regions, runs of volatile pages, and these signals.
    #[must_use]
    pub fn new(regions: &[Region], volatile: &[Range<u64>], mut signals: Vec<u32>) -> Space {
        signals.sort_unstable();
        signals.dedup();
        let mut spans: Vec<Span> = Vec::new();
        let pm_end = place(
            &mut spans,
            PM_BASE,
            regions.iter().map(|r| r.start..r.start.saturating_add(r.bytes)),
        );
        let dram_end = place(&mut spans, PAGE_BYTES, volatile.iter().cloned());
        let mut space = Space {
            spans,
            regions: Vec::new(),
            signals_at: dram_end,
            dram_bytes: dram_end + signals.len() as u64 * LINE_BYTES,
            signals,
            pm_bytes: pm_end - PM_BASE,
        };
        space.regions = regions
            .iter()
            .map(|region| {
                let start = space.simulated(region.start).0;
                start..start + region.bytes
            })
            .collect();
        space
    }

    /// The simulated address of a recorded one.
    #[must_use]
    pub fn simulated(&self, recorded: u64) -> Addr {
        Addr(recorded.wrapping_add(self.delta(recorded)))
    }

    /// The simulated address of the region of this index.
    #[must_use]
    pub fn region(&self, index: usize) -> Option<Range<u64>> {
        self.regions.get(index).cloned()
    }

    /// The word of a signal, if any thread gives it.
    #[must_use]
    pub fn signal(&self, number: u32) -> Option<Addr> {
        let index = self.signals.binary_search(&number).ok()?;
        Some(Addr(self.signals_at + index as u64 * LINE_BYTES))
    }

    /// Bytes of volatile memory.
    #[must_use]
    pub fn dram_bytes(&self) -> u64 {
        self.dram_bytes
    }

    /// Bytes of persistent memory.
    #[must_use]
    pub fn pm_bytes(&self) -> u64 {
        self.pm_bytes
    }

    /// Whether the host can hold simulated memory of this size: a user's range of addresses may exceed any host.
    ///
    /// # Errors
    /// It cannot.
    pub fn has_room(&self) -> Result<(), RecordError> {
        let words = self.dram_bytes.saturating_add(self.pm_bytes).div_ceil(8);
        let fits = self.dram_bytes <= PM_BASE && self.pm_bytes <= PM_BASE;
        let taken = usize::try_from(words).is_ok_and(|words| Vec::<u64>::new().try_reserve_exact(words).is_ok());
        match fits && taken {
            true => Ok(()),
            false => Err(RecordError::new(
                format!(
                    "the recorded program has {} bytes of persistent memory and touches {} bytes of other memory, which is more than this host can hold",
                    self.pm_bytes, self.dram_bytes
                ),
                "record it with a smaller --pm-range, or run it on a larger host",
            )),
        }
    }

    fn delta(&self, recorded: u64) -> u64 {
        let behind = self.spans.partition_point(|span| span.start <= recorded);
        match behind.checked_sub(1).map(|index| self.spans[index]) {
            Some(span) if recorded < span.end => span.delta,
            // The same offset in the first page.
            _ => (recorded % PAGE_BYTES).wrapping_sub(recorded),
        }
    }
}

/// Allocates ranges, rounded to pages, from `at` on, except parts that are already allocated; returns the end.
fn place(spans: &mut Vec<Span>, mut at: u64, ranges: impl Iterator<Item = Range<u64>>) -> u64 {
    let mut sorted: Vec<Range<u64>> = ranges
        .filter(|range| range.start < range.end)
        .map(|range| {
            range.start / PAGE_BYTES * PAGE_BYTES..range.end.saturating_add(PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES
        })
        .collect();
    sorted.sort_by_key(|range| range.start);
    let taken = spans.clone();
    let mut from = 0;
    for range in sorted {
        let mut start = range.start.max(from);
        while start < range.end {
            let free = next_free(&taken, start, range.end);
            if !free.is_empty() {
                spans.push(Span {
                    start: free.start,
                    end: free.end,
                    delta: at.wrapping_sub(free.start),
                });
                at += free.end - free.start;
            }
            start = free.end.max(start + PAGE_BYTES);
        }
        from = from.max(range.end);
    }
    spans.sort_by_key(|span| span.start);
    at
}

/// The first part of `start..end` outside all taken spans, or an empty one at the end of the span with the start.
fn next_free(taken: &[Span], start: u64, end: u64) -> Range<u64> {
    let after = taken.partition_point(|span| span.end <= start);
    match taken.get(after) {
        Some(span) if span.start <= start => span.end..span.end,
        Some(span) => start..end.min(span.start),
        None => start..end,
    }
}

/// Recent translations of pages.
pub struct Lookup {
    pages: Box<[(u64, u64); ENTRIES]>,
}

const ENTRIES: usize = 512;

impl Default for Lookup {
    fn default() -> Self {
        Lookup {
            pages: Box::new([(u64::MAX, 0); ENTRIES]),
        }
    }
}

impl Lookup {
    /// As [`Space::simulated`].
    #[inline(always)]
    pub fn simulated(&mut self, space: &Space, recorded: u64) -> Addr {
        let page = recorded / PAGE_BYTES;
        let entry = &mut self.pages[page as usize % ENTRIES];
        if entry.0 != page {
            *entry = (page, space.delta(recorded));
        }
        Addr(recorded.wrapping_add(entry.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(start: u64, bytes: u64) -> Region {
        Region {
            start,
            bytes,
            offset: 0,
            path: String::new(),
        }
    }

    #[test]
    fn regions_lie_one_behind_the_other_and_keep_the_places_in_their_pages() {
        let space = Space::new(&[region(0x7000_0000, 0x3000), region(0x1_0040, 0x100)], &[], Vec::new());
        assert_eq!(
            space.simulated(0x1_0048),
            Addr(PM_BASE + 0x48),
            "the lower one comes first"
        );
        assert_eq!(space.simulated(0x7000_2fff), Addr(PM_BASE + PAGE_BYTES + 0x2fff));
        assert_eq!(space.region(0), Some(PM_BASE + PAGE_BYTES..PM_BASE + 4 * PAGE_BYTES));
        assert_eq!(space.region(1), Some(PM_BASE + 0x40..PM_BASE + 0x140));
        assert_eq!(space.pm_bytes(), 4 * PAGE_BYTES);
    }

    #[test]
    fn volatile_pages_are_dense_and_do_not_hide_persistent_ones() {
        let runs = [0x1000..0x3000, 0x10_0000..0x10_4000];
        let space = Space::new(&[region(0x10_1000, 0x1000)], &runs, vec![7, 3]);
        assert_eq!(space.simulated(0x1008), Addr(PAGE_BYTES + 8));
        assert_eq!(space.simulated(0x10_0000), Addr(3 * PAGE_BYTES));
        assert_eq!(space.simulated(0x10_1010), Addr(PM_BASE + 0x10));
        assert_eq!(space.simulated(0x10_2000), Addr(4 * PAGE_BYTES));
        assert_eq!(space.signal(7), Some(Addr(6 * PAGE_BYTES + 64)));
        assert_eq!(space.signal(5), None);
        assert_eq!(space.dram_bytes(), 6 * PAGE_BYTES + 128);
    }

    #[test]
    fn memory_that_no_host_has_is_refused() {
        let space = Space::new(&[region(0x1000_0000_0000, 1 << 43)], &[], Vec::new());
        let error = space
            .has_room()
            .expect_err("8 TiB are more than the machine's addresses")
            .to_string();
        assert!(
            error.contains("8796093022208 bytes") && error.contains("--pm-range"),
            "{error}"
        );
        assert_eq!(
            Space::new(&[region(0x1000, 0x1000)], &[], Vec::new()).has_room(),
            Ok(())
        );
    }

    #[test]
    fn an_address_that_nobody_knows_falls_into_the_first_page() {
        let space = Space::new(&[], std::slice::from_ref(&(0x1000..0x2000)), Vec::new());
        for recorded in [0, 0x2345, u64::MAX / 2, u64::MAX] {
            assert_eq!(space.simulated(recorded), Addr(recorded % PAGE_BYTES));
        }
    }

    #[test]
    fn the_lookup_says_the_same_as_the_space() {
        let space = Space::new(
            &[region(0x40_0000, 0x40_0000)],
            std::slice::from_ref(&(0..0x30_0000)),
            Vec::new(),
        );
        let mut lookup = Lookup::default();
        for step in 0..10_000u64 {
            let recorded = step.wrapping_mul(0x9e37_79b9) % 0x90_0000;
            assert_eq!(lookup.simulated(&space, recorded), space.simulated(recorded));
        }
    }
}
