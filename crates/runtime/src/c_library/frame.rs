//! The stack and the variables of a thread, as compiled functions use them.

use strandline_isa::{Cpu, LINE_BYTES, W};

/// Bytes of a thread's stack and variables.
pub const BYTES: u64 = 2 * LINE_BYTES;

/// Offsets of variables behind the stack's line.
const CANARY: u64 = LINE_BYTES;
/// Whether the process has one thread: zero.
const SINGLE: u64 = LINE_BYTES + 8;

/// The stack of a thread, growing to lower addresses. Its line holds what one call saves.
pub struct Stack<'c, C: Cpu> {
    cpu: &'c C,
    own: W<'c, C>,
    top: W<'c, C>,
}

impl<'c, C: Cpu> Stack<'c, C> {
    /// The stack in the memory at `own`, with the return address that a call pushes.
    pub fn called(cpu: &'c C, own: W<'c, C>) -> Stack<'c, C> {
        own.store(cpu.word(1));
        Stack { cpu, own, top: own }
    }

    /// Where it is.
    pub fn own(&self) -> W<'c, C> {
        self.own
    }

    /// Pushes registers: what they hold, the program does not need.
    pub fn push(&mut self, registers: u64) {
        for register in 0..registers {
            self.own.at(8 + 8 * (register % 6)).store(self.cpu.word(register));
        }
    }

    /// Pops registers.
    pub fn pop(&mut self, registers: u64) {
        for register in (0..registers).rev() {
            self.own.at(8 + 8 * (register % 6)).load();
        }
    }

    /// Makes room for variables.
    pub fn grow(&mut self) {
        self.top = self.top - 8;
    }

    /// Frees that room.
    pub fn shrink(&mut self) {
        self.top = self.top + 8;
    }

    /// Returns to the caller.
    pub fn ret(&self) {
        self.own.load();
    }

    /// Saves the canary.
    pub fn guard(&self) {
        let canary = self.own.at(CANARY).load();
        self.own.at(56).store(canary);
    }

    /// The difference from the saved canary: zero.
    pub fn guarded(&self) -> W<'c, C> {
        self.own.at(56).load() - self.own.at(CANARY).load()
    }

    /// Whether the process has one thread: zero.
    pub fn single(&self) -> W<'c, C> {
        self.own.at(SINGLE).load_sized(1)
    }
}
