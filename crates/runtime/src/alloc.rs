//! The volatile state of an allocator of equal rows: the free ones.

use crate::lock::{leave, take};
use crate::{lock, unlock, Heap, Log, Rows};
use std::ops::Range;
use strandline_isa::{sites, Addr, Cpu, Image, LINE_BYTES, W};

sites! {
    LIST_IS_EMPTY = 0xe1f8_b1a6;
}

const COUNT: u64 = 8;

/// A stack of free rows for each thread, in DRAM, with a lock (as malloc's arenas). A thread whose
/// own stack is empty searches the others'. After a crash they are rebuilt from the reachable rows.
#[derive(Clone, Copy, Debug)]
pub struct FreeLists {
    base: Addr,
    table: Rows,
    lists: u64,
    /// Bytes from list to list.
    stride: u64,
    /// Items are of 8 bytes, a row's address, or of 16 with the stamp of its last owner's log: a shift.
    item: u64,
    /// The program annotates its synchronisation.
    orders: bool,
}

/// The shift of items without a stamp, and with one.
const BARE: u64 = 3;
const STAMPED: u64 = 4;

impl FreeLists {
    /// Allocates one list for each thread, for the rows of `table`. They are empty until [`FreeLists::rebuild`].
    #[must_use]
    pub fn allocate(heap: &mut Heap, table: Rows, threads: usize) -> Self {
        let lists = threads as u64;
        let runtime = heap.logging.runtime;
        let item = if runtime.passes_stamps() { STAMPED } else { BARE };
        // A line with lock and count, then room for every row.
        let stride = LINE_BYTES + (table.rows() << item).next_multiple_of(LINE_BYTES);
        FreeLists {
            // A row is in one list at most.
            base: heap.dram_of_which(lists * stride, lists * LINE_BYTES + 2 * stride),
            table,
            lists,
            stride,
            item,
            orders: runtime.orders(),
        }
    }

    fn list(&self, thread: u64) -> u64 {
        debug_assert!(thread < self.lists, "list {thread} of {}", self.lists);
        self.base.0 + thread * self.stride
    }

    /// The addresses of all lists.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.base.0..self.base.0 + self.lists * self.stride
    }

    /// Allocates a free row, from the thread's own list if possible; `None` if all lists are empty.
    /// Its use depends on the region that freed it, which may not be acknowledged yet: the log must
    /// be notified by [`Log::takes`] or [`crate::Region::takes`].
    pub async fn take<'c, C: Cpu>(&self, cpu: &'c C, thread: usize) -> Option<Taken<'c, C>> {
        let mut next = thread as u64;
        for _ in 0..self.lists {
            let list = cpu.word(self.list(next));
            next = if next + 1 == self.lists { 0 } else { next + 1 };
            self.lock(cpu, list).await;
            let count = list.at(COUNT).load().await;
            if !count.is(0).branch(LIST_IS_EMPTY) {
                let left = count - 1;
                let item = (list + (left << self.item)).at(LINE_BYTES);
                let row = item.load().await;
                let stamp = match self.item {
                    STAMPED => Some(item.at(8).load().await),
                    _ => None,
                };
                list.at(COUNT).store(left).await;
                self.unlock(cpu, list).await;
                return Some(Taken { row, stamp, list });
            }
            self.unlock(cpu, list).await;
        }
        None
    }

    /// Frees a row to the thread's own list. It must not be reachable once the log's regions are
    /// durable.
    pub async fn give<'c, C: Cpu>(&self, cpu: &'c C, thread: usize, row: W<'c, C>, log: &Log<'c, C>) {
        let list = cpu.word(self.list(thread as u64));
        self.lock(cpu, list).await;
        let count = list.at(COUNT).load().await;
        let item = (list + (count << self.item)).at(LINE_BYTES);
        item.store(row).await;
        if let Some(stamp) = log.stamp() {
            item.at(8).store(stamp).await;
        }
        list.at(COUNT).store(count + 1).await;
        self.unlock(cpu, list).await;
    }

    async fn lock<'c, C: Cpu>(&self, cpu: &'c C, list: W<'c, C>) {
        match self.orders {
            true => lock(cpu, list).await,
            false => take(cpu, list).await,
        }
    }

    async fn unlock<'c, C: Cpu>(&self, cpu: &'c C, list: W<'c, C>) {
        match self.orders {
            true => unlock(cpu, list).await,
            false => leave(cpu, list).await,
        }
    }

    /// Distributes the rows that are not `reachable` (by number) over the lists in turn.
    pub fn rebuild(&self, image: &dyn Image, reachable: impl Fn(u64) -> bool) {
        let mut counts = vec![0; self.lists as usize];
        // The lowest rows are pushed last, so they are allocated first.
        let free = (0..self.table.rows()).rev().filter(|row| !reachable(*row));
        for (i, row) in free.enumerate() {
            let thread = i as u64 % self.lists;
            let count = &mut counts[thread as usize];
            image.set_word(
                Addr(self.list(thread) + LINE_BYTES + (*count << self.item)),
                self.table.addr(row).0,
            );
            *count += 1;
        }
        for (thread, count) in counts.iter().enumerate() {
            let list = self.list(thread as u64);
            image.set_word(Addr(list), 0);
            image.set_word(Addr(list + COUNT), *count);
        }
    }
}

/// An allocated row.
pub struct Taken<'c, C: Cpu> {
    row: W<'c, C>,
    stamp: Option<W<'c, C>>,
    /// Its list.
    list: W<'c, C>,
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

    /// Returns it to its list, as if it had never been allocated: a row without a stamp, as an undo
    /// log leaves it.
    pub(crate) async fn give_back(&self, cpu: &'c C) {
        lock(cpu, self.list).await;
        let count = self.list.at(COUNT).load().await;
        (self.list + (count << BARE)).at(LINE_BYTES).store(self.row).await;
        self.list.at(COUNT).store(count + 1).await;
        unlock(cpu, self.list).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{block_on, LogLayout, Plain};
    use std::collections::BTreeSet;
    use strandline_isa::{CoreId, Lowering};

    #[test]
    fn every_free_row_is_handed_out_once_and_can_come_back() {
        let mut heap = Heap::default();
        let table = heap.rows(7, 8, 7);
        let lists = FreeLists::allocate(&mut heap, table, 2);
        let logs = LogLayout::allocate(&mut heap, 2, 4);
        let memory = heap.memory();
        lists.rebuild(&memory, |row| row == 3);
        let cpu = Plain::new(&memory, CoreId(0), Lowering::NOTHING);
        let taken = block_on(async {
            let mut taken = BTreeSet::new();
            let mut log = Log::open(&cpu, &logs, 0).await;
            while let Some(row) = lists.take(&cpu, 1).await {
                log.takes(row).await;
                taken.insert(table.index_of(row.row().bits()).unwrap());
            }
            lists.give(&cpu, 0, cpu.word(table.addr(5).0), &log).await;
            let back = lists.take(&cpu, 1).await.map(|taken| taken.row().bits());
            assert_eq!(back, Some(table.addr(5).0));
            taken
        });
        assert_eq!(taken, Ok(BTreeSet::from([0, 1, 2, 4, 5, 6])));
    }
}
