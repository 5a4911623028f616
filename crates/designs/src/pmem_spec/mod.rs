//! PMEM-Spec: stores go to memory beside the caches, and what comes out of order is found there and undone by software.
//!
//! What: strict persistency without flush or fence. A store to persistent memory is sent down its core's own path to the
//! controllers when it becomes visible, byte by byte as it was stored. A path is in order, at whichever controllers its
//! stores arrive; paths of several cores are of different length. Dirty persistent lines that the LLC evicts are dropped,
//! since the paths bring what was stored in them.
//!
//! That is speculation, in two ways. A store may arrive before another core's older one to the same line (a *late* store),
//! and a load may fetch a dropped line before what was stored in it has arrived (a *stale* load; it does get the stale
//! bytes). Each controller finds both with a speculation buffer. It holds the lines written lately, with the number of the
//! newest store to each, and the lines dropped lately, with the number of the newest store at the time, and whether they
//! have been fetched since. A store that arrives is late if a younger one to its line has arrived. A load was stale if a
//! store arrives that is older than the drop of a line fetched since.
//!
//! An entry is held for the *window*, the longest that a store is on its way, and longer only while a path is held up. A
//! store or dropped line that finds the buffer full waits; only the oldest store of all needs no entry, since nothing older
//! can come after it.
//!
//! Misspeculation is treated as a power failure: all cores are interrupted, since nobody knows who has read the line, and
//! each program's own log undoes its open failure-atomic section, which then starts again (`runtime/abort.rs`).
//!
//! - `dfence` (durable): the core's path is empty, and the window has passed with nothing older on its way. So whatever the
//!   core has seen is durable, and what misled it has been found.
//! - `mfence` (validate): nothing that the core has fetched can be found stale any more, and until its next `dfence` the core
//!   does not speculate: its misses wait while a line's entry says that it was dropped. A section executes it before it
//!   writes what commits it, where it rarely waits; and an abort ends with it, so that the section then gets on.
//!
//! Why a crash recovers: a section's records arrive before its updates, as its path is in order. A section that is not
//! acknowledged is undone by recovery, and so is what it derived from stale bytes, as nothing commits it before it is
//! validated. One that is acknowledged has waited out the window, and with it all that it depends on. Programs without
//! sections keep what `models/pmem-spec.cat` says: the order of each core's stores, and `dfence`.
//!
//! Source: PMEM-Spec (ASPLOS 2021), as its abstract and ASAP (HPCA 2022), sections II, III and VI, describe it.
//! Not public, and so decided here: what the buffer holds and what happens when it is full, the window and what holds it
//! up, `mfence`, and that all cores are interrupted. Simplified: the number of a store is that of all cores' stores in the
//! order in which they became visible; a dropped line is announced to its controller in no time; the interrupt arrives at
//! once, and copies of a stale line are set right in place when its stores have arrived.

mod buffer;
mod design;
mod paths;

pub use design::PmemSpec;
