//! The collector: makes a recording of a recorder's stream while the program runs.
//!
//! It checks the whole stream, because the program can corrupt the recorder in its address space.

mod accesses;
mod file;
mod links;
mod locks;
mod memory;
mod order;
mod packets;
mod spins;
#[cfg(test)]
mod tests;
mod thread;
mod threads;
mod turns;

pub use file::collect;

use crate::error::RecordError;
use crate::format::{check, Writer};
use crate::recording::{Block, Module, INCOMPLETE};
use memory::Memory;
use packets::{Fields, Next, Packet, Packets};
use std::io::{Read, Write};
use strandline_capture::{PacketKind, VERSION};
use thread::{Known, Trace};
use threads::Threads;

/// The shell's status of a program that was killed (SIGKILL).
const KILLED: u64 = 128 + 9;

/// What was collected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// Instructions of all threads.
    pub instructions: u64,
    /// Instructions of loops in which threads waited; the recording has the ends of the waits only.
    pub waiting: u64,
    /// Threads that began.
    pub threads: u32,
    /// The program's exit status as the shell reports it.
    pub status: u64,
    /// Warnings for the user; the recording has them, too.
    pub warnings: Vec<String>,
    /// Whether the stream had an end.
    pub complete: bool,
    /// Bytes of the stream.
    pub bytes: u64,
}

/// Makes a recording of a stream, written to `out`: a new one each time that the stream begins anew, as the program has
/// become another one.
///
/// # Errors
/// The stream has another version or an impossible item, or reports that the program cannot be recorded; or `out`
/// cannot be written.
pub fn collect_to<W: Write>(
    input: impl Read,
    mut out: impl FnMut() -> Result<W, RecordError>,
    progress: &mut dyn FnMut(u64),
) -> Result<(W, Collected), RecordError> {
    let mut packets = Packets::new(input)?;
    loop {
        let program = start(&mut packets)?;
        let mut collector = Collector::new(out()?, &program)?;
        if collector.all(&mut packets, progress)? == Ended::Whole {
            return collector.finish(packets.offset());
        }
    }
}

/// How a stream of one program ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// With it.
    Whole,
    /// The program became another one.
    Again,
}

/// The first packet describes the program.
fn start(packets: &mut Packets<impl Read>) -> Result<Vec<String>, RecordError> {
    let Next::Packet(packet) = packets.next()? else {
        return Err(RecordError::at(
            packets.offset(),
            "the recorder sent nothing: did the program start?",
        ));
    };
    let mut fields = Fields::new(&packet);
    if packet.kind == PacketKind::Refused {
        return Err(refused(&packet));
    }
    if packet.kind != PacketKind::Start {
        return Err(packet.wrong("the recorder does not begin with a start"));
    }
    let version = fields.number()? & 0xffff_ffff;
    if version != u64::from(VERSION) {
        let what = format!("the recorder speaks version {version}, and this program version {VERSION}");
        return Err(RecordError::new(
            what,
            "build the recorder again: strandline setup-recorder",
        ));
    }
    let program = fields.rest();
    let program = program.strip_suffix(&[0]).unwrap_or(program);
    Ok(program.split(|byte| *byte == 0).map(text).collect())
}

/// Any bytes as text.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn refused(packet: &Packet<'_>) -> RecordError {
    RecordError::new(text(packet.payload), "")
}

/// What was told so far.
struct Collector<W: Write> {
    writer: Writer<W>,
    known: Vec<Known>,
    memory: Memory,
    threads: Threads,
    warnings: Vec<String>,
    status: Option<u64>,
}

impl<W: Write> Collector<W> {
    fn new(out: W, program: &[String]) -> Result<Collector<W>, RecordError> {
        Ok(Collector {
            writer: Writer::new(out, program)?,
            known: Vec::new(),
            memory: Memory::default(),
            threads: Threads::default(),
            warnings: Vec::new(),
            status: None,
        })
    }

    /// Takes packets to the program's end.
    fn all(&mut self, packets: &mut Packets<impl Read>, progress: &mut dyn FnMut(u64)) -> Result<Ended, RecordError> {
        let mut told = 0;
        while self.status.is_none() {
            match packets.next()? {
                Next::Packet(packet) => self.packet(packet)?,
                Next::Again => return Ok(Ended::Again),
                Next::End => break,
            }
            if self.threads.instructions() >> 20 != told {
                told = self.threads.instructions() >> 20;
                progress(self.threads.instructions());
            }
        }
        Ok(Ended::Whole)
    }

