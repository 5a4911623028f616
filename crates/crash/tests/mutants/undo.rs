//! What no workload does: two steps of a region that write one line, and a crash in the second.

use strandline_design::Design;
use strandline_designs::X86;
use strandline_isa::{Addr, CoreId, Cpu, Image};
use strandline_runtime::{block_on, recover, Heap, LogLayout, Plain, Rule, Step, UndoLog};

/// Whether recovery leaves the line as the region found it.
pub fn restores_a_line_of_two_steps(rule: Option<Rule>) -> bool {
    let mut heap = Heap::default();
    let line = heap.pm(64);
    let logs = LogLayout::allot(&mut heap, 1, 8).breaking(rule);
    let memory = heap.memory();
    let cpu = Plain::new(&memory, CoreId(0), X86.lowering());
    block_on(two_steps(&cpu, &logs, line)).expect("nobody to wait for");
    recover(&memory, &logs);
    memory.word(line) == 0
}

async fn two_steps<C: Cpu>(cpu: &C, logs: &LogLayout, line: Addr) {
    let mut log = UndoLog::open(cpu, logs, 0).await;
    let mut region = log.begin();
    let at = cpu.word(line.0);
    region.log(at, 0, 8).await;
    region.order(Step::More).await;
    region.update(at, cpu.word(1), 8).await;
    region.finish().await;
    region.log(at, 0, 8).await;
    region.order(Step::Last).await;
    region.update(at, cpu.word(2), 8).await;
}
