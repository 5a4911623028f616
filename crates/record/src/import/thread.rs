//! A thread's records become a thread of the recording.

use super::blocks::{Blocks, Point, Run, LONGEST};
use super::entry::{Entry, Kind, Marker};
use super::head::Head;
use super::instruction::{Datum, Instruction};
use super::order::{Clock, Order, Sync};
use super::{container, damaged, refused, TRACE_AGAIN};
use crate::collect::locks::Fences;
use crate::ranges::Ranges;
use crate::recording::{Event, FenceClass};
use crate::{RecordError, Writer};
use std::collections::HashMap;
use std::io::Write;
use std::ops::ControlFlow;
use strandline_capture::{AccessKind, CONTROL};

/// The most accesses of one execution of an instruction: a scatter of 16 elements reads and writes fewer.
const MAX_DATA: usize = 64;

/// The most bytes of an encoding.
const MAX_ENCODING: usize = 32;

/// System calls that may start a thread: `clone` and `clone3`.
const STARTS: [u64; 2] = [56, 435];

/// Instructions between two reports of progress.
const PROGRESS: u64 = 1 << 20;

/// What all threads share.
pub struct Shared<'s, W: Write> {
    /// The recording.
    pub writer: Writer<W>,
    /// Its code.
    pub blocks: Blocks,
    /// Persistent memory.
    pub persistent: Ranges,
    /// The order of accesses of several threads; nobody needs it where there is one thread.
    pub order: Option<Order>,
    /// Instructions of the kernel that were left out.
    pub kernel: u64,
    /// There are gaps.
    pub gaps: bool,
    /// Instructions so far.
    pub instructions: u64,
    /// Is told of them.
    pub progress: &'s mut dyn FnMut(u64),
}

/// What is known of a thread while it is read.
struct Reader<'r, 's, W: Write> {
    shared: &'r mut Shared<'s, W>,
    thread: u32,
    head: &'r Head,
    /// The number of the instruction last seen at an address.
    code: HashMap<u64, u32>,
    encoding: Vec<u8>,
    run: Run,
    found: Vec<(strandline_capture::Access, u64)>,
    /// The instruction whose accesses are being read.
    current: Option<u32>,
    data: Vec<Datum>,
    /// The address of the last instruction.
    last: u64,
    executed: u64,
    window: Option<u64>,
    in_kernel: bool,
    ended: bool,
    clock: Clock,
    fences: Fences,
}

/// Reads a thread's file into the recording; returns the classes of its fences.
///
/// # Errors
/// The file is damaged, or the recording cannot be written.
pub fn import<W: Write>(shared: &mut Shared<'_, W>, thread: u32, head: &Head) -> Result<Vec<FenceClass>, RecordError> {
    let mut reader = Reader {
        shared,
        thread,
        head,
        code: HashMap::new(),
        encoding: Vec::new(),
        run: Run::default(),
        found: Vec::new(),
        current: None,
        data: Vec::new(),
        last: 0,
        executed: 0,
        window: None,
        in_kernel: false,
        ended: false,
        clock: Clock::default(),
        fences: Fences::default(),
    };
    let end = container::visit(&head.path, &mut |offset, entry| {
        let read = if offset == 0 { Ok(()) } else { reader.take(entry) };
        read.map_err(|error| error.placed(offset))?;
        Ok(ControlFlow::Continue(()))
    })?;
    if !reader.ended {
        return Err(damaged(end, "it ends too early").of(&head.path));
    }
    reader.finish()
}

fn wrong<T>(what: impl Into<String>) -> Result<T, RecordError> {
    Err(refused(what, TRACE_AGAIN))
}

