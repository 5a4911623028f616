//! From machine code to micro-ops.

use super::class;
use super::emit::Emitter;
use super::op::{MicroKind, MicroOp};
use super::registers::{Slot, Slots};
use super::Flow;
use crate::code::Sign;
use crate::stack::Frame;
use crate::{Access, AccessKind, Block, Marker};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, Register,
    RflagsBits, UsedMemory,
};
use strandline_isa::Alu;

/// The flags that arithmetic sets and conditions read.
const FLAGS: u32 = RflagsBits::OF | RflagsBits::SF | RflagsBits::ZF | RflagsBits::AF | RflagsBits::CF | RflagsBits::PF;

/// Decodes a block and appends it to `ops`, and the end of each instruction to `ends`. Returns what its last instruction
/// does to the calls in progress.
pub fn block(block: &Block, ops: &mut Vec<MicroOp>, ends: &mut Vec<u32>) -> Flow {
    let decoded = decode(block);
    let stands_for = markers_for_fences(block, &decoded);
    let mut factory = InstructionInfoFactory::new();
    let mut out = Emitter::new(ops);
    let mut compared: Option<Shape<'_>> = None;
    for (index, instruction) in decoded.iter().enumerate() {
        let accesses = accesses_of(block, index);
        let mut shape = Shape::of(instruction, accesses, &mut factory, block.repeats);
        shape.last = index + 1 == decoded.len();
        let next = decoded.get(index + 1);
        if fuses(instruction, next, accesses) {
            shape.loads(&mut out);
            compared = Some(shape);
        } else if let Some(before) = compared.take() {
            shape.branch(&mut out, &before.operands());
            out.of(
                MicroKind::Fused,
                Alu::Simple,
                &before.operands(),
                before.writes.as_slice(),
            );
        } else {
            match (Sign::of(instruction), stands_for[index]) {
                (Some(Sign::Sfence), marker) => fence(&mut out, MicroKind::Sfence, marker),
                (Some(Sign::Mfence), marker) => fence(&mut out, MicroKind::Mfence, marker),
                (Some(Sign::Marker(marker)), None) => {
                    out.entry();
                    let mut op = MicroOp::new(MicroKind::Marker);
                    op.site = marker as u32;
                    out.push(op, &[], &[]);
                }
                _ => shape.emit(&mut out),
            }
        }
        ends.push(out.count());
    }
    decoded
        .last()
        .map_or(Flow::On, |last| flow(last, block.accesses.last()))
}

fn flow(last: &Instruction, access: Option<&Access>) -> Flow {
    let frame = Frame::of(last).filter(|frame| access.is_some_and(|access| access.kind == frame.access()));
    match frame {
        None => Flow::On,
        Some(Frame::Calls) => Flow::Calls(last.ip()),
        Some(Frame::Returns) => Flow::Returns,
    }
}

/// The block's instructions, in their recorded number; undecodable ones are invalid.
fn decode(block: &Block) -> Vec<Instruction> {
    let mut decoder = Decoder::with_ip(64, &block.code, block.pc, DecoderOptions::NONE);
    (0..block.instructions)
        .map(|_| match decoder.can_decode() {
            true => decoder.decode(),
            false => Instruction::default(),
        })
        .collect()
}

fn accesses_of(block: &Block, index: usize) -> &[Access] {
    let of = |access: &Access| usize::from(access.instruction);
    let first = block.accesses.partition_point(|a| of(a) < index);
    let end = block.accesses.partition_point(|a| of(a) <= index);
    &block.accesses[first..end]
}

fn fuses(instruction: &Instruction, next: Option<&Instruction>, accesses: &[Access]) -> bool {
    let jump = next.is_some_and(|n| n.is_jcc_short_or_near());
    jump && class::fuses_with_jump(instruction) && accesses.iter().all(|a| a.kind == AccessKind::Load)
}

fn fence(out: &mut Emitter<'_>, kind: MicroKind, marker: Option<Marker>) {
    let mut op = MicroOp::new(kind);
    op.site = marker.map_or(0, |m| m as u32);
    out.push(op, &[], &[]);
}

