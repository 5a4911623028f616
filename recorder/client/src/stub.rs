//! Calls of the recorder's functions whose code is made once. A call that is inserted into the program's code saves all registers
//! there, which takes longer to insert than it takes to run where code runs a few times.

use std::ffi::c_void;

use dynamorio_sys::*;

use crate::emit::InsertionPoint;
use crate::Slots;

/// Bytes for the code of both.
const BYTES: usize = 4096;

/// The code that calls the functions of the gate, and jumps back to where a slot says.
#[derive(Clone, Copy)]
pub struct Stubs {
    /// [`crate::gate::enter`].
    pub enter: *mut u8,
    /// [`crate::gate::leave`].
    pub leave: *mut u8,
}

impl Stubs {
    /// Makes them.
    ///
    /// # Safety
    /// DynamoRIO is up.
    pub unsafe fn new(slots: Slots, enter: *mut c_void, leave: *mut c_void) -> Stubs {
        // SAFETY: fresh memory that is large enough.
        unsafe {
            let access = DR_MEMPROT_READ | DR_MEMPROT_WRITE | DR_MEMPROT_EXEC;
            let code = dr_nonheap_alloc(BYTES, access).cast::<u8>();
            crate::expect(!code.is_null(), "no memory is left for code");
            let behind = stub(slots, code, enter);
            let end = stub(slots, behind, leave);
            crate::expect(end as usize <= code as usize + BYTES, "the code of a stub is too long");
            dr_memory_protect(code.cast(), BYTES, DR_MEMPROT_READ | DR_MEMPROT_EXEC);
            Stubs {
                enter: code,
                leave: behind,
            }
        }
    }
}

/// Writes the code of one; returns its end.
unsafe fn stub(slots: Slots, code: *mut u8, function: *mut c_void) -> *mut u8 {
    // SAFETY: a list of its own.
    unsafe {
        let drcontext = dr_get_current_drcontext();
        let list = instrlist_create(drcontext);
        let back = instr_create_0dst_1src(drcontext, OP_jmp_ind as i32, slots.returns(drcontext));
        instrlist_meta_append(list, back);
        let place = InsertionPoint {
            drcontext,
            list,
            before: back,
        };
        place.call(function, 0, &[]);
        let end = instrlist_encode(drcontext, list, code, 0);
        instrlist_clear_and_destroy(drcontext, list);
        crate::expect(!end.is_null(), "the code of a stub cannot be made");
        end
    }
}
