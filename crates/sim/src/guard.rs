//! Panics at the boundary, which separates faults of strandline from bad input.

use crate::Error;
use std::any::Any;
use std::cell::RefCell;
use std::panic::{catch_unwind, set_hook, take_hook, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

thread_local! {
    /// The place of the thread's latest panic; `None` outside guards.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `question`. A panic becomes [`Error::Fault`] with its message and place, and is not printed.
///
/// # Errors
/// The error of `question`, or a fault.
pub fn guarded<T>(question: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    static HOOK: Once = Once::new();
    HOOK.call_once(keep_places);
    let outer = PLACE.replace(Some(String::new()));
    let answer = catch_unwind(AssertUnwindSafe(question));
    let place = PLACE.replace(outer).unwrap_or_default();
    answer.unwrap_or_else(|cause| Err(Error::Fault(described(&*cause, &place))))
}

/// Makes panics of guarded threads save their place. Other threads panic as before.
fn keep_places() {
    let before = take_hook();
    set_hook(Box::new(move |info| {
        let kept = PLACE.with_borrow_mut(|place| place.as_mut().map(|place| *place = place_of(info)).is_some());
        if !kept {
            before(info);
        }
    }));
}

fn place_of(info: &PanicHookInfo<'_>) -> String {
    info.location().map(ToString::to_string).unwrap_or_default()
}

fn described(cause: &(dyn Any + Send), place: &str) -> String {
    let text = cause.downcast_ref::<&str>().copied();
    let text = text.or_else(|| cause.downcast_ref::<String>().map(String::as_str));
    format!("{} ({place})", text.unwrap_or("a panic without words"))
}
