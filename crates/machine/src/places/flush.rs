//! Flush on fail as a procedure in two phases, as CXL's Global Persistent Flush has it: power fails, hosts write back what is saved
//! of theirs; when the controllers have accepted that, these write what they hold to the media. Each phase is a message to the
//! controllers and an answer. A machine whose hosts do not learn in time that both have ended has a dirty shutdown: software finds
//! its bit when it starts next.
//!
//! Simplified: the way and the media are pipes of a constant bandwidth; places are written one after the other, those nearest to the
//! media first, since what is behind them must not pass them. What else a platform consumes meanwhile is not counted.

use super::{Node, Places};
use crate::config::MachineConfig;
use strandline_design::Place;
use strandline_isa::LINE_BYTES;
use strandline_rules::{broken, flush::Rule, kept};

/// Energy to move a byte from an L1, or a buffer beside it, to the media: BBB (HPCA 2021), whose text was not at hand.
const L1_NANOJOULES: f64 = 11.839;

/// The same from an L2 or an LLC: BBB (HPCA 2021). Assumed from the controllers, too: most of it is the write to the media.
const LATER_NANOJOULES: f64 = 11.228;

/// How fast bytes move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// From a host to the controllers and back, one way, in ns.
    pub way_ns: f64,
    /// From the hosts to the controllers, in bytes a ns; `None`: no limit.
    pub way: Option<f64>,
    /// To the media of all controllers, in bytes a ns.
    pub media: f64,
}

/// What is to be written of a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The place's name.
    pub name: &'static str,
    /// Its bytes.
    pub bytes: f64,
    /// The energy to write them.
    pub nanojoules: f64,
    /// Those of them that are not on the media when the time is up.
    pub lost: f64,
}

/// A flush on fail.
#[derive(Clone, Debug, PartialEq)]
pub struct Flush {
    /// What is written, in the order in which it reaches the media.
    pub parts: Vec<Part>,
    /// When the hosts know that the controllers have accepted what was theirs.
    pub accepted_ns: f64,
    /// When they know that all of it is on the media.
    pub ends_ns: f64,
    /// Whether the time is up before: software finds a dirty shutdown.
    pub is_dirty: bool,
}

impl MachineConfig {
    /// How fast bytes move on a flush on fail.
    #[must_use]
    pub fn flush_rates(&self) -> Rates {
        Rates {
            way_ns: (self.pm.write_to_controller.0 as f64 / 2.0 + self.cxl.way().0 as f64) / self.core.clock_ghz,
            way: (self.cxl.link_gbps > 0.0).then_some(self.hosts as f64 * self.cxl.link_gbps),
            media: self.controllers.count as f64 * self.pm.write_gbps,
        }
    }

    /// How many lines reach the media before the reserve ends, beyond full write queues and what is dirty in a device's cache; `None`: as many as there are.
    #[must_use]
    pub fn lines_in_time(&self) -> Option<usize> {
        let (written, there) = self.in_time()?;
        Some(((written - there) / LINE_BYTES as f64).max(0.0) as usize)
    }

    /// How many dirty pages of a device's cache reach the flash before the reserve ends, and whether what is nearer to the cores than
    /// that cache does; `None`: there is no such cache, or all of it does.
    #[must_use]
    pub fn pages_in_time(&self) -> Option<(usize, bool)> {
        let (written, there) = self.in_time().filter(|_| self.cxl.cache_bytes > 0)?;
        Some(((written / self.cxl.cache_page_bytes as f64) as usize, written >= there))
    }

    /// Bytes that reach the media before the reserve ends, of any number, and those that are at the controllers as power fails.
    fn in_time(&self) -> Option<(f64, f64)> {
        let rates = self.flush_rates();
        let (queue, cache) = (
            self.controllers.wpq_entries * LINE_BYTES,
            self.cxl.cache_bytes * self.fail.dirty / 100,
        );
        let there = (self.controllers.count * (queue + cache)) as f64;
        let pipes = Pipes {
            rates: &rates,
            there,
            comes: f64::INFINITY,
            room: there,
        };
        Some((pipes.written(self.hold_up_ns()?), there))
    }

    /// How long the reserve lasts, in ns; `None`: long enough.
    #[must_use]
    pub fn hold_up_ns(&self) -> Option<f64> {
        let cycles = self.fail.hold_up.0;
        (cycles > 0).then(|| cycles as f64 / self.core.clock_ghz)
    }
}

