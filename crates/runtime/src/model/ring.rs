//! A lane's circular log of entries, as the program writes it (StrandWeaver, ISCA 2020, section V, "Log structure", and Figure 6).
//!
//! The head is persistent: the last committed entry. The tail is volatile, so that it does not
//! order entries on different strands; after a crash the entries show it ([`super::entry`]). The
//! ring consists of linked blocks. A block is entered only when the durable head has left it; when
//! the next one is not free, a spare one is linked before it.

use super::entry::{field, LogEntryKind, COUNT_SHIFT, MARKER, POSITION_SHIFT, VALID};
use super::layout::{head, ModelLayout, POSITION_SHIFT as HEAD_SHIFT};
use strandline_isa::{sites, Addr, Cpu, Intent, LINE_BYTES, W};
use strandline_rules::{breaks, keeps, Rule};

sites! {
    HAS_ROOM = 0xacec_bd3c;
    BLOCK_IS_FULL = 0x3a31_b6c0;
    NEXT_IS_DURABLE_HEAD = 0x9e8b_09fb;
    NEXT_IS_HEAD = 0x6738_3c6d;
    RING_IS_FULL = 0x17f7_41e6;
    ENTRY_IS_LAST = 0xe879_fa24;
    SKIPPED_ALL = 0xc991_a51c;
    HEAD_BLOCK_ENDS = 0xd636_8081;
}

/// One lane's log.
pub(crate) struct Ring<'c, C: Cpu> {
    cpu: &'c C,
    base: Addr,
    /// Bytes from a block to its last entry.
    last: u64,
    /// Bytes from block to block, and the end of the last.
    stride: u64,
    limit: u64,
    capacity: u64,
    /// The newest entry, its position and its block.
    pub tail: W<'c, C>,
    pub position: W<'c, C>,
    block: W<'c, C>,
    /// The newest committed entry, its position and its block.
    head: W<'c, C>,
    head_position: W<'c, C>,
    head_block: W<'c, C>,
    /// The block of the head as it was when everything was last durable.
    durable_block: W<'c, C>,
}

impl<'c, C: Cpu> Ring<'c, C> {
    /// Opens the log of `lane` at its end: everything in it is committed.
    pub fn open(cpu: &'c C, layout: &ModelLayout, lane: usize) -> Self {
        let base = layout.base(lane);
        let word = match cpu.lowering().log {
            true => cpu.word(base.0 + head::LAST).load(),
            false => cpu.word(0),
        };
        let line = word & ((1 << HEAD_SHIFT) - 1);
        let tail = (line << 6) + base.0;
        // Found by a division, once: none of this is timed.
        let block = cpu.word(layout.block_of(lane, line.bits()).0);
        let position = word >> HEAD_SHIFT;
        Ring {
            cpu,
            base,
            last: layout.block * LINE_BYTES,
            stride: layout.block_bytes(),
            limit: layout.block_at(lane, layout.blocks).0,
            capacity: layout.capacity(),
            tail,
            position,
            block,
            head: tail,
            head_position: position,
            head_block: block,
            durable_block: block,
        }
    }

    /// Whether so much of the log is used that a region should not begin.
    pub fn is_scarce(&self) -> bool {
        !(self.position - self.head_position)
            .below(self.capacity / 2)
            .branch(HAS_ROOM)
    }

    /// Waits until all writes are durable ([`Intent::Durable`]).
    pub fn durable(&mut self) {
        self.cpu.intent(Intent::Durable);
        self.durable_block = self.head_block;
    }

