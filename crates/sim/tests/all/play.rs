//! How a program's end by unwinding ends its run.

use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use strandline_isa::Memory;
use strandline_machine::{factory, MachineConfig, Options, Remote};
use strandline_runtime::TooLarge;
use strandline_sim::{play, Begin, Error, Play};

/// Runs a program that unwinds at once.
fn unwound<T: Clone + Send + 'static>(cause: T) -> Result<(), Error> {
    let machine = MachineConfig::preset("cosplay").expect("a preset");
    let program = Play {
        cores: 1,
        memory: Memory::new(4096, 4096),
        llc: Begin::Lines(Vec::new()),
        threads: vec![factory(move |_| resume_unwind(Box::new(cause.clone())))],
        remote: Remote::default(),
    };
    let design = strandline_designs::design("x86").expect("a design");
    play(design, &machine, program, Options::default()).map(|_| ())
}

#[test]
fn a_region_that_is_too_large_is_bad_input_and_a_panic_stays_one() {
    let excess = TooLarge {
        what: "words",
        needed: None,
    };
    assert_eq!(
        unwound(excess),
        Err(Error::input(
            "--set workload.operations: a region writes more words than the 512 that the runtime's set holds; \
             set it lower, or choose another --runtime"
        ))
    );
    let planted = catch_unwind(AssertUnwindSafe(|| unwound("planted")));
    assert_eq!(planted.unwrap_err().downcast_ref(), Some(&"planted"));
}
