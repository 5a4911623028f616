//! Recovery of the table, and its contents.

use super::{segment, Cceh, EMPTY, MARK, PAIR};
use crate::maps::{hash_of, set, word};
use std::collections::BTreeMap;
use strandline_isa::{Image, LINE_BYTES};

impl Cceh {
    /// Frees the locks of segments, and the slots that were claimed.
    pub(super) fn free_slots_and_locks(&self, image: &dyn Image) {
        for (at, ..) in self.table.all(image).unwrap_or_default() {
            set(image, at + segment::LOCK, 0);
            for slot in self.slots(at).filter(|slot| word(image, *slot) == MARK) {
                set(image, slot, EMPTY);
            }
        }
    }

    fn slots(&self, segment: u64) -> impl Iterator<Item = u64> {
        let first = segment + LINE_BYTES;
        (first..first + self.bytes()).step_by(PAIR as usize)
    }

    /// All pairs, if each is where a probe finds it, and there once.
    pub(super) fn pairs(&self, image: &dyn Image) -> Result<BTreeMap<u64, u64>, String> {
        let mut pairs = BTreeMap::new();
        for (at, depth, bits) in self.table.all(image)? {
            if word(image, at + segment::LOCK) != 0 {
                return Err(format!("the lock of the segment at {at:#x} is held"));
            }
            for slot in self.slots(at) {
                let key = word(image, slot);
                if key == MARK {
                    return Err(format!("the slot at {slot:#x} is claimed"));
                }
                let hash = hash_of(key);
                if key == EMPTY || hash >> (64 - depth) != bits {
                    continue;
                }
                let home = (hash & (self.lines - 1)) * LINE_BYTES;
                let passed = (slot - at - LINE_BYTES + self.bytes() - home) % self.bytes();
                if passed / PAIR >= self.window() {
                    return Err(format!("no probe finds key {key:#x} in the slot at {slot:#x}"));
                }
                if pairs.insert(key, word(image, slot + 8)).is_some() {
                    return Err(format!("key {key:#x} is there twice"));
                }
            }
        }
        Ok(pairs)
    }
}