    /// Waits until all that a section has written is durable. The log's end, as the head's word.
    pub fn end_section(&mut self) -> W<'c, C> {
        breaks(Rule::HeadLast, || self.write_head(self.end()));
        keeps(Rule::UpdatesBeforeMarker, || self.durable());
        self.end()
    }

    /// Allocates the line for the next entry.
    pub fn append(&mut self) -> W<'c, C> {
        let _call = self.cpu.call(1);
        let full = self.tail.equals(self.block + self.last).branch(BLOCK_IS_FULL);
        self.tail = if full {
            self.enter() + LINE_BYTES
        } else {
            self.tail + LINE_BYTES
        };
        self.position = self.position + 1;
        self.tail
    }

    /// Seals the entry: its kind, then its position. Flushes it.
    pub fn seal(&self, entry: W<'c, C>, kind: LogEntryKind, count: u64) {
        self.seal_counted(entry, kind, self.cpu.word(count));
    }

    /// As [`Ring::seal`], with a count that the program has computed.
    pub fn seal_counted(&self, entry: W<'c, C>, kind: LogEntryKind, count: W<'c, C>) {
        let _call = entry.call(4);
        let info = match count.bits() {
            0 => self.cpu.word(kind.info(0)),
            _ => (count << COUNT_SHIFT) + kind.info(0),
        };
        entry.at(field::INFO).store(info);
        let state = (self.position << POSITION_SHIFT) + VALID;
        entry.at(field::STATE).store(state);
        keeps(Rule::EntriesFlushed, || entry.flush());
    }

    /// Advances to the next block.
    fn enter(&mut self) -> W<'c, C> {
        let next = self.block.load();
        breaks(Rule::DurableHeadLeftBlock, || self.durable_block = self.head_block);
        if next.equals(self.durable_block).branch(NEXT_IS_DURABLE_HEAD)
            && !next.equals(self.head_block).branch(NEXT_IS_HEAD)
        {
            self.durable();
        }
        self.block = match next.equals(self.durable_block).branch(RING_IS_FULL) {
            true => self.grow(next),
            false => next,
        };
        self.block
    }

    /// Links a spare block before `next`. The link to its successor is durable before the link to
    /// it, and that before an entry in it.
    fn grow(&mut self, next: W<'c, C>) -> W<'c, C> {
        let line = self.cpu.word(self.base.0);
        let new = line.at(head::SPARE).load();
        if new.bits() >= self.limit {
            log_too_small(self.capacity);
        }
        line.at(head::SPARE).store(new + self.stride);
        line.flush();
        new.store(next);
        new.flush();
        self.durable();
        self.block.store(new);
        self.block.flush();
        self.durable();
        new
    }

    /// The head's word for the tail.
    pub fn end(&self) -> W<'c, C> {
        ((self.tail - self.base.0) >> 6) + (self.position << HEAD_SHIFT)
    }

    /// The entry that a head's word names.
    fn entry(&self, end: W<'c, C>) -> W<'c, C> {
        ((end & ((1 << HEAD_SHIFT) - 1)) << 6) + self.base.0
    }

    /// Marks the entry at `end`: the log up to there is being committed. Waits until the marker is
    /// durable: from then on nothing up to there is undone (Figure 6(a), step 2).
    pub fn mark(&mut self, end: W<'c, C>) {
        let state = self.entry(end).at(field::STATE);
        state.store(((end >> HEAD_SHIFT) << POSITION_SHIFT) + (VALID | MARKER));
        state.flush();
        keeps(Rule::MarkerBeforeInvalidation, || self.durable());
    }

    /// Invalidates the entries up to the one at `end`, then moves the head (Figure 6(a), steps 3 and 4). They become invalid in any
    /// order, so the last one keeps its marker.
    pub fn retire(&mut self, end: W<'c, C>) {
        let to = self.entry(end);
        let mut more = true;
        while more {
            self.pass();
            more = !self.head.equals(to).branch(ENTRY_IS_LAST);
            let state = self.head_position << POSITION_SHIFT;
            let state = if more { state } else { state + MARKER };
            self.head.at(field::STATE).store(state);
            self.head.flush();
        }
        self.cpu.intent(Intent::LogBeforeUpdate);
        self.write_head(end);
        self.cpu.intent(Intent::NewStrand);
    }

    /// Moves the head without a look at the entries that it passes.
    pub fn skip(&mut self, end: W<'c, C>) {
        let to = self.entry(end);
        while !self.head.equals(to).branch(SKIPPED_ALL) {
            self.pass();
        }
        self.write_head(end);
    }

    fn pass(&mut self) {
        self.head = match self.head.equals(self.head_block + self.last).branch(HEAD_BLOCK_ENDS) {
            true => {
                self.head_block = self.head_block.load();
                self.head_block + LINE_BYTES
            }
            false => self.head + LINE_BYTES,
        };
        self.head_position = self.head_position + 1;
    }

    /// Writes and flushes the head.
    pub fn write_head(&self, end: W<'c, C>) {
        let line = self.cpu.word(self.base.0);
        line.at(head::LAST).store(end);
        line.flush();
    }

    /// The word in the head's line with the clock up to which regions are settled.
    pub fn settled(&self) -> W<'c, C> {
        self.cpu.word(self.base.0 + head::SETTLED)
    }
}

#[cold]
#[inline(never)]
fn log_too_small(capacity: u64) -> ! {
    panic!("a lane's log of {capacity} entries is too small for a region and those that are not committed: set workload.log_records higher");
}
