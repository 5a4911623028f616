//! Writes on their way to persistent memory.

use super::tails::{Tail, Tails};
use strandline_design::{Key, WriteId, WriteRequest};
use strandline_isa::{CoreId, Line};
use strandline_rules::{kept, Rule};

/// A waiter for a write's acceptance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A flush in a core's write-back buffer, by its number there.
    Buffer { core: CoreId, slot: u64 },
    /// A flush or write that the design sent, with the design's tag.
    Design { core: CoreId, tag: Key },
}

/// A write, from its look-up until it has reached the media.
struct Write {
    /// The part of it that controllers and designs see.
    request: WriteRequest<Key>,
    /// The first waiter for its acceptance.
    waiter: Option<Origin>,
}

/// The waiters for a write: the flush itself, and flushes that found the line clean behind it.
pub struct Waiting {
    /// The first; there is rarely another.
    pub first: Option<Origin>,
    /// The others.
    pub others: Vec<Origin>,
}

/// The writes in flight, and the order of those to one line.
#[derive(Default)]
pub struct Writes {
    /// By number; the places of `free` numbers hold writes of the past.
    slots: Vec<Write>,
    free: Vec<u32>,
    unaccepted: Tails,
    /// The waiters for acceptances that are not the first of their write, in order of arrival.
    later: Vec<(WriteId, Origin)>,
}

impl Writes {
    pub fn new() -> Writes {
        Writes { ..Writes::default() }
    }

    /// Adds a write that arrives at its controller at `arrives`, whatever else is in flight to its
    /// line.
    pub fn add_unordered(&mut self, request: WriteRequest<Key>, arrives: u64) -> WriteId {
        let (id, tail) = self.insert(request);
        tail.arrives = tail.arrives.max(arrives);
        id
    }

    /// Adds a write that would arrive at its controller at `arrives`; its number, and when it does arrive: after
    /// every older write to the line.
    #[inline(always)]
    pub fn add(&mut self, request: WriteRequest<Key>, arrives: u64) -> (WriteId, u64) {
        let (id, tail) = self.insert(request);
        tail.arrives = arrives.max(tail.arrives + 1);
        (id, kept(Rule::WritesOfALineInOrder, tail.arrives, || arrives))
    }

    #[inline(always)]
    fn insert(&mut self, request: WriteRequest<Key>) -> (WriteId, &mut Tail) {
        let line = request.line;
        let write = Write { request, waiter: None };
        let id = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = write;
                WriteId(slot)
            }
            None => {
                self.slots.push(write);
                WriteId(self.slots.len() as u32 - 1)
            }
        };
        (id, self.unaccepted.add(line, id))
    }

    /// The latest write to the line that no controller has accepted yet.
    pub fn unaccepted(&self, line: Line) -> Option<WriteId> {
        self.unaccepted.get(line).map(|tail| tail.last)
    }

    /// Lets a waiter wait for the acceptance of the write.
    #[inline]
    pub fn wait_for(&mut self, id: WriteId, origin: Origin) {
        match &mut self.slots[id.0 as usize].waiter {
            Some(_) => self.later.push((id, origin)),
            first => *first = Some(origin),
        }
    }

    /// Takes the waiters for the acceptance of the write.
    #[inline]
    pub fn take_waiting(&mut self, id: WriteId) -> Waiting {
        let first = self.slots[id.0 as usize].waiter.take();
        let others = if self.later.is_empty() {
            Vec::new()
        } else {
            self.take_later(id)
        };
        Waiting { first, others }
    }

    #[inline(never)]
    fn take_later(&mut self, id: WriteId) -> Vec<Origin> {
        let mut taken = Vec::new();
        self.later.retain(|(of, origin)| {
            if *of == id {
                taken.push(*origin);
            }
            *of != id
        });
        taken
    }

    /// Records that a controller has accepted the write: its waiters.
    #[inline(always)]
    pub fn accept(&mut self, id: WriteId) -> Waiting {
        self.unaccepted.remove(self.get(id).line);
        self.take_waiting(id)
    }

    /// The part of the write that controllers and designs see.
    #[inline]
    pub fn get(&self, id: WriteId) -> &WriteRequest<Key> {
        debug_assert!(!self.free.contains(&id.0), "a write in flight");
        &self.slots[id.0 as usize].request
    }

    /// The part of the write that controllers and designs see.
    pub fn get_mut(&mut self, id: WriteId) -> &mut WriteRequest<Key> {
        debug_assert!(!self.free.contains(&id.0), "a write in flight");
        &mut self.slots[id.0 as usize].request
    }

    /// Removes the write: it has reached the media, or has coalesced with a queued one.
    #[inline]
    pub fn remove(&mut self, id: WriteId) {
        debug_assert!(!self.free.contains(&id.0), "a write in flight");
        self.free.push(id.0);
    }
}
