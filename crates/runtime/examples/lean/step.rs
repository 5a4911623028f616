//! Runs a closure in single steps in a child process (ptrace): all `unsafe` code is here.
#![allow(unsafe_code, reason = "markers, fork and ptrace")]

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, Register};
use libc::user_regs_struct;
use std::arch::asm;
use std::io;
use std::mem::zeroed;
use std::ptr::null_mut;

/// The displacement of marker 0: no other `nop` has it.
const MARK: u64 = 0x4c45_4100;

/// An instruction without effect, which [`SingleStep::mark`] recognises. The compiler moves no memory access across it.
#[inline(always)]
pub fn mark<const N: u8>() {
    // SAFETY: it does nothing.
    unsafe { asm!("nop dword ptr [rax + {}]", const MARK + N as u64, options(nostack, preserves_flags)) }
}

/// The fence of a program that persists.
#[inline(always)]
pub fn sfence() {
    // SAFETY: a fence only orders.
    unsafe { asm!("sfence", options(nostack, preserves_flags)) }
}

/// Forces the compiler to hold this value in a register here, so that it computes or loads it on this side of a
/// [`mark`].
#[inline(always)]
pub fn in_register(value: impl Into<u64>) {
    // SAFETY: it does nothing.
    unsafe { asm!("/* {} */", in(reg) value.into(), options(nostack, preserves_flags)) }
}

/// An empty instruction sequence that the compiler can neither share with other code nor move.
#[inline(always)]
pub fn stay_here() {
    // SAFETY: it does nothing.
    unsafe { asm!("", options(nostack, preserves_flags)) }
}

/// [`in_register`] of an address.
#[inline(always)]
pub fn address_in_register<T>(value: &T) {
    in_register(std::ptr::from_ref(value).addr() as u64);
}

/// An executed instruction, and the registers before it.
pub struct SingleStep {
    /// What was executed.
    pub instruction: Instruction,
    /// The registers before it.
    pub registers: user_regs_struct,
}

impl SingleStep {
    /// The number of the marker, if it is one.
    pub fn mark(&self) -> Option<u8> {
        let displacement = self.instruction.memory_displacement64();
        let is_mark = self.instruction.mnemonic() == Mnemonic::Nop && displacement & !0xff == MARK;
        is_mark.then_some(displacement as u8)
    }

    /// A 64-bit register before it; 0 for a segment's base.
    pub fn register(&self, register: Register) -> u64 {
        let r = &self.registers;
        match register {
            Register::RAX => r.rax,
            Register::RCX => r.rcx,
            Register::RDX => r.rdx,
            Register::RBX => r.rbx,
            Register::RSP => r.rsp,
            Register::RBP => r.rbp,
            Register::RSI => r.rsi,
            Register::RDI => r.rdi,
            Register::R8 => r.r8,
            Register::R9 => r.r9,
            Register::R10 => r.r10,
            Register::R11 => r.r11,
            Register::R12 => r.r12,
            Register::R13 => r.r13,
            Register::R14 => r.r14,
            Register::R15 => r.r15,
            _ => 0,
        }
    }
}

/// Runs `work` in a child process and lists all executed instructions.
///
/// `work` must not allocate, lock or panic, because the process may have had other threads.
///
/// # Errors
/// The system refuses, or `work` faults.
pub fn trace(work: impl FnOnce()) -> io::Result<Vec<SingleStep>> {
    // SAFETY: the child calls only what is safe after a fork, and never returns.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: as above; the parent is waiting.
        unsafe {
            if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) == 0 {
                libc::raise(libc::SIGSTOP);
                work();
                libc::_exit(0);
            }
            libc::_exit(1);
        }
    }
    let mut steps = Vec::new();
    while let Some(registers) = stopped(child)? {
        let mut code = [0; 16];
        for (i, word) in code.chunks_exact_mut(8).enumerate() {
            // SAFETY: reads the stopped child; unreadable words are -1, which does not decode.
            let read = unsafe { libc::ptrace(libc::PTRACE_PEEKTEXT, child, registers.rip + 8 * i as u64, 0) };
            word.copy_from_slice(&read.to_le_bytes());
        }
        let instruction = Decoder::with_ip(64, &code, registers.rip, DecoderOptions::NONE).decode();
        steps.push(SingleStep { instruction, registers });
        // SAFETY: the child is ours and has stopped.
        checked(unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, child, 0, 0) })?;
    }
    Ok(steps)
}

/// The registers of the stopped child; `None` once it has exited successfully.
fn stopped(child: libc::pid_t) -> io::Result<Option<user_regs_struct>> {
    let mut status = 0;
    // SAFETY: waits for a child of ours.
    checked(unsafe { libc::waitpid(child, &mut status, 0) }.into())?;
    if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 {
        return Ok(None);
    }
    let is_step = libc::WIFSTOPPED(status) && [libc::SIGSTOP, libc::SIGTRAP].contains(&libc::WSTOPSIG(status));
    if !is_step {
        if libc::WIFSTOPPED(status) {
            // SAFETY: the child is ours and has stopped at a fault.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        return Err(io::Error::other(format!(
            "the stepped child faulted or could not be traced, status {status:#x}"
        )));
    }
    // SAFETY: registers are integers, for which zeros are valid; the child has stopped.
    unsafe {
        let mut registers = zeroed::<user_regs_struct>();
        checked(libc::ptrace(
            libc::PTRACE_GETREGS,
            child,
            null_mut::<u8>(),
            &raw mut registers,
        ))?;
        Ok(Some(registers))
    }
}

fn checked(result: i64) -> io::Result<()> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
