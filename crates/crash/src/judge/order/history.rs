//! A run's trace as an execution: events, reads-from, and coherence order.

use super::marks::{synchronising, LastRead, Marks};
use super::places::{place_of, places, touched, BytePlace};
use super::repeats::{Passed, Repeats};
use std::collections::{BTreeMap, BTreeSet};
use strandline_isa::{Addr, CoreId, Memory, Note, Primitive};
use strandline_kernel::Cycles;
use strandline_machine::{Journal, Noted, OpId, Seen, TraceOp};
use strandline_order::litmus::{Class, FlushKind};
use strandline_order::{Cell, Event, EventKind, History};

/// A run as an execution, with references back to the run.
pub struct Traced<'n> {
    /// The execution.
    pub history: History,
    /// The location of each of its locations.
    pub places: Vec<BytePlace>,
    /// The timed outputs and acknowledgements.
    pub outputs: Vec<(Cycles, usize)>,
    /// Each event's operation: its core and its index there; `None` for initial writes.
    origins: Vec<Option<(usize, usize)>>,
    /// A load with a value that no store left there.
    pub wrong: Option<String>,
    names: Names<'n>,
}

/// What people call an address.
pub type Names<'n> = &'n dyn Fn(Addr) -> String;

struct Tracer<'j, 'n> {
    journal: &'j Journal,
    places: Vec<BytePlace>,
    /// The number of each relevant location.
    numbers: Vec<Option<usize>>,
    traced: Traced<'n>,
    /// Each core's current context.
    contexts: Vec<u8>,
    /// The event of each operation that writes, by core.
    writers: Vec<Vec<usize>>,
    /// Each core's newest write to each location so far.
    newest: Vec<BTreeMap<usize, usize>>,
    /// When each write became visible.
    moments: BTreeMap<usize, u32>,
    /// For each relevant location, when and by which event it was written.
    visible: Vec<Vec<(u32, usize)>>,
    /// Reads, with what they saw and their positions.
    reads: Vec<Read>,
    /// Each core's repeated reads.
    repeats: Vec<Repeats>,
    /// Each core's annotations of accesses.
    marks: Vec<Marks>,
    /// The numbers of locations with an acquire or a release.
    synchronising: BTreeSet<usize>,
}

struct Read {
    /// Its event, if the oracle needs it.
    event: Option<usize>,
    /// The loaded bytes: address, size, and value.
    given: (Addr, u8, u64),
    number: usize,
    core: usize,
    from: Seen,
    /// The core's newest older write to the location.
    own: Option<usize>,
}

const NONE: usize = usize::MAX;

