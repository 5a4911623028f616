//! The crash states of a recording: their number, and some of them as files.

use super::{
    files, quotas, Audit, Budget, Classes, Count, Image, Ledger, Pending, Rules, Spot, StateName, Visit, Walk, Which,
};
use crate::order::{Interleaved, Places};
use crate::{RecordError, Recording};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

/// The requested crash states.
#[derive(Clone, Debug)]
pub struct Asked {
    /// When stores are durable.
    pub rules: Rules,
    /// How many states to visit.
    pub budget: Budget,
    /// Seed that selects states if there are too many.
    pub seed: u64,
    /// Only this state.
    pub only: Option<StateName>,
}

/// Limit above which not all states are visited.
const MOST_STATES: u64 = 100_000_000;

/// The crash states of a recording, in numbers.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Number of intervals with states of their own.
    pub intervals: u64,
    /// Number of different states that the model distinguishes, including the one before the program.
    pub states: Count,
    /// Number of visited states.
    pub visits: u64,
    /// Number of intervals with visited states.
    pub visited_intervals: u64,
    /// Some lines had so many stores before becoming durable that old stores were merged.
    pub taken_together: bool,
    /// Number of tasks that started, by the program's markers.
    pub tasks: u64,
    /// Number of ended tasks of each thread, by the program's markers.
    pub done: Vec<u64>,
    /// Number of classes of states that were found: see [`Classes`].
    pub classes: u64,
    /// Instructions that do too little or nothing, with counts.
    pub audit: BTreeMap<Spot, u64>,
}

/// The crash states of a recording, one after the other.
pub struct CrashStates {
    recording: Arc<Recording>,
    places: Arc<Places>,
    asked: Asked,
    plan: Plan,
    /// The representatives of classes, by interval; they come first.
    first: BTreeMap<u64, Vec<Which>>,
    /// Number of other states of each interval to visit.
    quotas: Vec<u32>,
    /// The representatives were visited.
    rest: bool,
    last: Image,
    edges: VecDeque<StateName>,
    walk: Option<(Walk<'static>, Option<u64>)>,
    queue: VecDeque<Which>,
}

impl CrashStates {
    /// Reads the recording once, counts its states and selects those to visit.
    ///
    /// # Errors
    /// The recording cannot be read, or has too many states to visit all.
    pub fn new(recording: Recording, asked: Asked) -> Result<CrashStates, RecordError> {
        let places = Arc::new(Places::of(recording.regions()));
        let mut states = CrashStates {
            recording: Arc::new(recording),
            places,
            asked,
            plan: Plan {
                intervals: 0,
                states: Count::exactly(1),
                visits: 0,
                visited_intervals: 0,
                taken_together: false,
                tasks: 0,
                done: Vec::new(),
                classes: 0,
                audit: BTreeMap::new(),
            },
            first: BTreeMap::new(),
            quotas: Vec::new(),
            rest: false,
            last: Image::default(),
            edges: VecDeque::new(),
            walk: None,
            queue: VecDeque::new(),
        };
        states.count()?;
        Ok(states)
    }

    fn count(&mut self) -> Result<(), RecordError> {
        let mut audit = Audit::new(self.recording.threads().len());
        let mut walk = self.start()?;
        let (mut ledger, mut own) = (Ledger::default(), Vec::new());
        let mut classes = Classes::new(self.most_representatives(), self.asked.seed);
        while let Some(number) = walk.next(&mut |op| audit.see(op))? {
            let changed = walk.changed();
            classes.see(number, &walk, &changed);
            let new = ledger.close(walk.pending(), changed, walk.boundary());
            let new = if walk.has_own() { new } else { Count::NONE };
            let count = new.plus(Count::exactly(u128::from(walk.acknowledges())));
            own.push(count.at_most(u32::MAX));
            self.plan.states = self.plan.states.plus(count);
        }
        self.plan.intervals = own.len() as u64;
        self.plan.taken_together = walk.pending().taken_together;
        self.plan.tasks = walk.tasks;
        self.plan.done.clone_from(&walk.done);
        self.plan.classes = classes.count();
        for (number, which) in classes.representatives() {
            self.first.entry(number).or_default().push(which);
        }
        self.plan.audit = audit.finish();
        self.last = walk.all_durable();
        self.decide(&own)
    }

    /// The number of representatives that can be visited.
    fn most_representatives(&self) -> u64 {
        match (&self.asked.only, self.asked.budget) {
            (Some(_), _) => 0,
            (None, Budget::All) => MOST_STATES,
            (None, Budget::Most(most)) => most,
        }
    }

    fn decide(&mut self, own: &[u32]) -> Result<(), RecordError> {
        let most = u128::from(MOST_STATES);
        if self.asked.budget == Budget::All && self.plan.states.exact.is_none_or(|exact| exact > most) {
            let states = self.plan.states;
            let many = states
                .exact
                .map_or_else(|| format!("about 2^{:.0}", states.log2), |exact| exact.to_string());
            let what = format!("there are {many} crash states, too many to visit all");
            return Err(RecordError::new(what, "give a number: --points 100000"));
        }
        self.edges = match &self.asked.only {
            Some(only @ (StateName::Initial | StateName::Final)) => [only.clone()].into(),
            Some(StateName::In(..)) => VecDeque::new(),
            None => [StateName::Initial, StateName::Final].into(),
        };
        if self.asked.only.is_none() {
            self.quotas = self.others(own);
        }
        let mut numbered = (0..).zip(&self.quotas);
        let visited = |(number, quota): &(u64, &u32)| **quota > 0 || self.first.contains_key(number);
        self.plan.visited_intervals = numbered.by_ref().filter(visited).count() as u64;
        self.plan.visits = match self.asked.only {
            Some(_) => 1,
            None => self.represented() + self.quotas.iter().map(|quota| u64::from(*quota)).sum::<u64>() + 2,
        };
        Ok(())
    }

