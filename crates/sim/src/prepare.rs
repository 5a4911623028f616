//! A workload made ready to run, whatever the design.

use crate::spec::Source;
use crate::{recording, Error, Plan};
use std::ops::Range;
use std::rc::Rc;
use strandline_isa::{Image, Memory};
use strandline_machine::{Program, SimCpu};
use strandline_runtime::{run_thread, run_window, BuildPlan, Sharing, ThreadPlan, Workload};
use strandline_workloads::{with_workload, Visitor};

/// What crash exploration asks of a workload.
pub trait Recoverable {
    /// Makes a crash image consistent.
    fn recover(&self, image: &dyn Image);

    /// The invariant, on a recovered image.
    ///
    /// # Errors
    /// What is wrong, and where.
    fn check(&self, image: &dyn Image) -> Result<(), String>;
}

impl<W: Workload> Recoverable for W {
    fn recover(&self, image: &dyn Image) {
        Workload::recover(self, image);
    }

    fn check(&self, image: &dyn Image) -> Result<(), String> {
        Workload::check(self, image)
    }
}

/// A thread's program, to be given its core.
pub type Thread = Box<dyn FnOnce(SimCpu) -> Program>;

/// A workload built, and its threads.
pub struct Prepared {
    /// Filled memory.
    pub memory: Memory,
    /// One program a thread.
    pub threads: Vec<Thread>,
    /// What a warm shared cache holds.
    pub footprint: Vec<Range<u64>>,
    /// Recovery and invariant.
    pub program: Rc<dyn Recoverable>,
}

/// Makes the plan's program ready, a workload or a recording.
///
/// # Errors
/// A workload's parameters are wrong; a recording is damaged.
pub fn prepare(workload: &str, plan: &Plan, seed: u64) -> Result<Prepared, Error> {
    match &plan.source {
        Source::Workload(_) => build(workload, plan, seed),
        Source::Recording(recorded) => recording::prepare(recorded, &plan.machine),
    }
}

/// Builds the plan's workload, which the user calls `workload`: an alias may bring parameters of its own.
///
/// # Errors
/// Its parameters are wrong.
fn build(workload: &str, plan: &Plan, seed: u64) -> Result<Prepared, Error> {
    let build = BuildPlan {
        threads: plan.threads as usize,
        window: plan.sharing.map(|sharing| sharing.window.most() as usize),
        seed,
        logging: plan.logging,
    };
    Ok(with_workload(
        workload,
        plan.sets.of_workload(),
        &build,
        Preparer { plan, seed },
    )?)
}

struct Preparer<'a> {
    plan: &'a Plan,
    seed: u64,
}

impl Visitor for Preparer<'_> {
    type Out = Prepared;

    fn visit<W: Workload + 'static>(self, workload: W, memory: Memory) -> Prepared {
        let workload = Rc::new(workload);
        let threads = (0..self.plan.threads)
            .map(|thread| {
                let plan = ThreadPlan {
                    thread: thread as usize,
                    threads: self.plan.threads as usize,
                    warm_tasks: self.plan.warm_tasks,
                    tasks: self.plan.tasks_of(thread),
                    seed: self.seed,
                };
                thread_of(workload.clone(), plan, self.plan.sharing)
            })
            .collect();
        Prepared {
            memory,
            threads,
            footprint: workload.footprint(),
            program: workload,
        }
    }
}

fn thread_of<W: Workload + 'static>(workload: Rc<W>, plan: ThreadPlan, sharing: Option<Sharing>) -> Thread {
    match sharing {
        None => Box::new(move |cpu| Box::pin(async move { run_thread(&*workload, &cpu, plan).await })),
        Some(sharing) => {
            Box::new(move |cpu| Box::pin(async move { run_window(&*workload, &cpu, plan, sharing).await }))
        }
    }
}
