//! The media behind a controller: banks with open rows, or a write-combining buffer, and bandwidth.

use super::device_cache::{DeviceCache, Found};
use crate::config::MachineConfig;
use strandline_isa::Line;
use strandline_kernel::{Calendar, Cycles};
use strandline_rules::broken;
use strandline_rules::time::Rule;

/// Persistent media: the cost of a read or write of a line, and their concurrency.
pub struct Media {
    banks: Vec<Bank>,
    /// Of each bank; none where reads never wait for a bank, nor it for them.
    reads: Vec<Reads>,
    /// The bandwidth of reads.
    read_port: Calendar,
    /// When the reads in the read queue leave it.
    read_queue: Vec<u64>,
    next_read: usize,
    /// Queued writes that go before later reads, at all banks.
    first: u64,
    /// Open blocks of the write-combining buffer, the latest used first.
    open_blocks: Vec<u64>,
    times: Times,
    row_lines: u64,
    block_lines: u64,
    /// Consecutive lines in a bank, as a power of two: a row or a block.
    unit_bits: u32,
    block_entries: usize,
    /// The DRAM in front of these media, which are flash then.
    cache: Option<Box<DeviceCache>>,
}

/// A bank of these media.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BankId(u32);

impl BankId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Default)]
struct Bank {
    /// The time until which writes keep it busy.
    busy: u64,
    /// The open row, plus one; zero if none.
    row: u64,
    /// Accesses to the open row since it was opened.
    hits: u64,
}

/// The reads of a bank that serves one read or write at a time.
#[derive(Clone, Default)]
struct Reads {
    /// When they keep it busy.
    booked: Calendar,
    /// The time until which they keep it busy.
    until: u64,
    /// Queued writes that go before the reads that arrive from now on, and the time until which earlier reads keep it
    /// busy.
    writes_first: u64,
    earlier: u64,
}

struct Times {
    read: u64,
    read_row_hit: u64,
    write: u64,
    write_row_hit: u64,
    read_line: Cycles,
    write_line: u64,
}

/// A write that the media have accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// When it is on the media.
    pub done: u64,
    /// The time until which the write port is busy.
    pub port: u64,
    /// Bytes that were written to the media for it.
    pub bytes: u64,
    /// The bank that is busy from now on, and until when.
    pub keeps: Option<(BankId, u64)>,
}

impl Media {
    pub fn new(machine: &MachineConfig) -> Media {
        let pm = &machine.pm;
        let page = if machine.cxl.cache_bytes > 0 {
            machine.cxl.cache_page_bytes
        } else {
            0
        };
        let block = pm.combine_bytes.max(page);
        Media {
            banks: vec![Bank::default(); pm.banks as usize],
            reads: vec![Reads::default(); if pm.exclusive_banks { pm.banks as usize } else { 0 }],
            read_port: Calendar::default(),
            read_queue: vec![0; machine.controllers.read_queue_entries as usize],
            next_read: 0,
            first: 0,
            open_blocks: Vec::new(),
            times: Times {
                read: pm.read_latency.0,
                read_row_hit: pm.row_hit_latency.0,
                write: pm.write_latency.0,
                write_row_hit: pm.row_hit_write_latency.0,
                read_line: pm.read_line_cycles(&machine.core),
                write_line: pm.write_line_cycles(&machine.core).0,
            },
            unit_bits: (pm.row_bytes.max(block) / 64).max(1).ilog2(),
            row_lines: pm.row_bytes / 64,
            block_lines: block / 64,
            block_entries: pm.combine_entries as usize,
            cache: DeviceCache::of(machine).map(Box::new),
        }
    }

    /// The bank of a line.
    #[inline]
    pub fn bank_of(&self, line: Line) -> BankId {
        // Higher bits enter the index, as in controllers, so that strides of whole rows spread over
        // the banks.
        let unit = line.0 >> self.unit_bits;
        let folded = unit ^ (unit >> 5) ^ (unit >> 11) ^ (unit >> 17);
        let banks = self.banks.len() as u64;
        let index = if banks.is_power_of_two() {
            folded & (banks - 1)
        } else {
            folded % banks
        };
        BankId(index as u32)
    }

    /// Opens the row of a bank's line; whether it was open.
    #[inline]
    fn open_row(&mut self, bank: BankId, line: Line) -> bool {
        if self.row_lines == 0 {
            return false;
        }
        let row = line.0 / self.row_lines + 1;
        let bank = &mut self.banks[bank.index()];
        let hit = std::mem::replace(&mut bank.row, row) == row;
        bank.hits = if hit { bank.hits + 1 } else { 0 };
        hit
    }

    /// Whether the row of a bank's line is open. After as many hits as it has lines, it counts as closed, so that a write to
    /// another row does not wait endlessly.
    pub fn is_ready(&self, bank: BankId, line: Line) -> bool {
        let bank = &self.banks[bank.index()];
        self.row_lines > 0 && bank.row == line.0 / self.row_lines + 1 && bank.hits < self.row_lines
    }

    /// When a read that arrives at `at` has its data.
    pub fn read(&mut self, line: Line, at: u64) -> u64 {
        let at = at.max(self.read_queue[self.next_read]);
        if self.cache.is_some() {
            return self.read_cache(line, at);
        }
        let bank = self.bank_of(line);
        let row_hit = self.open_row(bank, line);
        let latency = if row_hit {
            self.times.read_row_hit
        } else {
            self.times.read
        };
        let at = if self.is_exclusive() {
            self.take_bank(bank, at, row_hit)
        } else {
            at
        };
        let start = self.read_port.book(Cycles(at), self.times.read_line).0;
        self.leaves_read_queue(start + latency)
    }

