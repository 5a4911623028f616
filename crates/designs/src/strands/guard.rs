//! What waits for a core's strand buffers so that neither an eviction nor another core overtakes its flushes (StrandWeaver,
//! section IV, "Managing cache writebacks" and "Enabling inter-thread persist order").

use super::{StrandBuffers, Tails};
use strandline_design::{Asked, Eviction, Gate, Services, Until};
use strandline_isa::{CoreId, Line};
use strandline_rules::{broken, Rule};

/// The fields that a core's write-back and snoop buffers have for its strand buffers.
///
/// A dirty line that leaves, or that another core asks for, waits until the strand buffers have drained to the tail indices
/// of that moment. It waits for flushes that are in the strand buffers only, and those wait for nobody else: there is no
/// circle. While a request waits, the owner's own stores to the line wait for it: they may come after further flushes.
#[derive(Clone, Debug)]
pub struct Guard {
    core: CoreId,
    next_gate: u64,
    evictions: Vec<(Line, Tails, Gate)>,
    snoops: Vec<Snoop>,
}

#[derive(Clone, Debug)]
struct Snoop {
    line: Line,
    requester: CoreId,
    /// None: it may have the line, unless its owner stores to it before it asks again.
    waits: Option<(Tails, Gate)>,
}

impl Guard {
    /// The guard of this core.
    #[must_use]
    pub fn new(core: CoreId) -> Guard {
        Guard {
            core,
            next_gate: (u64::from(core.0) + 1) << 40,
            evictions: Vec::new(),
            snoops: Vec::new(),
        }
    }

    fn gate(&mut self) -> Gate {
        self.next_gate += 1;
        Gate(self.next_gate)
    }

    /// A dirty line leaves the core's caches.
    pub fn evicted(&mut self, buffers: &StrandBuffers, line: Line) -> Eviction {
        let tails = buffers.tails();
        if buffers.drained(&tails) {
            return Eviction::WriteBack;
        }
        let gate = self.gate();
        self.evictions.push((line, tails, gate));
        Eviction::Hold(Until::Open(gate))
    }

    /// Another core asks for a line.
    pub fn asked(&mut self, hw: &mut dyn Services, buffers: &StrandBuffers, requester: CoreId, line: Line) -> Asked {
        let same = |snoop: &Snoop| snoop.line == line && snoop.requester == requester;
        if let Some(index) = self.snoops.iter().position(same) {
            let Some((_, gate)) = self.snoops[index].waits else {
                self.snoops.remove(index);
                hw.unask_stores(self.core, line);
                return Asked::Give(None);
            };
            return Asked::Wait(Until::Open(gate));
        }
        let tails = buffers.tails();
        if buffers.drained(&tails) || !line.is_persistent() || !hw.holds_modified(self.core, line) {
            return Asked::Give(None);
        }
        let gate = self.gate();
        hw.ask_stores(self.core, line);
        self.snoops.push(Snoop {
            line,
            requester,
            waits: Some((tails, gate)),
        });
        Asked::Wait(Until::Open(gate))
    }

    /// Whether a store of the core to this line has to wait for another core's request.
    #[must_use]
    pub fn holds_store(&self, line: Line) -> bool {
        let held = self
            .snoops
            .iter()
            .any(|snoop| snoop.line == line && snoop.waits.is_some());
        held && !broken(Rule::SnoopHoldsStores)
    }

    /// A store of the core to this line becomes visible: what other cores were promised of it is void.
    pub fn stored(&mut self, hw: &mut dyn Services, line: Line) {
        let core = self.core;
        self.snoops.retain(|snoop| {
            let void = snoop.line == line && snoop.waits.is_none();
            if void {
                hw.unask_stores(core, line);
            }
            !void
        });
    }

    /// Lets go who has waited long enough; whether a request may go on.
    pub fn advance(&mut self, hw: &mut dyn Services, buffers: &StrandBuffers) -> bool {
        self.evictions.retain(|(_, tails, gate)| {
            let drained = buffers.drained(tails);
            if drained {
                hw.open(*gate);
            }
            !drained
        });
        let mut granted = false;
        for snoop in &mut self.snoops {
            if let Some((_, gate)) = snoop.waits.take_if(|(tails, _)| buffers.drained(tails)) {
                hw.open(gate);
                granted = true;
            }
        }
        granted
    }

    /// Who waits, in words.
    pub fn waits(&self) -> impl Iterator<Item = String> + '_ {
        let core = self.core;
        let evictions = self
            .evictions
            .iter()
            .map(move |(line, ..)| format!("{line} on its way out of {core} waits for its strand buffers"));
        let snoops = self.snoops.iter().filter(|snoop| snoop.waits.is_some());
        evictions.chain(snoops.map(move |snoop| {
            format!(
                "{} waits for {line}, which is dirty at {core}, and so for that core's strand buffers",
                snoop.requester,
                line = snoop.line
            )
        }))
    }
}
