//! Workloads.

use super::{Prepared, Warmth};
use std::rc::Rc;
use strandline_machine::{Body, Factory};
use strandline_runtime::{
    run_thread, run_warming, run_window, BuildPlan, HostBytes, Logging, Program, Sharing, ThreadPlan, Window,
};
use strandline_workloads::Error;

/// How a workload is built and run.
#[derive(Clone, Copy, Debug)]
pub struct ProgramPlan {
    /// Hardware threads.
    pub threads: u64,
    /// Tasks of the timed region, of all threads together.
    pub tasks: u64,
    /// Warm-up tasks of each thread.
    pub warm_tasks: u64,
    /// How tasks share a thread, if they do.
    pub sharing: Option<Sharing>,
    /// How regions are made failure-atomic.
    pub logging: Logging,
    /// Seed of the structure's initial contents and of the tasks.
    pub seed: u64,
}

/// Lays out the workload that the user calls `name`. An alias may set parameters. `set` has the user's parameters.
///
/// # Errors
/// An unknown name, wrong parameters, or more concurrent tasks than the logs support.
pub fn workload<'a>(
    name: &str,
    set: impl IntoIterator<Item = (&'a str, &'a str)>,
    plan: ProgramPlan,
) -> Result<Prepared, Error> {
    let (program, heap) = strandline_workloads::lay_out(name, set, &plan.build())?;
    let filling = program.clone();
    let threads = (0..plan.threads).map(|thread| thread_of(program.clone(), plan.thread(thread), plan.sharing));
    let lanes = plan.warming_lanes();
    let warming = (0..plan.threads).map(|thread| warming(program.clone(), plan.warming(thread), lanes));
    Ok(Prepared {
        fill: Box::new(move || filling.filled(&heap)),
        threads: threads.collect(),
        warmth: Warmth {
            footprint: program.footprint(),
            threads: warming.collect(),
            seeded: program.logs().seeded(!plan.seed),
        },
        program,
    })
}

/// The host memory for the workload. Builds nothing.
///
/// # Errors
/// As [`workload`].
pub fn memory_bytes<'a>(
    name: &str,
    set: impl IntoIterator<Item = (&'a str, &'a str)>,
    plan: ProgramPlan,
) -> Result<HostBytes, Error> {
    strandline_workloads::memory_bytes(name, set, &plan.build())
}

impl ProgramPlan {
    fn build(&self) -> BuildPlan {
        BuildPlan {
            threads: self.threads as usize,
            window: self.sharing.map(|sharing| sharing.window.most() as usize),
            seed: self.seed,
            logging: self.logging,
        }
    }

    /// What decides the filled memory of a workload with given parameters.
    pub fn filling(&self) -> BuildPlan {
        let plan = self.build();
        BuildPlan {
            logging: plan.logging.in_window(plan.window).as_filling(),
            ..plan
        }
    }

    fn thread(self, thread: u64) -> ThreadPlan {
        ThreadPlan {
            thread: thread as usize,
            threads: self.threads as usize,
            warm_tasks: self.warm_tasks,
            tasks: ThreadPlan::share(self.tasks, thread, self.threads),
            seed: self.seed,
        }
    }

    /// The lanes of a thread that warms: those of its window, or one if the window is still to be found.
    fn warming_lanes(self) -> usize {
        match self.sharing.map(|sharing| sharing.window) {
            Some(Window::Fixed(window)) => window as usize,
            Some(Window::Auto) | None => 1,
        }
    }

    /// A thread that warms. Its random numbers are others: it would otherwise execute the tasks of the run.
    fn warming(self, thread: u64) -> ThreadPlan {
        ThreadPlan {
            seed: !self.seed,
            ..self.thread(thread)
        }
    }
}

fn thread_of(program: Rc<dyn Program>, plan: ThreadPlan, sharing: Option<Sharing>) -> Factory {
    match sharing {
        None => Factory::any(move |thread| run_thread(&*program, thread, plan)),
        Some(sharing) => Factory::any(move |thread| run_window(&*program, thread, plan, sharing)),
    }
}

/// A thread that warms caches, which have no time: its tasks come one after the other, in as many lanes as share a thread
/// in the run.
fn warming(program: Rc<dyn Program>, plan: ThreadPlan, lanes: usize) -> Body {
    Rc::new(move |thread| run_warming(&*program, thread, plan, lanes))
}
