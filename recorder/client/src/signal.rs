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

/// A thread inside of a block is to go on elsewhere: at a fault, or because DynamoRIO forgets the block (the program has written to
/// a page with code). The block ends there.
pub unsafe extern "C" fn leaves(drcontext: *mut c_void, for_good: bool_, state: *mut dr_restore_state_info_t) -> bool_ {
    // SAFETY: DynamoRIO's description; the thread is the context's and stands still.
    unsafe {
        // Another thread may only be asking; the thread itself asks because it cannot go on.
        let leaves = for_good != 0 || drcontext == dr_get_current_drcontext();
        if leaves && !(*state).fragment_info.cache_start_pc.is_null() {
            let thread = Thread::of(drcontext);
            atomic::release(thread);
            thread.cut((*(*state).mcontext).__bindgen_anon_10.pc as u64);
        }
    }
    1
}
