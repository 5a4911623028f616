//! A thread of the program and its buffer.

use std::ffi::c_void;

use dynamorio_sys::*;
use strandline_capture::{Control, PacketKind, Passed};

use crate::block::Blocks;
use crate::gate::Passing;
use crate::stream::{words, Stream};
use crate::{recorder, region, State};

/// A buffer with more words is written before the next block.
pub const BUFFER_BYTES: usize = 256 << 10;

/// The same if instructions are counted: the other threads' buffers are lost when the limit is reached.
const COUNTED_BYTES: usize = 16 << 10;

/// Space above it for one block; a longer one is refused.
pub const BLOCK_BYTES: usize = 64 << 10;

/// Space above that for control words.
const CONTROL_BYTES: usize = 4 << 10;

/// The number of threads that report nothing: those of other processes.
pub const MUTE: u32 = u32::MAX;

/// Words for inserted code: the position of the next word, the buffer's end, the bounds of persistent memory, whether the thread
/// is in the gate, and of a stub's call where it returns to and two arguments.
pub const SLOTS: usize = 8;

/// A thread that is about to start.
#[derive(Clone, Copy, Debug)]
pub struct Birth {
    /// The number of its parent thread.
    pub parent: u32,
    /// Where the kernel stores the new thread's id before it runs, or zero.
    pub tells: u64,
    /// What the kernel clears when the thread ends, or zero.
    pub clears: u64,
}

/// A thread. DynamoRIO keeps a pointer to it.
pub struct Thread {
    /// Its number: threads are counted in the order of their starts.
    pub number: u32,
    /// The operating system's number.
    pub tid: u64,
    /// Data for inserted code.
    slots: *mut [*mut u64; SLOTS],
    base: *mut u64,
    limit: *mut u64,
    /// The start of the contiguous words; the block that a [`Control::Cut`] has cut is before it.
    whole: *mut u64,
    /// The stripe of [`crate::atomic`] that it holds.
    pub held: Option<usize>,
    /// Its way through the gate.
    pub passing: Passing,
    /// Its current system call.
    pub call: crate::syscall::Call,
    /// Its calls of named functions.
    pub calls: crate::calls::InProgress,
    /// Its hardware transactions.
    pub transactions: crate::htm::Transactions,
    /// The words before it were looked at for these.
    looked: *mut u64,
}

// SAFETY: used by its own thread, or while that is stopped.
unsafe impl Send for Thread {}

