//! One table of all waiters, woken by their conditions.

use crate::core::Request;
use crate::timeline::Why;
use strandline_design::{ControllerId, Key, Level, StoreId, Until, WriteId};
use strandline_isa::{Addr, CoreId, Flush, Line};

/// A condition that something waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    /// A core's older stores are visible and its older flushes acknowledged: of one context, or all.
    Drained(CoreId, Option<u8>),
    /// A core's older stores are visible and its older flushes have left for the caches.
    Visible(CoreId),
    /// The fence that is held in a core's window has retired.
    Retired(CoreId),
    /// A core's store queue has room.
    Room(CoreId),
    /// A core's store queue is empty.
    Empty(CoreId),
    /// All programs have reached the start line.
    Started,
    /// So many counted writes to this word are visible; the waiter has the number.
    Written(Addr),
    /// The kernel wakes who sleeps on this word, one at a time.
    Woken(Addr),
    /// The design opens a gate.
    Open(Key),
}

impl Condition {
    /// The condition in an answer to a question about this core.
    pub fn of(core: CoreId, until: Until<Key>) -> Condition {
        match until {
            Until::Drained(context) => Condition::Drained(core, context),
            Until::Visible => Condition::Visible(core),
            Until::Open(gate) => Condition::Open(gate),
        }
    }

    /// Its name in a timeline.
    pub fn why(self) -> Why {
        match self {
            Condition::Drained(_, None) => Why::Drained,
            Condition::Drained(_, Some(_)) => Why::ContextDrained,
            Condition::Visible(_) => Why::Visible,
            Condition::Retired(_) => Why::Retired,
            Condition::Room(_) => Why::Room,
            Condition::Empty(_) => Why::Empty,
            Condition::Started => Why::Started,
            Condition::Written(_) => Why::Written,
            Condition::Woken(_) => Why::Woken,
            Condition::Open(_) => Why::Design,
        }
    }

    /// The answer that has this condition; for a condition of the machine's own, that all is done.
    pub fn until(self) -> Until<Key> {
        match self {
            Condition::Open(gate) => Until::Open(gate),
            Condition::Drained(_, context) => Until::Drained(context),
            Condition::Visible(_) => Until::Visible,
            _ => Until::Drained(None),
        }
    }

    /// Whether it concerns one core, whose slots hold the waiters.
    fn is_local(self) -> bool {
        !matches!(self, Condition::Written(_) | Condition::Woken(_) | Condition::Open(_))
    }
}

/// A waiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiter {
    /// The fence that is held in a core's window.
    Fence(CoreId),
    /// A core's program, and how it resumes.
    Program(CoreId, Then),
    /// The entry at the head of a core's store queue.
    StoreQueue(CoreId),
    /// A core's notes since it retired a fence speculatively, by the fence's number.
    Speculation { core: CoreId, number: u64 },
    /// A dirty line that the design holds on its eviction from this level.
    Eviction { level: Level, core: CoreId, line: Line },
    /// A flush that the design sent.
    Flush {
        core: CoreId,
        line: Line,
        flush: Flush,
        tag: Key,
    },
    /// A store that the design kept and performs.
    Perform { core: CoreId, id: StoreId },
    /// A write that the design holds outside of the write queue.
    Arrival { controller: ControllerId, write: WriteId },
}

impl Waiter {
    /// The order in which the waiters for one gate are woken: the cores, each with its fence, its
    /// program and its store queue; then lines, flushes, stores and writes, each in order of
    /// arrival.
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

/// How a program resumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It continues; `fenced`: dispatch has stalled behind a fence.
    GoOn { fenced: bool },
    /// Its request is repeated.
    Ask(Request),
    /// It continues when this number of counted writes is visible.
    Count(u32),
}

/// The conditions of a core's fence, program and store queue.
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
    /// Waiters whose condition is not of one core, in order of arrival: they are few. A core's
    /// waiter is listed in its slot too, which tells whether it still waits.
    others: Vec<(Condition, Waiter)>,
    /// Memory for those that are woken.
    spare: Vec<Waiter>,
}

