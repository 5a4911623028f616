//! LB++: lazy persist barriers in the caches.
//!
//! What: each line in the caches has the number of the epoch that wrote it last. A barrier
//! (`ofence`) only begins the next epoch; lines persist later. An epoch may be flushed when it has
//! ended, its predecessor is durable, and so are the epochs of other cores on which it depends. It
//! must be flushed (*online*, while something waits) when its core writes one of its lines in a
//! later epoch (*intra-thread conflict*), when another core accesses one (*inter-thread conflict*),
//! or when one leaves the LLC. The core then tells all banks of the LLC to flush the epoch's lines;
//! the banks answer when every line is acknowledged.
//! - `design.idt`: dependence registers note an inter-thread conflict in place of the online flush.
//! - `design.proactive`: an epoch is flushed as soon as it may be.
//!
//! Both off is LB, both on LB++. An open epoch that becomes another core's source ends, so that
//! dependences have no circle (as in ASAP IV-A). A `dfence` waits until all epochs so far are durable.
//! Source: Efficient Persist Barriers for Multicores (MICRO 2015), as described by ASAP (HPCA 2022),
//! sections I and IV-A, and Delegated Persist Ordering (MICRO 2016), sections II-B and VI.
//! Not in these: the numbers of epochs and registers.
//! Simplified: a request to write a persistent line of another core's epoch is an online flush with
//! dependence registers, too, since the caches hold one version of a line. A split may exceed the
//! number of epochs; the next `ofence` waits. Flushes of programs write nothing back, and their
//! fences are executed as the equivalent `ofence` or `dfence`.

mod epochs;
mod own;
pub(crate) mod rules;
mod settings;
#[cfg(test)]
mod tests;

use crate::lb_pp::rules::Rule;
use crate::parts::dependence_wait::DependenceWait;
use crate::parts::epochs::{admission, EPOCHS};
use crate::parts::per_core;
use epochs::{CoreEpochs, Phase};
use own::{EpochId, Gate, Message, Own};
use settings::Settings;
use strandline_design::{
    About, Access, Admission, Counter, Counters, Departure, Design, Eviction, Hosts, Level, LineTag, Needs, Ordering,
    OwnCounts, Services, Sizes, Store, Until, Wants, Write,
};
use strandline_isa::{CoreId, Flush, Line, Lowering, Primitive};
use strandline_kernel::{Cycles, Param, Params};
use strandline_rules::{broken, keeps, kept};

/// Why an epoch is flushed while something waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    IntraThread,
    InterThread,
    Eviction,
    /// A fence, or no number for another epoch.
    Fence,
}

/// Counters of online flushes.
const COUNTERS: [Counter; 3] = [
    Counter::sum(
        "intra_thread_flushes",
        "epochs",
        "Epochs flushed online because their core wrote one of their lines again.",
    ),
    Counter::sum(
        "inter_thread_flushes",
        "epochs",
        "Epochs flushed online because another core accessed one of their lines.",
    ),
    Counter::sum(
        "eviction_flushes",
        "epochs",
        "Epochs flushed online because one of their lines left the LLC.",
    ),
];

/// Lazy persist barriers.
#[derive(Clone, Debug)]
pub struct LbPp {
    settings: Settings,
    cores: Vec<CoreEpochs>,
    begun: u64,
    dependences: u64,
    /// Online flushes, by [`Cause`].
    online: [u64; 4],
}

impl Default for LbPp {
    fn default() -> Self {
        LbPp {
            settings: Settings::of(&Params::defaults(Settings::PARAMS)),
            cores: Vec::new(),
            begun: 0,
            dependences: 0,
            online: [0; 4],
        }
    }
}

impl LbPp {
    fn core(&mut self, core: CoreId) -> &mut CoreEpochs {
        per_core::state(&mut self.cores, core, |_| CoreEpochs::new())
    }

    fn is_durable(&mut self, id: EpochId) -> bool {
        self.core(id.core).is_durable(id.number)
    }

