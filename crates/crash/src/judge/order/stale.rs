//! Loads that were given stale bytes: a design that speculates may do so where the section is aborted before anything of it is
//! announced.

use strandline_isa::Note;
use strandline_machine::{Journal, Seen, TraceOp};

/// A stale load that nothing has undone before its core announced something, in words. Of a run that was halted nothing is
/// to be said: the interrupt has come, and what the program did since the load is not judged ([`Journal::counts_until`]).
pub fn unexcused(journal: &Journal) -> Option<String> {
    if journal.halted {
        return None;
    }
    let cores = journal.trace.programs.iter().enumerate();
    cores.filter_map(|(core, ops)| of_core(journal, core, ops)).next()
}

fn of_core(journal: &Journal, core: usize, ops: &[TraceOp]) -> Option<String> {
    let mut stale = None;
    for op in ops {
        match *op {
            TraceOp::Load {
                addr,
                from: Seen::Stale,
                ..
            }
            | TraceOp::Rmw {
                addr,
                from: Seen::Stale,
                ..
            } => stale = stale.or(Some(addr)),
            TraceOp::Note(note) => match journal.notes[core][note as usize].note {
                Note::RegionAbort => stale = None,
                Note::RegionDurable | Note::OperationDurable { .. } | Note::Output { .. } if stale.is_some() => break,
                _ => {}
            },
            _ => {}
        }
    }
    stale.map(|addr| format!("core {core} reads stale bytes from {addr}, and what it did with them is not aborted"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use strandline_isa::{Addr, PM_BASE};
    use strandline_kernel::Cycles;
    use strandline_machine::{Noted, Trace};

    fn run(notes: &[Note], halted: bool) -> Journal {
        let load = TraceOp::Load {
            addr: Addr(PM_BASE),
            size: 8,
            value: 0,
            from: Seen::Stale,
        };
        let told = (0..notes.len()).map(|note| TraceOp::Note(note as u32));
        let noted = notes.iter().map(|note| Noted {
            at: Cycles(1),
            note: *note,
        });
        Journal {
            trace: Trace {
                programs: vec![[load].into_iter().chain(told).collect()],
                visible: Vec::new(),
            },
            notes: vec![noted.collect()],
            halted,
            ..Journal::default()
        }
    }

    #[test]
    fn a_stale_load_must_be_aborted_before_anything_is_announced() {
        let output = Note::Output { location: 0, value: 0 };
        for (notes, is_excused) in [
            (vec![Note::RegionAbort, Note::RegionDurable], true),
            (vec![Note::RegionDurable, Note::RegionAbort], false),
            (vec![output, Note::RegionAbort], false),
            (vec![], false),
        ] {
            assert_eq!(unexcused(&run(&notes, false)).is_none(), is_excused, "{notes:?}");
            assert_eq!(unexcused(&run(&notes, true)), None);
        }
    }
}
