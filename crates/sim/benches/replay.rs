//! Host speed of a recording and of the similar built-in program: swaps of two random elements with an undo log.
//!
//! `--only sps` and `--only speed.strand` run one of them, for a profiler; `--file FILE.strand` uses another recording.

#[path = "../tests/all/replay/tape.rs"]
#[allow(dead_code, reason = "a part of what the tests use")]
mod tape;

use iced_x86::code_asm::{byte_ptr, ptr, qword_ptr, r8, r9, rax, rbx, rcx, rdi, rdx, rsi, rsp};
use strandline_record::FenceClass;
use strandline_sim::{run, Record, Spec};
use tape::{access, Clwb, Load, Store, Tape, DRAM, PM};

const TASKS: u64 = 300_000;

/// Elements of 64 bytes, in persistent memory behind the log.
const ELEMENTS: u64 = 12_000;

fn record() -> String {
    let mut tape = Tape::new();
    let pick = tape.block(
        0x40_1000,
        &[access(7, Load, 8), access(13, Load, 8), access(14, Load, 8)],
        |a| {
            a.imul_2(rdx, r8)?;
            a.add(rdx, r9)?;
            a.mov(rax, rdx)?;
            a.shr(rax, 33)?;
            a.imul_2(rax, rcx)?;
            a.shr(rax, 32)?;
            a.shl(rax, 6)?;
            a.mov(rsi, qword_ptr(rbx + rax))?;
            a.imul_2(rdx, r8)?;
            a.add(rdx, r9)?;
            a.mov(rax, rdx)?;
            a.shr(rax, 33)?;
            a.lea(rdi, ptr(rbx + rax * 8))?;
            a.mov(rax, qword_ptr(rdi))?;
            a.cmp(qword_ptr(r8), rax)?;
            a.jne(0x40_2000)
        },
    );
    let stores = [
        access(0, Store, 8),
        access(1, Store, 8),
        access(2, Store, 8),
        access(3, Store, 8),
        access(4, Clwb, 64),
    ];
    let log = tape.block(0x40_2000, &stores, |a| {
        a.mov(qword_ptr(r9), rax)?;
        a.mov(qword_ptr(r9 + 8), rsi)?;
        a.mov(qword_ptr(r9 + 16), rdi)?;
        a.mov(qword_ptr(r9 + 24), rdx)?;
        a.clwb(byte_ptr(r9))?;
        a.sfence()?;
        a.add(r9, 64)?;
        a.test(rax, rax)?;
        a.je(0x40_2100)
    });
    let swap = tape.block(
        0x40_3000,
        &[
            access(0, Store, 8),
            access(1, Store, 8),
            access(2, Clwb, 64),
            access(3, Clwb, 64),
        ],
        |a| {
            a.mov(qword_ptr(rsi), rax)?;
            a.mov(qword_ptr(rdi), rdx)?;
            a.clwb(byte_ptr(rsi))?;
            a.clwb(byte_ptr(rdi))?;
            a.sfence()?;
            a.add(rsi, 8)?;
            a.dec(rcx)?;
            a.jne(0x40_1000)
        },
    );
    let frame = [
        access(0, Store, 8),
        access(1, Store, 8),
        access(2, Store, 8),
        access(4, Load, 8),
        access(7, Store, 8),
        access(12, Load, 8),
        access(15, Store, 8),
        access(16, Load, 8),
        access(17, Load, 8),
    ];
    let call = tape.block(0x40_4000, &frame, |a| {
        a.push(rbx)?;
        a.push(rsi)?;
        a.push(rdi)?;
        a.lea(rax, ptr(rbx + rcx * 4 + 16))?;
        a.mov(rdx, qword_ptr(rax))?;
        a.xor(rdx, rcx)?;
        a.add(rdx, 7)?;
        a.mov(qword_ptr(rsp + 24), rdx)?;
        a.shr(rdx, 3)?;
        a.sub(rdx, rsi)?;
        a.and(rdx, 63)?;
        a.mov(rdi, rdx)?;
        a.add(rdi, qword_ptr(rsp + 24))?;
        a.lea(rdi, ptr(rdi * 8))?;
        a.or(rdi, rsi)?;
        a.mov(qword_ptr(rsp + 32), rdi)?;
        a.pop(rdi)?;
        a.pop(rsi)?;
        a.add(rbx, 8)?;
        a.test(rbx, rbx)?;
        a.jne(0x40_1000)
    });
    let mut state = 1u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        PM + 65_536 + (state >> 33) % ELEMENTS * 64
    };
    for task in 0..TASKS {
        let (a, b, line) = (random(), random(), PM + task % 1000 * 64);
        for at in [DRAM + 8192 + task % 64 * 8, DRAM + 16384] {
            tape.run(
                0,
                call,
                &[at, at + 8, at + 16, at + 512, at + 24, at + 24, at + 32, at, at + 8],
                &[0; 5],
            );
        }
        tape.run(0, pick, &[a, b, DRAM + task % 512 * 8], &[]);
        tape.run(0, log, &[line, line + 8, line + 16, line + 24, line], &[task, a, b, 1]);
        tape.run(0, swap, &[a, b, a, b], &[task, b]);
    }
    tape.fences(0, &[FenceClass::Order, FenceClass::Durable].repeat(TASKS as usize));
    tape.save("speed").to_str().expect("UTF-8").to_owned()
}

/// The fastest of three runs, because other processes use the host, too.
fn fastest(workload: &str, design: &str, tasks: Option<u64>) -> Record {
    let spec = Spec {
        tasks,
        warm: Some(0),
        ..Spec::new(workload, design)
    };
    let mut runs: Vec<Record> = (0..3).map(|_| run(&spec).expect("a run")).collect();
    runs.sort_by(|a, b| b.host_mips.total_cmp(&a.host_mips));
    runs.swap_remove(0)
}

fn main() {
    let after = |option: &str| std::env::args().skip_while(|a| a != option).nth(1);
    let recording = after("--file").unwrap_or_else(record);
    println!(
        "{:>12} {:>10} {:>12} {:>9} {:>9} {:>9}",
        "", "design", "instructions", "stores%", "flushes%", "host MIPS"
    );
    let only = after("--only");
    for design in ["x86", "eadr", "volatile"] {
        for (name, tasks) in [("sps", Some(TASKS)), (recording.as_str(), None)] {
            if only.as_ref().is_some_and(|only| !name.ends_with(only.as_str())) {
                continue;
            }
            let record = fastest(name, design, tasks);
            let percent = |n: u64| 100.0 * n as f64 / record.stats.instructions as f64;
            println!(
                "{:>12} {design:>10} {:>12} {:>9.1} {:>9.1} {:>9.1}",
                record.ran.workload,
                record.stats.instructions,
                percent(record.stats.stores),
                percent(record.stats.flushes),
                record.host_mips
            );
        }
    }
}
