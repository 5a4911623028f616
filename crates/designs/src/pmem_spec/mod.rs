//! PMEM-Spec: stores bypass the caches to memory; misordered accesses are detected there and undone
//! by software.
//!
//! What: strict persistency without flush or fence. A store to persistent memory is sent down its core's own path to the
//! controllers when it becomes visible, byte by byte as it was stored. A path is in order, at whichever controllers its
//! stores arrive; paths of several cores are of different length. Dirty persistent lines that the LLC evicts are dropped,
//! since the paths bring what was stored in them.
//!
//! That is speculation, in two ways. A store may arrive before another core's older one to the same
//! line (a *late* store). A load may fetch a dropped line before its stores have arrived (a *stale*
//! load; it does get the stale bytes). Each controller detects both with a speculation buffer. The
//! buffer holds recently written lines, with the number of the newest store to each. It also holds
//! recently dropped lines, with the number of the newest store at the time, and whether they have
//! been fetched since. A store that arrives is late if a younger one to its line has arrived. A
//! load was stale if a store arrives that is older than the drop of a line fetched since.
//!
//! An entry is held for the *window*, the longest time that a store is in flight, and longer only
//! while a path is held up. A store or dropped line that finds the buffer full waits. Only the
//! oldest store of all needs no entry, since nothing older can arrive after it.
//!
//! Misspeculation is treated as a power failure. All cores are interrupted, since the readers of
//! the line are unknown. Each program's own log undoes its open failure-atomic section, which then
//! restarts (`runtime/abort.rs`).
//!
//! - `dfence` (durable): the core's path is empty, and the window has passed with nothing older in
//!   flight. So all that the core has seen is durable, and every misspeculation that it depends on
//!   has been found.
//! - `mfence` (validate): no fetch of the core can still prove stale. Until its next `dfence` the
//!   core does not speculate: its misses wait while a line's entry says that it was dropped. A
//!   section executes it before it writes what commits it, where it rarely waits. An abort ends
//!   with it, so that the section then makes progress.
//!
//! Why a crash recovers: a section's records arrive before its updates, as its path is in order. A
//! section that is not acknowledged is undone by recovery. So is what it derived from stale bytes,
//! as nothing commits it before it is validated. An acknowledged section has waited for the window,
//! and with it for all that it depends on. Programs without sections have what
//! `models/pmem-spec.cat` guarantees: the order of each core's stores, and `dfence`.
//!
//! Source: PMEM-Spec (ASPLOS 2021), as its abstract and ASAP (HPCA 2022), sections II, III and VI, describe it.
//! Not public, and so decided here: the content of the buffer and its behaviour when full, the
//! window and what extends it, `mfence`, and that all cores are interrupted. Simplified: the number
//! of a store counts all cores' stores in the order in which they became visible. A dropped line is
//! announced to its controller in no time. The interrupt arrives at once, and copies of a stale
//! line are corrected in place when its stores have arrived.

mod buffer;
mod paths;
pub(crate) mod rules;

use crate::parts::per_core;
use crate::pmem_spec::rules::Rule;
use buffer::Buffer;
use paths::{Paths, Stamp};
use std::collections::BTreeSet;
use strandline_design::{
    About, Acceptance, Access, Admission, ControllerId, Counter, Counters, Departure, Design, Eviction, Held, Hosts,
    Level, Needs, Never, Ordering, OwnCounts, Place, Services, Sizes, Store, Supply, Types, Until, Wants, Write,
    WriteRequest,
};
use strandline_isa::{CoreId, Line, Lowering, Primitive};
use strandline_kernel::{Cycles, Param, Params};
use strandline_rules::broken;

const ENTRIES: Param = Param {
    name: "buffer_entries",
    default: 64,
    min: 1,
    max: 1 << 16,
    help: "lines of a controller's speculation buffer",
    source: "not public",
    words: &[],
};
const WINDOW: Param = Param {
    name: "window",
    default: 256,
    min: 1,
    max: 1 << 20,
    help: "cycles for which a speculation buffer holds a line: the longest that a store is on its way",
    source: "not public",
    words: &[],
};
const PATH: Param = Param {
    name: "path_entries",
    default: 64,
    min: 1,
    max: 1 << 16,
    help: "stores that a core's path holds",
    source: "not public",
    words: &[],
};

const STALE_LOADS: Counter = Counter::sum(
    "stale_loads",
    "lines",
    "Lines that were fetched from memory before a store to them had arrived there.",
);
const LATE_STORES: Counter = Counter::sum(
    "late_stores",
    "stores",
    "Stores that arrived after a younger one of another core to their line.",
);

