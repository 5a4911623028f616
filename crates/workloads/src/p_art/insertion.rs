//! Insertions: leaves, and the nodes that they need.

use super::descent::{End, Spot};
use super::node::{append, begin, byte, bytes, field, head_of, kind, level, next, used, Entry, NodeKind, COUNT, LEAF};
use super::{Art, Omits, Turn, LEAVES};
use crate::maps::{flush_lines, Old};
use strandline_isa::{sites, Cpu, Intent, LINE_BYTES, W};
use strandline_runtime::ThreadState;

sites! {
    KEY_IS_THERE = 0xe190_a62c;
    NODE_HAS_ROOM = 0x1dfe_0e69;
    NODE_IS_SPARSE = 0x27d1_e3a9;
    BYTES_ARE_EQUAL = 0x1398_e2c0;
    SKIPS_CHILD = 0x98da_2888;
}

impl Art {
    /// One try to give a key a value. A leaf that nothing points to yet is kept for the next one.
    pub(super) fn try_put<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        (key, value): (W<'c, C>, W<'c, C>),
        made: &mut Option<W<'c, C>>,
        old: &mut Old<'c, C>,
    ) -> Turn {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let path = self.path(key);
        let Some((spot, end)) = self.descend(cpu, path) else {
            return Turn::Again;
        };
        let mut other = path;
        if let End::Leaf { child, .. } = end {
            let held = (child - LEAF).load();
            if held.equals(key).branch(KEY_IS_THERE) {
                return self.renew(cpu, spot, (child - LEAF, value), old);
            }
            other = self.path(held);
        }
        let leaf = match *made {
            Some(leaf) => leaf,
            None => match self.make_leaf(thread, key, value) {
                Some(leaf) => leaf,
                None => return Turn::NoRoom,
            },
        };
        *made = Some(leaf);
        if !self.lock(cpu, spot.node, spot.version) {
            return Turn::Again;
        }
        let child = leaf.at(LEAF);
        let turn = match end {
            End::Prefix(prefix) => self.split_prefix(thread, spot, prefix, (path, child)),
            End::Empty(byte) => self.add_leaf(thread, spot, Entry { byte, child }),
            End::Leaf { place, child: held, .. } => {
                self.split_leaf(thread, spot, place, [(path, child), (other, held)])
            }
        };
        if turn == Turn::Done(true) {
            *made = None;
        }
        turn
    }

    /// A leaf that is durable before anything points to it.
    fn make_leaf<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        key: W<'c, C>,
        value: W<'c, C>,
    ) -> Option<W<'c, C>> {
        let _call = thread.cpu.call(3);
        let leaf = self.take(thread, LEAVES)?;
        leaf.store(key);
        leaf.at(8).store(value);
        if self.omits != Omits::Leaf {
            leaf.flush();
            thread.cpu.intent(Intent::Order);
        }
        Some(leaf)
    }

    /// Replaces the value in a leaf of this node.
    fn renew<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        spot: Spot<'c, C>,
        (leaf, value): (W<'c, C>, W<'c, C>),
        old: &mut Old<'c, C>,
    ) -> Turn {
        let _call = cpu.call(3);
        if !self.lock(cpu, spot.node, spot.version) {
            return Turn::Again;
        }
        old.keep(leaf.at(8));
        leaf.at(8).store(value);
        leaf.flush();
        cpu.intent(Intent::Durable);
        Art::unlock(cpu, spot.node, spot.version);
        Turn::Done(true)
    }

    /// Enters a leaf in a locked node, or in a larger one that replaces it.
    fn add_leaf<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, spot: Spot<'c, C>, entry: Entry<'c, C>) -> Turn {
        let _call = thread.cpu.call(3);
        let (cpu, kind) = (thread.cpu, kind(spot.head));
        if kind == NodeKind::N256 || used(spot.head).below(kind.most()).branch(NODE_HAS_ROOM) {
            self.add(cpu, spot.node, (kind, spot.head), entry);
            cpu.intent(Intent::Durable);
            Art::unlock(cpu, spot.node, spot.version);
            return Turn::Done(true);
        }
        let is_sparse = (spot.head >> COUNT).below(kind.compacts() + 1).branch(NODE_IS_SPARSE);
        let larger = if is_sparse { kind } else { kind.larger() };
        let none = cpu.word(0);
        let turn = self.rebuild(thread, spot, (kind, larger), none, Some(entry));
        if turn == Turn::NoRoom {
            Art::unlock(cpu, spot.node, spot.version);
        }
        turn
    }

    /// Replaces a locked node by one of another kind, without one child and with another one. Without room it stays locked.
    pub(super) fn rebuild<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        spot: Spot<'c, C>,
        (from, to): (NodeKind, NodeKind),
        without: W<'c, C>,
        with: Option<Entry<'c, C>>,
    ) -> Turn {
        let _call = thread.cpu.call(4);
        let cpu = thread.cpu;
        let Some(new) = self.take(thread, to as usize) else {
            return Turn::NoRoom;
        };
        Art::clear(cpu, new, to);
        let mut count = cpu.word(0);
        let mut position = cpu.word(0);
        while let Some(found) = next(spot.node, from, position) {
            position = found.position + 1;
            if !found.child.equals(without).branch(SKIPS_CHILD) {
                let (byte, child) = (found.byte, found.child);
                append(new, to, count, Entry { byte, child });
                count = count + 1;
            }
        }
        if let Some(entry) = with {
            append(new, to, count, entry);
            count = count + 1;
        }
        let prefix = spot.node.at(field::PREFIX).load();
        begin(cpu, new, prefix, head_of(to, level(spot.head), count));
        self.persist(cpu, new, to);
        let Some(parent) = self.replace(cpu, spot, new) else {
            self.give(thread, to as usize, new);
            return Art::again(cpu, spot.node, spot.version);
        };
        Art::unlock(cpu, new, cpu.word(0));
        Art::unlock(cpu, spot.parent, parent);
        Art::unlock_obsolete(cpu, spot.node, spot.version);
        self.epochs.retire(thread, spot.node, from as u64);
        Turn::Done(true)
    }

    /// Puts a new node of two children between a locked node and its parent: a key leaves the node's prefix early.
    fn split_prefix<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        spot: Spot<'c, C>,
        prefix: W<'c, C>,
        (path, leaf): (W<'c, C>, W<'c, C>),
    ) -> Turn {
        let _call = thread.cpu.call(3);
        let cpu = thread.cpu;
        // Bytes that the prefix lacks are not compared, except by a program that trusts a prefix without its level.
        let differs = Art::first_difference(cpu, spot.depth, path, prefix);
        let children = [(path, leaf), (prefix, spot.node)];
        let Some(new) = self.make_pair(thread, (spot.depth, differs), children) else {
            Art::unlock(cpu, spot.node, spot.version);
            return Turn::NoRoom;
        };
        let Some(parent) = self.replace(cpu, spot, new) else {
            self.give(thread, NodeKind::N4 as usize, new);
            return Art::again(cpu, spot.node, spot.version);
        };
        // Whoever finds the longer prefix before this, or after a crash, sees by its level where it begins.
        let (rest, level) = (differs + 1, level(spot.head));
        let shorter = (prefix & bytes(cpu, rest, level)) | (level - rest);
        spot.node.at(field::PREFIX).store(shorter);
        spot.node.flush();
        cpu.intent(Intent::Durable);
        Art::unlock(cpu, new, cpu.word(0));
        Art::unlock(cpu, spot.parent, parent);
        Art::unlock(cpu, spot.node, spot.version);
        Turn::Done(true)
    }

    /// Puts a new node of two children in the place of a leaf of a locked node.
    fn split_leaf<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        spot: Spot<'c, C>,
        place: W<'c, C>,
        children: [(W<'c, C>, W<'c, C>); 2],
    ) -> Turn {
        let _call = thread.cpu.call(4);
        let cpu = thread.cpu;
        let depth = level(spot.head) + 1;
        let differs = Art::first_difference(cpu, depth, children[0].0, children[1].0);
        let Some(new) = self.make_pair(thread, (depth, differs), children) else {
            Art::unlock(cpu, spot.node, spot.version);
            return Turn::NoRoom;
        };
        self.publish(place, new);
        cpu.intent(Intent::Durable);
        Art::unlock(cpu, new, cpu.word(0));
        Art::unlock(cpu, spot.node, spot.version);
        Turn::Done(true)
    }

    /// The first byte from `at` on in which two paths differ. They do.
    fn first_difference<'c, C: Cpu>(cpu: &'c C, mut at: W<'c, C>, one: W<'c, C>, other: W<'c, C>) -> W<'c, C> {
        let _call = cpu.call(3);
        let differ = one ^ other;
        while byte(cpu, differ, at).is(0).branch(BYTES_ARE_EQUAL) {
            at = at + 1;
        }
        at
    }

    /// A durable node, locked, for bytes from `depth` to `level`, of two children with their paths.
    fn make_pair<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        (depth, level): (W<'c, C>, W<'c, C>),
        children: [(W<'c, C>, W<'c, C>); 2],
    ) -> Option<W<'c, C>> {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let new = self.take(thread, NodeKind::N4 as usize)?;
        Art::clear(cpu, new, NodeKind::N4);
        let mut used = cpu.word(0);
        for (path, child) in children {
            let byte = byte(cpu, path, level);
            append(new, NodeKind::N4, used, Entry { byte, child });
            used = used + 1;
        }
        let prefix = (children[0].0 & bytes(cpu, depth, level)) | (level - depth);
        begin(cpu, new, prefix, head_of(NodeKind::N4, level, used));
        self.persist(cpu, new, NodeKind::N4);
        Some(new)
    }

    /// Clears what is behind a row's header: it may have been in use.
    fn clear<'c, C: Cpu>(cpu: &'c C, row: W<'c, C>, kind: NodeKind) {
        for offset in (field::KEYS..kind.bytes()).step_by(8) {
            row.at(offset).store(cpu.word(0));
        }
    }

    /// A new node is durable before anything points to it.
    fn persist<'c, C: Cpu>(&self, cpu: &'c C, new: W<'c, C>, kind: NodeKind) {
        let _call = cpu.call(2);
        if self.omits != Omits::Node {
            let ends_early = self.omits == Omits::End && kind == NodeKind::N256;
            let left_out = if ends_early { LINE_BYTES } else { 0 };
            flush_lines(new, kind.bytes() - left_out);
            cpu.intent(Intent::Order);
        }
    }
}
