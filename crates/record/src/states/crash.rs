//! The crash states of a recording: their number, and some of them as files.

use super::orders::Fingerprint;
use super::{
    files, quotas, Audit, Budget, Count, Dependent, History, Image, Ledger, Orders, Pending, Rules, Spot, StateName,
    Visit, Walk, Which,
};
use crate::order::Places;
use crate::{RecordError, Recording};
use std::collections::{BTreeMap, HashSet, VecDeque};
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
    /// At most this number of orders, including the recorded one; by default a few, if there are several threads.
    pub orders: Option<u32>,
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
    /// Instructions that do too little or nothing, with counts.
    pub audit: BTreeMap<Spot, u64>,
    /// Reads of other threads' undurable values before something was made durable, with counts.
    pub reads: BTreeMap<Dependent, u64>,
    /// The explored orders that differ, in ascending order; 0 is the recorded one.
    pub orders: Vec<u32>,
    /// How many were tried.
    pub orders_tried: u32,
}

/// The intervals of an order.
#[derive(Clone, Debug)]
struct Explored {
    order: u32,
    /// The number of states of each interval to visit.
    quotas: Vec<u32>,
}

/// The crash states of a recording, one after the other.
pub struct CrashStates {
    recording: Arc<Recording>,
    places: Arc<Places>,
    asked: Asked,
    plan: Plan,
    orders: Orders,
    /// The orders that are still to visit.
    explored: VecDeque<Explored>,
    /// What comes later in the order of the walk.
    history: History,
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
        let recording = Arc::new(recording);
        let mut states = CrashStates {
            orders: Orders::of(&recording, &places),
            recording,
            places,
            asked,
            plan: Plan {
                intervals: 0,
                states: Count::exactly(1),
                visits: 0,
                visited_intervals: 0,
                taken_together: false,
                tasks: 0,
                audit: BTreeMap::new(),
                reads: BTreeMap::new(),
                orders: Vec::new(),
                orders_tried: 0,
            },
            explored: VecDeque::new(),
            history: History::default(),
            last: Image::default(),
            edges: VecDeque::new(),
            walk: None,
            queue: VecDeque::new(),
        };
        states.count()?;
        Ok(states)
    }

    fn count(&mut self) -> Result<(), RecordError> {
        self.plan.orders_tried = self.orders.count(self.asked.orders);
        let mut audit = Audit::new(self.recording.threads().len());
        let mut seen = HashSet::new();
        let mut own = vec![(0, self.count_order(0, &mut audit, &mut seen)?.unwrap_or_default())];
        for number in 1..self.plan.orders_tried {
            let mut other = Audit::new(self.recording.threads().len());
            let counts = self.count_order(number, &mut other, &mut seen)?;
            audit.merge(&other);
            own.extend(counts.map(|counts| (number, counts)));
        }
        self.plan.orders = own.iter().map(|(number, _)| *number).collect();
        self.plan.reads = audit.reads();
        self.plan.audit = audit.finish();
        self.decide(&own)
    }

    /// Counts the states of each interval of an order; `None` if an earlier order was the same.
    fn count_order(
        &mut self,
        number: u32,
        audit: &mut Audit,
        seen: &mut HashSet<u64>,
    ) -> Result<Option<Vec<u32>>, RecordError> {
        let mut fingerprint = Fingerprint::new(self.recording.threads().len());
        let mut walk = self.start(number)?;
        let (mut ledger, mut own, mut states) = (Ledger::default(), Vec::new(), Count::NONE);
        let mut see = |op: &_| {
            audit.see(op);
            fingerprint.see(op);
        };
        while walk.next(&mut see)?.is_some() {
            let changed = walk.changed();
            let count = ledger.close(walk.pending(), changed, walk.boundary());
            own.push(count.at_most(u32::MAX));
            states = states.plus(count);
        }
        if !fingerprint.is_new(seen) {
            return Ok(None);
        }
        self.plan.intervals += own.len() as u64;
        self.plan.states = self.plan.states.plus(states);
        self.plan.taken_together |= walk.pending().taken_together;
        if number == 0 {
            self.plan.tasks = walk.tasks;
            self.last = walk.all_durable();
        }
        Ok(Some(own))
    }

    fn decide(&mut self, own: &[(u32, Vec<u32>)]) -> Result<(), RecordError> {
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
            let all: Vec<u32> = own.iter().flat_map(|(_, counts)| counts).copied().collect();
            let mut left = quotas(&all, self.asked.budget, self.asked.seed);
            self.plan.visited_intervals = left.iter().filter(|quota| **quota > 0).count() as u64;
            self.plan.visits = left.iter().map(|quota| u64::from(*quota)).sum::<u64>() + 2;
            for (order, counts) in own {
                let rest = left.split_off(counts.len());
                let quotas = std::mem::replace(&mut left, rest);
                self.explored.push_back(Explored { order: *order, quotas });
            }
        }
        if let Some(only) = &self.asked.only {
            self.plan.visits = 1;
            if let StateName::In(order, ..) = only {
                let (order, quotas) = (*order, Vec::new());
                self.explored.push_back(Explored { order, quotas });
            }
        }
        Ok(())
    }

    fn start(&self, order: u32) -> Result<Walk<'static>, RecordError> {
        let ops = self.orders.ops(order, self.asked.rules)?;
        let threads = self.recording.threads().len();
        let pending = Pending::new(self.asked.rules, threads, self.initial()?);
        Ok(Walk::new(ops, pending))
    }

    fn history_of(&self, order: u32) -> Result<History, RecordError> {
        let mut history = History::default();
        for op in self.orders.ops(order, self.asked.rules)? {
            history.see(&op?);
        }
        Ok(history)
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
            (Some((walk, Some(number))), Some(which)) => {
                let order = self.explored.front().map_or(0, |explored| explored.order);
                self.visit(walk, (order, *number), which, folder).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn edge(&self, name: &StateName, folder: &Path) -> Result<Visit, RecordError> {
        match name {
            StateName::Initial => files::write(&self.places, &self.initial()?, &[], folder)?,
            _ => files::write(&self.places, &self.last, &[], folder)?,
        };
        Ok(Visit {
            name: name.to_string(),
            ..Visit::default()
        })
    }

    /// Advances to the next interval, perhaps of the next order; `false` if there is none.
    fn advance(&mut self) -> Result<bool, RecordError> {
        let Some(explored) = self.explored.front() else {
            return Ok(false);
        };
        let order = explored.order;
        if let (Some(only), 1..=u32::MAX, 0 | 1) = (&self.asked.only, order, self.recording.threads().len()) {
            return Err(no_such_state(&only.to_string()));
        }
        let (mut walk, _) = match self.walk.take() {
            Some(walk) => walk,
            None => {
                self.history = self.history_of(order)?;
                (self.start(order)?, None)
            }
        };
        let number = walk.next(&mut |_| {})?;
        let wanted = match (&self.asked.only, number) {
            (Some(StateName::In(_, interval, which)), Some(number)) if *interval == number => vec![which.clone()],
            (None, Some(number)) => match explored.quotas.get(number as usize) {
                Some(quota) if *quota > 0 => walk.interval().visits(number, *quota, self.asked.seed),
                _ => vec![],
            },
            (Some(only), None) => return Err(no_such_state(&only.to_string())),
            _ => vec![],
        };
        self.queue.extend(wanted);
        if number.is_none() {
            self.explored.pop_front();
            return Ok(!self.explored.is_empty());
        }
        self.walk = Some((walk, number));
        Ok(true)
    }

    fn visit(
        &self,
        walk: &Walk<'static>,
        (order, number): (u32, u64),
        which: Which,
        folder: &mut dyn FnMut(&str) -> std::path::PathBuf,
    ) -> Result<Visit, RecordError> {
        let interval = walk.interval();
        let kept = interval.kept(number, &which);
        let name = StateName::In(order, number, which).to_string();
        let kept = kept.ok_or_else(|| no_such_state(&name))?;
        let stores = interval.stores(&kept);
        files::write(&self.places, &walk.pending().durable, &stores, folder(&name).as_path())?;
        Ok(Visit {
            name,
            interval: Some(number),
            tasks: walk.tasks,
            began: walk.began,
            ends: walk.ends(),
            ..Visit::of(&interval, &kept, &self.history)
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
