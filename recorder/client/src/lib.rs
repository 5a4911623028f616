//! The recorder inside the program: a client of DynamoRIO that tells the collector, through a pipe, what the program executes
//! (`strandline-capture` says how).

#![allow(unsafe_code, reason = "DynamoRIO is a C library; nothing here is done without it")]

mod access;
mod atomic;
mod block;
mod emit;
mod instrument;
mod lock;
mod options;
mod region;
mod stream;
mod syscall;
mod sys;
mod thread;

use std::ffi::{c_char, c_int, c_void, CStr};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicU8, Ordering};

use dynamorio_sys::*;
use strandline_capture::{Kind, NOBODY, VERSION};

use block::Blocks;
use lock::Lock;
use options::Options;
use stream::{words, Stream};
use thread::Thread;

/// DynamoRIO looks for it: the version that this client was built for.
#[no_mangle]
pub static _USES_DR_VERSION_: c_int = 1190;

/// What is going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// The region has not begun.
    Waiting = 0,
    /// The program is recorded.
    Recording = 1,
    /// The region has ended.
    Stopped = 2,
}

/// Where inserted code finds a thread's buffer.
#[derive(Clone, Copy)]
pub struct Slots {
    segment: reg_id_t,
    offset: u32,
}

impl Slots {
    /// The place of the next word.
    pub fn next(self, drcontext: *mut c_void) -> opnd_t {
        // SAFETY: the slots were allocated.
        unsafe { dr_raw_tls_opnd(drcontext, self.segment, self.offset) }
    }

    /// The buffer's end.
    pub fn limit(self, drcontext: *mut c_void) -> opnd_t {
        // SAFETY: the slots were allocated.
        unsafe { dr_raw_tls_opnd(drcontext, self.segment, self.offset + 8) }
    }
}

/// Everything that the threads share.
pub struct Recorder {
    options: Options,
    slots: Slots,
    thread_field: c_int,
    stream: Lock<Stream>,
    blocks: Lock<Blocks>,
    threads: AtomicU64,
    state: AtomicU8,
    tickets: AtomicU64,
    stripes: Vec<AtomicBool>,
    status: AtomicU64,
}

static RECORDER: AtomicPtr<Recorder> = AtomicPtr::new(std::ptr::null_mut());

fn recorder() -> &'static Recorder {
    // SAFETY: set before the first event and never freed.
    unsafe { &*RECORDER.load(Ordering::Relaxed) }
}

impl Recorder {
    fn state(&self) -> State {
        match self.state.load(Ordering::Relaxed) {
            0 => State::Waiting,
            1 => State::Recording,
            _ => State::Stopped,
        }
    }

    fn ticket(&self) -> u64 {
        self.tickets.fetch_add(1, Ordering::Relaxed)
    }

    fn budget(&self, _thread: u32, words: &[u64]) -> usize {
        words.len()
    }
}

/// Tells the user.
fn say(what: &str) {
    let text = format!("strandline: {what}\n");
    // SAFETY: the text lives.
    unsafe { dr_write_file(dr_stderr(), text.as_ptr().cast(), text.len()) };
}

/// Ends the program before it begins.
fn give_up(what: &str) -> ! {
    say(what);
    loop {
        // SAFETY: it does not return.
        unsafe { sys::call(sys::number::EXIT_GROUP, [2, 0, 0, 0]) };
    }
}

/// What must hold, or the recording would be wrong.
fn expect(holds: bool, otherwise: &str) {
    if !holds {
        give_up(&format!("the recorder failed: {otherwise}"));
    }
}

