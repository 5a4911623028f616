//! Binary search trees: nodes, search, the recursive descent, and what insertion and removal share.
//!
//! A node with two children is not removed itself. It takes the key and value of the next node, which is removed.

use super::{header, line, offset, Change, Tree};
use strandline_isa::{sites, Cpu, W};

sites! {
    SEARCH_ENDS = 0x51c9_0e37;
    KEY_MATCHES = 0x8e24_d6b1;
    KEY_IS_LESS = 0x1f7a_33c5;
    END_IS_HERE = 0xf6bb_7b7d;
    NEW_KEY_IS_LESS = 0x029c_c7dd;
    KEY_IS_LOWER = 0x0d31_0844;
    KEY_IS_HIGHER = 0xa0bb_2624;
    LACKS_LEFT = 0xa60b_5e92;
    LACKS_RIGHT = 0x3d91_c7f8;
    NEXT_IS_LEAST = 0xe4d2_08a3;
    LINK_IS_HEADERS = 0x70fe_b914;
    LINK_IS_OF_NODE = 0x9b35_624d;
    LINK_IS_LEFT = 0x0ca8_f17e;
}

/// Offsets in a node.
pub(crate) mod node {
    pub const KEY: u64 = 0;
    pub const VALUE: u64 = 8;
    pub const LEFT: u64 = 16;
    pub const RIGHT: u64 = 24;
    /// What balance needs: the height, or the colour.
    pub const STATE: u64 = 32;
    pub const BYTES: u64 = 40;
}

/// Which child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The one with lesser keys.
    Left,
    /// The one with greater keys.
    Right,
}

impl Side {
    /// The offset of the link in a node.
    pub fn link(self) -> u64 {
        match self {
            Side::Left => node::LEFT,
            Side::Right => node::RIGHT,
        }
    }

    /// The other child.
    pub fn other(self) -> Side {
        match self {
            Side::Left => Side::Right,
            Side::Right => Side::Left,
        }
    }
}

/// A removal: the node whose key leaves the tree, and the one that does.
pub struct Removal<'c, C: Cpu> {
    node: W<'c, C>,
    /// The node that is removed.
    pub gone: W<'c, C>,
    /// The link that leads to it.
    link: W<'c, C>,
    /// Whether they differ: `node` takes the key of `gone`.
    moves: bool,
    /// The only child of `gone`, or 0.
    pub child: W<'c, C>,
}

