//! Delegated Persist Ordering: fences order persists, and the controllers keep the order.
//!
//! What: each core has a persist buffer beside its L1. A store to persistent memory appends a copy
//! of its line, a fence appends an entry that ends an epoch. Entries drain in order, over a bus, to
//! the controllers' write queues, where a fence becomes a separator of epochs; within an epoch the
//! controller schedules freely. No core waits for a fence to drain. Dependences between cores are
//! found by coherence: a request that meets a core's youngest persist of the line, or an access that
//! the core has made since a fence, returns with the ID of that persist or fence, and the
//! requester's next entry waits until it has drained. Evictions of persistent lines from the LLC
//! are dropped.
//! Source: Delegated Persist Ordering (MICRO 2016), sections III and IV.
//!
//! Beyond the paper:
//! - *Durability.* The paper has no instruction that waits for durability, and its programs have
//!   none. A `dfence` is a fence which its core waits for until its epoch, and all before it, are
//!   durable. With `design.announces` no core waits, as in the paper: a task then ends, and a region
//!   is announced as durable, when that is true.
//! - *Inherited dependences.* A core that has met a dependence and then writes a volatile line has
//!   no entry that a third core could wait for, although fence cumulativity (Equation 6) orders the
//!   third core's persists, too. Buffers therefore keep the lines accessed since the oldest
//!   unresolved dependence in one more pair of filters, and pass these dependences on
//!   (`design.published`: they do not).
//! - *Permission before the store.* A reply that hands a line over clears the Youngest bit (IV-E,
//!   step 5) before the requester's store makes a persist of its own. Until then the reply's ID goes
//!   with the line: the core that takes it next depends on it, and one that misses it waits for it.
//! - *Directories.* A directory forwards requests to cores that no longer hold the line as long as
//!   their buffer has its youngest persist or an access to it. A drain is announced by messages
//!   instead of on the bus.
//! - *Several controllers.* A fence is a packet to each of them, and drains when all have it. It
//!   leaves when everything before it was accepted. A controller issues writes of an epoch once all
//!   controllers have told it that the epochs before are complete.
//! - *Delayed draining* (IV-F, "future work"): `design.delay`.
//! - *Cores that keep their stores in order (TSO).* A fence orders persists only and stalls nothing:
//!   an epoch is what lies between two fences in the store queue.
//!
//! With a write queue that is durable (ADR; the paper's PWQ), separators do not bind the queue.
//!
//! Simplified: a pair of filters is allocated to each fence and not looked for.

mod accesses;
mod buffer;
mod coherence;
mod core;
mod counts;
mod dependences;
mod draining;
mod epochs;
mod own;
pub(crate) mod rules;
mod settings;
#[cfg(test)]
mod tests;

use self::core::Core;
use crate::dpo::rules::Rule;
use crate::parts::dependence_wait::DependenceWait;
use counts::Counts;
use dependences::{BufferedKind, Id};
use epochs::Epochs;
use own::{Dfence, Gate, Message, Note, Own};
use settings::Settings;
use std::collections::BTreeMap;
use strandline_design::{
    About, Acceptance, Access, Admission, ControllerId, Counter, Counters, Departure, Design, Eviction, Forward, Held,
    Hook, Hosts, Level, Load, Needs, Occupancy, Ordering, Services, Sizes, Snoop, Store, Supply, Until, Wants, Write,
    WriteRequest,
};
use strandline_isa::{CoreId, Line, Lowering, Primitive};
use strandline_kernel::{Cycles, Param, Params};
use strandline_rules::kept;

/// Delegated Persist Ordering.
#[derive(Clone, Debug, Default)]
pub struct Dpo {
    settings: Settings,
    cores: Vec<Core>,
    epochs: Epochs,
    /// Lines that were handed over with a note, and not stored to since: the core that has the
    /// line, and the persist before its store.
    in_transit: BTreeMap<Line, (CoreId, Id)>,
    /// `dfence`s that have drained, with the epochs before them, which are not durable.
    durable_waits: Vec<(Dfence, Option<u64>)>,
    /// Cores for which loads are recorded or blocked.
    load_watchers: usize,
    counts: Counts,
}

