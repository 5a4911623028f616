//! Recovery of the table, and its contents.

use super::bucket::{meta, offset, BUCKET, SLOTS};
use super::{DashEh, STASH};
use crate::maps::{hash_of, set, word};
use std::collections::{BTreeMap, BTreeSet};
use strandline_isa::{Image, LINE_BYTES};

impl DashEh {
    fn bucket(segment: u64, index: u64) -> u64 {
        segment + LINE_BYTES + index * BUCKET
    }

    /// The slots of a bucket that hold records: number and key.
    fn slots(image: &dyn Image, bucket: u64) -> Vec<(u64, u64)> {
        let meta = word(image, bucket + offset::META);
        let used = (0..SLOTS).filter(|slot| meta >> slot & 1 != 0);
        used.map(|slot| (slot, word(image, bucket + offset::RECORDS + 16 * slot)))
            .collect()
    }

    /// Drops records of the other half and second copies, finds out which buckets overflow, and frees the locks.
    pub(super) fn mend_segments(&self, image: &dyn Image) {
        for (segment, depth, bits) in self.table.all(image).unwrap_or_default() {
            let mut seen = BTreeSet::new();
            let mut overflow = BTreeSet::new();
            for index in 0..self.buckets + STASH {
                let bucket = DashEh::bucket(segment, index);
                let mut meta = word(image, bucket + offset::META) & !meta::OVERFLOWS;
                for (slot, key) in DashEh::slots(image, bucket) {
                    let hash = hash_of(key);
                    if hash >> (64 - depth) != bits || !seen.insert(key) {
                        meta &= !(1 << slot | 1 << (slot + meta::BEFORE_SHIFT));
                    } else if index >= self.buckets {
                        overflow.insert(hash >> 8 & (self.buckets - 1));
                    }
                }
                set(image, bucket + offset::META, meta);
                set(image, bucket + offset::VERSION, 0);
            }
            for index in overflow {
                let at = DashEh::bucket(segment, index) + offset::META;
                set(image, at, word(image, at) | meta::OVERFLOWS);
            }
        }
    }

    /// All records, if a search finds each, and each is there once.
    pub(super) fn records(&self, image: &dyn Image) -> Result<BTreeMap<u64, u64>, String> {
        let mut records = BTreeMap::new();
        for (segment, depth, bits) in self.table.all(image)? {
            for index in 0..self.buckets + STASH {
                let bucket = DashEh::bucket(segment, index);
                if word(image, bucket + offset::VERSION) & 1 != 0 {
                    return Err(format!("the lock of the bucket at {bucket:#x} is held"));
                }
                for (slot, key) in DashEh::slots(image, bucket) {
                    let found = self.reaches(image, (segment, depth, bits), (index, slot), key);
                    if !found {
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
        }
        Ok(records)
    }

    /// Whether a search for a key comes to this slot of a segment.
    fn reaches(
        &self,
        image: &dyn Image,
        (segment, depth, bits): (u64, u64, u64),
        (index, slot): (u64, u64),
        key: u64,
    ) -> bool {
        let (hash, bucket) = (hash_of(key), DashEh::bucket(segment, index));
        let home = hash >> 8 & (self.buckets - 1);
        let print = word(image, bucket + offset::FINGERPRINTS + slot / 8 * 8) >> (slot % 8 * 8) & 0xff;
        let is_before = word(image, bucket + offset::META) >> (slot + meta::BEFORE_SHIFT) & 1 != 0;
        let is_there = match index < self.buckets {
            true => index == (home + u64::from(is_before)) & (self.buckets - 1),
            false => word(image, DashEh::bucket(segment, home) + offset::META) & meta::OVERFLOWS != 0,
        };
        is_there && print == hash & 0xff && hash >> (64 - depth) == bits
    }
}
