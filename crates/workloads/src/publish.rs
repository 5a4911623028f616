//! `publish`: hosts publish blocks, which others acquire by their generations.
//!
//! Caches of language models ask for this contract: a host writes a block and publishes a generation, others acquire, read
//! and release it. Here every lane has slots, which it alone writes and all others read; its blocks go to them in turn, so
//! that what a slot held before is what a stale read returns. A task publishes a block and reads the next new one of each
//! other lane.
//!
//! A slot is a header line and lines of words. The header has the generation, twice the number of the block, the block's
//! lines, and a sum of generation and words. Publish: an odd generation, which says that the slot is being written, is
//! durable; then the words are; then length, sum and even generation. On several hosts each has then left the host's caches.
//! Acquire: the header is read, then the words; and to release, the header again, whose generation must still be the same. On
//! several hosts the lines are invalidated before they are read, by a flush and an `mfence`. A block whose sum is wrong though
//! its generation has stayed is an error, which the reader writes into its line of results.
//!
//! When a host has failed, the first lane of those that live cancels what it has not published: the slot gets an empty block of
//! the next generation. Recovery after a power failure does the same.

use crate::across::{announce, fence, invalidate, lines, mix, mixed, order, Findings, Known, Lanes, LOG_RECORDS, STEP};
use crate::papers::SHARED;
use crate::params::param;
use crate::About;
use std::iter::once;
use std::ops::Range;
use strandline_isa::{sites, Addr, Cpu, Image, Intent, Memory, Note, Primitive, LINE_BYTES, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{BuildPlan, Heap, LogLayout, Rows, ThreadState, Workload};

sites! {
    NEXT_WORD = 0x3c6e_f362;
    IS_BEING_WRITTEN = 0xdaa6_6d13;
    NOTHING_NEW = 0x78dd_e6c4;
    NEXT_READ = 0x1715_6075;
    SLOT_IS_REUSED = 0xb54c_da26;
    BLOCK_IS_WRONG = 0x5384_53d7;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "publish",
    line: "each lane publishes blocks by generations, and acquires those of others, which may be on other hosts",
    paper: "LMCache: the contract that its shared caches ask for",
    across_hosts: true,
    tasks: 10_000,
    params: PARAMS,
    small: &[("slots", "2"), ("lines", "2")],
    ..SHARED
};

const PARAMS: &[Param] = &[
    param("slots", 64, 1..=1 << 20, "slots of a lane; rounded up to a power of two"),
    param("lines", 8, 1..=1 << 10, "lines of the longest block; blocks have 1 to so many in turn"),
    param(
        "omit",
        0,
        0..=6,
        "what is left out, on several hosts: 1 the odd generation, 2 the flushes of words, 3 the order of words and generation, 4 the invalidates of words, 5 the mfence behind invalidates, for an sfence, 6 the second look at the generation",
    ),
];

const WORDS: u64 = LINE_BYTES / 8;
/// Offsets in a header.
const LENGTH: u64 = 8;
const SUM: u64 = 16;

/// The parts of the protocol that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Mark = 1,
    WordFlush,
    Order,
    Invalidate,
    FenceBehind,
    SecondLook,
}

/// The slots, and what each lane has read of them.
pub struct Publish {
    slots: u64,
    lines: u64,
    lanes: Lanes,
    omit: u64,
    /// A line for each slot.
    headers: Rows,
    findings: Findings,
    blocks: Rows,
    /// The number of the last block that a lane has published, or read of another.
    known: Known,
    logs: LogLayout,
}

impl Publish {
    /// The slot of a block.
    fn slot(&self, lane: u64, number: u64) -> u64 {
        lane * self.slots + (number & (self.slots - 1))
    }

    fn line(&self, slot: u64, line: u64) -> Addr {
        Addr(self.blocks.addr(slot).0 + line * LINE_BYTES)
    }