    /// Ends a core's open epoch.
    fn end(&mut self, core: CoreId) {
        if self.core(core).end() {
            self.begun += 1;
        }
    }

    /// Has an epoch flushed, with all that must be durable before it. It has ended.
    fn want(&mut self, hw: &mut dyn Services<Own>, id: EpochId, cause: Cause) {
        let mut left = vec![id];
        let mut is_new = false;
        while let Some(id) = left.pop() {
            let core = self.core(id.core);
            let older = (id.number + 1).saturating_sub(core.oldest()) as usize;
            for epoch in core.iter_mut().take(older).filter(|epoch| !epoch.is_wanted) {
                epoch.is_wanted = true;
                is_new = true;
                left.extend(&epoch.sources);
            }
        }
        if is_new {
            self.online[cause as usize] += 1;
            (0..self.cores.len()).for_each(|core| self.advance(hw, CoreId(core as u16)));
        }
    }

    /// Flushes a core's oldest epochs as far as they may be now.
    fn advance(&mut self, hw: &mut dyn Services<Own>, core: CoreId) {
        loop {
            let proactive = self.settings.proactive;
            let epochs = self.core(core);
            let number = epochs.oldest();
            let waiting = epochs.waits_for_others(proactive);
            epochs.waits.note(hw.now(), waiting);
            let first = epochs.first();
            let is_free = first.sources.is_empty() || broken(Rule::FlushAwaitsSources) && !first.is_wanted;
            let may = first.phase == Phase::Ended && is_free;
            if !may || !(first.is_wanted || proactive) {
                return;
            }
            if !first.lines.is_empty() {
                first.phase = Phase::Flushing(first.lines.len());
                return hw.send(hw.now() + hw.to_llc(), Message::Flush(EpochId { core, number }));
            }
            self.durable(hw, core);
        }
    }

    /// All banks flush an epoch's lines.
    fn flush(&mut self, hw: &mut dyn Services<Own>, id: EpochId) {
        let epoch = self.core(id.core).get(id.number).expect("it is being flushed");
        for line in &epoch.lines {
            hw.flush_line(id.core, *line, Flush::Clwb, id);
        }
    }

    /// A core's oldest epoch is durable: its tags are cleared, and those who wait learn of it.
    fn durable(&mut self, hw: &mut dyn Services<Own>, core: CoreId) {
        let epochs = self.core(core);
        let id = EpochId {
            core,
            number: epochs.oldest(),
        };
        let epoch = epochs.pop();
        let ended = |fence| kept(Rule::FenceOpensWhenDurable, epochs.is_durable(fence), || true);
        if epochs.fence.is_some_and(ended) {
            epochs.fence = None;
            hw.open(Gate::Fence(core));
        }
        for line in epoch.lines {
            if hw.line_tag(line) == Some(id.tag()) {
                hw.untag_line(line);
            }
        }
        if epoch.is_wanted {
            hw.open(Gate::Durable(core));
        }
        for dependent in epoch.dependents {
            hw.send(hw.now() + hw.to_core(), Message::Resolved(dependent, id));
        }
    }

    /// Has an epoch flushed: what to wait for, unless it is durable then.
    fn flush_online(&mut self, hw: &mut dyn Services<Own>, id: EpochId, cause: Cause) -> Option<Until<Gate>> {
        self.want(hw, id, cause);
        (!self.is_durable(id)).then_some(Until::Open(Gate::Durable(id.core)))
    }

    /// A store to a persistent line: it waits for the line's epoch if that is an older one.
    fn conflict(&mut self, hw: &mut dyn Services<Own>, core: CoreId, line: Line) -> Option<Until<Gate>> {
        let id = EpochId::of(hw.line_tag(line)?);
        let is_own = id.core == core && id.number == self.core(core).current();
        if is_own || kept(Rule::ConflictFlushesEpoch, self.is_durable(id), || true) {
            return None;
        }
        self.flush_online(hw, id, Cause::IntraThread)
    }

