//! Nodes that get a child, and are split when it is the fourth.

use super::two_three::{inner, leaf, NO_KEY, TO_KEY};
use crate::trees::{header, line, offset, Change, Tree};
use strandline_isa::{sites, Cpu, W};

sites! {
    TREE_WAS_EMPTY = 0xadfe_fbef;
    GOES_LEFT = 0xf12c_a9e7;
    LINK_IS_HEADERS = 0x0f71_bb4c;
    TAKES_FIRST_SLOT = 0xa3c4_16de;
    TAKES_SECOND_SLOT = 0x58fd_e290;
    HAD_THREE = 0xe61b_9357;
    HAD_THREE_BEHIND = 0x417a_dc08;
    ALL_HAVE_RETURNED = 0x5ef1_ef39;
    IS_NOT_OVERFULL = 0xd62e_2909;
}

impl<'c, C: Cpu> Tree<'_, 'c, C> {
    /// Inserts a leaf for a key, which is not there, this number of levels below the root.
    pub(super) fn insert_leaf(&mut self, key: W<'c, C>, value: W<'c, C>, height: W<'c, C>) {
        let _call = key.call(4);
        let link = self.descend(key, height);
        let leaf = self.get(link);
        let is_empty = leaf.is(0).branch(TREE_WAS_EMPTY);
        self.log_insertion(height, is_empty);
        self.order();
        let node = self.take();
        let mut change = self.new_leaf(node, key, value);
        let full = if is_empty {
            change.set(link, node);
            self.commit(change);
            None
        } else {
            let here = self.get(leaf.at(leaf::KEY));
            match key.less(here).branch(GOES_LEFT) {
                true => self.link_pair(change, link, [node, leaf], here),
                false => self.link_pair(change, link, [leaf, node], key),
            }
        };
        self.leave();
        self.split_path(full);
    }

    /// All calls return. Each splits the node to which its link leads if that one has four children: `full` is the
    /// lowest.
    pub(super) fn split_path(&mut self, mut full: Option<W<'c, C>>) {
        while !self.has_returned().branch(ALL_HAVE_RETURNED) {
            let link = self.leave();
            let returned = full.unwrap_or_else(|| self.cpu.word(0));
            if !returned.is(0).branch(IS_NOT_OVERFULL) {
                full = self.split(link, returned);
            }
        }
    }

    /// Ends a step: two subtrees, with `key` before the second, take the place of the one to which `link` leads.
    /// Returns the node above if it then has four children.
    fn link_pair(
        &mut self,
        mut change: Change<'c, C>,
        link: W<'c, C>,
        pair: [W<'c, C>; 2],
        key: W<'c, C>,
    ) -> Option<W<'c, C>> {
        let _call = link.call(5);
        if self.is_to_root(link).branch(LINK_IS_HEADERS) {
            self.grow(&mut change, pair, key);
            self.commit(change);
            return None;
        }
        let node = line(link);
        change.add(node);
        let is_overfull = self.widen(&mut change, link, pair, key);
        self.commit(change);
        is_overfull.then_some(node)
    }

    /// A new root over two subtrees.
    fn grow(&mut self, change: &mut Change<'c, C>, pair: [W<'c, C>; 2], key: W<'c, C>) {
        let _call = key.call(4);
        let root = self.take();
        change.add_once(self.header);
        change.fresh(root);
        self.fill(change, root, pair, key);
        change.set(self.header.at(header::ROOT), root);
        let height = self.get(self.header.at(header::HEIGHT));
        change.set(self.header.at(header::HEIGHT), height + 1);
    }

    /// Sets all words of a node of two children.
    fn fill(&self, change: &mut Change<'c, C>, node: W<'c, C>, pair: [W<'c, C>; 2], key: W<'c, C>) {
        let (none, no_key) = (self.cpu.word(0), self.cpu.word(NO_KEY));
        for (at, child) in inner::CHILDREN.into_iter().zip([pair[0], pair[1], none, none]) {
            change.set(node.at(at), child);
        }
        for (at, key) in inner::KEYS.into_iter().zip([key, no_key, no_key]) {
            change.set(node.at(at), key);
        }
    }

    /// Two subtrees take the place of the child at `link`. Returns whether the node then has four.
    fn widen(&mut self, change: &mut Change<'c, C>, link: W<'c, C>, pair: [W<'c, C>; 2], key: W<'c, C>) -> bool {
        let _call = link.call(5);
        let (node, slot) = (line(link), offset(link));
        change.set(link, pair[0]);
        change.set(link.at(8), pair[1]);
        change.set(link.at(TO_KEY + 8), key);
        if slot.is(inner::CHILDREN[0]).branch(TAKES_FIRST_SLOT) {
            let [second, third] = [1, 2].map(|i| node.at(inner::CHILDREN[i]));
            let (second, third) = (self.get(second), self.get(third));
            let [first_key, second_key] = [0, 1].map(|i| node.at(inner::KEYS[i]));
            let (first_key, second_key) = (self.get(first_key), self.get(second_key));
            change.set(node.at(inner::CHILDREN[2]), second);
            change.set(node.at(inner::CHILDREN[3]), third);
            change.set(node.at(inner::KEYS[1]), first_key);
            change.set(node.at(inner::KEYS[2]), second_key);
            return !third.is(0).branch(HAD_THREE);
        }
        if slot.is(inner::CHILDREN[1]).branch(TAKES_SECOND_SLOT) {
            let third = self.get(node.at(inner::CHILDREN[2]));
            let second_key = self.get(node.at(inner::KEYS[1]));
            change.set(node.at(inner::CHILDREN[3]), third);
            change.set(node.at(inner::KEYS[2]), second_key);
            return !third.is(0).branch(HAD_THREE_BEHIND);
        }
        true
    }

    /// Splits `node`, to which `link` leads and which has four children. Returns the node above if it then has four.
    fn split(&mut self, link: W<'c, C>, node: W<'c, C>) -> Option<W<'c, C>> {
        let _call = link.call(2);
        let half = self.take();
        let [third, fourth] = [2, 3].map(|i| node.at(inner::CHILDREN[i]));
        let pair = [self.get(third), self.get(fourth)];
        let [middle, last] = [1, 2].map(|i| node.at(inner::KEYS[i]));
        let (middle_key, last_key) = (self.get(middle), self.get(last));
        let mut change = Change::of(&[node]);
        change.fresh(half);
        self.fill(&mut change, half, pair, last_key);
        for link in [third, fourth] {
            change.set(link, self.cpu.word(0));
        }
        for key in [middle, last] {
            change.set(key, self.cpu.word(NO_KEY));
        }
        self.link_pair(change, link, [node, half], middle_key)
    }
}
