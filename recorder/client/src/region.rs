//! Selects the recorded part of the run.

use std::ffi::{c_void, CString};
use std::fs;
use std::sync::atomic::Ordering;

use dynamorio_sys::*;
use object::elf::PT_INTERP;
use object::read::elf::{ElfFile64, ProgramHeader};
use object::{Endianness, Object, ObjectSymbol, SymbolKind};
use strandline_capture::{Marker, PacketKind};

use crate::access;
use crate::options::From;
use crate::thread::Thread;
use crate::{calls, heap, htm, pm, recorder, State};

/// An action at the entry of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Watch {
    /// The region begins.
    Begin = 0,
    /// The region ends.
    End = 1,
    /// The C library starts the program with the address of `main` as argument.
    LibcStarts = 2,
    /// A named function is called.
    Call = 3,
    /// Such a call may have returned.
    Return = 4,
    /// The heap library asks whether what it is about to give is persistent memory.
    Allocation = 5,
    /// An instruction of a hardware transaction.
    Transaction = 6,
}

/// The function of C libraries whose argument is the address of `main`.
const LIBC_START: &str = "__libc_start_main";

/// All of the program's addresses.
const EVERYTHING: usize = usize::MAX;

/// The effect of this instruction on the region.
unsafe fn watched(instruction: *mut instr_t) -> Option<Watch> {
    let recorder = recorder();
    let state = recorder.state();
    // SAFETY: an instruction of the program.
    unsafe {
        let action = match (&recorder.options.from, state) {
            (From::Marker, State::Waiting) => {
                (access::marker(instruction) == Some(Marker::RegionBegin)).then_some(Watch::Begin)
            }
            (From::Marker, State::Recording) => {
                (access::marker(instruction) == Some(Marker::RegionEnd)).then_some(Watch::End)
            }
            (From::Symbol(_) | From::Main, State::Waiting) => {
                let pc = instr_get_app_pc(instruction) as u64;
                if pc == recorder.libc_start.load(Ordering::Relaxed) {
                    return Some(Watch::LibcStarts);
                }
                recorder.symbols.lock().contains(&pc).then_some(Watch::Begin)
            }
            _ => None,
        };
        match (action, state) {
            (None, _) if heap::asks(instruction) => Some(Watch::Allocation),
            (None, _) if calls::are_named() => recorder.calls.watched(instr_get_app_pc(instruction) as u64),
            _ => action,
        }
    }
}

/// Ends a block before a watched instruction.
///
/// # Safety
/// DynamoRIO's list, in the first phase.
pub unsafe fn split(drcontext: *mut c_void, list: *mut instrlist_t) {
    if recorder().options.from == From::Start && !calls::are_named() {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let first = instrlist_first_app(list);
        let mut next = if first.is_null() {
            first
        } else {
            instr_get_next_app(first)
        };
        while !next.is_null() && watched(next).is_none() {
            next = instr_get_next_app(next);
        }
        while !next.is_null() {
            let instruction = next;
            next = instr_get_next(instruction);
            instrlist_remove(list, instruction);
            instr_destroy(drcontext, instruction);
        }
    }
}

/// The action before this block.
///
/// # Safety
/// DynamoRIO's list.
pub unsafe fn watch(list: *mut instrlist_t) -> Option<Watch> {
    // SAFETY: the caller's promise.
    unsafe {
        let first = instrlist_first_app(list);
        match first.is_null() {
            true => None,
            false => watched(first),
        }
    }
}

/// The program enters a watched block, whose address is passed in two halves.
pub extern "C" fn entered(watch: i32, low: i32, high: i32) {
    match watch {
        _ if watch == Watch::LibcStarts as i32 => return libc_starts(),
        _ if watch == Watch::Call as i32 => return calls::begins(address(low, high) as u64, stack()),
        _ if watch == Watch::Return as i32 => return calls::returned(address(low, high) as u64, stack()),
        _ if watch == Watch::Allocation as i32 => return heap::answer(),
        _ if watch == Watch::Transaction as i32 => return htm::executes(low, high),
        _ if watch == Watch::Begin as i32 => begin(),
        _ => {
            // A call may return to the marker of the region's end.
            calls::returned(address(low, high) as u64, stack());
            stop();
        }
    }
    again(low, high);
}

