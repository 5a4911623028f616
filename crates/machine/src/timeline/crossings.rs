//! The links of hosts, and what fails.

use super::recorder::Recorder;
use super::rows::{Crossing, HostFailure};
use crate::config::MachineConfig;
use strandline_design::WriteId;
use strandline_isa::Line;

/// A line's way over a link, as its host knows it.
#[derive(Clone, Copy, Debug)]
pub struct Trip {
    /// The host.
    pub host: u8,
    /// The line.
    pub line: Line,
    /// The controller of the device.
    pub controller: u16,
    /// When the write was sent, or the read left the host.
    pub asked: u64,
    /// When the read was at the device, if it went as far.
    pub device: Option<u64>,
    /// When the line could cross.
    pub ready: u64,
    /// Cycles from where it was found to the host, or to the device.
    pub way: u64,
    /// When it was over the whole way.
    pub arrives: u64,
}

impl Recorder {
    /// A write crosses the link of its host.
    pub fn write_crosses(&self, write: WriteId, trip: Trip, machine: &MachineConfig) {
        let row = self.row(write);
        self.crosses(row, false, trip, machine);
    }

    /// A line is read from persistent memory, or from what stands before it, and its data crosses the link of the host.
    pub fn read_crosses(&self, trip: Trip, machine: &MachineConfig) {
        if trip.device.is_some() {
            self.read(trip.asked);
        }
        self.crosses(None, true, trip, machine);
    }

    fn crosses(&self, write: Option<u32>, back: bool, trip: Trip, machine: &MachineConfig) {
        let state = &mut *self.state.borrow_mut();
        let (cxl, takes) = (&machine.cxl, machine.cxl.line_cycles(&machine.core).0);
        if state.is_closed() || cxl.way().0 + takes == 0 {
            return;
        }
        let begins = trip.arrives - trip.way;
        let switch = cxl.switch_latency.0;
        // The switch stands between the links and the device. What it has itself leaves it from the middle.
        let enters = if back { begins } else { begins + cxl.link_latency.0 };
        let leaves = enters + trip.way - cxl.link_latency.0;
        state.crossings.push(Crossing {
            host: trip.host,
            back,
            line: trip.line.addr().0,
            controller: trip.controller,
            write,
            asked: trip.asked,
            device: trip.device,
            ready: trip.ready,
            begins,
            ends: begins + takes,
            enters: (switch > 0).then_some(enters),
            leaves: (switch > 0).then_some(leaves),
            arrives: trip.arrives,
        });
    }

    /// A host fails.
    pub fn host_fails(&self, host: u8, at: u64) {
        let told = None;
        self.state.borrow_mut().failures.push(HostFailure { host, at, told });
    }

    /// The others are told that a host has failed.
    pub fn hosts_told(&self, host: u8, at: u64) {
        let state = &mut *self.state.borrow_mut();
        let failure = state.failures.iter_mut().find(|failure| failure.host == host);
        if let Some(failure) = failure {
            failure.told = Some(at);
        }
    }
}
