//! The persist order of a model between the operations of a run, and whether one crash state breaks it.

use super::history::Traced;
use super::judge::show;
use std::collections::BTreeMap;
use strandline_isa::Memory;
use strandline_kernel::Cycles;
use strandline_machine::{Journal, OpId};
use strandline_order::{Breach, Model, Oracle};

/// What a model orders in a run, and what it says of one crash state.
pub struct Ordered {
    oracle: Oracle,
    /// The event of each operation that has one: of a locked instruction, its write.
    events: BTreeMap<OpId, usize>,
    /// Whether the model forbids the state.
    pub forbids: bool,
    /// The operation that is durable, and the one before it that is not, if that is why.
    pub pair: Option<(OpId, OpId)>,
}

impl Ordered {
    /// The order of this model, and its verdict on the crash at `at`, after `event` durable events; `None` if the run
    /// is not an execution of the model.
    pub fn at(model: &Model, journal: &Journal, initial: &Memory, event: usize, at: Cycles) -> Option<Ordered> {
        let mut traced = Traced::of(journal, initial, &|addr| addr.to_string());
        let history = std::mem::take(&mut traced.history);
        let of_event = |event: usize| traced.operation(event).map(|operation| (operation, event));
        let events = (0..history.events.len()).filter_map(of_event).collect();
        let mut oracle = Oracle::new(model, history)?;
        let counts = journal.durable[..event]
            .iter()
            .filter(|durable| durable.at < journal.counts_until());
        counts.for_each(|durable| show(&mut oracle, &traced.places, durable));
        let seen = traced.outputs.iter().filter(|(output, _)| *output <= at);
        seen.for_each(|(_, output)| oracle.see(*output));
        let breach = oracle.breach();
        let pair = match breach {
            Some(Breach::Order { present, missing }) => traced.operation(present).zip(traced.operation(missing)),
            _ => None,
        };
        Some(Ordered {
            oracle,
            events,
            forbids: breach.is_some(),
            pair,
        })
    }

    /// Whether the model wants the first operation durable before the second.
    pub fn is_before(&self, first: OpId, second: OpId) -> bool {
        let events = self.events.get(&first).zip(self.events.get(&second));
        events.is_some_and(|(first, second)| self.oracle.is_before(*first, *second))
    }
}
