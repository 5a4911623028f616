//! What the machine does for a design.

use crate::{ByteMask, Checkpoint, Hook, LineTag, StoreId, Types};
use strandline_isa::{CoreId, Flush, Line, LineData};
use strandline_kernel::Cycles;

/// A memory controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ControllerId(pub u16);

/// A write on its way to persistent memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WriteId(pub u32);

/// A write to persistent memory as a controller sees it. `T` is the design's own type of tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteRequest<T> {
    /// The line written.
    pub line: Line,
    /// Its bytes, captured when the flush or eviction looked the line up.
    pub data: LineData,
    /// Which of them are written; the line keeps the others.
    pub bytes: ByteMask,
    /// The core whose flush this is; `None` for an eviction.
    pub core: Option<CoreId>,
    /// What the design noted on it when it sent it; `None` if the machine sent it.
    pub tag: Option<T>,
}

/// The machine, as a design uses it. Times are in core cycles.
///
/// One rule for all services. Those that take `&self` are questions and change nothing. The others
/// act at once on the machine's own state. An effect that would ask the design again, or resume a
/// core, a flush or a write, is deferred: the machine carries it out after the design has returned,
/// in the order of the calls. These services are marked *deferred*.
pub trait Services<T: Types> {
    /// The present of what the machine asks about: the cycle of the event, of the departure from a store queue, or of the
    /// core's turn. Nothing that happens now has an effect before. A core's program runs ahead of its turn by up to
    /// `simulation.slack`, so the present may be that much earlier than at the question before, which was another core's;
    /// questions of one core, and events, come in time order. Times that a design keeps are compared with that in mind:
    /// [`crate::Occupancy`] adds no cycles for a report that comes late.
    fn now(&self) -> Cycles;

    /// How many cores there are.
    fn cores(&self) -> usize;

    /// How many memory controllers there are.
    fn controllers(&self) -> usize;

    /// Whether the controllers' write queues are in the persistence domain.
    fn adr(&self) -> bool;

    /// Whether a core's stores become visible in program order (TSO).
    fn stores_in_order(&self) -> bool;

    /// Whether coherence is by snooping: every core sees every request, and what any core sends on
    /// the shared bus. Several hosts have none in common.
    fn broadcasts(&self) -> bool;

    /// The controller of a line.
    fn controller_of(&self, line: Line) -> ControllerId;

    /// Stores not yet visible and flushes not yet acknowledged of a core's context (`None`: of all of
    /// them).
    fn pending(&self, core: CoreId, context: Option<u8>) -> u64;

    /// Whether a line is dirty in this core's private caches.
    fn holds_modified(&self, core: CoreId, line: Line) -> bool;

    /// The number of the youngest entry that the core's store queue has had. Entries are numbered in
    /// program order.
    fn newest_entry(&self, core: CoreId) -> StoreId;

    /// The number of the entry at the head of the core's store queue, about which the design is
    /// asked.
    fn entry_at_turn(&self, core: CoreId) -> StoreId;

    /// How long a message takes from one core to another; of several hosts, by way of the device.
    fn to_core(&self) -> Cycles;

    /// How long a message takes from a core to all banks of the LLC, or from all banks to a core.
    fn to_llc(&self) -> Cycles;

    /// The tag of the line's newest copy in the caches, or on its eviction while the design holds
    /// it; `None` if it has none.
    fn line_tag(&self, line: Line) -> Option<LineTag>;

    /// Writes the tag of the line's newest copy, which a core has just written
    /// ([`crate::Design::visible`]). The tag goes wherever that copy goes: to the LLC, to another
    /// core. It is lost when the line leaves the LLC ([`crate::Design::evicted`]).
    fn tag_line(&mut self, line: Line, tag: LineTag);

    /// Clears the tag of a line.
    fn untag_line(&mut self, line: Line);

    /// Whether any core's write to the line has been sent and is not on the media yet.
    fn on_its_way(&self, line: Line) -> bool;

    /// The bytes of a line as the cores see them.
    fn visible_line(&self, line: Line) -> LineData;