    fn keeps(&self, part: Part) -> bool {
        self.omit != part as u64
    }

    fn fence(&self) -> Primitive {
        fence(self.keeps(Part::FenceBehind))
    }

    /// The addresses of a block's header and words, as the program computes them.
    fn place<'c, C: Cpu>(&self, lane: u64, number: W<'c, C>) -> (W<'c, C>, W<'c, C>) {
        let slot = number & (self.slots - 1);
        let header = (slot << u64::from(LINE_BYTES.trailing_zeros())) + self.headers.addr(lane * self.slots).0;
        (
            header,
            slot * (self.lines * LINE_BYTES) + self.line(lane * self.slots, 0).0,
        )
    }

    fn publish<C: Cpu>(&self, cpu: &C, lane: u64) {
        let known = cpu.word(self.known.word(lane, lane).0);
        let number = known.load() + 1;
        let (header, block) = self.place(lane, number);
        let (generation, length) = (number << 1, number.remainder(self.lines) + 1);
        self.announce(cpu, lane, number.bits(), length.bits());
        if self.keeps(Part::Mark) {
            header.store(generation - 1);
            header.flush();
            order(cpu);
        }
        let sum = self.write(block, generation, length);
        match self.keeps(Part::Order) {
            true => order(cpu),
            false => cpu.primitive(Primitive::StoreBarrier),
        }
        close(cpu, header, [generation, length, sum]);
        cpu.note(Note::RegionDurable);
        known.store(number);
    }

    /// Recovery drops a block that is not published; nothing reads its header then, either.
    fn announce<C: Cpu>(&self, cpu: &C, lane: u64, number: u64, length: u64) {
        let slot = self.slot(lane, number);
        let header = self.headers.addr(slot);
        let lines: Vec<Addr> = (0..length).map(|line| self.line(slot, line)).collect();
        let words = (lines[0].0..).step_by(8).map(Addr).zip(words(2 * number, length));
        let fields = fields(header).zip([2 * number, length, sum(2 * number, length)]);
        announce(cpu, &[&lines[..], &[header]].concat(), words.chain(fields));
    }

    /// Writes the words of a block, and returns their sum.
    fn write<'c, C: Cpu>(&self, block: W<'c, C>, generation: W<'c, C>, length: W<'c, C>) -> W<'c, C> {
        let (mut word, mut sum) = (generation, generation);
        let (mut at, mut left) = (block, length);
        loop {
            for index in 0..WORDS {
                word = word + STEP;
                sum = mixed(sum, word);
                at.at(8 * index).store(word);
            }
            if self.keeps(Part::WordFlush) {
                at.flush();
            }
            (at, left) = (at + LINE_BYTES, left - 1);
            if left.is(0).branch(NEXT_WORD) {
                return sum;
            }
        }
    }

    /// Reads the next new block of another lane.
    fn read<C: Cpu>(&self, cpu: &C, lane: u64, owner: u64) {
        let known = cpu.word(self.known.word(lane, owner).0);
        let last = known.load();
        let (header, block) = self.place(owner, last + 1);
        invalidate(cpu, once(header), self.fence());
        let generation = header.load();
        if !(generation & 1).is(0).branch(IS_BEING_WRITTEN) {
            if self.lanes.repairs(cpu, lane, owner) {
                self.cancel(cpu, header, generation);
            }
            return;
        }
        let number = generation >> 1;
        if !last.less(number).branch(NOTHING_NEW) {
            return;
        }
        let (length, sum) = (header.at(LENGTH).load(), header.at(SUM).load());
        let found = self.sum(cpu, block, generation, length);
        if self.keeps(Part::SecondLook) {
            invalidate(cpu, once(header), self.fence());
            if !header.load().equals(generation).branch(SLOT_IS_REUSED) {
                return;
            }
        }
        if !found.equals(sum).branch(BLOCK_IS_WRONG) {
            self.findings.report(cpu, lane, owner, number);
        }
        known.store(number);
    }

    /// The sum of the words of a block.
    fn sum<'c, C: Cpu>(&self, cpu: &'c C, block: W<'c, C>, generation: W<'c, C>, length: W<'c, C>) -> W<'c, C> {
        // The slot may be reused meanwhile.
        let lines = length.bits().min(self.lines);
        if self.keeps(Part::Invalidate) {
            let all = (0..lines).map(|line| block.at(line * LINE_BYTES));
            invalidate(cpu, all, self.fence());
        }
        let (mut sum, mut left) = (generation, length);
        for line in 0..lines {
            let word = |index: u64| block.at(line * LINE_BYTES + 8 * index).load();
            sum = (0..WORDS).map(word).fold(sum, mixed);
            left = left - 1;
            left.is(0).branch(NEXT_READ);
        }
        sum
    }

    /// Gives the slot of a block that will not be published an empty one.
    fn cancel<C: Cpu>(&self, cpu: &C, header: W<'_, C>, mark: W<'_, C>) {
        let generation = mark + 1;
        let at = Addr(header.bits());
        announce(cpu, &[at], fields(at).zip([generation.bits(), 0, generation.bits()]));
        close(cpu, header, [generation, cpu.word(0), generation]);
        cpu.note(Note::RegionDurable);
    }

    /// The number of the last block that a lane has published.
    fn published(&self, image: &dyn Image, lane: u64) -> u64 {
        let slots = lane * self.slots..(lane + 1) * self.slots;
        let last = slots.map(|slot| image.word(self.headers.addr(slot)) >> 1).max();
        last.unwrap_or(0)
    }

    /// A slot holds the newest of its blocks.
    fn check_slot(&self, image: &dyn Image, lane: u64, number: u64) -> Result<(), String> {
        let slot = self.slot(lane, number);
        let at = self.headers.addr(slot);
        let [generation, length, expected] = [0, LENGTH, SUM].map(|offset| image.word(Addr(at.0 + offset)));
        if generation != 2 * number {
            return Err(format!(
                "lane {lane} has published block {number}, and {at} has generation {generation}"
            ));
        }
        let words = (0..length.min(self.lines) * WORDS).map(|index| image.word(Addr(self.line(slot, 0).0 + 8 * index)));
        if length > self.lines || words.fold(generation, mix) != expected {
            let block = self.line(slot, 0);
            return Err(format!(
                "{at} says block {number} of lane {lane}, and {block} does not hold it"
            ));
        }
        Ok(())
    }
}

