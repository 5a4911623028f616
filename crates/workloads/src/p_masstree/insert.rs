//! Insertions and deletions.

use super::permutation::Permutation;
use super::search::{entry, Border, FoundKey, SlicePlace};
use super::{node, Entry, Layer, Masstree, Omits, IS_RECORD, SECOND};
use crate::maps::Old;
use strandline_isa::{sites, Cpu, Intent, Primitive, W};
use strandline_runtime::{lock, unlock, ThreadState};

sites! {
    NODE_IS_FULL = 0x0f6d_1064;
}

/// What became of an insertion into a node.
pub(super) enum Inserted<'c, C: Cpu> {
    Done,
    /// The node was split, and is unlocked. Its parent gets this entry, unless it has got it.
    Split(Option<Entry<'c, C>>),
    /// There is no node for a split.
    NoRoom,
}

impl Masstree {
    /// Locks a node, or the sibling that covers the slice.
    pub(super) fn lock<'c, C: Cpu>(cpu: &'c C, mut at: W<'c, C>, slice: W<'c, C>) -> W<'c, C> {
        let _call = cpu.call(2);
        loop {
            lock(cpu, at.at(node::LOCK));
            let Some(sibling) = Masstree::right(at, slice) else {
                return at;
            };
            Masstree::unlock(cpu, at);
            at = sibling;
        }
    }

    /// What has been done to the node is durable.
    pub(super) fn unlock<'c, C: Cpu>(cpu: &'c C, at: W<'c, C>) {
        unlock(cpu, at.at(node::LOCK));
    }

    fn lock_border<'c, C: Cpu>(&self, cpu: &'c C, key: W<'c, C>) -> Option<Border<'c, C>> {
        let mut border = self.border(cpu, key)?;
        border.at = Masstree::lock(cpu, border.at, border.slice);
        Some(border)
    }

    /// Unlocks a border node, and gives a parent the entry that it lacked on the way.
    fn leave<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, border: &Border<'c, C>) {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        Masstree::unlock(cpu, border.at);
        if let Some((layer, orphan)) = &border.orphan {
            let parent = Masstree::entry_of(*orphan);
            self.climb(thread, layer, parent);
        }
    }

    /// Gives a key a value; false if there is no room.
    pub(super) fn write<'c, C: Cpu>(
        &self,
        thread: &ThreadState<'c, C>,
        (key, value): (W<'c, C>, W<'c, C>),
        old: &mut Old<'c, C>,
    ) -> bool {
        let _call = thread.cpu.call(3);
        let cpu = thread.cpu;
        loop {
            let Some(border) = self.lock_border(cpu, key) else {
                return false;
            };
            let permutation = self.permutation(border.at);
            let place = Masstree::place(cpu, border.at, &permutation, border.slice);
            let is_done = match (self.found(place.entry, key), place.entry) {
                // Another thread has made a layer meanwhile.
                (FoundKey::Layer(_), _) => {
                    Masstree::unlock(cpu, border.at);
                    continue;
                }
                (FoundKey::Value(word), _) => {
                    old.keep(word);
                    word.store(value);
                    let fault = if self.is_inline() { Omits::Entry } else { Omits::Record };
                    self.flush_unless(fault, word);
                    cpu.intent(Intent::Durable);
                    true
                }
                (FoundKey::Other(record), Some(entry)) => self.deepen(thread, &border, entry, record, (key, value)),
                _ => return self.add(thread, border, permutation, place, (key, value)),
            };
            self.leave(thread, &border);
            return is_done;
        }
    }

    /// Adds an entry to a locked border node.
    fn add<'c, C: Cpu>(
        &self,
        thread: &ThreadState<'c, C>,
        border: Border<'c, C>,
        permutation: Permutation<'c, C>,
        place: SlicePlace<'c, C>,
        (key, value): (W<'c, C>, W<'c, C>),
    ) -> bool {
        let _call = thread.cpu.call(4);
        let link = match self.is_inline() {
            true => Some(value),
            false => self.record(thread, key, value).map(|record| record + IS_RECORD),
        };
        let Some(link) = link else {
            self.leave(thread, &border);
            return false;
        };
        let entry = Entry {
            level: 0,
            slice: border.slice,
            link,
        };
        let inserted = self.insert(thread, &border.layer, border.at, permutation, place.place, entry);
        match inserted {
            Inserted::Done => self.leave(thread, &border),
            Inserted::Split(None) => {}
            Inserted::Split(Some(parent)) => self.climb(thread, &border.layer, parent),
            Inserted::NoRoom => {
                if !self.is_inline() {
                    self.free_record(thread, link - IS_RECORD);
                }
                self.leave(thread, &border);
                return false;
            }
        }
        true
    }

    /// Inserts an entry at a place of a locked node, which it splits if it is full. A node that was split is unlocked.
    pub(super) fn insert<'c, C: Cpu>(
        &self,
        thread: &ThreadState<'c, C>,
        layer: &Layer<'c, C>,
        at: W<'c, C>,
        permutation: Permutation<'c, C>,
        place: W<'c, C>,
        entry: Entry<'c, C>,
    ) -> Inserted<'c, C> {
        let _call = thread.cpu.call(6);
        let cpu = thread.cpu;
        if permutation.count().is(self.width).branch(NODE_IS_FULL) {
            return self.split(thread, layer, at, permutation, entry);
        }
        self.fill(cpu, at, &permutation, place, entry);
        cpu.intent(Intent::Durable);
        Inserted::Done
    }

    /// Writes an entry to a free slot of a locked node, then the permutation that makes it visible.
    pub(super) fn fill<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        at: W<'c, C>,
        permutation: &Permutation<'c, C>,
        place: W<'c, C>,
        new: Entry<'c, C>,
    ) {
        let _call = cpu.call(4);
        let entry = entry(at, permutation.free());
        entry.store(new.slice);
        entry.at(SECOND).store(new.link);
        self.flush_unless(Omits::Entry, entry);
        cpu.intent(Intent::Order);
        let permutation = permutation.insert(cpu, place);
        self.show(cpu, at, permutation, false);
    }

    /// Stores and flushes a node's permutation; `gives`: slots that it gives away.
    pub(super) fn show<'c, C: Cpu>(&self, cpu: &'c C, at: W<'c, C>, permutation: W<'c, C>, gives: bool) {
        let _call = cpu.call(3);
        cpu.primitive(Primitive::StoreBarrier);
        at.at(node::PERMUTATION).store(permutation);
        if gives {
            Masstree::count_change(cpu, at);
        }
        self.flush_unless(Omits::Permutation, at);
    }

    /// Tells searches that what they have seen of a locked node may be given to another key from now on.
    pub(super) fn count_change<'c, C: Cpu>(cpu: &'c C, at: W<'c, C>) {
        let _call = cpu.call(1);
        let version = at.at(node::VERSION);
        let count = version.load();
        cpu.primitive(Primitive::StoreBarrier);
        version.store(count + 1);
        cpu.primitive(Primitive::StoreBarrier);
    }

    pub(super) fn flush_unless<'c, C: Cpu>(&self, fault: Omits, at: W<'c, C>) {
        if self.omits != fault {
            at.flush();
        }
    }

    /// Removes a key; whether it was there.
    pub(super) fn delete<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, key: W<'c, C>, old: &mut Old<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        loop {
            let Some(border) = self.lock_border(cpu, key) else {
                return false;
            };
            let permutation = self.permutation(border.at);
            let place = Masstree::place(cpu, border.at, &permutation, border.slice);
            let value = match self.found(place.entry, key) {
                FoundKey::Layer(_) => {
                    Masstree::unlock(cpu, border.at);
                    continue;
                }
                FoundKey::Value(word) => Some(word),
                FoundKey::Absent | FoundKey::Other(_) => None,
            };
            if let Some(word) = value {
                old.keep(word);
                let permutation = permutation.remove(cpu, place.place);
                self.show(cpu, border.at, permutation, true);
                cpu.intent(Intent::Durable);
            }
            self.leave(thread, &border);
            if let Some(word) = value.filter(|_| !self.is_inline()) {
                self.free_record(thread, word - SECOND);
            }
            return value.is_some();
        }
    }
}
