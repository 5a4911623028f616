//! The code that is inserted into the program.
//!
//! A block's words have fixed positions before it runs. Inserted code at its start advances the buffer's end past all
//! of them, and each access then writes its own words. A fault therefore leaves unwritten words;
//! [`crate::thread::Thread::cut`] removes them.

#![allow(
    non_upper_case_globals,
    reason = "DynamoRIO's names of instructions are patterns here"
)]

use std::ffi::c_void;

use dynamorio_sys::*;
use strandline_capture::{Access, AccessKind, CONTROL, REPEATS};

use crate::access::{self, Exchanged, FoundAccess, Unrecordable, Value};
use crate::atomic;
use crate::block::Block;
use crate::emit::{memory, widened, InsertionPoint};
use crate::thread::{Thread, BLOCK_BYTES};
use crate::{htm, recorder, region, waiting, State};

/// The code to insert into a block.
struct BlockPlan {
    /// A call before the block.
    watch: Option<region::Watch>,
    pc: u64,
    id: u32,
    words: usize,
    /// One for each instruction that accesses memory or cannot be recorded, and the first.
    steps: Vec<BlockStep>,
    /// The next step.
    next: usize,
    /// The step whose values must be read before the next instruction.
    unread: Option<usize>,
}

struct BlockStep {
    instruction: *mut instr_t,
    accesses: Vec<Planned>,
    /// It cannot be recorded; with its place.
    refused: Option<(Unrecordable, u64)>,
}

impl BlockStep {
    /// Nothing is inserted behind it.
    fn jumps(&self) -> bool {
        // SAFETY: an instruction of the block.
        unsafe { instr_is_cti(self.instruction) != 0 }
    }
}

struct Planned {
    found: FoundAccess,
    /// Offset of its words, in bytes back from the end of the block's words.
    back: i32,
    /// It may be one to persistent memory, of a program with several threads.
    is_gated: bool,
}

impl Planned {
    fn value_words(&self) -> usize {
        usize::from(self.found.size.div_ceil(8))
    }
}

/// First phase: one block for each iteration of a string instruction, for region markers, and for instructions with a
/// read afterwards.
pub unsafe extern "C" fn rewrite(
    drcontext: *mut c_void,
    _tag: *mut c_void,
    list: *mut instrlist_t,
    _trace: bool_,
    _translating: bool_,
) -> dr_emit_flags_t {
    // SAFETY: DynamoRIO's list.
    unsafe {
        deny_valgrind(drcontext, list);
        htm::split(drcontext, list);
        if recorder().state() != State::Recording {
            region::split(drcontext, list);
            return dr_emit_flags_t::DR_EMIT_DEFAULT;
        }
        let expanded = drutil_expand_rep_string(drcontext, list);
        crate::expect(expanded != 0, "a string instruction cannot be expanded");
        region::split(drcontext, list);
        let last = instrlist_last(list);
        let is_followed =
            |last| instr_writes_memory(last) != 0 || instr_reads_memory(last) != 0 && recorder().gate.is_used();
        if !last.is_null() && instr_is_app(last) != 0 && instr_is_cti(last) == 0 && is_followed(last) {
            let label = instr_create_0dst_0src(drcontext, OP_LABEL as i32);
            instrlist_meta_postinsert(list, last, label);
        }
    }
    dr_emit_flags_t::DR_EMIT_DEFAULT
}

/// DynamoRIO answers a program's Valgrind requests and confirms that it is Valgrind. Programs (libpmemobj) then behave
/// differently. Without its answer the register keeps the default, as on the processor.
unsafe fn deny_valgrind(drcontext: *mut c_void, list: *mut instrlist_t) {
    // SAFETY: DynamoRIO's list.
    unsafe {
        let mut next = instrlist_first(list);
        while !next.is_null() {
            let instruction = next;
            next = instr_get_next(instruction);
            if instr_get_note(instruction) as u64 != DR_NOTE_ANNOTATION {
                continue;
            }
            if instr_is_label(instruction) == 0 {
                // Replaces the answer's register; the block must not become empty.
                let nothing = instr_create_0dst_0src(drcontext, OP_nop as i32);
                instr_set_translation(nothing, instr_get_app_pc(instruction));
                instrlist_preinsert(list, instruction, nothing);
            }
            instrlist_remove(list, instruction);
            instr_destroy(drcontext, instruction);
        }
    }
}

