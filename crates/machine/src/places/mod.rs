//! A machine and its design as a graph of places that hold bytes of persistent memory, and what each failure leaves of them.
//!
//! One place decides what a crash leaves: from [`Places::durable_from`] on, bytes are written to the media on reserve power.
//! The machine's crash image (`system/writes.rs`, `system/drain.rs`) asks for the same place.

pub mod flush;
mod words;

use crate::config::MachineConfig;
use strandline_design::{AnyDesign, Held, Place, Wants};
use strandline_isa::LINE_BYTES;

/// The name of the first level of cache.
const L1: &str = "L1";

/// The most bytes of a store.
const STORE_BYTES: u64 = 8;

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A host stops or is reset; what is beyond it goes on.
    Host,
    /// The switch stops.
    Switch,
    /// The device loses its power; hosts go on.
    Device,
    /// Everything loses its power.
    Power,
}

/// What a failure leaves of the bytes in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// They stay where they are.
    Survives,
    /// They are written to the media on reserve power.
    Flushed,
    /// They are gone.
    Lost,
}

/// What a machine has between its cores and its media.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// Hosts, at least one.
    pub hosts: u64,
    /// The media are behind a device of their own, which outlives a host.
    pub has_device: bool,
    /// There is a switch between hosts and device; its buffer's bytes.
    pub switch_bytes: Option<u64>,
    /// Bytes of the device's DRAM in front of its media, if there is any.
    pub device_cache_bytes: Option<u64>,
    /// The controllers' write queues are saved.
    pub adr: bool,
}

/// A place of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: &'static str,
    /// Which it is.
    pub place: Place,
    /// The most bytes in it; `None`: the media.
    pub bytes: Option<u64>,
}

/// The places of a machine under a design, in the order of the way from a core to the media.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// All of them.
    pub nodes: Vec<Node>,
    way: Way,
    durable_from: Place,
    /// Where writes stop on their way.
    stop: Option<Place>,
    /// Per cent of a cache's bytes that are dirty and persistent.
    dirty: u64,
}

impl Node {
    fn is_cache(&self) -> bool {
        matches!(self.place, Place::Private | Place::Llc)
    }
}

impl MachineConfig {
    /// What it has between its cores and its media.
    #[must_use]
    pub fn way(&self) -> Way {
        let cxl = &self.cxl;
        Way {
            hosts: self.hosts,
            has_device: self.hosts > 1 || cxl.way().0 > 0,
            // What is in a switch that keeps nothing is on the way.
            switch_bytes: (cxl.switch_latency.0 > 0).then_some(0),
            device_cache_bytes: (cxl.cache_bytes > 0).then_some(self.controllers.count * cxl.cache_bytes),
            adr: self.controllers.adr,
        }
    }

    /// The place from which on power failure takes no bytes, under a design that wants this.
    #[must_use]
    pub fn durable_from(&self, wants: &Wants) -> Place {
        durable_from(&self.way(), wants)
    }

    /// Its places with `cores` cores, under a design.
    #[must_use]
    pub fn places(&self, cores: u64, design: &AnyDesign) -> Places {
        let buffers = design.buffers(&self.sizes(cores));
        Places::of(self.way(), self, cores, &design.wants(), &buffers)
    }
}

fn durable_from(way: &Way, wants: &Wants) -> Place {
    let platform = if way.adr { Place::Queue } else { Place::Media };
    wants.saves.map_or(platform, |place| place.min(platform))
}

impl Failure {
    /// All of them.
    pub const ALL: [Failure; 4] = [Failure::Host, Failure::Switch, Failure::Device, Failure::Power];

    /// Whether it takes what is in a place: that place's part of the machine fails, or an end of the way.
    fn takes(self, place: Place, way: &Way) -> bool {
        let in_device = matches!(place, Place::Queue | Place::ControllerBuffer | Place::DeviceCache);
        match (self, place) {
            (_, Place::Media) => false,
            // What has left a host arrives at the device.
            (Failure::Host, Place::Link) => !way.has_device,
            (Failure::Power, _) | (_, Place::Link) => true,
            (Failure::Switch, place) => place == Place::Switch,
            (Failure::Device, _) => in_device,
            (Failure::Host, place) => place < Place::Link || in_device && !way.has_device,
        }
    }
}

