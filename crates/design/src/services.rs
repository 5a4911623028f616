//! What the machine does for a design.

use crate::Gate;
use strandline_isa::{CoreId, Line, LineData};
use strandline_kernel::Cycles;

/// A memory controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ControllerId(pub u16);

/// A write on its way to persistent memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WriteId(pub u32);

/// A write to persistent memory as a controller sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteRequest {
    /// The line written.
    pub line: Line,
    /// Its bytes, captured when the flush or eviction looked the line up.
    pub data: LineData,
    /// The core whose flush this is; `None` for an eviction.
    pub core: Option<CoreId>,
    /// What the design noted on it when it sent it.
    pub tag: u64,
}

/// A message or timer of the design's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// What it means.
    pub kind: u32,
    /// For whom: a core, a controller, an entry.
    pub to: u32,
    /// What it says.
    pub body: u64,
}

/// The machine, as a design may use it. Times are in core cycles.
pub trait Services {
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

    /// Sends the design a message at a time that is not in the past.
    fn send(&mut self, at: Cycles, message: Message);

    /// Lets everybody who waits for the gate ask again, now.
    fn open(&mut self, gate: Gate);

    /// Stores and flushes of `core` that enter its queues from now on belong to this context.
    fn set_context(&mut self, core: CoreId, context: u8);

    /// Stores not yet visible and flushes not yet acknowledged of a core's context (`None`: of all of them).
    fn pending(&self, core: CoreId, context: Option<u8>) -> u64;

    /// A flush or primitive that the design kept is done: it no longer counts as pending in its context.
    fn acknowledge(&mut self, core: CoreId, context: u8);

    /// Points at the youngest store to this line in the core's store queue: a number for it, of which
    /// [`crate::Design::stored`] hears once it has become visible; none if there is no such store.
    fn point_at_store(&mut self, core: CoreId, line: Line) -> Option<u64>;

    /// [`crate::Design::departs`] is asked for this core's stores to this line from now on, whatever [`crate::Places`] says,
    /// until [`Services::unask_stores`] has been called as often.
    fn ask_stores(&mut self, core: CoreId, line: Line);

    /// The opposite of [`Services::ask_stores`].
    fn unask_stores(&mut self, core: CoreId, line: Line);

    /// Whether a line is dirty in this core's private caches.
    fn holds_modified(&self, core: CoreId, line: Line) -> bool;

    /// Looks the line up from this core and, if it is dirty anywhere (with [`crate::Design::hands_over_clean`]: in the core's
    /// own caches or the shared level), writes it back; the machine's own path of a flush. [`crate::Design::flushed`] hears
    /// of the acknowledgement with this tag.
    fn flush_line(&mut self, core: CoreId, line: Line, tag: u64);

    /// Sends a line's bytes to its controller, around the caches; [`crate::Design::flushed`] hears of the
    /// acknowledgement with this tag.
    fn write(&mut self, core: CoreId, line: Line, data: LineData, tag: u64);

    /// Puts a line's bytes into its controller's write queue from within the controller, behind every write to the line that
    /// is on its way there; [`crate::Design::arrived`] is asked as for any other, and [`crate::Design::flushed`] hears of the
    /// acceptance with this tag.
    fn put(&mut self, core: CoreId, line: Line, data: LineData, tag: u64);

    /// Reads a line within its controller: when its bytes are there. That is now if the write queue holds the line.
    fn read_line(&mut self, line: Line) -> Cycles;

    /// How long a message takes from a core to a controller and its answer back: as long as a write without its backend
    /// operation.
    fn to_controller(&mut self) -> Cycles;

    /// How long a message takes from one core to another.
    fn to_core(&self) -> Cycles;

    /// The bytes of a line as the cores see them.
    fn visible_line(&self, line: Line) -> LineData;

    /// The bytes of a line that the media and the persistence domain's queues hold: what a crash would leave of it if
    /// [`crate::Design::power_fails`] named nothing. With ADR these are the bytes of the write that its controller accepted
    /// last, without ADR of the last on the media, and of a design with [`crate::Domain::Caches`] those of its last visible
    /// store, or of a non-temporal one once it is accepted. A write or store of which the design is just hearing by
    /// [`crate::Design::arrived`] or [`crate::Design::visible`] is not in them yet; one of which it hears by
    /// [`crate::Design::flushed`] or [`crate::Design::reached_media`] is.
    ///
    /// In unobserved runs, where nobody looks at crash states and nobody keeps these bytes, it is
    /// [`Services::visible_line`]. So let nothing depend on them but bytes: no time, and no decision.
    fn durable_line(&self, line: Line) -> LineData;

    /// Asks a controller to say when every write that it has accepted by then has reached the media: a `pcommit`. The
    /// request takes as long as a write without its backend operation; the answer is a call of
    /// [`crate::Design::committed`] with this tag.
    fn commit(&mut self, core: CoreId, controller: ControllerId, tag: u64);

    /// What [`crate::Design::power_fails`] names has changed: it is asked again at this cycle, when the design has answered.
    /// Without this call a change counts only from the next write that becomes durable.
    fn crash_state_changed(&mut self);
}
