//! The stackless coroutine library: an array of frames, scheduled round robin.
//!
//! A task is a chain of segments. Each segment is a function that runs to the task's next yield, saves its live values
//! in the frame, and returns the next segment. So a task needs no stack, and a switch is a return and a call.

use std::cell::Cell;
use std::ops::Range;

/// A segment of a task, called with the task's frame. Returns the segment after the yield, `None` if the task has
/// ended.
pub type Segment<L, P> = fn(&Frame<L, P>) -> Option<Resume<L, P>>;

/// Where a task goes on.
pub struct Resume<L, P>(pub Segment<L, P>);

impl<L, P> Clone for Resume<L, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L, P> Copy for Resume<L, P> {}

/// The saved state of a task: one cache line with up to six words of live values.
#[repr(C, align(64))]
pub struct Frame<L, P> {
    resume: Cell<Resume<L, P>>,
    /// The values that live across a yield.
    pub live: Cell<L>,
    /// What belongs to the slot of the window, and so to each task in it: the place of COSPlay's context number and
    /// log.
    pub slot: P,
}

impl<L, P> Frame<L, P> {
    /// A frame without a task; `live` is a filler.
    pub fn new(live: L, slot: P) -> Self {
        Frame {
            resume: Cell::new(Resume(|_| None)),
            live: Cell::new(live),
            slot,
        }
    }

    /// Address of the live values.
    pub fn live_bytes(&self) -> Range<u64> {
        let from = self.live.as_ptr().addr() as u64;
        from..from + size_of::<L>() as u64
    }
}

/// Runs `tasks` tasks, at most one per frame at a time. `first` is the first segment of each.
///
/// A task that ends is replaced in its frame at once: it leaves nothing pending that another task could hide. Without
/// frames nothing runs.
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

/// Releases a used frame. It is out of line, so that the count needs no register of the loop above.
#[cold]
#[inline(never)]
fn was_last(used: &mut usize) -> bool {
    *used -= 1;
    *used == 0
}

/// The segment of a frame without a task, until the other tasks have ended.
fn stay_empty<L, P>(_: &Frame<L, P>) -> Option<Resume<L, P>> {
    Some(Resume(stay_empty))
}
