//! `host-queue`: hosts send each other what each is to consume exactly once.
//!
//! From each lane to each goes a ring, which the one alone writes and the other alone consumes; so no locked instruction is
//! needed, which would be atomic within a host only. A task consumes what is new in the rings to its lane, and sends a
//! few entries to the next lane in turn, unless its ring is full.
//!
//! An entry is a line: its number, words that follow from it, and their sum. The ring's tail, in a line of the sender, is the
//! number of the last entry. Send: the entry is durable, then the tail is. Consume, on several hosts: the tail's line is
//! invalidated and read; so are the lines of the new entries. The consumer's line has its head, which is the number of the
//! last consumed entry, together with a sum of all that it has consumed: twice, so that a crash while one is written leaves
//! the other. It also tells the sender up to which entry the ring may be overwritten: the head that was durable before.
//! Each tells the other only what is durable: nothing that a crash undoes has been built upon.
//!
//! When a host has failed, the first lane of those that live consumes the rings to its lanes, behind their heads. What it
//! never published is skipped. Recovery after a power failure has little to do: a consumer may have seen a tail that was not
//! durable yet, on its own host.

use crate::across::{
    announce_line, durable, fence, holds, invalidate, line, lines, load_line, mix, mixed, store_line, Findings, Known,
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
    LOOKS_FULL = 0xfa8c_fb85;
    IS_FULL = 0x98c4_7536;
    LAST_OF_BURST = 0xec48_c90d;
    LAST_LANE = 0x36fb_eee7;
    FIRST_IS_NEWER = 0xd533_6898;
    NOTHING_NEW = 0x736a_e249;
    NOTHING_TOLD = 0x11a2_5bfa;
    ENTRY_IS_WRONG = 0xafd9_d5ab;
    LAST_NEW = 0x4e11_4f5c;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "host-queue",
    line: "each lane sends entries to each, which may be on another host, and consumes them exactly once",
    paper: "none: rings of one producer and one consumer",
    across_hosts: true,
    tasks: 10_000,
    params: PARAMS,
    small: &[("slots", "2")],
    ..SHARED
};

const PARAMS: &[Param] = &[
    param("slots", 256, 2..=1 << 20, "entries of a ring; rounded up to a power of two"),
    param("burst", 3, 1..=1 << 10, "entries that a task sends, if there is room"),
    param(
        "omit",
        0,
        0..=6,
        "what is left out, on several hosts: 1 the flush of an entry, 2 that of the tail, 3 the invalidates of entries, 4 the mfence behind invalidates, for an sfence, 5 the wait for room, 6 the second head",
    ),
];

/// Offset in a consumer's line of its second head.
const SECOND: u64 = 16;
/// Offset of a sum behind its head.
const SUM: u64 = 8;
/// Offset of the number up to which entries may be overwritten.
const FREE: u64 = 32;

/// The parts of the protocol that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    EntryFlush = 1,
    TailFlush,
    Invalidate,
    FenceBehind,
    Room,
    SecondHead,
}

/// The rings from each lane to each.
pub struct HostQueue {
    slots: u64,
    burst: u64,
    lanes: Lanes,
    omit: u64,
    /// A line for each ring, of its sender: the number of the last entry.
    tails: Rows,
    /// A line for each ring, of its consumer: two heads, each with a sum of what was consumed until then, of which the newer
    /// counts; and the number up to which entries may be overwritten.
    heads: Rows,
    findings: Findings,
    entries: Rows,
    /// The lane that each sends to next, in its own word.
    next: Known,
    logs: LogLayout,
}

impl HostQueue {
    fn ring(&self, from: u64, to: u64) -> u64 {
        from * self.lanes.number + to
    }

    fn entry(&self, ring: u64, number: u64) -> Addr {
        self.entries.addr(ring * self.slots + (number & (self.slots - 1)))
    }

    fn keeps(&self, part: Part) -> bool {
        self.omit != part as u64
    }

    fn fence(&self) -> Primitive {
        fence(self.keeps(Part::FenceBehind))
    }

    /// The address of an entry, as the program computes it.
    fn place<'c, C: Cpu>(&self, ring: W<'c, C>, number: W<'c, C>) -> W<'c, C> {
        let bits = u64::from(LINE_BYTES.trailing_zeros());
        let first = ring << (bits + u64::from(self.slots.trailing_zeros()));
        first + ((number & (self.slots - 1)) << bits) + self.entry(0, 0).0
    }