impl Waiters {
    /// A table for `cores` cores.
    pub fn new(cores: usize) -> Waiters {
        Waiters {
            cores: vec![Slots::default(); cores],
            others: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Parks `waiter` until `condition`.
    pub fn park(&mut self, condition: Condition, waiter: Waiter) {
        match waiter {
            Waiter::Fence(core) => self.cores[core.index()].fence = Some(condition),
            Waiter::Program(core, then) => self.cores[core.index()].program = Some((condition, then)),
            Waiter::StoreQueue(core) => self.cores[core.index()].store_queue = Some(condition),
            _ => {}
        }
        if !condition.is_local() {
            self.others.push((condition, waiter));
        }
    }

    /// Removes the waiters for a condition that is not of one core, in the order in which they are
    /// woken. [`Waiters::recycle`] takes the list back.
    pub fn wake(&mut self, condition: Condition) -> Vec<Waiter> {
        let mut woken = std::mem::take(&mut self.spare);
        let mut from = 0;
        while let Some(found) = self.others[from..]
            .iter()
            .position(|(awaited, _)| *awaited == condition)
        {
            from += found;
            let (_, waiter) = self.others.remove(from);
            if self.clear_slot(condition, &waiter) {
                woken.push(waiter);
            }
        }
        if woken.len() > 1 {
            woken.sort_by_key(Waiter::rank);
        }
        woken
    }

    /// Removes those that wait for a gate and will ask the design again.
    #[cold]
    pub fn wake_askers(&mut self) -> Vec<Waiter> {
        let asks = |waiter: &Waiter| {
            let program = matches!(waiter, Waiter::Program(_, Then::Ask(_)));
            program
                || matches!(
                    waiter,
                    Waiter::StoreQueue(_) | Waiter::Flush { .. } | Waiter::Perform { .. }
                )
        };
        let at_gates = self
            .others
            .iter()
            .filter(|(at, waiter)| matches!(at, Condition::Open(_)) && asks(waiter));
        let mut gates: Vec<Condition> = at_gates.map(|(at, _)| *at).collect();
        gates.sort_unstable();
        gates.dedup();
        let mut woken = Vec::new();
        for gate in gates {
            let (asking, others): (Vec<_>, Vec<_>) = self.wake(gate).into_iter().partition(asks);
            others.into_iter().for_each(|waiter| self.park(gate, waiter));
            woken.extend(asking);
        }
        woken
    }

    /// Removes what cores that are gone have sent and the design holds. Returns the evicted lines among it.
    #[cold]
    pub fn lose(&mut self, is_gone: impl Fn(CoreId) -> bool) -> Vec<Line> {
        let mut lines = Vec::new();
        self.others.retain(|(_, waiter)| match waiter {
            Waiter::Eviction { core, line, .. } if is_gone(*core) => {
                lines.push(*line);
                false
            }
            Waiter::Flush { core, .. } | Waiter::Perform { core, .. } => !is_gone(*core),
            _ => true,
        });
        lines
    }

    /// Removes the program that has waited longest for a condition that is not of one core.
    pub fn wake_longest(&mut self, condition: Condition) -> Option<CoreId> {
        while let Some(found) = self.others.iter().position(|(awaited, _)| *awaited == condition) {
            let (_, waiter) = self.others.remove(found);
            if let Waiter::Program(core, _) = waiter {
                if self.clear_slot(condition, &waiter) {
                    return Some(core);
                }
            }
        }
        None
    }

    /// Keeps the memory of a list of woken waiters.
    pub fn recycle(&mut self, mut woken: Vec<Waiter>) {
        woken.clear();
        self.spare = woken;
    }

    /// Whether a core's fence, program or store queue waits for its stores and flushes.
    #[inline(always)]
    pub fn await_drained(&self, core: CoreId) -> bool {
        let slots = &self.cores[core.index()];
        let drained = |condition: Option<&Condition>| matches!(condition, Some(Condition::Drained(..)));
        drained(slots.fence.as_ref())
            || drained(slots.program.as_ref().map(|(condition, _)| condition))
            || drained(slots.store_queue.as_ref())
    }

    /// Whether a core's fence waits until its stores are visible.
    #[inline(always)]
    pub fn fence_awaits_visible(&self, core: CoreId) -> bool {
        matches!(self.cores[core.index()].fence, Some(Condition::Visible(_)))
    }

    /// Removes a core's fence if its condition `is_met`.
    #[inline]
    pub fn wake_fence(&mut self, core: CoreId, is_met: impl Fn(Condition) -> bool) -> bool {
        self.cores[core.index()]
            .fence
            .take_if(|condition| is_met(*condition))
            .is_some()
    }

    /// Removes a core's program if its condition `is_met`. Returns how it resumes.
    #[inline]
    pub fn wake_program(&mut self, core: CoreId, is_met: impl Fn(Condition) -> bool) -> Option<Then> {
        let program = &mut self.cores[core.index()].program;
        program
            .take_if(|(condition, _)| is_met(*condition))
            .map(|(_, then)| then)
    }

    /// Removes a core's store queue if its condition `is_met`.
    #[inline]
    pub fn wake_store_queue(&mut self, core: CoreId, is_met: impl Fn(Condition) -> bool) -> bool {
        let store_queue = &mut self.cores[core.index()].store_queue;
        store_queue.take_if(|condition| is_met(*condition)).is_some()
    }

    /// Clears a waiter's slot if it still waits for this.
    fn clear_slot(&mut self, condition: Condition, waiter: &Waiter) -> bool {
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

    /// The condition of the entry at the head of a core's store queue.
    pub fn of_store_queue(&self, core: CoreId) -> Option<Condition> {
        self.cores[core.index()].store_queue
    }

    /// The waiters whose condition is not of one core, in order of arrival.
    pub fn held(&self) -> impl Iterator<Item = &(Condition, Waiter)> {
        self.others.iter()
    }

    /// The condition of a core's held fence.
    pub fn of_fence(&self, core: CoreId) -> Option<Condition> {
        self.cores[core.index()].fence
    }

    /// The condition of a core's program, and how it resumes.
    pub fn of_program(&self, core: CoreId) -> Option<(Condition, Then)> {
        self.cores[core.index()].program
    }

    /// Whether a core's program waits for this condition.
    #[inline(always)]
    pub fn program_awaits(&self, core: CoreId, condition: Condition) -> bool {
        let slot = &self.cores[core.index()].program;
        slot.as_ref().is_some_and(|(awaited, _)| *awaited == condition)
    }

    /// Whether a core's program waits for its store queue.
    #[inline(always)]
    pub fn program_awaits_queue(&self, core: CoreId) -> bool {
        let slot = &self.cores[core.index()].program;
        matches!(slot, Some((Condition::Room(_) | Condition::Empty(_), _)))
    }

    /// The evicted lines that the design holds, each with its condition.
    pub fn held_lines(&self) -> impl Iterator<Item = (Condition, CoreId, Line)> + '_ {
        self.others.iter().filter_map(|(condition, waiter)| match waiter {
            Waiter::Eviction { core, line, .. } => Some((*condition, *core, *line)),
            _ => None,
        })
    }

    /// Removes a held eviction of this line from the caches of a core for which `is_owner` holds; whether there was one.
    pub fn take_held_line(&mut self, line: Line, is_owner: impl Fn(CoreId) -> bool) -> bool {
        let is_it = |waiter: &Waiter| matches!(waiter, Waiter::Eviction { core, line: held, .. } if *held == line && is_owner(*core));
        let found = self.others.iter().position(|(_, waiter)| is_it(waiter));
        found.map(|index| self.others.remove(index)).is_some()
    }

    /// Removes a core's fence, program and store queue, and its notes behind fences that retired
    /// speculatively after this one: the core is rolled back.
    pub fn forget_core(&mut self, core: CoreId, last: u64) {
        self.cores[core.index()] = Slots::default();
        let is_void = |waiter: &Waiter| match waiter {
            Waiter::Speculation { core: of, number } => *of == core && *number > last,
            _ => false,
        };
        self.others.retain(|(_, waiter)| !is_void(waiter));
    }
}
