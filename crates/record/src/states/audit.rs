//! Finds instructions that do too little, or nothing.

use super::line::Item;
use super::lints::Lints;
use super::locks::{number, Kind, Locks};
use super::pending::{Line, Pending};
use super::process::Process;
use super::reads::{Dependent, Reads};
use super::{Image, Rules};
use crate::order::{Fence, Flush, Places, PmOp, PmPlace, What, LINE};
use crate::{At, Execution, Marker, RecordError, Recording};
use std::collections::{BTreeMap, BTreeSet, HashSet};

pub(super) const STORE: &str = "store";
pub(super) const NT_STORE: &str = "non-temporal store";

/// The fault of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// A store to persistent memory without a flush before the recording's end.
    NeverFlushed,
    /// A flush without a later fence of its thread.
    NeverFenced,
    /// A non-temporal store without a later fence of its thread.
    NtNeverFenced,
    /// A flush whose only later fences belong to the program's end.
    FencedAtExit,
    /// A non-temporal store whose only later fences belong to the program's end.
    NtFencedAtExit,
    /// A flush of a line that is already durable.
    FlushClean,
    /// A flush of a line that is already flushed and not stored to since.
    FlushTwice,
    /// A flush of memory that is not persistent.
    FlushVolatile,
    /// A fence with neither a flush nor a non-temporal store to order.
    FenceIdle,
    /// A flush of memory that is not persistent, behind a store that is never flushed.
    FlushMisses,
    /// A store to a lock that is never flushed.
    LockWord,
    /// A store that is never flushed, to what may be a lock or data.
    LockOrData,
    /// A store, never flushed, to a word of addresses of volatile memory.
    AddressNeverFlushed,
    /// A store, never flushed, of what is durable there already.
    SameNeverFlushed,
    /// A flushed store of an address of volatile memory.
    AddressDurable,
    /// A store of at most eight bytes in two words that was made durable alone.
    TornWord,
    /// A store of more than 64 bytes at once, whose bytes are not recorded.
    Unknown,
}

/// A finding, its place, and the instruction's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// What is wrong.
    pub finding: Finding,
    /// The instruction.
    pub at: At,
    /// What it is called.
    pub instruction: &'static str,
    /// The store that a flush misses.
    pub store: Option<At>,
    /// Why it is accused or excused, where that is not plain; else empty.
    pub why: &'static str,
}

impl Spot {
    /// An instruction that alone is the finding.
    pub(super) fn new(finding: Finding, at: At, instruction: &'static str) -> Spot {
        Spot {
            finding,
            at,
            instruction,
            store: None,
            why: "",
        }
    }
}

/// Audits a program, by the rules of x86.
#[derive(Debug)]
pub struct Audit {
    pending: Pending,
    ends: Vec<End>,
    locks: Locks,
    lints: Lints,
    /// Without it, values are no addresses.
    process: Option<Process>,
    spots: BTreeMap<Spot, u64>,
    /// With several threads: executed flushes and fences without effect, by thread and their number in it. In another
    /// order, they may have one.
    idle: BTreeMap<(u32, u64), Spot>,
    /// Flushes and fences of each thread.
    executed: Vec<u64>,
    /// The executions of flushes and fences without effect, of one thread or in every order.
    without_effect: BTreeMap<Spot, Vec<Execution>>,
    reads: Reads,
}

/// Maximum number of flushes and fences without effect that are compared between orders.
const MOST_IDLE: usize = 1 << 20;
/// The end of a thread, whose fences a crash in the middle of the program does not see: behind its last task, or in the
/// code with which the program exits.
#[derive(Clone, Debug, Default)]
struct End {
    /// The position of its last marker of a task in the global order.
    marked: Option<u64>,
    /// The position at which the program's exit began.
    exits: Option<u64>,
    /// What was fenced behind the last marker of a task: findings, if no further task follows.
    behind_tasks: BTreeMap<Spot, u64>,
}