impl Places {
    /// What a flush on fail does; `hold_up_ns`: for how long the reserve lasts. Buffers and queues are full.
    #[must_use]
    pub fn flush(&self, rates: &Rates, hold_up_ns: Option<f64>) -> Flush {
        let mut parts = self.parts();
        let sum = |first: Place, last: Place| {
            let within = parts.iter().filter(|(place, _)| (first..=last).contains(place));
            within.map(|(_, part)| part.bytes).sum::<f64>()
        };
        let pipes = Pipes {
            rates,
            there: sum(Place::Queue, Place::DeviceCache),
            comes: sum(Place::StoreQueue, Place::Switch),
            room: self.bytes_in(Place::Queue) + self.bytes_in(Place::DeviceCache),
        };
        let (accepted_ns, ends_ns) = pipes.ends();
        let mut written = hold_up_ns.map_or(f64::INFINITY, |ns| pipes.written(ns));
        for (_, part) in &mut parts {
            part.lost = (part.bytes - written).max(0.0);
            written = (written - part.bytes).max(0.0);
        }
        Flush {
            parts: parts.into_iter().map(|(_, part)| part).collect(),
            accepted_ns,
            ends_ns,
            is_dirty: hold_up_ns.is_some_and(|ns| ns < ends_ns),
        }
    }

    /// The most per cent of dirty bytes in the caches whose flush ends in time; `None`: no share does.
    #[must_use]
    pub fn dirty_in_time(&self, rates: &Rates, hold_up_ns: f64) -> Option<u64> {
        let with = |dirty: u64| Places { dirty, ..self.clone() };
        let is_late = |dirty: &u64| with(*dirty).flush(rates, Some(hold_up_ns)).is_dirty;
        (0..=100).take_while(|dirty| !is_late(dirty)).last()
    }

    /// What is saved, the nearest to the media first. What is under way has a copy where it was sent from.
    fn parts(&self) -> Vec<(Place, Part)> {
        let saved = |node: &&Node| node.place >= self.durable_from && node.place != Place::Link;
        let part = |node: &Node| {
            let bytes = self.filled(node)? as f64;
            let near = node.place == Place::CoreBuffer || node.name == super::L1;
            let part = Part {
                name: node.name,
                bytes,
                nanojoules: bytes * if near { L1_NANOJOULES } else { LATER_NANOJOULES },
                lost: 0.0,
            };
            (!node.is_cache() || !broken(Rule::EverySavedPlaceIsWritten)).then_some((node.place, part))
        };
        self.nodes.iter().rev().filter(saved).filter_map(part).collect()
    }

    fn bytes_in(&self, place: Place) -> f64 {
        let within = self.nodes.iter().filter(|node| node.place == place);
        within.filter_map(|node| node.bytes).sum::<u64>() as f64
    }
}

/// The way to the controllers and the media behind them, as pipes.
struct Pipes<'a> {
    rates: &'a Rates,
    /// Bytes at the controllers as power fails.
    there: f64,
    /// Bytes that come.
    comes: f64,
    /// Bytes that the controllers have room for.
    room: f64,
}

impl Pipes<'_> {
    /// When the media have written so many bytes: first those that are there, then those that come.
    fn when_written(&self, bytes: f64) -> f64 {
        let first = bytes.min(self.there).max(0.0) / self.rates.media;
        match bytes - self.there {
            later if later > 0.0 => {
                let arrived = self.rates.way_ns + later / self.way();
                arrived.max(first.max(self.rates.way_ns) + later / self.rates.media)
            }
            _ => first,
        }
    }

    /// How many bytes are written after so many ns.
    fn written(&self, ns: f64) -> f64 {
        let first = (ns * self.rates.media).min(self.there);
        let began = self.rates.way_ns.max(self.there / self.rates.media);
        let arrived = if ns > self.rates.way_ns {
            (ns - self.rates.way_ns) * self.way()
        } else {
            0.0
        };
        first + ((ns - began) * self.rates.media).min(arrived).clamp(0.0, self.comes)
    }

    /// Bytes a ns on the way.
    fn way(&self) -> f64 {
        self.rates.way.unwrap_or(f64::INFINITY)
    }

    /// When the hosts have the answers of both phases.
    fn ends(&self) -> (f64, f64) {
        let (way, all) = (self.rates.way_ns, self.there + self.comes);
        let sent = way + self.comes / self.way();
        let accepted = sent.max(self.when_written(all - self.room)) + way;
        let answered = accepted + 2.0 * way;
        let written = kept(Rule::AnswersWhenDurable, self.when_written(all) + way, || answered);
        let ends = kept(Rule::CachesBeforeBuffers, answered.max(written), || {
            accepted.max(self.when_written(self.there)) + 2.0 * way
        });
        (accepted, ends)
    }
}
