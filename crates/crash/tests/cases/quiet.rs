//! Panics that a planted bug causes are findings, not messages.

use std::cell::Cell;
use std::panic::{catch_unwind, set_hook, take_hook, AssertUnwindSafe};

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Prints only panics outside [`quietly`].
pub fn install() {
    let print = take_hook();
    set_hook(Box::new(move |info| {
        if !QUIET.get() {
            print(info);
        }
    }));
}

/// Runs `work`, or returns the message of its panic.
pub fn quietly<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    QUIET.set(true);
    let done = catch_unwind(AssertUnwindSafe(run));
    QUIET.set(false);
    done.map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_default()
    })
}
