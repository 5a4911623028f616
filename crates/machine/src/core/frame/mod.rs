//! The stack of a program that was compiled without optimization ([`strandline_isa::Code::Plain`]).
//!
//! A register value's tag is its number among the core's values; 0 is a constant. Each value has a slot. What a compiler
//! knows of names is found from uses: the result of an operation that the next operation uses is an intermediate result
//! and stays in its register; any other has a name. What has a name is stored to its slot, and loaded for each use. If a
//! result that was taken for an intermediate one is used again, its store, and the load of its first use, are made up for.
//!
//! The accesses to slots are micro-ops of the core like others. The frame only lists them, in program order; the core
//! issues them before the program's next access to memory ([`Frame::next`]).

mod naming;
mod step;

pub use step::{FrameStep, Operand};

use naming::Naming;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use strandline_isa::{Addr, Alu, Scope, Site};

/// Slots of the frames that the program writes: some calls deep, of some 12 variables each.
const SLOTS: u64 = 64;

/// Bytes of a core's stack: the slots that are written, and as many of outer frames, which are only read.
pub const FRAME_BYTES: u64 = 2 * 8 * SLOTS;

/// The stack of a core's program, and what is to be issued before its next access to memory.
pub struct Frame {
    base: Addr,
    state: RefCell<State>,
    /// The core's programs so far.
    programs: Cell<u64>,
}

/// What a roll-back restores.
#[derive(Clone, Default)]
pub struct State {
    naming: Naming,
    steps: VecDeque<FrameStep>,
    times: Times,
    /// The operands of the operation under way.
    operands: [Operand; 2],
}

/// When values are ready.
#[derive(Clone)]
struct Times {
    /// By slot: the value, and when it is in its register.
    values: [(u64, u64); SLOTS as usize],
    /// When the operands that were loaded from slots are.
    loaded: [u64; 2],
}

impl Default for Times {
    fn default() -> Times {
        Times {
            values: [(0, 0); SLOTS as usize],
            loaded: [0; 2],
        }
    }
}

impl Times {
    fn of(&self, operand: Operand) -> u64 {
        match operand {
            Operand::Constant => 0,
            Operand::Loaded(place) => self.loaded[place],
            Operand::Value(value) => match self.values[(value % SLOTS) as usize] {
                (latest, ready) if latest == value => ready,
                _ => 0,
            },
        }
    }
}

impl Frame {
    /// A stack of [`FRAME_BYTES`] bytes from `base` on.
    pub fn new(base: Addr) -> Frame {
        Frame {
            base,
            state: RefCell::default(),
            programs: Cell::new(0),
        }
    }

    /// The core has a program, created anew if it had one before: its number.
    pub fn begins_program(&self) -> u64 {
        self.programs.set(self.programs.get() + 1);
        self.programs.get()
    }

    /// Whether it holds this address.
    pub fn holds(&self, addr: Addr) -> bool {
        (self.base.0..self.base.0 + FRAME_BYTES).contains(&addr.0)
    }

    /// The address of a slot.
    pub fn at(&self, slot: u64) -> Addr {
        Addr(self.base.0 + 8 * slot)
    }

    /// An arithmetic operation: its result.
    #[inline(never)]
    pub fn alu(&self, op: Alu, a: u64, b: u64) -> u64 {
        self.operation(op, a, b, false)
    }

    /// A comparison: its result, the flags.
    pub fn compare(&self, a: u64, b: u64) -> u64 {
        self.operation(Alu::Simple, a, b, true)
    }

    fn operation(&self, op: Alu, a: u64, b: u64, compares: bool) -> u64 {
        let state = &mut *self.state.borrow_mut();
        let operands = state.naming.takes([a, b], &mut state.steps);
        let to = match compares {
            true => state.naming.flags(),
            false => state.naming.produces(),
        };
        let is_loaded = |operand: &Operand| matches!(operand, Operand::Loaded(_));
        // One operand may lie in memory: of a comparison any, otherwise one of two.
        let fused = operands.iter().any(is_loaded) && (compares || !operands.contains(&Operand::Constant));
        state.steps.push_back(FrameStep::Alu {
            op,
            operands,
            to,
            fused,
        });
        to
    }

