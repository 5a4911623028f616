//! The store queue.

use super::Usage;
use std::iter::successors;
use strandline_design::StoreId;
use strandline_isa::{Addr, Flush, Line, Primitive};
use strandline_rules::{broken, Rule};

/// The content of a store-queue entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
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
    pub kind: EntryKind,
    /// When it has retired with its data: it may leave then.
    pub ready: u64,
    /// When its address and data are known: younger loads take its bytes from then on.
    pub executed: u64,
    /// When the requested ownership of its line arrives; zero before the request.
    pub owned: u64,
    /// Its number among all entries of the queue, from 1; the queue gives it.
    pub number: u64,
    /// Its index in the trace, if one is written.
    pub op: u32,
    /// The distance in numbers to the next older store whose word has the same hash; zero if there is none.
    pub older: u32,
    /// The context that it belongs to.
    pub context: u8,
    /// How many times, at the head, it could not have its line, or had lost it.
    pub waited: u8,
    /// It has requested its line again: the line was lost before the entry reached the head, or before the design
    /// had a kept one performed. Younger entries, and loads that miss, wait, so that they do not evict it endlessly.
    pub lost: bool,
    /// Further bytes of the store before it: it needs no room and leaves with it.
    pub with_last: bool,
    /// It is a fence that has retired: it leaves once all that has left before it has completed.
    pub is_fence: bool,
    /// It is a counted write of its word.
    pub counted: bool,
    /// The design watches it by number.
    pub is_pointed: bool,
}

impl Entry {
    /// An entry that executes and retires at `ready`.
    #[inline(always)]
    pub const fn of(addr: Addr, kind: EntryKind, context: u8, ready: u64) -> Entry {
        Entry {
            addr,
            kind,
            ready,
            executed: ready,
            owned: 0,
            number: 0,
            op: 0,
            older: 0,
            context,
            waited: 0,
            lost: false,
            with_last: false,
            is_fence: false,
            counted: false,
            is_pointed: false,
        }
    }

    /// Whether the system must see it leave.
    #[inline(always)]
    pub fn is_special(&self) -> bool {
        self.counted | self.is_pointed
    }

    /// The line written or flushed.
    #[inline(always)]
    pub fn line(&self) -> Line {
        self.addr.line()
    }

    /// Whether it is a store that writes the byte at this address.
    pub fn writes(&self, at: u64) -> bool {
        match self.kind {
            EntryKind::Store { size, .. } | EntryKind::StoreNt { size, .. } => {
                (self.addr.0..self.addr.0 + u64::from(size)).contains(&at)
            }
            EntryKind::Flush(_) | EntryKind::Primitive(_) => false,
        }
    }

    /// Whether the entry stays behind older entries whatever the drain order.
    pub fn is_barrier(&self) -> bool {
        matches!(self.kind, EntryKind::Primitive(_) | EntryKind::Flush(Flush::Clflush))
    }
}

/// A store that has lost its line and requested it again.
pub struct Lost {
    /// When it performs.
    pub due: u64,
    /// How often it has waited.
    pub waited: u32,
}

impl Lost {
    /// The store of this entry.
    pub fn of(entry: &Entry, due: u64) -> Lost {
        let waited = u32::from(entry.waited);
        Lost { due, waited }
    }
}

/// Entries in program order, by their numbers, and the youngest store to each word.
///
/// An entry that leaves before an older one leaves a gap, and so does a number without an entry.
pub struct StoreQueue {
    /// By the low bits of their numbers; a gap has no number.
    ring: Box<[Entry]>,
    /// The number of the oldest entry; the next number if there is none.
    oldest: u64,
    /// The number of the next entry.
    next: u64,
    len: usize,
    /// Entries that need no room.
    without_room: usize,
    /// Entries that need room, over time.
    pub usage: Usage,
    /// By a hash of their word, the number of the youngest store so far.
    youngest: Box<[u64; WORDS]>,
}

/// Hashes of words.
const WORDS: usize = 256;

/// Entries of the ring at first.
const FIRST_LENGTH: usize = 64;

/// An entry that has left.
const GAP: Entry = Entry::of(Addr(0), EntryKind::Store { size: 0, value: 0 }, 0, 0);

