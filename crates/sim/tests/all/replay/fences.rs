//! What recorded fences, flushes and markers are replayed as.

use super::tape::{access, Atomic, Clflush, Clwb, Load, Store, StoreNt, Tape, DRAM, PM};
use super::{count, spec, under};
use iced_x86::code_asm::{byte_ptr, qword_ptr, rax, rdi, rsi, CodeAssembler};
use iced_x86::IcedError;
use std::path::{Path, PathBuf};
use strandline_record::{Access, FenceClass, Marker};
use strandline_sim::{run, Record, Spec};

/// A task: two stores, flushed and fenced, the second one durably; an idle fence; a full fence.
fn tape(name: &str) -> PathBuf {
    let mut tape = Tape::new();
    let accesses = [
        access(1, Store, 8),
        access(2, Clwb, 64),
        access(4, StoreNt, 8),
        access(6, Clflush, 64),
    ];
    let block = tape.block(0x40_0000, &accesses, |a| {
        marker(a, Marker::TaskBegin)?;
        a.mov(qword_ptr(rdi), rax)?;
        a.clwb(byte_ptr(rdi))?;
        a.sfence()?;
        a.movnti(qword_ptr(rdi), rax)?;
        a.sfence()?;
        a.clflush(byte_ptr(rdi))?;
        a.sfence()?;
        a.mfence()?;
        marker(a, Marker::TaskEnd)
    });
    for i in 0..10 {
        tape.run(
            0,
            block,
            &[PM + 64 * i, PM + 64 * i, PM + 8192 + 64 * i, PM + 64 * i],
            &[i, i],
        );
    }
    let task = [
        FenceClass::Order,
        FenceClass::Durable,
        FenceClass::Idle,
        FenceClass::Idle,
    ];
    tape.fences(0, &task.repeat(10));
    tape.save(name)
}

fn marker(a: &mut CodeAssembler, marker: Marker) -> Result<(), IcedError> {
    // The assembler cannot choose the displacement of a `nop`.
    let mut bytes = vec![0x0f, 0x1f, 0x80];
    bytes.extend_from_slice(&marker.displacement().to_le_bytes());
    a.db(&bytes)
}

#[test]
fn x86_replays_exactly_what_was_recorded() {
    let record = under("x86", &tape("exactly"));
    assert_eq!(record.stats.tasks, 10);
    assert_eq!((record.stats.flushes, record.stats.fences), (20, 40));
    assert_eq!(record.stats.stores, 20);
    assert_eq!(
        record.stats.instructions, 100,
        "ten instructions a task, the markers' among them"
    );
    assert_eq!(count(&record, "recording_fences_order"), 10);
    assert_eq!(count(&record, "recording_fences_durable"), 10);
    assert_eq!(count(&record, "recording_fences_idle"), 20);
    assert_eq!(count(&record, "recording_flushes_replayed"), 20);
    assert_eq!(count(&record, "recording_markers"), 20);
    assert_eq!(record.params["recording_policy"], "fence-classes");
}

#[test]
fn fences_become_what_their_class_is_under_a_design() {
    // Of a task's four fences: order, durable, idle `sfence`, idle `mfence`.
    let fences = |design: &str| under(design, &tape(&format!("classes-{design}"))).stats.fences / 10;
    assert_eq!(fences("non-atomic"), 3, "nothing orders the log before the update");
    assert_eq!(fences("x86-pcommit"), 3 + 3 + 1 + 1, "sfence, pcommit, sfence");
    assert_eq!(fences("eadr"), 3, "only durability and what orders nothing persistent");
    assert_eq!(
        fences("unordered"),
        0,
        "no load depends on the full fence, so it is read as an sfence"
    );
    assert_eq!(fences("volatile"), 0);
    let recorded = |design: &str| read("recorded", design, &tape(&format!("kept-{design}"))).stats.fences / 10;
    assert_eq!(
        recorded("unordered"),
        1,
        "the full fence that orders nothing persistent"
    );
    assert_eq!(recorded("volatile"), 1);
}

/// The replay of a recording whose fences are read in this way.
fn read(fences: &str, design: &str, path: &Path) -> Record {
    let asked = Spec {
        set: vec![format!("recording.fences={fences}")],
        ..spec(design, path)
    };
    run(&asked).unwrap_or_else(|error| panic!("{error}"))
}

