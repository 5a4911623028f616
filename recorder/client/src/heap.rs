//! The arena of the heap library (`recorder/heap`), which stands for persistent memory.

use std::ops::Range;

use dynamorio_sys::*;
use strandline_capture::HEAP_ASKS;

use crate::access;
use crate::recorder;
use crate::thread::Thread;

/// The name of its file.
pub const NAME: &str = "heap";

/// The library knows these, too.
const ARENA: Range<u64> = 0x2000_0000_0000..0x2000_0000_0000 + (1 << 36);

/// The offset of this mapping in the arena, if it is a part of it.
#[must_use]
pub fn offset(range: &Range<u64>) -> Option<u64> {
    (ARENA.contains(&range.start) && range.end <= ARENA.end).then(|| range.start - ARENA.start)
}

/// Whether the heap library asks here whether it gives persistent memory. Without an answer it does.
///
/// # Safety
/// The instruction is a decoded one of the program.
#[must_use]
pub unsafe fn asks(instruction: *mut instr_t) -> bool {
    // SAFETY: the caller's promise.
    !recorder().options.allocators.is_empty() && unsafe { access::displacement(instruction) } == Some(HEAP_ASKS)
}

/// Answers in the program's `rax`: it gives persistent memory in calls of named functions.
pub fn answer() {
    // SAFETY: in a clean call that reads and writes the program's registers.
    unsafe {
        let drcontext = dr_get_current_drcontext();
        let mut context: dr_mcontext_t = std::mem::zeroed();
        context.size = std::mem::size_of::<dr_mcontext_t>();
        context.flags = dr_mcontext_flags_t::DR_MC_ALL;
        dr_get_mcontext(drcontext, &mut context);
        let allocates = Thread::current().calls.allocates(context.__bindgen_anon_4.xsp);
        context.__bindgen_anon_8.xax = u64::from(allocates);
        dr_set_mcontext(drcontext, &mut context);
    }
}
