//! Signals.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use dynamorio_sys::*;

use crate::atomic;
use crate::recorder;
use crate::thread::Thread;

/// What a shell adds to a signal's number.
const BY_SIGNAL: u64 = 128;

/// A signal comes. If an instruction of the program raised it, the block that it is in ends there.
pub unsafe extern "C" fn came(drcontext: *mut c_void, signal: *mut dr_siginfo_t) -> dr_signal_action_t {
    // SAFETY: DynamoRIO's description, the thread's own context.
    unsafe {
        let signal = &*signal;
        if !signal.fault_fragment_info.cache_start_pc.is_null() && signal.raw_mcontext_valid != 0 {
            let thread = Thread::of(drcontext);
            atomic::release(thread);
            thread.cut((*signal.mcontext).__bindgen_anon_10.pc as u64);
        }
        // Should it be deadly, nothing else comes after.
        recorder()
            .status
            .store(BY_SIGNAL + signal.sig as u64, Ordering::Relaxed);
    }
    dr_signal_action_t_DR_SIGNAL_DELIVER
}