/// Second phase: the block's definition and the plan.
pub unsafe extern "C" fn analyse(
    drcontext: *mut c_void,
    tag: *mut c_void,
    list: *mut instrlist_t,
    _trace: bool_,
    _translating: bool_,
    user_data: *mut *mut c_void,
) -> dr_emit_flags_t {
    // SAFETY: DynamoRIO's list and our own pointer.
    unsafe {
        let pc = dr_fragment_app_pc(tag) as u64;
        let watch = region::watch(list);
        let plan = match recorder().state() {
            _ if htm::is_alone(list) => Some(idle(pc, region::Watch::Transaction, list)),
            State::Recording => plan(drcontext, pc, list, watch),
            _ => watch.map(|watch| idle(pc, watch, list)),
        };
        *user_data = plan.map_or(std::ptr::null_mut(), |plan| Box::into_raw(Box::new(plan)).cast());
    }
    // The inserted code depends on whether recording was active, so DynamoRIO cannot recreate it.
    dr_emit_flags_t::DR_EMIT_STORE_TRANSLATIONS
}

unsafe fn idle(pc: u64, watch: region::Watch, list: *mut instrlist_t) -> BlockPlan {
    // SAFETY: DynamoRIO's list.
    let first = unsafe { instrlist_first_app(list) };
    BlockPlan {
        pc,
        watch: Some(watch),
        id: 0,
        words: 0,
        steps: vec![BlockStep {
            instruction: first,
            accesses: Vec::new(),
            refused: None,
        }],
        next: 0,
        unread: None,
    }
}

unsafe fn plan(
    drcontext: *mut c_void,
    pc: u64,
    list: *mut instrlist_t,
    watch: Option<region::Watch>,
) -> Option<BlockPlan> {
    // SAFETY: DynamoRIO's list.
    unsafe {
        let (instructions, original) = instructions(list)?;
        let mut all: Vec<_> = instructions
            .iter()
            .map(|instruction| access::of(*instruction))
            .collect();
        if original.is_none() {
            watch_loads(drcontext, &instructions, &mut all);
        }
        let mut code = Vec::new();
        let mut offsets = Vec::new();
        let mut accesses = Vec::new();
        let mut steps = Vec::new();
        for (index, (instruction, found)) in instructions.iter().copied().zip(all).enumerate() {
            offsets.push(u16::try_from(code.len()).unwrap_or(u16::MAX));
            code.extend(access::bytes(original.unwrap_or(instruction)));
            let (found, refused) = match found {
                Ok(found) => (found, None),
                Err(what) => (Vec::new(), Some((what, instr_get_app_pc(instruction) as u64))),
            };
            let of = |found: &FoundAccess| Access {
                instruction: index as u16,
                kind: found.kind,
                size: found.size,
            };
            accesses.extend(found.iter().map(of));
            if index == 0 || !found.is_empty() || refused.is_some() {
                let accesses = found
                    .into_iter()
                    .map(|found| Planned {
                        is_gated: recorder().gate.is_used() && found.may_be_shared(),
                        found,
                        back: 0,
                    })
                    .collect();
                steps.push(BlockStep {
                    instruction,
                    accesses,
                    refused,
                });
            }
        }
        let repeats = original.is_some();
        let block = Block::new(pc, code, accesses.clone(), offsets, if repeats { REPEATS } else { 0 });
        let words = block.words();
        if words * 8 > BLOCK_BYTES {
            region::refuse("the program has a block of code that is too long to record");
        }
        let mut back = words - 1;
        let planned = steps.iter_mut().flat_map(|step| &mut step.accesses);
        for (planned, access) in planned.zip(&accesses) {
            planned.back = 8 * back as i32;
            back -= access.words();
        }
        let id = recorder().blocks.lock().define(block);
        Some(BlockPlan {
            pc,
            watch,
            id,
            words,
            steps,
            next: 0,
            unread: None,
        })
    }
}

/// Finds the loads by which the program may wait. The last instruction's is read back by none.
unsafe fn watch_loads(
    drcontext: *mut c_void,
    instructions: &[*mut instr_t],
    all: &mut [Result<Vec<FoundAccess>, Unrecordable>],
) {
    let before_last = all.len() - 1;
    let mut loads: Vec<(usize, &mut FoundAccess)> = all[..before_last]
        .iter_mut()
        .enumerate()
        .flat_map(|(index, found)| found.iter_mut().flatten().map(move |found| (index, found)))
        .filter(|(_, found)| found.is_small_load())
        .collect();
    let operands: Vec<_> = loads.iter().map(|(index, load)| (*index, load.operand)).collect();
    // SAFETY: the caller's promise.
    let may_wait = unsafe { waiting::may_wait(drcontext, instructions, &operands) };
    for ((_, load), _) in loads.iter_mut().zip(may_wait).filter(|(_, may_wait)| *may_wait) {
        load.watch();
    }
}