impl<'n> Traced<'n> {
    /// The execution of a run that started with this memory.
    pub fn of(journal: &Journal, initial: &Memory, names: Names<'n>) -> Traced<'n> {
        let all = places(&journal.trace);
        let mut kept = Vec::new();
        let numbers = all.iter().map(|place| {
            place.matters().then(|| {
                kept.push(*place);
                kept.len() - 1
            })
        });
        let numbers: Vec<Option<usize>> = numbers.collect();
        let synchronising = synchronising(&journal.trace, &all);
        let mut tracer = Tracer {
            journal,
            synchronising: synchronising.into_iter().filter_map(|place| numbers[place]).collect(),
            numbers,
            places: all,
            traced: Traced {
                history: History::default(),
                places: Vec::new(),
                outputs: Vec::new(),
                origins: Vec::new(),
                wrong: None,
                names,
            },
            contexts: vec![0; journal.trace.programs.len()],
            writers: journal.trace.programs.iter().map(|ops| vec![NONE; ops.len()]).collect(),
            newest: vec![BTreeMap::new(); journal.trace.programs.len()],
            moments: BTreeMap::new(),
            visible: vec![Vec::new(); kept.len()],
            reads: Vec::new(),
            repeats: journal.trace.programs.iter().map(|_| Repeats::default()).collect(),
            marks: vec![Marks::default(); journal.trace.programs.len()],
        };
        tracer.traced.places = kept;
        tracer.trace(initial);
        tracer.traced
    }

    /// An event's operation; `None` for what was there at first.
    pub fn operation(&self, event: usize) -> Option<OpId> {
        self.origins[event].map(|(core, index)| OpId {
            core: CoreId(core as u16),
            index: index as u32,
        })
    }

    /// An event in words.
    pub fn words(&self, journal: &Journal, event: usize) -> String {
        match self.operation(event) {
            Some(operation) => in_words(journal, operation, self.names),
            None => "what was there at first".to_owned(),
        }
    }
}

/// An operation in words.
pub fn in_words(journal: &Journal, OpId { core, index }: OpId, name: Names<'_>) -> String {
    let core = core.index();
    let what = match journal.trace.programs[core][index as usize] {
        TraceOp::Load { addr, value, .. } => format!("loads {value:#x} from {}", name(addr)),
        TraceOp::Store { addr, value, .. } => format!("stores {value:#x} to {}", name(addr)),
        TraceOp::StoreNt { addr, value, .. } => format!("stores {value:#x} to {} past the caches", name(addr)),
        TraceOp::Rmw { addr, new, .. } => format!("stores {new:#x} to {} by a locked instruction", name(addr)),
        TraceOp::Flush { addr, .. } => format!("flushes {}", addr.line()),
        TraceOp::Primitive(primitive) => format!("executes {primitive}"),
        TraceOp::Note(note) => match journal.notes[core][note as usize].note {
            Note::Output { location, value } => format!("outputs {value} to {location}"),
            _ => "acknowledges a region".to_owned(),
        },
    };
    format!("core {core} {what}")
}

impl Tracer<'_, '_> {
    fn trace(&mut self, initial: &Memory) {
        for number in 0..self.traced.places.len() {
            let place = self.traced.places[number];
            let content = place.bits(initial.read(Addr(place.addr.0 & !7), 8));
            let event = self.event(None, EventKind::Write, Some(number), 0);
            self.traced.history.contents[event] = content;
            self.traced.history.orders.push(vec![event]);
        }
        let stamps = self.stamps();
        for (core, stamps) in stamps.iter().enumerate() {
            self.program(core, stamps);
        }
        self.order_writes();
        self.tell_reads();
    }

    /// For each operation, a position in the order of visible stores, at least that of every older operation.
    fn stamps(&self) -> Vec<Vec<u64>> {
        let trace = &self.journal.trace;
        let mut stamps: Vec<Vec<u64>> = trace.programs.iter().map(|ops| vec![0; ops.len()]).collect();
        for (index, op) in trace.visible.iter().enumerate() {
            stamps[op.core.index()][op.index as usize] = index as u64 + 1;
        }
        for (stamps, ops) in stamps.iter_mut().zip(&trace.programs) {
            let mut latest = 0;
            for (stamp, op) in stamps.iter_mut().zip(ops) {
                if let TraceOp::Load {
                    from: Seen::Memory(n) | Seen::Merged(n),
                    ..
                } = op
                {
                    *stamp = u64::from(*n);
                }
                latest = latest.max(*stamp);
                *stamp = latest;
            }
        }
        stamps
    }

    fn event(&mut self, origin: Option<(usize, usize)>, kind: EventKind, number: Option<usize>, stamp: u64) -> usize {
        if let Some((core, _)) = origin {
            self.tell_passed(core);
            if kind != EventKind::Read {
                self.repeats[core].forget();
            }
        }
        self.push_event(origin, kind, number, stamp)
    }

