//! One run of a litmus test, and its crash states.

use super::layout::Layout;
use super::moving::{joined, moves};
use super::program::{threads, Thread};
use super::subject::Subject;
use super::timing::Timings;
use crate::explore::corners::corners;
use std::rc::Rc;
use strandline_isa::{Code, CoreId, Image, Memory, Note};
use strandline_kernel::{Cycles, Rng};
use strandline_machine::config::{Failing, HostCoherence};
use strandline_machine::{Detail, HostId, Journal, MachineConfig, Options, Outcome, Remote, Traces};
use strandline_order::litmus::{Location, LocationKind};
use strandline_order::{State, Test};
use strandline_sim::{Begin, Error, Play};

/// Cycles after which a litmus test counts as hung.
const PATIENCE: Cycles = Cycles(5_000_000);

/// A test on a machine under a design, and all else that a seed decides.
pub struct Case {
    /// The machine.
    pub machine: MachineConfig,
    /// The design's parameters.
    pub sets: Vec<(&'static str, u64)>,
    /// The host of each thread; none where there is one host.
    hosts: Vec<HostId>,
    seed: u64,
    pub(super) layout: Rc<Layout>,
    /// Memory at first.
    pub initial: Memory,
    /// Whether the locations' lines are in the LLC at first.
    pub(super) is_warm: bool,
    pub(super) threads: Vec<Thread>,
    pub(super) code: Code,
}

/// With seeds from here on, programs are compiled without optimization, so that seeds below keep their meaning.
pub const PLAIN_SEEDS: u64 = 1 << 40;

/// With seeds from here on, threads move to other cores, if the design says what a system executes before
/// ([`strandline_isa::Intent::HandOver`]). Seeds below keep their meaning.
pub const MOVING_SEEDS: u64 = 1 << 41;

/// With seeds from here on, threads are on several hosts that a directory keeps alike, if they share no volatile memory. Seeds
/// below keep their meaning.
pub const HOST_SEEDS: u64 = 1 << 42;

/// Distinguishes the stream of [`across_hosts`].
const HOSTS: u64 = 0x4057_5eed;

/// Distinguishes the stream of the way through a switch, of designs that have writes stop there.
const STOPS: u64 = 0x5709_5eed;

/// The hosts of a test, their links, whether a directory keeps them coherent, and when one fails.
fn across_hosts(machine: &mut MachineConfig, test: &Test, rng: &mut Rng) {
    let last = test.hosts.of_threads.iter().max().copied().unwrap_or(0);
    machine.hosts = u64::from(last + 1).max(2);
    machine.cxl.link_latency = Cycles([0, 20, 200, 1000][rng.below(4) as usize]);
    machine.simulation.fails = test.hosts.fail.first().map_or(Failing::None, |host| Failing::of(*host));
    let latest = 64 << rng.below(9);
    machine.simulation.fails_at = Cycles(rng.below(latest));
    if rng.one_in(2) {
        machine.cxl.coherence = HostCoherence::Hardware;
    }
}

/// The hosts of the threads of a test that names none, whose copies a directory keeps alike.
fn kept_alike(machine: &mut MachineConfig, test: &Test, rng: &mut Rng) -> Vec<HostId> {
    let shares = |location: &Location| location.kind == LocationKind::Volatile;
    if test.locations.iter().any(shares) {
        return Vec::new();
    }
    machine.hosts = 2 + rng.below(2);
    machine.cxl.coherence = HostCoherence::Hardware;
    machine.cxl.link_latency = Cycles([0, 20, 200, 1000][rng.below(4) as usize]);
    let host = |_| HostId(rng.below(machine.hosts) as u8);
    test.threads.iter().map(host).collect()
}

impl Case {
    /// The case of a seed: it determines the machine, the placements, the delays and the sizes of the design's
    /// structures.
    pub fn of(subject: &dyn Subject, timings: &Timings, test: &Test, seed: u64) -> Case {
        let mut rng = Rng::new(seed);
        let mut machine = timings.machine(&mut rng);
        let mut hosts: Vec<HostId> = test.hosts.of_threads.iter().copied().map(HostId).collect();
        if test.hosts.are_named() {
            across_hosts(&mut machine, test, &mut Rng::new(seed ^ HOSTS));
        } else if seed >= HOST_SEEDS && !subject.has_stop() {
            hosts = kept_alike(&mut machine, test, &mut Rng::new(seed ^ HOSTS));
        }
        if subject.has_stop() {
            let way = [0, 40, 400, 3000][Rng::new(seed ^ STOPS).below(4) as usize];
            machine.cxl.switch_latency = Cycles(way);
            machine.cxl.coherence = HostCoherence::None;
        }
        let layout = Rc::new(Layout::of(test, &mut rng));
        let is_warm = rng.one_in(2);
        let moves = match (MOVING_SEEDS..HOST_SEEDS).contains(&seed) && subject.hands_over() {
            true => moves(test, &layout, &mut Rng::new(!seed)),
            false => Vec::new(),
        };
        Case {
            machine,
            sets: corners(subject.free().into_iter(), seed),
            hosts,
            seed,
            initial: layout.memory(test),
            threads: threads(test, &layout, &moves, &mut rng),
            layout,
            is_warm,
            code: match seed {
                PLAIN_SEEDS..MOVING_SEEDS => Code::Plain,
                _ => Code::Optimized,
            },
        }
    }

