//! Classes of crash states: states that a program's recovery probably treats alike.

use super::choice::{choose, Sides};
use super::interval::CANDIDATES;
use super::{line, Interval, Kept, Pending, Walk, Which};
use crate::order::PmPlace;
use crate::At;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use strandline_kernel::Rng;

/// Bound of each set of hashes, so that memory stays bounded.
const MOST_HASHES: usize = 1 << 22;

/// Classes that are compared, if not all can be represented.
const MOST_COMPARED: u64 = 1 << 13;

/// Up to this number of lines, each state of an interval may be a candidate; one of more lines has too many.
const FEW_LINES: usize = 6;

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
    /// The classes that this order was the first to show.
    added: Vec<u64>,
    /// Numbers of instructions, for comparisons.
    code: HashMap<At, u32>,
    chosen: Vec<Class>,
    most: u64,
    rng: Rng,
}

/// A class: the order, interval and name of its representative, and its code if classes are compared.
#[derive(Debug)]
struct Class(u32, u64, Which, Sides);

/// The instructions whose stores a state has, and those whose stores it lacks.
type Code = [BTreeSet<At>; 2];

impl Classes {
    /// None yet; if there are more classes than `most`, those that differ most are represented ([`super::choice`]), and among
    /// equals those that the seed draws.
    #[must_use]
    pub fn new(most: u64, seed: u64) -> Classes {
        Classes {
            order: 0,
            shape: Shape::default(),
            shapes: HashSet::new(),
            classes: HashSet::new(),
            added: Vec::new(),
            code: HashMap::new(),
            chosen: Vec::new(),
            most,
            rng: Rng::new(seed),
        }
    }

    /// The next walk is over this order of the threads. What another order has shown is known.
    pub fn begin(&mut self, order: u32) {
        self.order = order;
        self.added.clear();
        self.shape = Shape::default();
    }

    /// The order was the same as an earlier one, so its states are not visited.
    pub fn forget(&mut self) {
        self.chosen.retain(|class| class.0 != self.order);
        for class in self.added.drain(..) {
            self.classes.remove(&class);
        }
    }

    /// The walk stands at the end of this interval; `changed` are the lines that may differ from the previous one.
    pub fn see(&mut self, number: u64, walk: &Walk<'_>, changed: &BTreeSet<PmPlace>) {
        let phase = (walk.began.map(|op| op.at), walk.acknowledges());
        let own = self.shape.update(walk.pending(), changed, walk.boundary());
        let kinds: BTreeSet<u64> = own.iter().map(|at| self.shape.lines[at].hash).collect();
        if self.most == 0 || !insert(&mut self.shapes, hash(&(phase, self.shape.all, kinds))) {
            return;
        }
        let found = match walk.pending().lines.len() > FEW_LINES {
            true => self.shape.isolating(walk.pending(), &own, walk.acknowledges()),
            false => few(&walk.interval(), number),
        };
        for (which, code) in found {
            let class = hash(&(phase, &code));
            if insert(&mut self.classes, class) {
                self.added.push(class);
                self.keep(number, which, &code);
            }
        }
    }

    /// Keeps a class, as long as there is room; then each with the same probability.
    fn keep(&mut self, number: u64, which: Which, code: &Code) {
        let room = self.most.max(MOST_COMPARED);
        let index = match self.chosen.len() as u64 {
            kept if kept < room => kept,
            _ => self.rng.below(self.count()),
        };
        if index >= room {
            return;
        }
        let class = Class(self.order, number, which, self.sides(code));
        match self.chosen.get_mut(index as usize) {
            Some(kept) => *kept = class,
            None => self.chosen.push(class),
        }
    }

    fn sides(&mut self, code: &Code) -> Sides {
        if self.most >= MOST_COMPARED {
            return Sides::default();
        }
        let mut number = |at: &At| {
            let next = self.code.len() as u32;
            *self.code.entry(*at).or_insert(next)
        };
        Sides([0, 1].map(|side| code[side].iter().map(&mut number).collect()))
    }

    /// Number of classes.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.classes.len() as u64
    }

    /// The order, interval and name of one state of each class, or of as many classes as are kept.
    #[must_use]
    pub fn representatives(mut self) -> Vec<(u32, u64, Which)> {
        let most = self.most as usize;
        if self.chosen.len() > most {
            let sides: Vec<Sides> = self.chosen.iter().map(|class| class.3.clone()).collect();
            let chosen = choose(&sides, most, &mut self.rng);
            let mut number = 0..;
            self.chosen.retain(|_| {
                number
                    .next()
                    .is_some_and(|number| chosen.binary_search(&number).is_ok())
            });
        }
        let of = |Class(order, number, which, _)| (order, number, which);
        self.chosen.into_iter().map(of).collect()
    }
}

