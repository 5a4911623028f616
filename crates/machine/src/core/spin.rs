//! Loops in which a program waits for another core, in closed form.
//!
//! Most instructions of a contended lock are those of cores that test it. From a moment on such a core repeats itself:
//! a lap of the loop leaves the core as the lap before did, only later, until another core takes the line. All laps up
//! to the core's horizon, before which no other core acts, are then added at once. The core *laps* until it does anything
//! else, or loses a line; the system need not even run the program of such a core to know when it stops next.

use super::window::{Lap, Position};
use super::Core;
use std::cell::Cell;
use strandline_design::Hook;

/// How regularly a core goes round a loop.
#[derive(Default)]
pub struct Spin {
    turns: Cell<u64>,
    /// The core at the end of the latest lap, and the turn.
    last: Cell<Standing>,
    /// The turns, and the ops dispatched, at the end of the loop's first lap.
    began: Cell<(u64, u64)>,
    /// The latest lap and its loads, if the core ended it as it began it.
    lap: Cell<Option<(Lap, u64)>>,
    /// A turn has ended since the program was resumed: the next one is executed as a whole before other cores are.
    is_whole: Cell<bool>,
    /// The core repeats `lap` until another disturbs it.
    laps: Cell<bool>,
    /// Retirement keeps pace with dispatch, as far as known: ops need not be noted.
    keeps_pace: Cell<bool>,
    /// Where the lap began whose ops the window notes, if it does.
    noted: Cell<Position>,
    /// Since which turn the core has neither stored nor mispredicted, and how often it had.
    calm: Cell<(u64, [u64; 2])>,
}

/// A core between two turns.
#[derive(Clone, Copy, Default)]
struct Standing {
    at: Position,
    turns: u64,
    loads: u64,
    stores: u64,
    mispredictions: u64,
}

impl Spin {
    /// The core need no longer repeat its lap.
    #[inline(always)]
    fn stop(&self) {
        self.laps.set(false);
    }
}

/// The most turns of a lap: as many as ops are dispatched in a cycle bring a loop of any length to where it began in one.
const MOST_TURNS: u64 = 64;

/// The most laps at once; a loop that nothing ends goes on by steps.
const MOST_LAPS: u64 = 1 << 16;

impl Core {
    /// The program is resumed: other cores may have taken what it has loaded in the present turn.
    #[inline(always)]
    pub fn resumes(&self) {
        self.spin.is_whole.set(false);
    }

    /// The cycles of the lap that the core repeats until it loses a line, if it does.
    #[inline(always)]
    pub fn laps(&self) -> Option<u64> {
        match self.spin.laps.get() {
            true => self.spin.lap.get().map(|(lap, _)| lap.cycles),
            false => None,
        }
    }

    /// The core does something that a lap must not repeat.
    #[inline(always)]
    pub(super) fn disturbs_laps(&self) {
        self.leaves_loop();
        self.spin.lap.set(None);
        self.spin.began.set((self.spin.turns.get(), u64::MAX));
    }

    /// The core does something besides going round a loop, or may.
    #[inline(always)]
    pub(super) fn leaves_loop(&self) {
        self.spin.stop();
        self.spin.keeps_pace.set(false);
        if self.window.is_noting() {
            self.window.stop_noting();
        }
    }

    /// The core loses a line, or is interrupted: it may do something else from now on.
    pub fn stops_lapping(&self) {
        self.spin.stop();
    }

    /// The program has gone round a loop that waits ([`strandline_isa::Cpu::spins`]).
    #[inline(always)]
    pub(super) fn spins(&self) {
        if let Some(tracer) = &self.observer.tracer {
            tracer.laps(self.id);
        }
        if let Some(recorder) = &self.observer.recorder {
            recorder.lane(self.id).spins(self.window.cycle());
        }
        if self.observer.observes || self.asks(Hook::Load) || !self.window.may_repeat() {
            return;
        }
        let spin = &self.spin;
        let turns = spin.turns.get() + 1;
        spin.turns.set(turns);
        if spin.laps.get() {
            return self.add_laps();
        }
        if !spin.is_whole.replace(true) {
            return;
        }
        if !spin.keeps_pace.get() {
            self.note_turn(turns);
        }
        let last = spin.last.get();
        if self.window.is_as_full_as(&last.at) || turns - last.turns > MOST_TURNS {
            self.end_lap(turns);
        }
    }