/// Continues at this address, in recreated code. The caller must hold no lock and no value with a destructor, because
/// this does not return.
fn again(low: i32, high: i32) {
    // SAFETY: in a clean call that wants the program's registers.
    unsafe {
        let mut context: dr_mcontext_t = std::mem::zeroed();
        context.size = std::mem::size_of::<dr_mcontext_t>();
        context.flags = dr_mcontext_flags_t::DR_MC_ALL;
        dr_get_mcontext(dr_get_current_drcontext(), &mut context);
        context.__bindgen_anon_10.pc = address(low, high);
        dr_redirect_execution(&mut context);
    }
}

/// An address that was passed in two halves.
pub fn address(low: i32, high: i32) -> *mut u8 {
    (u64::from(high as u32) << 32 | u64::from(low as u32)) as *mut u8
}

/// The program's stack pointer.
pub fn stack() -> u64 {
    // SAFETY: in a clean call that wants the program's registers.
    unsafe {
        let mut context: dr_mcontext_t = std::mem::zeroed();
        context.size = std::mem::size_of::<dr_mcontext_t>();
        context.flags = dr_mcontext_flags_t::DR_MC_CONTROL;
        dr_get_mcontext(dr_get_current_drcontext(), &mut context);
        context.__bindgen_anon_4.xsp
    }
}

/// Code at this address is recreated before it executes again. The caller must be in a clean call, without a lock.
pub fn forget(pc: u64) {
    // SAFETY: the caller's promise.
    unsafe { dr_unlink_flush_region(pc as *mut u8, 1) };
}

/// The thread goes through DynamoRIO behind the block at this address, in which it is.
pub fn leave(low: i32, high: i32) {
    // SAFETY: without a lock, in a clean call.
    unsafe { dr_unlink_flush_region(address(low, high), 1) };
}

/// The first argument is the address of `main`.
fn libc_starts() {
    // SAFETY: in a clean call that wants the program's registers.
    let main = unsafe {
        let mut context: dr_mcontext_t = std::mem::zeroed();
        context.size = std::mem::size_of::<dr_mcontext_t>();
        context.flags = dr_mcontext_flags_t::DR_MC_INTEGER;
        dr_get_mcontext(dr_get_current_drcontext(), &mut context);
        context.__bindgen_anon_1.xdi
    };
    recorder().symbols.lock().insert(main);
}

fn begin() {
    if recorder().begins.swap(true, Ordering::SeqCst) {
        return;
    }
    // SAFETY: in a clean call, without a lock.
    unsafe { dr_flush_region_ex(std::ptr::null_mut(), EVERYTHING, Some(take_image), std::ptr::null_mut()) };
}

/// No thread executes code that is not recorded, and the others are still stopped. So each of their stores is in the image or
/// recorded, and none is in both.
extern "C" fn take_image(_: *mut c_void) {
    if recorder().change(State::Waiting, State::Recording) {
        pm::announce_all();
    }
}

/// Ends the region: other threads leave recorded code, and all buffers are written.
fn stop() {
    // SAFETY: in a clean call.
    let thread = unsafe { Thread::current() };
    thread.flush();
    if !recorder().change(State::Recording, State::Stopped) {
        return;
    }
    // SAFETY: in a clean call, without a lock.
    unsafe { dr_flush_region(std::ptr::null_mut(), EVERYTHING) };
    recorder().drain(thread.number);
}

/// Recording has stopped elsewhere than at the region's end: recorded code is left at its next block and recreated.
pub fn forget_code() {
    // SAFETY: without a lock, in a clean call or around a system call.
    unsafe { dr_unlink_flush_region(std::ptr::null_mut(), EVERYTHING) };
}

