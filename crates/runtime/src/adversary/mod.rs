//! A back end that persists as badly as the hardware may, to test recovery without a timed machine.
//!
//! Threads interleave at random. Stores are visible at once. A dirty persistent line may be written
//! back at any time, with its present bytes or, once flushed, with those at the flush, but never
//! with older ones than before. Only a fence makes the core's flushed lines durable, a fence for
//! one context only those flushed in it. A persist barrier orders the flushes of its strand
//! ([`STRANDS`]); only a join orders strands. After every change of the durable image an inspector
//! sees it: a crash at that point.

mod cpu;
mod lines;
mod watch;

use crate::stacks::{with_stacks, Stack};
use lines::{Choice, Lines};
use std::cell::{Cell, RefCell};
use std::fmt;
use strandline_isa::{Flush, Lowering, Memory, Primitive};
use strandline_kernel::Rng;

pub use cpu::AdversaryCpu;
pub use watch::Watch;

/// The lowering of x86: `clwb`, and `sfence` between log and update and at durable intents.
pub const FENCED: Lowering = Lowering {
    log: true,
    flush: Some(Flush::Clwb),
    log_before_update: &[Primitive::Sfence],
    commit: &[Primitive::Sfence],
    durable: &[Primitive::Sfence],
    ..Lowering::NOTHING
};

/// The lowering of strands: `clwb`, a persist barrier between log and update, a new strand behind
/// it, and a join at durable intents.
pub const STRANDS: Lowering = Lowering {
    log: true,
    flush: Some(Flush::Clwb),
    log_before_update: &[Primitive::PersistBarrier],
    commit: &[Primitive::JoinStrand],
    durable: &[Primitive::JoinStrand],
    new_strand: &[Primitive::NewStrand],
    ..Lowering::NOTHING
};

/// [`FENCED`] on hardware that speculates, without a fence behind each step. A load may see durable
/// bytes in place of stored ones, which is detected by the time at which the region validates.
/// Then, and now and then without a reason, the core is interrupted.
pub const SPECULATING: Lowering = Lowering {
    validate: &[Primitive::Mfence],
    commit: &[],
    ..FENCED
};

/// Turns without an end after which the program counts as hung.
const PATIENCE: u64 = 1 << 24;

/// The adversary's settings.
#[derive(Clone, Copy, Debug)]
pub struct Play {
    /// Seed of its choices.
    pub seed: u64,
    /// Operations, on average, for each dirty line that it writes back; 0: it writes none back before a fence.
    pub evict_one_in: u64,
}

/// Error: the program does not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hang;

impl fmt::Display for Hang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the program does not end: its threads wait for each other")
    }
}

impl std::error::Error for Hang {}

/// The state of a core's speculation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Speculation {
    /// Its loads since the last region are right.
    #[default]
    Right,
    /// It has loaded stale bytes.
    Misled,
    /// It has been interrupted: it aborts its region. In most cases it is not disturbed again until
    /// then, so that it makes progress.
    Aborts,
}

/// One load in this number is stale, or is interrupted earlier than necessary.
const MISLED_ONE_IN: u64 = 3;
const INTERRUPTED_ONE_IN: u64 = 32;
/// One region in this number is made stale or interrupted again after a restart.
const AGAIN_ONE_IN: u64 = 4;

/// A machine with volatile caches over durable memory, shared by the cores that [`Adversary::run`] runs programs on.
pub struct Adversary<'m> {
    memory: &'m Memory,
    lowering: Lowering,
    play: Play,
    cores: usize,
    waiting: Cell<usize>,
    state: RefCell<State<'m>>,
}

struct State<'m> {
    rng: Rng,
    lines: Lines,
    watch: Watch,
    inspect: &'m mut dyn FnMut(&Memory, &Watch),
}

impl<'m> Adversary<'m> {
    /// A machine of `cores` cores over `memory`, all of it durable. `inspect` sees each durable
    /// image, and the program's guarantees by then.
    pub fn new(
        memory: &'m Memory,
        cores: usize,
        lowering: Lowering,
        play: Play,
        inspect: &'m mut dyn FnMut(&Memory, &Watch),
    ) -> Self {
        Adversary {
            memory,
            lowering,
            play,
            cores,
            waiting: Cell::new(0),
            state: RefCell::new(State {
                rng: Rng::new(play.seed),
                lines: Lines::new(memory, cores),
                watch: Watch::new(memory, cores),
                inspect,
            }),
        }
    }

    /// Runs `program` on each core, with its number, to the end of all, in random turns.
    ///
    /// # Errors
    /// If they do not end.
    pub fn run(&self, program: &dyn Fn(usize, &AdversaryCpu<'_, 'm>)) -> Result<(), Hang> {
        let thread = |core: usize, stack: &Stack<(), ()>, ()| program(core, &self.cpu(core, stack));
        with_stacks(self.cores, &thread, |mut threads| {
            for _ in 0..PATIENCE {
                if threads.is_empty() {
                    return Ok(());
                }
                let turn = self.state.borrow_mut().rng.below(threads.len() as u64) as usize;
                if threads[turn].resume(()).is_none() {
                    threads.swap_remove(turn);
                }
            }
            Err(Hang)
        })
    }

    /// Regions acknowledged and operations returned so far. The last may be acknowledged behind the last change of the
    /// durable image, so that the inspector does not see it.
    #[must_use]
    pub fn acknowledged(&self) -> u64 {
        self.state.borrow().watch.acknowledged()
    }
}

impl State<'_> {
    /// Waits for the core's flushes of this context, or of all.
    fn drain(&mut self, core: usize, context: Option<u8>) {
        while let Some(changed) = self.lines.accept_of(core, context, &mut self.rng) {
            if changed {
                self.changed();
            }
        }
    }

    /// Writes back a flushed line, or a dirty one behind the flushes that precede it.
    fn evict(&mut self, memory: &Memory) {
        let changed = match self.lines.choose(&mut self.rng) {
            None => return,
            Some(Choice::Flushed(core)) => self.lines.accept_of(core, None, &mut self.rng) == Some(true),
            Some(Choice::Dirty(line)) => {
                if let Some(writer) = self.lines.before(line) {
                    self.drain(writer, None);
                }
                self.lines.write_back(line, memory)
            }
        };
        if changed {
            self.changed();
        }
    }

    fn changed(&mut self) {
        (self.inspect)(self.lines.durable(), &self.watch);
    }
}
