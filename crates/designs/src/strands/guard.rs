//! The waiters for a core's strand buffers, so that neither an eviction nor another core's request
//! overtakes its flushes (StrandWeaver, section IV, "Managing cache writebacks" and "Enabling
//! inter-thread persist order").

use super::{Gate, Own, StrandBuffers, Tails};
use crate::strands::rules::Rule;
use strandline_design::{Eviction, Never, Services, Snoop, Until};
use strandline_isa::{CoreId, Line};
use strandline_rules::kept;

/// The fields that a core's write-back and snoop buffers have for its strand buffers.
///
/// A dirty line that is evicted, or that another core requests, waits until the strand buffers have
/// drained to the tail indices of that moment. It waits only for flushes that are in the strand
/// buffers, and those wait for nothing else: there is no deadlock. While a request waits, the
/// owner's own stores to the line wait for it: later flushes may depend on them.
#[derive(Clone, Debug)]
pub struct Guard {
    core: CoreId,
    newest: u64,
    evictions: Vec<(Line, Tails, Gate)>,
    requests: Vec<Request>,
}

#[derive(Clone, Debug)]
struct Request {
    line: Line,
    requester: CoreId,
    /// `None`: the line is granted, unless its owner stores to it before the request is repeated.
    waits: Option<(Tails, Gate)>,
}

impl Guard {
    /// The guard of this core.
    #[must_use]
    pub fn new(core: CoreId) -> Guard {
        Guard {
            core,
            newest: 0,
            evictions: Vec::new(),
            requests: Vec::new(),
        }
    }

    fn gate(&mut self) -> Gate {
        self.newest += 1;
        Gate::Drained(self.core, self.newest)
    }

    /// Answers the eviction of a dirty line from the core's caches.
    pub fn evicted(&mut self, buffers: &StrandBuffers, line: Line) -> Eviction<Gate> {
        if buffers.is_empty() {
            return Eviction::WriteBack;
        }
        let gate = self.gate();
        self.evictions.push((line, buffers.tails(), gate));
        Eviction::Hold(Until::Open(gate))
    }

    /// Answers another core's request for a line.
    pub fn snooped(
        &mut self,
        hw: &mut dyn Services<Own>,
        buffers: &StrandBuffers,
        requester: CoreId,
        line: Line,
    ) -> Snoop<Gate, Never> {
        let same = |request: &Request| request.line == line && request.requester == requester;
        if let Some(index) = self.requests.iter().position(same) {
            let Some((_, gate)) = self.requests[index].waits else {
                self.requests.remove(index);
                hw.unwatch_stores(self.core, line);
                return Snoop::Grant(None);
            };
            return Snoop::Wait(Until::Open(gate));
        }
        if buffers.is_empty() || !line.is_persistent() || !hw.holds_modified(self.core, line) {
            return Snoop::Grant(None);
        }
        let (tails, gate) = (buffers.tails(), self.gate());
        hw.watch_stores(self.core, line);
        self.requests.push(Request {
            line,
            requester,
            waits: Some((tails, gate)),
        });
        Snoop::Wait(Until::Open(gate))
    }

    /// Whether a store of the core to this line has to wait for another core's request.
    #[must_use]
    pub fn holds_store(&self, line: Line) -> bool {
        let held = self
            .requests
            .iter()
            .any(|request| request.line == line && request.waits.is_some());
        kept(Rule::SnoopHoldsStores, held, || false)
    }

    /// Revokes other cores' grants of a line when a store of the core to it becomes visible.
    pub fn revoke(&mut self, hw: &mut dyn Services<Own>, line: Line) {
        let core = self.core;
        self.requests.retain(|request| {
            let void = request.line == line && request.waits.is_none();
            if void {
                hw.unwatch_stores(core, line);
            }
            !void
        });
    }

    /// Releases evictions and requests whose tails have drained; whether a request was granted.
    pub fn release(&mut self, hw: &mut dyn Services<Own>, buffers: &StrandBuffers) -> bool {
        if self.evictions.is_empty() && self.requests.is_empty() {
            return false;
        }
        self.evictions.retain(|(_, tails, gate)| {
            let drained = buffers.drained(tails);
            if drained {
                hw.open(*gate);
            }
            !drained
        });
        let mut granted = false;
        for request in &mut self.requests {
            if let Some((_, gate)) = request.waits.take_if(|(tails, _)| buffers.drained(tails)) {
                hw.open(gate);
                granted = true;
            }
        }
        granted
    }

    /// The waiters, in words.
    pub fn waits(&self) -> impl Iterator<Item = String> + '_ {
        let core = self.core;
        let evictions = self
            .evictions
            .iter()
            .map(move |(line, ..)| format!("{line} on its way out of {core} waits for its strand buffers"));
        let requests = self.requests.iter().filter(|request| request.waits.is_some());
        evictions.chain(requests.map(move |request| {
            format!(
                "{} waits for {line}, which is dirty at {core}, and so for that core's strand buffers",
                request.requester,
                line = request.line
            )
        }))
    }
}
