//! A persistent-memory controller: its write queue, and when it issues writes to the media.

use super::media::{BankId, Media};
use crate::config::{MachineConfig, PcommitWait, WpqLeave};
use crate::line_counts::LineCounts;
use std::collections::VecDeque;
use strandline_design::{Key, WriteId};
use strandline_isa::{CoreId, Line};
use strandline_rules::{broken, Rule};

/// A controller.
pub struct Controller {
    /// Accepted writes that are not on the media, oldest first.
    accepted: Vec<Accepted>,
    /// Their lines.
    lines: LineCounts<1024>,
    /// The index of the oldest of them that has not been issued to the media.
    oldest: usize,
    /// How many of them have been issued.
    issued: usize,
    /// When they leave the queue.
    leaves: WpqLeave,
    /// What the last look found out about the oldest writes.
    wait: Wait,
    /// How many were accepted so far.
    count: u64,
    /// Writes that have arrived and found no room.
    waiting: VecDeque<WaitsForRoom>,
    /// Their lines.
    waiting_lines: LineCounts<1024>,
    capacity: usize,
    /// The numbers of queued writes at which they begin and cease to go before reads.
    drain: [usize; 2],
    row_hits_first: bool,
    /// The time until which the write port is busy.
    port: u64,
    commits: Vec<Commit>,
    pcommit: PcommitWait,
    /// The time for which a look at the queue is scheduled; never if for none. Looks scheduled for
    /// other times are void.
    pub look_at: u64,
    /// The media.
    pub media: Media,
}

/// An accepted write: queued, or in progress at the media.
#[derive(Clone, Copy)]
struct Accepted {
    write: WriteId,
    bank: BankId,
    line: Line,
    number: u64,
    is_issued: bool,
}

/// The queued writes before an index, and when the first of their banks is free: all wait until then.
#[derive(Clone, Copy)]
struct Wait {
    before: usize,
    until: u64,
}

impl Wait {
    const NONE: Wait = Wait {
        before: 0,
        until: u64::MAX,
    };
}

/// A write that found no room.
struct WaitsForRoom {
    write: WriteId,
    line: Line,
    /// The design has held it before.
    again: bool,
}

struct Commit {
    core: CoreId,
    tag: Key,
    /// Writes accepted before it, and how many of them are not on the media.
    before: u64,
    left: usize,
}

/// A write that a controller has issued to the media.
pub struct Issued {
    /// The write.
    pub write: WriteId,
    /// When it is on the media.
    pub done: u64,
    /// Bytes written to the media for it.
    pub bytes: u32,
    /// Its bank.
    pub bank: BankId,
    /// When its bank was free.
    pub bank_free: u64,
    /// When the write port was free.
    pub port_free: u64,
    /// The bank that is busy from now on, and until when.
    pub keeps: Option<(BankId, u64)>,
}

impl Controller {
    pub fn new(machine: &MachineConfig) -> Controller {
        let capacity = machine.controllers.wpq_entries as usize;
        let high = match machine.controllers.drain_high as usize {
            0 => capacity,
            high => high.min(capacity),
        };
        Controller {
            accepted: Vec::new(),
            lines: LineCounts::new(),
            oldest: 0,
            issued: 0,
            leaves: machine.controllers.wpq_leaves,
            wait: Wait::NONE,
            count: 0,
            waiting: VecDeque::new(),
            waiting_lines: LineCounts::new(),
            capacity,
            drain: [high, (machine.controllers.drain_low as usize).min(high - 1)],
            row_hits_first: machine.controllers.row_hits_first,
            port: 0,
            commits: Vec::new(),
            pcommit: machine.controllers.pcommit,
            look_at: u64::MAX,
            media: Media::new(machine),
        }
    }

    /// Whether a write that has arrived can be decided now: there is room for it and, unless it was
    /// decided about before (`again`), no older write to its line waits. Otherwise it waits: one
    /// that the design held goes before all that have not been decided about, some of which are
    /// younger writes to its line. `may_coalesce`: whether it may coalesce with a queued write to its
    /// line.
    pub fn admits(&mut self, write: WriteId, line: Line, again: bool, may_coalesce: impl Fn(WriteId) -> bool) -> bool {
        let may_be_behind = !again && self.waiting_lines.most(line) > 0;
        let behind = may_be_behind && self.waiting.iter().any(|w| w.line == line);
        if !behind && !self.is_shut() && (!self.is_full() || self.joins(line, may_coalesce).is_some()) {
            return true;
        }
        let first_new = || self.waiting.iter().take_while(|w| w.again).count();
        let place = match again {
            true => first_new(),
            false => self.waiting.len(),
        };
        self.waiting.insert(place, WaitsForRoom { write, line, again });
        self.waiting_lines.add(line);
        false
    }

