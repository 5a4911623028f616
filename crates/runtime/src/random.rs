//! The program's own random numbers.

use crate::c_library::Caller;
use strandline_isa::{Cpu, W};
use strandline_kernel::Rng;

/// A generator. By default it is xorshift64* (Marsaglia; Vigna): six simple micro-ops and a multiplication a number. A
/// program that is linked with glibc calls `rand` ([`crate::CLibrary::Glibc`]).
pub struct Random<'c, C: Cpu> {
    cpu: &'c C,
    state: W<'c, C>,
    library: Option<Caller>,
}

/// How far a word's random bits are above those of `rand`.
const UPPER: u64 = 33;

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
            cpu,
            state: cpu.word(rng.next_u64() | 1),
            library: None,
        }
    }

    /// The library's generator in its place.
    #[must_use]
    pub(crate) fn linked_with(self, caller: Caller) -> Self {
        Random {
            library: Some(caller),
            ..self
        }
    }

    /// Its state: a word. That of the library is in memory.
    #[must_use]
    pub fn save(&self) -> W<'c, C> {
        self.state
    }

    /// Continues from a saved state.
    pub fn load(&mut self, state: W<'c, C>) {
        self.state = state;
    }

    /// A random number: 64 bits, or the 31 bits of `rand`.
    #[inline]
    pub fn number(&mut self) -> W<'c, C> {
        match self.library {
            None => self.lean(),
            Some(caller) => self.rand(caller),
        }
    }

    /// A word whose upper 31 bits, or more, are random.
    #[inline]
    pub fn word(&mut self) -> W<'c, C> {
        match self.library {
            None => self.lean(),
            Some(caller) => self.rand(caller) << UPPER,
        }
    }

    /// A number below `n`: one multiplication more, or the division of `rand() % n`.
    #[inline]
    pub fn below(&mut self, n: u64) -> W<'c, C> {
        match self.library {
            None => {
                let _call = self.cpu.call(1);
                self.lean().scaled_below(n)
            }
            Some(caller) => self.rand(caller).remainder(n),
        }
    }

    fn rand(&self, caller: Caller) -> W<'c, C> {
        let _library = self.cpu.library();
        caller.rand(self.cpu)
    }

    #[inline]
    fn lean(&mut self) -> W<'c, C> {
        let _call = self.cpu.call(0);
        let mut x = self.state;
        x = x ^ (x >> 12);
        x = x ^ (x << 25);
        x = x ^ (x >> 27);
        self.state = x;
        x * 0x2545_f491_4f6c_dd1d
    }
}
