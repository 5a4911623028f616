//! The media behind a controller: banks with open rows, or a write-combining buffer, and bandwidth.

use crate::config::Machine;
use strandline_isa::Line;
use strandline_kernel::{Calendar, Cycles};

/// Persistent media: the cost of a read or write of a line, and their concurrency.
pub struct Media {
    banks: Vec<Bank>,
    /// The bandwidth of reads.
    read_port: Calendar,
    /// When the reads in the read queue leave it.
    read_queue: Vec<u64>,
    next_read: usize,
    /// Open blocks of the write-combining buffer, the latest used first.
    open_blocks: Vec<u64>,
    times: Times,
    row_lines: u64,
    block_lines: u64,
    /// Consecutive lines in a bank, as a power of two: a row or a block.
    unit_bits: u32,
    block_entries: usize,
}

#[derive(Clone, Copy, Default)]
struct Bank {
    /// The time until which writes keep it busy.
    busy: u64,
    /// The open row, plus one; zero if none.
    row: u64,
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
}

impl Media {
    pub fn new(machine: &Machine) -> Media {
        let pm = &machine.pm;
        Media {
            banks: vec![Bank::default(); pm.banks as usize],
            read_port: Calendar::default(),
            read_queue: vec![0; machine.controllers.read_queue_entries as usize],
            next_read: 0,
            open_blocks: Vec::new(),
            times: Times {
                read: pm.read_latency.0,
                read_row_hit: pm.row_hit_latency.0,
                write: pm.write_latency.0,
                write_row_hit: pm.row_hit_write_latency.0,
                read_line: pm.read_line_cycles(&machine.core),
                write_line: pm.write_line_cycles(&machine.core).0,
            },
            unit_bits: (pm.row_bytes.max(pm.combine_bytes) / 64).max(1).ilog2(),
            row_lines: pm.row_bytes / 64,
            block_lines: pm.combine_bytes / 64,
            block_entries: pm.combine_entries as usize,
        }
    }

    fn bank_of(&self, line: Line) -> usize {
        // Higher bits enter the index, as in controllers, so that strides of whole rows spread over
        // the banks.
        let unit = line.0 >> self.unit_bits;
        let folded = unit ^ (unit >> 5) ^ (unit >> 11) ^ (unit >> 17);
        (folded % self.banks.len() as u64) as usize
    }

    /// Opens the line's row; whether it was open.
    fn open_row(&mut self, line: Line) -> bool {
        if self.row_lines == 0 {
            return false;
        }
        let row = line.0 / self.row_lines + 1;
        let bank = self.bank_of(line);
        std::mem::replace(&mut self.banks[bank].row, row) == row
    }

    /// When a read that arrives at `at` has its data.
    pub fn read(&mut self, line: Line, at: u64) -> u64 {
        let at = at.max(self.read_queue[self.next_read]);
        let latency = if self.open_row(line) {
            self.times.read_row_hit
        } else {
            self.times.read
        };
        let start = self.read_port.book(Cycles(at), self.times.read_line).0;
        self.read_queue[self.next_read] = start + latency;
        self.next_read = (self.next_read + 1) % self.read_queue.len();
        start + latency
    }

    /// When the bank of the line can accept a write: now or later.
    pub fn free_at(&self, line: Line) -> u64 {
        self.banks[self.bank_of(line)].busy
    }

    /// Writes a line at `at`; its bank and the port are free.
    pub fn write(&mut self, line: Line, at: u64) -> Taken {
        if self.block_lines > 0 {
            return self.combine(line, at);
        }
        let row_hit = self.open_row(line);
        let latency = if row_hit {
            self.times.write_row_hit
        } else {
            self.times.write
        };
        let done = at + latency.max(self.times.write_line);
        let bank = self.bank_of(line);
        self.banks[bank].busy = done;
        Taken {
            done,
            port: at + self.times.write_line,
            bytes: 64,
        }
    }

    /// Writes a line into the write-combining buffer; a new block may evict an old one to the
    /// media.
    fn combine(&mut self, line: Line, at: u64) -> Taken {
        let block = line.0 / self.block_lines;
        if let Some(place) = self.open_blocks.iter().position(|b| *b == block) {
            self.open_blocks[..=place].rotate_right(1);
            return Taken {
                done: at + 1,
                port: at + 1,
                bytes: 0,
            };
        }
        self.open_blocks.insert(0, block);
        if self.open_blocks.len() <= self.block_entries {
            return Taken {
                done: at + 1,
                port: at + 1,
                bytes: 0,
            };
        }
        let out = Line(self.open_blocks.pop().unwrap_or(block) * self.block_lines);
        let port = at + self.times.write_line * self.block_lines;
        let bank = self.bank_of(out);
        let start = self.banks[bank].busy.max(at);
        self.banks[bank].busy = start + self.times.write.max(port - at);
        Taken {
            done: start + 1,
            port: port.max(start + 1),
            bytes: 64 * self.block_lines,
        }
    }
}
