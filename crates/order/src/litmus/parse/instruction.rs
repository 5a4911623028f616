//! The parser of instructions.

use super::{Parser, MOST_EVENTS};
use crate::litmus::instruction::{FlushKind, REGISTERS};
use crate::litmus::{Class, Instruction, LocationId, LocationKind, Operand, Register};
use crate::{Fault, TextPlace};

/// The list of instructions, for the error on an unknown one.
const OPERATIONS: [&str; 21] = [
    "MOV",
    "LDAR",
    "STLR",
    "MOVNTI",
    "XCHG",
    "LOCK XADD",
    "XOR",
    "CMP",
    "JNE",
    "OUT",
    "CLWB",
    "CLFLUSHOPT",
    "CLFLUSH",
    "SETCTX",
    "CFENCE",
    "PERSIST",
    "LSTORE",
    "RSTORE",
    "MSTORE",
    "LFLUSH",
    "RFLUSH",
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
        if let Some(number) = word.strip_prefix("LC").filter(|_| self.text.peek() == Some(':')) {
            self.text.bump();
            return label_of(number, place).map(Instruction::Label);
        }
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
            "XOR" => self.cleared(),
            "CMP" => {
                let register = self.register()?;
                self.expect(",", "and a number")?;
                self.expect("$", "and a number")?;
                Ok(Instruction::Compare(register, self.number()?))
            }
            "JNE" => self.label().map(Instruction::Jump),
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
            "LSTORE" | "RSTORE" | "MSTORE" => {
                let class = named(place, &word)?;
                self.stored(|at, value| Instruction::StoreTo(at, value, class))
            }
            "LFLUSH" | "RFLUSH" => Ok(Instruction::FlushTo(self.bracketed(false)?, named(place, &word)?)),
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
            let (at, index) = self.indexed()?;
            self.expect(",", "and what is stored")?;
            let value = self.operand()?;
            return Ok(match index {
                Some(index) => Instruction::StoreAt(at, index, value),
                None => Instruction::Store(at, value, false),
            });
        }
        let register = self.register()?;
        self.expect(",", "and a location in brackets or a number")?;
        if self.eat("$")? {
            return Ok(Instruction::Set(register, self.number()?));
        }
        Ok(match self.indexed()? {
            (at, Some(index)) => Instruction::LoadAt(register, at, index),
            (at, None) => Instruction::Load(register, at, false),
        })
    }

    /// A register and itself.
    fn cleared(&mut self) -> Result<Instruction, Fault> {
        let register = self.register()?;
        self.expect(",", "and the same register")?;
        self.text.skip_blanks()?;
        let place = self.text.place();
        match self.register()? == register {
            true => Ok(Instruction::Clear(register)),
            false => Err(Fault::new(place, "XOR only clears: name the same register twice")),
        }
    }

    /// The number of a label.
    fn label(&mut self) -> Result<u8, Fault> {
        let place = self.text.place();
        let word = self.word().to_owned();
        label_of(word.strip_prefix("LC").unwrap_or_default(), place)
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
        let id = self.opened(output)?;
        self.expect("]", "after the location")?;
        Ok(id)
    }

    /// A location in memory in brackets, with an index register or without.
    fn indexed(&mut self) -> Result<(LocationId, Option<Register>), Fault> {
        let id = self.opened(false)?;
        let index = match self.eat("+")? {
            true => Some(self.register()?),
            false => None,
        };
        self.expect("]", "after the location")?;
        Ok((id, index))
    }

    fn opened(&mut self, output: bool) -> Result<LocationId, Fault> {
        self.expect("[", "and a location")?;
        self.text.skip_blanks()?;
        let place = self.text.place();
        let id = self.location()?;
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
    pub(super) fn refuse(&mut self, place: TextPlace, instruction: Instruction) -> Result<(), Fault> {
        if let Instruction::Out(at, _) = instruction {
            if self.told.contains(&at) {
                let name = &self.named(at).name;
                let message = format!("output {name} is written a second time: use another output");
                return Err(Fault::new(place, message));
            }
            self.told.push(at);
        }
        if matches!(instruction, Instruction::Store(..) | Instruction::StoreAt(..)) {
            self.store.get_or_insert(place);
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

/// The class of an instruction's name.
fn named(place: TextPlace, word: &str) -> Result<Class, Fault> {
    let class = Class::all().find(|class| class.name() == word);
    class.ok_or_else(|| no_instruction(place, word))
}

/// The number of the label `LC` and these digits.
fn label_of(digits: &str, place: TextPlace) -> Result<u8, Fault> {
    match digits.parse() {
        Ok(number) if digits.len() == 2 => Ok(number),
        _ => Err(Fault::new(place, "expected a label, LC00 to LC99")),
    }
}

fn no_instruction(place: TextPlace, word: &str) -> Fault {
    let alone = Class::all().filter(|class| class.alone().is_some());
    let known: Vec<&str> = OPERATIONS.into_iter().chain(alone.map(|class| class.name())).collect();
    Fault::new(
        place,
        format!("there is no instruction `{word}`; there are {}", known.join(", ")),
    )
}
