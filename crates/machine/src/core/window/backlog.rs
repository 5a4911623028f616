//! Laps of a loop while retirement catches up with dispatch.
//!
//! After a wait for a line the window is full of completed ops. Retirement, which is wider than dispatch, works them off
//! over many laps. Each of these leaves the window in another state, but its ops are dispatched and complete as those of
//! the lap before. Such a lap needs only the arithmetic of dispatch and retirement.

use super::{Window, NONE};

/// An op that has been dispatched.
#[derive(Clone, Copy, Debug)]
pub struct Noted {
    at: u64,
    issues: u64,
    completes: u64,
    is_load: bool,
}

/// When an op of a lap completes, and by how much later that of the next lap does: by none if both complete with a line
/// for which they wait.
#[derive(Clone, Copy, Debug)]
struct End {
    at: u64,
    moves: u64,
}

impl End {
    /// That of an op, by its counterpart of a lap before; `None` if they differ in more than their time.
    fn of(before: Noted, op: Noted, cycles: u64) -> Option<End> {
        let moves = op.completes.checked_sub(before.completes)?;
        let repeats = op.at == before.at + cycles && op.is_load == before.is_load;
        (repeats && (moves == 0 || moves == cycles)).then_some(End {
            at: op.completes,
            moves,
        })
    }
}

/// A lap that the noted ops have gone through twice.
#[derive(Debug)]
pub struct NotedLap {
    ops: Vec<Noted>,
    /// When the ops of the latest lap that was passed complete.
    ends: Vec<End>,
    /// Which of its ops are loads.
    loads: Vec<u64>,
    cycles: u64,
    /// Laps that were passed.
    passed: u64,
}

/// The most ops that are kept.
const MOST: usize = 1024;

/// Laps for which entries are looked for at once.
const AT_ONCE: u64 = 8;

impl NotedLap {
    /// Loads of a lap.
    pub fn loads(&self) -> u64 {
        self.loads.len() as u64
    }

    /// The ops of the lap so many behind the noted one.
    fn ops_of(&self, lap: u64) -> impl Iterator<Item = Noted> + '_ {
        self.ops.iter().zip(&self.ends).map(move |(op, end)| Noted {
            at: op.at + lap * self.cycles,
            issues: op.issues + lap * self.cycles,
            completes: op.completes + lap * end.moves,
            is_load: op.is_load,
        })
    }

    /// The most laps of which each is as this one. An op that waits for a line completes with it as long as it would
    /// otherwise complete before; without the line no chain of a lap's ops takes longer than all of them, one by one.
    fn most(&self, load_latency: u64) -> u64 {
        let waits = self.ends.iter().filter(|end| end.moves == 0);
        let Some(completes) = waits.map(|end| end.at).min() else {
            return u64::MAX;
        };
        let takes = |op: &Noted| match op.is_load {
            true => load_latency,
            false => op.completes - op.issues,
        };
        let dispatched = self.ops.last().map_or(0, |op| op.at);
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
        let pairs = older.iter().zip(latest);
        let ends = pairs
            .map(|(before, op)| End::of(*before, *op, cycles))
            .collect::<Option<_>>()?;
        let loads: Vec<_> = (0..)
            .zip(latest)
            .filter(|(_, op)| op.is_load)
            .map(|(op, _)| op)
            .collect();
        (ops < self.leaves.len() && loads.len() < self.loads.len()).then(|| NotedLap {
            ops: latest.to_vec(),
            ends,
            loads,
            cycles,
            passed: 0,
        })
    }

    /// Passes more laps until retirement keeps pace with dispatch, as long as they end by `until` and nothing stalls
    /// dispatch: how many, and whether it keeps pace.
    pub fn pass_noted(&self, mut lap: NotedLap, load_latency: u64, until: u64) -> (u64, bool) {
        let by_time = until.saturating_sub(self.cycle.get()) / lap.cycles;
        let most = lap.most(load_latency).min(by_time);
        let mut keeps_pace = false;
        while !keeps_pace && lap.passed < most {
            let laps = match most - lap.passed >= AT_ONCE && self.have_entries(&lap, AT_ONCE) {
                true => AT_ONCE,
                false if self.have_entries(&lap, 1) || self.has_entries(&lap) => 1,
                false => break,
            };
            let paced = self.retirement.clone();
            paced.cycle.set(paced.cycle.get() + laps * lap.cycles);
            (0..laps).for_each(|_| self.pass(&mut lap));
            keeps_pace = self.retirement == paced;
        }
        if lap.passed > 0 {
            let noted = &mut *self.noted.borrow_mut();
            noted.clear();
            noted.extend(lap.ops_of(lap.passed - 1).chain(lap.ops_of(lap.passed)));
        }
        (lap.passed, keeps_pace)
    }

    /// Whether the entries of all ops of so many next laps, which must fit into the window, are free when the first of
    /// these ops is dispatched.
    fn have_entries(&self, lap: &NotedLap, laps: u64) -> bool {
        let (ops, loads) = (lap.ops.len() * laps as usize, lap.loads.len() * laps as usize);
        if ops > self.leaves.len() || loads > self.loads.len() {
            return false;
        }
        // Ops leave in order.
        let last_op = ring(self.next.get(), ops - 1, self.leaves.len());
        let last_load = ring(self.next_load.get(), loads.saturating_sub(1), self.loads.len());
        let last_leaves = self.leaves[last_op].get().max(self.load_leaves(last_load));
        last_leaves <= lap.ops[0].at + (lap.passed + 1) * lap.cycles
    }

    /// Whether the entry of each op of the next lap is free when the op is dispatched.
    fn has_entries(&self, lap: &NotedLap) -> bool {
        let mut loads = 0;
        (0..).zip(lap.ops_of(lap.passed + 1)).all(|(before, op)| {
            let mut leaves = self.leaves[ring(self.next.get(), before, self.leaves.len())].get();
            if op.is_load {
                leaves = leaves.max(self.load_leaves(ring(self.next_load.get(), loads, self.loads.len())));
                loads += 1;
            }
            leaves <= op.at
        })
    }

    /// When the op in an entry of the load queue leaves the window.
    fn load_leaves(&self, entry: usize) -> u64 {
        match self.loads[entry].get() {
            u64::MAX => 0,
            op => self.leaves_by(op),
        }
    }

    /// Passes another lap, which nothing stalls.
    fn pass(&self, lap: &mut NotedLap) {
        let (mut next, mut load) = (self.next.get(), self.next_load.get());
        let retirement = self.retirement.clone();
        for end in &mut lap.ends {
            end.at += end.moves;
            self.leaves[next].set(retirement.in_order(end.at));
            next = if next + 1 == self.leaves.len() { 0 } else { next + 1 };
        }
        for op in &lap.loads {
            self.loads[load].set(self.count.get() + op);
            load = if load + 1 == self.loads.len() { 0 } else { load + 1 };
        }
        self.retirement.cycle.set(retirement.cycle.get());
        self.retirement.filled.set(retirement.filled.get());
        self.next.set(next);
        self.next_load.set(load);
        self.count.set(self.count.get() + lap.ops.len() as u64);
        self.cycle.set(self.cycle.get() + lap.cycles);
        lap.passed += 1;
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
