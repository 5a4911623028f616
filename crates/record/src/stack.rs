//! The calls that lead to an instruction, rebuilt from recorded calls and returns.

use crate::{AccessKind, Module};
use iced_x86::{FlowControl, Instruction};

/// An instruction, and the call that led to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At {
    /// The address of the instruction; 0 if there is none.
    pub pc: u64,
    /// The address of the innermost call in progress in the program's own code, not in a library; 0 if there is none.
    pub from: u64,
}

impl At {
    /// An instruction that no known call led to.
    #[must_use]
    pub fn alone(pc: u64) -> At {
        At { pc, from: 0 }
    }
}

/// What an instruction does to the calls in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// It stores a return address.
    Calls,
    /// It loads one.
    Returns,
}

impl Frame {
    /// What this one does, if anything.
    #[must_use]
    pub fn of(instruction: &Instruction) -> Option<Frame> {
        match instruction.flow_control() {
            FlowControl::Call | FlowControl::IndirectCall => Some(Frame::Calls),
            FlowControl::Return => Some(Frame::Returns),
            _ => None,
        }
    }

    /// Its access to the return address.
    #[must_use]
    pub fn access(self) -> AccessKind {
        match self {
            Frame::Calls => AccessKind::Store,
            Frame::Returns => AccessKind::Load,
        }
    }
}

/// The calls in progress of a thread.
///
/// A call stores its return address below those of all calls in progress. So a call or return ends those at or below
/// its own address, also if they were left by an exception, by `longjmp` or from a signal handler. Coroutines
/// have stacks of their own: a call there ends those of stacks at lower addresses, and finds those of stacks at higher ones.
#[derive(Clone, Debug, Default)]
pub struct Stack {
    calls: Vec<Call>,
}

#[derive(Clone, Copy, Debug)]
struct Call {
    /// Where it stored its return address.
    slot: u64,
    /// The innermost call of the program's own code up to here; 0 if there is none.
    from: u64,
    /// That is this one.
    is_own: bool,
}

impl Stack {
    /// The call instruction at `pc` stored its return address at `slot`; `is_own` if it is the program's own code.
    pub fn call(&mut self, slot: u64, pc: u64, is_own: bool) {
        self.end(slot);
        let from = if is_own { pc } else { self.from() };
        self.calls.push(Call { slot, from, is_own });
    }

    /// A return loaded its address from `slot`: the call that it ends, if that is the program's own.
    pub fn returns(&mut self, slot: u64) -> Option<u64> {
        let mut own = None;
        while let Some(call) = self.calls.last().filter(|call| call.slot <= slot) {
            own = (call.slot == slot && call.is_own).then_some(call.from);
            self.calls.pop();
        }
        own
    }

    fn end(&mut self, slot: u64) {
        while self.calls.last().is_some_and(|call| call.slot <= slot) {
            self.calls.pop();
        }
    }

    /// The address of the innermost call in progress in the program's own code; 0 if there is none.
    #[must_use]
    pub fn from(&self) -> u64 {
        self.calls.last().map_or(0, |call| call.from)
    }
}

/// The mapped libraries of a program.
#[derive(Clone, Debug, Default)]
pub struct Libraries(Vec<(u64, u64)>);

impl Libraries {
    /// Of these mapped files.
    #[must_use]
    pub fn of(modules: &[Module]) -> Libraries {
        let libraries = modules.iter().filter(|module| module.is_library());
        Libraries(libraries.map(|module| (module.base, module.end)).collect())
    }

    /// Whether the code at this address is the program's own: not of a library.
    #[must_use]
    pub fn is_own(&self, pc: u64) -> bool {
        !self.0.iter().any(|(base, end)| (*base..*end).contains(&pc))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: bool = true;
    const LIBRARY: bool = false;

    #[test]
    fn calls_of_libraries_are_not_the_programs_own() {
        let mut stack = Stack::default();
        stack.call(0x7ff0, 0x400, OWN);
        stack.call(0x7fe0, 0x410, OWN);
        stack.call(0x7fd0, 0x9000, LIBRARY);
        assert_eq!(stack.from(), 0x410);
        assert_eq!(stack.returns(0x7fd0), None, "a call of the library's");
        assert_eq!(stack.returns(0x7fe0), Some(0x410));
        assert_eq!(stack.from(), 0x400);
        stack.returns(0x7ff0);
        assert_eq!(stack.from(), 0, "nothing of the program is in progress");
    }

    #[test]
    fn calls_that_never_return_end_with_the_next_one_above_them() {
        let mut stack = Stack::default();
        stack.call(0x7ff0, 0x400, OWN);
        stack.call(0x7fe0, 0x410, OWN);
        stack.call(0x7fd0, 0x420, OWN);
        stack.call(0x7fe0, 0x430, OWN);
        assert_eq!(stack.from(), 0x430, "longjmp has left two calls");
        stack.returns(0x7ff0);
        assert_eq!(stack.from(), 0, "a handler has left one");
    }

    #[test]
    fn a_library_calls_back() {
        let mut stack = Stack::default();
        stack.call(0x7ff0, 0x400, OWN);
        stack.call(0x7fe0, 0x9000, LIBRARY);
        stack.call(0x7fd0, 0x500, OWN);
        assert_eq!(stack.from(), 0x500);
        stack.returns(0x7fd0);
        assert_eq!(stack.from(), 0x400);
    }

    #[test]
    fn code_outside_all_libraries_is_the_programs_own() {
        let module = |base, path: &str| Module {
            base,
            end: base + 0x1000,
            offset: 0,
            path: path.to_owned(),
        };
        let libraries = Libraries::of(&[module(0x1000, "/home/list"), module(0x5000, "/lib/libpmem.so.1")]);
        assert!(libraries.is_own(0x1800) && libraries.is_own(0x9000));
        assert!(!libraries.is_own(0x5000) && libraries.is_own(0x6000));
    }
}
