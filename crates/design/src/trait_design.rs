//! The trait.

use crate::{
    About, Acceptance, Access, Admission, Answer, Asked, ControllerId, Counters, Departure, Domain, Entry, Eviction,
    Forward, Level, Message, Places, Reply, Services, Sizes, Supply, Until, WriteRequest,
};
use std::any::Any;
use strandline_isa::{CoreId, Line, LineData, Lowering, Primitive};
use strandline_kernel::{Cycles, Param, ParamError, Params};

/// A look at a design's own state behind `dyn Design`, for tests.
pub trait AsAny: Any {
    /// The design as its own type.
    fn as_any(&self) -> &dyn Any;
}

impl<T: Any> AsAny for T {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl dyn Design {
    /// Sets parameters by key and value, as `--set design.KEY=VALUE` gives them.
    ///
    /// # Errors
    /// An unknown key, or a value out of range.
    pub fn configure<'a>(&mut self, set: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<(), ParamError> {
        self.set(&Params::parse("design", self.params(), set)?);
        Ok(())
    }
}

/// A persistency design: its answers at the nine places where designs differ.
pub trait Design: AsAny {
    /// What it is.
    fn about(&self) -> About;

    /// Where it wants to be asked.
    fn places(&self) -> Places {
        Places::default()
    }

    /// Where its persistence domain begins.
    fn domain(&self) -> Domain {
        Domain::default()
    }

