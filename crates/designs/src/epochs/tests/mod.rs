//! HOPS and ASAP on a machine that records their requests.

mod asap;
mod asap_strand;
mod hops;
mod machine;

use super::buffers::{Gate, PersistBuffers};
use machine::Both;
use strandline_design::{Admission, Departure, Design, Entry, Snoop, Until};
use strandline_isa::{Addr, CoreId, Primitive, PM_BASE};

const ZERO: CoreId = CoreId(0);
const ONE: CoreId = CoreId(1);
const TWO: CoreId = CoreId(2);
const X: Addr = Addr(PM_BASE);
/// Of another controller than X.
const Y: Addr = Addr(PM_BASE + 64);
const Z: Addr = Addr(PM_BASE + 128);
const FLAG: Addr = Addr(64);

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
