//! A core's translation of data addresses: two levels of TLB, and what walks of the page tables need.
//!
//! Virtual and physical addresses are equal: only the time of a translation is modelled. Stores, flushes and locked
//! instructions translate where they execute, as loads do; what drains from the store queue has been translated.

mod entries;
pub mod tables;
mod walkers;

use super::{Core, Request};
use crate::config;
use entries::Entries;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use strandline_isa::{Addr, Line, LINE_BYTES};
use walkers::Walkers;

/// The translation of one core.
#[derive(Clone)]
pub struct Tlb {
    page_bits: u32,
    /// The page of the latest access, and when its translation arrives.
    latest: Cell<(u64, u64)>,
    /// `None`: addresses are not translated.
    levels: Option<Box<RefCell<Levels>>>,
    /// What it counts.
    pub counts: Counts,
}

/// Counts of a core's translations.
#[derive(Clone, Default)]
pub struct Counts {
    /// Accesses that missed in the first level.
    pub misses: Cell<u64>,
    /// Page walks.
    pub walks: Cell<u64>,
    /// Their loads of table entries.
    pub loads: Cell<u64>,
    /// Their cycles, from the misses on.
    pub cycles: Cell<u64>,
}

#[derive(Clone)]
struct Levels {
    first: Entries,
    second: Option<Entries>,
    second_latency: u64,
    /// Entries of the tables of all levels but the last.
    upper: Option<Entries>,
    table_levels: u32,
    walkers: Walkers,
}

/// The level that has a translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    First,
    Second { latency: u64 },
}

/// A page walk that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// The page whose translation is wanted.
    pub page: u64,
    /// When the first load is issued.
    pub at: u64,
    /// The loads that it needs: of the tables of so many levels, the uppermost first.
    pub levels: u32,
}

/// The page number of an access if nothing is translated has no bits.
const UNTRANSLATED: u32 = 63;

impl Tlb {
    /// That of a core without translations yet.
    pub fn new(tlb: &config::Tlb) -> Tlb {
        let levels = Entries::new(tlb.l1_entries, tlb.l1_ways).map(|first| {
            Box::new(RefCell::new(Levels {
                first,
                second: Entries::new(tlb.l2_entries, tlb.l2_ways),
                second_latency: tlb.l2_latency.0,
                upper: Entries::new(tlb.walk_cache_entries, tlb.walk_cache_entries),
                table_levels: tlb.walk_levels as u32,
                walkers: Walkers::new(tlb.walkers),
            }))
        });
        let (page_bits, page) = match levels {
            Some(_) => (tlb.page_bytes.trailing_zeros(), u64::MAX),
            None => (UNTRANSLATED, 0),
        };
        Tlb {
            page_bits,
            latest: Cell::new((page, 0)),
            levels,
            counts: Counts::default(),
        }
    }

    /// Begins with the translations of another core, all of which have arrived. Its counts are its own.
    pub fn begin_with(&self, other: Tlb) {
        self.latest.set(other.latest.get());
        if let (Some(mine), Some(theirs)) = (&self.levels, other.levels) {
            let (mine, theirs) = (&mut *mine.borrow_mut(), theirs.into_inner());
            (mine.first, mine.second, mine.upper) = (theirs.first, theirs.second, theirs.upper);
        }
    }

