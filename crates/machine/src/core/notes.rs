//! A program's notes on its tasks and regions, with the times at which they became true.

use std::cell::{Cell, Ref, RefCell};
use strandline_isa::{Note, Running};
use strandline_kernel::{Batches, Cycles};
use strandline_rules::{keeps, Rule};

/// A note and its time. An acknowledgement becomes true when the fence before it has retired, an
/// output when everything before it has completed too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noted {
    /// When; [`Cycles::NEVER`] if it never became true.
    pub at: Cycles,
    /// The note.
    pub note: Note,
}

/// Which notes a core keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeps {
    /// None.
    #[default]
    Nothing,
    /// Those of which tasks, regions and lanes consist: for a timeline.
    Spans,
    /// All: for crash exploration.
    All,
}

impl Keeps {
    fn keeps(self, note: Note) -> bool {
        match self {
            Keeps::Nothing => false,
            Keeps::All => true,
            Keeps::Spans => matches!(
                note,
                Note::TaskBegin
                    | Note::TaskEnd
                    | Note::RegionBegin
                    | Note::RegionEnd
                    | Note::RegionDurable
                    | Note::RegionAbort
                    | Note::OperationBegin { .. }
                    | Note::OperationDurable { .. }
                    | Note::Running(_)
            ),
        }
    }
}

/// A core's notes: task latencies always, the notes themselves for crash exploration.
pub struct Notes {
    keeps: Keeps,
    tasks: Cell<u64>,
    /// The slot of the window whose task runs; 0 where tasks do not share the core.
    slot: Cell<usize>,
    /// When each slot's task began.
    begun: RefCell<Vec<u64>>,
    /// The instruction count at the start of the library's code that runs now, if it does.
    library_since: Cell<Option<u64>>,
    library: Cell<u64>,
    window: Cell<u32>,
    latencies: RefCell<Batches>,
    kept: RefCell<Vec<Noted>>,
    unsettled: RefCell<Vec<Unsettled>>,
    /// Notes so far that could not be settled at once.
    taken: Cell<u64>,
    /// Joins of strands that have entered the store queue, and that have left it.
    joins: Cell<u64>,
    joined: Cell<u64>,
    /// Fences retired speculatively so far, and those of them that are not certain.
    speculations: Cell<u64>,
    open: RefCell<Vec<u64>>,
}

/// The state of the notes at a checkpoint. Tasks that end later have not ended: their notes wait.
#[derive(Clone)]
pub struct SavedNotes {
    slot: usize,
    begun: Vec<u64>,
    library_since: Option<u64>,
    library: u64,
    window: u32,
    kept: usize,
    unsettled: u64,
    joins: u64,
    speculations: u64,
}

impl SavedNotes {
    /// Fences that had retired speculatively.
    pub fn speculations(&self) -> u64 {
        self.speculations
    }
}

/// A note behind a held fence, behind a join of strands (which does not block the program), or
/// behind a fence that has retired speculatively.
struct Unsettled {
    /// Its number among those that could not be settled at once.
    number: u64,
    /// It waits for the held fence.
    fenced: bool,
    /// It waits until this number of joins has left the store queue.
    joins: u64,
    /// It waits until every fence retired speculatively up to this one is certain.
    speculation: u64,
    /// Its place in the notes kept.
    place: Option<usize>,
    /// Of a task's end: when the task began.
    begun: Option<u64>,
    /// It becomes true no earlier, whenever the fence retires.
    not_before: u64,
}

/// A core's progress when it takes a note.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// The cycle in which the next op is dispatched.
    pub cycle: u64,
    /// When the latest op retired; `None` behind a held fence.
    pub retired: Option<u64>,
    /// When all ops before the note are complete, but for a held fence.
    pub complete: u64,
    /// Instructions dispatched.
    pub instructions: u64,
}