/// PMEM-Spec.
#[derive(Clone, Debug)]
pub struct PmemSpec {
    entries: usize,
    window: u64,
    path_entries: usize,
    paths: Paths,
    /// By controller.
    buffers: Vec<Buffer>,
    /// The fence at the head of each core's store queue: when it reached the head.
    fences: Vec<Option<Stamp>>,
    /// Cores that do not speculate: from an `mfence` to the next `dfence`.
    careful: BTreeSet<CoreId>,
    /// Lines whose cached copies were found stale, until their stores have arrived.
    stale: BTreeSet<Line>,
    /// Whether [`Gate::Progress`] has waiters.
    awaited: bool,
    /// When it opens at the latest: the times of messages under way.
    looks: BTreeSet<Cycles>,
    stale_loads: u64,
    late_stores: u64,
}

/// The types of PMEM-Spec.
#[derive(Clone, Copy, Debug)]
pub struct Own;

/// A gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// A core's path has room.
    Room(CoreId),
    /// A store has been accepted or acknowledged, or time has passed.
    Progress,
}

/// Time to check the waiters for [`Gate::Progress`].
#[derive(Clone, Copy, Debug)]
pub struct Look;

/// The write of the store with this number.
#[derive(Clone, Copy, Debug)]
pub struct Order(u64);

impl Types for Own {
    type Gate = Gate;
    type Message = Look;
    type Tag = Order;
    type Note = Never;
}

impl Default for PmemSpec {
    fn default() -> Self {
        PmemSpec {
            entries: ENTRIES.default as usize,
            window: WINDOW.default,
            path_entries: PATH.default as usize,
            paths: Paths::default(),
            buffers: Vec::new(),
            fences: Vec::new(),
            careful: BTreeSet::new(),
            stale: BTreeSet::new(),
            awaited: false,
            looks: BTreeSet::new(),
            stale_loads: 0,
            late_stores: 0,
        }
    }
}

impl PmemSpec {
    fn buffer(&mut self, controller: ControllerId) -> &mut Buffer {
        let index = usize::from(controller.0);
        if self.buffers.len() <= index {
            self.buffers.resize(index + 1, Buffer::default());
        }
        &mut self.buffers[index]
    }

    /// Whether everything that was visible at that moment has arrived, as far as a controller
    /// knows: the window has passed, and no path is held up.
    fn is_over(&self, then: Stamp, now: Cycles) -> bool {
        now.0 >= then.at.0 + self.window && !self.paths.carry_until(then.order)
    }

    /// The buffer of a line's controller, without expired entries.
    fn fresh(&mut self, hw: &dyn Services<Own>, line: Line) -> ControllerId {
        let (now, controller) = (hw.now(), hw.controller_of(line));
        let mut buffer = std::mem::take(self.buffer(controller));
        buffer.forget(|then| self.is_over(then, now) || broken(Rule::BufferHoldsWindow));
        *self.buffer(controller) = buffer;
        controller
    }

    /// The condition that everything visible at that moment, or anything before, has arrived.
    fn wait(&mut self, hw: &mut dyn Services<Own>, then: Option<Stamp>) -> Until<Gate> {
        self.awaited = true;
        let over = then.map(|then| Cycles(then.at.0 + self.window));
        // An earlier look wakes all that wait, and they ask for the next.
        let is_first = |over: &Cycles| self.looks.first().is_none_or(|first| over < first);
        if let Some(over) = over.filter(|over| *over > hw.now() && is_first(over)) {
            self.looks.insert(over);
            hw.send(over, Look);
        }
        Until::Open(Gate::Progress)
    }

    fn progress(&mut self, hw: &mut dyn Services<Own>) {
        if std::mem::take(&mut self.awaited) {
            hw.open(Gate::Progress);
        }
    }

    /// A `dfence` at the head of the store queue.
    fn durable(&mut self, hw: &mut dyn Services<Own>, core: CoreId) -> Departure<Gate> {
        let now = self.paths.stamp(hw.now());
        let then = *per_core::state(&mut self.fences, core, |_| None).get_or_insert(now);
        let is_over = self.is_over(then, hw.now()) || broken(Rule::DurableWaitsWindow);
        if self.paths.len(core) == 0 && is_over {
            self.fences[core.index()] = None;
            self.careful.remove(&core);
            return Departure::Go;
        }
        Departure::Wait(self.wait(hw, Some(then)))
    }

    /// An `mfence` at the head of the store queue.
    fn validated(&mut self, hw: &mut dyn Services<Own>, core: CoreId) -> Departure<Gate> {
        let now = hw.now();
        let mut fetched = self.buffers.iter().filter_map(|buffer| buffer.speculates(core));
        match fetched.find(|then| !self.is_over(*then, now)) {
            Some(then) => Departure::Wait(self.wait(hw, Some(then))),
            None => {
                self.careful.insert(core);
                Departure::Go
            }
        }
    }

