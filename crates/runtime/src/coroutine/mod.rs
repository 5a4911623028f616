//! Tasks that share a thread: a window of coroutines, switched round robin (COSPlay, MICRO 2021, sections 4 and 4.2).
//!
//! Each slot of the window has a lane, with a log and a context of its own, in which tasks run one
//! after the other. A lane yields before every fence and where it finds a lock held. The scheduler
//! visits the lanes in turn; its instructions and the library's are part of the program.

mod library;
mod pace;
mod task;

pub use library::{Library, UnknownLibrary};

use crate::stacks::{with_stacks, Stack, Suspended};
use crate::{Heap, Log, Program, ThreadPlan, ThreadState, BLOCK_BYTES};
use library::SwitchPlace;
use pace::{Pace, SearchEnded};
use strandline_isa::{sites, Cpu, Lowering, Note, Primitive, Running, Tasking, Thread, W};
use strandline_rules::{keeps, kept, Rule};
use task::{Task, Turn, Why};

/// The most tasks that share a thread.
pub const MAX_WINDOW: u64 = 128;

/// The largest window that an automatic search chooses: the largest of COSPlay's Figure 9.
const MAX_FOUND: u64 = 32;

/// How many tasks share a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// So many.
    Fixed(u64),
    /// The best number, found while the program runs.
    Auto,
}

impl Window {
    /// The largest number.
    #[must_use]
    pub fn most(self) -> u64 {
        match self {
            Window::Fixed(window) => window,
            Window::Auto => MAX_FOUND,
        }
    }
}

/// The sharing of a thread by its tasks.
#[derive(Clone, Copy, Debug)]
pub struct Sharing {
    /// The number of tasks at once.
    pub window: Window,
    /// The library that starts, switches and ends them. Designs may make its switches free ([`Tasking::Free`]).
    pub library: Library,
}

/// Runs one thread whose tasks share it: warming tasks, the start line, the tasks that count.
pub fn run_window(program: &dyn Program, cpu: &Thread<'_>, plan: ThreadPlan, sharing: Sharing) {
    let most = sharing.window.most() as usize;
    let first = plan.thread * most;
    let lane = |slot: usize, stack: &Stack<Turn, Why>, _: Turn| {
        let task = Task::new(cpu, slot as u8, stack);
        run_lane(program, &task, plan, first, first + slot);
    };
    with_stacks(most, &lane, |lanes| {
        let mut pool = Pool {
            cpu,
            lowering: *cpu.lowering(),
            library: library::Coroutines {
                library: sharing.library,
                free_switches: cpu.lowering().tasking == Tasking::Free,
            },
            lanes,
            settled: vec![true; most],
            active: vec![false; most],
            first,
            schedulers: plan.threads * most,
            thread: plan.thread,
            threads: plan.threads,
            fences: 0,
            pace: Pace::new(sharing.window),
        };
        pool.prime();
        pool.run(plan.warm_tasks, Until::WindowFound);
        cpu.start_line();
        pool.run(plan.tasks, Until::Ended);
    });
}

/// How long a part of a run lasts, beside its number of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// No longer than until every thread that searches for its window has found it.
    WindowFound,
    /// All tasks have ended.
    Ended,
}

/// The word of a scheduler's block that says that its thread has found its window: the last one,
/// which no library uses.
const FOUND: u64 = BLOCK_BYTES - 8;

sites! {
    STILL_SEARCHES = 0x3f1c_92d7;
}

/// Runs one task after the other, endlessly, in lane `lane` of a thread whose first one is `first`: each begins when the
/// scheduler resumes the lane.
fn run_lane(program: &dyn Program, task: &Task<'_>, plan: ThreadPlan, first: usize, lane: usize) {
    let logs = program.logs();
    let cpu = &Thread::on(task);
    let own_log = kept(Rule::OwnLog, lane, || first);
    let mut state = ThreadState {
        cpu,
        thread: plan.thread,
        threads: plan.threads,
        lane,
        random: logs.random(cpu, plan.seed, lane),
        log: Log::open(cpu, &logs, own_log),
    };
    let mut settled = true;
    loop {
        match task.give(Why::Ended { settled }) {
            Turn::Task => {
                cpu.note(Note::TaskBegin);
                logs.think.run(cpu, lane);
                program.task(&mut state);
                cpu.note(Note::TaskEnd);
            }
            Turn::Close => state.log.close(),
        }
        settled = state.log.is_settled();
    }
}

