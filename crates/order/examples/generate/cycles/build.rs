//! A test's text, from a shape and its edges.

use super::code::Code;
use super::edge::{Edge, Form, Needs};
use super::shape::{Access, Direction, Link, Shape};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The initial value of a location whose initial value a load must be known to have read: a state shows 0 for an absent
/// output.
const UNTOUCHED: u8 = 3;

/// The memory of a test's locations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Whether threads communicate through DRAM.
    pub dram: bool,
    /// Two locations in one line.
    pub line: Option<(char, char)>,
}

/// What fails where threads take turns on two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// Power, everywhere.
    Power,
    /// The host of the first thread.
    First,
    /// The other host.
    Second,
}

impl Crash {
    /// Its part of a test's name.
    pub fn name(self) -> &'static str {
        match self {
            Crash::Power => "power",
            Crash::First => "h0",
            Crash::Second => "h1",
        }
    }
}

/// The parameters of a test.
pub struct TestPlan<'p> {
    /// Its accesses.
    pub shape: &'p Shape,
    /// An edge for each of [`Shape::steps`].
    pub edges: &'p [Edge],
    /// Where its locations are.
    pub placement: &'p Placement,
    /// Whether accesses to locations of several threads are acquires and releases.
    pub synchronised: bool,
    /// What fails, if its threads are on two hosts.
    pub crash: Option<Crash>,
}

/// A test, and the conjuncts of its condition.
#[derive(Clone, Debug)]
pub struct Built {
    /// Its name.
    pub name: String,
    /// What the interesting state is.
    pub claims: Vec<(String, u8)>,
    /// The text before the condition, without the title.
    head: String,
    rows: String,
    /// The description of its edges.
    about: String,
}

impl Built {
    /// The test as text.
    pub fn text(&self, allowed: bool) -> String {
        let formula: Vec<String> = self.claims.iter().map(|(at, value)| format!("{at}={value}")).collect();
        let (word, verb) = match allowed {
            true => ("exists", "A crash may leave this"),
            false => ("~exists", "No crash leaves this"),
        };
        let (name, head, rows, about) = (&self.name, &self.head, &self.rows, &self.about);
        format!(
            "X86 {name}\n\"{verb}: {about}\"\n{head}{rows}{word} ({})\n",
            conjunction(&formula)
        )
    }
}

fn conjunction(parts: &[String]) -> String {
    let mut parts = parts.iter();
    let first = parts.next().cloned().unwrap_or_else(|| "true".to_owned());
    let nested = |all: String, (index, part): (usize, &String)| match index {
        0 => format!("{all} /\\ {part}"),
        _ => format!("({all}) /\\ {part}"),
    };
    parts.enumerate().fold(first, nested)
}

/// The text of a plan.
pub fn build(plan: &TestPlan<'_>) -> Built {
    let labels = labels(plan.shape);
    let mut writer = Writer {
        plan,
        labels,
        step: 0,
        threads: Vec::new(),
        claims: Vec::new(),
        neighbours: BTreeSet::new(),
        untouched: Vec::new(),
    };
    (0..plan.shape.threads.len()).for_each(|thread| writer.thread(thread));
    writer.crash();
    Built {
        name: name(plan),
        head: writer.head(),
        rows: rows(&writer.threads, plan.crash.is_some()),
        about: about(plan),
        claims: writer.claims,
    }
}

/// The value of each store: stores to a location are numbered.
fn labels(shape: &Shape) -> BTreeMap<(usize, usize), u8> {
    let mut next: BTreeMap<char, u8> = BTreeMap::new();
    let mut labels = BTreeMap::new();
    for (thread, accesses) in shape.threads.iter().enumerate() {
        for (index, access) in accesses
            .iter()
            .enumerate()
            .filter(|(_, access)| access.direction != Direction::Load)
        {
            let count = next.entry(access.at).or_default();
            *count += 1;
            labels.insert((thread, index), *count);
        }
    }
    labels
}