impl StoreQueue {
    /// A queue with so many entries that need room.
    pub fn new(room: usize) -> StoreQueue {
        StoreQueue {
            ring: vec![GAP; FIRST_LENGTH].into_boxed_slice(),
            oldest: 1,
            next: 1,
            len: 0,
            without_room: 0,
            usage: Usage::of(room),
            youngest: Box::new([0; WORDS]),
        }
    }

    #[inline(always)]
    fn slot(&self, number: u64) -> usize {
        number as usize & (self.ring.len() - 1)
    }

    #[inline(always)]
    fn hash(addr: Addr) -> usize {
        (addr.0 >> 3) as usize % WORDS
    }

    /// Adds an entry that needs room, allocated at `at`: its number.
    #[inline(always)]
    pub fn push(&mut self, entry: Entry, at: u64) -> u64 {
        let number = self.add(entry);
        self.usage.enters(at, self.occupied() as u64);
        number
    }

    /// Adds an entry: its number.
    #[inline(always)]
    fn add(&mut self, entry: Entry) -> u64 {
        let number = self.take_next();
        let older = match entry.kind {
            EntryKind::Store { .. } | EntryKind::StoreNt { .. } => self.is_youngest(number, entry.addr),
            EntryKind::Flush(_) | EntryKind::Primitive(_) => 0,
        };
        self.len += 1;
        let slot = self.slot(number);
        self.ring[slot] = Entry { number, older, ..entry };
        number
    }

    /// A store of this number is the youngest to its word. Returns how many numbers before it the next older one is.
    #[inline(always)]
    fn is_youngest(&mut self, number: u64, addr: Addr) -> u32 {
        let before = std::mem::replace(&mut self.youngest[Self::hash(addr)], number);
        match before >= self.oldest {
            true => (number - before) as u32,
            false => 0,
        }
    }

    /// Adds an entry that needs no room and leaves with the one before it: its number.
    pub fn push_rest(&mut self, entry: Entry) -> u64 {
        debug_assert!(entry.with_last, "it leaves with the one before it");
        let number = self.add(entry);
        self.without_room += 1;
        number
    }

    /// The next number, for whose entry there is a place.
    #[inline(always)]
    fn take_next(&mut self) -> u64 {
        if self.next - self.oldest == self.ring.len() as u64 {
            self.grow();
        }
        self.next += 1;
        self.next - 1
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let longer = vec![GAP; 2 * self.ring.len()].into_boxed_slice();
        let shorter = std::mem::replace(&mut self.ring, longer);
        for entry in shorter.iter().filter(|entry| entry.number != 0) {
            let slot = self.slot(entry.number);
            self.ring[slot] = *entry;
        }
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Entries that need room.
    #[inline(always)]
    pub fn occupied(&self) -> usize {
        self.len - self.without_room
    }

    /// Whether no entry leaves with the one before it.
    #[inline(always)]
    pub fn all_need_room(&self) -> bool {
        self.without_room == 0
    }

    /// The oldest entry.
    #[inline(always)]
    pub fn front(&self) -> Option<&Entry> {
        Some(&self.ring[self.slot(self.oldest)]).filter(|entry| entry.number != 0)
    }

    /// The entry of this number.
    pub fn get(&self, number: u64) -> Option<&Entry> {
        Some(&self.ring[self.slot(number)]).filter(|entry| entry.number == number)
    }

    /// The entry of this number.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut Entry> {
        let slot = self.slot(number);
        Some(&mut self.ring[slot]).filter(|entry| entry.number == number)
    }

    /// The oldest entry, which must exist, leaves at `at`: the next one.
    #[inline(always)]
    pub fn drop_first(&mut self, at: u64) -> Option<&Entry> {
        let slot = self.slot(self.oldest);
        self.forget(slot, at);
        self.oldest += 1;
        if self.len == 0 {
            self.oldest = self.next;
            return None;
        }
        self.pass_gaps();
        Some(&self.ring[self.slot(self.oldest)])
    }

    /// The entry of this slot leaves at `at`.
    #[inline(always)]
    fn forget(&mut self, slot: usize, at: u64) {
        let entry = &mut self.ring[slot];
        entry.number = 0;
        self.len -= 1;
        match entry.with_last {
            true => self.without_room -= 1,
            false => self.usage.leaves(at),
        }
    }

