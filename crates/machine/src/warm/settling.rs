//! When caches, TLBs and predictors hold what they will hold from then on.
//!
//! Each is looked at whenever the number of tasks has doubled. A cache or TLB has settled once it has turned over, or takes
//! in hardly anything; predictors have once they mispredict as often a task as before.

use super::TURNOVERS;
use crate::cache::Untimed;

/// Tasks after which the parts are looked at first.
const FIRST: u64 = 256;
/// A cache still fills if it takes in more than this part of its lines while the number of tasks doubles.
const FILLS: u64 = 1024;
/// Likewise a TLB, which has few entries.
const FILLS_OF_TLB: u64 = 64;
/// No cache and no TLB still fills that takes in no more than this meanwhile: other cores take and give back as many lines.
const HARDLY: u64 = 16;
/// Predictors still learn if their mispredictions a task become fewer by more than this part of them while the number of
/// tasks doubles.
const FALLS: u128 = 50;

/// What settles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// The private levels of a core.
    Private,
    /// A core's TLB.
    Tlb,
    /// A core's predictors of branches and of jumps' targets.
    Predictors,
}

/// A part of a core, as far as it has come.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    kind: PartKind,
    /// What it has taken in, or mispredicted.
    count: u64,
    /// What it can hold; `None` of a predictor.
    capacity: Option<u64>,
}

impl Part {
    /// A part that has taken in, or mispredicted, so much.
    pub fn new(kind: PartKind, count: u64, capacity: Option<u64>) -> Part {
        Part { kind, count, capacity }
    }
}

/// What is known of the parts.
pub struct Settling {
    /// Tasks at the next look and at the latest one.
    next: u64,
    latest: u64,
    /// Tasks between the latest look and the one before.
    recent: u64,
    /// Lines that the LLC had taken in and evicted at the latest look.
    taken: u64,
    evicted: u64,
    fits: bool,
    parts: Vec<Known>,
}

/// What is known of a part.
#[derive(Clone, Copy)]
struct Known {
    kind: PartKind,
    /// Its count up to the latest look, and since the look before that.
    count: u64,
    recent: u64,
    settled: bool,
}

impl Default for Settling {
    fn default() -> Settling {
        Settling {
            next: FIRST,
            latest: 0,
            recent: 0,
            // Whatever the first tasks take in counts as growth.
            taken: 0,
            evicted: u64::MAX,
            fits: false,
            parts: Vec::new(),
        }
    }
}

impl Settling {
    /// Whether the parts are to be looked at after so many tasks.
    pub fn is_due(&self, tasks: u64) -> bool {
        tasks >= self.next
    }

    /// Looks at the parts after so many tasks; again after as many.
    pub fn look(&mut self, tasks: u64, caches: &Untimed, parts: &[Part]) {
        let now = tasks - self.latest;
        let before = std::mem::replace(&mut self.recent, now);
        (self.next, self.latest) = (2 * tasks, tasks);
        self.fits = caches.evicted == self.evicted && caches.taken - self.taken <= caches.capacity / FILLS;
        (self.taken, self.evicted) = (caches.taken, caches.evicted);
        if self.parts.is_empty() {
            self.parts = parts.iter().map(Known::first).collect();
            return;
        }
        let known = self.parts.iter_mut().zip(parts);
        known.for_each(|(known, part)| known.look(part, [before, now]));
    }

    /// Whether all parts of the cores have settled.
    pub fn has_settled(&self) -> bool {
        !self.parts.is_empty() && self.parts.iter().all(|part| part.settled)
    }

    /// Whether the LLC holds all that the program accesses.
    pub fn llc_fits(&self) -> bool {
        self.fits
    }

    /// What of the cores has not settled, in words.
    pub fn unsettled(&self) -> impl Iterator<Item = &'static str> + '_ {
        let parts = [
            (PartKind::Private, "private caches"),
            (PartKind::Tlb, "TLBs"),
            (PartKind::Predictors, "predictors"),
        ];
        let is_open = |kind| self.parts.iter().any(|part| part.kind == kind && !part.settled);
        let open = move |(kind, _): &(PartKind, &str)| self.parts.is_empty() || is_open(*kind);
        parts.into_iter().filter(open).map(|(_, words)| words)
    }
}

impl Known {
    /// At the first look nothing is known of how a part changes.
    fn first(part: &Part) -> Known {
        Known {
            kind: part.kind,
            count: part.count,
            recent: part.count,
            settled: false,
        }
    }

    /// Looks at it. `tasks`: between the two looks before, and since the latest.
    fn look(&mut self, part: &Part, tasks: [u64; 2]) {
        // Fewer lines are there if other cores have just taken some.
        let now = part.count.saturating_sub(self.count);
        let fills = match part.kind {
            PartKind::Tlb => FILLS_OF_TLB,
            PartKind::Private | PartKind::Predictors => FILLS,
        };
        self.settled = match part.capacity {
            Some(capacity) => part.count >= TURNOVERS * capacity || now <= (capacity / fills).max(HARDLY),
            None => {
                let [before, since] = tasks.map(u128::from);
                let expected = u128::from(self.recent) * since;
                u128::from(now) * before >= expected - expected / FALLS
            }
        };
        (self.count, self.recent) = (part.count, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a part has settled whose counts are these after 256, 512 and 1,024 tasks.
    fn settled(capacity: Option<u64>, counts: [u64; 3]) -> bool {
        let part = |count| Part::new(PartKind::Tlb, count, capacity);
        let mut known = Known::first(&part(counts[0]));
        known.look(&part(counts[1]), [256, 256]);
        known.look(&part(counts[2]), [256, 512]);
        known.settled
    }

    #[test]
    fn predictors_settle_once_they_mispredict_as_often_a_task_as_before() {
        assert!(!settled(None, [1000, 1500, 2000]), "half as often each time");
        assert!(settled(None, [1000, 1500, 2490]));
        assert!(settled(None, [0, 0, 0]), "never");
    }

    #[test]
    fn caches_settle_once_they_have_turned_over_or_take_in_hardly_anything() {
        let capacity = Some(1024);
        assert!(
            !settled(capacity, [300, 600, 1200]),
            "some lines are the first in their places"
        );
        assert!(settled(capacity, [600, 1200, 2048]));
        assert!(settled(capacity, [300, 310, 320]));
    }
}
