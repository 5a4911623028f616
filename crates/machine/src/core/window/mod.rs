//! The instruction window: in-order dispatch, dataflow execution, in-order retirement, as timestamps.

mod backlog;
mod decoder;
mod laps;
mod ports;
mod retirement;
mod shared;
mod stalls;

pub use laps::{Lap, Position};
pub use ports::Port;

use backlog::Noted;
use decoder::Decoder;
use ports::Ports;
use retirement::Retirement;
use shared::SharedLoads;
use stalls::Stalls;

use super::fetch_queue::FetchQueue;
use super::issue_queue::IssueQueue;
use super::restore::{restore, Restore};
use crate::config;
use crate::timeline::{Cause, Dispatch, Lane};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The reorder buffer and load queue of a core, kept as the times at which their entries become free.
///
/// A micro-op costs O(1): [`Window::dispatch`] returns when it enters, the caller provides when it
/// completes, [`Window::retire`] returns when it leaves. Behind an op of unknown retirement time (a
/// fence that waits, see [`Window::hold`]) completion times are kept in place of retirement times
/// until [`Window::release`].
#[derive(Clone)]
pub struct Window {
    dispatch_width: u64,
    /// When the op in each reorder-buffer entry leaves it.
    leaves: Box<[Cell<u64>]>,
    next: Cell<usize>,
    /// The dispatch cycle that is being filled, and how much of it is.
    cycle: Cell<u64>,
    in_cycle: Cell<u64>,
    retirement: Retirement,
    /// Each op is looked at, because an op is held or noted, instructions are recorded, or loads and stores share a queue.
    watched: Cell<bool>,
    /// The same while no op is held or noted.
    always_watched: bool,
    /// Ops are noted.
    notes: Cell<bool>,
    /// When the latest op issued, if ops are noted.
    issued: Cell<u64>,
    /// The latest ops, without a gap; none unless they are noted.
    noted: RefCell<Vec<Noted>>,
    /// The op (by number) in each load-queue entry.
    loads: Box<[Cell<u64>]>,
    next_load: Cell<usize>,
    fetch_queue: FetchQueue,
    issue_queue: Option<IssueQueue>,
    /// What orders ops before their dispatch, if anything does.
    decoder: Option<Decoder>,
    /// The ports at which ops issue, if there are too few.
    ports: Option<Ports>,
    /// Loads or stores have rules of their own: they wait for addresses, are two micro-ops, or retire late.
    has_rules: bool,
    /// Second micro-ops of stores, which are no instructions.
    seconds: Cell<u64>,
    /// The loads in the queue that loads and stores share, if they do.
    shared: Option<SharedLoads>,
    /// Ops dispatched so far.
    count: Cell<u64>,
    /// The number of the op whose retirement is held; [`NONE`] if there is none.
    held: Cell<u64>,
    /// When all ops dispatched behind held ops so far are complete.
    complete: Cell<u64>,
    /// When the last held op was released.
    released: Cell<u64>,
    stalls: Stalls,
    /// The recorder of the timeline, if there is one.
    lane: Option<Rc<Lane>>,
}

restore! {
    Window {
        leaves,
        next,
        cycle,
        in_cycle,
        retirement,
        loads,
        next_load,
        fetch_queue,
        issue_queue,
        decoder,
        ports,
        seconds,
        shared,
        count,
        held,
        complete,
        released,
        stalls,
    }
    stays { dispatch_width, watched, always_watched, notes, issued, noted, has_rules, lane }
}

/// No op is held: later than every op's number.
const NONE: u64 = u64::MAX;

/// It leaves at no known time.
const NEVER: u64 = u64::MAX;

/// Entries that a memory op leaves free behind a held op, for the arithmetic that follows it:
/// arithmetic cannot suspend. A longer run of arithmetic is dispatched as if the window were
/// larger.
const SPARE: u64 = 48;