/// The name: the shape, the edges without bare ones at the end, the memory of the locations.
fn name(plan: &TestPlan<'_>) -> String {
    let mut edges: Vec<&str> = plan.edges.iter().map(|edge| edge.name).collect();
    while edges.len() > 1 && plan.edges[edges.len() - 1].is_bare() && plan.edges[edges.len() - 1].data {
        edges.pop();
    }
    let mut name = plan.shape.name.to_owned();
    edges.iter().for_each(|edge| _ = write!(name, "+{edge}"));
    if !plan.shape.between().is_empty() {
        name += if plan.placement.dram { "+dram" } else { "+pm" };
    }
    if let Some(crash) = plan.crash {
        _ = write!(name, "+{}", crash.name());
    }
    if let Some((a, b)) = plan.placement.line {
        _ = write!(name, "+line-{a}{b}");
    }
    name
}

fn about(plan: &TestPlan<'_>) -> String {
    let mut edges = plan.edges.iter();
    let mut parts = Vec::new();
    for (thread, accesses) in plan.shape.threads.iter().enumerate() {
        let mut part = String::new();
        for (index, access) in accesses.iter().enumerate() {
            if let Some(edge) = (index > 0).then(|| edges.next()).flatten() {
                _ = write!(part, " {} ", edge.name);
            }
            let letter = match access.direction {
                Direction::Load => 'R',
                Direction::Store => 'W',
                Direction::Output => 'O',
            };
            _ = write!(part, "{letter}{}", access.at);
        }
        parts.push(part);
        match plan.shape.link(thread) {
            Some((link, _)) => parts.push(link.name().to_owned()),
            None => parts.push("crash".to_owned()),
        }
    }
    parts.join(", ")
}

struct Writer<'p> {
    plan: &'p TestPlan<'p>,
    labels: BTreeMap<(usize, usize), u8>,
    step: usize,
    threads: Vec<Vec<String>>,
    claims: Vec<(String, u8)>,
    neighbours: BTreeSet<char>,
    untouched: Vec<char>,
}

