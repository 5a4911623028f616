//! Extracts packets from a stream, and fields from packets.

use crate::error::RecordError;
use crate::recording::Block;
use std::io::{ErrorKind, Read};
use strandline_capture::{Access, PacketKind, BLOCK_HEAD_BYTES, HEADER_BYTES, MAGIC, REPEATS};

/// Maximum number of bytes of a packet.
const MOST: u64 = 1 << 30;

const KINDS: [PacketKind; 13] = [
    PacketKind::Start,
    PacketKind::Module,
    PacketKind::Blocks,
    PacketKind::Trace,
    PacketKind::ThreadStart,
    PacketKind::ThreadEnd,
    PacketKind::PmMap,
    PacketKind::PmPage,
    PacketKind::PmUnmap,
    PacketKind::Refused,
    PacketKind::End,
    PacketKind::Warning,
    PacketKind::Passed,
];

/// A packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet<'p> {
    pub kind: PacketKind,
    pub thread: u32,
    /// Without the zeros after it.
    pub payload: &'p [u8],
    /// The offset of the payload in the stream.
    pub place: u64,
}

impl Packet<'_> {
    /// Something is wrong with it.
    pub fn wrong(&self, what: impl Into<String>) -> RecordError {
        wrong(self.place - HEADER_BYTES as u64, what)
    }
}

/// An error at a byte of the stream.
pub(super) fn wrong(place: u64, what: impl Into<String>) -> RecordError {
    RecordError::at(place, format!("the recorder's stream: {}", what.into()))
}

/// An error whose place the caller knows.
#[derive(Debug)]
pub(super) enum Wrong {
    /// With the stream.
    Stream(String),
    /// With the recording.
    Recording(RecordError),
}

impl Wrong {
    /// Adds the byte of the stream to an error.
    pub fn at(self, place: u64) -> RecordError {
        match self {
            Wrong::Stream(what) => wrong(place, what),
            Wrong::Recording(error) => error,
        }
    }
}

impl From<String> for Wrong {
    fn from(what: String) -> Wrong {
        Wrong::Stream(what)
    }
}

impl From<&str> for Wrong {
    fn from(what: &str) -> Wrong {
        Wrong::Stream(what.to_string())
    }
}

impl From<RecordError> for Wrong {
    fn from(error: RecordError) -> Wrong {
        Wrong::Recording(error)
    }
}

/// What comes next in a stream.
pub(super) enum Next<'p> {
    /// A packet.
    Packet(Packet<'p>),
    /// The stream begins anew: the program has become another one.
    Again,
    /// Its end, also inside a packet.
    End,
}

/// Reads packets.
pub(super) struct Packets<R> {
    input: R,
    offset: u64,
    payload: Vec<u8>,
}

impl<R: Read> Packets<R> {
    /// Reads and checks the stream's beginning.
    pub fn new(input: R) -> Result<Packets<R>, RecordError> {
        let mut packets = Packets {
            input,
            offset: 0,
            payload: Vec::new(),
        };
        match packets.fill(MAGIC.len() as u64)? {
            true if packets.payload == MAGIC => Ok(packets),
            true => Err(wrong(0, "does not begin as one")),
            false => Err(wrong(
                packets.offset,
                "the recorder sent nothing: did the program start?",
            )),
        }
    }

