//! The machine's state outside of the design.

use super::channel::Channels;
use super::clock::Clock;
use super::directory::Directory;
use super::doze::Doze;
use super::events::Event;
use super::hosts::{Host, HostId};
use super::rollback::Checkpoints;
use super::stop::WayStop;
use super::turns::Turns;
use super::waiters::{Condition, Then, Waiter, Waiters};
use crate::cache::LineTags;
use crate::config::MachineConfig;
use crate::core::{Core, Counted, Request, Usage};
use crate::crash_image::CrashImage;
use crate::memory::{Controller, Writes};
use crate::stats::Occupied;
use crate::timeline::{Recorder, Trip, Who};
use crate::trace::Tracer;
use std::collections::{HashSet, VecDeque};
use std::rc::Rc;
use strandline_design::{Checkpoint, ControllerId, Hook, Key, StoreId, Until, WriteId, WriteRequest};
use strandline_isa::{Addr, CoreId, Flush, Line, LineData, Memory};
use strandline_kernel::{Cycles, Events, Rng};
use strandline_rules::{broken, time};

/// Everything but the design and the programs.
pub struct Hardware {
    pub machine: MachineConfig,
    pub clock: Clock,
    pub hosts: Vec<Host>,
    /// What the device holds that several hosts share; none of a machine with one host, which sees it all.
    pub device: Option<Memory>,
    /// The device's directory, if it keeps the copies of several hosts alike.
    pub directory: Option<Directory>,
    pub harts: Vec<Hart>,
    pub turns: Turns,
    /// The design's tags of lines.
    pub line_tags: LineTags,
    pub controllers: Vec<Controller>,
    pub channels: Channels,
    /// Where the design is asked about writes on their way, if it wants that.
    pub stop: Option<WayStop>,
    pub events: Events<Event>,
    pub writes: Writes,
    pub rng: Rng,
    /// What a crash would leave, in observed runs.
    pub crash_image: Option<CrashImage>,
    /// The bytes of persistent memory in unobserved runs, for designs that read them.
    pub durable: Option<Memory>,
    /// When a line was first filled with other bytes than the cores had stored.
    pub stale_since: Option<Cycles>,
    /// Deferred services: carried out after the design has returned.
    pub commands: VecDeque<Command>,
    /// Everything that waits.
    pub waiters: Waiters,
    /// Recently stored persistent lines, for forced evictions.
    pub recent: VecDeque<(CoreId, Line)>,
    /// Writes that programs wait for.
    pub writes_counted: Rc<Counted>,
    /// Pages that have faulted.
    pub faulted: HashSet<u64>,
    pub tally: Tally,
    /// The recorder of the timeline, if there is one.
    pub recorder: Option<Rc<Recorder>>,
}

/// What a run keeps of its memory and of its course.
pub struct Observed {
    pub crash_image: Option<CrashImage>,
    pub durable: Option<Memory>,
    pub recorder: Option<Rc<Recorder>>,
    pub writes: Rc<Counted>,
}

/// A core, and the system's state for it.
pub struct Hart {
    pub core: Rc<Core>,
    pub host: HostId,
    pub state: ProgramState,
    /// Flushes in its write-back buffer.
    pub buffer: Vec<Buffered>,
    pub buffer_usage: Usage,
    pub next_slot: u64,
    /// When its next flush may set out for the controllers.
    pub next_flush: u64,
    /// Non-temporal stores being combined, oldest first.
    pub combining: Vec<Combining>,
    /// When its last store or flush completed.
    pub settled: u64,
    /// The number of the store-queue entry that reached the head last.
    pub at_turn: u64,
    /// Its commits to which each controller has replied.
    pub committed: Vec<u64>,
    /// The checkpoints to which it can be rolled back.
    pub checkpoints: Checkpoints,
    /// The design's messages that wait until a context is drained.
    pub when_drained: Vec<(u8, Key)>,
    /// What is known of its program's laps.
    pub doze: Doze,
}

/// The state of a core's program.
#[derive(Clone, Copy, Debug)]
pub enum ProgramState {
    /// It runs at its core's next dispatch.
    Runnable,
    /// Its request is repeated at its core's next dispatch.
    Again(Request),
    /// It waits: [`Waiters`] has the condition.
    Waits,
    /// It has ended.
    Ended,
}

/// A flush in a write-back buffer.
#[derive(Clone, Copy, Debug)]
pub struct Buffered {
    pub slot: u64,
    pub line: Line,
    pub context: u8,
    /// It is a `clflush`, which stays at the head of the store queue until it completes.
    pub is_head: bool,
}

