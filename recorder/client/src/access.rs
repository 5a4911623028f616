//! Determines which memory an instruction accesses, and how.

#![allow(
    non_upper_case_globals,
    reason = "DynamoRIO's names of instructions are patterns here"
)]

use dynamorio_sys::*;
use strandline_capture::{AccessKind, Marker, VALUE_BYTES};

use crate::emit::widened;
use crate::mask::Mask;

/// How the recorder obtains the bytes that an access leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Not at all: it writes none, or too many.
    None,
    /// It reads them back after the instruction.
    Read,
    /// The same, but some may not be mapped: a masked store need not access them. Its mask cannot be read.
    Careful,
    /// The same, and the mask with them.
    Masked(Mask),
    /// They are known before: the return address that a call pushes.
    Known(u64),
    /// It writes none, but what it has read is read once more after it.
    Seen,
}

/// An access.
pub struct FoundAccess {
    /// Where, as DynamoRIO says it.
    pub operand: opnd_t,
    /// What it does.
    pub kind: AccessKind,
    /// Bytes.
    pub size: u16,
    /// How its value is learnt.
    pub value: Value,
    /// A bit string: the register with the bit's number, which changes the address.
    pub bit: Option<reg_id_t>,
    /// A locked instruction: the registers with what it read and wrote.
    pub exchanged: Option<Exchanged>,
}

/// What a locked instruction reads and writes, as registers say it, 64-bit ones whose lowest bytes count. Other threads'
/// plain stores may come between the instruction and a read before or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchanged {
    /// `xchg`: before it the register has what it writes, and then what it has read.
    Swap(reg_id_t),
    /// `xadd`: before it the register has what it adds, and then what it has read.
    Add(reg_id_t),
    /// `cmpxchg`: then `rax` has what it has read. If it succeeds, it writes this register.
    Compare(reg_id_t),
}

impl Exchanged {
    /// The register that then has what was read.
    pub fn old(self) -> reg_id_t {
        match self {
            Self::Swap(register) | Self::Add(register) => register,
            Self::Compare(_) => DR_REG_RAX as reg_id_t,
        }
    }

    /// The register that the instruction names.
    pub fn named(self) -> reg_id_t {
        let (Self::Swap(register) | Self::Add(register) | Self::Compare(register)) = self;
        register
    }
}

/// An instruction that cannot be recorded. A program may contain such code without executing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Unrecordable {
    /// It accesses a variable number of places, given by a mask.
    Gather = 0,
    /// It accesses too much at once.
    Long = 1,
    /// It is atomic, and too large to be read and written as one.
    LongLocked = 2,
    /// Its flushed line is unknown.
    Flush = 3,
}

impl Unrecordable {
    /// Of this number.
    pub fn of(number: i32) -> Self {
        [Self::Gather, Self::Long, Self::LongLocked]
            .into_iter()
            .find(|what| *what as i32 == number)
            .unwrap_or(Self::Flush)
    }

    /// A few words on it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Gather => "a gather or scatter instruction (build the program without AVX2 and AVX-512 gathers, as with -mno-avx2)",
            Self::Long => "an access of more than 65535 bytes",
            Self::LongLocked => "a locked instruction of more than 16 bytes",
            Self::Flush => "a flush without an address",
        }
    }
}

/// Bytes of a cache line, the unit of a flush.
const LINE_BYTES: u16 = 64;

