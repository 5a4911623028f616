//! `shared-heap`: hosts share blocks of memory that are counted, and free what nobody holds.
//!
//! CXL-SHM (Zhang et al., SOSP 2023) counts references to objects in shared memory, and repairs the counts when a client fails.
//! Here no locked instruction is atomic across hosts, so a block's count is spread: each lane has a word for each block, in
//! lines that it alone writes. Each lane allocates from blocks of its own and hands what it has allocated over to the others,
//! through a mailbox for each. A task takes what has come, frees its own blocks that nobody holds any more, allocates one,
//! and sends it to each lane that has taken the last one. A lane holds the last block that it has allocated, and the last from
//! each other lane.
//!
//! A block has a line for its life, odd while it is allocated, and a line of words that follow from the life. Allocate: the words
//! and the own hold (the life, in the lane's word for the block) are durable, then the life is. Hand over: block and life are
//! in the mailbox, and its number is raised. Take: the hold is durable; then it is told, in a second word for others; then the
//! mailbox's number is acknowledged; the words are read, and again before the hold is dropped. Drop: the hold is durably
//! gone; then that is told. Free: no mail with the block is without acknowledgement, which is looked at first, and nobody tells
//! of a hold; then the life is raised. Each tells others only what is durable. On several hosts every line of others is
//! invalidated before it is read, by a flush and an `mfence`.
//!
//! When a host has failed, the first lane of those that live drops what its lanes hold, acknowledges what was on the way to
//! them, and frees their blocks that nobody holds. Recovery after a power failure drops holds of what was not allocated yet,
//! acknowledges all mail, and frees what nobody holds.

use crate::across::{
    announce, announce_line, durable, fence, holds, invalidate, lines, load_line, order, store_line, Findings, Known,
    Lanes, LOG_RECORDS,
};
use crate::papers::SHARED;
use crate::params::param;
use crate::About;
use std::iter::once;
use std::ops::Range;
use strandline_isa::{sites, Addr, Cpu, Image, Intent, Memory, Note, Primitive, LINE_BYTES, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{BuildPlan, Heap, LogLayout, Rows, ThreadState, Workload};

sites! {
    NO_MAIL = 0xf1bb_cd88;
    HOLDS_NONE = 0x8ff3_4739;
    DROPPED_IS_WRONG = 0x2e2a_c0ea;
    TAKEN_IS_WRONG = 0xcc62_3a9b;
    BLOCK_IS_FREE = 0x6a99_b44c;
    OWNER_HOLDS = 0x08d1_2dfd;
    MAIL_IS_TAKEN = 0xa708_a7ae;
    MAIL_IS_OTHER = 0x4540_215f;
    OTHER_HOLDS = 0xe377_9b10;
    FREE_TO_TAKE = 0x81af_14c1;
    MAILBOX_IS_FREE = 0x1fe6_8e72;
    FAILED_HOLDS = 0xbe1e_0823;
    FAILED_TELLS = 0x5c55_81d4;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "shared-heap",
    line:
        "each lane allocates blocks, hands them to the others, which may be on other hosts, and frees what nobody holds",
    paper: "CXL-SHM (SOSP 2023): the shape of its counts",
    across_hosts: true,
    tasks: 10_000,
    params: PARAMS,
    small: &[("blocks", "2")],
    ..SHARED
};

const PARAMS: &[Param] = &[
    param("blocks", 16, 2..=1 << 16, "blocks that a lane allocates from"),
    param(
        "omit",
        0,
        0..=7,
        "what is left out, on several hosts: 1 the flush of a block's words, 2 that of what is told, 3 the invalidates of words, 4 the mfence behind invalidates, for an sfence, 5 the look at mail on the way, 6 the invalidates of what others tell, 7 the look at mail of a failed host",
    ),
];

/// Offsets in a mailbox, behind its number.
const BLOCK: u64 = 8;
const LIFE: u64 = 16;

/// The parts of the protocol that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    WordFlush = 1,
    ToldFlush,
    Invalidate,
    FenceBehind,
    Mail,
    InvalidateTold,
    MailOfFailed,
}

