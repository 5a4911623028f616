//! Simulated time.

use serde::Serialize;
use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A point in simulated time, or a span of it, in core clock cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Cycles(pub u64);

impl Cycles {
    /// The start of a run.
    pub const ZERO: Cycles = Cycles(0);
    /// Later than every event: "not before anything else happens".
    pub const NEVER: Cycles = Cycles(u64::MAX);

    /// `self + span`, staying at [`Cycles::NEVER`] instead of wrapping.
    #[must_use]
    pub fn after(self, span: Cycles) -> Cycles {
        Cycles(self.0.saturating_add(span.0))
    }

    /// The span from `earlier` to `self`; zero if `earlier` is not earlier.
    #[must_use]
    pub fn since(self, earlier: Cycles) -> Cycles {
        Cycles(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Cycles {
    type Output = Cycles;
    #[inline(always)]
    fn add(self, other: Cycles) -> Cycles {
        Cycles(self.0 + other.0)
    }
}

impl AddAssign for Cycles {
    #[inline(always)]
    fn add_assign(&mut self, other: Cycles) {
        self.0 += other.0;
    }
}

impl Sub for Cycles {
    type Output = Cycles;
    #[inline(always)]
    fn sub(self, other: Cycles) -> Cycles {
        Cycles(self.0 - other.0)
    }
}

impl fmt::Display for Cycles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Cycles::NEVER {
            f.write_str("never")
        } else {
            write!(f, "{}", self.0)
        }
    }
}
