//! Nodes that lose a child, and get one from a sibling or are merged with it when a single one is left.

use super::two_three::{inner, NO_KEY, TO_KEY};
use crate::trees::{header, line, offset, Change, Tree};
use strandline_isa::{sites, Cpu, W};

sites! {
    LEAF_IS_ROOT = 0x6406_ad9e;
    ALL_HAVE_RETURNED = 0x9f19_fc87;
    IS_UNDERFULL = 0x02fe_6f48;
    IS_FIRST_CHILD = 0x15e8_73ab;
    LEAVES_FIRST_SLOT = 0x8fd7_3c62;
    LEAVES_SECOND_SLOT = 0x2a40_e91f;
    LINK_IS_HEADERS = 0xce29_14f5;
    SIBLING_HAS_TWO = 0x90d6_8b37;
}

/// The sibling that helps a node.
pub(super) struct Sibling<'c, C: Cpu> {
    pub(super) node: W<'c, C>,
    /// Whether it is to the left.
    is_left: bool,
    /// The address of the key between the two, in the node above.
    key: W<'c, C>,
}

impl<'c, C: Cpu> Tree<'_, 'c, C> {
    /// Deletes a key, which is there, this number of levels below the root.
    pub(super) fn delete_leaf(&mut self, key: W<'c, C>, height: W<'c, C>) {
        let _call = key.call(3);
        let link = self.descend(key, height);
        let leaf = self.get(link);
        self.log_deletion();
        self.order();
        self.gives(leaf);
        let mut change = Change::of(&[self.header]);
        let size = self.get(self.header.at(header::SIZE));
        change.set(self.header.at(header::SIZE), size - 1);
        if self.is_to_root(link).branch(LEAF_IS_ROOT) {
            change.set(link, self.cpu.word(0));
        } else {
            change.add(line(link));
            self.narrow(&mut change, link);
        }
        self.commit(change);
        self.leave();
        self.fill_path();
    }

    /// All calls return. Each gives the node to which its link leads another child if it has a single one.
    pub(super) fn fill_path(&mut self) {
        while !self.has_returned().branch(ALL_HAVE_RETURNED) {
            let link = self.leave();
            let node = self.get(link);
            let second = self.get(node.at(inner::CHILDREN[1]));
            if second.is(0).branch(IS_UNDERFULL) {
                self.fill_up(link, node);
            }
        }
    }

    /// The sibling of the node to which `link` leads: the one to its left, or to its right if it is the first.
    pub(super) fn sibling(&mut self, link: W<'c, C>) -> Sibling<'c, C> {
        let _call = link.call(2);
        if offset(link).is(inner::CHILDREN[0]).branch(IS_FIRST_CHILD) {
            return Sibling {
                node: self.get(link.at(8)),
                is_left: false,
                key: link.at(TO_KEY + 8),
            };
        }
        Sibling {
            node: self.get(link - 8),
            is_left: true,
            key: link.at(TO_KEY),
        }
    }

    /// Removes the child at `link` from its node, with the key before it, or the one behind it if it is the first.
    fn narrow(&mut self, change: &mut Change<'c, C>, link: W<'c, C>) {
        let _call = link.call(3);
        let (node, slot) = (line(link), offset(link));
        let [second, third] = [1, 2].map(|i| node.at(inner::CHILDREN[i]));
        let [first_key, second_key] = [0, 1].map(|i| node.at(inner::KEYS[i]));
        if slot.is(inner::CHILDREN[0]).branch(LEAVES_FIRST_SLOT) {
            change.set(node, self.get(second));
            change.set(second, self.get(third));
            change.set(first_key, self.get(second_key));
        } else if slot.is(inner::CHILDREN[1]).branch(LEAVES_SECOND_SLOT) {
            change.set(second, self.get(third));
            change.set(first_key, self.get(second_key));
        }
        change.set(third, self.cpu.word(0));
        change.set(second_key, self.cpu.word(NO_KEY));
    }

    /// Gives `node`, to which `link` leads and which has a single child, another one, or merges it with its sibling. A
    /// root goes instead.
    fn fill_up(&mut self, link: W<'c, C>, node: W<'c, C>) {
        let _call = link.call(2);
        let child = self.get(node);
        if self.is_to_root(link).branch(LINK_IS_HEADERS) {
            return self.lose_root(node, child);
        }
        let sibling = self.sibling(link);
        let third = self.get(sibling.node.at(inner::CHILDREN[2]));
        if !third.is(0).branch(SIBLING_HAS_TWO) {
            return self.borrow(link, node, child, sibling);
        }
        self.gives(node);
        let mut change = Change::of(&[sibling.node, line(link)]);
        self.merge(&mut change, child, &sibling);
        self.narrow(&mut change, link);
        self.commit(change);
    }

    /// The root's single child becomes the root.
    fn lose_root(&mut self, root: W<'c, C>, child: W<'c, C>) {
        let _call = root.call(3);
        self.gives(root);
        let mut change = Change::of(&[self.header]);
        change.set(self.header.at(header::ROOT), child);
        let height = self.get(self.header.at(header::HEIGHT));
        change.set(self.header.at(header::HEIGHT), height - 1);
        self.commit(change);
    }

    /// Moves a child of a sibling that has three over to `node`, which has one.
    fn borrow(&mut self, link: W<'c, C>, node: W<'c, C>, child: W<'c, C>, sibling: Sibling<'c, C>) {
        let _call = link.call(5);
        let (none, no_key) = (self.cpu.word(0), self.cpu.word(NO_KEY));
        let mut change = Change::of(&[line(link), node, sibling.node]);
        let [first, second, third] = [0, 1, 2].map(|i| sibling.node.at(inner::CHILDREN[i]));
        let [first_key, second_key] = [0, 1].map(|i| sibling.node.at(inner::KEYS[i]));
        let (key_one, key_two) = (self.get(first_key), self.get(second_key));
        change.set(node.at(inner::KEYS[0]), self.get(sibling.key));
        if sibling.is_left {
            change.set(node, self.get(third));
            change.set(node.at(inner::CHILDREN[1]), child);
            change.set(sibling.key, key_two);
        } else {
            change.set(node.at(inner::CHILDREN[1]), self.get(first));
            change.set(sibling.key, key_one);
            change.set(first, self.get(second));
            change.set(second, self.get(third));
            change.set(first_key, key_two);
        }
        change.set(third, none);
        change.set(second_key, no_key);
        self.commit(change);
    }

    /// Moves the child of a node over to a sibling that has two.
    fn merge(&mut self, change: &mut Change<'c, C>, child: W<'c, C>, sibling: &Sibling<'c, C>) {
        let _call = child.call(4);
        let [first, second, third] = [0, 1, 2].map(|i| sibling.node.at(inner::CHILDREN[i]));
        let [first_key, second_key] = [0, 1].map(|i| sibling.node.at(inner::KEYS[i]));
        let between = self.get(sibling.key);
        if sibling.is_left {
            change.set(third, child);
            change.set(second_key, between);
            return;
        }
        change.set(third, self.get(second));
        change.set(second, self.get(first));
        change.set(first, child);
        change.set(second_key, self.get(first_key));
        change.set(first_key, between);
    }
}
