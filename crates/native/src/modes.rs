//! The lowering of intents on the host. It is constant for the compiler, so that it costs nothing at run time.

use std::arch::x86_64::__cpuid_count;
use strandline_isa::{Flush, Lowering, Primitive};

/// How a program persists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Undo log, flushes and `sfence`, as the simulator's design `x86`.
    X86,
    /// As `X86`, and counts: more instructions, with the same persist instructions.
    Counted,
    /// No log, no flush, no fence.
    Volatile,
    /// As `Volatile`; what threads did to a structure is judged at the end (`judge`).
    Judged,
}

/// A lowering as a type.
pub(crate) trait Lowered: Sync {
    /// The lowering. Which instruction flushes is known at run time only ([`crate::real::flush`]).
    const LOWERING: &'static Lowering;
}

/// x86's.
pub(crate) struct Logged;
/// Nothing at all.
pub(crate) struct Nothing;

impl Lowered for Logged {
    const LOWERING: &'static Lowering = &x86(Flush::Clwb);
}
impl Lowered for Nothing {
    const LOWERING: &'static Lowering = &Lowering::NOTHING;
}

impl Mode {
    /// The instruction that writes lines back: the best of this processor, or, where they are counted, the `clflush` that
    /// every processor has.
    pub(crate) fn flush(self) -> Option<Flush> {
        match self {
            Mode::X86 => Some(best_flush()),
            Mode::Counted => Some(Flush::Clflush),
            Mode::Volatile | Mode::Judged => None,
        }
    }
}

const FENCE: &[Primitive] = &[Primitive::Sfence];

const fn x86(flush: Flush) -> Lowering {
    Lowering {
        log: true,
        flush: Some(flush),
        log_before_update: FENCE,
        commit: FENCE,
        durable: FENCE,
        ..Lowering::NOTHING
    }
}

/// The best write-back instruction of this processor.
fn best_flush() -> Flush {
    // Intel SDM, volume 2, CPUID: leaf 7, subleaf 0, EBX bits 24 and 23. A processor without the leaf returns zeros or,
    // above its highest leaf, the values of its highest leaf. All processors with 64-bit Linux have leaf 7 or return
    // neither bit.
    #[allow(unused_unsafe, unsafe_code, reason = "safe to call only in newer versions of Rust")]
    // SAFETY: every x86-64 processor has the instruction.
    let features = unsafe { __cpuid_count(7, 0) }.ebx;
    match (features >> 24 & 1, features >> 23 & 1) {
        (1, _) => Flush::Clwb,
        (_, 1) => Flush::ClflushOpt,
        _ => Flush::Clflush,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strandline_designs::design;

    #[test]
    fn programs_persist_as_the_designs_of_the_same_names_say() {
        let lowering = |name| design(name).map(|design| design.lowering());
        assert_eq!(lowering("x86").as_ref(), Some(Logged::LOWERING));
        assert_eq!(lowering("volatile").as_ref(), Some(Nothing::LOWERING));
    }
}
