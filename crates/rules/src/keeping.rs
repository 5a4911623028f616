//! How code names the rule that it keeps, so that its planted bug has no text among it. Code that no rule breaks costs what
//! it would cost without these words.

use crate::{broken, Breakable};

/// Does what `rule` demands. Broken: it is left out.
#[inline(always)]
pub fn keeps(rule: impl Into<Breakable>, act: impl FnOnce()) {
    if !broken(rule) {
        act();
    }
}

/// Does nothing. Broken: it does this, which `rule` forbids.
#[inline(always)]
pub fn breaks(rule: impl Into<Breakable>, act: impl FnOnce()) {
    if broken(rule) {
        act();
    }
}

/// What `rule` demands. Broken: something else.
#[inline(always)]
#[must_use]
pub fn kept<T>(rule: impl Into<Breakable>, right: T, wrong: impl FnOnce() -> T) -> T {
    match broken(rule) {
        true => wrong(),
        false => right,
    }
}

/// Does the one, then the other. Broken: the other way round.
#[inline(always)]
pub fn in_order(rule: impl Into<Breakable>, first: impl FnOnce(), last: impl FnOnce()) {
    if broken(rule) {
        last();
        first();
    } else {
        first();
        last();
    }
}

/// Does this with the last item first. Broken: with the first one first.
pub fn last_first<T>(rule: impl Into<Breakable>, items: impl DoubleEndedIterator<Item = T>, act: impl FnMut(T)) {
    match broken(rule) {
        true => items.for_each(act),
        false => items.rev().for_each(act),
    }
}
