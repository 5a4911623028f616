//! Records of keys and values that do not fit into a map's words.
//!
//! As the public programs of RECIPE and Dash have strings for keys: a map's value is the address of a record, in memory
//! of its own, with the whole key and the whole value. Maps go by a word of the key, which no two keys share.
//!
//! - *An insertion* writes a new record, and flushes and orders it before the map has its address. A record never changes.
//! - *A search* compares the whole key with the record's, and reads the whole value. It takes no lock, so a record that is
//!   replaced or removed is used again only once that is durable, and no search under way can have its address ([`Epochs`]).
//! - *Recovery* frees the records that the map does not reach.
//!
//! Word `i` of a key is its first one plus `i` times a constant; those of a value likewise. The first word of a value
//! belongs to its key, so a torn or foreign record shows.
//!
//! Simplified: who inserts or removes does not compare whole keys, since the word tells keys apart.

use super::params::{sizes, OMITS_VALUE};
use super::{flush_lines, word, Map, Old, Pair, MIX};
use crate::epochs::{Epochs, Owner};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use strandline_isa::{sites, Cpu, Image, Intent, Primitive, W};
use strandline_kernel::{ParamError, Params};
use strandline_runtime::{BuildPlan, FreeLists, Heap, Rows, ThreadState};

sites! {
    KEY_WORD_MATCHES = 0x5ca1_97e3;
    RECORD_IS_THE_SAME = 0x2e8f_40b9;
}

/// The records of a map.
pub(super) struct Records {
    rows: Rows,
    free: FreeLists,
    /// Of searches.
    epochs: Epochs,
    /// Bytes of a key.
    key: u64,
    /// Bytes of a value.
    value: u64,
    /// Unless the program is faulty.
    flushes: bool,
}

/// Word `index` of a key or value, from its first one.
fn nth<'c, C: Cpu>(first: W<'c, C>, index: u64) -> W<'c, C> {
    match index {
        0 => first,
        _ => first + step(index),
    }
}

/// From its first word to word `index`.
const fn step(index: u64) -> u64 {
    MIX.wrapping_mul(index)
}

impl Records {
    /// Lays them out, if keys or values need them.
    pub fn lay_out(params: &Params, plan: &BuildPlan, heap: &mut Heap) -> Result<Option<Records>, ParamError> {
        let (key, value) = sizes(params)?;
        if key.max(value) == 8 {
            return Ok(None);
        }
        let count = params.get("records");
        let rows = heap.rows(count, key + value, count / 2 + 1);
        Ok(Some(Records {
            rows,
            free: FreeLists::allocate(heap, rows, plan.threads),
            epochs: Epochs::allocate(heap, plan, count),
            key,
            value,
            flushes: params.get("omits") != OMITS_VALUE,
        }))
    }

