//! The cost of task switches: the instructions of a library of coroutines.

mod lean;
mod paper;

use std::fmt;
use std::str::FromStr;
use strandline_isa::{Addr, Cpu, W};

/// A library of coroutines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Library {
    /// A stackful one, with the costs that COSPlay's Table 3 implies (`paper`).
    #[default]
    Paper,
    /// Our own stackless one, as compiled (`lean`).
    Lean,
}

/// A library as a design runs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coroutines {
    pub library: Library,
    /// Switches between tasks and the scheduler cost nothing; tasks start and end as ever (COSPlay 5, "FreeSwitch").
    pub free_switches: bool,
}

/// Where a switch happens: its blocks, and the slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct SwitchPlace {
    /// The scheduler's.
    pub scheduler: Addr,
    /// The task's.
    pub task: Addr,
    /// The task's slot in its window.
    pub slot: u64,
}

impl Coroutines {
    /// Makes a coroutine for a new task and enters it.
    pub(super) fn start<'c, C: Cpu>(self, cpu: &'c C, place: SwitchPlace, block: W<'c, C>) {
        match self.library {
            Library::Paper => paper::start(cpu, place, block),
            Library::Lean => lean::start(cpu, place, block),
        }
    }

    /// Leaves a task that has ended and frees its coroutine.
    pub(super) fn end<C: Cpu>(self, cpu: &C, place: SwitchPlace) {
        match self.library {
            Library::Paper => paper::end(cpu, place),
            Library::Lean => lean::end(cpu, place),
        }
    }

    /// Leaves a task that yields, to resume at its code `code`, for the scheduler.
    pub(super) fn leave<C: Cpu>(self, cpu: &C, place: SwitchPlace, code: u64) {
        if self.free_switches {
            return;
        }
        match self.library {
            Library::Paper => paper::leave(cpu, place, code),
            Library::Lean => lean::leave(cpu, place, code),
        }
    }

    /// Looks, in the scheduler, at the next slot in turn, of `slots`.
    /// The address of its block.
    pub(super) fn next<C: Cpu>(self, cpu: &C, place: SwitchPlace, slots: u64) -> W<'_, C> {
        if self.free_switches {
            return cpu.word(place.task.0);
        }
        match self.library {
            Library::Paper => paper::next(cpu, place, slots),
            Library::Lean => lean::next(cpu, place, slots),
        }
    }

    /// Resumes a task that had yielded, from the scheduler.
    pub(super) fn resume<'c, C: Cpu>(self, cpu: &'c C, place: SwitchPlace, block: W<'c, C>) {
        if self.free_switches {
            return;
        }
        match self.library {
            Library::Paper => paper::resume(cpu, place, block),
            Library::Lean => lean::resume(cpu, place, block),
        }
    }
}

/// Error: there is no library of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLibrary(String);

impl FromStr for Library {
    type Err = UnknownLibrary;

    fn from_str(text: &str) -> Result<Library, UnknownLibrary> {
        match text {
            "paper" => Ok(Library::Paper),
            "lean" => Ok(Library::Lean),
            _ => Err(UnknownLibrary(text.to_owned())),
        }
    }
}

impl fmt::Display for UnknownLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "--coroutines {}: must be paper (stackful, with the paper's costs) or lean (stackless)",
            self.0
        )
    }
}

impl std::error::Error for UnknownLibrary {}

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Library::Paper => "paper",
            Library::Lean => "lean",
        })
    }
}
