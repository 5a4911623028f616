//! Hosts, their caches and a device that they share, step by step: what `cxl-today` and `cxl-coherent` say, without relations.
//!
//! A host has a coherent cache. A line is fetched whole, at any time, and leaves whole: a dirty one at any time, over a way to the
//! device that keeps the order of a line. What the device has accepted is durable, and what a fetch brings.
//!
//! Where a directory keeps hosts coherent, a fetch waits until what others have of the line is at the device, and a store takes
//! their copies. Then hosts that fail stop at one moment, at which what they and their ways hold is gone.

use super::leaves;
use std::collections::BTreeSet;
use strandline_order::litmus::{Class, FlushKind, Instruction, LocationKind, Operand, Register};
use strandline_order::Test;

/// Maximum number of locations in memory, and of instructions of a thread.
const CELLS: usize = 6;
const LONGEST: usize = 16;

/// A host's copy of a line: the value of each location (of other lines 0), and whether it has stores of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Line {
    values: [u8; CELLS],
    dirty: bool,
}

/// What is on its way to the device: for each location its value, if it is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Sent {
    values: [Option<u8>; CELLS],
    /// Whether it comes from the cache, where a flush finds it; a non-temporal store goes around.
    cached: bool,
}

/// What an instruction is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Load,
    Store,
    StoreNt,
    Locked,
    Flush(FlushKind),
    Sfence,
    Mfence,
    Out,
    /// No event.
    Nothing,
}

#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct Core {
    /// The instructions that are done, as bits.
    done: u32,
    /// What each instruction has read.
    read: [u8; LONGEST],
    /// For each line, how many that are on their way a fence waits for.
    owes: [u8; CELLS],
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Moment {
    cores: Vec<Core>,
    /// By host and line.
    caches: Vec<[Option<Line>; CELLS]>,
    /// What is on its way, by host and line.
    ways: Vec<[Vec<Sent>; CELLS]>,
    /// By location: in DRAM or at the device, or told to the outside world.
    memory: Vec<u8>,
    /// Whether the hosts that fail have failed, where that is a moment.
    failed: bool,
}

fn kind(instruction: Instruction) -> Kind {
    match instruction {
        Instruction::Load(..) | Instruction::LoadAt(..) => Kind::Load,
        Instruction::Store(..) | Instruction::StoreAt(..) => Kind::Store,
        Instruction::StoreNt(..) => Kind::StoreNt,
        Instruction::Exchange(..) | Instruction::Add(..) => Kind::Locked,
        Instruction::Flush(_, kind) => Kind::Flush(kind),
        Instruction::Fence(class) if class.name() == "SFENCE" => Kind::Sfence,
        Instruction::Fence(class) if class.name() == "MFENCE" => Kind::Mfence,
        Instruction::Out(..) => Kind::Out,
        Instruction::Set(..) | Instruction::Clear(_) => Kind::Nothing,
        Instruction::Compare(..) | Instruction::Jump(_) | Instruction::Label(_) => Kind::Nothing,
        other => panic!("{other:?}: of another machine"),
    }
}

/// Whether an instruction stores.
pub fn writes(instruction: Instruction) -> bool {
    kind(instruction).writes()
}

impl Kind {
    fn writes(self) -> bool {
        matches!(self, Kind::Store | Kind::StoreNt | Kind::Locked)
    }

    fn is_sent(self) -> bool {
        self.writes() || matches!(self, Kind::Flush(_))
    }

    fn acts(self) -> bool {
        self.is_sent() || matches!(self, Kind::Load | Kind::Out)
    }
}

/// A test on the machine.
pub struct Machine<'t> {
    test: &'t Test,
    is_coherent: bool,
    hosts: usize,
    lines: [Vec<usize>; CELLS],
    /// For each instruction, the earlier ones that hold it, as bits.
    held_by: Vec<Vec<u32>>,
}

