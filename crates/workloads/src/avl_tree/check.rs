//! The invariant of an AVL tree.

use super::balance::levels;
use crate::trees::binary::node;
use crate::trees::{header, Walk, MOST_KEYS};
use strandline_isa::Addr;

/// Walks through the tree with this header.
pub(super) fn walk(walk: &mut Walk<'_>, header: u64) -> Result<(), String> {
    subtree(walk, header, walk.word(header, header::ROOT), 1).map(drop)
}

/// Walks through the subtree at `node`, to which `links` links lead; returns its height as its root knows it.
fn subtree(walk: &mut Walk<'_>, from: u64, node: u64, links: u64) -> Result<u64, String> {
    if node == 0 {
        return Ok(0);
    }
    // Interrupted rebalancing leaves one level too many.
    if links > levels(MOST_KEYS) + 1 {
        return Err(format!("the tree has {links} levels"));
    }
    walk.link(from, node)?;
    let left = subtree(walk, node, walk.word(node, node::LEFT), links + 1)?;
    let key = walk.word(node, node::KEY);
    walk.key(node, key, walk.word(node, node::VALUE))?;
    let right = subtree(walk, node, walk.word(node, node::RIGHT), links + 1)?;
    let height = walk.word(node, node::STATE);
    if left.abs_diff(right) > 1 || height != left.max(right).wrapping_add(1) {
        let at = Addr(node);
        let what = format!("the node at {at} is {height} high, left of it are {left} levels and right {right}");
        walk.leans(key, links, None, what);
    }
    Ok(height)
}
