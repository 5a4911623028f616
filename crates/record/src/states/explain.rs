//! A crash state as text: the stores that it has and lacks.

use super::line::Item;
use super::{History, Interval, Kept, Why};
use crate::order::{PmOp, PmPlace, LINE};
use crate::At;
use std::collections::{BTreeMap, BTreeSet};

/// A visited crash state.
#[derive(Clone, Debug, Default)]
pub struct Visit {
    /// The state's name.
    pub name: String,
    /// Its interval.
    pub interval: Option<u64>,
    /// Number of tasks that had started, by the program's markers.
    pub tasks: u64,
    /// Number of ended tasks of each thread at the crash, by the program's markers.
    pub done: Vec<u64>,
    /// It represents its class: see [`super::Classes`].
    pub represents: bool,
    /// Lines that differ from all persisted, or from none, whichever are fewer.
    pub differs: usize,
    /// The operation that started the interval.
    pub began: Option<PmOp>,
    /// The operation at the interval's end.
    pub ends: Option<PmOp>,
    /// Present stores that need not be durable.
    pub has: Vec<Stored>,
    /// Absent stores that could be durable.
    pub lacks: Vec<Stored>,
    /// Stores of which it has a part and lacks another.
    pub torn: BTreeSet<At>,
}

/// Stores of an instruction to a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The instruction.
    pub at: At,
    /// Where it stored first.
    pub place: PmPlace,
    /// How often.
    pub times: u64,
    /// How many bytes of the line it stored; 0 if that is not known.
    pub bytes: u32,
    /// The position of the first of these stores in the global order.
    pub serial: u64,
    /// Why it is not durable: the clearest reason of the absent ones; `None` for present stores, or if it is not known.
    pub why: Option<Why>,
}

impl Visit {
    /// The stores that a state of an interval has and lacks; with the order's history, why it lacks them.
    #[must_use]
    pub fn of(interval: &Interval<'_>, kept: &Kept, history: Option<&History>) -> Visit {
        let (mut visit, mut not_full, mut not_empty) = (Visit::default(), 0, 0);
        for (at, kept) in kept {
            not_full += usize::from(kept.contains(&false));
            not_empty += usize::from(kept.contains(&true));
            let items = interval.pending().lines.get(at).map_or(&[][..], |line| &line.items);
            let mut stores: BTreeMap<(bool, At), Stored> = BTreeMap::new();
            let mut masks: BTreeMap<(bool, At, PmPlace), u8> = BTreeMap::new();
            for (item, kept) in items.iter().zip(kept) {
                let place = item.piece.word + u64::from(item.piece.mask.trailing_zeros());
                let store = stores.entry((*kept, item.at)).or_insert(Stored {
                    at: item.at,
                    place,
                    times: 0,
                    bytes: 0,
                    serial: item.serial,
                    why: None,
                });
                let mask = masks.entry((*kept, item.at, item.piece.word)).or_default();
                store.bytes += (item.piece.mask & !*mask).count_ones();
                *mask |= item.piece.mask;
                if !*kept {
                    let why = history.and_then(|history| history.why(interval.pending(), item));
                    store.why = store.why.into_iter().chain(why).min();
                }
                store.times += u64::from(!item.rest || store.times == 0);
            }
            for ((kept, _), store) in stores {
                if kept { &mut visit.has } else { &mut visit.lacks }.push(store);
            }
            visit.torn.extend(torn(items, kept));
        }
        visit.differs = not_full.min(not_empty);
        visit
    }
}

/// The instructions whose stores of 16 bytes, or non-temporal ones of a line, are there in part.
fn torn(items: &[Item], kept: &[bool]) -> Vec<At> {
    let mut there: BTreeMap<(At, PmPlace), BTreeMap<PmPlace, u64>> = BTreeMap::new();
    for (item, kept) in items.iter().zip(kept) {
        let unit = if item.nt { LINE } else { 16 };
        let words = there.entry((item.at, item.piece.word & !(unit - 1))).or_default();
        *words.entry(item.piece.word).or_default() += u64::from(*kept);
    }
    let is_torn = |words: &BTreeMap<PmPlace, u64>| words.values().min() != words.values().max();
    there
        .into_iter()
        .filter(|(_, words)| is_torn(words))
        .map(|((at, _), _)| at)
        .collect()
}