    /// The entry of this number leaves at `at`, if there is one.
    #[inline(always)]
    pub fn remove(&mut self, number: u64, at: u64) {
        let slot = self.slot(number);
        if self.ring[slot].number != number {
            return;
        }
        self.forget(slot, at);
        if number == self.oldest {
            self.pass_gaps();
        }
    }

    /// Makes the oldest number that of an entry, or the next one.
    #[inline(always)]
    fn pass_gaps(&mut self) {
        while self.ring[self.slot(self.oldest)].number == 0 && self.oldest != self.next {
            self.oldest += 1;
        }
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        let entries = (self.oldest..self.next).map(|number| &self.ring[self.slot(number)]);
        entries.filter(|entry| entry.number != 0)
    }

    /// Marks the youngest store to this line as watched: its number.
    pub fn point_at(&mut self, line: Line) -> Option<StoreId> {
        let store = |e: &&Entry| matches!(e.kind, EntryKind::Store { .. }) && e.line() == line;
        let number = self.iter().rev().find(store)?.number;
        self.get_mut(number)?.is_pointed = true;
        Some(StoreId(number))
    }

    /// A number for a store without an entry.
    pub fn take_number(&mut self) -> u64 {
        let number = self.take_next();
        self.pass_gaps();
        number
    }

    /// The number of the youngest entry so far.
    pub fn newest(&self) -> u64 {
        self.next - 1
    }

    /// The entries that are younger than this number leave at `at`, the youngest first.
    pub fn remove_younger(&mut self, number: u64, at: u64) -> Vec<Entry> {
        let younger = self.iter().rev().take_while(|entry| entry.number > number);
        let removed: Vec<Entry> = younger.copied().collect();
        removed.iter().for_each(|entry| self.remove(entry.number, at));
        removed
    }

    /// The stores to the word that holds `addr`, the youngest first.
    pub fn stores_to_word(&self, addr: Addr) -> impl Iterator<Item = &Entry> {
        let in_queue = move |number: &u64| *number >= self.oldest;
        let next_older = move |number: &u64| {
            let older = self.ring[self.slot(*number)].older;
            let next = (older != 0).then(|| number - u64::from(older));
            next.filter(in_queue)
        };
        let youngest = Some(self.youngest[Self::hash(addr)]).filter(in_queue);
        let stores = successors(youngest, next_older).filter_map(|number| self.get(number));
        stores.filter(move |entry| entry.addr.0 >> 3 == addr.0 >> 3)
    }

    /// The value that a load of `size` bytes at `addr` sees, given what memory holds there, and when the last of the
    /// stores that it takes bytes from has executed; `None` if no store here writes any of them.
    #[inline(always)]
    pub fn forward(&self, addr: Addr, size: u8, memory: u64) -> Option<(u64, u64)> {
        let youngest = self.youngest[Self::hash(addr)];
        if youngest < self.oldest || broken(Rule::LoadSeesOwnStores) {
            return None;
        }
        self.search(youngest, addr, size, memory)
    }

    /// From the youngest store to the oldest, until each byte is found. An access lies within one aligned word.
    fn search(&self, youngest: u64, addr: Addr, size: u8, memory: u64) -> Option<(u64, u64)> {
        let wanted = mask(addr, size);
        let oldest = broken(Rule::ForwardsYoungest);
        let (mut word, mut taken, mut executed) = (0, 0, 0);
        let mut number = youngest;
        while number >= self.oldest {
            let entry = &self.ring[self.slot(number)];
            let (EntryKind::Store { size: width, value } | EntryKind::StoreNt { size: width, value }) = entry.kind
            else {
                unreachable!("only stores have a word")
            };
            if entry.number == number && entry.addr.0 >> 3 == addr.0 >> 3 {
                let offered = mask(entry.addr, width) & wanted;
                let takes = if oldest { offered } else { offered & !taken };
                if takes != 0 {
                    word = (word & !takes) | (value << shift(entry.addr) & takes);
                    taken |= takes;
                    executed = executed.max(entry.executed);
                }
                if taken == wanted && !oldest {
                    break;
                }
            }
            if entry.older == 0 {
                break;
            }
            number -= u64::from(entry.older);
        }
        let kept = memory << shift(addr) & wanted & !taken;
        (taken != 0).then_some(((word | kept) >> shift(addr), executed))
    }
}

