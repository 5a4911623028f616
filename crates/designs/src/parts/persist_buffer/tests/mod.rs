//! The buffers of some cores against a machine that writes down what it is asked for.

mod conservative;
mod eager;
mod machine;
mod strands;

use machine::Both;
use strandline_design::{Admission, Asked, Departure, Entry, Gate, Until};
use strandline_isa::{Addr, CoreId, Primitive, PM_BASE};

const ZERO: CoreId = CoreId(0);
const ONE: CoreId = CoreId(1);
const TWO: CoreId = CoreId(2);
const X: Addr = Addr(PM_BASE);
/// Of another controller than X.
const Y: Addr = Addr(PM_BASE + 64);
const Z: Addr = Addr(PM_BASE + 128);
const FLAG: Addr = Addr(64);

fn drained(core: CoreId) -> Gate {
    match super::PersistBuffers::primitive(core, Primitive::Dfence) {
        Admission::EnterHeld {
            until: Until::Open(gate),
            loads: false,
        } => gate,
        other => panic!("a dfence waits for a gate: {other:?}"),
    }
}
