//! The code of a thread.

use super::edge::Form;
use super::shape::{Access, Direction};

const REGISTERS: [&str; 6] = ["EAX", "EBX", "ECX", "EDX", "ESI", "EDI"];
/// The outputs that show loaded values.
const EVIDENCE: [&str; 4] = ["p", "q", "r", "s"];

/// A thread's loaded value: its register, and the value that it must have.
#[derive(Clone, Copy)]
struct Loaded {
    register: &'static str,
    value: u8,
}

/// A thread's code so far.
#[derive(Default)]
pub struct Code {
    lines: Vec<String>,
    registers: usize,
    last: Option<Loaded>,
    untold: Vec<Loaded>,
    /// The register that the next access's address depends on.
    index: Option<&'static str>,
    branches: usize,
}

impl Code {
    /// Adds instructions.
    pub fn extend(&mut self, lines: Vec<String>) {
        self.lines.extend(lines);
    }

    fn register(&mut self) -> &'static str {
        self.registers += 1;
        REGISTERS[self.registers - 1]
    }

    /// Adds a load that must read this value.
    pub fn load(&mut self, at: char, value: u8, form: Form) {
        let register = self.register();
        let name = if form == Form::Synchronising { "LDAR" } else { "MOV" };
        let index = self.plus();
        self.lines.push(format!("{name} {register},[{at}{index}]"));
        let read = Loaded { register, value };
        self.last = Some(read);
        self.untold.push(read);
    }

    /// Adds a store or an output of this value. It stores the last loaded register if a dependence is permitted and the
    /// value is equal.
    pub fn store(&mut self, access: Access, value: u8, form: Form, dependent: bool) {
        let name = match (access.direction, form) {
            (Direction::Output, _) => "OUT",
            (_, Form::Plain) => "MOV",
            (_, Form::NonTemporal) => "MOVNTI",
            (_, Form::Locked) => "XCHG",
            (_, Form::Synchronising) => "STLR",
        };
        let operand = match self.last.filter(|read| dependent && read.value == value) {
            Some(read) => {
                self.untold.retain(|other| other.register != read.register);
                read.register.to_owned()
            }
            None if form == Form::Locked => {
                let register = self.register();
                self.lines.insert(0, format!("MOV {register},${value}"));
                register.to_owned()
            }
            None => format!("${value}"),
        };
        let index = self.plus();
        self.lines.push(format!("{name} [{}{index}],{operand}", access.at));
    }

    /// The index register of the next access, if its address depends on one.
    fn plus(&mut self) -> String {
        self.index
            .take()
            .map_or(String::new(), |register| format!("+{register}"))
    }

    /// Makes the next access's address depend on the last loaded value, which an output shows before it is cleared.
    pub fn index(&mut self, claims: &mut Vec<(String, u8)>) {
        let Some(read) = self.last.take() else { return };
        self.untold.retain(|other| other.register != read.register);
        self.tell(read, claims);
        self.lines.push(format!("XOR {0},{0}", read.register));
        self.index = Some(read.register);
    }

    /// Makes what follows depend on the last loaded value through a branch.
    pub fn branch(&mut self) {
        let Some(read) = self.last else { return };
        let label = self.branches;
        self.branches += 1;
        self.lines.push(format!("CMP {},${}", read.register, read.value));
        self.lines
            .extend([format!("JNE LC{label:02}"), format!("LC{label:02}:")]);
    }

    fn tell(&mut self, read: Loaded, claims: &mut Vec<(String, u8)>) {
        let output = EVIDENCE[claims.len()];
        self.lines.push(format!("OUT [{output}],{}", read.register));
        claims.push((output.to_owned(), read.value));
    }

    /// The code. It ends with outputs of loaded values that are not stored; their values are added to the claims.
    pub fn finish(mut self, claims: &mut Vec<(String, u8)>) -> Vec<String> {
        for read in std::mem::take(&mut self.untold) {
            self.tell(read, claims);
        }
        self.lines
    }
}
