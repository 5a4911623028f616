//! Register values: arithmetic on them emits micro-ops.

use crate::{Addr, Alu, Cpu, Flush, Rmw, Scoped, Site};
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Shl, Shr, Sub};

/// A 64-bit register value of a program on the back end `C`.
///
/// Each operator emits one micro-op, which depends on its operands. [`W::at`] is free, as an address displacement is.
pub struct W<'c, C: Cpu> {
    cpu: &'c C,
    bits: u64,
    tag: C::Tag,
}

/// The outcome of a comparison, to branch on.
#[must_use = "a comparison decides nothing until it is branched on"]
pub struct Cond<'c, C: Cpu> {
    cpu: &'c C,
    truth: bool,
    tag: C::Tag,
}

impl<C: Cpu> Clone for W<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C: Cpu> Copy for W<'_, C> {}

impl<'c, C: Cpu> W<'c, C> {
    /// A value and its tag, as returned by a back end.
    #[inline(always)]
    pub fn new(cpu: &'c C, bits: u64, tag: C::Tag) -> Self {
        W { cpu, bits, tag }
    }

    /// The bits, for bookkeeping outside the simulated program. Computing with them emits no micro-ops.
    #[inline(always)]
    pub fn bits(self) -> u64 {
        self.bits
    }

    /// The back end's tag of the value.
    #[inline(always)]
    pub fn tag(self) -> C::Tag {
        self.tag
    }

    /// As [`Cpu::call`], in a function that is given this value.
    #[inline(always)]
    pub fn call(self, arguments: u32) -> Scoped<'c, C> {
        self.cpu.call(arguments)
    }

    /// This address plus a constant. It is part of the address mode and emits no micro-op.
    #[inline(always)]
    #[must_use]
    pub fn at(self, offset: u64) -> Self {
        W::new(self.cpu, self.bits.wrapping_add(offset), self.tag)
    }

    /// The upper half of the 128-bit product with `n`: maps a random word to a number below `n`. One multiplication.
    #[inline(always)]
    #[must_use]
    pub fn scaled_below(self, n: u64) -> Self {
        let bits = ((u128::from(self.bits) * u128::from(n)) >> 64) as u64;
        W::new(self.cpu, bits, self.cpu.alu(Alu::Mul, self.tag, C::Tag::default()))
    }

    /// The number of the lowest bit that is set, 64 without one: `tzcnt`, which takes as long as a multiplication.
    #[inline(always)]
    #[must_use]
    pub fn lowest_one(self) -> Self {
        let bits = u64::from(self.bits.trailing_zeros());
        W::new(self.cpu, bits, self.cpu.alu(Alu::Mul, self.tag, C::Tag::default()))
    }

    /// The number of the highest bit that is set, of a value other than 0: `bsr`, which takes as long as a multiplication.
    #[inline(always)]
    #[must_use]
    pub fn highest_one(self) -> Self {
        let bits = u64::from(63 - self.bits.leading_zeros());
        W::new(self.cpu, bits, self.cpu.alu(Alu::Mul, self.tag, C::Tag::default()))
    }

    /// How many bits are set: `popcnt`, which takes as long as a multiplication.
    #[inline(always)]
    #[must_use]
    pub fn ones(self) -> Self {
        let bits = u64::from(self.bits.count_ones());
        W::new(self.cpu, bits, self.cpu.alu(Alu::Mul, self.tag, C::Tag::default()))
    }

    /// Which of the eight bytes are those of `other`, one bit each: `pcmpeqb`, and `pmovmskb`, which takes as long as a
    /// multiplication.
    #[inline(always)]
    #[must_use]
    pub fn equal_bytes(self, other: Self) -> Self {
        let differ = self.bits ^ other.bits;
        let bits = (0..8)
            .filter(|byte| differ >> (8 * byte) & 0xff == 0)
            .map(|byte| 1 << byte);
        let compared = self.cpu.alu(Alu::Simple, self.tag, other.tag);
        W::new(
            self.cpu,
            bits.sum(),
            self.cpu.alu(Alu::Mul, compared, C::Tag::default()),
        )
    }

    /// The remainder by a constant: one division.
    #[inline(always)]
    #[must_use]
    pub fn remainder(self, n: u64) -> Self {
        W::new(
            self.cpu,
            self.bits % n,
            self.cpu.alu(Alu::Div, self.tag, C::Tag::default()),
        )
    }

    /// The larger of two values, unsigned: a comparison and a conditional move, two micro-ops.
    #[inline(always)]
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        let flags = self.cpu.compare(self.tag, other.tag);
        W::new(
            self.cpu,
            self.bits.max(other.bits),
            self.cpu.alu(Alu::Simple, flags, other.tag),
        )
    }

    #[inline(always)]
    fn compare(self, other: Self, truth: bool) -> Cond<'c, C> {
        Cond {
            cpu: self.cpu,
            truth,
            tag: self.cpu.compare(self.tag, other.tag),
        }
    }

    /// `self == other`.
    #[inline(always)]
    pub fn equals(self, other: Self) -> Cond<'c, C> {
        self.compare(other, self.bits == other.bits)
    }

    /// `self < other`, unsigned.
    #[inline(always)]
    pub fn less(self, other: Self) -> Cond<'c, C> {
        self.compare(other, self.bits < other.bits)
    }

    /// `self == n`.
    #[inline(always)]
    pub fn is(self, n: u64) -> Cond<'c, C> {
        self.compare(self.cpu.word(n), self.bits == n)
    }

    /// `self < n`, unsigned.
    #[inline(always)]
    pub fn below(self, n: u64) -> Cond<'c, C> {
        self.compare(self.cpu.word(n), self.bits < n)
    }

    /// Loads the 8 bytes at this address.
    #[inline(always)]
    pub fn load(self) -> Self {
        self.load_sized(8)
    }

    /// Loads `size` (1, 2, 4 or 8) bytes at this address, zero-extended.
    #[inline(always)]
    pub fn load_sized(self, size: u8) -> Self {
        self.cpu.load(Addr(self.bits), self.tag, size)
    }

    /// Stores the 8 bytes of `value` at this address.
    #[inline(always)]
    pub fn store(self, value: Self) {
        self.store_sized(value, 8)
    }

    /// Stores the low `size` (1, 2, 4 or 8) bytes of `value` at this address.
    #[inline(always)]
    pub fn store_sized(self, value: Self, size: u8) {
        self.cpu.store(Addr(self.bits), self.tag, size, value.bits, value.tag)
    }

    /// Stores the 8 bytes of `value` at this address, non-temporally.
    pub fn store_nt(self, value: Self) {
        self.cpu.store_nt(Addr(self.bits), self.tag, 8, value.bits, value.tag)
    }

    /// Atomically replaces the 8 bytes at this address and returns the old value.
    pub fn swap(self, value: Self) -> Self {
        self.rmw(Rmw::Swap, value)
    }

    /// Atomically adds to the 8 bytes at this address and returns the old value.
    pub fn fetch_add(self, value: Self) -> Self {
        self.rmw(Rmw::Add, value)
    }

    /// Atomically replaces the 8 bytes at this address by `new` if they are `expected`, and returns the old value.
    pub fn compare_swap(self, expected: Self, new: Self) -> Self {
        self.rmw(Rmw::CompareSwap(expected.bits), new)
    }

    fn rmw(self, op: Rmw, operand: Self) -> Self {
        self.cpu.rmw(Addr(self.bits), self.tag, op, operand.bits, operand.tag)
    }

    /// Flushes the line of this address by the lowering's instruction, or not at all if the design needs no flush.
    #[inline(always)]
    pub fn flush(self) {
        if let Some(flush) = self.cpu.lowering().flush {
            self.flush_by(flush);
        }
    }

    /// Flushes the line of this address by this instruction.
    pub fn flush_by(self, flush: Flush) {
        self.cpu.flush(Addr(self.bits), self.tag, flush)
    }
}

