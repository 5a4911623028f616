//! Recorded programs under the simulator.

mod tape;

use iced_x86::code_asm::{rax, rbx, rdi};
use std::path::Path;
use strandline_record::FenceClass;
use strandline_sim::{run, Record, Spec};
use tape::{access, Clwb, Load, Store, Tape, DRAM, PM};

fn under(design: &str, path: &Path) -> Record {
    let spec = Spec {
        threads: 0,
        ..Spec::new(path.to_str().expect("a path in UTF-8"), design)
    };
    run(&spec).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_recording_runs_and_counts_what_it_did() {
    let mut tape = Tape::new();
    let accesses = [access(0, Load, 8), access(2, Store, 8), access(3, Clwb, 64)];
    let block = tape.block(0x40_0000, &accesses, |a| {
        a.mov(rax, iced_x86::code_asm::qword_ptr(rbx))?;
        a.add(rax, 1)?;
        a.mov(iced_x86::code_asm::qword_ptr(rdi), rax)?;
        a.clwb(iced_x86::code_asm::byte_ptr(rdi))?;
        a.sfence()
    });
    for i in 0..100 {
        tape.run(0, block, &[DRAM + 8 * i, PM + 64 * i, PM + 64 * i], &[i]);
    }
    tape.fences(0, &[FenceClass::Order; 100]);
    let path = tape.save("counts");
    let record = under("x86", &path);
    assert_eq!(record.instructions, 500, "each of the five instructions is an entry");
    assert_eq!((record.loads, record.stores), (100, 100));
    assert_eq!((record.flushes, record.fences), (100, 100));
    assert_eq!(record.pm_writes, 100, "each flush brings a line of its own to memory");
    assert_eq!(record.workload, "counts");
}
