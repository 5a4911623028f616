//! Drains: from the persist buffers to the controllers, and what they end.

use super::buffer::Drain;
use super::dependences::Id;
use super::own::{Gate, Message, Own};
use super::Dpo;
use crate::dpo::rules::Rule;
use strandline_design::{ByteMask, ControllerId, Hook, Services};
use strandline_isa::CoreId;
use strandline_rules::kept;

impl Dpo {
    /// Drains what may drain of a core's buffer, after a change, and notes its state.
    pub(super) fn advance(&mut self, hw: &mut dyn Services<Own>, core: CoreId) {
        if let Some((number, drain)) = self.start_drain(hw, core) {
            match drain {
                Drain::Persist(line, data) => {
                    hw.write_in_order(core, line, data, ByteMask::ALL, Id { core, number });
                }
                Drain::Fence => self.send_fence(hw, core),
            }
        }
        self.time(hw, core);
        self.note(hw, core);
    }

    /// The next entry of a core that may drain.
    fn start_drain(&mut self, hw: &mut dyn Services<Own>, core: CoreId) -> Option<(u64, Drain)> {
        let fences = hw.adr() || self.epochs.separators() < self.settings.separators;
        self.core(core).buffer.start_drain(hw.now(), fences)
    }

    fn send_fence(&mut self, hw: &mut dyn Services<Own>, core: CoreId) {
        for controller in 0..hw.controllers() {
            hw.send_in_order(core, ControllerId(controller as u16), Message::Fence(core));
        }
    }

    /// An epoch is complete: all fences that have waited for this drain before anything behind them
    /// does, so that they end one epoch.
    pub(super) fn join(&mut self, hw: &mut dyn Services<Own>) {
        if self.epochs.separators() >= self.settings.separators {
            return;
        }
        let cores = (0..self.cores.len()).map(|index| CoreId(index as u16));
        let waiting: Vec<CoreId> = cores.filter(|core| self.core(*core).buffer.has_fence_next()).collect();
        for core in &waiting {
            if let Some((_, Drain::Fence)) = self.start_drain(hw, *core) {
                self.send_fence(hw, *core);
            }
        }
        for core in waiting {
            self.advance(hw, core);
        }
    }

    /// Starts a timer for the oldest persist if that is held back.
    fn time(&mut self, hw: &mut dyn Services<Own>, core: CoreId) {
        let state = self.core(core);
        let held = state
            .buffer
            .held_until()
            .filter(|held| *held > hw.now() && !state.timer);
        if let Some(held) = held {
            state.timer = true;
            hw.send(held, Message::Late(core));
        }
    }

    /// Notes a core's occupancy, and whether its loads matter.
    pub(super) fn note(&mut self, hw: &mut dyn Services<Own>, core: CoreId) {
        let now = hw.now();
        let state = self.core(core);
        let full = state.buffer.is_full();
        state.occupancy.set(now, state.buffer.occupied());
        state.blocked_l1.set(now, usize::from(full));
        state.waits.note(now, state.buffer.waits_for_others());
        if !full && std::mem::take(&mut state.blocks) {
            hw.open(Gate::Unblocked(core));
        }
        let watches = full || state.buffer.records_reads();
        if watches != state.watches_loads {
            self.watch_loads(hw, core, watches);
        }
    }

    /// A core's loads matter from now on, or no more.
    fn watch_loads(&mut self, hw: &mut dyn Services<Own>, core: CoreId, watches: bool) {
        self.core(core).watches_loads = watches;
        match watches {
            true => self.load_watchers += 1,
            false => self.load_watchers -= 1,
        }
        match (watches, self.load_watchers) {
            (true, 1) => hw.ask_again(Hook::Load),
            (false, 0) => hw.skip(Hook::Load),
            _ => {}
        }
    }

    /// A core's entry has drained: it frees the entry, and the other cores observe it.
    pub(super) fn drained(&mut self, hw: &mut dyn Services<Own>, id: Id) {
        self.counts.drains += 1;
        if let Some(line) = self.core(id.core).buffer.drained(id.number) {
            if self.in_transit.get(&line).is_some_and(|(_, on)| *on == id) {
                self.in_transit.remove(&line);
                hw.open(Gate::Drained(line));
            }
        }
        match hw.broadcasts() {
            true => self.observe(hw, id),
            false => hw.send(hw.now() + hw.to_core(), Message::Drained(id)),
        }
        self.advance(hw, id.core);
    }

    /// The other cores observe that an entry, and all its core's older ones, have drained.
    pub(super) fn observe(&mut self, hw: &mut dyn Services<Own>, id: Id) {
        for index in 0..self.cores.len() {
            let core = CoreId(index as u16);
            if core != id.core && self.core(core).buffer.resolve(id) {
                self.advance(hw, core);
            }
        }
    }

    /// A core's fence has reached a controller; when it has reached all, it ends an epoch.
    pub(super) fn separate(&mut self, hw: &mut dyn Services<Own>, core: CoreId) {
        let controllers = hw.controllers();
        let state = self.core(core);
        state.fence_at += 1;
        if state.fence_at < controllers {
            return;
        }
        state.fence_at = 0;
        let Some((number, durable)) = state.buffer.fence_first() else {
            unreachable!("the fence on its way is the oldest entry");
        };
        let epoch = self.epochs.separate();
        self.counts.epochs += 1;
        if let Some(dfence) = durable {
            self.durable_waits.push(((core, dfence), epoch));
        }
        self.report_epochs(hw);
        self.drained(hw, Id { core, number });
        self.join(hw);
    }

    /// Controllers announce the epochs that they have completed, and cores learn what is durable.
    pub(super) fn report_epochs(&mut self, hw: &mut dyn Services<Own>) {
        let later = hw.now() + hw.to_core();
        if hw.controllers() > 1 && !hw.adr() {
            for controller in (0..hw.controllers()).map(|index| ControllerId(index as u16)) {
                let oldest = self.epochs.oldest(controller);
                if self.epochs.announce(controller, oldest) {
                    hw.send(later, Message::Complete(controller, oldest));
                }
            }
        }
        let (adr, epochs) = (kept(Rule::DurableAwaitsEpochs, hw.adr(), || true), &self.epochs);
        self.durable_waits.retain(|(dfence, epoch)| {
            let done = adr || epochs.is_complete(*epoch);
            if done {
                hw.send(later, Message::Durable(*dfence));
            }
            !done
        });
    }
}
