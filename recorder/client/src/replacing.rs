//! The program becomes another one (`execve`), as wrappers such as `env` and `numactl` do. If it has no persistent memory
//! so far, the other one is recorded in its place: it is started by the launcher, and begins the stream anew. Otherwise
//! the recording ends.

use std::ffi::{c_char, c_void, CString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::ptr;

use dynamorio_sys::{dr_safe_read, dr_syscall_set_param};
use strandline_capture::Kind;

use crate::stream::words;
use crate::{kernel, pm, recorder, State};

/// Maximum number of arguments that are passed on.
const MOST_WORDS: u64 = 1 << 16;

/// The program is about to become another one: by the file, arguments and environment of an `execve`, or by another
/// call.
pub fn becomes(drcontext: *mut c_void, execve: Option<[u64; 6]>) {
    let recorder = recorder();
    if !recorder.own_process() {
        return;
    }
    match execve {
        Some([file, arguments, ..]) if recorder.state() != State::Stopped && !pm::has_file() => {
            follow(drcontext, file, arguments);
        }
        _ => end(),
    }
}

/// Has the launcher start the other program. A call that would fail is left alone.
fn follow(drcontext: *mut c_void, file: u64, arguments: u64) {
    let Some(command) = command(file, arguments) else {
        return;
    };
    // They are needed until the program is replaced; if that fails, they stay.
    let words: Vec<*const c_char> = command.into_iter().map(|word| word.into_raw().cast_const()).collect();
    let words: &[*const c_char] = Vec::leak([words, vec![ptr::null()]].concat());
    // SAFETY: in the event before a system call; the words live on.
    unsafe {
        dr_syscall_set_param(drcontext, 0, words[0] as u64);
        dr_syscall_set_param(drcontext, 1, words.as_ptr() as u64);
    }
}

/// The launcher with its options, then the program and its arguments; `None` if there is no such program.
fn command(file: u64, arguments: u64) -> Option<Vec<CString>> {
    let recorder = recorder();
    let file = kernel::text(file)?;
    let can_start =
        |path: &str| fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0);
    let launcher = format!("{}strandline-launch", String::from_utf8_lossy(&recorder.folder));
    if !can_start(&file) || !can_start(&launcher) {
        return None;
    }
    // Without a slash, the launcher would search for it.
    let file = if file.contains('/') { file } else { format!("./{file}") };
    let mut given = given(arguments)?.into_iter();
    let name = given.next().unwrap_or_else(|| file.clone());
    let pipe = recorder.stream.lock().shared()?;
    let mut all = vec![launcher];
    all.extend(recorder.options.words(&pipe));
    all.extend(["--argv0".to_owned(), name, "--".to_owned(), file]);
    all.extend(given);
    all.into_iter().map(|word| CString::new(word).ok()).collect()
}

/// The texts of a list that ends with a null pointer.
fn given(list: u64) -> Option<Vec<String>> {
    let mut texts = Vec::new();
    for index in 0..MOST_WORDS {
        let (mut text, mut done) = (0u64, 0);
        let place = (list + 8 * index) as *const c_void;
        // SAFETY: reading is safe.
        let read = unsafe { dr_safe_read(place, 8, ptr::from_mut(&mut text).cast(), &mut done) };
        match text {
            _ if read == 0 => return None,
            0 => return Some(texts),
            text => texts.push(kernel::text(text)?),
        }
    }
    None
}

/// The recording ends here; the program's end is unknown.
fn end() {
    let recorder = recorder();
    let what = match recorder.state() {
        State::Stopped => "after the recorded region the program replaced itself by another (execve): its exit status is not known",
        _ => "the program replaced itself by another (execve): the recording ends there, and its exit status is not known",
    };
    let is_recording = recorder.state() == State::Recording;
    if is_recording {
        // SAFETY: in an event of this thread.
        unsafe { crate::thread::Thread::current() }.flush();
    }
    let mut stream = recorder.stream.lock();
    recorder.written_by_kernel.lock().tell(&mut stream);
    stream.packet(Kind::Warning, 0, &[what.as_bytes()]);
    stream.packet(Kind::End, 0, &[words(&[0])]);
    stream.close();
}
