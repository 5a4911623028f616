//! Crashes a workload wherever its durable image changes.

use super::thread_plan;
use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use strandline_isa::{Addr, Image, Lowering, Memory};
use strandline_runtime::adversary::{Adversary, Play, Watch};
use strandline_runtime::{run_thread, run_window, Sharing, Workload};

/// The result of a run with crashes.
pub struct Outcome {
    /// Crash images tried.
    pub crashes: u64,
    /// Regions acknowledged in the whole run.
    pub acknowledged: u64,
    /// Regions started in the whole run.
    pub regions: u64,
    /// Regions aborted in the whole run.
    pub aborted: u64,
    /// The first failure.
    pub failure: Option<String>,
}

/// What runs on the adversary's machine, and how the adversary behaves.
#[derive(Clone, Copy, Debug)]
pub struct Game {
    pub lowering: Lowering,
    pub threads: usize,
    /// Tasks of each thread.
    pub tasks: u64,
    /// How tasks share threads, if they do.
    pub sharing: Option<Sharing>,
    pub play: Play,
}

/// Runs the workload on the adversary's machine, and passes each durable image to `crash` until it fails.
pub fn run<W: Workload>(
    workload: &W,
    memory: &Memory,
    game: Game,
    crash: &mut dyn FnMut(&Memory, &Watch) -> Result<(), String>,
) -> Outcome {
    let Game { threads, play, .. } = game;
    let mut outcome = Outcome {
        crashes: 0,
        acknowledged: 0,
        regions: 0,
        aborted: 0,
        failure: None,
    };
    let mut inspect = |image: &Memory, watch: &Watch| {
        outcome.crashes += 1;
        outcome.acknowledged = watch.acknowledged();
        outcome.regions = watch.begun();
        outcome.aborted = watch.aborted();
        if outcome.failure.is_none() {
            outcome.failure = crash(&image.persistent_half(), watch).err();
        }
    };
    let machine = Adversary::new(memory, threads, game.lowering, play, &mut inspect);
    let cpus: Vec<_> = (0..threads).map(|core| machine.cpu(core)).collect();
    let programs = cpus
        .iter()
        .enumerate()
        .map(|(thread, cpu)| -> Pin<Box<dyn Future<Output = ()> + '_>> {
            let plan = thread_plan(thread, threads, game.tasks, play.seed);
            match game.sharing {
                None => Box::pin(run_thread(workload, cpu, plan)),
                Some(sharing) => Box::pin(run_window(workload, cpu, plan, sharing)),
            }
        });
    machine.run(programs.collect()).unwrap();
    drop(cpus);
    drop(machine);
    outcome
}

/// Recovers a crash image and judges it.
pub fn judge<W: Workload>(workload: &W, image: &Memory, watch: &Watch) -> Result<(), String> {
    workload.recover(image);
    // Repair may write what regions have written.
    watch.verify(image)?;
    workload.repair(image);
    workload.check(image)
}

/// Passes one image in `every` to `judge`.
pub fn sampled<W: Workload>(
    workload: &W,
    every: u64,
    judge: fn(&W, &Memory, &Watch) -> Result<(), String>,
) -> impl FnMut(&Memory, &Watch) -> Result<(), String> + '_ {
    let mut images = 0;
    move |image, watch| {
        images += 1;
        match images % every {
            0 => judge(workload, image, watch),
            _ => Ok(()),
        }
    }
}

/// An image that drops all writes after the first few, as after a power failure.
pub struct Failing<'m> {
    pub memory: &'m Memory,
    pub writes_left: Cell<u64>,
}

impl Image for Failing<'_> {
    fn word(&self, addr: Addr) -> u64 {
        self.memory.word(addr)
    }

    fn set_word(&self, addr: Addr, value: u64) {
        if self.writes_left.get() > 0 {
            self.writes_left.set(self.writes_left.get() - 1);
            self.memory.set_word(addr, value);
        }
    }
}

/// Approximate maximum number of failing recoveries for each crash image, evenly spread.
const CUTS: u64 = 16;

/// Recovers a crash image with a crash during either part of recovery, and judges the result of a second recovery. After
/// a crash during repair, only the invariant is judged: repair writes what regions have written.
pub fn judge_twice<W: Workload>(workload: &W, image: &Memory, watch: &Watch) -> Result<(), String> {
    cut(image, &|image| workload.recover(image), &|again| {
        judge(workload, again, watch)
    })?;
    let recovered = image.clone();
    workload.recover(&recovered);
    let repair = |image: &dyn Image| workload.repair(image);
    cut(&recovered, &repair, &|again| {
        // Volatile memory is lost again.
        let again = again.persistent_half();
        workload.recover(&again);
        workload.repair(&again);
        workload.check(&again)
    })
}

/// Runs a part of recovery up to some number of writes, for several numbers, and judges what it leaves.
fn cut(image: &Memory, part: &dyn Fn(&dyn Image), judge: &dyn Fn(&Memory) -> Result<(), String>) -> Result<(), String> {
    let run = |memory: &Memory, writes: u64| {
        let failing = Failing {
            memory,
            writes_left: Cell::new(writes),
        };
        part(&failing);
        writes - failing.writes_left.get()
    };
    let writes = run(&image.clone(), u64::MAX);
    let step = usize::try_from(writes / CUTS + 1).unwrap();
    for cut in (0..=writes).step_by(step) {
        let again = image.clone();
        run(&again, cut);
        judge(&again).map_err(|why| format!("after {cut} writes of a part of recovery: {why}"))?;
    }
    Ok(())
}
