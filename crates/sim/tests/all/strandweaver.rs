//! The running example of StrandWeaver, section IV-A and Figure 4, cycle by cycle.

use crate::common::{preset, start};
use strandline_design::{boxed, Design, Sizes};
use strandline_designs::Operation::{Barrier, Flush as Clwb, Join, NewStrand};
use strandline_designs::{NoPersistQueue, Operation, StrandWeaver};
use strandline_isa::{Addr, CoreId, Cpu, Flush, Line, Memory, Primitive, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::{MachineConfig, Options, SimCpu, System};

const A: Line = Line(PM_BASE / 64);
const B: Line = Line(PM_BASE / 64 + 64);
const C: Line = Line(PM_BASE / 64 + 128);
const D: Line = Line(PM_BASE / 64 + 192);
const CORE: CoreId = CoreId(0);

/// Cycles between two instructions of the example: longer than the way to their queues, and much shorter than a flush.
const APART: u64 = 10;

/// Table I's machine with one instruction per cycle, so that each arrival is visible. Stores get their lines early, so that
/// nothing but persists takes long.
fn machine() -> MachineConfig {
    let mut machine = preset("strandweaver");
    machine.core.dispatch_width = 1;
    machine.core.store_drain_interval = Cycles(1);
    machine.core.store_prefetch = true;
    machine
}

fn apart(cpu: &SimCpu<'_>) {
    let mut x = cpu.word(1);
    for _ in 0..APART {
        x = x + 1;
    }
}

/// Figure 4: CLWB(A); PB; CLWB(B); NS; CLWB(C); JS; CLWB(D). The lines have been stored to before.
fn example(cpu: &SimCpu<'_>) {
    for line in [A, B, C, D] {
        cpu.word(line.addr().0).store(cpu.word(1));
    }
    cpu.primitive(Primitive::Mfence);
    let clwb = |line: Line| {
        cpu.word(line.addr().0).flush_by(Flush::Clwb);
        apart(cpu);
    };
    let order = |primitive: Primitive| {
        cpu.primitive(primitive);
        apart(cpu);
    };
    apart(cpu);
    clwb(A);
    order(Primitive::PersistBarrier);
    clwb(B);
    order(Primitive::NewStrand);
    clwb(C);
    order(Primitive::JoinStrand);
    clwb(D);
}

/// The persist queue (operation, `HasIssued`, `Completed`), the first two strand buffers (a flush and whether it has
/// issued to PM, or a barrier), and the ongoing buffer index.
#[derive(Debug, PartialEq, Eq)]
struct State {
    queue: Vec<(Operation, bool, bool)>,
    buffers: [Vec<Option<(Line, bool)>>; 2],
    ongoing: usize,
}

fn run<D: Design>(design: D, program: impl Fn(&SimCpu<'_>) + 'static) -> System {
    let mut system = System::new(
        &machine(),
        boxed(design),
        1,
        Memory::new(1 << 16, 1 << 16),
        Options::default(),
    );
    start(&mut system, CORE.0, program);
    system
}

/// The successive states of the unit, each once, from the first operation on.
fn states() -> Vec<State> {
    let mut system = run(StrandWeaver::default(), example);
    let mut states: Vec<State> = Vec::new();
    let mut cycle = 0;
    loop {
        let goes_on = system.run_until(cycle).expect("the example goes on");
        let design = system.design().downcast_ref::<StrandWeaver>().expect("StrandWeaver");
        let mut buffers = design.strand_buffers(CORE).into_iter();
        let mut next = || buffers.next().unwrap_or_default();
        let state = State {
            buffers: [next(), next()],
            queue: design.persist_queue(CORE),
            ongoing: design.ongoing_buffer(CORE),
        };
        let is_news = states.last().map_or(!state.queue.is_empty(), |last| *last != state);
        if is_news {
            states.push(state);
        }
        if !goes_on {
            return states;
        }
        cycle += 1;
    }
}

#[test]
fn the_running_example_goes_through_the_steps_of_figure_4() {
    let waits = |operation| (operation, false, false);
    let issued = |operation| (operation, true, false);
    let (a, b, c, d) = (Clwb(A), Clwb(B), Clwb(C), Clwb(D));
    let state = |queue: &[(Operation, bool, bool)],
                 first: &[Option<(Line, bool)>],
                 second: &[Option<(Line, bool)>],
                 ongoing| State {
        queue: queue.to_vec(),
        buffers: [first.to_vec(), second.to_vec()],
        ongoing,
    };
    let behind = [Some((A, true)), None, Some((B, false))];
    let expected = [
        // (1) CLWB(A) is appended to the persist queue, and issues to strand buffer 0, (2) and to the L1 and PM.
        state(&[waits(a)], &[], &[], 0),
        state(&[issued(a)], &[Some((A, true))], &[], 0),
        // (3) The barrier and CLWB(B) are appended to strand buffer 0; CLWB(B) stalls.
        state(&[issued(a), waits(Barrier)], &[Some((A, true))], &[], 0),
        state(&[issued(a), issued(Barrier)], &[Some((A, true)), None], &[], 0),
        state(
            &[issued(a), issued(Barrier), waits(b)],
            &[Some((A, true)), None],
            &[],
            0,
        ),
        state(&[issued(a), issued(Barrier), issued(b)], &behind, &[], 0),
        // (4) NewStrand updates the ongoing buffer index to 1 and is done. CLWB(C) is appended to strand buffer 1, (5)
        // from where it issues while CLWB(A) is in flight.
        state(
            &[issued(a), issued(Barrier), issued(b), waits(NewStrand)],
            &behind,
            &[],
            0,
        ),
        state(&[issued(a), issued(Barrier), issued(b)], &behind, &[], 1),
        state(&[issued(a), issued(Barrier), issued(b), waits(c)], &behind, &[], 1),
        state(
            &[issued(a), issued(Barrier), issued(b), issued(c)],
            &behind,
            &[Some((C, true))],
            1,
        ),
        // (8) JoinStrand stalls CLWB(D), which is in the persist queue.
        state(
            &[issued(a), issued(Barrier), issued(b), issued(c), waits(Join)],
            &behind,
            &[Some((C, true))],
            1,
        ),
        state(
            &[issued(a), issued(Barrier), issued(b), issued(c), waits(Join), waits(d)],
            &behind,
            &[Some((C, true))],
            1,
        ),
        // (6) CLWB(A) completes, the barrier with it, and (7) CLWB(B) issues.
        state(
            &[issued(b), issued(c), waits(Join), waits(d)],
            &[Some((B, true))],
            &[Some((C, true))],
            1,
        ),
        // (9) When CLWB(C) and CLWB(B) have completed, too, JoinStrand completes and CLWB(D) issues to strand buffer 1.
        state(&[issued(b), waits(Join), waits(d)], &[Some((B, true))], &[], 1),
        state(&[issued(d)], &[], &[Some((D, true))], 1),
        state(&[], &[], &[], 1),
    ];
    assert_eq!(states(), expected);
}

/// Pairs logs with updates, strand by strand.
fn pair_up(cpu: &SimCpu<'_>, pairs: u64) {
    for i in 0..pairs {
        for (offset, then) in [(0, Primitive::PersistBarrier), (1 << 13, Primitive::NewStrand)] {
            let at = cpu.word(Addr(PM_BASE + offset + 64 * i).0);
            at.store(cpu.word(1));
            at.flush_by(Flush::Clwb);
            cpu.primitive(then);
        }
    }
    cpu.primitive(Primitive::JoinStrand);
}

/// Cycles of such a program.
fn pairs<D: Design>(design: D, pairs: u64) -> u64 {
    let mut system = run(design, move |cpu| pair_up(cpu, pairs));
    system.warm(PM_BASE..PM_BASE + (1 << 14));
    system.run().expect("it ends").stats.cycles.0
}

#[test]
fn four_pairs_on_four_strands_take_about_as_long_as_one() {
    let (one, four) = (pairs(StrandWeaver::default(), 1), pairs(StrandWeaver::default(), 4));
    // 96 ns at 2 GHz are 192 cycles: a pair is two flushes one after the other.
    assert!(one > 2 * 192, "{one}");
    assert!(
        four < one + 192,
        "four pairs on four strands take {four}, one takes {one}"
    );
}

/// When a store becomes visible that follows more flushes than a strand buffer holds.
fn visible_behind_flushes<D: Design>(design: D) -> u64 {
    const BEHIND: Addr = Addr(PM_BASE + (1 << 15));
    let program = |cpu: &SimCpu<'_>| {
        for i in 0..6 {
            let at = cpu.word(PM_BASE + 64 * i);
            at.store(cpu.word(1));
            at.flush_by(Flush::Clwb);
        }
        cpu.word(BEHIND.0).store(cpu.word(1));
    };
    let mut system = run(design, program);
    system.warm(PM_BASE..PM_BASE + (1 << 16));
    let mut cycle = 0;
    while system.memory().read(BEHIND, 8) == 0 {
        cycle += 1;
        assert!(system.run_until(cycle).expect("it goes on"), "the store is never seen");
    }
    cycle
}

#[test]
fn stores_pass_flushes_that_find_their_strand_buffer_full_where_there_is_a_persist_queue() {
    let with = visible_behind_flushes(StrandWeaver::default());
    let without = visible_behind_flushes(NoPersistQueue::default());
    // Without the persist queue, the fifth flush blocks the store queue until the first one is acknowledged.
    assert!(without > 192, "{without}");
    assert!(with + 100 < without, "{with} with the persist queue, {without} without");
}

#[test]
fn storage_is_that_of_section_vi_a() {
    let machine = Sizes {
        cores: 1,
        controllers: 1,
        store_queue_entries: 64,
        writeback_buffer_entries: 16,
        ..Sizes::default()
    };
    // 144 bytes for the persist queue, 144 for the strand buffers, 8 bits for each entry of the write-back buffer.
    assert_eq!(boxed(StrandWeaver::default()).storage_bytes(&machine), 144 + 144 + 16);
    assert_eq!(boxed(NoPersistQueue::default()).storage_bytes(&machine), 144 + 16);
}

/// Stalls behind a design's buffer, behind a store queue whose head waits to persist, and behind either for any reason.
fn stalls<D: Design>(design: D, program: impl Fn(&SimCpu<'_>) + 'static) -> [u64; 3] {
    let mut system = run(design, program);
    let stats = system.run().expect("it ends").stats;
    [
        stats.design_stall_cycles,
        stats.queue_persist_stall_cycles,
        stats.buffer_stall_cycles,
    ]
}

#[test]
fn stalls_are_told_apart_by_what_is_full_and_why() {
    let pairs = |cpu: &SimCpu<'_>| pair_up(cpu, 100);
    let [design, _, all] = stalls(StrandWeaver::default(), pairs);
    assert!(
        0 < design && design <= all,
        "{design} of {all} behind the persist queue"
    );
    let [design, queue, all] = stalls(NoPersistQueue::default(), pairs);
    assert!(
        design == 0 && 0 < queue && queue <= all,
        "{queue} of {all} behind flushes"
    );
    // Stores that miss, and no flush.
    let misses = |cpu: &SimCpu<'_>| {
        for i in 0..200 {
            cpu.word(PM_BASE + 64 * i).store(cpu.word(1));
        }
    };
    let [design, queue, all] = stalls(NoPersistQueue::default(), misses);
    assert!(design == 0 && queue == 0 && 0 < all, "{queue} of {all} behind flushes");
}
