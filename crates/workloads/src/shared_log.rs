//! `shared-log`: hosts append to logs in memory that they share, and each reads what the others have appended.
//!
//! famfs (the Fabric-Attached Memory File System) keeps its metadata in such a log: one host appends, the others replay it,
//! and no cache keeps their copies alike. Here every lane has a log, which it alone appends to and all others read. A task
//! appends an entry, and reads what is new in the other logs. A log is a ring; a reader that falls behind by a lap goes on
//! with the entries that are left.
//!
//! An entry is a line: its number, words that follow from it, and their sum. The log's header has the number of the last
//! entry. Append: the entry is durable, then the header is. On several hosts both have then left the host's caches. Acquire,
//! on several hosts: the header's line is invalidated, by a flush and an `mfence`, and read; so are the lines of the new
//! entries. An entry that is older than the header says is an error, which the reader writes into its line of results.
//!
//! When a host has failed, the first lane of those that live repairs its logs: an entry behind the header's number that is
//! whole has been appended. Recovery after a power failure does the same. Until another takes an entry over, nobody reads it.
//!
//! After a dirty shutdown ([`Image::was_dirty`]) a log may lack what was acknowledged. Then recovery ends each log with the last
//! entry up to which it is whole, and writes down that entries may be missing.

use crate::across::{
    announce_line, fence, holds, invalidate, lines, load_line, order, store_line, Findings, Known, Lanes, LOG_RECORDS,
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
    SOMETHING_NEW = 0x52c1_08d7;
    LAPPED = 0xe07b_3a19;
    ENTRY_IS_WRONG = 0x1d86_f4c3;
    IS_LAPPED = 0x2b4e_90c7;
    LAST_NEW = 0x93a0_5be1;
    ENTRY_IS_WHOLE = 0x6f29_d705;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "shared-log",
    line: "each lane appends to its log and reads the others', which may be on other hosts",
    paper: "famfs: the shape of its metadata log",
    across_hosts: true,
    tasks: 10_000,
    params: PARAMS,
    small: &[("slots", "4")],
    ..SHARED
};

const PARAMS: &[Param] = &[
    param("slots", 1024, 2..=1 << 20, "entries of a log's ring; rounded up to a power of two"),
    param(
        "omit",
        0,
        0..=5,
        "what is left out, on several hosts: 1 the flush of an entry, 2 that of the header, 3 the invalidates of entries, 4 the mfence behind invalidates, for an sfence, 5 the look at the dirty-shutdown bit",
    ),
];

/// The parts of the protocol that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    EntryFlush = 1,
    HeaderFlush,
    Invalidate,
    FenceBehind,
    DirtyBit,
}

/// The logs, and what each lane has read of them.
pub struct SharedLog {
    slots: u64,
    lanes: Lanes,
    omit: u64,
    /// A line for each log: the number of its last entry.
    headers: Rows,
    findings: Findings,
    entries: Rows,
    /// The number of the last entry that a lane has appended or read of each log.
    known: Known,
    logs: LogLayout,
    /// 1: entries may be missing.
    told: Addr,
}

impl SharedLog {
    fn header(&self, log: u64) -> Addr {
        self.headers.addr(log)
    }

    fn entry(&self, log: u64, number: u64) -> Addr {
        self.entries.addr(log * self.slots + (number & (self.slots - 1)))
    }

    fn keeps(&self, part: Part) -> bool {
        self.omit != part as u64
    }