impl Writer<'_> {
    fn accesses(&self, thread: usize) -> &[Access] {
        &self.plan.shape.threads[thread]
    }

    fn thread(&mut self, thread: usize) {
        let accesses = self.accesses(thread).to_vec();
        let steps = &self.plan.edges[self.step..self.step + accesses.len() - 1];
        self.step += steps.len();
        let mut code = Code::default();
        for (index, access) in accesses.iter().enumerate() {
            if let Some(edge) = steps.get(index) {
                code.extend(self.lines(edge.before, &accesses[index..=index]));
            }
            let form = self.form(steps, index, access.at);
            if access.direction == Direction::Load {
                code.load(access.at, self.value_read(thread, index), form);
            } else {
                let dependent = index > 0 && steps[index - 1].data && self.plan.shape.ends_in_crash();
                code.store(*access, self.labels[&(thread, index)], form, dependent);
            }
            if let Some(edge) = steps.get(index) {
                match edge.needs {
                    Needs::Nothing => {}
                    Needs::Address => code.index(&mut self.claims),
                    Needs::Branch => code.branch(),
                }
                code.extend(self.lines(edge.between, &accesses[index..index + 2]));
            }
        }
        // A read after this thread's store shows that the next thread's store comes later.
        if let Some((Link::Coherence, at)) = self.plan.shape.link(thread) {
            let next = (thread + 1) % self.plan.shape.threads.len();
            code.load(at, self.labels[&(next, 0)], self.shared_form(at));
        }
        self.threads.push(code.finish(&mut self.claims));
    }

    /// The crash state: the last access is durable and the first one is not.
    fn crash(&mut self) {
        let shape = self.plan.shape;
        if !shape.ends_in_crash() {
            return;
        }
        let (first, last) = (shape.first(), shape.last());
        let all = shape.threads.iter().flatten();
        let stores = all
            .filter(|access| access.direction == Direction::Store && access.at == first.at)
            .count();
        let last_thread = shape.threads.len() - 1;
        let label = self.labels[&(last_thread, shape.threads[last_thread].len() - 1)];
        self.claims
            .insert(0, (first.at.to_string(), if stores > 1 { 1 } else { 0 }));
        self.claims.insert(1, (last.at.to_string(), label));
    }

    fn value_read(&mut self, thread: usize, index: usize) -> u8 {
        let threads = self.plan.shape.threads.len();
        let previous = (thread + threads - 1) % threads;
        let from = self
            .plan
            .shape
            .link(previous)
            .filter(|(link, _)| index == 0 && *link == Link::ReadsFrom);
        let at = self.accesses(thread)[index].at;
        match from {
            Some(_) => self.labels[&(previous, self.accesses(previous).len() - 1)],
            None => {
                self.untouched.push(at);
                UNTOUCHED
            }
        }
    }

    fn form(&self, steps: &[Edge], index: usize, at: char) -> Form {
        let before = index.checked_sub(1).map_or(Form::Plain, |step| steps[step].forms().1);
        let after = steps.get(index).map_or(Form::Plain, |edge| edge.forms().0);
        [before, after]
            .into_iter()
            .find(|form| *form != Form::Plain)
            .unwrap_or_else(|| self.shared_form(at))
    }

    fn shared_form(&self, at: char) -> Form {
        let accesses = |thread: &&Vec<Access>| thread.iter().any(|access| access.at == at);
        let shared = self.plan.shape.threads.iter().filter(accesses).count() > 1;
        match self.plan.synchronised && shared {
            true => Form::Synchronising,
            false => Form::Plain,
        }
    }

    /// An edge's instructions, with the locations substituted for `a`, `b` and `n`.
    fn lines(&mut self, code: &str, ends: &[Access]) -> Vec<String> {
        let mut line = |instruction: &str| {
            let (name, operand) = instruction.split_once(' ').unwrap_or((instruction, ""));
            match operand {
                "" => name.to_owned(),
                "a" => format!("{name} [{}]", ends[0].at),
                "b" => format!("{name} [{}]", ends[1].at),
                "n" => {
                    self.neighbours.insert(ends[0].at);
                    format!("{name} [n{}]", ends[0].at)
                }
                number => format!("{name} {number}"),
            }
        };
        code.split(';')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(&mut line)
            .collect()
    }

    /// The groups of locations that share a line.
    fn groups(&self) -> Vec<String> {
        let pair: Vec<char> = self.plan.placement.line.iter().flat_map(|(a, b)| [*a, *b]).collect();
        let beside = |at: &&char| self.neighbours.contains(*at);
        let together = pair
            .iter()
            .map(char::to_string)
            .chain(pair.iter().filter(beside).map(|at| format!("n{at}")));
        let alone = self
            .neighbours
            .iter()
            .filter(|at| !pair.contains(at))
            .map(|at| format!("{at} n{at}"));
        let mut groups = vec![together.collect::<Vec<_>>().join(" ")];
        groups.extend(alone);
        groups.retain(|group| !group.is_empty());
        groups
    }

    fn head(&self) -> String {
        let mut head = String::new();
        let between = self.plan.shape.between();
        let lines = self.groups();
        if !lines.is_empty() {
            _ = writeln!(head, "Line={}", lines.join(", "));
        }
        if self.plan.placement.dram && !between.is_empty() {
            let beside = self
                .neighbours
                .iter()
                .filter(|at| between.contains(at))
                .map(|at| format!("n{at}"));
            let names: Vec<String> = between.iter().map(char::to_string).chain(beside).collect();
            _ = writeln!(head, "Volatile={}", names.join(" "));
        }
        let outputs: Vec<&str> = self
            .claims
            .iter()
            .map(|(at, _)| at.as_str())
            .filter(|at| "opqrs".contains(*at))
            .collect();
        if !outputs.is_empty() {
            _ = writeln!(head, "Output={}", outputs.join(" "));
        }
        if let Some(crash) = self.plan.crash.filter(|crash| *crash != Crash::Power) {
            _ = writeln!(head, "Crash={}", crash.name());
        }
        let initial: String = self.untouched.iter().map(|at| format!(" {at}={UNTOUCHED};")).collect();
        _ = writeln!(head, "{{{initial} }}");
        head
    }
}

fn rows(threads: &[Vec<String>], apart: bool) -> String {
    let longest = threads.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = String::new();
    let heads: Vec<String> = (0..threads.len())
        .map(|thread| match apart {
            true => format!("P{thread}@h{}", thread % 2),
            false => format!("P{thread}"),
        })
        .collect();
    _ = writeln!(text, " {} ;", heads.join(" | "));
    for row in 0..longest {
        let cells: Vec<&str> = threads
            .iter()
            .map(|thread| thread.get(row).map_or("", String::as_str))
            .collect();
        _ = writeln!(text, " {} ;", cells.join(" | "));
    }
    text
}
