//! The parser of instructions.

use super::{Parser, MOST_EVENTS};
use crate::litmus::instruction::{FlushKind, REGISTERS};
use crate::litmus::{Class, Instruction, LocationId, LocationKind, Operand, Register};
use crate::{Fault, Place};

/// The list of instructions, for the error on an unknown one.
const OPERATIONS: [&str; 13] = [
    "MOV",
    "LDAR",
    "STLR",
    "MOVNTI",
    "XCHG",
    "LOCK XADD",
    "OUT",
    "CLWB",
    "CLFLUSHOPT",
    "CLFLUSH",
    "SETCTX",
    "CFENCE",
    "PERSIST",
];

impl Parser<'_> {
    fn word(&mut self) -> &str {
        self.text.take_while(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
    }

    pub(super) fn instruction(&mut self) -> Result<Instruction, Fault> {
        let place = self.text.place();
        let word = self.word().to_owned();
        if word.is_empty() {
            let message = match self.text.peek() {
                None => "expected an instruction or `exists`, `~exists`, `forall`; the text ends here".to_owned(),
                Some(found) => format!(
                    "expected an instruction in capital letters or `exists`, `~exists`, `forall`, found `{found}`"
                ),
            };
            return Err(Fault::new(place, message));
        }
        self.text.skip_blanks()?;
        let flush = |kind| move |at| Instruction::Flush(at, kind);
        match word.as_str() {
            "MOV" => self.mov(),
            "LDAR" => {
                let register = self.register()?;
                self.expect(",", "and a location in brackets")?;
                Ok(Instruction::Load(register, self.bracketed(false)?, true))
            }
            "STLR" => self.stored(|at, value| Instruction::Store(at, value, true)),
            "MOVNTI" => self.stored(Instruction::StoreNt),
            "XCHG" => self.locked(Instruction::Exchange),
            "LOCK" if self.word() == "XADD" => self.locked(Instruction::Add),
            "OUT" => {
                let at = self.bracketed(true)?;
                self.expect(",", "and a value")?;
                Ok(Instruction::Out(at, self.operand()?))
            }
            "CLWB" => self.bracketed(false).map(flush(FlushKind::Clwb)),
            "CLFLUSHOPT" => self.bracketed(false).map(flush(FlushKind::ClflushOpt)),
            "CLFLUSH" => self.bracketed(false).map(flush(FlushKind::Clflush)),
            "PERSIST" => self.bracketed(false).map(Instruction::Persist),
            "SETCTX" => self.context().map(Instruction::SetContext),
            "CFENCE" => self.context().map(Instruction::ContextFence),
            _ => match Class::all().find(|class| class.alone().is_some() && class.name() == word) {
                Some(class) => Ok(Instruction::Fence(class)),
                None => Err(no_instruction(place, &word)),
            },
        }
    }

    fn context(&mut self) -> Result<u8, Fault> {
        self.expect("$", "and the context")?;
        self.number()
    }

    fn mov(&mut self) -> Result<Instruction, Fault> {
        if self.text.peek() == Some('[') {
            return self.stored(|at, value| Instruction::Store(at, value, false));
        }
        let register = self.register()?;
        self.expect(",", "and a location in brackets or a number")?;
        if self.eat("$")? {
            return Ok(Instruction::Set(register, self.number()?));
        }
        Ok(Instruction::Load(register, self.bracketed(false)?, false))
    }

    fn stored(&mut self, store: impl Fn(LocationId, Operand) -> Instruction) -> Result<Instruction, Fault> {
        let at = self.bracketed(false)?;
        self.expect(",", "and what is stored")?;
        Ok(store(at, self.operand()?))
    }

    fn locked(&mut self, locked: impl Fn(LocationId, Register) -> Instruction) -> Result<Instruction, Fault> {
        let at = self.bracketed(false)?;
        self.expect(",", "and a register")?;
        Ok(locked(at, self.register()?))
    }

    /// A location in brackets: an output, or one in memory.
    fn bracketed(&mut self, output: bool) -> Result<LocationId, Fault> {
        self.expect("[", "and a location")?;
        let place = self.text.place();
        let id = self.location()?;
        self.expect("]", "after the location")?;
        let named = self.named(id);
        match (named.kind == LocationKind::Output, output) {
            (true, false) => Err(Fault::new(
                place,
                format!("{} is an output: only OUT writes it", named.name),
            )),
            (false, true) => Err(Fault::new(
                place,
                format!("{} is no output: name it in `Output=`", named.name),
            )),
            _ => Ok(id),
        }
    }

    fn register(&mut self) -> Result<Register, Fault> {
        self.text.skip_blanks()?;
        let place = self.text.place();
        let word = self.word().to_owned();
        match REGISTERS.iter().position(|name| *name == word) {
            Some(index) => Ok(Register(index as u8)),
            None => Err(Fault::new(
                place,
                format!("expected a register: {}", REGISTERS.join(", ")),
            )),
        }
    }

    fn operand(&mut self) -> Result<Operand, Fault> {
        match self.eat("$")? {
            true => self.number().map(Operand::Number),
            false => {
                let place = self.text.place();
                let register = self.register().map(Operand::Register);
                register.map_err(|_| Fault::new(place, "expected `$` and a number, or a register"))
            }
        }
    }

    /// Refuses an instruction beyond the limit.
    pub(super) fn refuse(&mut self, place: Place, instruction: Instruction) -> Result<(), Fault> {
        if let Instruction::Out(at, _) = instruction {
            if self.told.contains(&at) {
                let name = &self.named(at).name;
                let message = format!("output {name} is written a second time: use another output");
                return Err(Fault::new(place, message));
            }
            self.told.push(at);
        }
        self.events += instruction.events();
        let initial = self.locations.iter().filter(|at| at.kind != LocationKind::Output);
        match self.events + initial.count() <= MOST_EVENTS {
            true => Ok(()),
            false => {
                let message =
                    format!("more than {MOST_EVENTS} events, initial writes among them: use fewer instructions");
                Err(Fault::new(place, message))
            }
        }
    }
}

fn no_instruction(place: Place, word: &str) -> Fault {
    let alone = Class::all().filter(|class| class.alone().is_some());
    let known: Vec<&str> = OPERATIONS.into_iter().chain(alone.map(|class| class.name())).collect();
    Fault::new(
        place,
        format!("there is no instruction `{word}`; there are {}", known.join(", ")),
    )
}
