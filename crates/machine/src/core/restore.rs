//! Returning to an earlier state.

use std::cell::{Cell, RefCell};

/// A part of a core that returns to an earlier state when the core is rolled back.
pub trait Restore {
    /// Becomes as `saved` was.
    fn restore(&self, saved: &Self);
}

impl<T: Copy> Restore for Cell<T> {
    fn restore(&self, saved: &Self) {
        self.set(saved.get());
    }
}

impl<T: Clone> Restore for RefCell<T> {
    fn restore(&self, saved: &Self) {
        self.borrow_mut().clone_from(&saved.borrow());
    }
}

impl<T: Restore> Restore for [T] {
    fn restore(&self, saved: &Self) {
        for (to, from) in self.iter().zip(saved) {
            to.restore(from);
        }
    }
}

impl<T: Restore, const N: usize> Restore for [T; N] {
    fn restore(&self, saved: &Self) {
        self[..].restore(&saved[..]);
    }
}

impl<T: Restore + ?Sized> Restore for Box<T> {
    fn restore(&self, saved: &Self) {
        (**self).restore(saved);
    }
}

/// A part that a machine has or has not.
impl<T: Restore> Restore for Option<T> {
    fn restore(&self, saved: &Self) {
        if let (Some(to), Some(from)) = (self, saved) {
            to.restore(from);
        }
    }
}

/// The fields of a type that return to an earlier state, and those that stay. A field in neither list does not compile.
macro_rules! restore {
    ($type:ident { $($field:ident),+ $(,)? } $(stays { $($stays:ident),+ $(,)? })?) => {
        impl $crate::core::restore::Restore for $type {
            fn restore(&self, saved: &Self) {
                let $type { $($field,)+ $($($stays: _,)+)? } = saved;
                $($crate::core::restore::Restore::restore(&self.$field, $field);)+
            }
        }
    };
}
pub(crate) use restore;
