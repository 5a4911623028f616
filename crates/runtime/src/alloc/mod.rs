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
                let home = Home::Heap(malloc, thread);
                Some(Taken { row, stamp, home })
            }
        }
    }

    /// Frees a row to the thread's own list. It must not be reachable once the log's regions are
    /// durable.
    pub fn give<'c, C: Cpu>(&self, cpu: &'c C, thread: usize, row: W<'c, C>, log: &Log<'c, C>) {
        match self.source {
            Source::Stacks(stacks) => stacks.give(cpu, thread, row, log.stamp()),
            Source::Malloc(malloc) => {
                if let Some(stamp) = log.stamp() {
                    malloc.beside(row).store(stamp);
                }
                malloc.free(cpu, thread, row);
            }
        }
    }

    /// Makes the rows free that are not `reachable` (by number).
    pub fn rebuild(&self, image: &dyn Image, reachable: impl Fn(u64) -> bool) {
        match &self.source {
            Source::Stacks(stacks) => stacks.rebuild(image, reachable),
            Source::Malloc(malloc) => malloc.rebuild(image, reachable),
        }
    }
}

/// An allocated row.
pub struct Taken<'c, C: Cpu> {
    row: W<'c, C>,
    stamp: Option<W<'c, C>>,
    home: Home<'c, C>,
}

/// Where a row goes back to.
enum Home<'c, C: Cpu> {
    /// A stack.
    Stack(W<'c, C>),
    /// The heap, by a thread.
    Heap(Malloc, usize),
}

impl<C: Cpu> Clone for Home<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Cpu> Copy for Home<'_, C> {}

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
        match self.home {
            Home::Stack(list) => stacks::push(cpu, list, self.row),
            Home::Heap(malloc, thread) => malloc.free(cpu, thread, self.row),
        }
    }
}

#[cfg(test)]
mod tests;