/// The accesses of this instruction: reads first, then writes.
///
/// # Errors
/// The instruction cannot be recorded.
///
/// # Safety
/// The instruction is a decoded one of the program.
pub unsafe fn of(instruction: *mut instr_t) -> Result<Vec<FoundAccess>, Unrecordable> {
    // SAFETY: the caller's promise.
    unsafe {
        let opcode = instr_get_opcode(instruction) as u32;
        if touches_nothing(opcode) {
            return Ok(Vec::new());
        }
        let reads = operands(instruction, instr_num_srcs(instruction), instr_get_src);
        let writes = operands(instruction, instr_num_dsts(instruction), instr_get_dst);
        if reads.iter().chain(&writes).any(|operand| opnd_is_vsib(*operand) != 0) {
            return Err(Unrecordable::Gather);
        }
        if let Some(kind) = flush(opcode) {
            let operand = reads.first().or(writes.first()).ok_or(Unrecordable::Flush)?;
            return Ok(vec![found(*operand, kind, LINE_BYTES, Value::None)]);
        }
        let mut all = Vec::new();
        for operand in &reads {
            if !writes.iter().any(|write| opnd_same(*operand, *write) != 0) {
                all.extend(access(instruction, *operand, AccessKind::Load)?);
            }
        }
        for operand in &writes {
            let both = reads.iter().any(|read| opnd_same(*operand, *read) != 0);
            all.extend(access(instruction, *operand, kind_of_write(instruction, opcode, both))?);
        }
        if let Some(bit) = bit_index(instruction, opcode) {
            for access in &mut all {
                access.bit = Some(bit);
            }
        }
        Ok(all)
    }
}

unsafe fn operands(
    instruction: *mut instr_t,
    count: i32,
    get: unsafe extern "C" fn(*mut instr_t, u32) -> opnd_t,
) -> Vec<opnd_t> {
    // SAFETY: indices are below the count.
    unsafe {
        (0..count as u32)
            .map(|index| get(instruction, index))
            .filter(|operand| opnd_is_memory_reference(*operand) != 0)
            .collect()
    }
}

unsafe fn access(
    instruction: *mut instr_t,
    operand: opnd_t,
    kind: AccessKind,
) -> Result<Option<FoundAccess>, Unrecordable> {
    // SAFETY: the operand is the instruction's.
    unsafe {
        let size = drutil_opnd_mem_size_in_bytes(operand, instruction);
        if size == 0 {
            return Ok(None);
        }
        let size = u16::try_from(size).map_err(|_| Unrecordable::Long)?;
        let value = match kind.writes() && size <= VALUE_BYTES {
            false => Value::None,
            true if instr_is_call(instruction) != 0 => Value::Known(return_address(instruction)),
            true => match Mask::of(instruction) {
                Some(mask) => Value::Masked(mask),
                None if may_skip(instruction) => Value::Careful,
                None => Value::Read,
            },
        };
        let kind = match (value, kind) {
            (Value::Masked(_), AccessKind::StoreNt) => AccessKind::StoreNtMasked,
            (Value::Masked(_), _) => AccessKind::StoreMasked,
            _ => kind,
        };
        let operand = popped(instruction, operand);
        if kind == AccessKind::Atomic && size > 16 {
            return Err(Unrecordable::LongLocked);
        }
        let mut found = found(operand, kind, size, value);
        if kind == AccessKind::Atomic {
            found.exchanged = exchanged(instruction);
        }
        Ok(Some(found))
    }
}

fn found(operand: opnd_t, kind: AccessKind, size: u16, value: Value) -> FoundAccess {
    FoundAccess {
        operand,
        kind,
        size,
        value,
        bit: None,
        exchanged: None,
    }
}

/// `pop [rsp + x]` computes its address after the change of `rsp`.
unsafe fn popped(instruction: *mut instr_t, operand: opnd_t) -> opnd_t {
    // SAFETY: the operand is the instruction's.
    unsafe {
        let by_stack = opnd_is_base_disp(operand) != 0 && u32::from(opnd_get_base(operand)) == DR_REG_RSP;
        let mut operand = operand;
        let is_destination = instr_num_dsts(instruction) > 0 && opnd_same(instr_get_dst(instruction, 0), operand) != 0;
        if by_stack && is_destination && instr_get_opcode(instruction) as u32 == OP_pop {
            let size = drutil_opnd_mem_size_in_bytes(operand, instruction) as i32;
            opnd_set_disp(&mut operand, opnd_get_disp(operand) + size);
        }
        operand
    }
}