impl End {
    /// Whether a fence now comes too late for a flush or store at this position.
    fn is_late(&self, position: u64, fence: Fence) -> Late {
        match (self.exits, self.marked) {
            // The C library's locks order its own data.
            (Some(exits), _) if position <= exits || fence == Fence::Locked => Late::Surely,
            (_, Some(marked)) if position <= marked => Late::WithoutFurtherTask,
            _ => Late::No,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Late {
    No,
    WithoutFurtherTask,
    Surely,
}

impl Finding {
    /// Its key in a report.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Finding::NeverFlushed => "stored_never_flushed",
            Finding::NeverFenced => "flushed_never_fenced",
            Finding::NtNeverFenced => "nt_store_never_fenced",
            Finding::FencedAtExit => "flushed_fenced_only_at_exit",
            Finding::NtFencedAtExit => "nt_store_fenced_only_at_exit",
            Finding::FlushClean => "flush_of_clean_line",
            Finding::FlushTwice => "line_flushed_twice",
            Finding::FlushVolatile => "flush_of_volatile_memory",
            Finding::FenceIdle => "fence_orders_nothing",
            Finding::FlushMisses => "flush_of_volatile_memory_misses_store",
            Finding::LockWord => "lock_word_never_flushed",
            Finding::LockOrData => "lock_or_data_never_flushed",
            Finding::AddressNeverFlushed => "volatile_address_never_flushed",
            Finding::SameNeverFlushed => "same_value_never_flushed",
            Finding::AddressDurable => "volatile_address_made_durable",
            Finding::TornWord => "store_in_two_words_made_durable",
            Finding::Unknown => "store_of_unknown_bytes",
        }
    }

    /// The finding of flushes or fences without effect that has this key.
    #[must_use]
    pub fn of_performance(key: &str) -> Option<Finding> {
        let all = [
            Finding::FlushClean,
            Finding::FlushTwice,
            Finding::FlushVolatile,
            Finding::FenceIdle,
        ];
        all.into_iter().find(|finding| finding.key() == key)
    }
}

impl Audit {
    /// Nothing was seen yet of a recording.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub fn of(recording: &Recording, places: &Places) -> Result<Audit, RecordError> {
        let threads = recording.threads().len();
        let (process, initial) = Process::of(recording, places)?;
        Ok(Audit {
            pending: Pending::new(Rules::Flushed, threads, initial),
            process: Some(process),
            ..Audit::new(threads)
        })
    }

    /// Nothing was seen yet of another order, or of a program of which nothing else is known.
    #[must_use]
    pub fn new(threads: usize) -> Audit {
        Audit {
            pending: Pending::new(Rules::Flushed, threads, Image::default()),
            ends: vec![End::default(); threads],
            locks: Locks::new(threads),
            lints: Lints::new(threads),
            process: None,
            spots: BTreeMap::new(),
            idle: BTreeMap::new(),
            executed: vec![0; threads],
            without_effect: BTreeMap::new(),
            reads: Reads::new(threads),
        }
    }

    /// Sees the next operation.
    pub fn see(&mut self, op: &PmOp) {
        match op.what {
            What::Flush(kind, line) => {
                self.executed[op.thread as usize] += 1;
                match self.idle_flush(line) {
                    Some(Finding::FlushVolatile) => self.note_idle_here(Finding::FlushVolatile, op, kind.name()),
                    Some(finding) => self.note_idle(finding, op, kind.name()),
                    None => {}
                }
            }
            What::Fence(kind) => {
                self.executed[op.thread as usize] += u64::from(kind != Fence::Locked);
                let thread = self.pending.thread(op.thread);
                match thread.flushed.is_empty() && thread.nts.is_empty() {
                    true if kind == Fence::Locked => {}
                    true => self.note_idle(Finding::FenceIdle, op, kind.name()),
                    false => self.fenced(op.thread, kind),
                }
            }
            What::Marker(Marker::TaskBegin | Marker::TaskEnd) => {
                let end = &mut self.ends[op.thread as usize];
                end.behind_tasks.clear();
                end.marked = Some(self.pending.serial());
            }
            What::Exit => self.ends[op.thread as usize].exits = Some(self.pending.serial()),
            What::Unknown => self.note(Finding::Unknown, op.at, STORE, 1),
            _ => {}
        }
        self.locks.see(op, &self.pending, self.process.as_ref());
        self.lints.see(op, self.pending.serial() + 1, self.process.as_ref());
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

    fn note_idle(&mut self, finding: Finding, op: &PmOp, instruction: &'static str) {
        if self.executed.len() < 2 || self.idle.len() >= MOST_IDLE {
            return self.note_idle_here(finding, op, instruction);
        }
        let spot = Spot::new(finding, op.at, instruction);
        self.idle.insert((op.thread, self.executed[op.thread as usize]), spot);
    }

    /// An execution that has no effect in any order.
    fn note_idle_here(&mut self, finding: Finding, op: &PmOp, instruction: &'static str) {
        self.note(finding, op.at, instruction, 1);
        let execution = (op.thread, self.executed[op.thread as usize]);
        let spot = Spot::new(finding, op.at, instruction);
        let executions = self.without_effect.entry(spot).or_default();
        if executions.len() < MOST_IDLE {
            executions.push(execution);
        }
    }

    /// Adds another order of the same program: flushes and fences that have an effect in it are not idle, and its
    /// dependent reads are found, too.
    pub fn merge(&mut self, other: &Audit) {
        let full = other.idle.len() >= MOST_IDLE;
        self.idle.retain(|at, _| full || other.idle.contains_key(at));
        self.reads.merge(&other.reads, &other.pending);
    }

    /// Notes what a fence orders too late.
    fn fenced(&mut self, thread: u32, kind: Fence) {
        let end = &self.ends[thread as usize];
        if end.exits.is_none() && end.marked.is_none() {
            return;
        }
        let mut late = Vec::new();
        for (position, at, flush) in self.unfenced(thread) {
            late.push((end.is_late(position, kind), Finding::FencedAtExit, at, flush.name()));
        }
        for item in self.unfenced_nts(thread) {
            let how = end.is_late(item.serial, kind);
            late.push((how, Finding::NtFencedAtExit, item.at, NT_STORE));
        }
        for (how, finding, at, instruction) in late {
            let spot = Spot::new(finding, at, instruction);
            match how {
                Late::No => {}
                Late::WithoutFurtherTask => {
                    *self.ends[thread as usize].behind_tasks.entry(spot).or_default() += 1;
                }
                Late::Surely => self.note(finding, at, instruction, 1),
            }
        }
    }

    /// Flushes of a thread that wait for its fence, with their positions, if they have something to make durable.
    fn unfenced(&self, thread: u32) -> impl Iterator<Item = (u64, At, Flush)> + '_ {
        let flushed = self.pending.thread(thread).flushed.iter();
        let waits = |line: &Line, before: u64| line.items.iter().any(|item| !item.nt && item.serial < before);
        flushed.filter_map(move |(line, before, at, kind)| {
            let line = self.pending.lines.get(line)?;
            waits(line, *before).then_some((*before, *at, *kind))
        })
    }