    /// The next read leaves the read queue then.
    #[inline]
    fn leaves_read_queue(&mut self, at: u64) -> u64 {
        self.read_queue[self.next_read] = at;
        self.next_read += 1;
        if self.next_read == self.read_queue.len() {
            self.next_read = 0;
        }
        at
    }

    /// The dirty pages that have made room in a device's cache since the last call. They are noted from the first one on.
    pub fn given_up(&mut self) -> Vec<u64> {
        self.cache.as_mut().map_or(Vec::new(), |cache| cache.given_up())
    }

    /// As [`Media::read`], of a device with a cache.
    #[inline(never)]
    fn read_cache(&mut self, line: Line, at: u64) -> u64 {
        let cache = self.cache.as_mut().map(|cache| cache.access(line, at, false));
        self.leaves_read_queue(cache.map_or(at, |found| found.done))
    }

    /// When a bank begins a read that arrives at `at`: behind the write that it is busy with, and those that go first.
    /// The read keeps it busy while it opens the row and transfers the line, not in the controller.
    fn take_bank(&mut self, bank: BankId, at: u64, row_hit: bool) -> u64 {
        let opens = match row_hit {
            true => 0,
            false if self.row_lines > 0 => self.times.read.saturating_sub(self.times.read_row_hit),
            false => self.times.read,
        };
        let takes = opens + self.times.read_line.0;
        let (busy, reads) = (self.banks[bank.index()].busy, &mut self.reads[bank.index()]);
        let from = match reads.writes_first {
            0 => at.max(busy),
            writes => at.max(busy).max(reads.earlier) + writes * self.times.write,
        };
        let start = reads.booked.book(Cycles(from), Cycles(takes)).0;
        reads.until = reads.until.max(start + takes);
        start
    }

    /// When a bank can accept a write: now or later.
    #[inline]
    pub fn free_at(&self, bank: BankId) -> u64 {
        let busy = self.banks[bank.index()].busy;
        match self.reads.get(bank.index()) {
            None => busy,
            Some(reads) if reads.writes_first > 0 => busy.max(reads.earlier),
            Some(reads) => busy.max(reads.until),
        }
    }

    /// Lets a queued write to this bank go before the reads that the bank has not been asked for.
    pub fn put_first(&mut self, bank: BankId) {
        let reads = &mut self.reads[bank.index()];
        if reads.writes_first == 0 {
            reads.earlier = reads.until;
        }
        reads.writes_first += 1;
        self.first += 1;
    }

    /// Whether queued writes go before later reads.
    pub fn has_first(&self) -> bool {
        self.first > 0
    }

    /// Whether a bank serves one read or write at a time.
    pub fn is_exclusive(&self) -> bool {
        !self.reads.is_empty()
    }

    /// Whether a bank is free once the last write that was issued to it is done.
    pub fn only_writes_keep_banks(&self) -> bool {
        !self.is_exclusive() && self.block_lines == 0
    }

    /// Writes a line at `at`; its bank and the port are free.
    #[inline]
    pub fn write(&mut self, bank: BankId, line: Line, at: u64) -> Taken {
        if self.first > 0 {
            self.pass(bank);
        }
        if self.block_lines > 0 {
            return self.combine(line, at);
        }
        let row_hit = self.open_row(bank, line);
        let latency = if row_hit {
            self.times.write_row_hit
        } else {
            self.times.write
        };
        let done = at + latency.max(self.times.write_line);
        self.banks[bank.index()].busy = done;
        let times = 1 + u64::from(broken(Rule::PortBookedOnce));
        Taken {
            done,
            port: at + times * self.times.write_line,
            bytes: 64,
            keeps: Some((bank, done)),
        }
    }

    /// One of the writes that go first, if the bank has any, is on its way.
    fn pass(&mut self, bank: BankId) {
        let reads = &mut self.reads[bank.index()];
        if reads.writes_first > 0 {
            reads.writes_first -= 1;
            self.first -= 1;
        }
    }

    /// Writes a line into the write-combining buffer; a new block may evict an old one to the
    /// media.
    #[inline(never)]
    fn combine(&mut self, line: Line, at: u64) -> Taken {
        if let Some(cache) = &mut self.cache {
            let Found { done, written } = cache.access(line, at, true);
            return Taken {
                done,
                port: at + 1,
                bytes: written,
                keeps: None,
            };
        }
        let block = line.0 / self.block_lines;
        match self.open_blocks.iter().position(|b| *b == block) {
            Some(place) => self.open_blocks[..=place].rotate_right(1),
            None => self.open_blocks.insert(0, block),
        }
        if self.open_blocks.len() <= self.block_entries {
            return Taken {
                done: at + 1,
                port: at + 1,
                bytes: 0,
                keeps: None,
            };
        }
        let out = Line(self.open_blocks.pop().unwrap_or(block) * self.block_lines);
        let port = at + self.times.write_line * self.block_lines;
        let bank = self.bank_of(out);
        let busy = &mut self.banks[bank.index()].busy;
        let start = at.max(*busy);
        *busy = start + self.times.write.max(port - at);
        let keeps = Some((bank, *busy));
        Taken {
            done: start + 1,
            port: port.max(start + 1),
            bytes: 64 * self.block_lines,
            keeps,
        }
    }
}
