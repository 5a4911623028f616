//! Runs programs that never have to wait.

use std::fmt;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

/// Error: a program on plain memory waits for an event that no other thread can cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck;

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the program waits for ever: for a lock that it holds itself, or for another thread")
    }
}

impl std::error::Error for Stuck {}

/// Runs a program on [`crate::Plain`] to its end.
///
/// # Errors
/// If it waits for an event that no other thread can cause.
pub fn finish<T>(program: impl FnOnce() -> T) -> Result<T, Stuck> {
    caught::<Stuck, T>(program)
}

/// Leaves a program for the [`caught`] of this reason, and unwinds what it has on its stack.
pub(crate) fn leave<R: Send + 'static>(reason: R) -> ! {
    resume_unwind(Box::new(reason))
}

/// Runs a program until it ends or leaves for a reason of this type.
///
/// # Errors
/// The reason.
pub(crate) fn caught<R: 'static, T>(program: impl FnOnce() -> T) -> Result<T, R> {
    catch_unwind(AssertUnwindSafe(program)).map_err(|payload| match payload.downcast() {
        Ok(reason) => *reason,
        Err(other) => resume_unwind(other),
    })
}
