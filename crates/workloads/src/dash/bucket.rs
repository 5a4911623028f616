//! A bucket: a version lock, metadata, fingerprints and records.

use strandline_isa::{sites, Cond, Cpu, Intent, Primitive, LINE_BYTES, W};

sites! {
    VERSION_IS_HELD = 0xa3f5_2055;
    LOCK_IS_HELD = 0x732a_08f3;
    LOCK_IS_TAKEN = 0x800f_a15c;
    TRIED_IS_HELD = 0xbf2a_eb4a;
    TRIED_IS_TAKEN = 0x1288_e569;
    MORE_CANDIDATES = 0x9785_5f70;
    KEY_MATCHES = 0x7887_d78e;
    NOTHING_MOVES = 0x0d68_8374;
}

/// Bytes of a bucket.
pub const BUCKET: u64 = 256;

/// Slots of a bucket.
pub const SLOTS: u64 = 14;

/// Bytes of a record: a key and a value.
const RECORD: u64 = 16;

/// Offsets in a bucket.
pub mod offset {
    /// Odd while the bucket is locked.
    pub const VERSION: u64 = 0;
    /// The next bucket of a chain, which needs no lock of its own.
    pub const NEXT: u64 = 0;
    pub const META: u64 = 8;
    /// A byte of each slot's hash.
    pub const FINGERPRINTS: u64 = 16;
    pub const RECORDS: u64 = 32;
}

/// The word of metadata.
pub mod meta {
    /// The slots that hold a record, one bit each.
    pub const USED: u64 = (1 << super::SLOTS) - 1;
    /// Those whose record belongs to the bucket before.
    pub const BEFORE: u64 = USED << BEFORE_SHIFT;
    pub const BEFORE_SHIFT: u64 = 16;
    /// Records that belong to this bucket may be in the stash.
    pub const OVERFLOWS: u64 = 1 << 32;
}

/// The address of a bucket.
pub struct Bucket<'c, C: Cpu>(pub W<'c, C>);

impl<C: Cpu> Clone for Bucket<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Cpu> Copy for Bucket<'_, C> {}

impl<'c, C: Cpu> Bucket<'c, C> {
    /// Its version, when nobody holds its lock.
    pub fn version(&self, cpu: &'c C) -> W<'c, C> {
        let _call = cpu.call(0);
        loop {
            let version = self.0.at(offset::VERSION).load();
            if !(version & 1).is(1).branch(VERSION_IS_HELD) {
                return version;
            }
            cpu.give_way();
            cpu.spins();
        }
    }

    /// Whether its version is still this.
    pub fn stayed(&self, version: W<'c, C>) -> Cond<'c, C> {
        self.0.at(offset::VERSION).load().equals(version)
    }

    /// Locks it.
    pub fn lock(&self, cpu: &'c C) {
        let _call = cpu.call(0);
        let lock = self.0.at(offset::VERSION);
        loop {
            let version = lock.load();
            if !(version & 1).is(1).branch(LOCK_IS_HELD)
                && lock
                    .compare_swap(version, version + 1)
                    .equals(version)
                    .branch(LOCK_IS_TAKEN)
            {
                break;
            }
            cpu.give_way();
            cpu.spins();
        }
        cpu.intent(Intent::Acquire);
    }

    /// Locks it unless it is held.
    pub fn try_lock(&self, cpu: &'c C) -> bool {
        let _call = cpu.call(0);
        let lock = self.0.at(offset::VERSION);
        let version = lock.load();
        if (version & 1).is(1).branch(TRIED_IS_HELD) {
            return false;
        }
        let old = lock.compare_swap(version, version + 1);
        let is_taken = old.equals(version).branch(TRIED_IS_TAKEN);
        if is_taken {
            cpu.intent(Intent::Acquire);
        }
        is_taken
    }

    /// Unlocks it: a new version.
    pub fn unlock(&self, cpu: &'c C) {
        let _call = cpu.call(0);
        let lock = self.0.at(offset::VERSION);
        let version = lock.load();
        cpu.intent(Intent::Release);
        cpu.primitive(Primitive::StoreBarrier);
        lock.store(version + 1);
    }

    /// Its metadata.
    pub fn meta(&self) -> W<'c, C> {
        self.0.at(offset::META).load()
    }

    /// How many slots hold records: `popcnt`.
    pub fn used(&self) -> W<'c, C> {
        let used = self.meta() & meta::USED;
        used.ones()
    }

