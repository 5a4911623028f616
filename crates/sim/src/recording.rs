//! Recordings as programs of runs.

use crate::programs::Prepared;
use crate::record::Params;
use crate::settings::{Scope, Sets};
use crate::{Error, Spec};
use serde_json::{json, Value};
use std::fs::File;
use std::hash::Hasher;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::rc::Rc;
use strandline_isa::Addr;
use strandline_kernel::{Param, Params as Values};
use strandline_machine::MachineConfig;
use strandline_record::replay::{Counts, Fences, Replayed, Stall, POLICY};
use strandline_record::{At, Edits, RecordError, Recording, Source};
use twox_hash::XxHash3_64;

/// Fences that a record names.
const DEAREST: usize = 10;

/// The parameters of a recording's replay.
pub const RECORDING_PARAMS: &[Param] = &[Param {
    name: "fences",
    default: 0,
    min: 0,
    max: Fences::WORDS.len() as u64 - 1,
    help: "how fences are read: mfence as sfence and clflush as clwb (flush), as recorded, or as flushes where that is sound (auto)",
    source: "not in the papers, which record no programs",
    words: Fences::WORDS,
}];

/// The default machine of recordings.
pub const RECORDING_MACHINE: &str = "cosplay";

/// An open recording, and the counts of its replay.
pub struct Recorded {
    recorded: Rc<crate::programs::Recorded>,
    path: String,
}

impl Recorded {
    /// Opens the recording at `path`, with these changes. `threads` is the requested number of threads (`None`: as many
    /// as it has).
    ///
    /// # Errors
    /// The file does not exist, is not a recording, is empty or damaged, or has another number of threads.
    pub(crate) fn open(
        path: &str,
        threads: Option<u64>,
        most: u64,
        fences: Fences,
        edits: Edits,
    ) -> Result<Recorded, Error> {
        let recording = Recording::open(Path::new(path)).map_err(|error| input(path, &error))?;
        let recording = recording.edited(edits);
        let recorded = recording.threads().len() as u64;
        if let Some(threads) = threads.filter(|threads| *threads != recorded) {
            return Err(Error::Input(format!(
                "--threads {threads}: {path} was recorded with {recorded}; leave --threads out"
            )));
        }
        if !(1..=most).contains(&recorded) {
            return Err(Error::Input(format!(
                "{path}: has {recorded} threads and a machine runs from 1 to {most}; record a run with fewer"
            )));
        }
        if recording.totals().instructions == 0 {
            return Err(Error::Input(format!(
                "{path}: holds no instruction; record again, from a point that the program reaches"
            )));
        }
        let replayed = Replayed::new(recording, fences).map_err(|error| input(path, &error))?;
        Ok(Recorded {
            recorded: Rc::new(crate::programs::Recorded {
                replayed,
                counts: Counts::default(),
            }),
            path: path.to_owned(),
        })
    }

    /// The recording, ready for replay.
    #[must_use]
    pub fn replayed(&self) -> &Replayed {
        &self.recorded.replayed
    }

    /// An address of each line of volatile memory by which its threads may communicate.
    ///
    /// # Errors
    /// The file is damaged.
    pub(crate) fn shared(&self) -> Result<Vec<Addr>, Error> {
        let shared = self.recorded.replayed.shared();
        shared.map_err(|error| input(&self.path, &error))
    }

    /// Its threads.
    #[must_use]
    pub fn threads(&self) -> u64 {
        self.recorded.replayed.recording().threads().len() as u64
    }

    /// The number of tasks, by its markers.
    #[must_use]
    pub fn tasks(&self) -> u64 {
        self.recorded.replayed.recording().totals().tasks
    }

    /// Its name in records: the file name without its last suffix.
    #[must_use]
    pub fn name(&self) -> String {
        let stem = Path::new(&self.path).file_stem();
        stem.map_or_else(|| self.path.clone(), |stem| stem.to_string_lossy().into_owned())
    }

    /// The checksum of its file.
    ///
    /// # Errors
    /// The file can no longer be read.
    pub(crate) fn checksum(&self) -> Result<String, Error> {
        checksum(&self.path).map_err(|error| Error::Input(format!("{}: {error}", self.path)))
    }

    /// Refuses a file with another checksum.
    ///
    /// # Errors
    /// It has.
    pub(crate) fn demand(&self, checksum: Option<&str>) -> Result<(), Error> {
        match checksum {
            Some(wanted) if self.checksum()? != wanted => Err(Error::Input(format!(
                "{}: is not the recording that ran: its checksum is not {wanted}; restore the original file",
                self.path
            ))),
            _ => Ok(()),
        }
    }

