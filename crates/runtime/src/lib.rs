//! The parts of a persistent program: memory layout, undo log and recovery, locks, threads.
//!
//! The log is undo logging as in COSPlay (MICRO 2021), Figure 4(a): log, flush, fence; update,
//! flush, fence. Two fences commit a failure-atomic region; [`recover`] distinguishes the committed
//! regions in a crash image. [`runtimes`] lists the other logs.
//!
//! Three back ends run programs without simulated time: [`Plain`], the crash-testing [`adversary`], and [`OnImage`], on
//! which a program continues during recovery.

mod abort;
pub mod adversary;
mod alloc;
mod c_library;
mod copy;
mod coroutine;
mod demand;
mod finish;
mod heap;
mod lane_log;
mod layout;
mod list;
mod lock;
mod log;
mod model;
mod mutants;
mod on_image;
mod operations;
mod per_lane;
mod plain;
mod program;
mod random;
mod recovery;
mod region;
mod restart;
mod resume;
mod runtimes;
mod stacks;
mod think;
mod thread;
mod wal;
mod workload;

pub use alloc::{FreeLists, Taken};
pub use c_library::CLibrary;
pub use copy::copy_words;
pub use coroutine::{run_window, Library, Sharing, UnknownLibrary, Window, MAX_WINDOW};
pub use demand::{Demand, TooLarge};
pub use finish::{finish, Stuck};
pub use heap::{place, Heap, HostBytes, Rows, Table, BLOCK_BYTES, PAYLOAD_BYTES, TRAILER};
pub use lane_log::{Log, Region};
pub use layout::{log_records, LogLayout, MAX_LANES};
pub use lock::{lock, unlock, Hand, LockKind, Locks, LOCK_BYTES};
pub use log::UndoLog;
pub use on_image::OnImage;
pub use operations::{Operations, Unexplained};
pub use plain::Plain;
pub use program::{Program, Recoverable, Tasks};
pub use random::Random;
pub use recovery::recover;
pub use region::Step;
pub use runtimes::{code_of, runtimes, LogUnit, Logging, Runtime, RuntimeAbout, RUNTIME_PARAMS};
pub use thread::{run_thread, run_warming, ThreadPlan, ThreadState};
pub use wal::{Wal, WalLog};
pub use workload::{BuildPlan, Workload};
