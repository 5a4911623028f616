//! The workloads' source as synchronous code (`build.rs`), with the unchanged parts of their crates.
#![allow(
    dead_code,
    unused_imports,
    unused_parens,
    unexpected_cfgs,
    missing_docs,
    clippy::all,
    reason = "the files are linted in their own rooms, and hold more than is used here"
)]

macro_rules! straight {
    ($folder:literal: $($module:ident)*) => {
        $(pub mod $module {
            include!(concat!(env!("OUT_DIR"), "/", $folder, "/", stringify!($module), ".rs"));
        })*
    };
}

pub mod isa {
    pub use self::code::{Code, Scope, Scoped};
    pub use self::cpu::{Alu, Call, Cpu, Note, Replay, Rmw, Running, Scheduling, Warms};
    pub use self::value::{Cond, W};
    pub use strandline_isa::{
        sites, Addr, CoreId, Flush, Image, Intent, Line, LineData, Lowering, Memory, Primitive, Site, LINE_BYTES,
        PM_BASE,
    };

    straight! { "isa": code cpu value }
}

pub mod runtime {
    pub use self::alloc::{FreeLists, Taken};
    pub use self::c_library::CLibrary;
    pub use self::demand::{Demand, TooLarge};
    pub use self::heap::{place, Heap, HostBytes, Rows, Table, PAYLOAD_BYTES, TRAILER};
    pub use self::layout::{log_records, LogLayout, MAX_LANES};
    pub use self::lock::{lock, unlock, Hand, LockKind, Locks, LOCK_BYTES};
    // Natively, only the undo log exists, because a whole program is inlined and each runtime would be at every place.
    pub use self::log::{UndoLog, UndoLog as Log};
    pub use self::on_image::OnImage;
    pub use self::plain::Plain;
    pub use self::random::Random;
    pub use self::recovery::recover;
    pub use self::region::{Step, UndoRegion, UndoRegion as Region};
    pub use self::runtimes::{runtimes, LogUnit, Logging, Runtime, RuntimeAbout, RUNTIME_PARAMS};
    pub use self::thread::{run_thread, ThreadPlan, ThreadState};
    pub use self::wal::{Wal, WalLog};
    pub use self::workload::{BuildPlan, Workload};

    // The parts that workloads use, directly or indirectly.
    straight! { "runtime": abort copy demand heap layout list on_image plain random recovery region runtimes }
    straight! { "runtime": thread workload }

    pub mod alloc {
        include!(concat!(env!("OUT_DIR"), "/runtime/alloc/mod.rs"));
    }

    pub mod c_library {
        include!(concat!(env!("OUT_DIR"), "/runtime/c_library/mod.rs"));
    }

    pub mod lock {
        include!(concat!(env!("OUT_DIR"), "/runtime/lock/mod.rs"));
    }

    pub mod log {
        include!(concat!(env!("OUT_DIR"), "/runtime/log/mod.rs"));
    }

    /// Synchronous code has run when it is passed on.
    #[inline(always)]
    pub fn block_on<T>(ended: T) -> Result<T, std::convert::Infallible> {
        Ok(ended)
    }

    /// A thread runs once, from its beginning.
    pub mod resume {
        use super::ThreadState;
        use crate::source::isa::Cpu;

        #[derive(Clone, Copy, Default)]
        pub struct Progress {
            pub timed: bool,
            pub tasks: u64,
        }

        #[inline(always)]
        pub fn resumed<C: Cpu>(_: &mut ThreadState<'_, C>) -> Progress {
            Progress::default()
        }

        #[inline(always)]
        pub fn resume_point<C: Cpu>(_: &ThreadState<'_, C>, _: Progress) {}
    }

    /// A task is run once: nothing interrupts it.
    pub mod restart {
        use super::{ThreadState, Workload};
        use crate::source::isa::Cpu;

        #[inline(always)]
        pub fn run_task<W: Workload, C: Cpu>(workload: &W, state: &mut ThreadState<'_, C>) {
            workload.task(state);
        }
    }

    pub mod wal {
        include!(concat!(env!("OUT_DIR"), "/runtime/wal/mod.rs"));
    }

    pub mod model {
        straight! { "runtime/model": entry layout ledger replay rollback scan set }
    }
}

/// The whole crate: its `lib.rs` declares the files.
pub mod workloads {
    include!(concat!(env!("OUT_DIR"), "/workloads/lib.rs"));
}
