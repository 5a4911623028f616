//! Recovery of the tree, and its contents.

use super::node::{field, NodeKind, COUNT, LEAF, LEVEL, LOCKED, OBSOLETE, USED};
use super::{Art, LEAVES};
use crate::maps::{set, word};
use std::collections::{BTreeMap, BTreeSet};
use strandline_isa::Image;

/// A node, as recovery reads it.
struct FoundNode {
    at: u64,
    kind: NodeKind,
    level: u64,
    /// For each child the number of its place, its byte, and the child.
    children: Vec<(u64, u64, u64)>,
    /// Bytes without a child; in a 48, of those that have a place.
    dangling: Vec<u64>,
}

/// The nodes and leaves that the root reaches.
#[derive(Default)]
struct Tree {
    nodes: Vec<FoundNode>,
    leaves: Vec<u64>,
    seen: BTreeSet<u64>,
}

/// The bits of a key's bytes from `from` to `to`, at most the last.
fn bytes(from: u64, to: u64) -> u64 {
    u64::MAX >> (8 * from) ^ u64::MAX >> (8 * to)
}

/// The byte at `at` in memory.
fn byte_at(image: &dyn Image, at: u64) -> u64 {
    word(image, at & !7) >> (8 * (at & 7)) & 0xff
}

impl Art {
    /// A node of the tree below a node of the level before `least`.
    fn node(&self, image: &dyn Image, at: u64, least: u64) -> Result<FoundNode, String> {
        let is_row = |kind: &NodeKind| self.pools[*kind as usize].index_of(at).is_some();
        let kind = NodeKind::ALL.into_iter().find(is_row);
        let kind = kind.ok_or_else(|| format!("the tree goes on at {at:#x}, which is no node"))?;
        let head = word(image, at + field::HEAD);
        let level = head >> LEVEL & 0xff;
        if head & 0xff != kind as u64 || level < least || level > 7 {
            return Err(format!("the node at {at:#x} of {kind:?} has the head {head:#x}"));
        }
        let (mut children, mut dangling) = (Vec::new(), Vec::new());
        for position in 0..kind.positions() {
            let (mut place, mut byte) = (position, position);
            match kind {
                NodeKind::N4 | NodeKind::N16 => byte = byte_at(image, at + field::KEYS + position),
                NodeKind::N48 => match byte_at(image, at + field::INDEX + position) {
                    0 => continue,
                    number => place = (number - 1).min(kind.most() - 1),
                },
                NodeKind::N256 => {}
            }
            let child = word(image, at + kind.children() + 8 * place);
            match child {
                0 => dangling.push(byte),
                _ => children.push((place, byte, child)),
            }
        }
        Ok(FoundNode {
            at,
            kind,
            level,
            children,
            dangling,
        })
    }

    /// Collects what a node reaches. The path of one of its leaves, if it has any.
    fn collect(&self, image: &dyn Image, at: u64, least: u64, tree: &mut Tree) -> Result<Option<u64>, String> {
        let found = self.node(image, at, least)?;
        if !tree.seen.insert(at) {
            return Err(format!("two nodes point to the node at {at:#x}"));
        }
        if found.children.len() < 2 && at != self.root {
            return Err(format!("the node at {at:#x} has {} children", found.children.len()));
        }
        let mut first = None;
        for (_, byte, child) in &found.children {
            let path = match child & LEAF {
                0 => self.collect(image, *child, found.level + 1, tree)?,
                _ => Some(self.leaf(image, child - LEAF, tree)?),
            };
            let Some(path) = path else { continue };
            let shared = path ^ *first.get_or_insert(path);
            if shared & bytes(0, found.level) != 0 || path >> (56 - 8 * found.level) & 0xff != *byte {
                return Err(format!(
                    "no search finds {path:#x} below byte {byte:#x} of the node at {at:#x}"
                ));
            }
        }
        self.check_prefix(image, &found, first.unwrap_or(0))?;
        tree.nodes.push(found);
        Ok(first)
    }

    fn leaf(&self, image: &dyn Image, at: u64, tree: &mut Tree) -> Result<u64, String> {
        if self.pools[LEAVES].index_of(at).is_none() || !tree.seen.insert(at) {
            return Err(format!("the tree has a leaf at {at:#x}, which is none of it alone"));
        }
        tree.leaves.push(at);
        Ok(word(image, at).wrapping_mul(self.factor))
    }

    /// A prefix may be too long or too short, but not wrong.
    fn check_prefix(&self, image: &dyn Image, found: &FoundNode, path: u64) -> Result<(), String> {
        let prefix = word(image, found.at + field::PREFIX);
        let count = prefix & 0xff;
        if count > found.level || (prefix ^ path) & bytes(found.level - count, found.level) != 0 {
            return Err(format!(
                "the node at {:#x} of level {} has the prefix {prefix:#x}, but the key {path:#x}",
                found.at, found.level
            ));
        }
        Ok(())
    }

    fn tree(&self, image: &dyn Image) -> Result<Tree, String> {
        let mut tree = Tree::default();
        self.collect(image, self.root, 0, &mut tree)?;
        Ok(tree)
    }

    /// Frees the locks, and counts children anew. Prefixes are left to writers.
    pub(super) fn mend_nodes(&self, image: &dyn Image) {
        for found in self.tree(image).unwrap_or_default().nodes {
            set(image, found.at + field::LOCK, 0);
            set(image, found.at + field::HEAD, found.head());
            // Their places may be given to others.
            for byte in found.dangling.iter().filter(|_| found.kind == NodeKind::N48) {
                let at = found.at + field::INDEX + byte;
                set(image, at & !7, word(image, at & !7) & !(0xff << (8 * (at & 7))));
            }
        }
    }

    /// The rows that the root reaches, by pool and number.
    pub(super) fn reached(&self, image: &dyn Image) -> [Vec<bool>; 5] {
        let seen = self.tree(image).unwrap_or_default().seen;
        self.pools.map(|rows| {
            let row = |number| rows.addr(number).0;
            (0..rows.rows())
                .map(|number| row(number) == self.root || seen.contains(&row(number)))
                .collect()
        })
    }

    /// All pairs, if each is where searches look.
    pub(super) fn pairs(&self, image: &dyn Image) -> Result<BTreeMap<u64, u64>, String> {
        let tree = self.tree(image)?;
        for found in &tree.nodes {
            let lock = word(image, found.at + field::LOCK);
            if lock & (LOCKED | OBSOLETE) != 0 {
                return Err(format!("the lock of the node at {:#x} is {lock:#x}", found.at));
            }
            let count = word(image, found.at + field::HEAD) >> COUNT;
            if count != found.children.len() as u64 {
                return Err(format!("the node at {:#x} counts {count} children", found.at));
            }
        }
        let pair = |leaf: &u64| (word(image, *leaf), word(image, leaf + 8));
        let pairs: BTreeMap<u64, u64> = tree.leaves.iter().map(pair).collect();
        match pairs.len() == tree.leaves.len() {
            true => Ok(pairs),
            false => Err("a key is there twice".to_owned()),
        }
    }
}

impl FoundNode {
    /// The head that it should have.
    fn head(&self) -> u64 {
        let used = match self.kind {
            NodeKind::N256 => 0,
            _ => self.children.iter().map(|child| child.0 + 1).max().unwrap_or(0),
        };
        self.kind as u64 | self.level << LEVEL | used << USED | (self.children.len() as u64) << COUNT
    }
}
