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
//!   with the line: whoever takes it next depends on it, and who misses it waits for it.
//! - *Directories.* A directory forwards requests to cores that no longer hold the line as long as
//!   their buffer has its youngest persist or an access to it. A drain is announced by messages
//!   instead of on the bus.
//! - *Several controllers.* A fence is a packet to each of them, and drains when all have it and
//!   everything before it. A controller issues writes of an epoch once all controllers have told it
//!   that the epochs before are complete.
//! - *Delayed draining* (IV-F, "future work"): `design.delay`.
//! - *Cores that keep their stores in order (TSO).* A fence orders persists only and stalls nothing:
//!   an epoch is what lies between two fences in the store queue.
//!
//! With a write queue that is durable (ADR; the paper's PWQ), separators do not bind the queue.
//!
//! Simplified: a pair of filters is allotted to each fence and not looked for.

mod buffer;
mod counts;
mod dependences;
mod epochs;
#[cfg(test)]
mod tests;

use buffer::{Content, Drain, PersistBuffer, FILTER_BYTES};
use counts::Counts;
use dependences::{Dependence, Id, Kind};
use epochs::Epochs;
use std::collections::BTreeMap;
use strandline_design::{
    About, Acceptance, Access, Admission, ByteMask, ControllerId, Counter, Counters, Departure, Design, Entry,
    Eviction, Forward, Hook, Level, Load, Needs, Occupancy, Services, Sizes, Snoop, Store, Supply, Types, Until,
    WriteRequest,
};
use strandline_isa::{CoreId, Line, Lowering, Primitive};
use strandline_kernel::{Cycles, Param, Params};
use strandline_rules::{broken, Rule};

const ENTRIES: Param = Param {
    name: "entries",
    default: 8,
    min: 1,
    max: 4096,
    help: "entries of a core's persist buffer, fences among them",
};
const FENCES: Param = Param {
    name: "fences",
    default: 4,
    min: 1,
    max: 4096,
    help: "fences that a core's persist buffer holds at once",
};
const PUBLISHED: Param = Param {
    name: "published",
    default: 0,
    min: 0,
    max: 1,
    help: "1: no core passes on dependences that it has met without a persist or fence of its own, as in the paper",
};
const ANNOUNCES: Param = Param {
    name: "announces",
    default: 0,
    min: 0,
    max: 1,
    help: "1: no core waits for durability; what a program announces after a dfence becomes true when it is durable",
};
const SEPARATORS: Param = Param {
    name: "separators",
    default: 1,
    min: 1,
    max: 1 << 16,
    help: "separators in the write queues at once: further fences wait in their buffers, and end one epoch together",
};
const DELAY: Param = Param {
    name: "delay",
    default: 0,
    min: 0,
    max: 1_000_000,
    help: "cycles for which a persist that nothing waits for is held back, to coalesce more",
};

/// Bytes of an entry and of AccumDP (DPO IV-D).
const ENTRY_BYTES: u64 = 72;
const ACCUMULATED_BYTES: u64 = 64;

/// Delegated Persist Ordering.
#[derive(Clone, Debug)]
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

#[derive(Clone, Copy, Debug)]
struct Settings {
    entries: usize,
    fences: usize,
    published: bool,
    announces: bool,
    separators: u64,
    delay: u64,
}

/// A core's buffer, and what waits for it.
#[derive(Clone, Debug)]
struct Core {
    buffer: PersistBuffer,
    /// Its `dfence`s that were dispatched, and those that have entered the buffer.
    dfences: u64,
    entered: u64,
    /// Something waits until the L1 is no longer blocked.
    blocks: bool,
    /// Loads are recorded or blocked.
    watches_loads: bool,
    /// Controllers that its oldest fence on its way has reached.
    fence_at: usize,
    /// A write waits at a controller for the fence before it.
    write_waits: bool,
    /// A timer of a persist that is held back runs.
    timer: bool,
    occupancy: Occupancy,
    blocked_l1: Occupancy,
    blocked_drain: Occupancy,
}

/// The types of Delegated Persist Ordering.
#[derive(Clone, Copy, Debug)]
pub struct Own;

/// A `dfence`: its core, and its number among those of the core.
type Dfence = (CoreId, u64);