    fn push_event(
        &mut self,
        origin: Option<(usize, usize)>,
        kind: EventKind,
        number: Option<usize>,
        stamp: u64,
    ) -> usize {
        let history = &mut self.traced.history;
        let cell = number.map(|number| {
            let addr = self.traced.places[number].addr;
            cell(Some(number), addr)
        });
        history.events.push(Event {
            thread: origin.map(|(core, _)| core),
            kind,
            class: None,
            locked: false,
            cell,
            context: origin.map_or(0, |(core, _)| self.contexts[core]),
        });
        history.contents.push(0);
        history.stamps.push(stamp);
        self.traced.origins.push(origin);
        history.events.len() - 1
    }

    fn program(&mut self, core: usize, stamps: &[u64]) {
        let journal = self.journal;
        for (index, op) in journal.trace.programs[core].iter().enumerate() {
            self.operation(core, index, op, stamps[index]);
        }
        self.tell_passed(core);
    }

    fn number(&self, addr: Addr) -> Option<usize> {
        self.numbers[place_of(&self.places, addr)]
    }

    fn operation(&mut self, core: usize, index: usize, op: &TraceOp, stamp: u64) {
        let origin = (core, index);
        let releases = self.marks[core].passes(op);
        match *op {
            TraceOp::Load {
                addr,
                size,
                value,
                from,
            } => {
                if let Some(number) = self.number(addr) {
                    self.load(origin, number, from, (addr, size, value), stamp);
                }
            }
            TraceOp::Store { addr, .. } => {
                let event = self.write(origin, addr, stamp);
                self.classify(event, releases.then_some(Class::Releasing));
            }
            TraceOp::StoreNt { addr, .. } => {
                let event = self.write(origin, addr, stamp);
                self.classify(event, Some(if releases { Class::Releasing } else { Class::Nt }));
            }
            TraceOp::Rmw { addr, old, from, .. } => {
                let write = self.locked(origin, (addr, old), from, stamp);
                self.classify(Some(write), releases.then_some(Class::Releasing));
            }
            TraceOp::Flush { addr, kind } => {
                let event = self.other(origin, Class::of_flush(FlushKind::from(kind)), stamp);
                self.traced.history.events[event].cell = Some(cell(None, addr));
            }
            TraceOp::Primitive(Primitive::Setctx(context)) => self.contexts[core] = context,
            TraceOp::Primitive(Primitive::Release) => self.marks[core].release(),
            TraceOp::Primitive(Primitive::Acquire) => self.acquire(core),
            TraceOp::Primitive(primitive) => {
                let event = self.other(origin, Class::Primitive(primitive.in_context(0)), stamp);
                if let Primitive::Cfence(context) = primitive {
                    self.traced.history.events[event].context = context;
                }
            }
            TraceOp::Note(note) => self.note(origin, self.journal.notes[core][note as usize], stamp),
        }
    }

    /// A flush or a fence.
    fn other(&mut self, origin: (usize, usize), class: Class, stamp: u64) -> usize {
        let event = self.event(Some(origin), EventKind::Other, None, stamp);
        self.traced.history.events[event].class = Some(class);
        event
    }

    fn classify(&mut self, event: Option<usize>, class: Option<Class>) {
        if let (Some(event), Some(class)) = (event, class) {
            self.traced.history.events[event].class = Some(class);
        }
    }

    /// The core's last load or locked instruction acquires: it becomes an event, if the oracle needs its location.
    fn acquire(&mut self, core: usize) {
        let Some(LastRead { read, index, stamp }) = self.marks[core].last_read() else {
            return;
        };
        let number = self.reads[read].number;
        if self.reads[read].event.is_none() && self.traced.places[number].is_seen() {
            // Postponed reads precede it.
            self.tell_passed(core);
            let event = self.push_event(Some((core, index)), EventKind::Read, Some(number), stamp);
            self.reads[read].event = Some(event);
        }
        self.classify(self.reads[read].event, Some(Class::Acquiring));
    }

