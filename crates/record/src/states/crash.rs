//! The crash states of a recording: their number, and some of them as files.

use super::orders::Fingerprint;
use super::{
    files, quotas, Audit, Budget, Classes, Count, Dependent, Failing, History, Image, Ledger, Numbered, Orders,
    Pending, Rules, Spot, StateName, Visit, Walk, Which,
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
    /// If the threads are hosts without coherence: those that fail.
    pub fails: Option<Vec<u32>>,
    /// At most this number of orders, including the recorded one; by default a few, if there are several threads.
    pub orders: Option<u32>,
}

/// Limit above which not all states are visited.
const MOST_STATES: u64 = 100_000_000;

/// The crash states of a recording, in numbers.
#[derive(Clone, Debug)]
pub struct CrashPlan {
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
    /// Reads of other threads' undurable values before something was made durable, with counts.
    pub reads: BTreeMap<Dependent, u64>,
    /// The explored orders that differ, in ascending order; 0 is the recorded one.
    pub orders: Vec<u32>,
    /// How many were tried.
    pub orders_tried: u32,
}

/// The intervals of an order.
#[derive(Clone, Debug, Default)]
struct Explored {
    order: u32,
    /// The representatives of classes, by interval.
    first: BTreeMap<u64, Vec<Which>>,
    /// Number of other states of each interval to visit; empty where the representatives are visited.
    quotas: Vec<u32>,
}

impl Explored {
    /// The states of this interval to visit.
    fn wanted(&self, walk: &Walk<'static>, number: u64, seed: u64) -> Vec<Which> {
        let first = self.first.get(&number).cloned().unwrap_or_default();
        match self.quotas.get(number as usize) {
            _ if self.quotas.is_empty() => first,
            Some(quota) if *quota > 0 => walk
                .interval()
                .visits(first.into_iter().collect(), number, *quota, seed),
            _ => vec![],
        }
    }
}

