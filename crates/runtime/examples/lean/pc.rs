//! A task of `pc`, as a compiler of stackless coroutines would split it: a function for each part between two yields.
//!
//! Six values live across the first yield. `clwb` is left out, because only the library is counted. The update adds to
//! the row, unlike the benchmark's, so that the table's contents do not depend on the order of the tasks.

use crate::library;
use crate::step::{address_in_register, in_register, mark, sfence, stay_here};
use std::array::from_fn;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows of the table: few, so that tasks contend for locks.
pub const ROWS: usize = 16;
/// Maximum number of tasks of a run.
pub const TASKS: usize = 1024;

/// The markers that the counter finds in the instruction stream, by segment: 0 waits for the lock, 1 logs, 2 updates.
pub mod marks {
    /// The task's own first instruction follows.
    pub const BEGIN: u8 = 1;
    /// The task's own last instruction precedes.
    pub const END: u8 = 2;
    /// The task's last instruction before the yield of segment 0, 1 or 2 precedes.
    pub const YIELD: u8 = 0x10;
    /// The task's first own instruction after the yield of segment 0, 1 or 2 follows.
    pub const RESUMED: u8 = 0x20;
}

/// A row, in a line of its own.
#[repr(align(64))]
#[derive(Default)]
struct Row(Cell<u32>, Cell<u32>);

/// An undo record: the old values and the row's index, and whether it is active.
#[repr(align(64))]
#[derive(Default)]
struct Record {
    old: Row,
    row: Cell<u64>,
    open: Cell<bool>,
}

/// The table, its locks, and the run count of each task.
pub struct Pc {
    rows: [Row; ROWS],
    locks: [AtomicU64; ROWS],
    ran: [Cell<u64>; TASKS],
    started: Cell<u64>,
}

/// What belongs to a slot of the window: the table, and the log of its tasks.
pub struct WindowSlot<'a> {
    pc: &'a Pc,
    record: Record,
}

/// A task's live values across its yields.
#[derive(Clone, Copy)]
pub struct Live<'a> {
    row: &'a Row,
    first: u64,
    second: u64,
    lock: &'a AtomicU64,
    record: &'a Record,
    ran: &'a Cell<u64>,
}

impl Live<'_> {
    /// All of it is computed before this point.
    #[inline(always)]
    fn in_registers(self) {
        address_in_register(self.row);
        in_register(self.first);
        in_register(self.second);
        address_in_register(self.lock);
        address_in_register(self.record);
        address_in_register(self.ran);
    }
}

/// A task's frame.
pub type Frame<'a> = library::Frame<Live<'a>, &'a WindowSlot<'a>>;
/// Where a task goes on.
pub type Resume<'a> = library::Resume<Live<'a>, &'a WindowSlot<'a>>;

impl Pc {
    /// A table of zeros.
    pub fn new() -> Self {
        Pc {
            rows: from_fn(|_| Row::default()),
            locks: from_fn(|_| AtomicU64::new(0)),
            ran: from_fn(|_| Cell::new(0)),
            started: Cell::new(0),
        }
    }

    /// This many slots for tasks on this table.
    pub fn window(&self, slots: usize) -> Vec<WindowSlot<'_>> {
        let slot = |_| WindowSlot {
            pc: self,
            record: Record::default(),
        };
        (0..slots).map(slot).collect()
    }
}

#[cfg(test)]
impl Pc {
    /// The rows.
    pub fn contents(&self) -> Vec<(u32, u32)> {
        self.rows.iter().map(|row| (row.0.get(), row.1.get())).collect()
    }

    /// Whether exactly the first `tasks` ran, each once, and left no lock held and no record active.
    pub fn is_done(&self, tasks: usize, slots: &[WindowSlot<'_>]) -> bool {
        let once = |(number, ran): (usize, &Cell<u64>)| ran.get() == u64::from(number < tasks);
        self.ran.iter().enumerate().all(once)
            && self.locks.iter().all(|lock| lock.load(Ordering::Acquire) == 0)
            && slots.iter().all(|slot| !slot.record.open.get())
    }
}

impl WindowSlot<'_> {
    /// An empty frame for this slot.
    pub fn frame(&self) -> Frame<'_> {
        Frame::new(self.live(0), self)
    }

    #[inline(always)]
    fn live(&self, number: u64) -> Live<'_> {
        let key = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let key = (key ^ key >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let index = key as usize % ROWS;
        Live {
            row: &self.pc.rows[index],
            first: key,
            second: index as u64,
            lock: &self.pc.locks[index],
            record: &self.record,
            ran: &self.pc.ran[number as usize % TASKS],
        }
    }
}

/// A task's first segment: locks a row, derived from the task's number.
pub fn start<'a>(frame: &Frame<'a>) -> Option<Resume<'a>> {
    mark::<{ marks::BEGIN }>();
    let pc = frame.slot.pc;
    let number = pc.started.get();
    pc.started.set(number + 1);
    let live = frame.slot.live(number);
    match take(live.lock) {
        true => log(frame, live),
        false => wait(frame, live),
    }
}

#[inline(always)]
fn take(lock: &AtomicU64) -> bool {
    lock.load(Ordering::Acquire) == 0 && lock.swap(1, Ordering::SeqCst) == 0
}

#[inline(always)]
fn wait<'a>(frame: &Frame<'a>, live: Live<'a>) -> Option<Resume<'a>> {
    live.in_registers();
    mark::<{ marks::YIELD }>();
    frame.live.set(live);
    // Prevents the compiler from sharing these stores with `log` by a jump.
    stay_here();
    Some(library::Resume(waited))
}

/// The segment after a wait for the lock.
pub fn waited<'a>(frame: &Frame<'a>) -> Option<Resume<'a>> {
    let live = frame.live.get();
    mark::<{ marks::RESUMED }>();
    match take(live.lock) {
        true => log(frame, live),
        false => {
            mark::<{ marks::YIELD }>();
            Some(library::Resume(waited))
        }
    }
}

#[inline(always)]
fn log<'a>(frame: &Frame<'a>, mut live: Live<'a>) -> Option<Resume<'a>> {
    let Live { row, record, .. } = live;
    record.old.0.set(row.0.get());
    record.old.1.set(row.1.get());
    record.row.set(live.second);
    record.open.set(true);
    let first = row.0.get().wrapping_add(live.first as u32);
    live.second = (u64::from(first) ^ live.second).wrapping_mul(0x9e37_79b1);
    live.first = first.into();
    live.in_registers();
    mark::<{ marks::YIELD + 1 }>();
    frame.live.set(live);
    Some(library::Resume(logged))
}

/// The segment after the undo record's flush.
pub fn logged<'a>(frame: &Frame<'a>) -> Option<Resume<'a>> {
    let Live { row, first, second, .. } = frame.live.get();
    address_in_register(row);
    in_register(first);
    in_register(second);
    mark::<{ marks::RESUMED + 1 }>();
    sfence();
    row.0.set(first as u32);
    row.1.set(second as u32);
    mark::<{ marks::YIELD + 2 }>();
    Some(library::Resume(updated))
}

/// The segment after the row's flush.
pub fn updated<'a>(frame: &Frame<'a>) -> Option<Resume<'a>> {
    let Live { lock, record, ran, .. } = frame.live.get();
    address_in_register(lock);
    address_in_register(record);
    address_in_register(ran);
    mark::<{ marks::RESUMED + 2 }>();
    sfence();
    record.open.set(false);
    ran.set(ran.get() + 1);
    lock.store(0, Ordering::Release);
    mark::<{ marks::END }>();
    None
}