unsafe fn return_address(instruction: *mut instr_t) -> u64 {
    // SAFETY: it is decoded.
    unsafe { instr_get_app_pc(instruction) as u64 + instr_length(dr_get_current_drcontext(), instruction) as u64 }
}

fn touches_nothing(opcode: u32) -> bool {
    matches!(
        opcode,
        OP_lea
            | OP_nop_modrm
            | OP_prefetch
            | OP_prefetchw
            | OP_prefetchnta
            | OP_prefetcht0
            | OP_prefetcht1
            | OP_prefetcht2
            | OP_cldemote
            | OP_invlpg
            | OP_vgatherpf0dpd
            | OP_vgatherpf0dps
            | OP_vgatherpf0qpd
            | OP_vgatherpf0qps
            | OP_vgatherpf1dpd
            | OP_vgatherpf1dps
            | OP_vgatherpf1qpd
            | OP_vgatherpf1qps
            | OP_vscatterpf0dpd
            | OP_vscatterpf0dps
            | OP_vscatterpf0qpd
            | OP_vscatterpf0qps
            | OP_vscatterpf1dpd
            | OP_vscatterpf1dps
            | OP_vscatterpf1qpd
            | OP_vscatterpf1qps
    )
}

/// Whether an instruction of this kind writes a line back.
pub fn flushes(opcode: u32) -> bool {
    flush(opcode).is_some()
}

fn flush(opcode: u32) -> Option<AccessKind> {
    match opcode {
        OP_clwb => Some(AccessKind::Clwb),
        OP_clflushopt => Some(AccessKind::ClflushOpt),
        OP_clflush => Some(AccessKind::Clflush),
        _ => None,
    }
}

unsafe fn kind_of_write(instruction: *mut instr_t, opcode: u32, reads_too: bool) -> AccessKind {
    // SAFETY: it is decoded.
    if unsafe { locks(instruction, opcode) } {
        return AccessKind::Atomic;
    }
    match opcode {
        OP_movnti | OP_movntps | OP_movntpd | OP_movntq | OP_movntdq | OP_vmovntps | OP_vmovntpd | OP_vmovntdq
        | OP_movntss | OP_movntsd | OP_movdiri | OP_movdir64b | OP_maskmovq | OP_maskmovdqu | OP_vmaskmovdqu => {
            AccessKind::StoreNt
        }
        _ if reads_too => AccessKind::Update,
        _ => AccessKind::Store,
    }
}

/// Whether its access to memory, if it has one, is atomic.
///
/// # Safety
/// The instruction is a decoded one of the program.
pub unsafe fn locks(instruction: *mut instr_t, opcode: u32) -> bool {
    // SAFETY: the caller's promise.
    opcode == OP_xchg || unsafe { locked(instruction) }
}

/// Whether there is a `lock` among the prefixes.
unsafe fn locked(instruction: *mut instr_t) -> bool {
    // SAFETY: it is decoded.
    unsafe { bytes(instruction) }
        .iter()
        .take_while(|byte| PREFIXES.contains(byte))
        .any(|byte| *byte == LOCK)
}

const LOCK: u8 = 0xf0;
const PREFIXES: [u8; 11] = [LOCK, 0xf2, 0xf3, 0x66, 0x67, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65];

/// A store that may leave some of its bytes unchanged.
unsafe fn may_skip(instruction: *mut instr_t) -> bool {
    // SAFETY: indices are below the count.
    unsafe {
        let opcode = instr_get_opcode(instruction) as u32;
        // `k0` selects all lanes.
        let masks = DR_REG_K0 + 1..=DR_REG_K7;
        let stores_mask = matches!(opcode, OP_kmovb | OP_kmovw | OP_kmovd | OP_kmovq);
        opcode == OP_maskmovq
            || !stores_mask
                && (0..instr_num_srcs(instruction) as u32).any(|index| {
                    let source = instr_get_src(instruction, index);
                    opnd_is_reg(source) != 0 && masks.contains(&u32::from(opnd_get_reg(source)))
                })
    }
}

