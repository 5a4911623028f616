//! The watchdog: no progress is an error that names the waiters.

use super::hardware::{Hardware, Hart, ProgramState};
use super::waiters::{Condition, Then, Waiter, Waiters};
use crate::core::Request;
use std::fmt;
use strandline_design::{AnyDesign, Level};

/// A run without progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// When, in cycles.
    pub at: u64,
    /// How it stands still.
    pub how: Standstill,
    /// The waiters: a line a core, then one for each line, flush, store and write that the design holds, then the
    /// design's own.
    pub waits: Vec<String>,
}

/// How a run stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standstill {
    /// No event is left.
    Dead,
    /// Time moves without progress.
    Idle,
    /// It was told to stop ([`super::Remote::stop`]).
    Stopped,
    /// The same is repeated within one cycle, as by a design that opens a gate whose condition does not hold.
    Instant,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.how {
            Standstill::Dead => "nothing can go on",
            Standstill::Idle => "it goes on and gets nowhere",
            Standstill::Stopped => "it was stopped",
            Standstill::Instant => "time does not move, as the same is repeated",
        };
        write!(f, "no progress at cycle {}: {what}; {}", self.at, self.waits.join("; "))
    }
}

impl std::error::Error for Stuck {}

/// Describes every core that has not ended, or has something pending, and all that the design holds or waits for.
pub fn describe(hw: &Hardware, design: &AnyDesign, how: Standstill) -> Stuck {
    let waits = hw
        .harts
        .iter()
        .filter(|h| !matches!(h.state, ProgramState::Ended) || h.core.pending(None) > 0)
        .map(|hart| describe_hart(hart, &hw.waiters))
        .chain(hw.waiters.held().filter_map(describe_held))
        .chain(design.waits())
        .collect();
    Stuck {
        at: hw.now(),
        how,
        waits,
    }
}

/// What the design holds that is not a core's, and until when.
fn describe_held((condition, waiter): &(Condition, Waiter)) -> Option<String> {
    let what = match waiter {
        Waiter::Eviction { level, core, line } => {
            let from = match level {
                Level::Private => format!("{core}'s caches"),
                Level::Llc => "the LLC".to_owned(),
            };
            format!("{}, evicted from {from},", line.addr())
        }
        Waiter::Flush { core, line, .. } => format!("{core}: a flush of {}", line.addr()),
        Waiter::Perform { core, id } => format!("{core}: store {}, which the design keeps,", id.0),
        Waiter::Arrival { controller, write } => format!("controller {}: write {}", controller.0, write.0),
        Waiter::Fence(_) | Waiter::Program(..) | Waiter::StoreQueue(_) | Waiter::Speculation { .. } => return None,
    };
    Some(format!("{what} waits until {}", describe_condition(*condition)))
}

fn describe_hart(hart: &Hart, waiters: &Waiters) -> String {
    let what = match hart.state {
        ProgramState::Runnable => "runs".to_owned(),
        ProgramState::Again(request) => describe_request(request),
        ProgramState::Waits => waiters.of_program(hart.core.id).map_or_else(String::new, describe_wait),
        ProgramState::Ended => "has ended".to_owned(),
    };
    let mut text = format!("{}: {what}", hart.core.id);
    if let Some(condition) = waiters.of_fence(hart.core.id) {
        text += &format!(", a fence is held until {}", describe_condition(condition));
    }
    let queue = hart.core.queue.borrow();
    if let Some(head) = queue.front() {
        text += &format!(
            ", {} in the store queue, first {:?} at {}",
            queue.len(),
            head.kind,
            head.addr
        );
    }
    if let Some(condition) = waiters.of_store_queue(hart.core.id) {
        text += &format!(", which waits until {}", describe_condition(condition));
    }
    if let Some(buffer) = hart.combining.first() {
        let state = if buffer.sent { "sent" } else { "open" };
        text += &format!(
            ", {} write-combining buffers, first {state} of {}",
            hart.combining.len(),
            buffer.line
        );
    }
    if let Some(flush) = hart.buffer.first() {
        text += &format!(
            ", {} flushes unacknowledged, first of {}",
            hart.buffer.len(),
            flush.line
        );
    }
    text
}

fn describe_wait((condition, then): (Condition, Then)) -> String {
    let condition = describe_condition(condition);
    match then {
        Then::GoOn { .. } => format!("waits until {condition}"),
        Then::Ask(request) => format!("{} waits until {condition}", describe_request(request)),
        Then::Count(times) => format!("waits for write {times} {condition}"),
    }
}

fn describe_condition(condition: Condition) -> String {
    match condition {
        Condition::Drained(_, None) => "its stores and flushes are done".to_owned(),
        Condition::Drained(_, Some(context)) => format!("the stores and flushes of context {context} are done"),
        Condition::Visible(_) => "its stores are visible".to_owned(),
        Condition::Retired(_) => "a fence retires".to_owned(),
        Condition::Room(_) => "its store queue has room".to_owned(),
        Condition::Empty(_) => "its store queue has drained".to_owned(),
        Condition::Started => "all stand at the start line".to_owned(),
        Condition::Written(word) => format!("to the word at {word}"),
        Condition::Woken(word) => format!("it is woken, asleep on the word at {word}"),
        Condition::Open(gate) => format!("the design opens gate {}", gate.0),
    }
}

fn describe_request(request: Request) -> String {
    match request {
        Request::Load { addr, .. } => format!("a load of {addr}"),
        Request::Walk { addr, .. } => format!("a page walk for {addr}"),
        Request::Own { addr, .. } => format!("a store's request to own {addr}"),
        Request::Locked { addr, .. } => format!("a locked instruction at {addr}"),
        Request::Primitive { primitive } => primitive.to_string(),
        other => format!("{other:?}"),
    }
}