    /// Whether a store has room for an entry, or needs none.
    fn has_entry(&mut self, controller: ControllerId, line: Line, order: u64) -> bool {
        let entries = self.entries;
        let buffer = self.buffer(controller);
        buffer.holds_written(line) || buffer.len() < entries || !self.paths.carry_until(order - 1)
    }

    /// Accepts a store.
    fn accept(
        &mut self,
        hw: &mut dyn Services<Own>,
        (controller, core, order): (ControllerId, CoreId, u64),
        line: Line,
    ) -> Acceptance<Gate> {
        let stamp = Stamp { order, at: hw.now() };
        let buffer = self.buffer(controller);
        let is_stale = buffer.finds_stale(line, order) && !broken(Rule::StaleLoadFound);
        let is_late = buffer.is_late(line, order);
        buffer.write(line, stamp);
        self.paths.accept(core, order);
        self.progress(hw);
        self.late_stores += u64::from(is_late);
        self.stale_loads += u64::from(is_stale);
        if is_stale {
            self.stale.insert(line);
        }
        if is_late || is_stale {
            for core in 0..hw.cores() {
                hw.interrupt(CoreId(core as u16));
            }
        }
        Acceptance::Queue
    }
}

impl Design for PmemSpec {
    type Own = Own;

    fn about(&self) -> About {
        About {
            name: "pmem-spec",
            paper: "PMEM-Spec (ASPLOS 2021); ASAP II and III",
            summary: "stores go to memory beside the caches; what comes out of order is found there, and logs undo it",
            needs: Needs {
                hosts: Hosts::Coherent("its flushes do nothing, so that a reader has no invalidate, and stores that others have read are lost on the path of a failed host"),
                ..Needs::ADR_IN_ORDER
            },
            promises_recovery: true,
            model: "pmem-spec",
            intents: Some("intents-sections"),
            window: None,
        }
    }