/// A write-combining buffer.
#[derive(Clone, Debug)]
pub struct Combining {
    pub slot: u64,
    pub line: Line,
    /// Bytes written, one bit each.
    pub mask: u64,
    /// The contexts of the stores in it.
    pub contexts: Vec<u8>,
    /// In flight to memory; it stays until it is accepted.
    pub sent: bool,
}

/// A deferred service.
#[derive(Clone, Copy, Debug)]
pub enum Command {
    FlushLine {
        core: CoreId,
        line: Line,
        flush: Flush,
        tag: Key,
    },
    LookAtDrained(CoreId),
    Acknowledge {
        core: CoreId,
        context: u8,
    },
    Open(Key),
    LookAtStop,
    LookAtQueue(ControllerId),
    Perform {
        core: CoreId,
        id: StoreId,
    },
    RollBack {
        core: CoreId,
        checkpoint: Checkpoint,
    },
    Interrupt(CoreId),
    CrashStateChanged,
}

/// Counts of events outside of the cores.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub pm_reads: u64,
    pub pm_writes: u64,
    pub pm_write_bytes: u64,
    pub coalesced: u64,
    pub commits: u64,
}

/// Recently stored lines among which a forced eviction chooses.
const RECENT: usize = 16;

impl Hardware {
    /// A machine of these cores, whose caches are empty.
    pub fn new(
        machine: &MachineConfig,
        (hosts, device): (Vec<Host>, Option<Memory>),
        cores: Vec<(HostId, Rc<Core>)>,
        observed: Observed,
        seed: u64,
    ) -> Hardware {
        let controllers = machine.controllers.count;
        let count = cores.len();
        let hart = |(host, core)| Hart::new(host, core, controllers);
        Hardware {
            clock: Clock::default(),
            hosts,
            device,
            directory: None,
            turns: Turns::new(count),
            waiters: Waiters::new(count),
            harts: cores.into_iter().map(hart).collect(),
            line_tags: LineTags::default(),
            controllers: (0..controllers).map(|_| Controller::new(machine)).collect(),
            events: Events::default(),
            writes: Writes::new(machine.hosts > 1),
            rng: Rng::new(seed),
            crash_image: observed.crash_image,
            durable: observed.durable,
            stale_since: None,
            commands: VecDeque::new(),
            channels: Channels::default(),
            stop: None,
            recent: VecDeque::new(),
            writes_counted: observed.writes,
            faulted: HashSet::new(),
            tally: Tally::default(),
            recorder: observed.recorder,
            machine: machine.clone(),
        }
    }

    /// A core, for anything that leaves its turn as it is.
    #[inline(always)]
    pub fn core(&self, core: CoreId) -> &Core {
        &self.harts[core.index()].core
    }

    /// A core, for anything that may change its turn.
    #[inline(always)]
    pub fn hart(&mut self, core: CoreId) -> &mut Hart {
        self.turns.touch(core);
        &mut self.harts[core.index()]
    }

    pub fn controller_of(&self, line: Line) -> ControllerId {
        let c = &self.machine.controllers;
        if c.count == 1 {
            return ControllerId(0);
        }
        ControllerId((line.addr().0 / c.interleave_bytes % c.count) as u16)
    }

    /// The round trip from a core to the controller, without the backend operation.
    pub fn to_controller(&self) -> u64 {
        self.machine.pm.write_to_controller.0
    }

    /// A random delay, on shaken machines.
    pub fn jitter(&mut self) -> u64 {
        match self.machine.simulation.jitter.0 {
            0 => 0,
            most => self.rng.below(most + 1),
        }
    }

    /// Sends bytes of a line, looked up at `at`, from a host to the line's controller.
    #[inline(always)]
    pub fn send_write(&mut self, host: HostId, request: WriteRequest<Key>, at: u64) -> WriteId {
        if self.stop.is_some() {
            return self.send_to_stop(host, request, at);
        }
        let takes = self.to_controller() + self.machine.controllers.bmo_latency.0 + self.jitter();
        let crossed = self.crosses(host, at + takes);
        let (id, arrives) = self.writes.add(host, request, crossed);
        let controller = self.controller_of(request.line);
        self.record(|recorder, _| {
            recorder.sent(id, &request, controller.0, at);
            let trip = Trip {
                host: host.0,
                line: request.line,
                controller: controller.0,
                asked: at,
                device: None,
                ready: at + takes,
                way: self.machine.cxl.way().0,
                arrives: crossed,
            };
            recorder.write_crosses(id, trip, &self.machine);
        });
        self.post(arrives, Event::Arrives { controller, write: id });
        id
    }