    /// What of it can be set: `--set design.KEY=VALUE`.
    fn params(&self) -> &'static [Param] {
        &[]
    }

    /// Takes the values of [`Design::params`].
    fn set(&mut self, params: &Params) {
        let _ = params;
    }

    /// The structures that it adds to a machine of these sizes: their names and bytes of storage, of all cores and controllers.
    fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        let _ = machine;
        Vec::new()
    }

    /// Bytes of storage that it adds to a machine of these sizes.
    fn storage_bytes(&self, machine: &Sizes) -> u64 {
        self.storage(machine).iter().map(|(_, bytes)| bytes).sum()
    }

    /// Bytes that it must write on reserve power when power fails, at most, on a machine of these sizes: beyond the
    /// controllers' write queues, which every machine with ADR drains.
    fn drain_bytes(&self, machine: &Sizes) -> u64 {
        let _ = machine;
        0
    }

    /// Place 1: which primitives an ordering intent becomes.
    fn lowering(&self) -> Lowering;

    /// Place 2: may a store or flush enter the store queue? Asked where [`Places::admission`] is set.
    fn admit(&mut self, hw: &mut dyn Services, core: CoreId, entry: Entry) -> Answer {
        let _ = (hw, core, entry);
        Answer::Go
    }

    /// Place 2: a primitive is dispatched. Asked where [`Places::primitives`] is set.
    fn primitive(&mut self, hw: &mut dyn Services, core: CoreId, primitive: Primitive) -> Admission {
        let _ = (hw, core);
        Admission::plain(primitive)
    }

    /// Place 2: an instruction of strands is dispatched, where [`Places::strands`] is set. It retires at `retires`. A
    /// flush counts as pending in its context until [`Services::acknowledge`].
    fn taken(&mut self, hw: &mut dyn Services, core: CoreId, entry: Entry, context: u8, retires: Cycles) {
        let _ = (hw, core, entry, context, retires);
    }

    /// Place 2: what a locked instruction waits for beyond its core's older stores, on machines whose locked
    /// instructions order flushes.
    fn locked_waits_for(&self, core: CoreId) -> Option<Until> {
        let _ = core;
        Some(Until::Drained(None))
    }

    /// Place 3: a load performs. Asked where [`Places::loads`] is set.
    fn load(&mut self, hw: &mut dyn Services, core: CoreId, addr: strandline_isa::Addr) -> Forward {
        let _ = (hw, core, addr);
        Forward::Caches
    }

    /// Places 3 and 4: the turn of a store, flush or primitive in the store queue has come. For stores asked where
    /// [`Places::stores`] is set; for flushes and primitives always. A locked instruction is asked about as a store, with its
    /// line there and before it performs; it is no entry of the queue, so it may go or wait, but not be kept.
    fn departs(&mut self, hw: &mut dyn Services, core: CoreId, entry: Entry, context: u8) -> Departure {
        let _ = (hw, core, entry, context);
        Departure::Go
    }

    /// Place 3: a store or a locked instruction has written its bytes at `addr`, which all cores see now. Heard where
    /// [`Places::stores`] is set.
    fn visible(&mut self, hw: &mut dyn Services, core: CoreId, addr: strandline_isa::Addr) {
        let _ = (hw, core, addr);
    }

    /// Place 3: a store that the design has pointed at ([`Services::point_at_store`]) has become visible.
    fn stored(&mut self, hw: &mut dyn Services, core: CoreId, store: u64) {
        let _ = (hw, core, store);
    }

    /// Place 4: a flush that the design sent by [`Services::flush_line`] or [`Services::write`] is acknowledged.
    fn flushed(&mut self, hw: &mut dyn Services, core: CoreId, tag: u64) {
        let _ = (hw, core, tag);
    }

    /// Place 5, the owner's side: `requester` asks for a line that `owner` holds (with
    /// [`Places::all_cores_asked`]: whether it holds it or not).
    fn asked(&mut self, hw: &mut dyn Services, owner: CoreId, requester: CoreId, line: Line, access: Access) -> Asked {
        let _ = (hw, owner, requester, line, access);
        Asked::Give(None)
    }

    /// Place 5: whether a dirty persistent line that gets a new owner is written back to memory on its way, so that each
    /// core's flushes need look for its stores in its own caches and the shared level only.
    fn hands_over_clean(&self) -> bool {
        false
    }

    /// Place 5, the requester's side: a reply from `owner` carries a note.
    fn told(&mut self, hw: &mut dyn Services, requester: CoreId, owner: CoreId, line: Line, reply: Reply) {
        let _ = (hw, requester, owner, line, reply);
    }

    /// Place 6: a dirty persistent line leaves a core's private caches, or the last level (`core` is the one whose miss drives it
    /// out); where it leaves both at once, both are asked, one after the other. While it is held, whoever asks for it waits.
    fn evicted(&mut self, hw: &mut dyn Services, core: CoreId, level: Level, line: Line) -> Eviction {
        let _ = (hw, core, level, line);
        Eviction::WriteBack
    }

    /// Place 6: a persistent line missed in every cache.
    fn missed(&mut self, hw: &mut dyn Services, core: CoreId, line: Line) -> Supply {
        let _ = (hw, core, line);
        Supply::Memory
    }

    /// Place 7: a write has arrived at a controller whose write queue has room for it, and every older write to its line has
    /// been accepted, absorbed or refused.
    fn arrived(&mut self, hw: &mut dyn Services, controller: ControllerId, write: &WriteRequest) -> Acceptance {
        let _ = (hw, controller, write);
        Acceptance::Queue
    }

    /// Place 7: may a write take over a queued write to the same line that has not been issued? Otherwise it queues
    /// behind it.
    fn may_coalesce(&self, controller: ControllerId, queued: &WriteRequest, write: &WriteRequest) -> bool {
        let _ = (controller, queued, write);
        true
    }

    /// Place 7: may a queued write go to the media now? `false` leaves it queued until the queue changes.
    fn may_issue(&self, controller: ControllerId, write: &WriteRequest) -> bool {
        let _ = (controller, write);
        true
    }

    /// Place 7: a write has reached the media.
    fn reached_media(&mut self, hw: &mut dyn Services, controller: ControllerId, write: &WriteRequest) {
        let _ = (hw, controller, write);
    }

    /// Place 7: a controller answers [`Services::commit`].
    fn committed(&mut self, hw: &mut dyn Services, core: CoreId, tag: u64) {
        let _ = (hw, core, tag);
    }

    /// Place 8: a message or timer of its own.
    fn message(&mut self, hw: &mut dyn Services, message: Message) {
        let _ = (hw, message);
    }

    /// What it has counted up to `now`: asked as the timed region begins and when all is done, for the difference. Then
    /// `now` is when the cores were done, which may lie before the last that it heard of.
    fn counters(&self, now: Cycles) -> Counters {
        let _ = now;
        Counters::default()
    }

    /// Who waits for whom inside the design, in words: for the watchdog's message.
    fn waits(&self) -> Vec<String> {
        Vec::new()
    }

    /// Place 9: power fails now. What of the design's state still reaches the media, or is undone there, after the
    /// persistence domain has drained: in order, later lines over earlier ones.
    ///
    /// Asked in observed runs after each write that becomes durable and after [`Services::crash_state_changed`]. Where what a
    /// crash would leave of several lines has changed since, the states in between count as crash states too, since a
    /// controller changes one after the other: the line that became durable first (unless it is named, and so covered),
    /// then lines named with other bytes than a crash would have left, in the order in which they are named, then lines
    /// named no more, by address.
    fn power_fails(&self, image: &mut dyn FnMut(Line, LineData)) {
        let _ = image;
    }
}
