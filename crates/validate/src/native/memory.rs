//! Memory of a routine, and its code, both mapped.

use std::io;
use std::ptr::{null_mut, NonNull};

/// A mapping, which ends with this value.
pub struct Mapping {
    at: NonNull<u8>,
    bytes: usize,
}

impl Mapping {
    /// Zeroed memory of this size, at least a byte, in pages of 4 KiB.
    ///
    /// # Errors
    /// The system refuses.
    pub fn zeroed(bytes: usize) -> io::Result<Mapping> {
        let (protection, flags) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
        );
        // SAFETY: a new mapping, which replaces none.
        #[allow(unsafe_code, reason = "a system call that makes memory of our own")]
        let at = unsafe { libc::mmap(null_mut(), bytes, protection, flags, -1, 0) };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the mapping is our own. A kernel without huge pages refuses, which is what is asked for.
        #[allow(unsafe_code, reason = "a system call on a mapping of our own")]
        unsafe {
            libc::madvise(at, bytes, libc::MADV_NOHUGEPAGE);
        }
        let at = NonNull::new(at.cast()).ok_or_else(io::Error::last_os_error)?;
        Ok(Mapping { at, bytes })
    }

    /// This code, which may be executed and not written.
    ///
    /// # Errors
    /// The system refuses.
    pub fn executable(code: &[u8]) -> io::Result<Mapping> {
        let mut mapping = Mapping::zeroed(code.len())?;
        mapping.contents()[..code.len()].copy_from_slice(code);
        // SAFETY: the mapping is our own, and nothing refers to its bytes.
        #[allow(unsafe_code, reason = "a system call on a mapping of our own")]
        let result =
            unsafe { libc::mprotect(mapping.start().cast(), mapping.bytes, libc::PROT_READ | libc::PROT_EXEC) };
        match result {
            0 => Ok(mapping),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Its first byte.
    pub fn start(&self) -> *mut u8 {
        self.at.as_ptr()
    }

    /// Its bytes.
    pub fn contents(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is that large, initialized by the system, and borrowed for as long as the slice.
        #[allow(unsafe_code, reason = "memory of our own")]
        unsafe {
            std::slice::from_raw_parts_mut(self.start(), self.bytes)
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is our own, and nothing can use it any more.
        #[allow(unsafe_code, reason = "a system call on a mapping of our own")]
        unsafe {
            libc::munmap(self.start().cast(), self.bytes);
        }
    }
}
