//! The directory of extendible hashing: the leading bits of a hash choose a segment.
//!
//! A segment's first word says how many bits all its keys share, and which. So a directory and its segments are checked
//! against each other, and a split that has reached the directory is completed after a crash.

use crate::maps::{flush_lines, set, word};
use std::ops::Range;
use strandline_isa::{sites, Addr, Cond, Cpu, Image, Intent, LINE_BYTES, W};
use strandline_kernel::{ParamError, Params};
use strandline_runtime::{Heap, Rows};

sites! {
    SEGMENT_MATCHES = 0x17fb_0b25;
    DIRECTORY_IS_DEEPER = 0xb03f_eb6d;
    MORE_ENTRIES = 0x580e_f9be;
    MORE_OLD_ENTRIES = 0x3735_8118;
    ENTRY_IS_SPLIT = 0xfebd_fec0;
    DIRECTORY_IS_DEEPEST = 0xadab_480a;
    MORE_LINES = 0x72f4_23d6;
}

/// Offsets in the root's line.
mod root {
    /// The directory's address.
    pub const DIRECTORY: u64 = 0;
    /// The lock of those who change the directory.
    pub const LOCK: u64 = 8;
}

/// Bytes of a directory of this depth, which has lines of its own.
fn directory_bytes(depth: u64) -> u64 {
    LINE_BYTES + (8u64 << depth).next_multiple_of(LINE_BYTES)
}

/// Bits of a prefix word that hold 64 less the depth.
const SHIFT_BITS: u64 = 8;

/// The prefix word of a segment of this depth, whose keys' hashes begin with `bits`.
fn prefix(depth: u64, bits: u64) -> u64 {
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

/// A segment that a thread works on.
pub(crate) struct Open<'c, C: Cpu> {
    pub segment: W<'c, C>,
    /// 64 less its depth, in the lowest byte; above it the hash bits that all its keys share.
    pub prefix: W<'c, C>,
}

impl<'c, C: Cpu> Open<'c, C> {
    /// Whether a hash has the segment's prefix.
    pub fn covers(&self, hash: W<'c, C>) -> Cond<'c, C> {
        (hash >> (self.prefix & 0xff)).equals(self.prefix >> SHIFT_BITS)
    }

    /// What the segment is split into: the shift of both halves, and the prefix words of the lower and the upper one.
    pub fn halves(&self) -> (W<'c, C>, W<'c, C>, W<'c, C>) {
        // One bit more of the hash: the shift is one less.
        let (shift, bits) = ((self.prefix & 0xff) - 1, self.prefix >> SHIFT_BITS);
        let lower = shift | (bits << (SHIFT_BITS + 1));
        let upper = shift | (((bits << 1) + 1) << SHIFT_BITS);
        (shift, lower, upper)
    }
}

/// A root, directories of all depths, and the segments.
pub(crate) struct Extendible {
    root: Addr,
    /// Directories of all depths, each behind a line with 64 less its depth.
    directories: Addr,
    /// The first and the last depth.
    depths: (u64, u64),
    pub segments: Rows,
}

impl Extendible {
    /// Allocates `workload.segments` segments of `bytes` bytes, and directories from `workload.depth` on.
    ///
    /// # Errors
    /// If there are fewer segments than the first directory has entries.
    pub fn lay_out(heap: &mut Heap, params: &Params, bytes: u64) -> Result<Extendible, ParamError> {
        let (depth, rows) = (params.get("depth"), params.get("segments"));
        if rows < 1 << depth {
            return Err(ParamError(format!(
                "workload.segments={rows} with workload.depth={depth}: there are {} segments at first",
                1u64 << depth
            )));
        }
        let segments = heap.rows(rows, bytes, rows / 16 + 1);
        // Segments of one prefix are few: a directory of four entries a segment is never needed.
        let deepest = u64::from(rows.next_power_of_two().trailing_zeros()) + 2;
        let entries: u64 = (depth..=deepest).map(directory_bytes).sum();
        Ok(Extendible {
            root: heap.pm(LINE_BYTES),
            directories: heap.pm_of_which(entries, entries / 2),
            depths: (depth, deepest),
            segments,
        })
    }

    /// Has the first directory point to the first segments.
    pub fn format(&self, image: &dyn Image) {
        let (depth, _) = self.depths;
        let directory = self.directory(depth);
        for index in 0..1u64 << depth {
            let at = self.segments.addr(index).0;
            set(image, at, prefix(depth, index));
            set(image, directory + LINE_BYTES + 8 * index, at);
        }
        set(image, directory, 64 - depth);
        set(image, self.root.0 + root::DIRECTORY, directory);
    }

    /// The lock of those who change the directory.
    pub fn lock(&self) -> u64 {
        self.root.0 + root::LOCK
    }

