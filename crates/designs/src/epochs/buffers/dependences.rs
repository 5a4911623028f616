//! Dependences on other cores' epochs.

use super::{EpochId, Gate, PersistBuffers, Persistency};
use crate::epochs::rules::Rule;
use strandline_design::{Snoop, Until};
use strandline_isa::{CoreId, Line};
use strandline_rules::kept;

impl PersistBuffers {
    /// Where reads create no dependence, a write to a line that another core or another strand has
    /// written orders later writes behind that write (StrandWeaver, Equation 3): what to wait for
    /// if an epoch table is full. The store creates the dependence, not the request: a line may
    /// arrive before a younger strand has begun, or a load may fetch it before the store without
    /// another request.
    pub(super) fn follow_last_writer(&mut self, core: CoreId, line: Line) -> Option<Gate> {
        let rule = match self.persistency {
            Persistency::Epoch => return None,
            Persistency::Release => Rule::LinesDepend,
            Persistency::Strand => Rule::StrandsOfALineInOrder,
        };
        let last = kept(rule, self.writers.of(line), || None)?;
        if self.is_ordered_after(core, last) {
            return None;
        }
        if let Some(gate) = self.request_epoch(core).or_else(|| self.request_epoch(last.core)) {
            return Some(gate);
        }
        if last.core != core {
            self.end_for(last, core);
            self.dependences += 1;
        }
        self.depend(core, last);
        None
    }

    /// Whether a core's current epoch needs no dependence on this one.
    #[inline]
    fn is_ordered_after(&mut self, core: CoreId, last: EpochId) -> bool {
        let epochs = &self.core(core).epochs;
        let follows = match last.core == core {
            true => epochs.follows(last.number),
            false => epochs.awaits(last),
        };
        follows || self.core(last.core).epochs.is_durable(last.number)
    }

    /// Ends an epoch on which one of another core's is to depend.
    fn end_for(&mut self, epoch: EpochId, dependent: CoreId) {
        self.counting(epoch.core, |state| state.epochs.add_dependent(epoch.number, dependent));
        self.note_changed(epoch.core);
    }

    fn depend(&mut self, core: CoreId, on: EpochId) {
        self.counting(core, |state| {
            state.epochs.depend_on(on);
            state.note_dependence();
        });
    }

    /// Replies to another core's request for a line: if this core's epochs carry a dependence there
    /// that is not durable, the reply names the epoch that the requester's next one awaits. Where
    /// an epoch table is full, the request waits.
    pub fn snooped<G: From<Gate>>(&mut self, owner: CoreId, requester: CoreId, line: Line) -> Snoop<G, EpochId> {
        let carried = self.carried(owner, line);
        if carried.is_none_or(|number| self.core(owner).epochs.is_durable(number)) {
            return Snoop::Grant(None);
        }
        for core in [owner, requester] {
            if let Some(gate) = self.request_epoch(core) {
                return Snoop::Wait(Until::Open(gate.into()));
            }
        }
        // A core replies with its current epoch and begins a new one (ASAP IV-E).
        let number = self.core(owner).epochs.current();
        let epoch = EpochId { core: owner, number };
        self.end_for(epoch, requester);
        Snoop::Grant(Some(epoch))
    }

    /// The owner's epoch that the requester's next one awaits, if the access creates a dependence.
    fn carried(&self, owner: CoreId, line: Line) -> Option<u64> {
        match self.persistency {
            Persistency::Epoch => self.writers.write_of(owner, line),
            Persistency::Release => self.writers.release_of(owner, line),
            Persistency::Strand => None,
        }
    }

    /// Begins an epoch of the requester that depends on the one in the owner's reply.
    pub fn replied(&mut self, requester: CoreId, on: EpochId) {
        self.dependences += 1;
        self.depend(requester, on);
        self.note_changed(requester);
    }
}
