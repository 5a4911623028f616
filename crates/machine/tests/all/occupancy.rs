//! How full store queue, write-back buffer and context table are, on whole cores, added up by hand.

use crate::common::{as_plain, memory, preset, put, system, Plain};
use std::cell::RefCell;
use std::rc::Rc;
use strandline_design::{boxed, Admission, Checkpoint, Design, Never, RollsBack, Services, Store, Types, Wants};
use strandline_isa::{CoreId, Cpu, Flush, Primitive, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::{factory, MachineConfig, Occupied, Options, SimCpu, Stats, System};

const A: u64 = PM_BASE;
const B: u64 = PM_BASE + 64;

/// COSPlay's machine with a core that only its widths and entries limit: a micro-op dispatched in cycle `d` issues at
/// `d + 1`, and a store or flush may leave the store queue at `d + 2`, one a cycle.
fn machine() -> MachineConfig {
    let mut machine = preset("cosplay");
    let core = &mut machine.core;
    (core.issue_queue_entries, core.decode_queue_entries) = (0, 0);
    (core.alu_ports, core.load_ports, core.store_ports) = (0, 0, 0);
    core.store_micro_ops = 1;
    (core.loads_wait_for_addresses, core.stores_retire_cached) = (false, false);
    machine
}

/// Its cores tell contexts apart. At a `pcommit` it takes a checkpoint, to which it returns at the cycle `returns`, once.
#[derive(Default)]
struct Told {
    returns: Option<Cycles>,
    checkpoint: Option<Checkpoint>,
    /// When stores became visible.
    visible: Rc<RefCell<Vec<u64>>>,
}

/// The time to return.
#[derive(Clone, Debug)]
struct Returns;

struct Own;

impl Types for Own {
    type Gate = Never;
    type Message = Returns;
    type Tag = Never;
    type Note = Never;
}

impl Design for Told {
    type Own = Own;

    as_plain!();

    fn wants(&self) -> Wants {
        Wants {
            contexts: true,
            rolls_back: match self.returns {
                Some(_) => RollsBack::Always,
                None => RollsBack::default(),
            },
            ..Wants::default()
        }
    }

    fn primitive(&mut self, hw: &mut dyn Services<Own>, core: CoreId, primitive: Primitive) -> Admission<Never> {
        match primitive {
            Primitive::Setctx(context) => hw.set_context(core, context),
            Primitive::Pcommit => {
                if let Some(at) = self.returns.take() {
                    self.checkpoint = hw.checkpoint(core);
                    hw.send(at, Returns);
                }
            }
            other => return Admission::plain(other),
        }
        Admission::Pass
    }

    fn message(&mut self, hw: &mut dyn Services<Own>, Returns: Returns) {
        hw.roll_back(CoreId(0), self.checkpoint.take().expect("a checkpoint"));
    }

    fn visible(&mut self, hw: &mut dyn Services<Own>, _: CoreId, _: Store) {
        self.visible.borrow_mut().push(hw.now().0);
    }
}

/// Runs a program on core 0 of as many; the other cores only reach the start line.
fn run(cores: u16, program: impl FnOnce(&SimCpu<'_>) + 'static) -> Stats {
    let design = boxed(Told::default());
    let mut system = System::new(&machine(), design, cores.into(), memory(), Options::default());
    put(&mut system, 0, program);
    (1..cores).for_each(|core| put(&mut system, core, |cpu| cpu.start_line()));
    system.run().expect("the program ends").stats
}

fn store(cpu: &SimCpu<'_>, at: u64) {
    cpu.word(at).store(cpu.word(1));
}

/// The core owns A and B, and nothing is pending, as the timed region begins. What precedes it fills the queue.
fn begin(cpu: &SimCpu<'_>) {
    for _ in 0..20 {
        store(cpu, A);
        store(cpu, B);
    }
    cpu.word(A).flush_by(Flush::Clwb);
    cpu.primitive(Primitive::Sfence);
    cpu.start_line();
}

fn occupied(entry_cycles: u64, cycles: u64, most: u64) -> Occupied {
    Occupied {
        entry_cycles,
        cycles,
        most,
    }
}

#[test]
fn stores_are_in_the_store_queue_from_dispatch_until_they_leave() {
    let program = |cpu: &SimCpu<'_>| {
        begin(cpu);
        store(cpu, A);
        store(cpu, B);
    };
    let stats = run(1, program);
    // Dispatched in cycle 0, they leave in cycles 2 and 3, which is the end.
    assert_eq!(stats.store_queue, occupied(2 + 3, 3, 2));
    assert_eq!(stats.store_queue.mean(), Some(5.0 / 3.0));
    assert_eq!(stats.writeback_buffer, occupied(0, 3, 0));
    // A core that only waits counts as an empty one.
    assert_eq!(run(2, program).store_queue, occupied(2 + 3, 2 * 3, 2));
}

#[test]
fn a_flush_is_in_the_write_back_buffer_until_it_is_acknowledged() {
    let stats = run(1, |cpu| {
        begin(cpu);
        store(cpu, A);
        cpu.word(A).flush_by(Flush::Clwb);
    });
    let machine = machine();
    let acknowledged = machine.l1.latency.0 + machine.pm.write_to_controller.0;
    // The flush leaves the store queue in cycle 3, behind the store.
    assert_eq!(stats.store_queue, occupied(2 + 3, 3 + acknowledged, 2));
    assert_eq!(stats.writeback_buffer, occupied(acknowledged, 3 + acknowledged, 1));
}

#[test]
fn a_context_is_in_use_while_it_has_a_store_or_flush_pending() {
    let stats = run(1, |cpu| {
        begin(cpu);
        cpu.primitive(Primitive::Setctx(1));
        store(cpu, A);
        cpu.word(A).flush_by(Flush::Clwb);
        cpu.primitive(Primitive::Setctx(2));
        store(cpu, B);
    });
    let machine = machine();
    // The first four are dispatched in cycle 0. What follows a `setctx` issues in cycle 2, when it has executed: store,
    // flush and store leave in cycles 3, 4 and 5.
    let acknowledged = 4 + machine.l1.latency.0 + machine.pm.write_to_controller.0;
    assert_eq!(stats.store_queue, occupied(3 + 4 + (5 - 1), acknowledged, 3));
    assert_eq!(
        stats.context_table,
        Some(occupied(acknowledged + (5 - 1), acknowledged, 2))
    );
}

#[test]
fn designs_without_contexts_have_no_context_table() {
    let mut system = system(&machine(), Plain, 1);
    put(&mut system, 0, |cpu| store(cpu, A));
    assert_eq!(system.run().expect("ends").stats.context_table, None);
}

#[test]
fn stores_that_a_roll_back_voids_leave_with_it() {
    let at = 100;
    let design = Told {
        returns: Some(Cycles(at)),
        ..Told::default()
    };
    let visible = design.visible.clone();
    let mut system = system(&machine(), design, 1);
    let program = |cpu: &SimCpu<'_>| {
        store(cpu, A);
        cpu.primitive(Primitive::Pcommit);
        store(cpu, B);
    };
    system.start(CoreId(0), factory(program));
    let stats = system.run().expect("it ends").stats;
    let visible = visible.take();
    let [a, b] = visible[..] else {
        panic!("two stores: {visible:?}")
    };
    assert!(at < a, "the line of A is still on its way: {a}");
    // B is dispatched in cycle 0, leaves as it is voided, and is dispatched again in that cycle.
    assert_eq!(stats.store_queue, occupied(a + b, b, 2));
    assert_eq!(stats.context_table, Some(occupied(b, b, 1)));
}
