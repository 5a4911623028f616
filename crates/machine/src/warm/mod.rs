//! A start in a steady state: the program's threads run on plain memory, the tags of the caches, the TLBs and the
//! predictors, until these hold what they would hold long after the program has begun. The timed run begins with them.
//!
//! Lines that are dirty in the caches then are durable too, as if each had been written back a moment before and made
//! dirty again. Their evictions from the LLC write them once more.

mod cpu;
mod settling;

use crate::cache::{Llc, Parts, Private, Untimed};
use crate::config::MachineConfig;
use crate::core::tlb::Tlb;
use crate::system::{Body, Program};
use cpu::{Learnt, Shared, UntimedCpu};
use settling::{Part, PartKind, Settling};
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use strandline_design::{AnyDesign, Wants};
use strandline_isa::{CoreId, Lowering, Memory, Thread};

/// Turns of a thread without the end of any task, after which a program counts as stuck.
const MOST_IDLE: u64 = 1 << 16;
/// Accesses of a thread, on average, before the bound ends a warming, so that short runs begin as long ones do: some 25 ms
/// of the host.
pub const LEAST_ACCESSES: u64 = 1 << 18;
/// How often a cache takes in as many lines as it has, before it counts as turned over. A set of 16 ways takes in 16
/// lines on average while a cache takes in all of its lines, but some sets take in half as many.
const TURNOVERS: u64 = 2;
/// Why the warming has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The LLC has turned over: it has taken in twice as many lines as it has. All else has settled.
    TurnedOver,
    /// The LLC holds all that the program accesses: while the number of tasks doubled it evicted nothing, and took in
    /// hardly a line. All else has settled.
    Fits,
    /// The tasks allowed have run before that.
    Bound,
}

/// What a start takes from its design. Designs of equal accesses begin alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Accesses {
    /// [`Lowering::of_accesses`].
    lowering: Lowering,
    /// What caches without time heed of them.
    wants: Wants,
}

impl Accesses {
    /// Those of programs on a design.
    #[must_use]
    pub fn of(design: &AnyDesign) -> Accesses {
        let wants = design.wants();
        Accesses {
            lowering: design.lowering().of_accesses(),
            wants: Wants {
                nt_cached: wants.nt_cached,
                handed_over_clean: wants.handed_over_clean,
                ..Wants::default()
            },
        }
    }
}

/// The contents of caches, TLBs and predictors, and how they came about.
#[derive(Clone)]
pub struct Contents {
    pub(crate) llc: Llc,
    /// The private levels of each core with a thread, its translations and its predictors.
    pub(crate) cores: Vec<(Private, Learnt)>,
    /// Tasks that ran.
    pub tasks: u64,
    /// Lines in the LLC.
    pub lines: u64,
    /// Lines that are dirty in it or in a private level.
    pub dirty: u64,
    /// Why it ended.
    pub ending: Ending,
    /// What had not settled when it ended, in words; nothing unless it ended at its bound.
    pub unsettled: Vec<&'static str>,
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
    shared: Rc<Shared>,
    /// Where table entries lie.
    tlb: Tlb,
    /// Translations of a core's TLB.
    entries: u64,
    cores: Vec<Rc<Learnt>>,
    /// Accesses before the bound ends it.
    least: u64,
    settling: Settling,
    /// Those that have not ended.
    programs: Vec<Program>,
}

