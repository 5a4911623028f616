//! Micro-ops of instructions, as modern x86 cores count them.

use super::{Code, MicroKind, MicroOp, Slot};
use crate::{Access, AccessKind, Block};
use iced_x86::code_asm::*;
use iced_x86::{IcedError, Register};
use strandline_isa::Alu;

fn reg(register: Register) -> Slot {
    Slot::of(register).expect("a register with a place")
}

fn access(instruction: u16, kind: AccessKind, size: u16) -> Access {
    Access {
        instruction,
        kind,
        size,
    }
}

fn block(accesses: &[Access], write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Block {
    let mut assembler = CodeAssembler::new(64).expect("64 bits");
    write(&mut assembler).expect("the operands fit");
    Block {
        pc: 0x1000,
        instructions: assembler.instructions().len() as u32,
        code: assembler.assemble(0x1000).expect("the code can be assembled"),
        accesses: accesses.to_vec(),
        repeats: false,
        fences: Vec::new(),
    }
}

fn ops(accesses: &[Access], write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<MicroOp> {
    let code = Code::of(&[block(accesses, write)]);
    let body = code.body(0).expect("the block");
    code.ops(body).to_vec()
}

fn kinds(ops: &[MicroOp]) -> Vec<MicroKind> {
    ops.iter().map(|op| op.kind).collect()
}

fn used(slots: &[Slot]) -> Vec<Slot> {
    slots
        .iter()
        .copied()
        .filter(|s| *s != Slot::READY && *s != Slot::NOWHERE)
        .collect()
}

const NONE: &[Access] = &[];

#[test]
fn arithmetic_takes_one_entry_and_waits_for_what_it_reads() {
    let add = ops(NONE, |a| a.add(rax, rbx));
    assert_eq!(kinds(&add), [MicroKind::Alu]);
    assert_eq!(used(&add[0].sources), [reg(Register::RAX), reg(Register::RBX)]);
    assert_eq!(used(&add[0].targets), [reg(Register::RAX), Slot::FLAGS]);
}

#[test]
fn latencies_follow_the_kind_of_arithmetic() {
    let class = |write: fn(&mut CodeAssembler) -> Result<(), IcedError>| ops(NONE, write)[0].alu;
    assert_eq!(class(|a| a.add(rax, rbx)), Alu::Simple);
    assert_eq!(class(|a| a.lea(rax, ptr(rbx + rcx * 4))), Alu::Simple);
    assert_eq!(class(|a| a.imul_2(rax, rbx)), Alu::Mul);
    assert_eq!(class(|a| a.mul(rbx)), Alu::Mul);
    assert_eq!(class(|a| a.popcnt(rax, rbx)), Alu::Mul);
    assert_eq!(class(|a| a.idiv(rbx)), Alu::Div);
    assert_eq!(class(|a| a.addsd(xmm0, xmm1)), Alu::Mul);
    assert_eq!(class(|a| a.vfmadd231pd(ymm0, ymm1, ymm2)), Alu::Mul);
    assert_eq!(class(|a| a.cvtsi2sd(xmm0, rax)), Alu::Mul);
    assert_eq!(class(|a| a.divsd(xmm0, xmm1)), Alu::Div);
    assert_eq!(class(|a| a.sqrtsd(xmm0, xmm1)), Alu::Div);
    assert_eq!(class(|a| a.paddq(xmm0, xmm1)), Alu::Simple);
    assert_eq!(class(|a| a.pmulld(xmm0, xmm1)), Alu::Mul);
    assert_eq!(class(|a| a.vpshufd(xmm0, xmm1, 3)), Alu::Simple);
}

#[test]
fn moves_between_registers_and_zeroing_cost_an_entry_and_no_time() {
    for moved in [ops(NONE, |a| a.mov(rax, rbx)), ops(NONE, |a| a.mov(eax, ebx))] {
        assert_eq!(kinds(&moved), [MicroKind::Entry]);
        assert_eq!(moved[0].sources[0], reg(Register::RBX));
        assert_eq!(used(&moved[0].targets), [reg(Register::RAX)]);
    }
    let vector = ops(NONE, |a| a.vmovdqa(ymm3, ymm4));
    assert_eq!(
        (vector[0].kind, vector[0].sources[0]),
        (MicroKind::Entry, reg(Register::XMM4))
    );
    for zeroed in [ops(NONE, |a| a.xor(eax, eax)), ops(NONE, |a| a.sub(rax, rax))] {
        assert_eq!(kinds(&zeroed), [MicroKind::Entry]);
        assert!(used(&zeroed[0].sources).is_empty());
        assert_eq!(used(&zeroed[0].targets), [reg(Register::RAX), Slot::FLAGS]);
    }
    let vector = ops(NONE, |a| a.vpxor(xmm1, xmm2, xmm2));
    assert_eq!(
        (vector[0].kind, used(&vector[0].targets)),
        (MicroKind::Entry, vec![reg(Register::XMM1)])
    );
}

#[test]
fn a_write_of_a_part_of_a_register_waits_for_its_old_value() {
    let rax_slot = reg(Register::RAX);
    for partial in [
        ops(NONE, |a| a.mov(al, bl)),
        ops(NONE, |a| a.mov(ax, bx)),
        ops(NONE, |a| a.sete(al)),
    ] {
        assert_eq!(kinds(&partial), [MicroKind::Alu]);
        assert!(used(&partial[0].sources).contains(&rax_slot));
    }
    let whole = ops(NONE, |a| a.movzx(eax, bl));
    assert!(!used(&whole[0].sources).contains(&rax_slot));
    let conditional = ops(NONE, |a| a.cmove(rax, rbx));
    assert!(used(&conditional[0].sources).contains(&rax_slot));
    assert!(used(&conditional[0].sources).contains(&Slot::FLAGS));
}

#[test]
fn what_does_nothing_takes_an_entry_and_nothing_waits() {
    type Write = fn(&mut CodeAssembler) -> Result<(), IcedError>;
    let nothing: [Write; 5] = [
        |a| a.nop(),
        |a| a.endbr64(),
        |a| a.prefetcht0(byte_ptr(rax)),
        |a| a.cpuid(),
        |a| a.syscall(),
    ];
    for write in nothing {
        let ops = ops(NONE, write);
        assert_eq!(kinds(&ops), [MicroKind::Entry]);
        assert!(used(&ops[0].sources).is_empty() && used(&ops[0].targets).is_empty());
    }
}

#[test]
fn a_load_with_arithmetic_is_one_entry() {
    let plain = ops(&[access(0, AccessKind::Load, 8)], |a| {
        a.mov(rax, qword_ptr(rbx + rcx * 8))
    });
    assert_eq!(kinds(&plain), [MicroKind::Load]);
    assert_eq!(plain[0].address, [reg(Register::RBX), reg(Register::RCX)]);
    assert_eq!(used(&plain[0].targets), [reg(Register::RAX)]);
    let fused = ops(&[access(0, AccessKind::Load, 8)], |a| a.imul_2(rax, qword_ptr(rbx)));
    assert_eq!(kinds(&fused), [MicroKind::Load, MicroKind::Fused]);
    assert_eq!(fused[1].alu, Alu::Mul);
    assert_eq!(used(&fused[1].sources), [Slot::LOADED, reg(Register::RAX)]);
    assert_eq!(fused.iter().filter(|op| op.is_entry()).count(), 1);
}

#[test]
fn an_update_of_memory_is_two_entries() {
    let update = ops(&[access(0, AccessKind::Update, 8)], |a| a.add(qword_ptr(rdi), rax));
    assert_eq!(
        kinds(&update),
        [MicroKind::UpdateLoad, MicroKind::Fused, MicroKind::Store]
    );
    assert_eq!(used(&update[1].targets), [Slot::LOADED, Slot::FLAGS]);
    assert_eq!(update[2].sources[0], Slot::LOADED);
    assert_eq!(update.iter().filter(|op| op.is_entry()).count(), 2);
}

#[test]
fn the_stack_pointer_is_known_ahead() {
    let push = ops(&[access(0, AccessKind::Store, 8)], |a| a.push(rbx));
    assert_eq!(kinds(&push), [MicroKind::Store]);
    assert_eq!(used(&push[0].sources), [reg(Register::RBX)]);
    assert!(used(&push[0].targets).is_empty());
    let pop = ops(&[access(0, AccessKind::Load, 8)], |a| a.pop(rbx));
    assert_eq!(
        (kinds(&pop), used(&pop[0].targets)),
        (vec![MicroKind::Load], vec![reg(Register::RBX)])
    );
    let ret = ops(&[access(0, AccessKind::Load, 8)], |a| a.ret());
    assert_eq!(kinds(&ret), [MicroKind::Load], "the return stack predicts it");
    let leave = ops(&[access(0, AccessKind::Load, 8)], |a| a.leave());
    assert_eq!(leave.iter().filter(|op| op.is_entry()).count(), 1);
    assert_eq!(used(&leave[1].targets), [reg(Register::RBP)]);
}

#[test]
fn calls_store_their_return_address_and_jumps_take_an_entry() {
    let store = [access(0, AccessKind::Store, 8)];
    assert_eq!(kinds(&ops(&store, |a| a.call(0x2000))), [MicroKind::Store]);
    assert_eq!(kinds(&ops(NONE, |a| a.jmp(0x2000))), [MicroKind::Entry]);
    let indirect = ops(&store, |a| a.call(rax));
    assert_eq!(kinds(&indirect), [MicroKind::Store, MicroKind::Indirect]);
    assert!(
        used(&indirect[0].sources).is_empty(),
        "the return address is a constant"
    );
    assert_eq!(used(&indirect[1].sources), [reg(Register::RAX)]);
    let table = ops(&[access(0, AccessKind::Load, 8)], |a| a.jmp(qword_ptr(rax + rbx * 8)));
    assert_eq!(kinds(&table), [MicroKind::Load, MicroKind::Indirect]);
    assert_eq!(used(&table[1].sources), [Slot::LOADED]);
}

#[test]
fn a_comparison_and_the_jump_behind_it_are_one_entry() {
    let fused = ops(NONE, |a| {
        a.cmp(rax, rbx)?;
        a.jne(0x1000)
    });
    assert_eq!(kinds(&fused), [MicroKind::Branch, MicroKind::Fused]);
    assert_eq!(used(&fused[0].sources), [reg(Register::RAX), reg(Register::RBX)]);
    let counted = ops(NONE, |a| {
        a.dec(rcx)?;
        a.jne(0x1000)
    });
    assert_eq!(used(&counted[1].targets), [reg(Register::RCX), Slot::FLAGS]);
    let loaded = ops(&[access(0, AccessKind::Load, 8)], |a| {
        a.cmp(rax, qword_ptr(rbx))?;
        a.jne(0x1000)
    });
    assert_eq!(kinds(&loaded), [MicroKind::Load, MicroKind::Branch, MicroKind::Fused]);
    let apart = ops(NONE, |a| {
        a.cmp(rax, rbx)?;
        a.lea(rcx, ptr(rcx + 1))?;
        a.jne(0x1000)
    });
    assert_eq!(kinds(&apart), [MicroKind::Alu, MicroKind::Alu, MicroKind::Branch]);
    assert_eq!(used(&apart[2].sources), [Slot::FLAGS]);
}

#[test]
fn a_jump_within_a_block_was_not_taken() {
    let through = ops(NONE, |a| {
        a.je(0x2000)?;
        a.nop()
    });
    assert_eq!(kinds(&through), [MicroKind::NotTaken, MicroKind::Entry]);
}

#[test]
fn locked_instructions_give_the_old_value_to_their_registers() {
    let xchg = ops(&[access(0, AccessKind::Atomic, 8)], |a| a.xchg(qword_ptr(rdi), rax));
    assert_eq!(kinds(&xchg), [MicroKind::Locked]);
    assert_eq!(used(&xchg[0].targets), [reg(Register::RAX)]);
    let swap = ops(&[access(0, AccessKind::Atomic, 8)], |a| {
        a.lock().cmpxchg(qword_ptr(rdi), rbx)
    });
    assert!(used(&swap[0].sources).contains(&reg(Register::RBX)));
    assert!(used(&swap[0].targets).contains(&Slot::FLAGS));
}

#[test]
fn flushes_wait_for_their_address_and_fences_stand_alone() {
    let flush = ops(&[access(0, AccessKind::Clwb, 64)], |a| a.clwb(byte_ptr(rdi)));
    assert_eq!(
        (kinds(&flush), flush[0].address[0]),
        (vec![MicroKind::Clwb], reg(Register::RDI))
    );
    assert_eq!(
        kinds(&ops(&[access(0, AccessKind::Clflush, 64)], |a| a.clflush(byte_ptr(rdi)))),
        [MicroKind::Clflush]
    );
    assert_eq!(kinds(&ops(NONE, |a| a.sfence())), [MicroKind::Sfence]);
    assert_eq!(kinds(&ops(NONE, |a| a.mfence())), [MicroKind::Mfence]);
}

#[test]
fn string_instructions_move_their_own_addresses_on() {
    let moved = ops(
        &[access(0, AccessKind::Load, 8), access(0, AccessKind::Store, 8)],
        |a| a.movsq(),
    );
    assert_eq!(
        kinds(&moved),
        [MicroKind::Load, MicroKind::Store, MicroKind::Fused, MicroKind::Fused]
    );
    assert_eq!(
        (moved[0].address[0], moved[1].address[0]),
        (reg(Register::RSI), reg(Register::RDI))
    );
}

#[test]
fn markers_are_told_from_other_nops() {
    let marker = |code: u32| {
        let mut bytes = vec![0x0f, 0x1f, 0x80];
        bytes.extend_from_slice(&(strandline_capture::MARKER + code).to_le_bytes());
        bytes
    };
    let one = |code: &[u8]| {
        let block = Block {
            code: code.to_vec(),
            instructions: 1,
            ..block(NONE, |a| a.nop())
        };
        let code = Code::of(&[block]);
        let ops = code.ops(code.body(0).expect("the block")).to_vec();
        (kinds(&ops), ops.last().map(|op| op.site))
    };
    assert_eq!(one(&marker(1)), (vec![MicroKind::Entry, MicroKind::Marker], Some(1)));
    assert_eq!(one(&marker(99)), (vec![MicroKind::Entry], Some(0)));
}

#[test]
fn a_marker_right_behind_a_fence_says_what_the_fence_is() {
    let mut code = vec![0x0f, 0xae, 0xf8, 0x0f, 0x1f, 0x80];
    code.extend_from_slice(&(strandline_capture::MARKER + 3).to_le_bytes());
    let block = Block {
        code,
        instructions: 2,
        ..block(NONE, |a| a.nop())
    };
    let code = Code::of(&[block]);
    let ops = code.ops(code.body(0).expect("the block"));
    assert_eq!(kinds(ops), [MicroKind::Sfence, MicroKind::Entry]);
    assert_eq!(ops[0].site, crate::Marker::Durable as u32);
}

#[test]
fn what_is_no_code_keeps_its_accesses() {
    let broken = Block {
        code: vec![0x06; 3],
        instructions: 3,
        accesses: vec![access(1, AccessKind::Load, 8), access(2, AccessKind::Store, 4)],
        ..block(NONE, |a| a.nop())
    };
    let code = Code::of(&[broken]);
    let body = code.body(0).expect("the block");
    assert_eq!(
        kinds(code.ops(body)),
        [MicroKind::Entry, MicroKind::Load, MicroKind::Store]
    );
    assert_eq!(code.first(body, 2).len(), 2);
    assert!(code.first(body, 0).is_empty());
}

#[test]
fn more_registers_than_an_op_has_room_for_are_joined() {
    let adc = ops(&[access(0, AccessKind::Load, 8)], |a| a.adc(rax, qword_ptr(rbx)));
    assert_eq!(used(&adc[1].sources).len(), 3);
    let wide = ops(NONE, |a| a.shld(rax, rbx, cl));
    assert!(wide
        .iter()
        .all(|op| matches!(op.kind, MicroKind::Alu | MicroKind::Join)));
    let cmpxchg = ops(NONE, |a| a.cmpxchg(rcx, rbx));
    assert_eq!(cmpxchg.iter().filter(|op| op.is_entry()).count(), 1);
}
