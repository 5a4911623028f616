//! The invariant of the list.

use super::list::{link, node, LEVELS};
use super::SkipList;
use std::collections::BTreeMap;
use strandline_isa::{Addr, Image};

impl SkipList {
    /// Passes the nodes of a level to `visit`: address, number and key. Keys that ascend exclude a circle.
    fn walk(
        &self,
        image: &dyn Image,
        level: u64,
        mut visit: impl FnMut(u64, u64, u64) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut last = 0;
        let mut at = image.word(Addr(self.head.addr(0).0 + link(level)));
        while at != 0 {
            let Some(index) = self.nodes.index_of(at) else {
                return Err(format!("level {level} links to {}, which is no node", Addr(at)));
            };
            let key = image.word(Addr(at + node::KEY));
            if key <= last || key > self.keys {
                return Err(format!("level {level} has key {key} behind {last}"));
            }
            visit(at, index, key)?;
            last = key;
            at = image.word(Addr(at + link(level)));
        }
        Ok(())
    }

    /// The nodes in the list, by number; also checks levels and elements.
    pub(super) fn reachable(&self, image: &dyn Image) -> Result<Vec<bool>, String> {
        let mut levels = vec![0; self.nodes.rows() as usize];
        for level in 0..LEVELS {
            self.walk(image, level, |at, index, key| {
                if levels[index as usize] != level {
                    return Err(format!("level {level} has key {key}, which a lower level lacks"));
                }
                levels[index as usize] += 1;
                if level == 0 {
                    let value = self.elements.check(image, at)?;
                    if !SkipList::is_of(key, value) {
                        return Err(format!("key {key} has {value:#x}, which is no value of it"));
                    }
                }
                Ok(())
            })?;
        }
        Ok(levels.iter().map(|levels| *levels > 0).collect())
    }

    /// The keys and their values.
    pub(super) fn values(&self, image: &dyn Image) -> Result<BTreeMap<u64, u64>, String> {
        let mut values = BTreeMap::new();
        self.walk(image, 0, |at, _, key| {
            values.insert(key, self.elements.check(image, at)?);
            Ok(())
        })?;
        Ok(values)
    }
}
