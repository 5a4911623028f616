//! The program becomes another one (`execve`), as wrappers such as `env` and `numactl` do. If it has mapped no file of
//! persistent memory so far, the other one is recorded in its place: it is started by the launcher, and begins the stream
//! anew. Otherwise the recording ends.

use std::ffi::{c_char, c_void, CStr, CString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::ptr;
use std::sync::atomic::Ordering;

use dynamorio_sys::{dr_free_module_data, dr_get_main_module, dr_safe_read, dr_syscall_set_param};
use strandline_capture::PacketKind;

use crate::stream::words;
use crate::sys::{self, number};
use crate::thread::Thread;
use crate::{kernel, recorder, State};

/// The kernel's limits for one argument, in bytes, and for their number.
const WORD_BYTES: usize = 128 << 10;
const MOST_WORDS: u64 = 1 << 20;

/// The descriptor that stands for the current folder.
const HERE: u64 = -100i64 as u64;

/// What a call asks for.
struct Asked {
    /// The program's file.
    file: String,
    /// The address of the list of its arguments.
    arguments: u64,
    /// The position of the file among the call's own arguments; the list follows.
    at: i32,
}

/// The program is about to become another one. A call that will fail changes nothing.
pub fn becomes(drcontext: *mut c_void, thread: &mut Thread, call: i32, arguments: [u64; 6]) {
    let recorder = recorder();
    let asked = asked(call, arguments).filter(|asked| can_start(&asked.file));
    let (true, Some(asked)) = (recorder.own_process(), asked) else {
        return;
    };
    let several = recorder.threads.lock().len() > 1;
    match recorder.state() {
        State::Stopped => end(
            thread,
            "after the recorded region the program replaced itself by another (execve): its exit status is not known",
        ),
        _ if recorder.mapped_file.load(Ordering::Relaxed) => end(
            thread,
            "the program replaced itself by another (execve): the recording ends there, and its exit status is not known",
        ),
        // One of them might be writing to the stream when it ends.
        _ if several => end(
            thread,
            "a program of several threads replaced itself by another (execve), which is not recorded: record that one",
        ),
        _ => match command(&asked) {
            Some(command) => follow(drcontext, thread, &asked, command),
            None => end(
                thread,
                "the program replaced itself by another (execve), whose arguments cannot be passed on: record that one",
            ),
        },
    }
}

/// A call to become another program has failed.
pub fn failed(thread: &mut Thread) {
    if let Some(pipe) = thread.call.pipe.take() {
        // SAFETY: made for the program that does not run.
        unsafe { sys::call(number::CLOSE, [pipe, 0, 0, 0]) };
    }
}

fn asked(call: i32, [first, second, third, ..]: [u64; 6]) -> Option<Asked> {
    if call == number::EXECVE {
        let file = own_name(kernel::text(first)?);
        return Some(Asked {
            file,
            arguments: second,
            at: 0,
        });
    }
    let path = kernel::text(second)?;
    let file = match (path.starts_with('/') || first as i32 as u64 == HERE, path.is_empty()) {
        (true, _) => path,
        (false, true) => sys::file_of(first as i32)?,
        (false, false) => format!("{}/{path}", sys::file_of(first as i32)?),
    };
    Some(Asked {
        file: own_name(file),
        arguments: third,
        at: 1,
    })
}

/// The file, without a link to the running program: the launcher is another one. Without a slash, it would be searched for.
fn own_name(file: String) -> String {
    match file.strip_prefix("/proc/").and_then(|rest| rest.strip_suffix("/exe")) {
        Some(process) if process == "self" || process == std::process::id().to_string() => main_file().unwrap_or(file),
        _ if file.contains('/') => file,
        _ => format!("./{file}"),
    }
}

/// The program's own file.
fn main_file() -> Option<String> {
    // SAFETY: DynamoRIO's own copy, which is freed.
    unsafe {
        let program = dr_get_main_module();
        if program.is_null() {
            return None;
        }
        let path = CStr::from_ptr((*program).full_path).to_string_lossy().into_owned();
        dr_free_module_data(program);
        Some(path)
    }
}

fn can_start(path: &str) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// Has the launcher start the other program.
fn follow(drcontext: *mut c_void, thread: &mut Thread, asked: &Asked, (command, pipe): (Vec<CString>, usize)) {
    thread.call.pipe = Some(pipe);
    // They are needed until the program is replaced; if that fails, they stay.
    let words: Vec<*const c_char> = command.into_iter().map(|word| word.into_raw().cast_const()).collect();
    let words: &[*const c_char] = Vec::leak([words, vec![ptr::null()]].concat());
    // SAFETY: in the event before a system call; the words live on. A full path needs no folder.
    unsafe {
        dr_syscall_set_param(drcontext, asked.at, words[0] as u64);
        dr_syscall_set_param(drcontext, asked.at + 1, words.as_ptr() as u64);
        if asked.at == 1 {
            dr_syscall_set_param(drcontext, 4, 0);
        }
    }
}

/// The launcher with its options, then the program and its arguments; and the descriptor of the pipe for it. `None` if
/// they cannot be told.
fn command(asked: &Asked) -> Option<(Vec<CString>, usize)> {
    let recorder = recorder();
    let launcher = format!("{}strandline-launch", String::from_utf8_lossy(&recorder.folder));
    let mut given = given(asked.arguments)?.into_iter();
    let name = given.next().unwrap_or_else(|| asked.file.clone().into_bytes());
    if !can_start(&launcher) {
        return None;
    }
    let pipe = recorder.stream.lock().shared()?;
    let mut all = vec![launcher];
    all.extend(recorder.options.words(&format!("/proc/self/fd/{pipe}")));
    all.push("--argv0".to_owned());
    let mut all: Vec<Vec<u8>> = all.into_iter().map(String::into_bytes).collect();
    all.extend([name, b"--".to_vec(), asked.file.clone().into_bytes()]);
    all.extend(given);
    let words: Option<Vec<CString>> = all.into_iter().map(|word| CString::new(word).ok()).collect();
    Some((words?, pipe))
}

/// The texts of a list that ends with a null pointer; Linux takes none for an empty list.
fn given(list: u64) -> Option<Vec<Vec<u8>>> {
    let mut texts = Vec::new();
    if list == 0 {
        return Some(texts);
    }
    for index in 0..MOST_WORDS {
        let (mut text, mut done) = (0u64, 0);
        let place = (list + 8 * index) as *const c_void;
        // SAFETY: reading is safe.
        let read = unsafe { dr_safe_read(place, 8, ptr::from_mut(&mut text).cast(), &mut done) };
        match text {
            _ if read == 0 => return None,
            0 => return Some(texts),
            text => texts.push(kernel::bytes(text, WORD_BYTES)?),
        }
    }
    None
}

/// The recording ends here, without the program's exit status. Of other threads, what waits in their buffers is lost.
fn end(thread: &mut Thread, what: &str) {
    let recorder = recorder();
    if recorder.state() == State::Recording {
        thread.flush();
    }
    let mut stream = recorder.stream.lock();
    recorder.written_by_kernel.lock().tell(&mut stream);
    stream.packet(PacketKind::Warning, 0, &[what.as_bytes()]);
    stream.packet(PacketKind::End, 0, &[words(&[0])]);
    stream.close();
}
