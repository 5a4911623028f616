//! Deletions: leaves, and the nodes that become too large.

use super::descent::{End, Spot};
use super::node::{field, kind, next, NodeKind, COUNT, LEAF, LOCKED};
use super::{Art, Turn, LEAVES};
use crate::maps::Old;
use strandline_isa::{sites, Cpu, Intent, W};
use strandline_runtime::ThreadState;

sites! {
    DELETED_KEY_IS_THERE = 0x7f2f_dfa4;
    NODE_HAS_TWO = 0xf1a1_77ae;
    NODE_IS_ROOT = 0x7e8a_ce0a;
    NODE_IS_LARGE = 0xb519_b93d;
    IS_DELETED_LEAF = 0xdb67_5153;
    OTHER_IS_FREE = 0x5b1e_c7a3;
    OTHER_IS_LEAF = 0x080a_848c;
}

impl Art {
    /// One try to delete a key.
    pub(super) fn try_remove<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        key: W<'c, C>,
        old: &mut Old<'c, C>,
    ) -> Turn {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let path = self.path(key);
        let Some((spot, end)) = self.descend(cpu, path) else {
            return Turn::Again;
        };
        let End::Leaf { byte, place, child } = end else {
            return Turn::Done(false);
        };
        if !(child - LEAF).load().equals(key).branch(DELETED_KEY_IS_THERE) {
            return Turn::Done(false);
        }
        if !self.lock(cpu, spot.node, spot.version) {
            return Turn::Again;
        }
        let turn = self.remove_leaf(thread, spot, (byte, place, child));
        if turn == Turn::Done(true) {
            // Nobody changes a leaf that the tree does not have.
            old.keep((child - LEAF).at(8));
            self.epochs.retire(thread, child - LEAF, LEAVES as u64);
        }
        turn
    }

    /// Deletes a leaf of a locked node, which is unlocked.
    fn remove_leaf<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        spot: Spot<'c, C>,
        (byte, place, child): (W<'c, C>, W<'c, C>, W<'c, C>),
    ) -> Turn {
        let _call = thread.cpu.call(2);
        let (cpu, kind) = (thread.cpu, kind(spot.head));
        if !spot.parent.is(0).branch(NODE_IS_ROOT) {
            let count = spot.head >> COUNT;
            if count.is(2).branch(NODE_HAS_TWO) {
                return self.merge(thread, spot, kind, child);
            }
            if kind != NodeKind::N4 && count.below(kind.shrinks() + 1).branch(NODE_IS_LARGE) {
                let kinds = (kind, kind.smaller());
                // Without a row for a smaller node, the node stays.
                let turn = self.rebuild(thread, spot, kinds, child, None);
                if turn != Turn::NoRoom {
                    return turn;
                }
            }
        }
        self.drop_child(cpu, spot.node, (kind, spot.head), (byte, place));
        cpu.intent(Intent::Durable);
        Art::unlock(cpu, spot.node, spot.version);
        Turn::Done(true)
    }

    /// Has the parent of a locked node of two children point to the one that is left.
    fn merge<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        spot: Spot<'c, C>,
        kind: NodeKind,
        deleted: W<'c, C>,
    ) -> Turn {
        let _call = thread.cpu.call(4);
        let cpu = thread.cpu;
        let Some(other) = Art::other(cpu, spot.node, kind, deleted) else {
            return Art::again(cpu, spot.node, spot.version);
        };
        if (other & LEAF).is(LEAF).branch(OTHER_IS_LEAF) {
            let Some(parent) = self.replace(cpu, spot, other) else {
                return Art::again(cpu, spot.node, spot.version);
            };
            Art::unlock(cpu, spot.parent, parent);
        } else {
            let version = other.at(field::LOCK).load();
            if !self.lock(cpu, other, version) {
                Art::unlock(cpu, spot.node, spot.version);
                return Art::let_pass(cpu, other);
            }
            let Some(parent) = self.replace(cpu, spot, other) else {
                Art::unlock(cpu, other, version);
                return Art::again(cpu, spot.node, spot.version);
            };
            // Whoever finds the shorter prefix before this, or after a crash, sees by its level that bytes are missing.
            self.set_prefix(cpu, other, spot.depth);
            cpu.intent(Intent::Durable);
            Art::unlock(cpu, spot.parent, parent);
            Art::unlock(cpu, other, version);
        }
        Art::unlock_obsolete(cpu, spot.node, spot.version);
        self.epochs.retire(thread, spot.node, kind as u64);
        Turn::Done(true)
    }

    /// Waits until a node is unlocked. Its holder may wait for the parent, which this thread would lock again.
    fn let_pass<'c, C: Cpu>(cpu: &'c C, at: W<'c, C>) -> Turn {
        let _call = cpu.call(1);
        while !(at.at(field::LOCK).load() & LOCKED).is(0).branch(OTHER_IS_FREE) {
            cpu.give_way();
            cpu.spins();
        }
        Turn::Again
    }

    /// The child of a node that is not this one.
    fn other<'c, C: Cpu>(cpu: &'c C, at: W<'c, C>, kind: NodeKind, deleted: W<'c, C>) -> Option<W<'c, C>> {
        let _call = cpu.call(3);
        let mut position = cpu.word(0);
        loop {
            let found = next(at, kind, position)?;
            if !found.child.equals(deleted).branch(IS_DELETED_LEAF) {
                return Some(found.child);
            }
            position = found.position + 1;
        }
    }
}
