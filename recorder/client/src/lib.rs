//! The recorder in the program: a DynamoRIO client that reports the program's execution to the collector, through a
//! pipe (`strandline-capture` defines the protocol).

#![allow(unsafe_code, reason = "DynamoRIO is a C library; nothing here is done without it")]

mod access;
mod atomic;
mod block;
mod calls;
mod emit;
mod gate;
mod heap;
mod htm;
mod instrument;
mod kernel;
mod lock;
mod mask;
mod options;
mod pm;
mod process;
mod region;
mod replacing;
mod signal;
mod stream;
mod stub;
mod sys;
mod syscall;
mod thread;
mod waiting;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_char, c_int, c_void, CStr};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicU8, Ordering};

use dynamorio_sys::*;
use strandline_capture::{PacketKind, NOBODY, VERSION};

use block::Blocks;
use calls::Calls;
use gate::Gate;
use lock::Lock;
use options::Options;
use stream::{words, Stream};
use thread::{Birth, Thread, MUTE};

/// DynamoRIO reads it: the version for which this client was built.
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
pub(crate) struct Slots {
    segment: reg_id_t,
    offset: u32,
}

#[allow(
    clippy::not_unsafe_ptr_arg_deref,
    reason = "DynamoRIO hands its context out as a pointer and takes it back"
)]
impl Slots {
    /// The place of the next word.
    pub fn next(self, drcontext: *mut c_void) -> opnd_t {
        // SAFETY: the slots were allocated.
        unsafe { dr_raw_tls_opnd(drcontext, self.segment, self.offset) }
    }

    /// The buffer's end.
    pub fn limit(self, drcontext: *mut c_void) -> opnd_t {
        self.slot(drcontext, 1)
    }

    /// The first address that ever was persistent, or the end of the last one.
    pub fn bound(self, drcontext: *mut c_void, which: u32) -> opnd_t {
        self.slot(drcontext, 2 + which)
    }

    /// Whether the thread is in the gate.
    pub fn passes(self, drcontext: *mut c_void) -> opnd_t {
        self.slot(drcontext, 4)
    }

    /// Where a stub returns to, and its arguments.
    pub fn returns(self, drcontext: *mut c_void) -> opnd_t {
        self.slot(drcontext, 5)
    }

    /// An argument of a stub.
    pub fn argument(self, drcontext: *mut c_void, which: u32) -> opnd_t {
        self.slot(drcontext, 6 + which)
    }

    fn slot(self, drcontext: *mut c_void, which: u32) -> opnd_t {
        // SAFETY: the slots were allocated.
        unsafe { dr_raw_tls_opnd(drcontext, self.segment, self.offset + 8 * which) }
    }
}

/// Everything that the threads share.
pub struct Recorder {
    options: Options,
    slots: Slots,
    thread_field: c_int,
    stream: Lock<Stream>,
    blocks: Lock<Blocks>,
    /// Threads that run.
    threads: Lock<Vec<*mut Thread>>,
    /// Threads that have started.
    begun: AtomicU64,
    /// Threads that are about to start.
    births: Lock<Vec<Birth>>,
    /// Persistent memory that is mapped.
    mappings: Lock<Vec<pm::Mapping>>,
    /// Persistent memory that was mapped while it was recorded.
    unmapped: Lock<Vec<pm::Mapping>>,
    /// The kernel's writes into it.
    written_by_kernel: Lock<kernel::Written>,
    /// Addresses of the function at which recording starts.
    symbols: Lock<BTreeSet<u64>>,
    /// The address of the C library's start function, whose argument is the address of `main`.
    libc_start: AtomicU64,
    /// Calls of named functions.
    calls: Calls,
    /// Instructions that were written.
    written: AtomicU64,
    /// The recorded process.
    process: AtomicU64,
    /// Marks instructions that stand for those of hardware transactions.
    transaction_note: usize,
    /// These, by address.
    transactions: Lock<BTreeMap<u64, htm::Instruction>>,
    /// A file of persistent memory was mapped in the recorded part of the run.
    mapped_file: AtomicBool,
    /// The user knows of another process.
    told_of_process: AtomicBool,
    /// The addresses of the recorder's own libraries, which are not part of the program.
    folder: Vec<u8>,
    state: AtomicU8,
    /// A thread has come to where the region begins.
    begins: AtomicBool,
    tickets: AtomicU64,
    stripes: Vec<AtomicBool>,
    gate: Gate,
    stubs: stub::Stubs,
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

