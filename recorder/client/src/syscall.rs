//! System calls: their effects on threads, on persistent memory and on the program's end.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use dynamorio_sys::*;
use strandline_capture::Control;

use crate::options::Fork;
use crate::pm::Synced;
use crate::signal::BY_SIGNAL;
use crate::sys::{self, number};
use crate::thread::{Birth, Thread};
use crate::{htm, kernel, pm, process, recorder, region, replacing, State};

/// A thread's current system call: its number and arguments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Call {
    pub arguments: [u64; 6],
    /// Mapped persistent bytes that it cuts off their file.
    cut: u64,
    /// If it starts a process: which of the two is recorded on.
    pub recorded: Option<Fork>,
    /// The process runs in the same memory.
    pub shares_memory: bool,
    /// The descriptor of the pipe for the program that it becomes.
    pub pipe: Option<usize>,
}

const CLONE_VM: u64 = 0x100;
const CLONE_THREAD: u64 = 0x10000;
const CLONE_PARENT_SETTID: u64 = 0x10_0000;
const CLONE_CHILD_CLEARTID: u64 = 0x20_0000;
const MAP_ANONYMOUS: u64 = 0x20;
const MAP_TYPE: u64 = 0xf;
const MAP_PRIVATE: u64 = 2;
const MS_SYNC: u64 = 4;
const MADV_REMOVE: u64 = 9;
const SIGKILL: u64 = 9;
const PAGE: u64 = 4096;

/// All system calls are of interest.
pub unsafe extern "C" fn filter(_drcontext: *mut c_void, _number: i32) -> bool_ {
    1
}

/// A system call is about to start.
pub unsafe extern "C" fn before(drcontext: *mut c_void, number: i32) -> bool_ {
    let recorder = recorder();
    // SAFETY: the thread's own context.
    let thread = unsafe { Thread::of(drcontext) };
    for (index, argument) in thread.call.arguments.iter_mut().enumerate() {
        // SAFETY: in the event before a system call.
        *argument = unsafe { dr_syscall_get_param(drcontext, index as i32) } as u64;
    }
    let arguments = thread.call.arguments;
    // A signal's handler may run in a transaction, which a processor would abort before.
    if thread.transactions.is_open() && number != number::RT_SIGRETURN {
        htm::called(number);
    }
    thread.call.cut = kernel::cut(number, arguments);
    thread.call.recorded = None;
    thread.push(&[Control::Syscall.word(number as u64), recorder.ticket()]);
    match number {
        number::FUTEX => futex(thread, arguments),
        number::EXIT | number::EXIT_GROUP if recorder.own_process() => {
            recorder.status.store(arguments[0] & 0xff, Ordering::Relaxed);
        }
        number::FORK => process::starts(thread, false),
        number::VFORK => process::starts(thread, true),
        number::CLONE | number::CLONE3 => clone(thread, number, arguments),
        number::EXECVE | number::EXECVEAT => replacing::becomes(drcontext, thread, number, arguments),
        _ if kills(number, arguments) => {
            thread.flush();
            if is_own(number, arguments) {
                dies(thread);
            }
        }
        _ => {}
    }
    1
}

/// Whether this sends SIGKILL, which may end the process before another buffer is written.
fn kills(number: i32, arguments: [u64; 6]) -> bool {
    let signal = match number {
        number::KILL | number::TKILL | number::RT_SIGQUEUEINFO | number::PIDFD_SEND_SIGNAL => arguments[1],
        number::TGKILL | number::RT_TGSIGQUEUEINFO => arguments[2],
        _ => return false,
    };
    signal == SIGKILL
}

/// Whether a signal is sent to this process itself.
fn is_own(number: i32, arguments: [u64; 6]) -> bool {
    // The first process of a container is not killed by its own signals.
    process() != 1
        && match number {
            number::KILL | number::TGKILL | number::RT_SIGQUEUEINFO | number::RT_TGSIGQUEUEINFO => {
                arguments[0] == process()
            }
            number::TKILL => arguments[0] == running(),
            _ => false,
        }
}

/// The process kills itself: its recording is whole, as at another end.
fn dies(thread: &Thread) {
    let recorder = recorder();
    if !recorder.own_process() {
        return;
    }
    let (mut others, mut count) = (std::ptr::null_mut(), 0);
    // SAFETY: without a lock; the others stay suspended until they are killed, where they hold none.
    let are_suspended = unsafe { dr_suspend_all_other_threads(&mut others, &mut count, std::ptr::null_mut()) } != 0;
    if are_suspended {
        if recorder.state() == State::Recording {
            recorder.drain(thread.number);
        }
        recorder.end(BY_SIGNAL + SIGKILL);
    }
}

