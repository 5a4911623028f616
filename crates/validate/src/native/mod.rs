//! Routines on the processor that executes this.

mod code;
mod memory;
mod pinned;

use crate::routine::{Routine, Word, REGISTERS};
use memory::Mapping;
use pinned::Pinned;
use std::arch::x86_64::_mm_clflush;
use std::arch::x86_64::{__rdtscp, _mm_lfence, _mm_mfence};
use std::io;
use std::time::{Duration, Instant};

/// Laps of which the fastest counts. Others were interrupted, or shared the core.
const REPEATS: u64 = 25;

/// How long the time-stamp counter is compared with the system's clock.
const CALIBRATION: Duration = Duration::from_millis(20);

/// A routine's code.
type Entry = extern "sysv64" fn(registers: *mut u64, iterations: u64);

/// Ticks of the time-stamp counter in the fastest lap.
///
/// # Errors
/// The system refuses memory, or code.
pub fn ticks(routine: &Routine) -> io::Result<u64> {
    let _pinned = Pinned::here();
    let code = Mapping::executable(&code::machine_code(routine).map_err(io::Error::other)?)?;
    // SAFETY: the mapping holds a function of this type, and lives until the last call.
    #[allow(unsafe_code, reason = "code of our own")]
    let entry = unsafe { std::mem::transmute::<*mut u8, Entry>(code.start()) };
    let mut memory = filled(routine)?;
    let mut registers = [0; REGISTERS];
    for (register, word) in &routine.registers {
        registers[usize::from(register.0)] = bits(*word, &memory);
    }
    if routine.cold {
        evict(memory.contents());
    }
    let mut lap = || timed(|| entry(registers.as_mut_ptr(), routine.iterations));
    for _ in 0..routine.warm_laps {
        lap();
    }
    Ok((0..REPEATS).map(|_| lap()).min().unwrap_or_default())
}

/// Ticks of the time-stamp counter in a nanosecond.
#[must_use]
pub fn ticks_per_ns() -> f64 {
    let _pinned = Pinned::here();
    let (begin, from) = (Instant::now(), now());
    while begin.elapsed() < CALIBRATION {}
    let ticks = now() - from;
    ticks as f64 / begin.elapsed().as_nanos() as f64
}

/// The routine's memory as it begins. All of its pages exist.
fn filled(routine: &Routine) -> io::Result<Mapping> {
    let mut memory = Mapping::zeroed(usize::try_from(routine.bytes.max(1)).map_err(io::Error::other)?)?;
    memory.contents().fill(0);
    for (offset, word) in routine.filling.words() {
        let (at, bits) = (offset as usize, bits(word, &memory));
        memory.contents()[at..at + 8].copy_from_slice(&bits.to_le_bytes());
    }
    Ok(memory)
}

fn bits(word: Word, memory: &Mapping) -> u64 {
    match word {
        Word::Value(value) => value,
        Word::Address(offset) => memory.start() as u64 + offset,
    }
}

/// Removes memory from all caches.
fn evict(memory: &[u8]) {
    for line in memory.chunks(64) {
        // SAFETY: every x86-64 processor has the instruction, and the byte is ours.
        #[allow(unsafe_code, reason = "an instruction that Rust has no word for")]
        unsafe {
            _mm_clflush(line.as_ptr());
        }
    }
}

/// Ticks of the time-stamp counter in a call.
fn timed(call: impl FnOnce()) -> u64 {
    let from = now();
    call();
    now() - from
}

/// The time-stamp counter, when all instructions before have completed and their stores are visible.
fn now() -> u64 {
    let mut processor = 0;
    // SAFETY: every x86-64 processor that runs Linux has these instructions.
    #[allow(unsafe_code, reason = "instructions that Rust has no word for")]
    unsafe {
        _mm_mfence();
        let ticks = __rdtscp(&mut processor);
        _mm_lfence();
        ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routine::{EffectiveAddress, Filling, Reg, RoutineOp};

    /// Instructions do what the simulated ones do: sums, products, masks, loads with an index, stores, both branches.
    #[test]
    fn code_computes_what_it_says() {
        let [base, index, sum, factor] = [0, 1, 2, 12].map(Reg);
        let at = |offset| EffectiveAddress {
            base,
            index: Some(index),
            offset,
        };
        let routine = Routine {
            registers: vec![(base, Word::Address(0)), (factor, Word::Value(3))],
            bytes: 4096,
            filling: Filling::Words(vec![(0, Word::Value(5)), (8, Word::Value(7)), (16, Word::Address(64))]),
            body: vec![
                RoutineOp::Load { to: sum, at: at(0) },
                RoutineOp::Mul { to: sum, from: factor },
                RoutineOp::Branch { on: sum, mask: 1 },
                RoutineOp::Branch { on: sum, mask: 1 << 30 },
                RoutineOp::AddConstant { to: sum, value: -2 },
                RoutineOp::Store { from: sum, at: at(128) },
                RoutineOp::StoreNt { from: sum, at: at(256) },
                RoutineOp::Fence,
                RoutineOp::AddConstant { to: index, value: 8 },
                RoutineOp::And { to: index, mask: 8 },
                RoutineOp::Add { to: Reg(5), from: sum },
            ],
            iterations: 3,
            ..Routine::default()
        };
        let code = Mapping::executable(&code::machine_code(&routine).expect("code")).expect("memory for it");
        // SAFETY: the mapping holds a function of this type, and lives until the call.
        #[allow(unsafe_code, reason = "code of our own")]
        let entry = unsafe { std::mem::transmute::<*mut u8, Entry>(code.start()) };
        let mut memory = filled(&routine).expect("memory");
        let mut registers = [0; REGISTERS];
        for (register, word) in &routine.registers {
            registers[usize::from(register.0)] = bits(*word, &memory);
        }
        entry(registers.as_mut_ptr(), routine.iterations);
        // 5, 7 and again 5, times 3 and less 2.
        assert_eq!((registers[1], registers[2], registers[5]), (8, 13, 13 + 19 + 13));
        let start = memory.start() as u64;
        let word = |at: usize| u64::from_le_bytes(memory.contents()[at..at + 8].try_into().expect("eight bytes"));
        assert_eq!([128, 136, 256, 264, 16].map(word), [13, 19, 13, 19, start + 64]);
    }

    #[test]
    fn every_case_has_code() {
        for case in crate::cases() {
            assert!(code::machine_code(&case.routine).is_ok(), "{}", case.name);
        }
    }
}