    #[inline(never)]
    fn end_lap(&self, turns: u64) {
        let (spin, now) = (&self.spin, self.standing());
        let before = spin.last.replace(now);
        let (first_turn, first_op) = spin.began.get();
        let is_disturbed = first_op == u64::MAX;
        if is_disturbed || now.stores != before.stores || now.mispredictions != before.mispredictions {
            // It is another loop.
            spin.began.set((turns, now.at.count));
            spin.lap.set(None);
            return;
        }
        let settled = turns - first_turn > self.branches.predictor.learns_in() && self.drain.next.get() == u64::MAX;
        let lap = match settled {
            true => self.window.lap(&before.at, &now.at, first_op),
            false => None,
        };
        let lap = lap.map(|lap| (lap, now.loads - before.loads));
        if lap.is_some() {
            spin.keeps_pace.set(true);
            self.window.stop_noting();
        }
        // One lap compares all but the entries that it has overwritten; two compare all.
        if spin.lap.replace(lap) == lap && lap.is_some() {
            // A store that waits in the queue may leave it at any time.
            spin.laps.set(self.queue.borrow().len() == 0);
            self.add_laps();
        }
    }

    /// Adds the laps that the program may run before others act, from whatever turn of a lap it has ended.
    fn add_laps(&self) {
        let Some((lap, loads)) = self.spin.lap.get() else {
            return;
        };
        let left = self.turn.horizon.get().saturating_sub(self.window.cycle());
        if left < lap.cycles {
            return;
        }
        let laps = (left / lap.cycles).min(MOST_LAPS);
        self.window.repeat(&lap, laps);
        count_more(&self.counts.loads, laps * loads);
        self.spin.last.set(self.standing());
    }

    /// Notes the ops of laps in which retirement catches up with dispatch.
    #[inline(never)]
    fn note_turn(&self, turns: u64) {
        let is_noting = self.window.is_noting();
        match self.is_calm(turns) {
            true if is_noting => self.pass_noted(),
            true => {
                self.spin.noted.set(self.window.position());
                self.window.start_noting();
            }
            false if is_noting => self.window.stop_noting(),
            false => {}
        }
    }

    /// Whether the branch predictor has learnt the loop.
    fn is_calm(&self, turns: u64) -> bool {
        let done = [&self.counts.stores, &self.counts.mispredictions].map(Cell::get);
        let (since, before) = self.spin.calm.get();
        if done != before {
            self.spin.calm.set((turns, done));
            return false;
        }
        turns - since > self.branches.predictor.learns_in()
    }

    /// Adds laps in which retirement catches up with dispatch, if the noted ops have gone through two.
    fn pass_noted(&self) {
        let spin = &self.spin;
        let Some((ops, cycles)) = self.window.dispatched_since(&spin.noted.get()) else {
            return;
        };
        spin.noted.set(self.window.position());
        let lap = match self.drain.next.get() {
            u64::MAX => self.window.noted_lap(ops, cycles),
            _ => None,
        };
        if let Some(lap) = lap {
            let loads = lap.loads();
            let (laps, keeps_pace) = self
                .window
                .pass_noted(lap, self.limits.latencies.l1, self.turn.horizon.get());
            count_more(&self.counts.loads, laps * loads);
            spin.noted.set(self.window.position());
            spin.last.set(self.standing());
            if keeps_pace {
                spin.keeps_pace.set(true);
                self.window.stop_noting();
            }
        }
    }

    fn standing(&self) -> Standing {
        Standing {
            at: self.window.position(),
            turns: self.spin.turns.get(),
            loads: self.counts.loads.get(),
            stores: self.counts.stores.get(),
            mispredictions: self.counts.mispredictions.get(),
        }
    }
}

fn count_more(counted: &Cell<u64>, more: u64) {
    counted.set(counted.get() + more);
}
