//! The directory of linear hashing: the word of Next, and arrays of segments that double in size.

use super::segment;
use crate::dash::LOW_BITS;
use crate::maps::set;
use std::ops::Range;
use strandline_isa::{sites, Addr, Cond, Cpu, Image, Intent, Primitive, LINE_BYTES, W};
use strandline_kernel::{ParamError, Params};
use strandline_runtime::{Heap, Rows};

sites! {
    TURN_HAS_BEEN = 0xb1e8_15a5;
    IS_NOT_WHOLE = 0x0389_764f;
    NO_ROOM_IS_LEFT = 0x171b_ddff;
    ROUND_ENDS = 0x9686_fd0b;
    NEXT_IS_ADVANCED = 0xf42f_d0a9;
    NEXT_STAYED = 0x5e3b_0315;
    ARRAY_IS_RESERVED = 0xb74d_3170;
    ARRAY_IS_MISSING = 0x195d_e1a4;
    RESERVES_ARRAY = 0xb36b_0c95;
}

/// The bits of a hash that choose a segment.
pub(super) const HASH_SHIFT: u64 = LOW_BITS;

/// The round is in the upper half of its word, Next in the lower one.
pub(super) const ROUND_SHIFT: u64 = 32;
const NEXT: u64 = (1 << ROUND_SHIFT) - 1;

/// Set in the directory's entry while its array is not durable there.
const RESERVED: u64 = 1;

/// A segment that a thread works on.
pub(super) struct Open<'c, C: Cpu> {
    pub segment: W<'c, C>,
    pub number: W<'c, C>,
    /// The bits that hashes share with the number; 0 if it is not whole.
    pub mask: W<'c, C>,
}

impl<'c, C: Cpu> Open<'c, C> {
    /// Whether a hash is the segment's.
    pub fn covers(&self, hash: W<'c, C>) -> Cond<'c, C> {
        (((hash >> HASH_SHIFT) ^ self.number) & self.mask).is(0)
    }
}

/// The word of Next, the directory and the segments.
pub(super) struct Directory {
    /// A line with the word of Next; behind it the addresses of the arrays.
    root: Addr,
    /// Bits of the numbers of the first segments, of which the first array consists.
    depth: u64,
    /// Arrays of one size, as a shift.
    stride: u64,
    segments: Rows,
    /// Bytes of a segment.
    bytes: u64,
}

impl Directory {
    /// Allocates `workload.segments` segments of `bytes` bytes, and the directory.
    ///
    /// # Errors
    /// If there are fewer segments than the first array has.
    pub fn lay_out(heap: &mut Heap, params: &Params, bytes: u64) -> Result<Directory, ParamError> {
        let (depth, rows) = (params.get("depth"), params.get("segments"));
        if rows < 1 << depth {
            return Err(ParamError(format!(
                "workload.segments={rows} with workload.depth={depth}: there are {} segments at first",
                1u64 << depth
            )));
        }
        let mut directory = Directory {
            root: Addr(0),
            depth,
            stride: u64::from(params.get("stride").next_power_of_two().trailing_zeros()),
            segments: heap.rows(rows, bytes, rows / 16 + 1),
            bytes,
        };
        directory.root = heap.pm(LINE_BYTES + 8 * directory.arrays());
        Ok(directory)
    }

    /// Makes the first segments whole, and round and Next those of the beginning.
    pub fn format(&self, image: &dyn Image) {
        let first = 1 << self.depth;
        for number in 0..first {
            set(image, self.segments.addr(number).0 + segment::MASK, first - 1);
        }
        set(image, self.entry(0), self.segments.addr(0).0);
        set(image, self.root.0, self.depth << ROUND_SHIFT);
    }

    /// Bits of the numbers of the first segments.
    pub fn depth(&self) -> u64 {
        self.depth
    }

    /// The address of the word of Next.
    pub fn root(&self) -> u64 {
        self.root.0
    }

    /// The most segments.
    pub fn room(&self) -> u64 {
        self.segments.rows()
    }

