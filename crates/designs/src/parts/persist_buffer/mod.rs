//! Persist buffers beside the caches: writes to persistent memory wait there, in epochs, while
//! their core continues (HOPS, ASPLOS 2017, as StrandWeaver (ISCA 2020) VI-A and ASAP (HPCA 2022)
//! II, IV and V describe it).
//!
//! A core's [`Buffer`] has its writes; [`crate::parts::epochs`] has the order of its epochs. A design
//! decides when an entry is flushed, and how an epoch commits.

mod buffer;
mod entries;

pub use buffer::{Buffer, Flush, Sent, Write, BUFFER_ENTRIES, LINE_NUMBER_BITS};
pub use entries::Entries;
