//! Nodes that lose a child, and get one from a sibling or are merged with it when a single one is left.

use super::two_three::{inner, NO_KEY, TO_KEY};
use crate::trees::{header, line, offset, Change, Tree};
use strandline_isa::{sites, Cpu, W};

sites! {
    MORE_TO_LOG = 0xbc92_05e4;
    LEAF_IS_ROOT = 0x6406_ad9e;
    IS_FIRST_CHILD = 0x15e8_73ab;
    LEAVES_FIRST_SLOT = 0x8fd7_3c62;
    LEAVES_SECOND_SLOT = 0x2a40_e91f;
    HAS_TWO_BEHIND_FIRST = 0xf7b3_581d;
    HAS_ONE_BEHIND_SECOND = 0x33b8_4e19;
    LINK_IS_HEADERS = 0xce29_14f5;
    SIBLING_HAS_TWO = 0x90d6_8b37;
}

/// The sibling that helps a node.
struct Sibling<'c, C: Cpu> {
    node: W<'c, C>,
    /// Whether it is to the left.
    is_left: bool,
    /// The address of the key between the two, in the node above.
    key: W<'c, C>,
}

impl<'c, C: Cpu> Tree<'_, 'c, C> {
    /// Deletes the key of a leaf, to which the path leads.
    pub(super) async fn remove_leaf(&mut self, leaf: W<'c, C>) {
        let _call = leaf.call(2);
        self.log_path().await;
        self.log_neighbours().await;
        self.order().await;
        self.gives(leaf).await;
        let mut change = Change::of(&[self.header]);
        let size = self.get(self.header.at(header::SIZE)).await;
        change.set(self.header.at(header::SIZE), size - 1);
        let last = self.last();
        let link = last.load().await;
        if last.equals(self.first()).branch(LEAF_IS_ROOT) {
            change.set(link, self.cpu.word(0));
            return self.commit(change).await;
        }
        let node = line(link);
        change.add(node);
        let is_underfull = self.narrow(&mut change, link).await;
        self.commit(change).await;
        if is_underfull {
            self.fill_up(last - 8, node).await;
        }
    }

    /// Logs the sibling of each inner node of the path, but the root.
    async fn log_neighbours(&mut self) {
        let _call = self.cpu.call(1);
        let (mut at, last) = (self.first() + 8, self.last());
        while self.logs_fully() && at.less(last).branch(MORE_TO_LOG) {
            let link = at.load().await;
            let sibling = self.sibling(link).await;
            self.log(sibling.node).await;
            at = at + 8;
        }
    }

    /// The sibling of the node to which `link` leads: the one to its left, or to its right if it is the first.
    async fn sibling(&mut self, link: W<'c, C>) -> Sibling<'c, C> {
        let _call = link.call(2);
        if offset(link).is(inner::CHILDREN[0]).branch(IS_FIRST_CHILD) {
            return Sibling {
                node: self.get(link.at(8)).await,
                is_left: false,
                key: link.at(TO_KEY + 8),
            };
        }
        Sibling {
            node: self.get(link - 8).await,
            is_left: true,
            key: link.at(TO_KEY),
        }
    }

    /// Removes the child at `link` from its node, with the key before it, or the one behind it if it is the first.
    /// Returns whether the node then has a single child.
    async fn narrow(&mut self, change: &mut Change<'c, C>, link: W<'c, C>) -> bool {
        let _call = link.call(3);
        let (node, slot) = (line(link), offset(link));
        let [second, third] = [1, 2].map(|i| node.at(inner::CHILDREN[i]));
        let [first_key, second_key] = [0, 1].map(|i| node.at(inner::KEYS[i]));
        let (none, no_key) = (self.cpu.word(0), self.cpu.word(NO_KEY));
        let is_underfull = if slot.is(inner::CHILDREN[0]).branch(LEAVES_FIRST_SLOT) {
            let (child, behind) = (self.get(second).await, self.get(third).await);
            change.set(node, child);
            change.set(second, behind);
            change.set(first_key, self.get(second_key).await);
            behind.is(0).branch(HAS_TWO_BEHIND_FIRST)
        } else if slot.is(inner::CHILDREN[1]).branch(LEAVES_SECOND_SLOT) {
            let behind = self.get(third).await;
            change.set(second, behind);
            change.set(first_key, self.get(second_key).await);
            behind.is(0).branch(HAS_ONE_BEHIND_SECOND)
        } else {
            false
        };
        change.set(third, none);
        change.set(second_key, no_key);
        is_underfull
    }

    /// Gives `node`, to which the link at position `at` of the path leads and which has a single child, another one, or
    /// merges it with its sibling; and then each node above that is left with a single one. A root goes instead.
    pub(super) async fn fill_up(&mut self, mut at: W<'c, C>, mut node: W<'c, C>) {
        let _call = at.call(3);
        loop {
            let child = self.get(node).await;
            let link = at.load().await;
            if at.equals(self.first()).branch(LINK_IS_HEADERS) {
                return self.lose_root(node, child).await;
            }
            let sibling = self.sibling(link).await;
            let third = self.get(sibling.node.at(inner::CHILDREN[2])).await;
            if !third.is(0).branch(SIBLING_HAS_TWO) {
                return self.borrow(link, node, child, sibling).await;
            }
            self.gives(node).await;
            let mut change = Change::of(&[sibling.node, line(link)]);
            self.merge(&mut change, child, &sibling).await;
            let is_underfull = self.narrow(&mut change, link).await;
            self.commit(change).await;
            if !is_underfull {
                return;
            }
            (at, node) = (at - 8, line(link));
        }
    }

    /// The root's single child becomes the root.
    async fn lose_root(&mut self, root: W<'c, C>, child: W<'c, C>) {
        let _call = root.call(3);
        self.gives(root).await;
        let mut change = Change::of(&[self.header]);
        change.set(self.header.at(header::ROOT), child);
        let height = self.get(self.header.at(header::HEIGHT)).await;
        change.set(self.header.at(header::HEIGHT), height - 1);
        self.commit(change).await;
    }

    /// Moves a child of a sibling that has three over to `node`, which has one.
    async fn borrow(&mut self, link: W<'c, C>, node: W<'c, C>, child: W<'c, C>, sibling: Sibling<'c, C>) {
        let _call = link.call(5);
        let (none, no_key) = (self.cpu.word(0), self.cpu.word(NO_KEY));
        let mut change = Change::of(&[line(link), node, sibling.node]);
        let [first, second, third] = [0, 1, 2].map(|i| sibling.node.at(inner::CHILDREN[i]));
        let [first_key, second_key] = [0, 1].map(|i| sibling.node.at(inner::KEYS[i]));
        let (key_one, key_two) = (self.get(first_key).await, self.get(second_key).await);
        change.set(node.at(inner::KEYS[0]), self.get(sibling.key).await);
        if sibling.is_left {
            change.set(node, self.get(third).await);
            change.set(node.at(inner::CHILDREN[1]), child);
            change.set(sibling.key, key_two);
        } else {
            change.set(node.at(inner::CHILDREN[1]), self.get(first).await);
            change.set(sibling.key, key_one);
            change.set(first, self.get(second).await);
            change.set(second, self.get(third).await);
            change.set(first_key, key_two);
        }
        change.set(third, none);
        change.set(second_key, no_key);
        self.commit(change).await;
    }

    /// Moves the child of a node over to a sibling that has two.
    async fn merge(&mut self, change: &mut Change<'c, C>, child: W<'c, C>, sibling: &Sibling<'c, C>) {
        let _call = child.call(4);
        let [first, second, third] = [0, 1, 2].map(|i| sibling.node.at(inner::CHILDREN[i]));
        let [first_key, second_key] = [0, 1].map(|i| sibling.node.at(inner::KEYS[i]));
        let between = self.get(sibling.key).await;
        if sibling.is_left {
            change.set(third, child);
            change.set(second_key, between);
            return;
        }
        change.set(third, self.get(second).await);
        change.set(second, self.get(first).await);
        change.set(first, child);
        change.set(second_key, self.get(first_key).await);
        change.set(first_key, between);
    }
}
