//! Prints what a task of a workload executes, by kind of instruction, in one line of JSON:
//!
//! ```console
//! $ cargo run -q -p strandline-workloads --example counts -- sps none 1000 workload.rows=4096
//! ```
//!
//! One thread on plain memory, with the lowering of `x86`, or that of `volatile` for the runtime `none`. So nobody waits, and a count depends on the program alone. A
//! locked instruction counts as a load and a store. `python -m tools.measure.twins` compares these counts with C's.

#[allow(dead_code, reason = "tests use more of it")]
#[path = "../tests/all/common/counting.rs"]
mod counting;

use counting::{Counting, Counts};
use std::process::ExitCode;
use strandline_isa::{Lowering, Memory, Thread};
use strandline_kernel::Params;
use strandline_runtime::adversary::FENCED;
use strandline_runtime::{finish, run_thread, BuildPlan, Logging, Program, Runtime, ThreadPlan, Wal, RUNTIME_PARAMS};
use strandline_workloads::{build, describe};

const USAGE: &str = "counts WORKLOAD RUNTIME TASKS [workload.KEY=VALUE | runtime.KEY=VALUE ...]";

const SEED: u64 = 1;

fn count(workload: &dyn Program, memory: &Memory, tasks: u64, lowering: Lowering) -> Counts {
    let cpu = Counting::new(memory, lowering);
    let plan = ThreadPlan {
        thread: 0,
        threads: 1,
        warm_tasks: 0,
        tasks,
        seed: SEED,
    };
    finish(|| run_thread(workload, &Thread::on(&cpu), plan)).expect("one thread waits for nobody");
    cpu.counts()
}

/// The settings whose keys begin with `scope`, without it.
fn of_scope<'a>(scope: &str, sets: &'a [String]) -> Result<Vec<(&'a str, &'a str)>, String> {
    let mut found = Vec::new();
    for set in sets {
        let (key, value) = set.split_once('=').ok_or(format!("{set}: no KEY=VALUE; {USAGE}"))?;
        match key.split_once('.') {
            Some((of, key)) if of == scope => found.push((key, value)),
            Some(("workload" | "runtime", _)) => {}
            _ => return Err(format!("{key}: begins with neither workload. nor runtime.; {USAGE}")),
        }
    }
    Ok(found)
}

fn counted(arguments: &[String]) -> Result<Counts, String> {
    let [name, runtime, tasks, sets @ ..] = arguments else {
        return Err(USAGE.to_owned());
    };
    let about = describe(name).map_err(|e| e.to_string())?;
    let runtime = Runtime::named(runtime).ok_or(format!("{runtime}: no runtime"))?;
    let lowering = match runtime {
        Runtime::Wal(Wal::None) => Lowering::NOTHING,
        _ => FENCED,
    };
    let tasks = tasks.parse().map_err(|_| format!("{tasks}: no number of tasks"))?;
    let params = Params::parse("runtime", RUNTIME_PARAMS, of_scope("runtime", sets)?).map_err(|e| e.to_string())?;
    let plan = BuildPlan {
        threads: 1,
        window: None,
        seed: SEED,
        logging: Logging::of(runtime, &params, about.lock),
    };
    let (workload, memory) = build(name, of_scope("workload", sets)?, &plan).map_err(|e| e.to_string())?;
    Ok(count(&*workload, &memory, tasks, lowering))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match counted(&arguments) {
        Ok(counts) => {
            let each = |count| counts.per_task(count);
            println!(
                "{{\"instructions\": {}, \"loads\": {}, \"stores\": {}, \"branches\": {}, \"flushes\": {}, \"fences\": {}}}",
                each(counts.instructions()),
                each(counts.loads + counts.rmws),
                each(counts.stores + counts.rmws),
                each(counts.branches),
                each(counts.flushes),
                each(counts.fences),
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("counts: {error}");
            ExitCode::from(2)
        }
    }
}