    /// Sends entries to the next lane.
    fn send<C: Cpu>(&self, cpu: &C, lane: u64) {
        let next = cpu.word(self.next.word(lane, lane).0);
        let to = next.load();
        let following = match (to + 1).is(self.lanes.number).branch(LAST_LANE) {
            true => cpu.word(0),
            false => to + 1,
        };
        next.store(following);
        let ring = to + self.ring(lane, 0);
        let mut left = cpu.word(self.burst);
        while self.sends(cpu, ring) {
            left = left - 1;
            if left.is(0).branch(LAST_OF_BURST) {
                break;
            }
        }
    }

    /// Sends an entry, if there is room.
    fn sends<'c, C: Cpu>(&self, cpu: &'c C, ring: W<'c, C>) -> bool {
        let offset = ring << u64::from(LINE_BYTES.trailing_zeros());
        let (tail, head) = (offset + self.tails.addr(0).0, offset + self.heads.addr(0).0);
        let number = tail.load() + 1;
        if self.keeps(Part::Room) && self.is_full(cpu, head, number) {
            return false;
        }
        let at = self.entry(ring.bits(), number.bits());
        announce_line(cpu, at, number.bits(), (self.tails.addr(ring.bits()), number.bits()));
        let entry = self.place(ring, number);
        store_line(entry, number);
        if self.keeps(Part::EntryFlush) {
            entry.flush();
        }
        durable(cpu);
        tail.store(number);
        if self.keeps(Part::TailFlush) {
            tail.flush();
        }
        cpu.intent(Intent::Durable);
        cpu.note(Note::RegionDurable);
        true
    }

    /// Whether an entry has no room yet. The host's copy of the consumer's line may be old: the ring looks fuller then.
    fn is_full<C: Cpu>(&self, cpu: &C, head: W<'_, C>, number: W<'_, C>) -> bool {
        if !(number - head.at(FREE).load() - 1).below(self.slots).branch(LOOKS_FULL) {
            invalidate(cpu, once(head), self.fence());
            return !(number - head.at(FREE).load() - 1).below(self.slots).branch(IS_FULL);
        }
        false
    }

    /// Consumes what is new in a ring, for its consumer.
    fn consume<C: Cpu>(&self, cpu: &C, lane: u64, from: u64, to: u64) {
        let ring = self.ring(from, to);
        let (tail, heads) = (cpu.word(self.tails.addr(ring).0), cpu.word(self.heads.addr(ring).0));
        if lane != to {
            invalidate(cpu, once(heads), self.fence());
        }
        let (mut newer, mut older) = (heads.at(SECOND), heads);
        if newer.load().less(older.load()).branch(FIRST_IS_NEWER) {
            (newer, older) = (older, newer);
        }
        if !self.keeps(Part::SecondHead) {
            older = newer;
        }
        let (mut head, mut sum) = (newer.load(), newer.at(SUM).load());
        invalidate(cpu, once(tail), self.fence());
        let last = tail.load();
        let is_new = !last.equals(head).branch(NOTHING_NEW);
        if !is_new && heads.at(FREE).load().equals(head).branch(NOTHING_TOLD) {
            return;
        }
        // It was durable when the lane consumed last.
        heads.at(FREE).store(head);
        if is_new {
            if self.keeps(Part::Invalidate) {
                let new = head.bits() + 1..=last.bits();
                let lines = new.map(|new| cpu.word(self.entry(ring, new).0));
                invalidate(cpu, lines, self.fence());
            }
            loop {
                head = head + 1;
                let found = load_line(self.place(cpu.word(ring), head));
                sum = mixed(sum, found.sum);
                if !(found.off | (found.number ^ head)).is(0).branch(ENTRY_IS_WRONG) {
                    self.findings.report(cpu, lane, ring, head);
                }
                if head.equals(last).branch(LAST_NEW) {
                    break;
                }
            }
            older.at(SUM).store(sum);
            cpu.primitive(Primitive::StoreBarrier);
            older.store(head);
        }
        heads.flush();
        cpu.intent(Intent::Durable);
    }

    /// The head of a ring, and the sum of what was consumed.
    fn head(&self, image: &dyn Image, ring: u64) -> (u64, u64) {
        let at = |offset: u64| image.word(Addr(self.heads.addr(ring).0 + offset));
        let (first, second) = ((at(0), at(SUM)), (at(SECOND), at(SECOND + SUM)));
        match second.0 < first.0 {
            true => first,
            false => second,
        }
    }

    fn check_ring(&self, image: &dyn Image, (from, to): (u64, u64)) -> Result<(), String> {
        let ring = self.ring(from, to);
        let (last, (head, sum)) = (image.word(self.tails.addr(ring)), self.head(image, ring));
        let at = self.heads.addr(ring);
        if head > last {
            return Err(format!(
                "lane {to} has consumed entry {head} of ring {ring}, of lane {from}, whose last is {last}: {at}"
            ));
        }
        if sum != (1..=head).fold(0, |sum, number| mix(sum, line(number)[7])) {
            return Err(format!(
                "lane {to} has not consumed entries 1 to {head} of ring {ring}, of lane {from}, once each and in order: {at}"
            ));
        }
        if last - head > self.slots {
            return Err(format!(
                "ring {ring}, from lane {from} to {to}, ends with entry {last} before entry {} is consumed: {at}",
                head + 1
            ));
        }
        // The next entry may be half there, in place of the oldest, if that is consumed.
        let first = (last + 2).saturating_sub(self.slots).clamp(1, head + 1);
        let lacks = |number: &u64| !holds(image, self.entry(ring, *number), *number);
        (first..=last).find(lacks).map_or(Ok(()), |number| {
            let at = self.entry(ring, number);
            Err(format!(
                "ring {ring}, from lane {from} to {to}, ends with entry {last}, and {at} does not hold entry {number}"
            ))
        })
    }
}