/// Stores a header whose generation says that the slot is not being written.
fn close<'c, C: Cpu>(cpu: &'c C, header: W<'c, C>, [generation, length, sum]: [W<'c, C>; 3]) {
    header.at(LENGTH).store(length);
    header.at(SUM).store(sum);
    cpu.primitive(Primitive::StoreBarrier);
    header.store(generation);
    header.flush();
    cpu.intent(Intent::Durable);
}

/// The addresses of a header's fields.
fn fields(header: Addr) -> impl Iterator<Item = Addr> {
    [0, LENGTH, SUM].into_iter().map(move |offset| Addr(header.0 + offset))
}

/// The words of a block.
fn words(generation: u64, length: u64) -> impl Iterator<Item = u64> {
    (1..=length * WORDS).map(move |index| generation.wrapping_add(index.wrapping_mul(STEP)))
}

/// Their sum.
fn sum(generation: u64, length: u64) -> u64 {
    words(generation, length).fold(generation, mix)
}

impl Workload for Publish {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let (slots, length) = (params.get("slots").next_power_of_two(), params.get("lines"));
        let lanes = Lanes::of(plan);
        let all = lanes.number * slots;
        let mut heap = Heap::new(plan);
        let publish = Publish {
            slots,
            lines: length,
            lanes,
            omit: params.get("omit"),
            headers: lines(&mut heap, all),
            findings: Findings::allocate(&mut heap, lanes),
            blocks: heap.rows(all, length * LINE_BYTES, all),
            known: Known::allocate(&mut heap, lanes),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), LOG_RECORDS),
        };
        Ok((publish, heap))
    }

    fn fill(&self, _memory: &Memory, _seed: u64) {}

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let (cpu, lane) = (thread.cpu, thread.lane as u64);
        self.publish(cpu, lane);
        for owner in self.lanes.others(lane) {
            self.read(cpu, lane, owner);
        }
    }

    /// Each slot holds the newest of its blocks, whole, and nobody has read a wrong one.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        for lane in self.lanes.all() {
            let last = self.published(image, lane);
            let first = (last + 1).saturating_sub(self.slots).max(1);
            (first..=last).try_for_each(|number| self.check_slot(image, lane, number))?;
        }
        self.findings.check(image, "block", "lane")
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        vec![self.blocks.range(), self.headers.range(), self.known.range()]
    }

    /// What was being written is not published.
    fn recover(&self, image: &dyn Image) {
        for header in (0..self.lanes.number * self.slots).map(|slot| self.headers.addr(slot)) {
            let generation = image.word(header) + 1;
            if generation & 1 == 0 {
                // The generation last: recovery may be cut short.
                let fields: Vec<Addr> = fields(header).collect();
                image.set_word(fields[1], 0);
                image.set_word(fields[2], generation);
                image.set_word(fields[0], generation);
            }
        }
    }

    /// Lanes go on behind what is published.
    fn restart(&self, image: &dyn Image) {
        for (lane, owner) in self.lanes.pairs() {
            image.set_word(self.known.word(lane, owner), self.published(image, owner));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{damage, params, plan};

    /// Two lanes, of which the first has published three blocks in two slots.
    fn published() -> (Publish, Memory) {
        let plan = BuildPlan { threads: 2, ..plan(1) };
        let set = [("slots", 2), ("lines", 2)];
        let (publish, memory) = Publish::build(&params(PARAMS, &set).expect("right"), &plan).expect("right");
        for number in 1..=3 {
            let (slot, generation, length) = (publish.slot(0, number), 2 * number, number % 2 + 1);
            let block = (publish.line(slot, 0).0..).step_by(8).zip(words(generation, length));
            block.for_each(|(at, word)| memory.set_word(Addr(at), word));
            let header = fields(publish.headers.addr(slot)).zip([generation, length, sum(generation, length)]);
            header.for_each(|(at, word)| memory.set_word(at, word));
        }
        (publish, memory)
    }

    #[test]
    fn damage_is_named() {
        let (publish, memory) = published();
        let header = publish.headers.addr(publish.slot(0, 3)).0;
        let cases = [
            (publish.line(publish.slot(0, 3), 1).0 + 8, 9, "says block 3 of lane 0"),
            (header + LENGTH, 1, "says block 3 of lane 0"),
            (publish.headers.addr(publish.slot(0, 2)).0, 0, "has generation 0"),
            (publish.headers.addr(publish.slot(0, 2)).0, 3, "has generation 3"),
            (publish.findings.of(1).0, 2, "lane 1 has read a wrong block 2 of lane 0"),
        ];
        damage(&memory, |memory| publish.check(memory), &cases);
    }

    #[test]
    fn a_block_that_was_being_written_is_cancelled() {
        let (publish, memory) = published();
        let slot = publish.slot(0, 4);
        memory.set_word(publish.headers.addr(slot), 7);
        memory.set_word(publish.line(slot, 0), 1);
        assert!(publish.check(&memory).is_err());
        publish.recover(&memory);
        assert_eq!((publish.check(&memory), publish.published(&memory, 0)), (Ok(()), 4));
        assert_eq!(memory.word(Addr(publish.headers.addr(slot).0 + LENGTH)), 0);
    }
}
