//! The command line.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

const USAGE: &str =
    "usage: strandline-launch --pipe PATH [--pm PATH]... [--pm-range START:END]... [--pm-heap LIBRARY] [--allocator SYMBOL]... [--from main|start|marker|SYMBOL] \
    [--task SYMBOL]... [--fork parent|child] [--argv0 NAME] [--max-instructions N] -- PROGRAM ARGS...";

/// What to do.
pub struct Arguments {
    /// Settings of the client, by name, in order.
    pub settings: Vec<(&'static str, OsString)>,
    /// The program and its arguments; never empty.
    pub program: Vec<OsString>,
    /// What the program finds as its own name, if not its file.
    pub name: Option<OsString>,
}

/// Reads the command line.
///
/// # Errors
/// One line with the error.
pub fn read(mut words: impl Iterator<Item = OsString>) -> Result<Arguments, String> {
    let mut settings: Vec<(&'static str, OsString)> = Vec::new();
    let mut name = None;
    loop {
        let Some(word) = words.next() else {
            return Err(format!("no program is named after '--'; {USAGE}"));
        };
        let word = word.to_string_lossy().into_owned();
        if word == "--" {
            break;
        }
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value; {USAGE}"));
        if word == "--argv0" {
            name = Some(value()?);
            continue;
        }
        settings.push(match word.as_str() {
            "--pipe" => ("pipe", absolute(&value()?)?.into_os_string()),
            "--pm" => ("pm", resolved(&value()?)?.into_os_string()),
            "--pm-range" => ("pm-range", range(&value()?)?),
            "--pm-heap" => ("pm-heap", absolute(&value()?)?.into_os_string()),
            "--allocator" => ("allocator", value()?),
            "--from" => ("from", value()?),
            "--task" => ("task", value()?),
            "--fork" => ("fork", process(&value()?)?),
            "--max-instructions" => ("max-instructions", count(&value()?)?),
            _ => return Err(format!("{word} is not known; {USAGE}")),
        });
    }
    let program: Vec<OsString> = words.collect();
    if program.is_empty() {
        return Err(format!("no program is named after '--'; {USAGE}"));
    }
    if !settings.iter().any(|(name, _)| *name == "pipe") {
        return Err(format!("--pipe is missing; {USAGE}"));
    }
    Ok(Arguments {
        settings,
        program,
        name,
    })
}

fn absolute(path: &OsStr) -> Result<PathBuf, String> {
    std::path::absolute(path).map_err(|error| format!("{}: {error}", Path::new(path).display()))
}

/// The path without symbolic links, as the kernel names the file. It need not exist yet.
fn resolved(path: &OsStr) -> Result<PathBuf, String> {
    let path = absolute(path)?;
    let mut missing = Vec::new();
    let mut known = path.as_path();
    loop {
        if let Ok(real) = fs::canonicalize(known) {
            return Ok(missing.iter().rev().fold(real, |path, name| path.join(name)));
        }
        match (known.parent(), known.file_name()) {
            (Some(parent), Some(name)) => {
                missing.push(name.to_owned());
                known = parent;
            }
            _ => return Ok(path),
        }
    }
}

fn range(text: &OsStr) -> Result<OsString, String> {
    let wrong = || {
        format!(
            "--pm-range {}: write START:END, addresses as 0x... or decimal, START below END",
            text.to_string_lossy()
        )
    };
    let words = text.to_str().and_then(|text| text.split_once(':')).ok_or_else(wrong)?;
    let start = number(words.0).ok_or_else(wrong)?;
    let end = number(words.1).ok_or_else(wrong)?;
    match start < end {
        true => Ok(format!("{start}:{end}").into()),
        false => Err(wrong()),
    }
}

fn process(text: &OsStr) -> Result<OsString, String> {
    match text.to_str() {
        Some("parent" | "child") => Ok(text.to_owned()),
        _ => Err(format!("--fork {}: write parent or child", text.to_string_lossy())),
    }
}

fn count(text: &OsStr) -> Result<OsString, String> {
    let number = text.to_str().and_then(number).filter(|count| *count > 0);
    let number =
        number.ok_or_else(|| format!("--max-instructions {}: write a number above 0", text.to_string_lossy()))?;
    Ok(number.to_string().into())
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Result<Arguments, String> {
        read(words.iter().map(OsString::from))
    }

    fn failure(words: &[&str]) -> String {
        of(words).err().expect("these arguments are wrong")
    }

    #[test]
    fn the_programs_arguments_are_kept_exactly() {
        let arguments = of(&["--pipe", "/p", "--", "a b", "--pm", ""]).expect("these arguments are right");
        assert_eq!(arguments.program, ["a b", "--pm", ""]);
        assert_eq!(arguments.settings.len(), 1);
    }

    #[test]
    fn a_path_that_does_not_exist_yet_is_resolved_as_far_as_it_does() {
        let arguments =
            of(&["--pipe", "/p", "--pm", "/proc/self/../no such/file", "--", "a"]).expect("these arguments are right");
        assert_eq!(arguments.settings[1], ("pm", "/proc/no such/file".into()));
    }

    #[test]
    fn each_function_of_tasks_is_kept() {
        let arguments =
            of(&["--pipe", "/p", "--task", "f", "--task", "g", "--", "a"]).expect("these arguments are right");
        assert_eq!(arguments.settings[1..], [("task", "f".into()), ("task", "g".into())]);
    }

    #[test]
    fn a_program_may_have_another_name_than_its_file() {
        let arguments = of(&["--pipe", "/p", "--argv0", "sh", "--", "/bin/busybox"]).expect("these are right");
        assert_eq!((arguments.name, arguments.settings.len()), (Some("sh".into()), 1));
        assert!(failure(&["--pipe", "/p", "--argv0"]).starts_with("--argv0 needs a value"));
    }

    #[test]
    fn the_heap_library_has_a_full_path() {
        let words = ["--pipe", "/p", "--pm-heap", "/l/heap.so", "--allocator", "f", "--", "a"];
        let arguments = of(&words).expect("these arguments are right");
        assert_eq!(arguments.settings[1], ("pm-heap", "/l/heap.so".into()));
        assert_eq!(arguments.settings[2], ("allocator", "f".into()));
        assert!(failure(&["--pipe", "/p", "--pm-heap"]).starts_with("--pm-heap needs a value"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(failure(&["--pipe"]).starts_with("--pipe needs a value"));
        assert!(failure(&["--pip", "x", "--", "a"]).starts_with("--pip is not known"));
        assert!(failure(&["--", "a"]).starts_with("--pipe is missing"));
        assert!(failure(&["--pipe", "/p", "--"]).starts_with("no program"));
        assert!(failure(&["--pipe", "/p", "--pm-range", "5:5", "--", "a"]).starts_with("--pm-range 5:5"));
        assert!(failure(&["--pipe", "/p", "--fork", "both", "--", "a"]).starts_with("--fork both: write parent"));
        assert!(failure(&["--pipe", "/p", "--task"]).starts_with("--task needs a value"));
        assert!(failure(&["--pipe", "/p", "--max-instructions", "0", "--", "a"]).starts_with("--max-instructions 0"));
    }
}