impl Notes {
    pub fn new(keeps: Keeps) -> Notes {
        Notes {
            keeps,
            tasks: Cell::new(0),
            slot: Cell::new(0),
            begun: RefCell::new(vec![0]),
            library_since: Cell::new(None),
            library: Cell::new(0),
            window: Cell::new(1),
            latencies: RefCell::default(),
            kept: RefCell::default(),
            unsettled: RefCell::default(),
            taken: Cell::new(0),
            joins: Cell::new(0),
            joined: Cell::new(0),
            speculations: Cell::new(0),
            open: RefCell::default(),
        }
    }

    /// A join of strands enters the store queue.
    pub fn join(&self) {
        self.joins.set(self.joins.get() + 1);
    }

    /// The oldest join of strands leaves the store queue.
    pub fn joined(&self, at: u64) {
        let joined = self.joined.get() + 1;
        self.joined.set(joined);
        self.settle_ready(at);
    }

    /// A fence retires speculatively: its number. Acknowledgements and outputs wait until it is certain.
    pub fn speculate(&self) -> u64 {
        let number = self.speculations.get() + 1;
        self.speculations.set(number);
        self.open.borrow_mut().push(number);
        number
    }

    /// Whether no fence has retired speculatively that is not certain.
    pub fn is_certain(&self) -> bool {
        self.open.borrow().is_empty()
    }

    /// Makes a fence that has retired speculatively certain.
    pub fn confirm(&self, number: u64, at: u64) {
        self.open.borrow_mut().retain(|open| *open != number);
        self.settle_ready(at);
    }

    /// Settles the notes that no longer wait.
    fn settle_ready(&self, at: u64) {
        let joined = self.joined.get();
        let open = self.open.borrow().iter().min().copied().unwrap_or(u64::MAX);
        self.settle_those(at, |note| {
            !note.fenced && note.joins <= joined && note.speculation < open
        });
    }

    /// The state of the notes, for a checkpoint.
    pub fn save(&self) -> SavedNotes {
        SavedNotes {
            slot: self.slot.get(),
            begun: self.begun.borrow().clone(),
            library_since: self.library_since.get(),
            library: self.library.get(),
            window: self.window.get(),
            kept: self.kept.borrow().len(),
            unsettled: self.taken.get(),
            joins: self.joins.get(),
            speculations: self.speculations.get(),
        }
    }

    /// Restores the notes of a checkpoint.
    pub fn restore(&self, saved: &SavedNotes) {
        self.slot.set(saved.slot);
        self.begun.borrow_mut().clone_from(&saved.begun);
        self.library_since.set(saved.library_since);
        self.library.set(saved.library);
        self.window.set(saved.window);
        keeps(Rule::RollBackTakesNotesBack, || {
            self.kept.borrow_mut().truncate(saved.kept);
            self.unsettled.borrow_mut().retain(|note| note.number < saved.unsettled);
        });
        self.joins.set(saved.joins);
        self.open.borrow_mut().retain(|open| *open <= saved.speculations);
    }

