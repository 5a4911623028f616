//! Waits: a thread goes round a loop that changes nothing, until another thread has written what it reads.
//!
//! How many laps it makes is up to the recorder's own speed. So a wait is recorded as one: the laps are left out, and the
//! read that ends it has its turn behind the write. A lap counts only if it was made twice with the same instructions,
//! addresses and values, and it stores nothing but the same values to the stack. If the loop ends otherwise (a program may
//! count its laps), all laps are recorded.

use super::packets::Wrong;
use super::thread::Known;
use strandline_capture::{AccessKind, Control, Passed};

/// The most items of a lap: blocks and system calls.
const MOST: usize = 16;

/// System calls that do nothing but let time pass: `sched_yield`, `nanosleep`, `clock_nanosleep`.
const PASSES: [u64; 3] = [24, 35, 230];

/// Records an item, which may be one of a lap that was left out.
type Taker<'t> = &'t mut dyn FnMut(&[u64], Lap) -> Result<(), Wrong>;

/// Of which lap an item is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Lap {
    /// Of one that was kept, or of none.
    #[default]
    Kept,
    /// Of one that repeats another.
    Repeated,
}

/// What becomes of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is part of what may be a wait.
    Held,
    /// It is recorded, perhaps after others that were held.
    Taken { after: bool },
}

/// What an item may be to a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It has an effect, or ends early.
    Acts,
    /// It has none.
    Passes,
    /// It has none, and reads what others may write.
    Watches,
}

/// What a thread does that may be a wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Spins {
    /// The items since one that watches, as they came.
    items: Vec<Item>,
    words: Vec<u64>,
    /// Those of the lap's items when they came last.
    newest: Vec<u64>,
    lapping: Option<Lapping>,
    /// A lap has just been found.
    begins: bool,
    /// Instructions of laps that are left out.
    pub left_out: u64,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    start: usize,
    end: usize,
    /// Executions in a row, if it accesses nothing.
    times: u64,
}

/// A thread that repeats the last items.
#[derive(Clone, Copy, Debug)]
struct Lapping {
    /// The lap's first item.
    from: usize,
    /// Laps after it.
    laps: u64,
    /// The item that comes next, counted from the first, and how often it has come.
    at: usize,
    times: u64,
}

/// How two items compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Likeness {
    Same,
    /// The same instructions read something else.
    Changed,
    Other,
}

impl Role {
    /// Of a whole block with these words. `matters` says whether a store to an address does, although it is one to the stack
    /// by the look of it.
    pub fn of_block(known: &Known, item: &[u64], matters: impl Fn(u64) -> bool) -> Role {
        let stores =
            |(kind, words): (AccessKind, &[u64])| kind.writes() && kind != AccessKind::Atomic && matters(words[0]);
        match known.role {
            Role::Watches if changes(known, item) => Role::Acts,
            Role::Passes | Role::Watches if known.stores && accesses(known, item).any(stores) => Role::Acts,
            role => role,
        }
    }

    /// Of something that is no block.
    pub fn of_control(control: Control, payload: u64) -> Role {
        match control {
            Control::Syscall | Control::Returned if PASSES.contains(&payload) => Role::Passes,
            _ => Role::Acts,
        }
    }
}

impl Spins {
    /// Whether an item of this role is recorded at once.
    #[inline]
    pub fn pass(&self, role: Role) -> bool {
        self.items.is_empty() && role != Role::Watches
    }

    /// Whether the last item was found to begin what may be a wait.
    pub fn begins(&mut self) -> bool {
        std::mem::take(&mut self.begins)
    }

    /// The addresses that the present lap reads and other threads may write.
    pub fn awaited(&self, known: &[Known], found: &mut impl FnMut(u64)) {
        let from = self.lapping.map_or(self.items.len(), |lapping| lapping.from);
        for item in &self.items[from..] {
            let item = &self.words[item.start..item.end];
            if let Some((Control::Block, block)) = Control::of(item[0]) {
                let seen = accesses(&known[block as usize], item).filter(|(kind, _)| *kind == AccessKind::LoadSeen);
                seen.for_each(|(_, words)| found(words[0]));
            }
        }
    }

    /// Decides on the next item. `take` records those that were held.
    pub fn offer(&mut self, item: &[u64], role: Role, known: &[Known], take: Taker<'_>) -> Result<Fate, Wrong> {
        if let Some(lapping) = self.lapping {
            let expected = self.items[lapping.from + lapping.at];
            match alike(known, &self.words[expected.start..expected.end], item) {
                Likeness::Same if role != Role::Acts => {
                    self.goes_round(expected, item);
                    return Ok(Fate::Held);
                }
                Likeness::Changed => {
                    self.ends(known, take)?;
                    return Ok(Fate::Taken { after: true });
                }
                _ => self.was_none(known, take)?,
            }
        }
        if role == Role::Acts || self.items.len() == 2 * MOST {
            self.release(take)?;
        }
        if self.pass(role) {
            return Ok(Fate::Taken { after: true });
        }
        self.hold(item, known);
        Ok(Fate::Held)
    }

