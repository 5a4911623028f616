//! Runs programs that never have to wait.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

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
pub fn block_on<T>(program: impl Future<Output = T>) -> Result<T, Stuck> {
    match pin!(program).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Ok(value),
        Poll::Pending => Err(Stuck),
    }
}