impl<C: Cpu> Cond<'_, C> {
    /// Branches on the outcome at this site: one micro-op, mispredicted if the predictor errs.
    #[inline(always)]
    pub fn branch(self, site: Site) -> bool {
        self.cpu.branch(self.tag, self.truth, site);
        self.truth
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $op:ident, $apply:expr) => {
        impl<'c, C: Cpu> $trait for W<'c, C> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let apply: fn(u64, u64) -> u64 = $apply;
                let bits = apply(self.bits, other.bits);
                W::new(self.cpu, bits, self.cpu.alu(Alu::$op, self.tag, other.tag))
            }
        }

        impl<'c, C: Cpu> $trait<u64> for W<'c, C> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: u64) -> Self {
                let apply: fn(u64, u64) -> u64 = $apply;
                let bits = apply(self.bits, other);
                W::new(
                    self.cpu,
                    bits,
                    self.cpu.alu(Alu::$op, self.tag, C::Tag::default()),
                )
            }
        }
    };
}

operator!(Add, add, Simple, u64::wrapping_add);
operator!(Sub, sub, Simple, u64::wrapping_sub);
operator!(Mul, mul, Mul, u64::wrapping_mul);
operator!(BitAnd, bitand, Simple, |a, b| a & b);
operator!(BitOr, bitor, Simple, |a, b| a | b);
operator!(BitXor, bitxor, Simple, |a, b| a ^ b);
operator!(Shl, shl, Simple, |a, b| a << (b & 63));
operator!(Shr, shr, Simple, |a, b| a >> (b & 63));
