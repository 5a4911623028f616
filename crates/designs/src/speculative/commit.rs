//! The commit of epochs, and the replay of the buffer (Speculative Persistence, sections 4.2.1 and
//! 4.2.2): in order, an entry a cycle, and an epoch only when everything before it is done.

use super::buffer::{Kept, What};
use super::core_state::Busy;
use super::own::{Gate, Message, Own, Tag};
use super::Speculative;
use crate::parts::pcommits::CommitId;
use crate::speculative::rules::Rule;
use strandline_design::{Services, StoreId};
use strandline_isa::{CoreId, Flush};
use strandline_kernel::Cycles;
use strandline_rules::broken;

impl Speculative {
    /// Commits and replays what can be.
    pub(super) fn advance(&mut self, hw: &mut dyn Services<Own>, core: CoreId) {
        while self.core(core).busy == Busy::No && (self.commits(hw, core) || self.replays(hw, core)) {}
        self.end_speculation(core);
    }

    /// Commits the oldest epoch if everything before it is done; whether something was done.
    fn commits(&mut self, hw: &mut dyn Services<Own>, core: CoreId) -> bool {
        let state = self.core(core);
        let Some(epoch) = state.epochs.front() else {
            return false;
        };
        let early = broken(Rule::SpAwaitsPcommit) && state.buffer.front().is_none_or(|kept| kept.id > epoch.after);
        if !epoch.drained && !early || epoch.waits {
            return false;
        }
        if let (true, Some(kept)) = (epoch.locked, state.buffer.front()) {
            self.perform(hw, core, kept.id);
            return true;
        }
        let Some(epoch) = state.epochs.pop_front() else {
            return false;
        };
        state.table.commit(epoch.number);
        if state.epochs.is_empty() {
            state.table.clear();
        }
        if let Some(checkpoint) = epoch.checkpoint {
            hw.release(core, checkpoint);
        }
        hw.open(Gate::Certain(core, epoch.number));
        self.grant(hw, core);
        self.tell_progress(hw, core);
        true
    }

    /// Gives a free checkpoint to the epoch whose fence waits for one.
    fn grant(&mut self, hw: &mut dyn Services<Own>, core: CoreId) {
        let most = self.settings.checkpoints;
        let state = self.core(core);
        let free = state.used() < most;
        if let Some(youngest) = state.epochs.back_mut().filter(|epoch| epoch.waits && free) {
            youngest.waits = false;
            hw.open(Gate::Granted(core, youngest.number));
        }
    }

    /// Lets the oldest entry leave the buffer, if it is not speculative and the port is free;
    /// whether one did.
    fn replays(&mut self, hw: &mut dyn Services<Own>, core: CoreId) -> bool {
        let state = self.core(core);
        let Some(kept) = state.buffer.front() else { return false };
        let early = broken(Rule::SpStoresWaitForCommit) && matches!(kept.what, What::Store(_));
        if state.is_speculative(kept.id) && !early {
            return false;
        }
        if let What::Store(_) = kept.what {
            self.perform(hw, core, kept.id);
            return true;
        }
        let free = hw.now() >= state.port;
        if free {
            self.execute(hw, core, kept);
        } else if !std::mem::replace(&mut state.asks_port, true) {
            hw.send(state.port, Message::Port(core));
        }
        free
    }

    /// Performs a store when the port is free.
    fn perform(&mut self, hw: &mut dyn Services<Own>, core: CoreId, id: StoreId) {
        let state = self.core(core);
        state.busy = Busy::Store(id);
        hw.perform(core, id, state.port);
    }

    /// Executes a PMEM instruction that was delayed.
    fn execute(&mut self, hw: &mut dyn Services<Own>, core: CoreId, kept: Kept) {
        self.left(hw, core, kept.id);
        match kept.what {
            What::Flush(line, Flush::Clflush, context) => {
                self.core(core).busy = Busy::Clflush;
                hw.flush_line(core, line, Flush::Clflush, Tag::Clflush(context));
            }
            What::Flush(line, flush, context) => hw.flush_line(core, line, flush, Tag::Flush(context)),
            What::Pcommit(context) => self.pcommit(hw, core, context),
            What::Store(_) => unreachable!("a store is performed"),
        }
    }

    /// An entry has left the buffer.
    pub(super) fn left(&mut self, hw: &mut dyn Services<Own>, core: CoreId, id: StoreId) {
        let now = hw.now();
        let state = self.core(core);
        state.buffer.remove(id);
        state.port = Cycles(now.0 + 1);
        state.occupancy.set(now, state.buffer.len());
        self.tell_progress(hw, core);
    }

    /// Wakes those that wait for a commit or for room, if anybody does.
    pub(super) fn tell_progress(&mut self, hw: &mut dyn Services<Own>, core: CoreId) {
        if std::mem::take(&mut self.core(core).awaited) {
            hw.open(Gate::Progress(core));
        }
    }

    /// Sends a `pcommit` to all controllers.
    pub(super) fn pcommit(&mut self, hw: &mut dyn Services<Own>, core: CoreId, context: u8) {
        self.core(core).in_flight += 1;
        self.pcommits.send(hw, core, context, Tag::Pcommit);
    }

    /// A controller has answered a `pcommit`.
    pub(super) fn answered(&mut self, hw: &mut dyn Services<Own>, core: CoreId, commit: CommitId) {
        let one = broken(Rule::SpAwaitsEveryController);
        if let Some(context) = self.pcommits.replied(commit, one) {
            hw.acknowledge(core, context);
            self.core(core).in_flight -= 1;
        }
    }
}