/// A program of one block: the words of its code, and what it accesses.
fn program(name: &str, accesses: &[Access], code: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> PathBuf {
    let mut tape = Tape::new();
    let block = tape.block(0x40_0000, accesses, code);
    let addresses = vec![PM; accesses.len()];
    let values = vec![1; accesses.iter().filter(|access| access.kind.writes()).count()];
    tape.run(0, block, &addresses, &values);
    tape.save(name)
}

#[test]
fn mfence_and_clflush_are_read_as_what_designs_replace() {
    let path = program("read", &[access(0, Store, 8), access(2, Clflush, 64)], |a| {
        a.mov(qword_ptr(rdi), rax)?;
        a.mfence()?;
        a.clflush(byte_ptr(rdi))?;
        a.mfence()
    });
    let text = |fences: &str| read(fences, "x86", &path).params["recording_reading"].clone();
    for fences in ["auto", "flush"] {
        assert_eq!(text(fences), "mfence as sfence, clflush as clwb", "{fences}");
    }
    assert_eq!(text("recorded"), "as recorded");
    assert_eq!(read("auto", "unordered", &path).stats.fences, 0);
    assert_eq!(read("recorded", "unordered", &path).stats.fences, 2);
}

#[test]
fn a_clflush_before_a_store_without_a_fence_stays() {
    let accesses = [access(0, Store, 8), access(1, Clflush, 64), access(2, Store, 8)];
    let path = program("stays", &accesses, |a| {
        a.mov(qword_ptr(rdi), rax)?;
        a.clflush(byte_ptr(rdi))?;
        a.mov(qword_ptr(rdi), rax)?;
        a.mfence()
    });
    assert_eq!(
        read("auto", "x86", &path).params["recording_reading"],
        "mfence as sfence, else as recorded: a store to persistent memory follows a clflush before any fence"
    );
    let unfenced = program("unfenced-clflush", &accesses[..2], |a| {
        a.mov(qword_ptr(rdi), rax)?;
        a.clflush(byte_ptr(rdi))
    });
    assert_eq!(
        read("auto", "x86", &unfenced).params["recording_reading"],
        "else as recorded: a thread ends with a clflush that no fence follows"
    );
}

#[test]
fn an_mfence_before_a_load_of_a_synchronisation_word_stays() {
    for (lock, reading) in [
        (
            DRAM,
            "else as recorded: a load of a synchronisation word follows an mfence",
        ),
        (DRAM + 64, "mfence as sfence"),
    ] {
        let mut tape = Tape::new();
        let taken = tape.block(0x40_0000, &[access(0, Atomic, 8)], |a| a.xchg(qword_ptr(rsi), rax));
        let raced = tape.block(0x40_1000, &[access(0, Store, 8), access(2, Load, 8)], |a| {
            a.mov(qword_ptr(rdi), rax)?;
            a.mfence()?;
            a.mov(rax, qword_ptr(rsi))
        });
        tape.run_in_turn(1, taken, &[lock], &[1], &[(0, 0)]);
        tape.run(0, raced, &[DRAM + 4096, DRAM], &[1]);
        tape.fences(0, &[FenceClass::Idle]);
        let path = tape.save(&format!("raced-{lock:x}"));
        assert_eq!(read("auto", "x86", &path).params["recording_reading"], reading);
    }
}

#[test]
fn a_workload_has_no_recorded_fences() {
    let asked = Spec {
        set: vec!["recording.fences=flush".to_owned()],
        ..Spec::new("sps", "x86")
    };
    let refused = run(&asked).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(
        refused.starts_with("--set recording.fences=flush: sps is a workload"),
        "{refused}"
    );
}

#[test]
fn flushes_are_skipped_where_the_design_needs_none() {
    for (design, flushes) in [("x86", 20), ("unordered", 20), ("eadr", 0), ("volatile", 0)] {
        let record = under(design, &tape(&format!("flushes-{design}")));
        assert_eq!(record.stats.flushes, flushes, "{design}");
        assert_eq!(count(&record, "recording_flushes_skipped"), 20 - flushes, "{design}");
    }
}

/// The fences of a store and flush, a fence of class `Order`, more code, and a marker.
fn marked(name: &str, design: &str, apart: bool, says: Marker) -> u64 {
    let mut tape = Tape::new();
    let stored = tape.block(0x40_0000, &[access(0, Store, 8), access(1, Clwb, 64)], |a| {
        a.mov(qword_ptr(rdi), rax)?;
        a.clwb(byte_ptr(rdi))?;
        a.sfence()?;
        match apart {
            true => a.nop(),
            false => marker(a, says),
        }
    });
    let said = tape.block(0x40_1000, &[], |a| marker(a, says));
    tape.run(0, stored, &[PM, PM], &[1]);
    if apart {
        tape.run(0, said, &[], &[]);
    }
    tape.fences(0, &[FenceClass::Order]);
    under(design, &tape.save(name)).stats.fences
}

#[test]
fn a_marker_stands_in_place_of_the_fence_before_it() {
    for apart in [false, true] {
        let fences = |design, says| marked(&format!("marked-{design}-{apart}-{says:?}"), design, apart, says);
        assert_eq!(fences("x86", Marker::Durable), 1, "the recorded fence is all");
        assert_eq!(fences("x86", Marker::Order), 1);
        assert_eq!(
            fences("eadr", Marker::Durable),
            1,
            "the fence's own class would need none"
        );
        assert_eq!(fences("eadr", Marker::Order), 0);
        assert_eq!(fences("non-atomic", Marker::Durable), 1);
    }
}

#[test]
fn a_marker_without_a_fence_is_an_intent() {
    let mut tape = Tape::new();
    let block = tape.block(0x40_0000, &[access(0, Store, 8), access(1, Clwb, 64)], |a| {
        a.mov(qword_ptr(rdi), rax)?;
        a.clwb(byte_ptr(rdi))?;
        marker(a, Marker::Durable)
    });
    tape.run(0, block, &[PM, PM], &[1]);
    assert_eq!(under("x86", &tape.save("unfenced")).stats.fences, 1);
}

#[test]
fn before_a_context_switch_or_a_device_looks_what_waits_beside_the_core_is_made_durable() {
    for says in [Marker::ContextSwitch, Marker::Dma] {
        let fences = |design: &str| {
            let mut tape = Tape::new();
            let block = tape.block(0x40_0000, &[access(0, Store, 8)], |a| {
                a.mov(qword_ptr(rdi), rax)?;
                marker(a, says)
            });
            tape.run(0, block, &[PM], &[1]);
            under(design, &tape.save(&format!("handed-over-{design}-{says:?}")))
                .stats
                .fences
        };
        assert_eq!(fences("hops-ep"), 1, "{says:?}: a dfence");
        assert_eq!(fences("x86"), 0, "{says:?}: caches are kept coherent");
        assert_eq!(fences("eadr"), 0, "{says:?}");
    }
}
