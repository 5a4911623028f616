//! Machine code of a routine.

use crate::routine::{EffectiveAddress, Reg, Routine, RoutineOp, REGISTERS};
use iced_x86::Register::{self, R10, R11, R12, R13, R14, R15, R8, R9, RAX, RBP, RBX, RCX, RDI, RDX, RSI};
use iced_x86::{BlockEncoder, BlockEncoderOptions, Code, IcedError, Instruction, InstructionBlock, MemoryOperand};

/// The registers of routines. `rdi` has the place of their values, `rsi` the loop's counter.
const POOL: [Register; REGISTERS] = [RAX, RCX, RDX, RBX, RBP, R8, R9, R10, R11, R12, R13, R14, R15];

/// Registers that belong to the caller.
const SAVED: [Register; 6] = [RBX, RBP, R12, R13, R14, R15];

/// Instructions, each with its number as its address, so that branches can name it.
#[derive(Default)]
struct Listing(Vec<Instruction>);

impl Listing {
    fn next(&self) -> u64 {
        self.0.len() as u64
    }

    fn push(&mut self, instruction: Result<Instruction, IcedError>) -> Result<(), IcedError> {
        let mut instruction = instruction?;
        instruction.set_ip(self.next());
        self.0.push(instruction);
        Ok(())
    }
}

/// Code of a function that takes the registers' place and the number of iterations, as C passes them.
///
/// # Errors
/// An instruction that does not exist, which is a fault of the case.
pub fn machine_code(routine: &Routine) -> Result<Vec<u8>, IcedError> {
    let mut code = Listing::default();
    for register in SAVED {
        code.push(Instruction::with1(Code::Push_r64, register))?;
    }
    for (number, register) in (0..).zip(POOL) {
        code.push(Instruction::with2(Code::Mov_r64_rm64, register, slot(number)))?;
    }
    let top = code.next();
    for op in &routine.body {
        push_op(&mut code, *op)?;
    }
    code.push(Instruction::with1(Code::Dec_rm64, RSI))?;
    code.push(Instruction::with_branch(Code::Jne_rel32_64, top))?;
    for (number, register) in (0..).zip(POOL) {
        code.push(Instruction::with2(Code::Mov_rm64_r64, slot(number), register))?;
    }
    for register in SAVED.into_iter().rev() {
        code.push(Instruction::with1(Code::Pop_r64, register))?;
    }
    code.push(Ok(Instruction::with(Code::Retnq)))?;
    let block = InstructionBlock::new(&code.0, 0);
    Ok(BlockEncoder::encode(64, block, BlockEncoderOptions::NONE)?.code_buffer)
}

fn push_op(code: &mut Listing, op: RoutineOp) -> Result<(), IcedError> {
    code.push(match op {
        RoutineOp::Add { to, from } => Instruction::with2(Code::Add_r64_rm64, pool(to), pool(from)),
        RoutineOp::AddConstant { to, value } => Instruction::with2(Code::Add_rm64_imm32, pool(to), value),
        RoutineOp::And { to, mask } => Instruction::with2(Code::And_rm64_imm32, pool(to), mask),
        RoutineOp::Mul { to, from } => Instruction::with2(Code::Imul_r64_rm64, pool(to), pool(from)),
        RoutineOp::Load { to, at } => Instruction::with2(Code::Mov_r64_rm64, pool(to), operand(at)),
        RoutineOp::Store { from, at } => Instruction::with2(Code::Mov_rm64_r64, operand(at), pool(from)),
        RoutineOp::StoreNt { from, at } => Instruction::with2(Code::Movnti_m64_r64, operand(at), pool(from)),
        RoutineOp::LockedAdd { register, at } => {
            let mut add = Instruction::with2(Code::Xadd_rm64_r64, operand(at), pool(register));
            if let Ok(add) = &mut add {
                add.set_has_lock_prefix(true);
            }
            add
        }
        RoutineOp::Clwb { at } => Instruction::with1(Code::Clwb_m8, operand(at)),
        RoutineOp::Fence => Ok(Instruction::with(Code::Sfence)),
        RoutineOp::Branch { on, mask } => Instruction::with2(Code::Test_rm32_imm32, pool(on).full_register32(), mask),
    })?;
    if let RoutineOp::Branch { .. } = op {
        let behind = code.next() + 1;
        code.push(Instruction::with_branch(Code::Jne_rel32_64, behind))?;
    }
    Ok(())
}

fn pool(register: Reg) -> Register {
    POOL[usize::from(register.0)]
}

/// Where a register's value is kept between laps.
fn slot(number: i64) -> MemoryOperand {
    MemoryOperand::with_base_displ(RDI, 8 * number)
}

fn operand(at: EffectiveAddress) -> MemoryOperand {
    let index = at.index.map_or(Register::None, pool);
    MemoryOperand::with_base_index_scale_displ_size(pool(at.base), index, 1, at.offset.into(), 1)
}
