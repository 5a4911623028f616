//! Tasks, regions and lanes, from the notes of the programs.

use super::table::row;
use super::Table;
use crate::core::Noted;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use strandline_isa::{Note, Running};
use strandline_kernel::Cycles;

row! {
    /// A task, or a part of one.
    pub struct Span {
        /// The core.
        core: u16,
        /// The lane of the core's window; 0 where tasks do not share the core.
        lane: u32,
        /// What it is.
        what: What,
        /// Its number among those of its kind on its core.
        number: u32,
        /// When it began.
        from: u64,
        /// When it ended: a task when it was acknowledged.
        to: Option<u64>,
        /// It is a task that the record counts.
        counted: bool,
    }
}

/// What a span is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// A task.
    Task,
    /// A failure-atomic region, up to its acknowledgement.
    Region,
    /// A region, from its last update to its acknowledgement.
    Commit,
    /// A region that was aborted.
    Aborted,
    /// An operation of a program without regions.
    Operation,
    /// The core executes the lane.
    Runs,
    /// The core executes the coroutine library.
    Library,
}

/// The spans of all cores, from their notes in program order. `before`: the tasks that each core had ended before the
/// timed region; `over`: those that each had ended when it was over, unless all counts.
pub fn spans(notes: &[Vec<Noted>], before: &[u64], over: Option<&[u64]>) -> Table<Span> {
    let mut all = Vec::new();
    for (core, notes) in notes.iter().enumerate() {
        let mut reader = Reader {
            core: core as u16,
            ..Reader::default()
        };
        notes.iter().for_each(|noted| reader.read(noted));
        let first = before.get(core).copied().unwrap_or(0);
        let last = over.and_then(|over| over.get(core)).copied().unwrap_or(u64::MAX);
        reader.count_tasks(first, last);
        all.extend(reader.spans);
    }
    Table(all)
}

#[derive(Default)]
struct Reader {
    core: u16,
    lane: u32,
    spans: Vec<Span>,
    /// Spans of each kind and lane that have not ended, oldest first, by index.
    open: BTreeMap<(What, u32), VecDeque<usize>>,
    numbers: BTreeMap<What, u32>,
    runs: Option<usize>,
}

impl Reader {
    fn read(&mut self, noted: &Noted) {
        let at = Some(noted.at).filter(|at| *at != Cycles::NEVER).map(|at| at.0);
        match noted.note {
            Note::TaskBegin => _ = self.begin(What::Task, at),
            Note::TaskEnd => self.end(What::Task, at),
            Note::RegionBegin => _ = self.begin(What::Region, at),
            Note::RegionEnd => _ = self.begin(What::Commit, at),
            Note::RegionDurable => {
                self.end(What::Region, at);
                self.end(What::Commit, at);
            }
            Note::RegionAbort => self.abort(at),
            Note::OperationBegin { .. } => _ = self.begin(What::Operation, at),
            Note::OperationDurable { .. } => self.end(What::Operation, at),
            Note::Running(running) => self.switch(running, at),
            _ => {}
        }
    }

    /// Marks the tasks that have ended, from the first of these numbers up to the last.
    fn count_tasks(&mut self, first: u64, last: u64) {
        let tasks = self
            .spans
            .iter_mut()
            .filter(|span| span.what == What::Task && span.to.is_some());
        let mut ended: Vec<&mut Span> = tasks.collect();
        ended.sort_by_key(|span| span.to);
        ended
            .into_iter()
            .take(last as usize)
            .skip(first as usize)
            .for_each(|span| span.counted = true);
    }

    fn begin(&mut self, what: What, at: Option<u64>) -> Option<usize> {
        let number = self.numbers.entry(what).or_default();
        let span = Span {
            core: self.core,
            lane: self.lane,
            what,
            number: *number,
            from: at?,
            to: None,
            counted: false,
        };
        *number += 1;
        self.spans.push(span);
        let index = self.spans.len() - 1;
        self.open.entry((what, self.lane)).or_default().push_back(index);
        Some(index)
    }

    /// The oldest of its kind on this lane ends.
    fn end(&mut self, what: What, at: Option<u64>) {
        let open = self.open.get_mut(&(what, self.lane)).and_then(VecDeque::pop_front);
        if let Some(index) = open {
            self.spans[index].to = at;
        }
    }

    /// The newest region of this lane is aborted.
    fn abort(&mut self, at: Option<u64>) {
        let open = self
            .open
            .get_mut(&(What::Region, self.lane))
            .and_then(VecDeque::pop_back);
        if let Some(index) = open {
            (self.spans[index].what, self.spans[index].to) = (What::Aborted, at);
        }
    }

    fn switch(&mut self, running: Running, at: Option<u64>) {
        if let Some(before) = self.runs.take() {
            self.spans[before].to = at;
        }
        let what = match running {
            Running::Library => What::Library,
            Running::Task(lane) => {
                self.lane = lane;
                What::Runs
            }
        };
        self.runs = self.begin(what, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(notes: &[(u64, Note)]) -> Vec<Vec<Noted>> {
        let noted = |&(at, note)| Noted { at: Cycles(at), note };
        vec![notes.iter().map(noted).collect()]
    }

    fn found(spans: &Table<Span>) -> Vec<(What, u32, u64, Option<u64>)> {
        let all = spans.0.iter();
        all.map(|span| (span.what, span.lane, span.from, span.to)).collect()
    }

    #[test]
    fn a_region_lasts_until_it_is_acknowledged_and_never_if_it_is_not() {
        let never = Cycles::NEVER.0;
        let read = [
            (1, Note::TaskBegin),
            (2, Note::RegionBegin),
            (5, Note::RegionEnd),
            (6, Note::RegionBegin),
            (9, Note::RegionDurable),
            (never, Note::RegionDurable),
            (12, Note::TaskEnd),
        ];
        let expected = [
            (What::Task, 0, 1, Some(12)),
            (What::Region, 0, 2, Some(9)),
            (What::Commit, 0, 5, Some(9)),
            (What::Region, 0, 6, None),
        ];
        assert_eq!(found(&spans(&notes(&read), &[0], None)), expected);
    }

    #[test]
    fn each_lane_has_tasks_of_its_own() {
        let read = [
            (1, Note::Running(Running::Task(0))),
            (1, Note::TaskBegin),
            (4, Note::Running(Running::Library)),
            (5, Note::Running(Running::Task(1))),
            (5, Note::TaskBegin),
            (7, Note::TaskEnd),
            (8, Note::Running(Running::Task(0))),
            (9, Note::TaskEnd),
        ];
        let tasks: Vec<_> = found(&spans(&notes(&read), &[0], None));
        let tasks: Vec<_> = tasks.into_iter().filter(|(what, ..)| *what == What::Task).collect();
        assert_eq!(tasks, [(What::Task, 0, 1, Some(9)), (What::Task, 1, 5, Some(7))]);
    }

    #[test]
    fn tasks_that_ended_outside_of_the_region_are_not_counted() {
        let read = [
            (1, Note::TaskBegin),
            (2, Note::TaskEnd),
            (3, Note::TaskBegin),
            (4, Note::TaskEnd),
        ];
        let counted = |over| {
            let spans = spans(&notes(&read), &[1], over);
            spans.0.iter().map(|span| span.counted).collect::<Vec<bool>>()
        };
        assert_eq!(counted(None), [false, true]);
        assert_eq!(counted(Some(&[1])), [false, false], "the region ended with the first");
    }
}
