//! Insertion and deletion in a 2-3 tree whose data are in the leaves: Aho, Hopcroft and Ullman, "The Design and
//! Analysis of Computer Algorithms", 4.9; recursively.

use crate::trees::{header, line, Change, Shape, Tree, Unbalanced, Walk};
use strandline_isa::{sites, Cpu, W};

sites! {
    LEAF_IS_FOUND = 0x3463_ee54;
    IS_DEEP_ENOUGH = 0x7a1e_c30d;
    IS_IN_FIRST = 0xc85f_12b6;
    IS_IN_SECOND = 0x24e9_7d81;
    TREE_IS_EMPTY = 0x9b06_f4ca;
    KEY_MATCHES = 0x6dd3_805f;
    IS_UNDERFULL = 0x4d0b_79c2;
    PATH_IS_LOGGED = 0xc825_17d1;
    INNER_NODES_ARE_LOGGED = 0x352c_72bc;
    NEXT_IS_LEAF = 0x6e8d_6915;
    LINK_IS_HEADERS = 0x321a_3f55;
    LOGGED_IS_HEADER = 0x90e1_ae76;
    ALL_ARE_FULL = 0xb871_e6a3;
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

    fn toggle<'c, C: Cpu>(tree: &mut Tree<'_, 'c, C>, key: W<'c, C>, value: W<'c, C>) {
        let _call = key.call(3);
        let height = tree.get(tree.header.at(header::HEIGHT));
        let leaf = tree.find_leaf(key, height);
        let is_empty = leaf.is(0).branch(TREE_IS_EMPTY);
        if !is_empty && key.equals(tree.get(leaf.at(leaf::KEY))).branch(KEY_MATCHES) {
            tree.delete_leaf(key, height);
        } else {
            tree.insert_leaf(key, value, height);
        }
    }

    fn walk(walk: &mut Walk<'_>, header: u64) -> Result<(), String> {
        super::check::walk(walk, header)
    }

    fn resume<'c, C: Cpu>(tree: &mut Tree<'_, 'c, C>, at: Unbalanced) {
        let (key, above) = (tree.cpu.word(at.key), tree.cpu.word(at.links - 1));
        let link = tree.descend(key, above);
        let node = tree.get(link);
        let second = tree.get(node.at(inner::CHILDREN[1]));
        match second.is(0).branch(IS_UNDERFULL) {
            true => tree.fill_path(),
            false => tree.split_path(Some(node)),
        }
    }
}

impl<'c, C: Cpu> Tree<'_, 'c, C> {
    /// The leaf where a key is or belongs beside it, this number of levels below the root; 0 in an empty tree.
    fn find_leaf(&mut self, key: W<'c, C>, mut levels: W<'c, C>) -> W<'c, C> {
        let _call = key.call(3);
        let mut node = self.get(self.root_link());
        while !levels.is(0).branch(LEAF_IS_FOUND) {
            let link = self.way_down(node, key);
            node = self.get(link);
            levels = levels - 1;
        }
        node
    }

    /// The link to the child of `node` where a key belongs.
    fn way_down(&mut self, node: W<'c, C>, key: W<'c, C>) -> W<'c, C> {
        let _call = node.call(2);
        let [first, second] = [0, 1].map(|i| node.at(inner::KEYS[i]));
        if key.less(self.get(first)).branch(IS_IN_FIRST) {
            node
        } else if key.less(self.get(second)).branch(IS_IN_SECOND) {
            node + inner::CHILDREN[1]
        } else {
            node + inner::CHILDREN[2]
        }
    }

    /// Follows a key recursively this number of levels down from the root. Returns the link to the node.
    pub(super) fn descend(&mut self, key: W<'c, C>, mut levels: W<'c, C>) -> W<'c, C> {
        let mut link = self.root_link();
        loop {
            self.enter(link);
            if levels.is(0).branch(IS_DEEP_ENOUGH) {
                return link;
            }
            levels = levels - 1;
            let node = self.get(link);
            link = self.way_down(node, key);
        }
    }

    /// Full logging of a deletion: the header, each inner node of the path, and the sibling that it may share children
    /// with.
    pub(super) fn log_deletion(&mut self) {
        let _call = self.cpu.call(1);
        let (mut at, end) = self.open_calls();
        while self.logs_fully() && at.less(end).branch(PATH_IS_LOGGED) {
            let (link, next) = self.open_call(at);
            self.log(line(link));
            let is_inner = next.less(end).branch(NEXT_IS_LEAF);
            if is_inner && !self.is_to_root(link).branch(LINK_IS_HEADERS) {
                let sibling = self.sibling(link);
                self.log(sibling.node);
            }
            at = next;
        }
    }

    /// Full logging of an insertion: the header, each inner node of the path, and the free nodes that it takes: for the
    /// leaf; for each full node above it without another one between; for a root if all are full.
    pub(super) fn log_insertion(&mut self, height: W<'c, C>, is_empty: bool) {
        let _call = self.cpu.call(3);
        if !self.logs_fully() {
            return;
        }
        let mut full = self.cpu.word(0);
        let (mut at, end) = self.open_calls();
        while at.less(end).branch(INNER_NODES_ARE_LOGGED) {
            let (link, next) = self.open_call(at);
            let node = line(link);
            self.log(node);
            if !self.is_to_root(link).branch(LOGGED_IS_HEADER) {
                let third = self.get(node.at(inner::CHILDREN[2]));
                full = match third.is(0).branch(NODE_HAS_ROOM) {
                    true => self.cpu.word(0),
                    false => full + 1,
                };
            }
            at = next;
        }
        // An empty tree gets no root beside its leaf.
        let grows = !is_empty && full.equals(height).branch(ALL_ARE_FULL);
        self.log_free(full + if grows { 2 } else { 1 });
    }

    /// The step that fills a new leaf, before it is linked.
    pub(super) fn new_leaf(&mut self, node: W<'c, C>, key: W<'c, C>, value: W<'c, C>) -> Change<'c, C> {
        let _call = node.call(4);
        let mut change = Change::of(&[self.header]);
        change.fresh(node);
        change.set(node.at(leaf::KEY), key);
        change.set(node.at(leaf::VALUE), value);
        let size = self.get(self.header.at(header::SIZE));
        change.set(self.header.at(header::SIZE), size + 1);
        change
    }
}