/// The blocks, and who holds them.
pub struct SharedHeap {
    /// Of each lane.
    blocks: u64,
    lanes: Lanes,
    omit: u64,
    /// A line for each block: its life.
    lives: Rows,
    words: Rows,
    /// A word of each lane for each block: the life in which the lane holds it, or 0.
    held: Rows,
    /// The same, for others: what was durable.
    told: Rows,
    /// A line for each pair of lanes, of the first: number, block and life of what the second is to take.
    mails: Rows,
    /// A line for each pair of lanes, of the second: the number of what it has taken.
    acks: Rows,
    findings: Findings,
    /// The last block that a lane holds of each, plus 1, or 0.
    known: Known,
    logs: LogLayout,
}

impl SharedHeap {
    /// A lane's block.
    fn block(&self, lane: u64, index: u64) -> u64 {
        lane * self.blocks + index
    }

    fn of(&self, lane: u64) -> Range<u64> {
        self.block(lane, 0)..self.block(lane + 1, 0)
    }

    fn all(&self) -> Range<u64> {
        0..self.block(self.lanes.number, 0)
    }

    /// A lane's word for a block.
    fn word(rows: &Rows, lane: u64, block: u64) -> Addr {
        Addr(rows.addr(lane).0 + 8 * block)
    }

    fn pair(&self, from: u64, to: u64) -> u64 {
        from * self.lanes.number + to
    }

    fn keeps(&self, part: Part) -> bool {
        self.omit != part as u64
    }

    fn fence(&self) -> Primitive {
        fence(self.keeps(Part::FenceBehind))
    }

