//! What an instruction's machine code says of its memory accesses.

use super::refused;
use crate::RecordError;
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction as Decoded, InstructionInfoFactory, Mnemonic, OpAccess,
};
use strandline_capture::{Access, AccessKind};

/// The most bytes of an instruction of x86.
pub const MAX_BYTES: usize = 15;

/// Bytes of a cache line, which is what a flush is about.
const LINE_BYTES: u16 = 64;

/// A record of data: an access of the instruction before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datum {
    /// Where.
    pub address: u64,
    /// Bytes.
    pub size: u16,
    /// What the trace says that it does: a load, a store or a flush.
    pub kind: AccessKind,
}

/// An instruction at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its address.
    pub pc: u64,
    /// Its machine code, then zeros.
    pub code: [u8; MAX_BYTES],
    /// How much of that it is.
    pub bytes: u8,
    /// What follows it need not be the next instruction.
    pub ends: bool,
    /// It is a string instruction with a `rep` prefix.
    pub repeats: bool,
    class: Class,
}

/// How an instruction treats memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// It touches none, though it may name some: `lea`, `nop`, prefetches.
    None,
    /// It writes a line back.
    Flush(AccessKind),
    /// It is locked, or `xchg`: reads and writes are one.
    Atomic,
    /// Its stores are non-temporal.
    NonTemporal,
    /// It reads and writes the same memory.
    Update,
    /// It reads, or writes, or both in different places.
    Ordinary,
}

impl Instruction {
    /// Decodes machine code.
    ///
    /// # Errors
    /// It is no instruction, or not exactly one.
    pub fn decode(pc: u64, code: &[u8]) -> Result<Instruction, RecordError> {
        let wrong = || {
            let bytes: String = code.iter().map(|byte| format!("{byte:02x}")).collect();
            refused(
                format!("the code {bytes} at {pc:#x} is no instruction"),
                super::TRACE_AGAIN,
            )
        };
        if code.is_empty() || code.len() > MAX_BYTES {
            return Err(wrong());
        }
        let mut decoder = Decoder::with_ip(64, code, pc, DecoderOptions::NONE);
        let decoded = decoder.decode();
        if decoded.is_invalid() || decoded.len() != code.len() {
            return Err(wrong());
        }
        let mut padded = [0; MAX_BYTES];
        padded[..code.len()].copy_from_slice(code);
        Ok(Instruction {
            pc,
            code: padded,
            bytes: code.len() as u8,
            ends: decoded.flow_control() != FlowControl::Next,
            repeats: decoded.is_string_instruction() && (decoded.has_rep_prefix() || decoded.has_repne_prefix()),
            class: Class::of(&decoded),
        })
    }

    /// The address after it.
    pub fn end(&self) -> u64 {
        self.pc.wrapping_add(u64::from(self.bytes))
    }

    /// The accesses that the trace's records of one execution are, each with its address: loads first, then what writes.
    pub fn accesses(&self, index: u16, data: &[Datum], out: &mut Vec<(Access, u64)>) {
        let access = |kind, size| Access {
            instruction: index,
            kind,
            size,
        };
        match self.class {
            Class::None => {}
            Class::Flush(kind) => out.extend(data.first().map(|datum| (access(kind, LINE_BYTES), datum.address))),
            class => {
                let both = matches!(class, Class::Atomic | Class::Update);
                let written = |read: &Datum| {
                    let is = |datum: &Datum| datum.kind == AccessKind::Store && datum.address == read.address;
                    both && data.iter().any(is)
                };
                let reads = data
                    .iter()
                    .filter(|datum| datum.kind == AccessKind::Load && !written(datum));
                out.extend(reads.map(|datum| (access(AccessKind::Load, datum.size), datum.address)));
                for datum in data.iter().filter(|datum| datum.kind != AccessKind::Load) {
                    let read = || {
                        data.iter()
                            .any(|d| d.kind == AccessKind::Load && d.address == datum.address)
                    };
                    let (kind, size) = match class {
                        _ if datum.kind != AccessKind::Store => (datum.kind, LINE_BYTES),
                        Class::Atomic => (AccessKind::Atomic, datum.size),
                        Class::NonTemporal => (AccessKind::StoreNt, datum.size),
                        Class::Update if read() => (AccessKind::Update, datum.size),
                        _ => (AccessKind::Store, datum.size),
                    };
                    out.push((access(kind, size), datum.address));
                }
            }
        }
    }
}

impl Class {
    fn of(decoded: &Decoded) -> Class {
        let mnemonic = decoded.mnemonic();
        if let Some(kind) = flush(mnemonic) {
            return Class::Flush(kind);
        }
        let mut infos = InstructionInfoFactory::new();
        let memory = infos.info(decoded).used_memory();
        let touches = |access: OpAccess| access != OpAccess::NoMemAccess && access != OpAccess::None;
        if hints(mnemonic) || !memory.iter().any(|used| touches(used.access())) {
            return Class::None;
        }
        let both = |access| matches!(access, OpAccess::ReadWrite | OpAccess::ReadCondWrite);
        let updates = memory.iter().any(|used| both(used.access()));
        match () {
            () if decoded.has_lock_prefix() || mnemonic == Mnemonic::Xchg && updates => Class::Atomic,
            () if non_temporal(mnemonic) => Class::NonTemporal,
            () if updates => Class::Update,
            () => Class::Ordinary,
        }
    }
}

fn flush(mnemonic: Mnemonic) -> Option<AccessKind> {
    match mnemonic {
        Mnemonic::Clwb => Some(AccessKind::Clwb),
        Mnemonic::Clflushopt => Some(AccessKind::ClflushOpt),
        Mnemonic::Clflush => Some(AccessKind::Clflush),
        _ => None,
    }
}

/// Names memory without a load that anything waits for.
fn hints(mnemonic: Mnemonic) -> bool {
    matches!(
        mnemonic,
        Mnemonic::Lea
            | Mnemonic::Nop
            | Mnemonic::Reservednop
            | Mnemonic::Cldemote
            | Mnemonic::Prefetch
            | Mnemonic::Prefetchw
            | Mnemonic::Prefetchwt1
            | Mnemonic::Prefetchnta
            | Mnemonic::Prefetcht0
            | Mnemonic::Prefetcht1
            | Mnemonic::Prefetcht2
            | Mnemonic::Prefetchit0
            | Mnemonic::Prefetchit1
    )
}

fn non_temporal(mnemonic: Mnemonic) -> bool {
    matches!(
        mnemonic,
        Mnemonic::Movnti
            | Mnemonic::Movntq
            | Mnemonic::Movntdq
            | Mnemonic::Movntps
            | Mnemonic::Movntpd
            | Mnemonic::Movntss
            | Mnemonic::Movntsd
            | Mnemonic::Vmovntdq
            | Mnemonic::Vmovntps
            | Mnemonic::Vmovntpd
            | Mnemonic::Movdiri
            | Mnemonic::Movdir64b
            | Mnemonic::Maskmovq
            | Mnemonic::Maskmovdqu
            | Mnemonic::Vmaskmovdqu
    )
}
