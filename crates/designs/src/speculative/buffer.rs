//! The speculative store buffer and its Bloom filter (Speculative Persistence, section 4.2.2).

use crate::parts::bloom::Filter;
use crate::speculative::rules::Rule;
use std::collections::VecDeque;
use strandline_design::{Load, Store, StoreId};
use strandline_isa::{Flush, Line};
use strandline_rules::{breaks, kept};

/// An entry. Its number takes the place of the paper's checkpoint number: epochs begin at numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    pub id: StoreId,
    pub what: What,
}

/// Opcode, address and data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A store, or the write of a locked instruction.
    Store(Store),
    /// A flush, and its context.
    Flush(Line, Flush, u8),
    /// A `pcommit`, and its context.
    Pcommit(u8),
}

/// The bytes of a load that the buffer has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FoundBytes {
    /// Which ones, one bit each.
    pub mask: u8,
    pub value: u64,
}

impl FoundBytes {
    /// Takes the bytes of an older store that the load still misses.
    fn take(&mut self, load: Load, store: Store) {
        if (store.addr, store.size) == (load.addr, load.size) && self.mask == 0 {
            (self.mask, self.value) = (all_of(load), store.value & (u64::MAX >> (64 - 8 * load.size)));
            return;
        }
        let missing = !self.mask;
        for byte in (0..load.size).filter(|byte| missing >> byte & 1 != 0) {
            let at = load.addr.0 + u64::from(byte);
            if (store.addr.0..store.addr.0 + u64::from(store.size)).contains(&at) {
                self.mask |= 1 << byte;
                let bits = store.value >> (8 * (at - store.addr.0)) & 0xff;
                self.value |= bits << (8 * byte);
            }
        }
    }
}

/// The mask of all bytes of a load.
fn all_of(load: Load) -> u8 {
    u8::MAX >> (8 - load.size)
}

/// What a load finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookUp {
    /// The filter says no: the buffer is not looked up.
    Filtered,
    /// The buffer was looked up: the bytes that it has, perhaps none.
    Searched(FoundBytes),
}

/// The buffer of one core, oldest entry first.
#[derive(Clone, Debug)]
pub struct Buffer {
    entries: VecDeque<Kept>,
    /// Of these, stores.
    stores: usize,
    room: usize,
    filter: Filter,
    /// The stores by a hash of their word: a shortcut of the simulator, not hardware.
    buckets: Box<[StoreBucket; BUCKETS]>,
}

/// The stores whose words have one hash.
#[derive(Clone, Copy, Debug, Default)]
struct StoreBucket {
    /// How many.
    stores: u32,
    /// The word of the youngest that was pushed, and its number.
    word: u64,
    youngest: u64,
}

const BUCKETS: usize = 1024;

impl Buffer {
    pub fn new(room: usize, filter_bytes: u64) -> Buffer {
        Buffer {
            entries: VecDeque::new(),
            stores: 0,
            room,
            filter: Filter::new(filter_bytes),
            buckets: Box::new([StoreBucket::default(); BUCKETS]),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.entries.len() >= self.room
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The oldest entry.
    pub fn front(&self) -> Option<Kept> {
        self.entries.front().copied()
    }

    /// Whether a `pcommit` is in it.
    pub fn has_pcommit(&self) -> bool {
        self.entries.iter().any(|kept| matches!(kept.what, What::Pcommit(_)))
    }

    pub fn push(&mut self, id: StoreId, what: What) {
        if let What::Store(store) = what {
            let word = word(store.addr.0);
            self.filter.add(word);
            self.stores += 1;
            let bucket = self.bucket(store);
            (bucket.word, bucket.youngest) = (word, id.0);
            bucket.stores += 1;
        }
        self.entries.push_back(Kept { id, what });
    }

    fn bucket(&mut self, store: Store) -> &mut StoreBucket {
        &mut self.buckets[word(store.addr.0) as usize % BUCKETS]
    }

    /// Removes the entry of this number, which is one of the oldest. The filter keeps its bits.
    pub fn remove(&mut self, id: StoreId) {
        let removed = match self.entries.front() {
            Some(first) if first.id == id => self.entries.pop_front(),
            _ => {
                let index = self.entries.iter().position(|kept| kept.id == id);
                index.and_then(|index| self.entries.remove(index))
            }
        };
        if let Some(kept) = removed {
            self.forget(kept);
        }
    }

    fn forget(&mut self, kept: Kept) {
        if let What::Store(store) = kept.what {
            self.stores -= 1;
            self.bucket(store).stores -= 1;
        }
    }

    /// Removes the entries younger than this one, and returns them. The filter stays as it is unless
    /// the buffer is empty then: it must not forget older stores.
    pub fn cut(&mut self, after: StoreId) -> Vec<Kept> {
        let keeps = self.entries.iter().filter(|kept| kept.id <= after).count();
        let keeps = kept(Rule::SpRollBackVoidsStores, keeps, || self.entries.len());
        let void: Vec<Kept> = self.entries.drain(keeps..).collect();
        void.iter().for_each(|kept| self.forget(*kept));
        breaks(Rule::SpRollBackKeepsFilter, || self.filter.clear());
        void
    }

    /// Resets the filter: speculative execution is over, and the buffer is empty.
    pub fn reset_filter(&mut self) {
        debug_assert!(self.is_empty());
        self.filter.clear();
    }

    /// Looks a load up; `None` if the buffer holds no store.
    pub fn look_up(&self, load: Load) -> Option<LookUp> {
        if self.stores == 0 {
            return None;
        }
        if !self.filter.holds(word(load.addr.0)) {
            return Some(LookUp::Filtered);
        }
        Some(LookUp::Searched(self.search(load)))
    }

    /// The youngest bytes of a load.
    fn search(&self, load: Load) -> FoundBytes {
        let mut found = FoundBytes::default();
        let word_of_load = word(load.addr.0);
        let bucket = &self.buckets[word_of_load as usize % BUCKETS];
        if bucket.stores == 0 {
            return found;
        }
        // Entries are in the order of their numbers.
        let end = match bucket.word == word_of_load {
            true => self.entries.partition_point(|kept| kept.id.0 <= bucket.youngest),
            false => self.entries.len(),
        };
        for kept in self.entries.range(..end).rev() {
            match kept.what {
                What::Store(store) if word(store.addr.0) == word_of_load => found.take(load, store),
                _ => continue,
            }
            if found.mask == all_of(load) {
                break;
            }
        }
        found
    }
}

/// The key of the filter: the aligned word, which no access crosses.
fn word(addr: u64) -> u64 {
    addr / 8
}
