//! Extracts the accesses of a block from the words of a trace.

use super::packets::Wrong;
use super::thread::{Known, Thread};
use crate::ranges::Ranges;
use strandline_capture::{Access, AccessKind, Control, CONTROL};

/// The extent of a block's words.
pub(super) enum Reach {
    /// Up to this word, with the number of executed instructions if the block was cut.
    To(usize, Option<u32>),
    /// Beyond what came.
    Beyond,
}

impl Thread {
    /// Reads the accesses of a block.
    #[inline]
    pub(super) fn accesses(
        &mut self,
        words: &[u64],
        at: usize,
        known: &Known,
        persistent: &Ranges,
    ) -> Result<Reach, Wrong> {
        self.addresses.clear();
        self.values.clear();
        self.present.clear();
        self.places.clear();
        let mut next = at;
        for access in &known.accesses[..] {
            let Some(address) = words.get(next).copied() else {
                return Ok(Reach::Beyond);
            };
            if address & CONTROL != 0 {
                return cut_at(address, next, known).map(|(next, cut)| Reach::To(next, Some(cut)));
            }
            let place = next;
            next += 1;
            let behind = access.words() - 1;
            let Some(left) = words.get(next..next + behind) else {
                let cut = words[next..].iter().position(|word| cuts(*word, access));
                return match cut {
                    Some(after) => {
                        cut_at(words[next + after], next + after, known).map(|(next, cut)| Reach::To(next, Some(cut)))
                    }
                    None => Ok(Reach::Beyond),
                };
            };
            if let Some(after) = left.iter().position(|word| cuts(*word, access)) {
                let (next, cut) = cut_at(left[after], next + after, known)?;
                return Ok(Reach::To(next, Some(cut)));
            }
            let values = access.value_words();
            if values > 0 {
                let new = match access.kind {
                    AccessKind::Atomic => &left[values..2 * values],
                    _ => left,
                };
                let counts = persistent.contains(address);
                self.present.push(counts);
                match counts {
                    true => self.values.extend_from_slice(new),
                    false => self.values.extend(new.iter().map(|_| 0)),
                }
            }
            next += behind;
            self.addresses.push(address);
            self.places.push(place);
        }
        Ok(Reach::To(next, None))
    }

    /// The minimum number of completed instructions, given only these accesses.
    pub(super) fn complete(&self, known: &Known) -> u32 {
        known
            .accesses
            .get(self.addresses.len())
            .map_or(known.instructions, |next| u32::from(next.instruction))
    }

    /// Removes accesses of incomplete instructions.
    #[cold]
    pub(super) fn keep(&mut self, known: &Known, instructions: u32) {
        let done = known
            .accesses
            .iter()
            .take_while(|access| u32::from(access.instruction) < instructions);
        let kept = done.count().min(self.addresses.len());
        self.addresses.truncate(kept);
        self.places.truncate(kept);
        let words = known.accesses[..kept].iter().map(|access| access.value_words());
        self.present.truncate(words.clone().filter(|words| *words > 0).count());
        self.values.truncate(words.sum());
    }
}

/// Whether this word, in the position of a value, marks an incomplete instruction. An equal value would be mistaken for
/// the mark, but no pointer or usual number is equal.
#[inline]
fn cuts(word: u64, access: &Access) -> bool {
    word == Control::Cut.word(u64::from(access.instruction))
}

/// A control word inside a block must cut it.
fn cut_at(word: u64, at: usize, known: &Known) -> Result<(usize, u32), Wrong> {
    match Control::of(word) {
        Some((Control::Cut, instructions)) => Ok((at + 1, cut_of(instructions, known)?)),
        _ => Err(format!("{word:#x} in place of an address").into()),
    }
}

/// Number of instructions of a block before a cut.
pub(super) fn cut_of(instructions: u64, known: &Known) -> Result<u32, Wrong> {
    match instructions <= u64::from(known.instructions) {
        true => Ok(instructions as u32),
        false => Err(format!(
            "a block of {} instructions is cut after {instructions}",
            known.instructions
        )
        .into()),
    }
}
