//! Builds streams of packets.

use crate::collect::{collect_to, Collected};
use crate::{Event, Executed, RecordError, Recording, ThreadStep};
use strandline_capture::{Access, AccessKind, Control, Marker, PacketKind, Passed, MAGIC, NOBODY, VERSION};

/// The start of the streams' persistent memory, which has [`PM_BYTES`].
pub const PM: u64 = 0x7000_0000_0000;
/// Bytes of persistent memory.
pub const PM_BYTES: u64 = 0x10000;
/// A volatile word that is a lock.
pub const LOCK: u64 = 0x5000;

/// A stream of packets.
#[derive(Clone)]
pub struct Stream {
    pub bytes: Vec<u8>,
    blocks: u64,
}

/// Machine code of a fence, a marker, or neither.
pub fn code(sign: Option<Marker>) -> Vec<u8> {
    match sign {
        None => vec![0x0f, 0xae, 0xf8],
        Some(marker) => [&[0x0f, 0x1f, 0x80][..], &marker.displacement().to_le_bytes()].concat(),
    }
}

/// An access of eight bytes.
pub fn eight(instruction: u16, kind: AccessKind) -> Access {
    Access {
        instruction,
        kind,
        size: 8,
    }
}

impl Stream {
    /// With a start.
    pub fn new() -> Stream {
        let mut stream = Stream {
            bytes: MAGIC.to_vec(),
            blocks: 0,
        };
        let start = u64::from(VERSION) | 77 << 32;
        stream.packet(PacketKind::Start, 0, &[&start.to_le_bytes()[..], b"prog\0arg"].concat());
        stream
    }

    /// With its first packet, persistent memory and the first thread.
    pub fn running() -> Stream {
        let mut stream = Stream::new();
        stream.map(PM, PM_BYTES, 0, "/dev/shm/pool");
        stream.words(PacketKind::ThreadStart, 0, &[100, NOBODY, 0x9000]);
        stream
    }

    pub fn packet(&mut self, kind: PacketKind, thread: u32, payload: &[u8]) {
        self.bytes.extend((kind as u32).to_le_bytes());
        self.bytes.extend(thread.to_le_bytes());
        self.bytes.extend((payload.len() as u64).to_le_bytes());
        self.bytes.extend(payload);
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
    }

    pub fn words(&mut self, kind: PacketKind, thread: u32, words: &[u64]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.packet(kind, thread, &bytes);
    }

    pub fn trace(&mut self, thread: u32, words: &[u64]) {
        self.words(PacketKind::Trace, thread, words);
    }

    /// How accesses of the next trace passed the gate: positions of addresses, and tickets.
    pub fn passed(&mut self, thread: u32, passed: &[(usize, u64)]) {
        self.passed_as(thread, passed, true);
    }

    /// The same, if the recorder is sure of their order, or is not.
    pub fn passed_as(&mut self, thread: u32, passed: &[(usize, u64)], is_sure: bool) {
        let word = |(at, ticket): &(usize, u64)| {
            let (at, ticket) = (*at as u16, *ticket);
            Passed { at, ticket, is_sure }.pack()
        };
        let words: Vec<u64> = passed.iter().map(word).collect();
        self.words(PacketKind::Passed, thread, &words);
    }

    pub fn map(&mut self, start: u64, bytes: u64, offset: u64, path: &str) {
        let numbers = [start, bytes, offset].map(u64::to_le_bytes).concat();
        self.packet(PacketKind::PmMap, 0, &[&numbers, path.as_bytes()].concat());
    }

    pub fn page(&mut self, address: u64, fill: u8) {
        self.packet(
            PacketKind::PmPage,
            0,
            &[&address.to_le_bytes()[..], &[fill; 4096]].concat(),
        );
    }

    /// Defines a block; returns the control word that executes it.
    pub fn block(&mut self, code: &[u8], instructions: u32, accesses: &[Access]) -> u64 {
        let sizes = code.len() as u64 | u64::from(instructions) << 32;
        let mut bytes = [self.blocks, 0x40_0000 + self.blocks * 64, sizes, accesses.len() as u64]
            .map(u64::to_le_bytes)
            .concat();
        bytes.extend(code);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.extend(accesses.iter().flat_map(|access| access.pack().to_le_bytes()));
        self.packet(PacketKind::Blocks, 0, &bytes);
        self.blocks += 1;
        Control::Block.word(self.blocks - 1)
    }

    /// A block of nops with these accesses, one an instruction.
    pub fn plain(&mut self, kinds: &[AccessKind]) -> u64 {
        let accesses: Vec<Access> = kinds.iter().zip(0..).map(|(kind, index)| eight(index, *kind)).collect();
        let instructions = kinds.len().max(1);
        self.block(&vec![0x90; instructions], instructions as u32, &accesses)
    }

    pub fn thread_end(&mut self, thread: u32, ticket: u64) {
        self.words(PacketKind::ThreadEnd, thread, &[ticket]);
    }

    pub fn end(mut self, status: u64) -> Vec<u8> {
        self.words(PacketKind::End, 0, &[status]);
        self.bytes
    }
}

/// Collects a stream.
pub fn collected(stream: &[u8]) -> Result<(Recording, Collected), RecordError> {
    let (bytes, collected) = collect_to(stream, || Ok(Vec::new()), &mut |_| ())?;
    Ok((
        Recording::from_bytes(bytes).expect("what is collected can be opened"),
        collected,
    ))
}

/// The printed steps of a thread.
pub fn steps<T>(recording: &Recording, thread: usize, each: impl Fn(Result<Executed<'_>, Event>) -> T) -> Vec<T> {
    let mut stream = recording.stream(thread).expect("there is such a thread");
    let mut steps = Vec::new();
    while let Some(step) = stream.next().expect("what is collected can be read") {
        steps.push(match step {
            ThreadStep::Block(executed) => each(Ok(executed)),
            ThreadStep::Event(event) => each(Err(event)),
        });
    }
    steps
}