    fn params(&self) -> &'static [Param] {
        &[ENTRIES, WINDOW, PATH]
    }

    fn set(&mut self, params: &Params) {
        self.entries = params.get(ENTRIES.name) as usize;
        self.window = params.get(WINDOW.name);
        self.path_entries = params.get(PATH.name) as usize;
    }

    /// An entry of a buffer has a line, a store's number of 16 bits (numbers are compared within a
    /// window), and the cores that have fetched the line. An entry of a path has an address, a
    /// word, its bytes and its number. Physical addresses have 48 bits.
    fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        let of_a_buffer = (self.entries as u64 * (42 + 16 + machine.cores)).div_ceil(8);
        let of_a_path = (self.path_entries as u64 * (45 + 64 + 8 + 16)).div_ceil(8);
        vec![
            ("speculation buffers", machine.controllers * of_a_buffer),
            ("paths", machine.cores * of_a_path),
        ]
    }

    /// The words on the paths.
    fn buffers(&self, machine: &Sizes) -> Vec<Held> {
        vec![Held {
            name: "paths",
            place: Place::Link,
            bytes: machine.cores * self.path_entries as u64 * 8,
        }]
    }

    fn wants(&self) -> Wants {
        Wants {
            durable_lines: true,
            nt_cached: true,
            orders_evictions: true,
            ..Wants::default()
        }
    }

    fn lowering(&self) -> Lowering {
        Lowering {
            log: true,
            durable: &[Primitive::Dfence],
            validate: &[Primitive::Mfence],
            ..Lowering::NOTHING
        }
    }

    fn primitive(&mut self, _: &mut dyn Services<Own>, _: CoreId, primitive: Primitive) -> Admission<Gate> {
        let held = |loads| Admission::EnterHeld {
            until: Until::Drained(None),
            loads,
        };
        match primitive {
            Primitive::Dfence => held(false),
            Primitive::Mfence => held(true),
            other => Admission::plain(other),
        }
    }

    fn store(&mut self, _: &mut dyn Services<Own>, core: CoreId, write: Write) -> Departure<Gate> {
        match write.persistent_line() {
            Some(_) if self.paths.len(core) >= self.path_entries => Departure::Wait(Until::Open(Gate::Room(core))),
            _ => Departure::Go,
        }
    }

    /// A flush does nothing: the stored bytes are in flight.
    fn departs(
        &mut self,
        hw: &mut dyn Services<Own>,
        core: CoreId,
        ordering: Ordering,
        context: u8,
    ) -> Departure<Gate> {
        match ordering {
            Ordering::Primitive(Primitive::Dfence) => self.durable(hw, core),
            Ordering::Primitive(Primitive::Mfence) => self.validated(hw, core),
            Ordering::Flush(..) => {
                hw.acknowledge(core, context);
                Departure::Keep
            }
            _ => Departure::Go,
        }
    }

    fn visible(&mut self, hw: &mut dyn Services<Own>, core: CoreId, store: Store) {
        if !store.addr.is_persistent() {
            return;
        }
        let line = store.line();
        let order = self.paths.send(core, line);
        hw.write_in_order(core, line, hw.visible_line(line), store.bytes(), Order(order));
    }

    fn arrived(
        &mut self,
        hw: &mut dyn Services<Own>,
        controller: ControllerId,
        write: &WriteRequest<Order>,
    ) -> Acceptance<Gate> {
        let (Some(Order(order)), Some(core)) = (write.tag, write.core) else {
            return Acceptance::Queue;
        };
        if !self.paths.is_next(core, order) && !broken(Rule::PathInOrder) {
            return Acceptance::Wait(self.wait(hw, None));
        }
        self.fresh(hw, write.line);
        if !self.has_entry(controller, write.line, order) {
            let oldest = self.buffer(controller).oldest();
            return Acceptance::Wait(self.wait(hw, oldest));
        }
        self.accept(hw, (controller, core, order), write.line)
    }

    fn acknowledged(&mut self, hw: &mut dyn Services<Own>, core: CoreId, Order(order): Order) {
        if self.paths.len(core) >= self.path_entries {
            hw.open(Gate::Room(core));
        }
        let line = self.paths.acknowledge(core, order);
        self.progress(hw);
        if let Some(line) = line.filter(|line| !self.paths.carry(*line)) {
            if self.stale.remove(&line) {
                hw.reload(line);
            }
        }
    }

    fn evicted(&mut self, hw: &mut dyn Services<Own>, _: CoreId, level: Level, line: Line) -> Eviction<Gate> {
        if level == Level::Private {
            return Eviction::WriteBack;
        }
        let (controller, entries) = (self.fresh(hw, line), self.entries);
        let now = self.paths.stamp(hw.now());
        let buffer = self.buffer(controller);
        if buffer.dropped_since(line).is_some() || buffer.len() < entries {
            buffer.drop_line(line, now);
            return Eviction::Drop;
        }
        let oldest = buffer.oldest();
        Eviction::Hold(self.wait(hw, oldest))
    }

    fn missed(&mut self, hw: &mut dyn Services<Own>, core: CoreId, line: Line, _: Access) -> Supply<Gate> {
        let controller = self.fresh(hw, line);
        let dropped = self.buffer(controller).dropped_since(line);
        if dropped.is_some() && self.careful.contains(&core) {
            return Supply::Wait(self.wait(hw, dropped));
        }
        self.buffer(controller).fetch(line, core);
        Supply::Durable
    }

    fn message(&mut self, hw: &mut dyn Services<Own>, _: Look) {
        let now = hw.now();
        self.looks.retain(|at| *at > now);
        self.progress(hw);
    }

    fn own_counters(&self) -> &'static [Counter] {
        &[STALE_LOADS, LATE_STORES]
    }

    fn counters(&self, _: Cycles) -> Counters {
        Counters {
            own: OwnCounts(vec![(STALE_LOADS, self.stale_loads), (LATE_STORES, self.late_stores)]),
            ..Counters::default()
        }
    }

    fn waits(&self) -> Vec<String> {
        let fences = self.fences.iter().enumerate();
        let waiting = fences.filter_map(|(core, fence)| fence.map(|then| (core, then)));
        waiting
            .map(|(core, then)| {
                let len = self.paths.len(CoreId(core as u16));
                format!(
                    "core {core}'s dfence of cycle {} waits; {len} stores are on its path",
                    then.at
                )
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::Both;

    /// The mock has two controllers. Each buffer has one entry, which a dropped line holds for the window.
    #[test]
    fn lines_that_wait_for_two_buffers_need_a_look_each() {
        let mut both = Both::of(PmemSpec::default()).with(&[("buffer_entries", 1)]);
        let evict = |both: &mut Both<PmemSpec>, number| both.evict(Level::Llc, Line(number));
        for (at, number) in [(0, 1), (100, 2)] {
            both.hw.now = at;
            assert_eq!(evict(&mut both, number), Eviction::Drop);
        }
        for _ in 0..10 {
            // The younger drop is waited for first.
            let (younger, older) = (evict(&mut both, 4), evict(&mut both, 3));
            assert!(matches!((younger, older), (Eviction::Hold(_), Eviction::Hold(_))));
            both.design.message(&mut both.hw, Look);
        }
        assert_eq!(both.hw.messages.len(), 2);
    }
}
