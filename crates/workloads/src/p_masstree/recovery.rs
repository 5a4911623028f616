//! Recovery of the trie, and its contents.

use super::permutation::slots;
use super::{node, Masstree, ENTRY, IS_RECORD, KEY_BITS, SECOND};
use crate::maps::{set, word};
use std::collections::{BTreeMap, BTreeSet};
use strandline_isa::Image;

/// Inner nodes are at most at this level.
const MOST_LEVELS: u64 = 64;

/// What the root reaches.
#[derive(Default)]
pub(super) struct Whole {
    pub(super) nodes: Vec<u64>,
    pub(super) records: Vec<u64>,
    seen: BTreeSet<u64>,
    /// The pairs.
    pairs: BTreeMap<u64, u64>,
}

/// A layer to walk through.
struct Next {
    root: u64,
    depth: u64,
    /// The slices of its keys in the layers above.
    prefix: u64,
}

impl Masstree {
    fn node(&self, at: u64) -> Result<u64, String> {
        match self.nodes.index_of(at) {
            Some(_) => Ok(at),
            None => Err(format!("the trie goes on at {at:#x}, which is no node")),
        }
    }

    /// The lowest slice that a node's sibling covers, if it has one.
    fn high(&self, image: &dyn Image, at: u64) -> Result<Option<u64>, String> {
        match word(image, at + node::NEXT) {
            0 => Ok(None),
            sibling => Ok(Some(word(image, self.node(sibling)? + node::LOW))),
        }
    }

    /// The addresses of a node's entries, in order, those of a half-done split among them.
    fn entries(&self, image: &dyn Image, at: u64) -> Result<Vec<u64>, String> {
        let permutation = word(image, at + node::PERMUTATION);
        let slots = slots(permutation, self.width)
            .ok_or_else(|| format!("the node at {at:#x} has the permutation {permutation:#x}"))?;
        Ok(slots.iter().map(|slot| at + node::ENTRIES + slot * ENTRY).collect())
    }

    /// The entries that the sibling does not have.
    pub(super) fn own_entries(&self, image: &dyn Image, at: u64) -> Result<Vec<u64>, String> {
        let (mut entries, high) = (self.entries(image, at)?, self.high(image, at)?);
        entries.retain(|entry| high.is_none_or(|high| word(image, *entry) < high));
        Ok(entries)
    }

    /// Everything that the root reaches.
    pub(super) fn walk(&self, image: &dyn Image) -> Result<Whole, String> {
        let mut whole = Whole::default();
        let mut next = vec![Next {
            root: word(image, self.root.0),
            depth: 0,
            prefix: 0,
        }];
        while let Some(layer) = next.pop() {
            for at in self.walk_layer(image, layer.root, &mut whole)? {
                for entry in self.own_entries(image, at)? {
                    self.follow(image, &layer, entry, &mut whole, &mut next)?;
                }
            }
        }
        Ok(whole)
    }

    /// The border nodes of a layer, in order.
    fn walk_layer(&self, image: &dyn Image, root: u64, whole: &mut Whole) -> Result<Vec<u64>, String> {
        let mut first = self.node(root)?;
        let mut level = word(image, first + node::LEVEL);
        if level > MOST_LEVELS {
            return Err(format!("the root at {first:#x} is at level {level}"));
        }
        // What the nodes above point to.
        let mut children = BTreeSet::new();
        loop {
            let (mut nodes, mut at) = (Vec::new(), first);
            let mut strays = children;
            while at != 0 {
                let found = word(image, self.node(at)? + node::LEVEL);
                if found != level || !whole.seen.insert(at) {
                    return Err(format!(
                        "the node at {at:#x} of level {found} is among those of level {level}"
                    ));
                }
                nodes.push(at);
                strays.remove(&at);
                at = word(image, at + node::NEXT);
            }
            if let Some(stray) = strays.first() {
                return Err(format!(
                    "{stray:#x} is no node of level {level}, but one above points to it"
                ));
            }
            whole.nodes.extend(&nodes);
            if level == 0 {
                return Ok(nodes);
            }
            first = self.node(word(image, first + node::LEFTMOST))?;
            children = BTreeSet::new();
            for at in nodes {
                children.insert(word(image, at + node::LEFTMOST));
                children.extend(
                    self.own_entries(image, at)?
                        .iter()
                        .map(|entry| word(image, entry + SECOND)),
                );
            }
            level -= 1;
        }
    }

