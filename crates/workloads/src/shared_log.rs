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

use crate::papers::SHARED;
use crate::params::param;
use crate::About;
use std::ops::Range;
use strandline_isa::{sites, Addr, CoreId, Cpu, Flush, Image, Intent, Memory, Note, Primitive, LINE_BYTES, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{BuildPlan, Heap, LogLayout, ThreadState, Workload};

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
        0..=4,
        "what is left out, on several hosts: 1 the flush of an entry, 2 that of the header, 3 the invalidates of entries, 4 the mfence behind invalidates, for an sfence",
    ),
];

/// Words of an entry that follow from its number.
const WORDS: u64 = 6;
/// Offset of an entry's sum.
const SUM: u64 = 8 * (WORDS + 1);
/// What a word differs by from the one before.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
/// What a sum is multiplied by at each word. Words of two entries, in one line while it is written, then have no right sum
/// by chance, as they have where a sum is only their `xor`.
const FACTOR: u64 = 0x2545_f491_4f6c_dd1d;
/// Lines of each log of regions, which this program never writes.
const LOG_RECORDS: u64 = 8;

/// The parts of the protocol that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    EntryFlush = 1,
    HeaderFlush,
    Invalidate,
    FenceBehind,
}

/// The logs, and what each lane has read of them.
pub struct SharedLog {
    slots: u64,
    lanes: u64,
    omit: u64,
    /// A line for each log: the number of its last entry.
    headers: Addr,
    /// A line for each lane: the number of the first wrong entry that it has read, and the log's.
    results: Addr,
    entries: Addr,
    /// In volatile memory, for each lane: the number of the last entry that it has appended or read of each log.
    known: Addr,
    logs: LogLayout,
}

impl SharedLog {
    fn header(&self, log: u64) -> Addr {
        Addr(self.headers.0 + log * LINE_BYTES)
    }

    fn result(&self, lane: u64) -> Addr {
        Addr(self.results.0 + lane * LINE_BYTES)
    }

    fn entry(&self, log: u64, number: u64) -> Addr {
        Addr(self.entries.0 + (log * self.slots + (number & (self.slots - 1))) * LINE_BYTES)
    }

    fn known(&self, lane: u64, log: u64) -> Addr {
        Addr(self.known.0 + lane * self.known_bytes() + 8 * log)
    }

    fn known_bytes(&self) -> u64 {
        (8 * self.lanes).next_multiple_of(LINE_BYTES)
    }

    fn keeps(&self, part: Part) -> bool {
        self.omit != part as u64
    }

    /// The address of an entry, as the program computes it.
    fn place<'c, C: Cpu>(&self, log: u64, number: W<'c, C>) -> W<'c, C> {
        ((number & (self.slots - 1)) << u64::from(LINE_BYTES.trailing_zeros())) + self.entry(log, 0).0
    }

    fn append<C: Cpu>(&self, cpu: &C, lane: u64) {
        let known = cpu.word(self.known(lane, lane).0);
        let number = known.load() + 1;
        let (entry, header) = (self.place(lane, number), cpu.word(self.header(lane).0));
        self.announce(cpu, lane, number.bits());
        entry.store(number);
        let (mut word, mut sum) = (number, number * FACTOR);
        for index in 1..=WORDS {
            word = word + STEP;
            sum = (sum ^ word) * FACTOR;
            entry.at(8 * index).store(word);
        }
        entry.at(SUM).store(sum);
        if self.keeps(Part::EntryFlush) {
            entry.flush();
        }
        cpu.intent(Intent::LogBeforeUpdate);
        cpu.primitive(Primitive::StoreBarrier);
        header.store(number);
        if self.keeps(Part::HeaderFlush) {
            header.flush();
        }
        cpu.intent(Intent::Durable);
        cpu.note(Note::RegionDurable);
        known.store(number);
    }

    /// An append is a region: recovery completes it if the entry is there.
    fn announce<C: Cpu>(&self, cpu: &C, lane: u64, number: u64) {
        let write = |addr: Addr, value| Note::RegionWrite { addr, size: 8, value };
        let words = (0..8).map(|index| Addr(self.entry(lane, number).0 + 8 * index));
        cpu.note(Note::RegionBegin);
        let line = self.entry(lane, number).line();
        cpu.note(Note::RegionFresh { line });
        words
            .zip(entry(number))
            .for_each(|(addr, value)| cpu.note(write(addr, value)));
        cpu.note(write(self.header(lane), number));
    }

    /// Drops a host's copies of these lines, so that the loads behind it read what the device holds.
    fn invalidate<'c, C: Cpu>(&self, cpu: &'c C, lines: impl Iterator<Item = W<'c, C>>) {
        if cpu.hosts() == 1 {
            return;
        }
        lines.for_each(|line| line.flush_by(Flush::ClflushOpt));
        cpu.primitive(match self.keeps(Part::FenceBehind) {
            true => Primitive::Mfence,
            false => Primitive::Sfence,
        });
    }

    /// Reads what is new in another lane's log.
    fn read<C: Cpu>(&self, cpu: &C, lane: u64, log: u64) {
        let (header, known) = (cpu.word(self.header(log).0), cpu.word(self.known(lane, log).0));
        self.invalidate(cpu, std::iter::once(header));
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
            self.invalidate(cpu, new.map(|new| cpu.word(self.entry(log, new).0)));
        }
        loop {
            number = number + 1;
            let (found, off) = self.sum(self.place(log, number));
            let wrong = off | (found - number) >> 63;
            if !wrong.is(0).branch(ENTRY_IS_WRONG) && !self.is_lapped(cpu, header, number) {
                self.report(cpu, lane, log, number);
            }
            if number.equals(last).branch(LAST_NEW) {
                break;
            }
        }
        known.store(last);
    }

    /// An entry's number, and by what its sum is off.
    fn sum<'c, C: Cpu>(&self, entry: W<'c, C>) -> (W<'c, C>, W<'c, C>) {
        let found = entry.load();
        let words = (1..=WORDS).fold(found * FACTOR, |sum, index| (sum ^ entry.at(8 * index).load()) * FACTOR);
        (found, words ^ entry.at(SUM).load())
    }

    /// Whether the writer may have begun to overwrite an entry since the header was read.
    fn is_lapped<'c, C: Cpu>(&self, cpu: &'c C, header: W<'c, C>, number: W<'c, C>) -> bool {
        self.invalidate(cpu, std::iter::once(header));
        !(header.load() - number).below(self.slots - 1).branch(IS_LAPPED)
    }

    /// Writes down what was wrong.
    fn report<'c, C: Cpu>(&self, cpu: &'c C, lane: u64, log: u64, number: W<'c, C>) {
        let result = cpu.word(self.result(lane).0);
        result.at(8).store(cpu.word(log));
        result.store(number);
        result.flush();
        cpu.intent(Intent::Durable);
    }

    /// Completes the last entry of a log whose host has failed.
    fn take_over<C: Cpu>(&self, cpu: &C, log: u64) {
        let header = cpu.word(self.header(log).0);
        self.invalidate(cpu, std::iter::once(header));
        let number = header.load() + 1;
        let entry = self.place(log, number);
        self.invalidate(cpu, std::iter::once(entry));
        let (found, off) = self.sum(entry);
        if ((found ^ number) | off).is(0).branch(ENTRY_IS_WHOLE) {
            header.store(number);
            header.flush();
            cpu.intent(Intent::Durable);
        }
    }

    /// The logs of hosts that have failed are the first living lane's to repair.
    fn repairs<C: Cpu>(&self, cpu: &C, lane: u64, log: u64) -> bool {
        let failed = |lane: u64| cpu.has_failed(CoreId(lane as u16));
        failed(log) && (0..lane).all(failed)
    }

    /// Whether the entry after a log's last is there.
    fn has_next(&self, image: &dyn Image, log: u64) -> bool {
        let number = image.word(self.header(log)) + 1;
        self.holds(image, log, number)
    }

    fn holds(&self, image: &dyn Image, log: u64, number: u64) -> bool {
        let first = self.entry(log, number).0;
        entry(number)
            .into_iter()
            .enumerate()
            .all(|(index, word)| image.word(Addr(first + 8 * index as u64)) == word)
    }
}

