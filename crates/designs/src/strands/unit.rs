//! A core's strand buffers with all that stands around them, whatever feeds them: what designs with strands have in common.

use super::{Guard, Shape, StrandBuffers};
use strandline_design::{Asked, Departure, Eviction, Gate, Services, Until};
use strandline_isa::{CoreId, Flush, Line, Lowering, Primitive};
use strandline_rules::{broken, Rule};

/// A core's strand buffer unit.
#[derive(Clone, Debug)]
pub struct StrandUnit {
    core: CoreId,
    /// The buffers.
    pub buffers: StrandBuffers,
    guard: Guard,
    /// Each flush's context, by its number, until it is acknowledged.
    contexts: Vec<(u64, u8)>,
    /// A store waits for a flush of its line, or for another core's request.
    store_waits: bool,
}

impl StrandUnit {
    /// The unit of this core.
    #[must_use]
    pub fn new(core: CoreId, shape: Shape) -> StrandUnit {
        StrandUnit {
            core,
            buffers: StrandBuffers::new(shape),
            guard: Guard::new(core),
            contexts: Vec::new(),
            store_waits: false,
        }
    }

    /// What intents become: the log on a strand before its update, and everything joined at the end (Figure 5).
    #[must_use]
    pub fn lowering() -> Lowering {
        Lowering {
            log: true,
            flush: Some(Flush::Clwb),
            log_before_update: &[Primitive::PersistBarrier],
            commit: &[Primitive::JoinStrand],
            durable: &[Primitive::JoinStrand],
            new_strand: &[Primitive::NewStrand],
            ..Lowering::NOTHING
        }
    }

    /// The design has taken the flush of this number and line; it will come to the buffers.
    pub fn announce(&mut self, hw: &mut dyn Services, id: u64, line: Line, context: u8) {
        self.contexts.push((id, context));
        hw.ask_stores(self.core, line);
    }

    /// A flush is acknowledged: the numbers of all that completed with it.
    pub fn flushed(&mut self, hw: &mut dyn Services, id: u64) -> Vec<u64> {
        if let Some(index) = self.contexts.iter().position(|(number, _)| *number == id) {
            let (_, context) = self.contexts.swap_remove(index);
            hw.acknowledge(self.core, context);
        }
        self.buffers.complete(id)
    }

    /// The gate of stores that wait.
    fn store_gate(&self) -> Gate {
        Gate(u64::from(self.core.0) << 8)
    }

    /// A gate of the core's for the design's own use, numbered from 1 to 255.
    #[must_use]
    pub fn own_gate(&self, number: u8) -> Gate {
        Gate(u64::from(self.core.0) << 8 | u64::from(number))
    }

    /// The turn of a store has come to a line about which the machine asks. `flushes_first`: an older flush of the line has
    /// not come to the buffers yet. A store waits for the older flushes of its line, of whichever strand, to look the line
    /// up: they would take it to memory, though its own strand may have to persist other things first (Equation 1; the
    /// paper is silent).
    pub fn store(&mut self, hw: &mut dyn Services, line: Line, flushes_first: bool) -> Departure {
        let flushes_first = flushes_first || self.buffers.waits_to_flush(line);
        let awaits_flush = flushes_first && !broken(Rule::StoreAwaitsFlush);
        if awaits_flush || self.guard.holds_store(line) {
            self.store_waits = true;
            return Departure::Wait(Until::Open(self.store_gate()));
        }
        self.guard.stored(hw, line);
        Departure::Go
    }

    /// Sends what may issue. Each flush has been announced.
    pub fn issue(&mut self, hw: &mut dyn Services) {
        let mut looks_again = false;
        while let Some((id, line)) = self.buffers.issue() {
            hw.flush_line(self.core, line, id);
            hw.unask_stores(self.core, line);
            looks_again = true;
        }
        looks_again |= self.guard.advance(hw, &self.buffers);
        if looks_again && std::mem::take(&mut self.store_waits) {
            hw.open(self.store_gate());
        }
    }

    /// A dirty line leaves.
    pub fn evicted(&mut self, line: Line) -> Eviction {
        self.guard.evicted(&self.buffers, line)
    }

    /// Another core asks for a line.
    pub fn asked(&mut self, hw: &mut dyn Services, requester: CoreId, line: Line) -> Asked {
        self.guard.asked(hw, &self.buffers, requester, line)
    }

    /// Who waits for whom, in words.
    #[must_use]
    pub fn waits(&self) -> Vec<String> {
        let mut told = Vec::new();
        for (number, held) in self.buffers.contents().enumerate() {
            let Some(head) = held.first() else { continue };
            let head = match head {
                Some((line, true)) => format!("a flush of {line} that is not acknowledged"),
                Some((line, false)) => format!("a flush of {line} that has not issued"),
                None => "a persist barrier".to_owned(),
            };
            told.push(format!(
                "strand buffer {number} of {} holds {}, first {head}",
                self.core,
                held.len()
            ));
        }
        told.extend(self.guard.waits());
        told
    }
}