/// Whether a primitive waits until everything before it is durable. Recorded x86 programs rely on
/// `sfence`, `mfence` and a `pcommit` for this.
fn is_durable(primitive: Primitive) -> bool {
    use Primitive::{Cfence, Dfence, JoinStrand, Mfence, Pcommit, Sfence};
    matches!(primitive, Dfence | Sfence | Mfence | Pcommit | JoinStrand | Cfence(_))
}

/// Whether a primitive is a fence in the persist buffer.
fn is_fence(primitive: Primitive) -> bool {
    use Primitive::{Ofence, PersistBarrier, StoreBarrier};
    is_durable(primitive) || matches!(primitive, StoreBarrier | Ofence | PersistBarrier)
}

impl Dpo {
    /// Allocates the buffers at the first use, when the machine's size is known.
    #[inline(always)]
    fn allocate(&mut self, hw: &dyn Services<Own>) {
        if self.cores.is_empty() {
            self.allocate_all(hw);
        }
    }

    #[cold]
    fn allocate_all(&mut self, hw: &dyn Services<Own>) {
        let cores = (0..hw.cores()).map(|core| Core::new(CoreId(core as u16), &self.settings));
        self.cores = cores.collect();
        self.epochs = Epochs::new(hw.cores(), hw.controllers());
    }

    fn core(&mut self, core: CoreId) -> &mut Core {
        &mut self.cores[core.index()]
    }

    /// What a core's L1 waits for, if it is blocked (DPO IV-D).
    fn blocked(&mut self, core: CoreId) -> Option<Until<Gate>> {
        let state = self.core(core);
        if !state.buffer.is_full() {
            return None;
        }
        state.blocks = true;
        Some(Until::Open(Gate::Unblocked(core)))
    }

    /// Appends the persist of a visible store, or coalesces it.
    fn persist(&mut self, hw: &mut dyn Services<Own>, core: CoreId, line: Line) {
        // Whoever stores to a line is the one to whom it was handed over last.
        let handed_over = self.in_transit.remove(&line);
        debug_assert!(handed_over.is_none_or(|(to, _)| to == core));
        let (data, delay) = (hw.visible_line(line), self.settings.delay);
        let held = Cycles(hw.now().0 + delay);
        let buffer = &mut self.cores[core.index()].buffer;
        if buffer.coalesce(line, data) {
            self.counts.coalesced += 1;
            return;
        }
        let waits = buffer.append_persist(line, data, held);
        self.counts.found(waits, BufferedKind::Persist);
    }

    /// Appends a fence that leaves the store queue.
    fn fence(&mut self, hw: &mut dyn Services<Own>, core: CoreId, primitive: Primitive) {
        let durable = is_durable(primitive);
        let state = self.core(core);
        let number = durable.then_some(state.entered);
        state.entered += u64::from(durable);
        let waits = self.cores[core.index()].buffer.append_fence(number);
        self.counts.found(waits, BufferedKind::Fence);
        if !hw.stores_in_order() && (!durable || self.settings.announces) {
            hw.open(Gate::Entered(core));
        }
        self.advance(hw, core);
    }
}

impl Design for Dpo {
    type Own = Own;

    fn about(&self) -> About {
        About {
            name: "dpo",
            paper: "Delegated Persist Ordering (MICRO 2016)",
            summary: "fences wait in persist buffers, and controllers keep epochs apart; no core waits (RCBSP)",
            needs: Needs {
                hosts: Hosts::Coherent("its flushes do nothing, so that a reader has no invalidate, and entries that others wait for are lost in the buffer of a failed host"),
                ..Needs::default()
            },
            promises_recovery: true,
            model: "rcbsp",
            intents: Some("intents"),
            window: None,
        }
    }

