//! The oracle: whether a crash state of a whole run is a cut that the model allows.
//!
//! A run is one execution with known reads-from and coherence order, so nothing is enumerated. The oracle looks only at
//! the contents of memory. A location's content shows which of its writes may be the newest durable one. If several
//! writes leave the same content, the oracle assumes the one that is easiest to allow.
//!
//! A run does not record which of its accesses depend on which reads: `data`, `addr` and `ctrl` are empty here. A model
//! that orders dependent accesses then orders fewer of them than the program may rely on. So a breach is one in any
//! case, and the litmus tests, whose dependences are known, show the rest.

use crate::cat::{Candidate, Evaluator};
use crate::model::Model;
use crate::relation::{Relation, Set};
use crate::structure::{Dependences, Event, EventKind, Structure};
use places::Places;
use std::collections::{BTreeMap, BTreeSet};

#[cfg(test)]
mod agreement;
mod places;

/// Maximum number of events that are judged together; longer runs are judged in overlapping windows.
const MOST: usize = 256;

/// A run as an execution.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The events: each thread's in program order, including initial writes.
    pub events: Vec<Event>,
    /// The halves of locked instructions.
    pub rmw: Vec<(usize, usize)>,
    /// Writes and their readers.
    pub rf: Vec<(usize, usize)>,
    /// The writes to each location in the order in which they became visible, the initial one first.
    pub orders: Vec<Vec<usize>>,
    /// The content of a location after each write; 0 for other events.
    pub contents: Vec<u64>,
    /// The time of an event, as far as known: at least that of its predecessor in its thread. It only serves to cut
    /// long runs into windows.
    pub stamps: Vec<u64>,
}

/// A part of a run's events, with their persist order; none if the model leaves the run undefined.
struct Stretch {
    events: Vec<usize>,
    /// The predecessors of each event.
    before: Relation,
    /// The successors of each event.
    after: Relation,
    /// The model leaves it undefined: a race.
    undefined: bool,
}

/// The durable state of a run, and whether it is a cut.
pub struct Oracle {
    history: History,
    stretches: Vec<Stretch>,
    /// The index of an event in each window that has it.
    places: Places,
    /// Events that are certainly durable, and certainly not, by window.
    present: Vec<Set>,
    missing: Vec<Set>,
    /// For each location, the first and the last position of a write that leaves this content.
    sources: Vec<BTreeMap<u64, (usize, usize)>>,
    /// For each location, the positions for its durable content.
    newest: Vec<(usize, usize)>,
    /// Events whose status has changed.
    changed: Vec<usize>,
    /// Locations with a content that no write left there.
    foreign: BTreeSet<usize>,
}

/// A durable state that is not a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breach {
    /// The first event is durable; the second, which must be durable before it, is not.
    Order {
        /// The event that is durable.
        present: usize,
        /// The event that is not.
        missing: usize,
    },
    /// The location has a content that no write left there.
    Foreign {
        /// The location.
        location: usize,
    },
}

impl Oracle {
    /// The oracle of a run whose initial writes are durable at first; `None` if the run is not an execution of the
    /// model.
    #[must_use]
    pub fn new(model: &Model, history: History) -> Option<Oracle> {
        let size = history.events.len();
        let mut stretches = Vec::new();
        let mut links = Links::of(&history);
        for events in stretches_of(&history) {
            stretches.push(Stretch::of(model, &history, &mut links, events)?);
        }
        let places = Places::of(&stretches, size);
        let none = |stretch: &Stretch| Set::empty(stretch.events.len());
        let all = |stretch: &Stretch| Set::all(stretch.events.len());
        let mut oracle = Oracle {
            present: stretches.iter().map(none).collect(),
            missing: stretches.iter().map(all).collect(),
            sources: history
                .orders
                .iter()
                .map(|order| sources(order, &history.contents))
                .collect(),
            newest: vec![(0, 0); history.orders.len()],
            changed: Vec::new(),
            foreign: BTreeSet::new(),
            stretches,
            places,
            history,
        };
        for location in 0..oracle.history.orders.len() {
            let initial = oracle.history.orders[location]
                .first()
                .map(|write| oracle.history.contents[*write]);
            if let Some(content) = initial {
                oracle.set(location, content);
            }
        }
        Some(oracle)
    }

