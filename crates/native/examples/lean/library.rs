//! The stackless coroutine library: frames in an array, round robin over them.
//!
//! A task is a chain of segments, each a function that runs to the task's next yield, saves what the task still needs in
//! its frame, and returns where to go on. So a task needs no stack of its own, and a switch is a return and a call.

use std::cell::Cell;
use std::ops::Range;

/// A segment of a task, called with the task's frame: where to go on after the yield, `None` if the task has ended.
pub type Segment<L, P> = fn(&Frame<L, P>) -> Option<Resume<L, P>>;

/// Where a task goes on.
pub struct Resume<L, P>(pub Segment<L, P>);

impl<L, P> Clone for Resume<L, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L, P> Copy for Resume<L, P> {}

/// What is kept of a task while others run: one line of the cache for up to six words of live values.
#[repr(C, align(64))]
pub struct Frame<L, P> {
    resume: Cell<Resume<L, P>>,
    /// The values that live across a yield.
    pub live: Cell<L>,
    /// What belongs to the place in the window and so to each task in it: here COSPlay's context number and log would be.
    pub place: P,
}

impl<L, P> Frame<L, P> {
    /// A frame that holds no task; `live` is a filler.
    pub fn new(live: L, place: P) -> Self {
        Frame {
            resume: Cell::new(Resume(|_| None)),
            live: Cell::new(live),
            place,
        }
    }

    /// Where the live values lie in memory.
    pub fn live_bytes(&self) -> Range<u64> {
        let from = self.live.as_ptr().addr() as u64;
        from..from + size_of::<L>() as u64
    }
}

/// Runs so many tasks, at most one a frame at a time. `first` is the first segment of each.
///
/// A task that ends is replaced in its frame at once: it leaves nothing pending that another could hide. Without frames
/// nothing runs.
#[inline(never)]
pub fn run<L, P>(first: Resume<L, P>, frames: &[Frame<L, P>], tasks: u64) {
    let mut left = tasks;
    let mut used = frames.len();
    for frame in frames.iter().cycle() {
        let mut next = (frame.resume.get().0)(frame);
        let resume = loop {
            match next {
                Some(resume) => break resume,
                None if left > 0 => {
                    left -= 1;
                    next = (first.0)(frame);
                }
                None => {
                    if was_last(&mut used) {
                        return;
                    }
                    break Resume(stay_empty);
                }
            }
        };
        frame.resume.set(resume);
    }
}

/// Gives up one of the used frames; out of the way, so that the number needs no register of the loop above.
#[cold]
#[inline(never)]
fn was_last(used: &mut usize) -> bool {
    *used -= 1;
    *used == 0
}

/// What runs in a frame that no task is left for, until the others have ended.
fn stay_empty<L, P>(_: &Frame<L, P>) -> Option<Resume<L, P>> {
    Some(Resume(stay_empty))
}