impl<W: Write> Reader<'_, '_, W> {
    fn take(&mut self, entry: Entry) -> Result<(), RecordError> {
        if self.ended {
            return wrong("there are records after the end");
        }
        let Some(kind) = Kind::of(entry.kind) else {
            return wrong(format!("there is an unknown record (kind {})", entry.kind));
        };
        match kind {
            Kind::Read => self.datum(entry, AccessKind::Load),
            Kind::Write => self.datum(entry, AccessKind::Store),
            Kind::Flush => self.datum(entry, AccessKind::Clflush),
            Kind::Hint | Kind::ThreadExit => Ok(()),
            Kind::Encoding => self.encode(entry),
            Kind::Plain | Kind::Branch | Kind::Again => self.instruction(entry, kind == Kind::Again),
            Kind::MaybeAgain => self.instruction(entry, entry.value == self.last),
            Kind::Marker => self.marker(entry),
            Kind::Thread if entry.value == self.head.thread => Ok(()),
            Kind::Thread => Err(refused(
                "holds several threads (it was cut by core, or traced online)",
                "give the trace with a file a thread, as drraw2trace writes it",
            )),
            Kind::Process if entry.value == self.head.process => Ok(()),
            Kind::Process => wrong("holds several processes"),
            Kind::Header => wrong("there is a second beginning"),
            Kind::Footer => {
                self.ended = true;
                self.flush()
            }
        }
    }

    fn encode(&mut self, entry: Entry) -> Result<(), RecordError> {
        let bytes = entry.value.to_le_bytes();
        let Some(bytes) = bytes.get(..usize::from(entry.size)) else {
            return wrong(format!("an encoding's record has {} bytes", entry.size));
        };
        if self.encoding.len() + bytes.len() > MAX_ENCODING {
            return wrong("an encoding is too long");
        }
        self.encoding.extend_from_slice(bytes);
        Ok(())
    }

    fn datum(&mut self, entry: Entry, kind: AccessKind) -> Result<(), RecordError> {
        if self.in_kernel || entry.size == 0 && kind != AccessKind::Clflush {
            return Ok(());
        }
        if self.current.is_none() {
            return wrong("there is an access without an instruction");
        }
        if entry.value & CONTROL != 0 {
            return wrong(format!("{:#x} is no address of a program", entry.value));
        }
        if self.data.len() == MAX_DATA {
            return wrong(format!("an instruction has more than {MAX_DATA} accesses"));
        }
        self.data.push(Datum {
            address: entry.value,
            size: entry.size,
            kind,
        });
        Ok(())
    }

    fn instruction(&mut self, entry: Entry, again: bool) -> Result<(), RecordError> {
        if self.in_kernel {
            self.encoding.clear();
            self.shared.kernel += 1;
            return Ok(());
        }
        let number = self.decoded(entry)?;
        self.complete()?;
        let instruction = self.shared.blocks.instruction(number);
        let apart = again || instruction.repeats || self.run.instructions.len() == LONGEST;
        if apart || entry.value != self.next() {
            self.execute()?;
        }
        self.current = Some(number);
        self.last = entry.value;
        Ok(())
    }

    /// The number of an instruction that is executed: what its encoding says, or what it was the last time.
    fn decoded(&mut self, entry: Entry) -> Result<u32, RecordError> {
        let pc = entry.value;
        if self.encoding.is_empty() {
            let Some(number) = self.code.get(&pc).copied() else {
                return wrong(format!("the code of the instruction at {pc:#x} is missing"));
            };
            if self.shared.blocks.instruction(number).bytes as u16 != entry.size {
                return wrong(format!("the instruction at {pc:#x} has another length than before"));
            }
            return Ok(number);
        }
        if self.encoding.len() != usize::from(entry.size) {
            return wrong(format!(
                "the code of the instruction at {pc:#x} has another length than the instruction"
            ));
        }
        let instruction = Instruction::decode(pc, &self.encoding)?;
        self.encoding.clear();
        let number = self.shared.blocks.number(instruction);
        self.code.insert(pc, number);
        Ok(number)
    }

    /// Where the last instruction of the run goes on if it is no jump.
    fn next(&self) -> u64 {
        let last = self.run.instructions.last();
        last.map_or(0, |last| self.shared.blocks.instruction(*last).end())
    }

    /// All accesses of the current instruction are there: it becomes one of the run.
    fn complete(&mut self) -> Result<(), RecordError> {
        let Some(number) = self.current.take() else {
            return Ok(());
        };
        let instruction = self.shared.blocks.instruction(number);
        let index = self.run.instructions.len() as u16;
        instruction.accesses(index, &self.data, &mut self.found);
        self.data.clear();
        self.run.instructions.push(number);
        self.run.accesses.extend(self.found.iter().map(|(access, _)| *access));
        self.run
            .addresses
            .extend(self.found.drain(..).map(|(_, address)| address));
        match instruction.ends || instruction.repeats {
            true => self.execute(),
            false => Ok(()),
        }
    }

