//! All that wait: one table, woken by the condition that they wait for.

use crate::core::Request;
use std::collections::BTreeMap;
use strandline_design::{ControllerId, Key, Level, StoreId, Until, WriteId};
use strandline_isa::{Addr, CoreId, Line};

/// What something waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    /// A core's older stores are visible and its older flushes acknowledged: of one context, or all.
    Drained(CoreId, Option<u8>),
    /// The fence that is held in a core's window has retired.
    Retired(CoreId),
    /// A core's store queue has room.
    Room(CoreId),
    /// A core's store queue is empty.
    Empty(CoreId),
    /// All programs stand at the start line.
    Started,
    /// So many counted writes to this word are visible, as the waiter says.
    Written(Addr),
    /// The design opens a gate.
    Open(Key),
}

impl Condition {
    /// The condition of an answer to a question about this core.
    pub fn of(core: CoreId, until: Until<Key>) -> Condition {
        match until {
            Until::Drained(context) => Condition::Drained(core, context),
            Until::Open(gate) => Condition::Open(gate),
        }
    }

    /// What an answer said that waits for it; of a condition of the machine's own, that all is done.
    pub fn until(self) -> Until<Key> {
        match self {
            Condition::Open(gate) => Until::Open(gate),
            Condition::Drained(_, context) => Until::Drained(context),
            _ => Until::Drained(None),
        }
    }

    /// Whether it concerns one core, whose slots say who waits.
    fn is_local(self) -> bool {
        !matches!(self, Condition::Written(_) | Condition::Open(_))
    }
}

/// What waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiter {
    /// The fence that is held in a core's window.
    Fence(CoreId),
    /// A core's program; then it does this.
    Program(CoreId, Then),
    /// The entry whose turn in a core's store queue has come.
    StoreQueue(CoreId),
    /// What a core has announced since it retired a fence speculatively, by the fence's number.
    Speculation { core: CoreId, number: u64 },
    /// A dirty line that the design holds on its way out of this level.
    Eviction { level: Level, core: CoreId, line: Line },
    /// A flush that the design sent.
    Flush { core: CoreId, line: Line, tag: Key },
    /// A store that the design kept and has performed.
    Perform { core: CoreId, id: StoreId },
    /// A write that the design leaves outside of the write queue.
    Arrival { controller: ControllerId, write: WriteId },
}

impl Waiter {
    /// The order in which the waiters for one gate are woken: the cores, each with its fence, its
    /// program and its store queue; then lines, flushes, stores and writes, each in order of arrival.
    fn rank(&self) -> (u8, u16, u8) {
        match self {
            Waiter::Fence(core) => (0, core.0, 0),
            Waiter::Program(core, _) => (0, core.0, 1),
            Waiter::StoreQueue(core) => (0, core.0, 2),
            Waiter::Speculation { core, .. } => (0, core.0, 3),
            Waiter::Eviction { .. } => (1, 0, 0),
            Waiter::Flush { .. } => (2, 0, 0),
            Waiter::Perform { .. } => (3, 0, 0),
            Waiter::Arrival { .. } => (4, 0, 0),
        }
    }
}

/// What a program does when it has waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It goes on; dispatch has stood still behind a fence if `fenced`.
    GoOn { fenced: bool },
    /// Its request is looked at again.
    Ask(Request),
    /// It goes on if so many counted writes are visible.
    Count(u32),
}

/// What a core's fence, program and store queue wait for.
#[derive(Clone, Copy, Debug, Default)]
struct Slots {
    fence: Option<Condition>,
    program: Option<(Condition, Then)>,
    store_queue: Option<Condition>,
}

/// The table.
#[derive(Debug, Default)]
pub struct Waiters {
    cores: Vec<Slots>,
    /// Those whose condition is no core's own. A core's waiter is listed in its slot too, which says
    /// whether it still waits.
    others: BTreeMap<Condition, Vec<Waiter>>,
}

impl Waiters {
    /// For so many cores.
    pub fn new(cores: usize) -> Waiters {
        Waiters {
            cores: vec![Slots::default(); cores],
            others: BTreeMap::new(),
        }
    }

