//! Crashes a workload wherever its durable image changes.

use super::{small, thread_plan};
use std::cell::RefCell;
use std::collections::BTreeMap;
use strandline_isa::{Addr, Image, Lowering, Memory, Thread};
use strandline_runtime::adversary::{Adversary, Play, Watch, FENCED};
use strandline_runtime::{run_thread, run_window, BuildPlan, Program, Sharing};
use strandline_workloads::Built;

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

impl Game {
    /// Threads whose tasks run one after the other.
    pub fn alone(lowering: Lowering, threads: usize, tasks: u64, play: Play) -> Game {
        Game {
            lowering,
            threads,
            tasks,
            sharing: None,
            play,
        }
    }
}

/// Runs the workload on the adversary's machine, and passes each durable image to `crash` until it fails. Most images
/// are not judged, so `crash` copies those that it needs.
pub fn run(
    workload: &dyn Program,
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
        outcome.regions = watch.begun();
        outcome.aborted = watch.aborted();
        if outcome.failure.is_none() {
            outcome.failure = crash(image, watch).err();
        }
    };
    let machine = Adversary::new(memory, threads, game.lowering, play, &mut inspect);
    let ended = machine.run(&|thread, cpu| {
        let plan = thread_plan(thread, threads, game.tasks, play.seed);
        let cpu = Thread::on(cpu);
        match game.sharing {
            None => run_thread(workload, &Thread::on(&cpu), plan),
            Some(sharing) => run_window(workload, &cpu, plan, sharing),
        }
    });
    ended.unwrap();
    let acknowledged = machine.acknowledged();
    drop(machine);
    Outcome {
        acknowledged,
        ..outcome
    }
}

/// Judges a crash image of a map that held this before the run.
pub type Judge = fn(&dyn Program, &Memory, &Watch, &BTreeMap<u64, u64>) -> Result<(), String>;

/// Recovers a crash image and judges it.
pub fn judge(workload: &dyn Program, image: &Memory, watch: &Watch, before: &BTreeMap<u64, u64>) -> Result<(), String> {
    workload.recover(image);
    // Repair may write what regions have written.
    watch.verify(image)?;
    workload.repair(image);
    workload.check(image)?;
    watch.explain(before, &workload.contents(image))
}

/// Passes a copy of one image in `every` to `judge`.
pub fn sampled<'w>(
    workload: &'w dyn Program,
    before: &Memory,
    every: u64,
    judge: Judge,
) -> impl FnMut(&Memory, &Watch) -> Result<(), String> + use<'w> {
    let before = workload.contents(before);
    let mut images = 0;
    move |image, watch| {
        images += 1;
        match images % every {
            0 => judge(workload, &image.persistent_half(), watch, &before),
            _ => Ok(()),
        }
    }
}

/// An image that keeps the writes to it, in their order.
struct Recording<'m> {
    memory: &'m Memory,
    writes: RefCell<Vec<(Addr, u64)>>,
}

impl Image for Recording<'_> {
    fn word(&self, addr: Addr) -> u64 {
        self.memory.word(addr)
    }

    fn set_word(&self, addr: Addr, value: u64) {
        self.writes.borrow_mut().push((addr, value));
        self.memory.set_word(addr, value);
    }
}

/// Approximate maximum number of cuts of a part of recovery for each crash image, evenly spread.
const CUTS: usize = 16;

/// Recovers a crash image with a crash during either part of recovery, and judges the result of a second recovery. After
/// a crash during repair, only the invariant is judged: repair writes what regions have written.
pub fn judge_twice(
    workload: &dyn Program,
    image: &Memory,
    watch: &Watch,
    before: &BTreeMap<u64, u64>,
) -> Result<(), String> {
    cut(image, &|image| workload.recover(image), &|again| {
        judge(workload, again, watch, before)
    })?;
    let recovered = image.clone();
    workload.recover(&recovered);
    let repair = |image: &dyn Image| workload.repair(image);
    cut(&recovered, &repair, &|again| {
        // Volatile memory is lost again.
        let again = again.persistent_half();
        workload.recover(&again);
        workload.repair(&again);
        workload.check(&again)?;
        watch.explain(before, &workload.contents(&again))
    })
}

/// Stops a part of recovery after some number of writes, for several numbers, and judges what it leaves.
fn cut(image: &Memory, part: &dyn Fn(&dyn Image), judge: &dyn Fn(&Memory) -> Result<(), String>) -> Result<(), String> {
    let recording = Recording {
        memory: &image.clone(),
        writes: RefCell::default(),
    };
    part(&recording);
    let writes = recording.writes.into_inner();
    for cut in (0..=writes.len()).step_by(writes.len() / CUTS + 1) {
        let again = image.clone();
        for (addr, value) in &writes[..cut] {
            again.set_word(*addr, *value);
        }
        judge(&again).map_err(|why| format!("after {cut} writes of a part of recovery: {why}"))?;
    }
    Ok(())
}

/// Plays of several kinds: from "never before a fence" to "at nearly every operation".
pub fn plays(number: u64) -> impl Iterator<Item = Play> {
    let evictions = [0, 50, 8, 2].into_iter().cycle();
    evictions
        .zip(1..=number)
        .map(|(evict_one_in, seed)| Play { seed, evict_one_in })
}

/// Crashes a workload wherever its durable image changes, and judges one image in `every`.
pub fn crashed((workload, memory): &Built, game: Game, every: u64, judge: Judge) -> Outcome {
    let mut crash = sampled(&**workload, memory, every, judge);
    run(&**workload, memory, game, &mut crash)
}

/// The durable image after so many changes, if there are as many.
pub fn left(workload: &dyn Program, memory: &Memory, game: Game, changes: u64) -> Option<Memory> {
    let (mut images, mut left) = (0, None);
    let mut keep = |image: &Memory, _: &Watch| {
        images += 1;
        if images == changes {
            left = Some(image.persistent_half());
        }
        Ok(())
    };
    run(workload, memory, game, &mut keep);
    left
}

/// The first failure of a small form of a workload with these settings, under so many plays.
pub fn first_failure(form: &str, set: &[(&str, &str)], plan: &BuildPlan, tasks: u64, number: u64) -> Option<String> {
    plays(number).find_map(|play| {
        let game = Game::alone(FENCED, plan.threads, tasks, play);
        crashed(&small(form, set, plan), game, 1, judge).failure
    })
}
