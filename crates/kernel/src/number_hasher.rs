//! A quick hash of numbers.

use std::hash::Hasher;

/// Hashes numbers: one multiplication. For maps that are never iterated where the order would show.
#[derive(Clone, Copy, Debug, Default)]
pub struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(20);
    }
}
