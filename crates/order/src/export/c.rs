//! A test as a program in C, which another simulator of x86 machines runs.
//!
//! The program runs copies of the test, each in lines of its own. So one dump of the memory has one state of each copy.

use super::{loaded, registers, translated, Refusal};
use crate::litmus::{Class, FlushKind, Instruction, Location, LocationId, LocationKind, Operand, Register, Test};
use std::collections::BTreeSet;
use strandline_isa::Primitive;

/// What a test's instructions are in C.
const INSTRUCTIONS: &str = include_str!("instructions.c");

/// What every program does with its test.
const PROGRAM: &str = include_str!("program.c");

/// How a program is used.
const USE: &str = "
   gcc -O2 -Wall -Werror -pthread FILE.c -o FILE
   ./FILE POOL [ITERATIONS [DELAY [SEED]]]   runs the test that often; DELAY is in nops, drawn anew each time
   ./FILE --prepare POOL [ITERATIONS]        only writes how memory starts, for a simulator that loads POOL
   ./FILE --read DUMP [CONSOLE]              prints the states in a pool file or a dump of the memory

   POOL is a file or device in persistent memory. Cut the power at any time after `# begin`, dump the persistent memory,
   and read it. CONSOLE is what the run printed. -DHOOKS='\"FILE.h\"' includes a file that may define AT_BEGIN() and
   AT_END(). -DPOOL_AT=ADDRESS maps the pool there. -DTRUST_CPU does not ask CPUID for clwb and clflushopt;
   -DONLY_CLFLUSH executes clflush instead.";

/// The program of a test.
///
/// # Errors
/// An instruction that x86 lacks.
pub(super) fn text(test: &Test, name: &str) -> Result<String, Refusal> {
    let program = Program { test };
    let threads = translated(test, "x86", |instruction| program.lines(instruction))?;
    let bodies = threads
        .iter()
        .enumerate()
        .map(|(index, lines)| program.column(index, lines));
    let head = format!("The litmus test {name}, written by strandline.\n\n{test}{USE}");
    Ok(format!(
        "/* {} */\n{INSTRUCTIONS}\n{}{}\n{}{PROGRAM}",
        comment(&head),
        program.declared(name),
        bodies.collect::<String>(),
        program.columns(),
    ))
}

/// Text that neither ends a comment nor makes gcc warn of one.
fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")
}

