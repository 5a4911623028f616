//! What runs begin with and share: one of them fills the memory, or warms the caches, for all. No record depends on it, but
//! for the host's times.

mod key;

use crate::{Error, Plan, Spec};
use key::{Key, Keys};
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use strandline_design::AnyDesign;
use strandline_isa::{Memory, SharedMemory};
use strandline_machine::{Accesses, Contents};

/// Bytes of the host that kept starts take together, at most. Filled memory takes what the memory of its run does; a
/// steady start over it takes what differs, and the tags of the caches. That is 5 to 500 MiB with the presets.
const MOST_BYTES: u64 = 1 << 30;

/// What a run begins with.
pub struct Start {
    /// Its memory.
    pub memory: Memory,
    /// What caches, TLBs and predictors hold, if a program has warmed them.
    pub contents: Option<Box<Contents>>,
    /// Bytes of the host that it takes, without memory that it shares.
    pub bytes: u64,
}

/// A run's start, among those that are shared.
pub struct Shared<'s> {
    /// The starts, and those of the run.
    among: Option<(&'s Starts, Keys)>,
    accesses: Accesses,
}

/// What some runs begin with, filled memory and steady starts. Each is kept from the run that computes it until the last
/// one that wants it has begun.
pub struct Starts {
    most_bytes: u64,
    state: Mutex<State>,
    /// A start that was being computed is kept, or will not be.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// Those that runs have yet to take.
    wanted: HashMap<Key, Wanted>,
    bytes: u64,
    computed: Computed,
}

/// How many starts were computed for more than one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Computed {
    /// Filled memories.
    pub filled: u64,
    /// Steady starts.
    pub steady: u64,
}

/// A start that runs have yet to take.
struct Wanted {
    /// Runs that have yet to take it, or what was made of it.
    runs: u64,
    stage: Stage,
}

#[derive(Clone)]
enum Stage {
    /// No run has begun to compute it.
    Open,
    /// A run computes it.
    UnderWay,
    Kept(Kept),
}

#[derive(Clone)]
struct Kept {
    memory: SharedMemory,
    contents: Option<Arc<Mutex<Box<Contents>>>>,
    bytes: u64,
}

/// What a run does for its start.
enum Turn {
    /// It computes it for itself.
    Alone,
    /// It computes it for others, too.
    ForAll,
    /// It gets what another has computed.
    Takes(Kept),
}

impl Starts {
    /// Those of runs that are to be made, each once. A run that cannot be made shares none.
    #[must_use]
    pub fn of(specs: &[Spec]) -> Starts {
        Starts::bounded(specs, MOST_BYTES)
    }

    /// As [`Starts::of`], in so many bytes.
    #[must_use]
    pub fn bounded(specs: &[Spec], most_bytes: u64) -> Starts {
        let mut wanted: HashMap<Key, Wanted> = HashMap::new();
        for key in specs.iter().filter_map(Keys::of_spec).flat_map(Keys::all) {
            let new = || Wanted {
                runs: 0,
                stage: Stage::Open,
            };
            wanted.entry(key).or_insert_with(new).runs += 1;
        }
        wanted.retain(|_, start| start.runs > 1);
        Starts {
            most_bytes,
            state: Mutex::new(State {
                wanted,
                ..State::default()
            }),
            ended: Condvar::new(),
        }
    }

    /// Two numbers for each of these runs: the first is the same for those with the same filled memory, the second for
    /// those of one steady start.
    #[must_use]
    pub fn groups(specs: &[Spec]) -> Vec<(usize, usize)> {
        let mut first = HashMap::new();
        let mut number = |index, key: Option<Key>| key.map_or(index, |key| *first.entry(key).or_insert(index));
        let numbers = |(index, spec)| match Keys::of_spec(spec) {
            Some(Keys { filled, steady }) => (number(index, Some(filled)), number(index, steady)),
            None => (index, index),
        };
        specs.iter().enumerate().map(numbers).collect()
    }

    /// A run will not be made after all.
    pub fn forgo(&self, spec: &Spec) {
        let keys = Keys::of_spec(spec).into_iter().flat_map(Keys::all);
        keys.for_each(|key| self.state().leave(&key));
    }

    /// How many starts were computed for more than one run.
    #[must_use]
    pub fn computed(&self) -> Computed {
        self.state().computed
    }

