//! The crash states between two moments at which a store becomes durable.

use super::line::{self, chosen};
use super::name::Which;
use super::pending::{Line, Pending};
use crate::order::{Piece, PmPlace};
use std::collections::{BTreeMap, BTreeSet};
use strandline_kernel::Rng;

/// Number of draws for a new state; then one is constructed.
const TRIES: u32 = 64;

/// A name that would be longer has its draw instead of its lines.
const LONGEST_NAME: usize = 80;

/// Number of an interval's states among which classes are looked for.
pub(super) const CANDIDATES: u32 = 64;

/// An interval at its end: any closed set of the pending stores may be durable. The interval's own states are those
/// with a store of its own; the others belong to earlier intervals. If a task has ended in the interval, the state
/// without any pending store is its own, too: more was acknowledged than in the earlier interval.
#[derive(Debug)]
pub struct Interval<'p> {
    pending: &'p Pending,
    /// Stores after this position in the global order are the interval's own.
    boundary: u64,
    acknowledges: bool,
    lines: Vec<(PmPlace, &'p Line, u64)>,
}

/// A pending line in a state: its number in names, the number of its set, and how many sets it has.
pub type Numbered = (PmPlace, u64, u64);

/// The durable stores of each pending line.
pub type Kept = BTreeMap<PmPlace, Vec<bool>>;

impl<'p> Interval<'p> {
    /// The interval that ends here.
    #[must_use]
    pub fn new(pending: &'p Pending, boundary: u64, acknowledges: bool) -> Interval<'p> {
        let lines = pending.lines.iter();
        Interval {
            pending,
            boundary,
            acknowledges,
            lines: lines.map(|(at, line)| (*at, line, line::count(&line.items))).collect(),
        }
    }

    /// Pending lines.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.lines.len()
    }