    /// The policy and its counts, for `params` of a record.
    pub(crate) fn params(&self, params: &mut Params) {
        params.insert("recording_file".into(), json!(self.path));
        params.insert("recording_policy".into(), json!(POLICY));
        let reading = self.recorded.replayed.reading();
        params.insert("recording_reading".into(), json!(reading.text()));
        for (name, count) in self.recorded.counts.named() {
            params.insert(format!("recording_{name}"), json!(count));
        }
        if self.recorded.replayed.recording().is_incomplete() {
            params.insert("recording_incomplete".into(), json!(true));
        }
        params.insert("recording_stalls".into(), json!(self.stalls()));
    }

    /// The fences with the most stall cycles, and their places in the program's source.
    fn stalls(&self) -> Vec<Value> {
        let mut source = Source::of(self.recorded.replayed.recording());
        let stalls = self
            .recorded
            .replayed
            .stalls(&self.recorded.counts)
            .into_iter()
            .take(DEAREST);
        let describe = |(at, stall): (At, Stall)| {
            let text = source.own(at).text.clone();
            json!({ "where": source.told(at), "text": text, "fences": stall.fences, "stall_cycles": stall.cycles })
        };
        stalls.map(describe).collect()
    }

    /// Why the replay ended before the recording.
    pub(crate) fn failure(&self) -> Option<Error> {
        let failure = self.recorded.counts.failure.borrow();
        failure.as_ref().map(|error| input(&self.path, error))
    }
}

fn checksum(path: &str) -> io::Result<String> {
    let mut file = BufReader::with_capacity(1 << 20, File::open(path)?);
    let mut hash = XxHash3_64::with_seed(0);
    loop {
        let bytes = file.fill_buf()?;
        if bytes.is_empty() {
            return Ok(format!("xxh3:{:016x}", hash.finish()));
        }
        hash.write(bytes);
        let length = bytes.len();
        file.consume(length);
    }
}

fn input(path: &str, error: &RecordError) -> Error {
    let text = error.to_string();
    Error::Input(match text.contains(path) {
        true => text,
        false => format!("{path}: {text}"),
    })
}

/// Refuses options that the recording determines.
pub(crate) fn refuse_what_is_recorded(spec: &Spec) -> Result<(), Error> {
    let refuse = |option: &str| {
        Err(Error::Input(format!(
            "{option}: {} is a recording, which defines this; leave the option out",
            spec.workload
        )))
    };
    if let Some(tasks) = spec.tasks {
        return refuse(&format!("--tasks {tasks}"));
    }
    if let Some(runtime) = &spec.runtime {
        return refuse(&format!("--runtime {runtime}"));
    }
    if let Some(precision) = spec.precision {
        return refuse(&format!("--precision {}%", 100.0 * precision));
    }
    if let Some(window) = spec.window {
        return refuse(&format!("--window {window}"));
    }
    if let Some(coroutines) = &spec.coroutines {
        return refuse(&format!("--coroutines {coroutines}"));
    }
    match spec
        .set
        .iter()
        .find(|set| set.starts_with("workload.") || set.starts_with("runtime."))
    {
        Some(set) => refuse(&format!("--set {set}")),
        None => Ok(()),
    }
}

/// How the user wants a recording's fences to be read.
///
/// # Errors
/// An unknown parameter of recordings, or a wrong value.
pub(crate) fn fences(sets: &Sets) -> Result<Fences, Error> {
    let params = Values::parse(Scope::Recording.name(), RECORDING_PARAMS, sets.of(Scope::Recording))?;
    Ok(Fences::ALL[params.get("fences") as usize])
}

/// Refuses settings of recordings for a workload.
pub(crate) fn refuse_for_workloads(spec: &Spec, sets: &Sets) -> Result<(), Error> {
    match sets.of(Scope::Recording).next() {
        Some((key, value)) => Err(Error::Input(format!(
            "--set recording.{key}={value}: {} is a workload, and only a recording has this; leave the setting out",
            spec.workload
        ))),
        None => Ok(()),
    }
}

/// Prepares a recording for this machine.
///
/// # Errors
/// The file is damaged.
pub(crate) fn prepare(recorded: &Recorded, machine: &MachineConfig) -> Result<Prepared, Error> {
    crate::programs::recorded(&recorded.recorded, machine.llc.bytes).map_err(|error| input(&recorded.path, &error))
}
