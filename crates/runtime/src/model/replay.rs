//! Redo logs' recovery after a crash.
//!
//! A region is *complete* if its committing entry and all entries that this one counts are durable.
//! Only complete ones can have written in place. A region *survives* if it is complete and its
//! predecessor on its lane and all that it depends on survive. First the other complete regions are
//! undone, newest first, and each is then invalidated. Then the survivors are replayed, oldest
//! first, and settled in that order: a settled one is not replayed again, so a crash in between
//! leaves the newer ones.

use super::entry::{field, Entry, LogEntryKind};
use super::layout::{head, ModelLayout};
use super::rollback::set_head;
use super::scan::Scan;
use crate::{MAX_LANES, TRAILER};
use std::collections::BTreeSet;
use strandline_isa::{Addr, Image};
use strandline_rules::{kept, Rule};

/// A region whose committing entry is in the log.
struct Region {
    lane: usize,
    clock: u64,
    /// The positions of its entries.
    first: u64,
    commit: Entry,
    entries: Vec<Entry>,
}

/// Replays the regions that survive and undoes the others.
pub(crate) fn replay(image: &dyn Image, layout: &ModelLayout) {
    let scans: Vec<Scan> = (0..layout.pm.lanes())
        .map(|lane| Scan::of(image, layout, lane))
        .collect();
    let mut regions: Vec<Region> = Vec::new();
    let mut next = Vec::new();
    for (lane, scan) in scans.iter().enumerate() {
        let settled = image.word(settled(layout, lane));
        let (old, new): (Vec<_>, Vec<_>) = complete(scan, lane)
            .into_iter()
            .partition(|region| region.clock <= settled);
        let behind = old.last().map_or(scan.first, |region| region.commit.position + 1);
        next.push(behind);
        regions.extend(new);
    }
    regions.sort_unstable_by_key(|region| region.clock);
    let survival = survival(image, layout, &regions, next);
    let (survivors, lost): (Vec<_>, Vec<_>) = regions.iter().zip(survival).partition(|(_, survives)| *survives);
    for (region, _) in lost.iter().rev() {
        region.put_back(image);
        region.commit.invalidate(image);
    }
    for (region, _) in &survivors {
        region.apply(image);
    }
    for (region, _) in &survivors {
        image.set_word(settled(layout, region.lane), region.clock);
    }
    // Clocks continue from here, beyond any in a trailer.
    let newest = newest(&survivors).max(newest(&lost));
    for (lane, scan) in scans.iter().enumerate() {
        let settled = settled(layout, lane);
        if image.word(settled) < newest {
            image.set_word(settled, newest);
        }
        set_head(image, layout, lane, scan.end);
    }
}

fn newest(regions: &[(&Region, bool)]) -> u64 {
    let clocks = regions.iter().map(|(region, _)| region.clock);
    clocks.max().unwrap_or_default()
}

fn settled(layout: &ModelLayout, lane: usize) -> Addr {
    Addr(layout.base(lane).0 + head::SETTLED)
}

/// The complete regions in a lane's log.
fn complete(scan: &Scan, lane: usize) -> Vec<Region> {
    let commits = scan
        .entries
        .iter()
        .enumerate()
        .filter(|(_, entry)| entry.valid && entry.is(LogEntryKind::Commit));
    commits
        .filter_map(|(index, commit)| {
            let first = commit.position.checked_sub(commit.count())?;
            let entries: Vec<Entry> = scan.entries[..index]
                .iter()
                .filter(|entry| entry.position >= first)
                .copied()
                .collect();
            let is_whole = entries.len() as u64 == commit.count();
            kept(Rule::ReplayOfWholeRegions, is_whole, || true).then_some(Region {
                lane,
                clock: commit.clock(),
                first,
                commit: *commit,
                entries,
            })
        })
        .collect()
}

/// Whether each region survives; they come in the order of their clocks, which follow
/// happens-before. `next` is where each lane's next region begins.
fn survival(image: &dyn Image, layout: &ModelLayout, regions: &[Region], mut next: Vec<u64>) -> Vec<bool> {
    let mut survivors: BTreeSet<u64> = BTreeSet::new();
    let mut survival = Vec::new();
    for region in regions {
        let in_turn = next[region.lane] == region.first;
        let free = region.dependences().all(|stamp| {
            let lane = (stamp & (MAX_LANES as u64 - 1)) as usize;
            let done = lane < layout.pm.lanes() && image.word(settled(layout, lane)) >= stamp;
            done || survivors.contains(&stamp)
        });
        if in_turn && free {
            next[region.lane] = region.commit.position + 1;
            survivors.insert(region.clock);
        }
        survival.push(kept(Rule::ReplayAwaitsDependences, in_turn && free, || true));
    }
    survival
}

impl Region {
    fn of(&self, kind: LogEntryKind) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.is(kind))
    }

    /// The stamps that it depends on.
    fn dependences(&self) -> impl Iterator<Item = u64> + '_ {
        self.of(LogEntryKind::Depends)
            .flat_map(|entry| entry.body.iter().take(entry.count() as usize).copied())
    }

    /// Its writes: address, new word, old word.
    fn writes(&self) -> impl Iterator<Item = (Addr, u64, u64)> + '_ {
        let words = (field::WRITE_BYTES / 8) as usize;
        self.of(LogEntryKind::Write).flat_map(move |entry| {
            let writes = entry.body.chunks_exact(words).take(entry.count() as usize);
            writes.map(|write| (Addr(write[0]), write[1], write[2]))
        })
    }

    fn apply(&self, image: &dyn Image) {
        self.writes().for_each(|(addr, new, _)| image.set_word(addr, new));
    }

    /// Restores the old words of the lines that the region has written; their trailers then precede
    /// it.
    fn put_back(&self, image: &dyn Image) {
        let trailer = |addr: Addr| Addr(addr.line().addr().0 + TRAILER);
        let written = |addr: Addr| image.word(trailer(addr)) >= self.clock;
        let lines: BTreeSet<Addr> = self
            .writes()
            .filter(|(addr, ..)| written(*addr))
            .map(|(addr, ..)| trailer(addr))
            .collect();
        for (addr, _, old) in self.writes().filter(|(addr, ..)| lines.contains(&trailer(*addr))) {
            image.set_word(addr, old);
        }
        for line in lines {
            image.set_word(line, self.clock - 1);
        }
    }
}
