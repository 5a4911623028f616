//! `tatp`: the update-location transaction of the Telecom Application Transaction Processing benchmark.
//!
//! COSPlay (MICRO 2021), section 5, Table 3 "TATP", after Kolli et al. (ASPLOS 2016). There are 100,000 subscribers of
//! about 100 bytes (two lines), with a lock for each. A task draws a subscriber as TATP does (the bitwise or of two
//! draws, so some are more frequent), locks the row and writes a new location. It flushes one log record and one line
//! of the row, with two fences.
//!
//! Simplified: only the subscriber table and this transaction; the subscriber's number is its row, so there is no index
//! lookup; locks are in DRAM, packed.

use crate::filler::{fill, filler, halves, pair};
use crate::papers::COSPLAY;
use crate::params::param;
use crate::About;
use std::ops::Range;
use strandline_isa::{Cpu, Image, Memory};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{log_records, place, BuildPlan, Heap, Locks, LogLayout, Step, Table, ThreadState, Workload};

/// The workload's description.
pub const ABOUT: About = About {
    name: "tatp",
    line: "updates the location of random subscribers",
    paper: "COSPlay (MICRO 2021), Table 3, TATP",
    tasks: 100_000,
    params: PARAMS,
    small: &[("rows", "8"), ("log_records", "3")],
    ..COSPLAY
};

const PARAMS: &[Param] = &[param("rows", 100_000, 1..=1_000_000, "subscribers"), log_records(2)];

/// TATP's constant A for up to a million subscribers.
const SPREAD: u64 = 65_536;

/// Words before the locations: id, 15-digit number, ten bits, ten hexadecimal digits and ten bytes in two bytes each.
const FIXED_WORDS: u64 = 11;

/// Payload byte of the two locations (mobile switching centre; visitor location register), 4 bytes each.
const LOCATIONS: u64 = 8 * FIXED_WORDS;

const SUBSCRIBER_BYTES: u64 = LOCATIONS + 8;

/// A table of subscribers.
pub struct Tatp {
    subscribers: Table<SUBSCRIBER_BYTES>,
    locks: Locks,
    logs: LogLayout,
    seed: u64,
}

impl Tatp {
    fn centre(&self, row: u64) -> u64 {
        filler(self.seed, row, FIXED_WORDS) >> 32
    }
}

impl Workload for Tatp {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let rows = params.get("rows");
        let mut heap = Heap::new(plan);
        let tatp = Tatp {
            subscribers: heap.table(rows),
            locks: Locks::allocate(&mut heap, rows),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), params.get("log_records")),
            seed: plan.seed,
        };
        Ok((tatp, heap))
    }

    fn fill(&self, memory: &Memory, seed: u64) {
        fill(memory, &self.subscribers, seed, 0, FIXED_WORDS);
        for row in 0..self.subscribers.rows() {
            memory.write(self.subscribers.field(row, LOCATIONS), 8, pair(self.centre(row), 1));
        }
    }

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let rows = self.subscribers.rows();
        let index = (thread.random.below(SPREAD) | thread.random.below(rows)).remainder(rows);
        let location = thread.random.below(u64::from(u32::MAX)) + 1;
        let guard = self.locks.at(index);
        thread.log.lock(guard);

        let (line, from) = (place(LOCATIONS) / 64 * 64, place(LOCATIONS) % 64);
        let line = self.subscribers.row(index).at(line);
        let mut region = thread.log.begin();
        region.log(line, from, 8);
        region.order(Step::Last);
        region.update(line.at(from + 4), location, 4);
        region.finish();

        thread.log.unlock(guard);
    }

    /// Every subscriber has a visitor location; all other columns have their initial contents.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        for row in 0..self.subscribers.rows() {
            let (centre, visitor) = halves(image, self.subscribers.field(row, LOCATIONS));
            if visitor == 0 {
                return Err(format!("subscriber {row} has no location"));
            }
            let fixed = |word| image.word(self.subscribers.field(row, 8 * word)) == filler(self.seed, row, word);
            if centre != self.centre(row) || !(0..FIXED_WORDS).all(fixed) {
                return Err(format!("subscriber {row} has changed in a column that no task writes"));
            }
        }
        Ok(())
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        let locks = self.locks.range(self.subscribers.rows());
        vec![self.subscribers.range(), locks, self.logs.lists(), self.logs.range()]
    }
}