    /// The address of an array's entry.
    pub fn entry(&self, array: u64) -> u64 {
        self.root.0 + LINE_BYTES + 8 * array
    }

    /// What an array's entry holds once it is allocated. Arrays are never freed, so each begins where the one before ends.
    pub fn array(&self, array: u64) -> u64 {
        let size = array >> self.stride;
        let before = ((1 << self.stride) + (array & ((1 << self.stride) - 1))) << size;
        self.segments.addr((before - (1 << self.stride)) << self.depth).0
    }

    /// How many arrays all segments need.
    pub fn arrays(&self) -> u64 {
        let (last, _) = self.place(self.segments.rows() - 1);
        last + 1
    }

    /// The array of a segment and its index there, during recovery: as [`Directory::locate`].
    pub fn place(&self, number: u64) -> (u64, u64) {
        let shifted = number + (1 << (self.stride + self.depth));
        let bits = u64::from(shifted.ilog2()) - self.stride;
        let array = ((bits - self.depth) << self.stride) + (shifted >> bits) - (1 << self.stride);
        (array, shifted & ((1 << bits) - 1))
    }

    /// The address of a segment's array's entry, and the segment's index in the array.
    fn locate<'c, C: Cpu>(&self, cpu: &'c C, number: W<'c, C>) -> (W<'c, C>, W<'c, C>) {
        // With as many segments before the first as a stride of the first size has, the arrays of a size begin at a power
        // of two.
        let shifted = number + (1 << (self.stride + self.depth));
        let bits = shifted.highest_one() - self.stride;
        let array = (bits << self.stride) + (shifted >> bits);
        let skipped = (self.depth << self.stride) + (1 << self.stride);
        let entry = (array << 3) + (self.entry(0) - 8 * skipped);
        (entry, shifted & ((cpu.word(1) << bits) - 1))
    }

    /// A segment, whole or not.
    pub fn segment<'c, C: Cpu>(&self, cpu: &'c C, number: W<'c, C>) -> Open<'c, C> {
        let _call = cpu.call(1);
        let (entry, index) = self.locate(cpu, number);
        let segment = entry.load() + index * self.bytes;
        Open {
            segment,
            number,
            mask: segment.at(segment::MASK).load(),
        }
    }

    /// The segment of a hash, whole or not.
    pub fn of<'c, C: Cpu>(&self, cpu: &'c C, hash: W<'c, C>) -> Open<'c, C> {
        let _call = cpu.call(1);
        let word = cpu.word(self.root.0).load();
        let (size, bits) = (cpu.word(1) << (word >> ROUND_SHIFT), hash >> HASH_SHIFT);
        let mut number = bits & (size - 1);
        if number.less(word & NEXT).branch(TURN_HAS_BEEN) {
            number = bits & ((size << 1) - 1);
        }
        self.segment(cpu, number)
    }

    /// The whole segment that has the hashes of one that is not: without the highest bits of its number.
    pub fn ancestor<'c, C: Cpu>(&self, cpu: &'c C, number: W<'c, C>) -> Open<'c, C> {
        let _call = cpu.call(1);
        let mut number = number;
        loop {
            number = number ^ (cpu.word(1) << number.highest_one());
            let open = self.segment(cpu, number);
            if !open.mask.is(0).branch(IS_NOT_WHOLE) {
                return open;
            }
        }
    }

    /// Advances Next, unless there is no room; makes that durable, if the program `flushes`.
    pub fn expand<C: Cpu>(&self, cpu: &C, flushes: bool) {
        let _call = cpu.call(1);
        let root = cpu.word(self.root.0);
        loop {
            let word = root.load();
            let (round, next) = (word >> ROUND_SHIFT, word & NEXT);
            let size = cpu.word(1) << round;
            let number = size + next;
            if number.is(self.segments.rows()).branch(NO_ROOM_IS_LEFT) {
                return;
            }
            self.allocate(cpu, number);
            let advanced = match (next + 1).equals(size).branch(ROUND_ENDS) {
                true => (round + 1) << ROUND_SHIFT,
                false => word + 1,
            };
            let old = root.compare_swap(word, advanced);
            if old.equals(word).branch(NEXT_IS_ADVANCED) {
                break;
            }
            cpu.spins();
        }
        if flushes {
            root.flush();
            cpu.intent(Intent::Durable);
        }
    }