/// For each fence, the marker behind it that replaces its class, and each such marker: no write or flush is between
/// them.
fn markers_for_fences(block: &Block, decoded: &[Instruction]) -> Vec<Option<Marker>> {
    let mut stands_for = vec![None; decoded.len()];
    let mut fence = None;
    for (index, instruction) in decoded.iter().enumerate() {
        let sign = Sign::of(instruction);
        if sign.is_some_and(Sign::fences) {
            fence = Some(index);
        } else if accesses_of(block, index).iter().any(|a| a.kind != AccessKind::Load) {
            fence = None;
        } else if let Some(Sign::Marker(marker @ (Marker::Durable | Marker::Order))) = sign {
            if let Some(fence) = fence.take() {
                stands_for[fence] = Some(marker);
                stands_for[index] = Some(marker);
            }
        }
    }
    stands_for
}

/// The inputs and outputs of an instruction.
struct Shape<'i> {
    instruction: &'i Instruction,
    accesses: &'i [Access],
    /// Registers that it reads, except for addresses.
    reads: Slots,
    /// Registers that it writes.
    writes: Slots,
    /// Registers that it only advances, as string instructions do with their addresses.
    steps: Slots,
    /// Registers of its load address and of its store address.
    from: [Slot; 2],
    to: [Slot; 2],
    /// It ends its block.
    last: bool,
    repeats: bool,
}

