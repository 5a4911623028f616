//! A place on the way from hosts to controllers at which the design is asked about each write: a switch, or the device before
//! its write queues ([`strandline_design::Wants::stop`]).

use super::events::Event;
use super::hardware::Hardware;
use super::hosts::HostId;
use super::running::Running;
use crate::config::MachineConfig;
use crate::memory::Origin;
use strandline_design::{ByteMask, ControllerId, Key, Passing, Place, PortId, WriteId, WriteRequest};
use strandline_isa::{CoreId, Line, LineData};
use strandline_rules::{breaks, Rule};

/// The place, and the writes that wait there.
pub struct WayStop {
    is_switch: bool,
    /// From a host to it.
    way: u64,
    /// From it to the controllers.
    rest: u64,
    /// Writes about which the design has said that they wait, in the order in which they came.
    waiting: Vec<WriteId>,
}

impl WayStop {
    /// The place that a design wants on a machine. A switch has its buffer in its middle.
    pub fn at(place: Place, machine: &MachineConfig) -> WayStop {
        let (link, switch) = (machine.cxl.link_latency.0, machine.cxl.switch_latency.0);
        let is_switch = place == Place::Switch;
        let beyond = if is_switch { switch / 2 } else { 0 };
        WayStop {
            is_switch,
            way: link + switch - beyond,
            rest: beyond,
            waiting: Vec::new(),
        }
    }
}

impl Hardware {
    /// How far writes go before a failure of their host leaves them alone.
    pub fn way_of_writes(&self) -> u64 {
        self.stop.as_ref().map_or(self.machine.cxl.way().0, |stop| stop.way)
    }

    /// How far the controllers are from where writes stop.
    #[inline(never)]
    pub fn way_back_to_stop(&self) -> u64 {
        self.stop.as_ref().map_or(0, |stop| stop.rest)
    }

    /// Sends bytes of a line, looked up at `at`, to where writes stop.
    #[inline(never)]
    pub fn send_to_stop(&mut self, host: HostId, request: WriteRequest<Key>, at: u64) -> WriteId {
        let takes = self.to_controller() + self.jitter();
        let arrives = self.leaves(host, at + takes) + self.way_of_writes();
        let (id, arrives) = self.writes.add(host, request, arrives);
        let controller = self.controller_of(request.line);
        self.record(move |recorder, _| recorder.sent(id, &request, controller.0, at));
        self.post(arrives, Event::AtStop(id));
        id
    }

    /// When what leaves the stop now is at the controllers: behind their backend operation.
    fn leaves_stop_at(&mut self) -> u64 {
        self.now() + self.way_back_to_stop() + self.machine.controllers.bmo_latency.0
    }

    /// Sends on what the design has taken.
    pub fn send_from_stop(&mut self, core: CoreId, request: WriteRequest<Key>, tag: Key) {
        let (arrives, jitter) = (self.leaves_stop_at(), self.jitter());
        let write = self.writes.add_sent_on(self.host_of(core), request);
        self.writes.wait_for(write, Origin::Stop { core, tag });
        let controller = self.controller_of(request.line);
        self.record(move |recorder, at| recorder.sent(write, &request, controller.0, at));
        self.post(arrives + jitter, Event::Arrives { controller, write });
    }

    fn port_of(&self, write: WriteId) -> PortId {
        match self.stop.as_ref().is_some_and(|stop| stop.is_switch) {
            true => PortId(self.writes.host(write).0.into()),
            false => PortId(self.controller_of(self.writes.get(write).line).0),
        }
    }
}

impl Running {
    /// A write comes to where it stops.
    #[inline(never)]
    pub(super) fn comes_to_stop(&mut self, write: WriteId) {
        if self.hw.device.is_some() && self.is_lost(write) {
            return;
        }
        if let Some(stop) = &mut self.hw.stop {
            stop.waiting.push(write);
        }
        self.look_at_stop();
        breaks(Rule::AcknowledgedAfterAcceptance, || {
            if self.hw.stop.iter().any(|stop| stop.waiting.contains(&write)) {
                self.acknowledge_from_stop(write);
            }
        });
    }

    /// Asks about the writes that wait, but for those behind one of their port or line that goes on waiting.
    #[inline(never)]
    pub(super) fn look_at_stop(&mut self) {
        let Some(stop) = &mut self.hw.stop else { return };
        let waiting = std::mem::take(&mut stop.waiting);
        let (mut ports, mut lines): (Vec<PortId>, Vec<Line>) = Default::default();
        for write in waiting {
            let request = *self.hw.writes.get(write);
            let port = self.hw.port_of(write);
            let is_behind = ports.contains(&port) || lines.contains(&request.line);
            let passing = match is_behind {
                true => Passing::Wait,
                false => self.design.passes(&mut self.hw, port, &request),
            };
            match passing {
                Passing::Wait => {
                    ports.push(port);
                    lines.push(request.line);
                    self.hw.stop.iter_mut().for_each(|stop| stop.waiting.push(write));
                }
                Passing::GoOn => self.goes_on(write, request.line),
                Passing::Take => self.taken(write),
            }
        }
    }

    fn goes_on(&mut self, write: WriteId, line: Line) {
        let arrives = self.hw.leaves_stop_at();
        let controller: ControllerId = self.hw.controller_of(line);
        self.hw.post(arrives, Event::Arrives { controller, write });
    }

    /// The design has taken a write, which is acknowledged from where it is.
    fn taken(&mut self, write: WriteId) {
        self.acknowledge_from_stop(write);
        self.hw.record(move |recorder, _| recorder.refused(write));
        self.hw.writes.accept(write);
        self.hw.writes.remove(write);
    }

    fn acknowledge_from_stop(&mut self, write: WriteId) {
        let waiting = self.hw.writes.take_waiting(write);
        self.acknowledge_after(waiting, self.hw.way_of_writes());
    }

    /// Fetches a line of which these bytes are where writes stop. Returns when the line is there.
    #[inline(never)]
    pub(super) fn fetch_from_stop(&mut self, core: CoreId, line: Line, found: (LineData, ByteMask), at: u64) -> u64 {
        let start = self.hw.llc(core).misses.start(at);
        let host = self.hw.host_of(core);
        let done = match found.1.is_all() {
            true => self.hw.read_on_way(host, line, self.hw.way_of_writes(), start),
            false => self.hw.read_memory(host, line, start),
        };
        self.hw.refill(host, line, Some(found));
        self.hw.llc_mut(core).misses.keep(line, done);
        done
    }
}
