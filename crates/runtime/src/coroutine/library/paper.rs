//! A stackful library with the costs that COSPlay's Table 3 implies.
//!
//! A yield executes what such a library does on x86-64. It saves the registers that a callee must
//! keep (six, and the control words of SSE and x87) and the resume address on the task's stack, and
//! switches to the scheduler's stack. The scheduler selects the next coroutine of a ring and
//! switches to its stack likewise: 60 instructions. Table 3 bounds a yield to 39 to 83 of them.
//! With two yields a task, it implies 448 for all instructions of the library in a task (the mean
//! over sps, pc, tatp and cq); so starting and ending one costs 328. Their composition is our
//! reading of such libraries: memory for control block and function object from free lists, the
//! object moved twice, the block zeroed, a first frame built, a task's frame entered and left, a
//! destructor. The number of zeroed words of the block is chosen so that the sum is 328. It is an
//! input, the same for every benchmark.
//!
//! Simplified: after a switch the task's own registers count as ready, though they have just been loaded.

use super::SwitchPlace;
use crate::BLOCK_BYTES;
use strandline_isa::{sites, Addr, Cpu, Site, W};

sites! {
    TO_TASK = 0x5ced_0001;
    TO_SCHEDULER = 0x5ced_0002;
    CALL = 0x5ced_0003;
    SLOT_IS_IN_WINDOW = 0x50eb_5adb;
    NEXT_HAS_ENDED = 0xc7dc_44d6;
    COROUTINE_HAS_ENDED = 0x1008_aa8c;
    MORE_TO_ZERO = 0xd037_5cc2;
    FREE_LIST_IS_EMPTY = 0xd243_9034;
    SIZE_IS_SMALL = 0x75af_7610;
}

/// Words of a coroutine's control block.
mod block {
    /// Its saved stack pointer.
    pub const STACK: u64 = 0;
    pub const STATE: u64 = 8;
    /// The next of a free list.
    pub const NEXT: u64 = 16;
    /// The function object.
    pub const OBJECT: u64 = 64;
    /// Words that are zeroed.
    pub const ZEROED: u64 = OBJECT + 8 * super::OBJECT_WORDS;
    /// The end of the stack: it grows downwards.
    pub const STACK_END: u64 = super::BLOCK_BYTES;
}

/// Words of the scheduler's block, its own saved stack pointer apart.
mod scheduler {
    /// The current slot.
    pub const SLOT: u64 = 16;
    /// Coroutines that exist.
    pub const COUNT: u64 = 24;
    /// The object that a task is made from.
    pub const OBJECT: u64 = super::block::OBJECT;
    /// Heads of free lists, two for each slot.
    pub const FREE: u64 = 256;
}

/// Words of a function object: the function, its captures, and the state that it shares with its
/// creator.
const OBJECT_WORDS: u64 = 16;
/// Words of the control block that are zeroed; see above.
const ZEROED_WORDS: u64 = 40;
/// Registers that a callee keeps.
const SAVED: u64 = 6;
/// The content of a suspended coroutine's stack: control words, registers, the resume address.
const FRAME_BYTES: u64 = 8 + 8 * SAVED + 8;
/// The offset of that address.
const FRAME_CODE: u64 = FRAME_BYTES - 8;
/// Bytes of a function object, as allocated.
const OBJECT_BYTES: u64 = 8 * OBJECT_WORDS;

/// States of a coroutine.
mod state {
    pub const READY: u64 = 1;
    pub const RUNS: u64 = 2;
    pub const ENDED: u64 = 3;
}

/// The code that runs first in a coroutine.
const ENTRY: u64 = 16;
/// The scheduler's code behind a switch.
const LOOP: u64 = 17;

/// An address that the program has in a register.
fn at<C: Cpu>(cpu: &C, addr: Addr) -> W<'_, C> {
    cpu.word(addr.0)
}

/// Saves the running code's state to resume at `code` on its stack, and the stack pointer in its
/// block.
fn save<C: Cpu>(cpu: &C, owner: Addr, code: u64) {
    let stack = at(cpu, owner).at(block::STACK_END) - FRAME_BYTES;
    for word in [0, 4] {
        stack.at(word).store_sized(cpu.word(0), 4);
    }
    for register in 0..SAVED {
        stack.at(8 + 8 * register).store(cpu.word(0));
    }
    stack.at(FRAME_CODE).store(cpu.word(code));
    at(cpu, owner).at(block::STACK).store(stack);
}

/// Jumps to the code of `owner`, an address in a register.
fn restore<C: Cpu>(cpu: &C, owner: W<'_, C>, site: Site) {
    let stack = owner.at(block::STACK).load();
    for word in [0, 4] {
        stack.at(word).load_sized(4);
    }
    for register in 0..SAVED {
        stack.at(8 + 8 * register).load();
    }
    let code = stack.at(FRAME_CODE).load();
    let _ = stack + FRAME_BYTES;
    cpu.jump(code.tag(), code.bits(), site);
}

pub(super) fn leave<C: Cpu>(cpu: &C, place: SwitchPlace, code: u64) {
    at(cpu, place.task).at(block::STATE).store(cpu.word(state::READY));
    save(cpu, place.task, code);
    restore(cpu, at(cpu, place.scheduler), TO_SCHEDULER);
}

