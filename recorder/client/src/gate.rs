//! Accesses to persistent memory by several threads: one at a time, with tickets.
//!
//! Once the program has a second thread, each instruction that accesses persistent memory passes a gate, in which no other thread
//! is. So its loads read what earlier passes have stored, and nothing of what comes. A line belongs to its first thread, whose
//! accesses need no ticket until another thread comes.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use dynamorio_sys::{dr_get_milliseconds, dr_thread_yield};
use strandline_capture::{Passed, LINE_BYTES};

use crate::recorder;
use crate::thread::Thread;

/// Lines that share an owner, as if they were one.
const OWNERS: usize = 1 << 20;

/// Owners: none, a thread's number plus one, or several.
const NOBODY: u32 = 0;
const SEVERAL: u32 = u32::MAX;

/// Rounds before a thread yields, and how long it waits then. DynamoRIO may have stopped the thread in the gate and wait for this
/// one.
const SPINS: u32 = 200;
const MILLISECONDS: u64 = 500;

/// The gate.
pub struct Gate {
    /// There is, or was, a second thread.
    several: AtomicBool,
    closed: AtomicBool,
    /// Of each line, by a hash. Read and written in the gate.
    owners: Vec<AtomicU32>,
    /// All memory that ever was persistent; a list that is replaced whole.
    persistent: AtomicPtr<Vec<Range<u64>>>,
}

/// What a thread does in the gate.
#[derive(Default)]
pub struct Passing {
    /// It is in, perhaps with another one.
    is_in: bool,
    is_alone: bool,
    /// The accesses of its instruction: the position of each in the buffer, and its bytes.
    accesses: Vec<(usize, Range<u64>)>,
    /// Those that are done, for the collector.
    pub done: Vec<u64>,
}

impl Gate {
    /// Open.
    pub fn new() -> Gate {
        Gate {
            several: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            owners: (0..OWNERS).map(|_| AtomicU32::new(NOBODY)).collect(),
            persistent: AtomicPtr::new(Box::into_raw(Box::default())),
        }
    }

    /// Whether code passes the gate.
    pub fn is_used(&self) -> bool {
        self.several.load(Ordering::Relaxed)
    }

    /// A second thread is about to start; whether it is the first time.
    pub fn use_it(&self) -> bool {
        !self.several.swap(true, Ordering::Relaxed)
    }

    fn ranges(&self) -> &[Range<u64>] {
        // SAFETY: a list is never freed.
        unsafe { &*self.persistent.load(Ordering::Acquire) }
    }

    /// This memory is persistent; the caller holds the lock of mappings.
    pub fn add(&self, range: Range<u64>) {
        let mut ranges = self.ranges().to_vec();
        ranges.push(range);
        // Mappings are few, and other threads may still read the old list.
        self.persistent
            .store(Box::into_raw(Box::new(ranges)), Ordering::Release);
    }

    /// The first and the last address, plus one, that ever was persistent.
    pub fn bounds(&self) -> [u64; 2] {
        let ranges = self.ranges();
        let first = ranges.iter().map(|range| range.start).min();
        let last = ranges.iter().map(|range| range.end).max();
        [first.unwrap_or(u64::MAX), last.unwrap_or(0)]
    }

    fn is_persistent(&self, bytes: &Range<u64>) -> bool {
        self.ranges()
            .iter()
            .any(|range| range.start < bytes.end && bytes.start < range.end)
    }

    /// Whether it could be closed.
    fn close(&self) -> bool {
        let try_it = || !self.closed.load(Ordering::Relaxed) && !self.closed.swap(true, Ordering::Acquire);
        for _ in 0..SPINS {
            if try_it() {
                return true;
            }
            std::hint::spin_loop();
        }
        // SAFETY: in a clean call.
        let now = || unsafe { dr_get_milliseconds() };
        let end = now() + MILLISECONDS;
        while now() < end {
            if try_it() {
                return true;
            }
            // SAFETY: in a clean call.
            unsafe { dr_thread_yield() };
        }
        false
    }

    /// Opens it, after all of the thread's stores, also non-temporal ones: an exchange waits for them.
    pub fn open(&self) {
        self.closed.swap(false, Ordering::SeqCst);
    }

    /// Whether this thread, in the gate, shares a line with others.
    fn shares(&self, thread: u32, lines: impl Iterator<Item = u64> + Clone) -> bool {
        let of = |line: u64| &self.owners[(line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44) as usize % OWNERS];
        let others = |line| ![NOBODY, thread + 1].contains(&of(line).load(Ordering::Relaxed));
        let shares = lines.clone().any(others);
        let owner = if shares { SEVERAL } else { thread + 1 };
        lines.for_each(|line| of(line).store(owner, Ordering::Relaxed));
        shares
    }
}

/// Before an instruction, for each of its accesses that may be one to persistent memory: enters the gate. A stub's arguments are
/// the place of its address and its size.
pub extern "C" fn enter() {
    // SAFETY: called from the program's code in the cache.
    let thread = unsafe { Thread::current() };
    let [address, size] = thread.arguments();
    let slot = thread.slot(address);
    // SAFETY: the block's words are in the buffer.
    let place = unsafe { *slot };
    let bytes = place..place.saturating_add(size as u64);
    let gate = &recorder().gate;
    if !gate.is_persistent(&bytes) {
        return;
    }
    let position = thread.position(slot);
    let passing = &mut thread.passing;
    if !passing.is_in {
        passing.is_alone = gate.close();
        passing.is_in = true;
        thread.passes(true);
    }
    thread.passing.accesses.push((position, bytes));
}

/// Behind an instruction that has entered the gate: notes its accesses and leaves. A jump leaves before it reads,
/// and the stub's first argument says so.
pub extern "C" fn leave() {
    // SAFETY: called from the program's code in the cache.
    let thread = unsafe { Thread::current() };
    let [is_before, _] = thread.arguments();
    let number = thread.number;
    let passing = &mut thread.passing;
    let lines = passing
        .accesses
        .iter()
        .flat_map(|(_, bytes)| bytes.start / LINE_BYTES..=(bytes.end - 1) / LINE_BYTES);
    let recorder = recorder();
    let ticket = match recorder.gate.shares(number, lines) {
        true => recorder.ticket(),
        false => 0,
    };
    let is_sure = passing.is_alone && is_before == 0;
    for (position, _) in passing.accesses.drain(..) {
        let at = position as u16;
        passing.done.push(Passed { at, ticket, is_sure }.pack());
    }
    stop(thread);
}

/// Leaves the gate without an access, if the thread is in it.
pub fn stop(thread: &mut Thread) {
    let passing = &mut thread.passing;
    passing.accesses.clear();
    if std::mem::take(&mut passing.is_in) {
        if passing.is_alone {
            recorder().gate.open();
        }
        thread.passes(false);
    }
}
