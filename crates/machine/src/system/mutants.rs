//! What planted bugs of the machine do that its text does not: more than to leave something out, or to take another value.

use super::hardware::{Hardware, ProgramState};
use super::running::Running;
use crate::core::{Entry, EntryKind, StoreQueue};
use strandline_design::{ControllerId, Place, WriteId};
use strandline_isa::{CoreId, Line};
use strandline_rules::time::Rule as Time;
use strandline_rules::{broken, Rule};

impl Hardware {
    /// Whether the waiters of a core hear nothing of what has completed. [`Hardware::repair_wakes`] wakes them.
    #[inline(always)]
    pub(super) fn loses_wake(&self, core: CoreId) -> bool {
        let others_run = || {
            let mut others = self.harts.iter().filter(|hart| hart.core.id != core);
            others.any(|hart| !matches!(hart.state, ProgramState::Ended))
        };
        broken(Time::WokenByItsOwn) && others_run() || broken(Time::EveryWakeArrives) && self.now() % 3 == 0
    }

    /// Wakes the waiters of the other cores, of whose wakes some are lost.
    #[cold]
    pub(super) fn repair_wakes(&mut self, by: Option<CoreId>) {
        for core in 0..self.harts.len() {
            let core = CoreId(core as u16);
            if by != Some(core) {
                self.look_at_waits(core);
            }
        }
    }

    /// Zeroes the words of a line's latest write that a write-combining buffer did not hold.
    pub(super) fn zero_unwritten(&mut self, line: Line, mask: u64) {
        let Some(id) = self.writes.unaccepted(line) else {
            return;
        };
        let data = &mut self.writes.get_mut(id).data;
        for (word, bytes) in data.iter_mut().zip(mask.to_le_bytes()) {
            if bytes == 0 {
                *word = 0;
            }
        }
    }
}

impl Running {
    /// Whether a write leaves the queued write with which it coalesces as it is.
    pub(super) fn keeps_queued_bytes(&self, controller: ControllerId, queued: WriteId) -> bool {
        let issued = || self.hw.controllers[controller.0 as usize].has_issued(queued);
        broken(Rule::CoalescingTakesNewer) || broken(Rule::CoalescingBeforeIssue) && issued()
    }

    /// A write is durable once it is issued.
    pub(super) fn save_issued(&mut self, at: u64, write: WriteId) {
        if self.durable_from <= Place::Queue && self.hw.keeps_durable() {
            let request = *self.hw.writes.get(write);
            self.persist(at, &request);
        }
    }
}

/// A flush that is ready before it reaches the head and leaves all the same.
pub(super) fn overtaking_flush(queue: &StoreQueue, at: u64) -> Option<&Entry> {
    if !broken(Rule::FlushBehindStores) {
        return None;
    }
    let flush = |e: &&Entry| matches!(e.kind, EntryKind::Flush(_)) && e.ready <= at;
    queue.iter().find(flush)
}

/// Whether non-temporal stores count as done once they have joined a write-combining buffer.
pub(super) fn awaits_no_combined() -> bool {
    broken(Rule::FenceSendsCombined) || broken(Rule::FenceAwaitsCombined)
}
