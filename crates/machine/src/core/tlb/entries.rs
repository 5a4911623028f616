//! A small set-associative table with true LRU replacement, whose entries may still be on their way.

/// Entries by key: translations by page, or table entries by level and index.
#[derive(Clone)]
pub struct Entries {
    ways: usize,
    /// The number of sets, a power of two, less one.
    mask: u64,
    /// The key of each entry.
    keys: Box<[u64]>,
    /// The latest use of each entry; zero if it is empty.
    used: Box<[u64]>,
    /// When each entry arrives.
    ready: Box<[u64]>,
    /// Counts the uses.
    clock: u64,
    /// By a hash of their keys, so that a set of many ways is rarely searched.
    hashed: Box<[Hashed; HASHES]>,
}

/// The entries whose keys have one hash.
#[derive(Clone, Copy)]
struct Hashed {
    /// How many there are.
    count: u32,
    /// Where one was found last.
    place: u32,
}

/// Hashes of keys.
const HASHES: usize = 256;

/// The key of an empty entry.
const NONE: u64 = u64::MAX;

#[inline(always)]
fn hash(key: u64) -> usize {
    (key ^ key >> 8) as usize % HASHES
}

impl Entries {
    /// An empty table of `entries` entries in sets of `ways` ways; `None` if it has none.
    pub fn new(entries: u64, ways: u64) -> Option<Entries> {
        let all = |value| vec![value; entries as usize].into_boxed_slice();
        (entries > 0).then(|| Entries {
            ways: ways as usize,
            mask: entries / ways - 1,
            keys: all(NONE),
            used: all(0),
            ready: all(0),
            clock: 0,
            hashed: Box::new([Hashed { count: 0, place: 0 }; HASHES]),
        })
    }

    /// When the entry of this key is there, if there is one; makes it the latest used.
    #[inline]
    pub fn find(&mut self, key: u64) -> Option<u64> {
        let Hashed { count, place } = self.hashed[hash(key)];
        let place = match self.keys[place as usize] == key {
            true => place as usize,
            false if count == 0 => return None,
            false => self.search(key)?,
        };
        self.make_latest(place);
        Some(self.ready[place])
    }

    #[inline]
    fn make_latest(&mut self, place: usize) {
        self.clock += 1;
        self.used[place] = self.clock;
    }

    fn search(&mut self, key: u64) -> Option<usize> {
        let base = self.base(key);
        let way = self.keys[base..base + self.ways].iter().position(|k| *k == key)?;
        self.hashed[hash(key)].place = (base + way) as u32;
        Some(base + way)
    }

    /// Inserts an entry that is not here and arrives at `ready` as the latest used, over the least recently used of its
    /// set.
    pub fn insert(&mut self, key: u64, ready: u64) {
        debug_assert!(self.search(key).is_none(), "{key:#x} is here already");
        let place = self.victim(key);
        let old = std::mem::replace(&mut self.keys[place], key);
        if old != NONE {
            self.hashed[hash(old)].count -= 1;
        }
        let hashed = &mut self.hashed[hash(key)];
        hashed.count += 1;
        hashed.place = place as u32;
        self.ready[place] = ready;
        self.make_latest(place);
    }

    /// The least recently used place of a key's set.
    fn victim(&self, key: u64) -> usize {
        let base = self.base(key);
        let mut oldest = base;
        for place in base..base + self.ways {
            if self.used[place] < self.used[oldest] {
                oldest = place;
            }
        }
        oldest
    }

    fn base(&self, key: u64) -> usize {
        (key & self.mask) as usize * self.ways
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_entry_of_the_set_is_replaced() {
        let mut table = Entries::new(4, 2).expect("it has entries");
        // Even keys share a set.
        table.insert(0, 10);
        table.insert(2, 20);
        assert_eq!(table.find(0), Some(10), "now 2 is the least recently used");
        table.insert(1, 30);
        table.insert(4, 40);
        assert_eq!(
            [0, 1, 2, 4].map(|key| table.find(key)),
            [Some(10), Some(30), None, Some(40)]
        );
    }

    #[test]
    fn a_fully_associative_table_keeps_as_many_keys_as_it_has_entries_whatever_they_hash_to() {
        let mut table = Entries::new(64, 64).expect("it has entries");
        let keys = || (0..64).map(|key| key << 32);
        keys().for_each(|key| table.insert(key, key + 1));
        assert!(keys().all(|key| table.find(key) == Some(key + 1)));
        table.insert(64 << 32, 0);
        assert_eq!(table.find(0), None);
        assert_eq!(keys().filter(|key| table.find(*key).is_some()).count(), 63);
    }

    #[test]
    fn a_table_without_entries_is_none() {
        assert!(Entries::new(0, 0).is_none());
    }
}