    /// A counted write to the word that holds `addr` became visible at `at`: wakes the programs
    /// that wait for it.
    pub fn count_write(&mut self, addr: Addr, at: u64) {
        self.writes_counted.add(addr);
        let word = Addr(addr.0 & !7);
        let condition = Condition::Written(word);
        let woken = self.waiters.wake(condition);
        for &waiter in &woken {
            let Waiter::Program(core, Then::Count(times)) = waiter else {
                continue;
            };
            if self.writes_counted.reached(word, times) {
                self.go_on(core, at);
            } else {
                self.waiters.park(condition, waiter);
            }
        }
        self.waiters.recycle(woken);
        if let Some(core) = self.waiters.wake_longest(Condition::Woken(word)) {
            self.go_on(core, at);
        }
    }

    /// By how much a core may run ahead of the others and of the next event.
    #[inline(always)]
    pub fn slack(&self) -> u64 {
        let times = 1 + u64::from(broken(time::Rule::SlackIsTakenOnce));
        times * self.machine.simulation.slack.0
    }

    /// A waiting program goes on at `at`. The one that runs did not know that: it goes no further before.
    fn go_on(&mut self, core: CoreId, at: u64) {
        let latest = at.saturating_add(self.slack());
        for hart in &self.harts {
            let horizon = &hart.core.turn.horizon;
            horizon.set(horizon.get().min(latest));
        }
        self.record(move |recorder, _| recorder.woken(Who::Program(core), at));
        let hart = self.hart(core);
        hart.core.window.redirect(at);
        hart.core.turn.not_before(at);
        hart.state = ProgramState::Runnable;
    }

    /// Whether a core waits for the design, or for its own stores and flushes.
    pub fn waits_for_design(&self, core: CoreId) -> bool {
        let program = self.waiters.of_program(core).map(|(condition, _)| condition);
        let waits = |condition| matches!(condition, Condition::Drained(..) | Condition::Open(_));
        self.waiters.of_fence(core).is_some() || program.is_some_and(waits)
    }

    /// The condition for which the design holds an evicted line, of a host whose copy a core would get.
    pub fn held_until(&self, core: CoreId, line: Line) -> Option<Until<Key>> {
        let concerns = |of: CoreId| self.directory.is_some() || self.host_of(of) == self.host_of(core);
        let mut held = self.waiters.held_lines();
        let held = held.find(|(_, of, held)| *held == line && concerns(*of));
        held.map(|(condition, ..)| condition.until())
    }

    /// A core, and what waits.
    #[inline]
    pub fn waits_of(&mut self, core: CoreId) -> (&Core, &mut Waiters) {
        (&self.harts[core.index()].core, &mut self.waiters)
    }

    /// Whether the machine keeps the bytes of the persistence domain.
    #[inline]
    pub fn keeps_durable(&self) -> bool {
        self.crash_image.is_some() || self.durable.is_some()
    }

    /// The bytes of a line once this write is durable: those that it writes, over the present ones.
    pub fn persisted(&self, write: &WriteRequest<Key>) -> LineData {
        if write.bytes.is_all() {
            return write.data;
        }
        let mut data = self.durable_bytes(write.line);
        write.bytes.copy(&write.data, &mut data);
        data
    }

    /// The bytes of a line in the persistence domain, as far as the machine keeps them.
    pub fn durable_bytes(&self, line: Line) -> LineData {
        match &self.crash_image {
            Some(image) => image.persisted(line),
            None => match &self.durable {
                Some(durable) => durable.line(line),
                None => self.device.as_ref().unwrap_or(&self.hosts[0].memory).line(line),
            },
        }
    }

    /// Fills a line with the persistence domain's bytes, which all cores see from now on.
    pub fn fill(&mut self, line: Line) {
        let (seen, data) = (self.seen_by_all().line(line), self.durable_bytes(line));
        let mut stale = 0;
        for (index, (seen, data)) in seen.iter().zip(&data).enumerate() {
            let differs = |byte: &usize| (seen ^ data) >> (8 * byte) & 0xff != 0;
            stale |= (0..8)
                .filter(differs)
                .fold(0, |mask, byte| mask | 1u64 << (8 * index + byte));
        }
        if stale != 0 {
            self.stale_since.get_or_insert(Cycles(self.now()));
            if let Some(tracer) = self.tracer() {
                tracer.stale(line, stale);
            }
            self.seen_by_all().set_line(line, &data);
        }
    }

