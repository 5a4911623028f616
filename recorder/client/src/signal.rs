//! Signals.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use dynamorio_sys::*;

use crate::atomic;
use crate::recorder;
use crate::thread::Thread;

/// A shell's offset for a signal's number.
pub const BY_SIGNAL: u64 = 128;

/// A signal. If an instruction of the program raised it, the block ends at that instruction.
pub unsafe extern "C" fn came(drcontext: *mut c_void, signal: *mut dr_siginfo_t) -> dr_signal_action_t {
    // SAFETY: DynamoRIO's description, the thread's own context.
    unsafe {
        let signal = &*signal;
        let thread = Thread::of(drcontext);
        if !signal.fault_fragment_info.cache_start_pc.is_null() && signal.raw_mcontext_valid != 0 {
            atomic::leave(thread);
            thread.cut((*signal.mcontext).__bindgen_anon_10.pc as u64);
        }
        // Who wants the program to end may kill it next, and its buffer with it.
        thread.finish();
        // If it kills the process, nothing else follows.
        recorder()
            .status
            .store(BY_SIGNAL + signal.sig as u64, Ordering::Relaxed);
    }
    dr_signal_action_t_DR_SIGNAL_DELIVER
}

/// A thread inside a block continues elsewhere: at a fault, or because DynamoRIO deletes the block (the program has
/// written to a page with code). The block ends there.
pub unsafe extern "C" fn leaves(drcontext: *mut c_void, for_good: bool_, state: *mut dr_restore_state_info_t) -> bool_ {
    // SAFETY: DynamoRIO's description; the thread belongs to the context and is stopped.
    unsafe {
        // Another thread may only request the state; the thread itself requests it because it cannot continue.
        let leaves = for_good != 0 || drcontext == dr_get_current_drcontext();
        if leaves && !(*state).fragment_info.cache_start_pc.is_null() {
            let thread = Thread::of(drcontext);
            atomic::leave(thread);
            thread.cut((*(*state).mcontext).__bindgen_anon_10.pc as u64);
        }
    }
    1
}
