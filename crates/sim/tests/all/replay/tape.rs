//! Handmade recordings, from assembled code.

use iced_x86::code_asm::CodeAssembler;
use iced_x86::{IcedError, Mnemonic};
use std::path::PathBuf;
use strandline_record::{Access, AccessKind, Block, Ending, Event, FenceClass, Region, Turn, TurnAt, Writer};

/// Kinds by their short names.
#[allow(unused_imports, reason = "the measure of speed has some of them")]
pub use strandline_record::AccessKind::{Atomic, Clflush, Clwb, Load, Store, StoreNt, Update};

/// Start of the persistent region of all tapes.
pub const PM: u64 = 0x7000_0000_0000;

/// Volatile memory of all tapes.
pub const DRAM: u64 = 0x5000_0000_0000;

/// A recording in the making.
pub struct Tape {
    writer: Writer<Vec<u8>>,
    blocks: Vec<Block>,
    ending: Ending,
}

/// An access of the instruction with this index.
pub fn access(instruction: u16, kind: AccessKind, size: u16) -> Access {
    Access {
        instruction,
        kind,
        size,
    }
}

impl Tape {
    /// An empty tape with a megabyte of persistent memory.
    pub fn new() -> Tape {
        let mut writer = Writer::new(Vec::new(), &["by-hand".to_owned()]).expect("a recording begins");
        writer.region(Region {
            start: PM,
            bytes: 1 << 20,
            offset: 0,
            path: "/tmp/pool".to_owned(),
        });
        Tape {
            writer,
            blocks: Vec::new(),
            ending: Ending::default(),
        }
    }

    /// Defines a block.
    pub fn block(
        &mut self,
        pc: u64,
        accesses: &[Access],
        write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>,
    ) -> u32 {
        let mut assembler = CodeAssembler::new(64).expect("64 bits");
        write(&mut assembler).expect("the operands fit");
        let fence = |m| matches!(m, Mnemonic::Sfence | Mnemonic::Mfence);
        let instructions = assembler.instructions();
        let fences = (0..)
            .zip(instructions)
            .filter(|(_, i)| fence(i.mnemonic()))
            .map(|(at, _)| at);
        let block = Block {
            pc,
            fences: fences.collect(),
            instructions: instructions.len() as u32,
            accesses: accesses.to_vec(),
            repeats: false,
            code: assembler.assemble(pc).expect("the code can be assembled"),
        };
        self.blocks.push(block.clone());
        self.writer.block(block)
    }

    /// Defines a block that is one iteration of a string instruction.
    pub fn string(&mut self, pc: u64, code: &[u8], accesses: &[Access]) -> u32 {
        let block = Block {
            pc,
            code: code.to_vec(),
            instructions: 1,
            accesses: accesses.to_vec(),
            repeats: true,
            fences: Vec::new(),
        };
        self.blocks.push(block.clone());
        self.writer.block(block)
    }

    /// A thread executes a whole block.
    pub fn run(&mut self, thread: u32, block: u32, addresses: &[u64], values: &[u64]) {
        let defined = &self.blocks[block as usize];
        let valued = defined.accesses.iter().filter(|a| a.value_words() > 0).count();
        let written = self.writer.execute(
            thread,
            block,
            defined.instructions,
            addresses,
            values,
            &vec![true; valued],
        );
        written.expect("the block fits its definition");
    }

    /// As `run`, but each of these accesses waits for a number of writes.
    pub fn run_in_turn(&mut self, thread: u32, block: u32, addresses: &[u64], values: &[u64], turns: &[(u16, u32)]) {
        let step = self.writer.steps(thread);
        self.ending
            .turns
            .resize(self.ending.turns.len().max(thread as usize + 1), Vec::new());
        let list = &mut self.ending.turns[thread as usize];
        list.extend(turns.iter().map(|(access, before)| TurnAt {
            step,
            turn: Turn {
                access: *access,
                before: *before,
            },
        }));
        self.run(thread, block, addresses, values);
    }

    /// Something that is no code.
    pub fn event(&mut self, thread: u32, event: Event) {
        self.writer.event(thread, event).expect("an event");
    }

    /// The classes of a thread's fences, in order.
    pub fn fences(&mut self, thread: usize, classes: &[FenceClass]) {
        self.ending
            .fences
            .resize(self.ending.fences.len().max(thread + 1), Vec::new());
        self.ending.fences[thread].extend_from_slice(classes);
    }

    /// Ends the recording; returns the path of its file.
    pub fn save(self, name: &str) -> PathBuf {
        let bytes = self.writer.finish(self.ending).expect("a recording ends");
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.strand"));
        std::fs::write(&path, bytes).expect("the target directory can be written");
        path
    }
}
