//! Classes of crash states: states that a program's recovery probably treats alike.

use super::{Interval, Kept, Pending, Walk, Which};
use crate::order::PmPlace;
use crate::At;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use strandline_kernel::Rng;

/// Bound of each set of hashes, so that memory stays bounded.
const MOST_HASHES: usize = 1 << 22;

/// The classes of a recording's crash states.
///
/// A class is the instruction that began the interval, the instructions whose stores the state has, and those whose
/// stores it lacks. Loops repeat the same intervals: an interval is searched only if its lines hold stores of other
/// instructions than those of every earlier one.
#[derive(Debug)]
pub struct Classes {
    order: u32,
    shape: Shape,
    shapes: HashSet<u64>,
    classes: HashSet<u64>,
    chosen: Vec<(u32, u64, Which)>,
    most: u64,
    rng: Rng,
}

impl Classes {
    /// None yet; `most` representatives are kept, drawn by the seed if there are more classes.
    #[must_use]
    pub fn new(most: u64, seed: u64) -> Classes {
        Classes {
            order: 0,
            shape: Shape::default(),
            shapes: HashSet::new(),
            classes: HashSet::new(),
            chosen: Vec::new(),
            most,
            rng: Rng::new(seed),
        }
    }

    /// The next walk is over this order of the threads. What another order has shown is known.
    pub fn begin(&mut self, order: u32) {
        self.order = order;
        self.shape = Shape::default();
    }

    /// The walk stands at the end of this interval; `changed` are the lines that may differ from the previous one.
    pub fn see(&mut self, number: u64, walk: &Walk<'_>, changed: &BTreeSet<PmPlace>) {
        let phase = (walk.began.map(|op| op.at), walk.acknowledges());
        let own = self.shape.update(walk.pending(), changed, walk.boundary());
        if self.most == 0 || !insert(&mut self.shapes, hash(&(phase, self.shape.all, own))) {
            return;
        }
        let interval = walk.interval();
        for which in interval.candidates() {
            let class = interval
                .kept(number, &which)
                .map(|kept| hash(&(phase, code(&interval, &kept))));
            if class.is_some_and(|class| insert(&mut self.classes, class)) {
                self.choose(number, which);
            }
        }
    }

    /// Keeps each class with the same probability.
    fn choose(&mut self, number: u64, which: Which) {
        if (self.chosen.len() as u64) < self.most {
            return self.chosen.push((self.order, number, which));
        }
        let index = self.rng.below(self.count());
        if index < self.most {
            self.chosen[index as usize] = (self.order, number, which);
        }
    }

    /// Number of classes.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.classes.len() as u64
    }

    /// The order, interval and name of one state of each class, or of as many classes as are kept.
    #[must_use]
    pub fn representatives(self) -> Vec<(u32, u64, Which)> {
        self.chosen
    }
}

/// What instructions stored to the pending lines, as hashes. Lines alike count once.
#[derive(Debug, Default)]
struct Shape {
    lines: BTreeMap<PmPlace, u64>,
    times: HashMap<u64, u32>,
    all: u64,
}

impl Shape {
    /// Takes the changed lines; returns a hash of those with stores of the interval's own.
    fn update(&mut self, pending: &Pending, changed: &BTreeSet<PmPlace>, boundary: u64) -> u64 {
        let mut own = BTreeSet::new();
        for at in changed {
            if let Some(old) = self.lines.remove(at) {
                self.toggle(old, false);
            }
            let Some(line) = pending.lines.get(at) else { continue };
            let mut code: Vec<At> = line.items.iter().map(|item| item.at).collect();
            code.dedup();
            let new = hash(&code);
            self.lines.insert(*at, new);
            self.toggle(new, true);
            if line.items.last().is_some_and(|item| item.serial > boundary) {
                own.insert(new);
            }
        }
        hash(&own)
    }

    fn toggle(&mut self, line: u64, appears: bool) {
        let times = self.times.entry(line).or_default();
        *times = if appears { *times + 1 } else { *times - 1 };
        let left = *times;
        if left == 0 {
            self.times.remove(&line);
        }
        if left == u32::from(appears) {
            self.all ^= line;
        }
    }
}

/// The instructions whose stores a state has, and those whose stores it lacks.
fn code(interval: &Interval<'_>, kept: &Kept) -> [BTreeSet<At>; 2] {
    let mut sides = [BTreeSet::new(), BTreeSet::new()];
    for (at, kept) in kept {
        let items = interval.pending().lines.get(at).map_or(&[][..], |line| &line.items);
        for (item, kept) in items.iter().zip(kept) {
            sides[usize::from(!kept)].insert(item.at);
        }
    }
    sides
}

fn insert(set: &mut HashSet<u64>, hash: u64) -> bool {
    set.len() < MOST_HASHES && set.insert(hash)
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
