//! Writes on their way to persistent memory.

use std::collections::BTreeMap;
use strandline_design::{WriteId, WriteRequest};
use strandline_isa::{CoreId, Line, LineData};

/// Who waits for a write's acceptance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A flush in a core's write-back buffer, by its number there.
    Buffer { core: CoreId, slot: u64 },
    /// A flush or write that the design sent, with the design's tag.
    Design { core: CoreId, tag: u64 },
}

/// A write from its look-up until it has reached the media.
#[derive(Clone, Debug)]
pub struct Write {
    /// What controllers and designs see of it.
    pub request: WriteRequest,
    /// Who waits for its acceptance: the flush itself, and flushes that found the line clean behind it.
    pub origins: Vec<Origin>,
}

/// The writes in flight, and the order of those to one line.
#[derive(Default)]
pub struct Writes {
    slots: Vec<Option<Write>>,
    free: Vec<u32>,
    /// Lines with writes that no controller has accepted: how many, the latest, and when it arrives.
    unaccepted: BTreeMap<Line, Tail>,
}

#[derive(Clone, Copy)]
struct Tail {
    count: u32,
    last: WriteId,
    arrives: u64,
}

impl Writes {
    /// Adds a write that would arrive at its controller at `arrives`; its number, and when it does arrive: after
    /// every older write to the line.
    pub fn add(&mut self, line: Line, data: LineData, core: Option<CoreId>, tag: u64, arrives: u64) -> (WriteId, u64) {
        let write = Write {
            request: WriteRequest { line, data, core, tag },
            origins: Vec::new(),
        };
        let id = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Some(write);
                WriteId(slot)
            }
            None => {
                self.slots.push(Some(write));
                WriteId(self.slots.len() as u32 - 1)
            }
        };
        let tail = self.unaccepted.entry(line).or_insert(Tail { count: 0, last: id, arrives: 0 });
        tail.count += 1;
        tail.last = id;
        tail.arrives = arrives.max(tail.arrives + 1);
        (id, tail.arrives)
    }

    /// The latest write to the line that no controller has accepted yet.
    pub fn unaccepted(&self, line: Line) -> Option<WriteId> {
        self.unaccepted.get(&line).map(|t| t.last)
    }

    /// A controller has accepted the write: those who waited for it.
    pub fn accept(&mut self, id: WriteId) -> Vec<Origin> {
        let line = self.get(id).request.line;
        if let Some(tail) = self.unaccepted.get_mut(&line) {
            tail.count -= 1;
            if tail.count == 0 {
                self.unaccepted.remove(&line);
            }
        }
        std::mem::take(&mut self.get_mut(id).origins)
    }

    /// The write.
    pub fn get(&self, id: WriteId) -> &Write {
        self.slots[id.0 as usize].as_ref().expect("a write in flight")
    }

    /// The write.
    pub fn get_mut(&mut self, id: WriteId) -> &mut Write {
        self.slots[id.0 as usize].as_mut().expect("a write in flight")
    }

    /// The write is done: it has reached the media, or a queued write has taken its bytes over.
    pub fn remove(&mut self, id: WriteId) -> Write {
        self.free.push(id.0);
        self.slots[id.0 as usize].take().expect("a write in flight")
    }
}
