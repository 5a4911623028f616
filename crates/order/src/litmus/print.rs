//! A test as text that parses to the same test.

use super::instruction::{FlushKind, Instruction};
use super::test::{LocationId, LocationKind, Test};
use super::Formula;
use std::fmt;

impl Test {
    /// The text of an instruction.
    #[must_use]
    pub fn show(&self, instruction: Instruction) -> String {
        let name = |at: LocationId| &self.location(at).name;
        match instruction {
            Instruction::Load(register, at, false) => format!("MOV {register},[{}]", name(at)),
            Instruction::Load(register, at, true) => format!("LDAR {register},[{}]", name(at)),
            Instruction::Store(at, value, false) => format!("MOV [{}],{value}", name(at)),
            Instruction::Store(at, value, true) => format!("STLR [{}],{value}", name(at)),
            Instruction::StoreNt(at, value) => format!("MOVNTI [{}],{value}", name(at)),
            Instruction::LoadAt(register, at, index) => format!("MOV {register},[{}+{index}]", name(at)),
            Instruction::StoreAt(at, index, value) => format!("MOV [{}+{index}],{value}", name(at)),
            Instruction::Clear(register) => format!("XOR {register},{register}"),
            Instruction::Compare(register, value) => format!("CMP {register},${value}"),
            Instruction::Jump(label) => format!("JNE LC{label:02}"),
            Instruction::Label(label) => format!("LC{label:02}:"),
            Instruction::Set(register, value) => format!("MOV {register},${value}"),
            Instruction::Exchange(at, register) => format!("XCHG [{}],{register}", name(at)),
            Instruction::Add(at, register) => format!("LOCK XADD [{}],{register}", name(at)),
            Instruction::Out(at, value) => format!("OUT [{}],{value}", name(at)),
            Instruction::Flush(at, FlushKind::Clwb) => format!("CLWB [{}]", name(at)),
            Instruction::Flush(at, FlushKind::ClflushOpt) => format!("CLFLUSHOPT [{}]", name(at)),
            Instruction::Flush(at, FlushKind::Clflush) => format!("CLFLUSH [{}]", name(at)),
            Instruction::StoreTo(at, value, class) => format!("{} [{}],{value}", class.name(), name(at)),
            Instruction::FlushTo(at, class) => format!("{} [{}]", class.name(), name(at)),
            Instruction::Persist(at) => format!("PERSIST [{}]", name(at)),
            Instruction::SetContext(context) => format!("SETCTX ${context}"),
            Instruction::ContextFence(context) => format!("CFENCE ${context}"),
            Instruction::Fence(class) => class.name().to_owned(),
        }
    }

    fn show_formula(&self, formula: &Formula, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match formula {
            Formula::True => f.write_str("true"),
            Formula::Is(at, value) => write!(f, "{}={value}", self.location(*at).name),
            Formula::Not(inner) => {
                f.write_str("~")?;
                self.show_part(inner, f)
            }
            Formula::And(a, b) => self.show_both(a, "/\\", b, f),
            Formula::Or(a, b) => self.show_both(a, "\\/", b, f),
        }
    }

    fn show_both(&self, a: &Formula, op: &str, b: &Formula, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show_part(a, f)?;
        write!(f, " {op} ")?;
        self.show_part(b, f)
    }

    fn show_part(&self, formula: &Formula, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match formula {
            Formula::And(..) | Formula::Or(..) => {
                f.write_str("(")?;
                self.show_formula(formula, f)?;
                f.write_str(")")
            }
            _ => self.show_formula(formula, f),
        }
    }

    /// The text of the condition.
    #[must_use]
    pub fn show_condition(&self) -> String {
        struct Shown<'t>(&'t Test);
        impl fmt::Display for Shown<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.show_formula(&self.0.condition.formula, f)
            }
        }
        format!("{} ({})", self.condition.quantifier.word(), Shown(self))
    }

    /// The names of its locations of a kind.
    pub(crate) fn names(&self, kind: LocationKind) -> String {
        let of_kind = self.locations.iter().filter(|at| at.kind == kind);
        of_kind.map(|at| at.name.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The name of a thread, with its host if the test names hosts.
    pub(crate) fn thread_name(&self, thread: usize) -> String {
        match self.hosts.of_threads.get(thread) {
            Some(host) => format!("P{thread}@h{host}"),
            None => format!("P{thread}"),
        }
    }

    /// The names of the hosts that fail.
    fn failing(&self) -> String {
        let names = self.hosts.fail.iter().map(|host| format!("h{host}"));
        names.collect::<Vec<_>>().join(" ")
    }

    /// The owners of locations, by name.
    fn owned(&self) -> String {
        let owned = self
            .ids()
            .filter_map(|id| Some((&self.location(id).name, self.hosts.owner(id)?)));
        let names = owned.map(|(name, host)| format!("{name} h{host}"));
        names.collect::<Vec<_>>().join(", ")
    }

    /// The groups of locations that share a line.
    pub(crate) fn groups(&self) -> String {
        let in_memory = |id: &LocationId| self.location(*id).kind != LocationKind::Output;
        let mut groups: Vec<Vec<&str>> = vec![Vec::new(); self.locations.len()];
        for id in self.ids().filter(in_memory) {
            groups[self.location(id).line].push(&self.location(id).name);
        }
        let shared = groups.iter().filter(|group| group.len() > 1);
        shared.map(|group| group.join(" ")).collect::<Vec<_>>().join(", ")
    }

    fn show_threads(&self) -> String {
        let column = |(index, thread): (usize, &Vec<Instruction>)| {
            let cells = thread.iter().map(|instruction| self.show(*instruction));
            std::iter::once(self.thread_name(index)).chain(cells).collect()
        };
        side_by_side(&self.threads.iter().enumerate().map(column).collect::<Vec<_>>())
    }
}

/// Columns as rows of a test, each with its line feed.
pub(crate) fn side_by_side(columns: &[Vec<String>]) -> String {
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    let row = |row: usize| {
        let cells = columns.iter().map(|column| {
            let width = column.iter().map(String::len).max().unwrap_or(0);
            format!("{:width$}", column.get(row).map_or("", String::as_str))
        });
        format!(" {} ;\n", cells.collect::<Vec<_>>().join(" | "))
    };
    (0..rows).map(row).collect()
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "X86 {}", self.name)?;
        if !self.title.is_empty() {
            writeln!(f, "\"{}\"", self.title)?;
        }
        let keys = [
            ("Line", self.groups()),
            ("Volatile", self.names(LocationKind::Volatile)),
            ("Output", self.names(LocationKind::Output)),
            ("Owner", self.owned()),
            ("Crash", self.failing()),
        ];
        for (key, value) in keys.iter().filter(|(_, value)| !value.is_empty()) {
            writeln!(f, "{key}={value}")?;
        }
        let in_memory = self.locations.iter().filter(|at| at.kind != LocationKind::Output);
        let initial: String = in_memory.map(|at| format!(" {}={};", at.name, at.initial)).collect();
        writeln!(f, "{{{initial} }}")?;
        f.write_str(&self.show_threads())?;
        writeln!(f, "{}", self.show_condition())
    }
}