    /// Bytes that were read.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Appends this many bytes to the payload; `false` if the stream ends first. The payload grows as bytes arrive, so
    /// a wrong length allocates no memory.
    fn fill(&mut self, bytes: u64) -> Result<bool, RecordError> {
        self.payload.clear();
        let read = self.input.by_ref().take(bytes).read_to_end(&mut self.payload);
        self.offset += self.payload.len() as u64;
        match read {
            Ok(_) => Ok(self.payload.len() as u64 == bytes),
            // The program has ended, and the pipe with it.
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) => Ok(false),
            Err(error) => Err(wrong(self.offset, format!("cannot be read: {error}"))),
        }
    }

    /// The next packet. If the stream ends in a trace, its complete words are kept.
    pub fn next(&mut self) -> Result<Next<'_>, RecordError> {
        let place = self.offset;
        const _: () = assert!(HEADER_BYTES == 2 * MAGIC.len());
        if !self.fill(MAGIC.len() as u64)? {
            return Ok(Next::End);
        }
        if self.payload == MAGIC {
            return Ok(Next::Again);
        }
        let (number, thread) = halves(self::number(&self.payload));
        if !self.fill(MAGIC.len() as u64)? {
            return Ok(Next::End);
        }
        let bytes = self::number(&self.payload);
        let Some(kind) = KINDS.into_iter().find(|kind| *kind as u32 == number) else {
            return Err(wrong(place, format!("a packet of unknown kind {number}")));
        };
        if bytes > MOST || kind == PacketKind::Trace && bytes % 8 != 0 {
            return Err(wrong(place, format!("a packet of {bytes} bytes")));
        }
        let whole = self.fill(bytes.next_multiple_of(8))?;
        if !whole && kind != PacketKind::Trace {
            return Ok(Next::End);
        }
        let bytes = match whole {
            true => bytes as usize,
            false => self.payload.len() & !7,
        };
        let place = place + HEADER_BYTES as u64;
        Ok(Next::Packet(Packet {
            kind,
            thread,
            payload: &self.payload[..bytes],
            place,
        }))
    }
}

fn halves(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

/// Eight bytes as a number.
#[inline]
pub(super) fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap_or_default())
}

/// The fields of a packet, one after the other.
pub(super) struct Fields<'p> {
    rest: &'p [u8],
    place: u64,
}

impl<'p> Fields<'p> {
    /// At a packet's beginning.
    pub fn new(packet: &Packet<'p>) -> Fields<'p> {
        Fields {
            rest: packet.payload,
            place: packet.place,
        }
    }

    /// The offset of the next field in the stream.
    pub fn place(&self) -> u64 {
        self.place
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The bytes that are left.
    pub fn rest(&self) -> &'p [u8] {
        self.rest
    }

    fn take(&mut self, bytes: usize) -> Result<&'p [u8], RecordError> {
        let Some((taken, rest)) = self.rest.split_at_checked(bytes) else {
            return Err(wrong(self.place, "a packet is too short"));
        };
        self.rest = rest;
        self.place += bytes as u64;
        Ok(taken)
    }

    /// The next number.
    pub fn number(&mut self) -> Result<u64, RecordError> {
        Ok(self
            .take(8)?
            .iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// The next definition of a block, without its fences.
    pub fn block(&mut self) -> Result<(u64, Block), RecordError> {
        const _: () = assert!(BLOCK_HEAD_BYTES == 32);
        let place = self.place;
        let (id, pc, sizes, rest) = (self.number()?, self.number()?, self.number()?, self.number()?);
        let (code_bytes, instructions) = (sizes as u32 as usize, (sizes >> 32) as u32);
        let (accesses, flags) = (rest as u32 as usize, (rest >> 32) as u32);
        if flags & !REPEATS != 0 {
            return Err(wrong(place, format!("a block with unknown flags {flags:#x}")));
        }
        let code = self.take(code_bytes)?.to_vec();
        self.take(code_bytes.next_multiple_of(8) - code_bytes)?;
        let place = self.place;
        let words = self.take(accesses.saturating_mul(8))?.chunks_exact(8);
        let words = words.map(number);
        let accesses = words.map(Access::unpack).collect::<Option<Vec<_>>>();
        let accesses = accesses.ok_or_else(|| wrong(place, "an access that is none"))?;
        let repeats = flags & REPEATS != 0;
        Ok((
            id,
            Block {
                pc,
                code,
                instructions,
                accesses,
                repeats,
                fences: Vec::new(),
            },
        ))
    }
}
