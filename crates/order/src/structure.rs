//! Events of an execution and what is known of them before it is known who reads what.

use crate::litmus::Class;
use crate::relation::{Relation, Set};

/// Which memory cell an event concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The location, where it is told apart from others in the line.
    pub location: Option<usize>,
    /// Its cache line.
    pub line: usize,
    /// Whether it is in persistent memory.
    pub persistent: bool,
}

/// What an event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It reads a location.
    Read,
    /// It writes a location.
    Write,
    /// The world outside sees a value.
    Output,
    /// It is a flush, a fence or an intent.
    Other,
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its thread; none for an initial write.
    pub thread: Option<usize>,
    /// What it does.
    pub kind: Kind,
    /// The set that its instruction puts it in.
    pub class: Option<Class>,
    /// Whether it is half of a locked instruction.
    pub locked: bool,
    /// The location that it concerns.
    pub cell: Option<Cell>,
    /// The context that it belongs to or waits for.
    pub context: u8,
}

/// The names of the sets that every model may use, those of [`Class`] after them.
pub const SETS: [&str; 8] = ["W", "R", "M", "IW", "PM", "VM", "OUT", "LOCKED"];

/// The names of the relations that every model may use. The last three are known of a candidate only.
pub const RELATIONS: [&str; 12] = [
    "id", "po", "loc", "line", "int", "ext", "rmw", "data", "ctx", "rf", "co", "fr",
];

/// How many of [`RELATIONS`] are known before it is known who reads what.
pub const KNOWN: usize = RELATIONS.len() - 3;

/// The sets and relations of a program's events.
#[derive(Clone, Debug)]
pub struct Structure {
    /// How many events there are.
    pub size: usize,
    /// As [`SETS`], then as [`Class::ALL`].
    pub sets: Vec<Set>,
    /// As [`RELATIONS`], without the last three.
    pub relations: Vec<Relation>,
}

impl Structure {
    /// The structure of events: those of a thread in program order. `rmw` pairs the halves of locked instructions, `data`
    /// a read with what depends on its value.
    #[must_use]
    pub fn of(events: &[Event], rmw: &[(usize, usize)], data: &[(usize, usize)]) -> Structure {
        let size = events.len();
        let set = |wanted: &dyn Fn(&Event) -> bool| Set::of(size, |event| wanted(&events[event]));
        let in_memory = |persistent: bool| move |e: &Event| e.cell.is_some_and(|cell| cell.persistent == persistent);
        let mut sets = vec![
            set(&|e| e.kind == Kind::Write),
            set(&|e| e.kind == Kind::Read),
            set(&|e| matches!(e.kind, Kind::Read | Kind::Write)),
            set(&|e| e.thread.is_none()),
            set(&in_memory(true)),
            set(&in_memory(false)),
            set(&|e| e.kind == Kind::Output),
            set(&|e| e.locked),
        ];
        sets.extend(Class::ALL.iter().map(|class| set(&|e| e.class == Some(*class))));
        let relation =
            |wanted: &dyn Fn(&Event, &Event) -> bool| Relation::of(size, |a, b| wanted(&events[a], &events[b]));
        let same = |a: Option<usize>, b: Option<usize>| a.is_some() && a == b;
        let location = |e: &Event| e.cell.and_then(|cell| cell.location);
        let line = |e: &Event| e.cell.map(|cell| cell.line);
        let listed = |pairs: &[(usize, usize)]| {
            let mut relation = Relation::empty(size);
            pairs.iter().for_each(|(from, to)| relation.insert(*from, *to));
            relation
        };
        let relations = vec![
            Relation::of(size, |a, b| a == b),
            Relation::of(size, |a, b| a < b && same(events[a].thread, events[b].thread)),
            relation(&|a, b| same(location(a), location(b))),
            relation(&|a, b| same(line(a), line(b))),
            relation(&|a, b| a.thread == b.thread),
            relation(&|a, b| a.thread != b.thread),
            listed(rmw),
            listed(data),
            relation(&|a, b| same(a.thread, b.thread) && a.context == b.context),
        ];
        Structure { size, sets, relations }
    }
}
