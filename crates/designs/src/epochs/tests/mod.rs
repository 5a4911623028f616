//! HOPS and ASAP on a machine that records their requests.

mod asap;
mod asap_frontier;
mod asap_strand;
mod hops;

use super::buffers::Gate;
use crate::mock::{Both, FLAG, ONE, TWO, X, Y, Z, ZERO};
use strandline_design::{Departure, Design, Snoop, Until};
use strandline_isa::{Addr, CoreId, Primitive, PM_BASE};

/// A design that holds no entries back.
fn eager<D: Design>(design: D) -> Both<D> {
    Both::of(design).with(&[("gather", 1)])
}

/// The gate of a core's fences.
fn fence<G: From<Gate>>(core: CoreId) -> G {
    Gate::Fence(core).into()
}
