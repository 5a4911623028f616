//! `bandwidth`: ordered writes of 256 bytes that alternate over the memory controllers.
//!
//! ASAP (HPCA 2022), section VI-C: the share of the write bandwidth that a design uses. Consecutive writes go to
//! different controllers, and each is ordered before the next. A thread has its own area. The area consists of blocks,
//! each of the size that lies on one controller. Writes go to successive blocks; after the last block, they continue in
//! the first, behind the earlier writes. A task is 64 writes, each ordered before the next, and a wait until all are
//! durable. There is no log and no lock.
//!
//! Every word of a write holds the write's number. A crash must leave a prefix: if any word of a write is durable, all
//! earlier writes are. So each write is a failure-atomic region without a log: recovery completes a write of which any
//! word is durable. If the writes are not a prefix, recovery changes nothing, and the check reports it.
//!
//! Not in the paper: the size of the areas, and the first block of a thread. Here it is the thread's number.

use crate::papers::ASAP;
use crate::params::param;
use crate::About;
use std::ops::Range;
use strandline_isa::{sites, Addr, Cpu, Image, Intent, Memory, Note, LINE_BYTES, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{BuildPlan, Heap, LogLayout, ThreadState, Workload};

sites! {
    WRITE_IS_LAST = 0xf9d4_614a;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "bandwidth",
    line: "ordered writes of 256 bytes, alternating over the memory controllers",
    paper: "ASAP (HPCA 2022), section VI-C",
    tasks: 1000,
    params: PARAMS,
    small: &[("stride", "256"), ("blocks", "4"), ("writes", "3")],
    ..ASAP
};

const PARAMS: &[Param] = &[
    param("bytes", 256, LINE_BYTES..=1 << 20, "bytes of a write; a power of two"),
    param(
        "stride",
        4096,
        LINE_BYTES..=1 << 30,
        "bytes from a write to the next one: the machine's controllers.interleave_bytes; a power of two",
    ),
    param(
        "blocks",
        16,
        2..=1 << 16,
        "blocks of a thread's area, each as large as a write; rounded up to a power of two",
    ),
    param("writes", 64, 1..=1 << 20, "writes of a task"),
];

/// Lines of each log, which this program never writes.
const LOG_RECORDS: u64 = 8;

/// The areas that their threads overwrite repeatedly.
pub struct Bandwidth {
    bytes: u64,
    stride: u64,
    area: u64,
    writes: u64,
    areas: Addr,
    /// A line of volatile memory for each lane: the number of its writes.
    counters: Addr,
    lanes: u64,
    logs: LogLayout,
}

impl Bandwidth {
    /// Number of writes that fill an area.
    fn slots(&self) -> u64 {
        self.area / self.bytes
    }

    /// The target of the write with this slot number in a lane: successive blocks.
    fn slot(&self, lane: u64, slot: u64) -> u64 {
        let blocks = self.area / self.stride;
        let at = (slot + lane) % self.slots();
        self.areas.0 + lane * self.area + at % blocks * self.stride + at / blocks * self.bytes
    }

    /// The target of a write, as the program computes it from the number of earlier writes.
    #[inline]
    fn target<'c, C: Cpu>(&self, made: W<'c, C>, lane: u64) -> W<'c, C> {
        let blocks = self.area / self.stride;
        let at = (made + lane) & (self.slots() - 1);
        let block = (at & (blocks - 1)) << u64::from(self.stride.trailing_zeros());
        let within = (at >> u64::from(blocks.trailing_zeros())) << u64::from(self.bytes.trailing_zeros());
        block + within + (self.areas.0 + lane * self.area)
    }

    /// A write is a region. Recovery may complete it as soon as one word is durable, so all words are announced first.
    fn announce<C: Cpu>(&self, cpu: &C, target: u64, value: u64) {
        cpu.note(Note::RegionBegin);
        for addr in (target..target + self.bytes).step_by(8).map(Addr) {
            cpu.note(Note::RegionWrite { addr, size: 8, value });
        }
    }

    fn counter(&self, lane: u64) -> Addr {
        Addr(self.counters.0 + lane * LINE_BYTES)
    }

    fn words(&self, lane: u64, slot: u64) -> impl Iterator<Item = Addr> {
        let first = self.slot(lane, slot);
        (first..first + self.bytes).step_by(8).map(Addr)
    }

    /// The number of the newest write to a slot among the first `made`; zero without one.
    fn newest(&self, slot: u64, made: u64) -> u64 {
        match made.checked_sub(slot + 1) {
            Some(later) => slot + 1 + later / self.slots() * self.slots(),
            None => 0,
        }
    }

    /// The newest write with any word in the image.
    fn begun(&self, image: &dyn Image, lane: u64) -> u64 {
        let words = (0..self.slots()).flat_map(|slot| self.words(lane, slot));
        words.map(|addr| image.word(addr)).max().unwrap_or(0)
    }

    /// All writes before the newest are present; with `whole`, the newest also.
    fn check_prefix(&self, image: &dyn Image, lane: u64, begun: u64, whole: bool) -> Result<(), String> {
        for slot in 0..self.slots() {
            let expected = self.newest(slot, begun);
            let torn = expected == begun && !whole;
            let before = self.newest(slot, begun.saturating_sub(1));
            for addr in self.words(lane, slot) {
                let found = image.word(addr);
                if found != expected && !(torn && found == before) {
                    return Err(format!(
                        "area {lane}: write {begun} is there, and {addr} holds {found} where write {expected} had been"
                    ));
                }
            }
        }
        Ok(())
    }
}

