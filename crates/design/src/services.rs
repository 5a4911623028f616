//! What the machine does for a design.

use crate::{ByteMask, Checkpoint, Hook, StoreId, Types};
use strandline_isa::{CoreId, Line, LineData};
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
/// act at once on the machine's own state. Whatever would ask the design again, or let a core, a
/// flush or a write go on, is deferred: it is carried out as soon as the design has returned, in the
/// order of the calls. These services are marked *deferred*.
pub trait Services<T: Types> {
    /// The present.
    fn now(&self) -> Cycles;

    /// How many cores there are.
    fn cores(&self) -> usize;

    /// How many memory controllers there are.
    fn controllers(&self) -> usize;

    /// Whether the controllers' write queues are in the persistence domain.
    fn adr(&self) -> bool;

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

    /// The number of the entry of the core's store queue whose turn has come, which is being asked
    /// about.
    fn entry_at_turn(&self, core: CoreId) -> StoreId;

    /// How long a message takes from one core to another.
    fn to_core(&self) -> Cycles;

    /// The bytes of a line as the cores see them.
    fn visible_line(&self, line: Line) -> LineData;

    /// The bytes of a line that the media and the persistence domain's queues hold: what a crash would
    /// leave of it if [`crate::Design::power_fails`] named nothing. With ADR these are the bytes of
    /// the write that its controller accepted last, without ADR of the last on the media, and of a
    /// design with [`crate::Domain::Caches`] those of its last visible store, or of a non-temporal one
    /// once it is accepted. A write or store about which the design is being asked by
    /// [`crate::Design::arrived`] or [`crate::Design::visible`] is not in them yet; one of which it
    /// hears by [`crate::Design::acknowledged`] or [`crate::Design::reached_media`] is.
    ///
    /// In unobserved runs, where nobody looks at crash states, the machine keeps these bytes only for
    /// designs with [`crate::Design::reads_durable`]; for others it is [`Services::visible_line`]. So
    /// let nothing depend on them but bytes: no time, and no decision.
    fn durable_line(&self, line: Line) -> LineData;

    /// The hook is not implemented: the machine stops asking. The default bodies of
    /// [`crate::Design`] call it.
    fn skip(&mut self, hook: Hook);

    /// The opposite of [`Services::skip`]: for a design around another one that does not implement the
    /// hook.
    fn heed(&mut self, hook: Hook);

    /// Sends the design a message at a time that is not in the past.
    fn send(&mut self, at: Cycles, message: T::Message);

    /// Draws how long a message takes from a core to a controller and its answer back: as long as a
    /// write without its backend operation, with the machine's jitter.
    fn draw_controller_delay(&mut self) -> Cycles;

    /// Wakes all that wait for the gate: they ask again. Deferred.
    fn open(&mut self, gate: T::Gate);

    /// Stores and flushes of `core` that enter its queues from now on belong to this context.
    fn set_context(&mut self, core: CoreId, context: u8);

    /// A flush or primitive that the design kept is done: it no longer counts as pending in its
    /// context. Deferred.
    fn acknowledge(&mut self, core: CoreId, context: u8);

    /// Points at the youngest store to this line in the core's store queue: its number, of which
    /// [`crate::Design::performed`] hears once it has become visible; none if there is no such store.
    fn point_at_store(&mut self, core: CoreId, line: Line) -> Option<StoreId>;

    /// [`crate::Design::watched`] is asked for this core's stores to this line from now on, until
    /// [`Services::unwatch_stores`] has been called as often.
    fn watch_stores(&mut self, core: CoreId, line: Line);

    /// The opposite of [`Services::watch_stores`].
    fn unwatch_stores(&mut self, core: CoreId, line: Line);

    /// Performs a store that the design kept ([`crate::Design::keep`]): its core gets the line, the
    /// bytes become visible, and [`crate::Design::performed`] hears of it. Deferred.
    fn perform(&mut self, core: CoreId, id: StoreId);

