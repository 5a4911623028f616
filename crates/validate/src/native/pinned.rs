//! A thread that stays on its processor.

use std::mem::{size_of, zeroed};

/// The thread stays where it is as long as this value lives.
pub struct Pinned(libc::cpu_set_t);

impl Pinned {
    /// Pins the calling thread to the processor that executes it; `None` if the system refuses.
    pub fn here() -> Option<Pinned> {
        // SAFETY: sets are plain bits, for which zero is the empty one, and calls write no more than their size.
        #[allow(unsafe_code, reason = "system calls on sets of our own")]
        unsafe {
            let (mut before, mut one): (libc::cpu_set_t, libc::cpu_set_t) = (zeroed(), zeroed());
            let here = usize::try_from(libc::sched_getcpu()).ok()?;
            if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut before) != 0 {
                return None;
            }
            libc::CPU_SET(here, &mut one);
            let set = libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &one);
            (set == 0).then_some(Pinned(before))
        }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: the set is whole.
        #[allow(unsafe_code, reason = "a system call on a set of our own")]
        unsafe {
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &self.0);
        }
    }
}
