//! The ways of writers and searches from the root, and the prefixes that they pass.

use super::node::{byte, bytes, field, find, kind, level, next, Child, LEAF, LOCKED, OBSOLETE};
use super::{Art, Omits, Turn};
use strandline_isa::{sites, Cpu, Intent, Primitive, W};

sites! {
    PREFIX_IS_WHOLE = 0xf582_e38d;
    PREFIX_CHANGES = 0x9d69_939f;
    PREFIX_IS_SHORT = 0x0d6c_1d03;
    PREFIX_MATCHES = 0x7f8b_6095;
    CHILD_IS_ABSENT = 0xce2b_b4e7;
    CHILD_IS_LEAF = 0x9e03_9472;
    SEARCH_PREFIX_MATCHES = 0x0155_3a26;
    SEARCH_ENDS = 0x855e_68c5;
    SEARCH_HAS_LEAF = 0x0bad_e0c1;
    LEAF_MATCHES = 0x801b_8f2b;
    NODE_IS_AS_SEEN = 0x2b99_955a;
    NODE_IS_TAKEN = 0x73a2_1ce6;
    PARENT_IS_OBSOLETE = 0xcf53_d612;
    PARENT_IS_FREE = 0x0701_4b68;
    PARENT_IS_TAKEN = 0xf7fd_b101;
    PARENT_IS_STILL = 0x13db_1699;
    WAY_IS_STILL = 0x519a_63b6;
    ANY_IS_LEAF = 0x459a_70c7;
}

/// Where a writer has come to.
pub(super) struct Spot<'c, C: Cpu> {
    pub node: W<'c, C>,
    /// Its lock when the writer came, and its head since.
    pub version: W<'c, C>,
    pub head: W<'c, C>,
    /// Where the node's prefix begins.
    pub depth: W<'c, C>,
    /// The node above, and the address of the word that points to the node.
    pub parent: W<'c, C>,
    pub place: W<'c, C>,
}

impl<C: Cpu> Clone for Spot<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Cpu> Copy for Spot<'_, C> {}

