//! Short lists of words in a program's volatile memory.

use strandline_isa::{sites, Cpu, W};

sites! {
    HAS_TWO = 0x19a7_4203;
    MORE_TO_SORT = 0x2465_3769;
    IS_LOWEST = 0xffb0_f7ca;
    IS_OUT_OF_ORDER = 0x1f3a_3e86;
    HAS_SECOND = 0x1112_1595;
    MORE_TO_COMPARE = 0x8235_ad6b;
    IS_REPEATED = 0xd158_467b;
}

/// Gaps of Shell's sort, in words (Ciura, FCT 2001).
const GAPS: [u64; 5] = [57, 23, 10, 4, 1];

/// Sorts the list from `start` to `end`, ascending.
pub(crate) fn sort<'c, C: Cpu>(start: W<'c, C>, end: W<'c, C>) {
    let _call = start.call(2);
    if !start.at(8).less(end).branch(HAS_TWO) {
        return;
    }
    for gap in GAPS {
        let gap = 8 * gap;
        let second = start + gap;
        let mut at = second;
        while at.less(end).branch(MORE_TO_SORT) {
            sink(at, second, gap);
            at = at + 8;
        }
    }
}

/// Moves the word at `at` down in steps of `gap` bytes to its sorted position; `second` is the lowest that can move.
fn sink<'c, C: Cpu>(at: W<'c, C>, second: W<'c, C>, gap: u64) {
    let _call = at.call(3);
    let value = at.load();
    let mut hole = at;
    while !hole.less(second).branch(IS_LOWEST) {
        let below = hole - gap;
        let other = below.load();
        if !value.less(other).branch(IS_OUT_OF_ORDER) {
            break;
        }
        hole.store(other);
        hole = below;
    }
    hole.store(value);
}

/// Removes duplicates from the ascending list from `start` to `end`; returns the new end.
pub(crate) fn distinct<'c, C: Cpu>(start: W<'c, C>, end: W<'c, C>) -> W<'c, C> {
    let _call = start.call(2);
    let (mut at, mut to) = (start.at(8), start.at(8));
    if !at.less(end).branch(HAS_SECOND) {
        return end;
    }
    let mut last = start.load();
    while at.less(end).branch(MORE_TO_COMPARE) {
        let word = at.load();
        at = at + 8;
        if !word.equals(last).branch(IS_REPEATED) {
            to.store(word);
            to = to + 8;
            last = word;
        }
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use strandline_isa::{Addr, CoreId, Image, Lowering, Memory};
    use strandline_runtime::{finish, Plain};

    proptest! {
        #[test]
        fn lists_are_sorted_and_lose_what_is_twice(words in proptest::collection::vec(0_u64..100, 0..130)) {
            let memory = Memory::new(2048, 0);
            let cpu = Plain::new(&memory, CoreId(0), Lowering::NOTHING);
            let start = cpu.word(64);
            for (i, word) in (0..).zip(&words) {
                memory.set_word(Addr(64 + 8 * i), *word);
            }
            let end = finish(|| {
                let end = start.at(8 * words.len() as u64);
                sort(start, end);
                distinct(start, end)
            });
            let found: Vec<u64> = (64..end.unwrap().bits()).step_by(8).map(|at| memory.word(Addr(at))).collect();
            let mut expected = words;
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(found, expected);
        }
    }
}
