//! Operations of a program that keeps its values on a stack ([`Frame`]).

use super::{count, Core, Kind, Stage};
use crate::core::frame::{Frame, Operand, Step};
use crate::core::{Mode, Port};
use std::task::{ready, Poll};
use strandline_isa::{Addr, Alu, Flush, Primitive, Rmw, Site};

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

    /// A store, whose operands lie on the stack.
    #[inline(never)]
    pub(super) fn store_from_stack(
        &self,
        frame: &Frame,
        stage: &mut Stage,
        addr: Addr,
        kind: Kind,
        (address, data): (u64, u64),
    ) -> Poll<()> {
        self.behind_stack(frame, stage, [address, data], |stage, ready| {
            self.store_by_stages(stage, addr, kind, ready)
        })
    }

    /// A load: its value, and the number of that.
    #[inline(never)]
    pub(super) fn load_to_stack(
        &self,
        frame: &Frame,
        stage: &mut Stage,
        addr: Addr,
        address: u64,
        size: u8,
    ) -> Poll<(u64, u64)> {
        let loaded = self.behind_stack(frame, stage, [address, 0], |stage, (address, _)| {
            self.load_by_stages(stage, addr, address, size)
        });
        loaded.map(|(value, ready)| (value, frame.gives(ready)))
    }

    /// A locked instruction: its old value, and the number of that.
    pub(super) fn locked_on_stack(
        &self,
        frame: &Frame,
        stage: &mut Stage,
        addr: Addr,
        (op, operand): (Rmw, u64),
        (address, data): (u64, u64),
    ) -> Poll<(u64, u64)> {
        let locked = self.behind_stack(frame, stage, [address, data], |stage, (address, data)| {
            self.poll_locked(stage, addr, op, operand, address.max(data))
        });
        locked.map(|(value, ready)| (value, frame.gives(ready)))
    }

    /// A flush, whose address lies on the stack.
    pub(super) fn flush_from_stack(
        &self,
        frame: &Frame,
        stage: &mut Stage,
        addr: Addr,
        address: u64,
        flush: Flush,
    ) -> Poll<()> {
        self.behind_stack(frame, stage, [address, 0], |stage, (address, _)| {
            self.poll_flush(stage, addr, address, flush)
        })
    }

    /// A primitive.
    pub(super) fn primitive_behind_stack(&self, frame: &Frame, stage: &mut Stage, primitive: Primitive) -> Poll<()> {
        self.behind_stack(frame, stage, [0, 0], |stage, _| self.poll_primitive(stage, primitive))
    }

    /// An operation with these operands, behind all that the program executes before it.
    fn behind_stack<T>(
        &self,
        frame: &Frame,
        stage: &mut Stage,
        operands: [u64; 2],
        poll: impl FnOnce(&mut Stage, (u64, u64)) -> Poll<T>,
    ) -> Poll<T> {
        if *stage == Stage::New {
            frame.begins(operands);
            *stage = Stage::Begun;
        }
        ready!(self.settle(frame));
        let mut stage = frame.stages.operation.get();
        let polled = poll(&mut stage, frame.ready());
        frame.stages.operation.set(stage);
        polled
    }

    /// Issues what the program executes before its next operation, if it keeps its values on a stack.
    #[inline(always)]
    pub(super) fn settles(&self) -> Poll<()> {
        match self.frame() {
            None => Poll::Ready(()),
            Some(frame) => self.settle(frame),
        }
    }

    /// Issues all steps. A replay repeats what was issued.
    fn settle(&self, frame: &Frame) -> Poll<()> {
        if self.is_replaying() {
            frame.forget();
        }
        while let Some(step) = frame.next() {
            ready!(self.issue(frame, step));
            frame.issued();
        }
        Poll::Ready(())
    }

    fn issue(&self, frame: &Frame, step: Step) -> Poll<()> {
        let ready = |operand: Operand| frame.ready_of(operand);
        match step {
            Step::Load { slot, to } => {
                let mut stage = frame.stages.step.get();
                let polled = self.load_by_stages(&mut stage, frame.at(slot), 0, 8);
                frame.stages.step.set(stage);
                let (_, done) = ready!(polled);
                frame.loaded(to, done);
            }
            Step::Store { slot, data } => {
                let mut stage = frame.stages.step.get();
                let kind = Kind::Store { size: 8, value: 0 };
                let polled = self.store_by_stages(&mut stage, frame.at(slot), kind, (0, ready(data)));
                frame.stages.step.set(stage);
                return polled;
            }
            Step::Alu {
                op,
                operands: [a, b],
                to,
                fused,
            } => {
                let operands = ready(a).max(ready(b));
                let done = match fused {
                    true => operands + self.limits.latencies.of(op),
                    false => self.computes(op, operands),
                };
                frame.produced(to, done);
            }
            Step::Branch { on, taken, site } => self.branches_on(ready(on), taken, site),
            Step::Jump { on, to, site } => self.jumps(ready(on), to, site),
            Step::Spin => self.spins(),
        }
        Poll::Ready(())
    }
}
