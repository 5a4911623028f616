//! Impossible replays are refused in one line.

use super::spec;
use super::tape::{access, Load, Tape, DRAM};
use iced_x86::code_asm::{qword_ptr, rax};
use std::path::{Path, PathBuf};
use strandline_record::Event;
use strandline_sim::{run, Error, Spec};

fn small(name: &str) -> PathBuf {
    let mut tape = Tape::new();
    let block = tape.block(0x40_0000, &[access(0, Load, 8)], |a| a.mov(rax, qword_ptr(rax)));
    (0..100).for_each(|i| tape.run(0, block, &[DRAM + 8 * i], &[]));
    tape.save(name)
}

fn refusal(spec: &Spec) -> String {
    match run(spec) {
        Err(Error::Input(line)) => {
            assert!(!line.contains('\n'), "{line}");
            line
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn options_that_the_recording_decides_are_refused() {
    let path = small("options");
    let given = spec("x86", &path);
    let refused = |change: &dyn Fn(&mut Spec)| {
        let mut spec = given.clone();
        change(&mut spec);
        refusal(&spec)
    };
    assert!(refused(&|s| s.tasks = Some(5)).starts_with("--tasks 5: "));
    assert!(refused(&|s| s.threads = Some(2)).starts_with("--threads 2: "));
    assert!(refused(&|s| s.runtime = Some("undo".into())).starts_with("--runtime undo: "));
    assert!(refused(&|s| s.window = Some(strandline_sim::Window::Tasks(1))).starts_with("--window 1: "));
    assert!(refused(&|s| s.set = vec!["workload.queues=2".into()]).starts_with("--set workload.queues=2: "));
    let mut one = given.clone();
    one.threads = Some(1);
    assert!(run(&one).is_ok(), "as many threads as were recorded may be asked for");
}

#[test]
fn a_file_that_is_not_there_or_no_recording_is_refused() {
    let gone = refusal(&spec("x86", Path::new("/nowhere/gone.strand")));
    assert!(gone.contains("/nowhere/gone.strand"), "{gone}");
    let other = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("other.strand");
    std::fs::write(&other, "not a recording").expect("the target directory can be written");
    assert!(refusal(&spec("x86", &other)).contains("other.strand"));
}

#[test]
fn a_recording_of_nothing_is_refused() {
    let mut tape = Tape::new();
    tape.event(0, Event::Syscall(60));
    let path = tape.save("nothing");
    assert!(refusal(&spec("x86", &path)).contains("holds no instruction"));
}

#[test]
fn a_damaged_recording_is_refused_wherever_the_damage_is() {
    let bytes = std::fs::read(small("whole")).expect("just written");
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("damaged.strand");
        std::fs::write(&path, damaged).expect("the target directory can be written");
        assert!(refusal(&spec("x86", &path)).contains("damaged.strand"), "byte {at}");
    }
}

#[test]
fn what_is_no_path_is_a_workload() {
    assert!(!Spec::new("sps", "x86").is_recording());
    assert!(!Spec::new("spx", "x86").is_recording(), "a misspelt workload");
    assert!(Spec::new("spx.strand", "x86").is_recording());
    assert!(Spec::new("./spx", "x86").is_recording());
}
