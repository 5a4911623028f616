//! A failing case in detail: what recovery read, which stores it found and lacked, and the order between them.

mod choice;
mod order;
mod words;

use crate::explore::run::Run;
use crate::judge::fault::{Fault, FaultKind};
use crate::judge::order::{in_words, Models, Ordered};
use crate::judge::reads::{PostCrashStep, Read};
use crate::judge::walk::Finding;
use choice::{Choice, Reads};
use serde::Serialize;
use std::collections::BTreeMap;
use strandline_isa::{Addr, CoreId};
use strandline_kernel::Cycles;
use strandline_machine::{OpId, TraceOp};
use strandline_sim::Error;
use words::Words;

/// The most reads that are listed.
const MOST_READS: usize = 64;

/// A failing case in detail. Indices are those of `events`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Case {
    /// The model of the design; empty where several hosts share memory, whose order no model judges here.
    pub model: String,
    /// Whether the model forbids the crash state.
    pub forbidden: bool,
    /// Stores to persistent memory and acknowledgements, as far as reads or the order name them.
    pub events: Vec<Event>,
    /// The first read of each word that a store had changed by then, in order; at most 64. If there are more,
    /// these are of words that lack a store, then of words that the step read which found the fault.
    pub reads: Vec<Reading>,
    /// Number of words that were read up to the step that found the fault.
    pub words_read: u64,
    /// Number of those that a store had changed by then.
    pub words_stored: u64,
    /// Pairs that persist in order, or had to.
    pub order: Vec<Edge>,
}

/// A store, or an acknowledgement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// The core.
    pub core: usize,
    /// Where, of a store.
    pub addr: Option<String>,
    /// What a store wrote, in hexadecimal.
    pub value: Option<String>,
    /// In words.
    pub what: String,
    /// When it was visible to all cores, or announced.
    pub at_cycles: u64,
    /// Whether a store was durable when power failed; of an acknowledgement, whether it had been announced.
    pub durable: bool,
}

/// The first read of a word of persistent memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// The word.
    pub addr: String,
    /// What it held, in hexadecimal.
    pub value: String,
    /// Who read it.
    pub by: PostCrashStep,
    /// Recovery had written the word before.
    pub rewritten: bool,
    /// The store that had left the durable word; `None` if it held what was there at first.
    pub store: Option<usize>,
    /// The newest store to the word that was visible and is lost.
    pub lacks: Option<usize>,
}

/// One event had to be durable before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// The event that comes first.
    pub before: usize,
    /// The event behind it.
    pub after: usize,
    /// What became of it.
    pub kind: Order,
}

/// What became of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The model wants it, and the crash state has it.
    Kept,
    /// The model wants it, and the crash state has the second without the first.
    Broken,
    /// The model does not want it, and the crash state has the second without the first: with this order, the state
    /// could not have been left.
    Missing,
}

impl Case {
    /// The case of a run and of what is wrong at one of its crash points.
    ///
    /// # Errors
    /// None, for a run that was judged.
    pub fn of(run: &Run, finding: &Finding) -> Result<Case, Error> {
        let observation = &run.observation;
        let mut walk = run.walk();
        let last = last_step(finding);
        let mut reads = walk.reads(finding.event);
        reads.retain(|read| read.by <= last && read.addr.is_persistent());
        let words = Words::at(observation, finding, &|addr| walk.durable(addr));
        let stored: Vec<&Read> = reads.iter().filter(|read| words.is_stored(read.addr)).collect();
        let mut models = Models::named(observation.about.model)?;
        let model = models.on(&observation.machine)?;
        let (journal, initial) = (&observation.journal, &observation.initial);
        let is_judged = observation.machine.hosts == 1;
        let order = || Ordered::at(model, journal, initial, finding.event, finding.at);
        let ordered = is_judged.then(order).flatten();
        let judged = finding.faults.iter().any(|fault| fault.kind() == FaultKind::Forbidden);
        let forbidden = judged || is_judged && ordered.as_ref().is_none_or(|ordered| ordered.forbids);
        let pair = ordered.as_ref().and_then(|ordered| ordered.pair);
        let choice = Choice::of(observation, &finding.faults[0], pair, &words, &Reads::of(&stored, last));
        let pairs = order::pairs(&choice, ordered.as_ref(), &words, forbidden);
        let mut events = Events::default();
        let order: Vec<Edge> = pairs
            .into_iter()
            .map(|(before, after, kind)| Edge {
                before: events.number(before),
                after: events.number(after),
                kind,
            })
            .collect();
        let readings = shown(&stored, &words, last)
            .into_iter()
            .map(|read| reading(read, &words, &mut events))
            .collect();
        Ok(Case {
            model: if is_judged { model.name() } else { String::new() },
            forbidden,
            reads: readings,
            words_read: reads.len() as u64,
            words_stored: stored.len() as u64,
            order,
            events: events.list.iter().map(|op| event(run, *op, &words)).collect(),
        })
    }
}