    /// A line of others, as it is now.
    fn fresh<'c, C: Cpu>(&self, cpu: &'c C, at: Addr) -> W<'c, C> {
        let at = cpu.word(at.0);
        invalidate(cpu, once(at), self.fence());
        at
    }

    /// Invalidates the words of some lanes for these blocks.
    fn invalidate<C: Cpu>(&self, cpu: &C, rows: &Rows, lanes: impl Iterator<Item = u64>, blocks: Range<u64>) {
        let of_lane = |lane: u64| {
            let (first, last) = (blocks.start, blocks.end - 1);
            let lines = SharedHeap::word(rows, lane, first).line().addr().0..=SharedHeap::word(rows, lane, last).0;
            lines.step_by(LINE_BYTES as usize).map(|line| cpu.word(line))
        };
        invalidate(cpu, lanes.flat_map(of_lane), self.fence());
    }

    /// Whether a block does not hold the words of a life.
    fn is_wrong<'c, C: Cpu>(&self, cpu: &'c C, block: W<'c, C>, life: W<'c, C>) -> W<'c, C> {
        let at = (block << u64::from(LINE_BYTES.trailing_zeros())) + self.words.addr(0).0;
        if self.keeps(Part::Invalidate) {
            invalidate(cpu, once(at), self.fence());
        }
        let found = load_line(at);
        found.off | (found.number ^ life)
    }

    /// Takes what another lane has sent, in place of what it has sent before.
    fn take<C: Cpu>(&self, cpu: &C, lane: u64, from: u64) {
        let pair = self.pair(from, lane);
        let (mail, ack) = (self.fresh(cpu, self.mails.addr(pair)), cpu.word(self.acks.addr(pair).0));
        let number = mail.load();
        if number.equals(ack.load()).branch(NO_MAIL) {
            return;
        }
        let (block, life) = (mail.at(BLOCK).load(), mail.at(LIFE).load());
        self.drop_last(cpu, lane, from);
        let (held, told) = self.own(lane, block);
        held.store(life);
        held.flush();
        durable(cpu);
        told.store(life);
        if self.keeps(Part::ToldFlush) {
            told.flush();
        }
        order(cpu);
        ack.store(number);
        ack.flush();
        cpu.intent(Intent::Durable);
        if !self.is_wrong(cpu, block, life).is(0).branch(TAKEN_IS_WRONG) {
            self.findings.report(cpu, lane, from, life);
        }
        cpu.word(self.known.word(lane, from).0).store(block + 1);
    }

    /// A lane's words for a block, as the program computes their addresses: of its hold, and of what it tells.
    fn own<'c, C: Cpu>(&self, lane: u64, block: W<'c, C>) -> (W<'c, C>, W<'c, C>) {
        let offset = block << 3;
        (offset + self.held.addr(lane).0, offset + self.told.addr(lane).0)
    }

    /// Drops what a lane holds of another, or the last that it has allocated.
    fn drop_last<C: Cpu>(&self, cpu: &C, lane: u64, of: u64) {
        let known = cpu.word(self.known.word(lane, of).0);
        let last = known.load();
        if last.is(0).branch(HOLDS_NONE) {
            return;
        }
        let (held, told) = self.own(lane, last - 1);
        let life = held.load();
        if !self.is_wrong(cpu, last - 1, life).is(0).branch(DROPPED_IS_WRONG) {
            self.findings.report(cpu, lane, of, life);
        }
        held.store(cpu.word(0));
        held.flush();
        durable(cpu);
        told.store(cpu.word(0));
        told.flush();
        known.store(cpu.word(0));
    }

    /// Frees the blocks of a lane that nobody holds.
    fn sweep<C: Cpu>(&self, cpu: &C, lane: u64, of: u64) {
        // What is acknowledged is told already.
        let acks = self
            .lanes
            .others(of)
            .map(|to| cpu.word(self.acks.addr(self.pair(of, to)).0));
        let mails = self
            .lanes
            .others(of)
            .map(|to| cpu.word(self.mails.addr(self.pair(of, to)).0));
        invalidate(cpu, acks.clone(), self.fence());
        if lane != of {
            invalidate(cpu, mails.clone(), self.fence());
            let lives = self.of(of).map(|block| cpu.word(self.lives.addr(block).0));
            invalidate(cpu, lives, self.fence());
        }
        let mut sent = Vec::new();
        for (mail, ack) in mails.zip(acks) {
            if !mail.load().equals(ack.load()).branch(MAIL_IS_TAKEN) {
                sent.push(mail.at(BLOCK).load());
            }
        }
        if !self.keeps(if lane == of { Part::Mail } else { Part::MailOfFailed }) {
            sent.clear();
        }
        if self.keeps(Part::InvalidateTold) {
            self.invalidate(cpu, &self.told, self.lanes.others(of), self.of(of));
        }
        for block in self.of(of) {
            let life = cpu.word(self.lives.addr(block).0).load();
            if (life & 1).is(0).branch(BLOCK_IS_FREE) || self.is_held(cpu, of, block, &sent) {
                continue;
            }
            self.live(cpu, block, life + 1, &[]);
            cpu.note(Note::RegionDurable);
        }
    }

    /// Whether a lane's block is held, or on the way in one of these mails.
    fn is_held<C: Cpu>(&self, cpu: &C, lane: u64, block: u64, sent: &[W<'_, C>]) -> bool {
        let holds = |rows: &Rows, lane: u64| cpu.word(SharedHeap::word(rows, lane, block).0).load();
        if !holds(&self.held, lane).is(0).branch(OWNER_HOLDS) {
            return true;
        }
        let is_sent = sent.iter().any(|sent| sent.is(block).branch(MAIL_IS_OTHER));
        let mut others = self.lanes.others(lane);
        is_sent || others.any(|other| !holds(&self.told, other).is(0).branch(OTHER_HOLDS))
    }

    /// Gives a block its next life, or ends one. A region begins with it, which has written these words.
    fn live<'c, C: Cpu>(&self, cpu: &'c C, block: u64, life: W<'c, C>, fresh: &[Addr]) {
        let at = self.lives.addr(block);
        if fresh.is_empty() {
            announce(cpu, fresh, once((at, life.bits())));
        }
        let at = cpu.word(at.0);
        at.store(life);
        at.flush();
        durable(cpu);
    }

    /// Allocates a block, if one is free, and sends it to all that have taken the last one.
    fn allocate<C: Cpu>(&self, cpu: &C, lane: u64) {
        self.drop_last(cpu, lane, lane);
        let life = |block: &u64| cpu.word(self.lives.addr(*block).0).load();
        let is_free = |block: &u64| (life(block) & 1).is(0).branch(FREE_TO_TAKE);
        let Some(block) = self.of(lane).find(is_free) else {
            return;
        };
        let (at, life) = (self.words.addr(block), life(&block) + 1);
        announce_line(cpu, at, life.bits(), (self.lives.addr(block), life.bits()));
        let (held, _) = self.own(lane, cpu.word(block));
        held.store(life);
        held.flush();
        let words = cpu.word(at.0);
        store_line(words, life);
        if self.keeps(Part::WordFlush) {
            words.flush();
        }
        order(cpu);
        self.live(cpu, block, life, &[at]);
        cpu.note(Note::RegionDurable);
        cpu.word(self.known.word(lane, lane).0).store(cpu.word(block + 1));
        self.send(cpu, lane, block, life);
    }

    fn send<C: Cpu>(&self, cpu: &C, lane: u64, block: u64, life: W<'_, C>) {
        let living = || self.lanes.others(lane).filter(|to| !self.lanes.has_failed(cpu, *to));
        let acks = living().map(|to| cpu.word(self.acks.addr(self.pair(lane, to)).0));
        invalidate(cpu, acks, self.fence());
        for pair in living().map(|to| self.pair(lane, to)) {
            let (mail, ack) = (cpu.word(self.mails.addr(pair).0), cpu.word(self.acks.addr(pair).0));
            let number = mail.load();
            if number.equals(ack.load()).branch(MAILBOX_IS_FREE) {
                mail.at(BLOCK).store(cpu.word(block));
                mail.at(LIFE).store(life);
                cpu.primitive(Primitive::StoreBarrier);
                mail.store(number + 1);
                mail.flush();
            }
        }
        cpu.intent(Intent::Durable);
    }

    /// Acts for a lane whose host has failed: it holds nothing, has taken all that was sent to it, and frees its blocks.
    fn act_for<C: Cpu>(&self, cpu: &C, lane: u64, failed: u64) {
        self.invalidate(cpu, &self.held, once(failed), self.all());
        self.invalidate(cpu, &self.told, once(failed), self.all());
        let words = |rows: &Rows| {
            self.all()
                .map(|block| cpu.word(SharedHeap::word(rows, failed, block).0))
                .collect()
        };
        let (held, told): (Vec<W<'_, C>>, Vec<W<'_, C>>) = (words(&self.held), words(&self.told));
        for held in held {
            if !held.load().is(0).branch(FAILED_HOLDS) {
                held.store(cpu.word(0));
                held.flush();
            }
        }
        durable(cpu);
        for told in told {
            if !told.load().is(0).branch(FAILED_TELLS) {
                told.store(cpu.word(0));
                told.flush();
            }
        }
        order(cpu);
        for pair in self.lanes.others(failed).map(|from| self.pair(from, failed)) {
            let (mail, ack) = (
                self.fresh(cpu, self.mails.addr(pair)),
                self.fresh(cpu, self.acks.addr(pair)),
            );
            ack.store(mail.load());
            ack.flush();
        }
        cpu.intent(Intent::Durable);
        self.sweep(cpu, lane, failed);
    }

    /// Who holds a block in this life.
    fn holders<'a>(&'a self, image: &'a dyn Image, block: u64, life: u64) -> impl Iterator<Item = u64> + 'a {
        let holds = move |lane: &u64| image.word(SharedHeap::word(&self.held, *lane, block)) == life;
        self.lanes.all().filter(holds)
    }

    fn check_block(&self, image: &dyn Image, block: u64) -> Result<(), String> {
        let at = self.lives.addr(block);
        let life = image.word(at);
        for lane in self.lanes.all() {
            let word = SharedHeap::word(&self.held, lane, block);
            let held = image.word(word);
            if held != 0 && (held != life || life & 1 == 0) {
                let is = if life & 1 == 0 { "which is free in" } else { "which has" };
                return Err(format!(
                    "lane {lane} holds life {held} of block {block}, {is} life {life}: {word}, {at}"
                ));
            }
        }
        let words = self.words.addr(block);
        match life & 1 == 1 && !holds(image, words, life) {
            true => Err(format!(
                "block {block} has life {life}, and {words} does not hold its words"
            )),
            false => Ok(()),
        }
    }
}

