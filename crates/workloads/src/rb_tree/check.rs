//! The invariant of a red-black tree.

use super::tree::{header, node, BLACK, RED};
use super::{RbTree, KEY_SHIFT, MIRROR_BITS, MOST_LEVELS};
use std::collections::BTreeSet;
use strandline_isa::{Addr, Image};

/// The nodes of a tree, by ascending keys.
///
/// # Errors
/// A link to what `is_node` does not know, a node that is linked twice, keys out of order, or a tree that is not
/// red-black.
pub(crate) fn nodes(image: &dyn Image, root: u64, is_node: &dyn Fn(u64) -> bool) -> Result<Vec<u64>, String> {
    let mut walk = Walk {
        image,
        is_node,
        linked: BTreeSet::new(),
        nodes: Vec::new(),
    };
    walk.subtree(root, 0, 1)?;
    Ok(walk.nodes)
}

/// The state of an in-order walk through a tree.
struct Walk<'a> {
    image: &'a dyn Image,
    is_node: &'a dyn Fn(u64) -> bool,
    linked: BTreeSet<u64>,
    nodes: Vec<u64>,
}

impl Walk<'_> {
    fn word(&self, node: u64, field: u64) -> u64 {
        self.image.word(Addr(node + field))
    }

    /// Walks the subtree at `node`, or 0; returns the number of black nodes on each of its paths.
    fn subtree(&mut self, node: u64, parent: u64, level: u64) -> Result<u64, String> {
        if node == 0 {
            return Ok(0);
        }
        if level > MOST_LEVELS {
            return Err(format!("the tree has more than {MOST_LEVELS} levels"));
        }
        self.link(node, parent)?;
        let left = self.subtree(self.word(node, node::LEFT), node, level + 1)?;
        self.key(node)?;
        let right = self.subtree(self.word(node, node::RIGHT), node, level + 1)?;
        if left != right {
            let at = Addr(node);
            return Err(format!(
                "left of the node at {at} are {left} black nodes on a path, right of it {right}"
            ));
        }
        Ok(left + u64::from(self.colour(node)? == BLACK))
    }

    /// Checks a node's parent link and its colour.
    fn link(&mut self, node: u64, parent: u64) -> Result<(), String> {
        if !(self.is_node)(node) {
            return Err(format!(
                "the node at {} links to {}, which is none",
                Addr(parent),
                Addr(node)
            ));
        }
        if !self.linked.insert(node) {
            return Err(format!("the node at {} is linked twice", Addr(node)));
        }
        let known = self.word(node, node::PARENT);
        if known != parent {
            let (at, known, parent) = (Addr(node), Addr(known), Addr(parent));
            return Err(format!(
                "the node at {at} has {known} as its parent, and is a child of {parent}"
            ));
        }
        let red = self.colour(node)? == RED;
        if red && parent == 0 {
            return Err("the root is red".into());
        }
        if red && self.colour(parent)? == RED {
            return Err(format!("the node at {} is red, and so is its parent", Addr(node)));
        }
        Ok(())
    }

    fn colour(&self, node: u64) -> Result<u64, String> {
        match self.word(node, node::COLOUR) {
            colour @ (BLACK | RED) => Ok(colour),
            other => Err(format!("the node at {} has {other} as its colour", Addr(node))),
        }
    }

    /// Checks a node's key, which exceeds those of all earlier nodes.
    fn key(&mut self, node: u64) -> Result<(), String> {
        let key = self.word(node, node::KEY);
        let before = self.nodes.last().map(|before| self.word(*before, node::KEY));
        if let Some(before) = before.filter(|before| *before >= key) {
            return Err(format!("key {key} comes after key {before}"));
        }
        self.nodes.push(node);
        Ok(())
    }
}

impl RbTree {
    fn in_order(&self, image: &dyn Image) -> Result<Vec<u64>, String> {
        let root = image.word(Addr(self.header.addr(0).0 + header::ROOT));
        nodes(image, root, &|node| self.nodes.holds(node))
    }

    /// The nodes in the tree, by number, if its links are sound.
    pub(super) fn linked(&self, image: &dyn Image) -> Result<Vec<bool>, String> {
        let mut linked = vec![false; self.nodes.rows() as usize];
        for node in self.in_order(image)? {
            let row = self.nodes.index_of(node).expect("the walk has checked it");
            linked[row as usize] = true;
        }
        Ok(linked)
    }

    /// The key of a node, if it is one of the keys, and the value is its own.
    fn key(&self, image: &dyn Image, node: u64) -> Result<u64, String> {
        let key = image.word(Addr(node + node::KEY));
        if key >= self.keys || image.word(Addr(node + node::VALUE)) >> KEY_SHIFT != key {
            return Err(format!(
                "the node at {} has key {key}, and a value that is not its",
                Addr(node)
            ));
        }
        Ok(key)
    }

    pub(super) fn check_tree(&self, image: &dyn Image) -> Result<(), String> {
        let nodes = self.in_order(image)?;
        let size = image.word(Addr(self.header.addr(0).0 + header::SIZE));
        if size != nodes.len() as u64 {
            return Err(format!("the tree has {} nodes, but its size is {size}", nodes.len()));
        }
        let mut mirror = vec![0; self.mirror.rows() as usize];
        for node in nodes {
            let key = self.key(image, node)?;
            mirror[(key / MIRROR_BITS) as usize] |= 1 << (key % MIRROR_BITS);
        }
        for (row, expected) in mirror.into_iter().enumerate() {
            let found = image.word(self.mirror.addr(row as u64));
            if found != expected {
                let key = row as u64 * MIRROR_BITS + u64::from((found ^ expected).trailing_zeros());
                return Err(format!("tree and mirror disagree on key {key}"));
            }
        }
        Ok(())
    }
}
