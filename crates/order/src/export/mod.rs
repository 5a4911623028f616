//! Tests for other simulators: as herd7 reads them, and as programs in C.

mod c;
mod herd;

use crate::litmus::{Instruction, Operand, Register, Test};
use std::collections::BTreeSet;
use std::fmt;

/// For whom a test is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// herd7, in its syntax for `X86_64`.
    Herd,
    /// A program in C for another simulator of x86 machines.
    C,
}

/// The first instruction of a test that cannot be written so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// As the test has it.
    pub instruction: String,
    /// Its mnemonic, for a list of what many tests have.
    pub mnemonic: String,
    /// What lacks it.
    pub lacking: &'static str,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has no `{}`", self.lacking, self.instruction)
    }
}

/// The test in this form, as text. `name` is what results call the test.
///
/// # Errors
/// An instruction that x86 or herd7 lacks, or hosts.
pub fn export(test: &Test, name: &str, form: Form) -> Result<String, Refusal> {
    if test.hosts.are_named() {
        return Err(Refusal {
            instruction: test.thread_name(0),
            mnemonic: "threads on hosts".to_owned(),
            lacking: if form == Form::Herd { "herd7" } else { "a program" },
        });
    }
    match form {
        Form::Herd => herd::text(test, name),
        Form::C => c::text(test, name),
    }
}

/// The lines of each thread, by a translation that knows only some instructions.
fn translated(
    test: &Test,
    lacking: &'static str,
    lines: impl Fn(Instruction) -> Option<Vec<String>>,
) -> Result<Vec<Vec<String>>, Refusal> {
    let of = |instruction: &Instruction| {
        lines(*instruction).ok_or_else(|| {
            let shown = test.show(*instruction);
            Refusal {
                mnemonic: mnemonic(*instruction, &shown).to_owned(),
                instruction: shown,
                lacking,
            }
        })
    };
    let thread = |thread: &Vec<Instruction>| Ok(thread.iter().map(of).collect::<Result<Vec<_>, _>>()?.concat());
    test.threads.iter().map(thread).collect()
}

fn mnemonic(instruction: Instruction, shown: &str) -> &str {
    match instruction {
        Instruction::Add(..) => "LOCK XADD",
        Instruction::LoadAt(..) | Instruction::StoreAt(..) => "MOV with an index",
        _ => shown.split(' ').next().unwrap_or_default(),
    }
}

/// The registers that an instruction loads from memory.
fn loaded(instruction: Instruction) -> Option<Register> {
    match instruction {
        Instruction::Load(register, ..)
        | Instruction::LoadAt(register, ..)
        | Instruction::Exchange(_, register)
        | Instruction::Add(_, register) => Some(register),
        _ => None,
    }
}

/// All registers that a thread names.
fn registers(thread: &[Instruction]) -> BTreeSet<Register> {
    thread
        .iter()
        .flat_map(|instruction| named(*instruction))
        .flatten()
        .collect()
}

fn named(instruction: Instruction) -> [Option<Register>; 2] {
    let of = |value: Operand| match value {
        Operand::Register(register) => Some(register),
        Operand::Number(_) => None,
    };
    match instruction {
        Instruction::Load(register, ..)
        | Instruction::Set(register, _)
        | Instruction::Clear(register)
        | Instruction::Compare(register, _)
        | Instruction::Exchange(_, register)
        | Instruction::Add(_, register) => [Some(register), None],
        Instruction::LoadAt(register, _, index) => [Some(register), Some(index)],
        Instruction::StoreAt(_, index, value) => [Some(index), of(value)],
        Instruction::Store(_, value, _) | Instruction::StoreNt(_, value) | Instruction::Out(_, value) => {
            [of(value), None]
        }
        Instruction::StoreTo(_, value, _) => [of(value), None],
        Instruction::Jump(_)
        | Instruction::Label(_)
        | Instruction::Flush(..)
        | Instruction::FlushTo(..)
        | Instruction::Persist(_)
        | Instruction::SetContext(_)
        | Instruction::ContextFence(_)
        | Instruction::Fence(_) => [None, None],
    }
}