/// Searches a module for the symbol: exported, or in the symbol table of its file.
///
/// # Safety
/// DynamoRIO's description of a module.
pub unsafe fn look_for_symbol(module: &module_data_t, path: &str) {
    // SAFETY: the caller's promise.
    unsafe {
        recorder().calls.look_for(module, path);
        match &recorder().options.from {
            From::Symbol(name) => recorder().symbols.lock().extend(addresses(module, path, name)),
            From::Main => look_for_main(module, path),
            From::Start | From::Marker => {}
        }
    }
}

/// `main` by its symbol. A program without the symbol is started by a library that receives the address of `main`. A
/// static program without the symbol is recorded from its entry.
unsafe fn look_for_main(module: &module_data_t, path: &str) {
    let recorder = recorder();
    // SAFETY: the caller's promise.
    unsafe {
        if !is_program(module) {
            if let Some(start) = exported(module, LIBC_START) {
                recorder.libc_start.store(start, Ordering::Relaxed);
            }
            return;
        }
        let mut found = addresses(module, path, "main");
        if found.is_empty() && !has_interpreter(path) {
            let what = "the program has no symbol main and no shared C library: recording begins at its entry";
            recorder
                .stream
                .lock()
                .packet(PacketKind::Warning, 0, &[what.as_bytes()]);
            found.push(module.entry_point as u64);
        }
        recorder.symbols.lock().extend(found);
    }
}

/// Whether this module is the program itself.
unsafe fn is_program(module: &module_data_t) -> bool {
    // SAFETY: DynamoRIO's own copy, which is freed.
    unsafe {
        let program = dr_get_main_module();
        if program.is_null() {
            return false;
        }
        let same = (*program).__bindgen_anon_1.start == module.__bindgen_anon_1.start;
        dr_free_module_data(program);
        same
    }
}

/// The address of a function that a module exports.
unsafe fn exported(module: &module_data_t, name: &str) -> Option<u64> {
    let name = CString::new(name).ok()?;
    // SAFETY: the module is mapped.
    let function = unsafe { dr_get_proc_address(module.__bindgen_anon_1.handle, name.as_ptr()) };
    function.map(|function| function as usize as u64)
}

/// The addresses of a module's functions of this name: exported, or in the symbol table of its file.
///
/// # Safety
/// DynamoRIO's description of a module.
pub unsafe fn addresses(module: &module_data_t, path: &str, name: &str) -> Vec<u64> {
    // SAFETY: the module is mapped.
    unsafe {
        if let Some(function) = exported(module, name) {
            return vec![function];
        }
        let bias = (module.__bindgen_anon_1.start as u64).wrapping_sub(module.preferred_base as u64);
        let found = in_file(path, name);
        found.iter().map(|address| address.wrapping_add(bias)).collect()
    }
}

/// Whether another program, the dynamic loader, loads this program's libraries.
fn has_interpreter(path: &str) -> bool {
    let Ok(data) = fs::read(path) else { return false };
    let Ok(file) = ElfFile64::<Endianness>::parse(data.as_slice()) else {
        return false;
    };
    let endian = file.endian();
    file.elf_program_headers()
        .iter()
        .any(|header| header.p_type(endian) == PT_INTERP)
}

fn in_file(path: &str, name: &str) -> Vec<u64> {
    let Ok(data) = fs::read(path) else { return Vec::new() };
    let Ok(file) = ElfFile64::<Endianness>::parse(data.as_slice()) else {
        return Vec::new();
    };
    let symbols = file.symbols().chain(file.dynamic_symbols());
    symbols
        .filter(|symbol| symbol.is_definition() && symbol.kind() == SymbolKind::Text && symbol.name() == Ok(name))
        .map(|symbol| symbol.address())
        .collect()
}

/// Reports what cannot be recorded and ends the program.
pub fn refuse(what: &str) {
    let mut stream = recorder().stream.lock();
    if !stream.closed() {
        stream.packet(PacketKind::Refused, 0, &[what.as_bytes()]);
        // The collector prints it. If the collector has gone, nothing reads the recording anyway.
        stream.close();
    }
    drop(stream);
    recorder().status.store(2, Ordering::Relaxed);
    // SAFETY: not during initialisation.
    unsafe { dr_exit_process(2) };
}
