//! The loads in a queue that loads and stores share.

use super::{Window, NEVER};
use crate::core::restore::Restore;
use std::cell::RefCell;
use std::collections::VecDeque;

/// SharedLoads from their dispatch until they leave the window, oldest first, by their numbers among all ops.
#[derive(Clone, Default)]
pub struct SharedLoads(RefCell<VecDeque<u64>>);

impl Restore for SharedLoads {
    fn restore(&self, saved: &SharedLoads) {
        self.0.restore(&saved.0);
    }
}

impl SharedLoads {
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

impl Window {
    /// Gives the next op, a load, an entry of the queue that loads and stores share, if they do.
    pub fn enter_shared_load(&self) {
        if let Some(shared) = &self.shared {
            shared.enter(self.count.get());
        }
    }

    /// The most loads that may have an entry of the queue that loads and stores share.
    #[inline(always)]
    pub fn most_shared_loads(&self) -> u64 {
        self.shared.as_ref().map_or(0, SharedLoads::most)
    }

    /// Loads that have an entry of the queue that loads and stores share at `at`.
    pub fn shared_loads(&self, at: u64) -> u64 {
        self.shared
            .as_ref()
            .map_or(0, |loads| loads.in_flight(|op| self.leaves_by(op) <= at))
    }

    /// When the first load leaves the queue that loads and stores share; `None` if none does before the
    /// held op is released.
    pub fn next_shared_load_leaves(&self) -> Option<u64> {
        let oldest = self.shared.as_ref()?.oldest()?;
        Some(self.leaves_by(oldest)).filter(|at| *at != NEVER)
    }
}
