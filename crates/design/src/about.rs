//! What a design is, what it needs and which hooks it implements.

use crate::Place;

/// A design's name and origin, for lists and tables.
#[derive(Clone, Copy, Debug, Default)]
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

impl About {
    /// Whether nobody can build it: it bounds what others can reach. Its summary begins with the word.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        self.summary.starts_with("bound: ")
    }
}

/// What a design needs of the machine; a mismatch is refused before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The controllers' write queues must be in the persistence domain (ADR).
    pub adr: bool,
    /// The order in which stores must drain.
    pub stores: Drains,
    /// The hosts that its cores may be of.
    pub hosts: Hosts,
}

impl Needs {
    /// ADR, and stores in program order.
    pub const ADR_IN_ORDER: Needs = Needs {
        adr: true,
        stores: Drains::InOrder,
        hosts: Hosts::ALIKE,
    };
}

/// The hosts on which a design runs, where several share persistent memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// Any, and one of them may fail: what a core has made durable is at the device, and nothing else of it is needed.
    Any,
    /// Those whose copies nothing keeps alike, and one of them may fail: what a directory would do.
    Apart(&'static str),
    /// Those whose copies a directory keeps alike, and one of them may fail, since what is visible of it is saved: what is
    /// missing otherwise.
    Saved(&'static str),
    /// Those whose copies a directory keeps alike, and none of which fails: what is missing otherwise.
    Coherent(&'static str),
}

impl Hosts {
    /// Those of a design that follows what other cores have written by their replies.
    pub const ALIKE: Hosts = Hosts::Coherent("it learns by coherence what other cores have written and not persisted");
}

impl Default for Hosts {
    fn default() -> Hosts {
        Hosts::ALIKE
    }
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
    /// Hosts.
    pub hosts: u64,
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

/// When a design may roll cores back ([`crate::Services::checkpoint`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RollsBack {
    /// Never: checkpoints are numbers only.
    #[default]
    Never,
    /// Only because of what another core does: on a machine of one core, never.
    OnConflicts,
    /// At any time.
    Always,
}

impl RollsBack {
    /// Whether a machine of `cores` cores must keep what it needs to roll them back.
    #[must_use]
    pub fn on(self, cores: usize) -> bool {
        match self {
            RollsBack::Never => false,
            RollsBack::OnConflicts => cores > 1,
            RollsBack::Always => true,
        }
    }
}

/// What a design wants of the machine throughout a run, beside answers to its hooks. The default is
/// the plain machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wants {
    /// The place from which on bytes are written to the media if power fails, where that is before the queues that ADR
    /// saves. With [`Place::has_visible`], a store is durable once it is visible (eADR, BBB).
    pub saves: Option<Place>,
    /// Where on the way to the controllers it is asked about each write ([`crate::Design::passes`]): in the switch, or in the
    /// device before its write queues ([`Place::ControllerBuffer`]).
    pub stop: Option<Place>,
    /// When it rolls cores back.
    pub rolls_back: RollsBack,
    /// [`crate::Services::durable_line`] is true in unobserved runs too.
    pub durable_lines: bool,
    /// Non-temporal stores use the caches as ordinary stores: the design combines what it persists.
    pub nt_cached: bool,
    /// It is asked about store barriers where stores become visible in program order, too.
    /// Otherwise they are free there.
    pub all_barriers: bool,
    /// It tells the contexts of a core apart ([`crate::Services::set_context`]), which the record then counts.
    pub contexts: bool,
    /// Every core other than the requester of a line is snooped, holder of the line or not.
    pub snoops_all: bool,
    /// The directory remembers cores that no longer hold a line, and forwards requests to them,
    /// which takes a forward where such a core's reply carries a note. (Only with `snoops_all`.
    /// Where requests are broadcast, every core sees them anyway.)
    pub sharers_remembered: bool,
    /// A dirty persistent line is written back to memory when it gets a new owner. Then a core's
    /// flushes look for its stores only in its own caches and the LLC.
    pub handed_over_clean: bool,
    /// What leaves the caches for memory is its own to say ([`crate::Design::evicted`]). So a dirty line that another host
    /// requests goes along dirty: the device does not write it on the way.
    pub orders_evictions: bool,
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