    /// The bytes of a line that the media and the persistence domain's queues hold: what a crash
    /// would leave of it if [`crate::Design::power_fails`] named nothing. With ADR these are the
    /// bytes of the write that its controller accepted last, without ADR of the last on the media.
    /// Of a design whose [`crate::Wants::saves`] is at the caches they are those of its last visible store, or of a
    /// non-temporal one once it is accepted. They exclude a write or store about which
    /// [`crate::Design::arrived`] or [`crate::Design::visible`] asks. They include one that
    /// [`crate::Design::acknowledged`] or [`crate::Design::reached_media`] reports.
    ///
    /// In unobserved runs, which have no crash states, the machine keeps these bytes only for
    /// designs with [`crate::Wants::durable_lines`]; for others they are
    /// [`Services::visible_line`]. Only bytes may depend on them: no time, and no decision.
    fn durable_line(&self, line: Line) -> LineData;

    /// The hook is not implemented: the machine stops asking. The default bodies of
    /// [`crate::Design`] call it.
    fn skip(&mut self, hook: Hook);

    /// The opposite of [`Services::skip`]: for a design that wraps one without the hook.
    fn ask_again(&mut self, hook: Hook);

    /// What the core's program announces from now on (a region is durable, a task has ended, an
    /// output) becomes true only when the design has opened the gate. For a fence that retires
    /// before what it waits for.
    fn announce_when(&mut self, core: CoreId, gate: T::Gate);

    /// Sends the design a message at a time that is not in the past.
    fn send(&mut self, at: Cycles, message: T::Message);

    /// Sends the design a message as soon as the core's stores of this context are visible and its
    /// flushes acknowledged. Deferred.
    fn message_when_drained(&mut self, core: CoreId, context: u8, message: T::Message);

    /// Draws the latency of a message from a core to a controller and its reply: that of a write
    /// without its backend operation, with the machine's jitter.
    fn draw_controller_delay(&mut self) -> Cycles;

    /// Wakes all waiters of the gate: they ask again. What the answer that the design is about to give
    /// makes wait is none of them, and waits for the next opening. Deferred.
    fn open(&mut self, gate: T::Gate);

    /// Stores and flushes of `core` that enter its queues from now on belong to this context.
    fn set_context(&mut self, core: CoreId, context: u8);

    /// A flush or primitive that the design kept is done: it no longer counts as pending in its
    /// context. Deferred.
    fn acknowledge(&mut self, core: CoreId, context: u8);

    /// Watches the youngest store to this line in the core's store queue. Returns its number, with
    /// which the machine calls [`crate::Design::performed`] once the store is visible; `None` if
    /// there is no such store.
    fn point_at_store(&mut self, core: CoreId, line: Line) -> Option<StoreId>;

    /// From now on the machine calls [`crate::Design::watched`] for this core's stores to this
    /// line, until [`Services::unwatch_stores`] has been called as often.
    fn watch_stores(&mut self, core: CoreId, line: Line);

    /// The opposite of [`Services::watch_stores`].
    fn unwatch_stores(&mut self, core: CoreId, line: Line);

    /// Performs a store that the design kept ([`crate::Design::keep`]), at this time or when it
    /// can: its core gets the line and the bytes become visible. Then the machine calls
    /// [`crate::Design::performed`]. Deferred.
    fn perform(&mut self, core: CoreId, id: StoreId, at: Cycles);

    /// Looks the line up from this core and, if it is dirty in any cache or held on its eviction
    /// ([`crate::Eviction::Hold`]), writes it back as the machine's own flushes by this instruction
    /// do. (With [`crate::Wants::handed_over_clean`] only the core's own caches, its own held evictions and
    /// the LLC are looked up.) The machine calls
    /// [`crate::Design::acknowledged`] with this tag at the acknowledgement. Deferred.
    fn flush_line(&mut self, core: CoreId, line: Line, flush: Flush, tag: T::Tag);

