//! Hardware transactions (RTM), which neither DynamoRIO nor every processor can execute.
//!
//! `xbegin` aborts with status 0 and goes to its fallback, as it always may by Intel's manual. Where the program only tries again,
//! a transaction of the single thread is executed as plain code up to its `xend`, between two markers: nobody else is there to see
//! it before it commits. What the processor would take back then, registers and stack, is saved when it begins.

#![allow(
    non_upper_case_globals,
    reason = "DynamoRIO's names of instructions are patterns here"
)]

use std::collections::BTreeSet;
use std::ops::Range;

use dynamorio_sys::*;
use strandline_capture::{AccessKind, Control, Marker};

use crate::access;
use crate::block::Blocks;
use crate::calls;
use crate::region::{self, address, Watch};
use crate::thread::{length, Thread};
use crate::{recorder, State};

/// Tries of one place, without progress between them, behind which the program is taken to have no fallback.
const TRIES: u64 = 100;

/// Tries without progress that are too many where no transaction can be executed.
const MOST_TRIES: u64 = 1_000_000;

/// Bytes below the stack pointer that a function may use.
const RED_ZONE: u64 = 128;

/// Bytes of the stack, above its pointer, that are saved.
const STACK_BYTES: u64 = 8 << 10;

/// Status of a transaction that `xabort` has ended; its number is in the highest byte.
const EXPLICIT: u64 = 1;

/// Status of one that has ended inside another.
const NESTED: u64 = 1 << 5;

/// The arithmetic flags, and the one that `xtest` sets outside of transactions.
const FLAGS: u64 = 0x8d5;
const ZERO: u64 = 0x40;

/// A thread's transactions.
#[derive(Default)]
pub struct Transactions {
    open: Option<Box<Open>>,
    /// The place that has aborted last, and how often since there was progress.
    aborted: (u64, u64),
    /// Places at which the program only tries again.
    without_fallback: BTreeSet<u64>,
    /// What was executed since the last abort: a locked instruction or a system call.
    progress: bool,
}

/// A transaction that is executed.
struct Open {
    depth: u64,
    fallback: u64,
    registers: dr_mcontext_t,
    /// The stack from its first saved byte on.
    stack: (u64, Vec<u8>),
    /// Something was stored elsewhere, or what was stored is not known.
    is_stored: bool,
}

impl Open {
    fn saved(&self) -> Range<u64> {
        // What is below the saved part of the stack is free when it aborts.
        let (start, bytes) = &self.stack;
        start.saturating_sub(STACK_BYTES)..start + bytes.len() as u64
    }
}

impl Transactions {
    /// Whether one is executed.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Words of the trace, of which nothing remains, were executed.
    pub fn see(&mut self, blocks: &Blocks, words: &[u64]) {
        let mut at = 0;
        while at < words.len() {
            self.see_one(blocks, &words[at..]);
            at += length(blocks, words[at]);
        }
    }

    fn see_one(&mut self, blocks: &Blocks, words: &[u64]) {
        let id = match Control::of(words[0]) {
            Some((Control::Block, id)) => id,
            Some((Control::Syscall, _)) => return self.progress = true,
            _ => return,
        };
        let Some(block) = blocks.get(id) else { return };
        let mut place = 1;
        for access in block.accesses() {
            self.progress |= access.kind == AccessKind::Atomic;
            if let (true, Some(open)) = (access.kind.writes(), &mut self.open) {
                let saved = open.saved();
                let ends = |start: u64| start.saturating_add(u64::from(access.size));
                let is_saved = |start: &u64| saved.start <= *start && ends(*start) <= saved.end;
                open.is_stored |= !words.get(place).is_some_and(is_saved);
            }
            place += access.words();
        }
    }

    /// A fault has cut a block short.
    pub fn is_cut(&mut self) {
        if let Some(open) = &mut self.open {
            open.is_stored = true;
        }
    }
}

/// The instructions of transactions.
fn is_one(opcode: u32) -> bool {
    matches!(opcode, OP_xbegin | OP_xabort | OP_xend | OP_xtest)
}

