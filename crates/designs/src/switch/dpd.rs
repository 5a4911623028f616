//! DPD: a distributed persistence domain, buffers in the ports of the switch.
//!
//! What: each port of the switch, that is each host, has a persist buffer. A flush is durable, and acknowledged, once the buffer
//! of its port has the line. Writes of a line coalesce in its entry until that is sent: the oldest one is, while more than
//! `design.keep` wait. The rules that keep reads and writes from being stale: a read asks the buffers of all ports; a line has
//! one entry that is not sent, so that a write through another port takes it along; no entry of a line is sent while another
//! of it is on its way; an entry stays until the device has accepted it.
//! Source: Distributed Persistence Domain for Persistent Memory Pooling (arXiv 2606.07159), of whose text only the abstract and
//! the introduction were at hand.
//! Simplified: as `pcs`. To ask the other ports, and to take an entry along, takes no time.
//! Assumed: the number of entries, and how many are kept to coalesce.

use super::{entries, Kept, Kind, Of, ABOUT, FORWARD};
use strandline_design::{About, Place};
use strandline_kernel::Param;

const PARAMS: &[Param] = &[
    entries(32, "lines in the persist buffer of each port of the switch"),
    Param {
        name: "keep",
        default: 16,
        min: 0,
        max: 4096,
        help: "lines in each buffer that wait for more bytes, at most all but one",
        source: "assumed",
        words: &[],
    },
    FORWARD,
];

const KIND: Kind = Kind {
    about: About {
        name: "dpd",
        paper: "Distributed Persistence Domain (arXiv 2606.07159)",
        summary: "clwb and sfence; a buffer in each port of the CXL switch takes flushes, coalesces, forwards reads",
        ..ABOUT
    },
    params: PARAMS,
    place: Place::Switch,
    buffer: "port buffers",
    buffers: Of::Hosts,
    coalesces: true,
};

/// A distributed persistence domain.
#[must_use]
pub fn dpd() -> Kept {
    Kept::new(KIND)
}
