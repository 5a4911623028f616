//! HOPS and ASAP on a machine that records their requests.

mod asap;
mod asap_strand;
mod hops;

use super::buffers::{Gate, PersistBuffers};
use crate::mock::{Both, FLAG, ONE, TWO, X, Y, Z, ZERO};
use strandline_design::{Admission, Departure, Design, Snoop, Until};
use strandline_isa::{Addr, CoreId, Primitive, PM_BASE};

/// A design that holds no entries back.
fn eager<D: Design>(design: D) -> Both<D> {
    Both::of(design).with(&[("gather", 1)])
}

/// The gate of a core's fences.
fn fence<G: From<Gate> + std::fmt::Debug>(core: CoreId) -> G {
    match PersistBuffers::admission(core, Primitive::Dfence) {
        Admission::EnterHeld {
            until: Until::Open(gate),
            loads: false,
        } => gate,
        other => panic!("a dfence waits for a gate: {other:?}"),
    }
}
