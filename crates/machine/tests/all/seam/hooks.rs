//! A hook that a design implements is called; one that it does not implement is asked once at most.

use crate::common::{memory, preset, put, system, Attentive};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use strandline_design::{
    boxed, About, Acceptance, Admission, Claim, ControllerId, Departure, Design, Forward, GateOf, Hook, Load, Ordering,
    Services, Store, StoreId, TagOf, Write, WriteRequest,
};
use strandline_isa::{CoreId, Cpu, Flush, Lowering, Primitive, PM_BASE};
use strandline_machine::{Options, SimCpu, System};

/// How often each frequent hook was called.
type Calls = Rc<RefCell<HashMap<Hook, u32>>>;

/// Counts the calls and leaves the answers to the design within.
struct Counting<D> {
    within: D,
    calls: Calls,
}

type Hw<'a, D> = dyn Services<<D as Design>::Own> + 'a;

impl<D: Design> Counting<D> {
    fn count(&mut self, hook: Hook) -> &mut D {
        *self.calls.borrow_mut().entry(hook).or_default() += 1;
        &mut self.within
    }
}

impl<D: Design> Design for Counting<D> {
    type Own = D::Own;

    fn about(&self) -> About {
        self.within.about()
    }

    fn lowering(&self) -> Lowering {
        self.within.lowering()
    }

    fn claim(&mut self, hw: &mut Hw<'_, D>, core: CoreId, ordering: Ordering) -> Claim<GateOf<D>> {
        self.count(Hook::Claim).claim(hw, core, ordering)
    }

    fn primitive(&mut self, hw: &mut Hw<'_, D>, core: CoreId, primitive: Primitive) -> Admission<GateOf<D>> {
        self.count(Hook::Primitive).primitive(hw, core, primitive)
    }

    fn load(&mut self, hw: &mut Hw<'_, D>, core: CoreId, load: Load) -> Forward<GateOf<D>> {
        self.count(Hook::Load).load(hw, core, load)
    }

    fn keep(&mut self, hw: &mut Hw<'_, D>, core: CoreId, write: Write, id: StoreId) -> Departure<GateOf<D>> {
        self.count(Hook::Keep).keep(hw, core, write, id)
    }

    fn store(&mut self, hw: &mut Hw<'_, D>, core: CoreId, write: Write) -> Departure<GateOf<D>> {
        self.count(Hook::Store).store(hw, core, write)
    }

    fn visible(&mut self, hw: &mut Hw<'_, D>, core: CoreId, store: Store) {
        self.count(Hook::Visible).visible(hw, core, store);
    }

    fn arrived(
        &mut self,
        hw: &mut Hw<'_, D>,
        at: ControllerId,
        write: &WriteRequest<TagOf<D>>,
    ) -> Acceptance<GateOf<D>> {
        self.count(Hook::Arrived).arrived(hw, at, write)
    }

    fn reached_media(&mut self, hw: &mut Hw<'_, D>, at: ControllerId, write: &WriteRequest<TagOf<D>>) {
        self.count(Hook::ReachedMedia).reached_media(hw, at, write);
    }
}

const HOOKS: [Hook; 8] = [
    Hook::Claim,
    Hook::Primitive,
    Hook::Load,
    Hook::Keep,
    Hook::Store,
    Hook::Visible,
    Hook::Arrived,
    Hook::ReachedMedia,
];

const ROUNDS: u64 = 20;

/// In each round two stores, a locked instruction, a load, a flush and a fence.
fn rounds(cpu: &SimCpu<'_>) {
    let own = PM_BASE + 4096 * u64::from(cpu.core().0);
    for round in 0..ROUNDS {
        let line = own + 64 * round;
        cpu.word(line).store(cpu.word(1));
        cpu.word(line + 8).store(cpu.word(2));
        cpu.word(line).swap(cpu.word(3));
        cpu.word(line + 8).load();
        cpu.word(line).flush_by(Flush::Clwb);
        cpu.primitive(Primitive::Sfence);
    }
}

/// The calls of each hook in a run of `cores` cores, in the order of [`HOOKS`].
fn calls<D: Design>(within: D, cores: u16) -> [u32; 8] {
    let calls = Calls::default();
    let design = Counting {
        within,
        calls: calls.clone(),
    };
    let mut machine = preset("cosplay");
    // So that a store reaches the head of the queue before its line is there.
    machine.core.stores_retire_cached = false;
    let mut system = system(&machine, design, usize::from(cores));
    for core in 0..cores {
        put(&mut system, core, rounds);
    }
    system.run().expect("ends");
    let calls = calls.borrow();
    HOOKS.map(|hook| calls.get(&hook).copied().unwrap_or(0))
}

#[test]
fn a_hook_that_is_not_implemented_is_asked_once_in_a_run() {
    for cores in [1, 2] {
        assert_eq!(calls(crate::common::Plain, cores), [1; 8], "{HOOKS:?}");
    }
}

#[test]
fn a_hook_that_is_implemented_is_called_each_time() {
    for cores in [1, 2] {
        let times = |each: u64| (each * ROUNDS * u64::from(cores)) as u32;
        let [claim, primitive, load, keep, store, visible, arrived, reached] = calls(Attentive::default(), cores);
        assert_eq!((claim, primitive), (times(2), times(1)), "a flush and a fence");
        assert_eq!(
            (load, visible),
            (times(1), times(3)),
            "two stores and a locked instruction"
        );
        assert_eq!((arrived, reached), (times(1), times(1)), "a flush");
        // Asked again when the line that was asked for is there.
        assert!(keep >= times(3) && store >= times(3), "{keep} {store}");
    }
}

#[test]
fn a_hook_that_answers_as_the_plain_machine_changes_no_time() {
    let cycles = |design| {
        let mut system = System::new(&preset("asap"), design, 2, memory(), Options::default());
        (0..2).for_each(|core| put(&mut system, core, rounds));
        system.run().expect("ends").stats
    };
    assert_eq!(
        format!("{:?}", cycles(boxed(Attentive::default()))),
        format!("{:?}", cycles(boxed(crate::common::Plain)))
    );
}
