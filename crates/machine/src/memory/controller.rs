//! A persistent-memory controller: its write queue and what it sends to the media when.

use super::media::Media;
use crate::config::Machine;
use std::collections::VecDeque;
use strandline_design::WriteId;
use strandline_isa::{CoreId, Line};

/// A controller.
pub struct Controller {
    /// Accepted writes, oldest first.
    queue: VecDeque<Queued>,
    /// Writes that have arrived and found no room.
    waiting: VecDeque<(WriteId, Line)>,
    capacity: usize,
    unissued: usize,
    /// So many writes in the queue are behind another to their line.
    behind: usize,
    /// So many of the oldest writes in the queue have all been issued.
    issued_first: usize,
    accepted: u64,
    /// Until when the write port is busy.
    port: u64,
    commits: Vec<Commit>,
    /// For when a look at the queue is ordered; never if for no time. Looks ordered for other times are void.
    pub look_at: u64,
    /// The media.
    pub media: Media,
}

#[derive(Clone, Copy)]
struct Queued {
    write: WriteId,
    line: Line,
    number: u64,
    issued: bool,
    /// An older write to the line is in the queue.
    behind: bool,
}

struct Commit {
    core: CoreId,
    tag: u64,
    /// Writes accepted before it, and how many of them are not on the media.
    before: u64,
    left: usize,
}

/// A write that a controller has sent to the media.
pub struct Issued {
    /// Which.
    pub write: WriteId,
    /// When it is on the media.
    pub done: u64,
    /// Bytes written to the media for it.
    pub bytes: u64,
}

/// What became of a write that arrived.
#[derive(Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It is in the write queue.
    Accepted,
    /// A queued write to the line, not yet issued, takes its bytes over.
    Coalesces(WriteId),
    /// The queue is full; it waits.
    Full,
}

impl Controller {
    pub fn new(machine: &Machine) -> Controller {
        Controller {
            queue: VecDeque::new(),
            waiting: VecDeque::new(),
            capacity: machine.controllers.wpq_entries as usize,
            unissued: 0,
            behind: 0,
            issued_first: 0,
            accepted: 0,
            port: 0,
            commits: Vec::new(),
            look_at: u64::MAX,
            media: Media::new(machine),
        }
    }

    /// A write has arrived, in its line's order. `may_coalesce` says whether it may take over a queued write to its line.
    pub fn arrive(&mut self, write: WriteId, line: Line, may_coalesce: impl Fn(WriteId) -> bool) -> Arrival {
        if self.waiting.iter().any(|w| w.1 == line) {
            self.waiting.push_back((write, line));
            return Arrival::Full;
        }
        self.offer(write, line, may_coalesce)
    }

    /// A write that has arrived just now, or has waited for room long enough, is offered to the queue.
    pub fn offer(&mut self, write: WriteId, line: Line, may_coalesce: impl Fn(WriteId) -> bool) -> Arrival {
        let older = self.queue.iter().rev().find(|q| q.line == line);
        if let Some(queued) = older {
            if !queued.issued && may_coalesce(queued.write) {
                return Arrival::Coalesces(queued.write);
            }
        }
        let behind = older.is_some();
        if self.queue.len() >= self.capacity {
            self.waiting.push_back((write, line));
            return Arrival::Full;
        }
        self.queue.push_back(Queued {
            write,
            line,
            number: self.accepted,
            issued: false,
            behind,
        });
        self.accepted += 1;
        self.unissued += 1;
        self.behind += usize::from(behind);
        Arrival::Accepted
    }

    /// The next write that found no room, if there is room now; it must be offered again.
    pub fn next_waiting(&mut self) -> Option<WriteId> {
        if self.queue.len() >= self.capacity {
            return None;
        }
        self.waiting.pop_front().map(|w| w.0)
    }

    /// Sends the oldest write that can go to the media at `now`, or says when to look again.
    pub fn issue(&mut self, now: u64, may_issue: impl Fn(WriteId) -> bool) -> Result<Issued, u64> {
        if self.unissued == 0 {
            return Err(u64::MAX);
        }
        if self.port > now {
            return Err(self.port);
        }
        let mut again = u64::MAX;
        let mut chosen = None;
        for (index, queued) in self.queue.iter().enumerate().skip(self.issued_first) {
            if queued.issued || queued.behind || !may_issue(queued.write) {
                continue;
            }
            let free = self.media.free_at(queued.line);
            if free <= now {
                chosen = Some(index);
                break;
            }
            again = again.min(free);
        }
        let Some(index) = chosen else { return Err(again) };
        let queued = &mut self.queue[index];
        queued.issued = true;
        self.unissued -= 1;
        let (write, line) = (queued.write, queued.line);
        while self.queue.get(self.issued_first).is_some_and(|q| q.issued) {
            self.issued_first += 1;
        }
        let taken = self.media.write(line, now);
        self.port = taken.port;
        Ok(Issued {
            write,
            done: taken.done,
            bytes: taken.bytes,
        })
    }

    /// The write is on the media; commits that it completes are taken out with [`Controller::take_commits`].
    pub fn complete(&mut self, write: WriteId) {
        let Some(index) = self.queue.iter().position(|q| q.write == write) else {
            return;
        };
        let Some(Queued { number, line, .. }) = self.queue.remove(index) else {
            return;
        };
        self.issued_first -= usize::from(index < self.issued_first);
        if self.behind > 0 {
            if let Some(next) = self.queue.iter_mut().skip(index).find(|q| q.line == line) {
                next.behind = false;
                self.behind -= 1;
            }
        }
        for commit in &mut self.commits {
            if number < commit.before {
                commit.left -= 1;
            }
        }
    }

    /// A core asks to be told when every write accepted by now is on the media.
    pub fn commit(&mut self, core: CoreId, tag: u64) {
        self.commits.push(Commit {
            core,
            tag,
            before: self.accepted,
            left: self.queue.len(),
        });
    }

    /// Takes the commits that wait for nothing any more.
    pub fn take_commits(&mut self) -> Vec<(CoreId, u64)> {
        let mut done = Vec::new();
        self.commits.retain(|c| {
            if c.left == 0 {
                done.push((c.core, c.tag));
            }
            c.left > 0
        });
        done
    }
}
