//! PMEM-Spec: stores bypass the caches to memory; misordered accesses are detected there and undone
//! by software.
//!
//! What: strict persistency without flush or fence. A store to persistent memory is sent down its core's own path to the
//! controllers when it becomes visible, byte by byte as it was stored. A path is in order, at whichever controllers its
//! stores arrive; paths of several cores are of different length. Dirty persistent lines that the LLC evicts are dropped,
//! since the paths bring what was stored in them.
//!
//! That is speculation, in two ways. A store may arrive before another core's older one to the same
//! line (a *late* store). A load may fetch a dropped line before its stores have arrived (a *stale*
//! load; it does get the stale bytes). Each controller detects both with a speculation buffer. The
//! buffer holds recently written lines, with the number of the newest store to each. It also holds
//! recently dropped lines, with the number of the newest store at the time, and whether they have
//! been fetched since. A store that arrives is late if a younger one to its line has arrived. A
//! load was stale if a store arrives that is older than the drop of a line fetched since.
//!
//! An entry is held for the *window*, the longest time that a store is in flight, and longer only
//! while a path is held up. A store or dropped line that finds the buffer full waits. Only the
//! oldest store of all needs no entry, since nothing older can arrive after it.
//!
//! Misspeculation is treated as a power failure. All cores are interrupted, since the readers of
//! the line are unknown. Each program's own log undoes its open failure-atomic section, which then
//! restarts (`runtime/abort.rs`).
//!
//! - `dfence` (durable): the core's path is empty, and the window has passed with nothing older in
//!   flight. So all that the core has seen is durable, and every misspeculation that it depends on
//!   has been found.
//! - `mfence` (validate): no fetch of the core can still prove stale. Until its next `dfence` the
//!   core does not speculate: its misses wait while a line's entry says that it was dropped. A
//!   section executes it before it writes what commits it, where it rarely waits. An abort ends
//!   with it, so that the section then makes progress.
//!
//! Why a crash recovers: a section's records arrive before its updates, as its path is in order. A
//! section that is not acknowledged is undone by recovery. So is what it derived from stale bytes,
//! as nothing commits it before it is validated. An acknowledged section has waited for the window,
//! and with it for all that it depends on. Programs without sections have what
//! `models/pmem-spec.cat` guarantees: the order of each core's stores, and `dfence`.
//!
//! Source: PMEM-Spec (ASPLOS 2021), as its abstract and ASAP (HPCA 2022), sections II, III and VI, describe it.
//! Not public, and so decided here: the content of the buffer and its behaviour when full, the
//! window and what extends it, `mfence`, and that all cores are interrupted. Simplified: the number
//! of a store counts all cores' stores in the order in which they became visible. A dropped line is
//! announced to its controller in no time. The interrupt arrives at once, and copies of a stale
//! line are corrected in place when its stores have arrived.

mod buffer;
mod paths;
#[allow(clippy::module_inception, reason = "a design's file has the design's name")]
mod pmem_spec;

pub use pmem_spec::PmemSpec;
