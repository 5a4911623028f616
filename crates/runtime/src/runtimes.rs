//! The language-level runtimes by name: how a program's regions are made failure-atomic.

use crate::{CLibrary, LockKind, Wal};
use strandline_isa::Code;
use strandline_kernel::{Param, Params};

/// How regions are made failure-atomic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Runtime {
    /// COSPlay's undo log: records of whole steps, and no commit record ([`crate::UndoLog`]).
    #[default]
    Undo,
    /// Failure-atomic transactions.
    Txn,
    /// Outermost critical sections, after Atlas.
    Atlas,
    /// Synchronization-free regions.
    Sfr,
    /// Redo logging with group commit.
    Redo,
    /// Write-ahead logging with a logged bit, or a part of it.
    Wal(Wal),
}

/// The description of a runtime.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeAbout {
    /// The runtime.
    pub runtime: Runtime,
    /// Its name, as `--runtime` takes it.
    pub name: &'static str,
    /// Its source.
    pub paper: &'static str,
    /// Its description, in one line.
    pub line: &'static str,
    /// Whether a crash recovers, on a design that promises it.
    pub promises_recovery: bool,
}

const ALL: &[RuntimeAbout] = &[
    RuntimeAbout {
        runtime: Runtime::Undo,
        name: "undo",
        paper: "COSPlay (MICRO 2021), Figure 4(a)",
        line: "logs a step's lines, then updates them; two fences commit, and no record",
        promises_recovery: true,
    },
    RuntimeAbout {
        runtime: Runtime::Txn,
        name: "txn",
        paper: "StrandWeaver (ISCA 2020), V",
        line: "failure-atomic transactions: log-update pairs, all lines flushed and the log committed at the end",
        promises_recovery: true,
    },
    RuntimeAbout {
        runtime: Runtime::Atlas,
        name: "atlas",
        paper: "StrandWeaver (ISCA 2020), V, after Atlas (OOPSLA 2014)",
        line: "outermost critical sections: log-update pairs, a record for each lock operation, commit in batches",
        promises_recovery: true,
    },
    RuntimeAbout {
        runtime: Runtime::Sfr,
        name: "sfr",
        paper: "StrandWeaver (ISCA 2020), V, after Gogte et al. (PLDI 2018)",
        line: "synchronization-free regions: log-update pairs, one record for each region, commit in batches",
        promises_recovery: true,
    },
    RuntimeAbout {
        runtime: Runtime::Redo,
        name: "redo",
        paper: "StrandWeaver (ISCA 2020), future work",
        line: "redo log: new values are logged, then written in place; a group of regions is acknowledged at once",
        promises_recovery: true,
    },
    RuntimeAbout {
        runtime: Runtime::Wal(Wal::None),
        name: "none",
        paper: "Speculative Persistence (ISCA 2017), 6, the baseline",
        line: "the plain program: no log, no flush, no ordering; no crash recovers",
        promises_recovery: false,
    },
    RuntimeAbout {
        runtime: Runtime::Wal(Wal::Log),
        name: "log",
        paper: "Speculative Persistence (ISCA 2017), 6, Log",
        line: "the code of an undo log with a logged bit, without flush or ordering; no crash recovers",
        promises_recovery: false,
    },
    RuntimeAbout {
        runtime: Runtime::Wal(Wal::LogP),
        name: "log-p",
        paper: "Speculative Persistence (ISCA 2017), 6, Log+P",
        line: "the same with flushes and pcommits, without a fence; no crash recovers",
        promises_recovery: false,
    },
    RuntimeAbout {
        runtime: Runtime::Wal(Wal::LogPSf),
        name: "log-p-sf",
        paper: "Speculative Persistence (ISCA 2017), 3.1, Log+P+Sf",
        line: "write-ahead log with a logged bit: log, bit, update, bit, each made durable before the next",
        promises_recovery: true,
    },
];

/// All runtimes.
#[must_use]
pub fn runtimes() -> &'static [RuntimeAbout] {
    ALL
}

impl Runtime {
    /// Its name, as `--runtime` takes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        let about = ALL.iter().find(|about| about.runtime == self);
        about.map_or("", |about| about.name)
    }

    /// The runtime of this name, if there is one.
    #[must_use]
    pub fn named(name: &str) -> Option<Runtime> {
        ALL.iter().find(|about| about.name == name).map(|about| about.runtime)
    }

    /// Whether its programs order anything, or annotate their synchronisation for designs that order by it.
    #[must_use]
    pub(crate) fn orders(self) -> bool {
        !matches!(self, Runtime::Wal(Wal::None | Wal::Log | Wal::LogP))
    }

    /// Whether a region may be acknowledged after the lane has passed on what it wrote, so that memory carries stamps.
    #[must_use]
    pub(crate) fn passes_stamps(self) -> bool {
        !matches!(self, Runtime::Undo | Runtime::Wal(_))
    }
}

