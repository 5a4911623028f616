//! One image that steps through a run's crash points in order.

use super::fault::Fault;
use super::image::Rewind;
use super::promised::Promised;
use super::reads::{PostCrashStep, Read, Watched};
use super::regions::Regions;
use super::verdict::Judge;
use strandline_isa::{Addr, Image, Memory};
use strandline_kernel::Cycles;
use strandline_machine::Journal;
use strandline_sim::Recoverable;

/// A crash state that does not recover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Number of durable events before the crash.
    pub event: usize,
    /// The earliest cycle at which a crash leaves this failure.
    pub at: Cycles,
    /// One to three faults.
    pub faults: Vec<Fault>,
}

/// Judges crash points of a run in order.
///
/// The durable image does not change between two durable events, so power may fail at any cycle in between. A point is
/// judged at its end, when most regions are acknowledged: all before the next durable event's cycle. An acknowledgement
/// in that same cycle may follow or precede that event, so no point counts it.
pub struct Walk<'o> {
    journal: &'o Journal,
    program: &'o dyn Recoverable,
    image: Memory,
    done: usize,
    judge: Judge<'o>,
    promised: Option<Promised>,
    accesses: u64,
}

impl<'o> Walk<'o> {
    /// A walk from the start of a run with memory `initial` and the run's `regions`.
    pub fn new(journal: &'o Journal, regions: &'o Regions, initial: &Memory, program: &'o dyn Recoverable) -> Self {
        Walk {
            journal,
            program,
            image: initial.persistent_half(),
            done: 0,
            judge: Judge::new(regions, initial),
            promised: Promised::of(&journal.notes, initial, program),
            accesses: 0,
        }
    }

    /// The number of words that recovery and the checks have accessed at all points so far.
    pub fn accesses(&self) -> u64 {
        self.accesses
    }

    /// The fault after recovery of the crash after `event` durable events, if any.
    pub fn point(&mut self, event: usize) -> Option<Finding> {
        let (start, end) = self.go(event);
        self.state(event, start, end)
    }

    /// What recovery and the checks read after the crash after `event` durable events.
    pub fn reads(&mut self, event: usize) -> Vec<Read> {
        let (start, end) = self.go(event);
        let image = Rewind::new(&self.image, self.was_dirty());
        let watched = Watched::new(&image);
        self.judged(&watched, &|step| watched.begins(step), start, end);
        watched.reads()
    }

    /// The durable word at the current point.
    pub fn durable(&self, addr: Addr) -> u64 {
        self.image.find(addr).map_or(0, std::cell::Cell::get)
    }

    /// Whether reserve power ends too early at the current point.
    fn was_dirty(&self) -> bool {
        self.journal.late_at(self.done) > 0
    }

    fn go(&mut self, event: usize) -> (Cycles, Cycles) {
        for durable in &self.journal.durable[self.done..event] {
            self.image.set_line(durable.line, &durable.data);
        }
        self.done = event;
        let (start, end) = window(self.journal, event);
        self.judge.advance(end);
        (start, end)
    }

    /// Recovers and judges the image, in which what started by `begun` may have left traces, and what was acknowledged
    /// before `end` must have.
    fn state(&mut self, event: usize, begun: Cycles, end: Cycles) -> Option<Finding> {
        let image = Rewind::new(&self.image, self.was_dirty());
        let [broken, writes, operations] = self.judged(&image, &|_| (), begun, end);
        self.accesses += image.accesses();
        let stray = image.stray().map(|addr| Fault::Stray { addr });
        let faults: Vec<Fault> = stray.or(broken).into_iter().chain(writes).chain(operations).collect();
        (!faults.is_empty()).then(|| Finding {
            event,
            at: self.earliest(event, &faults),
            faults,
        })
    }

    /// The faults of the invariant, of the regions' writes, and of the operations. `begins` hears of each step.
    fn judged(
        &self,
        image: &dyn Image,
        begins: &dyn Fn(PostCrashStep),
        begun: Cycles,
        end: Cycles,
    ) -> [Option<Fault>; 3] {
        begins(PostCrashStep::Recovery);
        self.program.recover(image);
        // Repair may write what regions have written.
        begins(PostCrashStep::Regions);
        // After a dirty shutdown recovery may report that acknowledged operations are missing. They are not demanded then.
        let tells = image.was_dirty() && self.program.tells_of_loss(image);
        let writes = self.judge.verdict(image, begun).filter(|_| !tells);
        begins(PostCrashStep::Repair);
        self.program.repair(image);
        begins(PostCrashStep::Invariant);
        let broken = self.program.check(image).err().map(|what| Fault::Structure { what });
        begins(PostCrashStep::Operations);
        // A map is read if it is whole.
        let promised = self.promised.as_ref().filter(|_| broken.is_none() && !tells);
        let operations = promised.and_then(|promised| promised.verdict(image, self.program, begun, end));
        [broken, writes, operations]
    }

    fn earliest(&self, event: usize, faults: &[Fault]) -> Cycles {
        let (start, _) = window(self.journal, event);
        match faults {
            [Fault::Lost { acknowledged, .. }] => start.max(*acknowledged),
            [Fault::Unexplained { returned, .. }] => start.max(*returned),
            _ => start,
        }
    }

    /// The active regions at the current point, as text.
    pub fn under_way(&self) -> Vec<String> {
        let (_, end) = window(self.journal, self.done);
        self.judge
            .under_way(end)
            .map(|region| self.judge.describe(region))
            .collect()
    }
}

/// The cycles between the `event`-th durable event and the next.
fn window(journal: &Journal, event: usize) -> (Cycles, Cycles) {
    let start = event
        .checked_sub(1)
        .map_or(Cycles::ZERO, |last| journal.durable[last].at);
    (start, journal.durable.get(event).map_or(Cycles::NEVER, |next| next.at))
}

#[cfg(test)]
mod tests;
