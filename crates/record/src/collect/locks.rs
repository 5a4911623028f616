//! Classifies a thread's fences, and infers the locks that it holds.

use crate::recording::FenceClass;

/// Maximum number of words that count as held locks of a thread. A word that one atomic instruction changed and nothing
/// since is not a lock.
const MOST_HELD: usize = 16;

/// The words that a thread holds as locks: an atomic instruction of the thread changed them, and its next change
/// releases them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    words: Vec<u64>,
}

impl Held {
    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The thread changed this word by an atomic instruction; returns whether that releases a lock.
    pub fn changed(&mut self, word: u64) -> bool {
        if self.stored(word) {
            return true;
        }
        if self.words.len() == MOST_HELD {
            self.words.remove(0);
        }
        self.words.push(word);
        false
    }

    /// The thread stored to this word; returns whether that releases a lock.
    #[inline]
    pub fn stored(&mut self, word: u64) -> bool {
        let place = self.words.iter().position(|held| *held == word);
        place.map(|place| self.words.remove(place)).is_some()
    }
}

/// A thread's fences.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fences {
    /// What they are, in order.
    pub classes: Vec<FenceClass>,
    /// A persistent write-back is pending since the last ordering fence.
    pending: bool,
    /// The last ordering fence, unless a task, lock or thread ended since.
    last: Option<usize>,
}

impl Fences {
    /// A flush or a non-temporal store of persistent memory.
    pub fn flushed(&mut self) {
        self.pending = true;
    }

    /// A fence.
    pub fn fence(&mut self) {
        let class = match self.pending {
            true => FenceClass::Order,
            false => FenceClass::Idle,
        };
        if self.pending {
            self.last = Some(self.classes.len());
        }
        self.pending = false;
        self.classes.push(class);
    }

    /// The end of a task or of the thread, or a lock release: earlier writes must be durable.
    pub fn end(&mut self) {
        if let Some(last) = self.last.take() {
            self.classes[last] = FenceClass::Durable;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_fence_that_orders_something_before_an_end_is_durable() {
        let mut fences = Fences::default();
        fences.fence();
        for _ in 0..3 {
            fences.flushed();
            fences.fence();
        }
        fences.fence();
        fences.end();
        fences.end();
        fences.flushed();
        fences.fence();
        use FenceClass::{Durable, Idle, Order};
        assert_eq!(fences.classes, [Idle, Order, Order, Durable, Idle, Order]);
    }

    #[test]
    fn the_second_change_of_a_word_lets_it_go() {
        let mut held = Held::default();
        assert!(!held.changed(8) && !held.changed(16));
        assert!(held.stored(8) && !held.stored(8));
        assert!(held.changed(16) && held.is_empty());
    }
}
