//! How often, and how long, a core's oldest persists wait for another core's.

use strandline_design::Occupancy;
use strandline_kernel::Cycles;

/// What the oldest of a core's epochs or entries waits for, when nothing else holds it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its number.
    pub number: u64,
    /// On how many epochs or entries of other cores it depends.
    pub on: usize,
}

/// Counts the dependences that a core waits for.
#[derive(Clone, Debug, Default)]
pub struct DependenceWait {
    number: Option<u64>,
    blocking: u64,
    time: Occupancy,
}

impl DependenceWait {
    /// Notes what waits from now on, if anything does.
    #[inline]
    pub fn note(&mut self, now: Cycles, waiting: Option<Waiting>) {
        self.time.set(now, usize::from(waiting.is_some()));
        let number = waiting.map(|waiting| waiting.number);
        if number != self.number {
            self.number = number;
            self.blocking += waiting.map_or(0, |waiting| waiting.on as u64);
        }
    }

    /// Notes that nothing has changed.
    #[inline]
    pub fn note_again(&mut self, now: Cycles) {
        self.time.set_again(now);
    }

    /// How many dependences have made something wait, and for how many cycles, summed over the cores.
    #[must_use]
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a DependenceWait>, now: Cycles) -> (u64, u64) {
        all.into_iter().fold((0, 0), |(blocking, cycles), core| {
            (blocking + core.blocking, cycles + core.time.cycles_at(now, 1))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_counted_when_its_wait_begins() {
        let mut wait = DependenceWait::default();
        let on = |number, on| Some(Waiting { number, on });
        wait.note(Cycles(10), on(1, 2));
        wait.note(Cycles(14), on(1, 1));
        wait.note(Cycles(20), None);
        wait.note(Cycles(30), on(2, 1));
        wait.note(Cycles(31), on(3, 1));
        assert_eq!(DependenceWait::sum([&wait], Cycles(40)), (4, 20));
    }
}