    /// The writes in the queue, oldest first.
    fn queue(&self) -> impl DoubleEndedIterator<Item = &Accepted> {
        self.accepted[self.oldest..].iter().filter(|write| !write.is_issued)
    }

    /// The queued write to the same line with which a write coalesces.
    #[inline]
    fn joins(&self, line: Line, may_coalesce: impl Fn(WriteId) -> bool) -> Option<WriteId> {
        if self.lines.most(line) == 0 {
            return None;
        }
        let newest = self.queue().rev().find(|queued| queued.line == line);
        if let Some(queued) = newest.filter(|queued| may_coalesce(queued.write) && !broken(Rule::MediaOrderOfALine)) {
            return Some(queued.write);
        }
        if broken(Rule::CoalescingBeforeIssue) {
            let issued = self.accepted.iter().find(|write| write.is_issued && write.line == line);
            return issued.map(|issued| issued.write);
        }
        None
    }

    /// Accepts a write that it has room for. Returns the queued write with which it coalesces, if
    /// any.
    #[inline(always)]
    pub fn take(&mut self, write: WriteId, line: Line, may_coalesce: impl Fn(WriteId) -> bool) -> Option<WriteId> {
        let joined = self.joins(line, may_coalesce);
        if joined.is_none() {
            self.accepted.push(Accepted {
                write,
                bank: self.media.bank_of(line),
                line,
                number: self.count,
                is_issued: false,
            });
            self.lines.add(line);
            self.count += 1;
            if self.media.is_exclusive() {
                self.begin_drain();
            }
        }
        joined
    }

    /// Reads go before writes, until the number of queued writes is at the high mark. Then the oldest of them go before the reads that arrive
    /// from now on, so that none waits endlessly.
    fn begin_drain(&mut self) {
        let [high, low] = self.drain;
        if self.held() < high || self.media.has_first() {
            return;
        }
        let first = self.queue().count().saturating_sub(low);
        for queued in self.accepted.iter().filter(|write| !write.is_issued).take(first) {
            self.media.put_first(queued.bank);
        }
    }

    /// Whether an accepted write to the line is not on the media yet.
    pub fn holds(&self, line: Line) -> bool {
        self.accepted.iter().any(|write| write.line == line)
    }

    /// Whether a look at the queue at `now` may find something to do, other than to wait for the look that is scheduled.
    #[inline(always)]
    pub fn wants_look(&self, now: u64) -> bool {
        self.has_queued() && (self.port <= now || self.port < self.look_at)
    }

    /// Whether writes wait for the media.
    #[inline]
    pub fn has_queued(&self) -> bool {
        self.oldest < self.accepted.len()
    }

    /// Whether the media are busy with the write.
    pub fn has_issued(&self, write: WriteId) -> bool {
        self.accepted.iter().any(|a| a.write == write && a.is_issued)
    }

    /// The entries in use.
    #[inline]
    fn held(&self) -> usize {
        match self.leaves {
            WpqLeave::Written => self.accepted.len(),
            WpqLeave::Issued => self.accepted.len() - self.issued,
        }
    }

    /// Whether an issue makes room in the queue.
    #[inline]
    pub fn frees_at_issue(&self) -> bool {
        self.leaves == WpqLeave::Issued
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.held() >= self.capacity
    }

    /// Whether a commit keeps it from accepting writes.
    #[inline]
    fn is_shut(&self) -> bool {
        self.pcommit == PcommitWait::Alone && self.has_commits()
    }

    /// The next write that found no room, if there is room now; it must be offered again.
    #[inline]
    pub fn next_waiting(&mut self) -> Option<WriteId> {
        if self.waiting.is_empty() || self.is_full() || self.is_shut() {
            return None;
        }
        let next = match broken(Rule::WaitingWritesInOrder) {
            true => self.waiting.pop_back()?,
            false => self.waiting.pop_front()?,
        };
        self.waiting_lines.remove(next.line);
        Some(next.write)
    }