/// A gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// A core's L1 is not blocked.
    Unblocked(CoreId),
    /// A core's fence is in its persist buffer.
    Entered(CoreId),
    /// What precedes a `dfence` is durable.
    Durable(Dfence),
    /// A core's fence has drained.
    Separated(CoreId),
    /// A persist of the line has drained.
    Drained(Line),
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub enum Message {
    /// A core's fence has reached a controller.
    Fence(CoreId),
    /// Other cores learn that an entry has drained.
    Drained(Id),
    /// A core learns that what precedes its `dfence` is durable.
    Durable(Dfence),
    /// The other controllers learn that every epoch before this one is complete in a controller.
    Complete(ControllerId, u64),
    /// A persist has been held back long enough.
    Late(CoreId),
}

/// The annotation of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The dependences of the requester's next entry.
    dependences: Vec<Dependence>,
    /// The line is handed over: the persist that was its youngest.
    hands_over: Option<Id>,
}

impl Types for Own {
    type Gate = Gate;
    type Message = Message;
    type Tag = Id;
    type Note = Note;
}

impl Default for Dpo {
    fn default() -> Self {
        Dpo {
            settings: Settings {
                entries: ENTRIES.default as usize,
                fences: FENCES.default as usize,
                published: PUBLISHED.default > 0,
                announces: ANNOUNCES.default > 0,
                separators: SEPARATORS.default,
                delay: DELAY.default,
            },
            cores: Vec::new(),
            epochs: Epochs::default(),
            in_transit: BTreeMap::new(),
            durable_waits: Vec::new(),
            load_watchers: 0,
            counts: Counts::default(),
        }
    }
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
    /// Allots the buffers at the first use, when the machine's size is known.
    fn allot(&mut self, hw: &dyn Services<Own>) {
        if !self.cores.is_empty() {
            return;
        }
        let Settings { entries, fences, .. } = self.settings;
        let core = |core| Core {
            buffer: PersistBuffer::new(CoreId(core as u16), entries, fences),
            dfences: 0,
            entered: 0,
            blocks: false,
            watches_loads: false,
            fence_at: 0,
            write_waits: false,
            timer: false,
            occupancy: Occupancy::default(),
            blocked_l1: Occupancy::default(),
            blocked_drain: Occupancy::default(),
        };
        self.cores = (0..hw.cores()).map(core).collect();
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

    /// Drains what may drain of a core's buffer, after a change, and notes its state.
    fn advance(&mut self, hw: &mut dyn Services<Own>, core: CoreId) {
        while let Some((number, drain)) = self.start_drain(hw, core) {
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
    fn join(&mut self, hw: &mut dyn Services<Own>) {
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
    fn note(&mut self, hw: &mut dyn Services<Own>, core: CoreId) {
        let now = hw.now();
        let state = self.core(core);
        let full = state.buffer.is_full();
        state.occupancy.set(now, state.buffer.occupied());
        state.blocked_l1.set(now, usize::from(full));
        let stuck = state.buffer.is_blocked();
        state.blocked_drain.set(now, usize::from(stuck));
        if !full && std::mem::take(&mut state.blocks) {
            hw.open(Gate::Unblocked(core));
        }
        let watches = full || state.buffer.records_reads();
        if std::mem::replace(&mut state.watches_loads, watches) != watches {
            self.load_watchers = if watches {
                self.load_watchers + 1
            } else {
                self.load_watchers - 1
            };
            match (watches, self.load_watchers) {
                (true, 1) => hw.heed(Hook::Load),
                (false, 0) => hw.skip(Hook::Load),
                _ => {}
            }
        }
    }

    /// Appends the persist of a visible store, or coalesces it.
    fn persist(&mut self, hw: &mut dyn Services<Own>, core: CoreId, line: Line) {
        if self.in_transit.get(&line).is_some_and(|(to, _)| *to == core) {
            self.in_transit.remove(&line);
        }
        let (data, delay) = (hw.visible_line(line), self.settings.delay);
        let held = Cycles(hw.now().0 + delay);
        let buffer = &mut self.cores[core.index()].buffer;
        if buffer.coalesce(line, data) {
            self.counts.coalesced += 1;
            return;
        }
        let waits = buffer.append_persist(line, data, held);
        self.counts.found(waits, Kind::Persist);
    }

    /// Appends a fence that leaves the store queue.
    fn fence(&mut self, hw: &mut dyn Services<Own>, core: CoreId, primitive: Primitive) {
        let durable = is_durable(primitive);
        let state = self.core(core);
        let number = durable.then_some(state.entered);
        state.entered += u64::from(durable);
        let waits = self.cores[core.index()].buffer.append_fence(number);
        self.counts.found(waits, Kind::Fence);
        if !hw.stores_in_order() && (!durable || self.settings.announces) {
            hw.open(Gate::Entered(core));
        }
        self.advance(hw, core);
    }

    /// A core's entry has drained: it frees the entry, and the other cores observe it.
    fn drained(&mut self, hw: &mut dyn Services<Own>, id: Id) {
        self.counts.drains += 1;
        if let Some(Content::Persist { line, .. }) = self.core(id.core).buffer.drained(id.number) {
            if self.in_transit.get(&line).is_some_and(|(_, on)| *on == id) {
                self.in_transit.remove(&line);
                hw.open(Gate::Drained(line));
            }
        }
        match hw.broadcasts() {
            true => self.observe(hw, id),
            false => hw.send(hw.now() + hw.to_core(), Message::Drained(id)),
        }
        self.separate(hw, id.core);
        self.advance(hw, id.core);
    }

    /// The other cores observe that an entry has drained.
    fn observe(&mut self, hw: &mut dyn Services<Own>, id: Id) {
        for index in 0..self.cores.len() {
            let core = CoreId(index as u16);
            if core != id.core && self.core(core).buffer.resolve(id) {
                self.advance(hw, core);
            }
        }
    }

    /// Ends an epoch if a core's oldest entry is a fence that has reached all controllers: they
    /// have accepted everything before it.
    fn separate(&mut self, hw: &mut dyn Services<Own>, core: CoreId) {
        let controllers = hw.controllers();
        let state = self.core(core);
        if state.fence_at < controllers {
            return;
        }
        let Some((number, durable)) = state.buffer.fence_first() else {
            return;
        };
        state.fence_at -= controllers;
        if std::mem::take(&mut state.write_waits) {
            hw.open(Gate::Separated(core));
        }
        let epoch = self.epochs.separate();
        self.counts.epochs += 1;
        if let Some(dfence) = durable {
            self.durable_waits.push(((core, dfence), epoch));
        }
        self.told(hw);
        self.drained(hw, Id { core, number });
    }

    /// Controllers announce the epochs that they have completed, and cores learn what is durable.
    fn told(&mut self, hw: &mut dyn Services<Own>) {
        let later = hw.now() + hw.to_core();
        if hw.controllers() > 1 && !hw.adr() {
            for controller in (0..hw.controllers()).map(|index| ControllerId(index as u16)) {
                let oldest = self.epochs.oldest(controller);
                if self.epochs.announce(controller, oldest) {
                    hw.send(later, Message::Complete(controller, oldest));
                }
            }
        }
        let (adr, epochs) = (hw.adr() || broken(Rule::DurableAwaitsEpochs), &self.epochs);
        self.durable_waits.retain(|(dfence, epoch)| {
            let done = adr || epochs.is_complete(*epoch);
            if done {
                hw.send(later, Message::Durable(*dfence));
            }
            !done
        });
    }
}

impl Design for Dpo {
    type Own = Own;

    fn about(&self) -> About {
        About {
            name: "dpo",
            paper: "Delegated Persist Ordering (MICRO 2016)",
            summary: "fences wait in persist buffers, and controllers keep epochs apart; no core waits (RCBSP)",
            needs: Needs::default(),
            promises_recovery: true,
            model: "rcbsp",
            intents: Some("intents"),
            window: None,
        }
    }

    fn params(&self) -> &'static [Param] {
        &[ENTRIES, FENCES, PUBLISHED, ANNOUNCES, SEPARATORS, DELAY]
    }

    fn set(&mut self, params: &Params) {
        self.settings = Settings {
            entries: params.get(ENTRIES.name) as usize,
            fences: params.get(FENCES.name) as usize,
            published: params.get(PUBLISHED.name) > 0,
            announces: params.get(ANNOUNCES.name) > 0,
            separators: params.get(SEPARATORS.name),
            delay: params.get(DELAY.name),
        };
    }

    /// The paper's structures, with its bytes of an entry and of AccumDP whatever their number, and
    /// the pair of filters for inherited dependences.
    fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        let Settings {
            entries,
            fences,
            published,
            ..
        } = self.settings;
        let own = if published { 0 } else { 2 * FILTER_BYTES };
        vec![
            ("persist buffers", machine.cores * entries as u64 * ENTRY_BYTES),
            ("read and write sets", machine.cores * 2 * fences as u64 * FILTER_BYTES),
            ("AccumDP", machine.cores * ACCUMULATED_BYTES),
            ("inherited dependences", machine.cores * own),
        ]
        .into_iter()
        .filter(|(_, bytes)| *bytes > 0)
        .collect()
    }

    fn plain_nt(&self) -> bool {
        true
    }

    fn snoops_all(&self) -> bool {
        true
    }

    fn remembers_sharers(&self) -> bool {
        true
    }

    fn orders_by_barriers(&self) -> bool {
        true
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
        self.allot(hw);
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
        self.allot(hw);
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

    fn store(&mut self, hw: &mut dyn Services<Own>, core: CoreId, _: Entry) -> Departure<Gate> {
        self.allot(hw);
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
    fn departs(&mut self, hw: &mut dyn Services<Own>, core: CoreId, entry: Entry, context: u8) -> Departure<Gate> {
        self.allot(hw);
        match entry {
            Entry::Flush(..) => {
                hw.acknowledge(core, context);
                Departure::Keep
            }
            Entry::Primitive(primitive) if is_fence(primitive) => match self.blocked(core) {
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
        self.allot(hw);
        let counts = &mut self.counts.look_ups;
        let buffer = &mut self.cores[owner.index()].buffer;
        let own = buffer.conflict(line, access, counts);
        let mut dependences = match self.settings.published {
            true => Vec::new(),
            false => buffer.inherits(line, access, counts),
        };
        dependences.extend(own);
        let transit = self.in_transit.get(&line).filter(|(holder, _)| *holder == owner);
        let mut hands_over = transit.map(|(_, id)| *id);
        dependences.extend(hands_over.map(|on| Dependence {
            on,
            kind: Kind::Persist,
            volatile: false,
        }));
        dependences.retain(|dependence| dependence.on.core != requester);
        if access == Access::Own && line.is_persistent() {
            let buffer = &mut self.cores[owner.index()].buffer;
            if buffer.youngest(line).is_some() {
                hands_over = own
                    .filter(|own| own.kind == Kind::Persist)
                    .map(|own| own.on)
                    .or(hands_over);
                if !broken(Rule::YoungestIsCleared) {
                    buffer.invalidate(line);
                }
            }
        }
        if access == Access::Read {
            hands_over = None;
        }
        let note = Note {
            dependences,
            hands_over,
        };
        // A persist that a core depends on is not held back.
        self.advance(hw, owner);
        Snoop::Grant((!note.dependences.is_empty() || note.hands_over.is_some()).then_some(note))
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
        self.allot(hw);
        if let Some(data) = self.cores.iter().find_map(|core| core.buffer.youngest(line)) {
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
        if self.core(id.core).buffer.has_fence_before(id.number) {
            self.core(id.core).write_waits = true;
            return Acceptance::Wait(Until::Open(Gate::Separated(id.core)));
        }
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
        self.epochs.joins(queued) || broken(Rule::QueueCoalescesWithinEpoch)
    }

    fn may_issue(&self, controller: ControllerId, write: &WriteRequest<Id>) -> bool {
        let may = |id| self.epochs.may_issue(controller, id);
        write.tag.is_none_or(may) || broken(Rule::SeparatorsBind)
    }

    fn coalesced(&mut self, hw: &mut dyn Services<Own>, controller: ControllerId, write: &WriteRequest<Id>) {
        self.reached_media(hw, controller, write);
    }

    fn reached_media(&mut self, hw: &mut dyn Services<Own>, controller: ControllerId, write: &WriteRequest<Id>) {
        if let Some(id) = write.tag {
            self.epochs.complete(controller, id);
            self.told(hw);
            self.join(hw);
        }
    }

    fn message(&mut self, hw: &mut dyn Services<Own>, message: Message) {
        match message {
            Message::Fence(core) => {
                self.core(core).fence_at += 1;
                self.separate(hw, core);
            }
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
        let sum = |of: fn(&Core) -> &Occupancy| self.cores.iter().map(|core| of(core).cycles_at(now, 1)).sum();
        Counters {
            blocked_cycles: Some(sum(|core| &core.blocked_drain)),
            buffer_occupancy: Some(Occupancy::sum(self.cores.iter().map(|core| &core.occupancy), now)),
            ..self.counts.counters(sum(|core| &core.blocked_l1))
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