/// The instructions of a block; for an expanded string instruction the one that is executed each time, and the
/// original.
unsafe fn instructions(list: *mut instrlist_t) -> Option<(Vec<*mut instr_t>, Option<*mut instr_t>)> {
    // SAFETY: DynamoRIO's list.
    unsafe {
        let mut all = Vec::new();
        let mut original = None;
        let mut next = instrlist_first(list);
        while !next.is_null() {
            if drmgr_is_emulation_start(next) != 0 {
                let mut emulated: emulated_instr_t = std::mem::zeroed();
                emulated.size = std::mem::size_of::<emulated_instr_t>();
                drmgr_get_emulated_instr_data(next, &mut emulated);
                original = Some(emulated.instr);
            } else if instr_is_app(next) != 0 && (original.is_none() || is_string(instr_get_opcode(next) as u32)) {
                all.push(next);
            }
            next = instr_get_next(next);
        }
        (!all.is_empty()).then_some((all, original))
    }
}

fn is_string(opcode: u32) -> bool {
    matches!(
        opcode,
        OP_movs | OP_stos | OP_lods | OP_cmps | OP_scas | OP_ins | OP_outs
    )
}

/// Third phase: inserts the planned code before this instruction.
pub unsafe extern "C" fn insert(
    drcontext: *mut c_void,
    _tag: *mut c_void,
    list: *mut instrlist_t,
    instruction: *mut instr_t,
    _trace: bool_,
    _translating: bool_,
    user_data: *mut c_void,
) -> dr_emit_flags_t {
    if user_data.is_null() {
        return dr_emit_flags_t::DR_EMIT_STORE_TRANSLATIONS;
    }
    // SAFETY: the plan that `analyse` made for this block.
    unsafe {
        let plan = user_data.cast::<BlockPlan>();
        let place = InsertionPoint {
            drcontext,
            list,
            before: instruction,
        };
        (*plan).before(place);
        if drmgr_is_last_instr(drcontext, instruction) != 0 {
            drop(Box::from_raw(plan));
        }
    }
    dr_emit_flags_t::DR_EMIT_STORE_TRANSLATIONS
}

impl BlockPlan {
    fn before(&mut self, place: InsertionPoint) {
        let unread = self.unread.take();
        let step = self
            .steps
            .get(self.next)
            .filter(|step| step.instruction == place.before);
        if unread.is_none() && step.is_none() {
            return;
        }
        if step.is_some() && self.next == 0 {
            if let Some(watch) = self.watch {
                place.call(
                    region::entered as *mut c_void,
                    FULL_CONTEXT,
                    &[watch as i32, self.pc as i32, (self.pc >> 32) as i32],
                );
            }
            if self.words == 0 {
                self.next += 1;
                return;
            }
            self.begin(place);
        }
        if let Some(index) = unread {
            values(place, &self.steps[index]);
        }
        if let Some(step) = self
            .steps
            .get(self.next)
            .filter(|step| step.instruction == place.before)
        {
            if let Some((what, pc)) = step.refused {
                place.call(
                    unrecordable as *mut c_void,
                    0,
                    &[what as i32, pc as i32, (pc >> 32) as i32],
                );
            }
            addresses(place, step);
            if step.accesses.iter().any(|access| access.found.kind.writes()) {
                place.give_all_back();
            }
            let is_read = step.accesses.iter().any(|access| {
                access.is_gated && !step.jumps() || !matches!(access.found.value, Value::None | Value::Known(_))
            });
            self.unread = is_read.then_some(self.next);
            self.next += 1;
        }
    }

    /// Reserves the block's words and writes the first.
    fn begin(&self, place: InsertionPoint) {
        let slots = recorder().slots;
        place.take_flags();
        let end = place.take();
        place.load(end, slots.next(place.drcontext));
        place.compare(end, slots.limit(place.drcontext));
        let fits = place.label();
        place.jump_below(fits);
        place.call(
            full as *mut c_void,
            dr_cleancall_save_t_DR_CLEANCALL_ALWAYS_OUT_OF_LINE,
            &[self.pc as i32, (self.pc >> 32) as i32],
        );
        place.load(end, slots.next(place.drcontext));
        place.insert(fits);
        place.store_long(end, 0, CONTROL | u64::from(self.id));
        place.advance(end, 8 * self.words as i32);
        place.store(slots.next(place.drcontext), end, 8);
        place.give_back(end);
        place.give_back_flags();
    }
}

