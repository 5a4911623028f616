//! The instruction window: in-order dispatch, dataflow execution, in-order retirement, as timestamps.

mod backlog;
mod decoder;
mod laps;
mod ports;

pub use laps::{Lap, Position};
pub use ports::Port;

use backlog::Noted;
use decoder::Decoder;
use ports::Ports;

use super::fetch_queue::FetchQueue;
use super::issue_queue::IssueQueue;
use super::loads::Loads;
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
    /// What an op needs now.
    pace: Cell<Pace>,
    /// The same while no op is held or noted.
    free_pace: Pace,
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
    shared: Option<Loads>,
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

/// How much of a window an op uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Entries and widths.
    Simple,
    /// A decoder, ports, an issue queue, or rules for loads and stores, too.
    Limited,
    /// All: an op is held or noted, instructions are recorded, loads and stores share a queue, or the program keeps its
    /// values on a stack.
    Other,
}

/// No op is held: later than every op's number.
const NONE: u64 = u64::MAX;

/// It leaves at no known time.
const NEVER: u64 = u64::MAX;

/// Cycles in which nothing could be dispatched, by cause.
#[derive(Clone, Default)]
pub struct Stalls {
    /// Behind a fence: a store blocked from its queue, or a window full behind the fence.
    pub fence: Cell<u64>,
    /// Of these, with a window full behind the fence.
    pub window_behind_fence: Cell<u64>,
    /// Behind a full store queue or a design's full buffer.
    pub buffer: Cell<u64>,
    /// Of these, behind a design's full buffer.
    pub design_buffer: Cell<u64>,
    /// Of these, behind a full store queue whose head waited for flushes, or for the design.
    pub queue_persists: Cell<u64>,
    /// By any back-pressure: the above, and a window, issue queue or load queue full for other reasons;
    /// those cycles that the fetch queue did not absorb.
    pub fetch: Cell<u64>,
}

fn add(cycles: &Cell<u64>, more: u64) {
    cycles.set(cycles.get() + more);
}

/// Entries that a memory op leaves free behind a held op, for the arithmetic that follows it:
/// arithmetic cannot suspend. A longer run of arithmetic is dispatched as if the window were
/// larger.
const SPARE: u64 = 48;

impl Window {
    pub fn new(core: &config::Core) -> Window {
        let zeroes = |n: u64| (0..n).map(|_| Cell::new(0)).collect();
        let mut window = Window {
            dispatch_width: core.dispatch_width,
            leaves: zeroes(core.rob_entries),
            pace: Cell::new(Pace::Other),
            free_pace: Pace::Other,
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
            decoder: Decoder::new(core.dispatch_width, core.decode_queue_entries),
            ports: Ports::new([core.alu_ports, core.load_ports, core.store_ports, core.store_ports]),
            has_rules: core.store_micro_ops > 1 || core.loads_wait_for_addresses || core.stores_retire_cached,
            seconds: Cell::new(0),
            shared: (core.load_store_queue_entries > 0).then(Loads::default),
            count: Cell::new(0),
            held: Cell::new(NONE),
            complete: Cell::new(0),
            released: Cell::new(0),
            stalls: Stalls::default(),
            lane: None,
        };
        window.free_pace = match (window.is_limited(), window.shared.is_some()) {
            (false, _) => Pace::Simple,
            (true, false) => Pace::Limited,
            (true, true) => Pace::Other,
        };
        window.pace.set(window.free_pace);
        window
    }

    /// The window of a core whose program keeps its values on a stack.
    pub fn without_registers(core: &config::Core) -> Window {
        Window {
            free_pace: Pace::Other,
            pace: Cell::new(Pace::Other),
            ..Window::new(core)
        }
    }

    /// This window, with its stalls recorded, and its instructions if the lane has them.
    pub fn recorded_by(self, lane: &Rc<Lane>) -> Window {
        let free_pace = match lane.has_instructions() {
            true => Pace::Other,
            false => self.free_pace,
        };
        Window {
            free_pace,
            pace: Cell::new(free_pace),
            lane: Some(lane.clone()),
            ..self
        }
    }

