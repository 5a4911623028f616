//! Stacks of free rows.

use super::{Source, Taken};
use crate::lock::{acquire, release};
use crate::{Heap, Rows};
use std::ops::Range;
use strandline_isa::{sites, Addr, Cpu, Image, LINE_BYTES, W};

sites! {
    LIST_IS_EMPTY = 0xe1f8_b1a6;
}

const COUNT: u64 = 8;

/// A stack of free rows for each thread, in DRAM, with a lock (as malloc's arenas). A thread whose
/// own stack is empty searches the others'.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stacks {
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

impl Stacks {
    /// Allocates one list for each thread, for the rows of `table`. They are empty until [`Stacks::rebuild`].
    pub fn allocate(heap: &mut Heap, table: Rows, threads: usize, has_stamps: bool, orders: bool) -> Self {
        let lists = threads as u64;
        let item = if has_stamps { STAMPED } else { BARE };
        // A line with lock and count, then room for every row.
        let stride = LINE_BYTES + (table.rows() << item).next_multiple_of(LINE_BYTES);
        Stacks {
            // A row is in one list at most.
            base: heap.dram_of_which(lists * stride, lists * LINE_BYTES + 2 * stride),
            table,
            lists,
            stride,
            item,
            orders,
        }
    }

    fn list(&self, thread: u64) -> u64 {
        debug_assert!(thread < self.lists, "list {thread} of {}", self.lists);
        self.base.0 + thread * self.stride
    }

    /// The addresses of all lists.
    pub fn range(&self) -> Range<u64> {
        self.base.0..self.base.0 + self.lists * self.stride
    }

    /// Allocates a free row, from the thread's own list if possible; `None` if all lists are empty.
    pub fn take<'c, C: Cpu>(&self, cpu: &'c C, thread: usize) -> Option<Taken<'c, C>> {
        let _call = cpu.call(1);
        let mut next = thread as u64;
        for _ in 0..self.lists {
            let from = next;
            let list = cpu.word(self.list(from));
            next = if next + 1 == self.lists { 0 } else { next + 1 };
            acquire(cpu, list, self.orders);
            let count = list.at(COUNT).load();
            if !count.is(0).branch(LIST_IS_EMPTY) {
                let left = count - 1;
                let item = (list + (left << self.item)).at(LINE_BYTES);
                let row = item.load();
                let stamp = match self.item {
                    STAMPED => Some(item.at(8).load()),
                    _ => None,
                };
                list.at(COUNT).store(left);
                release(cpu, list, self.orders);
                let (source, thread) = (Source::Stacks(*self), from as usize);
                return Some(Taken {
                    row,
                    stamp,
                    source,
                    thread,
                });
            }
            release(cpu, list, self.orders);
        }
        None
    }

    /// Frees a row to the thread's own list.
    pub fn give<'c, C: Cpu>(&self, cpu: &'c C, thread: usize, row: W<'c, C>, stamp: Option<W<'c, C>>) {
        let _call = cpu.call(2);
        let list = cpu.word(self.list(thread as u64));
        acquire(cpu, list, self.orders);
        let count = list.at(COUNT).load();
        let item = (list + (count << self.item)).at(LINE_BYTES);
        item.store(row);
        if let Some(stamp) = stamp {
            item.at(8).store(stamp);
        }
        list.at(COUNT).store(count + 1);
        release(cpu, list, self.orders);
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
