//! Deletion in a red-black tree, from the same book.

use super::red_black::{BLACK, RED};
use crate::trees::binary::node;
use crate::trees::{line, Change, Tree};
use strandline_isa::{sites, Cpu, W};

sites! {
    CHILD_IS_NONE = 0x9e17_d5b3;
    CHILD_TO_LOG = 0x21f8_4c6a;
    MORE_TO_LOG = 0xd46c_937e;
    NO_SIBLING = 0x7b02_e8f9;
    NO_NEAR = 0x0ea5_3d17;
    NO_FAR = 0xb3d9_6f80;
    NO_NEW_SIBLING = 0x48c7_1a25;
    NO_LEFT = 0xfd3e_82cb;
    NO_RIGHT = 0x3e9a_f715;
    PATH_IS_DONE = 0x6691_b45e;
}

impl<'c, C: Cpu> Tree<'_, 'c, C> {
    /// Deletes the key of a node, to which the path leads.
    pub(super) async fn delete(&mut self, node: W<'c, C>) {
        let _call = node.call(2);
        let removal = self.choose(node).await;
        self.log_path().await;
        if self.logs_fully() && !removal.child.is(0).branch(CHILD_TO_LOG) {
            self.log(removal.child).await;
        }
        self.log_below_siblings().await;
        self.order().await;
        self.gives(removal.gone).await;
        let mut change = self.removal(&removal).await;
        if !removal.child.is(0).branch(CHILD_IS_NONE) {
            // An only child is red, and its parent black.
            change.add(removal.child);
            change.set(removal.child.at(node::STATE), self.cpu.word(BLACK));
            return self.commit(change).await;
        }
        self.commit(change).await;
        // Nothing has overwritten the removed node.
        if !self.is_red(removal.gone).await {
            let last = self.last();
            self.make_up(last).await;
        }
    }

    /// Logs, at each level of the path, what making up for a black node there may write beside the path.
    async fn log_below_siblings(&mut self) {
        let _call = self.cpu.call(1);
        let mut at = self.first() + 8;
        let end = self.last() + 8;
        while self.logs_fully() && at.less(end).branch(MORE_TO_LOG) {
            let (parent, side) = self.side(at.load().await);
            at = at + 8;
            let sibling = self.get(parent.at(side.other().link())).await;
            if sibling.is(0).branch(NO_SIBLING) {
                continue;
            }
            self.log(sibling).await;
            let near = self.get(sibling.at(side.link())).await;
            if !near.is(0).branch(NO_NEAR) {
                self.log(near).await;
            }
            if !self.is_red(sibling).await {
                let far = self.get(sibling.at(side.other().link())).await;
                if !far.is(0).branch(NO_FAR) {
                    self.log(far).await;
                }
            } else if !near.is(0).branch(NO_NEW_SIBLING) {
                // It becomes the sibling.
                self.log_children(near).await;
            }
        }
    }

    async fn log_children(&mut self, node: W<'c, C>) {
        let _call = node.call(2);
        let left = self.get(node.at(node::LEFT)).await;
        if !left.is(0).branch(NO_LEFT) {
            self.log(left).await;
        }
        let right = self.get(node.at(node::RIGHT)).await;
        if !right.is(0).branch(NO_RIGHT) {
            self.log(right).await;
        }
    }

    /// Paths through the link at position `at` of the path have a black node too few: makes up for it.
    pub(super) async fn make_up(&mut self, mut at: W<'c, C>) {
        let _call = at.call(2);
        let first = self.first();
        while !at.equals(first).branch(PATH_IS_DONE) {
            let (parent, side) = self.side(at.load().await);
            let (near_link, far_link) = (side.link(), side.other().link());
            let sibling = self.get(parent.at(far_link)).await;
            let near = self.get(sibling.at(near_link)).await;
            if self.is_red(sibling).await {
                self.raise(at, [parent, sibling, near], [near_link, far_link]).await;
                at = at + 8;
                continue;
            }
            let far = self.get(sibling.at(far_link)).await;
            let far_is_red = self.is_red(far).await;
            at = at - 8;
            if far_is_red || self.is_red(near).await {
                let link = at.load().await;
                let nodes = [parent, sibling, if far_is_red { far } else { near }];
                return self
                    .make_up_by_rotation(link, nodes, [near_link, far_link], far_is_red)
                    .await;
            }
            let mut change = Change::of(&[sibling]);
            change.set(sibling.at(node::STATE), self.cpu.word(RED));
            let parent_is_red = self.is_red(parent).await;
            if parent_is_red {
                change.add(parent);
                change.set(parent.at(node::STATE), self.cpu.word(BLACK));
            }
            self.commit(change).await;
            if parent_is_red {
                return;
            }
        }
    }

    /// Rotates a red sibling to the place of `parent`: `near` is then the sibling, and black. The path gets a link
    /// more.
    async fn raise(&mut self, at: W<'c, C>, nodes: [W<'c, C>; 3], links: [u64; 2]) {
        let _call = at.call(4);
        let ([parent, sibling, near], [near_link, far_link]) = (nodes, links);
        let link = (at - 8).load().await;
        let mut change = Change::of(&[line(link), parent, sibling]);
        change.set(parent.at(far_link), near);
        change.set(sibling.at(near_link), parent);
        change.set(sibling.at(node::STATE), self.cpu.word(BLACK));
        change.set(parent.at(node::STATE), self.cpu.word(RED));
        change.set(link, sibling);
        self.commit(change).await;
        at.store(sibling + near_link).await;
        at.at(8).store(parent + near_link).await;
    }

    /// The case of a black sibling with a red child: the far one is `red`, or only the near one.
    async fn make_up_by_rotation(&mut self, link: W<'c, C>, nodes: [W<'c, C>; 3], links: [u64; 2], is_far: bool) {
        let _call = link.call(5);
        let ([parent, sibling, red], [near_link, far_link]) = (nodes, links);
        let black = self.cpu.word(BLACK);
        let mut change = Change::of(&[line(link), parent, sibling, red]);
        let top = if is_far {
            change.set(parent.at(far_link), self.get(sibling.at(near_link)).await);
            change.set(red.at(node::STATE), black);
            sibling
        } else {
            change.set(parent.at(far_link), self.get(red.at(near_link)).await);
            change.set(sibling.at(near_link), self.get(red.at(far_link)).await);
            change.set(red.at(far_link), sibling);
            red
        };
        change.set(top.at(near_link), parent);
        change.set(top.at(node::STATE), self.get(parent.at(node::STATE)).await);
        change.set(parent.at(node::STATE), black);
        change.set(link, top);
        self.commit(change).await;
    }
}