impl Places {
    /// The places of a machine of `cores` cores with this way to its media, under a design that wants this and has these buffers.
    #[must_use]
    pub fn of(way: Way, machine: &MachineConfig, cores: u64, wants: &Wants, buffers: &[Held]) -> Places {
        let node = |name, place, bytes| Node {
            name,
            place,
            bytes: Some(bytes),
        };
        let lines = |entries: u64| entries * LINE_BYTES;
        let (core, controllers) = (&machine.core, &machine.controllers);
        let queue = if way.has_device { "device queue" } else { "write queues" };
        let mut nodes = vec![
            node(
                "store queues",
                Place::StoreQueue,
                cores * core.store_queue_entries * STORE_BYTES,
            ),
            node(L1, Place::Private, cores * machine.l1.bytes),
            node("LLC", Place::Llc, way.hosts * machine.llc.bytes),
            node("link", Place::Link, lines(cores * core.writeback_buffer_entries)),
            node(queue, Place::Queue, lines(controllers.count * controllers.wpq_entries)),
        ];
        let l2 = machine
            .l2
            .as_ref()
            .map(|l2| node("L2", Place::Private, cores * l2.bytes));
        let switch = way.switch_bytes.map(|bytes| node("switch", Place::Switch, bytes));
        let cache = way
            .device_cache_bytes
            .map(|bytes| node("device cache", Place::DeviceCache, bytes));
        nodes.extend([l2, switch, cache].into_iter().flatten());
        nodes.extend(buffers.iter().map(|held| node(held.name, held.place, held.bytes)));
        nodes.push(Node {
            name: "media",
            place: Place::Media,
            bytes: None,
        });
        nodes.sort_by_key(|node| node.place);
        Places {
            nodes,
            durable_from: durable_from(&way, wants),
            stop: wants.stop,
            dirty: machine.fail.dirty,
            way,
        }
    }

    /// The bytes in a place that is as full as it is when power fails.
    fn filled(&self, node: &Node) -> Option<u64> {
        node.bytes.map(|bytes| {
            if node.is_cache() || node.place == Place::DeviceCache {
                bytes * self.dirty / 100
            } else {
                bytes
            }
        })
    }

    /// The place from which on power failure takes no bytes.
    #[must_use]
    pub fn durable_from(&self) -> Place {
        self.durable_from
    }

    /// The failures that this machine can have.
    pub fn failures(&self) -> impl Iterator<Item = Failure> + '_ {
        Failure::ALL.into_iter().filter(|failure| match failure {
            Failure::Host => self.way.has_device,
            Failure::Switch => self.way.switch_bytes.is_some(),
            Failure::Device => self.way.has_device,
            Failure::Power => true,
        })
    }

    /// What a failure leaves of the bytes in a place. A device that is gone takes no writes: what is on the way to it is lost.
    #[must_use]
    pub fn fate(&self, place: Place, failure: Failure) -> Fate {
        if !failure.takes(place, &self.way) {
            Fate::Survives
        } else if place < self.durable_from || (failure, place) == (Failure::Device, Place::Link) {
            Fate::Lost
        } else {
            Fate::Flushed
        }
    }

    /// Bytes that the design has written on reserve power when power fails, beyond the queues that every machine with ADR
    /// saves.
    #[must_use]
    pub fn drain_bytes(&self) -> u64 {
        let is_its = |node: &&Node| {
            let is_buffer = matches!(node.place, Place::CoreBuffer | Place::Switch | Place::ControllerBuffer);
            node.place >= self.durable_from && (node.is_cache() || is_buffer)
        };
        self.nodes
            .iter()
            .filter(is_its)
            .filter_map(|node| self.filled(node))
            .sum()
    }
}