    /// A load of a relevant location.
    fn load(&mut self, (core, index): (usize, usize), number: usize, from: Seen, given: (Addr, u8, u64), stamp: u64) {
        let event = self.load_event((core, index), number, from, given.0, stamp);
        self.read((core, index), event, number, from, given, stamp);
        if let (Seen::Memory(now), Some(_)) = (from, event) {
            self.repeats[core].reads(number, now);
        }
    }

    /// The event of a load, unless the oracle does not need it, or not yet.
    fn load_event(
        &mut self,
        (core, index): (usize, usize),
        number: usize,
        from: Seen,
        addr: Addr,
        stamp: u64,
    ) -> Option<usize> {
        if !self.traced.places[number].is_seen() || self.synchronising.contains(&number) {
            return None;
        }
        if let Seen::Memory(now) = from {
            if self.repeats(core, number, now, addr) {
                let read = self.reads.len();
                let passed = Passed {
                    index,
                    read,
                    number,
                    stamp,
                };
                self.repeats[core].repeats(now, passed);
                return None;
            }
        }
        Some(self.event(Some((core, index)), EventKind::Read, Some(number), stamp))
    }

    /// Whether a load after this many visible stores sees the same write as the core's previous load of the location.
    fn repeats(&self, core: usize, number: usize, now: u32, addr: Addr) -> bool {
        let Some(then) = self.repeats[core].then(number) else {
            return false;
        };
        let between = &self.journal.trace.visible[then as usize..now.max(then) as usize];
        !between.iter().any(|op| self.writes_to(*op, addr))
    }

    /// Postponed reads that become events, because another event of the core follows.
    fn tell_passed(&mut self, core: usize) {
        for passed in self.repeats[core].take() {
            let origin = Some((core, passed.index));
            let event = self.push_event(origin, EventKind::Read, Some(passed.number), passed.stamp);
            self.reads[passed.read].event = Some(event);
        }
    }

    fn writes_to(&self, op: OpId, addr: Addr) -> bool {
        let touched = touched(&self.journal.trace.programs[op.core.index()][op.index as usize]);
        touched.is_some_and(|(at, ..)| place_of(&self.places, at) == place_of(&self.places, addr))
    }

    fn read(
        &mut self,
        (core, index): (usize, usize),
        event: Option<usize>,
        number: usize,
        from: Seen,
        given: (Addr, u8, u64),
        stamp: u64,
    ) {
        let read = self.reads.len();
        self.marks[core].reads(LastRead { read, index, stamp });
        self.reads.push(Read {
            event,
            given,
            number,
            core,
            from,
            own: self.newest[core].get(&number).copied(),
        });
    }

    fn write(&mut self, origin: (usize, usize), addr: Addr, stamp: u64) -> Option<usize> {
        let number = self.number(addr)?;
        let event = self.event(Some(origin), EventKind::Write, Some(number), stamp);
        self.wrote(origin, number, event);
        Some(event)
    }

    /// The event of its write.
    fn locked(&mut self, origin: (usize, usize), (addr, old): (Addr, u64), from: Seen, stamp: u64) -> usize {
        let number = self.number(addr);
        let read = self.event(Some(origin), EventKind::Read, number, stamp);
        let write = self.event(Some(origin), EventKind::Write, number, stamp);
        for half in [read, write] {
            self.traced.history.events[half].locked = true;
        }
        self.traced.history.rmw.push((read, write));
        if let Some(number) = number {
            self.read(origin, Some(read), number, from, (addr, 8, old), stamp);
            self.wrote(origin, number, write);
        }
        write
    }

    fn wrote(&mut self, (core, index): (usize, usize), number: usize, event: usize) {
        self.writers[core][index] = event;
        self.newest[core].insert(number, event);
    }

    fn note(&mut self, origin: (usize, usize), noted: Noted, stamp: u64) {
        if matches!(
            noted.note,
            Note::Output { .. } | Note::RegionDurable | Note::OperationDurable { .. }
        ) {
            let event = self.event(Some(origin), EventKind::Output, None, stamp);
            self.traced.outputs.push((noted.at, event));
        }
    }