impl Warming {
    /// The caches of `machine` with a program's threads on its first cores. The program executes the instructions that
    /// its design lowers its intents to. The design is not asked anything: its own flushes of lines, which no instruction
    /// requests, clean none. Each thread asks before a task whether it begins one ([`strandline_isa::Cpu::has_warm_task`]).
    pub fn new(machine: &MachineConfig, accesses: &Accesses, memory: Memory, threads: Vec<Body>) -> Warming {
        let machine = &machine.cores_and_caches();
        let caches = Untimed::new(machine, &accesses.wants, threads.len());
        let shared = Rc::new(Shared::new(caches, memory));
        let cores: Vec<Rc<Learnt>> = threads.iter().map(|_| Rc::new(Learnt::new(machine))).collect();
        let started = (0..).zip(threads.into_iter().zip(&cores));
        let programs = started.map(|(number, (body, learnt))| {
            let (shared, learnt, lowering) = (shared.clone(), learnt.clone(), accesses.lowering);
            Program::new(move |stack| {
                let cpu = UntimedCpu {
                    id: CoreId(number),
                    lowering,
                    shared,
                    learnt,
                    stack,
                };
                body(&Thread::on(&cpu));
            })
        });
        Warming {
            programs: programs.collect(),
            shared,
            tlb: Tlb::new(&machine.tlb),
            entries: machine.tlb.l1_entries.max(machine.tlb.l2_entries),
            least: LEAST_ACCESSES * cores.len() as u64,
            cores,
            settling: Settling::default(),
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
    /// they access, and all else has settled; then to the end of the tasks that have begun. What it has left.
    ///
    /// # Errors
    /// It was told to stop, or no task ends.
    pub fn run(mut self, most: u64, stop: &AtomicBool) -> Result<(Memory, Contents), Unfinished> {
        let mut ended = None;
        while !self.programs.is_empty() {
            if stop.load(Ordering::Relaxed) {
                return Err(Unfinished::Stopped);
            }
            ended = ended.or_else(|| self.ending(most));
            self.shared.over.set(ended.is_some());
            self.turn()?;
        }
        let (ending, unsettled) = ended.unwrap_or_else(|| (Ending::Bound, self.unsettled()));
        Ok(self.contents(ending, unsettled))
    }

    /// Gives each thread a turn.
    fn turn(&mut self) -> Result<(), Unfinished> {
        let idle = self.shared.idle.get() + 1;
        self.shared.idle.set(idle);
        self.programs.retain_mut(|program| !program.resume());
        match idle > MOST_IDLE {
            true => Err(Unfinished::Stuck),
            false => Ok(()),
        }
    }

    fn contents(self, ending: Ending, unsettled: Vec<&'static str>) -> (Memory, Contents) {
        let Shared {
            caches, memory, tasks, ..
        } = sole(self.shared);
        let Parts {
            llc,
            private,
            lines,
            dirty,
        } = caches.into_inner().into_parts();
        let contents = Contents {
            llc,
            cores: private.into_iter().zip(self.cores.into_iter().map(sole)).collect(),
            tasks: tasks.into_inner(),
            lines,
            dirty,
            ending,
            unsettled,
        };
        (memory, contents)
    }

    /// Why the warming ends now, if it does, and what has not settled: the tasks that have begun may settle it yet.
    fn ending(&mut self, most: u64) -> Option<(Ending, Vec<&'static str>)> {
        let tasks = self.shared.tasks.get();
        if self.settling.is_due(tasks) {
            let parts = self.parts();
            self.settling.look(tasks, &self.shared.caches.borrow(), &parts);
        }
        match self.settling.has_settled() {
            true if self.has_turned_over() => Some((Ending::TurnedOver, Vec::new())),
            true if self.settling.llc_fits() => Some((Ending::Fits, Vec::new())),
            _ => (tasks >= most && self.shared.work.get() >= self.least).then(|| (Ending::Bound, self.unsettled())),
        }
    }

    /// What has not settled, in words.
    fn unsettled(&self) -> Vec<&'static str> {
        let llc = (!self.has_turned_over() && !self.settling.llc_fits()).then_some("LLC");
        llc.into_iter().chain(self.settling.unsettled()).collect()
    }

    /// Whether the LLC has.
    fn has_turned_over(&self) -> bool {
        let caches = self.shared.caches.borrow();
        caches.taken >= TURNOVERS * caches.capacity
    }

    /// How far each part of each core has come.
    fn parts(&self) -> Vec<Part> {
        let caches = self.shared.caches.borrow();
        let cores = self.cores.iter().zip(caches.filled());
        let parts = cores.flat_map(|(core, filled)| {
            [
                Part::new(PartKind::Private, filled, Some(caches.private_capacity)),
                Part::new(PartKind::Tlb, core.tlb.counts.walks.get(), Some(self.entries)),
                Part::new(PartKind::Predictors, core.mispredictions.get(), None),
            ]
        });
        parts.collect()
    }
}

/// What no program has any more.
fn sole<T>(shared: Rc<T>) -> T {
    Rc::into_inner(shared).expect("no program has it")
}

#[cfg(test)]
mod tests;