    /// Memory.
    #[must_use]
    pub fn pending(&self) -> &'p Pending {
        self.pending
    }

    fn is_own(&self, line: &Line) -> bool {
        line.items.last().is_some_and(|item| item.serial > self.boundary)
    }

    /// The first `quota` of its states without those of these names: those that isolate lines, then others by the seed.
    #[must_use]
    pub fn visits(&self, seen: BTreeSet<Which>, number: u64, quota: u32, seed: u64) -> Vec<Which> {
        let in_all = u64::from(quota).saturating_add(seen.len() as u64);
        let mut found = self.found(seen, quota);
        self.separating(&mut found);
        match self.exactly() {
            Some(all) if all <= in_all.saturating_mul(4) => (0..all).for_each(|index| found.add(self.numbered(index))),
            _ => self.drawn(number, seed, &mut found),
        }
        found.visits
    }

    /// The states among which classes are looked for: those that isolate lines, and all if these are few.
    #[must_use]
    pub fn candidates(&self) -> Vec<Which> {
        let mut found = self.found(BTreeSet::new(), CANDIDATES);
        self.separating(&mut found);
        if let Some(all) = self.exactly().filter(|all| *all <= u64::from(CANDIDATES)) {
            (0..all).for_each(|index| found.add(self.numbered(index)));
        }
        found.visits
    }

    fn found(&self, seen: BTreeSet<Which>, quota: u32) -> FoundStates<'_, 'p> {
        FoundStates {
            interval: self,
            seen,
            visits: Vec::new(),
            quota: quota as usize,
        }
    }

    /// All lines, none if that is a state, then all but one line and one line alone.
    fn separating(&self, found: &mut FoundStates<'_, '_>) {
        found.add(Which::All(BTreeMap::new()));
        found.add(Which::None(BTreeMap::new()));
        let (own, old): (Vec<_>, Vec<_>) = self.lines.iter().partition(|(_, line, _)| self.is_own(line));
        for (at, _, count) in own.into_iter().chain(old) {
            if found.is_full() {
                return;
            }
            found.add(Which::All(BTreeMap::from([(at, 0)])));
            found.add(Which::None(BTreeMap::from([(at, count - 1)])));
        }
    }

    fn drawn(&self, number: u64, seed: u64, found: &mut FoundStates<'_, '_>) {
        let mut draw = 0;
        let mut idle = 0;
        // Draws repeat if there are few states; then almost all have been seen.
        while !found.is_full() && idle < TRIES {
            let before = found.visits.len();
            found.add_drawn(Which::Drawn(seed, draw), self.draw(number, seed, draw));
            idle = if found.visits.len() == before { idle + 1 } else { 0 };
            draw += 1;
        }
    }

    /// Number of sets of pending stores, including those of earlier intervals.
    fn exactly(&self) -> Option<u64> {
        let mut counts = self.lines.iter().map(|(_, _, count)| *count);
        counts.try_fold(1, u64::checked_mul)
    }

    fn numbered(&self, mut index: u64) -> Which {
        let mut lines = BTreeMap::new();
        for (at, _, count) in &self.lines {
            lines.insert(*at, index % count);
            index /= count;
        }
        Which::None(lines)
    }

    /// A state drawn by a seed.
    fn draw(&self, number: u64, seed: u64, draw: u64) -> BTreeMap<PmPlace, u64> {
        let mut rng = Rng::new(Rng::new(seed).next_u64() ^ Rng::new(number).next_u64().rotate_left(21) ^ draw);
        let mut lines = BTreeMap::new();
        for _ in 0..TRIES {
            let line = |(at, _, count): &(PmPlace, &Line, u64)| (*at, rng.below(*count));
            lines = self.lines.iter().map(line).collect();
            if self.kept_of(&lines).is_some_and(|kept| self.is_new(&kept)) {
                return lines;
            }
        }
        let own: Vec<_> = self.lines.iter().filter(|(_, line, _)| self.is_own(line)).collect();
        if let Some((at, _, count)) = own.get(rng.below(own.len() as u64) as usize) {
            lines.insert(*at, count - 1);
        }
        lines
    }

    /// The number of each line's set.
    fn lines_of(&self, number: u64, which: &Which) -> BTreeMap<PmPlace, u64> {
        let (given, full) = match which {
            Which::All(lines) => (lines, true),
            Which::None(lines) => (lines, false),
            Which::Drawn(seed, draw) => return self.draw(number, *seed, *draw),
        };
        let base = |count: u64| if full { count - 1 } else { 0 };
        let mut lines: BTreeMap<PmPlace, u64> = self.lines.iter().map(|(at, _, count)| (*at, base(*count))).collect();
        lines.extend(given);
        lines
    }

    /// A state's pending lines.
    #[must_use]
    pub fn numbers(&self, number: u64, which: &Which) -> Vec<Numbered> {
        let chosen = self.lines_of(number, which);
        let lines = self.lines.iter();
        lines.map(|(at, _, count)| (at / 64, chosen[at], *count)).collect()
    }

    fn kept_of(&self, lines: &BTreeMap<PmPlace, u64>) -> Option<Kept> {
        let kept = |(at, index): (&PmPlace, &u64)| Some((*at, chosen(&self.pending.lines.get(at)?.items, *index)?));
        lines.iter().map(kept).collect()
    }

    /// The stores of a state; `None` if there is no such state.
    #[must_use]
    pub fn kept(&self, number: u64, which: &Which) -> Option<Kept> {
        self.kept_of(&self.lines_of(number, which))
    }

    /// The pending stores of a state, in the order of their lines.
    #[must_use]
    pub fn stores(&self, kept: &Kept) -> Vec<Piece> {
        let line = |(at, kept): (&PmPlace, &Vec<bool>)| {
            let items = self.pending.lines.get(at).into_iter().flat_map(|line| &line.items);
            let kept = items.zip(kept).filter(|(_, kept)| **kept);
            kept.map(|(item, _)| item.piece).collect::<Vec<_>>()
        };
        kept.iter().flat_map(line).collect()
    }

    /// Whether the state is the interval's own.
    fn is_new(&self, kept: &Kept) -> bool {
        if self.acknowledges && !kept.values().flatten().any(|kept| *kept) {
            return true;
        }
        let own = |(at, _, _): &&(PmPlace, &Line, u64)| {
            let line = &self.pending.lines[at];
            let mut kept = kept.get(at).into_iter().flatten().zip(&line.items);
            kept.any(|(kept, item)| *kept && item.serial > self.boundary)
        };
        self.lines.iter().any(|line| own(&line))
    }

    /// The shorter name of a state: what it lacks or what it has.
    fn name(&self, lines: &BTreeMap<PmPlace, u64>) -> Which {
        let (mut lacks, mut has) = (BTreeMap::new(), BTreeMap::new());
        for (at, _, count) in &self.lines {
            let index = lines[at];
            if index < count - 1 {
                lacks.insert(*at, index);
            }
            if index > 0 {
                has.insert(*at, index);
            }
        }
        match lacks.len() <= has.len() {
            true => Which::All(lacks),
            false => Which::None(has),
        }
    }
}

/// States to visit, each once.
struct FoundStates<'i, 'p> {
    interval: &'i Interval<'p>,
    seen: BTreeSet<Which>,
    visits: Vec<Which>,
    quota: usize,
}

impl FoundStates<'_, '_> {
    fn is_full(&self) -> bool {
        self.visits.len() >= self.quota
    }

    fn add(&mut self, which: Which) {
        let lines = self.interval.lines_of(0, &which);
        self.add_drawn(which, lines);
    }

    fn add_drawn(&mut self, drawn: Which, lines: BTreeMap<PmPlace, u64>) {
        let new = |lines| {
            self.interval
                .kept_of(lines)
                .is_some_and(|kept| self.interval.is_new(&kept))
        };
        if self.is_full() || !new(&lines) {
            return;
        }
        let name = self.interval.name(&lines);
        let long = name.to_string().len() > LONGEST_NAME && matches!(drawn, Which::Drawn(..));
        if self.seen.insert(name.clone()) {
            self.visits.push(if long { drawn } else { name });
        }
    }
}
