//! `pc`, the persistent cache: changes values in a hash table.
//!
//! COSPlay (MICRO 2021), section 5, Table 3 "PC", after Kolli et al. (ASPLOS 2016). The table has 100,000 rows of two
//! 4-byte values. Each row has its own line and a lock. A task hashes a random key, locks the row and writes both
//! values in one failure-atomic region. It flushes one log record and one row, with two fences.
//!
//! Simplified: no chains (a key has only one possible row) and no insertions; locks are in DRAM, packed. The second
//! value is a function of the first and of the row, so that a torn update is visible.

use crate::filler::{halves, pair};
use crate::papers::COSPLAY;
use crate::params::param;
use crate::About;
use std::ops::Range;
use strandline_isa::{Cpu, Image, Memory};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{log_records, BuildPlan, Heap, Locks, LogLayout, Step, Table, ThreadState, Workload};

/// The workload's description.
pub const ABOUT: About = About {
    name: "pc",
    line: "changes both values of random rows of a hash table",
    paper: "COSPlay (MICRO 2021), Table 3, PC",
    tasks: 100_000,
    params: PARAMS,
    small: &[("rows", "8"), ("log_records", "3")],
    ..COSPLAY
};

const PARAMS: &[Param] = &[param("rows", 100_000, 1..=1 << 26, "rows of the table"), log_records(2)];

/// Derives the second value from the first and from the row.
const TIE: u64 = 0x9e37_79b1;

/// A table of pairs of values.
pub struct Pc {
    table: Table<8>,
    locks: Locks,
    logs: LogLayout,
}

fn second(first: u64, row: u64) -> u64 {
    (first ^ row).wrapping_mul(TIE) & 0xffff_ffff
}

impl Workload for Pc {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let rows = params.get("rows");
        let mut heap = Heap::new(plan);
        let pc = Pc {
            table: heap.table(rows),
            locks: Locks::allocate(&mut heap, rows),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), params.get("log_records")),
        };
        Ok((pc, heap))
    }

    fn fill(&self, memory: &Memory, _seed: u64) {
        for row in 0..self.table.rows() {
            memory.write(self.table.addr(row), 8, pair(0, second(0, row)));
        }
    }

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let key = thread.random.number();
        let first = thread.random.number();
        let index = key.remainder(self.table.rows());
        let second = (first ^ index) * TIE;
        let guard = self.locks.at(index);
        thread.log.lock(guard);

        let row = self.table.row(index);
        let mut region = thread.log.begin();
        region.log(row, 0, 8);
        region.order(Step::Last);
        region.update(row, first, 4);
        region.update(row.at(4), second, 4);
        region.finish();

        thread.log.unlock(guard);
    }

    /// The second value of each row matches the first.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        for row in 0..self.table.rows() {
            let (one, two) = halves(image, self.table.addr(row));
            if two != second(one, row) {
                return Err(format!(
                    "row {row} holds {one:#x} and {two:#x}, which were never written together"
                ));
            }
        }
        Ok(())
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        vec![
            self.table.range(),
            self.locks.range(self.table.rows()),
            self.logs.lists(),
            self.logs.range(),
        ]
    }
}
