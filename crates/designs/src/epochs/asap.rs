//! ASAP: persist buffers that flush eagerly, and memory that can be brought back, with epoch (`asap-ep`), release (`asap-rp`) or
//! strand persistency (`asap-strand`).
//!
//! What: as HOPS, but buffers wait for no epoch and mark writes whose epochs are not safe as early. The controllers write early
//! ones to memory, too, and keep in a recovery table what power failure brings back (undo records) and values that arrive behind
//! newer ones of their line (delay records). An epoch that is safe and complete tells the controllers that got early writes of it,
//! which free its records; it is durable when they have answered, and then tells the cores with epochs that depend on it. A table
//! without room refuses the write, and the core flushes conservatively until that epoch is durable. Lines leave the
//! private caches when the writes buffered by then are acknowledged, and the last level when no write of them is refused.
//! Source: ASAP (HPCA 2022), sections IV and V. `asap-strand` is named there as possible (IV-A): persist barriers order within a strand,
//! an `ofence` orders all strands, two strands that write one line follow each other, and only such conflicts make epochs of
//! different cores depend on one another.
//! Beyond the paper's text: a safe flush replaces the records that its own epoch has made of the line when it was not safe yet; a
//! controller that has refused a write refuses early ones of its line, so that they stay in order; with release persistency a write
//! to a line that another core has
//! written and that is not durable is a dependence, since flushes are of whole lines; a request for a line waits for room in
//! the epoch tables of both cores; the directory remembers who wrote a line last, as HOPS's does, since a line that has left the
//! caches of its writer may be flushed and not yet durable. An early write is accepted when its record is made, and stays in the write queue
//! until its old value has been read.
//! Simplified: instructions of other ISAs as in HOPS. The value of a line that is missed in every cache comes from
//! its controller even if a persist buffer holds a newer one, which the simulated load sees.

use super::delegated::Delegated;
use crate::parts::persist_buffer::Carries;
use strandline_design::{About, Needs};

const ABOUT: About = About {
    name: "asap-ep",
    paper: "ASAP IV, V",
    summary: "ofence and dfence; persist buffers flush at once, controllers undo what was too early",
    needs: Needs { adr: true, tso: true },
    promises_recovery: true,
    model: "ep",
    intents: Some("intents"),
    window: None,
};

/// Eager flushing, epoch persistency.
#[must_use]
pub fn asap_ep() -> Delegated<true> {
    Delegated::new(ABOUT, Carries::EveryLine)
}

/// Eager flushing, release persistency.
#[must_use]
pub fn asap_rp() -> Delegated<true> {
    let about = About {
        name: "asap-rp",
        summary: "as asap-ep, and only acquires make threads wait for each other's epochs",
        model: "rp",
        ..ABOUT
    };
    Delegated::new(about, Carries::Releases)
}

/// Eager flushing, strand persistency.
#[must_use]
pub fn asap_strand() -> Delegated<true> {
    let about = About {
        name: "asap-strand",
        paper: "ASAP IV-A (beyond the paper)",
        summary: "eager flushing under strands: persist barriers order within a strand, ofences all of them",
        model: "asap-strand",
        ..ABOUT
    };
    Delegated::new(about, Carries::Conflicts)
}
