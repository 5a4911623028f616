//! A simulated core as the back end of a program that keeps its values on a stack ([`Frame`]).

use super::asking::{Left, Outcome};
use super::{EntryKind, SimCpu};
use crate::core::frame::{Frame, FrameStep, Operand};
use crate::core::Core;
use corosensei::Yielder;
use std::rc::Rc;
use strandline_isa::{Addr, Alu, CoreId, Cpu, Flush, Lowering, Note, Primitive, Rmw, Scope, Site, W};
use strandline_kernel::forward;

/// A simulated core as its program sees it, whose values lie on a stack. A value's tag is its number ([`Frame`]).
pub struct StackCpu<'s> {
    cpu: SimCpu<'s>,
    frame: Rc<Frame>,
    /// Which of the core's programs has it.
    program: u64,
}

impl<'s> StackCpu<'s> {
    /// The back end on `core` of the program that runs on `stack`; `None` if its values lie in registers.
    pub fn new(core: &Rc<Core>, stack: &'s Yielder<(), ()>) -> Option<StackCpu<'s>> {
        let frame = core.frame.clone()?;
        Some(StackCpu {
            program: frame.begins_program(),
            cpu: SimCpu::new(core.clone(), stack),
            frame,
        })
    }

    /// An operation with these operands, behind all that the program executes before it.
    #[inline(never)]
    fn behind_stack<T: Outcome>(&self, operands: [u64; 2], operation: impl Fn((u64, u64)) -> Result<T, Left>) -> T {
        self.frame.begins(operands);
        self.cpu.completes(|| {
            self.settle()?;
            operation(self.frame.ready())
        })
    }

    /// The same of an operation that ends with a value.
    fn gives(&self, operands: [u64; 2], operation: impl Fn((u64, u64)) -> Result<(u64, u64), Left>) -> W<'_, Self> {
        let (value, ready) = self.behind_stack(operands, operation);
        W::new(self, value, self.frame.gives(ready))
    }

    /// Issues what the program executes before its next operation.
    fn settles(&self) {
        self.cpu.completes(|| self.settle());
    }

    /// Issues all steps. A replay repeats what was issued.
    fn settle(&self) -> Result<(), Left> {
        if self.cpu.core.is_replaying() {
            self.frame.forget();
        }
        while let Some(step) = self.frame.next() {
            self.issue(step)?;
            self.frame.issued();
        }
        Ok(())
    }

    fn issue(&self, step: FrameStep) -> Result<(), Left> {
        let (c, frame) = (&*self.cpu.core, &*self.frame);
        let ready = |operand: Operand| frame.ready_of(operand);
        match step {
            FrameStep::Load { slot, to } => {
                let (_, done) = self.cpu.load_ready(frame.at(slot), 0, 8)?;
                frame.loaded(to, done);
            }
            FrameStep::Store { slot, data } => {
                let kind = EntryKind::Store { size: 8, value: 0 };
                self.cpu.store_ready(frame.at(slot), kind, (0, ready(data)))?;
            }
            FrameStep::Alu {
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
            FrameStep::Branch { on, taken, site } => c.branches_on(ready(on), taken, site),
            FrameStep::Jump { on, to, site } => c.jumps(ready(on), to, site),
            FrameStep::Spin => c.spins(),
        }
        Ok(())
    }
}

impl Cpu for StackCpu<'_> {
    type Tag = u64;

    forward! { self.cpu =>
        fn lowering(&self) -> &Lowering;
        fn wants_point(&self) -> bool;
        fn note(&self, note: Note);
        fn interrupted(&self) -> bool;
        fn hosts(&self) -> u64;
        fn has_failed(&self, core: CoreId) -> bool;
        fn wakes(&self);
    }

    forward! { self.frame =>
        fn alu(&self, op: Alu, a: u64, b: u64) -> u64;
        fn compare(&self, a: u64, b: u64) -> u64;
        fn branch(&self, condition: u64, taken: bool, site: Site);
        fn jump(&self, target: u64, to: u64, site: Site);
        fn enter(&self, scope: Scope);
        fn spins(&self);
    }

    fn core(&self) -> CoreId {
        Cpu::core(&self.cpu)
    }

    fn leave(&self, scope: Scope) {
        self.frame.leave(scope, self.program);
    }

    fn load(&self, addr: Addr, address: u64, size: u8) -> W<'_, Self> {
        self.gives([address, 0], |(address, _)| self.cpu.load_ready(addr, address, size))
    }

    fn store(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64) {
        let kind = EntryKind::Store { size, value };
        self.behind_stack([address, data], |ready| self.cpu.store_ready(addr, kind, ready));
    }

    fn store_nt(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64) {
        let kind = self.cpu.core.store_nt(size, value);
        self.behind_stack([address, data], |ready| self.cpu.store_ready(addr, kind, ready));
    }

    fn rmw(&self, addr: Addr, address: u64, op: Rmw, operand: u64, data: u64) -> W<'_, Self> {
        self.gives([address, data], |(address, data)| {
            self.cpu.locked_ready(addr, op, operand, address.max(data))
        })
    }

    fn flush(&self, addr: Addr, address: u64, flush: Flush) {
        self.behind_stack([address, 0], |(address, _)| self.cpu.flush_ready(addr, address, flush));
    }

    fn primitive(&self, primitive: Primitive) {
        self.behind_stack([0, 0], |_| self.cpu.primitive_now(primitive));
    }

    fn resumed(&self) -> Option<Vec<W<'_, Self>>> {
        let mut state = self.cpu.core.opened()?;
        let (latest, _) = state.pop()?;
        self.frame.goes_on_from(latest);
        Some(
            state
                .into_iter()
                .map(|(bits, value)| W::new(self, bits, value))
                .collect(),
        )
    }

    fn add_point<'c>(&'c self, state: Vec<W<'c, Self>>) {
        let words = state.into_iter().map(|word| (word.bits(), word.tag()));
        self.cpu.core.add_point(words.chain([(self.frame.latest(), 0)]));
    }

    fn cycles(&self) -> W<'_, Self> {
        let (at, done) = self.cpu.core.reads_counter();
        W::new(self, at, self.frame.gives(done))
    }

    fn fenced(&self) {
        self.settles();
        self.cpu.awaits_fences();
    }

    fn sleep<'c>(&'c self, word: W<'c, Self>, value: u64) {
        self.settles();
        self.cpu.sleeps(Addr(word.bits()), value);
    }

    fn start_line(&self) {
        self.settles();
        self.cpu.starts();
    }
}