const FULL_CONTEXT: dr_cleancall_save_t =
    dr_cleancall_save_t_DR_CLEANCALL_READS_APP_CONTEXT | dr_cleancall_save_t_DR_CLEANCALL_WRITES_APP_CONTEXT;

/// Writes the addresses of an instruction's accesses, and the values that are known before it.
fn addresses(place: InsertionPoint, step: &BlockStep) {
    if step.accesses.is_empty() {
        return;
    }
    let is_gated = step.accesses.iter().any(|access| access.is_gated);
    let needs_flags = is_gated || step.accesses.iter().any(|access| access.found.bit.is_some());
    if needs_flags {
        place.take_flags();
    }
    let bits: Vec<reg_id_t> = step
        .accesses
        .iter()
        .filter_map(|access| access.found.bit)
        .map(widened)
        .collect();
    let (address, end) = (place.take_other(&bits), place.take_other(&bits));
    for access in &step.accesses {
        address_of(place, &access.found, address, end);
        place.load(end, recorder().slots.next(place.drcontext));
        place.store(memory(end, -access.back, 8), address, 8);
        if let Value::Known(value) = access.found.value {
            place.store_long(end, 8 - access.back, value);
        }
        if access.is_gated {
            enter(place, access, address, end);
        }
    }
    place.give_back(end);
    place.give_back(address);
    if is_gated && step.jumps() {
        leave(place, true);
    }
    if needs_flags {
        place.give_back_flags();
    }
    for access in step
        .accesses
        .iter()
        .filter(|access| access.found.kind == AccessKind::Atomic)
    {
        place.call(
            atomic::before as *mut c_void,
            0,
            &[access.back, i32::from(access.found.size)],
        );
        about_to_write(place, access);
    }
}

/// Enters the gate if the access at this address is one to persistent memory.
fn enter(place: InsertionPoint, access: &Planned, address: reg_id_t, scratch: reg_id_t) {
    let slots = recorder().slots;
    let passes_by = place.label();
    place.compare(address, slots.bound(place.drcontext, 0));
    place.jump_below(passes_by);
    place.compare(address, slots.bound(place.drcontext, 1));
    place.jump_above_or_equal(passes_by);
    let arguments = [access.back, i32::from(access.found.size)];
    place.call_stub(recorder().stubs.enter, slots, arguments, scratch);
    place.insert(passes_by);
}

/// Leaves the gate if the instruction has entered it.
fn leave(place: InsertionPoint, is_before: bool) {
    let slots = recorder().slots;
    let scratch = place.take();
    let passes_by = place.label();
    place.compare_with_zero(slots.passes(place.drcontext));
    place.jump_equal(passes_by);
    let arguments = [i32::from(is_before), 0];
    place.call_stub(recorder().stubs.leave, slots, arguments, scratch);
    place.insert(passes_by);
    place.give_back(scratch);
}

fn address_of(place: InsertionPoint, found: &FoundAccess, address: reg_id_t, scratch: reg_id_t) {
    let InsertionPoint {
        drcontext,
        list,
        before,
    } = place;
    // SAFETY: the registers are reserved, the operand is the instruction's.
    unsafe {
        let restored = drreg_restore_app_values(drcontext, list, before, found.operand, std::ptr::null_mut());
        crate::expect(
            restored == drreg_status_t_DRREG_SUCCESS || restored == drreg_status_t_DRREG_ERROR_NO_APP_VALUE,
            "a register is lost",
        );
        let computed = drutil_insert_get_mem_addr(drcontext, list, before, found.operand, address, scratch);
        crate::expect(computed != 0, "an address cannot be computed");
        let Some(bit) = found.bit else { return };
        // The signed bit number selects the operand-sized part of memory.
        let bytes = usize::from(found.size);
        place.program_value(widened(bit), scratch);
        place.extend(scratch, bytes);
        place.shift_right(scratch, (8 * bytes as i32).trailing_zeros() as i32);
        place.add_scaled(address, scratch, if bytes == 2 { 2 } else { bytes as i32 });
    }
}

