//! A line's pending stores, and the sets of them that a crash may leave.
//!
//! By `models/px86.cat` (`whole-lines`), ordinary stores of a line persist in the order in which they became visible. A
//! non-temporal store bypasses the caches. `models/lib/tso.cat` orders it only after earlier stores to its own word,
//! before later ones, and across a fence, a locked instruction or a `clflush`. So the possible sets are closed under:
//! ordinary stores in order; the stores of a word in order; a *segment* (the stores between two of those) after the
//! earlier ones.

use crate::order::Piece;
use crate::At;

/// A store, or a part of one, that need not be durable yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its position in the global order.
    pub serial: u64,
    /// The thread.
    pub thread: u32,
    /// The instruction.
    pub at: At,
    /// It is another part of the previous store.
    pub rest: bool,
    /// What it stored.
    pub piece: Piece,
    /// It is non-temporal.
    pub nt: bool,
    /// Its segment.
    pub segment: u32,
    /// It is merged with the next ordinary store, because too many are pending, or both are of one transaction.
    pub glued: bool,
}

impl Item {
    fn word(&self) -> usize {
        (self.piece.word >> 3 & 7) as usize
    }
}

/// The range of a segment with a given number of durable ordinary stores: for each word, the fewest and the most
/// durable non-temporal stores.
struct Words {
    least: [u64; 8],
    most: [u64; 8],
}

impl Words {
    fn of(items: &[Item], ordinary: usize) -> Words {
        let (mut least, mut most, mut closed) = ([0; 8], [0; 8], [false; 8]);
        let mut seen = 0;
        for item in items {
            let word = item.word();
            if !item.nt {
                match seen < ordinary {
                    true => least[word] = most[word],
                    false => closed[word] = true,
                }
                seen += 1;
            } else if !closed[word] {
                most[word] += 1;
            }
        }
        Words { least, most }
    }

    fn ways(&self) -> impl Iterator<Item = u64> + '_ {
        (0..8).map(|word| self.most[word] - self.least[word] + 1)
    }

    fn count(&self) -> u64 {
        self.ways().fold(1, u64::saturating_mul)
    }
}

/// Number of ordinary stores of a segment that may persist.
fn stops(items: &[Item]) -> impl Iterator<Item = usize> + '_ {
    let ordinary = items.iter().filter(|item| !item.nt).enumerate();
    std::iter::once(0).chain(ordinary.filter(|(_, item)| !item.glued).map(|(index, _)| index + 1))
}

fn segments(items: &[Item]) -> impl Iterator<Item = &[Item]> {
    items.chunk_by(|one, other| one.segment == other.segment)
}

/// Number of sets of pending stores that a crash may leave; saturates at [`u64::MAX`].
#[must_use]
pub fn count(items: &[Item]) -> u64 {
    if items.iter().all(|item| !item.nt) {
        return stops(items).count() as u64;
    }
    let more = |items: &[Item]| {
        let all = stops(items).map(|ordinary| Words::of(items, ordinary).count());
        all.fold(0, u64::saturating_add) - 1
    };
    segments(items).map(more).fold(1, u64::saturating_add)
}

/// The stores in the set of this number: 0 is none, the last is all. `None` if there is no such set.
#[must_use]
pub fn chosen(items: &[Item], mut index: u64) -> Option<Vec<bool>> {
    let mut kept = Vec::with_capacity(items.len());
    for segment in segments(items) {
        for ordinary in stops(segment) {
            // The empty set of a segment equals the full one of the previous segment.
            let words = Words::of(segment, ordinary);
            let count = words.count();
            if index < count {
                kept.extend(in_segment(segment, ordinary, &words, index));
                kept.resize(items.len(), false);
                return Some(kept);
            }
            index -= count;
        }
        index += 1;
        kept.resize(kept.len() + segment.len(), true);
    }
    (items.is_empty() && index == 0).then_some(kept)
}

fn in_segment(items: &[Item], ordinary: usize, words: &Words, mut index: u64) -> Vec<bool> {
    let mut nts = [0; 8];
    for (word, ways) in words.ways().enumerate() {
        nts[word] = words.least[word] + index % ways;
        index /= ways;
    }
    let mut left = ordinary;
    let mut keep = |item: &Item| {
        let budget = if item.nt {
            &mut nts[item.word()]
        } else {
            return take(&mut left);
        };
        match *budget {
            0 => false,
            _ => {
                *budget -= 1;
                true
            }
        }
    };
    items.iter().map(&mut keep).collect()
}

fn take(left: &mut usize) -> bool {
    let some = *left > 0;
    *left = left.saturating_sub(1);
    some
}

/// These stores and all that must be durable before them.
pub fn close(items: &[Item], mut durable: Vec<bool>) -> Vec<bool> {
    let (mut ordinary, mut words, mut segment) = (false, [false; 8], 0);
    for (item, durable) in items.iter().zip(&mut durable).rev() {
        *durable |= (!item.nt && ordinary) || words[item.word()] || item.segment < segment;
        if *durable {
            ordinary |= !item.nt;
            words[item.word()] = true;
            segment = segment.max(item.segment);
        }
    }
    durable
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