    /// Changes the state, if it is the expected one.
    fn change(&self, from: State, to: State) -> bool {
        self.state
            .compare_exchange(from as u8, to as u8, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    }

    /// Whether this is the recorded process, not a child of it.
    fn own_process(&self) -> bool {
        syscall::process() == self.process.load(Ordering::Relaxed)
    }

    /// How many of these words may be written before the limit of instructions; at the limit, recording stops.
    fn within_limit(&self, blocks: &Blocks, words: &[u64]) -> usize {
        let Some(limit) = self.options.max_instructions else {
            return words.len();
        };
        let mut at = 0;
        while at < words.len() {
            if self.written.load(Ordering::Relaxed) >= limit {
                self.change(State::Recording, State::Stopped);
                return at;
            }
            self.written
                .fetch_add(thread::instructions(blocks, words[at]), Ordering::Relaxed);
            at += thread::length(blocks, words[at]);
        }
        words.len()
    }

    /// Writes the buffers of all other threads after recording has stopped. Their positions in their last blocks are
    /// unknown.
    fn drain(&self, except: u32) {
        let threads = self.threads.lock();
        let mut stream = self.stream.lock();
        for thread in threads.iter() {
            // SAFETY: it runs, so it exists, and it does not write, because recorded code was left.
            let thread = unsafe { &mut **thread };
            if thread.number != except {
                thread.take_back();
                thread.write(&mut stream);
            }
        }
    }

    /// The process ends, with this status: the stream ends, too.
    fn end(&self, status: u64) {
        let mut stream = self.stream.lock();
        self.written_by_kernel.lock().tell(&mut stream);
        if self.state() != State::Waiting {
            self.calls.tell(&mut stream);
        } else {
            let what = match &self.options.from {
                options::From::Main => {
                    "the program never entered its function main: nothing was recorded; record it with --from start"
                        .to_owned()
                }
                options::From::Symbol(name) => {
                    format!("the program never entered a function named {name}: nothing was recorded")
                }
                _ => "the program never came to the marker of a region's beginning: nothing was recorded".to_owned(),
            };
            stream.packet(PacketKind::Warning, 0, &[what.as_bytes()]);
        }
        stream.packet(PacketKind::End, 0, &[words(&[status])]);
        stream.close();
    }
}

/// Tells the user.
fn say(what: &str) {
    let text = format!("strandline: {what}\n");
    // SAFETY: the text lives.
    unsafe { dr_write_file(dr_stderr(), text.as_ptr().cast(), text.len()) };
}

/// Ends the program before it starts.
fn give_up(what: &str) -> ! {
    say(what);
    loop {
        // SAFETY: it does not return.
        unsafe { sys::call(sys::number::EXIT_GROUP, [2, 0, 0, 0]) };
    }
}

/// A condition without which the recording would be wrong.
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
    stream.packet(
        PacketKind::Start,
        0,
        &[
            &VERSION.to_le_bytes(),
            &std::process::id().to_le_bytes(),
            &command_line(),
        ],
    );
    // SAFETY: DynamoRIO is up.
    unsafe {
        let mut registers: drreg_options_t = std::mem::zeroed();
        registers.struct_size = std::mem::size_of::<drreg_options_t>();
        registers.num_spill_slots = 5;
        let ready =
            drmgr_init() != 0 && drutil_init() != 0 && drreg_init(&mut registers) == drreg_status_t_DRREG_SUCCESS;
        expect(ready, "DynamoRIO's extensions do not start");
        let mut slots = Slots { segment: 0, offset: 0 };
        expect(
            dr_raw_tls_calloc(&mut slots.segment, &mut slots.offset, thread::SLOTS as u32, 0) != 0,
            "no thread-local slot is free",
        );
        let state = match options.from {
            options::From::Start => State::Recording,
            _ => State::Waiting,
        };
        let mappings = pm::ranges(&options.ranges);
        let recorder = Recorder {
            options,
            slots,
            thread_field: drmgr_register_tls_field(),
            stream: Lock::new(stream),
            blocks: Lock::new(Blocks::default()),
            threads: Lock::new(Vec::new()),
            begun: AtomicU64::new(0),
            births: Lock::new(Vec::new()),
            mappings: Lock::new(mappings),
            unmapped: Lock::new(Vec::new()),
            written_by_kernel: Lock::new(kernel::Written::default()),
            symbols: Lock::new(BTreeSet::new()),
            libc_start: AtomicU64::new(0),
            calls: Calls::default(),
            written: AtomicU64::new(0),
            process: AtomicU64::new(syscall::process()),
            transaction_note: drmgr_reserve_note_range(1) as usize,
            transactions: Lock::new(BTreeMap::new()),
            mapped_file: AtomicBool::new(false),
            told_of_process: AtomicBool::new(false),
            folder: folder(),
            state: AtomicU8::new(state as u8),
            begins: AtomicBool::new(false),
            tickets: AtomicU64::new(1),
            gate: Gate::new(),
            stubs: stub::Stubs::new(slots, gate::enter as *mut c_void, gate::leave as *mut c_void),
            stripes: (0..atomic::STRIPES).map(|_| AtomicBool::new(false)).collect(),
            status: AtomicU64::new(0),
        };
        recorder
            .mappings
            .lock()
            .iter()
            .for_each(|mapping| recorder.gate.add(mapping.range()));
        RECORDER.store(Box::into_raw(Box::new(recorder)), Ordering::Relaxed);
        if state == State::Recording {
            pm::announce_all();
        }
        dr_register_exit_event(Some(exit));
        dr_register_fork_init_event(Some(process::forked));
        dr_register_filter_syscall_event(Some(syscall::filter));
        let registered = drmgr_register_thread_init_event(Some(thread_begins)) != 0
            && drmgr_register_thread_exit_event(Some(thread_ends)) != 0
            && drmgr_register_module_load_event(Some(module_loaded)) != 0
            && drmgr_register_pre_syscall_event(Some(syscall::before)) != 0
            && drmgr_register_post_syscall_event(Some(syscall::after)) != 0
            && drmgr_register_signal_event(Some(signal::came)) != 0
            && drmgr_register_restore_state_ex_event(Some(signal::leaves)) != 0
            && drmgr_register_bb_app2app_event(Some(instrument::rewrite), std::ptr::null_mut()) != 0
            && drmgr_register_bb_instrumentation_event(
                Some(instrument::analyse),
                Some(instrument::insert),
                std::ptr::null_mut(),
            ) != 0;
        expect(registered, "DynamoRIO takes no event");
    }
}

