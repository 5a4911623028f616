//! How a program was compiled, and the parts of it that matter then.

use crate::Cpu;

/// How a program was compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Code {
    /// Values stay in registers, and functions are inlined.
    #[default]
    Optimized,
    /// Without optimization, as by `gcc -O0`: values have slots of the stack, and functions are called.
    Plain,
}

impl Code {
    /// Both.
    pub const ALL: [Code; 2] = [Code::Optimized, Code::Plain];

    /// Their names, in the same order.
    pub const WORDS: &'static [&'static str] = &["optimized", "plain"];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Code::WORDS[self as usize]
    }
}

/// A part of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A function of the program.
    Function {
        /// How many arguments it has.
        arguments: u32,
    },
    /// Code of a library, which is optimized whatever the program's is.
    Library,
}

/// A scope that has been entered. It ends when this is dropped.
#[must_use = "the scope ends at once"]
pub struct Scoped<'c, C: Cpu> {
    cpu: &'c C,
    scope: Scope,
}

impl<'c, C: Cpu> Scoped<'c, C> {
    /// Enters a scope.
    #[inline(always)]
    pub(crate) fn new(cpu: &'c C, scope: Scope) -> Self {
        cpu.enter(scope);
        Scoped { cpu, scope }
    }
}

impl<C: Cpu> Drop for Scoped<'_, C> {
    #[inline(always)]
    fn drop(&mut self) {
        self.cpu.leave(self.scope);
    }
}
