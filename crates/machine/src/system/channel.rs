//! The in-order channels from the cores to the controllers.

use super::hardware::Hardware;
use strandline_design::ControllerId;
use strandline_isa::CoreId;
use strandline_kernel::{Calendar, Cycles};
use strandline_rules::broken;
use strandline_rules::time::Rule;

/// The channels of all cores, and the bus that they share.
#[derive(Default)]
pub struct Channels {
    /// When each core's latest packet arrives.
    last: Vec<u64>,
    bus: Calendar,
}

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet {
    /// Bytes of a line, which occupy the host's link to a device behind CXL.
    Line,
    /// A message that carries no line.
    Message,
}

impl Hardware {
    /// When a packet that a core sends now arrives at a controller: behind all its earlier packets,
    /// to whichever controller. `more` adds the packet's own cycles, such as a backend operation.
    pub fn through_channel(&mut self, core: CoreId, controller: ControllerId, packet: Packet, more: u64) -> u64 {
        let channel = &self.machine.channel;
        let latency = match channel.latency.0 {
            0 => self.to_controller(),
            latency => latency,
        };
        let distance = u64::from(core.0.abs_diff(controller.0));
        let takes = latency + channel.step.0 * distance + more;
        let start = match channel.occupancy {
            _ if broken(Rule::ChannelIsOccupied) => self.now(),
            Cycles(0) => self.now(),
            occupancy => self.channels.bus.book(Cycles(self.now()), occupancy).0,
        };
        let sent = start + takes + self.jitter();
        let arrives = match packet {
            _ if broken(Rule::PacketsCrossLink) => sent,
            Packet::Line => self.crosses(self.host_of(core), sent),
            Packet::Message => sent + self.machine.cxl.way().0,
        };
        self.keep_channel_order(core, arrives)
    }

    /// Delivers a core's latest packet at `at` or behind the one before it. Returns when it
    /// arrives.
    pub fn keep_channel_order(&mut self, core: CoreId, at: u64) -> u64 {
        let last = &mut self.channels.last;
        last.resize(last.len().max(core.index() + 1), 0);
        last[core.index()] = last[core.index()].max(at);
        last[core.index()]
    }
}
