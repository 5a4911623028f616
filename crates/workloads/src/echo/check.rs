//! The invariant of the store, and what recovery reads of it.

use super::{batch, key, version, Echo, STAMP_SHIFT};
use crate::maps::{hash_of, is_value_of, word};
use std::collections::{BTreeMap, BTreeSet};
use strandline_isa::{Addr, Image};

/// A merged version as it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundVersion {
    pub at: u64,
    pub stamp: u64,
    /// The first word of its value.
    pub value: u64,
}

/// What a walk through the table has found.
#[derive(Default)]
pub(super) struct Table {
    /// The lines of the keys.
    lines: BTreeSet<u64>,
    /// The versions of each key, the newest first.
    pub keys: BTreeMap<u64, Vec<FoundVersion>>,
}

impl Table {
    /// The merged versions, and their timestamps.
    fn versions(&self) -> BTreeMap<u64, u64> {
        let all = self.keys.values().flatten();
        all.map(|found| (found.at, found.stamp)).collect()
    }
}

impl Echo {
    /// Reads the table. A key whose first version is about to be merged has none.
    pub(super) fn table(&self, image: &dyn Image) -> Result<Table, String> {
        let mut table = Table::default();
        let mut versions = BTreeSet::new();
        for chain in 0..self.bucket_count {
            let mut at = word(image, self.buckets.0 + 8 * chain);
            while at != 0 {
                if self.key_lines.index_of(at).is_none() || !table.lines.insert(at) {
                    return Err(format!("chain {chain} has {}, which is no key of it alone", Addr(at)));
                }
                let key = word(image, at + key::KEY);
                if ((u128::from(hash_of(key)) * u128::from(self.bucket_count)) >> 64) as u64 != chain {
                    return Err(format!("key {key:#x} is in chain {chain}, not in its own"));
                }
                let list = self.list(image, key, word(image, at + key::HEAD), &mut versions)?;
                if table.keys.insert(key, list).is_some() {
                    return Err(format!("key {key:#x} is there twice"));
                }
                at = word(image, at + key::NEXT);
            }
        }
        Ok(table)
    }

    /// The versions of a key's list.
    fn list(
        &self,
        image: &dyn Image,
        key: u64,
        head: u64,
        seen: &mut BTreeSet<u64>,
    ) -> Result<Vec<FoundVersion>, String> {
        let mut list: Vec<FoundVersion> = Vec::new();
        let mut at = head;
        while at != 0 {
            if self.versions.index_of(at).is_none() || !seen.insert(at) {
                return Err(format!(
                    "key {key:#x} has the version {}, which is none of it alone",
                    Addr(at)
                ));
            }
            let (stamp, value) = (word(image, at + version::STAMP), word(image, at + version::VALUE));
            let whole =
                (1..self.value_words).all(|i| word(image, at + version::VALUE + 8 * i) == value.wrapping_add(i));
            if word(image, at + version::KEY) != key || !is_value_of(key, value) || !whole {
                return Err(format!(
                    "key {key:#x} has {value:#x} and what follows, which is no value of it"
                ));
            }
            if stamp == 0 || list.last().is_some_and(|newer| newer.stamp <= stamp) {
                return Err(format!("key {key:#x} has a version of {stamp:#x} behind a newer one"));
            }
            list.push(FoundVersion { at, stamp, value });
            at = word(image, at + version::OLDER);
        }
        Ok(list)
    }

    /// How many entries of a batch are submitted, and its timestamp.
    fn state(&self, image: &dyn Image, lane: u64) -> (u64, u64) {
        let at = self.batches.addr(lane).0;
        (word(image, at + batch::STATE), word(image, at + batch::STAMP))
    }

    /// The versions of a submitted batch.
    fn entries(&self, image: &dyn Image, lane: u64) -> impl Iterator<Item = u64> + use<'_> {
        let count = self.state(image, lane).0.min(self.batch);
        let first = self.batches.addr(lane).0 + batch::ENTRIES;
        let entries: Vec<u64> = (0..count).map(|i| word(image, first + 8 * i)).collect();
        entries.into_iter()
    }

    /// The addresses of the submitted batches, in the order in which they are to be merged.
    ///
    /// # Errors
    /// The table or a batch is not what a crash leaves.
    pub(super) fn submitted(&self, image: &dyn Image) -> Result<Vec<u64>, String> {
        let merged = self.table(image)?.versions();
        let mut seen = BTreeSet::new();
        let mut submitted = Vec::new();
        for lane in 0..self.lane_count {
            let (count, stamp) = self.state(image, lane);
            if count == 0 {
                continue;
            }
            if count > self.batch || stamp > word(image, self.master.0).saturating_add(1) {
                return Err(format!("batch {lane} says {count} entries at {stamp:#x}"));
            }
            for (i, entry) in (0..).zip(self.entries(image, lane)) {
                let own = (stamp << STAMP_SHIFT) + i;
                let linked = merged.get(&entry).is_some_and(|found| *found != own || stamp == 0);
                if self.versions.index_of(entry).is_none() || !seen.insert(entry) || linked {
                    return Err(format!(
                        "batch {lane} has {}, which is no version of it alone",
                        Addr(entry)
                    ));
                }
            }
            submitted.push((stamp == 0, lane));
        }
        submitted.sort_unstable();
        Ok(submitted
            .into_iter()
            .map(|(_, lane)| self.batches.addr(lane).0)
            .collect())
    }

    /// The lines and versions that the table and the submitted batches have.
    pub(super) fn used(&self, image: &dyn Image) -> Result<BTreeSet<u64>, String> {
        let table = self.table(image)?;
        let mut used: BTreeSet<u64> = table.versions().into_keys().chain(table.lines).collect();
        (0..self.lane_count).for_each(|lane| used.extend(self.entries(image, lane)));
        Ok(used)
    }

    pub(super) fn check_store(&self, image: &dyn Image) -> Result<(), String> {
        let merged = word(image, self.master.0);
        for (key, list) in self.table(image)?.keys {
            let Some(newest) = list.first() else {
                return Err(format!("key {key:#x} has no version"));
            };
            if newest.stamp >> STAMP_SHIFT > merged {
                let stamp = newest.stamp >> STAMP_SHIFT;
                return Err(format!(
                    "key {key:#x} has a version of batch {stamp:#x}; batches up to {merged:#x} are merged"
                ));
            }
            if list.len() as u64 > self.kept {
                return Err(format!("key {key:#x} has {} versions", list.len()));
            }
        }
        match (0..self.lane_count).find(|lane| self.state(image, *lane).0 != 0) {
            Some(lane) => Err(format!("batch {lane} is still submitted")),
            None => Ok(()),
        }
    }

    /// The newest value of each key.
    pub(super) fn newest(&self, image: &dyn Image) -> BTreeMap<u64, u64> {
        let keys = self.table(image).unwrap_or_default().keys.into_iter();
        keys.filter_map(|(key, list)| Some((key, list.first()?.value)))
            .collect()
    }
}
