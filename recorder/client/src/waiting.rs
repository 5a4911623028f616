//! Loads by which a program may wait: those in a small loop that stores nothing, from an address that the loop leaves as it
//! is.
//!
//! For these the recorder saves what they read, and when, so that the collector knows which write ended a wait. A wrong
//! guess costs time and space only.

use std::ffi::c_void;

use dynamorio_sys::*;

use crate::access::{flushes, locks};

/// The most instructions from a block's end back to its start, and the most branches on the way.
const INSTRUCTIONS: u32 = 24;
const BRANCHES: u32 = 4;

/// The longest instruction, in bytes.
const LONGEST: usize = 16;

/// Whether the program may wait by each of these loads, of instructions of this block: whether it may come to it again, or to
/// another load of the same that it may come to again. (A compiler may test once before a loop and then in it.)
///
/// # Safety
/// The list is a block of the program, the operands are of the instructions of these numbers.
pub unsafe fn may_wait(drcontext: *mut c_void, block: &[*mut instr_t], loads: &[(usize, opnd_t)]) -> Vec<bool> {
    // SAFETY: the caller's promise.
    unsafe {
        let quiet = block.iter().rev().take_while(|instruction| is_quiet(**instruction));
        let quiet = block.len() - quiet.count();
        loads
            .iter()
            .map(|(index, load)| {
                *index >= quiet && is_elsewhere(*load) && {
                    let keeps = block[quiet..].iter().rev().take_while(|other| keeps(**other, *load));
                    let first = block.len() - keeps.count();
                    let entries = block.get(first..=*index).unwrap_or_default();
                    let search = Search {
                        drcontext,
                        entries: entries.iter().map(|entry| instr_get_app_pc(*entry) as u64).collect(),
                        load: *load,
                        is_first: true,
                    };
                    search.returns(block[block.len() - 1])
                }
            })
            .collect()
    }
}

/// A search for a way from a load back to it.
struct Search {
    drcontext: *mut c_void,
    /// The addresses from where a loop comes to the load: of its block's instructions up to it.
    entries: Vec<u64>,
    load: opnd_t,
    /// Another load of the same may be the loop's.
    is_first: bool,
}

impl Search {
    /// From behind the block's last instruction.
    unsafe fn returns(&self, last: *mut instr_t) -> bool {
        // SAFETY: the instruction is decoded.
        unsafe {
            let behind = instr_get_app_pc(last) as u64 + instr_length(self.drcontext, last) as u64;
            !self.entries.is_empty() && self.after(last, behind, INSTRUCTIONS, BRANCHES)
        }
    }

    /// Behind this instruction.
    unsafe fn after(&self, instruction: *mut instr_t, behind: u64, left: u32, branches: u32) -> bool {
        // SAFETY: the instruction is decoded.
        unsafe {
            let target = |instruction| instr_get_branch_target_pc(instruction) as u64;
            if instr_is_cbr(instruction) != 0 {
                let Some(branches) = branches.checked_sub(1) else {
                    return false;
                };
                let target = target(instruction);
                return self.at(target, left, branches) || self.at(behind, left, branches);
            }
            // What a called function does is seen when it runs.
            if instr_is_ubr(instruction) != 0 {
                return self.at(target(instruction), left, branches);
            }
            if instr_is_cti(instruction) != 0 && instr_is_call(instruction) == 0 {
                return false;
            }
            self.at(behind, left, branches)
        }
    }

