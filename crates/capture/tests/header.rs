//! `include/strandline/markers.h` matches [`Marker`]: the test compiles it and reads the machine code.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use strandline_capture::{Marker, MARKER};

/// `TaskBegin` is `STRANDLINE_TASK_BEGIN`.
fn macro_of(marker: Marker) -> String {
    let mut name = String::from("STRANDLINE");
    for letter in format!("{marker:?}").chars() {
        if letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

fn of_programs() -> impl Iterator<Item = Marker> {
    Marker::ALL.into_iter().filter(|marker| marker.is_of_programs())
}

/// A program that executes every marker once, in the order of their numbers.
fn source() -> String {
    let mut text = String::from("#include <strandline/markers.h>\nint main(void) {\n");
    for marker in of_programs() {
        let _ = writeln!(text, "    if (1) {}();", macro_of(marker));
    }
    text + "    return 0;\n}\n"
}

/// Compiles the program to `name`, with warnings as errors; returns the executable.
fn compile(compiler: &str, flags: &[&str], name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (program, input) = (folder.join(name), folder.join(format!("{name}.src")));
    std::fs::write(&input, source()).expect("the test's folder takes files");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let output = Command::new(compiler)
        .args(flags)
        .args(["-Wall", "-Wextra", "-pedantic", "-Werror", "-O2", "-I"])
        .args([&include, Path::new("-o"), &program, &input])
        .output()
        .unwrap_or_else(|error| panic!("{compiler} cannot be run ({error}): install it, e.g. apt-get install g++"));
    assert!(
        output.status.success(),
        "{compiler} refuses the header: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    program
}

/// The displacements of all markers in a program's code.
fn markers_in(program: &Path) -> Vec<u32> {
    let code = std::fs::read(program).expect("the compiler has written it");
    let nops = code.windows(7).filter(|bytes| bytes.starts_with(&[0x0f, 0x1f, 0x80]));
    nops.map(|bytes| u32::from_le_bytes([bytes[3], bytes[4], bytes[5], bytes[6]]))
        .filter(|displacement| displacement & !0xff == MARKER)
        .collect()
}

fn every_marker_is_there(compiler: &str, flags: &[&str], name: &str) {
    let program = compile(compiler, flags, name);
    assert_eq!(
        markers_in(&program),
        of_programs().map(Marker::displacement).collect::<Vec<_>>()
    );
    let status = Command::new(&program).status().expect("the program runs");
    assert!(status.success(), "markers do nothing");
}

#[test]
fn the_header_serves_strict_c99() {
    every_marker_is_there("cc", &["-xc", "-std=c99"], "markers_c99");
}

#[test]
fn the_header_serves_gnu_c() {
    every_marker_is_there("cc", &["-xc"], "markers_c");
}

#[test]
fn the_header_serves_cpp() {
    every_marker_is_there("c++", &["-xc++", "-std=c++11"], "markers_cpp");
}
