//! The state of a lane's log after a crash.

use super::entry::Entry;
use super::layout::{head, ModelLayout, POSITION_SHIFT};
use strandline_isa::{Addr, Image, LINE_BYTES};

/// A lane's log.
pub(crate) struct Scan {
    /// The position behind the head.
    pub first: u64,
    /// The entries behind the head, by position. Some may be missing: entries on different strands become durable in any order.
    pub entries: Vec<Entry>,
    /// The head's word after the last entry.
    pub end: u64,
}

impl Scan {
    /// Reads the log of `lane`.
    pub fn of(image: &dyn Image, layout: &ModelLayout, lane: usize) -> Scan {
        let word = image.word(Addr(layout.base(lane).0 + head::LAST));
        let mut scan = Scan {
            first: (word >> POSITION_SHIFT) + 1,
            entries: Vec::new(),
            end: word,
        };
        let (line, mut position) = (word & ((1 << POSITION_SHIFT) - 1), word >> POSITION_SHIFT);
        let mut block = layout.block_of(lane, line).0;
        let mut at = layout.base(lane).0 + line * LINE_BYTES;
        let last = at;
        for _ in 0..layout.capacity() {
            if at == block + layout.block * LINE_BYTES {
                block = image.word(Addr(block));
                // A ring whose first links are not durable has never had an entry.
                if !is_block(layout, lane, block) {
                    break;
                }
                at = block;
            }
            at += LINE_BYTES;
            position += 1;
            let entry = Entry::read(image, Addr(at));
            if entry.position == position {
                scan.entries.push(entry);
            }
            if entry.position > scan.end >> POSITION_SHIFT {
                scan.end = (entry.position << POSITION_SHIFT) | ((at - layout.base(lane).0) / LINE_BYTES);
            }
            // Once around the ring: what follows has been read.
            if at == last {
                break;
            }
        }
        scan
    }
}

fn is_block(layout: &ModelLayout, lane: usize, addr: u64) -> bool {
    let first = layout.block_at(lane, 0).0;
    addr >= first && (addr - first) % layout.block_bytes() == 0 && (addr - first) / layout.block_bytes() < layout.blocks
}
