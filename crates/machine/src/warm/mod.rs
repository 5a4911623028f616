//! Caches in a steady state: a program runs on plain memory and the tags of the caches, until the LLC holds what it
//! would hold long after the program has begun.
//!
//! The program runs on memory of its own, so that only tags come out of it: which lines the LLC holds, in their order
//! of use, and which of them have been written and not flushed since. A run that begins with them finds in memory what
//! it would find without them. A dirty line is in durable memory too, as long as the run has not written it; its
//! eviction writes it once more.

mod caches;
mod cpu;

pub use cpu::WarmCpu;

use crate::cache::Llc;
use crate::config::MachineConfig;
use crate::system::{poll, Program};
use caches::Caches;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use strandline_design::AnyDesign;
use strandline_isa::{CoreId, Line, Lowering, Memory, LINE_BYTES};

/// Creates a program that warms caches. It repeats its task without end.
pub type WarmFactory = Box<dyn FnOnce(WarmCpu) -> Program>;

/// Accesses after which a thread's turn ends within a task: others may hold the lock that it waits for.
const TURN: u32 = 4096;
/// Turns of a thread without the end of any task, after which a program counts as stuck.
const MOST_IDLE: u64 = 1 << 16;
/// How often the LLC takes in as many lines as it has, before it counts as turned over. A set of 16 ways takes in 16
/// lines on average while the LLC takes in all of its lines, but some sets take in half as many.
const TURNOVERS: u64 = 2;
/// Tasks after which the program is first asked whether the LLC holds all that it accesses.
const FIRST: u64 = 256;
/// The LLC still fills if it takes in more than this part of its lines while the number of tasks doubles.
const FILLS: u64 = 1024;

/// What the threads share.
struct Shared {
    memory: Memory,
    lowering: Lowering,
    caches: RefCell<Caches>,
    /// Tasks that have ended.
    tasks: Cell<u64>,
    /// Accesses in this turn.
    accesses: Cell<u32>,
    /// Turns since a task has ended.
    idle: Cell<u64>,
}

impl Shared {
    /// Counts an access; whether the turn ends before it.
    #[inline(always)]
    fn ends_turn(&self) -> bool {
        let accesses = self.accesses.get();
        self.accesses.set(accesses + 1);
        accesses >= TURN && {
            self.accesses.set(0);
            true
        }
    }

    fn end_turn(&self) {
        self.accesses.set(TURN);
    }

    fn task_ended(&self) {
        self.tasks.set(self.tasks.get() + 1);
        self.idle.set(0);
        self.end_turn();
    }
}

/// Why the warming has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The LLC has turned over: it has taken in twice as many lines as it has.
    TurnedOver,
    /// The LLC holds all that the program accesses: while the number of tasks doubled it evicted nothing, and took in
    /// hardly a line.
    Fits,
    /// Neither within the tasks allowed, or tasks did not end.
    Bound,
}

/// The contents of an LLC, and how they came about.
pub struct Contents {
    pub(crate) llc: Llc,
    /// Tasks that ran.
    pub tasks: u64,
    /// Lines in the LLC.
    pub lines: u64,
    /// Dirty ones.
    pub dirty: u64,
    /// Why it ended.
    pub ending: Ending,
}

/// Caches that a program warms.
pub struct Warming {
    shared: Rc<Shared>,
    programs: Vec<Program>,
}

impl Warming {
    /// The caches of `machine` with a program's threads on its first cores. The program executes the instructions that
    /// `design` lowers its intents to. The design is not asked anything: its own flushes of lines, which no instruction
    /// requests, clean none.
    pub fn new(machine: &MachineConfig, design: &AnyDesign, memory: Memory, threads: Vec<WarmFactory>) -> Warming {
        let shared = Rc::new(Shared {
            memory,
            lowering: design.lowering(),
            caches: RefCell::new(Caches::new(machine, &design.wants(), threads.len())),
            tasks: Cell::new(0),
            accesses: Cell::new(0),
            idle: Cell::new(0),
        });
        let start = |(index, factory): (usize, WarmFactory)| {
            factory(WarmCpu {
                shared: shared.clone(),
                core: CoreId(index as u16),
            })
        };
        let programs = threads.into_iter().enumerate().map(start).collect();
        Warming { shared, programs }
    }

    /// Puts the lines of these addresses into the LLC, clean, as if they had been used in this order.
    pub fn put(&mut self, addresses: Range<u64>) {
        let mut caches = self.shared.caches.borrow_mut();
        for line in addresses.start / LINE_BYTES..addresses.end.div_ceil(LINE_BYTES) {
            caches.put(Line(line));
        }
    }

    /// Runs the threads in turn, a task each, for `most` tasks at most, until the LLC has turned over or holds all that
    /// they access. `None` if it was told to stop.
    pub fn run(mut self, most: u64, stop: &AtomicBool) -> Option<Contents> {
        let mut growth = Growth::default();
        let ending = loop {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(ending) = self.ending(most, &mut growth) {
                break ending;
            }
            self.shared.idle.set(self.shared.idle.get() + 1);
            for program in &mut self.programs {
                let ended = poll(program).is_ready();
                assert!(!ended, "a program that warms caches goes on");
            }
        };
        let tasks = self.shared.tasks.get();
        // The programs share the caches.
        self.programs.clear();
        let shared = Rc::into_inner(self.shared).expect("no program has them");
        let (llc, lines, dirty) = shared.caches.into_inner().into_llc();
        Some(Contents {
            llc,
            tasks,
            lines,
            dirty,
            ending,
        })
    }

    fn ending(&self, most: u64, growth: &mut Growth) -> Option<Ending> {
        let (tasks, caches) = (self.shared.tasks.get(), self.shared.caches.borrow());
        if caches.taken >= TURNOVERS * caches.capacity {
            return Some(Ending::TurnedOver);
        }
        if tasks >= most || self.shared.idle.get() >= MOST_IDLE || self.programs.is_empty() {
            return Some(Ending::Bound);
        }
        (tasks >= growth.until && !growth.goes_on(tasks, &caches)).then_some(Ending::Fits)
    }
}

/// How the LLC's contents have grown while the number of tasks doubles.
struct Growth {
    until: u64,
    taken: u64,
    evicted: u64,
}

impl Default for Growth {
    fn default() -> Growth {
        Growth {
            until: FIRST,
            // Whatever the first tasks take in counts as growth.
            taken: 0,
            evicted: u64::MAX,
        }
    }
}

impl Growth {
    /// Whether they have grown since the last question, or lines were evicted. Asks again after as many tasks again.
    fn goes_on(&mut self, tasks: u64, caches: &Caches) -> bool {
        let grows = caches.evicted != self.evicted || caches.taken - self.taken > caches.capacity / FILLS;
        *self = Growth {
            until: 2 * tasks,
            taken: caches.taken,
            evicted: caches.evicted,
        };
        grows
    }
}

#[cfg(test)]
mod tests;