    /// The lines of these addresses, those of a page behind the table entries that a walk for it loads.
    pub fn lines_with_entries(&self, addresses: Range<u64>) -> impl Iterator<Item = Line> + '_ {
        let mut page_before = u64::MAX;
        let lines = addresses.start / LINE_BYTES..addresses.end.div_ceil(LINE_BYTES);
        lines.flat_map(move |line| {
            let addr = Line(line).addr();
            let page = std::mem::replace(&mut page_before, self.page(addr));
            let entries = (page != page_before).then(|| self.table_lines(addr));
            entries.into_iter().flatten().chain([Line(line)])
        })
    }

    /// The lines of the table entries that a walk for this address loads, the uppermost first; none without
    /// translation.
    fn table_lines(&self, addr: Addr) -> impl Iterator<Item = Line> {
        let levels = self.levels.as_ref().map_or(0, |levels| levels.borrow().table_levels);
        let page = self.page(addr);
        (0..levels).rev().map(move |level| tables::line(page, level))
    }

    #[inline(always)]
    fn page(&self, addr: Addr) -> u64 {
        addr.0 >> self.page_bits
    }

    /// Whether it has the translation of an address, which is the latest used from here on.
    #[inline(always)]
    pub fn has(&self, addr: Addr) -> bool {
        let page = self.page(addr);
        page == self.latest.get().0 || self.find(page).is_some()
    }

    /// When the translation of a page arrives, and the level that has it; `None` if neither level does.
    fn find(&self, page: u64) -> Option<(u64, Level)> {
        let Some(levels) = &self.levels else {
            return Some((0, Level::First));
        };
        let (ready, level) = levels.borrow_mut().find(page)?;
        self.latest.set((page, ready));
        if level != Level::First {
            count(&self.counts.misses, 1);
        }
        Some((ready, level))
    }

    /// Begins the walk for an address that misses at `issue`; the core has dispatched up to `now`.
    pub fn begin_walk(&self, addr: Addr, issue: u64, now: u64) -> Option<Walk> {
        let levels = &mut *self.levels.as_ref()?.borrow_mut();
        let page = self.page(addr);
        count(&self.counts.misses, 1);
        count(&self.counts.walks, 1);
        let start = levels.walkers.start(issue, now);
        let (below, known) = levels.nearest(page);
        Some(Walk {
            page,
            at: start.max(known),
            levels: below,
        })
    }

    /// A walk has loaded the entry of a level at `at`.
    pub fn loaded(&self, walk: &Walk, level: u32, at: u64) {
        count(&self.counts.loads, 1);
        let Some(levels) = &self.levels else { return };
        if let Some(upper) = levels.borrow_mut().upper.as_mut().filter(|_| level > 0) {
            upper.insert(upper_key(walk.page, level), at);
        }
    }

    /// A walk for a miss at `issue` ends at `done`: the TLB has the translation.
    pub fn end_walk(&self, walk: &Walk, issue: u64, done: u64) {
        count(&self.counts.cycles, done - issue);
        let Some(levels) = &self.levels else { return };
        let levels = &mut *levels.borrow_mut();
        levels.walkers.keep(walk.at, done);
        levels.first.insert(walk.page, done);
        if let Some(second) = &mut levels.second {
            second.insert(walk.page, done);
        }
    }
}

impl Levels {
    /// The level of the lowest table entry above the last level that is cached, and when it arrives; else the number of
    /// levels.
    fn nearest(&mut self, page: u64) -> (u32, u64) {
        let found = self.upper.as_mut().and_then(|upper| {
            let mut known =
                (1..self.table_levels).filter_map(|level| Some((level, upper.find(upper_key(page, level))?)));
            known.next()
        });
        found.unwrap_or((self.table_levels, 0))
    }

    /// When the translation of a page arrives, and the level that has it; `None` if neither level does.
    fn find(&mut self, page: u64) -> Option<(u64, Level)> {
        if let Some(ready) = self.first.find(page) {
            return Some((ready, Level::First));
        }
        let ready = self.second.as_mut()?.find(page)?;
        self.first.insert(page, ready);
        let latency = self.second_latency;
        Some((ready, Level::Second { latency }))
    }
}

/// The key of a table entry above the last level.
fn upper_key(page: u64, level: u32) -> u64 {
    u64::from(level) << 60 | tables::index(page, level)
}

fn count(counted: &Cell<u64>, more: u64) {
    counted.set(counted.get() + more);
}

impl Core {
    /// When an access to `addr` that would issue at `issue` does, once its address is translated; or the walk that it
    /// needs, after which it asks again.
    #[inline(always)]
    pub(super) fn translate(&self, addr: Addr, issue: u64) -> Result<u64, Request> {
        let (page, ready) = self.tlb.latest.get();
        match self.tlb.page(addr) == page {
            true => Ok(issue.max(ready)),
            false => self.look_up_page(addr, issue),
        }
    }

    #[inline(never)]
    fn look_up_page(&self, addr: Addr, issue: u64) -> Result<u64, Request> {
        let found = self.tlb.find(self.tlb.page(addr));
        if !matches!(found, Some((_, Level::First))) {
            self.disturbs_laps();
        }
        match found {
            None => Err(Request::Walk { addr, issue }),
            Some((ready, Level::First)) => Ok(issue.max(ready)),
            Some((ready, Level::Second { latency })) => Ok(issue.max(ready) + latency),
        }
    }
}
