//! The run: cores and events in global time order.

use super::channel::Channels;
use super::hardware::{Hardware, Hart, ProgramState, Tally};
use super::stuck::{describe, Stuck};
use super::turns::{Turn, Turns};
use super::waiters::{Condition, Waiters};
use crate::cache::Llc;
use crate::config::Machine;
use crate::core::{Core, Counted, SimCpu, Wants};
use crate::crash_image::CrashImage;
use crate::journal::Journal;
use crate::memory::{Controller, Dram, Writes};
use crate::stats::Stats;
use crate::trace::Tracer;
use std::collections::VecDeque;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use strandline_design::{AnyDesign, Domain};
use strandline_isa::{CoreId, Line, Memory, LINE_BYTES};
use strandline_kernel::{Counts, Cycles, Events, Rng};
use strandline_rules::any_broken;

/// The program of one hardware thread.
pub type Program = Pin<Box<dyn Future<Output = ()>>>;

/// Creates a program; each call creates it anew.
pub type Factory = Rc<dyn Fn(SimCpu) -> Program>;

/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Seed of everything random: jitter and forced evictions.
    pub seed: u64,
    /// Whether to keep the journal that crash exploration reads.
    pub journal: bool,
    /// Whether the journal keeps the trace too: what the cores executed. Without a journal nothing is kept.
    pub trace: bool,
    /// Cycles without progress after which the run is given up.
    pub patience: Cycles,
    /// What progress is.
    pub heartbeat: Heartbeat,
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
    fn of(self, hw: &Hardware) -> u64 {
        let cores = hw.harts.iter().map(|hart| &hart.core);
        match self {
            Heartbeat::Tasks => cores.map(|core| core.notes.tasks()).sum(),
            Heartbeat::Instructions => cores.map(|core| core.window.count()).sum(),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            seed: 1,
            journal: false,
            trace: false,
            patience: Cycles(100_000_000),
            heartbeat: Heartbeat::Tasks,
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
    /// The run ended early: the design interrupted a core
    /// ([`strandline_design::Services::interrupt`]) whose program does not poll. The durable state
    /// is that of a power failure at that moment.
    pub halted: bool,
}

/// A machine with a design in it and programs on its cores.
pub struct System {
    pub(super) hw: Hardware,
    pub(super) design: Box<AnyDesign>,
    /// Whether every core is snooped for a line, holder of it or not.
    pub(super) snoops_all: bool,
    /// Whether a line that no core writes keeps its bytes, so that runs of cores that wait may be put off.
    pub(super) may_doze: bool,
    pub(super) programs: Vec<Option<Program>>,
    /// Creates a core's program anew, if that is possible.
    pub(super) factories: Vec<Option<Factory>>,
    pub(super) options: Options,
    tracer: Option<Rc<Tracer>>,
    start: Start,
    pub(super) watch: Watch,
    /// A core was interrupted whose program does not poll: the run is over.
    pub(super) halted: bool,
}

/// The counts at the start of the timed region.
#[derive(Default)]
struct Start {
    at: u64,
    stats: Stats,
    /// The design's counters at the start are still to be read: events precede it.
    asks_design: bool,
}

impl System {
    /// A machine of `cores` cores around `memory`. Its caches are empty.
    pub fn new(machine: &Machine, design: Box<AnyDesign>, cores: usize, memory: Memory, options: Options) -> System {
        let crash_image = options.journal.then(|| CrashImage::of(&memory));
        let durable = (!options.journal && design.reads_durable()).then(|| memory.persistent_half());
        let memory = Rc::new(memory);
        let tracer = (options.journal && options.trace).then(|| Rc::new(Tracer::new(cores)));
        let caches_durable = options.journal && design.domain() == Domain::Caches;
        let writes = Rc::new(Counted::default());
        let wants = Wants {
            writes: writes.clone(),
            plain_nt: design.plain_nt(),
            logs: design.rolls_back(cores),
            barriers: design.orders_by_barriers(),
            every_store: caches_durable || machine.simulation.evict_one_in > 0,
            observed: options.journal,
            tracer: tracer.clone(),
        };
        let lowering = design.lowering();
        let harts = (0..cores)
            .map(|i| {
                let core = Rc::new(Core::new(
                    CoreId(i as u16),
                    machine,
                    memory.clone(),
                    lowering,
                    wants.clone(),
                ));
                Hart::new(core, machine.controllers.count)
            })
            .collect();
        let hw = Hardware {
            now: 0,
            step: 0,
            memory,
            harts,
            turns: Turns::new(cores),
            llc: Llc::new(&machine.llc),
            controllers: (0..machine.controllers.count)
                .map(|_| Controller::new(machine))
                .collect(),
            dram: Dram::new(&machine.dram, &machine.core),
            events: Events::default(),
            writes: Writes::new(),
            rng: Rng::new(options.seed),
            crash_image,
            durable,
            stale_since: None,
            commands: VecDeque::new(),
            waiters: Waiters::new(cores),
            channels: Channels::default(),
            recent: VecDeque::new(),
            writes_counted: writes,
            tally: Tally::default(),
            machine: machine.clone(),
        };
        System {
            hw,
            snoops_all: design.snoops_all(),
            may_doze: cores > 1 && !design.reads_durable() && !any_broken(),
            design,
            programs: (0..cores).map(|_| None).collect(),
            factories: (0..cores).map(|_| None).collect(),
            options,
            tracer,
            start: Start::default(),
            watch: Watch::default(),
            halted: false,
        }
    }

    /// The back end for a program on `core`.
    pub fn cpu(&self, core: CoreId) -> SimCpu {
        SimCpu::new(self.hw.harts[core.index()].core.clone())
    }

    /// Puts a program on a core. It is created anew whenever the design rolls the core back, and
    /// must do the same each time if it is given the same values.
    pub fn start(&mut self, core: CoreId, factory: Factory) {
        self.programs[core.index()] = Some(factory(self.cpu(core)));
        self.factories[core.index()] = Some(factory);
    }

    /// Puts the lines of these addresses into the shared cache, clean, as if they had been used in this order.
    pub fn warm(&mut self, addresses: Range<u64>) {
        for line in addresses.start / LINE_BYTES..addresses.end.div_ceil(LINE_BYTES) {
            if self.hw.llc.peek(Line(line)).is_none() {
                self.hw.llc.insert(Line(line));
            }
        }
    }

    /// The design, for its state.
    pub fn design(&self) -> &AnyDesign {
        &*self.design
    }

    /// Memory as the cores see it.
    pub fn memory(&self) -> &Memory {
        &self.hw.memory
    }

    /// Makes the run write to `ended`, now and then, how many tasks have ended. No result depends
    /// on it.
    pub fn tell(&mut self, ended: Arc<AtomicU64>) {
        self.watch.ended = ended;
    }

    /// Runs until every program has ended and every store and flush has completed.
    ///
    /// # Errors
    /// No progress.
    pub fn run(&mut self) -> Result<Outcome, Stuck> {
        self.end_idle_cores();
        while self.step(u64::MAX)? {
            self.watch.look(&self.hw, &*self.design, &self.options)?;
        }
        Ok(self.outcome())
    }

    /// Cores without a program have ended.
    pub(super) fn end_idle_cores(&mut self) {
        for (hart, program) in self.hw.harts.iter_mut().zip(&self.programs) {
            if program.is_none() {
                hart.state = ProgramState::Ended;
            }
        }
    }

    /// Runs the earliest event or core, a core no further than `last`; false when everything is
    /// done.
    pub(super) fn step(&mut self, last: u64) -> Result<bool, Stuck> {
        if self.halted {
            return Ok(false);
        }
        let next_event = self.hw.events.next_at().0;
        let Turn { at, core, second } = self.hw.next_turn();
        if self.start.asks_design && at.min(next_event) >= self.start.at {
            self.ask_at_start();
        }
        if next_event <= at {
            let Some((at, event)) = self.hw.events.pop() else {
                return self.finished();
            };
            self.event(at.0, event);
            return Ok(true);
        }
        let others = self.before_others(second).min(last);
        let hart = self.hw.hart(core);
        if hart.core.drains.get() == at {
            let next_op = hart.next_op_at();
            self.drain(core, others.min(next_op), last);
        } else {
            hart.core.alone.set(second.min(next_event).min(last.saturating_add(1)));
            let slack = self.hw.machine.simulation.slack.0;
            self.go(core, others.saturating_add(slack).min(last), slack);
        }
        Ok(true)
    }

    /// Up to when a core may act before the next event and another core, which acts at `second`.
    #[inline(always)]
    fn before_others(&self, second: u64) -> u64 {
        second.min(self.hw.events.next_at().0.saturating_sub(1))
    }

    /// Whether a core's store queue is what the next step drains, and up to when.
    #[inline]
    pub(super) fn drains_again(&mut self, core: CoreId, last: u64) -> Option<u64> {
        let next_event = self.hw.events.next_at().0;
        self.hw.turns.touch(core);
        let Turn {
            at,
            core: first,
            second,
        } = self.hw.next_turn();
        self.hw.turns.touch(core);
        let hart = &self.hw.harts[core.index()];
        let again = first == core && at < next_event && at <= last && hart.core.drains.get() == at;
        let others = self.before_others(second).min(last);
        (again && !self.start.asks_design).then(|| others.min(hart.next_op_at()))
    }

    fn finished(&self) -> Result<bool, Stuck> {
        let done =
            self.hw.harts.iter().all(|h| {
                matches!(h.state, ProgramState::Ended) && !h.core.window.is_held() && h.core.pending(None) == 0
            });
        if done {
            Ok(false)
        } else {
            Err(describe(&self.hw, &*self.design, true))
        }
    }

    /// Runs a core's program up to `horizon`.
    fn go(&mut self, id: CoreId, horizon: u64, slack: u64) {
        if self.dozes(id, horizon) {
            return;
        }
        let core = self.hw.harts[id.index()].core.clone();
        core.horizon.set(horizon);
        loop {
            let request = match self.hw.harts[id.index()].state {
                ProgramState::Again(request) => request,
                _ => match self.poll(id) {
                    Poll::Ready(()) => return self.ended(id),
                    Poll::Pending => core.request.take().expect("a program suspends with a request"),
                },
            };
            let goes_on = self.request(id, request);
            let next_event = self.hw.events.next_at().0;
            let event = next_event.saturating_sub(1).saturating_add(slack);
            core.horizon.set(core.horizon.get().min(event));
            // The request may have woken another core.
            core.alone.set(match self.hw.harts.len() {
                1 => core.alone.get().min(next_event),
                _ => 0,
            });
            if !goes_on || core.next_op.get() > core.horizon.get() {
                return;
            }
        }
    }

    pub(super) fn poll(&mut self, id: CoreId) -> Poll<()> {
        self.hw.harts[id.index()].core.resumes();
        let program = self.programs[id.index()]
            .as_mut()
            .expect("a program that has not ended");
        program.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    pub(super) fn ended(&mut self, id: CoreId) {
        self.programs[id.index()] = None;
        let now = self.hw.harts[id.index()].core.next_op.get();
        self.send_all_combined(id, now);
        self.hw.hart(id).state = ProgramState::Ended;
        self.maybe_start();
    }

    /// Starts the timed region once every program has reached the start line.
    pub(super) fn maybe_start(&mut self) {
        let waiters = &self.hw.waiters;
        let stands = |h: &Hart| {
            let waits = waiters.of_program(h.core.id).map(|(condition, _)| condition);
            waits == Some(Condition::Started) && h.core.notes.is_certain()
        };
        let has_ended = |h: &Hart| matches!(h.state, ProgramState::Ended);
        let harts = &self.hw.harts;
        if !harts.iter().all(|h| stands(h) || has_ended(h)) || !harts.iter().any(stands) {
            return;
        }
        let times = self
            .hw
            .harts
            .iter()
            .map(|h| h.core.window.cycle().max(h.core.window.retired()));
        let at = times.max().unwrap_or(0);
        self.start = Start {
            at,
            stats: self.totals(),
            asks_design: true,
        };
        self.hw.turns.touch_all();
        for hart in &mut self.hw.harts {
            hart.core.notes.take_latencies();
            let waiters = &mut self.hw.waiters;
            if waiters
                .wake_program(hart.core.id, |at| at == Condition::Started)
                .is_some()
            {
                hart.core.window.redirect(at);
                hart.core.next_op.set(at);
                hart.state = ProgramState::Runnable;
            }
        }
    }

    /// What the design had counted when the timed region began.
    fn ask_at_start(&mut self) {
        self.start.asks_design = false;
        self.start.stats.design = self.design.counters(Cycles(self.start.at));
    }

    /// Counts since the run began.
    fn totals(&self) -> Stats {
        let cores = || self.hw.harts.iter().map(|h| &*h.core);
        let sum = |f: &dyn Fn(&Core) -> u64| cores().map(f).sum::<u64>();
        let tally = self.hw.tally;
        let instructions = sum(&|c| c.window.count());
        Stats {
            tasks: sum(&|c| c.notes.tasks()),
            instructions,
            instructions_simulated: instructions,
            loads: sum(&|c| c.counts.loads.get()),
            stores: sum(&|c| c.counts.stores.get()),
            flushes: sum(&|c| c.counts.flushes.get()),
            fences: sum(&|c| c.counts.fences.get()),
            mispredictions: sum(&|c| c.counts.mispredictions.get()),
            jumps: sum(&|c| c.counts.jumps.get()),
            jumps_mispredicted: sum(&|c| c.counts.jumps_mispredicted.get()),
            switch_instructions: Some(sum(&|c| c.notes.library())),
            window: cores().map(|c| c.notes.window()).max().unwrap_or(1),
            fence_stall_cycles: sum(&|c| c.window.stalls().fence.get()),
            buffer_stall_cycles: sum(&|c| c.window.stalls().buffer.get()),
            fetch_stall_cycles: sum(&|c| c.window.stalls().fetch.get()),
            pm_reads: tally.pm_reads,
            pm_writes: tally.pm_writes,
            pm_write_bytes: tally.pm_write_bytes,
            coalesced: tally.coalesced,
            commits: tally.commits,
            pcommits: sum(&|c| c.counts.pcommits.get()),
            pcommits_in_flight_max: cores()
                .map(|c| c.counts.pcommits_in_flight_max.get())
                .max()
                .unwrap_or(0),
            stores_during_pcommits: sum(&|c| c.counts.stores_during_pcommits.get()),
            ..Stats::default()
        }
    }

    fn outcome(&mut self) -> Outcome {
        self.wake_all();
        let end = self
            .hw
            .harts
            .iter()
            .map(|h| h.settled.max(h.core.window.retired()))
            .max()
            .unwrap_or(0);
        if self.start.asks_design {
            self.ask_at_start();
        }
        let totals = Stats {
            design: self.design.counters(Cycles(end)),
            ..self.totals()
        };
        let mut stats = totals.since(&self.start.stats);
        stats.cycles = Cycles(end).since(Cycles(self.start.at));
        for hart in &self.hw.harts {
            stats.task_latency.merge(&hart.core.notes.take_latencies());
        }
        let journal = self.hw.crash_image.take().map(|image| Journal {
            durable: image.into_changes(),
            notes: self.hw.harts.iter().map(|h| h.core.notes.take_kept()).collect(),
            trace: self.tracer.as_ref().map(|t| t.take()).unwrap_or_default(),
            halted: self.halted,
            stale_since: self.hw.stale_since,
        });
        Outcome {
            stats,
            journal,
            halted: self.halted,
        }
    }
}

/// Checks now and then for progress.
#[derive(Default)]
pub(super) struct Watch {
    steps: u64,
    /// The progress so far.
    done: u64,
    /// The furthest cycle that the run has reached: `Hardware::now` may decrease, this does not.
    reached: u64,
    /// The furthest cycle at the latest progress.
    since: u64,
    /// The tasks that have ended, for other threads to read.
    ended: Arc<AtomicU64>,
}

/// Steps between two checks.
const LOOK_EVERY: u64 = 1 << 12;

impl Watch {
    pub(super) fn look(&mut self, hw: &Hardware, design: &AnyDesign, options: &Options) -> Result<(), Stuck> {
        self.steps += 1;
        if self.steps % LOOK_EVERY != 0 {
            return Ok(());
        }
        self.reached = self.reached.max(hw.now);
        self.ended.store(Heartbeat::Tasks.of(hw), Ordering::Relaxed);
        let done = options.heartbeat.of(hw);
        if done != self.done {
            self.done = done;
            self.since = self.reached;
        }
        if self.reached - self.since > options.patience.0 {
            return Err(describe(hw, design, false));
        }
        Ok(())
    }
}