    /// Runs it.
    ///
    /// # Errors
    /// The run makes no progress.
    pub fn observe(&self, subject: &dyn Subject) -> Result<Observed<'_>, Error> {
        let options = Options {
            journal: true,
            trace: Traces::Everything,
            ..self.options()
        };
        let outcome = subject.play(&self.machine, &self.sets, self.program(), options)?;
        let moved = (0..).map(CoreId).zip(&self.threads);
        let moved = moved.filter_map(|(from, thread)| Some((from, thread.beside.moves?.to)));
        let journal = outcome.journal.unwrap_or_default();
        Ok(Observed {
            case: self,
            journal: moved.fold(journal, |journal, (from, to)| joined(journal, from, to)),
        })
    }

    /// Runs it, and records when what happens.
    ///
    /// # Errors
    /// The run makes no progress.
    pub fn recorded(&self, subject: &dyn Subject) -> Result<Outcome, Error> {
        let options = Options {
            timeline: Some(Detail::default()),
            ..self.options()
        };
        subject.play(&self.machine, &self.sets, self.program(), options)
    }

    fn program(&self) -> Play {
        let first = self.threads.iter().map(|thread| &thread.program);
        let programs = first.chain(self.threads.iter().filter_map(|thread| thread.goes_on.as_ref()));
        Play {
            cores: self.cores(),
            memory: self.initial.clone(),
            llc: Begin::Lines(if self.is_warm { self.layout.lines() } else { Vec::new() }),
            threads: programs.cloned().collect(),
            remote: Remote::default(),
        }
    }

    /// The cores: one for each thread, and one for each that moves.
    pub(super) fn cores(&self) -> usize {
        let moved = self.threads.iter().filter(|thread| thread.goes_on.is_some());
        self.threads.len() + moved.count()
    }

    fn options(&self) -> Options {
        Options {
            seed: self.seed,
            patience: PATIENCE,
            hosts: self.hosts.clone(),
            code: self.code,
            ..Options::default()
        }
    }
}

/// A run of a test.
pub struct Observed<'c> {
    /// What ran.
    pub case: &'c Case,
    /// The order of durable writes, the outputs, and the executed operations.
    pub journal: Journal,
}

/// A state that a crash would leave.
pub struct CrashState {
    /// The values of [`Test::observed`].
    pub state: State,
    /// Number of durable events.
    pub event: usize,
}

impl Observed<'_> {
    /// Every crash state of the run, in order.
    pub fn states(&self, test: &Test) -> Vec<CrashState> {
        let mut outputs: Vec<(Cycles, u32, u8)> = Vec::new();
        let notes = self.journal.notes.iter().flatten();
        // A host that fails may leave outputs that it has not made.
        for noted in notes.filter(|noted| noted.at != Cycles::NEVER) {
            if let Note::Output { location, value } = noted.note {
                outputs.push((noted.at, location, value as u8));
            }
        }
        outputs.sort_unstable();
        let mut outputs = outputs.into_iter().peekable();
        let image = self.case.initial.persistent_half();
        let mut seen_outputs = vec![0; test.locations.len()];
        let mut states = Vec::new();
        let until = self.journal.counts_until();
        let counted = self.journal.durable.partition_point(|durable| durable.at < until);
        let durable = &self.journal.durable[..counted];
        // Where hosts survive, they go on to their ends.
        let only_the_end = !test.hosts.fail.is_empty();
        for event in 0..=durable.len() {
            if let Some(last) = event.checked_sub(1).map(|last| &durable[last]) {
                image.set_line(last.line, &last.data);
            }
            let mut keep = |seen_outputs: &[u8], ends: bool| {
                if only_the_end && !(ends && event == durable.len()) {
                    return;
                }
                let state = self.state(test, &image, seen_outputs);
                states.push(CrashState { state, event });
            };
            keep(&seen_outputs, outputs.peek().is_none());
            let end = durable.get(event).map_or(until, |next| next.at);
            while let Some((_, location, value)) = outputs.next_if(|(at, ..)| *at < end) {
                seen_outputs[location as usize] = value;
                keep(&seen_outputs, outputs.peek().is_none());
            }
        }
        states
    }

    fn state(&self, test: &Test, image: &Memory, seen_outputs: &[u8]) -> State {
        let value = |id| match test.location(id).kind {
            LocationKind::Output => seen_outputs[usize::from(id.0)],
            _ => image.word(self.case.layout.address(id)) as u8,
        };
        test.observed().into_iter().map(value).collect()
    }
}
