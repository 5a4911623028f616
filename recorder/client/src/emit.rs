//! Inserts the recorder's own instructions between those of the program.

use std::ffi::c_void;

use dynamorio_sys::*;

use crate::Slots;

/// General registers of 64 bits.
const REGISTERS: usize = (DR_REG_R15 - DR_REG_RAX + 1) as usize;

/// A position between the program's instructions.
#[derive(Clone, Copy)]
pub struct InsertionPoint {
    /// DynamoRIO's context of the thread that builds the block.
    pub drcontext: *mut c_void,
    /// The block.
    pub list: *mut instrlist_t,
    /// The instruction before which to insert.
    pub before: *mut instr_t,
}

/// Memory at a register and a displacement.
pub fn memory(base: reg_id_t, displacement: i32, bytes: usize) -> opnd_t {
    // SAFETY: makes a value.
    unsafe { opnd_create_base_disp(base, DR_REG_NULL as reg_id_t, 0, displacement, size(bytes)) }
}

/// A register of this size in bytes.
pub fn register(register: reg_id_t, bytes: usize) -> opnd_t {
    // SAFETY: makes a value.
    unsafe { opnd_create_reg(resized(register, bytes)) }
}

/// The part of a 64-bit register with this size in bytes.
fn resized(register: reg_id_t, bytes: usize) -> reg_id_t {
    let index = u32::from(register) - DR_REG_RAX;
    (match bytes {
        1 if index < 4 => DR_REG_AL + index,
        1 if index < 8 => DR_REG_SPL + (index - 4),
        1 => DR_REG_R8L + (index - 8),
        2 => DR_REG_AX + index,
        4 => DR_REG_EAX + index,
        _ => DR_REG_RAX + index,
    }) as reg_id_t
}

/// The 64-bit register of which this general one has the lowest bytes.
pub fn widened(register: reg_id_t) -> reg_id_t {
    let whole = (DR_REG_RAX..=DR_REG_R15).map(|whole| whole as reg_id_t);
    let is_part = |whole: &reg_id_t| [8, 4, 2, 1].iter().any(|bytes| resized(*whole, *bytes) == register);
    whole.into_iter().find(is_part).unwrap_or(register)
}

fn size(bytes: usize) -> opnd_size_t {
    (match bytes {
        1 => OPSZ_1,
        2 => OPSZ_2,
        4 => OPSZ_4,
        _ => OPSZ_8,
    }) as opnd_size_t
}

fn number(value: i32, bytes: usize) -> opnd_t {
    // SAFETY: makes a value.
    unsafe { opnd_create_immed_int(i64::from(value), size(bytes)) }
}

impl InsertionPoint {
    /// Inserts an instruction.
    pub fn insert(self, instruction: *mut instr_t) {
        // SAFETY: the place is in the list.
        unsafe { instrlist_meta_preinsert(self.list, self.before, instruction) };
    }

    fn insert_1_1(self, opcode: u32, destination: opnd_t, source: opnd_t) {
        // SAFETY: makes an instruction.
        self.insert(unsafe { instr_create_1dst_1src(self.drcontext, opcode as i32, destination, source) });
    }

    /// Loads 8 bytes.
    pub fn load(self, into: reg_id_t, from: opnd_t) {
        self.insert_1_1(OP_mov_ld, register(into, 8), from);
    }

    /// Loads 1, 2, 4 or 8 bytes, zero-extended.
    pub fn load_zeros(self, into: reg_id_t, base: reg_id_t, displacement: i32, bytes: usize) {
        match bytes {
            1 | 2 => self.insert_1_1(OP_movzx, register(into, 4), memory(base, displacement, bytes)),
            _ => self.insert_1_1(OP_mov_ld, register(into, bytes), memory(base, displacement, bytes)),
        }
    }

    /// Stores the lowest bytes of a register.
    pub fn store(self, into: opnd_t, from: reg_id_t, bytes: usize) {
        self.insert_1_1(OP_mov_st, into, register(from, bytes));
    }

    /// Stores a number of 32 bits.
    pub fn store_number(self, base: reg_id_t, displacement: i32, value: u32) {
        self.insert_1_1(OP_mov_imm, memory(base, displacement, 4), number(value as i32, 4));
    }

    /// Stores a number of 64 bits.
    pub fn store_long(self, base: reg_id_t, displacement: i32, value: u64) {
        self.store_number(base, displacement, value as u32);
        self.store_number(base, displacement + 4, (value >> 32) as u32);
    }

