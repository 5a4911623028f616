//! A test in herd7's syntax for `X86_64`.
//!
//! herd7 knows `clflush` and `clflushopt` as events, and no `clwb`. It has no crash and no persistency model, so the
//! condition of a test cannot be stated. The file says so, and shows all final states.

use super::{loaded, translated, Refusal};
use crate::litmus::{side_by_side, Class, FlushKind, Instruction, LocationId, LocationKind, Operand, Register, Test};
use std::collections::BTreeSet;
use strandline_isa::Primitive;

/// A register that no test names.
const SPARE: &str = "%ebp";

/// The text of a test.
///
/// # Errors
/// An instruction that herd7 lacks.
pub(super) fn text(test: &Test, name: &str) -> Result<String, Refusal> {
    let threads = translated(test, "herd7", |instruction| lines(test, instruction))?;
    let columns = threads.into_iter().enumerate();
    let columns: Vec<Vec<String>> = columns
        .map(|(index, lines)| std::iter::once(format!("P{index}")).chain(lines).collect())
        .collect();
    let in_memory = test.locations.iter().filter(|at| at.kind != LocationKind::Output);
    let initial: String = in_memory
        .map(|at| format!(" {}={};", place(&at.name), at.initial))
        .collect();
    Ok(format!(
        "X86_64 {}\n(* {} *)\n{{{initial} }}\n{}\nlocations [{}]\nforall (true)\n",
        title(name),
        comment(&about(test).join("\n   ")),
        side_by_side(&columns),
        final_state(test),
    ))
}

/// A name as herd7 reads it as a location: some names of several letters are registers or instructions there.
fn place(name: &str) -> String {
    match name.len() {
        1 => name.to_owned(),
        _ => format!("{name}_"),
    }
}

/// A name of a test as herd7's first line may have it.
fn title(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_/.-+[]".contains(c);
    name.chars().map(|c| if fits(c) { c } else { '_' }).collect()
}

/// Text that neither ends a comment nor has a brace, where herd7 would begin to read the initial values.
fn comment(text: &str) -> String {
    let text = text.replace("(*", "( *").replace("*)", "* )");
    text.replace('{', "(").replace('}', ")")
}

/// What the reader of the file must know, in lines.
fn about(test: &Test) -> Vec<String> {
    let named = |heading: &str, names: String| format!("{heading}: {names}.");
    let of_kind = |heading: &str, kind| named(heading, test.names(kind));
    let has = |kind| test.locations.iter().any(|at| at.kind == kind);
    let writes_back = |instruction: &Instruction| matches!(instruction, Instruction::Flush(_, FlushKind::Clwb));
    let lines = [
        (!test.title.is_empty(), test.title.clone()),
        (
            true,
            "herd7 has no crash: it shows the states after all instructions.".to_owned(),
        ),
        (
            true,
            format!("What a crash may leave cannot be asked here: {}", test.show_condition()),
        ),
        (
            has(LocationKind::Persistent),
            of_kind("In persistent memory", LocationKind::Persistent),
        ),
        (has(LocationKind::Volatile), of_kind("In DRAM", LocationKind::Volatile)),
        (
            has(LocationKind::Output),
            of_kind("Outputs, written as stores here", LocationKind::Output),
        ),
        (
            !test.groups().is_empty(),
            named("In one cache line, of which herd7 knows nothing", test.groups()),
        ),
        (
            test.threads.iter().flatten().any(writes_back),
            "herd7 has no clwb: it is written as clflushopt, which x86 orders alike.".to_owned(),
        ),
        (
            test.locations.iter().any(|at| at.name.len() > 1),
            "Names of several letters have a `_` more here than in the test.".to_owned(),
        ),
    ];
    let applying = lines.into_iter().filter(|(applies, _)| *applies);
    applying.map(|(_, line)| line).collect()
}

/// An instruction, in AT&T's order of operands; `None` if herd7 lacks it.
fn lines(test: &Test, instruction: Instruction) -> Option<Vec<String>> {
    let at = |id: LocationId| format!("({})", place(&test.location(id).name));
    let of = |register: Register| format!("%{}", name(register, 32));
    let operand = |value: Operand| match value {
        Operand::Number(number) => format!("${number}"),
        Operand::Register(register) => of(register),
    };
    Some(vec![match instruction {
        Instruction::Load(register, from, false) => format!("movl {},{}", at(from), of(register)),
        Instruction::Store(to, value, false) | Instruction::Out(to, value) => {
            format!("movl {},{}", operand(value), at(to))
        }
        Instruction::StoreNt(to, Operand::Register(register)) => format!("movntil {},{}", of(register), at(to)),
        Instruction::StoreNt(to, Operand::Number(number)) => {
            return Some(vec![
                format!("movl ${number},{SPARE}"),
                format!("movntil {SPARE},{}", at(to)),
            ]);
        }
        Instruction::Set(register, number) => format!("movl ${number},{}", of(register)),
        Instruction::Clear(register) => format!("xorl {},{}", of(register), of(register)),
        Instruction::Compare(register, number) => format!("cmpl ${number},{}", of(register)),
        Instruction::Jump(label) => format!("jne LC{label:02}"),
        Instruction::Label(label) => format!("LC{label:02}:"),
        Instruction::Exchange(with, register) => format!("xchgl {},{}", of(register), at(with)),
        Instruction::Flush(line, FlushKind::Clflush) => format!("clflush {}", at(line)),
        Instruction::Flush(line, FlushKind::Clwb | FlushKind::ClflushOpt) => format!("clflushopt {}", at(line)),
        Instruction::Fence(Class::Primitive(Primitive::Sfence)) => "sfence".to_owned(),
        Instruction::Fence(Class::Primitive(Primitive::Mfence)) => "mfence".to_owned(),
        Instruction::Load(_, _, true)
        | Instruction::Store(_, _, true)
        | Instruction::LoadAt(..)
        | Instruction::StoreAt(..)
        | Instruction::Add(..)
        | Instruction::StoreTo(..)
        | Instruction::FlushTo(..)
        | Instruction::Persist(_)
        | Instruction::SetContext(_)
        | Instruction::ContextFence(_)
        | Instruction::Fence(_) => return None,
    }])
}

/// The name of a register, of 32 or 64 bits.
fn name(register: Register, bits: u8) -> String {
    let name = register.to_string().to_lowercase();
    match (name.strip_prefix('e'), bits) {
        (Some(rest), 64) => format!("r{rest}"),
        (None, 32) => format!("{name}d"),
        _ => name,
    }
}

/// What herd7 is to show: all locations, and the registers that were loaded.
fn final_state(test: &Test) -> String {
    let places = test.locations.iter().map(|at| place(&at.name));
    let registers = test.threads.iter().enumerate().flat_map(|(index, thread)| {
        let loaded: BTreeSet<Register> = thread.iter().copied().filter_map(loaded).collect();
        let named = loaded
            .into_iter()
            .map(|register| format!("{index}:{}", name(register, 64)));
        named.collect::<Vec<_>>()
    });
    let shown = places.chain(registers).map(|shown| format!("{shown};"));
    shown.collect::<Vec<_>>().join(" ")
}
