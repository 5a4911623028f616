//! One core's side of persist buffers.

use super::{Buffer, Epochs, Follows};
use std::collections::BTreeMap;
use strandline_design::Occupancy;
use strandline_isa::CoreId;
use strandline_kernel::Cycles;

/// A core's buffer and epochs, and what waits for them.
#[derive(Clone, Debug)]
pub struct Side {
    /// Its writes.
    pub buffer: Buffer,
    /// Its epochs.
    pub epochs: Epochs,
    /// A store waits for room in the buffer.
    pub waits_for_room: bool,
    /// Somebody waits for room in the epoch table.
    pub waits_for_epoch: bool,
    /// A fence waits for this epoch and all before it to be durable.
    pub fence: Option<u64>,
    /// Epochs with writes that were refused: while there are any, flushing is conservative.
    pub refused: Vec<u64>,
    /// Lines on their way out of the private caches wait for these entries to be acknowledged.
    pub tails: Vec<u64>,
    /// The newest entry that has waited for stores to join it for long enough.
    pub gathered: Option<u64>,
    /// It will be told when that has been long enough.
    pub gathers: bool,
    /// The next store is a release.
    pub releases: bool,
    /// The epoch of the last release.
    pub released: Option<u64>,
    /// The newest epoch that depends on another core's.
    depends: Option<u64>,
    contexts: Contexts,
    occupancy: Occupancy,
    blocked: Occupancy,
}

/// What the tasks that share the core have written.
#[derive(Clone, Debug, Default)]
struct Contexts {
    current: u8,
    /// The current one has written since it goes on.
    wrote: bool,
    /// The epochs in which the others wrote last.
    last: BTreeMap<u8, u64>,
}

impl Side {
    pub(crate) fn new(core: CoreId, entries: usize) -> Side {
        Side {
            buffer: Buffer::new(entries),
            epochs: Epochs::new(core),
            waits_for_room: false,
            waits_for_epoch: false,
            fence: None,
            refused: Vec::new(),
            tails: Vec::new(),
            gathered: None,
            gathers: false,
            releases: false,
            released: None,
            depends: None,
            contexts: Contexts::default(),
            occupancy: Occupancy::default(),
            blocked: Occupancy::default(),
        }
    }

    /// The current context writes.
    pub fn writes(&mut self) {
        self.contexts.wrote = true;
    }

    /// The current epoch depends on another core's.
    pub fn depends(&mut self) {
        self.depends = Some(self.epochs.current());
    }

    /// Another context goes on: what it writes is of later epochs than what the last one wrote.
    pub fn switch(&mut self, to: u8) {
        let contexts = &mut self.contexts;
        if std::mem::take(&mut contexts.wrote) {
            contexts.last.insert(contexts.current, self.epochs.current());
            self.epochs.begin(Follows::Current);
        }
        contexts.current = to;
    }

    /// Ends the current epoch for a fence of the current context: the epoch that it waits for. It need not wait for what other
    /// contexts have written since its own last write.
    pub fn fences(&mut self) -> Option<u64> {
        let current = self.epochs.current();
        let newest = match self.epochs.begin(Follows::Current) {
            true => Some(current),
            false => current.checked_sub(1),
        };
        let contexts = &self.contexts;
        let own = match contexts.wrote {
            true => newest,
            false => contexts.last.get(&contexts.current).copied(),
        };
        own.max(self.depends).min(newest)
    }

    /// The oldest entry that waits for stores to join it, if fewer than `most` do: those of the current epoch, while nobody waits
    /// for them.
    pub fn kept(&self, most: usize) -> Option<u64> {
        if self.waits_for_room || !self.tails.is_empty() {
            return None;
        }
        let (oldest, waiting) = self.buffer.waiting(self.epochs.current(), self.gathered)?;
        (waiting < most).then_some(oldest)
    }

    /// Notes how full the buffer is from now on, and whether it holds writes that wait and may send none of them.
    pub fn note(&mut self, now: Cycles, blocked: bool) {
        self.occupancy.set(now, self.buffer.occupied());
        self.blocked.set(now, usize::from(blocked));
    }

    /// How long so many entries were in use.
    pub fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }

    /// For how long writes waited and none of them might be sent.
    pub fn blocked(&self, now: Cycles) -> u64 {
        self.blocked.cycles_at(now, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side() -> Side {
        Side::new(CoreId(0), 4)
    }

    fn write(side: &mut Side) {
        side.writes();
        side.epochs.wrote();
    }

    #[test]
    fn a_fence_waits_for_the_epoch_that_it_ends() {
        let mut side = side();
        assert_eq!(side.fences(), None, "nothing was written");
        write(&mut side);
        assert_eq!((side.fences(), side.epochs.current()), (Some(0), 1));
        assert_eq!(side.fences(), Some(0), "nothing was written since");
    }

    #[test]
    fn a_context_that_goes_on_waits_for_its_own_writes_only() {
        let mut side = side();
        side.switch(1);
        write(&mut side);
        side.switch(2);
        write(&mut side);
        side.switch(1);
        assert_eq!(side.fences(), Some(0));
        side.switch(2);
        assert_eq!(side.fences(), Some(1));
        side.switch(1);
        write(&mut side);
        assert_eq!(side.fences(), Some(2), "it has written again");
    }

    #[test]
    fn a_fence_waits_for_what_any_context_depends_on() {
        let mut side = side();
        side.switch(1);
        write(&mut side);
        side.switch(2);
        let number = 5;
        let core = CoreId(1);
        side.epochs.depend(super::super::EpochId { core, number });
        side.depends();
        side.switch(1);
        assert_eq!(side.fences(), Some(1));
    }
}
