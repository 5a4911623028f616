//! A buffer in the device, before its write queues.
//!
//! What: each controller of the device has a battery-backed buffer before its write queue. A flush is durable, and acknowledged,
//! once the buffer has its line, whether the queue has room or not, and before the backend operation. Writes of a line coalesce
//! in its entry until that is sent to the queue, which is at once unless one of the line is on its way. Reads of its lines are
//! answered from it.
//! Source: none; the third place for a persist buffer, beside those of hosts and switches (`pcs`, `dpd`).
//! Simplified: its look-up takes no time of its own.
//! Assumed: the number of entries, four times those of a write queue.

use super::{entries, Kept, Kind, Of, ABOUT, FORWARD};
use strandline_design::{About, Place};
use strandline_kernel::Param;

const PARAMS: &[Param] = &[
    entries(256, "lines in each controller's buffer before its write queue"),
    FORWARD,
];

const KIND: Kind = Kind {
    about: About {
        name: "device-buffer",
        paper: "none (docs/cxl.md)",
        summary: "clwb and sfence; a battery-backed buffer in the device, before its write queues, takes flushes",
        ..ABOUT
    },
    params: PARAMS,
    place: Place::ControllerBuffer,
    buffer: "device buffer",
    buffers: Of::Controllers,
    coalesces: true,
};

/// A buffer in the device.
#[must_use]
pub fn device_buffer() -> Kept {
    Kept::new(KIND)
}
