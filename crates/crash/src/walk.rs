//! One image that goes through a run's crash points in order.

use crate::fault::Fault;
use crate::image::Rewind;
use crate::regions::Regions;
use crate::verdict::Judge;
use strandline_isa::Memory;
use strandline_kernel::Cycles;
use strandline_machine::Journal;
use strandline_sim::Recoverable;

/// A crash state that does not recover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How many durable events there were by the crash.
    pub event: usize,
    /// The earliest cycle at which a crash leaves this failure.
    pub at: Cycles,
    /// What is wrong: one or two things.
    pub faults: Vec<Fault>,
}

/// Judges crash points of a run, which must come in order.
///
/// Between two durable events the durable image does not change, so power may fail at any cycle from the one to the
/// next. A point is judged at its end, where the most is acknowledged: everything before the next durable event's
/// cycle. What is acknowledged in that very cycle may follow from that event, or precede it: no point is judged by it.
pub struct Walk<'o> {
    journal: &'o Journal,
    program: &'o dyn Recoverable,
    image: Memory,
    done: usize,
    judge: Judge<'o>,
}

impl<'o> Walk<'o> {
    /// A walk from the start of a run, when memory was `initial`, with the run's `regions`.
    pub fn new(journal: &'o Journal, regions: &'o Regions, initial: &Memory, program: &'o dyn Recoverable) -> Self {
        Walk {
            journal,
            program,
            image: initial.persistent_half(),
            done: 0,
            judge: Judge::new(regions, initial),
        }
    }

    /// How the crash after `event` durable events recovers: what is wrong, if anything.
    pub fn point(&mut self, event: usize) -> Option<Finding> {
        for durable in &self.journal.durable[self.done..event] {
            self.image.set_line(durable.line, &durable.data);
        }
        self.done = event;
        let (start, end) = window(self.journal, event);
        self.judge.advance(end);
        self.state(event, start)
    }

    /// Recovers and judges the image, where regions begun by `begun` may have left traces.
    fn state(&self, event: usize, begun: Cycles) -> Option<Finding> {
        let image = Rewind::new(&self.image);
        self.program.recover(&image);
        let broken = self.program.check(&image).err().map(|what| Fault::Structure { what });
        let stray = image.stray().map(|addr| Fault::Stray { addr });
        let writes = self.judge.verdict(&image, begun);
        let faults: Vec<Fault> = stray.or(broken).into_iter().chain(writes).collect();
        (!faults.is_empty()).then(|| Finding {
            event,
            at: self.earliest(event, &faults),
            faults,
        })
    }

    fn earliest(&self, event: usize, faults: &[Fault]) -> Cycles {
        let (start, _) = window(self.journal, event);
        match faults {
            [Fault::Lost { acknowledged, .. }] => start.max(*acknowledged),
            _ => start,
        }
    }

    /// The regions under way at the point where the walk stands, in words.
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