    /// The number of windows that the model leaves undefined (`flag`), and of all windows. In undefined windows no
    /// order can be violated.
    #[must_use]
    pub fn undefined(&self) -> (usize, usize) {
        let undefined = self.stretches.iter().filter(|stretch| stretch.undefined);
        (undefined.count(), self.stretches.len())
    }

    /// Sets the durable content of a location.
    pub fn set(&mut self, location: usize, content: u64) {
        let Some(&(first, last)) = self.sources[location].get(&content) else {
            self.foreign.insert(location);
            return;
        };
        self.foreign.remove(&location);
        let (before, after) = std::mem::replace(&mut self.newest[location], (first, last));
        // Only writes between an old bound and its new one change their status. A word that is set and reset all the time has
        // two bounds that hardly move, and the whole run between them.
        let present = first.min(before)..=first.max(before);
        let missing = last.min(after).max(present.end() + 1)..=last.max(after);
        for place in present.chain(missing) {
            let write = self.history.orders[location][place];
            self.mark(write, place <= first, place > last);
        }
    }

    /// The outside world has observed an output.
    pub fn see(&mut self, output: usize) {
        self.mark(output, true, false);
    }

    /// A violation in the state, because of changes since the last call.
    pub fn breach(&mut self) -> Option<Breach> {
        let changed = std::mem::take(&mut self.changed);
        let foreign = self
            .foreign
            .first()
            .map(|location| Breach::Foreign { location: *location });
        foreign.or_else(|| changed.into_iter().find_map(|event| self.breach_at(event)))
    }

    /// Whether one event must be durable before another, as far as a window has both.
    #[must_use]
    pub fn is_before(&self, first: usize, second: usize) -> bool {
        let places = self.places.of_event(first).iter();
        let mut shared = places.filter_map(|(window, before)| {
            let mut others = self.places.of_event(second).iter();
            let (_, after) = others.find(|(other, _)| other == window)?;
            Some(self.stretches[*window].after.contains(*before, *after))
        });
        shared.any(|is_before| is_before)
    }

    /// Records whether an event is certainly durable, or certainly not.
    fn mark(&mut self, event: usize, present: bool, missing: bool) {
        let mut changed = false;
        for (stretch, place) in self.places.of_event(event) {
            changed |= put(&mut self.present[*stretch], *place, present) && present;
            changed |= put(&mut self.missing[*stretch], *place, missing) && missing;
        }
        if changed {
            self.changed.push(event);
        }
    }

    fn breach_at(&self, event: usize) -> Option<Breach> {
        self.places.of_event(event).iter().find_map(|(number, place)| {
            let stretch = &self.stretches[*number];
            let (present, missing) = (&self.present[*number], &self.missing[*number]);
            if present.contains(*place) {
                let lost = missing.shared(stretch.before.row(*place)).iter().next();
                return lost.map(|lost| Breach::Order {
                    present: event,
                    missing: stretch.events[lost],
                });
            }
            if missing.contains(*place) {
                let early = present.shared(stretch.after.row(*place)).iter().next();
                return early.map(|early| Breach::Order {
                    present: stretch.events[early],
                    missing: event,
                });
            }
            None
        })
    }
}

/// The first and the last position of a write that leaves each content.
fn sources(order: &[usize], contents: &[u64]) -> BTreeMap<u64, (usize, usize)> {
    let mut sources = BTreeMap::new();
    for (place, write) in order.iter().enumerate() {
        sources.entry(contents[*write]).or_insert((place, place)).1 = place;
    }
    sources
}

/// Whether that changed the set.
fn put(set: &mut Set, event: usize, inside: bool) -> bool {
    let changes = set.contains(event) != inside;
    match inside {
        true => set.insert(event),
        false => set.remove(event),
    }
    changes
}

