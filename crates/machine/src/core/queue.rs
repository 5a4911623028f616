//! The store queue.

use std::collections::VecDeque;
use strandline_design::StoreId;
use strandline_isa::{Addr, Flush, Line, Primitive};
use strandline_rules::{broken, Rule};

/// The content of a store-queue entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A store of `size` bytes.
    Store { size: u8, value: u64 },
    /// A non-temporal store of `size` bytes.
    StoreNt { size: u8, value: u64 },
    /// A flush.
    Flush(Flush),
    /// A primitive.
    Primitive(Primitive),
}

/// A store-queue entry, from its allocation until it leaves for the caches or the write-back buffer.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its address; of a primitive zero.
    pub addr: Addr,
    /// Its operation.
    pub kind: Kind,
    /// The context that it belongs to.
    pub context: u8,
    /// When it has retired with its data: it may leave then.
    pub ready: u64,
    /// When the requested ownership of its line arrives; zero before the request.
    pub owned: u64,
    /// It has requested its line again: the line was lost before the entry reached the head.
    /// Younger entries, and loads that miss, wait, so that they do not evict it endlessly.
    pub lost: bool,
    /// How many times its line was in flight to another core when it was at the head.
    pub waited: u32,
    /// Its index in the trace, if one is written.
    pub op: u32,
    /// Further bytes of the store before it: it needs no room and leaves with it.
    pub with_last: bool,
    /// It is a counted write of its word.
    pub counted: bool,
    /// The design watches it by number.
    pub is_pointed: bool,
    /// Its number among all entries of the queue, from 1; the queue gives it.
    pub number: u64,
}

impl Entry {
    /// An entry that retires at `ready`.
    #[inline(always)]
    pub fn of(addr: Addr, kind: Kind, context: u8, ready: u64) -> Entry {
        Entry {
            addr,
            kind,
            context,
            ready,
            owned: 0,
            lost: false,
            waited: 0,
            op: 0,
            with_last: false,
            counted: false,
            is_pointed: false,
            number: 0,
        }
    }

    /// The line written or flushed.
    #[inline(always)]
    pub fn line(&self) -> Line {
        self.addr.line()
    }

    /// Whether it is a store that writes the byte at this address.
    pub fn writes(&self, at: u64) -> bool {
        match self.kind {
            Kind::Store { size, .. } | Kind::StoreNt { size, .. } => {
                (self.addr.0..self.addr.0 + u64::from(size)).contains(&at)
            }
            Kind::Flush(_) | Kind::Primitive(_) => false,
        }
    }

    /// Whether the entry stays behind older entries whatever the drain order.
    pub fn is_barrier(&self) -> bool {
        matches!(self.kind, Kind::Primitive(_) | Kind::Flush(Flush::Clflush))
    }
}

/// Entries in program order, and a filter that excludes most loads from a search.
#[derive(Default)]
pub struct StoreQueue {
    entries: VecDeque<Entry>,
    /// Stores by a hash of their word.
    filter: Filter,
    /// Entries so far.
    pushed: u64,
    /// Entries that need no room.
    without_room: usize,
}

struct Filter(Box<[u16; FILTER]>);

const FILTER: usize = 256;

impl Default for Filter {
    fn default() -> Self {
        Filter(Box::new([0; FILTER]))
    }
}

impl Filter {
    #[inline(always)]
    fn count(&mut self, addr: Addr) -> &mut u16 {
        &mut self.0[(addr.0 >> 3) as usize % FILTER]
    }
}

impl StoreQueue {
    pub fn new() -> StoreQueue {
        StoreQueue {
            ..StoreQueue::default()
        }
    }

