//! The outcomes of a core's operations, for replay.

use std::cell::{Cell, RefCell};

/// The outcomes of a program's operations so far: each one's value and when it was ready.
///
/// A program is a deterministic function of these: created anew and given the same outcomes, it
/// reaches the same state.
#[derive(Debug, Default)]
pub struct Log {
    outcomes: RefCell<Vec<(u64, u64)>>,
    /// During a replay: the next outcome, and the first that is not replayed.
    replays: Cell<Option<(usize, usize)>>,
}

impl Log {
    /// Operations so far.
    pub fn len(&self) -> usize {
        self.outcomes.borrow().len()
    }

    /// An operation has completed.
    pub fn push(&self, value: u64, ready: u64) {
        self.outcomes.borrow_mut().push((value, ready));
    }

    /// Replays the first `len` outcomes and drops the others.
    pub fn replay(&self, len: usize) {
        self.outcomes.borrow_mut().truncate(len);
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
    pub fn next(&self) -> Option<Option<(u64, u64)>> {
        let (next, end) = self.replays.get()?;
        if next == end {
            return Some(None);
        }
        self.replays.set(Some((next + 1, end)));
        Some(Some(self.outcomes.borrow()[next]))
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
}
