//! What an operation takes out of a map.

use strandline_isa::{Cpu, W};

/// The value that a key had before an operation, for a program whose values are records: it frees them.
pub struct Old<'c, C: Cpu> {
    is_wanted: bool,
    value: Option<W<'c, C>>,
}

impl<'c, C: Cpu> Old<'c, C> {
    /// For a program that needs none: nothing is loaded.
    pub(crate) fn unwanted() -> Self {
        Old {
            is_wanted: false,
            value: None,
        }
    }

    /// For a program that frees it.
    pub(super) fn wanted() -> Self {
        Old {
            is_wanted: true,
            value: None,
        }
    }

    /// Keeps the value at this place, which only this thread may change.
    pub(crate) fn keep(&mut self, place: W<'c, C>) {
        if self.is_wanted {
            self.value = Some(place.load());
        }
    }

    /// Replaces the value at a place whose value other threads may replace at the same time.
    pub(crate) fn replace(&mut self, place: W<'c, C>, value: W<'c, C>) {
        match self.is_wanted {
            true => self.value = Some(place.swap(value)),
            false => place.store(value),
        }
    }

    /// The value, if the key had one.
    pub(super) fn value(&self) -> Option<W<'c, C>> {
        self.value
    }
}