pub(super) fn next<C: Cpu>(cpu: &C, place: SwitchPlace, slots: u64) -> W<'_, C> {
    let own = at(cpu, place.scheduler);
    let slot = own.at(scheduler::SLOT).load();
    debug_assert_eq!(slot.bits(), place.slot);
    let mut following = slot + 1;
    if !following.below(slots).branch(SLOT_IS_IN_WINDOW) {
        following = cpu.word(0);
    }
    own.at(scheduler::SLOT).store(following);
    let first = place.task.0 - place.slot * BLOCK_BYTES;
    let coroutine = (slot << u64::from(BLOCK_BYTES.ilog2())) + first;
    // A task that has ended has left its slot empty.
    _ = coroutine
        .at(block::STATE)
        .load()
        .is(state::ENDED)
        .branch(NEXT_HAS_ENDED);
    coroutine
}

pub(super) fn resume<'c, C: Cpu>(cpu: &'c C, place: SwitchPlace, coroutine: W<'c, C>) {
    coroutine.at(block::STATE).store(cpu.word(state::RUNS));
    save(cpu, place.scheduler, LOOP);
    restore(cpu, coroutine, TO_TASK);
}

pub(super) fn start<'c, C: Cpu>(cpu: &'c C, place: SwitchPlace, coroutine: W<'c, C>) {
    let own = at(cpu, place.scheduler);
    for list in free_lists(place) {
        take(cpu, at(cpu, list), place.task);
    }
    // Into the coroutine, and from there to where its function finds it.
    copy(own.at(scheduler::OBJECT), coroutine.at(block::OBJECT));
    copy(
        coroutine.at(block::OBJECT),
        coroutine.at(block::STACK_END - FRAME_BYTES - OBJECT_BYTES),
    );
    zero(cpu, coroutine.at(block::ZEROED));
    save(cpu, place.task, ENTRY);
    let count = own.at(scheduler::COUNT).load();
    own.at(scheduler::COUNT).store(count + 1);
    resume(cpu, place, coroutine);
    // The entry: the registers that a callee keeps, and the function.
    let stack = at(cpu, place.task).at(block::STACK_END - FRAME_BYTES);
    for register in 0..SAVED {
        stack.at(8 + 8 * register).store(cpu.word(0));
    }
    let function = stack.at(0).load();
    cpu.jump(function.tag(), ENTRY, CALL);
}

pub(super) fn end<C: Cpu>(cpu: &C, place: SwitchPlace) {
    let own = at(cpu, place.scheduler);
    let coroutine = at(cpu, place.task);
    let stack = coroutine.at(block::STACK_END - FRAME_BYTES);
    for register in 0..SAVED {
        stack.at(8 + 8 * register).load();
    }
    coroutine.at(block::STATE).store(cpu.word(state::ENDED));
    restore(cpu, own, TO_SCHEDULER);
    if coroutine
        .at(block::STATE)
        .load()
        .is(state::ENDED)
        .branch(COROUTINE_HAS_ENDED)
    {
        // The object's destructor.
        let destructor = coroutine.at(block::OBJECT).load().tag();
        cpu.jump(destructor, LOOP, CALL);
        let count = own.at(scheduler::COUNT).load();
        own.at(scheduler::COUNT).store(count - 1);
        for list in free_lists(place) {
            give(cpu, at(cpu, list), place.task);
        }
    }
}

/// The free lists of this slot's coroutine: of control blocks and of function objects.
fn free_lists(place: SwitchPlace) -> [Addr; 2] {
    let first = place.scheduler.0 + scheduler::FREE + 16 * (place.slot % 32);
    [Addr(first), Addr(first + 8)]
}

/// Moves a function object.
fn copy<C: Cpu>(from: W<'_, C>, to: W<'_, C>) {
    for word in 0..OBJECT_WORDS {
        let value = from.at(8 * word).load();
        to.at(8 * word).store(value);
    }
}

/// Zeroes the control block behind the object, in a loop.
fn zero<'c, C: Cpu>(cpu: &'c C, from: W<'c, C>) {
    let end = from.at(8 * ZEROED_WORDS);
    let mut word = from;
    loop {
        word.store(cpu.word(0));
        word = word + 8;
        if !word.less(end).branch(MORE_TO_ZERO) {
            return;
        }
    }
}

/// Allocates memory from the free list of its size.
fn take<'c, C: Cpu>(cpu: &'c C, list: W<'c, C>, memory: Addr) {
    size_class(cpu);
    let head = list.load();
    if !head.is(0).branch(FREE_LIST_IS_EMPTY) {
        let next = at(cpu, memory).at(block::NEXT).load();
        list.store(next);
    }
}

/// Returns memory to its list.
fn give<'c, C: Cpu>(cpu: &'c C, list: W<'c, C>, memory: Addr) {
    size_class(cpu);
    list.load();
    // It is the only one of its list.
    at(cpu, memory).at(block::NEXT).store(cpu.word(0) + 0);
    list.store(at(cpu, memory));
}

/// Finds the list for a size: rounded up, compared with the largest.
fn size_class<C: Cpu>(cpu: &C) {
    let size = ((cpu.word(OBJECT_BYTES) + 15) >> 4) << 4;
    let _ = size.below(1024).branch(SIZE_IS_SMALL);
}
