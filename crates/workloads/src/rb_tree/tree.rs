//! The red-black tree in an open region, changed store by store: insertion and deletion of Cormen, Leiserson, Rivest
//! and Stein, "Introduction to Algorithms", chapter 13. 0 replaces their shared leaf.
//!
//! A node with two children is not removed itself. It takes the key and value of the next node, which is removed.

use strandline_isa::{sites, Cpu, W};
use strandline_runtime::Region;

sites! {
    IS_NO_NODE = 0xb7ab_ee80;
    NODE_IS_RED = 0x89fc_6383;
    IS_LEFT_CHILD = 0x9617_04a9;
    PATH_ENDS = 0x2886_153a;
    KEY_MATCHES = 0xeb34_e1d8;
    KEY_IS_LESS = 0x867e_a90a;
    ATTACHES_ROOT = 0x9fcf_5510;
    REPLACES_ROOT = 0x7d57_0ee9;
    MIDDLE_IS_NONE = 0xf90e_7725;
    TREE_IS_EMPTY = 0x61e3_8397;
    GRANDPARENT_IS_ROOT = 0x50c5_6ded;
    CHILD_IS_INNER = 0xc6b4_67b1;
    LEFT_IS_NONE = 0x0308_25fc;
    CHILD_IS_NONE = 0xb02e_8412;
    GONE_IS_ROOT = 0x5e63_30e6;
    LACKS_LEFT = 0x8fb0_f4ec;
    LACKS_RIGHT = 0x11d5_f2d4;
    NEXT_IS_LEAST = 0x1759_5b40;
    PARENT_IS_ROOT = 0x2f34_2747;
}

/// Offsets in a node.
pub(crate) mod node {
    pub const KEY: u64 = 0;
    pub const LEFT: u64 = 8;
    pub const RIGHT: u64 = 16;
    pub const PARENT: u64 = 24;
    pub const COLOUR: u64 = 32;
    pub const VALUE: u64 = 40;
    pub const BYTES: u64 = 48;
}

/// Offsets in the tree's header.
pub(crate) mod header {
    pub const ROOT: u64 = 0;
    pub const SIZE: u64 = 8;
    pub const BYTES: u64 = 16;
}

/// Colours of nodes; an absent node counts as black.
pub(crate) const BLACK: u64 = 0;
pub(crate) const RED: u64 = 1;

/// Which child.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Left,
    Right,
}

impl Side {
    fn link(self) -> u64 {
        match self {
            Side::Left => node::LEFT,
            Side::Right => node::RIGHT,
        }
    }

    fn other(self) -> Side {
        match self {
            Side::Left => Side::Right,
            Side::Right => Side::Left,
        }
    }
}

/// The position of a key: its node or 0, that node's parent or 0, and the side below the parent.
pub(crate) struct KeyPlace<'c, C: Cpu> {
    pub node: W<'c, C>,
    parent: W<'c, C>,
    side: Side,
}

/// The tree, read and changed through a region.
pub(crate) struct Tree<'t, 'l, 'c, C: Cpu> {
    pub cpu: &'c C,
    pub region: &'t mut Region<'l, 'c, C>,
    pub header: W<'c, C>,
}

