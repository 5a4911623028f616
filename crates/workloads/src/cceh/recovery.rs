//! Recovery of the table, and its contents.

use super::{root, segment, Cceh, EMPTY, MARK, PAIR};
use crate::maps::{hash_of, set, word};
use std::collections::BTreeMap;
use strandline_isa::{Image, LINE_BYTES};

/// Bits of a prefix word that hold 64 less the depth.
const SHIFT_BITS: u64 = 8;

/// The prefix word of a segment of this depth, whose keys' hashes begin with `bits`.
pub(super) fn prefix(depth: u64, bits: u64) -> u64 {
    (64 - depth) | bits << SHIFT_BITS
}

/// A directory, as recovery reads it.
struct Directory {
    entries: u64,
    depth: u64,
}

impl Directory {
    fn entry(&self, index: u64) -> u64 {
        self.entries + 8 * index
    }

    fn size(&self) -> u64 {
        1 << self.depth
    }
}

impl Cceh {
    fn current(&self, image: &dyn Image) -> Result<Directory, String> {
        let at = word(image, self.root.0 + root::DIRECTORY);
        let depth = (self.depths.0..=self.depths.1).find(|depth| self.directory(*depth) == at);
        let depth = depth.ok_or_else(|| format!("the root holds {at:#x}, which is no directory"))?;
        let found = word(image, at);
        match found == 64 - depth {
            true => Ok(Directory {
                entries: at + LINE_BYTES,
                depth,
            }),
            false => Err(format!("the directory of depth {depth} holds {found:#x}")),
        }
    }

    /// The depth of a segment, and the bits that its hashes begin with.
    fn depth(&self, image: &dyn Image, segment: u64) -> Result<(u64, u64), String> {
        if self.segments.index_of(segment).is_none() {
            return Err(format!("the directory holds {segment:#x}, which is no segment"));
        }
        let found = word(image, segment + segment::PREFIX);
        let depth = 64_u64.wrapping_sub(found & 0xff);
        match (1..64).contains(&depth) {
            true => Ok((depth, found >> SHIFT_BITS)),
            false => Err(format!("the segment at {segment:#x} holds {found:#x}")),
        }
    }

    /// The segments of a whole directory, each with its depth and bits, from the lowest bits.
    fn segments(&self, image: &dyn Image) -> Result<Vec<(u64, u64, u64)>, String> {
        let directory = self.current(image)?;
        let (mut all, mut index) = (Vec::new(), 0);
        while index < directory.size() {
            let at = word(image, directory.entry(index));
            let (depth, bits) = self.depth(image, at)?;
            if depth > directory.depth || bits != index >> (directory.depth - depth) {
                return Err(format!(
                    "entry {index} of the directory of depth {} points to a segment of depth {depth} with bits {bits:#x}",
                    directory.depth
                ));
            }
            let stride = 1 << (directory.depth - depth);
            if let Some(other) = (index..index + stride).find(|other| word(image, directory.entry(*other)) != at) {
                return Err(format!("entries {index} and {other} of the directory differ"));
            }
            all.push((at, depth, bits));
            index += stride;
        }
        Ok(all)
    }

    /// Completes the splits that have reached the directory.
    pub(super) fn complete_splits(&self, image: &dyn Image) {
        let Ok(directory) = self.current(image) else { return };
        let mut index = 0;
        while index < directory.size() {
            let at = word(image, directory.entry(index));
            let Ok((depth, bits)) = self.depth(image, at) else {
                return;
            };
            if depth > directory.depth {
                return;
            }
            let stride = 1 << (directory.depth - depth);
            let upper = index + stride / 2..index + stride;
            let other = upper.clone().map(|index| word(image, directory.entry(index)));
            let Some(new) = other.into_iter().find(|other| *other != at) else {
                index += stride;
                continue;
            };
            // One depth more each time round, so this ends.
            upper.for_each(|index| set(image, directory.entry(index), new));
            set(image, at + segment::PREFIX, prefix(depth + 1, bits << 1));
        }
    }

    /// Frees the locks, and the slots that were claimed.
    pub(super) fn free_slots_and_locks(&self, image: &dyn Image) {
        set(image, self.root.0 + root::LOCK, 0);
        for (at, ..) in self.segments(image).unwrap_or_default() {
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

    /// The segments that the directory reaches, by number.
    pub(super) fn reached(&self, image: &dyn Image) -> Vec<bool> {
        let mut reached = vec![false; self.segments.rows() as usize];
        for (at, ..) in self.segments(image).unwrap_or_default() {
            if let Some(row) = self.segments.index_of(at) {
                reached[row as usize] = true;
            }
        }
        reached
    }

    /// All pairs, if each is where a probe finds it, and there once.
    pub(super) fn pairs(&self, image: &dyn Image) -> Result<BTreeMap<u64, u64>, String> {
        let mut pairs = BTreeMap::new();
        for (at, depth, bits) in self.segments(image)? {
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