    /// Number of representatives to visit.
    fn represented(&self) -> u64 {
        self.first.values().map(|first| first.len() as u64).sum()
    }

    /// The number of states of each interval to visit beside the representatives.
    fn others(&self, own: &[u32]) -> Vec<u32> {
        let mut left = own.to_vec();
        for (number, first) in &self.first {
            left[*number as usize] -= first.len() as u32;
        }
        let budget = match self.asked.budget {
            Budget::All => Budget::All,
            Budget::Most(most) => Budget::Most(most - self.represented()),
        };
        quotas(&left, budget, self.asked.seed)
    }

    fn start(&self) -> Result<Walk<'static>, RecordError> {
        let ops = Interleaved::new(&self.recording, &self.places)?;
        let threads = self.recording.threads().len();
        let pending = Pending::new(self.asked.rules, threads, self.initial()?);
        Ok(Walk::new(Box::new(ops), pending))
    }

    fn initial(&self) -> Result<Image, RecordError> {
        Image::initial(&self.recording, &self.places)
    }

    /// What there is.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The recording.
    #[must_use]
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Its files of persistent memory.
    #[must_use]
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Writes the next state into the folder that `folder` derives from its name, and returns the state. The states
    /// before and after the program come first.
    ///
    /// # Errors
    /// The recording cannot be read, or the state cannot be written or does not exist.
    pub fn next(&mut self, folder: &mut dyn FnMut(&str) -> std::path::PathBuf) -> Result<Option<Visit>, RecordError> {
        if let Some(edge) = self.edges.pop_front() {
            return self.edge(&edge, folder(&edge.to_string()).as_path()).map(Some);
        }
        match self.asked.only {
            Some(StateName::Initial | StateName::Final) => return Ok(None),
            Some(StateName::In(..)) if self.walk.is_some() => return Ok(None),
            _ => {}
        }
        while self.queue.is_empty() {
            if !self.advance()? {
                return Ok(None);
            }
        }
        match (&self.walk, self.queue.pop_front()) {
            (Some((walk, Some(number))), Some(which)) => self.visit(walk, *number, which, folder).map(Some),
            _ => Ok(None),
        }
    }

    fn edge(&self, name: &StateName, folder: &Path) -> Result<Visit, RecordError> {
        let done = match name {
            StateName::Initial => {
                files::write(&self.places, &self.initial()?, &[], folder)?;
                vec![0; self.plan.done.len()]
            }
            _ => {
                files::write(&self.places, &self.last, &[], folder)?;
                self.plan.done.clone()
            }
        };
        Ok(Visit {
            name: name.to_string(),
            done,
            ..Visit::default()
        })
    }

    /// Advances to the next interval; `false` if there is none. The intervals are walked over twice: first for the
    /// representatives.
    fn advance(&mut self) -> Result<bool, RecordError> {
        let (mut walk, _) = match self.walk.take() {
            Some(walk) => walk,
            None => (self.start()?, None),
        };
        let number = walk.next(&mut |_| {})?;
        let wanted = match (&self.asked.only, number) {
            (Some(StateName::In(interval, which)), Some(number)) if *interval == number => vec![which.clone()],
            (None, Some(number)) => self.wanted(&walk, number),
            (None, None) if !self.rest => {
                self.rest = true;
                return Ok(self.quotas.iter().any(|quota| *quota > 0));
            }
            (Some(only), None) => return Err(no_such_state(&only.to_string())),
            _ => vec![],
        };
        self.queue.extend(wanted);
        self.walk = Some((walk, number));
        Ok(number.is_some())
    }

    fn wanted(&self, walk: &Walk<'static>, number: u64) -> Vec<Which> {
        let first = self.first.get(&number);
        if !self.rest {
            return first.cloned().unwrap_or_default();
        }
        match self.quotas.get(number as usize) {
            Some(quota) if *quota > 0 => {
                let seen = first.into_iter().flatten().cloned().collect();
                walk.interval().visits_beyond(seen, number, *quota, self.asked.seed)
            }
            _ => vec![],
        }
    }

    fn visit(
        &self,
        walk: &Walk<'static>,
        number: u64,
        which: Which,
        folder: &mut dyn FnMut(&str) -> std::path::PathBuf,
    ) -> Result<Visit, RecordError> {
        let interval = walk.interval();
        let kept = interval.kept(number, &which);
        let name = StateName::In(number, which).to_string();
        let kept = kept.ok_or_else(|| no_such_state(&name))?;
        let stores = interval.stores(&kept);
        files::write(&self.places, &walk.pending().durable, &stores, folder(&name).as_path())?;
        Ok(Visit {
            name,
            interval: Some(number),
            tasks: walk.tasks,
            done: walk.done.clone(),
            represents: self.asked.only.is_none() && !self.rest,
            began: walk.began,
            ends: walk.ends(),
            ..Visit::of(&interval, &kept)
        })
    }
}

fn no_such_state(name: &str) -> RecordError {
    let mend = "name one of this recording under this design, as a failing case does";
    RecordError::new(format!("the recording has no crash state `{name}`"), mend)
}

impl std::fmt::Debug for CrashStates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CrashStates")
            .field("asked", &self.asked)
            .field("plan", &self.plan)
            .finish_non_exhaustive()
    }
}