    /// `waiter` waits for `condition`.
    pub fn park(&mut self, condition: Condition, waiter: Waiter) {
        match waiter {
            Waiter::Fence(core) => self.cores[core.index()].fence = Some(condition),
            Waiter::Program(core, then) => self.cores[core.index()].program = Some((condition, then)),
            Waiter::StoreQueue(core) => self.cores[core.index()].store_queue = Some(condition),
            _ => {}
        }
        if !condition.is_local() {
            self.others.entry(condition).or_default().push(waiter);
        }
    }

    /// Takes those out that wait for a condition that is no core's own, in the order in which they are
    /// woken.
    pub fn wake(&mut self, condition: Condition) -> Vec<Waiter> {
        let mut woken = self.others.remove(&condition).unwrap_or_default();
        woken.retain(|waiter| self.takes(condition, waiter));
        woken.sort_by_key(Waiter::rank);
        woken
    }

    /// Takes a core's fence out if what it waits for `is_met`.
    #[inline]
    pub fn wake_fence(&mut self, core: CoreId, is_met: impl Fn(Condition) -> bool) -> bool {
        self.cores[core.index()]
            .fence
            .take_if(|condition| is_met(*condition))
            .is_some()
    }

    /// Takes a core's program out if what it waits for `is_met`: what it does then.
    #[inline]
    pub fn wake_program(&mut self, core: CoreId, is_met: impl Fn(Condition) -> bool) -> Option<Then> {
        let program = &mut self.cores[core.index()].program;
        program
            .take_if(|(condition, _)| is_met(*condition))
            .map(|(_, then)| then)
    }

    /// Takes a core's store queue out if what it waits for `is_met`.
    #[inline]
    pub fn wake_store_queue(&mut self, core: CoreId, is_met: impl Fn(Condition) -> bool) -> bool {
        let store_queue = &mut self.cores[core.index()].store_queue;
        store_queue.take_if(|condition| is_met(*condition)).is_some()
    }

    /// Takes a waiter's slot if it still waits for this.
    fn takes(&mut self, condition: Condition, waiter: &Waiter) -> bool {
        match waiter {
            Waiter::Fence(core) => self.wake_fence(*core, |awaited| awaited == condition),
            Waiter::Program(core, then) => {
                let slot = &mut self.cores[core.index()].program;
                slot.take_if(|slot| *slot == (condition, *then)).is_some()
            }
            Waiter::StoreQueue(core) => self.wake_store_queue(*core, |awaited| awaited == condition),
            _ => true,
        }
    }

    /// What a core's held fence waits for.
    pub fn of_fence(&self, core: CoreId) -> Option<Condition> {
        self.cores[core.index()].fence
    }

    /// What a core's program waits for, and what it does then.
    pub fn of_program(&self, core: CoreId) -> Option<(Condition, Then)> {
        self.cores[core.index()].program
    }

    /// The lines that the design holds on their way out, with what each waits for.
    pub fn held_lines(&self) -> impl Iterator<Item = (Condition, CoreId, Line)> + '_ {
        let held = |waiter: &Waiter| match waiter {
            Waiter::Eviction { core, line, .. } => Some((*core, *line)),
            _ => None,
        };
        self.others.iter().flat_map(move |(condition, waiters)| {
            waiters
                .iter()
                .filter_map(held)
                .map(|(core, line)| (*condition, core, line))
        })
    }

    /// Takes out a line of this core that the design holds on its way out; whether there was one.
    pub fn take_held_line(&mut self, core: CoreId, line: Line) -> bool {
        let is_it =
            |waiter: &Waiter| matches!(waiter, Waiter::Eviction { core: c, line: l, .. } if (*c, *l) == (core, line));
        for waiters in self.others.values_mut() {
            if let Some(index) = waiters.iter().position(is_it) {
                waiters.remove(index);
                return true;
            }
        }
        false
    }

    /// A core's fence, program and store queue wait for nothing any more.
    pub fn forget_core(&mut self, core: CoreId) {
        self.cores[core.index()] = Slots::default();
    }
}
