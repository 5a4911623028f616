//! How tasks share a thread, by the user's options and the design's defaults.

use crate::spec::{in_range, FoundBy, Window};
use crate::{unknown_design, Error, Source, Spec};
use strandline_designs::abouts;
use strandline_runtime::{Sharing, MAX_WINDOW};

/// Additional warm-up tasks of each thread that searches for a window, at most: some twenty timings
/// (`runtime/coroutine/pace.rs`) of the task with the fewest yields, two. Warm-up ends when all threads have found theirs.
const SEARCH_TASKS: u64 = 8_000;

/// How tasks share a thread in this run; `None` if they do not.
///
/// # Errors
/// A wrong window or library.
pub fn of(spec: &Spec, source: &Source) -> Result<Option<Sharing>, Error> {
    if matches!(source, Source::Recording(_)) {
        return Ok(None);
    }
    let library = spec.coroutines.as_deref().map(str::parse).transpose();
    let library = library.map_err(|error| Error::input(format!("{error}")))?;
    let window = match spec.window {
        Some(Window::Found(FoundBy::Auto)) => Some(strandline_runtime::Window::Auto),
        Some(Window::Tasks(tasks)) => {
            let tasks = in_range("--window", tasks, 1, MAX_WINDOW)?;
            Some(strandline_runtime::Window::Fixed(tasks))
        }
        None => usual(spec, library.is_some())?.map(strandline_runtime::Window::Fixed),
    };
    Ok(window.map(|window| Sharing {
        window,
        library: library.unwrap_or_default(),
    }))
}

/// The design's own window. With `asked`, the user has chosen coroutines, so there must be one.
fn usual(spec: &Spec, asked: bool) -> Result<Option<u64>, Error> {
    let about = abouts().into_iter().find(|about| about.name == spec.design);
    match about {
        Some(about) if asked && about.window.is_none() => Err(Error::Input(format!(
            "--coroutines: tasks run one after the other under {}; give a --window too",
            spec.design
        ))),
        None if asked => Err(unknown_design(&spec.design)),
        about => Ok(about.and_then(|about| about.window)),
    }
}

/// Warm-up tasks for the search of a window, at most.
pub fn search_tasks(sharing: Option<&Sharing>) -> u64 {
    match sharing.map(|sharing| sharing.window) {
        Some(strandline_runtime::Window::Auto) => SEARCH_TASKS,
        _ => 0,
    }
}
