//! Counts the kernel's writes into persistent memory, which no instruction of the program shows, and warns the user.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ops::Range;

use dynamorio_sys::dr_safe_read;
use strandline_capture::PacketKind;

use crate::stream::Stream;
use crate::sys::{self, number};
use crate::thread::Thread;
use crate::{pm, recorder, State};

/// The location of a system call's data.
#[derive(Clone, Copy)]
enum Data {
    /// The kernel fills the buffer in this argument.
    Buffer(usize),
    /// The kernel fills the buffers of the list in this argument; the next argument has their number.
    Buffers(usize),
    /// The kernel fills the buffers of the message in this argument.
    Message(usize),
    /// The kernel fills the messages of the list in this argument; the result is their number.
    Messages(usize),
    /// The kernel writes to the file of this argument.
    File(usize),
}

/// The writing calls: number, name, and location.
const CALLS: [(i32, &str, Data); 18] = [
    (number::READ, "read", Data::Buffer(1)),
    (number::PREAD64, "pread", Data::Buffer(1)),
    (number::READV, "readv", Data::Buffers(1)),
    (number::PREADV, "preadv", Data::Buffers(1)),
    (number::PREADV2, "preadv2", Data::Buffers(1)),
    (number::RECVFROM, "recv", Data::Buffer(1)),
    (number::RECVMSG, "recvmsg", Data::Message(1)),
    (number::RECVMMSG, "recvmmsg", Data::Messages(1)),
    (number::GETRANDOM, "getrandom", Data::Buffer(0)),
    (number::PROCESS_VM_READV, "process_vm_readv", Data::Buffers(1)),
    (number::WRITE, "write", Data::File(0)),
    (number::PWRITE64, "pwrite", Data::File(0)),
    (number::WRITEV, "writev", Data::File(0)),
    (number::PWRITEV, "pwritev", Data::File(0)),
    (number::PWRITEV2, "pwritev2", Data::File(0)),
    (number::SENDFILE, "sendfile", Data::File(0)),
    (number::SPLICE, "splice", Data::File(2)),
    (number::COPY_FILE_RANGE, "copy_file_range", Data::File(2)),
];