    /// Non-temporal stores of a thread that wait for its fence.
    fn unfenced_nts(&self, thread: u32) -> impl Iterator<Item = &Item> {
        let lines: BTreeSet<PmPlace> = self.pending.thread(thread).nts.iter().copied().collect();
        let lines = lines.into_iter().filter_map(|at| self.pending.lines.get(&at));
        let own = move |item: &&Item| item.nt && item.thread == thread;
        lines.flat_map(whole_stores).filter(own)
    }

    fn note(&mut self, finding: Finding, at: At, instruction: &'static str, times: u64) {
        let spot = Spot::new(finding, at, instruction);
        *self.spots.entry(spot).or_default() += times;
    }

    /// The executions without effect of an instruction that the audit finds, in every order that it has seen; only
    /// those that the call at `from` led to, if it is given. `None` if there are too many.
    #[must_use]
    pub fn executions(&self, finding: Finding, pc: u64, from: Option<u64>) -> Option<HashSet<Execution>> {
        let is_it =
            |spot: &Spot| (spot.finding, spot.at.pc) == (finding, pc) && from.is_none_or(|from| from == spot.at.from);
        let alone = self.without_effect.iter().filter(|(spot, _)| is_it(spot));
        let of_several = self.idle.iter().filter(|(_, spot)| is_it(spot));
        let alone = alone.flat_map(|(_, executions)| executions);
        let executions = alone.chain(of_several.map(|(execution, _)| execution));
        let executions: HashSet<Execution> = executions.copied().collect();
        (executions.len() < MOST_IDLE).then_some(executions)
    }

    /// All findings with counts, and reads of other threads' undurable values before something was made durable; after
    /// the program has ended.
    #[must_use]
    pub fn finish(mut self) -> (BTreeMap<Spot, u64>, BTreeMap<Dependent, u64>) {
        let mut process = self.process.take();
        self.locks.follow(process.as_mut());
        for spot in std::mem::take(&mut self.idle).into_values() {
            *self.spots.entry(spot).or_default() += 1;
        }
        self.at_the_end(process.as_mut());
        for end in std::mem::take(&mut self.ends) {
            for (spot, times) in end.behind_tasks {
                self.note(spot.finding, spot.at, spot.instruction, times);
            }
        }
        self.spots.append(&mut self.lints.found);
        let (locks, pending) = (&self.locks, &self.pending);
        let mut is_data = |word, mask| matches!(locks.kind(word, mask, pending, process.as_mut()), Kind::Data(_));
        let reads = self.reads.found(pending, &mut is_data);
        (self.spots, reads)
    }

