//! The dependences of a lane's regions, and which of them may be committed.
//!
//! Clocks are Lamport's: a lane's clock is greater than every stamp that it has read, and its low
//! bits are the lane's number. A *stamp* is the clock that a lane leaves in what it passes on (a
//! lock that it releases). A lane that reads it depends on that lane's regions up to then. For each
//! lane a word in volatile memory holds the clock up to which its regions are durable and
//! permanent. A region may be committed once all that it depends on is permanent; within a lane in
//! order. The oldest of all uncommitted regions always may.

use super::layout::ModelLayout;
use crate::MAX_LANES;
use std::collections::VecDeque;
use strandline_isa::{sites, Addr, Cpu, Intent, W};
use strandline_rules::{keeps, kept, Rule};

sites! {
    STAMP_IS_NOT_DURABLE = 0x2bd6_d77f;
    HAS_NO_STAMP = 0xa8b8_1b5c;
    STAMP_IS_OWN = 0x06b8_1d17;
    FOUND_NO_STAMP = 0xd7c8_f25b;
    STAMP_EXISTS = 0xffb5_067e;
    BATCH_IS_SHORT = 0x2012_a003;
    HAS_ROOM = 0x69d6_eb3d;
    MORE_ITEMS = 0x7402_99a7;
    IS_DEPENDENCE = 0xafc2_ec8b;
}

/// Items that a ledger holds: a power of two.
pub(crate) const LEDGER_ITEMS: u64 = 1024;

/// One lane's ledger.
pub(crate) struct Ledger<'c, C: Cpu> {
    cpu: &'c C,
    lane: u64,
    items: Addr,
    /// The first lane's word with the clock up to which its regions are durable.
    durable: Addr,
    first: W<'c, C>,
    last: W<'c, C>,
    /// Behind the newest section's end.
    ended: W<'c, C>,
    /// The lane's clock.
    pub clock: W<'c, C>,
    /// Regions of each section that has ended and is not committed: for notes only.
    regions: VecDeque<u64>,
}

/// A lane's sections up to here may be committed.
pub(crate) struct Ready<'c, C: Cpu> {
    /// The log's end then, as the head's word.
    pub end: W<'c, C>,
    /// The newest section's clock.
    pub clock: W<'c, C>,
    /// The regions that this acknowledges.
    pub regions: u64,
    /// How many sections these are.
    sections: usize,
    /// Behind them in the ledger.
    next: W<'c, C>,
}

impl<'c, C: Cpu> Ledger<'c, C> {
    /// The empty ledger of `lane`.
    pub fn new(cpu: &'c C, layout: &ModelLayout, lane: usize) -> Self {
        let zero = cpu.word(0);
        Ledger {
            cpu,
            lane: lane as u64,
            items: layout.ledger(lane),
            durable: layout.durable(0),
            first: zero,
            last: zero,
            ended: zero,
            clock: zero,
            regions: VecDeque::new(),
        }
    }

    /// Advances the clock.
    pub fn tick(&mut self) {
        self.clock = (self.clock | (MAX_LANES as u64 - 1)) + (1 + self.lane);
    }

    /// Whether the regions of the lane of `stamp` are durable and permanent up to there. The load
    /// of its word acquires what the lane has released by it.
    fn stays(&self, stamp: W<'c, C>) -> bool {
        let lane = stamp & (MAX_LANES as u64 - 1);
        let durable = (lane * ModelLayout::DRAM_BYTES).at(self.durable.0).load();
        if durable.less(stamp).branch(STAMP_IS_NOT_DURABLE) {
            return false;
        }
        self.cpu.intent(Intent::Acquire);
        true
    }

    /// Records that later regions depend on `stamp`.
    pub fn depends(&mut self, stamp: W<'c, C>) {
        if stamp.is(0).branch(HAS_NO_STAMP) {
            return;
        }
        keeps(Rule::ClockPassesStamps, || self.clock = self.clock.max(stamp));
        if (stamp & (MAX_LANES as u64 - 1)).is(self.lane).branch(STAMP_IS_OWN) {
            return;
        }
        if !self.stays(stamp) {
            self.push(stamp, self.cpu.word(0));
        }
    }

    fn push(&mut self, stamp: W<'c, C>, end: W<'c, C>) {
        if self.last.bits() - self.first.bits() >= LEDGER_ITEMS {
            ledger_full();
        }
        let item = self.item(self.last);
        item.store(stamp);
        item.at(8).store(end);
        self.last = self.last + 1;
    }

    fn item(&self, index: W<'c, C>) -> W<'c, C> {
        ((index & (LEDGER_ITEMS - 1)) << 4).at(self.items.0)
    }

    /// Whether the open section has read a stamp that may still be undone.
    pub fn is_bound(&self) -> bool {
        !self.last.equals(self.ended).branch(FOUND_NO_STAMP)
    }

    /// Whether the open section has a stamp of this index.
    pub fn has(&self, index: W<'c, C>) -> bool {
        index.less(self.last).branch(STAMP_EXISTS)
    }

    /// A stamp that the open section has read and that may still be undone.
    pub fn found(&self, index: W<'c, C>) -> W<'c, C> {
        self.item(index).load()
    }

    /// The index of the first stamp of the open section.
    pub fn open(&self) -> W<'c, C> {
        self.ended
    }

    /// Ends a section of `regions` regions at the log's present end.
    pub fn end(&mut self, end: W<'c, C>, regions: u64) {
        self.push(self.clock, end);
        self.ended = self.last;
        self.regions.push_back(regions);
    }

    /// Whether there are sections enough for a batch.
    pub fn is_due(&self, batch: u64) -> bool {
        // The program counts them; the count is in a register.
        let sections = self.cpu.word(self.regions.len() as u64);
        !sections.below(batch).branch(BATCH_IS_SHORT)
    }

    /// Whether the ledger is so full that a region should not begin.
    pub fn is_scarce(&self) -> bool {
        !(self.last - self.first).below(LEDGER_ITEMS / 2).branch(HAS_ROOM)
    }

    /// Whether no section waits to be committed.
    pub fn is_settled(&self) -> bool {
        self.regions.is_empty()
    }

    /// The sections that may be committed now, if there are some.
    pub fn ready(&self) -> Option<Ready<'c, C>> {
        let mut ready = None;
        let (mut sections, mut regions) = (0, 0);
        let mut at = self.first;
        while at.less(self.last).branch(MORE_ITEMS) {
            let item = self.item(at);
            let (stamp, end) = (item.load(), item.at(8).load());
            at = at + 1;
            if end.is(0).branch(IS_DEPENDENCE) {
                if !kept(Rule::CommitAwaitsDependences, self.stays(stamp), || true) {
                    break;
                }
            } else {
                regions += self.regions.get(sections).copied().unwrap_or_default();
                sections += 1;
                ready = Some(Ready {
                    end,
                    clock: stamp,
                    regions,
                    sections,
                    next: at,
                });
            }
        }
        ready
    }

    /// Publishes that these sections are durable and permanent.
    pub fn publish(&mut self, ready: &Ready<'c, C>) {
        self.regions.drain(..ready.sections);
        self.first = ready.next;
        let own = self.durable.0 + self.lane * ModelLayout::DRAM_BYTES;
        self.cpu.intent(Intent::Release);
        self.cpu.word(own).store(ready.clock);
    }
}

#[cold]
#[inline(never)]
fn ledger_full() -> ! {
    panic!("a region that takes more than {} locks", LEDGER_ITEMS / 2);
}
