//! Programs, each on a stack of its own.

use crate::core::{Core, SimCpu, StackCpu};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::rc::Rc;
use strandline_isa::Thread;

/// What one hardware thread executes, on any core. It is called once more whenever the thread begins anew.
pub type Body = Rc<dyn Fn(&Thread<'_>)>;

/// What one hardware thread of the timed machine executes.
#[derive(Clone)]
pub enum Factory {
    /// A program for any core.
    Any(Body),
    /// A program that is compiled for the simulated core itself, which saves it the calls through a table. It names no
    /// values: on any machine they lie in registers.
    Registers(Rc<dyn Fn(&SimCpu<'_>)>),
}

impl Factory {
    /// A program for any core.
    pub fn any(run: impl Fn(&Thread<'_>) + 'static) -> Factory {
        Factory::Any(Rc::new(run))
    }

    /// Runs it from its beginning.
    fn run(&self, core: Rc<Core>, stack: &Yielder<(), ()>) {
        match self {
            Factory::Registers(run) => run(&SimCpu::new(core, stack)),
            Factory::Any(run) => match StackCpu::new(&core, stack) {
                Some(cpu) => run(&Thread::on(&cpu)),
                None => run(&Thread::on(&SimCpu::new(core, stack))),
            },
        }
    }
}

/// A program that is compiled for the simulated core itself.
pub fn factory(run: impl Fn(&SimCpu<'_>) + 'static) -> Factory {
    Factory::Registers(Rc::new(run))
}

/// A program on a core. It is suspended wherever it waits for the core; dropped before its end, it is unwound.
pub struct Program(Coroutine<(), (), ()>);

impl Program {
    /// A program that begins in its first turn, on the stack that it is given.
    pub fn new(run: impl FnOnce(&Yielder<(), ()>) + 'static) -> Program {
        Program(Coroutine::new(move |stack, ()| run(stack)))
    }

    /// A program that begins on `core` in its first turn.
    pub fn on(core: Rc<Core>, factory: Factory) -> Program {
        Program::new(move |stack| factory.run(core, stack))
    }

    /// Runs it until it ends or waits: whether it has ended.
    pub fn resume(&mut self) -> bool {
        match self.0.resume(()) {
            CoroutineResult::Yield(()) => false,
            CoroutineResult::Return(()) => true,
        }
    }
}
