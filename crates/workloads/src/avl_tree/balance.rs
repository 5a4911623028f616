//! Insertion and deletion in an AVL tree: Knuth, "The Art of Computer Programming", volume 3, 6.2.3.

use crate::trees::binary::{node, Side};
use crate::trees::{line, Change, Shape, Tree, Unbalanced, Walk};
use strandline_isa::{sites, Cpu, W};

sites! {
    NO_CHILD = 0x2c85_f0d1;
    LEFT_IS_TOO_HIGH = 0xd7e1_6b40;
    RIGHT_IS_TOO_HIGH = 0x48b3_9afc;
    HEIGHT_STAYS = 0xf50c_27e6;
    INNER_IS_HIGHER = 0x1ad9_84b7;
    HEIGHT_IS_AS_BEFORE = 0x63f2_5d08;
    PATH_IS_DONE = 0xbe47_e195;
    MORE_TO_LOG = 0x09a6_cc3b;
    NO_SIBLING = 0x85d0_13f4;
    NO_NEPHEW = 0x327b_a86f;
}

/// The shape of an AVL tree.
pub struct Avl;

/// The most levels of an AVL tree of `keys` keys. The least tree of h levels has one node more than the least trees of
/// h - 1 and h - 2 levels.
pub(super) const fn levels(keys: u64) -> u64 {
    let (mut below, mut least, mut levels) = (0, 1, 0);
    while least <= keys {
        (below, least) = (least, least + below + 1);
        levels += 1;
    }
    levels
}

/// The most lines that an operation logs in a tree of `levels` levels: the header; at each level but the last the node, its
/// sibling's subtree's two.
pub(super) const fn lines(levels: u64) -> u64 {
    1 + 3 * levels
}

impl Shape for Avl {
    const NODE: u64 = node::BYTES;
    const NODES: u64 = 1;

    /// A link to a node of each level, and one below the last.
    fn links(keys: u64) -> u64 {
        levels(keys) + 1
    }

    fn lines(keys: u64) -> u64 {
        lines(levels(keys))
    }

    /// The first step writes up to seven words, and a double rotation at each level eight.
    fn words(keys: u64) -> u64 {
        7 + 8 * levels(keys)
    }

    async fn toggle<'c, C: Cpu>(tree: &mut Tree<'_, 'c, C>, key: W<'c, C>, value: W<'c, C>) {
        let _call = key.call(3);
        let change = match tree.find(key).await {
            None => {
                let node = tree.begin_insertion().await;
                tree.insertion(node, key, value, tree.cpu.word(1)).await
            }
            Some(node) => {
                let removal = tree.choose(node).await;
                tree.log_path().await;
                tree.log_siblings().await;
                tree.order().await;
                tree.gives(removal.gone).await;
                tree.removal(&removal).await
            }
        };
        tree.commit(change).await;
        let last = tree.last();
        tree.balance_above(last).await;
    }

    fn walk(walk: &mut Walk<'_>, header: u64) -> Result<(), String> {
        super::check::walk(walk, header)
    }

    async fn resume<'c, C: Cpu>(tree: &mut Tree<'_, 'c, C>, at: Unbalanced) {
        let key = tree.cpu.word(at.key);
        let node = tree.find(key).await.expect("the walk has found it");
        // As if a link of the node's own had changed.
        tree.push(node + node::LEFT).await;
        let last = tree.last();
        tree.balance_above(last).await;
    }
}

impl<'c, C: Cpu> Tree<'_, 'c, C> {
    /// The height of a subtree.
    async fn height(&mut self, node: W<'c, C>) -> W<'c, C> {
        let _call = node.call(2);
        match node.is(0).branch(NO_CHILD) {
            true => self.cpu.word(0),
            false => self.get(node.at(node::STATE)).await,
        }
    }

    /// Logs, at each level of the path, the sibling and its child on the path's side: what a rotation moves, if the
    /// path's subtree loses a level.
    async fn log_siblings(&mut self) {
        let _call = self.cpu.call(1);
        let mut at = self.first() + 8;
        let end = self.last() + 8;
        while self.logs_fully() && at.less(end).branch(MORE_TO_LOG) {
            let (parent, side) = self.side(at.load().await);
            let sibling = self.get(parent.at(side.other().link())).await;
            at = at + 8;
            if sibling.is(0).branch(NO_SIBLING) {
                continue;
            }
            self.log(sibling).await;
            let inner = self.get(sibling.at(side.link())).await;
            if !inner.is(0).branch(NO_NEPHEW) {
                self.log(inner).await;
            }
        }
    }

    /// Restores balance above the link at position `at` of the path: the height of its subtree may have changed.
    async fn balance_above(&mut self, mut at: W<'c, C>) {
        let _call = at.call(2);
        let first = self.first();
        while !at.equals(first).branch(PATH_IS_DONE) {
            let node = line(at.load().await);
            at = at - 8;
            let link = at.load().await;
            if !self.balance(link, node).await {
                return;
            }
        }
    }

    /// A step: balances `node`, to which `link` leads. Returns whether the height of its subtree changes.
    async fn balance(&mut self, link: W<'c, C>, node: W<'c, C>) -> bool {
        let _call = link.call(3);
        let left = self.get(node.at(node::LEFT)).await;
        let right = self.get(node.at(node::RIGHT)).await;
        let (low, high) = (self.height(left).await, self.height(right).await);
        let before = self.get(node.at(node::STATE)).await;
        let after = if (high + 1).less(low).branch(LEFT_IS_TOO_HIGH) {
            self.rotate(link, node, left, Side::Left).await
        } else if (low + 1).less(high).branch(RIGHT_IS_TOO_HIGH) {
            self.rotate(link, node, right, Side::Right).await
        } else {
            let height = low.max(high) + 1;
            if height.equals(before).branch(HEIGHT_STAYS) {
                return false;
            }
            let mut change = Change::of(&[node]);
            change.set(node.at(node::STATE), height);
            self.commit(change).await;
            return true;
        };
        !after.equals(before).branch(HEIGHT_IS_AS_BEFORE)
    }

    /// Rotates `child`, which is on `side` of `node` and too high, or its inner child, to the place of `node`. Returns
    /// the height there.
    async fn rotate(&mut self, link: W<'c, C>, node: W<'c, C>, child: W<'c, C>, side: Side) -> W<'c, C> {
        let _call = link.call(5);
        let (near, far) = (side.link(), side.other().link());
        let outer = self.get(child.at(near)).await;
        let inner = self.get(child.at(far)).await;
        let (outer_height, inner_height) = (self.height(outer).await, self.height(inner).await);
        let mut change = Change::of(&[line(link), node, child]);
        if !outer_height.less(inner_height).branch(INNER_IS_HIGHER) {
            // The inner subtree is at least as high as the other child of `node`.
            let height = inner_height + 1;
            change.set(node.at(near), inner);
            change.set(node.at(node::STATE), height);
            change.set(child.at(far), node);
            change.set(child.at(node::STATE), height + 1);
            change.set(link, child);
            self.commit(change).await;
            return height + 1;
        }
        change.add(inner);
        let (a, b) = (self.get(inner.at(near)).await, self.get(inner.at(far)).await);
        change.set(child.at(far), a);
        change.set(child.at(node::STATE), inner_height);
        change.set(node.at(near), b);
        change.set(node.at(node::STATE), inner_height);
        change.set(inner.at(near), child);
        change.set(inner.at(far), node);
        change.set(inner.at(node::STATE), inner_height + 1);
        change.set(link, inner);
        self.commit(change).await;
        inner_height + 1
    }
}
