//! HOPS: delegated ordering by persist buffers, with epoch (`hops-ep`) or release persistency (`hops-rp`).
//!
//! What: stores to persistent memory enter a buffer beside their core's caches as they become visible. An `ofence` begins a
//! new epoch and the core goes on; a `dfence` waits until all epochs so far are durable, with those of other cores that they
//! depend on. Buffers flush conservatively: an epoch when the one before it is durable and those of other cores that it depends on
//! are, of which cores learn by polling a global register. With release persistency only acquires of what another core has released
//! make epochs depend on one another. Dirty persistent lines that leave the last level are dropped, since the buffers persist
//! them. Tasks that share a core wait at a `dfence` for their own epochs.
//! Source: StrandWeaver (ISCA 2020), section VI-A; ASAP (HPCA 2022), sections II, IV-E, V-A and VI-B.
//! Not in the papers: writes of an epoch that has not ended gather (`design.gather`), so that stores join them.
//! Simplified: a core's epochs that are not durable are not limited in number. A line that is missed in every cache while
//! a buffer holds it is there when memory would have answered (HOPS keeps the read until the write has been done). Instructions
//! of other ISAs that wait for flushes or order them are executed as the `dfence` or `ofence` that does the same, and flushes
//! write nothing back.

use super::delegated::Delegated;
use crate::parts::persist_buffer::Carries;
use strandline_design::{About, Needs};

const ABOUT: About = About {
    name: "hops-ep",
    paper: "StrandWeaver VI-A; ASAP VI-B",
    summary: "ofence and dfence; epochs wait in persist buffers beside the caches",
    needs: Needs { adr: true, tso: true },
    promises_recovery: true,
    model: "ep",
    intents: Some("intents"),
    window: None,
};

/// Epochs in persist buffers, flushed conservatively.
#[must_use]
pub fn hops_ep() -> Delegated<false> {
    Delegated::new(ABOUT, Carries::EveryLine)
}

/// The same, with dependences at acquires only.
#[must_use]
pub fn hops_rp() -> Delegated<false> {
    let about = About {
        name: "hops-rp",
        paper: "ASAP VI-B",
        summary: "as hops-ep, and only acquires make threads wait for each other's epochs",
        model: "rp",
        ..ABOUT
    };
    Delegated::new(about, Carries::Releases)
}
