//! Laps of a loop while retirement catches up with dispatch.
//!
//! After a wait for a line the window is full of completed ops. Retirement, which is wider than dispatch, works them off
//! over many laps. Each of these leaves the window in another state, but its ops are dispatched and complete as those of
//! the lap before. Such a lap needs only the arithmetic of dispatch and retirement.

use super::{Retirement, Window};
use crate::core::restore::Restore;
use std::cell::Cell;

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

/// Laps that are looked at as a whole.
const AT_ONCE: u64 = 8;

impl NotedLap {
    /// Loads of a lap.
    pub fn loads(&self) -> u64 {
        self.loads.len() as u64
    }

    /// The ops of the `lap`-th lap behind the noted one.
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
    /// Notes the ops from now on. Nothing but entries and widths limits them.
    pub fn start_noting(&self) {
        debug_assert!(self.may_repeat(), "what laps do not describe");
        self.watched.set(true);
        self.notes.set(true);
    }

    /// Forgets the noted ops, and notes none from now on.
    pub fn stop_noting(&self) {
        self.notes.set(false);
        self.noted.borrow_mut().clear();
        self.watched.set(self.is_held() || self.always_watched);
    }

    /// Whether ops are noted.
    #[inline(always)]
    pub fn is_noting(&self) -> bool {
        self.notes.get()
    }

    /// Whether laps describe all that the window does: no op is held, and nothing but entries and widths limits ops.
    #[inline(always)]
    pub fn may_repeat(&self) -> bool {
        !self.is_held() && !self.is_limited()
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

    /// The latest lap, of `ops` ops and `cycles` cycles, if the noted ops have gone through two of them.
    pub fn noted_lap(&self, ops: usize, cycles: u64) -> Option<NotedLap> {
        let noted = self.noted.borrow();
        let (older, latest) = noted.get(noted.len().checked_sub(2 * ops)?..)?.split_at(ops);
        // Loops are looked at often: memory for all ends at once.
        let mut ends = Vec::with_capacity(ops);
        for (before, op) in older.iter().zip(latest) {
            ends.push(End::of(*before, *op, cycles)?);
        }
        let mut loads = Vec::with_capacity(ops);
        loads.extend((0..).zip(latest).filter(|(_, op)| op.is_load).map(|(number, _)| number));
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
            let laps = match self.laps_with_entries(&lap, most - lap.passed) {
                0 if self.has_entries(&lap) => 1,
                0 => break,
                laps => laps,
            };
            let in_turn = self.retirement.laps_in_turn(&lap);
            let laps = laps.min(if in_turn > 0 { in_turn } else { AT_ONCE });
            let paced = self.retirement.clone();
            paced.cycle.set(paced.cycle.get() + laps * lap.cycles);
            match in_turn {
                0 => self.retire_in_order(&lap, laps),
                _ => self.retire_in_turn(laps as usize * lap.ops.len()),
            }
            keeps_pace = self.retirement == paced;
            self.pass(&mut lap, laps);
        }
        if lap.passed > 0 {
            let noted = &mut *self.noted.borrow_mut();
            noted.clear();
            noted.extend(lap.ops_of(lap.passed - 1).chain(lap.ops_of(lap.passed)));
        }
        (lap.passed, keeps_pace)
    }

