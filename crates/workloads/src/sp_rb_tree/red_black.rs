//! Insertion in a red-black tree: Cormen, Leiserson, Rivest and Stein, "Introduction to Algorithms", chapter 13. 0
//! replaces their shared leaf.

use crate::trees::binary::{node, Side};
use crate::trees::{line, Change, Shape, Tree, Unbalanced, Walk};
use strandline_isa::{sites, Cpu, W};

sites! {
    IS_NO_NODE = 0x5a82_c617;
    NODE_IS_RED = 0xe03d_94fb;
    TREE_IS_EMPTY = 0x17c6_2ba9;
    NODE_IS_ROOT = 0xb48f_d052;
    PARENT_IS_ROOT = 0x6925_1e8d;
    GRANDPARENT_IS_ROOT = 0x0d7b_a3c4;
    MORE_TO_LOG = 0x82d4_0b6e;
    NO_UNCLE = 0xf563_cd28;
}

/// Colours of nodes; an absent node counts as black.
pub(super) const BLACK: u64 = 0;
pub(super) const RED: u64 = 1;

/// The shape of a red-black tree.
pub struct RedBlack;

/// The most levels of a tree of `keys` keys.
pub(super) const fn levels(keys: u64) -> u64 {
    2 * (keys + 1).ilog2() as u64
}

/// The most lines that an operation logs: a deletion the header, the removed node's child, and at each level the node,
/// its sibling, and up to three below that.
pub(super) const fn lines(keys: u64) -> u64 {
    2 + 5 * levels(keys)
}

impl Shape for RedBlack {
    const NODE: u64 = node::BYTES;
    const NODES: u64 = 1;

    /// A link to a node of each level and one below the last. The rotation of a red sibling adds one.
    fn links(keys: u64) -> u64 {
        levels(keys) + 2
    }

    fn lines(keys: u64) -> u64 {
        lines(keys)
    }

    /// The first step writes up to eight words. An insertion recolours three nodes for every two levels, a deletion one
    /// for each. There are two rotations at most.
    fn words(keys: u64) -> u64 {
        8 + 2 * levels(keys) + 2 * 8
    }

    async fn toggle<'c, C: Cpu>(tree: &mut Tree<'_, 'c, C>, key: W<'c, C>, value: W<'c, C>) {
        let _call = key.call(3);
        if let Some(node) = tree.find(key).await {
            return tree.delete(node).await;
        }
        tree.log_uncles().await;
        let node = tree.begin_insertion().await;
        let is_root = tree.last().equals(tree.first()).branch(TREE_IS_EMPTY);
        let colour = tree.cpu.word(if is_root { BLACK } else { RED });
        let change = tree.insertion(node, key, value, colour).await;
        tree.commit(change).await;
        let last = tree.last();
        tree.part_reds(last, node).await;
    }

    fn walk(walk: &mut Walk<'_>, header: u64) -> Result<(), String> {
        super::check::walk(walk, header)
    }

    async fn resume<'c, C: Cpu>(tree: &mut Tree<'_, 'c, C>, at: Unbalanced) {
        let key = tree.cpu.word(at.key);
        let node = tree.find(key).await.expect("the walk has found it");
        let last = tree.last();
        let Some(side) = at.lacks else {
            return tree.part_reds(last, node).await;
        };
        tree.push(node + side.link()).await;
        tree.make_up(last + 8).await;
    }
}

impl<'c, C: Cpu> Tree<'_, 'c, C> {
    /// Whether there is a node and it is red.
    pub(super) async fn is_red(&mut self, node: W<'c, C>) -> bool {
        !node.is(0).branch(IS_NO_NODE) && self.get(node.at(node::STATE)).await.is(RED).branch(NODE_IS_RED)
    }

    /// Logs the sibling of each node of the path, but the root.
    async fn log_uncles(&mut self) {
        let _call = self.cpu.call(1);
        let (mut at, last) = (self.first() + 8, self.last());
        while self.logs_fully() && at.less(last).branch(MORE_TO_LOG) {
            let (parent, side) = self.side(at.load().await);
            let uncle = self.get(parent.at(side.other().link())).await;
            if !uncle.is(0).branch(NO_UNCLE) {
                self.log(uncle).await;
            }
            at = at + 8;
        }
    }

    /// `node`, to which the link at position `at` of the path leads, is red, and its parent may be.
    async fn part_reds(&mut self, mut at: W<'c, C>, mut node: W<'c, C>) {
        let _call = at.call(3);
        let first = self.first();
        while !at.equals(first).branch(NODE_IS_ROOT) {
            let (parent, below) = self.side(at.load().await);
            // A red node has a parent: the root is black.
            if !self.is_red(parent).await || (at - 8).equals(first).branch(PARENT_IS_ROOT) {
                return;
            }
            let (grand, side) = self.side((at - 8).load().await);
            let uncle = self.get(grand.at(side.other().link())).await;
            at = at - 16;
            if !self.is_red(uncle).await {
                let link = at.load().await;
                return self.part_by_rotation(link, [node, parent, grand], side, below).await;
            }
            let mut change = Change::of(&[parent, uncle]);
            let black = self.cpu.word(BLACK);
            change.set(parent.at(node::STATE), black);
            change.set(uncle.at(node::STATE), black);
            if !at.equals(first).branch(GRANDPARENT_IS_ROOT) {
                change.add(grand);
                change.set(grand.at(node::STATE), self.cpu.word(RED));
            }
            self.commit(change).await;
            node = grand;
        }
    }

    /// The case of a black uncle: `parent` is the child of `grand` on `side`, and `node` the child of `parent` on
    /// `below`.
    async fn part_by_rotation(&mut self, link: W<'c, C>, nodes: [W<'c, C>; 3], side: Side, below: Side) {
        let _call = link.call(5);
        let [node, parent, grand] = nodes;
        let (near, far) = (side.link(), side.other().link());
        let mut change = Change::of(&[line(link), parent, grand]);
        let top = if side == below {
            change.set(grand.at(near), self.get(parent.at(far)).await);
            parent
        } else {
            change.add(node);
            change.set(parent.at(far), self.get(node.at(near)).await);
            change.set(grand.at(near), self.get(node.at(far)).await);
            change.set(node.at(near), parent);
            node
        };
        change.set(top.at(far), grand);
        change.set(top.at(node::STATE), self.cpu.word(BLACK));
        change.set(grand.at(node::STATE), self.cpu.word(RED));
        change.set(link, top);
        self.commit(change).await;
    }
}
