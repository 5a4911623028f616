//! Laps of a loop, after which the window is as before but for the time.

use super::Window;
use std::cell::Cell;

/// Where a window is: what a later state is compared with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Position {
    cycle: u64,
    retired: u64,
    /// Ops dispatched so far.
    pub count: u64,
    stalls: [u64; 6],
    /// How full the cycles of dispatch and retirement and the fetch queue are.
    filled: [u64; 3],
}

/// What a window does between two states that are equal but for their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lap {
    pub cycles: u64,
    ops: u64,
    stalls: [u64; 6],
}

impl Window {
    /// Where it is.
    pub fn position(&self) -> Position {
        Position {
            cycle: self.cycle.get(),
            retired: self.retirement.cycle.get(),
            count: self.count.get(),
            stalls: self.stalls.all().map(Cell::get),
            filled: self.filled(),
        }
    }

    #[inline(always)]
    fn filled(&self) -> [u64; 3] {
        [
            self.in_cycle.get(),
            self.retirement.filled.get(),
            self.fetch_queue.room(),
        ]
    }

    /// Whether the cycles of dispatch and retirement and the fetch queue are as full as then.
    #[inline(always)]
    pub fn is_as_full_as(&self, then: &Position) -> bool {
        self.filled() == then.filled
    }

    /// The ops and cycles since then, if the cycle of dispatch is as full as then.
    pub fn dispatched_since(&self, then: &Position) -> Option<(usize, u64)> {
        let (ops, cycles) = (self.count.get() - then.count, self.cycle.get() - then.cycle);
        (self.in_cycle.get() == then.filled[0] && cycles > 0).then_some((ops as usize, cycles))
    }

    /// The lap from `before` to `now`, where the window is, if it ends as it began: each op that is still in the window
    /// leaves it when its counterpart of the lap before did, but later. The loop began behind op `first`. The
    /// counterparts of the oldest ops are no longer known.
    pub fn lap(&self, before: &Position, now: &Position, first: u64) -> Option<Lap> {
        let lap = Lap {
            cycles: now.cycle - before.cycle,
            ops: now.count - before.count,
            stalls: std::array::from_fn(|i| now.stalls[i] - before.stalls[i]),
        };
        let regular = now.filled == before.filled
            && now.retired - before.retired == lap.cycles
            && lap.cycles > 0
            && lap.ops < self.leaves.len() as u64
            && self.leaves_repeat(&lap, before, now, first);
        regular.then_some(lap)
    }

    /// Whether each op in the window leaves it a lap later than the one a lap before, as far as that is known.
    fn leaves_repeat(&self, lap: &Lap, before: &Position, now: &Position, first: u64) -> bool {
        let (younger, older) = self.leaves.split_at(self.next.get());
        let from_youngest = || younger.iter().rev().chain(older.iter().rev()).map(Cell::get);
        let a_lap_before = from_youngest().skip(lap.ops as usize);
        let stays = from_youngest()
            .map(|leaves| leaves.saturating_sub(now.cycle))
            .zip(a_lap_before.map(|leaves| leaves.saturating_sub(before.cycle)));
        // Ops leave in order: behind one that has left, all have.
        let mut in_window = 0;
        for (stays, stayed) in stays.take_while(|stays| *stays != (0, 0)) {
            if stays != stayed {
                return false;
            }
            in_window += 1;
        }
        // Where the loop's ops could fill a queue, they must have.
        let size = self.leaves.len();
        in_window < self.loads.len().min(size - lap.ops as usize) || now.count - first >= size as u64 + lap.ops
    }

    /// Passes `laps` more laps. The window is as at their beginning, only later.
    pub fn repeat(&self, lap: &Lap, laps: u64) {
        let (cycles, ops) = (laps * lap.cycles, laps * lap.ops);
        for leaves in &self.leaves {
            leaves.set(leaves.get() + cycles);
        }
        for load in &self.loads {
            // One that has left the window stays behind, and so does an entry that no load has used.
            let behind = self.count.get().checked_sub(load.get());
            if behind.is_some_and(|behind| behind <= self.leaves.len() as u64) {
                load.set(load.get() + ops);
            }
        }
        for (stalls, more) in self.stalls.all().into_iter().zip(lap.stalls) {
            stalls.set(stalls.get() + laps * more);
        }
        self.cycle.set(self.cycle.get() + cycles);
        self.retirement.cycle.set(self.retirement.cycle.get() + cycles);
        self.count.set(self.count.get() + ops);
    }
}
