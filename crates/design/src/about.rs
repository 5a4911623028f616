//! What a design is, what it needs and where it wants to be asked.

/// A design's name and origin, for lists and tables.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The name on the command line.
    pub name: &'static str,
    /// The paper (and section) that proposes or describes it.
    pub paper: &'static str,
    /// One line: what it does.
    pub summary: &'static str,
    /// What it needs of the machine.
    pub needs: Needs,
    /// Whether its crash states are promised to recover.
    pub promises_recovery: bool,
    /// The persistency model that it implements; a file of `models/`.
    pub model: &'static str,
    /// The model of intents that its lowering keeps; a file of `models/`. None if it promises nothing.
    pub intents: Option<&'static str>,
    /// Tasks that share a thread unless the user says; `None`: a thread runs one after the other.
    pub window: Option<u64>,
}

/// What a design needs of the machine; a mismatch is refused before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The controllers' write queues must be in the persistence domain (ADR).
    pub adr: bool,
    /// Stores must drain in program order (TSO).
    pub tso: bool,
}

/// The sizes of a machine that decide what a design adds to it, and what it must save when power fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Cores.
    pub cores: u64,
    /// Memory controllers.
    pub controllers: u64,
    /// Entries of a core's store queue.
    pub store_queue_entries: u64,
    /// Entries of a core's write-back buffer.
    pub writeback_buffer_entries: u64,
    /// Entries of a controller's write queue, a line each.
    pub wpq_entries: u64,
    /// Bytes of a core's private caches, all levels together.
    pub private_bytes: u64,
    /// Bytes of the shared level.
    pub shared_bytes: u64,
}

/// Where the persistence domain begins, beyond what the machine's ADR says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Domain {
    /// At the controllers' write queues with ADR, at the media without.
    #[default]
    Controllers,
    /// At the caches (eADR, BBB): a store is durable once it is visible.
    Caches,
}

/// The frequent places at which a design wants to be asked. The rare places are always asked.
///
/// A place that is not wanted costs nothing: the core's fast path does not leave the core for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// [`crate::Design::admit`] for every store, flush and primitive.
    pub admission: bool,
    /// Instructions of strands (`clwb` among them) do not enter the store queue: [`crate::Design::admit`] is asked for
    /// each of them, and [`crate::Design::taken`] gets those that it lets in.
    pub strands: bool,
    /// [`crate::Design::primitive`] for every primitive.
    pub primitives: bool,
    /// [`crate::Design::load`] for every load.
    pub loads: bool,
    /// [`crate::Design::departs`] and [`crate::Design::visible`] for every store and every locked instruction.
    pub stores: bool,
    /// Non-temporal stores are ordinary ones: they go through the caches, and the design combines what it persists.
    pub plain_nt: bool,
    /// [`crate::Design::asked`] for every core other than the requester, holder of the line or not.
    pub all_cores_asked: bool,
}
