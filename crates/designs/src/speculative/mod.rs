//! Speculative persistence: a core executes past persist barriers.
//!
//! What: when an `sfence` behind a `pcommit` would wait for the controllers, the core takes a
//! checkpoint, retires the fence, and goes on speculatively. From then on stores and PMEM
//! instructions (flushes, `pcommit`) retire into the *speculative store buffer*, and loads look it
//! up unless a Bloom filter says no. A fence or locked instruction behind delayed instructions takes
//! another checkpoint and begins a child epoch. Epochs commit in order: an epoch when
//! everything before it is done; its entries leave the buffer then, an entry a cycle, in order. All
//! lines that speculative loads and stores have touched are in the *block look-up table*; a request
//! of another core for one of them rolls the core back to its oldest checkpoint.
//! Source: Speculative Persistence (ISCA 2017), section 4.
//!
//! Where the paper says nothing:
//! - *An `sfence` behind stores alone* begins a child epoch, too, although no PMEM instruction is
//!   delayed: what the program announces behind it waits until the stores are visible.
//! - *Locked instructions* wait for older stores to be visible, so each begins a child epoch as long
//!   as there are any in the buffer, delayed PMEM instructions or not. It is performed while its
//!   checkpoint exists. So no other core's store comes between its read and its write.
//! - *`mfence`* does as `sfence`, but always begins a child epoch: the block look-up table protects
//!   the younger loads until it commits. Speculation does not begin with it.
//! - *A read of another core* is no conflict with speculative loads, which keep their copy.
//! - *A line that left the caches*: every core is snooped, and a core that reads a line which another
//!   core's table holds gets it shared. So no store to it is silent.
//! - *Progress.* A core that was rolled back passes the instruction at its checkpoint without
//!   speculation. So each roll-back is followed by at least one instruction that is not undone, and
//!   every program ends.
//! - *Non-temporal stores* wait until the buffer is empty and they are not speculative.
//! - *The table has a size* (`design.table_entries`). An access that finds it full waits.
//!
//! Beyond the paper: a table that distinguishes epochs (`design.blt=epoch`), and speculation past an
//! `sfence` alone, for machines with ADR (`sp-adr`).

mod buffer;
mod commit;
mod core_state;
mod counts;
mod own;
pub(crate) mod rules;
mod settings;
mod sp;
mod table;
#[cfg(test)]
mod tests;

use crate::parts::pcommits::{Pcommits, SYNC_BARRIER};
use crate::speculative::rules::Rule;
use buffer::{LookUp, What};
use core_state::{Busy, CoreState, Epoch};
use counts::Counts;
use own::{Gate, Message, Own, Tag};
use settings::Settings;
use strandline_design::{
    About, Access, Admission, Checkpoint, Counter, Counters, Departure, Design, Forward, GateOf, Held, Hook, Load,
    NoteOf, Occupancy, Ordering, Place, RollsBack, Services, Sizes, Snoop, Store, StoreId, Until, Wants, Write,
    WriteKind,
};
use strandline_isa::{CoreId, Line, Lowering, Primitive};
use strandline_kernel::{Cycles, Param, Params};
use strandline_rules::kept;

/// Speculative persistence.
#[derive(Clone, Debug, Default)]
pub struct Speculative {
    /// It speculates past an `sfence` alone: the controllers are in the persistence domain.
    adr: bool,
    settings: Settings,
    cores: Vec<CoreState>,
    /// Cores that speculate or whose buffer is not empty.
    active: usize,
    pcommits: Pcommits,
    counts: Counts,
}

/// Contexts in use at once: more than there can be epochs.
const CONTEXTS: u8 = 128;

const FENCE: &[Primitive] = &[Primitive::Sfence];

impl Speculative {
    /// As the paper has it, past a `pcommit`.
    #[must_use]
    pub fn sp() -> Speculative {
        Speculative::default()
    }

    /// On machines with ADR, past an `sfence`.
    #[must_use]
    pub fn sp_adr() -> Speculative {
        Speculative {
            adr: true,
            ..Speculative::default()
        }
    }

    /// Allocates the buffers at the first use, when the machine's size is known.
    #[inline(always)]
    fn allocate(&mut self, hw: &dyn Services<Own>) {
        if self.cores.is_empty() {
            self.allocate_all(hw);
        }
    }

    #[cold]
    fn allocate_all(&mut self, hw: &dyn Services<Own>) {
        self.cores = (0..hw.cores()).map(|_| CoreState::new(&self.settings)).collect();
    }

    fn core(&mut self, core: CoreId) -> &mut CoreState {
        &mut self.cores[core.index()]
    }

