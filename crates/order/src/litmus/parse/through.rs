//! What a thread's dependences need: an index register holds 0, and a jump leads to the next instruction.

use crate::litmus::{Instruction, Register};
use crate::{Fault, TextPlace};
use std::collections::BTreeSet;

/// What is known of a thread so far.
#[derive(Default)]
pub(super) struct Through {
    /// The registers that may hold something else than 0.
    used: BTreeSet<Register>,
    /// The label that must come next, and where it is jumped to.
    awaited: Option<(u8, TextPlace)>,
    labels: BTreeSet<u8>,
}

impl Through {
    /// The next instruction of the thread.
    ///
    /// # Errors
    /// It reads or writes elsewhere, or jumps over something.
    pub(super) fn take(&mut self, place: TextPlace, instruction: Instruction) -> Result<(), Fault> {
        match (self.awaited.take(), instruction) {
            (Some((label, _)), Instruction::Label(here)) if here == label => {}
            (Some((label, place)), _) => return Err(not_next(label, place)),
            (None, Instruction::Label(label)) => {
                let message = format!("nothing jumps to LC{label:02}: put `JNE LC{label:02}` before it");
                return Err(Fault::new(place, message));
            }
            (None, _) => {}
        }
        match instruction {
            Instruction::LoadAt(_, _, index) | Instruction::StoreAt(_, index, _) if self.used.contains(&index) => {
                let message = format!("{index} may hold more than 0: clear it with `XOR {index},{index}` before");
                return Err(Fault::new(place, message));
            }
            Instruction::Jump(label) if !self.labels.insert(label) => {
                let message = format!("this thread has LC{label:02} already: use another label");
                return Err(Fault::new(place, message));
            }
            Instruction::Jump(label) => self.awaited = Some((label, place)),
            _ => {}
        }
        self.note(instruction);
        Ok(())
    }

    /// Notes which registers may hold something else than 0.
    fn note(&mut self, instruction: Instruction) {
        match instruction {
            Instruction::Clear(register) | Instruction::Set(register, 0) => {
                self.used.remove(&register);
            }
            Instruction::Set(register, _)
            | Instruction::Load(register, ..)
            | Instruction::LoadAt(register, ..)
            | Instruction::Exchange(_, register)
            | Instruction::Add(_, register) => {
                self.used.insert(register);
            }
            _ => {}
        }
    }

    /// The thread ends here.
    ///
    /// # Errors
    /// A jump leads nowhere.
    pub(super) fn finish(&self) -> Result<(), Fault> {
        match self.awaited {
            Some((label, place)) => Err(not_next(label, place)),
            None => Ok(()),
        }
    }
}

fn not_next(label: u8, place: TextPlace) -> Fault {
    let message = format!("a jump leads to the next instruction: put `LC{label:02}:` below it");
    Fault::new(place, message)
}
