//! Deletion in a red-black tree, from the same book, recursively.

use super::red_black::{BLACK, RED};
use crate::trees::binary::{node, Side};
use crate::trees::{line, Change, Tree};
use strandline_isa::{sites, Cpu, W};

sites! {
    CHILD_IS_NONE = 0x9e17_d5b3;
    NO_NEAR = 0x0ea5_3d17;
    NO_FAR = 0xb3d9_6f80;
    NO_NEW_SIBLING = 0x48c7_1a25;
    NO_LEFT = 0xfd3e_82cb;
    NO_RIGHT = 0x3e9a_f715;
    ALL_HAVE_RETURNED = 0x6691_b45e;
    NOTHING_LACKS = 0xbd95_5f98;
}

impl<'c, C: Cpu> Tree<'_, 'c, C> {
    /// Deletes a key, which is there.
    pub(super) fn delete(&mut self, key: W<'c, C>) {
        let _call = key.call(2);
        let removal = self.descend_to_removal(key);
        self.log_for_colours(true);
        let has_child = !removal.child.is(0).branch(CHILD_IS_NONE);
        if has_child && self.logs_fully() {
            self.log(removal.child);
        }
        self.order();
        self.gives(removal.gone);
        let mut change = self.removal(&removal);
        if has_child {
            // An only child is red, and its parent black.
            change.add(removal.child);
            change.set(removal.child.at(node::STATE), self.cpu.word(BLACK));
        }
        self.commit(change);
        // Nothing has overwritten the removed node.
        let lacks = !has_child && !self.is_red(removal.gone);
        self.make_up_path(lacks);
    }

    /// Logs the nodes below `sibling`, which is not on the path, that making up for a black node on `side` may write.
    pub(super) fn log_below(&mut self, sibling: W<'c, C>, side: Side) {
        let _call = sibling.call(2);
        let near = self.get(sibling.at(side.link()));
        if !near.is(0).branch(NO_NEAR) {
            self.log(near);
        }
        if !self.is_red(sibling) {
            let far = self.get(sibling.at(side.other().link()));
            if !far.is(0).branch(NO_FAR) {
                self.log(far);
            }
        } else if !near.is(0).branch(NO_NEW_SIBLING) {
            // It becomes the sibling.
            self.log_children(near);
        }
    }

    fn log_children(&mut self, node: W<'c, C>) {
        let _call = node.call(2);
        let left = self.get(node.at(node::LEFT));
        if !left.is(0).branch(NO_LEFT) {
            self.log(left);
        }
        let right = self.get(node.at(node::RIGHT));
        if !right.is(0).branch(NO_RIGHT) {
            self.log(right);
        }
    }

    /// All calls return: the latest, below whose link paths may lack a black node, then those above it, which make up
    /// for it.
    pub(super) fn make_up_path(&mut self, mut lacks: bool) {
        let mut changed = self.leave();
        while !self.has_returned().branch(ALL_HAVE_RETURNED) {
            let link = self.leave();
            let (node, side) = self.side(changed);
            let returned = self.cpu.word(lacks.into());
            match returned.is(0).branch(NOTHING_LACKS) {
                true => self.write_back(link, node),
                false => lacks = self.make_up(link, node, side),
            }
            changed = link;
        }
    }

    /// Paths through the child of `parent` on `side` have a black node too few: makes up for it. `link` leads to
    /// `parent`. Returns whether paths through `link` have one too few then.
    fn make_up(&mut self, mut link: W<'c, C>, parent: W<'c, C>, side: Side) -> bool {
        let _call = link.call(3);
        let links @ [near_link, far_link] = [side.link(), side.other().link()];
        let mut sibling = self.get(parent.at(far_link));
        let mut near = self.get(sibling.at(near_link));
        let raises = self.is_red(sibling);
        if raises {
            self.raise(link, [parent, sibling, near], links);
            link = sibling.at(near_link);
            sibling = near;
            near = self.get(sibling.at(near_link));
        }
        let far = self.get(sibling.at(far_link));
        let far_is_red = self.is_red(far);
        if far_is_red || self.is_red(near) {
            let nodes = [parent, sibling, if far_is_red { far } else { near }];
            self.make_up_by_rotation(link, nodes, links, far_is_red);
            return false;
        }
        let mut change = Change::of(&[sibling]);
        change.set(sibling.at(node::STATE), self.cpu.word(RED));
        // The raise has coloured it. A load might be given the colour before.
        let parent_is_red = raises || self.is_red(parent);
        if parent_is_red {
            change.add(parent);
            change.set(parent.at(node::STATE), self.cpu.word(BLACK));
        }
        self.commit(change);
        self.write_back(link, parent);
        !parent_is_red
    }

    /// Rotates a red sibling to the place of `parent`: `near` is then the sibling, and black.
    fn raise(&mut self, link: W<'c, C>, nodes: [W<'c, C>; 3], links: [u64; 2]) {
        let _call = link.call(4);
        let ([parent, sibling, near], [near_link, far_link]) = (nodes, links);
        let mut change = Change::of(&[line(link), parent, sibling]);
        change.set(parent.at(far_link), near);
        change.set(sibling.at(near_link), parent);
        change.set(sibling.at(node::STATE), self.cpu.word(BLACK));
        change.set(parent.at(node::STATE), self.cpu.word(RED));
        change.set(link, sibling);
        self.commit(change);
    }

    /// The case of a black sibling with a red child: the far one is `red`, or only the near one.
    fn make_up_by_rotation(&mut self, link: W<'c, C>, nodes: [W<'c, C>; 3], links: [u64; 2], is_far: bool) {
        let _call = link.call(5);
        let ([parent, sibling, red], [near_link, far_link]) = (nodes, links);
        let black = self.cpu.word(BLACK);
        let mut change = Change::of(&[line(link), parent, sibling, red]);
        let top = if is_far {
            change.set(parent.at(far_link), self.get(sibling.at(near_link)));
            change.set(red.at(node::STATE), black);
            sibling
        } else {
            change.set(parent.at(far_link), self.get(red.at(near_link)));
            change.set(sibling.at(near_link), self.get(red.at(far_link)));
            change.set(red.at(far_link), sibling);
            red
        };
        change.set(top.at(near_link), parent);
        change.set(top.at(node::STATE), self.get(parent.at(node::STATE)));
        change.set(parent.at(node::STATE), black);
        change.set(link, top);
        self.commit(change);
    }
}