    /// Adds without touching the flags.
    pub fn advance(self, which: reg_id_t, bytes: i32) {
        // SAFETY: makes a value.
        let address = unsafe { opnd_create_base_disp(which, DR_REG_NULL as reg_id_t, 0, bytes, OPSZ_0 as opnd_size_t) };
        self.insert_1_1(OP_lea, register(which, 8), address);
    }

    /// Adds a multiple of another register without changing the flags.
    pub fn add_scaled(self, which: reg_id_t, other: reg_id_t, scale: i32) {
        // SAFETY: makes a value.
        let address = unsafe { opnd_create_base_disp(which, other, scale, 0, OPSZ_0 as opnd_size_t) };
        self.insert_1_1(OP_lea, register(which, 8), address);
    }

    /// Sign-extends a register of this size to 64 bits.
    pub fn extend(self, which: reg_id_t, bytes: usize) {
        match bytes {
            2 => self.insert_1_1(OP_movsx, register(which, 8), register(which, 2)),
            4 => self.insert_1_1(OP_movsxd, register(which, 8), register(which, 4)),
            _ => {}
        }
    }

    /// Shifts right, keeping the sign. Changes the flags.
    pub fn shift_right(self, which: reg_id_t, bits: i32) {
        // SAFETY: makes an instruction.
        self.insert(unsafe {
            instr_create_1dst_2src(
                self.drcontext,
                OP_sar as i32,
                register(which, 8),
                number(bits, 1),
                register(which, 8),
            )
        });
    }

    /// The program's value of a register that it is about to read, in another one. It must not be reserved.
    pub fn program_value(self, register: reg_id_t, into: reg_id_t) {
        // A value that was spilled comes back to its own register only, whatever the other one is.
        // SAFETY: the register is the program's.
        let got = unsafe { drreg_get_app_value(self.drcontext, self.list, self.before, register, register) };
        crate::expect(got == drreg_status_t_DRREG_SUCCESS, "a register is lost");
        self.copy(into, register);
    }

    /// Copies a register.
    pub fn copy(self, into: reg_id_t, from: reg_id_t) {
        self.insert_1_1(OP_mov_ld, register(into, 8), register(from, 8));
    }

    /// Copies a register if the program's last comparison failed.
    pub fn copy_unless_equal(self, into: reg_id_t, from: reg_id_t) {
        // SAFETY: makes an instruction; flags are the program's.
        unsafe {
            let restored = drreg_restore_app_aflags(self.drcontext, self.list, self.before);
            crate::expect(restored == drreg_status_t_DRREG_SUCCESS, "the flags are lost");
            let (into, from) = (register(into, 8), register(from, 8));
            let copies = instr_create_1dst_1src(self.drcontext, OP_cmovnz as i32, into, from);
            self.insert(instr_set_predicate(
                copies,
                _dr_pred_type_t_DR_PRED_NZ as dr_pred_type_t,
            ));
        }
    }

    /// Compares a register with memory. Changes the flags.
    pub fn compare(self, which: reg_id_t, with: opnd_t) {
        // SAFETY: makes an instruction.
        self.insert(unsafe { instr_create_0dst_2src(self.drcontext, OP_cmp as i32, register(which, 8), with) });
    }

    /// A place to jump to.
    pub fn label(self) -> *mut instr_t {
        // SAFETY: makes an instruction.
        unsafe { instr_create_0dst_0src(self.drcontext, OP_LABEL as i32) }
    }

    /// Calls a stub with two numbers in these slots, by a register that is taken. It returns behind this.
    pub fn call_stub(self, stub: *mut u8, slots: Slots, arguments: [i32; 2], scratch: reg_id_t) {
        let InsertionPoint {
            drcontext,
            list,
            before,
        } = self;
        let returns = self.label();
        let null = std::ptr::null_mut::<*mut instr_t>();
        // SAFETY: makes instructions.
        unsafe {
            for (which, argument) in (0..).zip(arguments) {
                let mut slot = slots.argument(drcontext, which);
                opnd_set_size(&mut slot, OPSZ_4 as opnd_size_t);
                self.insert_1_1(OP_mov_imm, slot, number(argument, 4));
            }
            let address = register(scratch, 8);
            instrlist_insert_mov_instr_addr(
                drcontext,
                returns,
                null.cast(),
                address,
                list,
                before,
                null.cast(),
                null.cast(),
            );
            self.store(slots.returns(drcontext), scratch, 8);
            self.insert(instr_create_0dst_1src(drcontext, OP_jmp as i32, opnd_create_pc(stub)));
        }
        self.insert(returns);
    }