    fn at_the_end(&mut self, mut process: Option<&mut Process>) {
        let mut found = Vec::new();
        let mut astray: BTreeMap<(u32, usize), (Spot, u64, At)> = BTreeMap::new();
        for line in self.pending.lines.values() {
            for ((word, at), times) in &line.taken_together {
                let of_word = line.items.iter().filter(|item| item.piece.word == *word);
                let mask = of_word.fold(0, |mask, item| mask | item.piece.mask);
                let (finding, why) = self.never_flushed(*word, mask, process.as_deref_mut());
                found.push((
                    Spot {
                        why,
                        ..Spot::new(finding, *at, STORE)
                    },
                    *times,
                ));
            }
            for item in whole_stores(line) {
                match item.nt {
                    true => found.push((Spot::new(Finding::NtNeverFenced, item.at, NT_STORE), 1)),
                    false if item.serial > line.covered => {
                        let (finding, why) = self.store_never_flushed(line, item, process.as_deref_mut());
                        found.push((
                            Spot {
                                why,
                                ..Spot::new(finding, item.at, STORE)
                            },
                            1,
                        ));
                        if let Some((flush, spot)) =
                            self.lints.astray(item).filter(|_| finding == Finding::NeverFlushed)
                        {
                            let last = astray.entry(flush).or_insert((spot, item.serial, item.at));
                            *last = (*last).max((spot, item.serial, item.at));
                        }
                    }
                    false => {}
                }
            }
        }
        for thread in 0..self.ends.len() as u32 {
            let unfenced = self.unfenced(thread);
            found.extend(unfenced.map(|(_, at, kind)| (Spot::new(Finding::NeverFenced, at, kind.name()), 1)));
        }
        for (spot, times) in found {
            *self.spots.entry(spot).or_default() += times;
        }
        // A flush that misses a store is listed as that alone, with the last store before it.
        for (spot, _, store) in astray.into_values() {
            if let Some(times) = self.spots.get_mut(&spot) {
                *times -= 1;
            }
            let (finding, store) = (Finding::FlushMisses, Some(store));
            *self.spots.entry(Spot { finding, store, ..spot }).or_default() += 1;
        }
        self.spots.retain(|_, times| *times > 0);
        self.join_same();
    }

    /// An instruction that is accused of one store is accused of all.
    fn join_same(&mut self) {
        let is_accused = |spot: &Spot| spot.finding == Finding::NeverFlushed;
        let accused: Vec<Spot> = self.spots.keys().filter(|spot| is_accused(spot)).copied().collect();
        for spot in accused {
            let same = Spot::new(Finding::SameNeverFlushed, spot.at, STORE);
            *self.spots.entry(spot).or_default() += self.spots.remove(&same).unwrap_or_default();
        }
    }

    /// What the lack of a flush is for this store, with all parts of it.
    fn store_never_flushed(
        &self,
        line: &Line,
        item: &Item,
        mut process: Option<&mut Process>,
    ) -> (Finding, &'static str) {
        let parts = line.items.iter().filter(|part| part.serial >= item.serial);
        let parts = parts.take_while(|part| part.serial == item.serial || part.rest);
        let judged = parts.map(|part| self.never_flushed(part.piece.word, part.piece.mask, process.as_deref_mut()));
        // The most serious comes first.
        judged.min().unwrap_or((Finding::NeverFlushed, ""))
    }

    /// What the lack of a flush is for stores to these bytes, and why.
    fn never_flushed(&self, word: PmPlace, mask: u8, process: Option<&mut Process>) -> (Finding, &'static str) {
        let pending = &self.pending;
        let held = |bytes: [u8; 8]| number(bytes, mask);
        let before = pending.durable.word(word);
        let line = pending.lines.get(&(word & !(LINE - 1)));
        let items = line.into_iter().flat_map(|line| &line.items);
        let own = items.filter(|item| item.piece.word == word && item.piece.mask & mask != 0);
        let mut values: BTreeSet<u64> = own.map(|item| held(item.piece.over(before))).collect();
        if values.iter().eq([&held(before)]) && line.is_some_and(|line| line.taken_together.is_empty()) {
            return (Finding::SameNeverFlushed, "");
        }
        values.insert(held(before));
        values.remove(&0);
        let is_volatile = |value: &u64| process.as_ref().is_some_and(|process| process.is_volatile(*value));
        if !values.is_empty() && values.iter().all(is_volatile) {
            return (Finding::AddressNeverFlushed, "");
        }
        match self.locks.kind(word, mask, pending, process) {
            Kind::Lock => (Finding::LockWord, ""),
            Kind::Unclear(why) => (Finding::LockOrData, why),
            Kind::Data(why) => (Finding::NeverFlushed, why),
        }
    }
}

/// The pending stores of a line, without the further parts of each.
fn whole_stores(line: &Line) -> impl Iterator<Item = &Item> {
    let items = line.items.iter().enumerate();
    let first = |index: usize, item: &Item| !item.rest || index == 0 || line.items[index - 1].serial + 1 != item.serial;
    items
        .filter(move |(index, item)| first(*index, item))
        .map(|(_, item)| item)
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
