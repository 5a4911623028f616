//! A machine with its design and programs: cores and events in global time order.

use super::device_reserve::DeviceReserve;
use super::directory::Directory;
use super::events::Event;
use super::hardware::{Hardware, Observed, ProgramState};
use super::hosts::{Host, HostId};
use super::precision::Looks;
use super::program::{Factory, Program};
use super::region::Region;
use super::reserve::Reserve;
use super::run::{Heartbeat, Options, Remote};
use super::stop::WayStop;
use super::stuck::{describe, Standstill, Stuck};
use super::turns::Turn;
use crate::config::MachineConfig;
use crate::core::{Answers, Core, Duties, Keeps, Noted, Request, FRAME_BYTES};
use crate::crash_image::CrashImage;
use crate::timeline::Recorder;
use crate::trace::{Tracer, Traces};
use std::any::Any;
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use strandline_design::{AnyDesign, Place, Wants};
use strandline_isa::{Addr, Code, CoreId, Memory};
use strandline_kernel::Cycles;
use strandline_rules::time::Rule;
use strandline_rules::{any_broken, breaks, broken};

/// A machine with a design in it and programs on its cores. It does all but run a program: a program that runs asks it
/// ([`Answers`]).
pub struct Running {
    pub(super) hw: Hardware,
    pub(super) design: Box<AnyDesign>,
    /// What the design wants.
    pub(super) wants: Wants,
    /// The place from which on power failure takes no bytes.
    pub(super) durable_from: Place,
    /// Whether a line that no core writes keeps its bytes, so that runs of cores that wait may be put off.
    pub(super) may_doze: bool,
    /// What reserve power lasts for, if it does not last for all visible stores, and the run is observed.
    pub(super) reserve: Option<Reserve>,
    /// The same for what a device's cache holds.
    pub(super) device_reserve: Option<DeviceReserve>,
    /// The programs of the cores, but for the one that runs.
    pub(super) programs: Vec<Option<Program>>,
    /// Creates a core's program anew, if that is possible.
    pub(super) factories: Vec<Option<Factory>>,
    pub(super) options: Options,
    pub(super) tracer: Option<Rc<Tracer>>,
    pub(super) region: Region,
    pub(super) watch: Watch,
    pub(super) looks: Looks,
    /// A core was interrupted whose program does not poll: the run is over.
    pub(super) halted: bool,
    /// Something is repeated within one cycle without end.
    pub(super) repeats: bool,
    /// The cycle in which the design opened a gate last, and how many it has opened in that cycle.
    pub(super) opened: (u64, u32),
}

/// Why a machine stops.
pub enum Stop {
    /// Everything is done.
    Ended,
    /// All that is left is later than it should run.
    Later,
    /// A core's program is to be run.
    Program(CoreId),
}