    fn packet(&mut self, packet: Packet<'_>) -> Result<(), RecordError> {
        let mut fields = Fields::new(&packet);
        match packet.kind {
            PacketKind::Start => return Err(packet.wrong("the recorder starts twice")),
            PacketKind::Module => {
                let (base, end, offset) = (fields.number()?, fields.number()?, fields.number()?);
                self.writer.module(Module {
                    base,
                    end,
                    offset,
                    path: text(fields.rest()),
                });
            }
            PacketKind::Blocks => self.blocks(fields)?,
            PacketKind::Passed => self.threads.passed(&packet)?,
            PacketKind::Trace => self.trace(&packet)?,
            PacketKind::ThreadStart => {
                let (own, parent, clears) = (fields.number()?, fields.number()?, fields.number()?);
                let begun = self.threads.begin(packet.thread, own, parent, clears);
                begun.map_err(|what| packet.wrong(what))?;
            }
            PacketKind::ThreadEnd => self.thread_end(&packet, fields.number()?)?,
            PacketKind::PmMap => self.memory.map(&packet, fields, &mut self.writer, &mut self.warnings)?,
            PacketKind::PmPage => self.memory.page(&packet, fields, &mut self.writer)?,
            PacketKind::PmUnmap => {
                fields.number()?;
                fields.number()?;
            }
            PacketKind::Refused => return Err(refused(&packet)),
            PacketKind::End => self.status = Some(fields.number()?),
            PacketKind::Warning => self
                .warnings
                .push(RecordError::new(text(packet.payload), "").what().to_string()),
        }
        Ok(())
    }

    fn blocks(&mut self, mut fields: Fields<'_>) -> Result<(), RecordError> {
        while !fields.is_empty() {
            let place = fields.place();
            let (id, block) = fields.block()?;
            if id != self.known.len() as u64 {
                return Err(RecordError::at(
                    place,
                    format!("block {id} is defined after {} others", self.known.len()),
                ));
            }
            check(&block).map_err(|what| RecordError::at(place, what))?;
            self.define(block);
        }
        Ok(())
    }

    fn define(&mut self, mut block: Block) {
        let known = Known::new(&mut block);
        self.known.push(known);
        self.writer.block(block);
    }

    fn trace(&mut self, packet: &Packet<'_>) -> Result<(), RecordError> {
        let (writer, known, memory) = (&mut self.writer, &self.known[..], &self.memory);
        let mut trace = Trace {
            writer,
            known,
            persistent: memory.persistent(),
        };
        self.threads.trace(packet.thread, packet, &mut trace)
    }

    fn thread_end(&mut self, packet: &Packet<'_>, ticket: u64) -> Result<(), RecordError> {
        let (writer, known, memory) = (&mut self.writer, &self.known[..], &self.memory);
        let mut trace = Trace {
            writer,
            known,
            persistent: memory.persistent(),
        };
        self.threads.end(packet.thread, ticket, packet, &mut trace)
    }

    fn finish(mut self, offset: u64) -> Result<(W, Collected), RecordError> {
        let complete = self.status.is_some();
        if !complete {
            self.warnings.push(INCOMPLETE.to_string());
        }
        let (writer, known, memory) = (&mut self.writer, &self.known[..], &self.memory);
        let mut trace = Trace {
            writer,
            known,
            persistent: memory.persistent(),
        };
        let mut ending = self.threads.finish(offset, &mut trace)?;
        ending.status = self.status.unwrap_or(KILLED);
        match self.threads.assumed() {
            0 => {}
            assumed => {
                let accesses = if assumed == 1 { "access" } else { "accesses" };
                self.warnings.push(format!(
                    "the order of {assumed} {accesses} to persistent memory is assumed: a jump read it, or a thread could not wait for \
                     another one"
                ));
            }
        }
        ending.warnings = self.warnings;
        ending.lines = self.writer.lines();
        let collected = Collected {
            instructions: self.threads.instructions(),
            waiting: self.threads.left_out(),
            threads: self.threads.count(),
            status: ending.status,
            warnings: ending.warnings.clone(),
            complete,
            bytes: offset,
        };
        Ok((self.writer.finish(ending)?, collected))
    }
}