    /// Takes a note.
    pub fn take(&self, note: Note, now: Now) {
        let is_joined = self.joins.get() == self.joined.get();
        let is_certain = self.is_certain();
        let retired = now.retired.filter(|_| is_joined && is_certain);
        let at = match note {
            Note::RegionDurable | Note::OperationDurable { .. } | Note::RegionAbort | Note::TaskEnd => retired,
            // An output may depend on a load on either side of a held fence.
            Note::Output { .. } => retired.and(Some(now.complete)),
            Note::TaskBegin
            | Note::RegionBegin
            | Note::RegionWrite { .. }
            | Note::RegionFresh { .. }
            | Note::RegionEnd
            | Note::OperationBegin { .. }
            | Note::SearchBegin { .. }
            | Note::SearchEnd { .. }
            | Note::CallBegin(_)
            | Note::CallEnd { .. }
            | Note::Running(_)
            | Note::Window(_) => Some(now.cycle),
        };
        let place = self.keeps.keeps(note).then(|| {
            let mut kept = self.kept.borrow_mut();
            kept.push(Noted {
                at: at.map_or(Cycles::NEVER, Cycles),
                note,
            });
            kept.len() - 1
        });
        match note {
            Note::TaskBegin => self.begun.borrow_mut()[self.slot.get()] = now.cycle,
            Note::TaskEnd if at.is_some() => self.end_task(self.begun(), at.unwrap_or(0)),
            Note::Running(running) => self.runs(running, now.instructions),
            Note::Window(window) => self.window.set(window),
            _ => {}
        }
        if at.is_none() {
            let begun = (note == Note::TaskEnd).then(|| self.begun());
            let shows = matches!(note, Note::Output { .. });
            let not_before = if shows { now.complete } else { now.retired.unwrap_or(0) };
            let number = self.taken.replace(self.taken.get() + 1);
            self.unsettled.borrow_mut().push(Unsettled {
                number,
                speculation: if is_certain { 0 } else { self.speculations.get() },
                fenced: now.retired.is_none(),
                joins: self.joins.get(),
                place,
                begun,
                not_before,
            });
        }
    }

    /// When the running task began.
    fn begun(&self) -> u64 {
        self.begun.borrow()[self.slot.get()]
    }

    fn runs(&self, running: Running, instructions: u64) {
        match running {
            Running::Library => self.library_since.set(Some(instructions)),
            Running::Task(slot) => {
                if let Some(since) = self.library_since.take() {
                    self.library.set(self.library.get() + instructions - since);
                }
                let slot = slot as usize;
                self.slot.set(slot);
                let mut begun = self.begun.borrow_mut();
                if begun.len() <= slot {
                    begun.resize(slot + 1, 0);
                }
            }
        }
    }

    /// The held fence has retired at `at`.
    pub fn fence_retired(&self, at: u64) {
        for note in self.unsettled.borrow_mut().iter_mut().filter(|note| note.fenced) {
            note.fenced = false;
            note.not_before = note.not_before.max(at);
        }
        self.settle_ready(at);
    }

    /// Settles these notes: what they wait for came at `at`.
    fn settle_those(&self, at: u64, those: impl Fn(&Unsettled) -> bool) {
        self.unsettled.borrow_mut().retain(|note| {
            if !those(note) {
                return true;
            }
            let at = at.max(note.not_before);
            if let Some(place) = note.place {
                self.kept.borrow_mut()[place].at = Cycles(at);
            }
            if let Some(begun) = note.begun {
                self.end_task(begun, at);
            }
            false
        });
    }

    fn end_task(&self, begun: u64, at: u64) {
        self.tasks.set(self.tasks.get() + 1);
        self.latencies.borrow_mut().add(at, at.saturating_sub(begun));
    }

    /// Whether no note waits for a fence or a join.
    pub fn are_settled(&self) -> bool {
        self.unsettled.borrow().is_empty()
    }

    /// Tasks that have ended.
    pub fn tasks(&self) -> u64 {
        self.tasks.get()
    }

    /// Instructions of the library that switches between tasks.
    pub fn library(&self) -> u64 {
        self.library.get()
    }

    /// How many tasks share the core.
    pub fn window(&self) -> u32 {
        self.window.get()
    }

    /// Forgets the latencies of tasks so far: the timed region starts at `at`.
    pub fn starts(&self, at: u64) {
        self.latencies.replace(Batches::since(at));
    }

    /// The latencies of tasks so far.
    pub fn latencies(&self) -> Ref<'_, Batches> {
        self.latencies.borrow()
    }

    /// Takes the latencies of tasks, in cycles, by the time of their ends since the timed region's start.
    pub fn take_latencies(&self) -> Batches {
        self.latencies.take()
    }

    /// How many notes are kept so far.
    pub fn count(&self) -> u32 {
        self.kept.borrow().len() as u32
    }

    /// Takes the notes kept.
    pub fn take_kept(&self) -> Vec<Noted> {
        self.kept.take()
    }
}
