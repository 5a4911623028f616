//! Recovery of the table, and its contents.

use super::directory::{HASH_SHIFT, ROUND_SHIFT};
use super::{segment, DashLh};
use crate::dash::bucket::offset;
use crate::maps::{set, word};
use std::collections::BTreeMap;
use strandline_isa::Image;

/// A segment that is whole.
#[derive(Clone, Copy)]
struct Whole {
    number: u64,
    at: u64,
    mask: u64,
}

impl Whole {
    fn covers(&self, hash: u64) -> bool {
        ((hash >> HASH_SHIFT) ^ self.number) & self.mask == 0
    }
}

impl DashLh {
    /// How many segments there are: those of the round, and as many as Next says.
    fn size(&self, image: &dyn Image) -> Result<u64, String> {
        let found = word(image, self.directory.root());
        let (round, next) = (found >> ROUND_SHIFT, found & ((1 << ROUND_SHIFT) - 1));
        let is_right = round >= self.directory.depth() && round < 32 && next < 1 << round;
        match is_right.then(|| (1 << round) + next) {
            Some(size) if size <= self.directory.room() => Ok(size),
            _ => Err(format!("round {round} with Next {next}: there are no such segments")),
        }
    }

    /// The address of a segment.
    fn segment(&self, image: &dyn Image, number: u64) -> Result<u64, String> {
        let (array, index) = self.directory.place(number);
        let (found, expected) = (word(image, self.directory.entry(array)), self.directory.array(array));
        match found == expected {
            true => Ok(expected + index * self.buckets.bytes()),
            false => Err(format!("entry {array} of the directory holds {found:#x}")),
        }
    }

    /// A segment's mask; 0 if it is not whole.
    fn mask(&self, image: &dyn Image, number: u64) -> Result<u64, String> {
        let mask = word(image, self.segment(image, number)? + segment::MASK);
        let is_right = (mask & (mask + 1)) == 0 && mask < 1 << 32 && (mask == 0 || mask >= number);
        match is_right {
            true => Ok(mask),
            false => Err(format!("segment {number} holds {mask:#x}")),
        }
    }

    /// The whole segments, if they have all hashes, each once.
    fn all(&self, image: &dyn Image) -> Result<Vec<Whole>, String> {
        let size = self.size(image)?;
        let mut all = Vec::new();
        for number in 0..size {
            let mask = self.mask(image, number)?;
            let is_whole = match number >> self.directory.depth() {
                0 => true,
                _ => {
                    let bit = 1 << number.ilog2();
                    self.mask(image, number - bit)? & bit != 0
                }
            };
            if is_whole != (mask != 0) {
                return Err(format!(
                    "segment {number} has mask {mask:#x}, but the one that it is split from has another"
                ));
            }
            // The last one that it was split into.
            let last = number + mask.div_ceil(2);
            if last >= size && last >> self.directory.depth() != 0 && mask >> 1 >= number && mask != 0 {
                return Err(format!("segment {number} was split into {last}, of {size} segments"));
            }
            if mask != 0 {
                let at = self.segment(image, number)?;
                all.push(Whole { number, at, mask });
            }
        }
        Ok(all)
    }

    /// The buckets of a segment, those of its chain last. `seen`: the buckets of other chains, by number.
    fn chained(&self, image: &dyn Image, at: u64, seen: &mut [bool]) -> Result<Vec<u64>, String> {
        let mut all = self.buckets.addresses(at);
        let mut next = word(image, at + segment::CHAIN);
        while next != 0 {
            let row = self.pool.index_of(next);
            if row.is_none_or(|row| std::mem::replace(&mut seen[row as usize], true)) {
                return Err(format!(
                    "the chain of the segment at {at:#x} goes on at {next:#x}, which is no bucket of it alone"
                ));
            }
            all.push(next);
            next = word(image, next + offset::NEXT);
        }
        Ok(all)
    }

    fn unseen(&self) -> Vec<bool> {
        vec![false; self.pool.rows() as usize]
    }

    /// Completes the splits whose new segment is whole, drops what segments have twice or have lost, and frees the locks.
    pub(super) fn mend_segments(&self, image: &dyn Image) {
        self.directory.clear_marks(image);
        for number in 0..self.size(image).unwrap_or(0) {
            self.complete_splits(image, number);
        }
        let mut seen = self.unseen();
        for whole in self.all(image).unwrap_or_default() {
            if let Ok(buckets) = self.chained(image, whole.at, &mut seen) {
                self.buckets.mend(image, &buckets, |hash| whole.covers(hash));
            }
        }
    }

    /// Has a segment's mask say which new segments are whole.
    fn complete_splits(&self, image: &dyn Image, number: u64) {
        // The mask grows each time round, so this ends.
        while let (Ok(at), Ok(mask)) = (self.segment(image, number), self.mask(image, number)) {
            let new = number + mask + 1;
            let is_whole = new < self.size(image).unwrap_or(0) && self.mask(image, new).is_ok_and(|mask| mask != 0);
            if mask == 0 || !is_whole {
                return;
            }
            set(image, at + segment::MASK, 2 * mask + 1);
        }
    }

    /// The stash buckets that chains reach, by number.
    pub(super) fn reached(&self, image: &dyn Image) -> Vec<bool> {
        let mut seen = self.unseen();
        for whole in self.all(image).unwrap_or_default() {
            // What is no chain any more ends where it is cut.
            _ = self.chained(image, whole.at, &mut seen);
        }
        seen
    }

    /// All records, if a search finds each, and each is there once.
    pub(super) fn records(&self, image: &dyn Image) -> Result<BTreeMap<u64, u64>, String> {
        let (mut records, mut seen) = (BTreeMap::new(), self.unseen());
        for whole in self.all(image)? {
            let buckets = self.chained(image, whole.at, &mut seen)?;
            self.buckets
                .read(image, &buckets, |hash| whole.covers(hash), &mut records)?;
        }
        Ok(records)
    }
}
