//! The one adapter between a design with types of its own and the machine, which knows only keys.

mod typed;
mod values;

use crate::{
    About, Acceptance, Access, Admission, Checkpoint, Claim, ControllerId, Counter, Counters, Departure, Design,
    Eviction, Forward, Held, Key, Keys, Level, LineTag, Load, NoteOf, Ordering, Passing, PortId, Services, Sizes,
    Snoop, Store, StoreId, Supply, TagOf, Until, Wants, Write, WriteRequest,
};
use strandline_isa::{CoreId, Line, LineData, Lowering, Primitive};
use strandline_kernel::{forward, Cycles, Param, ParamError, Params};
use typed::Typed;
use values::Values;

/// A design as the machine knows it, whatever its types.
pub type AnyDesign = dyn Design<Own = Keys>;

/// The design as the machine knows it.
pub fn boxed<D: Design>(design: D) -> Box<AnyDesign> {
    Box::new(Keyed {
        design,
        values: Values::default(),
    })
}

impl AnyDesign {
    /// Sets parameters by key and value, as `--set design.KEY=VALUE` gives them.
    ///
    /// # Errors
    /// An unknown key, or a value out of range.
    pub fn configure<'a>(&mut self, set: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<(), ParamError> {
        self.set(&Params::parse("design", self.params(), set)?);
        Ok(())
    }

    /// The parameters at whose every value it keeps what it promises.
    pub fn free_params(&self) -> impl Iterator<Item = &'static Param> {
        let modes = self.modes();
        self.params().iter().filter(move |param| !modes.contains(&param.name))
    }

    /// The design itself, to read its state; `None` if it has another type.
    #[must_use]
    pub fn downcast_ref<D: Design>(&self) -> Option<&D> {
        let keyed: Option<&Keyed<D>> = self.as_any().downcast_ref();
        keyed.map(|keyed| &keyed.design)
    }

    /// Bytes of storage that it adds to a machine of these sizes.
    #[must_use]
    pub fn storage_bytes(&self, machine: &Sizes) -> u64 {
        self.storage(machine).iter().map(|(_, bytes)| bytes).sum()
    }
}

/// A design and the values behind the keys that the machine holds.
struct Keyed<D: Design> {
    design: D,
    values: Values<D::Own>,
}

impl<D: Design> Keyed<D> {
    /// Asks the design through a machine in the design's own types.
    fn ask<A>(
        &mut self,
        hw: &mut dyn Services<Keys>,
        question: impl FnOnce(&mut D, &mut dyn Services<D::Own>) -> A,
    ) -> A {
        let values = &mut self.values;
        question(&mut self.design, &mut Typed { hw, values })
    }
}

impl<D: Design> Design for Keyed<D> {
    type Own = Keys;

