//! The invariant of a red-black tree.

use super::red_black::{levels, BLACK, RED};
use crate::trees::binary::{node, Side};
use crate::trees::{header, Walk, MOST_KEYS};
use strandline_isa::Addr;

/// Walks through the tree with this header.
pub(super) fn walk(walk: &mut Walk<'_>, header: u64) -> Result<(), String> {
    let root = walk.word(header, header::ROOT);
    if root != 0 && walk.word(root, node::STATE) != BLACK {
        return Err(format!("the root at {} is not black", Addr(root)));
    }
    subtree(walk, header, root, 1).map(drop)
}

/// Walks through the subtree at `node`, a child of `from`, to which `links` links lead; returns the number of black
/// nodes on each of its paths. Where paths differ, some lack a node which making up for it will give them.
fn subtree(walk: &mut Walk<'_>, from: u64, node: u64, links: u64) -> Result<u64, String> {
    if node == 0 {
        return Ok(0);
    }
    // Interrupted rebalancing leaves two levels too many.
    if links > levels(MOST_KEYS) + 2 {
        return Err(format!("the tree has {links} levels"));
    }
    walk.link(from, node)?;
    let left = subtree(walk, node, walk.word(node, node::LEFT), links + 1)?;
    let (at, key) = (Addr(node), walk.word(node, node::KEY));
    walk.key(node, key, walk.word(node, node::VALUE))?;
    let right = subtree(walk, node, walk.word(node, node::RIGHT), links + 1)?;
    if left != right {
        let lacks = if left < right { Side::Left } else { Side::Right };
        let what = format!("left of the node at {at} are {left} black nodes on a path, right of it {right}");
        walk.leans(key, links, Some(lacks), what);
    }
    match walk.word(node, node::STATE) {
        BLACK => Ok(left.max(right) + 1),
        RED => {
            // Only the root is a header's child.
            if links > 1 && walk.word(from, node::STATE) == RED {
                let what = format!("the node at {at} is red, and so is its parent");
                walk.leans(key, links, None, what);
            }
            Ok(left.max(right))
        }
        other => Err(format!("the node at {at} has {other} as its colour")),
    }
}