/// Bytes that system calls have written into persistent memory, by the call's name.
#[derive(Default)]
pub struct Written(BTreeMap<&'static str, u64>);

impl Written {
    /// Warns of each kind of call.
    pub fn tell(&mut self, stream: &mut Stream) {
        for (name, bytes) in std::mem::take(&mut self.0) {
            let what = format!(
                "{name}: the kernel wrote {bytes} bytes into persistent memory, which are not in the recording: crash \
                 states hold there what was before"
            );
            stream.packet(PacketKind::Warning, 0, &[what.as_bytes()]);
        }
    }
}

/// A system call has returned and transferred this many bytes.
pub fn returned(thread: &mut Thread, call: i32, bytes: u64) {
    let (recorder, arguments) = (recorder(), thread.call.arguments);
    if bytes == 0 || recorder.state() != State::Recording {
        return;
    }
    let Some((_, name, data)) = CALLS.iter().find(|(number, ..)| *number == call) else {
        return;
    };
    let written = match *data {
        Data::Buffer(at) => pm::bytes_within(&(arguments[at]..arguments[at].saturating_add(bytes))),
        Data::Buffers(at) => into_buffers(arguments[at], arguments[at + 1], bytes),
        Data::Message(at) => into_message(arguments[at], bytes),
        Data::Messages(at) => (0..bytes)
            .map(|index| received(arguments[at] + MESSAGE_BYTES * index))
            .sum(),
        Data::File(at) if pm::maps(arguments[at] as i32) => bytes,
        Data::File(_) => 0,
    };
    if let (Data::File(at), true) = (*data, written > 0) {
        wrote_through(thread, call, arguments[at] as i32, bytes);
    }
    wrote(name, written);
}

/// A synchronous `write` has also made durable what was stored to the pages of its range, and no others.
fn wrote_through(thread: &mut Thread, call: i32, descriptor: i32, bytes: u64) {
    const O_DSYNC: u64 = 0x1000;
    const RWF_SYNCS: u64 = 2 | 4;
    let [.., place, _, flags] = thread.call.arguments;
    let (place, flags) = match call {
        number::WRITE | number::WRITEV => (None, 0),
        number::PWRITE64 | number::PWRITEV => (Some(place), 0),
        // Offset -1 stands for the descriptor's position.
        number::PWRITEV2 => (Some(place).filter(|place| *place != u64::MAX), flags),
        _ => return,
    };
    if flags & RWF_SYNCS == 0 && sys::flags_of(descriptor) & O_DSYNC == 0 {
        return;
    }
    let behind = || Some(sys::position_of(descriptor)?.saturating_sub(bytes));
    if let Some(place) = place.or_else(behind) {
        pm::part_synced(thread, descriptor, &(place..place.saturating_add(bytes)));
    }
}

/// A call of this name wrote this many bytes into persistent memory.
pub fn wrote(name: &'static str, bytes: u64) {
    let recorder = recorder();
    if bytes > 0 && recorder.state() == State::Recording {
        *recorder.written_by_kernel.lock().0.entry(name).or_default() += bytes;
    }
}

/// Mapped persistent bytes that a call, which is about to start, cuts off their file.
pub fn cut(call: i32, arguments: [u64; 6]) -> u64 {
    let path = match call {
        _ if recorder().state() != State::Recording => None,
        number::FTRUNCATE => sys::file_of(arguments[0] as i32),
        number::TRUNCATE => text(arguments[0])
            .and_then(|path| std::fs::canonicalize(path).ok())
            .map(|path| path.to_string_lossy().into_owned()),
        _ => None,
    };
    let Some(path) = path else { return 0 };
    let place = match call {
        // A removed file has no other name.
        number::FTRUNCATE => format!("/proc/self/fd/{}", arguments[0]),
        _ => path.clone(),
    };
    let bytes = std::fs::metadata(place).map_or(0, |file| file.len());
    pm::bytes_of_file(&path, &(arguments[1]..bytes))
}

/// Persistent bytes that `fallocate` changed: by a hole, by zeros, or because what is behind them moved.
pub fn reallocated([descriptor, mode, offset, bytes]: [u64; 4]) -> u64 {
    const PUNCH_HOLE: u64 = 2;
    const COLLAPSE_RANGE: u64 = 8;
    const ZERO_RANGE: u64 = 0x10;
    const INSERT_RANGE: u64 = 0x20;
    let end = match mode {
        _ if mode & (COLLAPSE_RANGE | INSERT_RANGE) != 0 => u64::MAX,
        _ if mode & (PUNCH_HOLE | ZERO_RANGE) != 0 => offset.saturating_add(bytes),
        _ => return 0,
    };
    sys::file_of(descriptor as i32).map_or(0, |path| pm::bytes_of_file(&path, &(offset..end)))
}

/// The program has queues to the kernel: `io_uring`, or those of `io_submit`.
pub fn queues(name: &str) {
    let recorder = recorder();
    if recorder.state() == State::Recording {
        let what = format!(
            "{name}: what the kernel writes into persistent memory by its queues, or makes durable, is not in the \
             recording: crash states hold there what was before"
        );
        recorder
            .stream
            .lock()
            .packet(PacketKind::Warning, 0, &[what.as_bytes()]);
    }
}

/// Bytes of an entry of a list of messages: the message, and its length.
const MESSAGE_BYTES: u64 = 64;

/// The persistent bytes of a message in a list.
fn received(message: u64) -> u64 {
    let length = words(message + MESSAGE_BYTES - 16).map_or(0, |[_, length]| length & u64::from(u32::MAX));
    into_message(message, length)
}

/// The number of persistent bytes, if these bytes fill the buffers of this message.
fn into_message(message: u64, bytes: u64) -> u64 {
    // The list of buffers and their number follow the address and its length.
    words(message + 16).map_or(0, |[buffers, count]| into_buffers(buffers, count, bytes))
}

/// Maximum number of bytes of a path.
const PATH_BYTES: usize = 4096;

/// A path of the program.
pub fn text(at: u64) -> Option<String> {
    String::from_utf8(bytes(at, PATH_BYTES)?).ok()
}

/// The bytes of the program up to a NUL, of which there are fewer than `most`.
pub fn bytes(at: u64, most: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while bytes.len() < most {
        let (mut byte, mut done) = (0u8, 0);
        let place = (at + bytes.len() as u64) as *const c_void;
        // SAFETY: reading is safe.
        let read = unsafe { dr_safe_read(place, 1, std::ptr::from_mut(&mut byte).cast(), &mut done) };
        match byte {
            _ if read == 0 => return None,
            0 => return Some(bytes),
            byte => bytes.push(byte),
        }
    }
    None
}

/// The number of persistent bytes, if these bytes fill the buffers in sequence.
fn into_buffers(list: u64, count: u64, mut bytes: u64) -> u64 {
    let mut persistent = 0;
    for index in 0..count {
        let Some([start, length]) = words(list + 16 * index) else {
            break;
        };
        let filled = length.min(bytes);
        let range: Range<u64> = start..start.saturating_add(filled);
        persistent += pm::bytes_within(&range);
        bytes -= filled;
        if bytes == 0 {
            break;
        }
    }
    persistent
}

/// Two words of the program's memory.
fn words(at: u64) -> Option<[u64; 2]> {
    let (mut words, mut done) = ([0u64; 2], 0);
    // SAFETY: reading is safe.
    let read = unsafe { dr_safe_read(at as *const c_void, 16, words.as_mut_ptr().cast(), &mut done) };
    (read != 0).then_some(words)
}
