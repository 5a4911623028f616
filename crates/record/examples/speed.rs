//! Speed of writing and reading recordings, and their size, on a synthetic program: `cargo run --release -p
//! strandline-record --example speed [MILLION INSTRUCTIONS [FOLDER]]`. With a folder, it keeps the stream and the
//! recording there; 0 million gives good seeds for fuzzing.
//!
//! The program calls functions on a stack, walks arrays, follows pseudo-random pointers, and stores to persistent
//! memory. Its blocks have about six instructions. Times are processor times. The numbers depend on the host; no test
//! uses them.

use strandline_capture::{Access, AccessKind, Control, PacketKind, MAGIC, NOBODY, VERSION};
use strandline_record::{collect_to, Recording, ThreadStep};

const PM: u64 = 0x7000_0000_0000;
const BLOCKS: u64 = 2000;

/// A sequence of numbers without a pattern.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

fn packet(out: &mut Vec<u8>, kind: PacketKind, payload: &[u8]) {
    out.extend((kind as u32).to_le_bytes());
    out.extend(0u32.to_le_bytes());
    out.extend((payload.len() as u64).to_le_bytes());
    out.extend(payload);
    out.resize(out.len().next_multiple_of(8), 0);
}

fn words(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The addressing of a block's accesses.
#[derive(Clone, Copy)]
enum By {
    Stack(u64),
    StackStore(u64),
    Array,
    Pointer(u64),
    Persistent,
}

fn blocks(random: &mut Random, out: &mut Vec<u8>) -> Vec<Vec<By>> {
    let mut all = Vec::new();
    for id in 0..BLOCKS {
        let instructions = 3 + random.below(7);
        let mut accesses = Vec::new();
        let mut by = Vec::new();
        for instruction in 0..instructions {
            let (how, kind) = match random.below(100) {
                0..20 => (By::Stack(8 * random.below(16)), AccessKind::Load),
                20..30 => (By::StackStore(8 * random.below(16)), AccessKind::Store),
                30..36 => (By::Array, AccessKind::Load),
                36..41 => (By::Pointer(8 * random.below(8)), AccessKind::Load),
                41..43 => (By::Persistent, AccessKind::Store),
                _ => continue,
            };
            by.push(how);
            accesses.push(
                Access {
                    instruction: instruction as u16,
                    kind,
                    size: 8,
                }
                .pack(),
            );
        }
        let code = vec![0x90; instructions as usize];
        let mut definition = words(&[
            id,
            0x40_0000 + 64 * id,
            instructions << 32 | instructions,
            accesses.len() as u64,
        ]);
        definition.extend(code);
        definition.resize(definition.len().next_multiple_of(8), 0);
        definition.extend(words(&accesses));
        packet(out, PacketKind::Blocks, &definition);
        all.push(by);
    }
    all
}

/// The stream of a program with about this many instructions.
fn stream(instructions: u64) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    packet(
        &mut out,
        PacketKind::Start,
        &[&words(&[u64::from(VERSION)])[..], b"speed"].concat(),
    );
    packet(
        &mut out,
        PacketKind::PmMap,
        &[&words(&[PM, 1 << 30, 0])[..], b"/pool"].concat(),
    );
    packet(&mut out, PacketKind::ThreadStart, &words(&[1, NOBODY, 0]));
    let mut random = Random(42);
    let blocks = blocks(&mut random, &mut out);
    let (mut executed, mut stack, mut pointer, mut trace) = (0, 0x7fff_0000_0000u64, 0x5555_0000_0000, Vec::new());
    let mut array = vec![0x10_0000u64; blocks.len()];
    while executed <= instructions {
        // A function: a run of blocks, some of which are repeated.
        let first = random.below(BLOCKS - 40) / 40 * 40;
        stack -= 64 + first % 7 * 16;
        for block in first..first + 8 + random.below(4) * 8 {
            for _ in 0..1 + (block % 5 == 0) as u64 * random.below(8) {
                run(
                    block,
                    &blocks[block as usize],
                    stack,
                    &mut pointer,
                    &mut array,
                    &mut random,
                    &mut trace,
                );
                executed += 6;
            }
        }
        stack += 64 + first % 7 * 16;
        if trace.len() > 8000 {
            packet(&mut out, PacketKind::Trace, &words(&trace));
            trace.clear();
        }
    }
    packet(&mut out, PacketKind::Trace, &words(&trace));
    packet(&mut out, PacketKind::End, &words(&[0]));
    out
}

fn run(
    block: u64,
    by: &[By],
    stack: u64,
    pointer: &mut u64,
    array: &mut [u64],
    random: &mut Random,
    out: &mut Vec<u64>,
) {
    out.push(Control::Block.word(block));
    for (index, by) in by.iter().enumerate() {
        out.push(match by {
            By::Stack(offset) | By::StackStore(offset) => stack + offset,
            By::Array => {
                array[block as usize] += 8;
                array[block as usize] & 0xff_ffff
            }
            By::Pointer(offset) => {
                if index == 0 || random.below(4) == 0 {
                    *pointer = 0x5555_0000_0000 + 64 * random.below(1 << 14);
                }
                *pointer + offset
            }
            By::Persistent => PM + 8 * random.below(1 << 20),
        });
        if matches!(by, By::Persistent | By::StackStore(_)) {
            out.push(random.below(1 << 40));
        }
    }
}

fn main() {
    let millions = std::env::args()
        .nth(1)
        .and_then(|number| number.parse().ok())
        .unwrap_or(50);
    let told = stream(millions * 1_000_000);
    let begun = seconds();
    let (bytes, collected) = collect_to(&told[..], || Ok(Vec::new()), &mut |_| ()).expect("a good stream");
    if let Some(folder) = std::env::args().nth(2).map(std::path::PathBuf::from) {
        std::fs::write(folder.join("stream"), &told).expect("the folder can be written");
        std::fs::write(folder.join("recording"), &bytes).expect("the folder can be written");
    }
    report("collected and written", collected.instructions, begun);
    println!(
        "{:.3} bytes an instruction, {:.2} in the stream",
        per(bytes.len(), collected.instructions),
        per(told.len(), collected.instructions)
    );
    let recording = Recording::from_bytes(bytes).expect("a good recording");
    let begun = seconds();
    let (mut stream, mut sum, mut executed) = (recording.stream(0).expect("a thread"), 0u64, 0u64);
    while let Some(step) = stream.next().expect("a good recording") {
        if let ThreadStep::Block(block) = step {
            executed += u64::from(block.instructions);
            sum = block
                .addresses
                .iter()
                .fold(sum, |sum, address| sum.wrapping_add(*address));
        }
    }
    report("read", executed, begun);
    let totals = recording.totals();
    let accesses = (totals.loads + totals.stores) as f64 / totals.blocks as f64;
    let long = totals.instructions as f64 / totals.blocks as f64;
    println!("blocks of {long:.1} instructions and {accesses:.1} accesses; sum of addresses {sum:#x}");
}

/// Processor time of this program in seconds, so that other processes do not count.
fn seconds() -> f64 {
    let had = std::fs::read_to_string("/proc/self/schedstat").expect("Linux says how long a program ran");
    let nanoseconds = had.split(' ').next().and_then(|number| number.parse::<f64>().ok());
    nanoseconds.expect("the first number is nanoseconds") / 1e9
}

fn per(bytes: usize, instructions: u64) -> f64 {
    bytes as f64 / instructions as f64
}

fn report(what: &str, instructions: u64, begun: f64) {
    println!(
        "{what}: {:.0} million instructions a second",
        instructions as f64 / 1e6 / (seconds() - begun)
    );
}