    /// The trace ends. Of a wait without an end one lap is recorded.
    pub fn finish(&mut self, known: &[Known], take: Taker<'_>) -> Result<(), Wrong> {
        if let Some(lapping) = self.lapping.take() {
            self.left_out += lapping.laps * self.instructions(known, lapping.from);
        }
        self.release(take)
    }

    fn hold(&mut self, item: &[u64], known: &[Known]) {
        let again = self.items.last_mut().filter(|last| {
            let is_empty = matches!(Control::of(item[0]), Some((Control::Block, _))) && item.len() == 1;
            is_empty && self.words[last.start..last.end] == *item
        });
        if let Some(last) = again {
            last.times += 1;
            return;
        }
        let start = self.words.len();
        self.words.extend_from_slice(item);
        let end = self.words.len();
        self.items.push(Item { start, end, times: 1 });
        self.find_lap(known);
    }

    /// Whether the last items repeat those before them.
    fn find_lap(&mut self, known: &[Known]) {
        let count = self.items.len();
        let same = |a: usize, b: usize| {
            let [a, b] = [self.items[a], self.items[b]];
            let words = |item: Item| &self.words[item.start..item.end];
            a.times == b.times && alike(known, words(a), words(b)) == Likeness::Same
        };
        // An item that accesses nothing may come once more.
        let last = self.items[count - 1];
        if last.end - last.start == 1 {
            return;
        }
        let length = (1..=count / 2).find(|length| (count - length..count).all(|at| same(at, at - length)));
        let watches = |item: &Item| {
            let block = Control::of(self.words[item.start]).filter(|(control, _)| *control == Control::Block);
            block.is_some_and(|(_, block)| known[block as usize].role == Role::Watches)
        };
        let Some(length) = length.filter(|length| self.items[count - length..].iter().any(watches)) else {
            return;
        };
        // The first lap may have begun before: with what came first, not with what was seen to repeat first.
        let mut from = count - 2 * length;
        while from > 0 && same(from - 1, from - 1 + length) {
            from -= 1;
        }
        let done = count - from;
        let newest = |lap: usize| &self.items[lap + (count - 1 - lap) / length * length];
        let newest = (from..from + length).map(newest);
        let newest: Vec<u64> = newest
            .flat_map(|item| &self.words[item.start..item.end])
            .copied()
            .collect();
        self.newest = [&self.words[..self.items[from].start], &newest].concat();
        self.lapping = Some(Lapping {
            from,
            laps: (done / length - 1) as u64,
            at: done % length,
            times: 0,
        });
        self.begins = true;
        self.truncate(from + length);
    }

    fn truncate(&mut self, items: usize) {
        self.items.truncate(items);
        self.words.truncate(self.items.last().map_or(0, |item| item.end));
    }

    /// The thread goes on with its lap.
    fn goes_round(&mut self, expected: Item, item: &[u64]) {
        let Some(lapping) = &mut self.lapping else { return };
        self.newest[expected.start..expected.end].copy_from_slice(item);
        lapping.times += 1;
        if lapping.times == self.items[lapping.from + lapping.at].times {
            (lapping.at, lapping.times) = (lapping.at + 1, 0);
        }
        if lapping.from + lapping.at == self.items.len() {
            (lapping.at, lapping.laps) = (0, lapping.laps + 1);
        }
    }
}

impl Spins {
    /// The wait ends in its present lap, which is all that is recorded of it.
    fn ends(&mut self, known: &[Known], take: Taker<'_>) -> Result<(), Wrong> {
        if let Some(lapping) = self.lapping.take() {
            self.left_out += (lapping.laps + 1) * self.instructions(known, lapping.from);
            self.truncate(lapping.from + lapping.at);
        }
        self.release(take)
    }

    /// It was no wait: all laps are recorded. Those between the first and the last have the first's latest ticket: they changed
    /// nothing.
    fn was_none(&mut self, known: &[Known], take: Taker<'_>) -> Result<(), Wrong> {
        let Some(lapping) = self.lapping.take() else {
            return Ok(());
        };
        self.record(&self.items, Lap::Kept, take)?;
        let lap = self.items.split_off(lapping.from);
        let ticket = lap
            .iter()
            .filter_map(|item| tickets(known, &self.words[item.start..item.end]).max());
        let ticket = ticket.max().unwrap_or(0);
        let middle: Vec<Vec<u64>> = lap.iter().map(|item| self.between(known, *item, ticket)).collect();
        for number in 1..=lapping.laps {
            for (index, item) in lap.iter().enumerate() {
                let newest = &self.newest[item.start..item.end];
                let is_newest = number == lapping.laps && index >= lapping.at;
                let words = if is_newest { newest } else { &middle[index] };
                (0..item.times).try_for_each(|_| take(words, Lap::Repeated))?;
            }
        }
        for item in &lap[..lapping.at] {
            (0..item.times).try_for_each(|_| take(&self.newest[item.start..item.end], Lap::Repeated))?;
        }
        if lapping.times > 0 {
            (0..lapping.times).try_for_each(|_| take(&middle[lapping.at], Lap::Repeated))?;
        }
        self.truncate(0);
        Ok(())
    }