/// How a writer's way ends at a node.
pub(super) enum End<'c, C: Cpu> {
    /// The prefix is another, whose word this is.
    Prefix(W<'c, C>),
    /// There is no child for the key's byte.
    Empty(W<'c, C>),
    /// The child for the key's byte is a leaf.
    Leaf {
        byte: W<'c, C>,
        place: W<'c, C>,
        child: W<'c, C>,
    },
}

impl Art {
    /// The leaf of a key, without a lock. A prefix that is changing is skipped: the leaf has the whole key.
    pub(super) fn search<'c, C: Cpu>(&self, cpu: &'c C, key: W<'c, C>) -> Option<W<'c, C>> {
        let _call = cpu.call(1);
        let path = self.path(key);
        let (mut at, mut depth) = (cpu.word(self.root), cpu.word(0));
        loop {
            let head = at.at(field::HEAD).load();
            let prefix = at.at(field::PREFIX).load();
            let level = level(head);
            let from = depth.max(level - (prefix & 0xff));
            let differ = (prefix ^ path) & bytes(cpu, from, level);
            if !differ.is(0).branch(SEARCH_PREFIX_MATCHES) {
                return None;
            }
            let child = find(cpu, at, kind(head), byte(cpu, path, level)).child;
            if child.is(0).branch(SEARCH_ENDS) {
                return None;
            }
            if (child & LEAF).is(LEAF).branch(SEARCH_HAS_LEAF) {
                let leaf = child - LEAF;
                return leaf.load().equals(key).branch(LEAF_MATCHES).then_some(leaf);
            }
            (at, depth) = (child, level + 1);
        }
    }

    /// A writer's way to where a key is or belongs. `None`: another writer is in the way, or a prefix was mended.
    pub(super) fn descend<'c, C: Cpu>(&self, cpu: &'c C, path: W<'c, C>) -> Option<(Spot<'c, C>, End<'c, C>)> {
        let _call = cpu.call(1);
        let nowhere = cpu.word(0);
        let mut above = nowhere;
        let mut spot = Spot {
            node: cpu.word(self.root),
            version: nowhere,
            head: nowhere,
            depth: nowhere,
            parent: nowhere,
            place: nowhere,
        };
        loop {
            let at = spot.node;
            spot.version = at.at(field::LOCK).load();
            spot.head = at.at(field::HEAD).load();
            let prefix = at.at(field::PREFIX).load();
            let level = level(spot.head);
            let mut from = spot.depth;
            if !(from + (prefix & 0xff)).equals(level).branch(PREFIX_IS_WHOLE) {
                if self.omits == Omits::Level {
                    from = level - (prefix & 0xff);
                } else if ((spot.version | above) & (OBSOLETE | LOCKED))
                    .is(0)
                    .branch(PREFIX_CHANGES)
                {
                    self.mend_prefix(cpu, spot, above);
                    return None;
                } else if (from + (prefix & 0xff)).less(level).branch(PREFIX_IS_SHORT) {
                    return None;
                }
            }
            let differ = (prefix ^ path) & bytes(cpu, from, level);
            if !differ.is(0).branch(PREFIX_MATCHES) {
                return Some((spot, End::Prefix(prefix)));
            }
            let byte = byte(cpu, path, level);
            let Child { place, child } = find(cpu, at, kind(spot.head), byte);
            if child.is(0).branch(CHILD_IS_ABSENT) {
                return Some((spot, End::Empty(byte)));
            }
            if (child & LEAF).is(LEAF).branch(CHILD_IS_LEAF) {
                return Some((spot, End::Leaf { byte, place, child }));
            }
            above = spot.version;
            (spot.node, spot.depth, spot.parent, spot.place) = (child, level + 1, at, place);
        }
    }

    /// Gives a node the prefix that a crash has kept from it, or taken: as long as the way from its parent, whose lock
    /// was `above`.
    fn mend_prefix<'c, C: Cpu>(&self, cpu: &'c C, spot: Spot<'c, C>, above: W<'c, C>) {
        let _call = cpu.call(2);
        if !self.lock(cpu, spot.node, spot.version) {
            return;
        }
        let now = spot.parent.at(field::LOCK).load();
        if now.equals(above).branch(WAY_IS_STILL) {
            self.set_prefix(cpu, spot.node, spot.depth);
            cpu.intent(Intent::Durable);
        }
        Art::unlock(cpu, spot.node, spot.version);
    }

    /// Writes the prefix of a locked node from byte `depth` on, as a leaf has it, and flushes it.
    pub(super) fn set_prefix<'c, C: Cpu>(&self, cpu: &'c C, at: W<'c, C>, depth: W<'c, C>) {
        let _call = cpu.call(2);
        let level = level(at.at(field::HEAD).load());
        if let Some(path) = self.any_path(cpu, at) {
            let prefix = (path & bytes(cpu, depth, level)) | (level - depth);
            at.at(field::PREFIX).store(prefix);
            at.flush();
        }
    }

    /// The path of a leaf below a node. `None`: others have just deleted what was seen on the way.
    fn any_path<'c, C: Cpu>(&self, cpu: &'c C, mut at: W<'c, C>) -> Option<W<'c, C>> {
        let _call = cpu.call(1);
        loop {
            let head = at.at(field::HEAD).load();
            let child = next(at, kind(head), cpu.word(0))?.child;
            if (child & LEAF).is(LEAF).branch(ANY_IS_LEAF) {
                return Some(self.path((child - LEAF).load()));
            }
            at = child;
        }
    }

    /// Locks a node if it is as it was when its lock was this.
    pub(super) fn lock<'c, C: Cpu>(&self, cpu: &'c C, at: W<'c, C>, version: W<'c, C>) -> bool {
        let _call = cpu.call(2);
        let is_locked = (version & (OBSOLETE | LOCKED)).is(0).branch(NODE_IS_AS_SEEN)
            && at
                .at(field::LOCK)
                .compare_swap(version, version + LOCKED)
                .equals(version)
                .branch(NODE_IS_TAKEN);
        if is_locked {
            cpu.intent(Intent::Acquire);
        }
        is_locked
    }

    /// Unlocks a node, whose lock was this before: it has changed.
    pub(super) fn unlock<'c, C: Cpu>(cpu: &'c C, at: W<'c, C>, version: W<'c, C>) {
        Art::release(cpu, at, version + 2 * LOCKED);
    }

    /// Unlocks a node that another one has replaced.
    pub(super) fn unlock_obsolete<'c, C: Cpu>(cpu: &'c C, at: W<'c, C>, version: W<'c, C>) {
        Art::release(cpu, at, version + OBSOLETE);
    }

    fn release<'c, C: Cpu>(cpu: &'c C, at: W<'c, C>, word: W<'c, C>) {
        cpu.intent(Intent::Release);
        cpu.primitive(Primitive::StoreBarrier);
        at.at(field::LOCK).store(word);
    }

    /// Locks the parent of a locked node, if it is still that. What its lock was.
    pub(super) fn lock_parent<'c, C: Cpu>(&self, cpu: &'c C, spot: Spot<'c, C>) -> Option<W<'c, C>> {
        let _call = cpu.call(1);
        let lock = spot.parent.at(field::LOCK);
        let version = loop {
            let version = lock.load();
            if (version & OBSOLETE).is(OBSOLETE).branch(PARENT_IS_OBSOLETE) {
                return None;
            }
            if (version & LOCKED).is(0).branch(PARENT_IS_FREE)
                && lock
                    .compare_swap(version, version + LOCKED)
                    .equals(version)
                    .branch(PARENT_IS_TAKEN)
            {
                break version;
            }
            cpu.give_way();
            cpu.spins();
        };
        cpu.intent(Intent::Acquire);
        if spot.place.load().equals(spot.node).branch(PARENT_IS_STILL) {
            return Some(version);
        }
        Art::unlock(cpu, spot.parent, version);
        None
    }

    /// Has the parent of a locked node point to another child, durably. It stays locked: what its lock was.
    pub(super) fn replace<'c, C: Cpu>(&self, cpu: &'c C, spot: Spot<'c, C>, child: W<'c, C>) -> Option<W<'c, C>> {
        let _call = cpu.call(2);
        let version = self.lock_parent(cpu, spot)?;
        self.publish(spot.place, child);
        cpu.intent(Intent::Durable);
        Some(version)
    }

    /// Another writer is in the way.
    pub(super) fn again<'c, C: Cpu>(cpu: &'c C, at: W<'c, C>, version: W<'c, C>) -> Turn {
        Art::unlock(cpu, at, version);
        Turn::Again
    }
}
