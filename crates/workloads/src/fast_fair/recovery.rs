//! Recovery of the tree, and its contents.

use super::{node, Entry, FastFair, POINTER, RECORD};
use crate::maps::{set, word, Old};
use std::collections::{BTreeMap, BTreeSet};
use strandline_isa::{Addr, Cpu, Image, Thread};
use strandline_runtime::{finish, OnImage};

/// The nodes of a level, from the lowest keys.
type Level = Vec<u64>;

impl FastFair {
    fn node(&self, at: u64) -> Result<u64, String> {
        match self.nodes.index_of(at) {
            Some(_) => Ok(at),
            None => Err(format!("the tree goes on at {at:#x}, which is no node")),
        }
    }

    /// All levels, the leaves first.
    fn levels(&self, image: &dyn Image) -> Result<Vec<Level>, String> {
        let mut first = self.node(word(image, self.root.0))?;
        let mut height = word(image, first + node::LEVEL);
        if height > 64 {
            return Err(format!("the root is at level {height}"));
        }
        let mut levels = Vec::new();
        let mut seen = BTreeSet::new();
        loop {
            let (mut level, mut at) = (Level::new(), first);
            while at != 0 {
                self.node(at)?;
                let found = word(image, at + node::LEVEL);
                if found != height || !seen.insert(at) {
                    return Err(format!(
                        "the node at {at:#x} of level {found} is among those of level {height}"
                    ));
                }
                level.push(at);
                at = word(image, at + node::SIBLING);
            }
            levels.push(level);
            if height == 0 {
                break;
            }
            first = self.node(word(image, first + node::LEFTMOST))?;
            height -= 1;
        }
        levels.reverse();
        Ok(levels)
    }

    fn record(at: u64, index: u64) -> u64 {
        at + node::RECORDS + index * RECORD
    }

    fn pointer(image: &dyn Image, at: u64, index: u64) -> u64 {
        word(image, FastFair::record(at, index) + POINTER)
    }

    /// How many records a node has, invalid ones among them.
    fn count(&self, image: &dyn Image, at: u64) -> u64 {
        let ends = |index: &u64| FastFair::pointer(image, at, *index) == 0;
        // The first record has no pointer while a lower key takes its place, or it is removed.
        match (1..=self.most()).find(ends) {
            Some(1) if ends(&0) => 0,
            end => end.unwrap_or(self.most()),
        }
    }

    /// The first invalid record of a node.
    fn invalid(&self, image: &dyn Image, at: u64) -> Option<u64> {
        (0..self.count(image, at)).find(|index| {
            let before = match index {
                0 => word(image, at + node::LEFTMOST),
                _ => FastFair::pointer(image, at, index - 1),
            };
            FastFair::pointer(image, at, *index) == before
        })
    }

    /// Removes invalid records, cuts off what siblings have, and frees the locks.
    pub(super) fn mend_nodes(&self, image: &dyn Image) {
        let Ok(levels) = self.levels(image) else { return };
        for at in levels.into_iter().flatten() {
            while let Some(index) = self.invalid(image, at) {
                // In the order of a deletion, so that this can be interrupted, too.
                for index in index..self.count(image, at) {
                    let (to, from) = (FastFair::record(at, index), FastFair::record(at, index + 1));
                    set(image, to, word(image, from));
                    let pointer = if index < self.most() {
                        word(image, from + POINTER)
                    } else {
                        0
                    };
                    set(image, to + POINTER, pointer);
                }
            }
            let sibling = word(image, at + node::SIBLING);
            if sibling != 0 {
                let low = word(image, sibling + node::LOW);
                let is_moved = |index: &u64| word(image, FastFair::record(at, *index)) >= low;
                if let Some(index) = (0..self.count(image, at)).find(is_moved) {
                    set(image, FastFair::record(at, index) + POINTER, 0);
                }
            }
            set(image, at + node::COUNT, self.count(image, at));
            set(image, at + node::SHIFTS, 0);
            set(image, at + node::LOCK, 0);
        }
    }

    /// The children of a node of the level above.
    fn children(&self, image: &dyn Image, at: u64) -> Vec<u64> {
        let others = (0..self.count(image, at)).map(|index| FastFair::pointer(image, at, index));
        std::iter::once(word(image, at + node::LEFTMOST))
            .chain(others)
            .collect()
    }

