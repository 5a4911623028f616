//! The in-order channels from the cores to the controllers.

use super::hardware::Hardware;
use strandline_design::ControllerId;
use strandline_isa::CoreId;
use strandline_kernel::{Calendar, Cycles};

/// The channels of all cores, and the bus that they share.
#[derive(Default)]
pub struct Channels {
    /// When what each core sent last arrives.
    last: Vec<u64>,
    bus: Calendar,
}

impl Hardware {
    /// When a packet that a core sends now arrives at a controller: behind all that it has sent before,
    /// to whichever controller. `more` cycles are those of the packet's own, such as a backend
    /// operation.
    pub fn through_channel(&mut self, core: CoreId, controller: ControllerId, more: u64) -> u64 {
        let channel = &self.machine.channel;
        let latency = match channel.latency.0 {
            0 => self.to_controller(),
            latency => latency,
        };
        let distance = u64::from(core.0.abs_diff(controller.0));
        let takes = latency + channel.step.0 * distance + more;
        let start = match channel.occupancy {
            Cycles(0) => self.now,
            occupancy => self.channels.bus.book(Cycles(self.now), occupancy).0,
        };
        let arrives = start + takes + self.jitter();
        self.keep_channel_order(core, arrives)
    }

    /// The packet that a core sent last arrives at `at` or behind the one before it: when it does.
    pub fn keep_channel_order(&mut self, core: CoreId, at: u64) -> u64 {
        let last = &mut self.channels.last;
        last.resize(last.len().max(core.index() + 1), 0);
        last[core.index()] = last[core.index()].max(at);
        last[core.index()]
    }
}