    /// An `sfence` or (`loads`) an `mfence` is dispatched.
    fn fence(&mut self, hw: &mut dyn Services<Own>, core: CoreId, loads: bool) -> Admission<Gate> {
        let hold = |until| match loads {
            true => Admission::HoldLoads(until),
            false => Admission::Hold(until),
        };
        let adr = self.adr;
        let state = self.core(core);
        let begins = match state.epochs.back() {
            Some(_) => loads || hw.pending(core, Some(state.context)) > 0,
            None if hw.pending(core, None) == 0 => false,
            None if loads || !adr && !state.has_pcommit() => return hold(Until::Drained(None)),
            None => true,
        };
        if !begins {
            return Admission::Pass;
        }
        let Some(number) = self.begin_epoch(hw, core, false) else {
            return hold(Until::Drained(None));
        };
        let free = self.core(core).used() <= self.settings.checkpoints;
        if free {
            return Admission::Pass;
        }
        self.counts.checkpoint_waits += 1;
        if let Some(epoch) = self.core(core).epochs.back_mut() {
            epoch.waits = true;
        }
        hold(Until::Open(Gate::Granted(core, number)))
    }

    /// Begins an epoch with the instruction about which the design is asked; its number. `None` if
    /// the core was rolled back to this instruction.
    fn begin_epoch(&mut self, hw: &mut dyn Services<Own>, core: CoreId, locked: bool) -> Option<u64> {
        let checkpoint = hw.checkpoint(core)?;
        let newest = hw.newest_entry(core);
        self.activate(hw, core);
        self.counts.epochs += 1;
        let state = self.core(core);
        if !locked && state.is_one_pcommit(newest) {
            // One checkpoint for the whole `sfence-pcommit-sfence`.
            if let Some(first) = state.epochs.back_mut() {
                first.checkpoint = None;
            }
        }
        state.begun += 1;
        let (number, before) = (state.begun, state.context);
        state.context = (state.context + 1) % CONTEXTS;
        hw.set_context(core, state.context);
        state.epochs.push_back(Epoch {
            number,
            checkpoint: Some(checkpoint),
            after: newest,
            before,
            drained: false,
            locked,
            loaded: false,
            waits: false,
        });
        hw.announce_when(core, Gate::Certain(core, number));
        hw.message_when_drained(core, before, Message::Drained(core, number));
        Some(number)
    }

    /// The core begins to speculate: the frequent hooks are needed.
    fn activate(&mut self, hw: &mut dyn Services<Own>, core: CoreId) {
        if std::mem::replace(&mut self.core(core).active, true) {
            return;
        }
        self.active += 1;
        if self.active == 1 {
            for hook in [Hook::Load, Hook::Keep, Hook::Store] {
                hw.ask_again(hook);
            }
        }
    }

    /// Resets the filter if the core has left speculative execution and its buffer is empty.
    fn end_speculation(&mut self, core: CoreId) {
        let state = self.core(core);
        if state.active && state.is_idle() {
            state.active = false;
            state.buffer.reset_filter();
            self.active -= 1;
        }
    }

    /// The entry at the head of the store queue waits until an epoch commits or an entry leaves the
    /// buffer.
    fn wait(&mut self, core: CoreId) -> Departure<Gate> {
        self.core(core).awaited = true;
        Departure::Wait(Until::Open(Gate::Progress(core)))
    }

    /// Puts a store, flush or `pcommit` into the buffer, or has it wait.
    fn enter(&mut self, hw: &mut dyn Services<Own>, core: CoreId, id: StoreId, what: What) -> Departure<Gate> {
        if self.core(core).buffer.is_full() {
            self.counts.buffer_full += 1;
            return self.wait(core);
        }
        let state = self.core(core);
        if let (What::Store(store), Some(epoch)) = (what, state.epoch_of(id)) {
            if !state.table.touch(store.line(), epoch, Access::Own) {
                self.counts.table_full += 1;
                return self.wait(core);
            }
        }
        let state = self.core(core);
        state.buffer.push(id, what);
        state.occupancy.set(hw.now(), state.buffer.len());
        // Behind others it leaves when they have.
        if state.buffer.len() == 1 {
            self.advance(hw, core);
        }
        Departure::Keep
    }

    /// A locked instruction is about to write while there are speculative or buffered stores.
    fn lock(&mut self, hw: &mut dyn Services<Own>, core: CoreId, store: Store, id: StoreId) -> Departure<Gate> {
        let most = self.settings.checkpoints;
        let state = self.core(core);
        if state.is_idle() {
            return Departure::Go;
        }
        let room = !state.buffer.is_full() && state.table.has_room_for(store.line());
        if !state.speculates() || !room {
            return self.wait(core);
        }
        if state.used() >= most {
            self.counts.checkpoint_waits += 1;
            return self.wait(core);
        }
        match self.begin_epoch(hw, core, true) {
            Some(_) => self.enter(hw, core, id, What::Store(store)),
            None => self.wait(core),
        }
    }
}

impl Design for Speculative {
    type Own = Own;

