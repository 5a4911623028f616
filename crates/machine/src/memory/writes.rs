//! Writes on their way to persistent memory.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use strandline_design::{Key, WriteId, WriteRequest};
use strandline_isa::{CoreId, Line};
use strandline_kernel::NumberHasher;
use strandline_rules::{broken, Rule};

/// A waiter for a write's acceptance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A flush in a core's write-back buffer, by its number there.
    Buffer { core: CoreId, slot: u64 },
    /// A flush or write that the design sent, with the design's tag.
    Design { core: CoreId, tag: Key },
}

/// A write, from its look-up until it has reached the media.
#[derive(Clone, Debug)]
pub struct Write {
    /// The part of it that controllers and designs see.
    pub request: WriteRequest<Key>,
    /// The waiters for its acceptance.
    pub waiting: Waiting,
}

/// The waiters for a write: the flush itself, and flushes that found the line clean behind it.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    /// The first; there is rarely another.
    pub first: Option<Origin>,
    /// The others.
    pub others: Vec<Origin>,
}

impl Waiting {
    /// Adds a waiter.
    pub fn push(&mut self, origin: Origin) {
        match self.first {
            None => self.first = Some(origin),
            Some(_) => self.others.push(origin),
        }
    }
}

/// The writes in flight, and the order of those to one line.
#[derive(Default)]
pub struct Writes {
    slots: Vec<Option<Write>>,
    free: Vec<u32>,
    /// Lines with writes that no controller has accepted: their number, the latest, and its
    /// arrival.
    unaccepted: HashMap<Line, Tail, BuildHasherDefault<NumberHasher>>,
}

#[derive(Clone, Copy)]
struct Tail {
    count: u32,
    last: WriteId,
    arrives: u64,
}

impl Writes {
    pub fn new() -> Writes {
        Writes { ..Writes::default() }
    }

    /// Adds a write that arrives at its controller at `arrives`, whatever else is in flight to its
    /// line.
    pub fn add_unordered(&mut self, request: WriteRequest<Key>, arrives: u64) -> WriteId {
        let line = request.line;
        let id = self.insert(request);
        let tail = self.unaccepted.entry(line).or_insert(Tail {
            count: 0,
            last: id,
            arrives: 0,
        });
        tail.count += 1;
        tail.last = id;
        tail.arrives = tail.arrives.max(arrives);
        id
    }

    fn insert(&mut self, request: WriteRequest<Key>) -> WriteId {
        let write = Write {
            request,
            waiting: Waiting::default(),
        };
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Some(write);
                WriteId(slot)
            }
            None => {
                self.slots.push(Some(write));
                WriteId(self.slots.len() as u32 - 1)
            }
        }
    }

    /// Adds a write that would arrive at its controller at `arrives`; its number, and when it does arrive: after
    /// every older write to the line.
    pub fn add(&mut self, request: WriteRequest<Key>, arrives: u64) -> (WriteId, u64) {
        let line = request.line;
        let id = self.insert(request);
        let tail = self.unaccepted.entry(line).or_insert(Tail {
            count: 0,
            last: id,
            arrives: 0,
        });
        tail.count += 1;
        tail.last = id;
        tail.arrives = arrives.max(tail.arrives + 1);
        if broken(Rule::WritesOfALineInOrder) {
            return (id, arrives);
        }
        (id, tail.arrives)
    }

    /// The latest write to the line that no controller has accepted yet.
    pub fn unaccepted(&self, line: Line) -> Option<WriteId> {
        self.unaccepted.get(&line).map(|t| t.last)
    }

    /// Records that a controller has accepted the write: its waiters.
    pub fn accept(&mut self, id: WriteId) -> Waiting {
        let line = self.get(id).request.line;
        if let Some(tail) = self.unaccepted.get_mut(&line) {
            tail.count -= 1;
            if tail.count == 0 {
                self.unaccepted.remove(&line);
            }
        }
        std::mem::take(&mut self.get_mut(id).waiting)
    }

    /// The write.
    pub fn get(&self, id: WriteId) -> &Write {
        self.slots[id.0 as usize].as_ref().expect("a write in flight")
    }

    /// The write.
    pub fn get_mut(&mut self, id: WriteId) -> &mut Write {
        self.slots[id.0 as usize].as_mut().expect("a write in flight")
    }

    /// Removes the write: it has reached the media, or has coalesced with a queued one.
    pub fn remove(&mut self, id: WriteId) -> Write {
        self.free.push(id.0);
        self.slots[id.0 as usize].take().expect("a write in flight")
    }
}