    /// Compares memory with zero. Changes the flags.
    pub fn compare_with_zero(self, what: opnd_t) {
        // SAFETY: makes an instruction.
        self.insert(unsafe { instr_create_0dst_2src(self.drcontext, OP_cmp as i32, what, number(0, 1)) });
    }

    /// Jumps if the comparison gave below.
    pub fn jump_below(self, target: *mut instr_t) {
        self.jump_if(OP_jb, target);
    }

    /// Jumps if it gave above or equal.
    pub fn jump_above_or_equal(self, target: *mut instr_t) {
        self.jump_if(OP_jnb, target);
    }

    /// Jumps if it gave equal.
    pub fn jump_equal(self, target: *mut instr_t) {
        self.jump_if(OP_jz, target);
    }

    fn jump_if(self, opcode: u32, target: *mut instr_t) {
        // SAFETY: makes an instruction.
        self.insert(unsafe { instr_create_0dst_1src(self.drcontext, opcode as i32, opnd_create_instr(target)) });
    }

    /// Calls a function of the recorder with at most three numbers as arguments.
    pub fn call(self, function: *mut c_void, flags: dr_cleancall_save_t, arguments: &[i32]) {
        let InsertionPoint {
            drcontext,
            list,
            before,
        } = self;
        let argument = |index: usize| number(arguments[index], 4);
        // SAFETY: the function has this number of parameters.
        unsafe {
            match arguments.len() {
                0 => dr_insert_clean_call_ex(drcontext, list, before, function, flags, 0),
                1 => dr_insert_clean_call_ex(drcontext, list, before, function, flags, 1, argument(0)),
                2 => dr_insert_clean_call_ex(drcontext, list, before, function, flags, 2, argument(0), argument(1)),
                _ => dr_insert_clean_call_ex(
                    drcontext,
                    list,
                    before,
                    function,
                    flags,
                    3,
                    argument(0),
                    argument(1),
                    argument(2),
                ),
            }
        }
    }

    /// Reserves a register until [`InsertionPoint::give_back`].
    pub fn take(self) -> reg_id_t {
        self.take_allowed(std::ptr::null_mut())
    }

    /// The same, but none of these.
    pub fn take_other(self, kept: &[reg_id_t]) -> reg_id_t {
        let mut registers = [std::ptr::dangling_mut::<c_void>(); REGISTERS];
        for register in kept {
            registers[(u32::from(*register) - DR_REG_RAX) as usize] = std::ptr::null_mut();
        }
        // SAFETY: zeros are a list without a lock and of nothing to free.
        let mut allowed: drvector_t = unsafe { std::mem::zeroed() };
        (allowed.entries, allowed.capacity) = (REGISTERS as u32, REGISTERS as u32);
        allowed.array = registers.as_mut_ptr();
        self.take_allowed(&mut allowed)
    }

    fn take_allowed(self, allowed: *mut drvector_t) -> reg_id_t {
        let mut register = DR_REG_NULL as reg_id_t;
        // SAFETY: the list is null or has an entry for each register.
        let status = unsafe { drreg_reserve_register(self.drcontext, self.list, self.before, allowed, &mut register) };
        crate::expect(status == drreg_status_t_DRREG_SUCCESS, "no register is free");
        register
    }

    /// Gives a register back.
    pub fn give_back(self, register: reg_id_t) {
        // SAFETY: it was taken.
        let status = unsafe { drreg_unreserve_register(self.drcontext, self.list, self.before, register) };
        crate::expect(
            status == drreg_status_t_DRREG_SUCCESS,
            "a register cannot be given back",
        );
    }

    /// Restores the program's values in all reserved registers. When the program writes to a page with code, DynamoRIO
    /// continues with the registers as they are, without restoring them.
    pub fn give_all_back(self) {
        // SAFETY: in the insertion phase.
        let status = unsafe { drreg_restore_all(self.drcontext, self.list, self.before) };
        crate::expect(status == drreg_status_t_DRREG_SUCCESS, "registers cannot be put back");
    }

    /// Takes the arithmetic flags.
    pub fn take_flags(self) {
        // SAFETY: in the insertion phase.
        let status = unsafe { drreg_reserve_aflags(self.drcontext, self.list, self.before) };
        crate::expect(status == drreg_status_t_DRREG_SUCCESS, "the flags cannot be taken");
    }

    /// Gives the arithmetic flags back.
    pub fn give_back_flags(self) {
        // SAFETY: they were taken.
        let status = unsafe { drreg_unreserve_aflags(self.drcontext, self.list, self.before) };
        crate::expect(status == drreg_status_t_DRREG_SUCCESS, "the flags cannot be given back");
    }
}