impl Thread {
    /// The thread that runs.
    ///
    /// # Safety
    /// It runs under DynamoRIO and its [`Thread`] was made.
    pub unsafe fn current() -> &'static mut Thread {
        // SAFETY: the caller's promise.
        unsafe { Self::of(dr_get_current_drcontext()) }
    }

    /// The thread of this context.
    ///
    /// # Safety
    /// As [`Thread::current`].
    pub unsafe fn of(drcontext: *mut c_void) -> &'static mut Thread {
        // SAFETY: set when the thread began, freed when it ended.
        unsafe { &mut *drmgr_get_tls_field(drcontext, recorder().thread_field).cast::<Thread>() }
    }

    /// The start of a thread, in its own context.
    pub fn begin(number: u32, tid: u64, slots: *mut [*mut u64; SLOTS]) -> Box<Thread> {
        let bytes = BUFFER_BYTES + BLOCK_BYTES + CONTROL_BYTES;
        let access = DR_MEMPROT_READ | DR_MEMPROT_WRITE;
        // SAFETY: fresh memory; the slots are this thread's.
        unsafe {
            let base = dr_raw_mem_alloc(bytes, access, std::ptr::null_mut()).cast::<u64>();
            crate::expect(!base.is_null(), "no memory is left for a thread's buffer");
            let full = recorder()
                .options
                .max_instructions
                .map_or(BUFFER_BYTES, |_| COUNTED_BYTES);
            let limit = base.byte_add(full);
            let [first, last] = recorder().gate.bounds();
            let none = std::ptr::null_mut();
            *slots = [base, limit, first as *mut u64, last as *mut u64, none, none, none, none];
            Box::new(Thread {
                number,
                tid,
                slots,
                base,
                limit,
                whole: base,
                held: None,
                passing: Passing::default(),
                call: crate::syscall::Call::default(),
                calls: crate::calls::InProgress::default(),
                transactions: crate::htm::Transactions::default(),
                looked: base,
            })
        }
    }

    /// Frees its buffer.
    pub fn end(self) {
        // SAFETY: allocated with this size.
        unsafe { dr_raw_mem_free(self.base.cast(), BUFFER_BYTES + BLOCK_BYTES + CONTROL_BYTES) };
    }

    /// The word this many bytes before the next one.
    pub fn slot(&mut self, back: i32) -> *mut u64 {
        self.next().wrapping_byte_sub(back as usize)
    }

    /// The position of a word in the buffer.
    pub fn position(&self, word: *const u64) -> usize {
        // SAFETY: it is in the buffer.
        unsafe { word.offset_from(self.base) as usize }
    }

    /// Whether it is in the gate.
    pub fn passes(&mut self, passes: bool) {
        // SAFETY: the slots live as long as the thread.
        unsafe { (*self.slots)[4] = usize::from(passes) as *mut u64 };
    }

    /// The arguments of the stub that is called.
    pub fn arguments(&self) -> [i32; 2] {
        // SAFETY: the slots live as long as the thread.
        unsafe { [(*self.slots)[6] as i32, (*self.slots)[7] as i32] }
    }

    /// More memory is persistent.
    pub fn bound(&mut self, [first, last]: [u64; 2]) {
        // SAFETY: the slots live as long as the thread, and are words that its code reads one by one.
        unsafe {
            std::ptr::addr_of_mut!((*self.slots)[2]).write_volatile(first as *mut u64);
            std::ptr::addr_of_mut!((*self.slots)[3]).write_volatile(last as *mut u64);
        }
    }

    fn next(&self) -> *mut u64 {
        // SAFETY: the slots live as long as the thread.
        unsafe { (*self.slots)[0] }
    }

    fn set_next(&mut self, next: *mut u64) {
        // SAFETY: the slots live as long as the thread.
        unsafe { (*self.slots)[0] = next };
    }

    /// Takes back all words from this one on.
    fn shorten(&mut self, next: *mut u64) {
        self.set_next(next);
        let end = self.position(next);
        self.passing
            .done
            .retain(|passed| usize::from(Passed::unpack(*passed).at) < end);
    }

    /// Adds words.
    pub fn push(&mut self, new: &[u64]) {
        if recorder().state() != State::Recording || self.number == MUTE {
            return;
        }
        if self.next() >= self.limit {
            self.flush();
        }
        let next = self.next();
        // SAFETY: below the limit, above which is more space.
        unsafe {
            std::ptr::copy_nonoverlapping(new.as_ptr(), next, new.len());
            self.set_next(next.add(new.len()));
        }
    }

    /// Words that wait.
    fn waiting(&self) -> &[u64] {
        // SAFETY: all up to the next were written.
        unsafe { std::slice::from_raw_parts(self.base, self.next().offset_from(self.base) as usize) }
    }

    /// Tells its transactions what was executed since the last time.
    pub fn look(&mut self) {
        if self.looked < self.next() {
            // SAFETY: all up to the next were written, and what was looked at ends with a block or a control word.
            let words =
                unsafe { std::slice::from_raw_parts(self.looked, self.next().offset_from(self.looked) as usize) };
            self.transactions.see(&recorder().blocks.lock(), words);
            self.looked = self.next();
        }
    }

    /// Writes the buffer, if recording is active. It must not run at the end of a thread or of the process, because
    /// DynamoRIO would then deadlock if code must be deleted.
    pub fn flush(&mut self) {
        let was = recorder().state();
        self.finish();
        if was == State::Recording && recorder().state() == State::Stopped {
            region::forget_code();
        }
    }

    /// Writes the buffer, if recording is active.
    pub fn finish(&mut self) {
        let recorder = recorder();
        let mut stream = recorder.stream.lock();
        if recorder.state() != State::Recording || self.number == MUTE {
            self.empty();
            return;
        }
        self.write(&mut stream);
        if stream.closed() {
            recorder.change(State::Recording, State::Stopped);
        }
    }

    /// Writes the part of the buffer within the limit of instructions.
    pub fn write(&mut self, stream: &mut Stream) {
        let recorder = recorder();
        if self.transactions.is_open() {
            self.look();
        }
        let mut blocks = recorder.blocks.lock();
        let keep = recorder.within_limit(&blocks, self.waiting());
        if keep > 0 {
            let fresh = blocks.take_pending();
            drop(blocks);
            if !fresh.is_empty() {
                stream.packet(PacketKind::Blocks, 0, &[&fresh]);
            }
            if !self.passing.done.is_empty() {
                stream.packet(PacketKind::Passed, self.number, &[words(&self.passing.done)]);
            }
            stream.packet(PacketKind::Trace, self.number, &[words(&self.waiting()[..keep])]);
        }
        self.empty();
    }

    fn empty(&mut self) {
        self.looked = self.base;
        self.shorten(self.base);
        self.whole = self.base;
    }

    /// The position of the last block's word, if the last word belongs to a block.
    fn last_block(&self, blocks: &Blocks) -> Option<*mut u64> {
        let mut at = self.whole;
        let mut last = None;
        while at < self.next() {
            // SAFETY: below the next.
            let word = unsafe { *at };
            last = matches!(Control::of(word), Some((Control::Block, _))).then_some(at);
            at = at.wrapping_add(length(blocks, word));
        }
        last
    }

    /// A fault at this address ended the last block early.
    pub fn cut(&mut self, pc: u64) {
        let recorder = recorder();
        if recorder.state() != State::Recording {
            return;
        }
        self.transactions.is_cut();
        let (done, next) = {
            let blocks = recorder.blocks.lock();
            let Some(at) = self.last_block(&blocks) else { return };
            // SAFETY: in the buffer.
            let Some((_, id)) = Control::of(unsafe { *at }) else {
                return;
            };
            let Some(block) = blocks.get(id) else { return };
            let Some(done) = block.instruction_at(pc) else { return };
            (done, at.wrapping_add(block.words_before(done)))
        };
        self.shorten(next);
        self.push(&[Control::Cut.word(done as u64)]);
        self.whole = self.next();
    }

    /// Removes the last block, which may be incomplete: the thread was stopped at an unknown place.
    pub fn take_back(&mut self) {
        let last = self.last_block(&recorder().blocks.lock());
        if let Some(at) = last {
            self.shorten(at);
        }
    }
}

/// Number of words that start with this control word.
pub fn length(blocks: &Blocks, word: u64) -> usize {
    match Control::of(word) {
        Some((Control::Block, id)) => blocks.get(id).map_or(1, |block| block.words()),
        Some((Control::Syscall | Control::Futex, _)) => 2,
        Some((Control::Returned | Control::Sync, _)) => 3,
        Some((Control::Cut, _)) | None => 1,
    }
}

/// Number of instructions of this control word.
pub fn instructions(blocks: &Blocks, word: u64) -> u64 {
    match Control::of(word) {
        Some((Control::Block, id)) => blocks.get(id).map_or(0, |block| block.instructions() as u64),
        _ => 0,
    }
}
