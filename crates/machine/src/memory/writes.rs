//! Writes on their way to persistent memory.

use super::tails::{Tail, Tails};
use crate::system::HostId;
use strandline_design::{Key, WriteId, WriteRequest};
use strandline_isa::{CoreId, Line, LineData};
use strandline_rules::{kept, Rule};

/// A waiter for a write's acceptance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A flush in a core's write-back buffer, by its number there.
    Buffer { core: CoreId, slot: u64 },
    /// A flush or write that the design sent, with the design's tag.
    Design { core: CoreId, tag: Key },
    /// What the design has sent on from where writes stop, with its tag.
    Stop { core: CoreId, tag: Key },
}

/// A write, from its look-up until it has reached the media.
struct Write {
    /// The part of it that controllers and designs see.
    request: WriteRequest<Key>,
    /// The host that has sent it.
    host: HostId,
    /// When it would arrive.
    arrives: u64,
    /// Whether it has left its host long ago: it is sent from where writes stop, and has no order among those of hosts.
    is_sent_on: bool,
    /// What becomes of it if its host fails.
    fate: Fate,
    /// The first waiter for its acceptance.
    waiter: Option<Origin>,
}

/// Whether a write reaches the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Unless its host fails before it has left.
    Leaves,
    /// Whatever its host does: another host has been answered behind it.
    Certain,
    /// Its host has failed before.
    Lost,
}

impl Write {
    #[inline(always)]
    fn new(host: HostId, request: WriteRequest<Key>) -> Write {
        Write {
            request,
            host,
            arrives: 0,
            is_sent_on: false,
            fate: Fate::Leaves,
            waiter: None,
        }
    }
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
    /// Those on their way to a device that several hosts share, in the order in which they were sent.
    to_device: Option<Vec<WriteId>>,
}

impl Writes {
    /// None yet; `shared`: several hosts send them.
    pub fn new(shared: bool) -> Writes {
        Writes {
            to_device: shared.then(Vec::new),
            ..Writes::default()
        }
    }

    /// Adds a write that arrives at its controller at `arrives`, whatever else is in flight to its
    /// line.
    pub fn add_unordered(&mut self, host: HostId, request: WriteRequest<Key>, arrives: u64) -> WriteId {
        let (id, tail) = self.insert(host, request);
        tail.arrives = tail.arrives.max(arrives);
        id
    }

    /// Adds a write that would arrive at its controller at `arrives`; its number, and when it does arrive: after
    /// every older write to the line.
    #[inline(always)]
    pub fn add(&mut self, host: HostId, request: WriteRequest<Key>, arrives: u64) -> (WriteId, u64) {
        let (id, tail) = self.insert(host, request);
        tail.arrives = arrives.max(tail.arrives + 1);
        let at = kept(Rule::WritesOfALineInOrder, tail.arrives, || arrives);
        self.slots[id.0 as usize].arrives = at;
        (id, at)
    }

    /// Adds a write that is sent on from where writes stop.
    pub fn add_sent_on(&mut self, host: HostId, request: WriteRequest<Key>) -> WriteId {
        let fate = Fate::Certain;
        self.put(Write {
            is_sent_on: true,
            fate,
            ..Write::new(host, request)
        })
    }

    #[inline(always)]
    fn insert(&mut self, host: HostId, request: WriteRequest<Key>) -> (WriteId, &mut Tail) {
        let line = request.line;
        let id = self.put(Write::new(host, request));
        if let Some(sent) = &mut self.to_device {
            sent.push(id);
        }
        (id, self.unaccepted.add(line, id))
    }

    #[inline(always)]
    fn put(&mut self, write: Write) -> WriteId {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = write;
                WriteId(slot)
            }
            None => {
                self.slots.push(write);
                WriteId(self.slots.len() as u32 - 1)
            }
        }
    }

    /// The latest write to the line that no controller has accepted yet.
    pub fn unaccepted(&self, line: Line) -> Option<WriteId> {
        self.unaccepted.get(line).map(|tail| tail.last)
    }

    /// As [`Writes::unaccepted`], of those that a host has sent.
    pub fn unaccepted_of(&self, host: HostId, line: Line) -> Option<WriteId> {
        let Some(sent) = &self.to_device else {
            return self.unaccepted(line);
        };
        let is_own = |id: &&WriteId| self.host(**id) == host && self.get(**id).line == line;
        sent.iter().rev().find(is_own).copied()
    }

    /// The latest write to the line that a host has sent and the device will accept. It arrives whatever happens to its host:
    /// somebody is about to wait for it.
    pub fn awaited(&mut self, line: Line) -> Option<WriteId> {
        self.make_certain(line);
        let arrives = |id: &&WriteId| self.get(**id).line == line && !self.is_lost(**id);
        self.to_device.iter().flatten().rev().find(arrives).copied()
    }

    /// When the latest write of a line arrives that another host has sent and the device has not accepted.
    pub fn arrival_of_others(&self, host: HostId, line: Line) -> Option<u64> {
        let slots = self.to_device.iter().flatten().map(|id| &self.slots[id.0 as usize]);
        let of_line = slots.filter(|write| write.request.line == line && write.fate != Fate::Lost);
        let of_others = of_line.filter(|write| write.host != host);
        of_others.map(|write| write.arrives).max()
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
        if self.slots[id.0 as usize].is_sent_on {
            return self.take_waiting(id);
        }
        self.unaccepted.remove(self.get(id).line);
        if let Some(sent) = &mut self.to_device {
            sent.retain(|other| *other != id);
        }
        self.take_waiting(id)
    }

    /// Lays the bytes over a line's that a host, or any, has sent and the device has not accepted.
    pub fn lay_over(&self, host: Option<HostId>, line: Line, data: &mut LineData) {
        let slots = self.to_device.iter().flatten().map(|id| &self.slots[id.0 as usize]);
        let of_line = slots.filter(|write| write.request.line == line && write.fate != Fate::Lost);
        let own = of_line.filter(|write| host.is_none_or(|host| host == write.host));
        own.for_each(|write| write.request.bytes.copy(&write.request.data, data));
    }

    /// The writes of a line that hosts have sent arrive, whatever happens to these.
    pub fn make_certain(&mut self, line: Line) {
        for id in self.to_device.iter().flatten() {
            let write = &mut self.slots[id.0 as usize];
            if write.request.line == line && write.fate == Fate::Leaves {
                write.fate = Fate::Certain;
            }
        }
    }

    /// A host has failed: its writes that would arrive after this time had not left it. The lines of those.
    pub fn lose(&mut self, host: HostId, after: u64) -> Vec<Line> {
        let mut lines = Vec::new();
        for id in self.to_device.iter().flatten() {
            let write = &mut self.slots[id.0 as usize];
            if write.host == host && write.arrives > after && write.fate == Fate::Leaves {
                write.fate = Fate::Lost;
                lines.push(write.request.line);
            }
        }
        lines
    }

    /// Whether its host has failed before it left.
    pub fn is_lost(&self, id: WriteId) -> bool {
        self.slots[id.0 as usize].fate == Fate::Lost
    }

    /// The host that has sent a write.
    pub fn host(&self, id: WriteId) -> HostId {
        self.slots[id.0 as usize].host
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
