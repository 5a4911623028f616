//! Insertion in a red-black tree: the cases of Cormen, Leiserson, Rivest and Stein, "Introduction to Algorithms",
//! chapter 13, recursively. 0 replaces their shared leaf.

use crate::trees::binary::{node, Side};
use crate::trees::{line, Change, Shape, Tree, Unbalanced, Walk};
use strandline_isa::{sites, Cpu, W};

sites! {
    IS_NO_NODE = 0x5a82_c617;
    NODE_IS_RED = 0xe03d_94fb;
    TREE_IS_EMPTY = 0x17c6_2ba9;
    ALL_HAVE_RETURNED = 0xb48f_d052;
    CHILD_IS_RED = 0x4be0_72c9;
    GRANDCHILD_IS_RED = 0xd19c_0a36;
    GRANDPARENT_IS_ROOT = 0x0d7b_a3c4;
    PATH_IS_LOGGED = 0x82d4_0b6e;
    LOGGED_LINK_IS_HEADERS = 0x1ce9_8b3d;
    NO_UNCLE = 0xf563_cd28;
}

/// Colours of nodes; an absent node counts as black.
pub(super) const BLACK: u64 = 0;
pub(super) const RED: u64 = 1;

/// The root of a subtree and its colour. A level returns it in registers.
struct Root<'c, C: Cpu> {
    node: W<'c, C>,
    colour: W<'c, C>,
}

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

    /// A link to a node of each level and one below the last.
    fn links(keys: u64) -> u64 {
        levels(keys) + 1
    }

    fn lines(keys: u64) -> u64 {
        lines(keys)
    }

    /// The first step writes up to eight words. An insertion recolours three nodes for every two levels, a deletion one
    /// for each; each level writes its link. There are two rotations at most.
    fn words(keys: u64) -> u64 {
        8 + 3 * levels(keys) + 2 * 8
    }

    fn toggle<'c, C: Cpu>(tree: &mut Tree<'_, 'c, C>, key: W<'c, C>, value: W<'c, C>) {
        let _call = key.call(3);
        if tree.find(key).is_some() {
            return tree.delete(key);
        }
        let link = tree.descend_to_end(key);
        tree.log_for_colours(false);
        let node = tree.begin_insertion();
        let is_root = tree.is_to_root(link).branch(TREE_IS_EMPTY);
        let colour = tree.cpu.word(if is_root { BLACK } else { RED });
        let change = tree.insertion(link, node, [key, value, colour]);
        tree.commit(change);
        tree.part_path(Root { node, colour });
    }

    fn walk(walk: &mut Walk<'_>, header: u64) -> Result<(), String> {
        super::check::walk(walk, header)
    }

    fn resume<'c, C: Cpu>(tree: &mut Tree<'_, 'c, C>, at: Unbalanced) {
        let (_, node) = tree.descend_to(tree.root_link(), tree.cpu.word(at.key));
        let Some(side) = at.lacks else {
            let colour = tree.cpu.word(RED);
            return tree.part_path(Root { node, colour });
        };
        tree.enter(node + side.link());
        tree.make_up_path(true);
    }
}

impl<'c, C: Cpu> Tree<'_, 'c, C> {
    /// Whether there is a node and it is red.
    pub(super) fn is_red(&mut self, node: W<'c, C>) -> bool {
        !node.is(0).branch(IS_NO_NODE) && self.get(node.at(node::STATE)).is(RED).branch(NODE_IS_RED)
    }

    /// Full logging: logs the header, the path of the operation, and at each level what an insertion may recolour
    /// beside the path, or what making up for a black node may write there.
    pub(super) fn log_for_colours(&mut self, deletes: bool) {
        let _call = self.cpu.call(1);
        let (mut at, end) = self.open_calls();
        while self.logs_fully() && at.less(end).branch(PATH_IS_LOGGED) {
            let (link, next) = self.open_call(at);
            self.log(line(link));
            if !self.is_to_root(link).branch(LOGGED_LINK_IS_HEADERS) {
                let (node, side) = self.side(link);
                let sibling = self.get(node.at(side.other().link()));
                if !sibling.is(0).branch(NO_UNCLE) {
                    self.log(sibling);
                    if deletes {
                        self.log_below(sibling, side);
                    }
                }
            }
            at = next;
        }
    }

    /// All calls return: the latest, whose link leads to `below`, then those above it. A level whose child on the path is
    /// red, and has a red child on the path, parts the two. What the operation has written is not loaded. So all nodes
    /// that are written are logged, even if a load was given a stale value.
    fn part_path(&mut self, mut below: Root<'c, C>) {
        let mut changed = self.leave();
        let mut lowest = None;
        while !self.has_returned().branch(ALL_HAVE_RETURNED) {
            let link = self.leave();
            let (node, side) = self.side(changed);
            let child = below;
            below = match lowest.replace((child.node, child.colour, side)) {
                Some((grandchild, colour, below))
                    if child.colour.is(RED).branch(CHILD_IS_RED) && colour.is(RED).branch(GRANDCHILD_IS_RED) =>
                {
                    lowest = Some((child.node, self.cpu.word(BLACK), side));
                    self.part(link, [grandchild, child.node, node], side, below)
                }
                _ => {
                    self.write_back(link, node);
                    let colour = self.get(node.at(node::STATE));
                    Root { node, colour }
                }
            };
            changed = link;
        }
    }

    /// `node`, which is the child of `parent` on `below`, is red, and so is `parent`, which is the child of `grand` on
    /// `side`. `link` leads to `grand`.
    fn part(&mut self, link: W<'c, C>, nodes: [W<'c, C>; 3], side: Side, below: Side) -> Root<'c, C> {
        let _call = link.call(5);
        let [_, parent, grand] = nodes;
        let uncle = self.get(grand.at(side.other().link()));
        if !self.is_red(uncle) {
            return self.part_by_rotation(link, nodes, side, below);
        }
        let mut change = Change::of(&[parent, uncle]);
        let black = self.cpu.word(BLACK);
        change.set(parent.at(node::STATE), black);
        change.set(uncle.at(node::STATE), black);
        let is_root = self.is_to_root(link).branch(GRANDPARENT_IS_ROOT);
        let colour = self.cpu.word(if is_root { BLACK } else { RED });
        if !is_root {
            change.add(grand);
            change.set(grand.at(node::STATE), colour);
        }
        self.commit(change);
        self.write_back(link, grand);
        Root { node: grand, colour }
    }

    /// The case of a black uncle: `parent` is the child of `grand` on `side`, and `node` the child of `parent` on
    /// `below`.
    fn part_by_rotation(&mut self, link: W<'c, C>, nodes: [W<'c, C>; 3], side: Side, below: Side) -> Root<'c, C> {
        let _call = link.call(5);
        let [node, parent, grand] = nodes;
        let (near, far) = (side.link(), side.other().link());
        let mut change = Change::of(&[line(link), parent, grand]);
        let top = if side == below {
            change.set(grand.at(near), self.get(parent.at(far)));
            parent
        } else {
            change.add(node);
            change.set(parent.at(far), self.get(node.at(near)));
            change.set(grand.at(near), self.get(node.at(far)));
            change.set(node.at(near), parent);
            node
        };
        change.set(top.at(far), grand);
        change.set(top.at(node::STATE), self.cpu.word(BLACK));
        change.set(grand.at(node::STATE), self.cpu.word(RED));
        change.set(link, top);
        self.commit(change);
        let colour = self.cpu.word(BLACK);
        Root { node: top, colour }
    }
}
