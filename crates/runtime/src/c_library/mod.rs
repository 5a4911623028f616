//! The C library of a program: where its random numbers and its rows come from.
//!
//! `glibc` is version 2.36 on x86-64: the same loads, stores, locked instructions and branches. A test steps through the
//! library's own functions and compares.

mod frame;
pub(crate) mod malloc;
mod rand;

use crate::{Heap, LockKind, Random};
pub(crate) use rand::Caller;
use rand::Rand;
use strandline_isa::{Addr, Cpu, Image};

/// Which library a program is linked with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CLibrary {
    /// Short code for each purpose: a generator in a register, a stack of free rows for each thread.
    #[default]
    Lean,
    /// `rand`, `malloc`, `free` and `pthread_mutex_lock` as glibc executes them.
    Glibc,
}

impl CLibrary {
    /// All of them.
    pub const ALL: [CLibrary; 2] = [CLibrary::Lean, CLibrary::Glibc];

    /// Their names, in the same order.
    pub(crate) const WORDS: &'static [&'static str] = &["lean", "glibc"];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        CLibrary::WORDS[self as usize]
    }

    /// The locks of a program that uses it, if not the workload's own.
    pub(crate) fn lock(self) -> Option<LockKind> {
        match self {
            CLibrary::Lean => None,
            CLibrary::Glibc => Some(LockKind::Pthread),
        }
    }
}

/// What the lanes of a program need for random numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LibraryUse {
    rand: Option<Rand>,
}

impl LibraryUse {
    pub fn allocate(heap: &mut Heap, lanes: usize) -> LibraryUse {
        let rand = match heap.logging.library {
            CLibrary::Lean => None,
            CLibrary::Glibc => Some(Rand::allocate(heap, lanes)),
        };
        LibraryUse { rand }
    }

    /// The generator of a lane. With `rand`, all lanes share one.
    pub fn random<'c, C: Cpu>(&self, cpu: &'c C, seed: u64, lane: usize) -> Random<'c, C> {
        let lean = Random::new(cpu, seed, lane);
        match self.rand {
            None => lean,
            Some(rand) => lean.linked_with(rand.of(lane)),
        }
    }

    /// Writes the library's variables, which a crash has lost.
    pub fn start(&self, image: &dyn Image) {
        if let Some(rand) = self.rand {
            rand.started()
                .into_iter()
                .for_each(|(at, word)| image.set_word(at, word));
        }
    }

    /// The words that make shared random numbers those of another seed.
    pub fn seeded(&self, seed: u64) -> Vec<(Addr, u64)> {
        self.rand.map_or_else(Vec::new, |rand| rand.seeded(seed))
    }
}