    /// The run becomes the execution of a block.
    fn execute(&mut self) -> Result<(), RecordError> {
        let count = self.run.instructions.len() as u32;
        if count == 0 {
            return Ok(());
        }
        let Shared { writer, blocks, .. } = &mut *self.shared;
        let block = blocks.block(&mut self.run, |block| writer.block(block));
        let step = writer.steps(self.thread);
        writer.execute(self.thread, block, count, &self.run.addresses, &[], &[])?;
        self.classify(block, step);
        self.run.clear();
        self.executed += u64::from(count);
        if let Some(order) = &mut self.shared.order {
            self.clock.settle(self.thread, self.executed, order);
        }
        let before = self.shared.instructions / PROGRESS;
        self.shared.instructions += u64::from(count);
        if self.shared.instructions / PROGRESS != before {
            (self.shared.progress)(self.shared.instructions);
        }
        Ok(())
    }

    /// What the block's accesses and fences are to the policy and to other threads.
    fn classify(&mut self, block: u32, step: u64) {
        let mut released = Vec::new();
        for (index, (access, address)) in self.run.accesses.iter().zip(&self.run.addresses).enumerate() {
            let sync = match access.kind.writes() {
                true => self.clock.sync(access.kind, *address),
                false => Sync::No,
            };
            if sync == Sync::Releases {
                released.push((access.instruction, Point::Ends));
            }
            if sync != Sync::No && self.shared.order.is_some() {
                let at = self.executed + u64::from(access.instruction);
                self.clock.touch(*address, step, index, at);
            }
        }
        let points = self.shared.blocks.points(block);
        let mut all = Vec::new();
        let points = match released.is_empty() {
            true => points,
            false => {
                all.extend(points.iter().chain(&released));
                all.sort_by_key(|(instruction, _)| *instruction);
                &all
            }
        };
        for (_, point) in points {
            match point {
                Point::Persists(access) if self.shared.persistent.contains(self.run.addresses[*access]) => {
                    self.fences.flushed();
                }
                Point::Persists(_) => {}
                Point::Fence => self.fences.fence(),
                Point::Ends => self.fences.end(),
            }
        }
    }

    fn marker(&mut self, entry: Entry) -> Result<(), RecordError> {
        match Marker::of(entry.size) {
            Marker::Transfer => self.flush(),
            Marker::Time => {
                let unfinished = self.run.instructions.len() + usize::from(self.current.is_some());
                self.clock.time(entry.value, self.executed + unfinished as u64);
                Ok(())
            }
            Marker::Window => {
                self.shared.gaps |= self.window.is_some_and(|window| window != entry.value);
                self.window = Some(entry.value);
                self.flush()
            }
            Marker::Syscall => {
                self.flush()?;
                self.syscall(entry.value)
            }
            Marker::KernelBegins => {
                self.flush()?;
                self.in_kernel = true;
                Ok(())
            }
            Marker::KernelEnds => {
                self.in_kernel = false;
                Ok(())
            }
            Marker::Version | Marker::FileType | Marker::Other => Ok(()),
        }
    }

    fn syscall(&mut self, number: u64) -> Result<(), RecordError> {
        let shared = &mut *self.shared;
        shared.writer.event(self.thread, Event::Syscall(number))?;
        match &mut shared.order {
            Some(order) if STARTS.contains(&number) => {
                let number = self.clock.starts(self.thread, order);
                shared.writer.event(self.thread, Event::Signal { number })
            }
            _ => Ok(()),
        }
    }

    /// What was executed so far is complete.
    fn flush(&mut self) -> Result<(), RecordError> {
        self.complete()?;
        self.execute()
    }

    fn finish(mut self) -> Result<Vec<FenceClass>, RecordError> {
        if let Some(order) = &mut self.shared.order {
            self.clock.finish(self.thread, order);
        }
        self.fences.end();
        Ok(self.fences.classes)
    }
}
