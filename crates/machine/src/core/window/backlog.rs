//! Laps of a loop while retirement catches up with dispatch.
//!
//! After a wait for a line the window is full of completed ops. Retirement, which is wider than dispatch, works them off
//! over many laps. Each of these leaves the window in another state, but its ops are dispatched and complete as those of
//! the lap before. Such a lap needs only the arithmetic of dispatch and retirement.

use super::{Slot, Window, NONE};

/// An op that has been dispatched.
#[derive(Clone, Copy, Debug)]
pub struct Noted {
    at: u64,
    issues: u64,
    completes: u64,
    is_load: bool,
}

/// An op of a lap that repeats itself.
#[derive(Clone, Copy, Debug)]
struct Repeated {
    op: Noted,
    /// It completes at one time in all laps, with a line for which it waits; else as long behind its dispatch.
    is_fixed: bool,
}

impl Repeated {
    /// An op, and its counterpart of a lap before; `None` if they differ in more than their time.
    fn of(before: Noted, op: Noted, cycles: u64) -> Option<Repeated> {
        let is_later = |then: u64, now: u64| now == then + cycles;
        let is_fixed = before.completes == op.completes;
        let repeats = is_later(before.at, op.at)
            && (is_fixed || is_later(before.completes, op.completes))
            && before.is_load == op.is_load;
        repeats.then_some(Repeated { op, is_fixed })
    }

    /// When the same op of a later lap completes.
    #[inline(always)]
    fn completes(self, cycles: u64) -> u64 {
        match self.is_fixed {
            true => self.op.completes,
            false => self.op.completes + cycles,
        }
    }

    /// The same op of a later lap.
    fn later(self, cycles: u64) -> Noted {
        Noted {
            at: self.op.at + cycles,
            issues: self.op.issues + cycles,
            completes: self.completes(cycles),
            is_load: self.op.is_load,
        }
    }
}

/// A lap that the noted ops have gone through twice.
#[derive(Debug)]
pub struct NotedLap {
    ops: Vec<Repeated>,
    cycles: u64,
    /// How many of its ops are loads.
    pub loads: usize,
}

/// The most ops that are kept.
const MOST: usize = 1024;

impl NotedLap {
    /// When a later lap starts.
    fn starts(&self, laps: u64) -> u64 {
        self.ops[0].later(laps * self.cycles).at
    }

    /// The ops of a later lap.
    fn later(&self, laps: u64) -> impl Iterator<Item = Noted> + '_ {
        self.ops.iter().map(move |op| op.later(laps * self.cycles))
    }

    /// The most laps of which each is as this one. An op that waits for a line completes with it as long as it would
    /// otherwise complete before; without the line no chain of a lap's ops takes longer than all of them, one by one.
    fn most(&self, load_latency: u64) -> u64 {
        let fixed = self.ops.iter().filter(|op| op.is_fixed).map(|op| op.op.completes);
        let Some(completes) = fixed.min() else {
            return u64::MAX;
        };
        let takes = |op: &Repeated| match op.op.is_load {
            true => load_latency,
            false => op.op.completes - op.op.issues,
        };
        let dispatched = self.ops.last().map_or(0, |op| op.op.at);
        let otherwise = dispatched + 1 + self.ops.iter().map(takes).sum::<u64>();
        completes.saturating_sub(otherwise) / self.cycles
    }
}

impl Window {
    /// Notes the ops from now on. There is neither an issue queue nor a queue that loads and stores share.
    pub fn start_noting(&self) {
        debug_assert!(self.may_repeat(), "what laps do not describe");
        self.plain.set(false);
        self.notes.set(true);
    }

    /// Forgets the noted ops, and notes none from now on.
    pub fn stop_noting(&self) {
        self.notes.set(false);
        self.noted.borrow_mut().clear();
        let is_held = self.held.get() != NONE;
        self.plain
            .set(!is_held && self.issue_queue.is_none() && self.shared.is_none());
    }

    /// Whether ops are noted.
    #[inline(always)]
    pub fn is_noting(&self) -> bool {
        self.notes.get()
    }

    /// Whether laps describe all that the window does: no op is held, and there is neither an issue queue nor a queue
    /// that loads and stores share.
    #[inline(always)]
    pub fn may_repeat(&self) -> bool {
        self.is_plain() || self.is_noting() && !self.is_held()
    }