impl Workload for Bandwidth {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let (bytes, stride) = (params.get("bytes"), params.get("stride"));
        if !bytes.is_power_of_two() || !stride.is_power_of_two() || bytes > stride {
            return Err(ParamError(format!(
                "workload.bytes={bytes} with workload.stride={stride}: both must be powers of two, the stride no less than the bytes"
            )));
        }
        let area = params.get("blocks").next_power_of_two() * stride;
        let lanes = plan.lanes() as u64;
        let mut heap = Heap::new(plan);
        let bandwidth = Bandwidth {
            bytes,
            stride,
            area,
            writes: params.get("writes"),
            // It is allocated first in persistent memory, so that blocks start at controller boundaries.
            areas: heap.pm(lanes * area),
            counters: heap.dram(lanes * LINE_BYTES),
            lanes,
            logs: LogLayout::allocate(&mut heap, plan.lanes(), LOG_RECORDS),
        };
        Ok((bandwidth, heap))
    }

    fn fill(&self, _memory: &Memory, _seed: u64) {}

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let (cpu, lane) = (thread.cpu, thread.lane as u64);
        let counter = cpu.word(self.counter(lane).0);
        let mut made = counter.load();
        let mut left = cpu.word(self.writes);
        loop {
            let target = self.target(made, lane);
            made = made + 1;
            self.announce(cpu, target.bits(), made.bits());
            for offset in (0..self.bytes).step_by(8) {
                target.at(offset).store(made);
            }
            for offset in (0..self.bytes).step_by(LINE_BYTES as usize) {
                target.at(offset).flush();
            }
            cpu.note(Note::RegionEnd);
            left = left - 1;
            if left.is(0).branch(WRITE_IS_LAST) {
                break;
            }
            cpu.intent(Intent::LogBeforeUpdate);
        }
        counter.store(made);
        cpu.intent(Intent::Durable);
        for _ in 0..self.writes {
            cpu.note(Note::RegionDurable);
        }
    }

    /// Every word holds the number of the newest write to it.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        for lane in 0..self.lanes {
            let begun = self.begun(image, lane);
            self.check_prefix(image, lane, begun, true)?;
        }
        Ok(())
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        let (areas, counters) = (self.areas.0, self.counters.0);
        vec![
            areas..areas + self.lanes * self.area,
            counters..counters + self.lanes * LINE_BYTES,
        ]
    }

    /// Completes the newest write, if the writes are a prefix: the writes are the log.
    fn recover(&self, image: &dyn Image) {
        for lane in 0..self.lanes {
            let begun = self.begun(image, lane);
            if begun == 0 || self.check_prefix(image, lane, begun, false).is_err() {
                continue;
            }
            for addr in self.words(lane, (begun - 1) % self.slots()) {
                image.set_word(addr, begun);
            }
        }
    }

    /// Threads continue their counts.
    fn restart(&self, image: &dyn Image) {
        for lane in 0..self.lanes {
            image.set_word(self.counter(lane), self.begun(image, lane));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{params, plan};

    fn built(set: &[(&str, &str)]) -> Result<(Bandwidth, Memory), ParamError> {
        Bandwidth::build(&params(PARAMS, set)?, &BuildPlan { threads: 2, ..plan(1) })
    }

    const SMALL: [(&str, &str); 4] = [("bytes", "64"), ("stride", "128"), ("blocks", "2"), ("writes", "3")];

    /// Memory after `made` writes of the first lane; the last one has only its first `words` words.
    fn after(bandwidth: &Bandwidth, memory: &Memory, made: u64, words: usize) {
        for number in 1..=made {
            let most = if number == made { words } else { 8 };
            for addr in bandwidth.words(0, (number - 1) % bandwidth.slots()).take(most) {
                memory.set_word(addr, number);
            }
        }
    }

    #[test]
    fn writes_go_from_block_to_block_and_then_behind_the_first_ones() {
        let (bandwidth, _) = built(&SMALL).expect("right parameters");
        let first = bandwidth.areas.0;
        let places: Vec<u64> = (0..4).map(|slot| bandwidth.slot(0, slot) - first).collect();
        assert_eq!(places, [0, 128, 64, 192]);
        // The other thread starts one block later, in its own area.
        assert_eq!(bandwidth.slot(1, 0) - first, 256 + 128);
        assert_eq!(first % 4096, 0, "where controllers change");
    }

    #[test]
    fn a_write_of_which_a_word_is_there_is_finished() {
        for (made, words) in [(5, 8), (6, 2), (7, 1), (0, 0)] {
            let (bandwidth, memory) = built(&SMALL).expect("right parameters");
            after(&bandwidth, &memory, made, words);
            bandwidth.recover(&memory);
            assert_eq!((bandwidth.check(&memory), bandwidth.begun(&memory, 0)), (Ok(()), made));
        }
    }

    #[test]
    fn a_write_that_overtook_another_is_found() {
        for lost in 1..6 {
            let (bandwidth, memory) = built(&SMALL).expect("right parameters");
            after(&bandwidth, &memory, 6, 1);
            // A word of write `lost` keeps its initial value. Write 5 has the target of the first write.
            let word = bandwidth.words(0, (lost - 1) % 4).nth(3).expect("eight words");
            memory.set_word(word, 0);
            bandwidth.recover(&memory);
            let found = bandwidth.check(&memory);
            assert!(found.is_err(), "write {lost}: {found:?}");
        }
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        for set in [
            ("bytes", "96"),
            ("stride", "128"),
            ("stride", "5000"),
            ("bytes", "65536"),
        ] {
            let error = built(&[set]).err().expect("refused");
            assert!(
                error.to_string().contains(&format!("workload.{}={}", set.0, set.1)),
                "{error}"
            );
        }
    }
}