/// Text as a string of C; a question mark could begin a trigraph.
fn string(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' | '?' => format!("\\{c}"),
        c if c.is_control() => c.to_string().bytes().map(|byte| format!("\\{byte:03o}")).collect(),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// Text as a string of JSON.
fn json(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if (c as u32) < 0x20 => format!("\\u{:04x}", c as u32),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// The program of a test.
struct Program<'t> {
    test: &'t Test,
}

impl Program<'_> {
    /// The lines of a memory: the number of each, by what the test calls it.
    fn lines_of(&self, kind: LocationKind) -> BTreeSet<usize> {
        let of_kind = self.test.locations.iter().filter(|at| at.kind == kind);
        of_kind.map(|at| at.line).collect()
    }

    /// The line of a location in its memory, and its word there.
    fn place(&self, location: &Location) -> (usize, usize) {
        let before = |line: &&usize| **line < location.line;
        let line = self.lines_of(location.kind).iter().filter(before).count();
        let same = |other: &&Location| (other.kind, other.line) == (location.kind, location.line);
        let same_line = self.test.locations.iter().filter(same);
        let word = same_line.take_while(|other| *other != location).count();
        (line, word)
    }

    /// A location in C.
    fn at(&self, id: LocationId) -> String {
        let location = self.test.location(id);
        let (line, word) = self.place(location);
        let memory = match location.kind {
            LocationKind::Persistent => "pm",
            LocationKind::Volatile => "dram",
            LocationKind::Output => return string(&location.name),
        };
        format!("{memory}[{line}].word[{word}]")
    }

    /// A statement for an instruction; `None` if x86 lacks it.
    fn lines(&self, instruction: Instruction) -> Option<Vec<String>> {
        let at = |id| self.at(id);
        let statement = match instruction {
            Instruction::Load(register, from, false) => format!("LOAD({}, {})", name(register), at(from)),
            Instruction::LoadAt(register, from, index) => {
                format!("LOAD_AT({}, {}, {})", name(register), at(from), name(index))
            }
            Instruction::Store(to, value, false) => format!("STORE({}, {})", at(to), operand(value)),
            Instruction::StoreAt(to, index, value) => {
                format!("STORE_AT({}, {}, {})", at(to), name(index), operand(value))
            }
            Instruction::StoreNt(to, value) => format!("STORE_NT({}, {})", at(to), operand(value)),
            Instruction::Set(register, number) => format!("{} = {number}", name(register)),
            Instruction::Clear(register) => format!("CLEAR({})", name(register)),
            Instruction::Compare(register, number) => format!("differs = {} != {number}", name(register)),
            Instruction::Jump(_) => "JUMP(differs)".to_owned(),
            Instruction::Label(_) => return Some(Vec::new()),
            Instruction::Exchange(with, register) => format!("XCHG({}, {})", at(with), name(register)),
            Instruction::Add(to, register) => format!("XADD({}, {})", at(to), name(register)),
            Instruction::Out(to, value) => format!("OUT({}, {})", at(to), operand(value)),
            Instruction::Flush(line, FlushKind::Clwb) => format!("CLWB({})", at(line)),
            Instruction::Flush(line, FlushKind::ClflushOpt) => format!("CLFLUSHOPT({})", at(line)),
            Instruction::Flush(line, FlushKind::Clflush) => format!("CLFLUSH({})", at(line)),
            Instruction::Fence(Class::Primitive(Primitive::Sfence)) => "SFENCE()".to_owned(),
            Instruction::Fence(Class::Primitive(Primitive::Mfence)) => "MFENCE()".to_owned(),
            Instruction::Load(_, _, true)
            | Instruction::Store(_, _, true)
            | Instruction::StoreTo(..)
            | Instruction::FlushTo(..)
            | Instruction::Persist(_)
            | Instruction::SetContext(_)
            | Instruction::ContextFence(_)
            | Instruction::Fence(_) => return None,
        };
        Some(vec![format!(
            "    {statement}; /* {} */\n",
            self.test.show(instruction)
        )])
    }

    /// The loaded registers of all threads: the thread, and the register.
    fn seen(&self) -> Vec<(usize, Register)> {
        let of = |(index, thread): (usize, &Vec<Instruction>)| {
            let loaded: BTreeSet<Register> = thread.iter().copied().filter_map(loaded).collect();
            loaded.into_iter().map(|register| (index, register)).collect::<Vec<_>>()
        };
        self.test.threads.iter().enumerate().flat_map(of).collect()
    }

    /// The names and numbers of the test.
    fn declared(&self, test_name: &str) -> String {
        let uses = |kind| {
            let mut all = self.test.threads.iter().flatten();
            usize::from(all.any(|instruction| matches!(instruction, Instruction::Flush(_, flush) if *flush == kind)))
        };
        let numbers = [
            ("PM_LINES", self.lines_of(LocationKind::Persistent).len()),
            ("DRAM_LINES", self.lines_of(LocationKind::Volatile).len()),
            ("PLACE_COUNT", self.test.locations.len()),
            ("COLUMN_COUNT", self.test.threads.len()),
            ("SEEN_COUNT", self.seen().len()),
            ("USES_CLWB", uses(FlushKind::Clwb)),
            ("USES_CLFLUSHOPT", uses(FlushKind::ClflushOpt)),
        ];
        let numbers: String = numbers
            .iter()
            .map(|(name, number)| format!("#define {name} {number}\n"))
            .collect();
        let seen = self.seen().into_iter();
        let seen: String = seen
            .map(|(index, register)| format!("\"{index}:{register}\", "))
            .collect();
        format!(
            "#define NAME {}\n#define TEST {}\n{numbers}\nstatic const struct place PLACES[] = {{\n{}    {{NULL, DRAM, 0, 0, 0}},\n}};\n\
             \nstatic const char *const SEEN[] = {{{seen}NULL}};\n",
            string(test_name),
            string(&json(test_name)),
            self.places(),
        )
    }

    fn places(&self) -> String {
        let row = |location: &Location| {
            let (line, word) = self.place(location);
            let memory = match location.kind {
                LocationKind::Persistent => "PM",
                LocationKind::Volatile => "DRAM",
                LocationKind::Output => "OUTPUT",
            };
            format!(
                "    {{\"{}\", {memory}, {line}, {word}, {}}},\n",
                location.name, location.initial
            )
        };
        self.test.locations.iter().map(row).collect()
    }

    /// A thread as a function.
    fn column(&self, index: usize, lines: &[String]) -> String {
        let thread = &self.test.threads[index];
        let named = registers(thread);
        let compares = thread
            .iter()
            .any(|instruction| matches!(instruction, Instruction::Compare(..) | Instruction::Jump(_)));
        let declared = named
            .iter()
            .map(|register| name(*register))
            .chain(compares.then(|| "differs".to_owned()));
        let declared: String = declared
            .map(|name| format!("    uint64_t {name} = 0;\n    (void){name};\n"))
            .collect();
        let kept = self
            .seen()
            .into_iter()
            .enumerate()
            .filter(|(_, (thread, _))| *thread == index);
        let kept: String = kept
            .map(|(place, (_, register))| format!("    seen[{place}] = {};\n", name(register)))
            .collect();
        format!(
            "\nstatic void column_{index}(uint64_t copy, struct line *pm, struct line *dram, uint64_t *seen) {{\n{declared}{}{kept}}}\n",
            lines.concat()
        )
    }

    fn columns(&self) -> String {
        let names: Vec<String> = (0..self.test.threads.len())
            .map(|index| format!("column_{index}"))
            .collect();
        format!("static column *const COLUMNS[] = {{{}}};\n", names.join(", "))
    }
}

fn name(register: Register) -> String {
    register.to_string().to_lowercase()
}

fn operand(value: Operand) -> String {
    match value {
        Operand::Number(number) => number.to_string(),
        Operand::Register(register) => name(register),
    }
}