    #[inline(always)]
    pub fn push(&mut self, mut entry: Entry) {
        self.pushed += 1;
        entry.number = self.pushed;
        if matches!(entry.kind, Kind::Store { .. } | Kind::StoreNt { .. }) {
            *self.filter.count(entry.addr) += 1;
        }
        self.without_room += usize::from(entry.with_last);
        self.entries.push_back(entry);
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Entries that need room.
    #[inline(always)]
    pub fn occupied(&self) -> usize {
        self.entries.len() - self.without_room
    }

    #[inline(always)]
    pub fn front(&self) -> Option<&Entry> {
        self.entries.front()
    }

    pub fn get(&self, index: usize) -> Option<&Entry> {
        self.entries.get(index)
    }

    pub fn get_mut(&mut self, index: usize) -> Option<&mut Entry> {
        self.entries.get_mut(index)
    }

    /// Removes the oldest entry.
    #[inline(always)]
    pub fn drop_first(&mut self) {
        if let Some(entry) = self.entries.pop_front() {
            self.forget(&entry);
        }
    }

    /// Removes the entry of that index.
    pub fn remove(&mut self, index: usize) {
        if index == 0 {
            return self.drop_first();
        }
        if let Some(entry) = self.entries.remove(index) {
            self.forget(&entry);
        }
    }

    #[inline(always)]
    fn forget(&mut self, entry: &Entry) {
        self.without_room -= usize::from(entry.with_last);
        if matches!(entry.kind, Kind::Store { .. } | Kind::StoreNt { .. }) {
            *self.filter.count(entry.addr) -= 1;
        }
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Marks the youngest store to this line as watched: its number.
    pub fn point_at(&mut self, line: Line) -> Option<StoreId> {
        let store = |e: &&mut Entry| matches!(e.kind, Kind::Store { .. }) && e.line() == line;
        let found = self.entries.iter_mut().rev().find(store)?;
        found.is_pointed = true;
        Some(StoreId(found.number))
    }

    /// A number for a store without an entry.
    pub fn take_number(&mut self) -> u64 {
        self.pushed += 1;
        self.pushed
    }

    /// The number of the youngest entry so far.
    pub fn newest(&self) -> u64 {
        self.pushed
    }

    /// Removes the entries that are younger than this number, the youngest first.
    pub fn remove_younger(&mut self, number: u64) -> Vec<Entry> {
        let mut removed = Vec::new();
        while self.entries.back().is_some_and(|entry| entry.number > number) {
            let entry = self.entries.pop_back().expect("the youngest entry");
            self.forget(&entry);
            removed.push(entry);
        }
        removed
    }

    /// The value that a load of `size` bytes at `addr` sees, given what memory holds there, and when the youngest store
    /// that it takes bytes from is ready; `None` if no store here writes any of them.
    #[inline(always)]
    pub fn forward(&mut self, addr: Addr, size: u8, memory: u64) -> Option<(u64, u64)> {
        if *self.filter.count(addr) == 0 || broken(Rule::LoadSeesOwnStores) {
            return None;
        }
        self.search(addr, size, memory)
    }

    /// From the youngest store to the oldest, until each byte is found. An access lies within one aligned word.
    fn search(&self, addr: Addr, size: u8, memory: u64) -> Option<(u64, u64)> {
        let wanted = mask(addr, size);
        let oldest = broken(Rule::ForwardsYoungest);
        let (mut word, mut taken, mut found) = (0, 0, None);
        for entry in self.entries.iter().rev() {
            let (Kind::Store { size: width, value } | Kind::StoreNt { size: width, value }) = entry.kind else {
                continue;
            };
            if entry.addr.0 >> 3 != addr.0 >> 3 {
                continue;
            }
            let offered = mask(entry.addr, width) & wanted;
            let takes = if oldest { offered } else { offered & !taken };
            if takes != 0 {
                word = (word & !takes) | (value << shift(entry.addr) & takes);
                taken |= takes;
                found.get_or_insert(entry.ready);
            }
            if taken == wanted && !oldest {
                break;
            }
        }
        let kept = memory << shift(addr) & wanted & !taken;
        found.map(|ready| ((word | kept) >> shift(addr), ready))
    }
}

/// Bits of the bytes before an address in its aligned word.
fn shift(addr: Addr) -> u64 {
    (addr.0 & 7) * 8
}

/// The bits of so many bytes at an address within its aligned word.
fn mask(addr: Addr, size: u8) -> u64 {
    (u64::MAX >> (64 - 8 * u32::from(size))) << shift(addr)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(addr: u64, size: u8, value: u64) -> Entry {
        Entry::of(Addr(addr), Kind::Store { size, value }, 0, addr)
    }

    #[test]
    fn a_load_takes_each_byte_from_the_youngest_store_to_it() {
        let mut q = StoreQueue::default();
        q.push(store(64, 8, 0x1111_1111_1111_1111));
        q.push(store(68, 4, 0x2222_2222));
        assert_eq!(q.forward(Addr(64), 8, 0), Some((0x2222_2222_1111_1111, 68)));
        assert_eq!(q.forward(Addr(64), 4, 0), Some((0x1111_1111, 64)));
        q.remove(0);
        assert_eq!(q.forward(Addr(64), 8, 9), Some((0x2222_2222_0000_0009, 68)));
        assert_eq!(q.forward(Addr(72), 8, 0), None);
    }
}