impl<'c, C: Cpu> Tree<'_, 'c, C> {
    /// The node with this key, if there is one.
    pub fn find(&mut self, key: W<'c, C>) -> Option<W<'c, C>> {
        let _call = key.call(2);
        let mut node = self.get(self.root_link());
        while !node.is(0).branch(SEARCH_ENDS) {
            let here = self.get(node.at(node::KEY));
            if key.equals(here).branch(KEY_MATCHES) {
                return Some(node);
            }
            let link = match key.less(here).branch(KEY_IS_LESS) {
                true => node.at(node::LEFT),
                false => node.at(node::RIGHT),
            };
            node = self.get(link);
        }
        None
    }

    /// Descends recursively to where a key would be, which is not there. Returns the link.
    pub fn descend_to_end(&mut self, key: W<'c, C>) -> W<'c, C> {
        let mut link = self.root_link();
        loop {
            self.enter(link);
            let node = self.get(link);
            if node.is(0).branch(END_IS_HERE) {
                return link;
            }
            let here = self.get(node.at(node::KEY));
            link = match key.less(here).branch(NEW_KEY_IS_LESS) {
                true => node + node::LEFT,
                false => node + node::RIGHT,
            };
        }
    }

    /// Descends recursively from `link` on to the node with a key, which is there. Returns the link and the node.
    pub fn descend_to(&mut self, mut link: W<'c, C>, key: W<'c, C>) -> (W<'c, C>, W<'c, C>) {
        loop {
            self.enter(link);
            let node = self.get(link);
            let here = self.get(node.at(node::KEY));
            link = if key.less(here).branch(KEY_IS_LOWER) {
                node + node::LEFT
            } else if here.less(key).branch(KEY_IS_HIGHER) {
                node + node::RIGHT
            } else {
                return (link, node);
            };
        }
    }

    /// Descends recursively to the node that goes when a key does: that of the key, or, if it has two children, that of
    /// the next key, which is the least of its right subtree.
    pub fn descend_to_removal(&mut self, key: W<'c, C>) -> Removal<'c, C> {
        let _call = key.call(2);
        let (link, node) = self.descend_to(self.root_link(), key);
        let left = self.get(node.at(node::LEFT));
        let right = self.get(node.at(node::RIGHT));
        let lacks_left = left.is(0).branch(LACKS_LEFT);
        if lacks_left || right.is(0).branch(LACKS_RIGHT) {
            let child = if lacks_left { right } else { left };
            return Removal {
                node,
                gone: node,
                link,
                moves: false,
                child,
            };
        }
        let next = self.least_key(right);
        let (link, gone) = self.descend_to(node + node::RIGHT, next);
        Removal {
            node,
            gone,
            link,
            moves: true,
            child: self.get(gone.at(node::RIGHT)),
        }
    }

    /// The least key of a subtree.
    fn least_key(&mut self, mut node: W<'c, C>) -> W<'c, C> {
        let _call = node.call(1);
        loop {
            let before = self.get(node.at(node::LEFT));
            if before.is(0).branch(NEXT_IS_LEAST) {
                return self.get(node.at(node::KEY));
            }
            node = before;
        }
    }

    /// Takes a node. All that an insertion may write is then logged under full logging.
    pub fn begin_insertion(&mut self) -> W<'c, C> {
        let node = self.take_logged();
        self.order();
        node
    }

    /// The step that makes `link`, where the path ends, lead to `node`, which is free.
    pub fn insertion(&mut self, link: W<'c, C>, node: W<'c, C>, [key, value, state]: [W<'c, C>; 3]) -> Change<'c, C> {
        let _call = node.call(5);
        let mut change = Change::of(&[self.header]);
        self.add_line(&mut change, link, None);
        change.fresh(node);
        let none = self.cpu.word(0);
        for (field, word) in [
            (node::KEY, key),
            (node::VALUE, value),
            (node::LEFT, none),
            (node::RIGHT, none),
            (node::STATE, state),
        ] {
            change.set(node.at(field), word);
        }
        change.set(link, node);
        let size = self.get(self.header.at(header::SIZE));
        change.set(self.header.at(header::SIZE), size + 1);
        change
    }

    /// The step that removes the chosen node.
    pub fn removal(&mut self, removal: &Removal<'c, C>) -> Change<'c, C> {
        let _call = self.cpu.call(1);
        let link = removal.link;
        let mut change = Change::of(&[self.header]);
        let moved = removal.moves.then_some(removal.node);
        self.add_line(&mut change, link, moved);
        if let Some(node) = moved {
            change.add(node);
            for field in [node::KEY, node::VALUE] {
                let word = self.get(removal.gone.at(field));
                change.set(node.at(field), word);
            }
        }
        change.set(link, removal.child);
        let size = self.get(self.header.at(header::SIZE));
        change.set(self.header.at(header::SIZE), size - 1);
        change
    }

    /// Adds the line of a link to a step that writes the header and perhaps `other`, if it is neither.
    fn add_line(&mut self, change: &mut Change<'c, C>, link: W<'c, C>, other: Option<W<'c, C>>) {
        let _call = link.call(4);
        if !self.logs_steps() {
            return;
        }
        let line = line(link);
        if line.equals(self.header).branch(LINK_IS_HEADERS) {
            return;
        }
        if let Some(other) = other {
            if line.equals(other).branch(LINK_IS_OF_NODE) {
                return;
            }
        }
        change.add(line);
    }

    /// The node that a link is in, and on which side: the link is not the header's.
    pub fn side(&self, link: W<'c, C>) -> (W<'c, C>, Side) {
        match offset(link).is(node::LEFT).branch(LINK_IS_LEFT) {
            true => (line(link), Side::Left),
            false => (line(link), Side::Right),
        }
    }
}
