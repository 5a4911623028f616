//! What survives what: the places of a machine under a design, and what a flush on fail does there.

use crate::{check_needs, design_named, request, Error, Scope, Sets};
use serde::Serialize;
use std::collections::BTreeMap;
use strandline_machine::places::Places;
use strandline_machine::MachineConfig;

request! {
    /// Whose places are wanted.
    pub struct Surviving {
        /// The design.
        design: String,
        /// The machine: a preset's name, or a file.
        machine: String,
    }
    defaults {
        /// Cores; the machine's if `None`, or 8 if it has as many as a program has threads.
        cores: Option<u64> = None,
        /// Settings of the machine and of the design.
        set: Vec<String> = Vec::new(),
    }
}

/// The places, from the cores to the media.
#[derive(Debug, Serialize)]
pub struct Survival {
    /// The design.
    pub design: &'static str,
    /// The machine.
    pub machine: String,
    /// Its cores.
    pub cores: u64,
    /// When a store is durable.
    pub durable: &'static str,
    /// What can fail.
    pub failures: Vec<&'static str>,
    /// Each place.
    pub places: Vec<Place>,
    /// What is written on reserve power.
    pub flush: Written,
}

/// A place.
#[derive(Debug, Serialize)]
pub struct Place {
    /// Its name.
    pub name: &'static str,
    /// The most bytes in it; `None`: the media.
    pub bytes: Option<u64>,
    /// What each failure leaves of them: `survives`, `flushed` or `lost`.
    pub fates: BTreeMap<&'static str, &'static str>,
    /// Why.
    pub why: BTreeMap<&'static str, String>,
}

/// A flush on fail.
#[derive(Clone, Debug, Serialize)]
pub struct Written {
    /// Bytes written of each place, in the order in which they reach the media, and those that are lost when time is up.
    pub parts: Vec<(&'static str, u64, u64)>,
    /// All bytes.
    pub bytes: u64,
    /// The energy to move them.
    pub nanojoules: f64,
    /// When the hosts know that the controllers have accepted what was theirs.
    pub accepted_ns: f64,
    /// When they know that all is on the media.
    pub ends_ns: f64,
    /// Bytes that are lost.
    pub lost: u64,
    /// Whether it does not end in time, and software finds a dirty shutdown.
    pub is_dirty: bool,
    /// Per cent of the caches' bytes that are dirty.
    pub dirty: u64,
    /// How long the reserve lasts; `None`: long enough.
    pub hold_up_ns: Option<f64>,
    /// The most per cent that ends in time; `None`: the reserve lasts, or nothing ends in time.
    pub dirty_in_time: Option<u64>,
}

/// The cores of a machine that has as many as a program has threads.
const CORES: u64 = 8;

/// What survives what, of this machine under this design.
///
/// # Errors
/// Bad input: a machine, a design or a setting that there is not, a design that the machine does not hold.
pub fn surviving(asked: &Surviving) -> Result<Survival, Error> {
    let sets = Sets::read(asked.set.iter().cloned())?;
    let mut machine = MachineConfig::load(&asked.machine)?;
    sets.apply(&mut machine)?;
    machine.validate()?;
    let mut design = design_named(&asked.design)?;
    design.configure(sets.of(Scope::Design))?;
    check_needs(&design.about(), &machine)?;
    let own = if machine.cores > 0 { machine.cores } else { CORES };
    let cores = asked.cores.unwrap_or(own);
    let places = machine.places(cores, &*design);
    Ok(Survival {
        design: design.about().name,
        machine: machine.name.clone(),
        cores,
        durable: places.durable_when(),
        failures: places.failures().map(|failure| failure.name()).collect(),
        places: each(&places),
        flush: Written::of(&places, &machine),
    })
}

fn each(places: &Places) -> Vec<Place> {
    let failures: Vec<_> = places.failures().collect();
    let place = |node: &strandline_machine::places::Node| Place {
        name: node.name,
        bytes: node.bytes,
        fates: failures
            .iter()
            .map(|each| (each.name(), places.fate(node.place, *each).name()))
            .collect(),
        why: failures
            .iter()
            .map(|each| (each.name(), places.why(node.place, *each)))
            .collect(),
    };
    places.nodes.iter().map(place).collect()
}

impl Written {
    /// What is written of these places of a machine.
    pub fn of(places: &Places, machine: &MachineConfig) -> Written {
        let (rates, hold_up_ns) = (machine.flush_rates(), machine.hold_up_ns());
        let flush = places.flush(&rates, hold_up_ns);
        let parts = flush
            .parts
            .iter()
            .map(|part| (part.name, part.bytes.round() as u64, part.lost.ceil() as u64));
        let parts: Vec<_> = parts.filter(|(_, bytes, _)| *bytes > 0).collect();
        Written {
            bytes: parts.iter().map(|(_, bytes, _)| bytes).sum(),
            lost: parts.iter().map(|(_, _, lost)| lost).sum(),
            nanojoules: flush.parts.iter().map(|part| part.nanojoules).sum(),
            accepted_ns: flush.accepted_ns,
            ends_ns: flush.ends_ns,
            is_dirty: flush.is_dirty,
            parts,
            dirty: machine.fail.dirty,
            hold_up_ns,
            dirty_in_time: hold_up_ns.and_then(|ns| places.dirty_in_time(&rates, ns)),
        }
    }
}
