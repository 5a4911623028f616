//! Operations of a program that keeps its values on a stack ([`Frame`]).

use super::asking::{Left, Outcome};
use super::{count, Core, Kind, SimCpu};
use crate::core::frame::{Frame, Operand, Step};
use crate::core::{Mode, Port};
use strandline_isa::{Alu, Site};

impl Core {
    /// Arithmetic where the window is not simple.
    #[inline(never)]
    pub(super) fn alu_otherwise(&self, op: Alu, a: u64, b: u64) -> u64 {
        match &self.mode {
            Mode::Registers => self.computes(op, a.max(b)),
            Mode::Stack(frame) => frame.alu(op, a, b),
            Mode::Functional(_) => 0,
        }
    }

    /// A comparison where the window is not simple.
    #[inline(never)]
    pub(super) fn compare_otherwise(&self, a: u64, b: u64) -> u64 {
        match &self.mode {
            Mode::Registers => self.computes(Alu::Simple, a.max(b)),
            Mode::Stack(frame) => frame.compare(a, b),
            Mode::Functional(_) => 0,
        }
    }

    /// A branch where the window is not simple.
    #[inline(never)]
    pub(super) fn branch_otherwise(&self, condition: u64, taken: bool, site: Site) {
        match &self.mode {
            Mode::Registers => self.branches_on(condition, taken, site),
            Mode::Stack(frame) => frame.branch(condition, taken, site),
            Mode::Functional(_) => self.learns_branch(taken, site),
        }
    }

    /// Executes arithmetic where the window is simple: when the result is ready.
    #[inline(always)]
    pub(super) fn computes_simply(&self, op: Alu, a: u64, b: u64) -> u64 {
        let done = (self.window.dispatch_simple() + 1).max(a).max(b) + self.limits.latencies.of(op);
        self.window.execute_simple(done);
        done
    }

    /// Executes arithmetic where the window is limited: when the result is ready.
    #[inline(never)]
    pub(super) fn computes_limited(&self, op: Alu, ready: u64) -> u64 {
        let ready = (self.window.dispatch() + 1).max(ready);
        let issue = self.window.finds(Port::Alu, ready);
        self.window.enter_limited(issue);
        let done = issue + self.limits.latencies.of(op);
        self.window.execute_simple(done);
        done
    }

    /// Executes arithmetic on operands that are ready by then: when the result is.
    fn computes(&self, op: Alu, ready: u64) -> u64 {
        let ready = (self.window.dispatch() + 1).max(ready);
        let issue = self.window.finds(Port::Alu, ready);
        let done = issue + self.limits.latencies.of(op);
        self.window.execute(issue, done);
        done
    }

    /// Executes a branch.
    pub(super) fn branches_on(&self, condition: u64, taken: bool, site: Site) {
        let ready = (self.window.dispatch() + 1).max(condition);
        let issue = self.window.finds(Port::Alu, ready);
        self.window.ends_block();
        if !self.branches.predictor.predict(site.0, taken) {
            self.mispredicted(issue + 1);
        }
        self.window.execute(issue, issue + 1);
    }

    /// A branch or jump that executes at `done` was mispredicted.
    #[inline(always)]
    pub(super) fn mispredicted(&self, done: u64) {
        count(&self.counts.mispredictions);
        self.window.redirect_branch(done + self.limits.latencies.mispredict);
    }
}

impl SimCpu<'_> {
    /// An operation with these operands, behind all that the program executes before it.
    #[inline(never)]
    pub(super) fn behind_stack<T: Outcome>(
        &self,
        frame: &Frame,
        operands: [u64; 2],
        operation: impl Fn((u64, u64)) -> Result<T, Left>,
    ) -> T {
        frame.begins(operands);
        self.completes(|| {
            self.settle(frame)?;
            operation(frame.ready())
        })
    }

    /// Issues what the program executes before its next operation, if it keeps its values on a stack.
    #[inline(always)]
    pub(super) fn settles(&self) {
        if let Some(frame) = self.core.frame() {
            self.completes(|| self.settle(frame));
        }
    }

    /// Issues all steps. A replay repeats what was issued.
    fn settle(&self, frame: &Frame) -> Result<(), Left> {
        if self.core.is_replaying() {
            frame.forget();
        }
        while let Some(step) = frame.next() {
            self.issue(frame, step)?;
            frame.issued();
        }
        Ok(())
    }

    fn issue(&self, frame: &Frame, step: Step) -> Result<(), Left> {
        let c = &*self.core;
        let ready = |operand: Operand| frame.ready_of(operand);
        match step {
            Step::Load { slot, to } => {
                let (_, done) = self.load_ready(frame.at(slot), 0, 8)?;
                frame.loaded(to, done);
            }
            Step::Store { slot, data } => {
                let kind = Kind::Store { size: 8, value: 0 };
                self.store_ready(frame.at(slot), kind, (0, ready(data)))?;
            }
            Step::Alu {
                op,
                operands: [a, b],
                to,
                fused,
            } => {
                let operands = ready(a).max(ready(b));
                let done = match fused {
                    true => operands + c.limits.latencies.of(op),
                    false => c.computes(op, operands),
                };
                frame.produced(to, done);
            }
            Step::Branch { on, taken, site } => c.branches_on(ready(on), taken, site),
            Step::Jump { on, to, site } => c.jumps(ready(on), to, site),
            Step::Spin => c.spins(),
        }
        Ok(())
    }
}