/// The candidates of an interval with few lines, with their code.
fn few(interval: &Interval<'_>, number: u64) -> Vec<(Which, Code)> {
    let candidates = interval.candidates().into_iter();
    let of = |which| interval.kept(number, &which).map(|kept| (which, code(interval, &kept)));
    candidates.filter_map(of).collect()
}

/// What instructions stored to the pending lines. Lines alike count once.
#[derive(Debug, Default)]
struct Shape {
    lines: BTreeMap<PmPlace, Stored>,
    times: BTreeMap<u64, u32>,
    all: u64,
    /// In how many lines each instruction's stores are.
    code: BTreeMap<At, u32>,
}

/// What instructions stored to a line.
#[derive(Debug)]
struct Stored {
    hash: u64,
    code: BTreeSet<At>,
}

impl Shape {
    /// Takes the changed lines; returns those with stores of the interval's own.
    fn update(&mut self, pending: &Pending, changed: &BTreeSet<PmPlace>, boundary: u64) -> Vec<PmPlace> {
        let mut own = Vec::new();
        for at in changed {
            if let Some(old) = self.lines.remove(at) {
                self.toggle(&old, false);
            }
            let Some(line) = pending.lines.get(at) else { continue };
            let mut code: Vec<At> = line.items.iter().map(|item| item.at).collect();
            code.dedup();
            let new = Stored {
                hash: hash(&code),
                code: code.into_iter().collect(),
            };
            self.toggle(&new, true);
            self.lines.insert(*at, new);
            if line.items.last().is_some_and(|item| item.serial > boundary) {
                own.push(*at);
            }
        }
        own
    }

    fn toggle(&mut self, line: &Stored, appears: bool) {
        if count(&mut self.times, line.hash, appears) {
            self.all ^= line.hash;
        }
        for at in &line.code {
            count(&mut self.code, *at, appears);
        }
    }

    /// The candidates of an interval with more lines, as [`Interval::candidates`] has them. Each costs what its line has, not
    /// what all lines have, which may be as many as the program has stored to and never flushed.
    fn isolating(&self, pending: &Pending, own: &[PmPlace], acknowledges: bool) -> Vec<(Which, Code)> {
        let everything = || self.code.keys().copied().collect();
        let mut found = Vec::new();
        if !own.is_empty() {
            found.push((Which::All(BTreeMap::new()), [everything(), BTreeSet::new()]));
        }
        if acknowledges {
            found.push((Which::None(BTreeMap::new()), [BTreeSet::new(), everything()]));
        }
        for at in own {
            let (alone, rest) = self.apart(*at);
            if own.len() > 1 {
                found.push((Which::All(BTreeMap::from([(*at, 0)])), [rest.clone(), alone.clone()]));
            }
            let full = line::count(&pending.lines[at].items) - 1;
            found.push((Which::None(BTreeMap::from([(*at, full)])), [alone, rest]));
        }
        let old = self
            .lines
            .keys()
            .filter(|at| !own.is_empty() && own.binary_search(at).is_err());
        for at in old.take((CANDIDATES as usize).saturating_sub(found.len())) {
            let (alone, rest) = self.apart(*at);
            found.push((Which::All(BTreeMap::from([(*at, 0)])), [rest, alone]));
        }
        found.truncate(CANDIDATES as usize);
        found
    }

    /// The instructions that stored to a line, and those that stored to the others.
    fn apart(&self, at: PmPlace) -> (BTreeSet<At>, BTreeSet<At>) {
        let alone = &self.lines[&at].code;
        let rest = self
            .code
            .iter()
            .filter(|(at, lines)| **lines > u32::from(alone.contains(at)));
        (alone.clone(), rest.map(|(at, _)| *at).collect())
    }
}

/// Counts a thing up or down; returns whether it has just appeared, or is the last to disappear.
fn count<K: Ord>(times: &mut BTreeMap<K, u32>, thing: K, appears: bool) -> bool {
    let before = times.remove(&thing).unwrap_or(0);
    let after = if appears { before + 1 } else { before - 1 };
    if after > 0 {
        times.insert(thing, after);
    }
    before.max(after) == 1
}

/// The instructions whose stores a state has, and those whose stores it lacks.
fn code(interval: &Interval<'_>, kept: &Kept) -> Code {
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
