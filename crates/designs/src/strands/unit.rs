//! A core's strand buffer unit, fed by the persist queue or the store queue.

use super::{Gate, Guard, Own, Shape, StrandBuffers};
use crate::strands::rules::Rule;
use strandline_design::{Departure, Eviction, Level, Never, Services, Snoop, Until, Wants};
use strandline_isa::{CoreId, Flush, Line, Lowering, Primitive};
use strandline_rules::kept;

/// A core's strand buffer unit.
#[derive(Clone, Debug)]
pub struct StrandUnit {
    /// The core.
    pub core: CoreId,
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

    /// What strand buffers want: a core's flushes find what its stores have left, and no other core's.
    #[must_use]
    pub fn wants() -> Wants {
        Wants {
            handed_over_clean: true,
            ..Wants::default()
        }
    }

    /// The primitives of intents: the log on a strand before its update, and a join at the end
    /// (Figure 5).
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

    /// Announces a flush of this number, which will enter the buffers. Stores to its line are to be
    /// watched ([`StrandUnit::watch`]) before it does.
    pub fn announce(&mut self, id: u64, context: u8) {
        self.contexts.push((id, context));
    }

    /// Watches stores to the line of a flush until it issues.
    pub fn watch(&self, hw: &mut dyn Services<Own>, line: Line) {
        hw.watch_stores(self.core, line);
    }

    /// Completes an acknowledged flush: the numbers of all that completed with it.
    pub fn acknowledged(&mut self, hw: &mut dyn Services<Own>, id: u64) -> &[u64] {
        if let Some(index) = self.contexts.iter().position(|(number, _)| *number == id) {
            let (_, context) = self.contexts.swap_remove(index);
            hw.acknowledge(self.core, context);
        }
        self.buffers.complete(id)
    }

    /// Answers a store to a watched line at the head of the store queue. `flushes_first`: an older
    /// flush of the line has not entered the buffers yet. A store waits until the older flushes of
    /// its line, of any strand, have looked the line up. Otherwise they would take it to memory,
    /// though its own strand may have to persist other things first (Equation 1; the paper is
    /// silent).
    pub fn store(&mut self, hw: &mut dyn Services<Own>, line: Line, flushes_first: bool) -> Departure<Gate> {
        let flushes_first = flushes_first || self.buffers.waits_to_flush(line);
        let awaits_flush = kept(Rule::StoreAwaitsFlush, flushes_first, || false);
        if awaits_flush || self.guard.holds_store(line) {
            self.store_waits = true;
            return Departure::Wait(Until::Open(Gate::Store(self.core)));
        }
        self.guard.revoke(hw, line);
        Departure::Go
    }

    /// Issues the announced flushes that are allowed to issue; whether there were any.
    #[inline]
    pub fn issue(&mut self, hw: &mut dyn Services<Own>) -> bool {
        let mut issued = false;
        while let Some((id, line)) = self.buffers.issue() {
            hw.flush_line(self.core, line, Flush::Clwb, id);
            hw.unwatch_stores(self.core, line);
            issued = true;
        }
        issued
    }

    /// Releases the waiters for drained buffers and, if flushes have `issued` or requests are
    /// granted, a waiting store.
    pub fn release(&mut self, hw: &mut dyn Services<Own>, issued: bool) {
        let granted = self.guard.release(hw, &self.buffers);
        if (issued || granted) && std::mem::take(&mut self.store_waits) {
            hw.open(Gate::Store(self.core));
        }
    }

    /// Answers the eviction of a dirty line. One that leaves the LLC has already waited at the head of
    /// the store queue.
    pub fn evicted(&mut self, level: Level, line: Line) -> Eviction<Gate> {
        match level {
            Level::Private => self.guard.evicted(&self.buffers, line),
            Level::Llc => Eviction::WriteBack,
        }
    }

    /// Answers another core's request for a line.
    pub fn snooped(&mut self, hw: &mut dyn Services<Own>, requester: CoreId, line: Line) -> Snoop<Gate, Never> {
        self.guard.snooped(hw, &self.buffers, requester, line)
    }

    /// The waiters and what each waits for, in words.
    #[must_use]
    pub fn waits(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (number, held) in self.buffers.contents().enumerate() {
            let Some(head) = held.first() else { continue };
            let head = match head {
                Some((line, true)) => format!("a flush of {line} that is not acknowledged"),
                Some((line, false)) => format!("a flush of {line} that has not issued"),
                None => "a persist barrier".to_owned(),
            };
            lines.push(format!(
                "strand buffer {number} of {} holds {}, first {head}",
                self.core,
                held.len()
            ));
        }
        lines.extend(self.guard.waits());
        lines
    }
}
