//! System calls.

/// The system call that a thread is in.
#[derive(Default)]
pub struct Call {}