impl<'t> Machine<'t> {
    pub fn of(test: &'t Test, is_coherent: bool) -> Machine<'t> {
        let hosts = test
            .hosts
            .of_threads
            .iter()
            .max()
            .map_or(1, |last| usize::from(*last) + 1);
        let persistent = |at: &usize| test.locations[*at].kind == LocationKind::Persistent;
        let of_line = |line| {
            let all = (0..test.locations.len()).filter(persistent);
            all.filter(|at| test.locations[*at].line == line).collect()
        };
        let mut machine = Machine {
            test,
            is_coherent,
            hosts,
            lines: std::array::from_fn(of_line),
            held_by: Vec::new(),
        };
        let held_by = |thread: usize, at: usize| {
            (0..at)
                .filter(|before| machine.holds(thread, *before, at))
                .fold(0, |bits, before| bits | 1 << before)
        };
        machine.held_by = (0..test.threads.len())
            .map(|thread| (0..test.threads[thread].len()).map(|at| held_by(thread, at)).collect())
            .collect();
        machine
    }

    /// The states that a failure may leave; none if that takes more than `most` moments.
    pub fn states(&self, most: usize) -> Option<BTreeSet<Vec<u8>>> {
        let test = self.test;
        let memory: Vec<u8> = test.locations.iter().map(|at| at.initial).collect();
        let start = Moment {
            cores: vec![Core::default(); test.threads.len()],
            caches: vec![std::array::from_fn(|line| self.fetched(&memory, line)); self.hosts],
            ways: vec![Default::default(); self.hosts],
            memory,
            failed: false,
        };
        let left = |moment: &Moment| {
            let observed = test.observed().into_iter();
            let values = observed.map(|id| moment.memory[usize::from(id.0)]).collect();
            self.is_over(moment).then_some(values)
        };
        leaves(start, most, |moment| self.next(moment), left)
    }

    /// Whether the survivors are at their end.
    fn is_over(&self, moment: &Moment) -> bool {
        let survivors = (0..moment.cores.len()).filter(|thread| self.test.hosts.survives(*thread));
        survivors.into_iter().all(|thread| {
            let all = (0..self.test.threads[thread].len()).filter(|at| self.kind(thread, *at) != Kind::Nothing);
            all.into_iter().all(|at| moment.cores[thread].done >> at & 1 == 1)
        })
    }

    fn kind(&self, thread: usize, at: usize) -> Kind {
        kind(self.test.threads[thread][at])
    }

    fn host(&self, thread: usize) -> usize {
        usize::from(self.test.hosts.of_threads[thread])
    }

    /// The location of an instruction.
    fn location(&self, thread: usize, at: usize) -> Option<usize> {
        Some(usize::from(self.test.threads[thread][at].location()?.0))
    }

    fn line(&self, location: usize) -> usize {
        self.test.locations[location].line
    }

    fn is_persistent(&self, location: usize) -> bool {
        self.test.locations[location].kind == LocationKind::Persistent
    }

    /// The persistent locations of a line.
    fn of_line(&self, line: usize) -> &[usize] {
        &self.lines[line]
    }

    fn next(&self, moment: &Moment) -> Vec<Moment> {
        let mut next = Vec::new();
        let acts = |host: usize| !moment.failed || !self.fails(host);
        for thread in (0..self.test.threads.len()).filter(|thread| acts(self.host(*thread))) {
            let ready = (0..self.test.threads[thread].len()).filter(|at| self.is_ready(moment, thread, *at));
            for at in ready {
                let performed = self.perform(moment, thread, at);
                // A fence that is ready, or a survivor's output, comes anyway, and only enables more.
                if performed.is_some() && self.may_come_first(thread, at) {
                    return performed.into_iter().collect();
                }
                next.extend(performed);
            }
        }
        for host in (0..self.hosts).filter(|host| acts(*host)) {
            for line in 0..CELLS {
                if !self.of_line(line).is_empty() {
                    self.cache_acts(moment, host, line, &mut next);
                }
            }
        }
        if self.is_coherent && !moment.failed && !self.test.hosts.fail.is_empty() {
            next.push(self.failed(moment));
        }
        next
    }

    fn fails(&self, host: usize) -> bool {
        self.test.hosts.fail.contains(&(host as u8))
    }

    /// The hosts that fail do so: what has not left them is gone.
    fn failed(&self, moment: &Moment) -> Moment {
        let mut next = moment.clone();
        next.failed = true;
        for host in (0..self.hosts).filter(|host| self.fails(*host)) {
            next.caches[host] = [None; CELLS];
            next.ways[host] = Default::default();
        }
        next
    }

    /// Whether the device has what other hosts have of a line; true where nothing keeps hosts alike.
    fn others_are_clean(&self, moment: &Moment, host: usize, line: usize) -> bool {
        let mut others = (0..self.hosts).filter(|other| self.is_coherent && *other != host);
        others.all(|other| {
            let is_dirty = moment.caches[other][line].is_some_and(|copy| copy.dirty);
            !is_dirty && moment.ways[other][line].is_empty()
        })
    }

    /// A host becomes the only one that has a line; none if others have written it.
    fn owns(&self, moment: &mut Moment, host: usize, line: usize) -> Option<()> {
        if !self.others_are_clean(moment, host, line) {
            return None;
        }
        for other in (0..self.hosts).filter(|other| self.is_coherent && *other != host) {
            moment.caches[other][line] = None;
        }
        Some(())
    }

    fn may_come_first(&self, thread: usize, at: usize) -> bool {
        match self.kind(thread, at) {
            Kind::Sfence | Kind::Mfence => true,
            Kind::Out => self.test.hosts.survives(thread),
            _ => false,
        }
    }

    /// Whether a thread of the host has something to do with the line.
    fn is_used(&self, moment: &Moment, host: usize, line: usize) -> bool {
        let threads = (0..moment.cores.len()).filter(|thread| self.host(*thread) == host);
        threads.into_iter().any(|thread| {
            let left = (0..self.test.threads[thread].len()).filter(|at| moment.cores[thread].done >> at & 1 == 0);
            left.into_iter()
                .any(|at| self.location(thread, at).is_some_and(|at| self.line(at) == line))
        })
    }

    /// A copy of a line as the device has it.
    fn fetched(&self, memory: &[u8], line: usize) -> Option<Line> {
        let mut values = [0; CELLS];
        self.of_line(line).iter().for_each(|at| values[*at] = memory[*at]);
        Some(Line { values, dirty: false })
    }

    /// What a cache does by itself.
    fn cache_acts(&self, moment: &Moment, host: usize, line: usize, next: &mut Vec<Moment>) {
        let mut act = |change: &dyn Fn(&mut Moment)| {
            let mut moment = moment.clone();
            change(&mut moment);
            next.push(moment);
        };
        match &moment.caches[host][line] {
            Some(copy) if copy.dirty => act(&|moment| self.send(moment, host, line)),
            // A fetch, maybe after a clean copy was dropped, waits for what the host itself has on its way.
            _ if moment.ways[host][line].is_empty()
                && self.others_are_clean(moment, host, line)
                && self.is_used(moment, host, line) =>
            {
                act(&|moment| moment.caches[host][line] = self.fetched(&moment.memory, line));
            }
            _ => {}
        }
        if !moment.ways[host][line].is_empty() {
            act(&|moment| self.accept(moment, host, line));
        }
    }

    /// A dirty line goes on its way, and stays as a clean copy.
    fn send(&self, moment: &mut Moment, host: usize, line: usize) {
        let Some(copy) = moment.caches[host][line].as_mut().filter(|copy| copy.dirty) else {
            return;
        };
        copy.dirty = false;
        let mut values = [None; CELLS];
        self.of_line(line)
            .iter()
            .for_each(|at| values[*at] = Some(copy.values[*at]));
        moment.ways[host][line].push(Sent { values, cached: true });
    }

    fn accept(&self, moment: &mut Moment, host: usize, line: usize) {
        let sent = moment.ways[host][line].remove(0);
        for (held, value) in moment.memory.iter_mut().zip(sent.values) {
            *held = value.unwrap_or(*held);
        }
        let cores = (0..moment.cores.len()).filter(|thread| self.host(*thread) == host);
        for thread in cores.collect::<Vec<_>>() {
            let owes = &mut moment.cores[thread].owes[line];
            *owes = owes.saturating_sub(1);
        }
    }

    /// Whether no earlier instruction holds this one.
    fn is_ready(&self, moment: &Moment, thread: usize, at: usize) -> bool {
        let done = moment.cores[thread].done;
        self.kind(thread, at) != Kind::Nothing && done >> at & 1 == 0 && self.held_by[thread][at] & !done == 0
    }

    /// Whether an instruction is done before a later one of its thread.
    fn holds(&self, thread: usize, before: usize, at: usize) -> bool {
        let (first, second) = (self.kind(thread, before), self.kind(thread, at));
        let places = (self.location(thread, before), self.location(thread, at));
        let same = places.0.is_some() && places.0 == places.1;
        let same_line = matches!(places, (Some(a), Some(b)) if self.line(a) == self.line(b));
        match (first, second) {
            (Kind::Nothing, _) | (_, Kind::Nothing) => false,
            (Kind::Load | Kind::Locked, _) if second.acts() => true,
            (_, Kind::Locked) => first.is_sent(),
            (Kind::Store, Kind::Store) => true,
            (_, Kind::Sfence) => first.is_sent(),
            (Kind::Sfence, _) => second.is_sent() || second == Kind::Out,
            (_, Kind::Mfence) => first.acts(),
            (Kind::Mfence, _) => second.acts(),
            (_, Kind::Flush(FlushKind::Clflush)) if first.writes() => true,
            (Kind::Flush(FlushKind::Clflush), _) if second.writes() => true,
            (_, Kind::Flush(_)) if first.writes() => same_line,
            _ => first.writes() && second.writes() && same,
        }
    }

    fn value(&self, core: &Core, thread: usize, operand: Operand, at: usize) -> u8 {
        let register = match operand {
            Operand::Number(number) => return number,
            Operand::Register(register) => register,
        };
        self.held(core, thread, register, at)
    }

    /// What a register holds before an instruction.
    fn held(&self, core: &Core, thread: usize, register: Register, at: usize) -> u8 {
        let before = self.test.threads[thread][..at].iter().enumerate().rev();
        let found = before.into_iter().find_map(|(place, instruction)| match instruction {
            Instruction::Set(into, number) if *into == register => Some(*number),
            Instruction::Clear(into) if *into == register => Some(0),
            Instruction::Load(into, ..)
            | Instruction::LoadAt(into, ..)
            | Instruction::Exchange(_, into)
            | Instruction::Add(_, into)
                if *into == register =>
            {
                Some(core.read[place])
            }
            _ => None,
        });
        found.unwrap_or(0)
    }

    fn perform(&self, moment: &Moment, thread: usize, at: usize) -> Option<Moment> {
        let mut next = moment.clone();
        let core = &moment.cores[thread];
        let instruction = self.test.threads[thread][at];
        let value = |operand| self.value(core, thread, operand, at);
        match instruction {
            Instruction::Load(_, id, _) | Instruction::LoadAt(_, id, _) => {
                next.cores[thread].read[at] = match self.forwarded(core, thread, at) {
                    Some(value) => value,
                    None => self.seen(moment, thread, usize::from(id.0))?,
                };
            }
            Instruction::Store(id, operand, _) | Instruction::StoreAt(id, _, operand) => {
                self.store(&mut next, thread, usize::from(id.0), value(operand))?;
            }
            Instruction::StoreNt(id, operand) => self.store_nt(&mut next, thread, usize::from(id.0), value(operand))?,
            Instruction::Exchange(id, register) | Instruction::Add(id, register) => {
                if core.owes != [0; CELLS] {
                    return None;
                }
                let old = self.seen(moment, thread, usize::from(id.0))?;
                let own = self.held(core, thread, register, at);
                let new = match instruction {
                    Instruction::Add(..) => own.wrapping_add(old),
                    _ => own,
                };
                next.cores[thread].read[at] = old;
                self.store(&mut next, thread, usize::from(id.0), new)?;
            }
            Instruction::Out(id, operand) => next.memory[usize::from(id.0)] = value(operand),
            Instruction::Flush(id, kind) if self.is_persistent(usize::from(id.0)) => {
                self.flush(&mut next, thread, self.line(usize::from(id.0)), kind)?;
            }
            Instruction::Fence(Class::Primitive(_)) if core.owes != [0; CELLS] => return None,
            _ => {}
        }
        next.cores[thread].done |= 1 << at;
        Some(next)
    }

    /// What the thread's own store leaves for a load that comes before it is seen.
    fn forwarded(&self, core: &Core, thread: usize, at: usize) -> Option<u8> {
        let place = self.location(thread, at);
        let mut before = (0..at).rev();
        let own =
            before.find(|before| self.kind(thread, *before).writes() && self.location(thread, *before) == place)?;
        if core.done >> own & 1 == 1 {
            return None;
        }
        match self.test.threads[thread][own] {
            Instruction::Store(_, operand, _)
            | Instruction::StoreAt(_, _, operand)
            | Instruction::StoreNt(_, operand) => Some(self.value(core, thread, operand, own)),
            _ => None,
        }
    }

    /// What a host sees at a location; none if it has no copy.
    fn seen(&self, moment: &Moment, thread: usize, location: usize) -> Option<u8> {
        if !self.is_persistent(location) {
            return Some(moment.memory[location]);
        }
        let copy = moment.caches[self.host(thread)][self.line(location)].as_ref()?;
        Some(copy.values[location])
    }

    /// The copy that a store changes; none if it must be fetched first. A store to all of a line needs none.
    fn written<'m>(&self, moment: &'m mut Moment, thread: usize, location: usize) -> Option<&'m mut Line> {
        let line = self.line(location);
        let copy = &mut moment.caches[self.host(thread)][line];
        if copy.is_none() && self.of_line(line).len() == 1 {
            *copy = Some(Line {
                values: [0; CELLS],
                dirty: false,
            });
        }
        copy.as_mut()
    }

    fn store(&self, moment: &mut Moment, thread: usize, location: usize, value: u8) -> Option<()> {
        if !self.is_persistent(location) {
            moment.memory[location] = value;
            return Some(());
        }
        self.owns(moment, self.host(thread), self.line(location))?;
        let copy = self.written(moment, thread, location)?;
        copy.values[location] = value;
        copy.dirty = true;
        Some(())
    }

    /// A non-temporal store: it goes on its way at once, behind what the line has, and changes a copy in place.
    fn store_nt(&self, moment: &mut Moment, thread: usize, location: usize, value: u8) -> Option<()> {
        if !self.is_persistent(location) {
            moment.memory[location] = value;
            return Some(());
        }
        let (host, line) = (self.host(thread), self.line(location));
        self.owns(moment, host, line)?;
        self.send(moment, host, line);
        if let Some(copy) = self.written(moment, thread, location) {
            copy.values[location] = value;
        }
        let mut values = [None; CELLS];
        values[location] = Some(value);
        moment.ways[host][line].push(Sent { values, cached: false });
        moment.cores[thread].owes[line] = moment.ways[host][line].len() as u8;
        Some(())
    }

    fn flush(&self, moment: &mut Moment, thread: usize, line: usize, kind: FlushKind) -> Option<()> {
        let host = self.host(thread);
        // A flush finds the line wherever it is, and waits.
        self.others_are_clean(moment, host, line).then_some(())?;
        let is_dirty = moment.caches[host][line].as_ref().is_some_and(|copy| copy.dirty);
        if kind == FlushKind::Clflush && (is_dirty || moment.ways[host][line].iter().any(|sent| sent.cached)) {
            return None;
        }
        self.send(moment, host, line);
        if kind != FlushKind::Clwb {
            moment.caches[host][line] = None;
        }
        if let Some(last) = moment.ways[host][line].iter().rposition(|sent| sent.cached) {
            let owed = &mut moment.cores[thread].owes[line];
            *owed = (*owed).max(last as u8 + 1);
        }
        Some(())
    }
}
