//! Insertion and deletion in an AVL tree: Knuth, "The Art of Computer Programming", volume 3, 6.2.3; recursive, with
//! the heights of all nodes on the path computed anew on the way back.

use crate::trees::binary::{node, Side};
use crate::trees::{line, Change, Shape, Tree, Unbalanced, Walk};
use strandline_isa::{sites, Cpu, W};

sites! {
    NO_CHILD = 0x2c85_f0d1;
    PATH_IS_TOO_HIGH = 0xd7e1_6b40;
    SIBLING_IS_TOO_HIGH = 0x48b3_9afc;
    HEIGHT_STAYS = 0xf50c_27e6;
    INNER_IS_HIGHER = 0x1ad9_84b7;
    ALL_HAVE_RETURNED = 0xbe47_e195;
    PATH_IS_LOGGED = 0x09a6_cc3b;
    LINK_IS_HEADERS = 0x19bf_69af;
    NO_SIBLING = 0x85d0_13f4;
    NO_NEPHEW = 0x327b_a86f;
}

/// The shape of an AVL tree.
pub struct Avl;

/// A subtree: its root, or 0, and its height. A level returns it in registers.
struct Subtree<'c, C: Cpu> {
    node: W<'c, C>,
    height: W<'c, C>,
}

/// Which child of a node on the path may be too high.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Higher {
    /// The child on the path: an insertion is below it.
    Own,
    /// The other one: a removal is below the child on the path.
    Sibling,
    /// Either, when a crash has interrupted the operation.
    Either,
}

impl Higher {
    /// Whether the child on `side` may be, if the path goes on at `path`.
    fn may_be(self, side: Side, path: Side) -> bool {
        match self {
            Higher::Own => side == path,
            Higher::Sibling => side != path,
            Higher::Either => true,
        }
    }
}

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

/// The most lines that an operation logs in a tree of `levels` levels: the header; at each level but the last the node,
/// its sibling's subtree's two.
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

    /// The first step writes up to seven words, and a double rotation at each level eight. A level without one writes
    /// two.
    fn words(keys: u64) -> u64 {
        7 + 8 * levels(keys)
    }

    fn toggle<'c, C: Cpu>(tree: &mut Tree<'_, 'c, C>, key: W<'c, C>, value: W<'c, C>) {
        let _call = key.call(3);
        let (change, below, higher) = match tree.find(key) {
            None => {
                let link = tree.descend_to_end(key);
                tree.log_for_heights(Higher::Own);
                let node = tree.begin_insertion();
                let change = tree.insertion(link, node, [key, value, tree.cpu.word(1)]);
                let height = tree.cpu.word(1);
                (change, Subtree { node, height }, Higher::Own)
            }
            Some(_) => {
                let removal = tree.descend_to_removal(key);
                tree.log_for_heights(Higher::Sibling);
                tree.order();
                tree.gives(removal.gone);
                let change = tree.removal(&removal);
                (change, tree.subtree(removal.child), Higher::Sibling)
            }
        };
        tree.commit(change);
        tree.balance_path(below, higher);
    }

    fn walk(walk: &mut Walk<'_>, header: u64) -> Result<(), String> {
        super::check::walk(walk, header)
    }

    fn resume<'c, C: Cpu>(tree: &mut Tree<'_, 'c, C>, at: Unbalanced) {
        let (_, node) = tree.descend_to(tree.root_link(), tree.cpu.word(at.key));
        // As if a link of the node's own had changed.
        tree.enter(node + node::LEFT);
        let left = tree.get(node.at(node::LEFT));
        let below = tree.subtree(left);
        tree.balance_path(below, Higher::Either);
    }
}

