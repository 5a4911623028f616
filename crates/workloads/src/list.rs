//! Short ascending lists of words in a program's own volatile memory.

use strandline_isa::{Cpu, W};

/// Whether the list from `start` to `end` holds `value`.
pub(crate) async fn contains<'c, C: Cpu>(start: W<'c, C>, end: W<'c, C>, value: W<'c, C>) -> bool {
    let mut at = start;
    while at.less(end).branch() {
        if at.load().await.equals(value).branch() {
            return true;
        }
        at = at + 8;
    }
    false
}

/// Inserts `value` into the ascending list from `start` to `end`, which has room for one more.
pub(crate) async fn insert<'c, C: Cpu>(start: W<'c, C>, end: W<'c, C>, value: W<'c, C>) {
    let mut at = end;
    while start.less(at).branch() {
        let below = at - 8;
        let other = below.load().await;
        if other.less(value).branch() {
            break;
        }
        at.store(other).await;
        at = below;
    }
    at.store(value).await;
}

/// Inserts `value` into the ascending list from `start` to `end` unless it holds it; the new end.
pub(crate) async fn insert_once<'c, C: Cpu>(start: W<'c, C>, end: W<'c, C>, value: W<'c, C>) -> W<'c, C> {
    if contains(start, end, value).await {
        return end;
    }
    insert(start, end, value).await;
    end + 8
}