/// DynamoRIO calls it first.
///
/// # Safety
/// Called by DynamoRIO alone.
#[no_mangle]
pub unsafe extern "C" fn dr_client_main(_id: client_id_t, _count: c_int, _arguments: *const *const c_char) {
    let Some(options) = options::read() else {
        give_up("the recorder has no settings: start programs by 'strandline record'");
    };
    let Some(mut stream) = Stream::open(&options.pipe) else {
        give_up(&format!("{}: cannot be opened to write a recording to", options.pipe));
    };
    stream.packet(Kind::Start, 0, &[&VERSION.to_le_bytes(), &std::process::id().to_le_bytes(), &command_line()]);
    // SAFETY: DynamoRIO is up.
    unsafe {
        let mut registers: drreg_options_t = std::mem::zeroed();
        registers.struct_size = std::mem::size_of::<drreg_options_t>();
        registers.num_spill_slots = 5;
        let ready = drmgr_init() != 0 && drutil_init() != 0 && drreg_init(&mut registers) == drreg_status_t_DRREG_SUCCESS;
        expect(ready, "DynamoRIO's extensions do not start");
        let mut slots = Slots { segment: 0, offset: 0 };
        expect(dr_raw_tls_calloc(&mut slots.segment, &mut slots.offset, 2, 0) != 0, "no thread-local slot is free");
        let recorder = Recorder {
            options,
            slots,
            thread_field: drmgr_register_tls_field(),
            stream: Lock::new(stream),
            blocks: Lock::new(Blocks::default()),
            threads: AtomicU64::new(0),
            state: AtomicU8::new(State::Recording as u8),
            tickets: AtomicU64::new(0),
            stripes: (0..atomic::STRIPES).map(|_| AtomicBool::new(false)).collect(),
            status: AtomicU64::new(0),
        };
        RECORDER.store(Box::into_raw(Box::new(recorder)), Ordering::Relaxed);
        dr_register_exit_event(Some(exit));
        let registered = drmgr_register_thread_init_event(Some(thread_begins)) != 0
            && drmgr_register_thread_exit_event(Some(thread_ends)) != 0
            && drmgr_register_module_load_event(Some(module_loaded)) != 0
            && drmgr_register_bb_app2app_event(Some(instrument::rewrite), std::ptr::null_mut()) != 0
            && drmgr_register_bb_instrumentation_event(Some(instrument::analyse), Some(instrument::insert), std::ptr::null_mut()) != 0;
        expect(registered, "DynamoRIO takes no event");
    }
}

/// The program and its arguments, separated by NUL.
fn command_line() -> Vec<u8> {
    let mut text = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    text.pop_if(|last| *last == 0);
    text
}

unsafe extern "C" fn thread_begins(drcontext: *mut c_void) {
    let recorder = recorder();
    // SAFETY: this thread's own slots.
    unsafe {
        let number = recorder.threads.fetch_add(1, Ordering::Relaxed) as u32;
        let base = dr_get_dr_segment_base(recorder.slots.segment);
        let slots = base.wrapping_byte_add(recorder.slots.offset as usize);
        let tid = dr_get_thread_id(drcontext) as u64;
        let thread = Thread::begin(number, tid, slots.cast());
        drmgr_set_tls_field(drcontext, recorder.thread_field, Box::into_raw(thread).cast());
        recorder.stream.lock().packet(Kind::ThreadStart, number, &[words(&[tid, NOBODY, 0])]);
    }
}

unsafe extern "C" fn thread_ends(drcontext: *mut c_void) {
    let recorder = recorder();
    // SAFETY: made when the thread began.
    unsafe {
        let thread = Box::from_raw(Thread::of(drcontext));
        let mut thread = thread;
        thread.flush();
        recorder.stream.lock().packet(Kind::ThreadEnd, thread.number, &[words(&[recorder.ticket()])]);
        thread.end();
    }
}

unsafe extern "C" fn module_loaded(_drcontext: *mut c_void, module: *const module_data_t, _loaded: bool_) {
    // SAFETY: DynamoRIO's own.
    unsafe {
        let module = &*module;
        let path = CStr::from_ptr(module.full_path).to_bytes();
        let offset = if module.num_segments > 0 { (*module.segments).offset } else { 0 };
        let place = [module.__bindgen_anon_1.start as u64, module.end as u64, offset];
        recorder().stream.lock().packet(Kind::Module, 0, &[words(&place), path]);
    }
}

unsafe extern "C" fn exit() {
    let recorder = recorder();
    let status = recorder.status.load(Ordering::Relaxed);
    recorder.stream.lock().packet(Kind::End, 0, &[words(&[status])]);
}
