//! Other processes that the program starts. One of the two is recorded on, as the user has chosen.
//!
//! DynamoRIO stops all other threads during a `fork`, where they hold no lock. So the child can use all that it has
//! inherited. It runs the child of a `vfork` in the same memory, as a thread of its own.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use strandline_capture::PacketKind;

use crate::options::Fork;
use crate::thread::Thread;
use crate::{recorder, region, syscall, State};

/// The program is about to start a process. The thread's buffer is written, so that only one of the two does.
///
/// A process in the same memory (`vfork`, `posix_spawn`, `system`) only becomes another program, which is not recorded.
pub fn starts(thread: &mut Thread, shares_memory: bool) {
    let recorder = recorder();
    let recorded = if shares_memory {
        Fork::Parent
    } else {
        recorder.options.fork
    };
    let several = {
        // A new thread may be on its way: the kernel has started it, and it has not begun here.
        let threads = recorder.threads.lock();
        threads.len() + recorder.births.lock().len() > 1
    };
    if recorded == Fork::Child && several && recorder.state() != State::Stopped {
        region::refuse(
            "--fork child: the program starts a process while it has several threads, of which the process has one: \
             record the parent",
        );
    }
    thread.call.recorded = Some(recorded);
    thread.call.shares_memory = shares_memory;
    thread.flush();
}

/// A call has returned that may have started a process: the child's number in the parent, 0 in the child.
pub fn started(thread: &Thread, child: u64) {
    let recorder = recorder();
    match (thread.call.recorded, child) {
        (Some(Fork::Parent), 1..) if recorder.own_process() => tell_once(thread.call.shares_memory),
        (Some(Fork::Child), 1..) if recorder.own_process() => {
            leave();
            region::forget_code();
        }
        (Some(Fork::Parent), 0) if recorder.state() == State::Stopped => region::forget_code(),
        _ => {}
    }
}

/// A new process begins, in a copy of its parent's memory.
pub unsafe extern "C" fn forked(drcontext: *mut c_void) {
    let recorder = recorder();
    recorder
        .stripes
        .iter()
        .for_each(|stripe| stripe.store(false, Ordering::Relaxed));
    recorder.gate.open();
    // SAFETY: the context of the thread that has forked.
    let thread = unsafe { Thread::of(drcontext) };
    match thread.call.recorded {
        Some(Fork::Child) => {
            recorder.process.store(syscall::process(), Ordering::Relaxed);
            thread.tid = syscall::running();
            if recorder.mapped_file.load(Ordering::Relaxed) {
                let what = "the process that started the recorded one goes on: what it stores from there on is missing";
                recorder
                    .stream
                    .lock()
                    .packet(PacketKind::Warning, 0, &[what.as_bytes()]);
            }
        }
        _ => leave(),
    }
}

/// This process reports nothing from here on. The collector does not wait for it.
fn leave() {
    let recorder = recorder();
    recorder.stream.lock().leave();
    recorder.state.store(State::Stopped as u8, Ordering::SeqCst);
}

/// Warns of another process. One that shares the memory becomes another program, which cannot be recorded instead.
fn tell_once(shares_memory: bool) {
    let recorder = recorder();
    if recorder.state() == State::Stopped || recorder.told_of_process.swap(true, Ordering::Relaxed) {
        return;
    }
    let instead = if shares_memory {
        ""
    } else {
        "; --fork child records it instead"
    };
    let what = format!(
        "the program started another process, which is not recorded: what it stores to persistent memory is missing\
         {instead}"
    );
    recorder
        .stream
        .lock()
        .packet(PacketKind::Warning, 0, &[what.as_bytes()]);
}