/// The folder of this library, with a slash.
fn folder() -> Vec<u8> {
    // SAFETY: DynamoRIO knows its client.
    let path = unsafe { CStr::from_ptr(dr_get_client_path(0)) }.to_bytes();
    let end = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    path[..end].to_vec()
}

/// The program and its arguments, separated by NUL.
fn command_line() -> Vec<u8> {
    let mut text = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    if text.last() == Some(&0) {
        text.pop();
    }
    text
}

unsafe extern "C" fn thread_begins(drcontext: *mut c_void) {
    let recorder = recorder();
    // SAFETY: this thread's own slots.
    unsafe {
        let base = dr_get_dr_segment_base(recorder.slots.segment);
        let slots = base.wrapping_byte_add(recorder.slots.offset as usize);
        let tid = dr_get_thread_id(drcontext) as u64;
        if !recorder.own_process() {
            // The child of a `vfork`.
            let thread = Box::into_raw(Thread::begin(MUTE, tid, slots.cast()));
            drmgr_set_tls_field(drcontext, recorder.thread_field, thread.cast());
            return;
        }
        let mut threads = recorder.threads.lock();
        let number = recorder.begun.fetch_add(1, Ordering::Relaxed) as u32;
        let thread = Box::into_raw(Thread::begin(number, tid, slots.cast()));
        drmgr_set_tls_field(drcontext, recorder.thread_field, thread.cast());
        threads.push(thread);
        let birth = birth(tid);
        let parent = birth.map_or(NOBODY, |birth| u64::from(birth.parent));
        let clears = birth.map_or(0, |birth| birth.clears);
        recorder
            .stream
            .lock()
            .packet(PacketKind::ThreadStart, number, &[words(&[tid, parent, clears])]);
    }
}

/// How this thread was started: the kernel has returned its id to the parent.
fn birth(tid: u64) -> Option<Birth> {
    let mut births = recorder().births.lock();
    let told = |birth: &Birth| {
        let mut number = 0u32;
        let mut done = 0;
        // SAFETY: reading is safe.
        let read = unsafe {
            dr_safe_read(
                birth.tells as *const c_void,
                4,
                std::ptr::from_mut(&mut number).cast(),
                &mut done,
            )
        };
        read != 0 && u64::from(number) == tid
    };
    let index = births.iter().position(told).or(births.len().checked_sub(1))?;
    Some(births.remove(index))
}

unsafe extern "C" fn thread_ends(drcontext: *mut c_void) {
    let recorder = recorder();
    // SAFETY: made when the thread began.
    unsafe {
        let mut thread = Box::from_raw(Thread::of(drcontext));
        recorder
            .threads
            .lock()
            .retain(|other| (**other).number != thread.number);
        atomic::leave(&mut thread);
        // DynamoRIO may end the child of a `vfork` in its parent.
        if thread.number == MUTE || !recorder.own_process() {
            return (*thread).end();
        }
        if thread.tid != syscall::running() {
            thread.take_back();
        }
        thread.finish();
        recorder
            .stream
            .lock()
            .packet(PacketKind::ThreadEnd, thread.number, &[words(&[recorder.ticket()])]);
        (*thread).end();
    }
}

unsafe extern "C" fn module_loaded(_drcontext: *mut c_void, module: *const module_data_t, _loaded: bool_) {
    // SAFETY: DynamoRIO's own.
    unsafe {
        let module = &*module;
        let path = CStr::from_ptr(module.full_path).to_bytes();
        let offset = if module.num_segments > 0 {
            (*module.segments).offset
        } else {
            0
        };
        let own = path.starts_with(&recorder().folder);
        if own {
            return;
        }
        let place = [module.__bindgen_anon_1.start as u64, module.end as u64, offset];
        recorder()
            .stream
            .lock()
            .packet(PacketKind::Module, 0, &[words(&place), path]);
        region::look_for_symbol(module, &String::from_utf8_lossy(path));
    }
}

unsafe extern "C" fn exit() {
    let recorder = recorder();
    if recorder.own_process() {
        recorder.end(recorder.status.load(Ordering::Relaxed));
    }
}
