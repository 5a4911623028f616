//! Work of a task outside of its critical sections.

use crate::per_lane::PerLane;
use crate::Heap;
use strandline_isa::{sites, Cpu, LINE_BYTES};

sites! {
    GOES_ON = 0x2b8e_64a1;
}

/// Lines of a lane's own memory, which the work goes through.
const LINES: u64 = 64;
/// Bytes of them.
const BYTES: u64 = LINES * LINE_BYTES;

/// What a task executes before it takes any lock: so many instructions, in memory that no other lane has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Think {
    instructions: u64,
    own: PerLane,
}

impl Think {
    /// The memory of `lanes` lanes; none if the heap's tasks do not think.
    pub(crate) fn allocate(heap: &mut Heap, lanes: usize) -> Think {
        let instructions = heap.logging.think;
        let bytes = if instructions == 0 { 0 } else { BYTES };
        Think {
            instructions,
            own: PerLane::dram(heap, lanes, bytes),
        }
    }

    /// Executes the work of a task of `lane`. Of 16 instructions four load, two store, two compare, two branch and six add:
    /// the mix of integer programs (Hennessy and Patterson, Computer Architecture, A.7: 25 % loads, 10 % stores, 15 %
    /// branches). Two sums grow independently of one another. It is the library's code, so there are as many
    /// instructions however the program was compiled.
    pub(crate) fn run<C: Cpu>(self, cpu: &C, lane: usize) {
        if self.instructions == 0 {
            return;
        }
        let _library = cpu.library();
        let own = cpu.word(self.own.of(lane).0);
        let [mut first, mut second, mut loaded] = [cpu.word(0); 3];
        let mut flags = C::Tag::default();
        for at in 0..self.instructions {
            let line = own.at(at / 16 % LINES * LINE_BYTES);
            match at % 16 {
                step @ (0 | 2 | 8 | 10) => loaded = line.at(8 * (step / 2)).load(),
                1 | 4 | 9 => first = first + loaded,
                3 | 11 | 12 => second = second + loaded,
                5 => line.at(48).store(first),
                13 => line.at(56).store(second),
                6 | 14 => flags = cpu.compare(first.tag(), second.tag()),
                _ => cpu.branch(flags, true, GOES_ON),
            }
        }
    }
}
