//! The events of a test.

use crate::litmus::{Instruction, LocationId, LocationKind, Operand, Register, Test};
use crate::relation::Set;
use crate::structure::{Cell, Dependences, Event, EventKind, Structure, Wanted};

/// A value as a sum of read values and a constant, modulo 256.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// The number.
    pub number: u8,
    /// The reads.
    pub reads: Vec<usize>,
    /// Reads on which it depends without changing with them.
    pub cleared: Vec<usize>,
}

/// A test's events, with the locations and values of their accesses.
pub struct Unrolled {
    /// The events.
    pub events: Vec<Event>,
    /// Each event's instruction; `None` for initial writes.
    pub origin: Vec<Option<(usize, usize)>>,
    /// The value of each write and output.
    pub written: Vec<Sum>,
    /// The failure of hosts while others go on, if the model asks for it.
    pub failure: Option<usize>,
    /// Whether all that happens before the failure is known: every event, but for what survivors do after it.
    pub all_is_known: bool,
    /// Sets and relations.
    pub structure: Structure,
}

/// What a thread computes with.
#[derive(Default)]
struct Registers {
    values: [Sum; 14],
    /// The reads on which the last comparison depends.
    flags: Vec<usize>,
    /// The reads on which the branches so far depend.
    branches: Vec<usize>,
}

struct Unroller<'t> {
    test: &'t Test,
    wanted: Wanted,
    events: Vec<Event>,
    origin: Vec<Option<(usize, usize)>>,
    written: Vec<Sum>,
    rmw: Vec<(usize, usize)>,
    rest: Vec<(usize, usize)>,
    depends: Dependences,
}

impl Unrolled {
    /// The events of `test` that a model wants: initial writes first, then the threads' in program order.
    #[must_use]
    pub fn of(test: &Test, wanted: Wanted) -> Unrolled {
        let mut unroller = Unroller {
            test,
            wanted,
            events: Vec::new(),
            origin: Vec::new(),
            written: Vec::new(),
            rmw: Vec::new(),
            rest: Vec::new(),
            depends: Dependences::default(),
        };
        for id in test.ids().filter(|id| test.location(*id).kind != LocationKind::Output) {
            let initial = constant(test.location(id).initial);
            let event = unroller.event(None, EventKind::Write, Some(id));
            unroller.push(event, None, initial);
        }
        let survive = (0..test.threads.len()).any(|thread| test.hosts.survives(thread));
        // Where all that happens is known, all threads end there.
        let ends = |thread| test.hosts.survives(thread) || wanted.owners && !survive;
        let failure = (wanted.failure && survive).then(|| {
            let event = unroller.event(None, EventKind::Failure, None);
            unroller.push(event, None, Sum::default())
        });
        for (thread, instructions) in test.threads.iter().enumerate() {
            unroller.thread(thread, instructions);
            if ends(thread) {
                // The end of a thread that survives: whatever is durable by then is.
                let end = unroller.event(Some(thread), EventKind::End, None);
                unroller.push(end, None, Sum::default());
            }
        }
        Unrolled {
            structure: unroller.structure(),
            events: unroller.events,
            origin: unroller.origin,
            written: unroller.written,
            failure,
            all_is_known: wanted.owners,
        }
    }

    /// The writes to each location, the initial one first.
    #[must_use]
    pub fn writes(&self, locations: usize) -> Vec<Vec<usize>> {
        let mut writes = vec![Vec::new(); locations];
        for (index, event) in self.events.iter().enumerate() {
            if let (true, Some(location)) = (event.kind.writes(), event.cell.and_then(|cell| cell.location)) {
                writes[location].push(index);
            }
        }
        writes
    }

    /// The reads.
    #[must_use]
    pub fn reads(&self) -> Vec<usize> {
        let reads = self.events.iter().enumerate();
        reads
            .filter(|(_, event)| event.kind.reads())
            .map(|(index, _)| index)
            .collect()
    }
}

