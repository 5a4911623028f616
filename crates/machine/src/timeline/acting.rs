//! What acts at the moment, who waits, and what the design counts.

use super::recorder::{Actor, Recorder};
use super::rows::{Count, Source, Wait};
use super::waits::{Who, Why};
use strandline_design::{Counters, Key};
use strandline_isa::CoreId;
use strandline_kernel::Adds;

impl Recorder {
    /// From now on this acts.
    pub fn acts(&self, actor: Actor) {
        self.state.borrow_mut().actor = actor;
    }

    /// From now on an operation acts, or a core as such.
    pub fn op_acts(&self, op: Option<u32>) {
        self.acts(Actor { op, write: None });
    }

    /// The design sends a message, or has it sent.
    pub fn message_sent(&self, message: Key) {
        let state = &mut *self.state.borrow_mut();
        state.messages.insert(message, state.actor);
    }

    /// A message arrives: from now on what has sent it acts.
    pub fn message_arrives(&self, message: Key) {
        let state = &mut *self.state.borrow_mut();
        state.actor = state.messages.remove(&message).unwrap_or_default();
    }

    /// Something begins to wait.
    pub fn wait(&self, who: Who, why: Why, at: u64, op: Option<u32>) {
        let state = &mut *self.state.borrow_mut();
        if let Some(&before) = state.open.get(&who) {
            let before = &mut state.waits[before];
            let again = before.why == why.name() && (op.is_none() || before.op == op);
            if again && before.to.is_none_or(|to| to == at) {
                before.to = None;
                return;
            }
            before.to.get_or_insert(at);
        }
        if state.is_closed() {
            return;
        }
        let write = match who {
            Who::Write(row) => Some(row),
            _ => None,
        };
        state.open.insert(who, state.waits.len());
        state.waits.push(Wait {
            core: who.core(),
            who: who.name(),
            op,
            write,
            why: why.name(),
            from: at,
            to: None,
            by_op: None,
            by_write: None,
        });
    }

    /// Something goes on, because of what acts now.
    pub fn woken(&self, who: Who, at: u64) {
        let state = &mut *self.state.borrow_mut();
        let Some(&index) = state.open.get(&who) else { return };
        let wait = &mut state.waits[index];
        if wait.to.is_none() {
            wait.to = Some(at.max(wait.from));
            (wait.by_op, wait.by_write) = (state.actor.op, state.actor.write);
        }
    }

    /// The store at the head of a core's queue waits until its line arrives.
    pub fn line_arrives(&self, core: CoreId, op: u32, (from, to): (u64, u64)) {
        let why = match self.source_of(core, to) {
            Some(Source::Memory) => Why::LineOfMemory,
            Some(Source::Core) => Why::LineOfCore,
            _ => Why::Line,
        };
        self.wait(Who::Queue(core), why, from, Some(op));
        self.op_acts(None);
        self.woken(Who::Queue(core), to);
    }

    /// Notes what the design has counted since the last call.
    pub fn count(&self, at: u64, counters: Counters) {
        let state = &mut *self.state.borrow_mut();
        let before = totals(&state.counted);
        for ((name, now), (_, before)) in totals(&counters)
            .into_iter()
            .zip(before.into_iter().chain(std::iter::repeat(("", 0))))
        {
            if now > before && !state.is_closed() {
                state.counts.push(Count {
                    at,
                    name,
                    by: now - before,
                    op: state.actor.op,
                    write: state.actor.write,
                });
            }
        }
        state.counted = counters;
    }
}

/// The counters that are numbers of events, with the record's keys.
fn totals(counters: &Counters) -> Vec<(&'static str, u64)> {
    let shared = [
        ("epochs", counters.epochs),
        ("cross_dependences", counters.cross_dependences),
        ("early_flushes", counters.early_flushes),
        ("undo_records", counters.undo_records),
        ("delay_records", counters.delay_records),
        ("nacks", counters.nacks),
        ("rollbacks", counters.rollbacks),
    ];
    let shared = shared.into_iter().map(|(name, count)| (name, count.unwrap_or(0)));
    let own = counters.own.0.iter();
    let sums = own.filter(|(counter, _)| counter.adds == Adds::Sum && !counter.name.ends_with("_cycles"));
    shared
        .chain(sums.map(|(counter, count)| (counter.name, *count)))
        .collect()
}