/// The words of an entry.
fn entry(number: u64) -> [u64; 8] {
    let mut words = [number; 8];
    for index in 1..=WORDS as usize {
        words[index] = words[index - 1].wrapping_add(STEP);
    }
    let sum = |sum: u64, word: &u64| (sum ^ word).wrapping_mul(FACTOR);
    words[7] = words[..7].iter().fold(0, sum);
    words
}

impl Workload for SharedLog {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let slots = params.get("slots").next_power_of_two();
        let lanes = plan.lanes() as u64;
        let mut heap = Heap::new(plan);
        let log = SharedLog {
            slots,
            lanes,
            omit: params.get("omit"),
            headers: heap.pm(lanes * LINE_BYTES),
            results: heap.pm(lanes * LINE_BYTES),
            entries: heap.pm(lanes * slots * LINE_BYTES),
            known: heap.dram(lanes * (8 * lanes).next_multiple_of(LINE_BYTES)),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), LOG_RECORDS),
        };
        Ok((log, heap))
    }

    fn fill(&self, _memory: &Memory, _seed: u64) {}

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let (cpu, lane) = (thread.cpu, thread.lane as u64);
        self.append(cpu, lane);
        for log in (0..self.lanes).filter(|log| *log != lane) {
            if self.repairs(cpu, lane, log) {
                self.take_over(cpu, log);
            }
            self.read(cpu, lane, log);
        }
    }

    /// A log holds its last entries, and nobody has read a wrong one.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        for log in 0..self.lanes {
            let last = image.word(self.header(log));
            // The next entry may be half there, in place of the oldest.
            let first = last.saturating_sub(self.slots - 2).max(1);
            if let Some(number) = (first..=last).find(|number| !self.holds(image, log, *number)) {
                let at = self.entry(log, number);
                return Err(format!(
                    "log {log} ends with entry {last}, and {at} does not hold entry {number}"
                ));
            }
            let wrong = image.word(self.result(log));
            if wrong != 0 {
                let of = image.word(Addr(self.result(log).0 + 8));
                return Err(format!(
                    "lane {log} has read a wrong entry {wrong} of log {of}: {}",
                    self.result(log)
                ));
            }
        }
        Ok(())
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        let entries = self.entries.0..self.entries.0 + self.lanes * self.slots * LINE_BYTES;
        let known = self.known.0..self.known.0 + self.lanes * self.known_bytes();
        vec![entries, self.headers.0..self.headers.0 + self.lanes * LINE_BYTES, known]
    }

    /// An entry that is whole has been appended.
    fn recover(&self, image: &dyn Image) {
        for log in 0..self.lanes {
            if self.has_next(image, log) {
                image.set_word(self.header(log), image.word(self.header(log)) + 1);
            }
        }
    }

    /// Lanes go on behind what the logs hold.
    fn restart(&self, image: &dyn Image) {
        for (lane, log) in (0..self.lanes).flat_map(|lane| (0..self.lanes).map(move |log| (lane, log))) {
            image.set_word(self.known(lane, log), image.word(self.header(log)));
        }
    }
}