    /// Notes the op just dispatched.
    #[cold]
    #[inline(never)]
    pub(super) fn note(&self, completes: u64) {
        let mut noted = self.noted.borrow_mut();
        if noted.len() == MOST {
            noted.drain(..MOST / 2);
        }
        let latest_load = match self.next_load.get() {
            0 => self.loads.len() - 1,
            next => next - 1,
        };
        noted.push(Noted {
            at: self.cycle.get(),
            issues: self.issued.get(),
            completes,
            is_load: self.loads[latest_load].get() == self.count.get(),
        });
    }

    /// The latest lap, of so many ops and cycles, if the noted ops have gone through two of them.
    pub fn noted_lap(&self, ops: usize, cycles: u64) -> Option<NotedLap> {
        let noted = self.noted.borrow();
        let (older, latest) = noted.get(noted.len().checked_sub(2 * ops)?..)?.split_at(ops);
        let loads = latest.iter().filter(|op| op.is_load).count();
        let fits = ops < self.leaves.len() && loads < self.loads.len();
        let pairs = older.iter().zip(latest).take_while(|_| fits);
        let ops = pairs
            .map(|(before, op)| Repeated::of(*before, *op, cycles))
            .collect::<Option<_>>()?;
        fits.then_some(NotedLap { ops, cycles, loads })
    }

    /// Passes more laps until retirement keeps pace with dispatch, as long as they end by `until` and nothing stalls
    /// dispatch: how many, and whether it keeps pace.
    pub fn pass_noted(&self, lap: &NotedLap, load_latency: u64, until: u64) -> (u64, bool) {
        let by_time = until.saturating_sub(self.cycle.get()) / lap.cycles;
        let most = lap.most(load_latency).min(by_time);
        let (mut laps, mut keeps_pace) = (0, false);
        while !keeps_pace && laps < most && !self.would_stall(lap, laps + 1) {
            laps += 1;
            let before = self.retirement();
            self.pass(lap, laps);
            let paced = before.cycle + lap.cycles;
            keeps_pace = self.retirement() == Slot { cycle: paced, ..before };
        }
        if laps > 0 {
            let noted = &mut *self.noted.borrow_mut();
            noted.clear();
            noted.extend(lap.later(laps - 1).chain(lap.later(laps)));
        }
        (laps, keeps_pace)
    }

    /// Whether an op of the next lap, the one of this number, finds its entry in use.
    fn would_stall(&self, lap: &NotedLap, number: u64) -> bool {
        let last_op = ring(self.next.get(), lap.ops.len() - 1, self.leaves.len());
        let last_load = ring(self.next_load.get(), lap.loads.saturating_sub(1), self.loads.len());
        // Ops leave in order.
        let last_leaves = self.leaves[last_op].get().max(self.load_leaves(last_load));
        last_leaves > lap.starts(number) && self.stalls_some_op(lap.later(number))
    }

    fn stalls_some_op(&self, ops: impl Iterator<Item = Noted>) -> bool {
        let mut loads = 0;
        ops.enumerate().any(|(before, op)| {
            let mut leaves = self.leaves[ring(self.next.get(), before, self.leaves.len())].get();
            if op.is_load {
                leaves = leaves.max(self.load_leaves(ring(self.next_load.get(), loads, self.loads.len())));
                loads += 1;
            }
            leaves > op.at
        })
    }

    /// When the op in an entry of the load queue leaves the window.
    fn load_leaves(&self, entry: usize) -> u64 {
        match self.loads[entry].get() {
            u64::MAX => 0,
            op => self.leaves_by(op),
        }
    }

    /// Passes the lap of this number, which nothing stalls.
    fn pass(&self, lap: &NotedLap, number: u64) {
        let later = number * lap.cycles;
        let (mut next, mut load) = (self.next.get(), self.next_load.get());
        let mut slot = self.retirement();
        for (before, op) in (0..).zip(&lap.ops) {
            slot = slot.next(op.completes(later), self.retire_width);
            self.leaves[next].set(slot.cycle);
            next = ring(next, 1, self.leaves.len());
            if op.op.is_load {
                self.loads[load].set(self.count.get() + before);
                load = ring(load, 1, self.loads.len());
            }
        }
        self.retire_up_to(slot);
        self.next.set(next);
        self.next_load.set(load);
        self.count.set(self.count.get() + lap.ops.len() as u64);
        self.cycle.set(self.cycle.get() + lap.cycles);
    }
}

/// The entry so many behind another in a ring.
#[inline(always)]
fn ring(entry: usize, behind: usize, size: usize) -> usize {
    match entry + behind {
        at if at < size => at,
        at => at - size,
    }
}

#[cfg(test)]
mod tests;
