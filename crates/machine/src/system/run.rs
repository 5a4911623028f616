//! The run, and the programs that it runs.

use super::hosts::HostId;
use super::look::CoreView;
use super::precision::Precision;
use super::program::Factory;
use super::running::{Running, Stop};
use super::stuck::Stuck;
use crate::config::MachineConfig;
use crate::core::{Answers, Core};
use crate::journal::Journal;
use crate::stats::Stats;
use crate::timeline::{Detail, Timeline};
use crate::trace::Traces;
use crate::warm::Contents;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::Arc;
use strandline_design::AnyDesign;
use strandline_isa::{Code, CoreId, Memory};
use strandline_kernel::Cycles;

/// How to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Seed of everything random: jitter and forced evictions.
    pub seed: u64,
    /// Whether to keep the journal that crash exploration reads.
    pub journal: bool,
    /// What the journal keeps of the trace: what the cores executed. Without a journal nothing is kept.
    pub trace: Traces,
    /// What the timeline records, if there is one. A run has a journal or a timeline.
    pub timeline: Option<Detail>,
    /// Cycles without progress, and in which no store becomes visible, after which the run is given up.
    pub patience: Cycles,
    /// What progress is.
    pub heartbeat: Heartbeat,
    /// The host of each core; empty: each host has as many, the first ones the first host's.
    pub hosts: Vec<HostId>,
    /// How the programs were compiled.
    pub code: Code,
    /// How well the cycles of a task are to be known, after which the run ends; without it, it ends with its programs.
    pub precision: Option<Precision>,
}

/// What the watchdog counts as progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heartbeat {
    /// Tasks end. (A program that spins executes instructions without progress.)
    Tasks,
    /// Instructions are dispatched: for programs of fixed length without loops, which need not have
    /// tasks.
    Instructions,
}

impl Heartbeat {
    /// The progress of the cores so far.
    pub(super) fn of<'c>(self, cores: impl Iterator<Item = &'c Core>) -> u64 {
        match self {
            Heartbeat::Tasks => cores.map(|core| core.notes.tasks()).sum(),
            Heartbeat::Instructions => cores.map(|core| core.window.instructions()).sum(),
        }
    }
}

/// What other threads learn of a run, and tell it. No result depends on it.
#[derive(Clone, Debug, Default)]
pub struct Remote {
    /// The tasks that have ended, written now and then.
    pub ended: Arc<AtomicU64>,
    /// Whether the run is to stop, read now and then ([`super::Standstill::Stopped`]).
    pub stop: Arc<AtomicBool>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            seed: 1,
            journal: false,
            trace: Traces::Nothing,
            timeline: None,
            patience: Cycles(100_000_000),
            heartbeat: Heartbeat::Tasks,
            hosts: Vec::new(),
            code: Code::Optimized,
            precision: None,
        }
    }
}

/// The outcome of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Counts of the timed region.
    pub stats: Stats,
    /// The durable events, if the journal was kept.
    pub journal: Option<Journal>,
    /// What happened when, if it was recorded.
    pub timeline: Option<Timeline>,
    /// The run ended early: the design interrupted a core
    /// ([`strandline_design::Services::interrupt`]) whose program does not poll. The durable state
    /// is that of a power failure at that moment.
    pub halted: bool,
    /// The run ended before its programs, once [`Options::precision`] was reached.
    pub is_precise: bool,
}

/// A machine with a design in it and programs on its cores.
pub struct System {
    /// It is lent to the core whose program runs.
    running: Option<Box<Running>>,
}

impl System {
    /// A machine of `cores` cores around `memory`. Its caches are empty.
    pub fn new(
        machine: &MachineConfig,
        design: Box<AnyDesign>,
        cores: usize,
        memory: Memory,
        options: Options,
    ) -> System {
        let running = Running::new(machine, design, cores, memory, options);
        System {
            running: Some(Box::new(running)),
        }
    }

    /// The machine while no program runs.
    pub(super) fn idle(&self) -> &Running {
        self.running.as_deref().expect(LENT)
    }

    /// As [`System::idle`].
    pub(super) fn idle_mut(&mut self) -> &mut Running {
        self.running.as_deref_mut().expect(LENT)
    }

    /// Puts a program on a core. It is created anew whenever the design rolls the core back, and
    /// must do the same each time if it is given the same values.
    pub fn start(&mut self, core: CoreId, factory: Factory) {
        self.idle_mut().start(core, factory);
    }