    /// The number of a free slot, of which there is one.
    pub fn free_slot(&self) -> W<'c, C> {
        let used = self.meta() & meta::USED;
        (used ^ meta::USED).lowest_one()
    }

    fn record(&self, slot: W<'c, C>) -> W<'c, C> {
        (self.0 + (slot << u64::from(RECORD.trailing_zeros()))).at(offset::RECORDS)
    }

    /// The slot that holds a key.
    pub fn find(&self, key: W<'c, C>, hash: W<'c, C>) -> Option<W<'c, C>> {
        let _call = key.call(2);
        let used = self.meta() & meta::USED;
        let wanted = (hash & 0xff) * 0x0101_0101_0101_0101;
        let low = self.0.at(offset::FINGERPRINTS).load().equal_bytes(wanted);
        let high = self.0.at(offset::FINGERPRINTS + 8).load().equal_bytes(wanted);
        let mut candidates = (low | (high << 8)) & used;
        while !candidates.is(0).branch(MORE_CANDIDATES) {
            let slot = candidates.lowest_one();
            if self.record(slot).load().equals(key).branch(KEY_MATCHES) {
                return Some(slot);
            }
            candidates = candidates & (candidates - 1);
        }
        None
    }

    /// The address of the value in a slot.
    pub fn place(&self, slot: W<'c, C>) -> W<'c, C> {
        self.record(slot).at(8)
    }

    /// The value in a slot.
    pub fn value(&self, slot: W<'c, C>) -> W<'c, C> {
        self.place(slot).load()
    }

    /// Replaces the value in a slot, and flushes it.
    pub fn set_value(&self, slot: W<'c, C>, value: W<'c, C>) {
        let record = self.record(slot);
        record.at(8).store(value);
        record.flush();
    }

    /// Writes a record into a slot, and flushes it.
    pub fn write(&self, slot: W<'c, C>, key: W<'c, C>, value: W<'c, C>) {
        let _call = slot.call(3);
        let record = self.record(slot);
        record.store(key);
        record.at(8).store(value);
        record.flush();
    }

    /// Makes the record in a slot visible: its fingerprint, then the metadata. `belongs`: [`meta::BEFORE`] or 0.
    pub fn show(&self, cpu: &'c C, slot: W<'c, C>, hash: W<'c, C>, belongs: u64) {
        let _call = cpu.call(3);
        (self.0 + slot).at(offset::FINGERPRINTS).store_sized(hash & 0xff, 1);
        cpu.primitive(Primitive::StoreBarrier);
        let bit = cpu.word(1) << slot;
        let mut meta = self.meta() | bit;
        if belongs != 0 {
            meta = meta | (bit << meta::BEFORE_SHIFT);
        }
        self.0.at(offset::META).store(meta);
    }

    /// Drops the record in a slot, and flushes that.
    pub fn drop_slot(&self, cpu: &'c C, slot: W<'c, C>) {
        let _call = cpu.call(1);
        let bit = cpu.word(1) << slot;
        let both = bit | (bit << meta::BEFORE_SHIFT);
        let meta = self.meta();
        self.0.at(offset::META).store((meta | both) ^ both);
        self.0.flush();
    }

    /// A record that may move: one of its own forwards, one of the bucket before backwards. Its slot, key and value.
    pub fn movable(&self, forwards: bool) -> Option<(W<'c, C>, W<'c, C>, W<'c, C>)> {
        let meta = self.meta();
        let before = (meta >> meta::BEFORE_SHIFT) & meta::USED;
        let can = match forwards {
            true => (meta & meta::USED) ^ before,
            false => before,
        };
        if can.is(0).branch(NOTHING_MOVES) {
            return None;
        }
        let slot = can.lowest_one();
        let record = self.record(slot);
        Some((slot, record.load(), record.at(8).load()))
    }

    /// Marks that records which belong to it may be in the stash. A crash may lose the mark; recovery finds them.
    pub fn mark_overflow(&self) {
        let meta = self.meta();
        self.0.at(offset::META).store(meta | meta::OVERFLOWS);
    }
}

const _: () = assert!(offset::RECORDS + SLOTS * RECORD == BUCKET && BUCKET % LINE_BYTES == 0);
