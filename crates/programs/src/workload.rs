//! Workloads.

use crate::{Prepared, Recoverable, Warmth};
use std::collections::BTreeMap;
use std::rc::Rc;
use strandline_isa::{Image, Memory};
use strandline_machine::Factory;
use strandline_runtime::{
    run_thread, run_warming, run_window, BuildPlan, HostBytes, Logging, Sharing, ThreadPlan, Window, Workload,
};
use strandline_workloads::{with_workload, Error, Visitor};

/// How a workload is built and run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
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

/// Builds the workload that the user calls `name`. An alias may set parameters. `set` has the user's parameters.
///
/// # Errors
/// An unknown name, wrong parameters, or more concurrent tasks than the logs support.
pub fn workload<'a>(
    name: &str,
    set: impl IntoIterator<Item = (&'a str, &'a str)>,
    plan: Plan,
) -> Result<Prepared, Error> {
    prepare(name, &set.into_iter().collect::<Vec<_>>(), plan)
}

/// As [`workload`]. Not generic, so that all programs are compiled here, and not in each crate that asks for one.
fn prepare(name: &str, set: &[(&str, &str)], plan: Plan) -> Result<Prepared, Error> {
    with_workload(name, set.iter().copied(), &plan.build(), plan)
}

/// The host memory for the workload. Builds nothing.
///
/// # Errors
/// As [`workload`].
pub fn memory_bytes<'a>(
    name: &str,
    set: impl IntoIterator<Item = (&'a str, &'a str)>,
    plan: Plan,
) -> Result<HostBytes, Error> {
    strandline_workloads::memory_bytes(name, set, &plan.build())
}

impl Plan {
    fn build(&self) -> BuildPlan {
        BuildPlan {
            threads: self.threads as usize,
            window: self.sharing.map(|sharing| sharing.window.most() as usize),
            seed: self.seed,
            logging: self.logging,
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

impl Visitor for Plan {
    type Out = Prepared;

    fn visit<W: Workload + 'static>(self, workload: W, memory: Memory) -> Prepared {
        let workload = Rc::new(workload);
        let threads = (0..self.threads).map(|thread| thread_of(workload.clone(), self.thread(thread), self.sharing));
        let lanes = self.warming_lanes();
        let warming = (0..self.threads).map(|thread| warming(workload.clone(), self.warming(thread), lanes));
        Prepared {
            memory,
            threads: threads.collect(),
            warmth: Warmth {
                footprint: workload.footprint(),
                threads: warming.collect(),
                seeded: workload.logs().seeded(!self.seed),
            },
            program: workload,
        }
    }
}

fn thread_of<W: Workload + 'static>(workload: Rc<W>, plan: ThreadPlan, sharing: Option<Sharing>) -> Factory {
    match sharing {
        None => Rc::new(move |cpu| {
            let workload = workload.clone();
            Box::pin(async move { run_thread(&*workload, &cpu, plan).await })
        }),
        Some(sharing) => Rc::new(move |cpu| {
            let workload = workload.clone();
            Box::pin(async move { run_window(&*workload, &cpu, plan, sharing).await })
        }),
    }
}

/// A thread that warms caches, which have no time: its tasks come one after the other, in as many lanes as share a thread
/// in the run.
fn warming<W: Workload + 'static>(workload: Rc<W>, plan: ThreadPlan, lanes: usize) -> Factory {
    Rc::new(move |cpu| {
        let workload = workload.clone();
        Box::pin(async move { run_warming(&*workload, &cpu, plan, lanes).await })
    })
}

impl<W: Workload> Recoverable for W {
    fn recover(&self, image: &dyn Image) {
        Workload::recover(self, image);
    }

    fn repair(&self, image: &dyn Image) {
        Workload::repair(self, image);
    }

    fn start(&self, image: &dyn Image) {
        Workload::start(self, image);
    }

    fn check(&self, image: &dyn Image) -> Result<(), String> {
        Workload::check(self, image)
    }

    fn contents(&self, image: &dyn Image) -> BTreeMap<u64, u64> {
        Workload::contents(self, image)
    }
}