    /// Issues the oldest write that the media can accept at `now`, or where row hits go first, the oldest of these.
    /// Returns when to look again if there is none.
    #[inline(always)]
    pub fn issue(&mut self, now: u64, may_issue: impl Fn(WriteId) -> bool) -> Result<Issued, u64> {
        if self.port > now {
            return Err(if self.has_queued() { self.port } else { u64::MAX });
        }
        let newest_first = broken(Rule::MediaOrderOfALine);
        let (mut chosen, mut again) = (None, u64::MAX);
        let mut from = self.oldest;
        if self.wait.before > from && now < self.wait.until {
            (from, again) = (self.wait.before, self.wait.until);
        }
        let mut wait_for_banks = !newest_first && !self.row_hits_first && self.media.only_writes_keep_banks();
        for index in from..self.accepted.len() {
            let index = match newest_first {
                true => self.oldest + self.accepted.len() - 1 - index,
                false => index,
            };
            let queued = &self.accepted[index];
            if queued.is_issued {
                continue;
            }
            let free = self.media.free_at(queued.bank);
            if free > now {
                again = again.min(free);
            } else if may_issue(queued.write) && (newest_first || !self.is_behind_its_line(index)) {
                if !self.row_hits_first || self.media.is_ready(queued.bank, queued.line) {
                    chosen = Some(index);
                    break;
                }
                chosen = chosen.or(Some(index));
            } else {
                wait_for_banks = false;
            }
        }
        self.wait = match wait_for_banks {
            true => Wait {
                before: chosen.unwrap_or(self.accepted.len()),
                until: again,
            },
            false => Wait::NONE,
        };
        chosen.map(|index| self.send(index, now)).ok_or(again)
    }

    /// Whether an older write to the same line is not on the media yet.
    #[inline]
    fn is_behind_its_line(&self, index: usize) -> bool {
        let line = self.accepted[index].line;
        self.lines.most(line) > 1 && self.accepted[..index].iter().any(|older| older.line == line)
    }

    #[inline(always)]
    fn send(&mut self, index: usize, now: u64) -> Issued {
        self.accepted[index].is_issued = true;
        self.issued += 1;
        while self.accepted.get(self.oldest).is_some_and(|write| write.is_issued) {
            self.oldest += 1;
        }
        let Accepted { write, bank, line, .. } = self.accepted[index];
        let bank_free = self.media.free_at(bank);
        let taken = self.media.write(bank, line, now);
        let port_free = std::mem::replace(&mut self.port, taken.port);
        Issued {
            write,
            done: taken.done,
            bytes: taken.bytes as u32,
            bank,
            bank_free,
            port_free,
            keeps: taken.keeps,
        }
    }

    /// Completes a write at the media; [`Controller::next_answered`] returns the commits that it
    /// completes.
    #[inline]
    pub fn complete(&mut self, write: WriteId) {
        let Some(index) = self.accepted.iter().position(|a| a.write == write) else {
            return;
        };
        let removed = self.accepted.remove(index);
        self.issued -= usize::from(removed.is_issued);
        let Accepted { number, line, .. } = removed;
        self.lines.remove(line);
        self.oldest -= usize::from(index < self.oldest);
        self.wait.before -= usize::from(index < self.wait.before);
        for commit in &mut self.commits {
            if number < commit.before {
                commit.left -= 1;
            }
        }
    }

    /// A core requests a reply when every write accepted by now is on the media, or as [`PcommitWait`] says.
    pub fn commit(&mut self, core: CoreId, tag: Key) {
        let awaits_turn = self.pcommit == PcommitWait::Serial && self.has_commits();
        // No write is its own before its turn.
        let (before, left) = if awaits_turn {
            (0, usize::MAX)
        } else {
            self.writes_so_far()
        };
        self.commits.push(Commit {
            core,
            tag,
            before,
            left,
        });
    }

    /// The number of the next write, and how many before it are not on the media.
    fn writes_so_far(&self) -> (u64, usize) {
        (self.count, self.accepted.len())
    }

    /// Whether commits wait for writes.
    #[inline]
    pub fn has_commits(&self) -> bool {
        !self.commits.is_empty()
    }

    /// Takes the oldest commit that no longer waits.
    pub fn next_answered(&mut self) -> Option<(CoreId, Key)> {
        let early = broken(Rule::CommitAwaitsMedia) && !self.has_queued();
        let waits = self.pcommit == PcommitWait::Empty && !self.accepted.is_empty();
        let index = self.commits.iter().position(|c| !waits && c.left == 0 || early)?;
        let commit = self.commits.remove(index);
        let so_far = self.writes_so_far();
        if let (PcommitWait::Serial, Some(next)) = (self.pcommit, self.commits.first_mut()) {
            (next.before, next.left) = so_far;
        }
        Some((commit.core, commit.tag))
    }
}

#[cfg(test)]
mod tests;
