//! What a program has issued, held against what its core holds.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use strandline_design::{Ordering, WriteKind};
use strandline_isa::Line;
use strandline_machine::{CoreView, What};

/// What of a line is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Store,
    StoreNt,
    Flush,
}

/// What a program has issued, in program order: it is in the core's queues, or done.
#[derive(Clone, Copy, Debug)]
pub enum Issued {
    /// A store or flush of a line, in the program's context.
    Write(Kind, Line, u8),
    /// A fence for a context, or for all.
    Fence(Option<u8>),
}

/// Shared by a program, which writes it, and the test.
pub type Ledger = Rc<RefCell<Vec<Issued>>>;

/// What the core's queues and buffers hold, with the contexts that they say, in the order of the kinds and lines.
fn held_by(view: &CoreView) -> Vec<(Kind, Line, u8)> {
    let mut held = Vec::new();
    for queued in &view.store_queue {
        let (kind, line) = match queued.what {
            What::Write(write) if write.kind == WriteKind::NonTemporal => (Kind::StoreNt, write.store.line()),
            What::Write(write) => (Kind::Store, write.store.line()),
            What::Ordering(Ordering::Flush(line, _)) => (Kind::Flush, line),
            What::Ordering(Ordering::Primitive(_)) => continue,
        };
        held.push((kind, line, queued.context));
    }
    let buffered = view.writeback_buffer.iter().filter(|flush| !flush.at_head);
    held.extend(buffered.map(|flush| (Kind::Flush, flush.line, flush.context)));
    for joined in &view.combining {
        held.extend(joined.contexts.iter().map(|c| (Kind::StoreNt, joined.line, *c)));
    }
    held.sort_unstable();
    held
}

/// Which of the issued writes are pending: those of one kind to one line are done in program order, so of each as many
/// of the youngest as the core still holds.
fn pending(ledger: &[Issued], held: &[(Kind, Line, u8)]) -> Result<Vec<bool>, String> {
    let mut left: BTreeMap<(Kind, Line), u64> = BTreeMap::new();
    for (kind, line, _) in held {
        *left.entry((*kind, *line)).or_default() += 1;
    }
    let mut pending = vec![false; ledger.len()];
    for (i, issued) in ledger.iter().enumerate().rev() {
        let Issued::Write(kind, line, _) = *issued else {
            continue;
        };
        if let Some(count) = left.get_mut(&(kind, line)).filter(|count| **count > 0) {
            *count -= 1;
            pending[i] = true;
        }
    }
    match left.into_iter().find(|(_, count)| *count > 0) {
        Some((what, count)) => Err(format!("the core holds {count} of {what:?} that were not issued")),
        None => Ok(pending),
    }
}

/// Holds a core against its program: no fence has retired too early, none is held for nothing, contexts and counters are
/// those of the program's stores and flushes.
pub fn check(ledger: &[Issued], view: &CoreView, contexts: u64) -> Result<(), String> {
    let entry = |context: u8| (u64::from(context) % contexts) as u8;
    let held = held_by(view);
    let pending = pending(ledger, &held)?;
    let held_fence = view
        .held
        .and_then(|_| ledger.iter().rposition(|i| matches!(i, Issued::Fence(_))));
    let mut older: Vec<(Kind, Line, u8)> = Vec::new();
    for (i, issued) in ledger.iter().enumerate() {
        match *issued {
            Issued::Write(kind, line, context) if pending[i] => older.push((kind, line, context)),
            Issued::Fence(of) if held_fence != Some(i) => {
                let early = older.iter().find(|(_, _, c)| of.is_none_or(|of| of == *c));
                if let Some(early) = early {
                    return Err(format!("fence {i} for {of:?} has retired, and {early:?} is pending"));
                }
            }
            _ => {}
        }
    }
    let mut tagged: Vec<_> = older.iter().map(|(kind, line, c)| (*kind, *line, entry(*c))).collect();
    tagged.sort_unstable();
    if tagged != held {
        return Err(format!("contexts: the core says {held:?}, the program {tagged:?}"));
    }
    let mut counters: BTreeMap<u8, u64> = BTreeMap::new();
    for (_, _, context) in tagged {
        *counters.entry(context).or_default() += 1;
    }
    if view.pending != counters.clone().into_iter().collect::<Vec<_>>() {
        return Err(format!("counters are {:?} and should be {counters:?}", view.pending));
    }
    held_for_a_reason(ledger, held_fence, view, entry)
}

/// A fence is held while its own context is pending, and not for others'.
fn held_for_a_reason(
    ledger: &[Issued],
    fence: Option<usize>,
    view: &CoreView,
    entry: impl Fn(u8) -> u8,
) -> Result<(), String> {
    let Some(Issued::Fence(of)) = fence.map(|i| ledger[i]) else {
        return Ok(());
    };
    let waits_for = match of {
        Some(of) => view.pending_of(entry(of)),
        None => view.pending.iter().map(|(_, count)| count).sum(),
    };
    match waits_for {
        0 => Err(format!(
            "a fence for {of:?} is held, and nothing that it waits for is pending"
        )),
        _ => Ok(()),
    }
}