    /// The first node that only its sibling points to, and its level. An error if a node is no child of the level above.
    fn dangling(&self, image: &dyn Image, levels: &[Level]) -> Result<Option<(u64, u64)>, String> {
        for (level, nodes) in levels.iter().enumerate() {
            let parents = levels.get(level + 1).map(Vec::as_slice).unwrap_or_default();
            let children: BTreeSet<u64> = parents.iter().flat_map(|at| self.children(image, *at)).collect();
            if let Some(other) = children.iter().find(|child| !nodes.contains(child)) {
                return Err(format!(
                    "a record of level {} points to {other:#x}, which is no node of the level below",
                    level + 1
                ));
            }
            let root = word(image, self.root.0);
            if let Some(at) = nodes.iter().find(|at| **at != root && !children.contains(at)) {
                return Ok(Some((level as u64, *at)));
            }
        }
        Ok(None)
    }

    /// Gives each node a record in its parent, as long as there is room.
    pub(super) fn mend_parents(&self, image: &dyn Image) {
        let dangling = || self.dangling(image, &self.levels(image)?);
        let Ok(Some(mut found)) = dangling() else { return };
        let reached = self.reached(image);
        self.free.rebuild(image, |row| reached[row as usize]);
        // No node needs more than one record.
        for _ in 0..self.nodes.rows() {
            self.give_parent(image, found);
            match dangling() {
                Ok(Some(next)) if next != found => found = next,
                _ => return,
            }
        }
    }

    /// Gives a node of this level a record in its parent.
    fn give_parent(&self, image: &dyn Image, (level, at): (u64, u64)) {
        let repaired = OnImage::new(image);
        let cpu = &Thread::on(&repaired);
        let root = cpu.word(word(image, self.root.0));
        let is_root = word(image, root.bits() + node::LEVEL) == level;
        let entry = Entry {
            level: level + 1,
            key: cpu.word(word(image, at + node::LOW)),
            pointer: cpu.word(at),
        };
        let given = finish(|| match is_root {
            true => self.grow(cpu, 0, root, entry),
            false => _ = self.insert(cpu, 0, entry, &mut Old::unwanted()),
        });
        given.expect("nobody holds a lock");
    }

    /// The nodes that the root reaches, by number.
    pub(super) fn reached(&self, image: &dyn Image) -> Vec<bool> {
        let mut reached = vec![false; self.nodes.rows() as usize];
        for at in self.levels(image).unwrap_or_default().into_iter().flatten() {
            if let Some(row) = self.nodes.index_of(at) {
                reached[row as usize] = true;
            }
        }
        reached
    }

    /// All records of leaves, if each node covers its records, and each but those of a full heap has a parent.
    pub(super) fn records(&self, image: &dyn Image) -> Result<BTreeMap<u64, u64>, String> {
        let levels = self.levels(image)?;
        let used = levels.iter().map(Vec::len).sum::<usize>() as u64;
        let dangling = self.dangling(image, &levels)?;
        if let Some((level, at)) = dangling.filter(|_| used < self.nodes.rows()) {
            return Err(format!("the node at {:#x} of level {level} has no parent", at));
        }
        let mut records = BTreeMap::new();
        for (level, nodes) in levels.iter().enumerate() {
            for at in nodes {
                self.check_node(image, *at)?;
                let leaf = (0..self.count(image, *at)).filter(|_| level == 0);
                records.extend(leaf.map(|index| {
                    let at = FastFair::record(*at, index);
                    (word(image, at), word(image, at + POINTER))
                }));
            }
        }
        Ok(records)
    }

    fn check_node(&self, image: &dyn Image, at: u64) -> Result<(), String> {
        let count = self.count(image, at);
        let held = (word(image, at + node::COUNT), word(image, at + node::LOCK));
        if held != (count, 0) {
            return Err(format!("the node at {:#x} has {count} records, and says {held:?}", at));
        }
        if let Some(index) = self.invalid(image, at) {
            return Err(format!("record {index} of the node at {:#x} is invalid", at));
        }
        let (low, sibling) = (word(image, at + node::LOW), word(image, at + node::SIBLING));
        let high = if sibling == 0 {
            u64::MAX
        } else {
            word(image, sibling + node::LOW)
        };
        let mut least = low;
        for index in 0..count {
            let record = Addr(FastFair::record(at, index));
            let key = image.word(record);
            if key < least || key >= high && sibling != 0 {
                return Err(format!("key {key:#x} at {record} is not in its place"));
            }
            least = key + 1;
        }
        Ok(())
    }
}
