//! Panics at the boundary.

use strandline_sim::{guarded, Error};

fn planted(text: &str) -> Result<(), Error> {
    assert!(text.is_empty(), "planted: {text}");
    Ok(())
}

#[test]
fn a_panic_is_a_fault_that_says_what_and_where() {
    let Err(Error::Fault(text)) = guarded(|| planted("x")) else {
        panic!("no fault");
    };
    assert!(text.starts_with("planted: x (crates/sim/tests/all/guard.rs:"), "{text}");
}

#[test]
fn answers_and_errors_pass_also_after_a_panic() {
    assert!(guarded(|| planted("x")).is_err());
    assert_eq!(guarded(|| planted("")), Ok(()));
    assert_eq!(guarded::<()>(|| Err(Error::input("wrong"))), Err(Error::input("wrong")));
}

#[test]
fn a_guard_within_a_guard_takes_its_own_panics_only() {
    let outer = guarded(|| {
        assert!(matches!(guarded(|| planted("inner")), Err(Error::Fault(_))));
        planted("outer")
    });
    assert!(outer.unwrap_err().to_string().contains("planted: outer (crates/sim"));
}
