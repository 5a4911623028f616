//! The recorder's own system calls, invisible to the program and to DynamoRIO.

use std::arch::asm;

/// Numbers of system calls (x86-64 Linux).
#[allow(missing_docs, reason = "each is what it is called")]
pub mod number {
    pub const READ: i32 = 0;
    pub const WRITE: i32 = 1;
    pub const OPEN: i32 = 2;
    pub const CLOSE: i32 = 3;
    pub const LSEEK: i32 = 8;
    pub const MMAP: i32 = 9;
    pub const MUNMAP: i32 = 11;
    pub const RT_SIGPROCMASK: i32 = 14;
    pub const RT_SIGRETURN: i32 = 15;
    pub const PREAD64: i32 = 17;
    pub const PWRITE64: i32 = 18;
    pub const READV: i32 = 19;
    pub const WRITEV: i32 = 20;
    pub const MREMAP: i32 = 25;
    pub const MSYNC: i32 = 26;
    pub const MADVISE: i32 = 28;
    pub const GETPID: i32 = 39;
    pub const SENDFILE: i32 = 40;
    pub const RECVFROM: i32 = 45;
    pub const RECVMSG: i32 = 47;
    pub const CLONE: i32 = 56;
    pub const FORK: i32 = 57;
    pub const VFORK: i32 = 58;
    pub const EXECVE: i32 = 59;
    pub const EXIT: i32 = 60;
    pub const KILL: i32 = 62;
    pub const FCNTL: i32 = 72;
    pub const FSYNC: i32 = 74;
    pub const FDATASYNC: i32 = 75;
    pub const TRUNCATE: i32 = 76;
    pub const FTRUNCATE: i32 = 77;
    pub const READLINK: i32 = 89;
    pub const RT_SIGTIMEDWAIT: i32 = 128;
    pub const RT_SIGQUEUEINFO: i32 = 129;
    pub const SYNC: i32 = 162;
    pub const GETTID: i32 = 186;
    pub const TKILL: i32 = 200;
    pub const FUTEX: i32 = 202;
    pub const IO_SETUP: i32 = 206;
    pub const EXIT_GROUP: i32 = 231;
    pub const TGKILL: i32 = 234;
    pub const SPLICE: i32 = 275;
    pub const FALLOCATE: i32 = 285;
    pub const PREADV: i32 = 295;
    pub const PWRITEV: i32 = 296;
    pub const RT_TGSIGQUEUEINFO: i32 = 297;
    pub const RECVMMSG: i32 = 299;
    pub const SYNCFS: i32 = 306;
    pub const PROCESS_VM_READV: i32 = 310;
    pub const GETRANDOM: i32 = 318;
    pub const EXECVEAT: i32 = 322;
    pub const COPY_FILE_RANGE: i32 = 326;
    pub const PREADV2: i32 = 327;
    pub const PWRITEV2: i32 = 328;
    pub const PIDFD_SEND_SIGNAL: i32 = 424;
    pub const IO_URING_SETUP: i32 = 425;
    pub const CLONE3: i32 = 435;
}

const SIGPIPE: u64 = 13;
const SIGNAL_SET_BYTES: usize = 8;

/// Makes a system call.
///
/// # Safety
/// As the system call is.
pub unsafe fn call(number: i32, arguments: [usize; 4]) -> isize {
    let result: isize;
    // SAFETY: the kernel clobbers only rcx and r11; the caller guarantees the rest.
    unsafe {
        asm!("syscall", inlateout("rax") number as isize => result, in("rdi") arguments[0], in("rsi") arguments[1],
            in("rdx") arguments[2], in("r10") arguments[3], lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    result
}

/// Runs `work` so that a pipe without a reader gives an error, not a signal to the program.
pub fn without_sigpipe<T>(work: impl FnOnce() -> T) -> T {
    let pipe = 1u64 << (SIGPIPE - 1);
    let mut before = 0u64;
    let address = |set: &u64| std::ptr::from_ref(set) as usize;
    let no_time = [0u64; 2];
    // SAFETY: pointers to live variables; the mask is restored.
    unsafe {
        call(
            number::RT_SIGPROCMASK,
            [
                0,
                address(&pipe),
                std::ptr::from_mut(&mut before) as usize,
                SIGNAL_SET_BYTES,
            ],
        );
        let result = work();
        if before & pipe == 0 {
            call(
                number::RT_SIGTIMEDWAIT,
                [address(&pipe), 0, no_time.as_ptr() as usize, SIGNAL_SET_BYTES],
            );
            call(number::RT_SIGPROCMASK, [2, address(&before), 0, SIGNAL_SET_BYTES]);
        }
        result
    }
}

/// The file behind a descriptor, as the kernel names it.
#[must_use]
pub fn file_of(descriptor: i32) -> Option<String> {
    let link = format!("/proc/self/fd/{descriptor}\0");
    let mut path = vec![0u8; 4096];
    // SAFETY: the link is a text with a NUL, the buffer has the given length.
    let bytes = unsafe {
        call(
            number::READLINK,
            [link.as_ptr() as usize, path.as_mut_ptr() as usize, path.len(), 0],
        )
    };
    path.truncate(usize::try_from(bytes).ok()?);
    Some(String::from_utf8_lossy(&path).into_owned())
}

/// The flags with which a descriptor's file is open.
#[must_use]
pub fn flags_of(descriptor: i32) -> u64 {
    const F_GETFL: usize = 3;
    // SAFETY: asks.
    let flags = unsafe { call(number::FCNTL, [descriptor as usize, F_GETFL, 0, 0]) };
    u64::try_from(flags).unwrap_or_default()
}

/// The position of a descriptor in its file.
#[must_use]
pub fn position_of(descriptor: i32) -> Option<u64> {
    const SEEK_CUR: usize = 1;
    // SAFETY: asks.
    let position = unsafe { call(number::LSEEK, [descriptor as usize, 0, SEEK_CUR, 0]) };
    u64::try_from(position).ok()
}

/// Distinguishes holes of a file from its data.
pub struct Holes {
    descriptor: isize,
}

const SEEK_DATA: usize = 3;
const NO_MORE_DATA: isize = -6;

impl Holes {
    /// For this file, by its full path; one that cannot be opened has no holes.
    #[must_use]
    pub fn open(path: &str) -> Self {
        if !path.starts_with('/') {
            return Holes { descriptor: -1 };
        }
        let text = format!("{path}\0");
        // SAFETY: a text with a NUL; no mode as nothing is created.
        let descriptor = unsafe { call(number::OPEN, [text.as_ptr() as usize, 0, 0, 0]) };
        Holes { descriptor }
    }

    /// The first offset from `offset` on with data; the largest number if there is none.
    #[must_use]
    pub fn data_after(&self, offset: u64) -> u64 {
        if self.descriptor < 0 {
            return offset;
        }
        // SAFETY: moves our own descriptor.
        let data = unsafe { call(number::LSEEK, [self.descriptor as usize, offset as usize, SEEK_DATA, 0]) };
        match data {
            NO_MORE_DATA => u64::MAX,
            data => u64::try_from(data).unwrap_or(offset),
        }
    }
}

impl Drop for Holes {
    fn drop(&mut self) {
        // SAFETY: our own descriptor.
        unsafe { call(number::CLOSE, [self.descriptor as usize, 0, 0, 0]) };
    }
}