    forward! { self.design =>
        fn about(&self) -> About;
        fn wants(&self) -> Wants;
        fn params(&self) -> &'static [Param];
        fn set(&mut self, params: &Params);
        fn modes(&self) -> &'static [&'static str];
        fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)>;
        fn buffers(&self, machine: &Sizes) -> Vec<Held>;
        fn is_shared(&self, requester: CoreId, line: Line) -> bool;
        fn lowering(&self) -> Lowering;
        fn own_counters(&self) -> &'static [Counter];
        fn counters(&self, now: Cycles) -> Counters;
    }

    fn claim(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, ordering: Ordering) -> Claim<Key> {
        match self.ask(hw, |design, hw| design.claim(hw, core, ordering)) {
            Claim::No => Claim::No,
            Claim::Yes => Claim::Yes,
            Claim::Wait(until) => Claim::Wait(self.values.until(until)),
        }
    }

    fn primitive(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, primitive: Primitive) -> Admission<Key> {
        let admission = self.ask(hw, |design, hw| design.primitive(hw, core, primitive));
        let mut keyed = |until| self.values.until(until);
        match admission {
            Admission::Pass => Admission::Pass,
            Admission::Hold(until) => Admission::Hold(keyed(until)),
            Admission::HoldLoads(until) => Admission::HoldLoads(keyed(until)),
            Admission::Enter => Admission::Enter,
            Admission::EnterHeld { until, loads } => Admission::EnterHeld {
                until: keyed(until),
                loads,
            },
            Admission::Claim { marks } => Admission::Claim { marks },
        }
    }

    fn claimed(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, ordering: Ordering, context: u8, retires: Cycles) {
        self.ask(hw, |design, hw| design.claimed(hw, core, ordering, context, retires));
    }

    fn locked_waits_for(&mut self, core: CoreId) -> Option<Until<Key>> {
        let until = self.design.locked_waits_for(core)?;
        Some(self.values.until(until))
    }

    fn load(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, load: Load) -> Forward<Key> {
        match self.ask(hw, |design, hw| design.load(hw, core, load)) {
            Forward::Caches { after } => Forward::Caches { after },
            Forward::Bytes { mask, value, after } => Forward::Bytes { mask, value, after },
            Forward::Wait(until) => Forward::Wait(self.values.until(until)),
        }
    }

    fn keep(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, write: Write, id: StoreId) -> Departure<Key> {
        let departure = self.ask(hw, |design, hw| design.keep(hw, core, write, id));
        self.values.departure(departure)
    }

    fn store(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, write: Write) -> Departure<Key> {
        let departure = self.ask(hw, |design, hw| design.store(hw, core, write));
        self.values.departure(departure)
    }

    fn watched(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, line: Line) -> Departure<Key> {
        let departure = self.ask(hw, |design, hw| design.watched(hw, core, line));
        self.values.departure(departure)
    }

    fn departs(
        &mut self,
        hw: &mut dyn Services<Keys>,
        core: CoreId,
        ordering: Ordering,
        context: u8,
    ) -> Departure<Key> {
        let departure = self.ask(hw, |design, hw| design.departs(hw, core, ordering, context));
        self.values.departure(departure)
    }

    fn visible(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, store: Store) {
        self.ask(hw, |design, hw| design.visible(hw, core, store));
    }

    fn performed(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, id: StoreId) {
        self.ask(hw, |design, hw| design.performed(hw, core, id));
    }

    fn acknowledged(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, tag: Key) {
        let tag = self.values.tags.take(tag);
        self.ask(hw, |design, hw| design.acknowledged(hw, core, tag));
    }

    fn snooped(
        &mut self,
        hw: &mut dyn Services<Keys>,
        owner: CoreId,
        requester: CoreId,
        line: Line,
        access: Access,
    ) -> Snoop<Key, Key> {
        match self.ask(hw, |design, hw| design.snooped(hw, owner, requester, line, access)) {
            Snoop::Grant(None) => Snoop::Grant(None),
            Snoop::Grant(Some(note)) => {
                let notes = &mut self.values.notes;
                notes.resize(notes.len().max(owner.index() + 1), None);
                notes[owner.index()] = Some(note);
                Snoop::Grant(Some(Key(u64::from(owner.0))))
            }
            Snoop::Wait(until) => Snoop::Wait(self.values.until(until)),
            Snoop::RollBack(checkpoint) => Snoop::RollBack(checkpoint),
        }
    }

    fn replied(&mut self, hw: &mut dyn Services<Keys>, requester: CoreId, owner: CoreId, line: Line, note: Key) {
        let note: NoteOf<D> = self.values.notes[note.0 as usize].take().expect("a note of a reply");
        self.ask(hw, |design, hw| design.replied(hw, requester, owner, line, note));
    }

    fn tagged(
        &mut self,
        hw: &mut dyn Services<Keys>,
        requester: CoreId,
        line: Line,
        access: Access,
        tag: LineTag,
    ) -> Option<Until<Key>> {
        let until = self.ask(hw, |design, hw| design.tagged(hw, requester, line, access, tag))?;
        Some(self.values.until(until))
    }

    fn evicted(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, level: Level, line: Line) -> Eviction<Key> {
        match self.ask(hw, |design, hw| design.evicted(hw, core, level, line)) {
            Eviction::WriteBack => Eviction::WriteBack,
            Eviction::Drop => Eviction::Drop,
            Eviction::Hold(until) => Eviction::Hold(self.values.until(until)),
        }
    }

    fn missed(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, line: Line, access: Access) -> Supply<Key> {
        match self.ask(hw, |design, hw| design.missed(hw, core, line, access)) {
            Supply::Memory => Supply::Memory,
            Supply::Durable => Supply::Durable,
            Supply::Design(after) => Supply::Design(after),
            Supply::Bytes(after, data) => Supply::Bytes(after, data),
            Supply::Stop(data, bytes) => Supply::Stop(data, bytes),
            Supply::Wait(until) => Supply::Wait(self.values.until(until)),
        }
    }

    fn passes(&mut self, hw: &mut dyn Services<Keys>, port: PortId, write: &WriteRequest<Key>) -> Passing {
        let typed = self.values.write(write);
        let passing = self.ask(hw, |design, hw| design.passes(hw, port, &typed));
        if passing == Passing::Take {
            self.values.forget(write);
        }
        passing
    }

    fn arrived(
        &mut self,
        hw: &mut dyn Services<Keys>,
        controller: ControllerId,
        write: &WriteRequest<Key>,
    ) -> Acceptance<Key> {
        let typed = self.values.write(write);
        match self.ask(hw, |design, hw| design.arrived(hw, controller, &typed)) {
            Acceptance::Queue => Acceptance::Queue,
            Acceptance::Wait(until) => Acceptance::Wait(self.values.until(until)),
            Acceptance::Absorb => {
                self.values.forget(write);
                Acceptance::Absorb
            }
            Acceptance::Refuse => {
                // It is neither written nor acknowledged.
                self.values.forget(write);
                self.values.forget(write);
                Acceptance::Refuse
            }
        }
    }

    fn may_coalesce(&self, controller: ControllerId, queued: &WriteRequest<Key>, write: &WriteRequest<Key>) -> bool {
        let (queued, write) = (self.values.write(queued), self.values.write(write));
        self.design.may_coalesce(controller, &queued, &write)
    }

    fn may_issue(&self, controller: ControllerId, write: &WriteRequest<Key>) -> bool {
        self.design.may_issue(controller, &self.values.write(write))
    }

    fn coalesced(&mut self, hw: &mut dyn Services<Keys>, controller: ControllerId, write: &WriteRequest<Key>) {
        let typed = self.values.write(write);
        self.values.forget(write);
        self.ask(hw, |design, hw| design.coalesced(hw, controller, &typed));
    }

    fn reached_media(&mut self, hw: &mut dyn Services<Keys>, controller: ControllerId, write: &WriteRequest<Key>) {
        let typed = self.values.write(write);
        self.values.forget(write);
        self.ask(hw, |design, hw| design.reached_media(hw, controller, &typed));
    }

    fn committed(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, tag: Key) {
        let tag: TagOf<D> = self.values.tags.take(tag);
        self.ask(hw, |design, hw| design.committed(hw, core, tag));
    }

    fn message(&mut self, hw: &mut dyn Services<Keys>, message: Key) {
        let message = self.values.messages.take(message);
        self.ask(hw, |design, hw| design.message(hw, message));
    }

    fn rolled_back(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, checkpoint: Checkpoint) {
        self.ask(hw, |design, hw| design.rolled_back(hw, core, checkpoint));
    }

    fn waits(&self) -> Vec<String> {
        let mut gates = self.values.gates.clone();
        gates.sort_unstable();
        let gates = gates.iter().map(|(gate, key)| format!("gate {} is {gate:?}", key.0));
        let opened = self.values.last_opened.iter();
        let opened = opened.map(|(gate, key)| format!("gate {}, opened last, is {gate:?}", key.0));
        self.design.waits().into_iter().chain(gates).chain(opened).collect()
    }

    fn power_fails(&self, image: &mut dyn FnMut(Line, LineData)) {
        self.design.power_fails(image);
    }
}
