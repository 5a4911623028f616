//! A start in a steady state: the program's threads run on plain memory and the tags of the caches, until the LLC holds
//! what it would hold long after the program has begun. The timed run begins with that memory and these tags.
//!
//! Lines that are dirty in the LLC then are durable too, as if each had been written back a moment before and made dirty
//! again. Their evictions write them once more.

use crate::cache::{Llc, Untimed};
use crate::config::MachineConfig;
use crate::core::tlb::Tlb;
use crate::core::{Core, Functional, SimCpu};
use crate::system::{poll, Factory, Program};
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use strandline_design::AnyDesign;
use strandline_isa::{CoreId, Memory};

/// Turns of a thread without the end of any task, after which a program counts as stuck.
const MOST_IDLE: u64 = 1 << 16;
/// How often the LLC takes in as many lines as it has, before it counts as turned over. A set of 16 ways takes in 16
/// lines on average while the LLC takes in all of its lines, but some sets take in half as many.
const TURNOVERS: u64 = 2;
/// Tasks after which the program is first asked whether the LLC holds all that it accesses.
const FIRST: u64 = 256;
/// The LLC still fills if it takes in more than this part of its lines while the number of tasks doubles.
const FILLS: u64 = 1024;

/// Why the warming has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The LLC has turned over: it has taken in twice as many lines as it has.
    TurnedOver,
    /// The LLC holds all that the program accesses: while the number of tasks doubled it evicted nothing, and took in
    /// hardly a line.
    Fits,
    /// Neither within the tasks allowed.
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

/// Why there is nothing to begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// It was told to stop.
    Stopped,
    /// No task ends any more.
    Stuck,
}

/// Caches that a program warms.
pub struct Warming {
    shared: Rc<Functional>,
    memory: Rc<Memory>,
    /// Where table entries lie.
    tlb: Tlb,
    /// Those that have not ended.
    programs: Vec<Program>,
}

impl Warming {
    /// The caches of `machine` with a program's threads on its first cores. The program executes the instructions that
    /// `design` lowers its intents to. The design is not asked anything: its own flushes of lines, which no instruction
    /// requests, clean none. Each thread asks before a task whether it begins one ([`strandline_isa::Warms`]).
    pub fn new(machine: &MachineConfig, design: &AnyDesign, memory: Memory, threads: Vec<Factory>) -> Warming {
        let shared = Rc::new(Functional::new(Untimed::new(machine, &design.wants(), threads.len())));
        let (memory, lowering) = (Rc::new(memory), design.lowering());
        let start = |(index, factory): (usize, Factory)| {
            let id = CoreId(index as u16);
            let core = Core::functional(id, machine, memory.clone(), lowering, shared.clone());
            factory(SimCpu::new(Rc::new(core)))
        };
        let programs = threads.into_iter().enumerate().map(start).collect();
        Warming {
            shared,
            memory,
            tlb: Tlb::new(&machine.tlb),
            programs,
        }
    }

    /// Puts the lines of these addresses into the LLC, clean, as if they had been used in this order; the table entries
    /// of a page come before its lines.
    pub fn put(&mut self, addresses: Range<u64>) {
        let mut caches = self.shared.caches.borrow_mut();
        for line in self.tlb.lines_with_entries(addresses) {
            caches.put(line);
        }
    }

    /// Runs the threads in turn, a task each, for `most` tasks at most, until the LLC has turned over or holds all that
    /// they access; then to the end of the tasks that have begun. What it has left in memory and in the LLC.
    ///
    /// # Errors
    /// It was told to stop, or no task ends.
    pub fn run(mut self, most: u64, stop: &AtomicBool) -> Result<(Memory, Contents), Unfinished> {
        let mut growth = Growth::default();
        let mut ending = None;
        while !self.programs.is_empty() {
            if stop.load(Ordering::Relaxed) {
                return Err(Unfinished::Stopped);
            }
            ending = ending.or_else(|| self.ending(most, &mut growth));
            self.shared.over.set(ending.is_some());
            self.turn()?;
        }
        Ok(self.contents(ending.unwrap_or(Ending::Bound)))
    }

    /// Gives each thread a turn.
    fn turn(&mut self) -> Result<(), Unfinished> {
        let idle = self.shared.idle.get() + 1;
        self.shared.idle.set(idle);
        self.programs.retain_mut(|program| poll(program).is_pending());
        match idle > MOST_IDLE {
            true => Err(Unfinished::Stuck),
            false => Ok(()),
        }
    }

    fn contents(self, ending: Ending) -> (Memory, Contents) {
        let Warming { shared, memory, .. } = self;
        let tasks = shared.tasks.get();
        let shared = Rc::into_inner(shared).expect("no program has it");
        let (llc, lines, dirty) = shared.caches.into_inner().into_llc();
        let contents = Contents {
            llc,
            tasks,
            lines,
            dirty,
            ending,
        };
        (Rc::into_inner(memory).expect("no program has it"), contents)
    }

    fn ending(&self, most: u64, growth: &mut Growth) -> Option<Ending> {
        let (tasks, caches) = (self.shared.tasks.get(), self.shared.caches.borrow());
        if caches.taken >= TURNOVERS * caches.capacity {
            return Some(Ending::TurnedOver);
        }
        if tasks >= most {
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
    fn goes_on(&mut self, tasks: u64, caches: &Untimed) -> bool {
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