/// The crash states of a recording, one after the other.
pub struct CrashStates {
    recording: Arc<Recording>,
    places: Arc<Places>,
    asked: Asked,
    failing: Option<Failing>,
    plan: CrashPlan,
    orders: Orders,
    /// The orders that are still to visit: first for their representatives, then for the rest.
    explored: VecDeque<Explored>,
    /// The order of the walk, and what comes later in it.
    history: Option<(u32, History)>,
    last: Image,
    edges: VecDeque<StateName>,
    walk: Option<(Walk<'static>, Option<u64>)>,
    queue: VecDeque<Which>,
    /// Where states by name were visited last: an order, a walk over it, and its interval.
    stood: Option<(u32, Walk<'static>, u64)>,
}

impl CrashStates {
    /// Reads the recording once, counts its states and selects those to visit.
    ///
    /// # Errors
    /// The recording cannot be read, or has too many states to visit all.
    pub fn new(recording: Recording, asked: Asked) -> Result<CrashStates, RecordError> {
        CrashStates::told(recording, asked, &mut |_| {})
    }

    /// As [`CrashStates::new`]; tells the share of the orders that are read, after each of them.
    ///
    /// # Errors
    /// As [`CrashStates::new`].
    pub fn told(recording: Recording, asked: Asked, told: &mut dyn FnMut(f64)) -> Result<CrashStates, RecordError> {
        let places = Arc::new(Places::of(recording.regions()));
        let recording = Arc::new(recording);
        let failing = match &asked.fails {
            Some(threads) => Some(Failing::of(&recording, threads)?),
            None => None,
        };
        let mut states = CrashStates {
            orders: Orders::of(&recording, &places),
            recording,
            places,
            asked,
            failing,
            plan: CrashPlan {
                intervals: 0,
                states: Count::exactly(1),
                visits: 0,
                visited_intervals: 0,
                taken_together: false,
                tasks: 0,
                done: Vec::new(),
                classes: 0,
                audit: BTreeMap::new(),
                reads: BTreeMap::new(),
                orders: Vec::new(),
                orders_tried: 0,
            },
            explored: VecDeque::new(),
            history: None,
            last: Image::default(),
            edges: VecDeque::new(),
            walk: None,
            queue: VecDeque::new(),
            stood: None,
        };
        states.count(told)?;
        Ok(states)
    }

    fn count(&mut self, told: &mut dyn FnMut(f64)) -> Result<(), RecordError> {
        self.plan.orders_tried = self.orders.count(self.asked.orders);
        let share = f64::from(self.plan.orders_tried).recip();
        let mut audit = Audit::of(&self.recording, &self.places)?;
        let mut seen = HashSet::new();
        let mut classes = Classes::new(self.most_representatives(), self.asked.seed);
        let counts = self.count_order(0, &mut audit, &mut seen, &mut classes)?;
        told(share);
        let mut own = BTreeMap::from([(0, counts.unwrap_or_default())]);
        for number in 1..self.plan.orders_tried {
            let mut other = Audit::new(self.recording.threads().len());
            let counts = self.count_order(number, &mut other, &mut seen, &mut classes)?;
            audit.merge(&other);
            told(share * f64::from(number + 1));
            own.extend(counts.map(|counts| (number, counts)));
        }
        self.plan.classes = classes.count();
        let mut first: BTreeMap<u32, BTreeMap<u64, Vec<Which>>> = BTreeMap::new();
        for (order, number, which) in classes.representatives() {
            first.entry(order).or_default().entry(number).or_default().push(which);
        }
        self.plan.orders = own.keys().copied().collect();
        (self.plan.audit, self.plan.reads) = audit.finish();
        self.decide(&own, first)
    }

    /// Counts the states of each interval of an order; `None` if an earlier order was the same.
    fn count_order(
        &mut self,
        number: u32,
        audit: &mut Audit,
        seen: &mut HashSet<u64>,
        classes: &mut Classes,
    ) -> Result<Option<Vec<u32>>, RecordError> {
        let mut fingerprint = Fingerprint::new(self.recording.threads().len());
        let mut walk = self.start(number)?;
        let (mut ledger, mut own, mut states) = (Ledger::default(), Vec::new(), Count::NONE);
        let mut see = |op: &_| {
            audit.see(op);
            fingerprint.see(op);
        };
        classes.begin(number);
        while let Some(interval) = walk.next(&mut see)? {
            let changed = walk.changed();
            classes.see(interval, &walk, &changed);
            let new = ledger.close(walk.pending(), changed, walk.boundary());
            let new = if walk.has_own() { new } else { Count::NONE };
            let count = new.plus(Count::exactly(u128::from(walk.acknowledges())));
            own.push(count.at_most(u32::MAX));
            states = states.plus(count);
        }
        if !fingerprint.is_new(seen) {
            classes.forget();
            return Ok(None);
        }
        self.plan.intervals += own.len() as u64;
        self.plan.states = self.plan.states.plus(states);
        self.plan.taken_together |= walk.pending().taken_together;
        if number == 0 {
            self.plan.tasks = walk.tasks;
            self.plan.done.clone_from(&walk.done);
            self.last = walk.all_durable();
        }
        Ok(Some(own))
    }

    /// The number of representatives that can be visited.
    fn most_representatives(&self) -> u64 {
        match (&self.asked.only, self.asked.budget) {
            (Some(_), _) => 0,
            (None, Budget::All) => MOST_STATES,
            (None, Budget::Most(most)) => most,
        }
    }

    fn decide(
        &mut self,
        own: &BTreeMap<u32, Vec<u32>>,
        mut first: BTreeMap<u32, BTreeMap<u64, Vec<Which>>>,
    ) -> Result<(), RecordError> {
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
        match &self.asked.only {
            Some(StateName::In(order, ..)) => self.explored.push_back(Explored {
                order: *order,
                ..Explored::default()
            }),
            Some(_) => {}
            None => self.share(own, &mut first),
        }
        if self.asked.only.is_some() {
            self.plan.visits = 1;
        }
        Ok(())
    }

    /// Shares the visits: one for each representative, the rest among the intervals of all orders.
    fn share(&mut self, own: &BTreeMap<u32, Vec<u32>>, first: &mut BTreeMap<u32, BTreeMap<u64, Vec<Which>>>) {
        let mut left = Vec::new();
        let mut represented = 0;
        for (order, counts) in own {
            let start = left.len();
            left.extend_from_slice(counts);
            for (number, which) in first.get(order).into_iter().flatten() {
                left[start + *number as usize] -= which.len() as u32;
                represented += which.len() as u64;
            }
        }
        let budget = match self.asked.budget {
            Budget::All => Budget::All,
            Budget::Most(most) => Budget::Most(most - represented),
        };
        let mut left = quotas(&left, budget, self.asked.seed);
        self.plan.visits = represented + left.iter().map(|quota| u64::from(*quota)).sum::<u64>() + 2;
        let mut rest = Vec::new();
        for (order, counts) in own {
            let behind = left.split_off(counts.len());
            let quotas = std::mem::replace(&mut left, behind);
            let (order, first) = (*order, first.remove(order).unwrap_or_default());
            let visited = |(number, quota): &(u64, &u32)| **quota > 0 || first.contains_key(number);
            self.plan.visited_intervals += (0..).zip(&quotas).filter(visited).count() as u64;
            if quotas.iter().any(|quota| *quota > 0) {
                let first = first.clone();
                rest.push(Explored { order, first, quotas });
            }
            if !first.is_empty() {
                let quotas = Vec::new();
                self.explored.push_back(Explored { order, first, quotas });
            }
        }
        self.explored.extend(rest);
    }

    fn start(&self, order: u32) -> Result<Walk<'static>, RecordError> {
        let ops = self.orders.ops(order, self.asked.rules)?;
        let threads = self.recording.threads().len();
        let pending = Pending::new(self.asked.rules, threads, self.initial()?);
        Ok(Walk::new(ops, pending.of_hosts(self.failing.clone())))
    }

    /// Reads when an order flushes and fences, if that is not known.
    fn learn(&mut self, order: u32) -> Result<(), RecordError> {
        if self.history.as_ref().is_none_or(|(of, _)| *of != order) {
            let mut history = History::default();
            for op in self.orders.ops(order, self.asked.rules)? {
                history.see(&op?);
            }
            self.history = Some((order, history));
        }
        Ok(())
    }

    fn initial(&self) -> Result<Image, RecordError> {
        Image::initial(&self.recording, &self.places)
    }

    /// What there is.
    #[must_use]
    pub fn plan(&self) -> &CrashPlan {
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

    /// Writes the state of this name as [`CrashStates::next`] does; also returns its pending lines. States of the last
    /// one's interval, or of later ones, come cheaper.
    ///
    /// # Errors
    /// The recording cannot be read, or the state cannot be written or does not exist.
    pub fn named(
        &mut self,
        name: &StateName,
        folder: &mut dyn FnMut(&str) -> std::path::PathBuf,
    ) -> Result<(Visit, Vec<Numbered>), RecordError> {
        let StateName::In(order, number, which) = name else {
            return Ok((self.edge(name, folder(&name.to_string()).as_path())?, Vec::new()));
        };
        self.learn(*order)?;
        let walk = self
            .walk_to(*order, *number)?
            .ok_or_else(|| no_such_state(&name.to_string()))?;
        let mut visit = self.visit(&walk, (*order, *number), which.clone(), folder)?;
        visit.represents = false;
        let lines = walk.interval().numbers(*number, which);
        self.stood = Some((*order, walk, *number));
        Ok((visit, lines))
    }

    /// A walk that stands at this interval; `None` if there is none.
    fn walk_to(&mut self, order: u32, number: u64) -> Result<Option<Walk<'static>>, RecordError> {
        let stood = self.stood.take().filter(|(of, _, at)| *of == order && *at <= number);
        let (mut walk, mut at) = match stood {
            Some((_, walk, at)) => (walk, Some(at)),
            None => (self.start(order)?, None),
        };
        while at != Some(number) {
            at = walk.next(&mut |_| {})?;
            if at.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(walk))
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

    /// Advances to the next interval, perhaps of the next order; `false` if there is none. An order with more states than
    /// representatives is walked over twice.
    fn advance(&mut self) -> Result<bool, RecordError> {
        let Some(order) = self.explored.front().map(|explored| explored.order) else {
            return Ok(false);
        };
        if let (Some(only), 1..=u32::MAX, 0 | 1) = (&self.asked.only, order, self.recording.threads().len()) {
            return Err(no_such_state(&only.to_string()));
        }
        let (mut walk, _) = match self.walk.take() {
            Some(walk) => walk,
            None => {
                self.learn(order)?;
                (self.start(order)?, None)
            }
        };
        let number = walk.next(&mut |_| {})?;
        let wanted = match (&self.asked.only, number) {
            (Some(StateName::In(_, interval, which)), Some(number)) if *interval == number => vec![which.clone()],
            (None, Some(number)) => self.explored[0].wanted(&walk, number, self.asked.seed),
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
        let mut visit = Visit::of(&interval, &kept, self.history.as_ref().map(|(_, history)| history));
        // The interval ends in the middle of a store.
        visit.torn.extend(walk.ends().filter(|op| op.rest).map(|op| op.at));
        Ok(Visit {
            name,
            interval: Some(number),
            tasks: walk.tasks,
            done: walk.done.clone(),
            represents: self.asked.only.is_none() && self.explored.front().is_some_and(|now| now.quotas.is_empty()),
            began: walk.began,
            ends: walk.ends(),
            ..visit
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
