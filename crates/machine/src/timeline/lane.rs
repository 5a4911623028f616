//! What one core's window does: stalls, and instructions if they are asked for.

use super::rows::{Cause, Instruction, InstructionKind, Stall};
use super::{Detail, Why};
use crate::trace::TraceOp;
use std::cell::RefCell;

/// Records one core's window.
pub struct Lane {
    core: u16,
    detail: Detail,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    /// When the timed region began; it begins with the run where programs have no start line.
    started: Option<u64>,
    /// The core replays what it has done before: nothing is recorded.
    suspended: bool,
    /// There is too much to record: nothing more is.
    stopped: bool,
    stalls: Vec<Stall>,
    /// The next stall is a mispredicted branch's.
    mispredicted: bool,
    instructions: Vec<Instruction>,
    /// The op that is under way, by number.
    under_way: Option<Dispatch>,
    /// What the next instruction to be recorded is.
    label: Option<(InstructionKind, Option<u64>)>,
    /// The instruction whose retirement is held, and its place among those recorded.
    held: Option<usize>,
}

/// When an op was dispatched.
#[derive(Clone, Copy, Debug)]
pub struct Dispatch {
    /// The op's number in its core.
    pub number: u64,
    /// The cycle.
    pub at: u64,
    /// When it issues, once that is known.
    pub issues: u64,
}

/// How far a lane had come.
#[derive(Clone, Copy, Debug, Default)]
pub struct LaneMark {
    stalls: usize,
    instructions: usize,
}

impl Lane {
    /// Of a core.
    pub fn new(core: u16, detail: Detail) -> Lane {
        Lane {
            core,
            detail,
            state: RefCell::default(),
        }
    }

    /// Whether it records instructions.
    pub fn has_instructions(&self) -> bool {
        self.detail.instructions
    }

    /// The timed region begins: what was before is forgotten.
    pub fn start(&self, at: u64) {
        let state = &mut *self.state.borrow_mut();
        state.started = Some(at);
        state.stalls.clear();
        state.instructions.clear();
        state.held = None;
    }

    /// Dispatch stalled. `counted`: cycles that the record counts under this cause; `fetch`: those not absorbed.
    pub fn stall(&self, span: (u64, u64), cause: Cause, counted: u64, fetch: u64) {
        let state = &mut *self.state.borrow_mut();
        let (from, to) = span;
        let why = match std::mem::take(&mut state.mispredicted) {
            true => Why::Branch,
            false => Why::Fault,
        };
        if state.suspended || state.stopped || to <= from {
            return;
        }
        state.stalls.push(Stall {
            core: self.core,
            from,
            to,
            cause,
            counted,
            fetch,
            why: why.name(),
            op: None,
            write: None,
            miss: None,
        });
    }

    /// The branch that is under way was predicted wrongly.
    pub fn mispredicts(&self) {
        self.state.borrow_mut().mispredicted = true;
    }

    /// An op was dispatched, unless that was recorded before, and issues.
    pub fn issues(&self, op: Dispatch) {
        let mut state = self.state.borrow_mut();
        let known = state.under_way.filter(|known| known.number == op.number);
        state.under_way = Some(Dispatch {
            at: known.map_or(op.at, |known| known.at),
            ..op
        });
    }

    /// Records nothing more.
    pub fn stops(&self) {
        self.state.borrow_mut().stopped = true;
    }

    /// What the next instruction is that retires.
    pub fn next_is(&self, op: &TraceOp) {
        if self.detail.instructions {
            self.state.borrow_mut().label = labelled(op);
        }
    }

    /// The next micro-op is the address of a store.
    pub fn next_is_address(&self) {
        if self.detail.instructions {
            self.state.borrow_mut().label = Some((InstructionKind::Address, None));
        }
    }

    /// What the instruction is that is under way, or else the latest.
    pub fn is(&self, op: &TraceOp) {
        if !self.detail.instructions {
            return;
        }
        let state = &mut *self.state.borrow_mut();
        match (state.under_way, state.instructions.last_mut()) {
            (None, Some(latest)) => {
                if let Some((kind, addr)) = labelled(op) {
                    (latest.kind, latest.addr) = (kind, addr);
                }
            }
            _ => state.label = labelled(op),
        }
    }

    /// The op of this number, dispatched at `at` if nothing else is known, completes, and retires then unless it is held.
    pub fn completes(&self, op: Dispatch, complete: u64, retired: Option<u64>) {
        let state = &mut *self.state.borrow_mut();
        let under_way = state.under_way.take().filter(|known| known.number == op.number);
        let Dispatch { at, issues, .. } = under_way.unwrap_or(op);
        let (kind, addr) = state.label.take().unwrap_or((InstructionKind::Plain, None));
        let last = self
            .detail
            .until
            .map(|until| until.saturating_add(state.started.unwrap_or(0)));
        let is_late = last.is_some_and(|last| at > last);
        if is_late || state.suspended || state.stopped || !self.detail.instructions {
            return;
        }
        state.instructions.push(Instruction {
            core: self.core,
            kind,
            addr,
            dispatched: at,
            issued: issues,
            complete,
            retired,
            void: false,
        });
    }

    /// The latest instruction is held.
    pub fn holds(&self) {
        let state = &mut *self.state.borrow_mut();
        state.held = state.instructions.len().checked_sub(1);
    }

    /// The instruction `behind` the held one retires.
    pub fn retires(&self, behind: u64, at: u64) {
        let state = &mut *self.state.borrow_mut();
        let place = state.held.map(|held| held + behind as usize);
        if let Some(instruction) = place.and_then(|place| state.instructions.get_mut(place)) {
            instruction.retired = Some(at);
            instruction.complete = instruction.complete.min(at);
        }
    }

    /// How far it has come.
    pub fn mark(&self) -> LaneMark {
        let state = self.state.borrow();
        LaneMark {
            stalls: state.stalls.len(),
            instructions: state.instructions.len(),
        }
    }

    /// The core goes back to where it was then, and replays what was before: its counts are as they were.
    pub fn rolls_back(&self, mark: LaneMark) {
        let state = &mut *self.state.borrow_mut();
        state.suspended = true;
        if state.stopped {
            return;
        }
        state.stalls.truncate(mark.stalls);
        let void = state.instructions.iter_mut().skip(mark.instructions);
        void.for_each(|instruction| instruction.void = true);
    }

    /// The replay has ended.
    pub fn resumes(&self) {
        let state = &mut *self.state.borrow_mut();
        state.suspended = false;
        (state.under_way, state.label, state.held) = (None, None, None);
    }

    /// Takes what was recorded.
    pub fn take(&self) -> (Vec<Stall>, Vec<Instruction>) {
        let state = &mut *self.state.borrow_mut();
        (
            std::mem::take(&mut state.stalls),
            std::mem::take(&mut state.instructions),
        )
    }
}

fn labelled(op: &TraceOp) -> Option<(InstructionKind, Option<u64>)> {
    InstructionKind::of(op).map(|(kind, addr, _)| (kind, addr.map(|addr| addr.0)))
}