impl<'c, C: Cpu> Tree<'_, 'c, C> {
    fn subtree(&mut self, node: W<'c, C>) -> Subtree<'c, C> {
        let height = self.height(node);
        Subtree { node, height }
    }

    /// The height of a subtree.
    fn height(&mut self, node: W<'c, C>) -> W<'c, C> {
        let _call = node.call(2);
        match node.is(0).branch(NO_CHILD) {
            true => self.cpu.word(0),
            false => self.get(node.at(node::STATE)),
        }
    }

    /// Full logging: logs the header, the path of the operation, and for a deletion, at each level, the sibling and its
    /// child on the path's side, which a rotation moves if the path's subtree loses a level.
    fn log_for_heights(&mut self, higher: Higher) {
        let _call = self.cpu.call(1);
        let (mut at, end) = self.open_calls();
        while self.logs_fully() && at.less(end).branch(PATH_IS_LOGGED) {
            let (link, next) = self.open_call(at);
            self.log(line(link));
            if higher == Higher::Sibling && !self.is_to_root(link).branch(LINK_IS_HEADERS) {
                let (node, side) = self.side(link);
                let sibling = self.get(node.at(side.other().link()));
                self.log_sibling(sibling, side);
            }
            at = next;
        }
    }

    fn log_sibling(&mut self, sibling: W<'c, C>, side: Side) {
        let _call = sibling.call(2);
        if sibling.is(0).branch(NO_SIBLING) {
            return;
        }
        self.log(sibling);
        let inner = self.get(sibling.at(side.link()));
        if !inner.is(0).branch(NO_NEPHEW) {
            self.log(inner);
        }
    }

    /// All calls return: the latest, which has changed its link to lead to `below`, then those above it, each of which
    /// balances its node.
    fn balance_path(&mut self, mut below: Subtree<'c, C>, higher: Higher) {
        let mut changed = self.leave();
        while !self.has_returned().branch(ALL_HAVE_RETURNED) {
            let link = self.leave();
            below = self.balance(link, changed, below, higher);
            changed = link;
        }
    }

    /// A step: balances the node to which `link` leads, whose link `changed` leads to `below`. What the operation has
    /// written is not loaded, and only a child that may be too high is moved. So all nodes that are written are logged,
    /// even if a load was given a stale value.
    fn balance(&mut self, link: W<'c, C>, changed: W<'c, C>, below: Subtree<'c, C>, higher: Higher) -> Subtree<'c, C> {
        let _call = link.call(4);
        let (node, path) = self.side(changed);
        let other = self.get(node.at(path.other().link()));
        let other = self.subtree(other);
        if higher.may_be(path, path) && (other.height + 1).less(below.height).branch(PATH_IS_TOO_HIGH) {
            return self.rotate(link, node, below.node, path);
        }
        if higher.may_be(path.other(), path) && (below.height + 1).less(other.height).branch(SIBLING_IS_TOO_HIGH) {
            return self.rotate(link, node, other.node, path.other());
        }
        let height = below.height.max(other.height) + 1;
        if self.writes_back() {
            self.write_back(node.at(node::STATE), height);
            self.write_back(link, node);
            return Subtree { node, height };
        }
        let before = self.get(node.at(node::STATE));
        if !height.equals(before).branch(HEIGHT_STAYS) {
            let mut change = Change::of(&[node]);
            change.set(node.at(node::STATE), height);
            self.commit(change);
        }
        Subtree { node, height }
    }

    /// Rotates `child`, which is on `side` of `node` and too high, or its inner child, to the place of `node`.
    fn rotate(&mut self, link: W<'c, C>, node: W<'c, C>, child: W<'c, C>, side: Side) -> Subtree<'c, C> {
        let _call = link.call(5);
        let (near, far) = (side.link(), side.other().link());
        let outer = self.get(child.at(near));
        let inner = self.get(child.at(far));
        let (outer_height, inner_height) = (self.height(outer), self.height(inner));
        let mut change = Change::of(&[line(link), node, child]);
        if !outer_height.less(inner_height).branch(INNER_IS_HIGHER) {
            // The inner subtree is at least as high as the other child of `node`.
            let height = inner_height + 1;
            change.set(node.at(near), inner);
            change.set(node.at(node::STATE), height);
            change.set(child.at(far), node);
            change.set(child.at(node::STATE), height + 1);
            change.set(link, child);
            self.commit(change);
            return Subtree {
                node: child,
                height: height + 1,
            };
        }
        change.add(inner);
        let (a, b) = (self.get(inner.at(near)), self.get(inner.at(far)));
        change.set(child.at(far), a);
        change.set(child.at(node::STATE), inner_height);
        change.set(node.at(near), b);
        change.set(node.at(node::STATE), inner_height);
        change.set(inner.at(near), child);
        change.set(inner.at(far), node);
        change.set(inner.at(node::STATE), inner_height + 1);
        change.set(link, inner);
        self.commit(change);
        Subtree {
            node: inner,
            height: inner_height + 1,
        }
    }
}