    /// Looks the line up from this core and, if it is dirty anywhere (with
    /// [`crate::Design::hands_over_clean`]: in the core's own caches or the LLC), writes it back; the
    /// machine's own path of a flush. [`crate::Design::acknowledged`] hears of the acknowledgement
    /// with this tag. Deferred.
    fn flush_line(&mut self, core: CoreId, line: Line, tag: T::Tag);

    /// Sends a line's bytes to its controller, around the caches; [`crate::Design::acknowledged`]
    /// hears of the acknowledgement with this tag.
    fn write(&mut self, core: CoreId, line: Line, data: LineData, tag: T::Tag);

    /// Puts bytes of a line on the core's channel: an in-order path from the core to all controllers
    /// (`machine.channel`), beside the caches. What one core puts there arrives in the order of the
    /// calls, at whichever controllers. [`crate::Design::arrived`] is asked when it arrives, and
    /// [`crate::Design::acknowledged`] hears of the acceptance with this tag. Returns when it will
    /// arrive.
    fn write_in_order(&mut self, core: CoreId, line: Line, data: LineData, bytes: ByteMask, tag: T::Tag) -> Cycles;

    /// All cores see from now on what memory holds of a line ([`Services::durable_line`]): copies in caches
    /// that were stale ([`crate::Supply::Durable`]) are no more. No store to the line is on its way.
    fn reload(&mut self, line: Line);

    /// Puts a message on the core's channel, behind all that is on it: [`crate::Design::message`]
    /// hears it when it arrives. Returns when it will arrive.
    fn send_in_order(&mut self, core: CoreId, to: ControllerId, message: T::Message) -> Cycles;

    /// Puts a line's bytes into its controller's write queue from within the controller, behind every
    /// write to the line that is on its way there; [`crate::Design::arrived`] is asked as for any
    /// other, and [`crate::Design::acknowledged`] hears of the acceptance with this tag.
    fn put(&mut self, core: CoreId, line: Line, data: LineData, tag: T::Tag);

    /// Has the controller ask [`crate::Design::may_issue`] again. Deferred.
    fn look_at_queue(&mut self, controller: ControllerId);

    /// Reads a line within its controller: when its bytes are there. That is now if the write queue
    /// holds the line.
    fn read_line(&mut self, line: Line) -> Cycles;

    /// Asks a controller to say when every write that it has accepted by then has reached the media: a
    /// `pcommit`. The request takes as long as a write without its backend operation; the answer is a
    /// call of [`crate::Design::committed`] with this tag.
    fn commit(&mut self, core: CoreId, controller: ControllerId, tag: T::Tag);

    /// Takes a checkpoint of the core just before the instruction about which the design is being
    /// asked ([`crate::Design::primitive`], or [`crate::Design::keep`] of a locked instruction).
    /// `None` if the core has been rolled back to this very instruction: it must pass it without
    /// speculation, so that each roll-back is followed by progress.
    fn checkpoint(&mut self, core: CoreId) -> Option<Checkpoint>;

    /// Discards a checkpoint and all older ones of the core: what came after them is not speculative
    /// any more.
    fn release(&mut self, core: CoreId, checkpoint: Checkpoint);

    /// Rolls the core back: its program goes on from the checkpoint, and what it did since never
    /// happened. [`crate::Design::rolled_back`] hears of it. Deferred.
    fn roll_back(&mut self, core: CoreId, checkpoint: Checkpoint);

    /// Interrupts the core's program, whose runtime aborts and restarts its failure-atomic section
    /// (`Cpu::interrupted`). A program without such a runtime ends there, as by a power failure.
    /// Deferred.
    fn interrupt(&mut self, core: CoreId);

    /// What [`crate::Design::power_fails`] names has changed: it is asked again at this cycle. Without
    /// this call a change counts only from the next write that becomes durable. Deferred.
    fn crash_state_changed(&mut self);
}