    fn params(&self) -> &'static [Param] {
        Settings::PARAMS
    }

    fn set(&mut self, params: &Params) {
        self.settings = Settings::of(params);
    }

    fn modes(&self) -> &'static [&'static str] {
        Settings::MODES
    }

    fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        self.settings.storage(machine)
    }

    fn buffers(&self, machine: &Sizes) -> Vec<Held> {
        self.settings.held(machine)
    }

    fn wants(&self) -> Wants {
        Wants {
            nt_cached: true,
            all_barriers: true,
            snoops_all: true,
            sharers_remembered: true,
            orders_evictions: true,
            ..Wants::default()
        }
    }

    fn lowering(&self) -> Lowering {
        Lowering {
            log: true,
            log_before_update: &[Primitive::StoreBarrier],
            commit: &[Primitive::StoreBarrier],
            durable: &[Primitive::Dfence],
            hand_over: &[Primitive::Dfence],
            ..Lowering::NOTHING
        }
    }

    /// On weak cores a fence is a `dmb`: younger loads and stores wait until it is in the buffer.
    fn primitive(&mut self, hw: &mut dyn Services<Own>, core: CoreId, primitive: Primitive) -> Admission<Gate> {
        self.allocate(hw);
        let weak = !hw.stores_in_order();
        if is_durable(primitive) {
            let state = self.core(core);
            let gate = Gate::Durable((core, state.dfences));
            state.dfences += 1;
            if !self.settings.announces {
                let loads = weak || primitive == Primitive::Mfence;
                let until = Until::Open(gate);
                return Admission::EnterHeld { until, loads };
            }
            hw.announce_when(core, gate);
        }
        match is_fence(primitive) {
            true if weak => Admission::EnterHeld {
                until: Until::Open(Gate::Entered(core)),
                loads: true,
            },
            true => Admission::Enter,
            false => Admission::Pass,
        }
    }

    fn load(&mut self, hw: &mut dyn Services<Own>, core: CoreId, load: Load) -> Forward<Gate> {
        self.allocate(hw);
        if let Some(until) = self.blocked(core) {
            return Forward::Wait(until);
        }
        if self.load_watchers == 0 {
            hw.skip(Hook::Load);
        }
        self.core(core).buffer.record_read(load.addr.line());
        let after = Cycles(0);
        Forward::Caches { after }
    }

    fn store(&mut self, hw: &mut dyn Services<Own>, core: CoreId, _: Write) -> Departure<Gate> {
        self.allocate(hw);
        self.blocked(core).map_or(Departure::Go, Departure::Wait)
    }

    fn visible(&mut self, hw: &mut dyn Services<Own>, core: CoreId, store: Store) {
        let line = store.line();
        self.core(core).buffer.record_write(line);
        if store.addr.is_persistent() {
            self.persist(hw, core, line);
            self.advance(hw, core);
        }
    }

    /// A flush does nothing: what was stored drains by itself.
    fn departs(
        &mut self,
        hw: &mut dyn Services<Own>,
        core: CoreId,
        ordering: Ordering,
        context: u8,
    ) -> Departure<Gate> {
        self.allocate(hw);
        match ordering {
            Ordering::Flush(..) => {
                hw.acknowledge(core, context);
                Departure::Keep
            }
            Ordering::Primitive(primitive) if is_fence(primitive) => match self.blocked(core) {
                Some(until) => Departure::Wait(until),
                None => {
                    self.fence(hw, core, primitive);
                    Departure::Go
                }
            },
            _ => Departure::Go,
        }
    }

    fn acknowledged(&mut self, hw: &mut dyn Services<Own>, _: CoreId, tag: Id) {
        self.drained(hw, tag);
    }

    fn snooped(
        &mut self,
        hw: &mut dyn Services<Own>,
        owner: CoreId,
        requester: CoreId,
        line: Line,
        access: Access,
    ) -> Snoop<Gate, Note> {
        self.allocate(hw);
        let note = self.note_for(owner, requester, line, access);
        // A persist that a core depends on is not held back.
        self.advance(hw, owner);
        Snoop::Grant(note)
    }

    fn is_shared(&self, requester: CoreId, line: Line) -> bool {
        // A core that got the line to store to may lose it before its store. Whoever has it alone would store without asking that core.
        let handed_over = self.in_transit.get(&line).is_some_and(|(to, _)| *to != requester);
        let others = self.cores.iter().enumerate();
        let mut others = others.filter(|(core, _)| *core != requester.index());
        handed_over || others.any(|(_, other)| other.buffer.watches(line))
    }

    fn replied(&mut self, hw: &mut dyn Services<Own>, requester: CoreId, _: CoreId, line: Line, note: Note) {
        for dependence in note.dependences {
            self.core(requester).buffer.accumulate(dependence);
        }
        if let Some(id) = note.hands_over {
            self.in_transit.insert(line, (requester, id));
        }
        self.note(hw, requester);
    }

    fn evicted(&mut self, _: &mut dyn Services<Own>, _: CoreId, level: Level, _: Line) -> Eviction<Gate> {
        match level {
            Level::Private => Eviction::WriteBack,
            Level::Llc => Eviction::Drop,
        }
    }

    /// The buffer with the youngest persist supplies the line; it was snooped with the caches.
    fn missed(&mut self, hw: &mut dyn Services<Own>, _: CoreId, line: Line, _: Access) -> Supply<Gate> {
        self.allocate(hw);
        if let Some((_, data)) = self.cores.iter().find_map(|core| core.buffer.youngest(line)) {
            return Supply::Bytes(hw.to_core(), data);
        }
        match self.in_transit.contains_key(&line) {
            true => Supply::Wait(Until::Open(Gate::Drained(line))),
            false => Supply::Memory,
        }
    }

    fn arrived(
        &mut self,
        hw: &mut dyn Services<Own>,
        controller: ControllerId,
        write: &WriteRequest<Id>,
    ) -> Acceptance<Gate> {
        let Some(id) = write.tag else {
            return Acceptance::Queue;
        };
        if !hw.adr() {
            self.epochs.accept(controller, id);
        }
        Acceptance::Queue
    }

    /// Under PWQ what is queued is durable, so that separators bind no write (II-B).
    fn may_coalesce(&self, _: ControllerId, queued: &WriteRequest<Id>, write: &WriteRequest<Id>) -> bool {
        let (Some(queued), Some(_)) = (queued.tag, write.tag) else {
            return true;
        };
        kept(Rule::QueueCoalescesWithinEpoch, self.epochs.joins(queued), || true)
    }

    fn may_issue(&self, controller: ControllerId, write: &WriteRequest<Id>) -> bool {
        let may = |id| self.epochs.may_issue(controller, id);
        kept(Rule::SeparatorsBind, write.tag.is_none_or(may), || true)
    }

    fn coalesced(&mut self, hw: &mut dyn Services<Own>, controller: ControllerId, write: &WriteRequest<Id>) {
        self.reached_media(hw, controller, write);
    }

    fn reached_media(&mut self, hw: &mut dyn Services<Own>, controller: ControllerId, write: &WriteRequest<Id>) {
        if let Some(id) = write.tag {
            self.epochs.complete(controller, id);
            self.report_epochs(hw);
            self.join(hw);
        }
    }

    fn message(&mut self, hw: &mut dyn Services<Own>, message: Message) {
        match message {
            Message::Fence(core) => self.separate(hw, core),
            Message::Drained(id) => self.observe(hw, id),
            Message::Durable(dfence) => hw.open(Gate::Durable(dfence)),
            Message::Complete(controller, oldest) => {
                self.epochs.learn(controller, oldest);
                (0..hw.controllers()).for_each(|index| hw.look_at_queue(ControllerId(index as u16)));
            }
            Message::Late(core) => {
                self.core(core).timer = false;
                self.advance(hw, core);
            }
        }
    }

    fn own_counters(&self) -> &'static [Counter] {
        counts::OWN
    }

    fn counters(&self, now: Cycles) -> Counters {
        let blocked_l1 = self.cores.iter().map(|core| core.blocked_l1.cycles_at(now, 1)).sum();
        let (blocking, waited) = DependenceWait::sum(self.cores.iter().map(|core| &core.waits), now);
        Counters {
            // Nothing but a dependence keeps the oldest entry from draining.
            blocked_cycles: Some(waited),
            blocking_dependences: Some(blocking),
            dependence_wait_cycles: Some(waited),
            buffer_occupancy: Some(Occupancy::sum(self.cores.iter().map(|core| &core.occupancy), now)),
            ..self.counts.counters(blocked_l1)
        }
    }

    fn waits(&self) -> Vec<String> {
        let stuck = self.cores.iter().enumerate().flat_map(|(core, state)| {
            let oldest = state.buffer.entries().find(|(_, entry)| !entry.waits.is_empty());
            oldest.map(|(number, entry)| {
                let on: Vec<String> = entry
                    .waits
                    .iter()
                    .map(|d| format!("{}:{}", d.on.core.0, d.on.number))
                    .collect();
                format!("entry {core}:{number} waits for {} to drain", on.join(", "))
            })
        });
        let fences = self.durable_waits.iter().map(|((core, _), epoch)| match epoch {
            Some(epoch) => format!("{core}'s dfence waits for epoch {epoch} to be durable"),
            None => format!("{core}'s dfence waits for nothing"),
        });
        stuck.chain(fences).collect()
    }
}