/// The step that found the first fault: what was read behind it explains nothing.
fn last_step(finding: &Finding) -> PostCrashStep {
    match finding.faults.first() {
        Some(Fault::Lost { .. } | Fault::Torn { .. } | Fault::Foreign { .. }) => PostCrashStep::Regions,
        Some(Fault::Structure { .. }) => PostCrashStep::Invariant,
        _ => PostCrashStep::Operations,
    }
}

/// The reads that are listed, in order.
fn shown<'r>(stored: &[&'r Read], words: &Words<'_>, last: PostCrashStep) -> Vec<&'r Read> {
    let mut chosen: Vec<(usize, &Read)> = stored.iter().copied().enumerate().collect();
    chosen.sort_by_key(|(index, read)| (words.lost(read.addr).is_empty(), !read.steps.contains(&last), *index));
    chosen.truncate(MOST_READS);
    chosen.sort_by_key(|(index, _)| *index);
    chosen.into_iter().map(|(_, read)| read).collect()
}

fn reading(read: &Read, words: &Words<'_>, events: &mut Events) -> Reading {
    Reading {
        addr: read.addr.to_string(),
        value: format!("{:#x}", read.value),
        by: read.by,
        rewritten: read.rewritten,
        store: words.source(read.addr).map(|op| events.number(op)),
        lacks: words.lost(read.addr).last().map(|op| events.number(*op)),
    }
}

/// The events that are named, each once.
#[derive(Default)]
struct Events {
    list: Vec<OpId>,
    numbers: BTreeMap<OpId, usize>,
}

impl Events {
    fn number(&mut self, op: OpId) -> usize {
        *self.numbers.entry(op).or_insert_with(|| {
            self.list.push(op);
            self.list.len() - 1
        })
    }
}

/// Names an operation.
fn operation(core: usize, index: usize) -> OpId {
    OpId {
        core: CoreId(core as u16),
        index: index as u32,
    }
}

fn event(run: &Run, op: OpId, words: &Words<'_>) -> Event {
    let journal = &run.observation.journal;
    let stored = stored(&journal.trace.programs[op.core.index()][op.index as usize]);
    Event {
        core: op.core.index(),
        addr: stored.map(|(addr, ..)| addr.to_string()),
        value: stored.map(|(_, _, value)| format!("{value:#x}")),
        what: in_words(journal, op, &|addr| addr.to_string()),
        at_cycles: words.time(op).map_or(Cycles::NEVER, |(at, _)| at).0,
        durable: words.is_durable(op),
    }
}

/// The address, the bytes and the value of a store.
fn stored(op: &TraceOp) -> Option<(Addr, u8, u64)> {
    match *op {
        TraceOp::Store { addr, size, value } | TraceOp::StoreNt { addr, size, value } => Some((addr, size, value)),
        TraceOp::Rmw { addr, new, .. } => Some((addr, 8, new)),
        _ => None,
    }
}
