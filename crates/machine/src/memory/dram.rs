//! Volatile memory.

use crate::config;
use strandline_kernel::{Calendar, Cycles};

/// DRAM behind a channel of limited bandwidth.
pub struct Dram {
    channel: Calendar,
    latency: u64,
    line: Cycles,
}

impl Dram {
    pub fn new(dram: &config::Dram, core: &config::Core) -> Dram {
        Dram {
            channel: Calendar::default(),
            latency: dram.read_latency.0,
            line: dram.line_cycles(core),
        }
    }

    /// When a read that arrives at `at` has its data.
    pub fn read(&mut self, at: u64) -> u64 {
        self.channel.book(Cycles(at), self.line).0 + self.latency
    }

    /// A write-back occupies the channel; nothing waits for it.
    pub fn write(&mut self, at: u64) {
        self.channel.book(Cycles(at), self.line);
    }
}
