//! A case in words, so that a report stands alone: the machine, the design's settings, and what the threads do beside
//! the test's instructions.

use super::observe::{Case, Observed};
use super::program::Beside;
use strandline_isa::{Addr, Code, Line, Note};
use strandline_machine::MachineConfig;
use strandline_order::litmus::LocationKind;
use strandline_order::Test;

/// Columns of a line of settings.
const COLUMNS: usize = 100;

impl Case {
    /// What decides the run beside the test's instructions, by lines.
    pub fn describe(&self, test: &Test) -> Vec<String> {
        let settings = settings(&self.machine);
        let sets = self.sets.iter().map(|(key, value)| format!("design.{key}={value}"));
        let mut lines = folded("with", settings.into_iter().chain(sets));
        let places = test.ids().filter(|id| test.location(*id).kind != LocationKind::Output);
        let places = places.map(|id| format!("{} at {}", test.location(id).name, self.layout.address(id)));
        let traffic = self.traffic().into_iter().enumerate();
        let traffic = traffic.map(|(number, addr)| format!("t{number} at {addr}"));
        lines.extend(folded("placed", places.chain(traffic)));
        if self.is_warm {
            lines.push("the lines of the test start in the LLC".to_owned());
        }
        if self.code == Code::Plain {
            lines.push("the threads keep their values on a stack".to_owned());
        }
        for (number, thread) in self.threads.iter().enumerate() {
            lines.extend(self.beside(test, number, &thread.beside));
        }
        lines
    }

    /// What a thread does beside its instructions.
    fn beside(&self, test: &Test, thread: usize, beside: &Beside) -> Vec<String> {
        let names =
            |lines: &[Addr]| -> Vec<String> { lines.iter().map(|addr| self.line_name(test, addr.line())).collect() };
        let mut lines = Vec::new();
        if !beside.traffic.is_empty() {
            let stored = names(&beside.traffic).join(", ");
            lines.push(format!("P{thread} first stores 1 to each of {stored}, and flushes it"));
        }
        if beside.delays.iter().any(|divisions| *divisions > 0) {
            let delays: Vec<String> = beside.delays.iter().map(u64::to_string).collect();
            let delays = delays.join(" ");
            lines.push(format!(
                "P{thread} delays {} by divisions before each instruction: {delays}",
                beside.delayed
            ));
        }
        if let Some(moves) = beside.moves {
            let (after, to) = (moves.after, moves.to.0);
            lines.push(format!(
                "P{thread} moves to core {to} behind its first {after} instructions"
            ));
        }
        if !beside.written_back.is_empty() {
            let flushed = names(&beside.written_back).join(", ");
            lines.push(format!("P{thread} at its end flushes {flushed}"));
        }
        lines
    }

    /// The unused lines that threads write, in order.
    fn traffic(&self) -> Vec<Addr> {
        let mut lines: Vec<Addr> = self
            .threads
            .iter()
            .flat_map(|thread| thread.beside.traffic.clone())
            .collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// The name of an address: a location's, an unused line's, or the address itself.
    pub fn name(&self, test: &Test, addr: Addr) -> String {
        let here = test.ids().find(|id| self.layout.address(*id) == addr);
        here.map_or_else(
            || self.line_name(test, addr.line()),
            |id| test.location(id).name.clone(),
        )
    }

    /// The names of the locations in a line, or of the unused line, or its address.
    fn line_name(&self, test: &Test, line: Line) -> String {
        let here = |id: &_| test.location(*id).kind != LocationKind::Output && self.layout.address(*id).line() == line;
        let names: Vec<&str> = test
            .ids()
            .filter(here)
            .map(|id| test.location(id).name.as_str())
            .collect();
        if !names.is_empty() {
            return names.join(", ");
        }
        match self.traffic().iter().position(|addr| addr.line() == line) {
            Some(number) => format!("t{number}"),
            None => line.addr().to_string(),
        }
    }
}

impl Observed<'_> {
    /// The run as text, up to a number of durable events, for a report of a violation.
    pub fn describe(&self, test: &Test, until: usize) -> Vec<String> {
        let durable = self.journal.durable[..until].iter().enumerate();
        let durable = durable.map(|(index, durable)| {
            format!(
                "event {}, cycle {}: line of {} holds {:?}",
                index + 1,
                durable.at,
                self.case.line_name(test, durable.line),
                durable.data
            )
        });
        let outputs = self
            .journal
            .notes
            .iter()
            .flatten()
            .filter_map(|noted| match noted.note {
                Note::Output { location, value } => {
                    let name = &test.locations[location as usize].name;
                    Some(format!("cycle {}: {name} outputs {value}", noted.at))
                }
                _ => None,
            });
        let mut lines = self.case.describe(test);
        lines.extend(durable);
        lines.extend(outputs);
        lines
    }
}

/// The parameters in which a machine differs from its preset.
fn settings(machine: &MachineConfig) -> Vec<String> {
    let preset = MachineConfig::preset(&machine.name)
        .map(|preset| preset.describe())
        .unwrap_or_default();
    let usual = |key: &str| {
        preset
            .iter()
            .find(|info| info.key == key)
            .map(|info| info.value.clone())
    };
    let own = machine.describe().into_iter();
    let differing = own.filter(|info| usual(info.key).as_ref() != Some(&info.value));
    differing
        .map(|info| format!("machine.{}={}", info.key, info.value))
        .collect()
}

/// Words behind a first one, on lines of at most [`COLUMNS`] columns.
fn folded(first: &str, words: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.len() + 2 + word.len() <= COLUMNS => {
                line.push_str(", ");
                line.push_str(&word);
            }
            _ => lines.push(format!("{first} {word}")),
        }
    }
    lines
}
