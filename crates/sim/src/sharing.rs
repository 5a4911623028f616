//! How tasks share a thread, as the user says it and as the design has it.

use crate::spec::{in_range, Found, Window};
use crate::{Error, Source, Spec};
use strandline_designs::abouts;
use strandline_runtime::{Sharing, MAX_WINDOW};

/// Tasks of each thread before the timed region, besides the usual ones, in which a window is found: some twenty timings
/// (`runtime/coroutine/pace.rs`) of the task with the fewest yields, two.
const SEARCH_TASKS: u64 = 8_000;

/// How tasks share a thread in this run; `None` if each runs alone.
///
/// # Errors
/// A wrong window or library.
pub fn of(spec: &Spec, source: &Source) -> Result<Option<Sharing>, Error> {
    let usual = || abouts().iter().find(|about| about.name == spec.design)?.window;
    if matches!(source, Source::Recording(_)) {
        return Ok(None);
    }
    let window = match (spec.window, usual()) {
        (Some(Window::Found(Found::Auto)), _) => strandline_runtime::Window::Auto,
        (Some(Window::Tasks(tasks)), _) => {
            strandline_runtime::Window::Fixed(in_range("--window", tasks, 1, MAX_WINDOW)?)
        }
        (None, Some(tasks)) => strandline_runtime::Window::Fixed(tasks),
        (None, None) if spec.coroutines.is_some() => {
            return Err(Error::Input(format!(
                "--coroutines: tasks run one after the other under {}; ask for a --window too",
                spec.design
            )))
        }
        (None, None) => return Ok(None),
    };
    let library = spec.coroutines.as_deref().map(str::parse).transpose();
    Ok(Some(Sharing {
        window,
        library: library
            .map_err(|error| Error::input(format!("{error}")))?
            .unwrap_or_default(),
    }))
}

/// Warming tasks that finding a window takes.
pub fn search_tasks(sharing: Option<&Sharing>) -> u64 {
    match sharing.map(|sharing| sharing.window) {
        Some(strandline_runtime::Window::Auto) => SEARCH_TASKS,
        _ => 0,
    }
}