impl<'c, C: Cpu> Tree<'_, '_, 'c, C> {
    fn get(&mut self, node: W<'c, C>, field: u64) -> W<'c, C> {
        self.region.read(node.at(field), 8)
    }

    fn set(&mut self, node: W<'c, C>, field: u64, value: W<'c, C>) {
        self.region.write(node.at(field), value, 8);
    }

    fn paint(&mut self, node: W<'c, C>, colour: u64) {
        self.set(node, node::COLOUR, self.cpu.word(colour));
    }

    /// Whether there is a node and it is red.
    fn is_red(&mut self, node: W<'c, C>) -> bool {
        !node.is(0).branch(IS_NO_NODE) && self.get(node, node::COLOUR).is(RED).branch(NODE_IS_RED)
    }

    /// Which child of its parent a node is.
    fn side_of(&mut self, parent: W<'c, C>, node: W<'c, C>) -> Side {
        let _call = parent.call(3);
        match self.get(parent, node::LEFT).equals(node).branch(IS_LEFT_CHILD) {
            true => Side::Left,
            false => Side::Right,
        }
    }

    /// The position of a key, present or absent.
    pub fn find(&mut self, key: W<'c, C>) -> KeyPlace<'c, C> {
        let _call = key.call(2);
        let mut place = KeyPlace {
            node: self.get(self.header, header::ROOT),
            parent: self.cpu.word(0),
            side: Side::Left,
        };
        while !place.node.is(0).branch(PATH_ENDS) {
            let here = self.get(place.node, node::KEY);
            if key.equals(here).branch(KEY_MATCHES) {
                break;
            }
            place.side = if key.less(here).branch(KEY_IS_LESS) {
                Side::Left
            } else {
                Side::Right
            };
            place.parent = place.node;
            place.node = self.get(place.node, place.side.link());
        }
        place
    }

    /// Makes `child` (or 0) a child of `parent`, or the root if `parent` is 0.
    fn attach(&mut self, parent: W<'c, C>, side: Side, child: W<'c, C>) {
        let _call = parent.call(4);
        if parent.is(0).branch(ATTACHES_ROOT) {
            self.set(self.header, header::ROOT, child);
        } else {
            self.set(parent, side.link(), child);
        }
    }

    /// Replaces `node` below its parent by `child` (or 0); returns the side.
    fn replace(&mut self, node: W<'c, C>, parent: W<'c, C>, child: W<'c, C>) -> Side {
        let _call = node.call(4);
        let side = match parent.is(0).branch(REPLACES_ROOT) {
            true => Side::Left,
            false => self.side_of(parent, node),
        };
        self.attach(parent, side, child);
        side
    }

    /// Rotates `top` down to `side`; its other child takes its place.
    fn rotate(&mut self, top: W<'c, C>, side: Side) {
        let _call = top.call(3);
        let (near, far) = (side.link(), side.other().link());
        let riser = self.get(top, far);
        let middle = self.get(riser, near);
        let above = self.get(top, node::PARENT);
        self.set(top, far, middle);
        if !middle.is(0).branch(MIDDLE_IS_NONE) {
            self.set(middle, node::PARENT, top);
        }
        self.set(riser, node::PARENT, above);
        self.replace(top, above, riser);
        self.set(riser, near, top);
        self.set(top, node::PARENT, riser);
    }

    /// Inserts a new node at the position of its absent key.
    pub fn insert(&mut self, place: KeyPlace<'c, C>, new: W<'c, C>, key: W<'c, C>, value: W<'c, C>) {
        let _call = new.call(5);
        let KeyPlace { parent, side, .. } = place;
        let nowhere = self.cpu.word(0);
        self.set(new, node::KEY, key);
        self.set(new, node::LEFT, nowhere);
        self.set(new, node::RIGHT, nowhere);
        self.set(new, node::PARENT, parent);
        self.set(new, node::VALUE, value);
        let colour = if parent.is(0).branch(TREE_IS_EMPTY) { BLACK } else { RED };
        self.paint(new, colour);
        self.attach(parent, side, new);
        self.part_reds(new, parent);
        let size = self.get(self.header, header::SIZE);
        self.set(self.header, header::SIZE, size + 1);
    }

    /// `node` is red or the root. Recolours and rotates while its parent is red, too.
    fn part_reds(&mut self, mut node: W<'c, C>, mut parent: W<'c, C>) {
        let _call = node.call(3);
        while self.is_red(parent) {
            // The root is black, so a red parent has a parent.
            let grand = self.get(parent, node::PARENT);
            let side = self.side_of(grand, parent);
            let uncle = self.get(grand, side.other().link());
            if !self.is_red(uncle) {
                return self.part_by_rotation(node, parent, grand, side);
            }
            self.paint(parent, BLACK);
            self.paint(uncle, BLACK);
            (node, parent) = (grand, self.get(grand, node::PARENT));
            if parent.is(0).branch(GRANDPARENT_IS_ROOT) {
                return;
            }
            self.paint(node, RED);
        }
    }

    /// The case of a black uncle: `parent` is the child of `grand` on `side`; both `node` and `parent` are red.
    fn part_by_rotation(&mut self, node: W<'c, C>, parent: W<'c, C>, grand: W<'c, C>, side: Side) {
        let _call = node.call(5);
        let inner = self
            .get(parent, side.other().link())
            .equals(node)
            .branch(CHILD_IS_INNER);
        let middle = match inner {
            true => {
                self.rotate(parent, side);
                node
            }
            false => parent,
        };
        self.paint(middle, BLACK);
        self.paint(grand, RED);
        self.rotate(grand, side.other());
    }

    /// Removes the key of a node; returns the node that becomes free.
    pub fn delete(&mut self, node: W<'c, C>) -> W<'c, C> {
        let _call = node.call(2);
        let gone = self.give_up(node);
        let mut child = self.get(gone, node::LEFT);
        if child.is(0).branch(LEFT_IS_NONE) {
            child = self.get(gone, node::RIGHT);
        }
        let parent = self.get(gone, node::PARENT);
        let side = self.replace(gone, parent, child);
        if !child.is(0).branch(CHILD_IS_NONE) {
            // An only child is red, and its parent black.
            self.set(child, node::PARENT, parent);
            self.paint(child, BLACK);
        } else if !parent.is(0).branch(GONE_IS_ROOT) && !self.is_red(gone) {
            self.make_up(parent, side);
        }
        let size = self.get(self.header, header::SIZE);
        self.set(self.header, header::SIZE, size - 1);
        gone
    }

    /// The node to remove in place of `node`; it has at most one child. It is `node`, or its successor, whose key and
    /// value `node` takes.
    fn give_up(&mut self, node: W<'c, C>) -> W<'c, C> {
        let _call = node.call(2);
        let (left, right) = (self.get(node, node::LEFT), self.get(node, node::RIGHT));
        if left.is(0).branch(LACKS_LEFT) || right.is(0).branch(LACKS_RIGHT) {
            return node;
        }
        let mut next = right;
        loop {
            let before = self.get(next, node::LEFT);
            if before.is(0).branch(NEXT_IS_LEAST) {
                break;
            }
            next = before;
        }
        for field in [node::KEY, node::VALUE] {
            let word = self.get(next, field);
            self.set(node, field, word);
        }
        next
    }

    /// Below `parent`, paths through `side` have one black node too few: repairs it.
    fn make_up(&mut self, mut parent: W<'c, C>, mut side: Side) {
        let _call = parent.call(3);
        loop {
            let sibling = self.black_sibling(parent, side);
            let near = self.get(sibling, side.link());
            let far = self.get(sibling, side.other().link());
            let far_red = self.is_red(far);
            if far_red || self.is_red(near) {
                let inner = if far_red { None } else { Some(near) };
                return self.make_up_by_rotation(parent, side, [sibling, far], inner);
            }
            self.paint(sibling, RED);
            if self.is_red(parent) {
                return self.paint(parent, BLACK);
            }
            let above = self.get(parent, node::PARENT);
            if above.is(0).branch(PARENT_IS_ROOT) {
                return;
            }
            side = self.side_of(above, parent);
            parent = above;
        }
    }

    /// The sibling of the child of `parent` on `side`. A red sibling is first rotated up; then one of its children is
    /// the sibling.
    fn black_sibling(&mut self, parent: W<'c, C>, side: Side) -> W<'c, C> {
        let _call = parent.call(3);
        let sibling = self.get(parent, side.other().link());
        if !self.is_red(sibling) {
            return sibling;
        }
        self.paint(sibling, BLACK);
        self.paint(parent, RED);
        self.rotate(parent, side);
        self.get(parent, side.other().link())
    }

    /// The case of a sibling with a red child: `inner` if that must be rotated up first, else `far`.
    fn make_up_by_rotation(
        &mut self,
        parent: W<'c, C>,
        side: Side,
        [sibling, far]: [W<'c, C>; 2],
        inner: Option<W<'c, C>>,
    ) {
        let _call = parent.call(4);
        let riser = match inner {
            Some(near) => {
                self.rotate(sibling, side.other());
                near
            }
            None => {
                self.paint(far, BLACK);
                sibling
            }
        };
        let colour = self.get(parent, node::COLOUR);
        self.set(riser, node::COLOUR, colour);
        self.paint(parent, BLACK);
        self.rotate(parent, side);
    }
}