/// Reads back what the previous instruction left.
fn values(place: InsertionPoint, step: &BlockStep) {
    let plain = |access: &&Planned| access.found.value == Value::Read && access.found.kind != AccessKind::Atomic;
    if step.accesses.iter().any(|access| plain(&access)) {
        let (value, end) = (place.take(), place.take());
        place.load(end, recorder().slots.next(place.drcontext));
        for access in step.accesses.iter().filter(plain) {
            read_back(place, access, value, end);
        }
        place.give_back(end);
        place.give_back(value);
    }
    for access in &step.accesses {
        let (back, size) = (access.back, i32::from(access.found.size));
        match (access.found.kind, access.found.value) {
            (AccessKind::Atomic, _) => {
                let is_known = access.found.exchanged.is_some();
                place.call(atomic::after as *mut c_void, 0, &[back, size, i32::from(is_known)]);
                if let Some(registers) = access.found.exchanged {
                    exchanged(place, access, registers);
                }
            }
            (_, Value::Seen) => place.call(atomic::seen as *mut c_void, 0, &[back, size]),
            (_, Value::Careful) => place.call(atomic::careful as *mut c_void, 0, &[back, back - 8, size]),
            (_, Value::Masked(mask)) => place.call(
                atomic::masked as *mut c_void,
                dr_cleancall_save_t_DR_CLEANCALL_READS_APP_CONTEXT,
                &[back, size, mask.pack()],
            ),
            _ => {}
        }
    }
    if step.accesses.iter().any(|access| access.is_gated) {
        place.take_flags();
        leave(place, false);
        place.give_back_flags();
    }
}

/// Saves what the previous instruction, a locked one, has read and written, as its registers say.
fn exchanged(place: InsertionPoint, access: &Planned, exchanged: Exchanged) {
    let (size, old) = (usize::from(access.found.size), exchanged.old());
    // The registers have the program's values, even if it never reads them again.
    let kept = [old, exchanged.named()];
    let end = place.take_other(&kept);
    place.load(end, recorder().slots.next(place.drcontext));
    place.store(memory(end, 8 - access.back, size), old, size);
    let new = memory(end, 16 - access.back, size);
    match exchanged {
        Exchanged::Swap(_) => {}
        Exchanged::Add(_) => {
            let sum = place.take_other(&kept);
            place.load(sum, memory(end, 16 - access.back, 8));
            place.add_scaled(sum, old, 1);
            place.store(new, sum, size);
            place.give_back(sum);
        }
        Exchanged::Compare(written) => {
            let left = place.take_other(&kept);
            place.copy(left, written);
            place.copy_unless_equal(left, old);
            place.store_long(end, 16 - access.back, 0);
            place.store(new, left, size);
            place.give_back(left);
        }
    }
    place.give_back(end);
}

/// Saves what `xchg` is about to write, or `xadd` to add, in place of what is there then.
fn about_to_write(place: InsertionPoint, access: &Planned) {
    let Some(Exchanged::Swap(register) | Exchanged::Add(register)) = access.found.exchanged else {
        return;
    };
    let (new, end) = (place.take_other(&[register]), place.take_other(&[register]));
    place.program_value(register, new);
    place.load(end, recorder().slots.next(place.drcontext));
    place.store_long(end, 16 - access.back, 0);
    let size = usize::from(access.found.size);
    place.store(memory(end, 16 - access.back, size), new, size);
    place.give_back(end);
    place.give_back(new);
}

/// Copies exactly the written bytes, because the bytes after them may not be mapped.
fn read_back(place: InsertionPoint, access: &Planned, value: reg_id_t, end: reg_id_t) {
    let size = usize::from(access.found.size);
    let words = access.value_words();
    let first = 8 - access.back;
    if !matches!(size % 8, 0 | 1 | 2 | 4) {
        place.store_long(end, first + 8 * (words as i32 - 1), 0);
    }
    let mut done = 0;
    while done < size {
        let bytes = [8, 4, 2, 1].into_iter().find(|bytes| done + bytes <= size).unwrap_or(1);
        place.load(value, memory(end, -access.back, 8));
        place.load_zeros(value, value, done as i32, bytes);
        let whole = done % 8 == 0 && size - done == bytes;
        place.store(
            memory(end, first + done as i32, if whole { 8 } else { bytes }),
            value,
            if whole { 8 } else { bytes },
        );
        done += bytes;
    }
}

/// An instruction that cannot be recorded is about to be executed.
extern "C" fn unrecordable(what: i32, low: i32, high: i32) {
    region::refuse(&format!(
        "the program executes {} at {:#x}, which cannot be recorded",
        Unrecordable::of(what).text(),
        u64::from(high as u32) << 32 | u64::from(low as u32)
    ));
}

/// The buffer is full, before the block at this address. A thread that computes spends its time in writes to the collector.
/// A signal that comes then waits until DynamoRIO has the thread, which a loop in the cache never leaves: so it leaves this
/// block.
extern "C" fn full(low: i32, high: i32) {
    // SAFETY: called from the program's code in the cache.
    unsafe { Thread::current() }.flush();
    region::leave(low, high);
}
