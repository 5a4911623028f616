//! The program's own random numbers.

use strandline_isa::{Cpu, W};
use strandline_kernel::Rng;

/// xorshift64* (Marsaglia; Vigna): six simple micro-ops and a multiplication a number.
pub struct Random<'c, C: Cpu> {
    state: W<'c, C>,
}

impl<C: Cpu> Clone for Random<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Cpu> Copy for Random<'_, C> {}

impl<'c, C: Cpu> Random<'c, C> {
    /// The generator of one thread; equal seeds and threads give equal sequences.
    #[must_use]
    pub fn new(cpu: &'c C, seed: u64, thread: usize) -> Self {
        let mut rng = Rng::new(seed ^ (thread as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Random {
            state: cpu.word(rng.next_u64() | 1),
        }
    }

    /// Its state: a word.
    #[must_use]
    pub fn save(&self) -> W<'c, C> {
        self.state
    }

    /// Continues from a saved state.
    pub fn load(&mut self, state: W<'c, C>) {
        self.state = state;
    }

    /// The next 64 random bits.
    #[inline]
    pub fn word(&mut self) -> W<'c, C> {
        let mut x = self.state;
        x = x ^ (x >> 12);
        x = x ^ (x << 25);
        x = x ^ (x >> 27);
        self.state = x;
        x * 0x2545_f491_4f6c_dd1d
    }

    /// A number below `n`: one multiplication more.
    #[inline]
    pub fn below(&mut self, n: u64) -> W<'c, C> {
        self.word().scaled_below(n)
    }
}