impl Window {
    pub fn new(core: &config::Core) -> Window {
        let zeroes = |n: u64| (0..n).map(|_| Cell::new(0)).collect();
        let shares_queue = core.load_store_queue_entries > 0;
        Window {
            dispatch_width: core.dispatch_width,
            leaves: zeroes(core.rob_entries),
            watched: Cell::new(shares_queue),
            always_watched: shares_queue,
            notes: Cell::new(false),
            issued: Cell::new(0),
            noted: RefCell::default(),
            next: Cell::new(0),
            cycle: Cell::new(0),
            in_cycle: Cell::new(0),
            retirement: Retirement {
                width: core.retire_width,
                cycle: Cell::new(0),
                filled: Cell::new(0),
            },
            loads: (0..core.load_queue_entries).map(|_| Cell::new(u64::MAX)).collect(),
            next_load: Cell::new(0),
            fetch_queue: FetchQueue::new(core.fetch_queue_entries),
            issue_queue: IssueQueue::new(core.issue_queue_entries),
            decoder: Decoder::new(core.dispatch_width, core.decode_queue_entries, core.decode_ends),
            ports: Ports::new([
                core.alu_ports,
                core.load_ports,
                core.store_ports,
                core.store_ports,
                core.branch_ports,
            ]),
            has_rules: core.store_micro_ops > 1 || core.loads_wait_for_addresses || core.stores_retire_cached,
            seconds: Cell::new(0),
            shared: shares_queue.then(SharedLoads::default),
            count: Cell::new(0),
            held: Cell::new(NONE),
            complete: Cell::new(0),
            released: Cell::new(0),
            stalls: Stalls::default(),
            lane: None,
        }
    }

    /// This window, with its stalls recorded, and its instructions if the lane has them.
    pub fn recorded_by(self, lane: &Rc<Lane>) -> Window {
        let watched = self.always_watched || lane.watches();
        Window {
            watched: Cell::new(watched),
            always_watched: watched,
            lane: Some(lane.clone()),
            ..self
        }
    }

    /// Restores an earlier state, and notes no op.
    pub fn restore(&self, saved: &Window) {
        Restore::restore(self, saved);
        self.stop_noting();
    }

    /// Dispatches the next op: the cycle of its dispatch.
    #[inline(always)]
    pub fn dispatch(&self) -> u64 {
        match &self.decoder {
            None => self.dispatch_decoded(),
            Some(decoder) => {
                let op = self.count.get();
                let decoded = decoder.decode(op);
                if let Some(lane) = &self.lane {
                    let (from, used) = self.next_slot();
                    lane.decodes((from, decoded), used);
                }
                self.resume(decoded);
                let at = self.dispatch_decoded();
                decoder.dispatched(op, at);
                at
            }
        }
    }

    /// The micro-op just dispatched is the address of a store, issues at `issue` and completes at `complete`.
    #[inline(always)]
    pub fn execute_address(&self, issue: u64, complete: u64) {
        if let Some(lane) = &self.lane {
            lane.next_is_address();
        }
        self.execute(issue, complete);
    }

    /// Dispatches the second micro-op of a store: the cycle of its dispatch.
    pub fn dispatch_second(&self) -> u64 {
        self.seconds.set(self.seconds.get() + 1);
        self.dispatch()
    }

    /// The op just dispatched is a jump, or a branch that is taken or not.
    #[inline(always)]
    pub fn branches(&self, taken: bool) {
        if let Some(decoder) = &self.decoder {
            decoder.branches(taken);
        }
    }

    /// Dispatches the next op, which is decoded by now.
    #[inline(always)]
    fn dispatch_decoded(&self) -> u64 {
        let free = self.leaves[self.next.get()].get();
        if free > self.cycle.get() {
            self.stall_until_free(free);
        }
        if self.in_cycle.get() == self.dispatch_width {
            self.cycle.set(self.cycle.get() + 1);
            self.in_cycle.set(0);
        }
        self.in_cycle.set(self.in_cycle.get() + 1);
        self.cycle.get()
    }

    /// Dispatches the next op, a load: the cycle of its dispatch.
    #[inline(always)]
    pub fn dispatch_load(&self) -> u64 {
        let slot = self.next_load.get();
        let older = self.loads[slot].get();
        let behind = self.count.get().wrapping_sub(older);
        if behind <= self.leaves.len() as u64 && older < self.held.get() {
            let at = self.index_of(behind);
            let free = self.leaves[at].get();
            if free > self.cycle.get() {
                self.stall_until_left(free);
            }
        }
        self.loads[slot].set(self.count.get());
        self.next_load
            .set(if slot + 1 == self.loads.len() { 0 } else { slot + 1 });
        self.dispatch()
    }

    fn index_of(&self, behind: u64) -> usize {
        let next = self.next.get() as u64;
        let index = if behind <= next {
            next - behind
        } else {
            next + self.leaves.len() as u64 - behind
        };
        index as usize
    }