impl Workload for SharedHeap {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let blocks = params.get("blocks");
        let lanes = Lanes::of(plan);
        let (all, pairs) = (lanes.number * blocks, lanes.number * lanes.number);
        let mut heap = Heap::new(plan);
        let shared = SharedHeap {
            blocks,
            lanes,
            omit: params.get("omit"),
            lives: lines(&mut heap, all),
            words: lines(&mut heap, all),
            held: heap.rows(lanes.number, 8 * all, lanes.number),
            told: heap.rows(lanes.number, 8 * all, lanes.number),
            mails: lines(&mut heap, pairs),
            acks: lines(&mut heap, pairs),
            findings: Findings::allocate(&mut heap, lanes),
            known: Known::allocate(&mut heap, lanes),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), LOG_RECORDS),
        };
        Ok((shared, heap))
    }

    fn fill(&self, _memory: &Memory, _seed: u64) {}

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let (cpu, lane) = (thread.cpu, thread.lane as u64);
        for other in self.lanes.others(lane) {
            if self.lanes.repairs(cpu, lane, other) {
                self.act_for(cpu, lane, other);
            }
            self.take(cpu, lane, other);
        }
        self.sweep(cpu, lane, lane);
        self.allocate(cpu, lane);
    }

    /// Whoever holds a block holds its present life, in which it is allocated and has its words; and nobody has read others.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        self.all().try_for_each(|block| self.check_block(image, block))?;
        for (from, to) in self.lanes.pairs() {
            let at = self.acks.addr(self.pair(from, to));
            let (sent, taken) = (image.word(self.mails.addr(self.pair(from, to))), image.word(at));
            if taken > sent {
                return Err(format!(
                    "lane {to} has taken {taken} blocks of lane {from}, which has sent {sent}: {at}"
                ));
            }
        }
        self.findings.check(image, "life", "a block of lane")
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        let rows = [self.words, self.lives, self.held, self.told, self.mails, self.acks];
        rows.iter().map(Rows::range).chain(once(self.known.range())).collect()
    }

    /// A block's life says whether it is allocated: a region is there or not.
    fn recover(&self, _image: &dyn Image) {}

    /// Nobody holds what was not allocated yet; nothing is on the way; and what nobody holds is free.
    fn repair(&self, image: &dyn Image) {
        for (lane, block) in self
            .lanes
            .all()
            .flat_map(|lane| self.of(lane).map(move |block| (lane, block)))
        {
            let (held, life) = (
                SharedHeap::word(&self.held, lane, block),
                image.word(self.lives.addr(block)),
            );
            if life & 1 == 0 && image.word(held) == life + 1 {
                image.set_word(held, 0);
            }
        }
        for (lane, block) in self
            .lanes
            .all()
            .flat_map(|lane| self.all().map(move |block| (lane, block)))
        {
            let [held, told] = [&self.held, &self.told].map(|rows| SharedHeap::word(rows, lane, block));
            image.set_word(told, image.word(held));
        }
        for pair in 0..self.lanes.number * self.lanes.number {
            let (mail, ack) = (self.mails.addr(pair), self.acks.addr(pair));
            let last = image.word(mail).max(image.word(ack));
            image.set_word(mail, last);
            image.set_word(ack, last);
        }
        for block in self.all() {
            let (at, life) = (self.lives.addr(block), image.word(self.lives.addr(block)));
            if life & 1 == 1 && self.holders(image, block, life).next().is_none() {
                image.set_word(at, life + 1);
            }
        }
    }

    /// Lanes go on with what they hold.
    fn restart(&self, image: &dyn Image) {
        for (lane, of) in self.lanes.pairs() {
            let holds = |block: &u64| image.word(SharedHeap::word(&self.held, lane, *block)) != 0;
            let held = self.of(of).find(holds).map_or(0, |block| block + 1);
            image.set_word(self.known.word(lane, of), held);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::across::line;
    use crate::testing::{damage, params, plan};

    /// Two lanes of two blocks. Both hold block 0 in its third life; the second holds block 2 in its first.
    fn shared() -> (SharedHeap, Memory) {
        let plan = BuildPlan { threads: 2, ..plan(1) };
        let (heap, memory) =
            SharedHeap::build(&params(PARAMS, &[("blocks", 2)]).expect("right"), &plan).expect("right");
        for (block, life, lanes) in [(0, 3, 0..2), (2, 1, 1..2)] {
            memory.set_word(heap.lives.addr(block), life);
            let words = (heap.words.addr(block).0..).step_by(8).zip(line(life));
            words.for_each(|(at, word)| memory.set_word(Addr(at), word));
            lanes.for_each(|lane| memory.set_word(SharedHeap::word(&heap.held, lane, block), life));
        }
        (heap, memory)
    }

    #[test]
    fn damage_is_named() {
        let (heap, memory) = shared();
        let cases = [
            (
                heap.lives.addr(0).0,
                4,
                "lane 0 holds life 3 of block 0, which is free in life 4",
            ),
            (
                heap.lives.addr(0).0,
                5,
                "lane 0 holds life 3 of block 0, which has life 5",
            ),
            (
                SharedHeap::word(&heap.held, 1, 0).0,
                1,
                "lane 1 holds life 1 of block 0, which has life 3",
            ),
            (heap.words.addr(2).0 + 16, 1, "does not hold its words"),
            (
                heap.acks.addr(1).0,
                1,
                "lane 1 has taken 1 blocks of lane 0, which has sent 0",
            ),
            (
                heap.findings.of(1).0,
                3,
                "lane 1 has read a wrong life 3 of a block of lane 0",
            ),
        ];
        damage(&memory, |memory| heap.check(memory), &cases);
    }

    #[test]
    fn what_nobody_holds_is_free_and_what_was_on_the_way_has_come() {
        let (heap, memory) = shared();
        // The last hold of block 2 is dropped, block 1 was not allocated yet, and block 0 was sent.
        memory.set_word(SharedHeap::word(&heap.held, 1, 2), 0);
        memory.set_word(SharedHeap::word(&heap.held, 0, 1), 1);
        memory.set_word(heap.mails.addr(1), 4);
        memory.set_word(heap.acks.addr(1), 3);
        assert!(heap.check(&memory).is_err());
        heap.repair(&memory);
        assert_eq!(heap.check(&memory), Ok(()));
        assert_eq!(
            [0, 1, 2, 3].map(|block| memory.word(heap.lives.addr(block))),
            [3, 0, 2, 0]
        );
        assert_eq!(
            (
                memory.word(SharedHeap::word(&heap.held, 0, 1)),
                memory.word(heap.acks.addr(1))
            ),
            (0, 4)
        );
        // A use after free is left for the check.
        memory.set_word(SharedHeap::word(&heap.held, 1, 2), 1);
        heap.repair(&memory);
        assert!(heap
            .check(&memory)
            .expect_err("it is held")
            .contains("lane 1 holds life 1 of block 2"));
    }
}