    /// Sends a line's bytes to its controller, bypassing the caches. The machine calls
    /// [`crate::Design::acknowledged`] with this tag at the acknowledgement.
    fn write(&mut self, core: CoreId, line: Line, data: LineData, tag: T::Tag);

    /// Sends bytes of a line on the core's channel: an in-order path from the core to all
    /// controllers (`machine.channel`), beside the caches. Packets of one core arrive in the order
    /// of the calls, at whichever controllers. The machine calls [`crate::Design::arrived`] at the
    /// arrival, and [`crate::Design::acknowledged`] with this tag at the acceptance. Returns the
    /// time of arrival.
    fn write_in_order(&mut self, core: CoreId, line: Line, data: LineData, bytes: ByteMask, tag: T::Tag) -> Cycles;

    /// Makes what memory holds of a line ([`Services::durable_line`]) visible to all cores. Stale
    /// copies in caches ([`crate::Supply::Durable`]) are stale no more. No store to the line is in
    /// flight.
    fn reload(&mut self, line: Line);

    /// Sends a message on the core's channel, behind all earlier packets. The machine calls
    /// [`crate::Design::message`] at the arrival. Returns the time of arrival.
    fn send_in_order(&mut self, core: CoreId, to: ControllerId, message: T::Message) -> Cycles;

    /// Puts a line's bytes into its controller's write queue from within the controller, behind
    /// every write to the line that is in flight. The machine calls [`crate::Design::arrived`] as
    /// for any other write, and [`crate::Design::acknowledged`] with this tag at the acceptance.
    fn put(&mut self, core: CoreId, line: Line, data: LineData, tag: T::Tag);

    /// Sends bytes of a line on to its controller from where writes stop ([`crate::Wants::stop`]). No failure of a host takes
    /// it, and it has no order but the design's: one write to a line is on its way at a time. The machine calls
    /// [`crate::Design::acknowledged`] with this tag when the acknowledgement is back there.
    fn send_on(&mut self, core: CoreId, line: Line, data: LineData, bytes: ByteMask, tag: T::Tag);

    /// Asks [`crate::Design::passes`] again about writes that wait. Deferred.
    fn look_at_stop(&mut self);

    /// Has the controller ask [`crate::Design::may_issue`] again. Deferred.
    fn look_at_queue(&mut self, controller: ControllerId);

    /// Reads a line within its controller. Returns when its bytes are available: now if the write
    /// queue holds the line.
    fn read_line(&mut self, line: Line) -> Cycles;

    /// Requests a reply when every write that the controller has accepted by then has reached the
    /// media: a `pcommit`. The request takes as long as a write without its backend operation. The
    /// reply is a call of [`crate::Design::committed`] with this tag.
    fn commit(&mut self, core: CoreId, controller: ControllerId, tag: T::Tag);

    /// Takes a checkpoint of the core just before the instruction about which the design is asked
    /// ([`crate::Design::primitive`], or [`crate::Design::keep`] of a locked instruction). `None`
    /// if the core has been rolled back to this very instruction: it must pass it without
    /// speculation, so that each roll-back is followed by progress.
    fn checkpoint(&mut self, core: CoreId) -> Option<Checkpoint>;

    /// Discards a checkpoint and all older ones of the core: later instructions are no longer
    /// speculative.
    fn release(&mut self, core: CoreId, checkpoint: Checkpoint);

    /// Rolls the core back: its program resumes at the checkpoint, and its later operations are
    /// undone. The machine calls [`crate::Design::rolled_back`]. Deferred.
    fn roll_back(&mut self, core: CoreId, checkpoint: Checkpoint);

    /// Interrupts the core's program, whose runtime aborts and restarts its failure-atomic section
    /// (`Cpu::interrupted`). A program without such a runtime ends there, as by a power failure.
    /// Deferred.
    fn interrupt(&mut self, core: CoreId);

    /// Reports a change of what [`crate::Design::power_fails`] names: the machine asks it again at
    /// this cycle. Without this call a change counts only from the next write that becomes durable.
    /// Deferred.
    fn crash_state_changed(&mut self);
}
