//! A run: memory filled, threads started, the invariant checked.

use crate::count::{self, Counts};
use crate::cpu::NativeCpu;
use crate::judge;
use crate::modes::{Logged, Lowered, Nothing};
use crate::real::{self, Real};
use crate::{Args, Error, Mode};
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use strandline_capture::Marker;
use strandline_isa::{Addr, Flush, Image, Memory, PM_BASE};
use strandline_kernel::Params;
use strandline_runtime::{run_thread, BuildPlan, Heap, Logging, Runtime, ThreadPlan, Workload, RUNTIME_PARAMS};
use strandline_workloads::{describe, with_workload, Visitor};

/// What was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The workload's name, as the user calls it.
    pub workload: String,
    /// Tasks of the timed region, all threads together.
    pub tasks: u64,
    /// Warm-up tasks of each thread.
    pub warm_tasks: u64,
    /// Threads.
    pub threads: u64,
    /// The write-back instruction, if any.
    pub flush: Option<Flush>,
    /// The counts, if requested.
    pub counts: Option<Counts>,
    /// How many operations were judged, and are linearizable.
    pub judged: Option<u64>,
    /// Whether the invariant was checked, and holds.
    pub checked: bool,
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flush = match self.flush {
            Some(Flush::Clwb) => "clwb",
            Some(Flush::ClflushOpt) => "clflushopt",
            Some(Flush::Clflush) => "clflush",
            None => "no flushes",
        };
        write!(
            f,
            "{}: {} tasks on {} threads after {} each, {flush}",
            self.workload, self.tasks, self.threads, self.warm_tasks
        )?;
        if let Some(Counts { flushes, fences }) = self.counts {
            write!(f, "; {flushes} flushes and {fences} fences in the timed region")?;
        }
        if let Some(operations) = self.judged {
            write!(f, "; {operations} operations are linearizable")?;
        }
        f.write_str(if self.checked { "; the invariant holds" } else { "" })
    }
}

/// Runs a workload as requested. A process runs one at a time.
///
/// # Errors
/// Bad input, unavailable memory, or an invariant that does not hold.
pub fn run(args: &Args) -> Result<Ran, Error> {
    let input = |error: strandline_workloads::Error| Error::Input(error.to_string());
    let about = describe(&args.workload).map_err(input)?;
    let tasks = args.tasks.unwrap_or(about.tasks);
    let runtime = args.runtime.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let params = Params::parse("runtime", RUNTIME_PARAMS, runtime).map_err(|error| Error::Input(error.to_string()))?;
    let plan = BuildPlan {
        threads: args.threads as usize,
        window: None,
        seed: args.seed,
        logging: Logging::of(Runtime::Undo, &params, about.lock),
    };
    let runner = Runner {
        args,
        tasks,
        warm_tasks: args.warm.unwrap_or(ThreadPlan::usual_warm_tasks(tasks, args.threads)),
    };
    let set = args.set.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    with_workload(&args.workload, set, &plan, runner).map_err(input)?
}

struct Runner<'a> {
    args: &'a Args,
    tasks: u64,
    warm_tasks: u64,
}

impl Visitor for Runner<'_> {
    type Out = Result<Ran, Error>;

    fn visit<W: Workload + 'static>(self, workload: W, heap: Heap) -> Self::Out {
        let memory = workload.filled(&heap);
        let (real, file) = place(&memory, self.args.pm.as_deref())?;
        match self.args.mode {
            Mode::Volatile | Mode::Judged => self.threads::<W, Nothing>(&workload),
            Mode::X86 | Mode::Counted => self.threads::<W, Logged>(&workload),
        }
        let judged = match self.args.mode {
            Mode::Judged => Some(linearizable(&workload, &memory, &real)?),
            _ => None,
        };
        if self.args.check {
            check(&workload, &memory, &real, file.as_ref())?;
        }
        Ok(Ran {
            workload: self.args.workload.clone(),
            tasks: self.tasks,
            warm_tasks: self.warm_tasks,
            threads: self.args.threads,
            flush: self.args.mode.flush(),
            counts: (self.args.mode == Mode::Counted).then(count::end),
            judged,
            checked: self.args.check,
        })
    }
}