    /// The address of the directory of a depth.
    pub fn directory(&self, depth: u64) -> u64 {
        let before: u64 = (self.depths.0..depth).map(directory_bytes).sum();
        self.directories.0 + before
    }

    /// The segment that a hash has in the directory.
    pub fn open<'c, C: Cpu>(&self, cpu: &'c C, hash: W<'c, C>) -> Open<'c, C> {
        let _call = cpu.call(1);
        loop {
            let directory = cpu.word(self.root.0 + root::DIRECTORY).load();
            let shift = directory.load();
            let segment = (directory + ((hash >> shift) << 3)).at(LINE_BYTES).load();
            let prefix = segment.load();
            let open = Open { segment, prefix };
            if open.covers(hash).branch(SEGMENT_MATCHES) {
                return open;
            }
            cpu.give_way();
            cpu.spins();
        }
    }

    /// Has the directory point to a new segment with this prefix and shift; false if it cannot double. Its lock is held.
    pub fn enter<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        old: W<'c, C>,
        new: W<'c, C>,
        (prefix, shift): (W<'c, C>, W<'c, C>),
    ) -> bool {
        let _call = cpu.call(2);
        let directory = cpu.word(self.root.0 + root::DIRECTORY).load();
        let own = directory.load();
        if shift.less(own).branch(DIRECTORY_IS_DEEPER) {
            return self.double(cpu, (directory, own), old, new);
        }
        // The segment's part of the directory: one entry for each value of the bits that it does not look at.
        let below = shift - own;
        let first = (directory + ((prefix << below) << 3)).at(LINE_BYTES);
        let end = first + (cpu.word(8) << below);
        let mut entry = first;
        while entry.less(end).branch(MORE_ENTRIES) {
            entry.store(new);
            entry = entry + 8;
        }
        let mut line = first & !(LINE_BYTES - 1);
        while line.less(end).branch(MORE_LINES) {
            line.flush();
            line = line + LINE_BYTES;
        }
        true
    }

    /// Replaces the directory by one of twice the size, in which a segment has given the upper half of its hashes to a new
    /// one.
    fn double<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        (directory, shift): (W<'c, C>, W<'c, C>),
        old: W<'c, C>,
        new: W<'c, C>,
    ) -> bool {
        let _call = cpu.call(2);
        let depth = 64 - shift.bits();
        if shift.is(64 - self.depths.1).branch(DIRECTORY_IS_DEEPEST) {
            return false;
        }
        let next = cpu.word(self.directory(depth + 1));
        next.store(shift - 1);
        let (mut from, mut to) = (directory.at(LINE_BYTES), next.at(LINE_BYTES));
        let end = from + (cpu.word(8) << (64 - shift.bits()));
        while from.less(end).branch(MORE_OLD_ENTRIES) {
            let entry = from.load();
            to.store(entry);
            let upper = match entry.equals(old).branch(ENTRY_IS_SPLIT) {
                true => new,
                false => entry,
            };
            to.at(8).store(upper);
            (from, to) = (from + 8, to + 16);
        }
        flush_lines(next, directory_bytes(depth + 1));
        cpu.intent(Intent::Order);
        let root = cpu.word(self.root.0);
        root.at(root::DIRECTORY).store(next);
        root.flush();
        true
    }

    /// The directory that the root points to.
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
        let found = word(image, segment);
        let depth = 64_u64.wrapping_sub(found & 0xff);
        match (1..64).contains(&depth) {
            true => Ok((depth, found >> SHIFT_BITS)),
            false => Err(format!("the segment at {segment:#x} holds {found:#x}")),
        }
    }

    /// The segments of a whole directory, each with its depth and bits, from the lowest bits.
    pub fn all(&self, image: &dyn Image) -> Result<Vec<(u64, u64, u64)>, String> {
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

    /// Completes the splits that have reached the directory, and frees its lock.
    pub fn complete_splits(&self, image: &dyn Image) {
        set(image, self.lock(), 0);
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
            set(image, at, prefix(depth + 1, bits << 1));
        }
    }

    /// The segments that the directory reaches, by number.
    pub fn reached(&self, image: &dyn Image) -> Vec<bool> {
        let mut reached = vec![false; self.segments.rows() as usize];
        for (at, ..) in self.all(image).unwrap_or_default() {
            if let Some(row) = self.segments.index_of(at) {
                reached[row as usize] = true;
            }
        }
        reached
    }

    /// What operations use repeatedly, most useful last; not the segments.
    pub fn footprint(&self) -> [Range<u64>; 2] {
        let directory = self.directory(self.depths.0);
        [
            directory..directory + directory_bytes(self.depths.0),
            self.root.0..self.root.0 + LINE_BYTES,
        ]
    }
}