    /// Restores an earlier state.
    pub fn restore(&self, saved: &Window) {
        restore_all(&self.leaves, &saved.leaves);
        restore_all(&self.loads, &saved.loads);
        self.next.set(saved.next.get());
        self.next_load.set(saved.next_load.get());
        self.fetch_queue.restore(&saved.fetch_queue);
        if let (Some(to), Some(from)) = (&self.issue_queue, &saved.issue_queue) {
            to.restore(from);
        }
        if let (Some(to), Some(from)) = (&self.shared, &saved.shared) {
            to.restore(from);
        }
        if let (Some(to), Some(from)) = (&self.decoder, &saved.decoder) {
            to.restore(from);
        }
        if let (Some(to), Some(from)) = (&self.ports, &saved.ports) {
            to.restore(from);
        }
        for (to, from) in self.times().into_iter().zip(saved.times()) {
            to.set(from.get());
        }
        self.stop_noting();
    }

    /// The scalar fields.
    fn times(&self) -> [&Cell<u64>; 15] {
        [
            &self.cycle,
            &self.in_cycle,
            &self.retirement.cycle,
            &self.retirement.filled,
            &self.count,
            &self.seconds,
            &self.held,
            &self.complete,
            &self.released,
            &self.stalls.fence,
            &self.stalls.window_behind_fence,
            &self.stalls.buffer,
            &self.stalls.design_buffer,
            &self.stalls.queue_persists,
            &self.stalls.fetch,
        ]
    }