    fn about(&self) -> About {
        sp::about(self.adr)
    }

    fn params(&self) -> &'static [Param] {
        Settings::PARAMS
    }

    fn set(&mut self, params: &Params) {
        self.settings = Settings::of(params);
    }

    fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        self.settings.storage(machine)
    }

    fn buffers(&self, machine: &Sizes) -> Vec<Held> {
        vec![Held {
            name: "speculative store buffer",
            place: Place::StoreQueue,
            bytes: machine.cores * self.settings.entries as u64 * settings::DATA_BYTES,
        }]
    }

    /// A single core meets no conflict.
    fn wants(&self) -> Wants {
        Wants {
            rolls_back: RollsBack::OnConflicts,
            snoops_all: kept(Rule::SpTableOutlivesCaches, true, || false),
            ..Wants::default()
        }
    }

    fn lowering(&self) -> Lowering {
        Lowering::clwb_and(if self.adr { FENCE } else { SYNC_BARRIER })
    }

    fn primitive(&mut self, hw: &mut dyn Services<Own>, core: CoreId, primitive: Primitive) -> Admission<Gate> {
        self.allocate(hw);
        match primitive {
            Primitive::Sfence => self.fence(hw, core, false),
            Primitive::Mfence => self.fence(hw, core, true),
            Primitive::Pcommit => {
                let id = StoreId(hw.newest_entry(core).0 + 1);
                let state = self.core(core);
                (state.queued_pcommit, state.last_pcommit) = (Some(id), Some(id));
                Admission::plain(primitive)
            }
            other => Admission::plain(other),
        }
    }

    /// A locked instruction of a core that speculates waits for nothing: its epoch does.
    fn locked_waits_for(&mut self, core: CoreId) -> Option<Until<Gate>> {
        let speculates = self.cores.get(core.index()).is_some_and(CoreState::speculates);
        (!speculates).then_some(Until::Drained(None))
    }

    fn load(&mut self, hw: &mut dyn Services<Own>, core: CoreId, load: Load) -> Forward<Gate> {
        if self.active == 0 {
            hw.skip(Hook::Load);
            return Forward::Caches { after: Cycles(0) };
        }
        let state = &mut self.cores[core.index()];
        if let Some(youngest) = state.epochs.back_mut() {
            youngest.loaded = true;
            if !state.table.touch(load.addr.line(), youngest.number, Access::Read) {
                self.counts.table_full += 1;
                state.awaited = true;
                return Forward::Wait(Until::Open(Gate::Progress(core)));
            }
        }
        let Some(look_up) = state.buffer.look_up(load) else {
            return Forward::Caches { after: Cycles(0) };
        };
        self.counts.look_ups += 1;
        let after = self.settings.latency();
        match look_up {
            LookUp::Filtered => Forward::Caches { after: Cycles(0) },
            LookUp::Searched(found) if found.mask == 0 => {
                self.counts.false_positives += 1;
                Forward::Caches { after }
            }
            LookUp::Searched(found) => {
                self.counts.hits += 1;
                Forward::Bytes {
                    mask: found.mask,
                    value: found.value,
                    after,
                }
            }
        }
    }

    fn keep(&mut self, hw: &mut dyn Services<Own>, core: CoreId, write: Write, id: StoreId) -> Departure<Gate> {
        if self.active == 0 {
            hw.skip(Hook::Keep);
            return Departure::Go;
        }
        match write.kind {
            WriteKind::Locked => self.lock(hw, core, write.store, id),
            _ if !self.core(core).keeps(id) => Departure::Go,
            WriteKind::Store => self.enter(hw, core, id, What::Store(write.store)),
            WriteKind::NonTemporal => self.wait(core),
        }
    }

    /// A locked instruction of a core without checkpoints or kept stores waits for what else is in
    /// the buffer: a `clflush` is ordered with it even where other flushes are not.
    fn store(&mut self, hw: &mut dyn Services<Own>, core: CoreId, write: Write) -> Departure<Gate> {
        if self.active == 0 {
            hw.skip(Hook::Store);
            return Departure::Go;
        }
        match write.kind {
            WriteKind::Locked if !kept(Rule::SpLockedAwaitsBuffer, self.core(core).is_idle(), || true) => {
                self.wait(core)
            }
            _ => Departure::Go,
        }
    }

    fn departs(
        &mut self,
        hw: &mut dyn Services<Own>,
        core: CoreId,
        ordering: Ordering,
        context: u8,
    ) -> Departure<Gate> {
        self.allocate(hw);
        let id = hw.entry_at_turn(core);
        let keeps = self.core(core).keeps(id);
        match ordering {
            Ordering::Flush(line, flush) if keeps => self.enter(hw, core, id, What::Flush(line, flush, context)),
            Ordering::Primitive(Primitive::Pcommit) => {
                let departure = match keeps {
                    true => self.enter(hw, core, id, What::Pcommit(context)),
                    false => {
                        self.pcommit(hw, core, context);
                        Departure::Keep
                    }
                };
                let state = self.core(core);
                if departure == Departure::Keep && state.queued_pcommit == Some(id) {
                    state.queued_pcommit = None;
                }
                departure
            }
            _ => Departure::Go,
        }
    }

    fn performed(&mut self, hw: &mut dyn Services<Own>, core: CoreId, id: StoreId) {
        let state = self.core(core);
        state.busy = Busy::No;
        if let Some(epoch) = state.epochs.front_mut().filter(|epoch| id > epoch.after) {
            epoch.locked = false;
        }
        self.left(hw, core, id);
        self.advance(hw, core);
    }

    fn acknowledged(&mut self, hw: &mut dyn Services<Own>, core: CoreId, tag: Tag) {
        match tag {
            Tag::Flush(context) => hw.acknowledge(core, context),
            Tag::Clflush(context) => {
                hw.acknowledge(core, context);
                self.core(core).busy = Busy::No;
                self.tell_progress(hw, core);
                self.advance(hw, core);
            }
            Tag::Pcommit(_) => unreachable!("a controller answers it"),
        }
    }

    fn committed(&mut self, hw: &mut dyn Services<Own>, core: CoreId, tag: Tag) {
        if let Tag::Pcommit(commit) = tag {
            self.answered(hw, core, commit);
        }
    }

    fn snooped(
        &mut self,
        _: &mut dyn Services<Own>,
        owner: CoreId,
        _: CoreId,
        line: Line,
        access: Access,
    ) -> Snoop<GateOf<Self>, NoteOf<Self>> {
        let by_epoch = self.settings.by_epoch;
        let Some(state) = self.cores.get(owner.index()).filter(|state| state.speculates()) else {
            return Snoop::Grant(None);
        };
        let from = state
            .table
            .conflict(line, access)
            .map(|epoch| if by_epoch { epoch } else { 0 });
        match from.and_then(|from| state.oldest_checkpoint(from)) {
            Some(checkpoint) => Snoop::RollBack(checkpoint),
            None => Snoop::Grant(None),
        }
    }

    fn is_shared(&self, requester: CoreId, line: Line) -> bool {
        let mut others = self.cores.iter().enumerate();
        others.any(|(core, state)| core != requester.index() && state.table.holds(line))
    }

    fn message(&mut self, hw: &mut dyn Services<Own>, message: Message) {
        match message {
            Message::Port(core) => {
                self.core(core).asks_port = false;
                self.advance(hw, core);
            }
            Message::Drained(core, number) => {
                let mut epochs = self.core(core).epochs.iter_mut();
                if let Some(epoch) = epochs.find(|epoch| epoch.number == number) {
                    epoch.drained = true;
                    self.advance(hw, core);
                }
            }
        }
    }

    fn rolled_back(&mut self, hw: &mut dyn Services<Own>, core: CoreId, checkpoint: Checkpoint) {
        self.counts.rollbacks += 1;
        let by_epoch = self.settings.by_epoch;
        let state = self.core(core);
        let epochs = state.epochs.len();
        let Some(epoch) = state.cut(checkpoint) else { return };
        let undone = epochs - state.epochs.len();
        for kept in state.buffer.cut(epoch.after) {
            if let What::Flush(.., context) | What::Pcommit(context) = kept.what {
                hw.acknowledge(core, context);
            }
        }
        if let Busy::Store(id) = state.busy {
            if id > epoch.after {
                state.busy = Busy::No;
            }
        }
        match by_epoch {
            true => state.table.cut(epoch.number),
            false => state.table.clear(),
        }
        state.context = epoch.before;
        state.queued_pcommit = state.queued_pcommit.filter(|id| *id <= epoch.after);
        state.occupancy.set(hw.now(), state.buffer.len());
        self.counts.epochs_undone += undone as u64;
        self.tell_progress(hw, core);
        self.advance(hw, core);
    }

    fn own_counters(&self) -> &'static [Counter] {
        counts::OWN
    }

    fn counters(&self, now: Cycles) -> Counters {
        Counters {
            buffer_occupancy: Some(Occupancy::sum(self.cores.iter().map(|state| &state.occupancy), now)),
            ..self.counts.counters()
        }
    }

    fn waits(&self) -> Vec<String> {
        let wait = |(core, state): (usize, &CoreState)| {
            let front = state.epochs.front()?;
            Some(format!(
                "core {core} has {} speculative epochs, the oldest {} by what is before it, and {} buffered entries",
                state.epochs.len(),
                if front.drained { "no longer held up" } else { "held up" },
                state.buffer.len()
            ))
        };
        self.cores.iter().enumerate().filter_map(wait).collect()
    }
}