    /// At this address of the program's code.
    unsafe fn at(&self, pc: u64, left: u32, branches: u32) -> bool {
        if self.entries.contains(&pc) {
            return true;
        }
        let Some(left) = left.checked_sub(1) else { return false };
        let mut bytes = [0u8; LONGEST];
        let mut done = 0;
        // SAFETY: reading is safe, and an instruction is decoded from a copy that is long enough.
        unsafe {
            if dr_safe_read(pc as *const c_void, LONGEST, bytes.as_mut_ptr().cast(), &mut done) == 0 {
                return false;
            }
            let instruction = instr_create(self.drcontext);
            let next = decode_from_copy(self.drcontext, bytes.as_mut_ptr(), pc as *mut u8, instruction);
            let behind = pc + (next as u64).wrapping_sub(bytes.as_ptr() as u64);
            let found = !next.is_null()
                && is_quiet(instruction)
                && keeps(instruction, self.load)
                && (self.repeats(instruction, pc, behind) || self.after(instruction, behind, left, branches));
            instr_destroy(self.drcontext, instruction);
            found
        }
    }

    /// Whether this instruction loads the same, and the program may come to it again.
    unsafe fn repeats(&self, instruction: *mut instr_t, pc: u64, behind: u64) -> bool {
        // SAFETY: it is decoded, indices are below the count.
        unsafe {
            let mut sources = (0..instr_num_srcs(instruction) as u32).map(|index| instr_get_src(instruction, index));
            let again = Search {
                drcontext: self.drcontext,
                entries: vec![pc],
                load: self.load,
                is_first: false,
            };
            self.is_first
                && sources.any(|source| opnd_same(source, self.load) != 0)
                && again.after(instruction, behind, INSTRUCTIONS, BRANCHES)
        }
    }
}

/// Whether it leaves memory as it is, but for the stack and for what a locked instruction may do.
unsafe fn is_quiet(instruction: *mut instr_t) -> bool {
    // SAFETY: it is decoded.
    unsafe {
        let opcode = instr_get_opcode(instruction) as u32;
        if flushes(opcode) {
            return false;
        }
        locks(instruction, opcode)
            || (0..instr_num_dsts(instruction) as u32)
                .map(|index| instr_get_dst(instruction, index))
                .all(|written| opnd_is_memory_reference(written) == 0 || of_stack(written))
    }
}

/// Whether the instruction keeps the load's address: it changes none of its registers, or reads them anew from the stack,
/// as code does that is not optimised.
unsafe fn keeps(instruction: *mut instr_t, load: opnd_t) -> bool {
    // SAFETY: it is decoded.
    unsafe {
        let registers = [opnd_get_base, opnd_get_index].map(|of| match opnd_is_base_disp(load) {
            0 => DR_REG_NULL as reg_id_t,
            _ => of(load),
        });
        let changes = registers.iter().any(|register| {
            u32::from(*register) != DR_REG_NULL && instr_writes_to_reg(instruction, *register, QUERY) != 0
        });
        let reads_anew =
            || instr_get_opcode(instruction) as u32 == OP_mov_ld && of_stack(instr_get_src(instruction, 0));
        !changes || instr_is_call(instruction) != 0 || reads_anew()
    }
}

/// Memory that other threads may know: at a pointer, or at a fixed place.
unsafe fn is_elsewhere(operand: opnd_t) -> bool {
    // SAFETY: it is an operand.
    unsafe { opnd_is_near_rel_addr(operand) != 0 || opnd_is_near_base_disp(operand) != 0 && !of_stack(operand) }
}

/// Memory at the stack or frame pointer, as code does that is not optimised.
unsafe fn of_stack(operand: opnd_t) -> bool {
    // SAFETY: it is an operand.
    unsafe {
        opnd_is_base_disp(operand) != 0
            && matches!(u32::from(opnd_get_base(operand)), DR_REG_RSP | DR_REG_RBP)
            && u32::from(opnd_get_index(operand)) == DR_REG_NULL
    }
}

const QUERY: dr_opnd_query_flags_t = _dr_opnd_query_flags_t_DR_QUERY_DEFAULT;

extern "C" {
    /// Decodes a copy of the instruction at an address; returns the end of the copy, or null. Of `dr_ir_decode.h`.
    fn decode_from_copy(drcontext: *mut c_void, copy: *mut u8, original: *mut u8, instruction: *mut instr_t)
        -> *mut u8;
}
