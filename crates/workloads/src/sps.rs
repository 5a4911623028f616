//! `sps`, also `array-swap`: swaps of random elements of an array.
//!
//! COSPlay (MICRO 2021), section 5, Table 3 "SPS", after Kolli et al. (ASPLOS 2016). The array has 100,000 elements of
//! 8 bytes. Each has its own line, as separate allocations have, and a lock. A task locks two elements in index order
//! and swaps them in one failure-atomic region. It flushes two log records and two elements, with two fences.
//!
//! With `operations`, a region has several swaps, a step each, and holds all their locks (StrandWeaver, ISCA 2020,
//! Figure 10, "array-swap").
//!
//! Simplified: the two elements always differ (the second of two equal draws is incremented by one); locks are in DRAM,
//! packed; there is no task queue and no allocator.

use crate::operations::{ring, Held, Lists, OPERATIONS};
use crate::papers::COSPLAY;
use crate::params::param;
use crate::{About, Alias};
use std::ops::Range;
use strandline_isa::{sites, Cpu, Image, Memory, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{
    log_records, BuildPlan, Demand, Heap, Locks, LogLayout, Random, Region, Step, Table, ThreadState, Workload,
};

sites! {
    SAME_ELEMENT = 0x4457_a5b1;
    IS_PAST_LAST = 0x1962_0a56;
    FIRST_IS_LOWER = 0xfdd9_5ce1;
    MORE_TO_DRAW = 0x56cf_3fbe;
    MORE_TO_SWAP = 0x6351_7c1c;
}

/// An array of elements; element i initially holds i.
pub struct Sps {
    elements: Table<8>,
    locks: Locks,
    operations: u64,
    /// The state of a task of several swaps: its locks, then the addresses of the elements, in pairs.
    lists: Lists,
    logs: LogLayout,
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "sps",
    aliases: &[Alias {
        name: "array-swap",
        set: &[],
    }],
    line: "swaps random elements of an array",
    paper: "COSPlay (MICRO 2021), Table 3, SPS",
    tasks: 100_000,
    params: PARAMS,
    small: &[("rows", "16"), ("log_records", "6")],
    ..COSPLAY
};

const PARAMS: &[Param] = &[
    param("rows", 100_000, 2..=1 << 26, "elements of the array"),
    OPERATIONS,
    // A record for each element; two regions.
    log_records(4),
];

impl Sps {
    /// Draws two elements, the lower first.
    fn draw<'c, C: Cpu>(&self, cpu: &'c C, random: &mut Random<'c, C>) -> (W<'c, C>, W<'c, C>) {
        let rows = self.elements.rows();
        let i = random.below(rows);
        let mut j = random.below(rows);
        if i.equals(j).branch(SAME_ELEMENT) {
            j = j + 1;
            if j.is(rows).branch(IS_PAST_LAST) {
                j = cpu.word(0);
            }
        }
        if i.less(j).branch(FIRST_IS_LOWER) {
            (i, j)
        } else {
            (j, i)
        }
    }

    fn swap<'c, C: Cpu>(region: &mut Region<'_, 'c, C>, a: W<'c, C>, b: W<'c, C>, step: Step) {
        let _call = a.call(4);
        region.log(a, 0, 8);
        region.log(b, 0, 8);
        region.order(step);
        let (old_a, old_b) = (region.read(a, 8), region.read(b, 8));
        region.update(a, old_b, 8);
        region.update(b, old_a, 8);
        region.finish();
    }

    /// A region of several swaps.
    fn swaps<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let _call = thread.cpu.call(1);
        let cpu = thread.cpu;
        let list = self.lists.of(thread);
        let mut held = Held::none(list);
        let pairs = list + 16 * self.operations;
        let mut at = pairs;
        let end = pairs + 16 * self.operations;
        while at.less(end).branch(MORE_TO_DRAW) {
            let (low, high) = self.draw(cpu, &mut thread.random);
            held.add(low);
            held.add(high);
            at.store(self.elements.row(low));
            at.at(8).store(self.elements.row(high));
            at = at + 16;
        }
        held.lock(thread, self.locks);

        let mut region = thread.log.begin();
        at = pairs;
        loop {
            let (a, b) = (at.load(), at.at(8).load());
            at = at + 16;
            let more = at.less(end).branch(MORE_TO_SWAP);
            let step = if more { Step::More } else { Step::Last };
            Sps::swap(&mut region, a, b, step);
            if !more {
                break;
            }
        }

        held.unlock(thread, self.locks);
    }
}

impl Workload for Sps {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let rows = params.get("rows");
        let mut heap = Heap::new(plan);
        let elements: Table<8> = heap.table(rows);
        let bytes = elements.range().end - elements.range().start;
        heap.on_demand(bytes + 8 * rows);
        let sps = Sps {
            elements,
            locks: Locks::allocate(&mut heap, rows),
            operations: params.get("operations"),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), ring(params, 2)),
            lists: Lists::allocate(&mut heap, plan.lanes(), 4 * params.get("operations")),
        };
        Ok((sps, heap))
    }

    fn fill(&self, memory: &Memory, _seed: u64) {
        let elements = self.elements;
        memory.fill(elements.range(), move |line| {
            let index = elements.index_of(line.addr().0).expect("an element has a line");
            [index, 0, 0, 0, 0, 0, 0, 0]
        });
    }

    fn region(params: &Params) -> Demand {
        let operations = params.get("operations");
        // One element a line, two elements a swap.
        let words = 2 * operations;
        Demand { lines: words, words }
    }

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        if self.operations > 1 {
            return self.swaps(thread);
        }
        let (low, high) = self.draw(thread.cpu, &mut thread.random);
        let (first, second) = (self.locks.at(low), self.locks.at(high));
        thread.log.lock(first);
        thread.log.lock(second);

        let (a, b) = (self.elements.row(low), self.elements.row(high));
        let mut region = thread.log.begin();
        Sps::swap(&mut region, a, b, Step::Last);

        thread.log.unlock(second);
        thread.log.unlock(first);
    }

    /// The array is a permutation of 0, 1, 2, ...
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        let rows = self.elements.rows();
        let mut seen = vec![false; rows as usize];
        for i in 0..rows {
            let value = image.word(self.elements.addr(i));
            match seen.get_mut(value as usize) {
                None => return Err(format!("element {i} holds {value}, which was never put in")),
                Some(true) => return Err(format!("element {i} holds {value}, and so does another")),
                Some(new) => *new = true,
            }
        }
        Ok(())
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        let locks = self.locks.range(self.elements.rows());
        vec![self.elements.range(), locks, self.logs.lists(), self.logs.range()]
    }
}
