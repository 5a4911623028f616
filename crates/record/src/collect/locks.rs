//! What a thread's fences are, and which words it holds as locks.

use crate::recording::FenceClass;

/// The most words that are taken for locks of a thread at a time; a word that was changed by one atomic instruction and never again
/// is none.
const MOST_HELD: usize = 16;

/// The words that a thread holds as locks: it changed them by an atomic instruction, and the next change lets them go.
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

    /// The thread changed this word by an atomic instruction; whether that lets a lock go.
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

    /// The thread stored to this word; whether that lets a lock go.
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
    /// Something persistent is on its way since the last fence that ordered something.
    pending: bool,
    /// The last fence that ordered something, unless something ended since.
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

    /// A task's or the thread's end, or a lock let go: what was before is to be durable.
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