    /// How many of the next laps, up to `most` and as many as fit into the window, surely find the entries of all their
    /// ops free.
    fn laps_with_entries(&self, lap: &NotedLap, most: u64) -> u64 {
        let (ops, loads) = (lap.ops.len(), lap.loads.len());
        let most = most.min((self.leaves.len() / ops).min(self.loads.len() / loads.max(1)) as u64);
        let mut laps = 0;
        for step in [AT_ONCE, 1] {
            // Ops leave in order: those in the entries of a step have left by its beginning if the last one has.
            let are_free = |laps: u64| {
                let begins = lap.ops[0].at + (lap.passed + laps + 1) * lap.cycles;
                let behind = |number: usize| (number * (laps + step) as usize).saturating_sub(1);
                let last_op = ring(self.next.get(), behind(ops), self.leaves.len());
                let last_load = ring(self.next_load.get(), behind(loads), self.loads.len());
                self.leaves[last_op].get() <= begins && self.load_leaves(last_load) <= begins
            };
            while laps + step <= most && are_free(laps) {
                laps += step;
            }
        }
        laps
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

    /// The entries of the next ops in the reorder buffer, around the ring once.
    fn next_entries(&self) -> [&[Cell<u64>]; 2] {
        let (before, after) = self.leaves.split_at(self.next.get());
        [after, before]
    }

    /// Retires the ops of the next `laps` laps, which complete at any time.
    fn retire_in_order(&self, lap: &NotedLap, laps: u64) {
        let retirement = self.retirement.clone();
        let mut entries = self.next_entries().into_iter().flatten();
        for of_lap in 1..=laps {
            for (end, leaves) in lap.ends.iter().zip(&mut entries) {
                leaves.set(retirement.in_order(end.at + of_lap * end.moves));
            }
        }
        self.retirement.restore(&retirement);
    }

    /// Retires `ops` ops that complete in time.
    fn retire_in_turn(&self, mut ops: usize) {
        let retirement = self.retirement.clone();
        for entries in self.next_entries() {
            let mut entries = &entries[..entries.len().min(ops)];
            ops -= entries.len();
            while !entries.is_empty() {
                let (number, cycle) = retirement.in_one_cycle(entries.len());
                let (retired, later) = entries.split_at(number);
                retired.iter().for_each(|leaves| leaves.set(cycle));
                entries = later;
            }
        }
        self.retirement.restore(&retirement);
    }

    /// Passes `laps` more laps, which nothing stalls and whose ops have retired.
    fn pass(&self, lap: &mut NotedLap, laps: u64) {
        let (loads, mut load) = (&*self.loads, self.next_load.get());
        let (ops, first) = (lap.ops.len() as u64, self.count.get());
        for of_lap in 0..laps {
            for op in &lap.loads {
                loads[load].set(first + of_lap * ops + op);
                load = ring(load, 1, loads.len());
            }
        }
        self.count.set(first + laps * ops);
        self.next
            .set(ring(self.next.get(), (laps * ops) as usize, self.leaves.len()));
        self.next_load.set(load);
        self.cycle.set(self.cycle.get() + laps * lap.cycles);
        lap.ends.iter_mut().for_each(|end| end.at += laps * end.moves);
        lap.passed += laps;
    }
}

impl Retirement {
    /// The slot of the next op that has completed, of as many a cycle as retire in one.
    fn next_slot(&self) -> u64 {
        self.width * self.cycle.get() + self.filled.get()
    }

    /// Retires completed ops, one to `most`, in one cycle: how many, and the cycle.
    fn in_one_cycle(&self, most: usize) -> (usize, u64) {
        let cycle = self.in_turn();
        let more = (self.width - self.filled.get()).min(most as u64 - 1);
        self.filled.set(self.filled.get() + more);
        (1 + more as usize, cycle)
    }

    /// How many of the next laps retire before the first op that has not completed by its turn.
    fn laps_in_turn(&self, lap: &NotedLap) -> u64 {
        let (ops, slots) = (lap.ends.len() as u64, self.width * lap.cycles);
        let (mut laps, mut slot) = (u64::MAX, self.next_slot());
        for end in &lap.ends {
            let Some(early) = slot.checked_sub(self.width * (end.at + end.moves)) else {
                return 0;
            };
            if end.moves > 0 && slots > ops {
                laps = laps.min(early / (slots - ops) + 1);
            }
            slot += 1;
        }
        laps
    }
}

/// The entry `behind` places behind another in a ring of `size`.
#[inline(always)]
fn ring(entry: usize, behind: usize, size: usize) -> usize {
    match entry + behind {
        at if at < size => at,
        at => at - size,
    }
}

#[cfg(test)]
mod tests;