    /// Resumes dispatch at `at` at the earliest: the front end was redirected after a misprediction or
    /// roll-back, or the program has waited.
    #[inline(always)]
    pub fn redirect(&self, at: u64) {
        if let Some(lane) = &self.lane {
            let (from, used) = self.next_slot();
            lane.stall((from, at), used, Cause::Redirect, 0, 0);
        }
        self.fetch_queue.empty();
        if let Some(decoder) = &self.decoder {
            decoder.redirect(at);
        }
        self.resume(at);
    }

    /// As [`Window::redirect`], by the branch just dispatched, which was mispredicted.
    #[inline(always)]
    pub fn redirect_branch(&self, at: u64) {
        if let Some(lane) = &self.lane {
            self.record_issue(at);
            lane.mispredicts();
        }
        self.redirect(at);
    }

    #[inline(always)]
    fn resume(&self, at: u64) {
        if at > self.cycle.get() {
            self.cycle.set(at);
            self.in_cycle.set(0);
        }
    }

    /// When the op just dispatched, whose operands are ready at `ready`, finds a port.
    #[inline(always)]
    pub fn issue_at_port(&self, port: Port, ready: u64) -> u64 {
        match &self.ports {
            None => ready,
            Some(ports) => ports.take(port, ready),
        }
    }

    /// The op just dispatched, whose completion is not yet known, issues at `at`: its operands are ready.
    #[inline(always)]
    pub fn issue(&self, at: u64) {
        if self.watched.get() {
            self.note_issue(at);
        }
        self.enter_issue_queue(at);
    }

    #[inline(always)]
    fn enter_issue_queue(&self, at: u64) {
        if let Some(queue) = &self.issue_queue {
            let next = self.next_cycle();
            let to = queue.enter(at, next);
            if to > next {
                self.stall_unissued(next, to);
            }
        }
    }

    #[cold]
    fn note_issue(&self, at: u64) {
        self.issued.set(at);
        if self.lane.is_some() {
            self.record_issue(at);
        }
    }

    /// Records the op just dispatched, which issues at `issues`.
    fn record_issue(&self, issues: u64) {
        if let Some(lane) = &self.lane {
            lane.issues(self.dispatched_now(issues));
        }
    }

    /// The op just dispatched.
    fn dispatched_now(&self, issues: u64) -> Dispatch {
        Dispatch {
            number: self.count.get(),
            at: self.cycle.get(),
            issues,
        }
    }

    /// Records that the op just dispatched completes, and retires then unless it is held.
    fn record_completion(&self, complete: u64, retired: Option<u64>) {
        if let Some(lane) = &self.lane {
            lane.completes(self.dispatched_now(complete), complete, retired);
        }
    }

    /// When the op of this number leaves the window: [`NEVER`] before the held op is released, any past
    /// time if it has left long since.
    fn leaves_by(&self, op: u64) -> u64 {
        let behind = self.count.get() - op;
        if op >= self.held.get() {
            NEVER
        } else if behind > self.leaves.len() as u64 {
            0
        } else {
            self.leaves[self.index_of(behind)].get()
        }
    }

    /// The op just dispatched issues at `issue` and completes at `complete`. Returns when it retires, or,
    /// behind a held op, when it could. To be called after the redirection by a mispredicted branch.
    #[inline(always)]
    pub fn execute(&self, issue: u64, complete: u64) -> u64 {
        match self.watched.get() {
            true => self.execute_watched(issue, complete),
            false => {
                self.enter_issue_queue(issue);
                self.retire_next(complete)
            }
        }
    }

    #[inline(never)]
    fn execute_watched(&self, issue: u64, complete: u64) -> u64 {
        self.issue(issue);
        self.retire_watched(complete)
    }

    /// Completes the op just dispatched, which has issued, at `complete`: as [`Window::execute`].
    #[inline(always)]
    pub fn retire(&self, complete: u64) -> u64 {
        match self.watched.get() {
            true => self.retire_watched(complete),
            false => self.retire_next(complete),
        }
    }

    #[inline(always)]
    fn retire_next(&self, complete: u64) -> u64 {
        let at = self.retirement.in_order(complete);
        self.leaves[self.next.get()].set(at);
        self.step();
        at
    }

    fn retire_watched(&self, complete: u64) -> u64 {
        if self.is_held() {
            return self.retire_behind_held(complete);
        }
        if self.is_noting() {
            self.note(complete);
        }
        let at = self.retirement.in_order(complete);
        self.record_completion(complete, Some(at));
        self.leaves[self.next.get()].set(at);
        self.step();
        at
    }