    /// Dispatches the next op: the cycle of its dispatch.
    #[inline(always)]
    pub fn dispatch(&self) -> u64 {
        match &self.decoder {
            None => self.dispatch_simple(),
            Some(decoder) => self.dispatch_decoded(decoder),
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

    #[inline(always)]
    fn dispatch_decoded(&self, decoder: &Decoder) -> u64 {
        let op = self.count.get();
        self.resume(decoder.decode(op));
        let at = self.dispatch_simple();
        decoder.dispatched(op, at);
        at
    }

    /// The op just dispatched is a branch or jump, which ends a basic block.
    #[inline(always)]
    pub fn ends_block(&self) {
        if let Some(decoder) = &self.decoder {
            decoder.ends_block();
        }
    }

    /// As [`Window::dispatch`], where the window is simple.
    #[inline(always)]
    pub fn dispatch_simple(&self) -> u64 {
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

    #[cold]
    fn stall_until_free(&self, free: u64) {
        if !self.overflows() {
            self.stall_until_left(free);
        }
    }

    /// Stalls dispatch until an op leaves the window, at `free`.
    #[cold]
    pub fn stall_until_left(&self, free: u64) {
        let from = self.next_cycle();
        let released = self.released.get();
        let behind_fence = match from < released {
            true => free.min(released).saturating_sub(from),
            false => 0,
        };
        add(&self.stalls.fence, behind_fence);
        add(&self.stalls.window_behind_fence, behind_fence);
        let fetch = self.advance(free).1;
        if let Some(lane) = &self.lane {
            let split = from + behind_fence;
            lane.stall((from, split), Cause::Fence, behind_fence, fetch.min(behind_fence));
            lane.stall((split, free), Cause::Window, 0, fetch.saturating_sub(behind_fence));
        }
    }

    /// The cycle in which the next op would be dispatched without back-pressure.
    pub fn next_cycle(&self) -> u64 {
        self.cycle.get() + u64::from(self.in_cycle.get() == self.dispatch_width)
    }

    /// Dispatch goes on at `to` at the earliest: the cycles that it stalls, and those that the fetch queue does not absorb.
    fn advance(&self, to: u64) -> (u64, u64) {
        let mut blocked = 0;
        let stall = to.saturating_sub(self.next_cycle());
        if stall > 0 {
            self.noted.borrow_mut().clear();
            let dispatched = self.in_cycle.get() % self.dispatch_width;
            blocked = self.fetch_queue.absorb(stall, dispatched, self.dispatch_width);
            add(&self.stalls.fetch, blocked);
        }
        self.resume(to);
        (stall, blocked)
    }

    /// Resumes dispatch at `at` at the earliest: the front end was redirected after a misprediction or
    /// roll-back, or the program has waited.
    #[inline(always)]
    pub fn redirect(&self, at: u64) {
        if let Some(lane) = &self.lane {
            lane.stall((self.next_cycle(), at), Cause::Redirect, 0, 0);
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
        if self.lane.is_some() {
            self.record_issue(at);
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

    /// Dispatch was stalled until `at` by a fence.
    pub fn stall_fence(&self, at: u64) {
        let from = self.next_cycle();
        let (stall, fetch) = self.advance(at);
        add(&self.stalls.fence, stall);
        if let Some(lane) = &self.lane {
            lane.stall((from, at), Cause::Fence, stall, fetch);
        }
    }

    /// Dispatch was stalled until `at` by a full buffer of the design.
    pub fn stall_design_buffer(&self, at: u64) {
        add(&self.stalls.design_buffer, at.saturating_sub(self.next_cycle()));
        self.stall_buffer(at);
    }

    /// Dispatch was stalled until `at` by a full store queue, whose head waited `persists` cycles of these for flushes or for the
    /// design.
    pub fn stall_queue(&self, at: u64, persists: u64) {
        let stall = at.saturating_sub(self.next_cycle());
        add(&self.stalls.queue_persists, persists.min(stall));
        self.stall_buffer(at);
    }

    /// Dispatch was stalled until `at` by a full store queue.
    pub fn stall_buffer(&self, at: u64) {
        let from = self.next_cycle();
        let (stall, fetch) = self.advance(at);
        add(&self.stalls.buffer, stall);
        if let Some(lane) = &self.lane {
            lane.stall((from, at), Cause::Buffer, stall, fetch);
        }
    }

    /// When the op just dispatched, whose operands are ready at `ready`, finds a port.
    #[inline(always)]
    pub fn finds(&self, port: Port, ready: u64) -> u64 {
        match &self.ports {
            None => ready,
            Some(ports) => ports.take(port, ready),
        }
    }

    /// The op just dispatched, whose completion is not yet known, issues at `at`: its operands are ready.
    #[inline(always)]
    pub fn issue(&self, at: u64) {
        match self.pace.get() {
            Pace::Simple => {}
            Pace::Limited => self.enter_limited(at),
            Pace::Other => self.enter_issue_queue(at),
        }
    }

    /// As [`Window::issue`], where the window is limited.
    #[inline(always)]
    pub fn enter_limited(&self, at: u64) {
        if let Some(queue) = &self.issue_queue {
            let next = self.next_cycle();
            let to = queue.enter(at, next);
            if to > next {
                self.stall_unissued(next, to);
            }
        }
    }

    /// Stalls dispatch from `from` until an op issues, at `to`.
    #[inline(never)]
    fn stall_unissued(&self, from: u64, to: u64) {
        let fetch = self.advance(to).1;
        if let Some(lane) = &self.lane {
            lane.stall((from, to), Cause::Window, 0, fetch);
        }
    }

    #[cold]
    fn enter_issue_queue(&self, at: u64) {
        self.issued.set(at);
        if self.lane.is_some() {
            self.record_issue(at);
        }
        self.enter_limited(at);
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

    /// Gives the next op, a load, an entry of the queue that loads and stores share, if they do.
    pub fn enter_shared_load(&self) {
        if let Some(shared) = &self.shared {
            shared.enter(self.count.get());
        }
    }

    /// The most loads that may have an entry of the queue that loads and stores share.
    #[inline(always)]
    pub fn most_shared_loads(&self) -> u64 {
        self.shared.as_ref().map_or(0, Loads::most)
    }

    /// Loads that have an entry of the queue that loads and stores share at `at`.
    pub fn shared_loads(&self, at: u64) -> u64 {
        self.shared
            .as_ref()
            .map_or(0, |loads| loads.in_flight(|op| self.leaves_by(op) <= at))
    }

    /// When the first load leaves the queue that loads and stores share; `None` if none does before the
    /// held op is released.
    pub fn next_shared_load_leaves(&self) -> Option<u64> {
        let oldest = self.shared.as_ref()?.oldest()?;
        Some(self.leaves_by(oldest)).filter(|at| *at != NEVER)
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

    /// As [`Window::execute`], where the window is simple.
    #[inline(always)]
    pub fn execute_simple(&self, complete: u64) {
        let at = self.retirement.in_order(complete);
        self.leaves[self.next.get()].set(at);
        self.step();
    }

    /// The op just dispatched issues at `issue` and completes at `complete`. Returns when it retires, or,
    /// behind a held op, when it could. To be called after the redirection by a mispredicted branch.
    #[inline(always)]
    pub fn execute(&self, issue: u64, complete: u64) -> u64 {
        self.issue(issue);
        self.retire(complete)
    }

    /// Completes the op just dispatched, which has issued, at `complete`: as [`Window::execute`].
    #[inline(always)]
    pub fn retire(&self, complete: u64) -> u64 {
        if self.pace.get() == Pace::Other {
            return self.retire_otherwise(complete);
        }
        let at = self.retirement.in_order(complete);
        self.leaves[self.next.get()].set(at);
        self.step();
        at
    }

    fn retire_otherwise(&self, complete: u64) -> u64 {
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
        self.pace.set(Pace::Other);
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

    /// Whether there is an issue queue, a queue that loads and stores share, a decoder that ends its cycle with a block, a
    /// limit of ports, or a rule for loads and stores.
    #[inline(always)]
    pub fn is_limited(&self) -> bool {
        let limited = self.issue_queue.is_some() || self.shared.is_some() || self.decoder.is_some();
        limited || self.ports.is_some() || self.has_rules
    }

    /// Whether no op is held or noted, nothing but entries and widths limits ops, and the program keeps its values in
    /// registers.
    #[inline(always)]
    pub fn is_simple(&self) -> bool {
        self.pace.get() == Pace::Simple
    }

    /// What an op needs now.
    #[inline(always)]
    pub fn pace(&self) -> Pace {
        self.pace.get()
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

/// In-order retirement: the cycle that is being filled, and how much of it is.
#[derive(Clone, PartialEq, Eq)]
struct Retirement {
    width: u64,
    cycle: Cell<u64>,
    filled: Cell<u64>,
}

impl Retirement {
    /// When the next op, which is complete at `complete`, retires.
    #[inline(always)]
    fn in_order(&self, complete: u64) -> u64 {
        if complete > self.cycle.get() {
            self.cycle.set(complete);
            self.filled.set(1);
            return complete;
        }
        self.in_turn()
    }

    /// When the next op retires, which completes by then.
    #[inline(always)]
    fn in_turn(&self) -> u64 {
        if self.filled.get() == self.width {
            self.cycle.set(self.cycle.get() + 1);
            self.filled.set(1);
        } else {
            self.filled.set(self.filled.get() + 1);
        }
        self.cycle.get()
    }

    /// Takes the state of another.
    fn assign(&self, other: &Retirement) {
        self.cycle.set(other.cycle.get());
        self.filled.set(other.filled.get());
    }
}

/// Gives cells the values of others, one by one.
pub fn restore_all<T: Copy>(to: &[Cell<T>], from: &[Cell<T>]) {
    for (to, from) in to.iter().zip(from) {
        to.set(from.get());
    }
}

#[cfg(test)]
mod tests;
