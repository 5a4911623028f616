//! The trait.

use crate::{
    About, Acceptance, Access, Admission, Checkpoint, Claim, ControllerId, Counter, Counters, Departure, Eviction,
    Forward, Held, Hook, Level, LineTag, Load, Ordering, Passing, PortId, Services, Sizes, Snoop, Store, StoreId,
    Supply, Types, Until, Wants, Write, WriteRequest,
};
use std::any::Any;
use strandline_isa::{CoreId, Line, LineData, Lowering, Primitive};
use strandline_kernel::{Cycles, Param, Params};

/// The gates of a design.
pub type GateOf<D> = <<D as Design>::Own as Types>::Gate;
/// The messages of a design.
pub type MessageOf<D> = <<D as Design>::Own as Types>::Message;
/// The tags of a design.
pub type TagOf<D> = <<D as Design>::Own as Types>::Tag;
/// The notes of a design.
pub type NoteOf<D> = <<D as Design>::Own as Types>::Note;

/// Any value, viewed as its concrete type.
pub trait AsAny: Any {
    /// The value itself.
    fn as_any(&self) -> &dyn Any;
}

impl<T: Any> AsAny for T {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A persistency design: its answers at the nine places where designs differ.
///
/// Every question has the plain machine's answer as its default. The machine calls each hook that a
/// design implements; nothing has to be enabled. (The default bodies of the frequent hooks call
/// [`Services::skip`], after which the machine no longer calls the hook.)
pub trait Design: AsAny {
    /// Its gates, messages, tags and notes; [`crate::Plain`] if it has none.
    type Own: Types;

    /// What it is.
    fn about(&self) -> About;

    /// What it wants of the machine throughout a run.
    fn wants(&self) -> Wants {
        Wants::default()
    }

    /// Its parameters: `--set design.KEY=VALUE`.
    fn params(&self) -> &'static [Param] {
        &[]
    }

    /// Sets the values of [`Design::params`].
    fn set(&mut self, params: &Params) {
        let _ = params;
    }

