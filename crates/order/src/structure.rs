//! Events of an execution, and relations that do not depend on reads-from.

use crate::litmus::Class;
use crate::relation::{Relation, Set};

/// The memory cell of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The location, if it is distinguished from others in the line.
    pub location: Option<usize>,
    /// Its cache line.
    pub line: usize,
    /// Whether it is in persistent memory.
    pub persistent: bool,
}

/// What an event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// It reads a location.
    Read,
    /// It writes a location.
    Write,
    /// An output: the outside world observes a value.
    Output,
    /// A store takes the rest of its line from the host's cache: it reads a location of the rest.
    RestRead,
    /// It writes that location, with the value that it has read.
    RestWrite,
    /// A flush that waits for its location's newest value: it finds that as a read does.
    Finds,
    /// The end of a thread that survives a failure.
    End,
    /// The failure of hosts while others go on.
    Failure,
    /// It is a flush, a fence or an intent.
    Other,
}

impl EventKind {
    /// Whether it takes a value from a write.
    #[must_use]
    pub fn reads(self) -> bool {
        matches!(self, EventKind::Read | EventKind::RestRead | EventKind::Finds)
    }

    /// Whether it is in coherence order.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(self, EventKind::Write | EventKind::RestWrite)
    }

    /// Whether it has a place in program order.
    fn is_own(self) -> bool {
        !matches!(self, EventKind::RestRead | EventKind::RestWrite)
    }
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its thread; none for an initial write.
    pub thread: Option<usize>,
    /// What it does.
    pub kind: EventKind,
    /// The set of its instruction.
    pub class: Option<Class>,
    /// Whether it is half of a locked instruction.
    pub locked: bool,
    /// The location that it concerns.
    pub cell: Option<Cell>,
    /// The context that it belongs to or waits for.
    pub context: u8,
}

/// The names of the sets that all models may use, followed by those of [`Class`].
pub const SETS: [&str; 12] = [
    "W", "R", "M", "IW", REST, "PM", "VM", "OUT", "END", "LOCKED", HOME, "DOOMED",
];

/// The names of the relations that all models may use. The last four depend on the candidate.
pub const RELATIONS: [&str; 17] = [
    "id", "po", "loc", "line", "int", "ext", HOSTS, "rmw", "rest", "data", "addr", "ctrl", "ctx", "rf", "co", "fr",
    LATE,
];

/// The relation between events of one host, which only models of several hosts name.
pub const HOSTS: &str = "same-host";

/// The set of what a store takes of the rest of its line: only where a model names it.
pub const REST: &str = "REST";

/// The relation between the failure of hosts and survivors' reads that come after it: only where a model names it.
pub const LATE: &str = "late";

/// The set of what a host does to locations that it owns: only models of owners name it.
pub const HOME: &str = "HOME";

/// Number of [`RELATIONS`] that do not depend on the candidate.
pub const KNOWN: usize = RELATIONS.len() - 4;

/// What a model asks of the events of a test, beyond those of its instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// What stores take of the rest of their lines.
    pub rest: bool,
    /// The failure of hosts, and which reads come after it.
    pub failure: bool,
    /// What has happened when hosts fail, of every kind: locations have owners.
    pub owners: bool,
}

/// What a thread's later events need of its reads: pairs of a read and a later event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependences {
    /// The value that is written or put out.
    pub data: Vec<(usize, usize)>,
    /// The address.
    pub addr: Vec<(usize, usize)>,
    /// A branch before it.
    pub ctrl: Vec<(usize, usize)>,
}

/// The sets and relations of a program's events.
#[derive(Clone, Debug)]
pub struct Structure {
    /// How many events there are.
    pub size: usize,
    /// As [`SETS`], then as [`Class::all`].
    pub sets: Vec<Set>,
    /// As [`RELATIONS`], without the last four.
    pub relations: Vec<Relation>,
}

/// The events of each class.
fn classes(events: &[Event]) -> Vec<Set> {
    let classes: Vec<Class> = Class::all().collect();
    let mut sets = vec![Set::empty(events.len()); classes.len()];
    for (index, event) in events.iter().enumerate() {
        let place = event.class.and_then(|of| classes.iter().position(|class| *class == of));
        if let Some(place) = place {
            sets[place].insert(index);
        }
    }
    sets
}

impl Structure {
    /// The structure of events: those of a thread in program order. `rmw` pairs a write with the read that it belongs to, and `rest`
    /// a store with the writes of its line's rest. `hosts` are those of the threads; all are on one without it.
    #[must_use]
    pub fn of(
        events: &[Event],
        rmw: &[(usize, usize)],
        rest: &[(usize, usize)],
        depends: &Dependences,
        hosts: &[u8],
    ) -> Structure {
        let size = events.len();
        let set = |wanted: &dyn Fn(&Event) -> bool| Set::of(size, |event| wanted(&events[event]));
        let in_memory = |persistent: bool| move |e: &Event| e.cell.is_some_and(|cell| cell.persistent == persistent);
        let mut sets = vec![
            set(&|e| e.kind == EventKind::Write),
            set(&|e| e.kind == EventKind::Read),
            set(&|e| matches!(e.kind, EventKind::Read | EventKind::Write)),
            set(&|e| e.thread.is_none() && e.kind == EventKind::Write),
            set(&|e| !e.kind.is_own()),
            set(&in_memory(true)),
            set(&in_memory(false)),
            set(&|e| matches!(e.kind, EventKind::Output | EventKind::End)),
            set(&|e| e.kind == EventKind::End),
            set(&|e| e.locked),
            Set::empty(size),
            Set::empty(size),
        ];
        sets.extend(classes(events));
        let grouped = |key: &dyn Fn(&Event) -> Option<usize>| {
            let keys: Vec<Option<usize>> = events.iter().map(key).collect();
            Relation::grouped(&keys)
        };
        let listed = |pairs: &[(usize, usize)]| {
            let mut relation = Relation::empty(size);
            pairs.iter().for_each(|(from, to)| relation.insert(*from, *to));
            relation
        };
        // All initial writes belong to one separate thread.
        let int = grouped(&|e| Some(e.thread.unwrap_or(usize::MAX)));
        let later = Relation::forward(size);
        let context = |e: &Event| {
            e.thread
                .filter(|_| e.kind.is_own())
                .map(|thread| thread * 256 + usize::from(e.context))
        };
        let relations = vec![
            Relation::empty(size).reflexive(),
            grouped(&|e| e.thread.filter(|_| e.kind.is_own())).and(&later),
            grouped(&|e| e.cell.and_then(|cell| cell.location)),
            grouped(&|e| e.cell.map(|cell| cell.line)),
            int.clone(),
            int.complement(),
            grouped(&|e| {
                e.thread
                    .map(|thread| hosts.get(thread).map_or(0, |host| usize::from(*host)))
            }),
            listed(rmw),
            listed(rest),
            listed(&depends.data),
            listed(&depends.addr),
            listed(&depends.ctrl),
            grouped(&context),
        ];
        Structure { size, sets, relations }
    }

    /// With what hosts do to locations that they own (`HOME`), and to locations whose owners fail (`DOOMED`).
    #[must_use]
    pub fn with_owners(mut self, home: Set, doomed: Set) -> Structure {
        for (name, set) in [(HOME, home), ("DOOMED", doomed)] {
            let place = SETS.iter().position(|known| *known == name);
            self.sets[place.expect("a set of all models")] = set;
        }
        self
    }
}