    /// Notes that the requester's open epoch depends on another core's; whether a register was free.
    fn record(&mut self, requester: CoreId, source: EpochId) -> bool {
        let most = self.settings.registers;
        let open = self.core(requester).open();
        let of_core = || broken(Rule::RegisterNamesEpoch) && open.sources.iter().any(|of| of.core == source.core);
        if open.sources.contains(&source) || of_core() {
            return true;
        }
        if open.sources.len() == most {
            return false;
        }
        keeps(Rule::RequesterRecords, || _ = open.sources.insert(source));
        self.dependences += 1;
        if let Some(epoch) = self.core(source.core).get(source.number) {
            epoch.dependents.insert(requester);
        }
        true
    }

    /// Orders what is before a primitive and what is after it: what it waits for, if anything.
    fn order(&mut self, hw: &mut dyn Services<Own>, core: CoreId, primitive: Primitive) -> Option<Until<Gate>> {
        let most = self.settings.epochs;
        let epochs = self.core(core);
        let oldest = EpochId {
            core,
            number: epochs.oldest(),
        };
        if epochs.len() >= most && epochs.is_used() {
            if let Some(until) = self.flush_online(hw, oldest, Cause::Fence) {
                return Some(until);
            }
        }
        self.end(core);
        if !is_weaker(primitive) {
            self.fence(hw, core);
        }
        self.advance(hw, core);
        None
    }

    /// A fence at the head of the store queue has ended its epoch, and waits for it.
    fn fence(&mut self, hw: &mut dyn Services<Own>, core: CoreId) {
        let epochs = self.core(core);
        let behind = kept(Rule::FenceAwaitsOwnEpoch, 1, || 2);
        let last = epochs.current().checked_sub(behind);
        match last.filter(|last| !epochs.is_durable(*last)) {
            None => hw.open(Gate::Fence(core)),
            Some(number) => {
                epochs.fence = Some(number);
                self.want(hw, EpochId { core, number }, Cause::Fence);
            }
        }
    }
}

/// Whether a primitive only ends the epoch.
fn is_weaker(primitive: Primitive) -> bool {
    matches!(admission(primitive, ()), Admission::Enter)
}

impl Design for LbPp {
    type Own = Own;

    fn about(&self) -> About {
        About {
            name: "lb-pp",
            paper: "LB++ (MICRO 2015); ASAP I, IV-A",
            summary: "epochs stay in the caches until a conflict, an eviction or their end flushes them",
            needs: Needs {
                hosts: Hosts::Coherent("the tag of a line's epoch travels with the line, and is lost with a host while others wait for the epoch"),
                ..Needs::ADR_IN_ORDER
            },
            promises_recovery: true,
            model: "ep",
            intents: Some("intents"),
            window: None,
        }
    }

    fn wants(&self) -> Wants {
        Wants {
            nt_cached: true,
            orders_evictions: true,
            ..Wants::default()
        }
    }

