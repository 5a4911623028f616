//! The watchdog: no progress is an error that names the waiters.

use super::hardware::{Hardware, Hart, ProgramState};
use super::waiters::{Condition, Then, Waiters};
use crate::core::Request;
use std::fmt;
use strandline_design::AnyDesign;

/// A run without progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// When, in cycles.
    pub at: u64,
    /// Whether no event is left (otherwise events continue without progress).
    pub dead: bool,
    /// The waiters, one line a core.
    pub waits: Vec<String>,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.dead {
            "nothing can go on"
        } else {
            "it goes on and gets nowhere"
        };
        write!(f, "no progress at cycle {}: {what}; {}", self.at, self.waits.join("; "))
    }
}

impl std::error::Error for Stuck {}

/// Describes every core that has not ended, or has something pending, and the design's waiters.
pub fn describe(hw: &Hardware, design: &AnyDesign, dead: bool) -> Stuck {
    let waits = hw
        .harts
        .iter()
        .filter(|h| !matches!(h.state, ProgramState::Ended) || h.core.pending(None) > 0)
        .map(|hart| describe_hart(hart, &hw.waiters))
        .chain(design.waits())
        .collect();
    Stuck {
        at: hw.now,
        dead,
        waits,
    }
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
        Condition::Retired(_) => "a fence retires".to_owned(),
        Condition::Room(_) => "its store queue has room".to_owned(),
        Condition::Empty(_) => "its store queue has drained".to_owned(),
        Condition::Started => "all stand at the start line".to_owned(),
        Condition::Written(word) => format!("to the word at {word}"),
        Condition::Open(gate) => format!("the design opens gate {}", gate.0),
    }
}

fn describe_request(request: Request) -> String {
    match request {
        Request::Load { addr, .. } => format!("a load of {addr}"),
        Request::Own { addr, .. } => format!("a store's request to own {addr}"),
        Request::Locked { addr, .. } => format!("a locked instruction at {addr}"),
        Request::Primitive { primitive, .. } => primitive.to_string(),
        other => format!("{other:?}"),
    }
}
