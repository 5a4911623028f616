//! Which bytes a masked store writes.

#![allow(
    non_upper_case_globals,
    reason = "DynamoRIO's names of instructions are patterns here"
)]

use std::mem::{size_of, zeroed};

use dynamorio_sys::*;

/// How a store's mask is found. Each lane that the mask selects is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask {
    register: Register,
    /// Bytes of a lane.
    lane: u8,
    /// The selected lanes are stored side by side, from the first byte on.
    packed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Register {
    /// One bit for each lane of an opmask register (`k1` to `k7`).
    Opmask(u8),
    /// The highest bit of each lane of a vector register.
    Vector(u8),
}

impl Mask {
    /// The mask of this instruction's store; `None` if it writes all its bytes, or if the mask cannot be read (`maskmovq`,
    /// whose mask is in an MMX register).
    ///
    /// # Safety
    /// The instruction is a decoded one of the program.
    pub unsafe fn of(instruction: *mut instr_t) -> Option<Mask> {
        // SAFETY: the caller's promise; indices are below the count.
        unsafe {
            let opcode = instr_get_opcode(instruction) as u32;
            let sources = (0..instr_num_srcs(instruction) as u32)
                .map(|index| instr_get_src(instruction, index))
                .filter(|source| opnd_is_reg(*source) != 0)
                .map(|source| u32::from(opnd_get_reg(source)));
            if let Some((lane, position)) = by_vector(opcode) {
                let vector = sources.filter_map(vector).nth(position)?;
                let register = Register::Vector(vector);
                return Some(Mask {
                    register,
                    lane,
                    packed: false,
                });
            }
            let (lane, packed) = by_opmask(opcode)?;
            let opmask = sources.map(|source| source.wrapping_sub(DR_REG_K0)).find(|k| *k < 8)?;
            // Operations that name `k0` are not masked.
            let register = Register::Opmask((opmask > 0).then_some(opmask as u8)?);
            Some(Mask { register, lane, packed })
        }
    }

    /// As an argument of a call from the cache.
    pub fn pack(self) -> i32 {
        let (is_vector, number) = match self.register {
            Register::Opmask(number) => (0, number),
            Register::Vector(number) => (1, number),
        };
        i32::from(number) | i32::from(self.lane) << 8 | is_vector << 16 | i32::from(self.packed) << 17
    }

    /// The mask of this argument.
    pub fn unpack(argument: i32) -> Mask {
        let number = argument as u8;
        Mask {
            register: match argument >> 16 & 1 {
                0 => Register::Opmask(number),
                _ => Register::Vector(number),
            },
            lane: (argument >> 8) as u8,
            packed: argument >> 17 & 1 != 0,
        }
    }

    /// The bytes that a store of this size (at most 64 bytes) has just written, one bit each.
    ///
    /// # Safety
    /// In a call from the cache that may read the program's registers.
    pub unsafe fn written(self, size: usize) -> u64 {
        // SAFETY: the caller's promise; all fields may be zero.
        let mut context: dr_mcontext_t = unsafe { zeroed() };
        context.size = size_of::<dr_mcontext_t>();
        context.flags = dr_mcontext_flags_t::DR_MC_MULTIMEDIA;
        // SAFETY: the caller's promise.
        let known = unsafe { dr_get_mcontext(dr_get_current_drcontext(), &mut context) };
        crate::expect(known != 0, "the program's registers cannot be read");
        let lanes = match self.register {
            Register::Opmask(number) => context.opmask[usize::from(number)] as u64,
            Register::Vector(number) => {
                // SAFETY: a union of arrays of numbers.
                let bytes = unsafe { vector_bytes(&context, usize::from(number)) };
                highest_bits(&bytes, usize::from(self.lane))
            }
        };
        self.bytes(lanes, size)
    }

    /// The bytes of these lanes.
    fn bytes(self, lanes: u64, size: usize) -> u64 {
        let lane = usize::from(self.lane);
        let count = size / lane;
        let lanes = lanes & below(count);
        match self.packed {
            true => below(lanes.count_ones() as usize * lane),
            false => (0..count)
                .filter(|index| lanes >> index & 1 != 0)
                .fold(0, |bytes, index| bytes | below(lane) << (index * lane)),
        }
    }
}

/// The lowest bits, this many.
fn below(count: usize) -> u64 {
    1u64.checked_shl(count as u32).map_or(u64::MAX, |bit| bit - 1)
}

fn highest_bits(bytes: &[u8; 64], lane: usize) -> u64 {
    let signs = bytes.chunks_exact(lane).map(|lane| lane[lane.len() - 1] >> 7);
    signs
        .enumerate()
        .fold(0, |bits, (index, sign)| bits | u64::from(sign) << index)
}

unsafe fn vector_bytes(context: &dr_mcontext_t, number: usize) -> [u8; 64] {
    // SAFETY: the union's members are arrays of numbers; the number is of a register that the processor has.
    unsafe {
        let slot: *const dr_zmm_t = &context.__bindgen_anon_11.simd[number];
        slot.cast::<[u8; 64]>().read_unaligned()
    }
}

/// The number of a vector register of any width.
fn vector(register: u32) -> Option<u8> {
    [DR_REG_XMM0, DR_REG_YMM0, DR_REG_ZMM0]
        .into_iter()
        .map(|first| register.wrapping_sub(first))
        .find(|number| *number < 32)
        .map(|number| number as u8)
}

/// Bytes of a lane, and the position of the mask among the vector registers that the instruction reads.
fn by_vector(opcode: u32) -> Option<(u8, usize)> {
    match opcode {
        OP_maskmovdqu | OP_vmaskmovdqu => Some((1, 1)),
        OP_vmaskmovps => Some((4, 0)),
        OP_vmaskmovpd => Some((8, 0)),
        // DynamoRIO names their data first.
        OP_vpmaskmovd => Some((4, 1)),
        OP_vpmaskmovq => Some((8, 1)),
        _ => None,
    }
}

/// Bytes of a lane, and whether the lanes are packed.
fn by_opmask(opcode: u32) -> Option<(u8, bool)> {
    Some(match opcode {
        OP_vmovdqu8 | OP_vpmovdb | OP_vpmovqb | OP_vpmovsdb | OP_vpmovsqb | OP_vpmovswb | OP_vpmovusdb
        | OP_vpmovusqb | OP_vpmovuswb | OP_vpmovwb => (1, false),
        OP_vmovdqu16 | OP_vpmovdw | OP_vpmovqw | OP_vpmovsdw | OP_vpmovsqw | OP_vpmovusdw | OP_vpmovusqw
        | OP_vcvtps2ph => (2, false),
        OP_vmovdqa32 | OP_vmovdqu32 | OP_vmovaps | OP_vmovups | OP_vmovss | OP_vpmovqd | OP_vpmovsqd | OP_vpmovusqd
        | OP_vextractf32x4 | OP_vextractf32x8 | OP_vextracti32x4 | OP_vextracti32x8 => (4, false),
        OP_vmovdqa64 | OP_vmovdqu64 | OP_vmovapd | OP_vmovupd | OP_vmovsd | OP_vextractf64x2 | OP_vextractf64x4
        | OP_vextracti64x2 | OP_vextracti64x4 => (8, false),
        OP_vpcompressb => (1, true),
        OP_vpcompressw => (2, true),
        OP_vpcompressd | OP_vcompressps => (4, true),
        OP_vpcompressq | OP_vcompresspd => (8, true),
        _ => return None,
    })
}
