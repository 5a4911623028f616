//! The loads in a queue that loads and stores share.

use std::cell::RefCell;
use std::collections::VecDeque;

/// Loads from their dispatch until they leave the window, oldest first, by their numbers among all ops.
#[derive(Clone, Default)]
pub struct Loads(RefCell<VecDeque<u64>>);

impl Loads {
    /// Restores an earlier state.
    pub fn restore(&self, saved: &Loads) {
        self.0.borrow_mut().clone_from(&saved.0.borrow());
    }

    /// Adds a load.
    pub fn enter(&self, op: u64) {
        self.0.borrow_mut().push_back(op);
    }

    /// How many have been added and not removed.
    #[inline(always)]
    pub fn most(&self) -> u64 {
        self.0.borrow().len() as u64
    }

    /// Removes those that have left, which they do in order: how many stay.
    pub fn in_flight(&self, has_left: impl Fn(u64) -> bool) -> u64 {
        let mut loads = self.0.borrow_mut();
        while loads.front().is_some_and(|op| has_left(*op)) {
            loads.pop_front();
        }
        loads.len() as u64
    }

    /// The oldest of them.
    pub fn oldest(&self) -> Option<u64> {
        self.0.borrow().front().copied()
    }
}