/// Gives each such instruction a block of its own, in which another one stands for it: `hlt`, which faults as `xend` does outside
/// of a transaction.
///
/// # Safety
/// DynamoRIO's list, in the first phase.
pub unsafe fn split(drcontext: *mut std::ffi::c_void, list: *mut instrlist_t) {
    // SAFETY: the caller's promise.
    unsafe {
        let first = instrlist_first_app(list);
        let mut next = first;
        while !next.is_null() && !is_one(instr_get_opcode(next) as u32) {
            next = instr_get_next_app(next);
        }
        if next.is_null() {
            return;
        }
        if next == first {
            let stands = instr_create_0dst_0src(drcontext, OP_hlt as i32);
            let known = Instruction::of(next);
            recorder().transactions.lock().insert(known.pc, known);
            instr_set_translation(stands, instr_get_app_pc(next));
            instr_set_note(stands, recorder().transaction_note as *mut std::ffi::c_void);
            instrlist_preinsert(list, next, stands);
        }
        while !next.is_null() {
            let instruction = next;
            next = instr_get_next(instruction);
            instrlist_remove(list, instruction);
            instr_destroy(drcontext, instruction);
        }
    }
}

/// Whether a block is one of these instructions.
///
/// # Safety
/// DynamoRIO's list.
pub unsafe fn is_alone(list: *mut instrlist_t) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let first = instrlist_first_app(list);
        !first.is_null() && instr_get_note(first) as usize == recorder().transaction_note
    }
}

/// An instruction of a transaction.
#[derive(Clone, Debug)]
pub struct Instruction {
    opcode: u32,
    pc: u64,
    next: u64,
    /// Where `xbegin` goes if it aborts.
    target: u64,
    /// The number of `xabort`.
    number: u64,
    code: Vec<u8>,
}

impl Instruction {
    /// A decoded one of the program.
    unsafe fn of(instruction: *mut instr_t) -> Instruction {
        // SAFETY: the caller's promise.
        unsafe {
            let (opcode, pc) = (
                instr_get_opcode(instruction) as u32,
                instr_get_app_pc(instruction) as u64,
            );
            let code = access::bytes(instruction).to_vec();
            let next = pc + code.len() as u64;
            Instruction {
                opcode,
                pc,
                next,
                target: match opcode {
                    OP_xbegin => opnd_get_pc(instr_get_src(instruction, 0)) as u64,
                    _ => next,
                },
                number: match opcode {
                    OP_xabort => opnd_get_immed_int(instr_get_src(instruction, 0)) as u64 & 0xff,
                    _ => 0,
                },
                code,
            }
        }
    }
}

/// The thread comes to such an instruction. Where it continues, with which registers, is decided here; `xend` outside of a
/// transaction returns, to its fault.
pub fn executes(low: i32, high: i32) {
    let pc = address(low, high) as u64;
    if recorder().calls.watched(pc) == Some(Watch::Return) {
        calls::returned(pc, region::stack());
    }
    // SAFETY: in a clean call that reads and writes the program's registers, without a lock.
    unsafe {
        let Some(at) = recorder().transactions.lock().get(&pc).cloned() else {
            return;
        };
        let mut registers = registers();
        registers.__bindgen_anon_10.pc = at.next as *mut u8;
        let thread = Thread::current();
        match at.opcode {
            OP_xbegin => begin(thread, at, &mut registers),
            OP_xabort => abort(thread, at, &mut registers),
            OP_xtest => test(thread, at, &mut registers),
            _ if !end(thread, at) => return,
            _ => {}
        }
        // It does not return, so nothing may have a destructor here.
        dr_redirect_execution(&mut registers);
    }
}

unsafe fn registers() -> dr_mcontext_t {
    // SAFETY: all fields may be zero; the caller is in a clean call.
    unsafe {
        let mut context: dr_mcontext_t = std::mem::zeroed();
        context.size = std::mem::size_of::<dr_mcontext_t>();
        context.flags = dr_mcontext_flags_t::DR_MC_ALL;
        dr_get_mcontext(dr_get_current_drcontext(), &mut context);
        context
    }
}

/// Adds the instruction to the trace.
fn done(thread: &mut Thread, at: &Instruction) {
    if recorder().state() == State::Recording {
        calls::alone(thread, at.pc, at.code.clone());
    }
}

