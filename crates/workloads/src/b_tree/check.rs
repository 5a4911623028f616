//! The invariant of a 2-3 tree.

use super::two_three::{inner, leaf, levels, NO_KEY};
use crate::trees::{header, Walk, MOST_KEYS};
use std::ops::Range;
use strandline_isa::Addr;

/// Walks through the tree with this header.
pub(super) fn walk(walk: &mut Walk<'_>, header: u64) -> Result<(), String> {
    let height = walk.word(header, header::HEIGHT);
    // Interrupted rebalancing leaves one level too many.
    if height > levels(MOST_KEYS) + 1 {
        return Err(format!("the tree has {height} levels of inner nodes"));
    }
    match walk.word(header, header::ROOT) {
        0 if height == 0 => Ok(()),
        root => subtree(walk, [header, root], [1, height], 0..NO_KEY),
    }
}

/// Walks through the subtree at `node`, a child of `from`, to which `links` links lead: `height` levels over its
/// leaves, with keys in this range.
fn subtree(
    walk: &mut Walk<'_>,
    [from, node]: [u64; 2],
    [links, height]: [u64; 2],
    range: Range<u64>,
) -> Result<(), String> {
    walk.link(from, node)?;
    if height == 0 {
        let key = walk.word(node, leaf::KEY);
        if !range.contains(&key) {
            return Err(format!(
                "the leaf at {} has key {key}, not one of {range:?}",
                Addr(node)
            ));
        }
        return walk.key(node, key, walk.word(node, leaf::VALUE));
    }
    let children = inner::CHILDREN.map(|at| walk.word(node, at));
    let keys = inner::KEYS.map(|at| walk.word(node, at));
    let count = children.iter().take_while(|child| **child != 0).count();
    let at = Addr(node);
    if count == 0 || children[count..].iter().any(|child| *child != 0) {
        return Err(format!("the node at {at} lacks a child before others"));
    }
    if keys[count - 1..].iter().any(|key| *key != NO_KEY) {
        return Err(format!("the node at {at} has {count} children, and a key too many"));
    }
    let mut from = range.start;
    let before = walk.keys.len();
    for (i, child) in children.into_iter().enumerate().take(count) {
        let to = if i + 1 == count { range.end } else { keys[i] };
        subtree(walk, [node, child], [links + 1, height - 1], from..to)?;
        from = to;
    }
    if !(2..=3).contains(&count) {
        walk.leans(
            walk.keys[before],
            links,
            None,
            format!("the node at {at} has {count} children"),
        );
    }
    Ok(())
}
