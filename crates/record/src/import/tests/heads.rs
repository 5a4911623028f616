//! What cannot be imported says so in a line.

use super::trace::{import_at, kind, marker, refusal, Folder, Trace, FILE_TYPE};
use crate::import::range_of;

fn of(version: u64, file_type: u64) -> String {
    let mut trace = Trace::of(9, version, file_type);
    trace.mark(marker::TIMESTAMP, 100).plain(&[0x90]);
    refusal(&trace.end().bytes).to_string()
}

#[track_caller]
fn says(line: &str, words: &[&str]) {
    assert!(!line.contains('\n'), "{line}");
    for word in words {
        assert!(line.contains(word), "{line:?} does not say {word:?}");
    }
}

#[test]
fn traces_without_machine_code_name_the_tool_that_adds_it() {
    says(
        &of(3, 0x40),
        &[
            "t.trace: ",
            "holds no machine code (version 3",
            "trace the program again",
        ],
    );
    says(&of(6, 0x40), &["holds no machine code"]);
}

#[test]
fn traces_of_other_machines_are_refused() {
    says(&of(6, 0x8 | 0x200), &["64-bit ARM"]);
    says(&of(6, 0x10 | 0x200), &["32-bit ARM"]);
    says(&of(6, 0x20 | 0x200), &["32-bit x86"]);
    says(&of(6, 0x200), &["x86-64"]);
}

#[test]
fn traces_of_only_some_accesses_are_refused() {
    for filtered in [0x1, 0x80, 0x100] {
        says(&of(6, FILE_TYPE | filtered), &["filtered", "-L0_filter"]);
    }
    says(&of(6, FILE_TYPE | 0x4), &["holds no accesses"]);
}

#[test]
fn what_is_no_trace_is_refused() {
    says(
        &refusal(b"#!/bin/sh\necho hello\n").to_string(),
        &["is no final drmemtrace trace", "drraw2trace"],
    );
    says(
        &refusal(b"").to_string(),
        &["byte 0", "ends before its first instruction"],
    );
    says(&refusal(b"\xff\x06\x00\x00sNaPpY....").to_string(), &["snappy", "zip"]);
}

#[test]
fn records_of_eight_bytes_are_of_a_32_bit_program() {
    let record = |kind: u16, size: u16, value: u32| {
        [&kind.to_le_bytes()[..], &size.to_le_bytes(), &value.to_le_bytes()].concat()
    };
    let bytes = [record(25, 0, 6), record(28, 12, 6), record(28, 9, 0x220)].concat();
    says(&refusal(&bytes).to_string(), &["byte 0", "32-bit"]);
}

#[test]
fn several_threads_or_processes_in_a_file_are_refused_at_their_place() {
    let mut trace = Trace::new(9, 100);
    trace.plain(&[0x90]);
    let place = trace.bytes.len() as u64;
    let thread = refusal(&trace.clone().put(kind::THREAD, 0, 10).bytes);
    assert_eq!(thread.offset(), Some(place));
    says(&thread.to_string(), &["several threads", "a file a thread"]);
    let process = refusal(&trace.put(kind::PID, 0, 10).bytes);
    assert_eq!(process.offset(), Some(place));
}

#[test]
fn wrong_records_are_refused_at_their_place() {
    type Wrong = fn(&mut Trace) -> &mut Trace;
    let wrongs: [(Wrong, &str); 8] = [
        (|t| t.put(99, 0, 0), "unknown record (kind 99)"),
        (|t| t.put(kind::BUNDLE, 0, 0), "unknown record (kind 17)"),
        (|t| t.put(kind::ENCODING, 9, 0), "has 9 bytes"),
        (|t| t.put(kind::INSTR, 1, 0x4444), "at 0x4444 is missing"),
        (|t| t.put(kind::INSTR, 2, 0x1000), "another length than before"),
        (|t| t.read(8, 1 << 63), "no address of a program"),
        (|t| t.put(kind::HEADER, 0, 6), "second beginning"),
        (|t| t.put(kind::FOOTER, 0, 0).put(kind::FOOTER, 0, 0), "after the end"),
    ];
    for (wrong, says_so) in wrongs {
        let mut trace = Trace::new(9, 100);
        trace.plain(&[0x90]);
        wrong(&mut trace);
        let error = refusal(&trace.bytes);
        assert_eq!(error.offset(), Some(trace.bytes.len() as u64 - 12), "{error}");
        says(&error.to_string(), &["t.trace: byte ", says_so]);
    }
}

#[test]
fn code_that_is_no_instruction_is_refused() {
    let mut trace = Trace::new(9, 100);
    trace.plain(&[0x0f, 0x0b, 0x90]);
    says(
        &refusal(&trace.bytes).to_string(),
        &["the code 0f0b90 at 0x1000 is no instruction"],
    );
}

#[test]
fn an_access_without_an_instruction_is_refused() {
    says(
        &refusal(&Trace::new(9, 100).read(8, 0x5000).bytes).to_string(),
        &["an access without an instruction"],
    );
}

#[test]
fn folders_without_a_final_trace_say_what_to_run() {
    let folder = Folder::new();
    let line = |path| {
        import_at(&folder.0.join(path), &folder.out())
            .expect_err("there is no trace")
            .to_string()
    };
    folder.file("a.dir/raw/drmemtrace.app.9.raw.lz4", b"");
    folder.file("b.dir/notes", b"");
    says(&line("a.dir"), &["a.dir: ", "raw trace", "drraw2trace -indir"]);
    says(&line("a.dir/raw"), &["raw trace"]);
    says(&line("b.dir"), &["holds no trace"]);
    says(&line("c.dir"), &["c.dir: cannot be read"]);
}

#[test]
fn two_processes_are_refused() {
    let folder = Folder::new();
    let trace = Trace::new(9, 100).plain(&[0x90]).end().bytes;
    folder.file("a.1.trace", &trace);
    let mut other = trace.clone();
    // The process's record is the fifth; its number begins after four bytes.
    other[4 * 12 + 4] = 78;
    folder.file("a.2.trace", &other);
    let error = import_at(&folder.0, &folder.out()).expect_err("there are two");
    says(&error.to_string(), &["processes 77 and 78"]);
}

#[test]
fn a_refused_import_leaves_nothing_behind() {
    let folder = Folder::new();
    let path = folder.file("t.trace", &Trace::new(9, 100).plain(&[0x90]).bytes);
    assert!(import_at(&path, &folder.out()).is_err());
    let left: Vec<_> = std::fs::read_dir(&folder.0).expect("it is there").flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn a_range_of_addresses_has_two_ends() {
    assert_eq!(range_of("0x1000:0x2000"), Ok(0x1000..0x2000));
    assert_eq!(range_of("16:32"), Ok(16..32));
    for wrong in [
        "",
        "0x1000",
        "0x2000:0x1000",
        "0x1000:0x1000",
        "0x1000:zz",
        "0:0xffffffffffffffff",
    ] {
        let error = range_of(wrong).expect_err("it is no range");
        says(&error.to_string(), &["--pm-range ", "0xSTART:0xEND"]);
    }
}
