//! In-order retirement.

use crate::core::restore::restore;
use std::cell::Cell;

/// In-order retirement: the cycle that is being filled, and how much of it is.
#[derive(Clone, PartialEq, Eq)]
pub struct Retirement {
    pub width: u64,
    pub cycle: Cell<u64>,
    pub filled: Cell<u64>,
}

impl Retirement {
    /// When the next op, which is complete at `complete`, retires.
    #[inline(always)]
    pub fn in_order(&self, complete: u64) -> u64 {
        if complete > self.cycle.get() {
            self.cycle.set(complete);
            self.filled.set(1);
            return complete;
        }
        self.in_turn()
    }

    /// When the next op retires, which completes by then.
    #[inline(always)]
    pub fn in_turn(&self) -> u64 {
        if self.filled.get() == self.width {
            self.cycle.set(self.cycle.get() + 1);
            self.filled.set(1);
        } else {
            self.filled.set(self.filled.get() + 1);
        }
        self.cycle.get()
    }
}

restore! { Retirement { cycle, filled } stays { width } }