    /// Takes a free record.
    fn take<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>) -> Option<W<'c, C>> {
        if let Some(taken) = self.free.take(thread.cpu, thread.thread) {
            return Some(taken.row());
        }
        self.epochs.reclaim(thread, self);
        let taken = self.free.take(thread.cpu, thread.thread)?;
        Some(taken.row())
    }

    /// Frees a record that nobody has the address of.
    fn give<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, record: W<'c, C>) {
        self.free.give(thread.cpu, thread.thread, record, &thread.log);
    }

    /// A new record, durable and visible before what is stored after it; `None` if there is no room.
    fn make<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, (key, value): Pair<'c, C>) -> Option<W<'c, C>> {
        let record = self.take(thread)?;
        for index in 0..self.key / 8 {
            record.at(8 * index).store(nth(key, index));
        }
        for index in 0..self.value / 8 {
            record.at(self.key + 8 * index).store(nth(value, index));
        }
        if self.flushes {
            flush_lines(record, self.key + self.value);
        }
        thread.cpu.intent(Intent::Order);
        thread.cpu.primitive(Primitive::StoreBarrier);
        Some(record)
    }

    /// Frees the record that an operation has replaced or removed, which is durable, once no search can have its address.
    fn retire<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, old: Old<'c, C>) {
        if let Some(record) = old.value() {
            self.epochs.retire(thread, record, 0);
            self.epochs.reclaim_if_full(thread, self);
        }
    }

    /// Gives a key a value; false if there is no room.
    pub fn put<'c, C: Cpu, M: Map>(&self, map: &M, thread: &mut ThreadState<'c, C>, (key, value): Pair<'c, C>) -> bool {
        let Some(record) = self.make(thread, (key, value)) else {
            return false;
        };
        let mut old = Old::wanted();
        let done = map.put(thread, (key, record), &mut old);
        if !done {
            self.give(thread, record);
        }
        self.retire(thread, old);
        done
    }

    /// Removes a key; whether the map held it.
    pub fn remove<'c, C: Cpu, M: Map>(&self, map: &M, thread: &mut ThreadState<'c, C>, key: W<'c, C>) -> bool {
        let mut old = Old::wanted();
        let done = map.remove(thread, key, &mut old);
        self.retire(thread, old);
        done
    }

    /// The first word of a key's value, if the map holds it; another word if the value is torn.
    pub fn get<'c, C: Cpu, M: Map>(&self, map: &M, thread: &mut ThreadState<'c, C>, key: W<'c, C>) -> Option<W<'c, C>> {
        self.epochs.enter(thread);
        let mut passed = thread.cpu.word(0);
        let found = loop {
            let Some(record) = map.get(thread, key) else {
                break None;
            };
            if self.is_of(record, key) {
                break Some(self.value(record));
            }
            // The map may have given the key's place to another one between two looks. If it has the same again, it errs.
            if record.equals(passed).branch(RECORD_IS_THE_SAME) {
                break None;
            }
            passed = record;
        };
        self.epochs.leave(thread);
        found
    }

    /// Whether a record has the key.
    fn is_of<'c, C: Cpu>(&self, record: W<'c, C>, key: W<'c, C>) -> bool {
        for index in 0..self.key / 8 {
            let held = record.at(8 * index).load();
            if !held.equals(nth(key, index)).branch(KEY_WORD_MATCHES) {
                return false;
            }
        }
        true
    }

    /// The first word of a record's value; another word if the others do not belong to it.
    fn value<'c, C: Cpu>(&self, record: W<'c, C>) -> W<'c, C> {
        let first = record.at(self.key).load();
        let mut seen = first;
        for index in 1..self.value / 8 {
            let held = record.at(self.key + 8 * index).load();
            seen = seen ^ held ^ nth(first, index);
        }
        seen
    }

    /// Rebuilds volatile memory, for a map that holds these records.
    pub fn restart(&self, image: &dyn Image, held: &BTreeMap<u64, u64>) {
        let reached: BTreeSet<u64> = held.values().copied().collect();
        self.free.rebuild(image, |row| reached.contains(&self.rows.addr(row).0));
        self.epochs.restart(image);
    }

    /// The first words of the values whose records a map holds, if each is whole, and of one key.
    pub fn read(&self, image: &dyn Image, held: BTreeMap<u64, u64>) -> Result<BTreeMap<u64, u64>, String> {
        let mut seen = BTreeSet::new();
        let mut values = BTreeMap::new();
        for (key, record) in held {
            if self.rows.index_of(record).is_none() || !seen.insert(record) {
                return Err(format!("key {key:#x} has {record:#x}, which is no record of it alone"));
            }
            check_words(image, record, (key, self.key), "key")?;
            let value = word(image, record + self.key);
            check_words(image, record + self.key, (value, self.value), "value")?;
            values.insert(key, value);
        }
        Ok(values)
    }

    /// What operations use repeatedly; not the records.
    pub fn footprint(&self) -> [Range<u64>; 2] {
        [self.free.range(), self.epochs.range()]
    }
}

impl Owner for Records {
    fn take_back<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, row: W<'c, C>, _kind: W<'c, C>) {
        self.give(thread, row);
    }
}

/// Whether memory has the key or value of so many bytes that begins with this word.
fn check_words(image: &dyn Image, at: u64, (first, bytes): (u64, u64), what: &str) -> Result<(), String> {
    for index in 0..bytes / 8 {
        let (at, expected) = (at + 8 * index, first.wrapping_add(step(index)));
        let found = word(image, at);
        if found != expected {
            return Err(format!(
                "word {index} of the {what} at {at:#x} is {found:#x}, and must be {expected:#x}"
            ));
        }
    }
    Ok(())
}