impl<'i> Shape<'i> {
    fn of(
        instruction: &'i Instruction,
        accesses: &'i [Access],
        factory: &mut InstructionInfoFactory,
        repeats: bool,
    ) -> Shape<'i> {
        let info = factory.info(instruction);
        let mut shape = Shape {
            instruction,
            accesses,
            reads: Slots::default(),
            writes: Slots::default(),
            steps: Slots::default(),
            from: [Slot::READY; 2],
            to: [Slot::READY; 2],
            last: false,
            repeats,
        };
        for used in info.used_registers() {
            shape.register(used.register(), used.access());
        }
        for memory in info.used_memory() {
            shape.memory(memory);
        }
        shape.flags();
        shape.stack();
        shape.string();
        shape
    }

    fn register(&mut self, register: Register, access: OpAccess) {
        let Some(slot) = Slot::of(register) else { return };
        let (reads, writes) = match access {
            OpAccess::Read | OpAccess::CondRead => (true, false),
            // A conditional or partial write depends on the old value.
            OpAccess::Write => (register.is_gpr8() || register.is_gpr16(), true),
            OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
            OpAccess::None | OpAccess::NoMemAccess => (false, false),
        };
        if reads {
            self.reads.add(slot);
        }
        if writes {
            self.writes.add(slot);
        }
    }

    fn memory(&mut self, memory: &UsedMemory) {
        let slot = |register| Slot::of(register).unwrap_or(Slot::READY);
        let address = [slot(memory.base()), slot(memory.index())];
        let reads = matches!(
            memory.access(),
            OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite
        );
        let writes = matches!(
            memory.access(),
            OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
        );
        // Flushes report neither a read nor a write of memory.
        if reads || !writes {
            self.from = address;
        }
        if writes || !reads {
            self.to = address;
        }
        // Registers of a store's address are not among its data. If a register is both, the store waits for it anyway.
        if !self.accesses.is_empty() {
            address.iter().for_each(|slot| self.reads.remove(*slot));
        }
    }

    fn flags(&mut self) {
        if self.instruction.rflags_read() & FLAGS != 0 {
            self.reads.add(Slot::FLAGS);
        }
        if self.instruction.rflags_modified() & FLAGS != 0 {
            self.writes.add(Slot::FLAGS);
        }
    }

    /// The stack pointer of pushes and pops is known ahead, without latency.
    fn stack(&mut self) {
        let Some(stack) = Slot::of(Register::RSP) else { return };
        if self.instruction.is_stack_instruction() && self.instruction.mnemonic() != Mnemonic::Leave {
            self.reads.remove(stack);
            self.writes.remove(stack);
        }
    }

    fn string(&mut self) {
        if !class::is_string(self.instruction) {
            return;
        }
        for register in [Register::RSI, Register::RDI, Register::RCX] {
            let Some(slot) = Slot::of(register) else { continue };
            if self.writes.has(slot) {
                self.writes.remove(slot);
                self.reads.remove(slot);
                if !self.repeats {
                    self.steps.add(slot);
                }
            }
        }
    }

    /// The dependences of its arithmetic: its inputs, and its load.
    fn operands(&self) -> Vec<Slot> {
        let mut operands = self.reads.as_slice().to_vec();
        if self
            .accesses
            .iter()
            .any(|a| matches!(a.kind, AccessKind::Load | AccessKind::Update))
        {
            operands.insert(0, Slot::LOADED);
        }
        operands
    }

    fn emit(&self, out: &mut Emitter<'_>) {
        match self.accesses {
            [] => self.without_memory(out),
            _ if self.instruction.mnemonic() == Mnemonic::Leave => self.leave(out),
            accesses if accesses.iter().all(|a| a.kind == AccessKind::Load) => self.reading(out),
            _ => self.writing(out),
        }
        for slot in self.steps.as_slice() {
            out.of(MicroKind::Fused, Alu::Simple, &[*slot], &[*slot]);
        }
    }

    fn without_memory(&self, out: &mut Emitter<'_>) {
        let i = self.instruction;
        match i.flow_control() {
            FlowControl::ConditionalBranch => return self.branch(out, self.reads.as_slice()),
            FlowControl::IndirectBranch | FlowControl::IndirectCall => return self.indirect(out),
            FlowControl::Next => {}
            _ => return out.entry(),
        }
        if class::is_empty(i) {
            out.entry();
        } else if class::is_renamed_move(i) {
            let source = self.reads.as_slice().first().copied().unwrap_or(Slot::READY);
            out.renamed(source, self.writes.as_slice());
        } else if class::is_zero_idiom(i) {
            out.renamed(Slot::READY, self.writes.as_slice());
        } else {
            out.of(
                MicroKind::Alu,
                class::latency(i),
                self.reads.as_slice(),
                self.writes.as_slice(),
            );
        }
    }

    /// A conditional jump on these registers; `loop` also counts down.
    fn branch(&self, out: &mut Emitter<'_>, condition: &[Slot]) {
        let mut op = MicroOp::new(if self.last {
            MicroKind::Branch
        } else {
            MicroKind::NotTaken
        });
        op.site = site(self.instruction);
        out.push(op, condition, &[]);
        let counts = self.writes.as_slice();
        if !counts.is_empty() {
            out.of(MicroKind::Fused, Alu::Simple, counts, counts);
        }
    }

    fn indirect(&self, out: &mut Emitter<'_>) {
        let mut op = MicroOp::new(MicroKind::Indirect);
        op.site = site(self.instruction);
        out.push(op, &self.operands(), &[]);
    }

    /// All its loads, whose values are combined.
    fn loads(&self, out: &mut Emitter<'_>) {
        for (index, access) in self.accesses.iter().enumerate() {
            let target = if index == 0 { Slot::LOADED } else { Slot::JOINED };
            out.push(self.access(MicroKind::Load, *access), &[], &[target]);
            if index > 0 {
                out.of(
                    MicroKind::Join,
                    Alu::Simple,
                    &[Slot::LOADED, Slot::JOINED],
                    &[Slot::LOADED],
                );
            }
        }
    }

    fn reading(&self, out: &mut Emitter<'_>) {
        let i = self.instruction;
        if let ([access], true) = (self.accesses, self.reads.is_empty() && class::is_plain_load(i)) {
            return out.push(self.access(MicroKind::Load, *access), &[], self.writes.as_slice());
        }
        self.loads(out);
        if matches!(
            i.flow_control(),
            FlowControl::IndirectBranch | FlowControl::IndirectCall
        ) {
            self.indirect(out);
        } else if !self.writes.is_empty() {
            let latency = class::latency(i);
            out.of(MicroKind::Fused, latency, &self.operands(), self.writes.as_slice());
        }
    }

    /// `leave`: the stack pointer becomes the frame pointer, which is then popped.
    fn leave(&self, out: &mut Emitter<'_>) {
        let slot = |register| Slot::of(register).unwrap_or(Slot::NOWHERE);
        let (stack, frame) = (slot(Register::RSP), slot(Register::RBP));
        out.of(MicroKind::Join, Alu::Simple, &[frame], &[stack]);
        let mut op = MicroOp::new(MicroKind::Load);
        op.size = self.accesses[0].size;
        op.address[0] = stack;
        out.push(op, &[], &[frame]);
    }

    fn writing(&self, out: &mut Emitter<'_>) {
        let i = self.instruction;
        let loads = self
            .accesses
            .iter()
            .any(|a| matches!(a.kind, AccessKind::Load | AccessKind::Update));
        let mut computed = !loads;
        for access in self.accesses {
            match access.kind {
                AccessKind::Load | AccessKind::LoadSeen => {
                    out.push(self.access(MicroKind::Load, *access), &[], &[Slot::LOADED])
                }
                AccessKind::Update => {
                    out.push(self.access(MicroKind::UpdateLoad, *access), &[], &[Slot::LOADED]);
                    self.compute(out, &mut computed);
                    out.push(self.access(MicroKind::Store, *access), &[Slot::LOADED], &[]);
                }
                AccessKind::Store | AccessKind::StoreNt | AccessKind::StoreMasked | AccessKind::StoreNtMasked => {
                    let kind = match access.kind {
                        AccessKind::Store => MicroKind::Store,
                        AccessKind::StoreMasked => MicroKind::StoreMasked,
                        AccessKind::StoreNtMasked => MicroKind::StoreNtMasked,
                        _ => MicroKind::StoreNt,
                    };
                    self.compute(out, &mut computed);
                    out.push(self.access(kind, *access), &self.data(loads), &[]);
                }
                AccessKind::Atomic => {
                    let locked = self.access(MicroKind::Locked, *access);
                    out.push(locked, self.reads.as_slice(), self.writes.as_slice());
                }
                AccessKind::Clwb => out.push(self.access(MicroKind::Clwb, *access), &[], &[]),
                AccessKind::ClflushOpt => out.push(self.access(MicroKind::ClflushOpt, *access), &[], &[]),
                AccessKind::Clflush => out.push(self.access(MicroKind::Clflush, *access), &[], &[]),
            }
        }
        if i.flow_control() == FlowControl::IndirectCall {
            self.indirect(out);
        }
    }

    /// Its arithmetic on the loaded value, once; `push`, `call` and `movs` have none.
    fn compute(&self, out: &mut Emitter<'_>, computed: &mut bool) {
        if std::mem::replace(computed, true) {
            return;
        }
        if self.writes.is_empty() && self.reads.is_empty() {
            return;
        }
        let mut targets = vec![Slot::LOADED];
        targets.extend_from_slice(self.writes.as_slice());
        out.of(
            MicroKind::Fused,
            class::latency(self.instruction),
            &self.operands(),
            &targets,
        );
    }

    /// The dependences of a store's data.
    fn data(&self, loads: bool) -> Vec<Slot> {
        match (loads, self.instruction.flow_control()) {
            (true, _) => vec![Slot::LOADED],
            // What a call pushes is a constant.
            (false, FlowControl::Call | FlowControl::IndirectCall) => Vec::new(),
            (false, _) => self.reads.as_slice().to_vec(),
        }
    }

    fn access(&self, kind: MicroKind, access: Access) -> MicroOp {
        let mut op = MicroOp::new(kind);
        op.size = access.size;
        op.address = match kind {
            MicroKind::Load | MicroKind::UpdateLoad => self.from,
            MicroKind::Store
            | MicroKind::StoreNt
            | MicroKind::StoreMasked
            | MicroKind::StoreNtMasked
            | MicroKind::Locked => self.to,
            // A flush has one of these for its line.
            _ if self.from == [Slot::READY; 2] => self.to,
            _ => self.from,
        };
        op
    }
}

/// The branch predictor's site of an instruction.
fn site(instruction: &Instruction) -> u32 {
    let pc = instruction.ip();
    (pc ^ pc >> 32) as u32
}
