//! Insertion and deletion in a 2-3 tree whose data are in the leaves: Aho, Hopcroft and Ullman, "The Design and
//! Analysis of Computer Algorithms", 4.9.

use crate::trees::{header, line, Change, Shape, Tree, Unbalanced, Walk};
use strandline_isa::{sites, Cpu, W};

sites! {
    IS_DEEP_ENOUGH = 0x7a1e_c30d;
    IS_IN_FIRST = 0xc85f_12b6;
    IS_IN_SECOND = 0x24e9_7d81;
    TREE_IS_EMPTY = 0x9b06_f4ca;
    KEY_MATCHES = 0x6dd3_805f;
    GOES_LEFT = 0xf12c_a9e7;
    IS_UNDERFULL = 0x4d0b_79c2;
    ALL_ARE_FULL = 0xb871_e6a3;
    NO_LEAF = 0x1c96_5f4d;
    NODE_HAS_ROOM = 0xd9a5_67f2;
}

/// Offsets in a leaf.
pub(super) mod leaf {
    pub const KEY: u64 = 0;
    pub const VALUE: u64 = 8;
}

/// Offsets in another node. Only interrupted rebalancing leaves a fourth child.
pub(super) mod inner {
    /// The links to children, 0 behind the last.
    pub const CHILDREN: [u64; 4] = [0, 8, 16, 24];
    /// The key before each child but the first, [`super::NO_KEY`] behind the last.
    pub const KEYS: [u64; 3] = [32, 40, 48];
    pub const BYTES: u64 = 56;
}

/// Greater than any key.
pub(super) const NO_KEY: u64 = u64::MAX;

/// From a child's link to the key before it.
pub(super) const TO_KEY: u64 = inner::KEYS[0] - inner::CHILDREN[1];

/// The shape of a 2-3 tree.
pub struct TwoThree;

/// The most levels of inner nodes over a leaf for each of `keys` keys.
pub(super) const fn levels(keys: u64) -> u64 {
    keys.ilog2() as u64
}

/// The most lines that an operation logs: an insertion the header, a node of each level and its new half, a root and a
/// leaf. A deletion has a sibling of each in place of the new half.
pub(super) const fn lines(keys: u64) -> u64 {
    3 + 2 * levels(keys)
}

impl Shape for TwoThree {
    const NODE: u64 = inner::BYTES;
    // There are fewer inner nodes than leaves.
    const NODES: u64 = 2;

    /// A link to a node of each level and to a leaf. A removal frees a node of each level, a root and a leaf.
    fn links(keys: u64) -> u64 {
        levels(keys) + 2
    }

    fn lines(keys: u64) -> u64 {
        lines(keys)
    }

    /// Every word of each node.
    fn words(keys: u64) -> u64 {
        inner::BYTES / 8 * lines(keys)
    }

    async fn toggle<'c, C: Cpu>(tree: &mut Tree<'_, 'c, C>, key: W<'c, C>, value: W<'c, C>) {
        let _call = key.call(3);
        let height = tree.get(tree.header.at(header::HEIGHT)).await;
        let leaf = tree.descend(key, height).await;
        if leaf.is(0).branch(TREE_IS_EMPTY) {
            let node = tree.prepare_insertion().await;
            let mut change = tree.new_leaf(node, key, value).await;
            change.set(tree.header.at(header::ROOT), node);
            return tree.commit(change).await;
        }
        let here = tree.get(leaf.at(leaf::KEY)).await;
        if key.equals(here).branch(KEY_MATCHES) {
            return tree.remove_leaf(leaf).await;
        }
        let node = tree.prepare_insertion().await;
        let change = tree.new_leaf(node, key, value).await;
        let last = tree.last();
        let full = match key.less(here).branch(GOES_LEFT) {
            true => tree.link_pair(change, last, [node, leaf], here).await,
            false => tree.link_pair(change, last, [leaf, node], key).await,
        };
        if let Some(full) = full {
            tree.split_up(last - 8, full).await;
        }
    }

    fn walk(walk: &mut Walk<'_>, header: u64) -> Result<(), String> {
        super::check::walk(walk, header)
    }

    async fn resume<'c, C: Cpu>(tree: &mut Tree<'_, 'c, C>, at: Unbalanced) {
        let (key, above) = (tree.cpu.word(at.key), tree.cpu.word(at.links - 1));
        let node = tree.descend(key, above).await;
        let last = tree.last();
        let second = tree.get(node.at(inner::CHILDREN[1])).await;
        match second.is(0).branch(IS_UNDERFULL) {
            true => tree.fill_up(last, node).await,
            false => tree.split_up(last, node).await,
        }
    }
}

impl<'c, C: Cpu> Tree<'_, 'c, C> {
    /// Follows a key down this number of levels from the root; the path then ends with the link to the node.
    async fn descend(&mut self, key: W<'c, C>, mut levels: W<'c, C>) -> W<'c, C> {
        let _call = key.call(3);
        let mut link = self.header + header::ROOT;
        loop {
            self.push(link).await;
            let node = self.get(link).await;
            if levels.is(0).branch(IS_DEEP_ENOUGH) {
                return node;
            }
            levels = levels - 1;
            let [first, second] = [0, 1].map(|i| node.at(inner::KEYS[i]));
            link = if key.less(self.get(first).await).branch(IS_IN_FIRST) {
                node
            } else if key.less(self.get(second).await).branch(IS_IN_SECOND) {
                node + inner::CHILDREN[1]
            } else {
                node + inner::CHILDREN[2]
            };
        }
    }

    /// Takes a node for the new leaf. Full logging logs the path before.
    async fn prepare_insertion(&mut self) -> W<'c, C> {
        let _call = self.cpu.call(1);
        if self.logs_fully() {
            self.log_path().await;
            self.fresh_nodes().await;
        }
        self.order().await;
        self.take().await
    }

    /// Adds the free nodes that the insertion will take to what it writes: for the leaf; for each full node above it
    /// without another one between; for a root if all are full.
    async fn fresh_nodes(&mut self) {
        let _call = self.cpu.call(1);
        let mut free = self.free().await;
        self.fresh(&mut free).await;
        let (mut at, first) = (self.last(), self.first());
        loop {
            if at.equals(first).branch(ALL_ARE_FULL) {
                // An empty tree gets no root beside its leaf.
                if !self.get(at.load().await).await.is(0).branch(NO_LEAF) {
                    self.fresh(&mut free).await;
                }
                return;
            }
            let node = line(at.load().await);
            let third = self.get(node.at(inner::CHILDREN[2])).await;
            if third.is(0).branch(NODE_HAS_ROOM) {
                return;
            }
            self.fresh(&mut free).await;
            at = at - 8;
        }
    }

    /// The step that fills a new leaf, before it is linked.
    async fn new_leaf(&mut self, node: W<'c, C>, key: W<'c, C>, value: W<'c, C>) -> Change<'c, C> {
        let _call = node.call(4);
        let mut change = Change::of(&[self.header]);
        change.fresh(node);
        change.set(node.at(leaf::KEY), key);
        change.set(node.at(leaf::VALUE), value);
        let size = self.get(self.header.at(header::SIZE)).await;
        change.set(self.header.at(header::SIZE), size + 1);
        change
    }
}
