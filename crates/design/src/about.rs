//! What a design is, what it needs and which hooks it implements.

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
    /// The model of intents that its lowering keeps; a file of `models/`. `None` if it promises
    /// nothing.
    pub intents: Option<&'static str>,
    /// Tasks that share a thread unless the user sets another number. `None`: a thread runs its
    /// tasks one after the other.
    pub window: Option<u64>,
}

/// What a design needs of the machine; a mismatch is refused before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The controllers' write queues must be in the persistence domain (ADR).
    pub adr: bool,
    /// The order in which stores must drain.
    pub stores: Drains,
}

/// The order in which a design needs a core's stores to become visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drains {
    /// Any order that the machine has.
    #[default]
    Any,
    /// Program order (TSO).
    InOrder,
    /// Any order between store barriers, which reach the design (weak cores).
    Weak,
}

/// The sizes of a machine that decide what a design adds to it, and what it must save when power
/// fails.
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
    /// Bytes of the LLC.
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

/// The frequent hooks of [`crate::Design`]. The machine calls each of them until the design reports
/// that it does not implement it ([`crate::Services::skip`]). From then on the fast paths of cores
/// and controllers bypass the hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hook {
    /// [`crate::Design::claim`].
    Claim,
    /// [`crate::Design::primitive`].
    Primitive,
    /// [`crate::Design::load`].
    Load,
    /// [`crate::Design::keep`].
    Keep,
    /// [`crate::Design::store`].
    Store,
    /// [`crate::Design::visible`].
    Visible,
    /// [`crate::Design::arrived`].
    Arrived,
    /// [`crate::Design::reached_media`], of writes that the machine has sent.
    ReachedMedia,
}
