//! Insertions and deletions.

use super::permutation::Permutation;
use super::search::{entry, Border, Found, Place};
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
    pub(super) async fn lock<'c, C: Cpu>(cpu: &'c C, mut at: W<'c, C>, slice: W<'c, C>) -> W<'c, C> {
        let _call = cpu.call(2);
        loop {
            lock(cpu, at.at(node::LOCK)).await;
            let Some(sibling) = Masstree::right(at, slice).await else {
                return at;
            };
            Masstree::unlock(cpu, at).await;
            at = sibling;
        }
    }

    /// What has been done to the node is durable.
    pub(super) async fn unlock<'c, C: Cpu>(cpu: &'c C, at: W<'c, C>) {
        unlock(cpu, at.at(node::LOCK)).await;
    }

    async fn lock_border<'c, C: Cpu>(&self, cpu: &'c C, key: W<'c, C>) -> Option<Border<'c, C>> {
        let mut border = self.border(cpu, key).await?;
        border.at = Masstree::lock(cpu, border.at, border.slice).await;
        Some(border)
    }

    /// Unlocks a border node, and gives a parent the entry that it lacked on the way.
    async fn leave<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, border: &Border<'c, C>) {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        Masstree::unlock(cpu, border.at).await;
        if let Some((layer, orphan)) = &border.orphan {
            let parent = Masstree::entry_of(*orphan).await;
            self.climb(thread, layer, parent).await;
        }
    }

    /// Gives a key a value; false if there is no room.
    pub(super) async fn write<'c, C: Cpu>(
        &self,
        thread: &ThreadState<'c, C>,
        (key, value): (W<'c, C>, W<'c, C>),
        old: &mut Old<'c, C>,
    ) -> bool {
        let _call = thread.cpu.call(3);
        let cpu = thread.cpu;
        loop {
            let Some(border) = self.lock_border(cpu, key).await else {
                return false;
            };
            let permutation = self.permutation(border.at).await;
            let place = Masstree::place(cpu, border.at, &permutation, border.slice).await;
            let is_done = match (self.found(place.entry, key).await, place.entry) {
                // Another thread has made a layer meanwhile.
                (Found::Layer(_), _) => {
                    Masstree::unlock(cpu, border.at).await;
                    continue;
                }
                (Found::Value(word), _) => {
                    old.keep(word).await;
                    word.store(value).await;
                    let fault = if self.is_inline() { Omits::Entry } else { Omits::Record };
                    self.flush_unless(fault, word).await;
                    cpu.intent(Intent::Durable).await;
                    true
                }
                (Found::Other(record), Some(entry)) => self.deepen(thread, &border, entry, record, (key, value)).await,
                _ => return self.add(thread, border, permutation, place, (key, value)).await,
            };
            self.leave(thread, &border).await;
            return is_done;
        }
    }

    /// Adds an entry to a locked border node.
    async fn add<'c, C: Cpu>(
        &self,
        thread: &ThreadState<'c, C>,
        border: Border<'c, C>,
        permutation: Permutation<'c, C>,
        place: Place<'c, C>,
        (key, value): (W<'c, C>, W<'c, C>),
    ) -> bool {
        let _call = thread.cpu.call(4);
        let link = match self.is_inline() {
            true => Some(value),
            false => self.record(thread, key, value).await.map(|record| record + IS_RECORD),
        };
        let Some(link) = link else {
            self.leave(thread, &border).await;
            return false;
        };
        let entry = Entry {
            level: 0,
            slice: border.slice,
            link,
        };
        let inserted = self
            .insert(thread, &border.layer, border.at, permutation, place.place, entry)
            .await;
        match inserted {
            Inserted::Done => self.leave(thread, &border).await,
            Inserted::Split(None) => {}
            Inserted::Split(Some(parent)) => self.climb(thread, &border.layer, parent).await,
            Inserted::NoRoom => {
                if !self.is_inline() {
                    self.free_record(thread, link - IS_RECORD).await;
                }
                self.leave(thread, &border).await;
                return false;
            }
        }
        true
    }

    /// Inserts an entry at a place of a locked node, which it splits if it is full. A node that was split is unlocked.
    pub(super) async fn insert<'c, C: Cpu>(
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
            return self.split(thread, layer, at, permutation, entry).await;
        }
        self.fill(cpu, at, &permutation, place, entry).await;
        cpu.intent(Intent::Durable).await;
        Inserted::Done
    }

    /// Writes an entry to a free slot of a locked node, then the permutation that makes it visible.
    pub(super) async fn fill<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        at: W<'c, C>,
        permutation: &Permutation<'c, C>,
        place: W<'c, C>,
        new: Entry<'c, C>,
    ) {
        let _call = cpu.call(4);
        let entry = entry(at, permutation.free());
        entry.store(new.slice).await;
        entry.at(SECOND).store(new.link).await;
        self.flush_unless(Omits::Entry, entry).await;
        cpu.intent(Intent::Order).await;
        let permutation = permutation.insert(cpu, place);
        self.show(cpu, at, permutation, false).await;
    }

    /// Stores and flushes a node's permutation; `gives`: slots that it gives away.
    pub(super) async fn show<'c, C: Cpu>(&self, cpu: &'c C, at: W<'c, C>, permutation: W<'c, C>, gives: bool) {
        let _call = cpu.call(3);
        cpu.primitive(Primitive::StoreBarrier).await;
        at.at(node::PERMUTATION).store(permutation).await;
        if gives {
            Masstree::count_change(cpu, at).await;
        }
        self.flush_unless(Omits::Permutation, at).await;
    }

    /// Tells searches that what they have seen of a locked node may be given to another key from now on.
    pub(super) async fn count_change<'c, C: Cpu>(cpu: &'c C, at: W<'c, C>) {
        let _call = cpu.call(1);
        let version = at.at(node::VERSION);
        let count = version.load().await;
        cpu.primitive(Primitive::StoreBarrier).await;
        version.store(count + 1).await;
        cpu.primitive(Primitive::StoreBarrier).await;
    }

    pub(super) async fn flush_unless<'c, C: Cpu>(&self, fault: Omits, at: W<'c, C>) {
        if self.omits != fault {
            at.flush().await;
        }
    }

    /// Removes a key; whether it was there.
    pub(super) async fn delete<'c, C: Cpu>(
        &self,
        thread: &ThreadState<'c, C>,
        key: W<'c, C>,
        old: &mut Old<'c, C>,
    ) -> bool {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        loop {
            let Some(border) = self.lock_border(cpu, key).await else {
                return false;
            };
            let permutation = self.permutation(border.at).await;
            let place = Masstree::place(cpu, border.at, &permutation, border.slice).await;
            let value = match self.found(place.entry, key).await {
                Found::Layer(_) => {
                    Masstree::unlock(cpu, border.at).await;
                    continue;
                }
                Found::Value(word) => Some(word),
                Found::Absent | Found::Other(_) => None,
            };
            if let Some(word) = value {
                old.keep(word).await;
                let permutation = permutation.remove(cpu, place.place);
                self.show(cpu, border.at, permutation, true).await;
                cpu.intent(Intent::Durable).await;
            }
            self.leave(thread, &border).await;
            if let Some(word) = value.filter(|_| !self.is_inline()) {
                self.free_record(thread, word - SECOND).await;
            }
            return value.is_some();
        }
    }
}
