//! Finds instructions that do too little, or nothing.

use super::pending::Pending;
use super::reads::{Dependent, Reads};
use super::{Image, Rules};
use crate::order::{Fence, Flush, Op, What};
use std::collections::BTreeMap;

/// The fault of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// A store to persistent memory without a flush before the recording's end.
    NeverFlushed,
    /// A flush without a later fence of its thread.
    NeverFenced,
    /// A non-temporal store without a later fence of its thread.
    NtNeverFenced,
    /// A flush of a line that is already durable.
    FlushClean,
    /// A flush of a line that is already flushed and not stored to since.
    FlushTwice,
    /// A flush of memory that is not persistent.
    FlushVolatile,
    /// A fence with neither a flush nor a non-temporal store to order.
    FenceIdle,
    /// A store of more than 64 bytes at once, whose bytes are not recorded.
    Unknown,
}

/// A finding, its place, and the instruction's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// What is wrong.
    pub finding: Finding,
    /// The address of the instruction.
    pub pc: u64,
    /// What it is called.
    pub instruction: &'static str,
}

/// Audits a program, by the rules of x86.
#[derive(Debug)]
pub struct Audit {
    pending: Pending,
    spots: BTreeMap<Spot, u64>,
    /// With several threads: executed flushes and fences without effect, by thread and their number in it. In another
    /// order, they may have one.
    idle: BTreeMap<(u32, u64), Spot>,
    /// Flushes and fences of each thread.
    executed: Vec<u64>,
    reads: Reads,
}

/// Maximum number of flushes and fences without effect that are compared between orders.
const MOST_IDLE: usize = 1 << 20;

impl Finding {
    /// Its key in a report.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Finding::NeverFlushed => "stored_never_flushed",
            Finding::NeverFenced => "flushed_never_fenced",
            Finding::NtNeverFenced => "nt_store_never_fenced",
            Finding::FlushClean => "flush_of_clean_line",
            Finding::FlushTwice => "line_flushed_twice",
            Finding::FlushVolatile => "flush_of_volatile_memory",
            Finding::FenceIdle => "fence_orders_nothing",
            Finding::Unknown => "store_of_unknown_bytes",
        }
    }
}

impl Audit {
    /// Nothing was seen yet.
    #[must_use]
    pub fn new(threads: usize) -> Audit {
        Audit {
            pending: Pending::new(Rules::Flushed, threads, Image::default()),
            spots: BTreeMap::new(),
            idle: BTreeMap::new(),
            executed: vec![0; threads],
            reads: Reads::new(threads),
        }
    }

    /// Sees the next operation.
    pub fn see(&mut self, op: &Op) {
        match op.what {
            What::Flush(kind, line) => {
                self.executed[op.thread as usize] += 1;
                match self.idle_flush(line) {
                    Some(Finding::FlushVolatile) => self.note(Finding::FlushVolatile, op.pc, kind.name(), 1),
                    Some(finding) => self.note_idle(finding, op, kind.name()),
                    None => {}
                }
            }
            What::Fence(kind) if kind != Fence::Locked => {
                self.executed[op.thread as usize] += 1;
                let thread = self.pending.thread(op.thread);
                if thread.flushed.is_empty() && thread.nts.is_empty() {
                    self.note_idle(Finding::FenceIdle, op, kind.name());
                }
            }
            What::Unknown => self.note(Finding::Unknown, op.pc, "store", 1),
            _ => {}
        }
        let own = self.reads.before(op, &self.pending);
        self.pending.apply(op);
        self.reads.after(op, own, &self.pending);
    }

    fn idle_flush(&self, line: Option<u64>) -> Option<Finding> {
        let Some(at) = line else {
            return Some(Finding::FlushVolatile);
        };
        let line = self.pending.lines.get(&at);
        let last = line.and_then(|line| line.items.iter().rev().find(|item| !item.nt));
        match (line, last) {
            (Some(line), Some(last)) if last.serial <= line.covered => Some(Finding::FlushTwice),
            (Some(_), Some(_)) => None,
            _ => Some(Finding::FlushClean),
        }
    }

    fn note_idle(&mut self, finding: Finding, op: &Op, instruction: &'static str) {
        if self.executed.len() < 2 || self.idle.len() >= MOST_IDLE {
            return self.note(finding, op.pc, instruction, 1);
        }
        let spot = Spot {
            finding,
            pc: op.pc,
            instruction,
        };
        self.idle.insert((op.thread, self.executed[op.thread as usize]), spot);
    }

    /// Adds another order of the same program: flushes and fences that have an effect in it are not idle, and its
    /// dependent reads are found, too.
    pub fn merge(&mut self, other: &Audit) {
        let full = other.idle.len() >= MOST_IDLE;
        self.idle.retain(|at, _| full || other.idle.contains_key(at));
        self.reads.merge(&other.reads, &other.pending);
    }

    /// Reads of other threads' undurable values before something was made durable, with counts; after the program has
    /// ended.
    #[must_use]
    pub fn reads(&self) -> BTreeMap<Dependent, u64> {
        self.reads.found(&self.pending)
    }

    fn note(&mut self, finding: Finding, pc: u64, instruction: &'static str, times: u64) {
        let spot = Spot {
            finding,
            pc,
            instruction,
        };
        *self.spots.entry(spot).or_default() += times;
    }

    /// All findings with counts, after the program has ended.
    #[must_use]
    pub fn finish(mut self) -> BTreeMap<Spot, u64> {
        for spot in std::mem::take(&mut self.idle).into_values() {
            *self.spots.entry(spot).or_default() += 1;
        }
        for (finding, pc, instruction, times) in self.at_the_end() {
            self.note(finding, pc, instruction, times);
        }
        self.spots
    }

    fn at_the_end(&self) -> Vec<(Finding, u64, &'static str, u64)> {
        let mut found = Vec::new();
        for line in self.pending.lines.values() {
            let together = line.taken_together.iter();
            found.extend(together.map(|(pc, times)| (Finding::NeverFlushed, *pc, "store", *times)));
            for (index, item) in line.items.iter().enumerate() {
                let counted = item.rest && index > 0 && line.items[index - 1].serial + 1 == item.serial;
                match item.nt {
                    _ if counted => {}
                    true => found.push((Finding::NtNeverFenced, item.pc, "non-temporal store", 1)),
                    false if item.serial > line.covered => found.push((Finding::NeverFlushed, item.pc, "store", 1)),
                    false => {}
                }
            }
        }
        let lines = &self.pending.lines;
        for (line, before, pc, kind) in self
            .pending
            .threads()
            .iter()
            .flat_map(|thread| thread.flushed.iter().copied())
        {
            let waits = lines
                .get(&line)
                .is_some_and(|line| line.items.iter().any(|item| !item.nt && item.serial < before));
            if waits {
                found.push((Finding::NeverFenced, pc, Flush::name(kind), 1));
            }
        }
        found
    }
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
