//! Nodes of four sizes.
//!
//! All begin with a lock, a prefix and a head. A child is a node's address, or a leaf's with the lowest bit set.

use super::{Art, Omits};
use strandline_isa::{sites, Cpu, Intent, Primitive, W};

sites! {
    NODE_IS_256 = 0xf016_34b2;
    NODE_IS_4 = 0xde9e_47e5;
    NODE_IS_16 = 0xa503_b459;
    NO_MORE_MATCHES = 0x26f7_e75b;
    MATCH_HAS_CHILD = 0x5851_6546;
    BYTE_HAS_NO_CHILD = 0x31c5_0463;
    CHILDREN_END = 0x80b6_026d;
    PLACE_IS_EMPTY = 0xe2c6_14bd;
    INDEX_IS_EMPTY = 0xf74e_50b2;
}

/// Offsets in a node.
pub(super) mod field {
    /// Twice [`super::LOCKED`] for each change, whether it is locked, and whether another node has replaced it.
    pub const LOCK: u64 = 0;
    /// The bytes of all its keys before its level that its parent does not compare, each at its place in the key; in the
    /// lowest byte, how many.
    pub const PREFIX: u64 = 8;
    /// Its kind; its level, which is the byte of keys that chooses the child; places used, and children.
    pub const HEAD: u64 = 16;
    /// The children's bytes (4 and 16).
    pub const KEYS: u64 = 24;
    /// For each byte, the number of the child's place and one, or 0 (48).
    pub const INDEX: u64 = 64;
}

/// Bits of a lock.
pub(super) const OBSOLETE: u64 = 1;
pub(super) const LOCKED: u64 = 2;

/// Where the head holds the level, the places used, and the number of children.
pub(super) const LEVEL: u64 = 8;
pub(super) const USED: u64 = 16;
pub(super) const COUNT: u64 = 32;

/// A leaf's bit.
pub(super) const LEAF: u64 = 1;

/// Kinds of nodes, by the most children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    N4,
    N16,
    N48,
    N256,
}

impl NodeKind {
    pub const ALL: [NodeKind; 4] = [NodeKind::N4, NodeKind::N16, NodeKind::N48, NodeKind::N256];

    pub const fn bytes(self) -> u64 {
        self.children() + 8 * self.most()
    }

    /// The most children.
    pub const fn most(self) -> u64 {
        match self {
            NodeKind::N4 => 4,
            NodeKind::N16 => 16,
            NodeKind::N48 => 48,
            NodeKind::N256 => 256,
        }
    }

    /// The offset of the children. A 4 has one line.
    pub const fn children(self) -> u64 {
        match self {
            NodeKind::N4 => 32,
            NodeKind::N16 | NodeKind::N256 => 64,
            NodeKind::N48 => 320,
        }
    }

    /// What a full node becomes that has no more children than this, because some were deleted: a new one of its kind.
    pub const fn compacts(self) -> u64 {
        match self {
            NodeKind::N4 => 3,
            NodeKind::N16 => 14,
            NodeKind::N48 | NodeKind::N256 => 47,
        }
    }

    /// A node that has no more children than this before a deletion becomes a smaller one.
    pub const fn shrinks(self) -> u64 {
        match self {
            NodeKind::N4 => 0,
            NodeKind::N16 => 3,
            NodeKind::N48 => 12,
            NodeKind::N256 => 37,
        }
    }

    pub const fn larger(self) -> NodeKind {
        match self {
            NodeKind::N4 => NodeKind::N16,
            NodeKind::N16 => NodeKind::N48,
            NodeKind::N48 | NodeKind::N256 => NodeKind::N256,
        }
    }

    pub const fn smaller(self) -> NodeKind {
        match self {
            NodeKind::N4 | NodeKind::N16 => NodeKind::N4,
            NodeKind::N48 => NodeKind::N16,
            NodeKind::N256 => NodeKind::N48,
        }
    }

    /// Positions of children: bytes, or places.
    pub const fn positions(self) -> u64 {
        match self {
            NodeKind::N4 | NodeKind::N16 => self.most(),
            NodeKind::N48 | NodeKind::N256 => 256,
        }
    }
}

/// A child, and the address of the word that holds it.
pub(super) struct Child<'c, C: Cpu> {
    pub place: W<'c, C>,
    pub child: W<'c, C>,
}

