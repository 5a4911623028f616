//! The volatile state of an allocator of equal rows: the free ones. After a crash it is rebuilt from the reachable rows.

mod stacks;

use crate::c_library::malloc::Malloc;
use crate::{CLibrary, Heap, Log, Rows};
use stacks::Stacks;
use std::ops::Range;
use strandline_isa::{Cpu, Image, W};

/// The free rows of a table: a stack for each thread, or the heap of the program's C library.
#[derive(Clone, Copy, Debug)]
pub struct FreeLists {
    /// Free rows carry the stamp of their last owner's log.
    has_stamps: bool,
    source: Source,
}

/// Where rows come from.
#[derive(Clone, Copy, Debug)]
enum Source {
    Stacks(Stacks),
    Malloc(Malloc),
}

impl FreeLists {
    /// Allocates the state for the rows of `table`. No row is free until [`FreeLists::rebuild`].
    #[must_use]
    pub fn allocate(heap: &mut Heap, table: Rows, threads: usize) -> Self {
        let runtime = heap.logging.runtime;
        let (has_stamps, annotated) = (runtime.passes_stamps(), runtime.orders());
        FreeLists {
            has_stamps,
            source: match heap.logging.library {
                CLibrary::Lean => Source::Stacks(Stacks::allocate(heap, table, threads, has_stamps, annotated)),
                CLibrary::Glibc => Source::Malloc(Malloc::allocate(heap, table, threads, annotated)),
            },
        }
    }

    /// The addresses of its lists and variables.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        match &self.source {
            Source::Stacks(stacks) => stacks.range(),
            Source::Malloc(malloc) => malloc.range(),
        }
    }

    /// Allocates a free row, from the thread's own list if possible; `None` if none is free.
    /// Its use depends on the region that freed it, which may not be acknowledged yet: the log must
    /// be notified by [`Log::takes`] or [`crate::Region::takes`].
    pub fn take<'c, C: Cpu>(&self, cpu: &'c C, thread: usize) -> Option<Taken<'c, C>> {
        match self.source {
            Source::Stacks(stacks) => stacks.take(cpu, thread),
            Source::Malloc(malloc) => {
                let row = malloc.malloc(cpu, thread)?;
                let stamp = match self.has_stamps {
                    true => Some(malloc.beside(row).load()),
                    false => None,
                };
                Some(Taken {
                    row,
                    stamp,
                    source: self.source,
                    thread,
                })
            }
        }
    }

    /// Frees a row to the thread's own list. It must not be reachable once the log's regions are
    /// durable.
    pub fn give<'c, C: Cpu>(&self, cpu: &'c C, thread: usize, row: W<'c, C>, log: &Log<'c, C>) {
        self.source.give(cpu, thread, row, log.stamp());
    }

    /// Makes the rows free that are not `reachable` (by number).
    pub fn rebuild(&self, image: &dyn Image, reachable: impl Fn(u64) -> bool) {
        match &self.source {
            Source::Stacks(stacks) => stacks.rebuild(image, reachable),
            Source::Malloc(malloc) => malloc.rebuild(image, reachable),
        }
    }
}

impl Source {
    /// Frees a row to a thread's list, or by a thread's call of the library.
    fn give<'c, C: Cpu>(self, cpu: &'c C, thread: usize, row: W<'c, C>, stamp: Option<W<'c, C>>) {
        match self {
            Source::Stacks(stacks) => stacks.give(cpu, thread, row, stamp),
            Source::Malloc(malloc) => {
                if let Some(stamp) = stamp {
                    malloc.beside(row).store(stamp);
                }
                malloc.free(cpu, thread, row);
            }
        }
    }
}

/// An allocated row.
pub struct Taken<'c, C: Cpu> {
    row: W<'c, C>,
    stamp: Option<W<'c, C>>,
    source: Source,
    /// The thread from whose list it is, or that called the library.
    thread: usize,
}

impl<C: Cpu> Clone for Taken<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Cpu> Copy for Taken<'_, C> {}

impl<'c, C: Cpu> Taken<'c, C> {
    /// Its address.
    #[must_use]
    pub fn row(&self) -> W<'c, C> {
        self.row
    }

    /// The stamp that its last owner's log left with it.
    pub(crate) fn stamp(&self) -> Option<W<'c, C>> {
        self.stamp
    }

    /// Returns it, as if it had never been allocated: a row without a stamp, as an undo log leaves it.
    pub(crate) fn give_back(&self, cpu: &'c C) {
        self.source.give(cpu, self.thread, self.row, None);
    }
}

#[cfg(test)]
mod tests;
