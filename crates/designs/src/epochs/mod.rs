//! Designs that delegate the order of persists to persist buffers: HOPS flushes epochs in order, ASAP eagerly.
//!
//! Both have the same [`buffers`]: stores enter them in epochs, and epochs depend on one another.
//! The designs decide when an entry is flushed, how an epoch commits, and how other cores learn of
//! it.

/// The hooks that both designs leave to their [`buffers`]. After each of them they flush and commit what is then allowed.
macro_rules! hooks_of_buffers {
    () => {
        fn about(&self) -> About {
            self.about
        }

        fn wants(&self) -> Wants {
            PersistBuffers::wants()
        }

        fn lowering(&self) -> Lowering {
            self.buffers.persistency().lowering()
        }

        fn primitive(&mut self, _: &mut dyn Services<Own>, core: CoreId, primitive: Primitive) -> Admission<Gate> {
            admission(primitive, buffers::Gate::Fence(core).into())
        }

        fn store(&mut self, hw: &mut dyn Services<Own>, core: CoreId, write: Write) -> Departure<Gate> {
            let gate = self.buffers.store(core, write);
            self.advance(hw);
            gate.map_or(Departure::Go, |gate| Departure::Wait(Until::Open(gate.into())))
        }

        fn departs(
            &mut self,
            hw: &mut dyn Services<Own>,
            core: CoreId,
            ordering: Ordering,
            context: u8,
        ) -> Departure<Gate> {
            let departure = self.buffers.departs(hw, core, ordering, context);
            self.advance(hw);
            departure
        }

        fn visible(&mut self, hw: &mut dyn Services<Own>, core: CoreId, store: Store) {
            self.buffers.visible(hw, core, store);
            self.advance(hw);
        }

        fn snooped(
            &mut self,
            hw: &mut dyn Services<Own>,
            owner: CoreId,
            requester: CoreId,
            line: Line,
            _: Access,
        ) -> Snoop<Gate, EpochId> {
            let answer = self.buffers.snooped(owner, requester, line);
            self.advance(hw);
            answer
        }

        fn replied(&mut self, hw: &mut dyn Services<Own>, requester: CoreId, _: CoreId, _: Line, note: EpochId) {
            self.buffers.replied(requester, note);
            self.advance(hw);
        }
    };
}

mod asap;
mod buffers;
mod hops;
mod persistency;
pub(crate) mod rules;

#[cfg(test)]
mod tests;

pub use asap::{asap_ep, asap_frontier_ep, asap_frontier_rp, asap_frontier_strand, asap_rp, asap_strand};
pub use hops::{hops_ep, hops_rp};
