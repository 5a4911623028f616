//! PCS: a persistent switch.
//!
//! What: the switch between hosts and device has a persist buffer. A flush is durable, and acknowledged, once the buffer has its
//! line; entries are sent to the device at once and freed by its acknowledgement. A write that finds the buffer full waits in
//! the switch. A read of a line that the buffer holds is answered from it (`PB_RF`), or with `design.forward=0` waits until the
//! device has accepted the line (`PB`).
//! Source: The Case for Persistent CXL Switches (arXiv 2503.04991), of whose text only the abstract and summaries were at hand.
//! Simplified: the buffer stands in the middle of the switch, half of `machine.cxl.switch_latency` from either side. Its look-up
//! takes no time of its own. On a machine without a switch it stands before the controllers. The backend operation comes
//! behind it. Forwarded reads and others share the host's link.
//! Assumed: the number of entries; that entries of one line leave one at a time and do not coalesce.

use super::{entries, Kept, Kind, Of, ABOUT, FORWARD};
use strandline_design::{About, Place};
use strandline_kernel::Param;

const PARAMS: &[Param] = &[entries(64, "lines in the switch's persist buffer"), FORWARD];

const KIND: Kind = Kind {
    about: About {
        name: "pcs",
        paper: "Persistent CXL Switches (arXiv 2503.04991)",
        summary: "clwb and sfence; a persist buffer in the CXL switch takes flushes and forwards reads",
        ..ABOUT
    },
    params: PARAMS,
    place: Place::Switch,
    buffer: "switch buffer",
    buffers: Of::All,
    coalesces: false,
};

/// A persistent switch.
#[must_use]
pub fn pcs() -> Kept {
    Kept::new(KIND)
}
