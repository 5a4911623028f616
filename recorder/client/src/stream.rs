//! Writes packets into the pipe.

use std::ffi::{c_void, CString};

use dynamorio_sys::{
    dr_close_file, dr_open_file, dr_write_file, file_t, DR_FILE_ALLOW_LARGE, DR_FILE_WRITE_ONLY,
    DR_FILE_WRITE_OVERWRITE,
};
use strandline_capture::{PacketKind, MAGIC};

use crate::sys;

const F_SETPIPE_SZ: usize = 1031;

/// The maximum for an unprivileged process.
const PIPE_BYTES: usize = 1 << 20;

/// Write-only, so that writing fails after the reader has gone.
const MODE: u32 = DR_FILE_WRITE_OVERWRITE | DR_FILE_WRITE_ONLY | DR_FILE_ALLOW_LARGE;

/// The pipe.
pub struct Stream {
    file: file_t,
    /// The reader has gone, or the stream has ended: nothing more is written.
    closed: bool,
}

impl Stream {
    /// Opens the pipe, waits for its reader and writes the first packet. `None` if it cannot be opened.
    pub fn open(path: &str) -> Option<Self> {
        let (name, inherited) = (CString::new(path).ok()?, inherited(path));
        // SAFETY: the name ends in NUL.
        let file = match unsafe { dr_open_file(name.as_ptr(), MODE) } {
            // A wrapper may have changed the user, who must not open it again.
            ..0 => inherited? as file_t,
            file => {
                // Processes that the program starts do not hold the pipe.
                // SAFETY: the launcher has left it for this.
                inherited.map(|number| unsafe { sys::call(sys::number::CLOSE, [number, 0, 0, 0]) });
                file
            }
        };
        // SAFETY: one call fails harmlessly on a pipe, the other on anything else.
        unsafe {
            sys::call(sys::number::FTRUNCATE, [file as usize, 0, 0, 0]);
            sys::call(sys::number::FCNTL, [file as usize, F_SETPIPE_SZ, PIPE_BYTES, 0]);
        }
        let mut stream = Stream { file, closed: false };
        stream.write(&MAGIC);
        Some(stream)
    }

    /// Whether nothing more can be written.
    pub fn closed(&self) -> bool {
        self.closed
    }

    /// Writes nothing from here on.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Another descriptor of the pipe, which stays if the program is replaced by another.
    pub fn shared(&self) -> Option<usize> {
        const DUPLICATE: usize = 0;
        if self.closed {
            return None;
        }
        // SAFETY: the new descriptor is the next program's.
        let copy = unsafe { sys::call(sys::number::FCNTL, [self.file as usize, DUPLICATE, 3, 0]) };
        usize::try_from(copy).ok()
    }

    /// Writes nothing from here on, and closes the pipe: its reader does not wait for this process.
    pub fn leave(&mut self) {
        if !self.closed {
            self.closed = true;
            // SAFETY: nothing uses it from here on.
            unsafe { dr_close_file(self.file) };
        }
    }

    /// Writes a packet; the parts are its payload, one after the other.
    pub fn packet(&mut self, kind: PacketKind, thread: u32, parts: &[&[u8]]) {
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        let mut head = [0; strandline_capture::HEADER_BYTES];
        head[0..4].copy_from_slice(&(kind as u32).to_le_bytes());
        head[4..8].copy_from_slice(&thread.to_le_bytes());
        head[8..16].copy_from_slice(&(bytes as u64).to_le_bytes());
        self.write(&head);
        for part in parts {
            self.write(part);
        }
        self.write(&[0; 8][..bytes.next_multiple_of(8) - bytes]);
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.closed || bytes.is_empty() {
            return;
        }
        let written = sys::without_sigpipe(|| all(self.file, bytes));
        self.closed = !written;
    }
}

/// The descriptor in a path of one.
fn inherited(path: &str) -> Option<usize> {
    path.strip_prefix("/proc/self/fd/")?.parse().ok()
}

fn all(file: file_t, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        // SAFETY: the bytes live.
        let written = unsafe { dr_write_file(file, bytes.as_ptr().cast::<c_void>(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) if written > 0 => bytes = &bytes[written..],
            _ if -written == EINTR => {}
            _ => return false,
        }
    }
    true
}

const EINTR: isize = 4;

/// Numbers as a payload.
pub fn words(words: &[u64]) -> &[u8] {
    // SAFETY: numbers are bytes; the machine is little-endian.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), std::mem::size_of_val(words)) }
}