fn begin(thread: &mut Thread, at: Instruction, registers: &mut dr_mcontext_t) {
    thread.look();
    done(thread, &at);
    let own = &mut thread.transactions;
    if let Some(open) = &mut own.open {
        open.depth += 1;
        return;
    }
    let several = {
        let recorder = recorder();
        let threads = recorder.threads.lock().len();
        threads + recorder.births.lock().len() > 1
    };
    let progress = std::mem::take(&mut own.progress);
    let tries = match own.aborted {
        (place, tries) if place == at.pc && !progress => tries,
        _ => 0,
    };
    own.aborted = (at.pc, tries + 1);
    if tries >= MOST_TRIES {
        return region::refuse(&format!(
            "the program tries the hardware transaction at {:#x} again and again, and has no fallback: the recorder aborts each while \
             there are several threads: record it with one, or give it a fallback",
            at.pc
        ));
    }
    if tries >= TRIES && !several {
        own.without_fallback.insert(at.pc);
    }
    if several || tries == 0 || !own.without_fallback.contains(&at.pc) {
        registers.__bindgen_anon_8.xax = 0;
        registers.__bindgen_anon_10.pc = at.target as *mut u8;
        return;
    }
    own.open = Some(Box::new(Open {
        depth: 1,
        fallback: at.target,
        registers: *registers,
        // SAFETY: the registers are the program's.
        stack: saved_stack(unsafe { registers.__bindgen_anon_4.xsp }),
        is_stored: recorder().state() != State::Recording,
    }));
    calls::mark(thread, Marker::TransactionBegin, at.pc);
}

fn saved_stack(pointer: u64) -> (u64, Vec<u8>) {
    let start = pointer.saturating_sub(RED_ZONE);
    let mut bytes = vec![0; (RED_ZONE + STACK_BYTES) as usize];
    let mut done = 0;
    // SAFETY: reading is safe; the stack may end before.
    unsafe { dr_safe_read(start as *const _, bytes.len(), bytes.as_mut_ptr().cast(), &mut done) };
    bytes.truncate(done);
    (start, bytes)
}

/// Whether a transaction was open.
fn end(thread: &mut Thread, at: Instruction) -> bool {
    let Some(open) = &mut thread.transactions.open else {
        return false;
    };
    open.depth -= 1;
    let commits = open.depth == 0;
    done(thread, &at);
    if commits {
        close(thread, at.pc);
        thread.transactions.aborted.1 = 0;
    }
    true
}

/// No transaction is open from here on.
fn close(thread: &mut Thread, pc: u64) {
    thread.look();
    thread.transactions.open = None;
    calls::mark(thread, Marker::TransactionEnd, pc);
}

fn abort(thread: &mut Thread, at: Instruction, registers: &mut dr_mcontext_t) {
    done(thread, &at);
    thread.look();
    let Some(open) = thread.transactions.open.take() else {
        return;
    };
    if open.is_stored {
        return region::refuse(&format!(
            "the program aborts a hardware transaction at {:#x} after it has stored to memory in it: the recorder, which executes it \
             as plain code because the program has no fallback, cannot take these stores back",
            at.pc
        ));
    }
    close(thread, at.pc);
    let (start, bytes) = &open.stack;
    let mut written = 0;
    // SAFETY: the thread's own stack.
    unsafe { dr_safe_write(*start as *mut _, bytes.len(), bytes.as_ptr().cast(), &mut written) };
    *registers = open.registers;
    let nested = if open.depth > 1 { NESTED } else { 0 };
    registers.__bindgen_anon_8.xax = at.number << 24 | EXPLICIT | nested;
    registers.__bindgen_anon_10.pc = open.fallback as *mut u8;
}

fn test(thread: &mut Thread, at: Instruction, registers: &mut dr_mcontext_t) {
    done(thread, &at);
    let zero = if thread.transactions.is_open() { 0 } else { ZERO };
    // SAFETY: a union of one number.
    let flags = unsafe { registers.__bindgen_anon_9.xflags };
    registers.__bindgen_anon_9.xflags = flags & !FLAGS | zero;
}

/// A system call, in which the processor aborts each transaction: this one for ever, as there is no fallback.
pub fn called(number: i32) {
    region::refuse(&format!(
        "the program makes system call {number} in a hardware transaction, which always aborts it, and has no fallback"
    ));
}