    fn retire_behind_held(&self, complete: u64) -> u64 {
        self.record_completion(complete, None);
        self.complete.set(self.complete.get().max(complete));
        if !self.overflows() {
            self.leaves[self.next.get()].set(complete);
        }
        self.step();
        complete
    }

    #[inline(always)]
    fn step(&self) {
        let next = self.next.get() + 1;
        self.next.set(if next == self.leaves.len() { 0 } else { next });
        self.count.set(self.count.get() + 1);
    }

    /// Holds the op just dispatched: its retirement time is not yet known.
    pub fn hold(&self) {
        debug_assert!(!self.is_held(), "one op is held at a time");
        self.record_completion(NEVER, None);
        self.held.set(self.count.get());
        self.watched.set(true);
        self.step();
    }

    /// Retires the held op at `at`, and the ops behind it in order.
    pub fn release(&self, at: u64) {
        let held = self.held.replace(NONE);
        if held == NONE {
            return;
        }
        self.released.set(at);
        self.stop_noting();
        let behind = self.count.get() - held;
        let kept = behind.min(self.leaves.len() as u64);
        let mut index = self.index_of_oldest(behind);
        for k in 0..kept {
            let complete = if k == 0 { at } else { self.leaves[index].get() };
            let retires = self.retirement.in_order(complete);
            if let Some(lane) = &self.lane {
                lane.retires(k, retires);
            }
            self.leaves[index].set(retires);
            index = if index + 1 == self.leaves.len() { 0 } else { index + 1 };
        }
    }

    /// The entry of the op dispatched `behind` ops ago, which may be more than the window holds.
    fn index_of_oldest(&self, behind: u64) -> usize {
        let size = self.leaves.len() as u64;
        ((self.next.get() as u64 + size - behind % size) % size) as usize
    }

    /// Whether an op is held and the next op has no entry left behind it.
    fn overflows(&self) -> bool {
        self.is_held() && self.count.get() - self.held.get() >= self.leaves.len() as u64
    }

    /// Whether a memory op should wait for the held op before it is dispatched.
    #[inline(always)]
    pub fn is_full_behind_held(&self) -> bool {
        if !self.is_held() {
            return false;
        }
        let size = self.leaves.len() as u64;
        self.count.get() - self.held.get() + SPARE.min(size / 2) >= size
    }

    /// Whether loads behind the held op have all entries of the load queue, so that the next load has none before the op
    /// is released.
    #[inline(always)]
    pub fn lacks_load_entry(&self) -> bool {
        let older = self.loads[self.next_load.get()].get();
        self.is_held() && older != NEVER && older >= self.held.get()
    }

    /// Whether there is an issue queue, a queue that loads and stores share, a decoder that ends its cycle with a block, a
    /// limit of ports, or a rule for loads and stores.
    #[inline(always)]
    pub fn is_limited(&self) -> bool {
        let limited = self.issue_queue.is_some() || self.shared.is_some() || self.decoder.is_some();
        limited || self.ports.is_some() || self.has_rules
    }

    /// Whether each op is looked at: one is held or noted, instructions are recorded, or loads and stores share a queue.
    #[inline(always)]
    pub fn is_watched(&self) -> bool {
        self.watched.get()
    }

    /// Whether an op's retirement is held.
    #[inline(always)]
    pub fn is_held(&self) -> bool {
        self.held.get() != NONE
    }

    /// The cycle in which the next op is dispatched at the earliest.
    #[inline(always)]
    pub fn cycle(&self) -> u64 {
        self.cycle.get()
    }

    /// When the latest op retired; without meaning behind a held op.
    #[inline(always)]
    pub fn retired(&self) -> u64 {
        self.retirement.cycle.get()
    }

    /// When all ops dispatched so far are complete, but for a held op.
    pub fn complete(&self) -> u64 {
        self.complete.get().max(self.retirement.cycle.get())
    }

    /// Micro-ops dispatched so far.
    pub fn count(&self) -> u64 {
        self.count.get()
    }

    /// Instructions dispatched so far: micro-ops without the second ones of stores.
    pub fn instructions(&self) -> u64 {
        self.count.get() - self.seconds.get()
    }

    /// Stall cycles so far.
    pub fn stalls(&self) -> &Stalls {
        &self.stalls
    }
}

#[cfg(test)]
mod tests;