/// The runtime parameters of every run, as `runtime.KEY=VALUE`.
pub const RUNTIME_PARAMS: &[Param] = &[
    Param {
        name: "log_batch",
        default: 16,
        min: 1,
        max: 256,
        help: "regions whose logs are committed at once (atlas, sfr)",
        source: "not in the papers",
        words: &[],
    },
    Param {
        name: "log_group",
        default: 16,
        min: 1,
        max: 256,
        help: "regions that are acknowledged at once (redo)",
        source: "not in the papers",
        words: &[],
    },
    Param {
        name: "log_unit",
        default: 0,
        min: 0,
        max: LogUnit::WORDS.len() as u64 - 1,
        help: "what is logged, ordered and flushed at once: each store, or the stores to a line in a row (txn, atlas, sfr)",
        source: "StrandWeaver Figure 5",
        words: LogUnit::WORDS,
    },
    Param {
        name: "lock",
        default: 0,
        min: 0,
        max: LockKind::ALL.len() as u64,
        help: "the program's locks: its own kind, test and test-and-set, test-and-set with backoff, ticket, MCS queue, or glibc's mutex",
        source: "not in the papers, which seldom name their locks",
        words: LockKind::WORDS,
    },
    Param {
        name: "library",
        default: 0,
        min: 0,
        max: CLibrary::WORDS.len() as u64 - 1,
        help: "the program's C library: lean, or rand, malloc, free and mutexes as glibc executes them",
        source: "glibc",
        words: CLibrary::WORDS,
    },
    Param {
        name: "code",
        default: 0,
        min: 0,
        max: Code::ALL.len() as u64 - 1,
        help: "how the program was compiled: optimized, or plain, as by gcc -O0: values on the stack, functions called",
        source: "gcc -O2 and -O0",
        words: Code::WORDS,
    },
    Param {
        name: "think",
        default: 0,
        min: 0,
        max: 10_000_000,
        help: "instructions that a task executes before it takes any lock, a mix of loads, stores, branches and additions: work that the papers do not describe",
        source: "not in the papers",
        words: &[],
    },
];

/// What a log-update pair consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogUnit {
    /// A store and the record of its word, as a compiler emits them that sees one store at a time (StrandWeaver, Figure 5).
    #[default]
    Store,
    /// The stores to a line that follow one another, and the records of all words of it that the step may update.
    Line,
}

impl LogUnit {
    /// Their names, as `runtime.log_unit` takes them.
    pub const WORDS: &'static [&'static str] = &["store", "line"];
    const ALL: [LogUnit; 2] = [LogUnit::Store, LogUnit::Line];
}

/// How the program was compiled, by the values of [`RUNTIME_PARAMS`].
#[must_use]
pub fn code_of(params: &Params) -> Code {
    Code::ALL[params.get("code") as usize]
}

/// A runtime and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logging {
    /// The runtime.
    pub runtime: Runtime,
    /// Regions whose logs are committed at once.
    pub batch: u64,
    /// What is logged at once.
    pub unit: LogUnit,
    /// The locks that the program takes around its regions.
    pub lock: LockKind,
    /// Where its random numbers and its rows come from.
    pub library: CLibrary,
    /// Instructions that a task executes outside of its locks.
    pub think: u64,
}

impl Logging {
    /// The undo log, which has no parameters.
    pub const UNDO: Logging = Logging {
        runtime: Runtime::Undo,
        batch: 1,
        unit: LogUnit::Store,
        lock: LockKind::Test,
        library: CLibrary::Lean,
        think: 0,
    };

    /// A runtime with values of [`RUNTIME_PARAMS`], for a program whose own locks are of kind `own`.
    #[must_use]
    pub fn of(runtime: Runtime, params: &Params, own: LockKind) -> Logging {
        let library = CLibrary::ALL[params.get("library") as usize];
        Logging {
            runtime,
            batch: params.get(match runtime {
                Runtime::Redo => "log_group",
                _ => "log_batch",
            }),
            unit: LogUnit::ALL[params.get("log_unit") as usize],
            lock: match params.get("lock") {
                0 => library.lock().unwrap_or(own),
                kind => LockKind::ALL[kind as usize - 1],
            },
            library,
            think: params.get("think"),
        }
    }

    /// One of those with which a structure is filled alike. Write-ahead logs of all variants lie at the same addresses,
    /// and a program that fills memory neither logs nor flushes, so variants leave the same bytes.
    #[must_use]
    pub fn as_filling(self) -> Logging {
        let runtime = match self.runtime {
            Runtime::Wal(_) => Runtime::Wal(Wal::None),
            runtime => runtime,
        };
        Logging { runtime, ..self }
    }

    /// This logging for tasks that share a thread: each region is committed by itself, since a lane
    /// without a task would delay lanes that depend on it.
    #[must_use]
    pub fn in_window(self, window: Option<usize>) -> Logging {
        Logging {
            batch: if window.is_some() { 1 } else { self.batch },
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_and_found() {
        for about in ALL {
            assert_eq!(Runtime::named(about.name), Some(about.runtime));
        }
        assert_eq!(Runtime::named("undoo"), None);
    }
}
