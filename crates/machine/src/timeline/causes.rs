//! What each stall waited for, found where a run is over: what ended when the stall did.

use super::rows::{Cause, Miss, Stall, Wait};
use super::waits::{Who, Why};
use super::Timeline;
use std::collections::BTreeMap;
use strandline_isa::CoreId;

/// What may have ended a stall, of each core in order of its end.
pub(super) struct Causes {
    /// Fences that were held in the window, by when they retired.
    fences: Ends<u32>,
    /// Entries of the store queue, by when they left, and when they had executed and retired.
    entries: Ends<(u32, u64)>,
    /// Waits of the program.
    programs: Ends<Wait>,
    /// Misses, by number.
    misses: Ends<usize>,
}

/// Of each core, what ended when.
type Ends<T> = BTreeMap<u16, Vec<(u64, T)>>;

fn ends<T>(found: impl Iterator<Item = (u16, u64, T)>) -> Ends<T> {
    let mut all = Ends::new();
    for (core, end, what) in found {
        all.entry(core).or_insert_with(Vec::new).push((end, what));
    }
    all.values_mut().for_each(|ends| ends.sort_by_key(|(end, _)| *end));
    all
}

/// The first of a core that ended at `at` or behind it.
fn first<T: Copy>(all: &Ends<T>, core: u16, at: u64) -> Option<T> {
    let ends = all.get(&core)?;
    let place = ends.partition_point(|(end, _)| *end < at);
    ends.get(place).map(|(_, what)| *what)
}

/// The last of a core that ended during the stall, up to `to`.
fn last<T: Copy>(all: &Ends<T>, stall: &Stall, to: u64) -> Option<T> {
    let ends = all.get(&stall.core)?;
    let place = ends.partition_point(|(end, _)| *end <= to);
    let (end, what) = ends[..place].last()?;
    (*end > stall.from).then_some(*what)
}

impl Causes {
    /// Those of a run.
    pub fn of(timeline: &Timeline, misses: &[Miss]) -> Causes {
        let ops = || timeline.ops.0.iter().enumerate().filter(|(_, op)| !op.void);
        let fences = ops().filter(|(_, op)| op.addr.is_none());
        let entries = ops().filter(|(_, op)| op.takes_place());
        let waits = timeline.waits.0.iter();
        let programs = waits.filter(|wait| wait.who == Who::Program(CoreId(0)).name());
        Causes {
            fences: ends(fences.filter_map(|(row, op)| Some((op.core, op.done?, row as u32)))),
            entries: ends(entries.filter_map(|(row, op)| Some((op.core, op.left?, (row as u32, op.ready))))),
            programs: ends(programs.filter_map(|wait| Some((wait.core?, wait.to?, *wait)))),
            misses: ends(
                misses
                    .iter()
                    .enumerate()
                    .map(|(number, miss)| (miss.core, miss.to, number)),
            ),
        }
    }

    /// Names what each stall of the run waited for, and keeps the misses among that.
    pub fn name(&self, timeline: &mut Timeline, misses: &[Miss]) {
        let mut rows = BTreeMap::new();
        for stall in &mut timeline.stalls.0 {
            let (why, miss) = self.of_stall(stall);
            stall.why = why;
            stall.miss = miss.map(|number| {
                *rows.entry(number).or_insert_with(|| {
                    timeline.misses.0.push(misses[number]);
                    timeline.misses.0.len() as u32 - 1
                })
            });
        }
    }

    fn of_stall(&self, stall: &mut Stall) -> (&'static str, Option<usize>) {
        match stall.cause {
            Cause::Fence => {
                // A window that is full behind a fence may free an entry before the fence retires.
                stall.op = first(&self.fences, stall.core, stall.to);
                (Why::Retired.name(), None)
            }
            Cause::Buffer => match self.program(stall).filter(|wait| wait.why != Why::Room.name()) {
                Some(wait) => (self.goes_on(stall, &wait), None),
                None => {
                    let head = first(&self.entries, stall.core, stall.to);
                    stall.op = head.map(|(op, _)| op);
                    // It may have retired late itself.
                    let miss = head.and_then(|(_, ready)| last(&self.misses, stall, ready.min(stall.to)));
                    (Why::Head.name(), miss)
                }
            },
            Cause::Window => match last(&self.misses, stall, stall.to) {
                Some(miss) => (Why::Miss.name(), Some(miss)),
                None => (Why::Execution.name(), None),
            },
            Cause::Redirect => match self.program(stall) {
                Some(wait) => (self.goes_on(stall, &wait), None),
                None => (stall.why, last(&self.misses, stall, stall.to)),
            },
        }
    }

    /// The wait of the core's program that ended with the stall.
    fn program(&self, stall: &Stall) -> Option<Wait> {
        last(&self.programs, stall, stall.to).filter(|wait| wait.to == Some(stall.to))
    }

    fn goes_on(&self, stall: &mut Stall, wait: &Wait) -> &'static str {
        (stall.op, stall.write) = (wait.by_op, wait.by_write);
        wait.why
    }
}