    fn order_writes(&mut self) {
        let trace = &self.journal.trace;
        for (moment, op) in trace.visible.iter().enumerate() {
            let event = self.writers[op.core.index()][op.index as usize];
            if event == NONE {
                continue;
            }
            let (addr, size, value) = match trace.programs[op.core.index()][op.index as usize] {
                TraceOp::Store { addr, size, value } | TraceOp::StoreNt { addr, size, value } => (addr, size, value),
                TraceOp::Rmw { addr, new, .. } => (addr, 8, new),
                _ => continue,
            };
            let Some(number) = self.number(addr) else { continue };
            let history = &mut self.traced.history;
            let order = &mut history.orders[number];
            let before = order.last().map_or(0, |newest| history.contents[*newest]);
            history.contents[event] = self.traced.places[number].written_over(before, addr, size, value);
            order.push(event);
            self.moments.insert(event, moment as u32);
            self.visible[number].push((moment as u32, event));
        }
    }

    fn tell_reads(&mut self) {
        for read in std::mem::take(&mut self.reads) {
            let Some(write) = self.source(&read) else { continue };
            if let Some(wrong) = self.wrong(&read, write) {
                self.traced.wrong.get_or_insert(wrong);
            }
            if let Some(event) = read.event {
                self.traced.history.rf.push((write, event));
            }
        }
    }

    /// The fault of a load whose value differs from what the write left there.
    fn wrong(&self, read: &Read, write: usize) -> Option<String> {
        let (addr, size, value) = read.given;
        let place = self.traced.places[read.number];
        let content = match read.from {
            // If accesses of several sizes share a location, a write's content is known only when it becomes visible.
            Seen::Own(index) => match self.journal.trace.programs[read.core][index as usize] {
                TraceOp::Store { addr: at, size, value } | TraceOp::StoreNt { addr: at, size, value } => {
                    place.written_over(0, at, size, value)
                }
                TraceOp::Rmw { addr: at, new, .. } => place.written_over(0, at, 8, new),
                _ => return None,
            },
            Seen::Memory(count) if Some(write) != read.own || !self.is_under_way(write, count) => {
                self.traced.history.contents[write]
            }
            _ => return None,
        };
        let expected = (content >> ((addr.0 - place.addr.0) * 8)) & (u64::MAX >> (64 - 8 * u32::from(size)));
        (expected != value).then(|| {
            let words = self.traced.words(self.journal, write);
            let (core, at) = (read.core, (self.traced.names)(addr));
            format!("core {core} reads {value:#x} from {at} where it sees `{words}`")
        })
    }

    /// Whether a core's own write was not yet visible at this position.
    fn is_under_way(&self, own: usize, count: u32) -> bool {
        self.moments.get(&own).is_none_or(|moment| *moment >= count)
    }

    /// The write that a read reads from.
    fn source(&self, read: &Read) -> Option<usize> {
        let count = match read.from {
            Seen::Own(index) => return Some(self.writers[read.core][index as usize]).filter(|event| *event != NONE),
            Seen::Stale => return None,
            Seen::Memory(count) | Seen::Merged(count) => count,
        };
        let visible = &self.visible[read.number];
        let known = visible.partition_point(|(moment, _)| *moment < count);
        // If accesses of several sizes share a location, a core's own write to other bytes of it may still be in
        // flight; the read follows it anyway.
        match read.own.filter(|own| self.is_under_way(*own, count)) {
            Some(own) => Some(own),
            None => Some(
                visible[..known]
                    .last()
                    .map_or(self.traced.history.orders[read.number][0], |(_, event)| *event),
            ),
        }
    }
}

fn cell(number: Option<usize>, addr: Addr) -> Cell {
    Cell {
        location: number,
        line: addr.line().0 as usize,
        persistent: addr.is_persistent(),
    }
}
