//! Recovery of a segment, and its contents.

use super::bucket::{meta, offset, BUCKET, SLOTS};
use super::{Buckets, STASH};
use crate::maps::{hash_of, set, word};
use std::collections::{BTreeMap, BTreeSet};
use strandline_isa::{Image, LINE_BYTES};

/// The number of a hash's bucket in its segment of `count`.
fn home(hash: u64, count: u64) -> u64 {
    hash >> 8 & (count - 1)
}

/// The slots of a bucket that hold records: number and key.
fn slots(image: &dyn Image, bucket: u64) -> Vec<(u64, u64)> {
    let meta = word(image, bucket + offset::META);
    let used = (0..SLOTS).filter(|slot| meta >> slot & 1 != 0);
    used.map(|slot| (slot, word(image, bucket + offset::RECORDS + 16 * slot)))
        .collect()
}

impl Buckets {
    /// The addresses of a segment's buckets, those of the stash last.
    pub fn addresses(&self, segment: u64) -> Vec<u64> {
        (0..self.count + STASH)
            .map(|index| segment + LINE_BYTES + index * BUCKET)
            .collect()
    }

    /// Whether a bucket of a segment has a lock: more of the stash, behind these, have none.
    fn has_lock(&self, index: u64) -> bool {
        index < self.count + STASH
    }

    /// Drops the records of other segments and second copies, finds out which buckets overflow, and frees the locks.
    pub fn mend(&self, image: &dyn Image, buckets: &[u64], covers: impl Fn(u64) -> bool) {
        let mut seen = BTreeSet::new();
        let mut overflow = BTreeSet::new();
        for (index, bucket) in (0..).zip(buckets) {
            let mut meta = word(image, bucket + offset::META) & !meta::OVERFLOWS;
            for (slot, key) in slots(image, *bucket) {
                let hash = hash_of(key);
                if !covers(hash) || !seen.insert(key) {
                    meta &= !(1 << slot | 1 << (slot + meta::BEFORE_SHIFT));
                } else if index >= self.count {
                    overflow.insert(home(hash, self.count));
                }
            }
            set(image, bucket + offset::META, meta);
            if self.has_lock(index) {
                set(image, bucket + offset::VERSION, 0);
            }
        }
        for index in overflow {
            let at = buckets[index as usize] + offset::META;
            set(image, at, word(image, at) | meta::OVERFLOWS);
        }
    }

    /// Adds all records of a segment, if a search finds each, and each is there once.
    pub fn read(
        &self,
        image: &dyn Image,
        buckets: &[u64],
        covers: impl Fn(u64) -> bool,
        records: &mut BTreeMap<u64, u64>,
    ) -> Result<(), String> {
        for (index, bucket) in (0..).zip(buckets) {
            if self.has_lock(index) && word(image, bucket + offset::VERSION) & 1 != 0 {
                return Err(format!("the lock of the bucket at {bucket:#x} is held"));
            }
            for (slot, key) in slots(image, *bucket) {
                let hash = hash_of(key);
                if !covers(hash) || !self.reaches(image, buckets, (index, slot), hash) {
                    return Err(format!(
                        "no search finds key {key:#x} in slot {slot} of the bucket at {bucket:#x}"
                    ));
                }
                let value = word(image, bucket + offset::RECORDS + 16 * slot + 8);
                if records.insert(key, value).is_some() {
                    return Err(format!("key {key:#x} is there twice"));
                }
            }
        }
        Ok(())
    }

    /// Whether a search in the segment comes to this slot.
    fn reaches(&self, image: &dyn Image, buckets: &[u64], (index, slot): (u64, u64), hash: u64) -> bool {
        let (home, bucket) = (home(hash, self.count), buckets[index as usize]);
        let print = word(image, bucket + offset::FINGERPRINTS + slot / 8 * 8) >> (slot % 8 * 8) & 0xff;
        let is_before = word(image, bucket + offset::META) >> (slot + meta::BEFORE_SHIFT) & 1 != 0;
        let is_there = match index < self.count {
            true => index == (home + u64::from(is_before)) & (self.count - 1),
            false => word(image, buckets[home as usize] + offset::META) & meta::OVERFLOWS != 0,
        };
        is_there && print == hash & 0xff
    }
}