/// The register whose bits above the operand's size change the address of `bt`, `bts`, `btr` and `btc`.
unsafe fn bit_index(instruction: *mut instr_t, opcode: u32) -> Option<reg_id_t> {
    if !matches!(opcode, OP_bt | OP_bts | OP_btr | OP_btc) {
        return None;
    }
    // SAFETY: indices are below the count.
    unsafe {
        (0..instr_num_srcs(instruction) as u32)
            .map(|index| instr_get_src(instruction, index))
            .find(|source| opnd_is_reg(*source) != 0)
            .map(|source| opnd_get_reg(source))
    }
}

impl FoundAccess {
    /// A load by which the program may wait: what it reads is saved.
    pub fn watch(&mut self) {
        (self.kind, self.value) = (AccessKind::LoadSeen, Value::Seen);
    }

    /// Whether it may be one to memory that threads share: no flush, and neither at the stack pointer nor a
    /// thread's own.
    pub fn may_be_shared(&self) -> bool {
        // SAFETY: it is the instruction's operand.
        unsafe {
            let of_thread = opnd_is_far_memory_reference(self.operand) != 0;
            let base = (opnd_is_base_disp(self.operand) != 0).then(|| u32::from(opnd_get_base(self.operand)));
            !self.kind.flushes() && !of_thread && base != Some(DR_REG_RSP)
        }
    }

    /// Whether what it reads can be saved.
    pub fn is_small_load(&self) -> bool {
        self.kind == AccessKind::Load && self.size <= 8 && self.bit.is_none()
    }
}

/// The bytes of `ah` and the like are not the lowest.
unsafe fn exchanged(instruction: *mut instr_t) -> Option<Exchanged> {
    // SAFETY: it is decoded, indices are below the count.
    unsafe {
        let register = (0..instr_num_srcs(instruction) as u32)
            .map(|index| instr_get_src(instruction, index))
            .find(|read| opnd_is_reg(*read) != 0)
            .map(|read| opnd_get_reg(read))
            .filter(|register| !(DR_REG_AH..=DR_REG_BH).contains(&u32::from(*register)))
            .map(widened)?;
        match instr_get_opcode(instruction) as u32 {
            OP_xchg => Some(Exchanged::Swap(register)),
            OP_xadd => Some(Exchanged::Add(register)),
            OP_cmpxchg => Some(Exchanged::Compare(register)),
            _ => None,
        }
    }
}

/// The marker in this instruction, if any.
///
/// # Safety
/// The instruction is a decoded one of the program.
pub unsafe fn marker(instruction: *mut instr_t) -> Option<Marker> {
    // SAFETY: the caller's promise.
    Marker::of(unsafe { displacement(instruction) }?)
}

/// The displacement of a `nop` in the form of markers.
///
/// # Safety
/// The instruction is a decoded one of the program.
pub unsafe fn displacement(instruction: *mut instr_t) -> Option<u32> {
    // SAFETY: the caller's promise.
    let displacement = unsafe { bytes(instruction) }.strip_prefix(&[0x0f, 0x1f, 0x80])?;
    Some(u32::from_le_bytes(displacement.try_into().ok()?))
}

/// The bytes of an instruction; none if DynamoRIO synthesised it.
///
/// # Safety
/// The instruction is a decoded one of the program and stays alive.
pub unsafe fn bytes<'i>(instruction: *mut instr_t) -> &'i [u8] {
    // SAFETY: the caller's promise.
    unsafe {
        let bits = instr_get_raw_bits(instruction);
        let length = instr_length(dr_get_current_drcontext(), instruction);
        match bits.is_null() {
            true => &[],
            false => std::slice::from_raw_parts(bits, length as usize),
        }
    }
}
