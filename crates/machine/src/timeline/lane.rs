//! What one core's window does: stalls, and instructions if they are asked for.

use super::rows::{Cause, Head, Instruction, InstructionKind, Stall};
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
    heads: Heads,
    /// The op that is under way, by number.
    under_way: Option<Dispatch>,
    /// What the next instruction to be recorded is.
    label: Option<(InstructionKind, Option<u64>)>,
    /// The instruction whose retirement is held, and its place among those recorded.
    held: Option<usize>,
}

/// What stood at the window's head, and the loops in which the program waited.
#[derive(Default)]
pub(super) struct Heads {
    pub rows: Vec<Head>,
    /// When the latest op was dispatched.
    pub last: u64,
    /// When the latest op retired.
    frontier: u64,
    /// The held op and those behind it: what each is, and when it was dispatched.
    behind: Vec<(InstructionKind, u64)>,
    held: bool,
    /// The latest row is the latest op's.
    is_latest: bool,
    /// The loop that the program goes round, from its first lap to its latest.
    spins: Option<(u64, u64)>,
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
    heads: usize,
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

    /// Whether it looks at each instruction.
    pub fn watches(&self) -> bool {
        self.detail.instructions || self.detail.heads.is_some()
    }

    /// The timed region begins: what was before is forgotten.
    pub fn start(&self, at: u64) {
        let state = &mut *self.state.borrow_mut();
        state.started = Some(at);
        state.stalls.clear();
        state.instructions.clear();
        state.heads.rows.clear();
        state.heads.spins = None;
        state.held = None;
    }

    /// The program has gone round a loop in which it waits for another core, at `at`.
    pub fn spins(&self, at: u64) {
        if self.detail.heads.is_some() {
            let spins = &mut self.state.borrow_mut().heads.spins;
            *spins = Some((spins.map_or(at, |(from, _)| from), at));
        }
    }

    /// Dispatch waited for the decoder.
    pub fn decodes(&self, span: (u64, u64), used: u64) {
        if self.detail.heads.is_some() {
            self.stall(span, used, Cause::Redirect, 0, 0);
        }
    }

    /// Dispatch stalled, when `used` micro-ops of the first cycle had been dispatched. `counted`: cycles that the record
    /// counts under this cause; `fetch`: those not absorbed.
    pub fn stall(&self, span: (u64, u64), used: u64, cause: Cause, counted: u64, fetch: u64) {
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
            used,
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
        if self.watches() {
            self.state.borrow_mut().label = labelled(op);
        }
    }

    /// The next micro-op is the address of a store.
    pub fn next_is_address(&self) {
        if self.watches() {
            self.state.borrow_mut().label = Some((InstructionKind::Address, None));
        }
    }

    /// What the instruction is that is under way, or else the latest.
    pub fn is(&self, op: &TraceOp) {
        if !self.watches() {
            return;
        }
        let state = &mut *self.state.borrow_mut();
        let Some((kind, addr)) = labelled(op) else { return };
        if state.under_way.is_some() || self.detail.instructions && state.instructions.is_empty() {
            state.label = Some((kind, addr));
            return;
        }
        state.heads.names(self.core, kind);
        if let Some(latest) = state.instructions.last_mut() {
            (latest.kind, latest.addr) = (kind, addr);
        }
    }

    /// The op of this number, dispatched at `at` if nothing else is known, completes, and retires then unless it is held.
    pub fn completes(&self, op: Dispatch, complete: u64, retired: Option<u64>) {
        let state = &mut *self.state.borrow_mut();
        let under_way = state.under_way.take().filter(|known| known.number == op.number);
        let Dispatch { at, issues, .. } = under_way.unwrap_or(op);
        let (kind, addr) = state.label.take().unwrap_or((InstructionKind::Plain, None));
        if let (Some(hit), false, false) = (self.detail.heads, state.suspended, state.stopped) {
            state.heads.completes(self.core, (kind, at), retired, hit);
        }
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
        if let (Some(hit), false) = (self.detail.heads, state.stopped) {
            state.heads.retires(self.core, behind as usize, at, hit);
        }
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
            heads: state.heads.rows.len(),
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
        state.heads.rows.truncate(mark.heads);
        state.heads.spins = None;
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
    pub(super) fn take(&self) -> (Vec<Stall>, Vec<Instruction>, Heads) {
        let state = &mut *self.state.borrow_mut();
        state.heads.leaves_loop(self.core);
        (
            std::mem::take(&mut state.stalls),
            std::mem::take(&mut state.instructions),
            std::mem::take(&mut state.heads),
        )
    }
}

impl Heads {
    /// An op completes, and retires then unless it is behind a held one, or held.
    fn completes(&mut self, core: u16, op: (InstructionKind, u64), retired: Option<u64>, hit: u64) {
        self.last = self.last.max(op.1);
        self.leaves_loop_unless_loads(core, op.0);
        match retired {
            Some(at) => self.head(core, op, at, hit),
            None => {
                if !std::mem::replace(&mut self.held, true) {
                    self.behind.clear();
                }
                self.behind.push(op);
            }
        }
    }

    /// The latest op is of this kind.
    fn names(&mut self, core: u16, kind: InstructionKind) {
        self.leaves_loop_unless_loads(core, kind);
        let held = self.held.then(|| self.behind.last_mut()).flatten();
        match (held, self.rows.last_mut().filter(|_| self.is_latest)) {
            (Some(op), _) => op.0 = kind,
            (None, Some(row)) => row.kind = Some(kind),
            (None, None) => {}
        }
    }

    fn leaves_loop_unless_loads(&mut self, core: u16, kind: InstructionKind) {
        if !matches!(kind, InstructionKind::Plain | InstructionKind::Load) {
            self.leaves_loop(core);
        }
    }

    /// The op `behind` the held one retires.
    fn retires(&mut self, core: u16, behind: usize, at: u64, hit: u64) {
        self.held = false;
        if let Some(&op) = self.behind.get(behind) {
            self.head(core, op, at, hit);
        }
    }

    /// An op retires: it was at the head since the op before retired, if it was dispatched by then.
    fn head(&mut self, core: u16, (kind, dispatched): (InstructionKind, u64), to: u64, hit: u64) {
        let from = self.frontier.max(dispatched);
        self.frontier = self.frontier.max(to);
        self.is_latest = to > from + hit;
        if self.is_latest {
            self.rows.push(Head {
                core,
                kind: Some(kind),
                from,
                to,
            });
        }
    }

    /// The program goes round a loop no longer.
    fn leaves_loop(&mut self, core: u16) {
        if let Some((from, to)) = self.spins.take() {
            self.rows.push(Head {
                core,
                kind: None,
                from,
                to,
            });
        }
    }
}

fn labelled(op: &TraceOp) -> Option<(InstructionKind, Option<u64>)> {
    InstructionKind::of(op).map(|(kind, addr, _)| (kind, addr.map(|addr| addr.0)))
}
