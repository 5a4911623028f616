//! What a program says of its tasks and regions, with the times at which it became true.

use std::cell::{Cell, RefCell};
use strandline_isa::Note;
use strandline_kernel::{Cycles, Histogram};

/// A note and its time: of an acknowledgement, when the fence before it has retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noted {
    /// When; [`Cycles::NEVER`] if it never became true.
    pub at: Cycles,
    /// What.
    pub note: Note,
}

/// A core's notes: task latencies always, the notes themselves for crash exploration.
pub struct Notes {
    observed: bool,
    tasks: Cell<u64>,
    begun: Cell<u64>,
    latencies: RefCell<Histogram>,
    kept: RefCell<Vec<Noted>>,
    /// Notes behind a held fence: their places in `kept`, and of a task's end when the task began.
    unsettled: RefCell<Vec<(Option<usize>, Option<u64>)>>,
}

impl Notes {
    pub fn new(observed: bool) -> Notes {
        Notes {
            observed,
            tasks: Cell::new(0),
            begun: Cell::new(0),
            latencies: RefCell::default(),
            kept: RefCell::default(),
            unsettled: RefCell::default(),
        }
    }

    /// Takes a note: at `now`, when the op before it retired at `retired`, or (`None`) behind a held fence.
    pub fn take(&self, note: Note, now: u64, retired: Option<u64>) {
        let waits = matches!(note, Note::RegionDurable | Note::TaskEnd);
        let at = if waits { retired } else { Some(now) };
        let place = self.observed.then(|| {
            let mut kept = self.kept.borrow_mut();
            kept.push(Noted {
                at: at.map_or(Cycles::NEVER, Cycles),
                note,
            });
            kept.len() - 1
        });
        match note {
            Note::TaskBegin => self.begun.set(now),
            Note::TaskEnd if at.is_some() => self.end_task(self.begun.get(), at.unwrap_or(0)),
            _ => {}
        }
        if waits && at.is_none() {
            let begun = (note == Note::TaskEnd).then(|| self.begun.get());
            self.unsettled.borrow_mut().push((place, begun));
        }
    }

    /// The held fence has retired at `at`.
    pub fn settle(&self, at: u64) {
        for (place, begun) in self.unsettled.borrow_mut().drain(..) {
            if let Some(place) = place {
                self.kept.borrow_mut()[place].at = Cycles(at);
            }
            if let Some(begun) = begun {
                self.end_task(begun, at);
            }
        }
    }

    fn end_task(&self, begun: u64, at: u64) {
        self.tasks.set(self.tasks.get() + 1);
        self.latencies.borrow_mut().add(at.saturating_sub(begun));
    }

    /// Tasks that have ended.
    pub fn tasks(&self) -> u64 {
        self.tasks.get()
    }

    /// Takes the task latencies, in cycles, counted since they were last taken.
    pub fn take_latencies(&self) -> Histogram {
        self.latencies.take()
    }

    /// Takes the notes kept.
    pub fn take_kept(&self) -> Vec<Noted> {
        self.kept.take()
    }
}
