//! The command line.

use crate::{Error, Mode};
use std::path::PathBuf;
use strandline_runtime::MAX_LANES;

/// What `--help` prints.
pub const USAGE: &str = "\
usage: strandline-native WORKLOAD [options]

Runs a built-in workload (`strandline list workloads`) natively, its tasks and its timed region marked for
`strandline record --from marker`.

  -d, --design DESIGN        x86: undo log, flushes and fences; counted: the same, and how many flushes and fences;
                             volatile: none of them; judged: none, and whether the operations are linearizable
                             (default: x86)
  --threads N                threads (default: 1)
  --tasks N                  tasks of the timed region, all threads together (default: the workload's)
  --warm N                   tasks of each thread before it (default: a tenth of its tasks)
  --seed N                   seed of all that is random (default: 1)
  --pm PATH                  the file of persistent memory, written anew (default: none, memory is anonymous)
  --set workload.KEY=VALUE   a parameter of the workload
  --set runtime.lock=KIND    its locks: program (its own kind), test, backoff, ticket, mcs or pthread
  --set runtime.library=NAME its C library: lean or glibc (rand, malloc, free and mutexes as glibc executes them)
  --check                    check the invariant at the end, as memory stands and as a restart would find it
";

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// The workload's name.
    pub workload: String,
    /// How it persists.
    pub mode: Mode,
    /// Threads.
    pub threads: u64,
    /// Tasks of the timed region, all threads together; the workload's default if `None`.
    pub tasks: Option<u64>,
    /// Warm-up tasks of each thread; a tenth of its tasks if `None`.
    pub warm: Option<u64>,
    /// The seed of the random numbers.
    pub seed: u64,
    /// The file of persistent memory.
    pub pm: Option<PathBuf>,
    /// Keys (without their `workload.`) and values.
    pub set: Vec<(String, String)>,
    /// Keys (without their `runtime.`) and values.
    pub runtime: Vec<(String, String)>,
    /// Whether to check the invariant at the end.
    pub check: bool,
}

impl Args {
    /// Parses the command line, without the program's name.
    ///
    /// # Errors
    /// The first mistake, in one line.
    pub fn parse(args: &[String]) -> Result<Args, Error> {
        let mut parsed = Args {
            workload: String::new(),
            mode: Mode::X86,
            threads: 1,
            tasks: None,
            warm: None,
            seed: 1,
            pm: None,
            set: Vec::new(),
            runtime: Vec::new(),
            check: false,
        };
        let mut rest = args.iter().map(String::as_str);
        while let Some(arg) = rest.next() {
            let (option, mut given) = match arg.split_once('=') {
                Some((option, value)) if option.starts_with("--") => (option, Some(value)),
                _ => (arg, None),
            };
            let mut value = || {
                given
                    .take()
                    .or_else(|| rest.next())
                    .ok_or(wrong(option, "a value is missing"))
            };
            match option {
                "-d" | "--design" => parsed.mode = mode(value()?)?,
                "--threads" => parsed.threads = number(option, value()?, 1, MAX_LANES as u64)?,
                "--tasks" => parsed.tasks = Some(number(option, value()?, 1, 1 << 40)?),
                "--warm" => parsed.warm = Some(number(option, value()?, 0, 1 << 40)?),
                "--seed" => parsed.seed = number(option, value()?, 0, u64::MAX)?,
                "--pm" => parsed.pm = Some(value()?.into()),
                "--set" => match setting(value()?)? {
                    Setting::Workload(key, value) => parsed.set.push((key, value)),
                    Setting::Runtime(key, value) => parsed.runtime.push((key, value)),
                },
                "--check" => parsed.check = true,
                _ if option.starts_with('-') => return Err(wrong(option, "no such option; --help shows all")),
                _ if parsed.workload.is_empty() => parsed.workload = arg.to_owned(),
                _ => return Err(wrong(arg, "one workload at a time")),
            }
            if given.is_some() {
                return Err(wrong(option, "takes no value"));
            }
        }
        match parsed.workload.is_empty() {
            true => Err(Error::Input("name a workload; --help shows how".to_owned())),
            false => Ok(parsed),
        }
    }
}

fn wrong(what: &str, why: &str) -> Error {
    Error::Input(format!("{what}: {why}"))
}

fn mode(text: &str) -> Result<Mode, Error> {
    match text {
        "x86" => Ok(Mode::X86),
        "counted" => Ok(Mode::Counted),
        "volatile" => Ok(Mode::Volatile),
        "judged" => Ok(Mode::Judged),
        _ => Err(wrong(
            &format!("--design {text}"),
            "must be x86, counted, volatile or judged; `strandline run` simulates the others",
        )),
    }
}

fn number(option: &str, text: &str, least: u64, most: u64) -> Result<u64, Error> {
    let value = text.replace('_', "").parse().ok();
    value.filter(|value| (least..=most).contains(value)).ok_or_else(|| {
        wrong(
            &format!("{option} {text}"),
            &format!("must be a whole number from {least} to {most}"),
        )
    })
}

/// A `--set`.
enum Setting {
    Workload(String, String),
    Runtime(String, String),
}

fn setting(text: &str) -> Result<Setting, Error> {
    for key in ["lock", "library"] {
        let rest = text.strip_prefix("runtime.").and_then(|rest| rest.strip_prefix(key));
        if let Some(value) = rest.and_then(|rest| rest.strip_prefix('=')) {
            return Ok(Setting::Runtime(key.to_owned(), value.to_owned()));
        }
    }
    text.strip_prefix("workload.")
        .and_then(|rest| rest.split_once('='))
        .map(|(key, value)| Setting::Workload(key.to_owned(), value.to_owned()))
        .ok_or_else(|| {
            wrong(
                &format!("--set {text}"),
                "must be workload.KEY=VALUE, runtime.lock=KIND or runtime.library=NAME",
            )
        })
}