    /// Writes the word of Next once more, durably: who has advanced it may not have flushed it yet.
    pub fn confirm<C: Cpu>(&self, cpu: &C) {
        let _call = cpu.call(0);
        let root = cpu.word(self.root.0);
        loop {
            let word = root.load();
            if root.compare_swap(word, word).equals(word).branch(NEXT_STAYED) {
                break;
            }
            cpu.spins();
        }
        root.flush();
        cpu.intent(Intent::Order);
    }

    /// Allocates the array of a segment, if there is none; returns when it is durable in the directory. Its memory is zero:
    /// its segments are not whole.
    fn allocate<'c, C: Cpu>(&self, cpu: &'c C, number: W<'c, C>) {
        let _call = cpu.call(1);
        let (entry, _) = self.locate(cpu, number);
        loop {
            let array = entry.load();
            if (array & RESERVED).is(RESERVED).branch(ARRAY_IS_RESERVED) {
                cpu.give_way();
                cpu.spins();
                continue;
            }
            if !array.is(0).branch(ARRAY_IS_MISSING) {
                return;
            }
            let (index, _) = self.place(number.bits());
            let at = cpu.word(self.array(index));
            let old = entry.compare_swap(array, at | RESERVED);
            if old.is(0).branch(RESERVES_ARRAY) {
                entry.flush();
                cpu.intent(Intent::Durable);
                cpu.primitive(Primitive::StoreBarrier);
                // Recovery clears the mark, too.
                entry.store(at);
                return;
            }
        }
    }

    /// Clears the marks of the arrays, during recovery.
    pub fn clear_marks(&self, image: &dyn Image) {
        for array in 0..self.arrays() {
            let entry = self.entry(array);
            set(image, entry, image.word(Addr(entry)) & !RESERVED);
        }
    }

    /// The addresses of the word of Next and of the arrays' addresses.
    pub fn range(&self) -> Range<u64> {
        self.root.0..self.entry(self.arrays())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strandline_isa::{CoreId, Lowering};
    use strandline_runtime::Plain;

    /// Arrays of 4, 4, 8, 8, 16 segments.
    fn directory(heap: &mut Heap) -> Directory {
        let mut directory = Directory {
            root: Addr(0),
            depth: 2,
            stride: 1,
            segments: heap.rows(40, 64, 40),
            bytes: 64,
        };
        directory.root = heap.pm(LINE_BYTES + 8 * directory.arrays());
        directory
    }

    #[test]
    fn arrays_double_after_a_stride() {
        let directory = directory(&mut Heap::default());
        let firsts = [0, 4, 8, 16, 24];
        assert_eq!(directory.arrays(), 5);
        for (array, first) in (0..).zip(firsts) {
            assert_eq!(directory.array(array), directory.segments.addr(first).0);
            assert_eq!(directory.place(first), (array, 0));
        }
        assert_eq!(directory.place(15), (2, 7));
        assert_eq!(directory.place(39), (4, 15));
    }

    #[test]
    fn the_program_finds_the_segments_where_recovery_does() {
        let mut heap = Heap::default();
        let directory = directory(&mut heap);
        let memory = heap.memory();
        let cpu = Plain::new(&memory, CoreId(0), Lowering::NOTHING);
        for number in 0..40 {
            let (array, index) = directory.place(number);
            let (entry, found) = directory.locate(&cpu, cpu.word(number));
            assert_eq!((entry.bits(), found.bits()), (directory.entry(array), index));
            assert_eq!(directory.array(array) + index * 64, directory.segments.addr(number).0);
        }
    }
}