    /// A conditional branch.
    pub fn branch(&self, condition: u64, taken: bool, site: Site) {
        let state = &mut *self.state.borrow_mut();
        let [on] = state.naming.takes([condition], &mut state.steps);
        state.steps.push_back(FrameStep::Branch { on, taken, site });
    }

    /// An indirect jump to `to`.
    pub fn jump(&self, target: u64, to: u64, site: Site) {
        let state = &mut *self.state.borrow_mut();
        let [on] = state.naming.takes([target], &mut state.steps);
        state.steps.push_back(FrameStep::Jump { on, to, site });
    }

    /// The program has gone round a loop that waits.
    pub fn spins(&self) {
        self.state.borrow_mut().steps.push_back(FrameStep::Spin);
    }

    /// A scope of the program begins.
    pub fn enter(&self, scope: Scope) {
        let state = &mut *self.state.borrow_mut();
        match scope {
            Scope::Function { arguments } => state.naming.calls(arguments, &mut state.steps),
            Scope::Library => state.naming.enter_library(),
        }
    }

    /// A scope of this program ends. Those of a program that was given up end when it is dropped, which is nothing.
    pub fn leave(&self, scope: Scope, program: u64) {
        if program != self.programs.get() {
            return;
        }
        let state = &mut *self.state.borrow_mut();
        match scope {
            Scope::Function { .. } => state.naming.returns(&mut state.steps),
            Scope::Library => state.naming.leave_library(),
        }
    }

    /// The program begins an operation on memory, with these operands.
    pub fn begins(&self, operands: [u64; 2]) {
        let state = &mut *self.state.borrow_mut();
        state.operands = state.naming.takes(operands, &mut state.steps);
    }

    /// When the operands of the operation that has begun are ready, once all steps before it have been issued.
    pub fn ready(&self) -> (u64, u64) {
        let state = self.state.borrow();
        let [a, b] = state.operands.map(|operand| state.times.of(operand));
        (a, b)
    }

    /// The operation that has begun ends with a value, which is ready then: its number.
    pub fn gives(&self, ready: u64) -> u64 {
        let value = self.state.borrow_mut().naming.produces();
        self.produced(value, ready);
        value
    }

    /// The next step to issue.
    pub fn next(&self) -> Option<FrameStep> {
        self.state.borrow().steps.front().copied()
    }

    /// The next step has been issued.
    pub fn issued(&self) {
        self.state.borrow_mut().steps.pop_front();
    }

    /// When an operand is ready.
    pub fn ready_of(&self, operand: Operand) -> u64 {
        self.state.borrow().times.of(operand)
    }

    /// A value is in its register from `ready` on.
    pub fn produced(&self, value: u64, ready: u64) {
        if value == 0 {
            return;
        }
        self.state.borrow_mut().times.values[(value % SLOTS) as usize] = (value, ready);
    }

    /// An operand has been loaded by then.
    pub fn loaded(&self, place: usize, ready: u64) {
        self.state.borrow_mut().times.loaded[place] = ready;
    }

    /// Forgets what is still to be issued: the program replays what it did before.
    pub fn forget(&self) {
        self.state.borrow_mut().steps.clear();
    }

    /// The number of the latest value: with it, a program that is created anew goes on.
    pub fn latest(&self) -> u64 {
        self.state.borrow().naming.latest
    }

    /// The program goes on where this was the number of the latest value.
    pub fn goes_on_from(&self, latest: u64) {
        self.state.borrow_mut().naming.latest = latest;
    }

    /// A copy of the state.
    pub fn save(&self) -> State {
        self.state.borrow().clone()
    }

    /// Restores an earlier state. The step and the operation under way begin again.
    pub fn restore(&self, saved: &State) {
        self.state.borrow_mut().clone_from(saved);
    }
}

#[cfg(test)]
mod tests;
