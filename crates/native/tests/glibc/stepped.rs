//! glibc's functions, stepped through one instruction at a time by a process that traces another.
#![allow(unsafe_code, reason = "tracing a process is unsafe")]

use crate::{Instructions, FAST, SMALL};
use std::arch::asm;
use std::cell::UnsafeCell;
use std::hint::black_box;
use std::ptr::null_mut;

/// A mutex that the traced process uses.
struct Mutex(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: only the traced process touches it, by the functions that are made for it.
unsafe impl Sync for Mutex {}

static MUTEX: Mutex = Mutex(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));

/// A breakpoint: the tracer begins or ends counting.
macro_rules! here {
    () => {
        asm!("int3")
    };
}

extern "C" fn idle(_: *mut libc::c_void) -> *mut libc::c_void {
    loop {
        // SAFETY: waits for a signal.
        unsafe { libc::pause() };
    }
}

/// What is traced: calls, each between two breakpoints.
fn traced() -> ! {
    let mutex = MUTEX.0.get();
    // SAFETY: plain calls of the C library; a second thread makes it take the path of several.
    unsafe {
        let mut thread = 0;
        libc::pthread_create(&mut thread, null_mut(), idle, null_mut());
        // The first call binds the symbols.
        libc::pthread_mutex_lock(mutex);
        libc::pthread_mutex_unlock(mutex);
        libc::rand();
        libc::free(libc::malloc(1));
        libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0);
        libc::raise(libc::SIGSTOP);
        here!();
        libc::pthread_mutex_lock(mutex);
        here!();
        libc::pthread_mutex_unlock(mutex);
        here!();
        // As if another thread held it: the tracer frees it when this one asks the kernel to wait.
        mutex.cast::<u32>().write_volatile(1);
        here!();
        libc::pthread_mutex_lock(mutex);
        here!();
        libc::pthread_mutex_unlock(mutex);
        here!();
        libc::rand();
        here!();
        allocations(SMALL);
        allocations(FAST);
        libc::_exit(0)
    }
}

/// As [`crate::simulated`] does: fresh chunks, then the thread's cache, then what a full cache leaves to the arena.
///
/// # Safety
/// Only the traced process calls it.
unsafe fn allocations(bytes: usize) {
    let mut held = [null_mut(); 8];
    // SAFETY: each block is freed once.
    unsafe {
        // What is free is used up: the next chunks come from the top.
        for _ in 0..2000 {
            black_box(libc::malloc(bytes));
        }
        for _ in 0..2 {
            here!();
            held[0] = libc::malloc(bytes);
            here!();
        }
        for block in &mut held[1..] {
            *block = libc::malloc(bytes);
        }
        black_box(libc::malloc(bytes));
        here!();
        libc::free(held[0]);
        here!();
        held[0] = libc::malloc(bytes);
        here!();
        for block in &held[1..] {
            libc::free(*block);
        }
        here!();
        libc::free(held[0]);
        here!();
        for _ in 1..8 {
            black_box(libc::malloc(bytes));
        }
        here!();
        black_box(libc::malloc(bytes));
        here!();
    }
}

/// The traced process, which stops at each instruction.
struct Tracee(libc::pid_t);

impl Tracee {
    /// Goes on until the next stop, which must be a trap; whether it was a breakpoint.
    fn go(&self, request: libc::c_uint) -> bool {
        let mut status = 0;
        // SAFETY: the process is ours, and stopped.
        unsafe {
            assert_eq!(libc::ptrace(request, self.0, 0, 0), 0, "it goes on");
            assert_eq!(libc::waitpid(self.0, &mut status, 0), self.0, "it stops");
            assert!(
                libc::WIFSTOPPED(status) && libc::WSTOPSIG(status) == libc::SIGTRAP,
                "{status:#x}"
            );
            let mut info: libc::siginfo_t = std::mem::zeroed();
            libc::ptrace(libc::PTRACE_GETSIGINFO, self.0, 0, &mut info);
            info.si_code == libc::SI_KERNEL
        }
    }

    /// Counts what [`allocations`] does.
    fn allocations(&self) -> [u64; 5] {
        // The top may have to grow, by the kernel, for one of two.
        let fresh = [(); 2].map(|()| {
            self.skip();
            self.count()
        });
        self.skip();
        let cached = [self.count(), self.count()];
        self.skip();
        let freed = self.count();
        self.skip();
        [fresh[0].min(fresh[1]), cached[0], cached[1], freed, self.count()]
    }

    /// Goes on to the next breakpoint.
    fn skip(&self) {
        assert!(self.go(libc::PTRACE_CONT), "a breakpoint");
    }

    /// Instructions up to the next breakpoint. A wait in the kernel is answered by freeing the mutex.
    fn count(&self) -> u64 {
        const SYSCALL: libc::c_long = 0x050f;
        let mut count = 0;
        while !self.go(libc::PTRACE_SINGLESTEP) {
            count += 1;
            // SAFETY: as above; its memory is that of this process before the fork.
            unsafe {
                let mut registers: libc::user_regs_struct = std::mem::zeroed();
                libc::ptrace(libc::PTRACE_GETREGS, self.0, 0, &mut registers);
                let code = libc::ptrace(libc::PTRACE_PEEKTEXT, self.0, registers.rip, 0);
                if code & 0xffff == SYSCALL && registers.rax == libc::SYS_futex as u64 && registers.rdx == 2 {
                    libc::ptrace(libc::PTRACE_POKEDATA, self.0, MUTEX.0.get(), 0_u64);
                }
            }
        }
        count
    }
}

/// Counts the instructions of glibc's functions.
pub fn stepped() -> Instructions {
    // SAFETY: the child calls the C library alone.
    let tracee = match unsafe { libc::fork() } {
        0 => traced(),
        child => Tracee(child),
    };
    let mut status = 0;
    // SAFETY: waits for the child to stop itself.
    unsafe { libc::waitpid(tracee.0, &mut status, 0) };
    assert!(libc::WIFSTOPPED(status), "{status:#x}");
    assert!(tracee.go(libc::PTRACE_CONT), "the first breakpoint");
    let (lock, unlock) = (tracee.count(), tracee.count());
    tracee.count();
    let (lock_behind, unlock_before) = (tracee.count(), tracee.count());
    let rand = tracee.count();
    let [small, fast] = [(), ()].map(|()| tracee.allocations());
    // SAFETY: the child is ours.
    unsafe { libc::kill(tracee.0, libc::SIGKILL) };
    unsafe { libc::waitpid(tracee.0, &mut status, 0) };
    Instructions {
        lock,
        unlock,
        lock_behind,
        unlock_before,
        rand,
        small,
        fast,
    }
}
