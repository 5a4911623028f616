//! The code of a thread.

use super::edge::Form;
use super::shape::{Access, Kind};

const REGISTERS: [&str; 6] = ["EAX", "EBX", "ECX", "EDX", "ESI", "EDI"];
/// The outputs that tell what was loaded.
const EVIDENCE: [&str; 4] = ["p", "q", "r", "s"];

/// What a thread has loaded: where it is, and which value it must be.
#[derive(Clone, Copy)]
struct Loaded {
    register: &'static str,
    value: u8,
}

/// A thread's code as far as it is written.
#[derive(Default)]
pub struct Code {
    lines: Vec<String>,
    registers: usize,
    last: Option<Loaded>,
    untold: Vec<Loaded>,
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

    /// Adds a load that is to read this value.
    pub fn load(&mut self, at: char, value: u8, form: Form) {
        let register = self.register();
        let name = if form == Form::Synchronising { "LDAR" } else { "MOV" };
        self.lines.push(format!("{name} {register},[{at}]"));
        let read = Loaded { register, value };
        self.last = Some(read);
        self.untold.push(read);
    }

    /// Adds a store or an output of this value. It stores what was loaded last where it may depend on that and that is the
    /// same value.
    pub fn store(&mut self, access: Access, value: u8, form: Form, dependent: bool) {
        let name = match (access.kind, form) {
            (Kind::Output, _) => "OUT",
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
        self.lines.push(format!("{name} [{}],{operand}", access.at));
    }

    /// The code, which ends by telling what was loaded and not stored; what is to be told is added to the claims.
    pub fn finish(mut self, claims: &mut Vec<(String, u8)>) -> Vec<String> {
        for (read, output) in self.untold.iter().zip(&EVIDENCE[claims.len()..]) {
            self.lines.push(format!("OUT [{output}],{}", read.register));
            claims.push(((*output).to_owned(), read.value));
        }
        self.lines
    }
}