    /// What an entry of a border node holds.
    fn follow(
        &self,
        image: &dyn Image,
        layer: &Next,
        entry: u64,
        whole: &mut Whole,
        next: &mut Vec<Next>,
    ) -> Result<(), String> {
        let (slice, link) = (word(image, entry), word(image, entry + SECOND));
        if self.is_inline() {
            whole.pairs.insert(slice, link);
            return Ok(());
        }
        let shift = KEY_BITS - self.slice * (layer.depth + 1);
        let prefix = layer.prefix | slice << shift;
        if link & IS_RECORD == 0 {
            let depth = layer.depth + 1;
            if depth == self.layers() {
                return Err(format!("the last layer's entry at {entry:#x} leads to {link:#x}"));
            }
            next.push(Next {
                root: link,
                depth,
                prefix,
            });
            return Ok(());
        }
        let record = link - IS_RECORD;
        if self.records.index_of(record).is_none() {
            return Err(format!("the entry at {entry:#x} has {record:#x}, which is no record"));
        }
        let key = word(image, record);
        if key >> shift != prefix >> shift {
            return Err(format!(
                "the entry at {entry:#x} for {prefix:#x} has the record of key {key:#x}"
            ));
        }
        whole.records.push(record);
        match whole.pairs.insert(key, word(image, record + SECOND)) {
            Some(_) => Err(format!("key {key:#x} is there twice")),
            None => Ok(()),
        }
    }

    /// Drops what siblings have, and frees the locks.
    pub(super) fn mend_nodes(&self, image: &dyn Image) {
        let Ok(whole) = self.walk(image) else { return };
        for at in whole.nodes {
            let count = self.own_entries(image, at).map_or(0, |entries| entries.len() as u64);
            let permutation = word(image, at + node::PERMUTATION);
            set(image, at + node::PERMUTATION, permutation & !0xf | count);
            set(image, at + node::LOCK, 0);
        }
    }

    /// Frees the nodes and the records that the root does not reach.
    pub(super) fn rebuild_lists(&self, image: &dyn Image) {
        let whole = self.walk(image).unwrap_or_default();
        let mut reached = vec![false; self.nodes.rows() as usize];
        for row in whole.nodes.iter().filter_map(|at| self.nodes.index_of(*at)) {
            reached[row as usize] = true;
        }
        self.free.rebuild(image, |row| reached[row as usize]);
        let mut reached = vec![false; self.records.rows() as usize];
        for row in whole.records.iter().filter_map(|at| self.records.index_of(*at)) {
            reached[row as usize] = true;
        }
        self.free_records.rebuild(image, |row| reached[row as usize]);
    }

    /// All pairs, if each node covers its entries and is free.
    pub(super) fn pairs(&self, image: &dyn Image) -> Result<BTreeMap<u64, u64>, String> {
        let whole = self.walk(image)?;
        for at in &whole.nodes {
            self.check_node(image, *at)?;
        }
        Ok(whole.pairs)
    }

    fn check_node(&self, image: &dyn Image, at: u64) -> Result<(), String> {
        if word(image, at + node::LOCK) != 0 {
            return Err(format!("the lock of the node at {at:#x} is held"));
        }
        let high = self.high(image, at)?;
        let mut before = None;
        for entry in self.entries(image, at)? {
            let slice = word(image, entry);
            let is_covered = slice >= word(image, at + node::LOW) && high.is_none_or(|high| slice < high);
            if !is_covered || before >= Some(slice) {
                return Err(format!("slice {slice:#x} at {entry:#x} is not in its place"));
            }
            before = Some(slice);
        }
        Ok(())
    }
}
