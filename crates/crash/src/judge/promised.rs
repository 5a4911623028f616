//! What a program without regions promises: its operations, from the notes of a run.

use super::fault::Fault;
use std::collections::BTreeMap;
use strandline_isa::{Image, Memory, Note, Running};
use strandline_kernel::Cycles;
use strandline_machine::Noted;
use strandline_runtime::Operations;
use strandline_sim::Recoverable;

/// The operations of a run on a map.
pub struct Promised {
    operations: Operations,
    /// What the map held before the run.
    initial: BTreeMap<u64, u64>,
}

impl Promised {
    /// The operations that the notes of all cores announce, on the map in `initial`; `None` if there are none.
    pub fn of(notes: &[Vec<Noted>], initial: &Memory, program: &dyn Recoverable) -> Option<Promised> {
        let mut operations = Operations::default();
        for (core, notes) in notes.iter().enumerate() {
            read(core, notes, &mut operations);
        }
        (operations.begun() > 0).then(|| Promised {
            operations,
            initial: program.contents(initial),
        })
    }

    /// The fault of a recovered map in which operations that began by `begun` may have left traces, and those that
    /// returned before `returned` must have.
    pub fn verdict(
        &self,
        image: &dyn Image,
        program: &dyn Recoverable,
        begun: Cycles,
        returned: Cycles,
    ) -> Option<Fault> {
        let contents = program.contents(image);
        let explained = self.operations.explain(&self.initial, &contents, begun.0, returned.0);
        explained.err().map(|unexplained| Fault::Unexplained {
            returned: Cycles(unexplained.expected.1),
            what: unexplained.to_string(),
        })
    }
}

/// Reads the notes of a core, whose tasks may alternate.
fn read(core: usize, notes: &[Noted], operations: &mut Operations) {
    let mut slot = Some(0);
    for noted in notes {
        match (noted.note, slot) {
            (Note::Running(Running::Library), _) => slot = None,
            (Note::Running(Running::Task(task)), _) => slot = Some(task),
            (note, Some(slot)) if noted.at != Cycles::NEVER => operations.note((core, slot), note, noted.at.0),
            _ => {}
        }
    }
}