impl Answers for Running {
    /// A program that was restarted meanwhile does not continue.
    fn answers(&mut self, core: CoreId, request: Request) -> bool {
        self.answered(core, request) && self.programs[core.index()].is_none()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl Running {
    /// A machine of `cores` cores around `memory`. Its caches are empty.
    pub fn new(
        machine: &MachineConfig,
        design: Box<AnyDesign>,
        cores: usize,
        mut memory: Memory,
        options: Options,
    ) -> Running {
        let stacks = match options.code {
            Code::Optimized => None,
            Code::Plain => Some(memory.extend_dram(cores as u64 * FRAME_BYTES)),
        };
        let wants = design.wants();
        let durable_from = machine.durable_from(&wants);
        let reserve = machine
            .lines_in_time()
            .filter(|_| options.journal && durable_from.has_visible());
        let traces = options.journal && options.trace != Traces::Nothing;
        let tracer = traces.then(|| Rc::new(Tracer::new(cores, options.trace.clone())));
        let duties = duties(machine, &wants, durable_from, &options, cores, tracer.clone());
        let observed = Observed {
            crash_image: options.journal.then(|| CrashImage::of(&memory)),
            durable: (!options.journal && wants.durable_lines).then(|| memory.persistent_half()),
            recorder: duties.recorder.clone(),
            writes: duties.writes.clone(),
        };
        let host_of = match options.hosts.is_empty() {
            true => Host::of_cores(machine, cores),
            false => options.hosts.clone(),
        };
        let ((hosts, device), lowering) = (Host::all(machine, memory), design.lowering());
        let core = |index: usize| {
            let stack = stacks.map(|first| Addr(first.0 + index as u64 * FRAME_BYTES));
            let duties = Duties {
                stack,
                ..duties.clone()
            };
            let host = host_of[index];
            let core = Core::new(
                CoreId(index as u16),
                machine,
                hosts[host.index()].memory.clone(),
                lowering,
                duties,
            );
            (host, Rc::new(core))
        };
        let harts = (0..cores).map(core).collect::<Vec<_>>();
        let mut hw = Hardware::new(machine, (hosts, device), harts, observed, options.seed);
        hw.directory = Directory::of(machine, &wants);
        hw.stop = wants.stop.map(|place| WayStop::at(place, machine));
        if let Some(host) = machine.simulation.fails.host() {
            hw.post(machine.simulation.fails_at.0, Event::HostFails(HostId(host as u8)));
        }
        Running {
            hw,
            may_doze: cores > 1 && !wants.durable_lines && !any_broken(),
            wants,
            durable_from,
            reserve: reserve.map(Reserve::of),
            device_reserve: options.journal.then(|| DeviceReserve::of(machine)).flatten(),
            design,
            programs: (0..cores).map(|_| None).collect(),
            factories: (0..cores).map(|_| None).collect(),
            options,
            tracer,
            region: Region::default(),
            watch: Watch::default(),
            looks: Looks::default(),
            halted: false,
            repeats: false,
            opened: (0, 0),
        }
    }

    /// Puts the lines of these addresses into the shared cache, clean, as if they had been used in this order; the
    /// table entries of a page come before its lines.
    pub fn warm(&mut self, addresses: Range<u64>) {
        let core = self.hw.harts[0].core.clone();
        for line in core.tlb.lines_with_entries(addresses) {
            self.hw.hosts.iter_mut().for_each(|host| host.llc.warm(line));
            if let Some(directory) = &mut self.hw.directory {
                directory.warm(self.hw.hosts.len(), line);
            }
        }
    }

    /// Cores without a program have ended.
    pub(super) fn end_idle_cores(&mut self) {
        for (hart, program) in self.hw.harts.iter_mut().zip(&self.programs) {
            if program.is_none() {
                hart.state = ProgramState::Ended;
            }
        }
    }

    /// Puts a program on a core, in place of the one before.
    pub(super) fn put(&mut self, id: CoreId, factory: Factory) {
        let core = self.hw.harts[id.index()].core.clone();
        self.programs[id.index()] = Some(Program::on(core, factory));
    }

    /// Puts a program on a core: see [`super::System::start`].
    pub(super) fn start(&mut self, core: CoreId, factory: Factory) {
        self.put(core, factory.clone());
        self.factories[core.index()] = Some(factory);
    }

    /// Runs events and cores, the earliest first and none further than `last`, until a program is to be run.
    pub(super) fn run(&mut self, last: u64) -> Result<Stop, Stuck> {
        loop {
            if last != u64::MAX && (last + 1..u64::MAX).contains(&self.next_at()) {
                self.wake_all();
                return Ok(Stop::Later);
            }
            if let Some(stop) = self.step(last)? {
                return Ok(stop);
            }
            self.look_for_progress()?;
        }
    }

    /// When the next event or core acts.
    fn next_at(&mut self) -> u64 {
        self.hw.events.next_at().0.min(self.hw.next_turn().at)
    }

    /// Checks now and then for progress.
    #[inline(always)]
    pub(super) fn look_for_progress(&mut self) -> Result<(), Stuck> {
        if self.repeats {
            return Err(describe(&self.hw, &*self.design, Standstill::Instant));
        }
        if self.watch.look(&self.hw, &*self.design, &self.options)? {
            self.look_for_precision();
        }
        Ok(())
    }

    /// Whether the machine may do this for the `times`-th time within one cycle. If not, the run ends as stuck.
    #[inline(always)]
    pub(super) fn may_repeat(&mut self, times: u32) -> bool {
        self.repeats |= times == MOST_REPEATS;
        times < MOST_REPEATS
    }

    /// Runs the earliest event or core, a core no further than `last`, but for its program.
    #[inline(always)]
    fn step(&mut self, last: u64) -> Result<Option<Stop>, Stuck> {
        self.record_counts();
        if self.halted | self.looks.enough {
            return Ok(Some(Stop::Ended));
        }
        let next_event = self.hw.events.next_at().0;
        let Turn { at, core, second } = self.hw.next_turn();
        if self.region.is_watched() && self.bounds_region(at.min(next_event)) {
            return Ok(None);
        }
        if next_event <= at {
            let Some((at, event)) = self.hw.events.pop() else {
                if broken(Rule::EveryWakeArrives) {
                    self.hw.repair_wakes(None);
                    if self.hw.next_turn().at != u64::MAX {
                        return Ok(None);
                    }
                }
                return self.finished();
            };
            self.event(at.0, event);
            return Ok(None);
        }
        self.hw.clock.begin(at);
        let others = self.before_others(second).min(last);
        let hart = self.hw.hart(core);
        if hart.core.drain.next.get() == at {
            let next_op = hart.next_op_at();
            self.drain(core, others.min(next_op), last);
        } else {
            hart.core
                .turn
                .alone
                .set(second.min(next_event).min(last.saturating_add(1)));
            let horizon = others.saturating_add(self.hw.slack()).min(last);
            breaks(Rule::WokenByItsOwn, || self.hw.repair_wakes(Some(core)));
            if !self.dozes(core, horizon) {
                let turn = &self.hw.core(core).turn;
                turn.began.set(at);
                turn.horizon.set(horizon);
                return Ok(self.may_run(core).then_some(Stop::Program(core)));
            }
        }
        Ok(None)
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
        let again = first == core && at < next_event && at <= last && hart.core.drain.next.get() == at;
        let others = self.before_others(second).min(last);
        (again && !self.region.is_watched()).then(|| others.min(hart.next_op_at()))
    }

    fn finished(&self) -> Result<Option<Stop>, Stuck> {
        let done = self
            .hw
            .harts
            .iter()
            .filter(|h| !self.hw.has_failed(h.core.id))
            .all(|h| matches!(h.state, ProgramState::Ended) && !h.core.window.is_held() && h.core.pending(None) == 0);
        if done {
            Ok(Some(Stop::Ended))
        } else {
            Err(describe(&self.hw, &*self.design, Standstill::Dead))
        }
    }

    /// Whether a core's program runs now, whose request may have to be repeated first.
    fn may_run(&mut self, core: CoreId) -> bool {
        self.hw.record(move |recorder, _| recorder.op_acts(None));
        match self.hw.harts[core.index()].state {
            ProgramState::Again(request) => self.answered(core, request),
            _ => true,
        }
    }

    /// Answers a request, again if it is repeated at once: whether the program goes on before others act.
    #[inline(always)]
    fn answered(&mut self, core: CoreId, mut request: Request) -> bool {
        for times in 0.. {
            if !self.may_repeat(times) || !self.asked(core, request) {
                return false;
            }
            match self.hw.harts[core.index()].state {
                ProgramState::Again(again) => request = again,
                _ => return true,
            }
        }
        false
    }

    /// Handles a request: whether the program, or the request again, goes on before others act.
    #[inline(always)]
    fn asked(&mut self, id: CoreId, request: Request) -> bool {
        let goes_on = self.request(id, request);
        let next_event = self.hw.events.next_at().0;
        let event = next_event.saturating_sub(1).saturating_add(self.hw.slack());
        let core = &self.hw.harts[id.index()].core;
        core.turn.horizon.set(core.turn.horizon.get().min(event));
        // The request may have woken another core.
        core.turn.alone.set(match self.hw.harts.len() {
            1 => core.turn.alone.get().min(next_event),
            _ => 0,
        });
        goes_on && core.turn.next_op.get() <= core.turn.horizon.get()
    }

    /// Runs a core's program, which cannot ask meanwhile: at its first request it stops. Whether it has ended.
    pub(super) fn resume_program(&mut self, id: CoreId) -> bool {
        self.hw.harts[id.index()].core.resumes();
        let program = self.programs[id.index()]
            .as_mut()
            .expect("a program that has not ended");
        program.resume()
    }

    pub(super) fn ended(&mut self, id: CoreId) {
        self.programs[id.index()] = None;
        self.hw.clock.advance(self.hw.harts[id.index()].core.turn.next_op.get());
        self.hw.send_all_combined(id, self.hw.now());
        self.hw.hart(id).state = ProgramState::Ended;
        self.maybe_start();
        self.maybe_end();
    }

    /// Takes each core's notes.
    pub(super) fn notes(&self) -> Vec<Vec<Noted>> {
        self.hw.harts.iter().map(|h| h.core.notes.take_kept()).collect()
    }

    /// Records what the design has counted in the latest step, if there is a timeline.
    #[inline(always)]
    fn record_counts(&self) {
        self.hw
            .record(|recorder, at| recorder.count(at, self.design.counters(Cycles(at))));
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
    /// The cycle at the latest look, and at how many looks in turn the run stood there.
    stands: (u64, u32),
    pub(super) remote: Remote,
}

/// Steps between two checks.
const LOOK_EVERY: u64 = 1 << 12;

/// Checks in turn that find the run in one cycle, after which it is stuck there: far more steps than all cores and
/// controllers of a machine take at once.
const MOST_LOOKS: u32 = 64;

/// How often one thing may be repeated within one cycle: more often than a machine has waiters.
const MOST_REPEATS: u32 = 1 << 16;

/// How much more patience a run gets whose stores become visible, although nothing ends: a long task, or tasks that
/// begin again and again.
const MOST_PATIENCE: u64 = 64;

/// What all cores do for a design in a run with these options.
fn duties(
    machine: &MachineConfig,
    wants: &Wants,
    durable_from: Place,
    options: &Options,
    cores: usize,
    tracer: Option<Rc<Tracer>>,
) -> Duties {
    let recorder = options.timeline.map(|detail| Rc::new(Recorder::new(cores, detail)));
    assert!(
        !options.journal || recorder.is_none(),
        "a run has a journal or a timeline"
    );
    let caches_durable = options.journal && durable_from.has_visible();
    Duties {
        writes: Rc::default(),
        nt_cached: wants.nt_cached,
        logs: wants.rolls_back.on(cores),
        barriers: wants.all_barriers,
        contexts: wants.contexts,
        every_store: caches_durable || machine.simulation.evict_one_in > 0,
        notes: match (options.journal, &recorder) {
            (true, _) => Keeps::All,
            (false, Some(_)) => Keeps::Spans,
            (false, None) => Keeps::Nothing,
        },
        tracer,
        recorder,
        stack: None,
    }
}

impl Watch {
    /// Whether it has looked.
    #[inline(always)]
    fn look(&mut self, hw: &Hardware, design: &AnyDesign, options: &Options) -> Result<bool, Stuck> {
        self.steps += 1;
        match self.steps % LOOK_EVERY {
            0 => self.look_closely(hw, design, options).map(|()| true),
            _ => Ok(false),
        }
    }

    #[cold]
    #[inline(never)]
    fn look_closely(&mut self, hw: &Hardware, design: &AnyDesign, options: &Options) -> Result<(), Stuck> {
        self.reached = self.reached.max(hw.now());
        let cores = || hw.harts.iter().map(|hart| &*hart.core);
        self.remote.ended.store(Heartbeat::Tasks.of(cores()), Ordering::Relaxed);
        if self.remote.stop.load(Ordering::Relaxed) {
            return Err(describe(hw, design, Standstill::Stopped));
        }
        let done = options.heartbeat.of(cores());
        if done != self.done {
            self.done = done;
            self.since = self.reached;
        }
        self.stands = match self.stands {
            (at, looks) if at == hw.now() => (at, looks + 1),
            _ => (hw.now(), 0),
        };
        if self.stands.1 == MOST_LOOKS {
            return Err(describe(hw, design, Standstill::Instant));
        }
        let patience = options.patience.0;
        let stored = cores().map(|core| core.drain.last.get()).max().unwrap_or(0);
        let still = self.reached.saturating_sub(self.since.max(stored));
        let longest = patience.saturating_mul(MOST_PATIENCE);
        if still > patience || self.reached - self.since > longest {
            return Err(describe(hw, design, Standstill::Idle));
        }
        Ok(())
    }
}