/// A system call has returned.
pub unsafe extern "C" fn after(drcontext: *mut c_void, number: i32) {
    // SAFETY: the thread's own context, in the event after a system call.
    let (thread, result) = unsafe { (Thread::of(drcontext), dr_syscall_get_result(drcontext) as u64) };
    thread.push(&[Control::Returned.word(number as u64), result, recorder().ticket()]);
    let [first, second, third, fourth, fifth, sixth] = thread.call.arguments;
    let failed = result > PAGE.wrapping_neg();
    match number {
        number::CLONE | number::CLONE3 if failed => {
            recorder().births.lock().retain(|birth| birth.parent != thread.number)
        }
        number::EXECVE | number::EXECVEAT => replacing::failed(thread),
        _ if failed => {}
        number::FORK | number::VFORK | number::CLONE | number::CLONE3 => process::started(thread, result),
        number::MMAP => {
            // Stores to a private mapping never reach its file.
            let is_file = fourth & MAP_ANONYMOUS == 0 && fourth & MAP_TYPE != MAP_PRIVATE;
            let descriptor = if is_file { fifth as i32 } else { -1 };
            pm::mapped(
                thread,
                result..result + second.next_multiple_of(PAGE),
                descriptor,
                sixth,
            );
        }
        number::MUNMAP => pm::unmapped(thread, first..first + second.next_multiple_of(PAGE)),
        number::MREMAP => pm::moved(
            thread,
            first..first + second.next_multiple_of(PAGE),
            result..result + third.next_multiple_of(PAGE),
        ),
        number::MSYNC if third & MS_SYNC != 0 => {
            pm::range_synced(thread, &(first..first + second.next_multiple_of(PAGE)))
        }
        number::FSYNC | number::FDATASYNC => pm::synced(thread, Synced::File(first as i32)),
        number::SYNCFS => pm::synced(thread, Synced::FileSystem(first as i32)),
        number::SYNC => pm::synced(thread, Synced::All),
        number::FTRUNCATE => kernel::wrote("ftruncate", thread.call.cut),
        number::TRUNCATE => kernel::wrote("truncate", thread.call.cut),
        number::FALLOCATE => kernel::wrote("fallocate", kernel::reallocated([first, second, third, fourth])),
        number::MADVISE if third == MADV_REMOVE => kernel::wrote(
            "madvise",
            pm::bytes_within(&(first..first + second.next_multiple_of(PAGE))),
        ),
        number::IO_URING_SETUP => kernel::queues("io_uring"),
        number::IO_SETUP => kernel::queues("io_submit"),
        _ => kernel::returned(thread, number, result),
    }
}

/// Reports the word of a `futex` before it waits or wakes.
fn futex(thread: &mut Thread, arguments: [u64; 6]) {
    // The operations that wait: WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2; flags are above.
    let waits = matches!(arguments[1] & 0x7f, 0 | 6 | 9 | 11 | 13);
    thread.push(&[Control::Futex.word(u64::from(!waits)), arguments[0]]);
}

/// A new thread, or a new process.
fn clone(thread: &mut Thread, number: i32, arguments: [u64; 6]) {
    let [mut flags, _, mut parent, mut clears, ..] = arguments;
    if number == number::CLONE3 {
        let mut fields = [0u64; 4];
        let mut done = 0;
        // SAFETY: reading is safe; flags, pidfd, child_tid and parent_tid come first.
        unsafe { dr_safe_read(arguments[0] as *const c_void, 32, fields.as_mut_ptr().cast(), &mut done) };
        [flags, _, clears, parent] = fields;
    }
    if flags & CLONE_THREAD == 0 {
        return process::starts(thread, flags & CLONE_VM != 0);
    }
    if recorder().gate.use_it() {
        region::forget_code();
    }
    recorder().births.lock().push(Birth {
        parent: thread.number,
        tells: if flags & CLONE_PARENT_SETTID != 0 { parent } else { 0 },
        clears: if flags & CLONE_CHILD_CLEARTID != 0 { clears } else { 0 },
    });
}

/// The operating system's id of the current thread.
pub fn running() -> u64 {
    // SAFETY: always allowed.
    unsafe { sys::call(number::GETTID, [0; 4]) as u64 }
}

/// The operating system's id of the current process.
pub fn process() -> u64 {
    // SAFETY: always allowed.
    unsafe { sys::call(number::GETPID, [0; 4]) as u64 }
}