    /// An item of a lap between the first and the last: of its accesses to memory that threads share nothing is known.
    fn between(&self, known: &[Known], item: Item, ticket: u64) -> Vec<u64> {
        let mut words = self.words[item.start..item.end].to_vec();
        for at in places_of_tickets(known, &words) {
            words[at] = ticket;
        }
        words.truncate(whole(known, &words));
        words
    }

    /// What was held is recorded.
    fn release(&mut self, take: Taker<'_>) -> Result<(), Wrong> {
        self.record(&self.items, Lap::Kept, take)?;
        self.truncate(0);
        Ok(())
    }

    fn record(&self, items: &[Item], lap: Lap, take: Taker<'_>) -> Result<(), Wrong> {
        for item in items {
            for _ in 0..item.times {
                take(&self.words[item.start..item.end], lap)?;
            }
        }
        Ok(())
    }

    /// The instructions of the items from this one on.
    fn instructions(&self, known: &[Known], from: usize) -> u64 {
        let of = |item: &Item| match Control::of(self.words[item.start]) {
            Some((Control::Block, block)) => item.times * u64::from(known[block as usize].instructions),
            _ => 0,
        };
        self.items[from..].iter().map(of).sum()
    }
}

/// The words of each access of a block that was executed whole, the address first.
fn accesses<'i>(known: &'i Known, item: &'i [u64]) -> impl Iterator<Item = (AccessKind, &'i [u64])> {
    let mut rest = &item[1..];
    known.accesses.iter().map(move |access| {
        let (words, behind) = rest.split_at(access.words().min(rest.len()));
        rest = behind;
        (access.kind, words)
    })
}

/// Where tickets are among the words of an item.
fn places_of_tickets(known: &[Known], item: &[u64]) -> Vec<usize> {
    match Control::of(item[0]) {
        Some((Control::Block, block)) => {
            let mut end = 1;
            let ends = known[block as usize].accesses.iter().map(|access| {
                end += access.words();
                (access.kind, end - 1)
            });
            let has_ticket = |kind: &AccessKind| matches!(kind, AccessKind::Atomic | AccessKind::LoadSeen);
            ends.filter(|(kind, _)| has_ticket(kind)).map(|(_, at)| at).collect()
        }
        _ => vec![item.len() - 1],
    }
}

/// Tickets of an item, also those behind its block's words.
fn tickets<'i>(known: &[Known], item: &'i [u64]) -> impl Iterator<Item = u64> + 'i {
    let passed = &item[whole(known, item).min(item.len())..];
    let passed = passed.iter().map(|word| Passed::unpack(*word).ticket);
    places_of_tickets(known, item)
        .into_iter()
        .map(|at| item[at])
        .chain(passed)
}

/// The words of an item without what follows a block's own.
fn whole(known: &[Known], item: &[u64]) -> usize {
    match Control::of(item[0]) {
        Some((Control::Block, block)) => known[block as usize].words(),
        _ => item.len(),
    }
}

/// Whether a locked instruction of a block changes memory.
fn changes(known: &Known, item: &[u64]) -> bool {
    let mut atomics = accesses(known, item).filter(|(kind, _)| *kind == AccessKind::Atomic);
    atomics.any(|(_, words)| {
        let (old, new) = old_and_new(words);
        old != new
    })
}

/// What a locked instruction read and left.
fn old_and_new(words: &[u64]) -> (&[u64], &[u64]) {
    let both = &words[1..words.len() - 1];
    both.split_at(both.len() / 2)
}

fn alike(known: &[Known], a: &[u64], b: &[u64]) -> Likeness {
    if a[0] != b[0] || a.len() != b.len() {
        return Likeness::Other;
    }
    match Control::of(a[0]) {
        Some((Control::Block, block)) => blocks_alike(&known[block as usize], a, b),
        // Its result.
        Some((Control::Returned, _)) if a[1] != b[1] => Likeness::Other,
        _ => Likeness::Same,
    }
}

fn blocks_alike(known: &Known, a: &[u64], b: &[u64]) -> Likeness {
    let mut likeness = Likeness::Same;
    for ((kind, a), (_, b)) in accesses(known, a).zip(accesses(known, b)) {
        match kind {
            _ if a[0] != b[0] => return Likeness::Other,
            AccessKind::LoadSeen | AccessKind::Atomic if is_changed(kind, a, b) => likeness = Likeness::Changed,
            // What the block stores may depend on it.
            _ if likeness == Likeness::Changed => {}
            AccessKind::LoadSeen => {}
            AccessKind::Atomic if a[..a.len() - 1] == b[..b.len() - 1] => {}
            _ if a == b => {}
            _ => return Likeness::Other,
        }
    }
    likeness
}

/// Whether an access to the same address reads something else.
fn is_changed(kind: AccessKind, a: &[u64], b: &[u64]) -> bool {
    match kind {
        AccessKind::LoadSeen => a[1] != b[1],
        _ => old_and_new(a).0 != old_and_new(b).0,
    }
}