/// Overlapping windows of a run, or the whole run.
fn stretches_of(history: &History) -> Vec<Vec<usize>> {
    let size = history.events.len();
    let mut by_time: Vec<usize> = (0..size)
        .filter(|event| history.events[*event].thread.is_some())
        .collect();
    by_time.sort_by_key(|event| (history.stamps[*event], *event));
    let initial = (0..size).filter(|event| history.events[*event].thread.is_none());
    if size <= MOST {
        return vec![(0..size).collect()];
    }
    // Everything before a window of a long run is durable or permanently lost: only the first window has initial
    // writes.
    let half = MOST / 2;
    let first: Vec<usize> = initial.collect();
    let last = by_time.len().saturating_sub(half).div_ceil(half).max(1);
    let stretch = |number: usize| {
        let end = (number * half + MOST).min(by_time.len());
        let mut events = by_time[number * half..end].to_vec();
        if number == 0 && first.len() < half {
            events.extend(&first);
        }
        events.sort_unstable();
        events
    };
    (0..last).map(stretch).collect()
}

/// The relations from an event of a run to its partners.
struct Links {
    /// The other half of a locked instruction.
    writes_back: Vec<usize>,
    /// The write that a read reads from.
    reads_from: Vec<usize>,
    /// The position of a write in its location's order.
    turn: Vec<usize>,
    /// The position of an event in the current window.
    place: Vec<usize>,
}

const NONE: usize = usize::MAX;

impl Links {
    fn of(history: &History) -> Links {
        let size = history.events.len();
        let none = || vec![NONE; size];
        let mut links = Links {
            writes_back: none(),
            reads_from: none(),
            turn: none(),
            place: none(),
        };
        history
            .rmw
            .iter()
            .for_each(|(read, write)| links.writes_back[*read] = *write);
        history
            .rf
            .iter()
            .for_each(|(write, read)| links.reads_from[*read] = *write);
        for order in &history.orders {
            order
                .iter()
                .enumerate()
                .for_each(|(turn, write)| links.turn[*write] = turn);
        }
        links
    }

    fn place_of(&self, event: usize) -> Option<usize> {
        let place = *self.place.get(event)?;
        (place != NONE).then_some(place)
    }

    /// Writes that are related to later ones of their location.
    fn coherence(&self, events: &[usize], own: &[Event]) -> Relation {
        let mut writes: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for (place, event) in events.iter().enumerate() {
            if let Some(location) = own[place]
                .cell
                .and_then(|cell| cell.location)
                .filter(|_| self.turn[*event] != NONE)
            {
                writes.entry(location).or_default().push((self.turn[*event], place));
            }
        }
        let mut co = Relation::empty(events.len());
        for order in writes.values_mut() {
            order.sort_unstable();
            for (index, (_, write)) in order.iter().enumerate() {
                order[index + 1..]
                    .iter()
                    .for_each(|(_, later)| co.insert(*write, *later));
            }
        }
        co
    }
}

impl Stretch {
    fn of(model: &Model, history: &History, links: &mut Links, events: Vec<usize>) -> Option<Stretch> {
        let size = events.len();
        events
            .iter()
            .enumerate()
            .for_each(|(place, event)| links.place[*event] = place);
        let own: Vec<Event> = events.iter().map(|event| history.events[*event]).collect();
        let partner = |of: &[usize], event: usize| links.place_of(of[event]);
        let rmw = events
            .iter()
            .enumerate()
            .filter_map(|(place, event)| Some((place, partner(&links.writes_back, *event)?)));
        let structure = Structure::of(&own, &rmw.collect::<Vec<_>>(), &[], &Dependences::default(), &[]);
        let mut rf = Relation::empty(size);
        for (read, event) in events.iter().enumerate() {
            if let Some(write) = partner(&links.reads_from, *event) {
                rf.insert(write, read);
            }
        }
        let co = links.coherence(&events, &own);
        events.iter().for_each(|event| links.place[*event] = NONE);
        let late = Relation::empty(size);
        let verdict = Evaluator::new(model.program(), &structure).verdict(&Candidate { rf, co, late })?;
        let persists = |event: usize| {
            let event = &own[event];
            event.kind == EventKind::Output
                || (event.kind == EventKind::Write && event.cell.is_some_and(|cell| cell.persistent))
        };
        let persists = Set::of(size, persists);
        let after = match verdict.flagged {
            true => Relation::empty(size),
            false => verdict.pmo.closure().from_set(&persists).to_set(&persists),
        };
        Some(Stretch {
            before: after.inverse(),
            after,
            undefined: verdict.flagged,
            events,
        })
    }
}

#[cfg(test)]
mod tests;