    /// The address of an entry, as the program computes it.
    fn place<'c, C: Cpu>(&self, log: u64, number: W<'c, C>) -> W<'c, C> {
        ((number & (self.slots - 1)) << u64::from(LINE_BYTES.trailing_zeros())) + self.entry(log, 0).0
    }

    fn append<C: Cpu>(&self, cpu: &C, lane: u64) {
        let known = cpu.word(self.known.word(lane, lane).0);
        let number = known.load() + 1;
        let (entry, header) = (self.place(lane, number), cpu.word(self.header(lane).0));
        // Recovery completes it if the entry is there.
        let at = self.entry(lane, number.bits());
        announce_line(cpu, at, number.bits(), (self.header(lane), number.bits()));
        store_line(entry, number);
        if self.keeps(Part::EntryFlush) {
            entry.flush();
        }
        order(cpu);
        header.store(number);
        if self.keeps(Part::HeaderFlush) {
            header.flush();
        }
        cpu.intent(Intent::Durable);
        cpu.note(Note::RegionDurable);
        known.store(number);
    }

    fn fence(&self) -> Primitive {
        fence(self.keeps(Part::FenceBehind))
    }

    /// Reads what is new in another lane's log.
    fn read<C: Cpu>(&self, cpu: &C, lane: u64, log: u64) {
        let (header, known) = (cpu.word(self.header(log).0), cpu.word(self.known.word(lane, log).0));
        invalidate(cpu, once(header), self.fence());
        let (last, mut number) = (header.load(), known.load());
        if !number.less(last).branch(SOMETHING_NEW) {
            return;
        }
        // The writer may be at the oldest slot.
        let oldest = last - (self.slots - 1).min(last.bits());
        if number.less(oldest).branch(LAPPED) {
            number = oldest;
        }
        if self.keeps(Part::Invalidate) {
            let new = number.bits() + 1..=last.bits();
            let lines = new.map(|new| cpu.word(self.entry(log, new).0));
            invalidate(cpu, lines, self.fence());
        }
        loop {
            number = number + 1;
            let found = load_line(self.place(log, number));
            let wrong = found.off | (found.number - number) >> 63;
            if !wrong.is(0).branch(ENTRY_IS_WRONG) && !self.is_lapped(cpu, header, number) {
                self.findings.report(cpu, lane, log, number);
            }
            if number.equals(last).branch(LAST_NEW) {
                break;
            }
        }
        known.store(last);
    }

    /// Whether the writer may have begun to overwrite an entry since the header was read.
    fn is_lapped<'c, C: Cpu>(&self, cpu: &'c C, header: W<'c, C>, number: W<'c, C>) -> bool {
        invalidate(cpu, once(header), self.fence());
        !(header.load() - number).below(self.slots - 1).branch(IS_LAPPED)
    }

    /// Completes the last entry of a log whose host has failed.
    fn take_over<C: Cpu>(&self, cpu: &C, log: u64) {
        let header = cpu.word(self.header(log).0);
        invalidate(cpu, once(header), self.fence());
        let number = header.load() + 1;
        let entry = self.place(log, number);
        invalidate(cpu, once(entry), self.fence());
        let found = load_line(entry);
        if ((found.number ^ number) | found.off).is(0).branch(ENTRY_IS_WHOLE) {
            header.store(number);
            header.flush();
            cpu.intent(Intent::Durable);
        }
    }

    /// Whether the entry after a log's last is there.
    fn has_next(&self, image: &dyn Image, log: u64) -> bool {
        let number = image.word(self.header(log)) + 1;
        self.holds(image, log, number)
    }

    fn holds(&self, image: &dyn Image, log: u64, number: u64) -> bool {
        holds(image, self.entry(log, number), number)
    }

    /// The first entry that a log which ends with this one lacks.
    fn lacks(&self, image: &dyn Image, log: u64, last: u64) -> Option<u64> {
        // The next entry may be half there, in place of the oldest.
        let first = last.saturating_sub(self.slots - 2).max(1);
        (first..=last).find(|number| !self.holds(image, log, *number))
    }

    /// Ends a log with the last entry up to which it is whole.
    fn cut(&self, image: &dyn Image, log: u64) {
        let numbers = (0..self.slots).map(|slot| image.word(self.entry(log, slot)));
        let whole = numbers.filter(|last| self.holds(image, log, *last) && self.lacks(image, log, *last).is_none());
        image.set_word(self.header(log), whole.max().unwrap_or(0));
    }
}

impl Workload for SharedLog {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let slots = params.get("slots").next_power_of_two();
        let lanes = Lanes::of(plan);
        let mut heap = Heap::new(plan);
        let log = SharedLog {
            slots,
            lanes,
            omit: params.get("omit"),
            headers: lines(&mut heap, lanes.number),
            findings: Findings::allocate(&mut heap, lanes),
            entries: lines(&mut heap, lanes.number * slots),
            known: Known::allocate(&mut heap, lanes),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), LOG_RECORDS),
            told: lines(&mut heap, 1).addr(0),
        };
        Ok((log, heap))
    }

    fn fill(&self, _memory: &Memory, _seed: u64) {}

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let (cpu, lane) = (thread.cpu, thread.lane as u64);
        self.append(cpu, lane);
        for log in self.lanes.others(lane) {
            if self.lanes.repairs(cpu, lane, log) {
                self.take_over(cpu, log);
            }
            self.read(cpu, lane, log);
        }
    }

    /// A log holds its last entries, and nobody has read a wrong one.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        for log in self.lanes.all() {
            let last = image.word(self.header(log));
            if let Some(number) = self.lacks(image, log, last) {
                let at = self.entry(log, number);
                return Err(format!(
                    "log {log} ends with entry {last}, and {at} does not hold entry {number}"
                ));
            }
        }
        self.findings.check(image, "entry", "log")
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        vec![self.entries.range(), self.headers.range(), self.known.range()]
    }

    /// An entry that is whole has been appended.
    fn recover(&self, image: &dyn Image) {
        let is_lossy = image.was_dirty() && self.keeps(Part::DirtyBit);
        if is_lossy {
            image.set_word(self.told, 1);
        }
        for log in self.lanes.all() {
            if is_lossy {
                self.cut(image, log);
            } else if self.has_next(image, log) {
                image.set_word(self.header(log), image.word(self.header(log)) + 1);
            }
        }
    }

    fn tells_of_loss(&self, image: &dyn Image) -> bool {
        image.word(self.told) == 1
    }

    /// Lanes go on behind what the logs hold.
    fn restart(&self, image: &dyn Image) {
        for (lane, log) in self.lanes.pairs() {
            image.set_word(self.known.word(lane, log), image.word(self.header(log)));
        }
    }
}
