//! The bytes that recorded stores leave in persistent memory.

use super::spec;
use super::tape::{access, Atomic, Clwb, Store, StoreNt, Tape, Update, PM};
use iced_x86::code_asm::{al, byte_ptr, qword_ptr, rax, rdi, rsi, xmm0, xmmword_ptr, ymm0, ymmword_ptr};
use std::path::Path;
use strandline_isa::{LineData, PM_BASE};
use strandline_sim::observe;

/// The first durable bytes of persistent memory in a replay.
fn durable(design: &str, path: &Path) -> Vec<u8> {
    let seen = observe(&spec(design, path)).unwrap_or_else(|error| panic!("{error}"));
    let mut bytes = vec![0; 1024];
    for event in &seen.journal.durable {
        let data: &LineData = &event.data;
        let at = (event.line.addr().0 - PM_BASE) as usize;
        let line: Vec<u8> = data.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes[at..at + 64].copy_from_slice(&line);
    }
    bytes
}

fn words(bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    bytes.chunks(8).map(word).collect()
}

#[test]
fn an_unaligned_store_of_32_bytes_leaves_exactly_them() {
    let mut tape = Tape::new();
    let accesses = [access(0, Store, 32), access(1, Clwb, 64), access(2, Clwb, 64)];
    let block = tape.block(0x40_0000, &accesses, |a| {
        a.vmovdqu(ymmword_ptr(rdi), ymm0)?;
        a.clwb(byte_ptr(rdi))?;
        a.clwb(byte_ptr(rdi + 32))?;
        a.sfence()
    });
    let value: Vec<u8> = (1..=32).collect();
    // Over the end of a line, and at an odd address.
    tape.run(0, block, &[PM + 43, PM + 43, PM + 75], &words(&value));
    let bytes = durable("x86", &tape.save("unaligned"));
    assert_eq!(&bytes[43..75], value);
    assert!(bytes[..43].iter().chain(&bytes[75..]).all(|byte| *byte == 0));
}

#[test]
fn stores_of_all_kinds_leave_their_bytes() {
    let mut tape = Tape::new();
    let accesses = [
        access(0, Store, 1),
        access(1, StoreNt, 16),
        access(2, Update, 8),
        access(3, Atomic, 4),
        access(4, Atomic, 16),
        access(5, Clwb, 64),
        access(6, Clwb, 64),
    ];
    let block = tape.block(0x40_0000, &accesses, |a| {
        a.mov(byte_ptr(rdi), al)?;
        a.movntdq(xmmword_ptr(rsi), xmm0)?;
        a.add(qword_ptr(rdi), rax)?;
        a.lock().inc(iced_x86::code_asm::dword_ptr(rdi))?;
        a.lock().cmpxchg16b(xmmword_ptr(rsi))?;
        a.clwb(byte_ptr(rdi))?;
        a.clwb(byte_ptr(rsi))?;
        a.sfence()
    });
    let at = [PM + 3, PM + 64, PM + 8, PM + 20, PM + 128, PM, PM + 128];
    let nt: Vec<u8> = (0x10..0x20).collect();
    let pair: Vec<u8> = (0x40..0x50).collect();
    let mut values = vec![0xaa];
    values.extend(words(&nt));
    values.push(0x1122_3344_5566_7788);
    values.push(0xdead_beef);
    values.extend(words(&pair));
    tape.run(0, block, &at, &values);
    let bytes = durable("x86", &tape.save("kinds"));
    assert_eq!(bytes[3], 0xaa);
    assert_eq!(words(&bytes[8..16]), [0x1122_3344_5566_7788]);
    assert_eq!(
        words(&bytes[16..24]),
        [0xdead_beef_0000_0000],
        "the four bytes beside it are left alone"
    );
    assert_eq!(&bytes[64..80], nt);
    assert_eq!(&bytes[128..144], pair);
}

#[test]
fn iterations_of_a_string_instruction_leave_every_byte() {
    let mut tape = Tape::new();
    // rep stosb
    let fill = tape.string(0x40_0000, &[0xf3, 0xaa], &[access(0, Store, 1)]);
    for i in 0..150 {
        tape.run(0, fill, &[PM + 20 + i], &[i + 1]);
    }
    let flush = tape.block(0x40_1000, &[access(0, Clwb, 64)], |a| {
        a.clwb(byte_ptr(rdi))?;
        a.sfence()
    });
    for line in 0..3 {
        tape.run(0, flush, &[PM + 64 * line], &[]);
    }
    let bytes = durable("x86", &tape.save("string-bytes"));
    let expected: Vec<u8> = (1..=150).collect();
    assert_eq!(&bytes[20..170], expected);
}
