//! Steady starts that several runs share: one of them warms the caches for all. No record depends on it, but for the
//! host's times.

mod key;

use crate::{Error, Plan, Spec};
use key::Key;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use strandline_design::AnyDesign;
use strandline_isa::Memory;
use strandline_machine::{Accesses, Contents};

/// Bytes of the host that kept starts take together, at most. One takes what the memory of its run does, and the tags of
/// the caches: 5 to 150 MiB with the presets.
const MOST_BYTES: u64 = 512 << 20;

/// The memory of a run and what caches hold as it begins.
#[derive(Clone)]
pub struct Start {
    /// The memory.
    pub memory: Memory,
    /// What caches, TLBs and predictors hold.
    pub contents: Contents,
    /// Bytes of the host that both take.
    pub bytes: u64,
}

/// A run's start, among those that are shared.
pub struct Shared<'s> {
    starts: &'s Starts,
    key: Option<Key>,
    accesses: Accesses,
}

/// The starts that some runs share. Each is kept from the run that computes it until the last one has taken it.
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
    computed: u64,
}

/// A start that runs have yet to take.
struct Wanted {
    /// Runs that have yet to take it.
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
    start: Arc<Mutex<Start>>,
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

impl Default for Starts {
    /// Those of a single run, which shares none.
    fn default() -> Starts {
        Starts::within(MOST_BYTES)
    }
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
        let mut starts = Starts::within(most_bytes);
        let wanted = &mut starts.state.get_mut().unwrap_or_else(PoisonError::into_inner).wanted;
        for key in specs.iter().filter_map(Key::of_spec) {
            let new = || Wanted {
                runs: 0,
                stage: Stage::Open,
            };
            wanted.entry(key).or_insert_with(new).runs += 1;
        }
        wanted.retain(|_, start| start.runs > 1);
        starts
    }

    fn within(most_bytes: u64) -> Starts {
        Starts {
            most_bytes,
            state: Mutex::default(),
            ended: Condvar::new(),
        }
    }

    /// A number for each of these runs, the same for those of one start.
    #[must_use]
    pub fn groups(specs: &[Spec]) -> Vec<usize> {
        let mut first = HashMap::new();
        let number = |(index, spec)| Key::of_spec(spec).map_or(index, |key| *first.entry(key).or_insert(index));
        specs.iter().enumerate().map(number).collect()
    }

    /// A run will not be made after all.
    pub fn forgo(&self, spec: &Spec) {
        if let Some(key) = Key::of_spec(spec) {
            self.state().leave(&key);
        }
    }

    /// How many starts were computed for more than one run.
    #[must_use]
    pub fn computed(&self) -> u64 {
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

    /// No thread panics while it changes the state.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared<'_> {
    /// That of a planned run. `resolved`: the run with every setting.
    pub(crate) fn of<'s>(starts: &'s Starts, plan: &Plan, resolved: &Spec, design: &AnyDesign) -> Shared<'s> {
        let accesses = Accesses::of(design);
        Shared {
            starts,
            key: Key::of(plan, resolved, accesses),
            accesses,
        }
    }

    /// That of a run which shares none.
    pub(crate) fn alone<'s>(starts: &'s Starts, design: &AnyDesign) -> Shared<'s> {
        Shared {
            starts,
            key: None,
            accesses: Accesses::of(design),
        }
    }

    /// The start. The run computes it unless another has, and waits for one that does.
    ///
    /// # Errors
    /// Those of `compute`.
    pub(crate) fn start(&self, compute: impl FnOnce(&Accesses) -> Result<Start, Error>) -> Result<Start, Error> {
        let Some(key) = &self.key else {
            return compute(&self.accesses);
        };
        match self.starts.turn(key) {
            Turn::Alone => compute(&self.accesses),
            Turn::Takes(kept) => Ok(kept.taken()),
            Turn::ForAll => {
                let starts = self.starts;
                let computing = Computing { starts, key };
                let start = compute(&self.accesses)?;
                computing.ends_with(&start);
                Ok(start)
            }
        }
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
    /// Keeps the start for the others, if there is room.
    fn ends_with(self, start: &Start) {
        let bytes = start.bytes;
        // The copy is made while others can go on. Nothing else is kept in its place: the sum is checked again.
        let fits = |state: &State| state.bytes.saturating_add(bytes) <= self.starts.most_bytes;
        let copy = fits(&self.starts.state()).then(|| Arc::new(Mutex::new(start.clone())));
        let mut state = self.starts.state();
        state.computed += 1;
        if let (Some(start), true) = (copy, fits(&state)) {
            if let Some(wanted) = state.wanted.get_mut(self.key) {
                wanted.stage = Stage::Kept(Kept { start, bytes });
                state.bytes += bytes;
            }
            state.leave(self.key);
        }
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
    /// The start itself for the last run that takes it, a copy for others.
    fn taken(self) -> Start {
        match Arc::try_unwrap(self.start) {
            Ok(start) => start.into_inner().unwrap_or_else(PoisonError::into_inner),
            Err(shared) => shared.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}