    /// The names of parameters that choose another mode, in which it does not keep its model. Tests
    /// of its promises leave them alone.
    fn modes(&self) -> &'static [&'static str] {
        &[]
    }

    /// The structures that it adds to a machine of these sizes: their names and bytes of storage, of
    /// all cores and controllers.
    fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        let _ = machine;
        Vec::new()
    }

    /// Its structures that hold bytes of persistent memory, on a machine of these sizes: those from the place on that
    /// [`Wants::saves`] names, or beside queues that ADR saves, are written on reserve power when power fails.
    fn buffers(&self, machine: &Sizes) -> Vec<Held> {
        let _ = machine;
        Vec::new()
    }

    /// Place 1: which primitives an ordering intent becomes.
    fn lowering(&self) -> Lowering;

    /// Place 2: a flush or primitive is about to be allocated in the store queue. Does the design
    /// claim it instead? (Not asked for `setctx`.)
    fn claim(&mut self, hw: &mut dyn Services<Self::Own>, core: CoreId, ordering: Ordering) -> Claim<GateOf<Self>> {
        let _ = (core, ordering);
        hw.skip(Hook::Claim);
        Claim::No
    }

    /// Place 2: a primitive is dispatched.
    fn primitive(
        &mut self,
        hw: &mut dyn Services<Self::Own>,
        core: CoreId,
        primitive: Primitive,
    ) -> Admission<GateOf<Self>> {
        let _ = core;
        hw.skip(Hook::Primitive);
        Admission::plain(primitive)
    }

    /// Place 2: a flush or primitive that the design has claimed retires at `retires`. A flush counts
    /// as pending in its context until [`Services::acknowledge`].
    fn claimed(
        &mut self,
        hw: &mut dyn Services<Self::Own>,
        core: CoreId,
        ordering: Ordering,
        context: u8,
        retires: Cycles,
    ) {
        let _ = (hw, core, ordering, context, retires);
    }

    /// Place 2: what a locked instruction waits for beyond its core's older stores, on machines whose
    /// locked instructions order flushes.
    fn locked_waits_for(&mut self, core: CoreId) -> Option<Until<GateOf<Self>>> {
        let _ = core;
        Some(Until::Drained(None))
    }

    /// Place 3: a load performs.
    fn load(&mut self, hw: &mut dyn Services<Self::Own>, core: CoreId, load: Load) -> Forward<GateOf<Self>> {
        let _ = (core, load);
        hw.skip(Hook::Load);
        Forward::Caches { after: Cycles(0) }
    }

    /// Place 3: a store or locked instruction is at the head of the store queue; its core has not
    /// yet requested the line. [`Departure::Keep`]: the design keeps it as `id` and performs it by
    /// [`Services::perform`]; its own core's loads see it by [`Design::load`] only. A locked
    /// instruction has by then read its word, from where a load would, and the question comes only
    /// while its core has checkpoints or kept stores. A non-temporal store may wait, but not be
    /// kept.
    fn keep(
        &mut self,
        hw: &mut dyn Services<Self::Own>,
        core: CoreId,
        write: Write,
        id: StoreId,
    ) -> Departure<GateOf<Self>> {
        let _ = (core, write, id);
        hw.skip(Hook::Keep);
        Departure::Go
    }

    /// Place 3: a store or locked instruction is at the head of the store queue, and its core owns
    /// the line. It may become visible or wait, but not be kept.
    fn store(&mut self, hw: &mut dyn Services<Self::Own>, core: CoreId, write: Write) -> Departure<GateOf<Self>> {
        let _ = (core, write);
        hw.skip(Hook::Store);
        Departure::Go
    }

    /// Place 3: as [`Design::store`], of a line that the design watches ([`Services::watch_stores`]).
    fn watched(&mut self, hw: &mut dyn Services<Self::Own>, core: CoreId, line: Line) -> Departure<GateOf<Self>> {
        let _ = (hw, core, line);
        Departure::Go
    }

    /// Place 4: a flush or primitive is at the head of the store queue.
    fn departs(
        &mut self,
        hw: &mut dyn Services<Self::Own>,
        core: CoreId,
        ordering: Ordering,
        context: u8,
    ) -> Departure<GateOf<Self>> {
        let _ = (hw, core, ordering, context);
        Departure::Go
    }

    /// Place 3: a store or locked instruction has written its bytes, which all cores see now.
    fn visible(&mut self, hw: &mut dyn Services<Self::Own>, core: CoreId, store: Store) {
        let _ = (core, store);
        hw.skip(Hook::Visible);
    }

    /// Place 3: a store that the design watches by number ([`Services::point_at_store`]) or kept
    /// has become visible.
    fn performed(&mut self, hw: &mut dyn Services<Self::Own>, core: CoreId, id: StoreId) {
        let _ = (hw, core, id);
    }

    /// Place 4: a flush or write that the design sent is acknowledged.
    fn acknowledged(&mut self, hw: &mut dyn Services<Self::Own>, core: CoreId, tag: TagOf<Self>) {
        let _ = (hw, core, tag);
    }

    /// Place 5, the owner's side: `requester` requests a line that `owner` holds (with
    /// [`Wants::snoops_all`]: whether it holds it or not).
    fn snooped(
        &mut self,
        hw: &mut dyn Services<Self::Own>,
        owner: CoreId,
        requester: CoreId,
        line: Line,
        access: Access,
    ) -> Snoop<GateOf<Self>, NoteOf<Self>> {
        let _ = (hw, owner, requester, line, access);
        Snoop::Grant(None)
    }

    /// Place 5, the line's side: `requester` requests a line whose newest copy has a tag
    /// ([`Services::tag_line`]), whichever core or level holds it. Returns what the request waits for
    /// before any core is snooped.
    fn tagged(
        &mut self,
        hw: &mut dyn Services<Self::Own>,
        requester: CoreId,
        line: Line,
        access: Access,
        tag: LineTag,
    ) -> Option<Until<GateOf<Self>>> {
        let _ = (hw, requester, line, access, tag);
        None
    }

    /// Place 5: whether a core that reads a line gets a copy as if others had one, though none has:
    /// a core that no longer holds the line must hear of a store to it. (A core with the only copy
    /// stores without a request.)
    fn is_shared(&self, requester: CoreId, line: Line) -> bool {
        let _ = (requester, line);
        false
    }

    /// Place 5, the requester's side: the reply from `owner` carries a note. All cores that are
    /// snooped have granted the line.
    fn replied(
        &mut self,
        hw: &mut dyn Services<Self::Own>,
        requester: CoreId,
        owner: CoreId,
        line: Line,
        note: NoteOf<Self>,
    ) {
        let _ = (hw, requester, owner, line, note);
    }

    /// Place 6: a dirty persistent line leaves a core's private caches, or the LLC (`core` is the
    /// one whose miss evicts it). Where it leaves both at once, the design is asked for both, one
    /// after the other. While it is held, requests for it wait. A line with a tag that
    /// leaves the LLC is asked about in any case: volatile or clean, it takes its tag along.
    fn evicted(
        &mut self,
        hw: &mut dyn Services<Self::Own>,
        core: CoreId,
        level: Level,
        line: Line,
    ) -> Eviction<GateOf<Self>> {
        let _ = (hw, core, level, line);
        Eviction::WriteBack
    }

    /// Place 6: a persistent line missed in every cache.
    fn missed(
        &mut self,
        hw: &mut dyn Services<Self::Own>,
        core: CoreId,
        line: Line,
        access: Access,
    ) -> Supply<GateOf<Self>> {
        let _ = (hw, core, line, access);
        Supply::Memory
    }

    /// Place 7: a write has come to where it stops on its way to its controller ([`Wants::stop`]), behind every older write
    /// to its line. Only asked if the design wants it.
    fn passes(&mut self, hw: &mut dyn Services<Self::Own>, port: PortId, write: &WriteRequest<TagOf<Self>>) -> Passing {
        let _ = (hw, port, write);
        Passing::GoOn
    }

    /// Place 7: a write has arrived at a controller. Its write queue has room, and every older
    /// write to its line has been accepted, absorbed or refused, or waits because this design says so.
    fn arrived(
        &mut self,
        hw: &mut dyn Services<Self::Own>,
        controller: ControllerId,
        write: &WriteRequest<TagOf<Self>>,
    ) -> Acceptance<GateOf<Self>> {
        let _ = (controller, write);
        hw.skip(Hook::Arrived);
        Acceptance::Queue
    }

    /// Place 7: may a write coalesce with a queued write to the same line that has not been issued?
    /// Otherwise it queues behind it.
    fn may_coalesce(
        &self,
        controller: ControllerId,
        queued: &WriteRequest<TagOf<Self>>,
        write: &WriteRequest<TagOf<Self>>,
    ) -> bool {
        let _ = (controller, queued, write);
        true
    }

    /// Place 7: may a queued write be issued to the media now? If not, the question is repeated
    /// when the queue changes or at [`Services::look_at_queue`].
    fn may_issue(&self, controller: ControllerId, write: &WriteRequest<TagOf<Self>>) -> bool {
        let _ = (controller, write);
        true
    }

    /// Place 7: a write has coalesced with a queued one, and no longer exists on its own.
    fn coalesced(
        &mut self,
        hw: &mut dyn Services<Self::Own>,
        controller: ControllerId,
        write: &WriteRequest<TagOf<Self>>,
    ) {
        let _ = (hw, controller, write);
    }

    /// Place 7: a write has reached the media, or was lost with its host before it left that.
    fn reached_media(
        &mut self,
        hw: &mut dyn Services<Self::Own>,
        controller: ControllerId,
        write: &WriteRequest<TagOf<Self>>,
    ) {
        let _ = (controller, write);
        hw.skip(Hook::ReachedMedia);
    }

    /// Place 7: a controller replies to [`Services::commit`].
    fn committed(&mut self, hw: &mut dyn Services<Self::Own>, core: CoreId, tag: TagOf<Self>) {
        let _ = (hw, core, tag);
    }

    /// Place 8: a message or timer of its own.
    fn message(&mut self, hw: &mut dyn Services<Self::Own>, message: MessageOf<Self>) {
        let _ = (hw, message);
    }

    /// Place 8: a core has been rolled back. Void are the design's state of the core since that
    /// checkpoint and the stores that it has kept since. It must acknowledge the flushes that it
    /// has kept since, and not send them.
    fn rolled_back(&mut self, hw: &mut dyn Services<Self::Own>, core: CoreId, checkpoint: Checkpoint) {
        let _ = (hw, core, checkpoint);
    }

    /// Counters that only this design has: they appear in the record, its table and the
    /// documentation.
    fn own_counters(&self) -> &'static [Counter] {
        &[]
    }

    /// What it has counted up to `now`: read as the timed region begins and at the end, for the
    /// difference. At the end `now` is when the cores finished, which may precede the last event.
    fn counters(&self, now: Cycles) -> Counters {
        let _ = now;
        Counters::default()
    }

    /// The waiters inside the design and what each waits for, in words: for the watchdog's message.
    fn waits(&self) -> Vec<String> {
        Vec::new()
    }

    /// Place 9: power fails now. Names what of the design's state still reaches the media, or is
    /// undone there, after the persistence domain has drained: in order, later lines over earlier
    /// ones. A line named several times passes through these bytes, from those on that a crash would have left.
    ///
    /// Called in observed runs after each write that becomes durable and after
    /// [`Services::crash_state_changed`]. A controller changes one line after the other: where a
    /// crash would leave several lines changed since the last call, the states in between count as
    /// crash states too. Their order: the line that became durable first (unless it is named, and
    /// so covered), then lines named with other bytes than a crash would have left, in the order in
    /// which they are named, then lines named no more, by address.
    fn power_fails(&self, image: &mut dyn FnMut(Line, LineData)) {
        let _ = image;
    }
}
