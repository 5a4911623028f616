//! Walks through trees at rest, to check them.

use super::binary::Side;
use super::{Unbalanced, KEY_SHIFT};
use strandline_isa::{Addr, Image};
use strandline_runtime::{Table, PAYLOAD_BYTES};

/// A walk through trees, by keys in ascending order.
pub struct Walk<'a> {
    image: &'a dyn Image,
    nodes: Table<PAYLOAD_BYTES>,
    /// Number of possible keys.
    most_keys: u64,
    /// Which nodes, by number, a tree reaches.
    pub linked: Vec<bool>,
    /// The keys of the present tree.
    pub keys: Vec<u64>,
    /// The places that are not balanced, children before parents, each with its tree.
    pub unbalanced: Vec<(u64, Unbalanced)>,
    tree: u64,
}

impl<'a> Walk<'a> {
    pub(super) fn new(image: &'a dyn Image, nodes: Table<PAYLOAD_BYTES>, most_keys: u64) -> Self {
        Walk {
            image,
            nodes,
            most_keys,
            linked: vec![false; nodes.rows() as usize],
            keys: Vec::new(),
            unbalanced: Vec::new(),
            tree: 0,
        }
    }

    /// Begins tree `index`.
    pub(super) fn start(&mut self, index: u64) {
        self.tree = index;
        self.keys.clear();
    }

    /// A word of the node or header at `at`.
    pub fn word(&self, at: u64, field: u64) -> u64 {
        self.image.word(Addr(at + field))
    }

    /// Goes to a node by a link of `from`.
    ///
    /// # Errors
    /// The link leads to no node, or to one that is linked already.
    pub fn link(&mut self, from: u64, node: u64) -> Result<(), String> {
        let row = self.nodes.index_of(node);
        let row = row.ok_or_else(|| format!("{} links to {}, which is no node", Addr(from), Addr(node)))?;
        match std::mem::replace(&mut self.linked[row as usize], true) {
            true => Err(format!("the node at {} is linked twice", Addr(node))),
            false => Ok(()),
        }
    }

    /// Passes a key and its value, which are at `node`.
    ///
    /// # Errors
    /// The key is not greater than the one before, or the value belongs to another.
    pub fn key(&mut self, node: u64, key: u64, value: u64) -> Result<(), String> {
        if let Some(before) = self.keys.last().filter(|before| **before >= key) {
            return Err(format!("key {key} comes after key {before}"));
        }
        if key >= self.most_keys || value >> KEY_SHIFT != key {
            return Err(format!(
                "the node at {} has key {key}, and a value that is not its",
                Addr(node)
            ));
        }
        self.keys.push(key);
        Ok(())
    }

    /// The node to which `links` links lead, with `key` or that key below it, is not balanced: a child lacks something.
    pub fn leans(&mut self, key: u64, links: u64, lacks: Option<Side>, what: String) {
        let place = Unbalanced {
            key,
            links,
            lacks,
            what,
        };
        self.unbalanced.push((self.tree, place));
    }
}