/// A window of lanes and its scheduler.
struct Pool<'a> {
    cpu: &'a Thread<'a>,
    lowering: Lowering,
    library: library::Coroutines,
    lanes: Vec<Suspended<'a, Turn, Why>>,
    /// The lanes that have acknowledged all their regions.
    settled: Vec<bool>,
    /// The lanes that have a task.
    active: Vec<bool>,
    /// The number of the first lane's block, and of the first thread's scheduler's.
    first: usize,
    schedulers: usize,
    thread: usize,
    threads: usize,
    /// Yields before fences so far.
    fences: u64,
    pace: Pace,
}

impl<'a> Pool<'a> {
    /// Runs every lane until it waits for its first task.
    fn prime(&mut self) {
        for lane in &mut self.lanes {
            let why = lane.resume(Turn::Task);
            debug_assert_eq!(why, Some(Why::Ended { settled: true }));
        }
        self.cpu.note(Note::Window(self.pace.window() as u32));
    }

    /// Runs `tasks` tasks to their end, or fewer if it is only until every thread has found its
    /// window.
    fn run(&mut self, tasks: u64, until: Until) {
        let mut left = tasks;
        self.cpu.note(Note::Running(Running::Library));
        self.pace.restart(self.cpu, self.fences);
        while left > 0 || self.active.contains(&true) {
            let before = self.fences;
            let slots = self.pace.window().max(self.used());
            let last = kept(Rule::FenceEndsRound, slots, || slots - 1);
            for slot in 0..slots {
                let block = self.library.next(self.cpu, self.place(slot), slots as u64);
                self.turn(slot, block, &mut left);
                if slot + 1 == last {
                    self.fence_round(before);
                }
            }
            if self.pace.look(self.cpu, self.fences) {
                self.cpu.note(Note::Window(self.pace.window() as u32));
            }
            if until == Until::WindowFound && left > 0 && self.all_have_found() {
                left = 0;
            }
        }
        self.cpu.note(Note::Running(Running::Task(0)));
    }

    /// Whether all threads have found their windows. Each tells the others by a word in its
    /// scheduler's block: one that went to the start line before would leave the others with less
    /// contention than there will be.
    fn all_have_found(&mut self) -> bool {
        let found = |thread: usize| self.cpu.word(Heap::block(self.schedulers + thread).0 + FOUND);
        match self.pace.found() {
            SearchEnded::No => return false,
            SearchEnded::Now => found(self.thread).store(self.cpu.word(1)),
            SearchEnded::Before => {}
        }
        for thread in 0..self.threads {
            if found(thread).load().is(0).branch(STILL_SEARCHES) {
                return false;
            }
        }
        true
    }

    /// Executes one fence for all tasks that have yielded before one in this round, which began
    /// after `before` such yields of the run.
    fn fence_round(&self, before: u64) {
        if self.lowering.tasking == Tasking::Batched && self.fences > before {
            keeps(Rule::RoundFenced, || self.cpu.primitive(Primitive::Sfence));
        }
    }

    /// Slots up to the last that has a task.
    fn used(&self) -> usize {
        self.active
            .iter()
            .rposition(|active| *active)
            .map_or(0, |last| last + 1)
    }

    fn place(&self, slot: usize) -> SwitchPlace {
        SwitchPlace {
            scheduler: Heap::block(self.schedulers + self.thread),
            task: Heap::block(self.first + slot),
            slot: slot as u64,
        }
    }

    /// Resumes the slot's task until it yields or, where it ends, its successor (COSPlay 4.2: in
    /// the same context). A slot without a successor closes its log first.
    fn turn(&mut self, slot: usize, block: W<'a, Thread<'a>>, left: &mut u64) {
        let (cpu, library, place) = (self.cpu, self.library, self.place(slot));
        let mut resumes = self.active[slot];
        loop {
            let mut turn = Turn::Task;
            if resumes {
                library.resume(cpu, place, block);
            } else {
                let more = *left > 0 && slot < self.pace.window();
                if !more && self.settled[slot] {
                    return;
                }
                turn = if more { Turn::Task } else { Turn::Close };
                *left -= u64::from(more);
                self.active[slot] = true;
                library.start(cpu, place, block);
            }
            cpu.note(Note::Running(Running::Task(slot as u32)));
            let why = self.lanes[slot].resume(turn).expect("a lane has no end");
            cpu.note(Note::Running(Running::Library));
            let Why::Ended { settled } = why else {
                self.fences += u64::from(why.is_fence());
                return library.leave(cpu, place, why.code());
            };
            library.end(cpu, place);
            self.settled[slot] = settled;
            self.active[slot] = false;
            resumes = false;
        }
    }
}

#[cfg(test)]
mod tests;