impl Runner<'_> {
    /// Runs all threads to their end.
    fn threads<W: Workload, L: Lowered + 'static>(&self, workload: &W) {
        NativeCpu::<L>::expect(self.args.threads as usize, self.args.mode);
        let running = AtomicU64::new(self.args.threads);
        let one = |thread: u64| {
            run_thread(workload, NativeCpu::<L>::ANY, self.plan_of(thread));
            if self.args.mode == Mode::Judged {
                judge::end_thread();
            }
            // The last thread ends the region.
            if running.fetch_sub(1, Ordering::SeqCst) == 1 {
                real::mark::<{ Marker::RegionEnd.displacement() }>();
            }
        };
        std::thread::scope(|scope| {
            for thread in 1..self.args.threads {
                let one = &one;
                scope.spawn(move || one(thread));
            }
            one(0);
        });
    }

    fn plan_of(&self, thread: u64) -> ThreadPlan {
        ThreadPlan {
            thread: thread as usize,
            threads: self.args.threads as usize,
            warm_tasks: self.warm_tasks,
            tasks: ThreadPlan::share(self.tasks, thread, self.args.threads),
            seed: self.args.seed,
        }
    }
}

/// Maps memory and copies `memory` into it. Persistent memory is a new file at `path`, if there is one.
fn place(memory: &Memory, path: Option<&Path>) -> Result<(Real, Option<File>), Error> {
    let named = |error: io::Error| {
        let what = path.map_or("memory".into(), Path::to_string_lossy);
        Error::Input(format!("{what}: persistent memory cannot be mapped: {error}"))
    };
    let file = path
        .map(|path| new_file(path, memory.pm_bytes()))
        .transpose()
        .map_err(named)?;
    let real = Real::map(memory.dram_bytes(), memory.pm_bytes(), file.as_ref()).map_err(named)?;
    let dram = (0..memory.dram_bytes()).step_by(8);
    let pm = (PM_BASE..PM_BASE + memory.pm_bytes()).step_by(8);
    for addr in dram.chain(pm).map(Addr) {
        real.set_word(addr, memory.word(addr));
    }
    // Threads find an existing pool in its file, as a program that opens one does.
    if file.is_some() {
        real.sync().map_err(named)?;
    }
    Ok((real, file))
}

/// Memory after a restart: the file's bytes, or persistent memory's without a file; volatile memory is zero.
fn left_by(filled: &Memory, real: &Real, file: Option<&File>) -> io::Result<Memory> {
    let image = Memory::new(filled.dram_bytes(), filled.pm_bytes());
    let mut reader = file.map(BufReader::new);
    for addr in (PM_BASE..PM_BASE + filled.pm_bytes()).step_by(8).map(Addr) {
        let word = match &mut reader {
            Some(reader) => {
                let mut bytes = [0; 8];
                reader.read_exact(&mut bytes)?;
                u64::from_le_bytes(bytes)
            }
            None => real.word(addr),
        };
        image.set_word(addr, word);
    }
    Ok(image)
}

fn new_file(path: &Path, bytes: u64) -> io::Result<File> {
    let mut options = File::options();
    let file = options.read(true).write(true).create(true).truncate(true).open(path)?;
    file.set_len(bytes)?;
    Ok(file)
}

/// How many operations the threads told, if they are linearizable.
fn linearizable<W: Workload>(workload: &W, filled: &Memory, real: &Real) -> Result<u64, Error> {
    match judge::verdict(&workload.contents(filled), &workload.contents(real)) {
        Ok(0) => Err(Error::Input(
            "--design judged: this workload announces no operations; cceh does".to_owned(),
        )),
        Ok(operations) => Ok(operations),
        Err(what) => Err(Error::Broken(format!("not linearizable: {what}"))),
    }
}

/// Checks the invariant of current memory, and of recovered memory after a restart.
fn check<W: Workload>(workload: &W, filled: &Memory, real: &Real, file: Option<&File>) -> Result<(), Error> {
    workload
        .check(real)
        .map_err(|what| Error::Broken(format!("the invariant does not hold at the end: {what}")))?;
    let image =
        left_by(filled, real, file).map_err(|error| Error::Input(format!("the file cannot be read: {error}")))?;
    workload.recover(&image);
    workload.repair(&image);
    workload.start(&image);
    workload
        .check(&image)
        .map_err(|what| Error::Broken(format!("the invariant does not hold after recovery: {what}")))
}
