//! Programs, each on a stack of its own.

use crate::core::{Core, SimCpu};
use corosensei::{Coroutine, CoroutineResult};
use std::rc::Rc;

/// What one hardware thread executes. It is called once more whenever the thread begins anew.
pub type Factory = Rc<dyn Fn(&SimCpu<'_>)>;

/// What a hardware thread executes.
pub fn factory(run: impl Fn(&SimCpu<'_>) + 'static) -> Factory {
    Rc::new(run)
}

/// A program on a core. It is suspended wherever it waits for the core; dropped before its end, it is unwound.
pub struct Program(Coroutine<(), (), ()>);

impl Program {
    /// A program that begins on `core` in its first turn.
    pub fn new(core: Rc<Core>, factory: Factory) -> Program {
        let number = core.begins_program();
        Program(Coroutine::new(move |stack, ()| {
            factory(&SimCpu::new(core, number, stack));
        }))
    }

    /// Runs it until it ends or waits: whether it has ended.
    pub fn goes_on(&mut self) -> bool {
        match self.0.resume(()) {
            CoroutineResult::Yield(()) => false,
            CoroutineResult::Return(()) => true,
        }
    }
}