    /// Makes the stored bytes of a line visible to all cores; memory holds them now.
    pub fn reload(&mut self, line: Line) {
        let data = self.durable_bytes(line);
        self.seen_by_all().set_line(line, &data);
        if let Some(tracer) = self.tracer() {
            tracer.fresh(line);
        }
    }

    fn tracer(&self) -> Option<&Tracer> {
        self.harts.first().and_then(|hart| hart.core.observer.tracer.as_deref())
    }

    /// Records that the design does not implement the hook: no core asks for it again.
    pub fn skip_hook(&mut self, hook: Hook) {
        for hart in &self.harts {
            hart.core.skip(hook);
        }
    }

    /// Whether the design may implement the hook.
    #[inline]
    pub fn asks(&self, hook: Hook) -> bool {
        self.harts.first().is_some_and(|hart| hart.core.asks(hook))
    }

    /// Notes a persistent line that was stored to, on machines that evict such lines.
    #[inline(always)]
    pub fn note_recent(&mut self, core: CoreId, line: Line) {
        if self.machine.simulation.evict_one_in > 0 {
            self.keep_recent(core, line);
        }
    }

    #[inline(never)]
    fn keep_recent(&mut self, core: CoreId, line: Line) {
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back((core, line));
    }

    /// The present ([`Clock`]).
    #[inline(always)]
    pub fn now(&self) -> u64 {
        self.clock.now()
    }

    /// Posts an event for `at`, which is no earlier than what has acted.
    #[inline(always)]
    pub fn post(&mut self, at: u64, event: Event) {
        debug_assert!(
            self.clock.may_act(at),
            "{event:?} is posted for {at}, before {:?}",
            self.clock
        );
        self.events.post(Cycles(at), event);
    }

    /// Lets the recorder of the timeline, if there is one, record what happens now.
    #[inline(always)]
    pub fn record(&self, record: impl FnOnce(&Recorder, u64)) {
        if let Some(recorder) = &self.recorder {
            seldom(|| record(recorder, self.now()));
        }
    }

    pub fn hop(&self) -> u64 {
        self.machine.interconnect.hop_latency.0
    }
}

/// Keeps what is seldom done out of its callers' code.
#[cold]
#[inline(never)]
fn seldom(run: impl FnOnce()) {
    run();
}

impl Hart {
    /// A core of a machine with `controllers` controllers.
    pub fn new(host: HostId, core: Rc<Core>, controllers: u64) -> Hart {
        Hart {
            core,
            host,
            state: ProgramState::Runnable,
            buffer: Vec::new(),
            buffer_usage: Usage::default(),
            next_slot: 0,
            next_flush: 0,
            combining: Vec::new(),
            settled: 0,
            at_turn: 0,
            committed: vec![0; controllers as usize],
            checkpoints: Checkpoints::default(),
            when_drained: Vec::new(),
            doze: Doze::default(),
        }
    }

    /// The timed region begins at `at`: occupancies are counted from then on.
    pub fn starts(&self, at: u64) {
        let queue = self.core.queue.borrow();
        queue.usage.starts(at, queue.occupied() as u64);
        self.buffer_usage.starts(at, self.buffer.len() as u64);
        let pending = &self.core.pending;
        pending.usage.starts(at, pending.contexts.get());
    }

    /// Entries of the store queue in use up to `end`.
    pub fn store_queue(&self, end: u64) -> Occupied {
        let queue = self.core.queue.borrow();
        queue.usage.until(end, queue.occupied() as u64)
    }

    /// Entries of the write-back buffer in use up to `end`.
    pub fn writeback_buffer(&self, end: u64) -> Occupied {
        self.buffer_usage.until(end, self.buffer.len() as u64)
    }

    /// Contexts with something pending up to `end`.
    pub fn context_table(&self, end: u64) -> Occupied {
        let pending = &self.core.pending;
        pending.usage.until(end, pending.contexts.get())
    }

    /// When its last instruction so far retired, and its last store and flush so far completed.
    pub fn done_at(&self) -> u64 {
        self.settled.max(self.core.window.retired())
    }

    /// When its program runs next, as far as it knows.
    pub fn next_op_at(&self) -> u64 {
        match self.state {
            ProgramState::Runnable | ProgramState::Again(_) => self.core.turn.next_op.get(),
            _ => u64::MAX,
        }
    }

    /// A controller has replied to its oldest commit there.
    pub fn commit_answered(&mut self, controller: ControllerId) {
        self.committed[controller.0 as usize] += 1;
        let completed = self.committed.iter().min().copied().unwrap_or(0);
        self.core.pcommits_completed.set(completed);
    }

    pub fn new_slot(&mut self) -> u64 {
        self.next_slot += 1;
        self.next_slot
    }
}