/// Bits of the bytes before an address in its aligned word.
fn shift(addr: Addr) -> u64 {
    (addr.0 & 7) * 8
}

/// The bits of `size` bytes at an address within its aligned word.
fn mask(addr: Addr, size: u8) -> u64 {
    (u64::MAX >> (64 - 8 * u32::from(size))) << shift(addr)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds a store that executes in the cycle of its address, and retires much later.
    fn store(q: &mut StoreQueue, addr: u64, size: u8, value: u64) {
        let entry = Entry {
            executed: addr,
            ..Entry::of(Addr(addr), EntryKind::Store { size, value }, 0, addr + 1_000)
        };
        q.push(entry, 0);
    }

    #[test]
    fn a_load_takes_each_byte_from_the_youngest_store_to_it() {
        let mut q = StoreQueue::new(FIRST_LENGTH);
        store(&mut q, 64, 8, 0x1111_1111_1111_1111);
        store(&mut q, 68, 4, 0x2222_2222);
        assert_eq!(q.forward(Addr(64), 8, 0), Some((0x2222_2222_1111_1111, 68)));
        assert_eq!(q.forward(Addr(64), 4, 0), Some((0x1111_1111, 64)));
        q.drop_first(0);
        assert_eq!(q.forward(Addr(64), 8, 9), Some((0x2222_2222_0000_0009, 68)));
        assert_eq!(q.forward(Addr(72), 8, 0), None);
    }

    #[test]
    fn a_load_of_two_stores_bytes_waits_for_the_one_that_executes_last() {
        let mut q = StoreQueue::new(FIRST_LENGTH);
        let halves = [(64, 900), (68, 100)];
        for (addr, executed) in halves {
            let kind = EntryKind::Store { size: 4, value: 1 };
            let entry = Entry {
                executed,
                ..Entry::of(Addr(addr), kind, 0, 1_000)
            };
            q.push(entry, 0);
        }
        assert_eq!(q.forward(Addr(64), 8, 0), Some((0x0000_0001_0000_0001, 900)));
        assert_eq!(q.forward(Addr(68), 4, 0), Some((1, 100)));
    }

    fn numbers(q: &StoreQueue) -> Vec<u64> {
        q.iter().map(|entry| entry.number).collect()
    }

    #[test]
    fn entries_leave_in_any_order_and_keep_their_numbers() {
        let mut q = StoreQueue::new(FIRST_LENGTH);
        (0..3).for_each(|n| store(&mut q, 8 * n, 8, n));
        q.remove(2, 0);
        assert_eq!((numbers(&q), q.len()), (vec![1, 3], 2));
        assert_eq!(q.forward(Addr(8), 8, 0), None, "it has left");
        assert_eq!(q.take_number(), 4);
        store(&mut q, 0, 4, 7);
        assert_eq!(
            q.forward(Addr(0), 8, 0),
            Some((7, 0)),
            "the upper half is the older store's"
        );
        q.drop_first(0);
        assert_eq!(q.front().map(|entry| entry.number), Some(3));
        let removed: Vec<u64> = q.remove_younger(3, 0).iter().map(|entry| entry.number).collect();
        assert_eq!((removed, q.newest()), (vec![5], 5), "numbers are not used again");
        q.drop_first(0);
        assert!(q.front().is_none());
        store(&mut q, 0, 8, 1);
        assert_eq!(numbers(&q), [6]);
    }

    #[test]
    fn the_ring_grows_with_the_span_of_numbers() {
        let mut q = StoreQueue::new(FIRST_LENGTH);
        let last = 3 * FIRST_LENGTH as u64;
        for n in 0..last {
            store(&mut q, 8 * n, 8, n);
            // The oldest entry stays, as all others leave.
            q.remove(if n > 1 { n } else { u64::MAX }, 0);
        }
        assert_eq!(numbers(&q), [1, last]);
        assert_eq!(q.forward(Addr(0), 8, 9), Some((0, 0)));
    }
}