/// A child on the way through all of a node.
pub(super) struct Next<'c, C: Cpu> {
    pub position: W<'c, C>,
    pub byte: W<'c, C>,
    pub child: W<'c, C>,
}

/// A child's byte, and the child.
pub(super) struct Entry<'c, C: Cpu> {
    pub byte: W<'c, C>,
    pub child: W<'c, C>,
}

/// The kind in a node's head.
pub(super) fn kind<'c, C: Cpu>(head: W<'c, C>) -> NodeKind {
    let code = head & 0xff;
    if code.is(NodeKind::N256 as u64).branch(NODE_IS_256) {
        NodeKind::N256
    } else if code.is(NodeKind::N4 as u64).branch(NODE_IS_4) {
        NodeKind::N4
    } else if code.is(NodeKind::N16 as u64).branch(NODE_IS_16) {
        NodeKind::N16
    } else {
        NodeKind::N48
    }
}

pub(super) fn level<'c, C: Cpu>(head: W<'c, C>) -> W<'c, C> {
    (head >> LEVEL) & 0xff
}

pub(super) fn used<'c, C: Cpu>(head: W<'c, C>) -> W<'c, C> {
    (head >> USED) & 0xff
}

/// Byte `at` of a key, from the most significant.
pub(super) fn byte<'c, C: Cpu>(cpu: &'c C, key: W<'c, C>, at: W<'c, C>) -> W<'c, C> {
    (key >> (cpu.word(56) - (at << 3))) & 0xff
}

/// The bits of the bytes from `from` to `to` of a key.
pub(super) fn bytes<'c, C: Cpu>(cpu: &'c C, from: W<'c, C>, to: W<'c, C>) -> W<'c, C> {
    let all = cpu.word(u64::MAX);
    (all >> (from << 3)) ^ (all >> (to << 3))
}

fn place<'c, C: Cpu>(at: W<'c, C>, kind: NodeKind, number: W<'c, C>) -> W<'c, C> {
    (at + (number << 3)).at(kind.children())
}

/// The child for a byte; 0 without one.
pub(super) fn find<'c, C: Cpu>(cpu: &'c C, at: W<'c, C>, kind: NodeKind, byte: W<'c, C>) -> Child<'c, C> {
    let _call = cpu.call(3);
    match kind {
        NodeKind::N4 | NodeKind::N16 => find_key(cpu, at, kind, byte),
        NodeKind::N48 => {
            let number = (at + byte).at(field::INDEX).load_sized(1);
            if number.is(0).branch(BYTE_HAS_NO_CHILD) {
                return Child {
                    place: at,
                    child: number,
                };
            }
            let place = place(at, kind, number - 1);
            Child {
                place,
                child: place.load(),
            }
        }
        NodeKind::N256 => {
            let place = place(at, kind, byte);
            Child {
                place,
                child: place.load(),
            }
        }
    }
}

/// As [`find`] in a node with an array of bytes. A place keeps its byte when its child is deleted.
fn find_key<'c, C: Cpu>(cpu: &'c C, at: W<'c, C>, kind: NodeKind, byte: W<'c, C>) -> Child<'c, C> {
    let _call = cpu.call(3);
    let wanted = byte * 0x0101_0101_0101_0101;
    let lower = at.at(field::KEYS).load().equal_bytes(wanted);
    let mut matches = match kind {
        NodeKind::N4 => lower & 0xf,
        _ => lower | (at.at(field::KEYS + 8).load().equal_bytes(wanted) << 8),
    };
    loop {
        if matches.is(0).branch(NO_MORE_MATCHES) {
            return Child {
                place: at,
                child: cpu.word(0),
            };
        }
        let place = place(at, kind, matches.lowest_one());
        let child = place.load();
        if !child.is(0).branch(MATCH_HAS_CHILD) {
            return Child { place, child };
        }
        matches = matches & (matches - 1);
    }
}

/// The first child at a position or behind it.
pub(super) fn next<'c, C: Cpu>(at: W<'c, C>, kind: NodeKind, mut position: W<'c, C>) -> Option<Next<'c, C>> {
    let _call = at.call(3);
    while position.below(kind.positions()).branch(CHILDREN_END) {
        let (mut number, mut byte) = (position, position);
        let mut is_there = true;
        match kind {
            NodeKind::N4 | NodeKind::N16 => byte = (at + position).at(field::KEYS).load_sized(1),
            NodeKind::N48 => {
                number = (at + position).at(field::INDEX).load_sized(1);
                is_there = !number.is(0).branch(INDEX_IS_EMPTY);
                number = number - 1;
            }
            NodeKind::N256 => {}
        }
        if is_there {
            let child = place(at, kind, number).load();
            if !child.is(0).branch(PLACE_IS_EMPTY) {
                return Some(Next { position, byte, child });
            }
        }
        position = position + 1;
    }
    None
}