    /// Bytes of the host that starts take now.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.state().bytes
    }

    /// What a run does now, once no other computes its start.
    fn turn(&self, key: &Key) -> Turn {
        let mut state = self.state();
        loop {
            let Some(wanted) = state.wanted.get_mut(key) else {
                return Turn::Alone;
            };
            match &wanted.stage {
                Stage::UnderWay => {}
                Stage::Kept(kept) => {
                    let kept = kept.clone();
                    state.leave(key);
                    return Turn::Takes(kept);
                }
                Stage::Open if wanted.runs == 1 => {
                    state.leave(key);
                    return Turn::Alone;
                }
                Stage::Open => {
                    wanted.stage = Stage::UnderWay;
                    return Turn::ForAll;
                }
            }
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The start of this key. The run computes it unless another has, and waits for one that does.
    fn start(&self, key: &Key, compute: impl FnOnce() -> Result<Start, Error>) -> Result<Start, Error> {
        match self.turn(key) {
            Turn::Alone => compute(),
            Turn::Takes(kept) => Ok(kept.start()),
            Turn::ForAll => {
                let computing = Computing { starts: self, key };
                Ok(computing.ends_with(compute()?))
            }
        }
    }

    /// No thread panics while it changes the state.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared<'_> {
    /// That of a planned run. `resolved`: the run with every setting.
    pub(crate) fn of<'s>(starts: Option<&'s Starts>, plan: &Plan, resolved: &Spec, design: &AnyDesign) -> Shared<'s> {
        let accesses = Accesses::of(design);
        Shared {
            among: starts.and_then(|starts| Some((starts, Keys::of(plan, resolved, accesses)?))),
            accesses,
        }
    }

    /// That of a run which shares none.
    pub(crate) fn alone(design: &AnyDesign) -> Shared<'static> {
        Shared {
            among: None,
            accesses: Accesses::of(design),
        }
    }

    /// The filled memory of a run.
    pub(crate) fn filled(&self, fill: impl FnOnce() -> Memory) -> Result<Memory, Error> {
        let Some((starts, keys)) = &self.among else {
            return Ok(fill());
        };
        let start = || {
            let memory = fill();
            Ok(Start {
                bytes: memory.host_bytes(),
                memory,
                contents: None,
            })
        };
        Ok(starts.start(&keys.filled, start)?.memory)
    }

    /// The steady start of a run, which asks for filled memory if it computes the start.
    ///
    /// # Errors
    /// Those of `compute`.
    pub(crate) fn steady(
        &self,
        compute: impl FnOnce(&Accesses) -> Result<Start, Error>,
    ) -> Result<(Memory, Box<Contents>), Error> {
        let mut fills = false;
        let compute = || {
            fills = true;
            compute(&self.accesses)
        };
        let start = match &self.among {
            Some((
                starts,
                Keys {
                    filled,
                    steady: Some(steady),
                },
            )) => {
                let start = starts.start(steady, compute)?;
                if !fills {
                    starts.state().leave(filled);
                }
                start
            }
            _ => compute()?,
        };
        Ok((start.memory, start.contents.expect("a program has warmed the caches")))
    }
}

impl State {
    /// One run fewer wants a start. After the last one it is released.
    fn leave(&mut self, key: &Key) {
        let Some(wanted) = self.wanted.get_mut(key) else {
            return;
        };
        wanted.runs -= 1;
        if wanted.runs == 0 {
            self.release(key);
        }
    }

    fn release(&mut self, key: &Key) {
        let released = self.wanted.remove(key);
        if let Some(Stage::Kept(kept)) = released.map(|wanted| wanted.stage) {
            self.bytes -= kept.bytes;
        }
    }
}

/// A run computes a start for others.
struct Computing<'s> {
    starts: &'s Starts,
    key: &'s Key,
}

impl Computing<'_> {
    /// Keeps the start for the others, if there is room, and returns it.
    fn ends_with(self, start: Start) -> Start {
        let mut state = self.starts.state();
        match self.key {
            Key::Filled(_) => state.computed.filled += 1,
            Key::Steady { .. } => state.computed.steady += 1,
        }
        if state.bytes.saturating_add(start.bytes) > self.starts.most_bytes {
            return start;
        }
        let Some(wanted) = state.wanted.get_mut(self.key) else {
            return start;
        };
        let kept = Kept::of(start);
        wanted.stage = Stage::Kept(kept.clone());
        state.bytes += kept.bytes;
        state.leave(self.key);
        drop(state);
        kept.start()
    }
}

impl Drop for Computing<'_> {
    /// If nothing is kept, because the run has failed or its start is too large, each run computes its own.
    fn drop(&mut self) {
        let mut state = self.starts.state();
        let stage = state.wanted.get(self.key).map(|wanted| &wanted.stage);
        if matches!(stage, Some(Stage::UnderWay)) {
            state.release(self.key);
        }
        self.starts.ended.notify_all();
    }
}

impl Kept {
    fn of(start: Start) -> Kept {
        Kept {
            memory: start.memory.shared(),
            contents: start.contents.map(|contents| Arc::new(Mutex::new(contents))),
            bytes: start.bytes,
        }
    }

    /// The start of a run: memory of its own over what is kept, and a copy of the rest.
    fn start(&self) -> Start {
        let copied = |contents: &Arc<Mutex<Box<Contents>>>| {
            let contents = contents.lock().unwrap_or_else(PoisonError::into_inner);
            contents.clone()
        };
        Start {
            memory: self.memory.memory(),
            contents: self.contents.as_ref().map(copied),
            bytes: self.bytes,
        }
    }
}
