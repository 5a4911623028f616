//! The events of a case between which its order is shown.

use super::words::Words;
use crate::judge::fault::Fault;
use crate::judge::reads::{PostCrashStep, Read};
use strandline_isa::{Addr, Note};
use strandline_kernel::Cycles;
use strandline_machine::{OpId, TraceOp};
use strandline_sim::Observation;

/// The most events between which the order is shown.
const MOST: usize = 16;

/// The most orders that a program lacked.
const MOST_MISSING: usize = 6;

/// The reads of stored words, by who read them.
pub struct Reads<'r> {
    all: &'r [&'r Read],
    by_recovery: Vec<&'r Read>,
    /// Those of the step that found the fault.
    by_last: Vec<&'r Read>,
}

impl<'r> Reads<'r> {
    /// The fault was found in step `last`.
    pub fn of(all: &'r [&'r Read], last: PostCrashStep) -> Reads<'r> {
        let by = |step: PostCrashStep| all.iter().copied().filter(|read| read.steps.contains(&step)).collect();
        Reads {
            all,
            by_recovery: by(PostCrashStep::Recovery),
            by_last: by(last),
        }
    }
}

/// What matters most of a case.
pub struct Choice {
    /// The events, the most important first, each once.
    pub events: Vec<OpId>,
    /// The lost stores, each with a durable event behind it that it had to precede.
    pub missing: Vec<(OpId, OpId)>,
}

impl Choice {
    /// Of these reads, and of the pair that breaks the model's order, if there is one.
    pub fn of(
        run: &Observation,
        fault: &Fault,
        broken: Option<(OpId, OpId)>,
        words: &Words<'_>,
        reads: &Reads<'_>,
    ) -> Choice {
        let missing = missing(run, fault, words, reads);
        let pairs = broken.into_iter().chain(missing.iter().copied());
        let mut wanted: Vec<OpId> = pairs.flat_map(|(one, other)| [one, other]).collect();
        let own = addr_of(fault);
        wanted.extend(own.and_then(|addr| words.source(addr)));
        wanted.extend(own.and_then(|addr| words.lost(addr).last().copied()));
        wanted.extend(
            reads
                .all
                .iter()
                .filter_map(|read| words.lost(read.addr).last().copied()),
        );
        wanted.extend(nearest(words, wanted.first(), sources(words, &reads.by_last)));
        let mut events = Vec::new();
        for op in wanted {
            if events.len() < MOST && !events.contains(&op) {
                events.push(op);
            }
        }
        Choice { events, missing }
    }
}

/// The stores that left the words.
fn sources(words: &Words<'_>, reads: &[&Read]) -> Vec<OpId> {
    reads.iter().filter_map(|read| words.source(read.addr)).collect()
}

/// The operations, those first that are close in time to another.
fn nearest(words: &Words<'_>, to: Option<&OpId>, mut of: Vec<OpId>) -> Vec<OpId> {
    let time = |op: OpId| words.time(op).map_or(0, |(at, _)| at.0);
    let to = to.map_or(0, |op| time(*op));
    of.sort_by_key(|op| (time(*op).abs_diff(to), *op));
    of
}

/// The lost stores that recovery needed, with the durable event that each had to precede, the closest first. With any
/// of these orders, the crash state could not have been left.
fn missing(run: &Observation, fault: &Fault, words: &Words<'_>, reads: &Reads<'_>) -> Vec<(OpId, OpId)> {
    let newest = |addr: Addr| words.lost(addr).pop();
    let lost = |reads: &[&Read]| -> Vec<OpId> { reads.iter().filter_map(|read| newest(read.addr)).collect() };
    let (of_recovery, of_last, of_all) = (lost(&reads.by_recovery), lost(&reads.by_last), lost(reads.all));
    let of_word: Vec<OpId> = addr_of(fault).and_then(newest).into_iter().collect();
    let older: Vec<OpId> = reads.all.iter().flat_map(|read| words.lost(read.addr)).collect();
    let (own, read) = (
        addr_of(fault).and_then(|addr| words.source(addr)),
        sources(words, &reads.by_last),
    );
    let own: Vec<OpId> = own.into_iter().collect();
    let acknowledged = acknowledged(run, fault);
    let tries: [(&[OpId], &[OpId]); 8] = [
        (&of_word, &acknowledged),
        (&of_all, &acknowledged),
        (&of_recovery, &own),
        (&of_recovery, &read),
        (&of_last, &own),
        (&of_last, &read),
        (&of_all, &sources(words, reads.all)),
        (&older, &sources(words, reads.all)),
    ];
    let mut found = tries.iter().map(|(lost, durable)| pairs(words, lost, durable));
    found.find(|pairs| !pairs.is_empty()).unwrap_or_default()
}

/// Each lost store with the next of the durable events.
fn pairs(words: &Words<'_>, lost: &[OpId], durable: &[OpId]) -> Vec<(OpId, OpId)> {
    let mut pairs = Vec::new();
    for first in lost {
        let behind = durable.iter().filter(|next| words.time(**next) > words.time(*first));
        if let Some(next) = behind.min_by_key(|next| words.time(**next)) {
            pairs.push((words.time(*first), *first, *next));
        }
    }
    pairs.sort_unstable_by(|one, other| other.cmp(one));
    pairs.dedup();
    pairs.truncate(MOST_MISSING);
    pairs.into_iter().map(|(_, first, next)| (first, next)).collect()
}

/// The acknowledgements that promised what is lost.
fn acknowledged(run: &Observation, fault: &Fault) -> Vec<OpId> {
    match fault {
        Fault::Lost {
            region, acknowledged, ..
        } => noted(run, Some(region.core), *acknowledged),
        Fault::Unexplained { returned, .. } => noted(run, None, *returned),
        _ => Vec::new(),
    }
}

fn noted(run: &Observation, only: Option<usize>, at: Cycles) -> Vec<OpId> {
    let programs = run.journal.trace.programs.iter().enumerate();
    let operations = programs.flat_map(|(core, ops)| ops.iter().enumerate().map(move |(index, op)| (core, index, op)));
    let own = operations.filter(|(core, ..)| only.is_none_or(|only| only == *core));
    let found = own.filter_map(|(core, index, op)| {
        let TraceOp::Note(note) = op else { return None };
        let noted = run.journal.notes[core][*note as usize];
        let acknowledges = matches!(noted.note, Note::RegionDurable | Note::OperationDurable { .. });
        (acknowledges && noted.at == at).then(|| super::operation(core, index))
    });
    found.collect()
}

/// The word at fault.
fn addr_of(fault: &Fault) -> Option<Addr> {
    match *fault {
        Fault::Lost { addr, .. } | Fault::Torn { addr, .. } | Fault::Foreign { addr, .. } => Some(Addr(addr.0 & !7)),
        _ => None,
    }
}
