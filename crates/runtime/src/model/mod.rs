//! The language-level models' logs (StrandWeaver, ISCA 2020, section V, Figures 5 and 6): transactions, outermost critical
//! sections, synchronization-free regions, and redo logging with group commit.
//!
//! Each lane (a thread, or one of the tasks that share it) has a circular log of entries in
//! persistent memory ([`ring`]), a ledger of its regions' dependences ([`ledger`]) and sets of
//! lines or words in volatile memory ([`set`]). [`pairs`] writes undo entries and [`redo`] new
//! values, both committed in batches ([`batches`]); [`rollback`] and [`replay`] are their recovery
//! after a crash.

pub(crate) mod batches;
pub(crate) mod entry;
pub(crate) mod layout;
pub(crate) mod ledger;
pub(crate) mod pairs;
pub(crate) mod redo;
pub(crate) mod replay;
pub(crate) mod ring;
pub(crate) mod rollback;
pub(crate) mod scan;
pub(crate) mod set;

#[cfg(test)]
mod tests;
