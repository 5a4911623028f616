//! The workloads' source as straight code (`build.rs`), with what of their rooms needs no change.
#![allow(
    dead_code,
    unused_imports,
    unexpected_cfgs,
    missing_docs,
    clippy::all,
    reason = "the files are linted in their own rooms, and hold more than is used here"
)]

macro_rules! straight {
    ($($module:ident: $path:literal;)*) => {
        $(pub mod $module {
            include!(concat!(env!("OUT_DIR"), "/", $path, ".rs"));
        })*
    };
}

pub mod isa {
    pub use self::cpu::{Alu, Cpu, Note, Replay, Rmw, Running, Scheduling, Site};
    pub use self::value::{Cond, W};
    pub use strandline_isa::{
        Addr, CoreId, Flush, Image, Intent, Line, LineData, Lowering, Memory, Primitive, LINE_BYTES, PM_BASE,
    };

    straight! { cpu: "isa/cpu"; value: "isa/value"; }
}

pub mod runtime {
    pub use self::alloc::FreeLists;
    pub use self::heap::{place, Heap, Table, PAYLOAD_BYTES, TRAILER};
    pub use self::layout::{log_records, LogLayout, MAX_LANES};
    pub use self::lock::{lock, unlock, Locks};
    // Natively there is the undo log only: all of a program is inlined, and the others would be at every place.
    pub use self::log::{UndoLog, UndoLog as Log};
    pub use self::random::Random;
    pub use self::recovery::recover;
    pub use self::region::{Step, UndoRegion, UndoRegion as Region};
    pub use self::runtimes::{runtimes, Logging, Runtime, RuntimeAbout, RUNTIME_PARAMS};
    pub use self::thread::{run_thread, ThreadPlan, ThreadState};
    pub use self::workload::{BuildPlan, Workload};

    straight! {
        alloc: "runtime/alloc"; heap: "runtime/heap"; layout: "runtime/layout"; list: "runtime/list"; lock: "runtime/lock";
        log: "runtime/log"; random: "runtime/random"; recovery: "runtime/recovery"; region: "runtime/region";
        runtimes: "runtime/runtimes"; thread: "runtime/thread"; workload: "runtime/workload";
    }

    pub mod model {
        straight! {
            entry: "runtime/model/entry"; layout: "runtime/model/layout"; ledger: "runtime/model/ledger";
            replay: "runtime/model/replay"; rollback: "runtime/model/rollback"; scan: "runtime/model/scan"; set: "runtime/model/set";
        }
    }
}

pub mod workloads {
    pub use self::registry::{describe, with_workload, About, Alias, Error, Visitor};

    straight! {
        bandwidth: "workloads/bandwidth"; filler: "workloads/filler"; list: "workloads/list";
        operations: "workloads/operations"; pc: "workloads/pc"; registry: "workloads/registry"; sps: "workloads/sps";
        tatp: "workloads/tatp";
    }

    pub mod cq {
        include!(concat!(env!("OUT_DIR"), "/workloads/cq/mod.rs"));
    }

    pub mod hashmap {
        include!(concat!(env!("OUT_DIR"), "/workloads/hashmap/mod.rs"));
    }

    pub mod nstore {
        include!(concat!(env!("OUT_DIR"), "/workloads/nstore/mod.rs"));
    }

    pub mod rb_tree {
        include!(concat!(env!("OUT_DIR"), "/workloads/rb_tree/mod.rs"));
    }

    pub mod tpcc {
        include!(concat!(env!("OUT_DIR"), "/workloads/tpcc/mod.rs"));
    }
}
