//! The events of a test.

use crate::litmus::{Instruction, LocationId, LocationKind, Operand, Test};
use crate::structure::{Cell, Event, Kind, Structure};

/// A value as a sum of read values and a constant, modulo 256.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// The number.
    pub number: u8,
    /// The reads.
    pub reads: Vec<usize>,
}

/// A test's events, with the locations and values of their accesses.
pub struct Unrolled {
    /// The events.
    pub events: Vec<Event>,
    /// Each event's instruction; `None` for initial writes.
    pub origin: Vec<Option<(usize, usize)>>,
    /// The value of each write and output.
    pub written: Vec<Sum>,
    /// Sets and relations.
    pub structure: Structure,
}

/// A thread's registers, with their values.
type Registers = [Sum; 14];

struct Unroller<'t> {
    test: &'t Test,
    events: Vec<Event>,
    origin: Vec<Option<(usize, usize)>>,
    written: Vec<Sum>,
    rmw: Vec<(usize, usize)>,
    data: Vec<(usize, usize)>,
}

impl Unrolled {
    /// The events of `test`: initial writes first, then the threads' in program order.
    #[must_use]
    pub fn of(test: &Test) -> Unrolled {
        let mut unroller = Unroller {
            test,
            events: Vec::new(),
            origin: Vec::new(),
            written: Vec::new(),
            rmw: Vec::new(),
            data: Vec::new(),
        };
        for id in test.ids().filter(|id| test.location(*id).kind != LocationKind::Output) {
            let initial = Sum {
                number: test.location(id).initial,
                reads: Vec::new(),
            };
            let event = unroller.event(None, Kind::Write, Some(id));
            unroller.push(event, None, initial);
        }
        for (thread, instructions) in test.threads.iter().enumerate() {
            unroller.thread(thread, instructions);
        }
        Unrolled {
            structure: Structure::of(&unroller.events, &unroller.rmw, &unroller.data),
            events: unroller.events,
            origin: unroller.origin,
            written: unroller.written,
        }
    }

    /// The writes to each location, the initial one first.
    #[must_use]
    pub fn writes(&self, locations: usize) -> Vec<Vec<usize>> {
        let mut writes = vec![Vec::new(); locations];
        for (index, event) in self.events.iter().enumerate() {
            if let (Kind::Write, Some(location)) = (event.kind, event.cell.and_then(|cell| cell.location)) {
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
            .filter(|(_, event)| event.kind == Kind::Read)
            .map(|(index, _)| index)
            .collect()
    }
}

impl Unroller<'_> {
    fn event(&self, thread: Option<usize>, kind: Kind, at: Option<LocationId>) -> Event {
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
            cell: cell.filter(|_| kind != Kind::Output),
            context: 0,
        }
    }

    fn push(&mut self, event: Event, origin: Option<(usize, usize)>, written: Sum) -> usize {
        self.events.push(event);
        self.origin.push(origin);
        let index = self.events.len() - 1;
        // A locked addition also depends on its own read, which `rmw` shows.
        let own = |read: &usize| event.locked && read + 1 == index;
        self.data.extend(
            written
                .reads
                .iter()
                .filter(|read| !own(read))
                .map(|read| (*read, index)),
        );
        self.written.push(written);
        index
    }

    fn thread(&mut self, thread: usize, instructions: &[Instruction]) {
        let mut registers = Registers::default();
        let mut context = 0;
        for (index, instruction) in instructions.iter().enumerate() {
            match instruction {
                Instruction::Set(register, number) => {
                    registers[register.0 as usize] = Sum {
                        number: *number,
                        reads: Vec::new(),
                    };
                }
                Instruction::SetContext(number) => context = *number,
                _ => self.instruction(*instruction, (thread, index), context, &mut registers),
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
        let value = |operand: Operand| match operand {
            Operand::Number(number) => Sum {
                number,
                reads: Vec::new(),
            },
            Operand::Register(register) => registers[register.0 as usize].clone(),
        };
        let (kind, written) = match instruction {
            Instruction::Load(..) => (Kind::Read, Sum::default()),
            Instruction::Store(_, operand, _) | Instruction::StoreNt(_, operand) => (Kind::Write, value(operand)),
            Instruction::Out(_, operand) => (Kind::Output, value(operand)),
            Instruction::Exchange(at, register) | Instruction::Add(at, register) => {
                let operand = registers[register.0 as usize].clone();
                let adds = matches!(instruction, Instruction::Add(..));
                let read = self.locked(at, operand, adds, origin, context);
                registers[register.0 as usize] = one_read(read);
                return;
            }
            _ => (Kind::Other, Sum::default()),
        };
        let mut event = self.event(Some(origin.0), kind, instruction.location());
        event.class = instruction.class();
        event.context = match instruction {
            Instruction::ContextFence(number) => number,
            _ => context,
        };
        let index = self.push(event, Some(origin), written);
        if let Instruction::Load(register, ..) = instruction {
            registers[register.0 as usize] = one_read(index);
        }
    }

    /// A locked instruction: a read and a write.
    fn locked(&mut self, at: LocationId, operand: Sum, adds: bool, origin: (usize, usize), context: u8) -> usize {
        let half = |this: &Self, kind| Event {
            locked: true,
            context,
            ..this.event(Some(origin.0), kind, Some(at))
        };
        let event = half(self, Kind::Read);
        let read = self.push(event, Some(origin), Sum::default());
        let mut written = operand;
        if adds {
            written.reads.push(read);
        }
        let event = half(self, Kind::Write);
        let write = self.push(event, Some(origin), written);
        self.rmw.push((read, write));
        read
    }
}

fn one_read(read: usize) -> Sum {
    Sum {
        number: 0,
        reads: vec![read],
    }
}
