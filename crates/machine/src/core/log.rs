//! The outcomes of a core's operations, for replay.

use std::cell::{Cell, RefCell};

/// The outcomes of a program's operations: each one's value and when it was ready.
///
/// A program is a deterministic function of these: created anew and given the same outcomes, it
/// reaches the same state. A program that names resume points needs only the outcomes before the
/// first of them and those since one of them, so that the log does not grow with the run.
#[derive(Debug, Default)]
pub struct Log {
    kept: RefCell<Kept>,
    /// During a replay: the next outcome, and the first that is not replayed.
    replays: Cell<Option<(usize, usize)>>,
    /// The oldest operation to which the core can be rolled back; all, if it cannot.
    needed: Cell<usize>,
}

/// A register value: its bits, and when it is ready.
type Value = (u64, u64);

/// Operations are numbered from the program's beginning.
#[derive(Debug, Default)]
struct Kept {
    /// Outcomes before a resumed program asks for its state.
    opening: Vec<Value>,
    /// Whether it has asked.
    opened: bool,
    /// The operation of the first of the other outcomes.
    first: usize,
    outcomes: Vec<Value>,
    /// Resume points, oldest first: the operation, and the program's state.
    points: Vec<(usize, Vec<Value>)>,
}

/// Operations between two resume points.
const STRIDE: usize = 2048;

impl Kept {
    fn len(&self) -> usize {
        self.first + self.outcomes.len()
    }

    fn push(&mut self, outcome: Value) {
        if !self.opened {
            self.opening.push(outcome);
        }
        self.outcomes.push(outcome);
    }

    /// The outcome of an operation that is kept.
    fn at(&self, operation: usize) -> Value {
        match operation.checked_sub(self.first) {
            Some(index) => self.outcomes[index],
            None => self.opening[operation],
        }
    }

    /// Forgets what no roll-back to `needed` or later needs.
    fn forget_before(&mut self, needed: usize) {
        let last = self.points.iter().rposition(|(at, _)| *at <= needed);
        let Some(last) = last else { return };
        self.points.drain(..last);
        let base = self.points[0].0;
        self.outcomes.drain(..base - self.first);
        self.first = base;
    }
}

impl Log {
    /// Operations so far.
    pub fn len(&self) -> usize {
        self.kept.borrow().len()
    }

    /// An operation has completed.
    #[inline(never)]
    pub fn push(&self, value: u64, ready: u64) {
        self.kept.borrow_mut().push((value, ready));
    }

    /// Sets the oldest operation to which the core can be rolled back, if it can.
    pub fn need(&self, oldest: Option<usize>) {
        self.needed.set(oldest.unwrap_or(usize::MAX));
    }

    /// The program has opened its state. In a replay from a resume point: that point's state, with
    /// which it goes on from there.
    pub fn opened(&self) -> Option<Vec<Value>> {
        let mut kept = self.kept.borrow_mut();
        kept.opened = true;
        let (_, end) = self.replays.get()?;
        let (at, state) = kept.points.iter().rev().find(|(at, _)| *at <= end)?;
        self.replays.set(Some((*at, end)));
        Some(state.clone())
    }

    /// Whether it is time for a resume point.
    pub fn wants_point(&self) -> bool {
        let kept = self.kept.borrow();
        let last = kept.points.last().map_or(0, |(at, _)| *at);
        kept.opened && !self.is_replaying() && kept.len() >= last + STRIDE
    }

    /// Adds a resume point here.
    pub fn add_point(&self, state: Vec<Value>) {
        let mut kept = self.kept.borrow_mut();
        let at = kept.len();
        kept.points.push((at, state));
        kept.forget_before(self.needed.get());
    }

    /// Replays the outcomes of the first `len` operations and drops the others.
    pub fn replay(&self, len: usize) {
        let mut kept = self.kept.borrow_mut();
        let left = len - kept.first;
        kept.outcomes.truncate(left);
        kept.points.retain(|(at, _)| *at <= len);
        if len < kept.opening.len() {
            kept.opening.truncate(len);
            kept.opened = false;
        }
        self.replays.set(Some((0, len)));
    }

    /// Ends the replay.
    pub fn end_replay(&self) {
        self.replays.set(None);
    }

    /// Whether a replay is under way.
    pub fn is_replaying(&self) -> bool {
        self.replays.get().is_some()
    }

    /// During a replay, the next outcome, or (`Some(None)`) that there is none left.
    pub fn next(&self) -> Option<Option<Value>> {
        let (next, end) = self.replays.get()?;
        if next == end {
            return Some(None);
        }
        self.replays.set(Some((next + 1, end)));
        Some(Some(self.kept.borrow().at(next)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_given_again_up_to_the_checkpoint_and_new_ones_follow_them() {
        let log = Log::default();
        (0..3).for_each(|n| log.push(n, 10 * n));
        assert_eq!(log.next(), None, "nothing is given again yet");
        log.replay(2);
        assert_eq!([log.next(), log.next()], [Some(Some((0, 0))), Some(Some((1, 10)))]);
        assert_eq!(log.next(), Some(None));
        log.end_replay();
        log.push(7, 70);
        assert_eq!((log.len(), log.is_replaying()), (3, false));
    }

    /// Two operations open the state; then there are `tasks` of 1,000 operations, with a resume
    /// point wherever one is due.
    fn logged(tasks: u64, needed: Option<usize>) -> Log {
        let log = Log::default();
        log.push(100, 0);
        log.push(101, 0);
        assert_eq!(log.opened(), None);
        log.need(needed);
        for task in 0..tasks {
            if log.wants_point() {
                log.add_point(vec![(task, 0)]);
            }
            (0..1000).for_each(|n| log.push(1000 * task + n, 0));
        }
        log
    }

    #[test]
    fn a_replay_goes_on_from_the_last_resume_point_before_its_end() {
        // Points at operations 3,002, 6,002 and 9,002.
        let log = logged(10, Some(4000));
        log.replay(7000);
        assert_eq!([log.next(), log.next()], [Some(Some((100, 0))), Some(Some((101, 0)))]);
        assert_eq!(log.opened(), Some(vec![(6, 0)]), "six tasks have ended");
        assert_eq!(log.next(), Some(Some((6000, 0))));
        let left = std::iter::from_fn(|| log.next().flatten()).count();
        assert_eq!(left, 7000 - 6002 - 1);
        log.end_replay();
        log.replay(4000);
        _ = [log.next(), log.next()];
        assert_eq!(log.opened(), Some(vec![(3, 0)]));
    }

    #[test]
    fn a_log_without_need_keeps_what_has_come_since_its_last_resume_point() {
        let log = logged(1000, None);
        assert!(log.kept.borrow().outcomes.len() < STRIDE + 1000);
        assert_eq!(log.kept.borrow().points.len(), 1);
        assert_eq!(log.len(), 1_000_002);
    }
}
