//! What a design that speculates requests, and what its cores have pending.

use super::{Both, Machine};
use std::collections::BTreeMap;
use strandline_design::{Checkpoint, ControllerId, Design, GateOf, StoreId, Types};
use strandline_isa::{CoreId, Flush, Line};
use strandline_kernel::Cycles;

/// What is recorded of speculation.
pub struct Speculation<T: Types> {
    /// Checkpoints that exist, the oldest first, with the newest entry at each.
    pub checkpoints: Vec<(CoreId, Checkpoint, StoreId)>,
    taken: u64,
    /// The core has been rolled back to the instruction in question: it gets no checkpoint.
    pub refuses: bool,
    /// Stores, flushes and primitives that are not done, by core and context.
    pub pending: BTreeMap<(CoreId, u8), u64>,
    /// The youngest entry of each core's store queue.
    pub newest: BTreeMap<CoreId, u64>,
    /// The entry at the head of the store queue.
    pub turn: StoreId,
    /// The context of each core's entries from now on.
    pub contexts: BTreeMap<CoreId, u8>,
    /// Stores that are to be performed, and when at the earliest.
    pub performs: Vec<(CoreId, StoreId, Cycles)>,
    /// Flushes in flight.
    pub flushes: Vec<(CoreId, Line, Flush, T::Tag)>,
    /// Commits that are not answered.
    pub commits: Vec<(CoreId, ControllerId, T::Tag)>,
    /// Messages that wait until a context has drained.
    pub drained: Vec<(CoreId, u8, T::Message)>,
    /// What announcements wait for.
    pub announced: Vec<(CoreId, T::Gate)>,
}

impl<T: Types> Default for Speculation<T> {
    fn default() -> Self {
        Speculation {
            checkpoints: Vec::new(),
            taken: 0,
            refuses: false,
            pending: BTreeMap::new(),
            newest: BTreeMap::new(),
            turn: StoreId(0),
            contexts: BTreeMap::new(),
            performs: Vec::new(),
            flushes: Vec::new(),
            commits: Vec::new(),
            drained: Vec::new(),
            announced: Vec::new(),
        }
    }
}

impl<T: Types> Speculation<T> {
    pub fn pending(&self, core: CoreId, context: Option<u8>) -> u64 {
        let counted = |(of, at): &(CoreId, u8)| *of == core && context.is_none_or(|context| context == *at);
        let each = self.pending.iter().filter(|(key, _)| counted(key));
        each.map(|(_, count)| count).sum()
    }

    pub fn newest(&self, core: CoreId) -> StoreId {
        StoreId(self.newest.get(&core).copied().unwrap_or(0))
    }

    pub fn context(&self, core: CoreId) -> u8 {
        self.contexts.get(&core).copied().unwrap_or(0)
    }

    /// An entry of the core's store queue: its number.
    pub fn enter(&mut self, core: CoreId) -> StoreId {
        *self.pending.entry((core, self.context(core))).or_default() += 1;
        let newest = self.newest.entry(core).or_default();
        *newest += 1;
        StoreId(*newest)
    }

    /// An entry of this context is done, if the test enters any.
    pub fn done(&mut self, core: CoreId, context: u8) {
        if !self.newest.is_empty() {
            let count = self.pending.get_mut(&(core, context)).expect("something is pending");
            *count = count.checked_sub(1).expect("something is pending");
        }
    }

    pub fn take_checkpoint(&mut self, core: CoreId) -> Option<Checkpoint> {
        if std::mem::take(&mut self.refuses) {
            return None;
        }
        self.taken += 1;
        let checkpoint = Checkpoint(self.taken);
        self.checkpoints.push((core, checkpoint, self.newest(core)));
        Some(checkpoint)
    }

    /// Discards a checkpoint and all older ones of the core.
    pub fn release(&mut self, core: CoreId, checkpoint: Checkpoint) {
        self.checkpoints
            .retain(|(of, kept, _)| *of != core || *kept > checkpoint);
    }

    /// Checkpoints of a core.
    pub fn kept(&self, core: CoreId) -> Vec<Checkpoint> {
        let own = self.checkpoints.iter().filter(|(of, ..)| *of == core);
        own.map(|(_, checkpoint, _)| *checkpoint).collect()
    }
}

impl<T: Types> Machine<T> {
    /// A message whose context has drained.
    fn drained(&mut self) -> Option<T::Message> {
        let is_due = |(core, context, _): &(CoreId, u8, T::Message)| self.spec.pending(*core, Some(*context)) == 0;
        let index = self.spec.drained.iter().position(is_due)?;
        Some(self.spec.drained.remove(index).2)
    }
}

impl<D: Design> Both<D> {
    /// Delivers the messages about what has drained.
    pub fn drain(&mut self) {
        while let Some(message) = self.hw.drained() {
            self.design.message(&mut self.hw, message);
        }
    }

    /// A controller answers the oldest commit that it has not answered.
    pub fn answer(&mut self, controller: ControllerId) {
        let mut commits = self.hw.spec.commits.iter();
        let index = commits.position(|(_, of, _)| *of == controller).expect("a commit");
        let (core, _, tag) = self.hw.spec.commits.remove(index);
        self.design.committed(&mut self.hw, core, tag);
        self.drain();
    }

    /// The oldest flush in flight is acknowledged.
    pub fn flushed(&mut self) -> Line {
        let (core, line, _, tag) = self.hw.spec.flushes.remove(0);
        self.design.acknowledged(&mut self.hw, core, tag);
        self.drain();
        line
    }

    /// Whether what a core announces now is true.
    pub fn is_certain(&self, core: CoreId) -> bool {
        let own: Vec<GateOf<D>> = self
            .hw
            .spec
            .announced
            .iter()
            .filter(|(of, _)| *of == core)
            .map(|(_, gate)| *gate)
            .collect();
        own.iter().all(|gate| self.has_opened(*gate))
    }
}
