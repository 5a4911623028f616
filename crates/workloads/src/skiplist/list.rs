//! The operations on a skip list.

use super::{Omits, SkipList};
use strandline_isa::{sites, Cpu, W};
use strandline_runtime::{place, Region, Step, ThreadState};

sites! {
    LEVEL_ENDS = 0x219b_6f60;
    KEY_IS_LOWER = 0xe5b7_7ee9;
    NO_KEY_IS_HIGHER = 0x168f_7afa;
    KEY_IS_HERE = 0xa0e3_ebd8;
    HEIGHT_IS_REACHED = 0xa0c2_7e10;
    ALL_LEVELS_ARE_LINKED = 0xc449_3291;
    LINK_IS_ABOVE_NODE = 0xd5b9_ad52;
}

/// Levels of a list: enough for 4^10 nodes.
pub(super) const LEVELS: u64 = 10;

/// Words of a node.
pub(super) mod node {
    pub const KEY: u64 = 0;
    /// The link of the lowest level; the others follow.
    pub const LINKS: u64 = 1;
    pub const ELEMENT: u64 = LINKS + super::LEVELS;
    pub const LINKED_BYTES: u64 = 8 * ELEMENT;
}

/// The offset of a node's link at a level.
pub(super) fn link(level: u64) -> u64 {
    place(8 * (node::LINKS + level))
}

impl SkipList {
    /// Stores the node before `key` at each level at `path`, the lowest first; returns the node behind at the lowest
    /// level, or 0.
    fn search<'c, C: Cpu>(&self, cpu: &'c C, path: W<'c, C>, key: W<'c, C>) -> W<'c, C> {
        let _call = cpu.call(2);
        let mut before = cpu.word(self.head.addr(0).0);
        let mut behind = cpu.word(0);
        for level in (0..LEVELS).rev() {
            behind = before.at(link(level)).load();
            while !behind.is(0).branch(LEVEL_ENDS) {
                let lower = behind.at(node::KEY).load().less(key);
                if !lower.branch(KEY_IS_LOWER) {
                    break;
                }
                before = behind;
                behind = before.at(link(level)).load();
            }
            path.at(8 * level).store(before);
        }
        behind
    }

    /// The node with this key, if it is there; as [`SkipList::search`].
    fn find<'c, C: Cpu>(&self, cpu: &'c C, path: W<'c, C>, key: W<'c, C>) -> Option<W<'c, C>> {
        let _call = cpu.call(2);
        let found = self.search(cpu, path, key);
        if found.is(0).branch(NO_KEY_IS_HIGHER) {
            return None;
        }
        let is_key = found.at(node::KEY).load().equals(key).branch(KEY_IS_HERE);
        is_key.then_some(found)
    }

    /// The value of a key.
    pub(super) fn get<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>) -> Option<W<'c, C>> {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let (path, guard) = (self.paths.of(thread), self.locks.first(cpu));
        thread.log.lock(guard);
        let value = self.find(cpu, path, key).map(|node| self.elements.read(node));
        thread.log.unlock(guard);
        value
    }

    /// Gives a key a value; false if there is no room.
    pub(super) fn put<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>, value: W<'c, C>) -> bool {
        let _call = thread.cpu.call(3);
        let cpu = thread.cpu;
        let (path, guard) = (self.paths.of(thread), self.locks.first(cpu));
        // Whether it is needed is not known yet, but it costs less than to draw it under the lock.
        let height = SkipList::height(thread.random.number());
        thread.log.lock(guard);
        let done = match self.find(cpu, path, key) {
            Some(node) => {
                self.replace(thread, node, value);
                true
            }
            None => self.insert(thread, path, [key, value, height]),
        };
        thread.log.unlock(guard);
        done
    }

    /// How many levels above the lowest a node has, from random bits: each with a probability of a quarter.
    fn height<C: Cpu>(random: W<'_, C>) -> W<'_, C> {
        (random | 1 << (2 * (LEVELS - 1))).lowest_one() >> 1
    }

    fn replace<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, node: W<'c, C>, value: W<'c, C>) {
        let _call = thread.cpu.call(3);
        let mut region = thread.log.begin();
        self.elements.log(&mut region, node);
        region.order(Step::Last);
        self.elements.update(&mut region, node, value);
        region.finish();
    }

    /// Inserts a node behind the path; false if none is free.
    fn insert<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        path: W<'c, C>,
        [key, value, height]: [W<'c, C>; 3],
    ) -> bool {
        let _call = thread.cpu.call(2);
        let Some(taken) = self.free.take(thread.cpu, thread.thread) else {
            return false;
        };
        thread.log.takes(taken);
        let node = taken.row();
        let mut region = thread.log.begin();
        self.fill_node(&mut region, node, path, [key, value, height]);
        for level in 0..LEVELS {
            if level > 0 && height.below(level).branch(ALL_LEVELS_ARE_LINKED) {
                break;
            }
            let before = path.at(8 * level).load();
            self.set(&mut region, Omits::Link, before.at(link(level)), node);
        }
        region.end();
        true
    }

    /// Writes a new node with the links that its predecessors have.
    fn fill_node<'c, C: Cpu>(
        &self,
        region: &mut Region<'_, 'c, C>,
        node: W<'c, C>,
        path: W<'c, C>,
        [key, value, height]: [W<'c, C>; 3],
    ) {
        let _call = node.call(3);
        if self.omits == Omits::Element {
            self.elements.store(node, value);
        }
        region.log_row(node, self.logged());
        region.order(Step::More);
        region.update(node.at(node::KEY), key, 8);
        for level in 0..LEVELS {
            if level > 0 && height.below(level).branch(HEIGHT_IS_REACHED) {
                break;
            }
            let before = path.at(8 * level).load();
            let behind = region.read(before.at(link(level)), 8);
            region.update(node.at(link(level)), behind, 8);
        }
        if self.omits != Omits::Element {
            self.elements.update(region, node, value);
        }
        region.finish();
    }

    /// Bytes of a new node that are logged.
    fn logged(&self) -> u64 {
        match self.omits {
            Omits::Element => node::LINKED_BYTES,
            _ => self.elements.row_bytes(),
        }
    }

    /// Stores a link, without a log if that is the fault.
    fn set<'c, C: Cpu>(&self, region: &mut Region<'_, 'c, C>, fault: Omits, at: W<'c, C>, node: W<'c, C>) {
        let _call = at.call(4);
        if self.omits == fault {
            at.store(node);
            return at.flush();
        }
        region.write(at, node, 8);
    }

    /// Removes a key; whether it was there.
    pub(super) fn remove<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let (path, guard) = (self.paths.of(thread), self.locks.first(cpu));
        thread.log.lock(guard);
        let found = self.find(cpu, path, key);
        if let Some(node) = found {
            let mut region = thread.log.begin();
            self.unlink(&mut region, path, node);
            region.end();
        }
        thread.log.unlock(guard);
        let Some(node) = found else { return false };
        // Only once the region has ended, because another thread may overwrite the node at once.
        self.free.give(cpu, thread.thread, node, &thread.log);
        true
    }

    /// Links the path past a node.
    fn unlink<'c, C: Cpu>(&self, region: &mut Region<'_, 'c, C>, path: W<'c, C>, node: W<'c, C>) {
        let _call = path.call(3);
        for level in 0..LEVELS {
            let at = path.at(8 * level).load().at(link(level));
            if !region.read(at, 8).equals(node).branch(LINK_IS_ABOVE_NODE) {
                break;
            }
            let behind = region.read(node.at(link(level)), 8);
            self.set(region, Omits::Unlink, at, behind);
        }
    }
}