impl Workload for HostQueue {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let slots = params.get("slots").next_power_of_two();
        let lanes = Lanes::of(plan);
        let rings = lanes.number * lanes.number;
        let mut heap = Heap::new(plan);
        let queue = HostQueue {
            slots,
            burst: params.get("burst"),
            lanes,
            omit: params.get("omit"),
            tails: lines(&mut heap, rings),
            heads: lines(&mut heap, rings),
            findings: Findings::allocate(&mut heap, lanes),
            entries: lines(&mut heap, rings * slots),
            next: Known::allocate(&mut heap, lanes),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), LOG_RECORDS),
        };
        Ok((queue, heap))
    }

    fn fill(&self, _memory: &Memory, _seed: u64) {}

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let (cpu, lane) = (thread.cpu, thread.lane as u64);
        let takes_over = |to: &u64| *to == lane || self.lanes.repairs(cpu, lane, *to);
        for to in self.lanes.all().filter(takes_over) {
            for from in self.lanes.all() {
                self.consume(cpu, lane, from, to);
            }
        }
        self.send(cpu, lane);
    }

    /// What was consumed are the numbers from 1 on, once each and in order, and a ring holds its last entries.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        self.findings.check(image, "entry", "ring")?;
        self.lanes.pairs().try_for_each(|pair| self.check_ring(image, pair))
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        let rows = [self.entries, self.heads, self.tails];
        rows.iter().map(Rows::range).chain(once(self.next.range())).collect()
    }

    /// What was consumed has been sent.
    fn recover(&self, image: &dyn Image) {
        for ring in 0..self.lanes.number * self.lanes.number {
            let tail = self.tails.addr(ring);
            image.set_word(tail, image.word(tail).max(self.head(image, ring).0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{damage, params, plan};

    #[test]
    fn damage_is_named() {
        let plan = BuildPlan { threads: 2, ..plan(1) };
        let (queue, memory) = HostQueue::build(&params(PARAMS, &[("slots", 4)]).expect("right"), &plan).expect("right");
        let ring = queue.ring(1, 0);
        for number in 1..=3 {
            let at = queue.entry(ring, number).0;
            (at..)
                .step_by(8)
                .zip(line(number))
                .for_each(|(at, word)| memory.set_word(Addr(at), word));
        }
        let (tail, heads) = (queue.tails.addr(ring), queue.heads.addr(ring).0);
        let sums: Vec<u64> = (1..=2)
            .scan(0, |sum, number| {
                *sum = mix(*sum, line(number)[7]);
                Some(*sum)
            })
            .collect();
        for (at, word) in [
            (tail.0, 3),
            (heads, 2),
            (heads + SUM, sums[1]),
            (heads + SECOND, 1),
            (heads + SECOND + SUM, sums[0]),
        ] {
            memory.set_word(Addr(at), word);
        }
        let cases = [
            (queue.entry(ring, 3).0 + 16, 9, "does not hold entry 3"),
            (heads, 3, "has not consumed entries 1 to 3 of ring 2"),
            (heads + SUM, 5, "has not consumed entries 1 to 2"),
            (heads + SECOND, 7, "has consumed entry 7"),
            (queue.findings.of(0).0, 2, "lane 0 has read a wrong entry 2 of ring 0"),
        ];
        damage(&memory, |memory| queue.check(memory), &cases);
        // A crash while a head is written leaves the other.
        memory.set_word(Addr(heads + SECOND + SUM), 5);
        assert_eq!((queue.check(&memory), queue.head(&memory, ring).0), (Ok(()), 2));
        // What was consumed was sent, though a crash has lost the tail.
        memory.set_word(tail, 1);
        assert!(queue.check(&memory).is_err());
        queue.recover(&memory);
        assert_eq!((queue.check(&memory), memory.word(tail)), (Ok(()), 2));
    }
}