    /// Puts the lines of these addresses into the shared cache, clean, as if they had been used in this order.
    pub fn warm(&mut self, addresses: Range<u64>) {
        self.idle_mut().warm(addresses);
    }

    /// Begins with these caches, translations and predictors.
    pub fn begin_with(&mut self, contents: Contents) {
        let hw = &mut self.idle_mut().hw;
        hw.hosts[0].llc = contents.llc;
        for (hart, (private, learnt)) in hw.harts.iter().zip(contents.cores) {
            hart.core.private.replace(private);
            hart.core.begin_with(learnt.tlb, &learnt.branches);
        }
    }

    /// The design, for its state.
    pub fn design(&self) -> &AnyDesign {
        &*self.idle().design
    }

    /// Memory as the cores of the first host see it.
    pub fn memory(&self) -> &Memory {
        &self.idle().hw.hosts[0].memory
    }

    /// The LLC's lines, and whether they are dirty there or in an owner's caches.
    #[cfg(test)]
    pub fn llc_lines(&mut self) -> std::collections::BTreeMap<strandline_isa::Line, bool> {
        let hw = &mut self.idle_mut().hw;
        let owns = |line| {
            let states = hw.harts.iter().map(|hart| hart.core.private.borrow().state(line));
            states.flatten().any(|state| state == crate::cache::State::Modified)
        };
        let mut lines = std::collections::BTreeMap::new();
        hw.hosts[0]
            .llc
            .change_all(|line, known| _ = lines.insert(line, known.dirty || owns(line)));
        lines
    }

    /// Lets other threads follow the run and stop it.
    pub fn follow(&mut self, remote: Remote) {
        self.idle_mut().watch.remote = remote;
    }

    /// Runs until every program has ended and every store and flush has completed.
    ///
    /// # Errors
    /// No progress.
    pub fn run(&mut self) -> Result<Outcome, Stuck> {
        self.run_on(u64::MAX)?;
        Ok(self.idle_mut().outcome())
    }

    /// Runs up to the end of `cycle`, so that [`System::look`] shows each core as of then. Returns
    /// false when everything is done. [`System::run`] finishes the run and returns its outcome.
    ///
    /// No core runs ahead of `cycle`, whatever `simulation.slack` allows. With a slack of 0 a run
    /// of one core does not depend on where it is stopped. With several cores, a stop may change
    /// their order within one cycle.
    ///
    /// # Errors
    /// No progress.
    pub fn run_until(&mut self, cycle: u64) -> Result<bool, Stuck> {
        self.run_on(cycle)
    }

    /// The present state of a core.
    pub fn look(&self, core: CoreId) -> CoreView {
        let hw = &self.idle().hw;
        CoreView::of(&hw.harts[core.index()], &hw.waiters)
    }

    /// Runs no further than `last`; false when everything is done.
    fn run_on(&mut self, last: u64) -> Result<bool, Stuck> {
        self.idle_mut().end_idle_cores();
        loop {
            match self.idle_mut().run(last)? {
                Stop::Ended => return Ok(false),
                Stop::Later => return Ok(true),
                Stop::Program(core) => self.run_program(core),
            }
            self.idle_mut().look_for_progress()?;
        }
    }

    /// Runs a core's program until it ends or waits.
    fn run_program(&mut self, id: CoreId) {
        let running = self.idle_mut();
        let core = running.hw.harts[id.index()].core.clone();
        let mut program = running.programs[id.index()]
            .take()
            .expect("a program that has not ended");
        core.resumes();
        core.exchange.waits.set(false);
        let ended = Loan::to(&core, &mut self.running).used(|| program.resume());
        let running = self.idle_mut();
        if ended {
            return running.ended(id);
        }
        assert!(core.exchange.waits.get(), "a program suspends with a request");
        // Unless it was begun anew when it asked.
        running.programs[id.index()].get_or_insert(program);
    }
}

const LENT: &str = "the machine is not lent: no program runs";

/// The machine, lent to a core whose program runs. It is given back whatever the program does.
struct Loan<'l> {
    core: &'l Core,
    lender: &'l mut Option<Box<Running>>,
}

impl<'l> Loan<'l> {
    fn to(core: &'l Core, lender: &'l mut Option<Box<Running>>) -> Loan<'l> {
        core.exchange
            .system
            .set(lender.take().map(|running| running as Box<dyn Answers>));
        Loan { core, lender }
    }

    fn used<T>(self, run: impl FnOnce() -> T) -> T {
        run()
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        let system = self.core.exchange.system.take();
        *self.lender = system.and_then(|system| system.into_any().downcast().ok());
    }
}
