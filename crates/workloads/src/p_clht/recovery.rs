//! Recovery of the table, and its contents.

use super::{bucket, root, Clht, FREE, SLOTS};
use crate::maps::{hash_of, set, word};
use std::collections::BTreeMap;
use strandline_isa::{Image, LINE_BYTES};

impl Clht {
    /// The current table, and the number of its buckets.
    fn current(&self, image: &dyn Image) -> Result<(u64, u64), String> {
        let at = word(image, self.root.0 + root::TABLE);
        let mut sizes = std::iter::successors(Some(self.sizes.0), |size| Some(2 * size));
        let size = sizes
            .find(|size| self.table(*size) == at || *size > self.sizes.1)
            .filter(|size| *size <= self.sizes.1)
            .ok_or_else(|| format!("the root holds {at:#x}, which is no table"))?;
        match word(image, at) == size - 1 {
            true => Ok((at, size)),
            false => Err(format!("the table of {size} buckets holds {}", word(image, at))),
        }
    }

    /// The buckets of the current table, chain by chain: the number of the chain, and the address.
    fn buckets(&self, image: &dyn Image) -> Result<Vec<(u64, u64)>, String> {
        let (table, size) = self.current(image)?;
        let mut seen = vec![false; self.nodes.rows() as usize];
        let mut all = Vec::new();
        for chain in 0..size {
            let mut at = table + (1 + chain) * LINE_BYTES;
            loop {
                all.push((chain, at));
                at = word(image, at + bucket::NEXT);
                if at == 0 {
                    break;
                }
                let row = self.nodes.index_of(at);
                if row.is_none_or(|row| std::mem::replace(&mut seen[row as usize], true)) {
                    return Err(format!(
                        "chain {chain} goes on at {at:#x}, which is no bucket of it alone"
                    ));
                }
            }
        }
        Ok(all)
    }

    /// Completes an announced resizing, and frees the locks.
    pub(super) fn free_locks(&self, image: &dyn Image) {
        let next = word(image, self.root.0 + root::NEXT);
        if next != 0 {
            set(image, self.root.0 + root::TABLE, next);
        }
        set(image, self.root.0 + root::LOCK, FREE);
        for (_, at) in self.buckets(image).unwrap_or_default() {
            set(image, at + bucket::LOCK, FREE);
        }
    }

    /// The buckets that chains reach, by number.
    pub(super) fn reached(&self, image: &dyn Image) -> Vec<bool> {
        let mut reached = vec![false; self.nodes.rows() as usize];
        for (_, at) in self.buckets(image).unwrap_or_default() {
            if let Some(row) = self.nodes.index_of(at) {
                reached[row as usize] = true;
            }
        }
        reached
    }

    /// All pairs, if each is in its chain, and there once.
    pub(super) fn pairs(&self, image: &dyn Image) -> Result<BTreeMap<u64, u64>, String> {
        let (_, size) = self.current(image)?;
        let mut pairs = BTreeMap::new();
        for (chain, at) in self.buckets(image)? {
            if word(image, at + bucket::LOCK) != FREE {
                return Err(format!("the lock of the bucket at {at:#x} is held"));
            }
            for slot in 0..SLOTS {
                let key = word(image, at + bucket::KEYS + 8 * slot);
                if key == 0 {
                    continue;
                }
                if hash_of(key) & (size - 1) != chain {
                    return Err(format!("key {key:#x} is in chain {chain}, where no search finds it"));
                }
                if pairs.insert(key, word(image, at + bucket::VALUES + 8 * slot)).is_some() {
                    return Err(format!("key {key:#x} is there twice"));
                }
            }
        }
        Ok(pairs)
    }
}