    fn params(&self) -> &'static [Param] {
        Settings::PARAMS
    }

    fn set(&mut self, params: &Params) {
        self.settings = Settings::of(params);
    }

    fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        self.settings.storage(machine)
    }

    fn lowering(&self) -> Lowering {
        EPOCHS
    }

    fn primitive(&mut self, _: &mut dyn Services<Own>, core: CoreId, primitive: Primitive) -> Admission<Gate> {
        admission(primitive, Gate::Fence(core))
    }

    fn store(&mut self, hw: &mut dyn Services<Own>, core: CoreId, write: Write) -> Departure<Gate> {
        let line = write.persistent_line();
        let until = line.and_then(|line| self.conflict(hw, core, line));
        until.map_or(Departure::Go, Departure::Wait)
    }

    fn departs(
        &mut self,
        hw: &mut dyn Services<Own>,
        core: CoreId,
        ordering: Ordering,
        context: u8,
    ) -> Departure<Gate> {
        match ordering {
            Ordering::Flush(..) => {
                hw.acknowledge(core, context);
                Departure::Keep
            }
            Ordering::Primitive(Primitive::StoreBarrier | Primitive::Setctx(_)) => Departure::Go,
            Ordering::Primitive(primitive) => {
                let until = self.order(hw, core, primitive);
                until.map_or(Departure::Go, Departure::Wait)
            }
        }
    }

    fn visible(&mut self, hw: &mut dyn Services<Own>, core: CoreId, store: Store) {
        let epochs = self.core(core);
        let number = epochs.current();
        epochs.add(store.line());
        hw.tag_line(store.line(), EpochId { core, number }.tag());
    }

    fn tagged(
        &mut self,
        hw: &mut dyn Services<Own>,
        requester: CoreId,
        line: Line,
        access: Access,
        tag: LineTag,
    ) -> Option<Until<Gate>> {
        let id = EpochId::of(tag);
        if id.core == requester || self.is_durable(id) {
            return None;
        }
        if id.number == self.core(id.core).current() && !broken(Rule::SourceEnds) {
            self.end(id.core);
        }
        let overwrites = access == Access::Own && line.is_persistent();
        if self.settings.idt && !overwrites && self.record(requester, id) {
            self.advance(hw, id.core);
            return None;
        }
        self.flush_online(hw, id, Cause::InterThread)
    }

    /// What has no tag is durable.
    fn evicted(&mut self, hw: &mut dyn Services<Own>, _: CoreId, level: Level, line: Line) -> Eviction<Gate> {
        if level == Level::Private {
            return Eviction::WriteBack;
        }
        if let Some(id) = hw.line_tag(line).map(EpochId::of) {
            if id.number == self.core(id.core).current() {
                self.end(id.core);
            }
            if let Some(until) = self.flush_online(hw, id, Cause::Eviction) {
                return Eviction::Hold(until);
            }
        }
        match line.is_persistent() {
            true => Eviction::Drop,
            false => Eviction::WriteBack,
        }
    }

    fn acknowledged(&mut self, hw: &mut dyn Services<Own>, core: CoreId, id: EpochId) {
        let count = kept(Rule::LineAcknowledgedOnce, 1, || 2);
        let epoch = self.core(core).get(id.number);
        let Some(Phase::Flushing(left)) = epoch.map(|epoch| &mut epoch.phase) else {
            return;
        };
        let before = std::mem::replace(left, left.saturating_sub(count));
        if before > 0 && *left == 0 {
            hw.send(hw.now() + hw.to_llc(), Message::Flushed(id));
        }
    }

    fn message(&mut self, hw: &mut dyn Services<Own>, message: Message) {
        let core = match message {
            Message::Flush(id) => return self.flush(hw, id),
            Message::Flushed(id) => {
                self.durable(hw, id.core);
                id.core
            }
            Message::Resolved(core, source) => {
                self.core(core).resolve(source);
                core
            }
        };
        self.advance(hw, core);
    }

    fn own_counters(&self) -> &'static [Counter] {
        &COUNTERS
    }

    fn counters(&self, now: Cycles) -> Counters {
        let (blocking, waited) = DependenceWait::sum(self.cores.iter().map(|core| &core.waits), now);
        Counters {
            epochs: Some(self.begun),
            cross_dependences: Some(self.dependences),
            blocking_dependences: Some(blocking),
            dependence_wait_cycles: Some(waited),
            own: OwnCounts(COUNTERS.into_iter().zip(self.online).collect()),
            ..Counters::default()
        }
    }

    fn waits(&self) -> Vec<String> {
        let oldest = (0..).zip(&self.cores).filter(|(_, epochs)| epochs.len() > 1);
        let says = |(core, epochs): (u16, &CoreEpochs)| format!("{}: {}", CoreId(core), epochs.in_words());
        oldest.map(says).collect()
    }
}