impl Unroller<'_> {
    fn structure(&self) -> Structure {
        let hosts = &self.test.hosts;
        let structure = Structure::of(&self.events, &self.rmw, &self.rest, &self.depends, &hosts.of_threads);
        if !self.wanted.owners {
            return structure;
        }
        let at = |event: usize| Some(LocationId(self.events[event].cell?.location? as u8));
        let host = |event: usize| hosts.of_threads.get(self.events[event].thread?).copied();
        structure.with_owners(
            Set::of(self.events.len(), |event| {
                host(event).is_some() && host(event) == at(event).and_then(|id| hosts.owner(id))
            }),
            Set::of(self.events.len(), |event| {
                at(event).is_some_and(|id| hosts.loses_owner(id))
            }),
        )
    }

    fn event(&self, thread: Option<usize>, kind: EventKind, at: Option<LocationId>) -> Event {
        let cell = at.map(|id| Cell {
            location: Some(id.0 as usize),
            line: self.test.location(id).line,
            persistent: self.test.location(id).kind == LocationKind::Persistent,
        });
        Event {
            thread,
            kind,
            class: None,
            locked: false,
            cell: cell.filter(|_| kind != EventKind::Output),
            context: 0,
        }
    }

    fn push(&mut self, event: Event, origin: Option<(usize, usize)>, written: Sum) -> usize {
        self.events.push(event);
        self.origin.push(origin);
        let index = self.events.len() - 1;
        // A locked addition also depends on its own read, which `rmw` shows.
        let own = |read: &usize| event.locked && read + 1 == index;
        let reads = written.depends().filter(|read| !own(read));
        self.depends.data.extend(reads.map(|read| (read, index)));
        self.written.push(written);
        index
    }

    fn thread(&mut self, thread: usize, instructions: &[Instruction]) {
        let mut registers = Registers::default();
        let mut context = 0;
        for (index, instruction) in instructions.iter().enumerate() {
            let first = self.events.len();
            match instruction {
                Instruction::Set(register, number) => *registers.value(*register) = constant(*number),
                Instruction::Clear(register) => registers.value(*register).clear(),
                Instruction::Compare(register, _) => registers.flags = registers.value(*register).depends().collect(),
                Instruction::Jump(_) => registers.branches.extend(registers.flags.clone()),
                Instruction::Label(_) => {}
                Instruction::SetContext(number) => context = *number,
                _ => self.instruction(*instruction, (thread, index), context, &mut registers),
            }
            for event in first..self.events.len() {
                let reads = registers.branches.iter();
                self.depends.ctrl.extend(reads.map(|read| (*read, event)));
            }
        }
    }

    fn instruction(
        &mut self,
        instruction: Instruction,
        origin: (usize, usize),
        context: u8,
        registers: &mut Registers,
    ) {
        let mut value = |operand: Operand| match operand {
            Operand::Number(number) => constant(number),
            Operand::Register(register) => registers.value(register).clone(),
        };
        let (kind, written) = match instruction {
            Instruction::Load(..) | Instruction::LoadAt(..) => (EventKind::Read, Sum::default()),
            Instruction::Store(_, operand, _)
            | Instruction::StoreNt(_, operand)
            | Instruction::StoreTo(_, operand, _)
            | Instruction::StoreAt(_, _, operand) => (EventKind::Write, value(operand)),
            Instruction::Out(_, operand) => (EventKind::Output, value(operand)),
            Instruction::FlushTo(..) => (EventKind::Finds, Sum::default()),
            Instruction::Exchange(at, register) | Instruction::Add(at, register) => {
                let operand = value(Operand::Register(register));
                let adds = matches!(instruction, Instruction::Add(..));
                let read = self.locked(at, operand, adds, origin, context);
                *registers.value(register) = one_read(read);
                return;
            }
            _ => (EventKind::Other, Sum::default()),
        };
        let mut event = self.event(Some(origin.0), kind, instruction.location());
        event.class = instruction.class();
        event.context = match instruction {
            Instruction::ContextFence(number) => number,
            _ => context,
        };
        let index = self.push(event, Some(origin), written);
        if let Instruction::LoadAt(_, _, through) | Instruction::StoreAt(_, through, _) = instruction {
            let reads = registers.value(through).depends();
            self.depends.addr.extend(reads.map(|read| (read, index)));
        }
        if let Instruction::Load(register, ..) | Instruction::LoadAt(register, ..) = instruction {
            *registers.value(register) = one_read(index);
        }
        if let Instruction::Store(at, ..) | Instruction::StoreAt(at, ..) = instruction {
            self.rest_of_line(at, index, origin);
        }
    }

    /// The rest of a line, which a store takes with it: a cache writes back whole lines.
    fn rest_of_line(&mut self, at: LocationId, store: usize, origin: (usize, usize)) {
        let (test, line) = (self.test, self.test.location(at).line);
        let is_rest = |id: &LocationId| {
            let other = test.location(*id);
            *id != at && other.line == line && other.kind == LocationKind::Persistent
        };
        let has_caches = self.wanted.rest && test.hosts.are_named();
        for id in test.ids().filter(|id| has_caches && is_rest(id)) {
            let half = |this: &Self, kind| this.event(Some(origin.0), kind, Some(id));
            let read = self.push(half(self, EventKind::RestRead), Some(origin), Sum::default());
            let write = self.push(half(self, EventKind::RestWrite), Some(origin), one_read(read));
            self.rmw.push((read, write));
            self.rest.push((store, write));
        }
    }

    /// A locked instruction: a read and a write.
    fn locked(&mut self, at: LocationId, operand: Sum, adds: bool, origin: (usize, usize), context: u8) -> usize {
        let half = |this: &Self, kind| Event {
            locked: true,
            context,
            ..this.event(Some(origin.0), kind, Some(at))
        };
        let event = half(self, EventKind::Read);
        let read = self.push(event, Some(origin), Sum::default());
        let mut written = operand;
        if adds {
            written.reads.push(read);
        }
        let event = half(self, EventKind::Write);
        let write = self.push(event, Some(origin), written);
        self.rmw.push((read, write));
        self.rest_of_line(at, write, origin);
        read
    }
}

impl Registers {
    fn value(&mut self, register: Register) -> &mut Sum {
        &mut self.values[register.0 as usize]
    }
}

impl Sum {
    /// The reads on which it depends.
    fn depends(&self) -> impl Iterator<Item = usize> + use<'_> {
        self.reads.iter().chain(&self.cleared).copied()
    }

    /// Makes it 0, which depends on the same reads.
    fn clear(&mut self) {
        self.number = 0;
        self.cleared.append(&mut self.reads);
    }
}

fn constant(number: u8) -> Sum {
    Sum {
        number,
        ..Sum::default()
    }
}

fn one_read(read: usize) -> Sum {
    Sum {
        reads: vec![read],
        ..Sum::default()
    }
}
