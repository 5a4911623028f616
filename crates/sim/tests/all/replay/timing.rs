//! What recorded instructions cost.

use super::tape::{access, Load, Store, Tape, DRAM};
use super::under;
use iced_x86::code_asm::{qword_ptr, rax, rbx, rcx, rdi, rsi};
use strandline_sim::Record;

/// This many loads of distant lines by this code.
fn loads(name: &str, chase: bool) -> Record {
    let mut tape = Tape::new();
    let block = tape.block(0x40_0000, &[access(0, Load, 8)], |a| match chase {
        true => a.mov(rax, qword_ptr(rax)),
        false => a.mov(rax, qword_ptr(rbx)),
    });
    for i in 0..64 {
        tape.run(0, block, &[DRAM + 4096 * i], &[]);
    }
    under("x86", &tape.save(name))
}

#[test]
fn a_chase_of_pointers_is_serial_and_loads_of_known_addresses_overlap() {
    let (chase, apart) = (loads("chase", true), loads("apart", false));
    assert_eq!(chase.stats.instructions, apart.stats.instructions);
    // Each load of the chase depends on the previous one: 64 times the LLC's latency, while the others overlap.
    assert!(
        chase.stats.cycles.0 > 5 * apart.stats.cycles.0,
        "{} against {}",
        chase.stats.cycles.0,
        apart.stats.cycles.0
    );
}

#[test]
fn a_multiplication_on_the_way_delays_what_follows_by_its_latency() {
    let cycles = |name: &str, multiplies: bool| {
        let mut tape = Tape::new();
        let block = tape.block(0x40_0000, &[], |a| match multiplies {
            true => a.imul_2(rax, rax),
            false => a.add(rax, rax),
        });
        (0..1000).for_each(|_| tape.run(0, block, &[], &[]));
        under("x86", &tape.save(name)).stats.cycles.0
    };
    let (added, multiplied) = (cycles("adds", false), cycles("multiplications", true));
    // One and three cycles for a link of the chain on machine cosplay, except at its beginning and end.
    assert!((1000..1010).contains(&added), "{added}");
    assert!((3000..3010).contains(&multiplied), "{multiplied}");
}

#[test]
fn a_moved_register_is_ready_with_its_source() {
    let mut tape = Tape::new();
    let block = tape.block(0x40_0000, &[], |a| {
        a.mov(rbx, rax)?;
        a.mov(rcx, rbx)?;
        a.mov(rax, rcx)
    });
    (0..1000).for_each(|_| tape.run(0, block, &[], &[]));
    let record = under("x86", &tape.save("moves"));
    assert_eq!(record.stats.instructions, 3000);
    // A chain of 3000 moves would take that long without move elimination; three ports take 1000.
    assert!(record.stats.cycles.0 < 1100, "{}", record.stats.cycles.0);
}

#[test]
fn a_branch_that_goes_where_it_went_is_cheap_and_one_without_a_pattern_is_not() {
    let cycles = |name: &str, patternless: bool| {
        let mut tape = Tape::new();
        let jump = |a: &mut iced_x86::code_asm::CodeAssembler| {
            a.test(rax, rax)?;
            a.je(0x40_2000)
        };
        let branch = tape.block(0x40_1000, &[], jump);
        let body = |tape: &mut Tape, pc| tape.block(pc, &[], |a| a.jmp(0x40_1000));
        // `test` has three bytes and a `je` over this distance six.
        let length = 9;
        let (next, away) = (body(&mut tape, 0x40_1000 + length), body(&mut tape, 0x40_2000));
        let mut random = 1u64;
        for _ in 0..1000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            let taken = patternless && random >> 63 == 1;
            tape.run(0, branch, &[], &[]);
            tape.run(0, if taken { away } else { next }, &[], &[]);
        }
        under("x86", &tape.save(name)).stats.cycles.0
    };
    let (steady, wild) = (cycles("steady", false), cycles("wild", true));
    assert!(wild > 5 * steady, "{wild} against {steady}");
}

#[test]
fn an_indirect_jump_is_mispredicted_when_its_target_changes() {
    let cycles = |name: &str, targets: u64| {
        let mut tape = Tape::new();
        let jump = tape.block(0x40_1000, &[], |a| a.jmp(rax));
        let away: Vec<u32> = (0..targets)
            .map(|t| tape.block(0x40_2000 + 64 * t, &[], |a| a.jmp(0x40_1000)))
            .collect();
        let mut random = 1u64;
        for _ in 0..1000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            tape.run(0, jump, &[], &[]);
            tape.run(0, away[(random >> 33) as usize % away.len()], &[], &[]);
        }
        under("x86", &tape.save(name)).stats.cycles.0
    };
    let (one, two) = (cycles("one-target", 1), cycles("two-targets", 2));
    assert!(two > 5 * one, "{two} against {one}");
}

#[test]
fn iterations_of_a_string_instruction_move_lines() {
    let mut tape = Tape::new();
    // rep movsb
    let copy = tape.string(0x40_0000, &[0xf3, 0xa4], &[access(0, Load, 1), access(0, Store, 1)]);
    for i in 0..256 {
        tape.run(0, copy, &[DRAM + i, DRAM + 4096 + i], &[0]);
    }
    let record = under("x86", &tape.save("string"));
    assert_eq!(
        (record.stats.loads, record.stats.stores),
        (4, 4),
        "256 bytes are four lines"
    );
}

#[test]
fn accesses_that_cross_lines_take_an_entry_a_line() {
    let mut tape = Tape::new();
    let vector = [access(0, Load, 32), access(1, Store, 32)];
    let block = tape.block(0x40_0000, &vector, |a| {
        a.vmovdqu(iced_x86::code_asm::ymm0, iced_x86::code_asm::ymmword_ptr(rsi))?;
        a.vmovdqu(iced_x86::code_asm::ymmword_ptr(rdi), iced_x86::code_asm::ymm0)
    });
    tape.run(0, block, &[DRAM, DRAM + 64], &[0; 4]);
    tape.run(0, block, &[DRAM + 48, DRAM + 112], &[0; 4]);
    let record = under("x86", &tape.save("crossing"));
    assert_eq!(record.stats.loads, 3);
    assert_eq!(
        record.stats.stores, 2,
        "what a store has beyond its first piece takes no entry"
    );
}