/// Enters a child in a new node, which nobody sees, as number `used`.
pub(super) fn append<'c, C: Cpu>(at: W<'c, C>, kind: NodeKind, used: W<'c, C>, entry: Entry<'c, C>) {
    let _call = at.call(4);
    let mut number = used;
    match kind {
        NodeKind::N4 | NodeKind::N16 => (at + used).at(field::KEYS).store_sized(entry.byte, 1),
        NodeKind::N48 => (at + entry.byte).at(field::INDEX).store_sized(used + 1, 1),
        NodeKind::N256 => number = entry.byte,
    }
    place(at, kind, number).store(entry.child);
}

/// The head of a new node with so many children.
pub(super) fn head_of<'c, C: Cpu>(kind: NodeKind, level: W<'c, C>, count: W<'c, C>) -> W<'c, C> {
    let head = (level << LEVEL) | (count << COUNT) | kind as u64;
    match kind {
        NodeKind::N256 => head,
        _ => head | (count << USED),
    }
}

/// Writes the header of a new node, which is born locked: nobody changes it before it is reached durably.
pub(super) fn begin<'c, C: Cpu>(cpu: &'c C, at: W<'c, C>, prefix: W<'c, C>, head: W<'c, C>) {
    at.at(field::LOCK).store(cpu.word(LOCKED));
    at.at(field::PREFIX).store(prefix);
    at.at(field::HEAD).store(head);
}

impl Art {
    /// Enters a child in a locked node with room for it, and flushes what makes it visible.
    pub(super) fn add<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        at: W<'c, C>,
        (kind, head): (NodeKind, W<'c, C>),
        entry: Entry<'c, C>,
    ) {
        let _call = cpu.call(2);
        let used = used(head);
        let grown = match kind {
            NodeKind::N256 => head + (1 << COUNT),
            _ => head + ((1 << COUNT) + (1 << USED)),
        };
        match kind {
            NodeKind::N4 | NodeKind::N16 => {
                (at + used).at(field::KEYS).store_sized(entry.byte, 1);
                at.at(field::HEAD).store(grown);
                // The key and the child of a 4 are in one line.
                if kind == NodeKind::N16 && self.omits != Omits::Byte {
                    at.flush();
                    cpu.intent(Intent::Order);
                }
                cpu.primitive(Primitive::StoreBarrier);
                self.publish(place(at, kind, used), entry.child);
            }
            NodeKind::N48 => {
                let place = place(at, kind, used);
                place.store(entry.child);
                at.at(field::HEAD).store(grown);
                if self.omits != Omits::Byte {
                    place.flush();
                    cpu.intent(Intent::Order);
                }
                cpu.primitive(Primitive::StoreBarrier);
                let index = (at + entry.byte).at(field::INDEX);
                index.store_sized(used + 1, 1);
                index.flush();
            }
            NodeKind::N256 => {
                self.publish(place(at, kind, entry.byte), entry.child);
                at.at(field::HEAD).store(grown);
            }
        }
    }

    /// Deletes a child of a locked node, and flushes that.
    pub(super) fn drop_child<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        at: W<'c, C>,
        (kind, head): (NodeKind, W<'c, C>),
        (byte, place): (W<'c, C>, W<'c, C>),
    ) {
        let _call = cpu.call(1);
        let nothing = cpu.word(0);
        if kind == NodeKind::N48 {
            let index = (at + byte).at(field::INDEX);
            index.store_sized(nothing, 1);
            index.flush();
            place.store(nothing);
        } else {
            self.publish(place, nothing);
        }
        at.at(field::HEAD).store(head - (1 << COUNT));
    }

    /// Stores a child that others see, and flushes it.
    pub(super) fn publish<'c, C: Cpu>(&self, place: W<'c, C>, child: W<'c, C>) {
        let _call = place.call(2);
        place.store(child);
        if self.omits != Omits::Pointer {
            place.flush();
        }
    }
}
