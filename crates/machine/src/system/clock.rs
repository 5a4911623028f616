//! The present: the one owner of time that all cores and events share.
//!
//! A *step* is one action of the machine: an event, the departure of an entry of a store queue, or a turn of a core's
//! program. Steps begin in time order. Within its turn a program goes ahead of the step's beginning, up to
//! `simulation.slack`; what it asks of the machine then happens in its own present. A request for a turn is no action and
//! leaves the present as it is.
//!
//! Three times have other owners. When a core is to act next is its *turn* (`core::Turn::next_op`, and `core::Drain::next`
//! of its store queue). When an op is dispatched, executes and retires are timestamps inside a core: a load behind a locked
//! instruction is dispatched before the turn in which it asks for its line. They are passed as `at` or `issue`.

use strandline_rules::broken;
use strandline_rules::time::Rule;

/// The present, in cycles.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    /// When the present step began. It never decreases.
    step: u64,
    /// The present within the step: no earlier than its beginning, and it never decreases until the next step.
    now: u64,
}

impl Clock {
    /// A step begins at `at`.
    #[inline(always)]
    pub fn begin(&mut self, at: u64) {
        if at < self.step {
            acts_in_the_past(at, self.step);
        }
        let now = match broken(Rule::StepInItsOwnCycle) {
            true => self.step,
            false if broken(Rule::TurnIsNoAction) => self.now.max(at),
            false => at,
        };
        (self.step, self.now) = (at, now);
    }

    /// What acts in this step has gone on to `at`, or lags behind the present.
    #[inline(always)]
    pub fn advance(&mut self, at: u64) {
        self.now = self.now.max(at);
    }

    /// Whether a later step may begin at `at`.
    pub fn may_act(&self, at: u64) -> bool {
        at >= self.step
    }

    /// The present. Nothing that happens now has an effect before.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        self.now
    }
}

/// The machine's state beyond this point would contradict what it was before.
#[cold]
#[inline(never)]
fn acts_in_the_past(at: u64, step: u64) -> ! {
    panic!("a step in cycle {at} after one in cycle {step}: a turn or an event lies before what has acted");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_begins_in_its_own_cycle_whatever_the_one_before_went_on_to() {
        let mut clock = Clock::default();
        clock.begin(10);
        clock.advance(60);
        clock.advance(30);
        assert_eq!(clock.now(), 60, "a lagging request acts in the present");
        clock.begin(12);
        assert_eq!(clock.now(), 12);
    }

    #[test]
    #[should_panic(expected = "a step in cycle 9 after one in cycle 10")]
    fn no_step_begins_before_the_latest() {
        let mut clock = Clock::default();
        clock.begin(10);
        clock.advance(60);
        clock.begin(9);
    }
}
