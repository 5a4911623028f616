//! Classifies instructions, as far as their micro-ops depend on it.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};
use strandline_isa::Alu;

/// The latency class of an instruction's arithmetic.
///
/// Divisions and square roots are `Div`. Instructions of three to five cycles on modern cores (integer multiplication,
/// floating point, packed multiplication, bit counts, `crc32`, `aes`) are `Mul`. All others are `Simple`. (Source: the
/// common ground of uops.info's tables for Intel since Skylake and AMD since Zen 2.)
pub fn latency(instruction: &Instruction) -> Alu {
    let name = name(instruction);
    let vector = touches_vectors(instruction);
    let begins = |with: &[&str]| with.iter().any(|w| name.starts_with(w));
    if begins(&["div", "idiv", "fdiv", "fidiv", "fsqrt"]) || (vector && begins(&["sqrt"])) {
        Alu::Div
    } else if begins(SLOW) || (vector && begins(FLOATING)) {
        Alu::Mul
    } else {
        Alu::Simple
    }
}

/// Prefixes of mnemonics with three to five cycles.
const SLOW: &[&str] = &[
    "imul", "mul", "crc32", "popcnt", "lzcnt", "tzcnt", "bsf", "bsr", "pdep", "pext", "aes", "pclmul", "pmul", "pmadd",
    "psadbw", "fadd", "fiadd", "fsub", "fisub", "fmul", "fimul", "fcom", "fucom", "fld", "fild", "fist", "sha",
];

/// Prefixes of floating-point mnemonics; integer instructions with these prefixes use no vector registers.
const FLOATING: &[&str] = &[
    "add", "sub", "hadd", "hsub", "max", "min", "round", "rndscale", "cmp", "comis", "ucomis", "cvt", "fm", "fnm",
    "dpp", "rcp", "rsqrt", "scalef", "getexp", "getmant",
];

/// Its mnemonic in lower case, without the `v` of instructions with three operands.
fn name(instruction: &Instruction) -> String {
    let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
    name.strip_prefix('v').map_or(name.clone(), str::to_owned)
}

fn touches_vectors(instruction: &Instruction) -> bool {
    registers(instruction).any(|r| r.is_vector_register())
}

fn registers(instruction: &Instruction) -> impl Iterator<Item = Register> + '_ {
    (0..instruction.op_count())
        .filter(|i| instruction.op_kind(*i) == OpKind::Register)
        .map(|i| instruction.op_register(i))
}

/// Whether it copies a whole register, which renaming does without latency.
pub fn is_renamed_move(instruction: &Instruction) -> bool {
    use Mnemonic::{
        Mov, Movapd, Movaps, Movdqa, Movdqu, Movupd, Movups, Vmovapd, Vmovaps, Vmovdqa, Vmovdqa32, Vmovdqa64, Vmovdqu,
        Vmovdqu32, Vmovdqu64, Vmovupd, Vmovups,
    };
    let both = instruction.op_count() == 2
        && instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() == OpKind::Register
        && instruction.op_mask() == Register::None;
    let (to, from) = (instruction.op0_register(), instruction.op1_register());
    match instruction.mnemonic() {
        Mov => both && ((to.is_gpr64() && from.is_gpr64()) || (to.is_gpr32() && from.is_gpr32())),
        Movapd | Movaps | Movdqa | Movdqu | Movupd | Movups | Vmovapd | Vmovaps | Vmovdqa | Vmovdqa32 | Vmovdqa64
        | Vmovdqu | Vmovdqu32 | Vmovdqu64 | Vmovupd | Vmovups => both,
        _ => false,
    }
}

/// Whether it is a zeroing idiom, which renaming executes.
pub fn is_zero_idiom(instruction: &Instruction) -> bool {
    use Mnemonic::{Pxor, Sub, Vpxor, Vpxord, Vpxorq, Vxorpd, Vxorps, Xor, Xorpd, Xorps};
    let count = instruction.op_count();
    let same = count >= 2
        && (0..count).all(|i| instruction.op_kind(i) == OpKind::Register)
        && instruction.op_register(count - 1) == instruction.op_register(count - 2);
    match instruction.mnemonic() {
        Xor | Sub => same && (instruction.op0_register().is_gpr32() || instruction.op0_register().is_gpr64()),
        Pxor | Xorps | Xorpd | Vpxor | Vpxord | Vpxorq | Vxorps | Vxorpd => {
            same && !instruction.op0_register().is_mm() && instruction.op_mask() == Register::None
        }
        _ => false,
    }
}

/// Whether it takes an entry without any dependences: `nop` and the like, prefetches (whose address is not recorded),
/// and serialising instructions (not modelled).
pub fn is_empty(instruction: &Instruction) -> bool {
    use Mnemonic::{
        Cldemote, Clts, Cpuid, Emms, Endbr32, Endbr64, Fnop, Lfence, Nop, Pause, Prefetch, Prefetchnta, Prefetcht0,
        Prefetcht1, Prefetcht2, Prefetchw, Prefetchwt1, Serialize, Syscall, Sysenter, Tpause, Ud2, Umwait, Vzeroall,
        Vzeroupper, Xgetbv, Xsetbv, INVALID,
    };
    matches!(
        instruction.mnemonic(),
        Cldemote
            | Clts
            | Cpuid
            | Emms
            | Endbr32
            | Endbr64
            | Fnop
            | Lfence
            | Nop
            | Pause
            | Prefetch
            | Prefetchnta
            | Prefetcht0
            | Prefetcht1
            | Prefetcht2
            | Prefetchw
            | Prefetchwt1
            | Serialize
            | Syscall
            | Sysenter
            | Tpause
            | Ud2
            | Umwait
            | Vzeroall
            | Vzeroupper
            | Xgetbv
            | Xsetbv
            | INVALID
    )
}

/// Whether it only loads a register: its targets are ready when its load is.
pub fn is_plain_load(instruction: &Instruction) -> bool {
    let name = name(instruction);
    ["mov", "pop", "lddqu", "broadcast", "pbroadcast", "lods", "fld"]
        .iter()
        .any(|begin| name.starts_with(begin))
        && !matches!(instruction.mnemonic(), Mnemonic::Popcnt)
}

/// Whether cores fuse it with a conditional jump directly behind it.
pub fn fuses_with_jump(instruction: &Instruction) -> bool {
    use Mnemonic::{Add, And, Cmp, Dec, Inc, Sub, Test};
    matches!(instruction.mnemonic(), Add | And | Cmp | Dec | Inc | Sub | Test)
}

/// Whether it is `movs`, `stos`, `lods`, `scas` or `cmps`, which advance their own addresses.
pub fn is_string(instruction: &Instruction) -> bool {
    instruction.is_string_instruction()
}
