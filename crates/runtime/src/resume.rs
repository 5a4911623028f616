//! Resume points of threads: where one goes on that its back end has created anew.

use crate::ThreadState;
use strandline_isa::Cpu;

/// The part of a thread's work, and its tasks so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Whether it runs the tasks of the timed region.
    pub timed: bool,
    /// Tasks of this part that have ended.
    pub tasks: u64,
}

/// Where a thread goes on whose log has just been opened: usually at the beginning.
pub(crate) fn resumed<C: Cpu>(state: &mut ThreadState<'_, C>) -> Progress {
    let Some(words) = state.cpu.resumed() else {
        return Progress::default();
    };
    let mut words = words.into_iter();
    let mut next = || words.next().expect("saved by this thread");
    let progress = Progress {
        timed: next().bits() == 1,
        tasks: next().bits(),
    };
    state.random.load(next());
    state.log.load(&mut words);
    progress
}

/// A thread has come so far; no task is under way.
pub(crate) fn resume_point<C: Cpu>(state: &ThreadState<'_, C>, progress: Progress) {
    let cpu = state.cpu;
    if !cpu.wants_point() {
        return;
    }
    let mut words = vec![
        cpu.word(progress.timed.into()),
        cpu.word(progress.tasks),
        state.random.save(),
    ];
    if state.log.save(&mut words) {
        cpu.add_point(words);
    }
}
