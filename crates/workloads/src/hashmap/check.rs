//! The invariant of chains.

use super::{node, Hashmap, KEY_SHIFT, VALUE_WORDS, VERSION};
use strandline_isa::{Addr, Image};

/// The contents of the chains, by number.
pub(super) struct Seen {
    pub nodes: Vec<bool>,
    pub keys: Vec<bool>,
}

/// Whether a node's value belongs to its key and to one version.
fn check_value(image: &dyn Image, node: u64, key: u64) -> Result<(), String> {
    let word = |i: u64| image.word(Addr(node + node::VALUE + 8 * i));
    let whole = (1..VALUE_WORDS).all(|i| word(i) == word(0).wrapping_add(i));
    if word(0) >> KEY_SHIFT != key || word(0) % VERSION != 0 || !whole {
        return Err(format!("the value of key {key} is not one that was written for it"));
    }
    Ok(())
}

impl Hashmap {
    /// Walks the chain of a bucket and marks its keys and nodes.
    fn check_chain(&self, image: &dyn Image, bucket: u64, seen: &mut Seen) -> Result<(), String> {
        let mut at = image.word(self.heads.addr(bucket));
        while at != 0 {
            let row = self.nodes.index_of(at);
            let row = row.ok_or_else(|| format!("bucket {bucket} links to {}, which is no node", Addr(at)))?;
            if std::mem::replace(&mut seen.nodes[row as usize], true) {
                return Err(format!("the node at {} is linked twice", Addr(at)));
            }
            let key = image.word(Addr(at + node::KEY));
            match seen.keys.get_mut(key as usize) {
                None => return Err(format!("the node at {} has key {key}, which there is not", Addr(at))),
                Some(true) => return Err(format!("key {key} is there twice")),
                Some(new) => *new = true,
            }
            if self.bucket_of(key) != bucket {
                return Err(format!("key {key} is in bucket {bucket}, not in its own"));
            }
            check_value(image, at, key)?;
            at = image.word(Addr(at + node::NEXT));
        }
        Ok(())
    }

    /// Walks all chains; returns their nodes and keys.
    pub(super) fn reachable(&self, image: &dyn Image) -> Result<Seen, String> {
        let mut seen = Seen {
            nodes: vec![false; self.nodes.rows() as usize],
            keys: vec![false; self.keys as usize],
        };
        (0..self.heads.rows()).try_for_each(|bucket| self.check_chain(image, bucket, &mut seen))?;
        Ok(seen)
    }

    pub(super) fn check_chains(&self, image: &dyn Image) -> Result<(), String> {
        let seen = self.reachable(image)?;
        let lost = (0..self.keys).find(|key| self.is_loaded(*key) && !seen.keys[*key as usize]);
        lost.map_or(Ok(()), |key| Err(format!("key {key} is lost")))
    }
}
