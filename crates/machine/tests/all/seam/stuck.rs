//! Runs that cannot go on, or go on and get nowhere.

use super::script::{Gate, Hw, Own, Timer, SHUT};
use crate::common::{memory, preset, put};
use strandline_design::{boxed, About, Admission, Design};
use strandline_isa::{sites, CoreId, Cpu, Lowering, Primitive, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::{Heartbeat, Options, SimCpu, System};

sites! {
    SEES_TWO = 0x4db9_6dde;
}

/// Its fences wait for a gate that nobody opens.
struct Shut {
    /// It sends itself messages meanwhile.
    polls: bool,
}

impl Design for Shut {
    type Own = Own;

    fn about(&self) -> About {
        crate::common::Plain.about()
    }
    fn lowering(&self) -> Lowering {
        crate::common::Plain.lowering()
    }
    fn primitive(&mut self, hw: &mut Hw<'_>, _: CoreId, _: Primitive) -> Admission<Gate> {
        self.message(hw, Timer);
        Admission::Hold(SHUT)
    }
    fn message(&mut self, hw: &mut Hw<'_>, timer: Timer) {
        if self.polls {
            hw.send(hw.now() + Cycles(100), timer);
        }
    }
}

#[test]
fn a_gate_that_nobody_opens_is_an_error_that_says_who_waits() {
    let mut s = System::new(
        &preset("cosplay"),
        boxed(Shut { polls: false }),
        1,
        memory(),
        Options::default(),
    );
    put(&mut s, 0, persist_one_then_store);
    let stuck = s.run().expect_err("the fence waits for ever");
    assert!(stuck.dead);
    let text = stuck.to_string();
    assert!(
        text.contains("core 0: waits until a fence retires, a fence is held until the design opens gate 1"),
        "{text}"
    );
    assert!(text.contains("gate 1 is Gate"), "{text}");
}

async fn persist_one_then_store(cpu: SimCpu) {
    cpu.word(PM_BASE).store(cpu.word(3)).await;
    cpu.primitive(Primitive::Sfence).await;
    cpu.word(PM_BASE + 64).store(cpu.word(1)).await;
}

#[test]
fn a_run_in_which_only_a_designs_messages_go_on_is_given_up() {
    let options = Options {
        patience: Cycles(200_000),
        heartbeat: Heartbeat::Instructions,
        ..Options::default()
    };
    let mut s = System::new(&preset("cosplay"), boxed(Shut { polls: true }), 1, memory(), options);
    put(&mut s, 0, persist_one_then_store);
    let stuck = s.run().expect_err("no gate is opened");
    assert!(!stuck.dead && stuck.at < 1_000_000, "{stuck}");
}

#[test]
fn a_core_that_spins_for_ever_is_given_up() {
    let options = Options {
        patience: Cycles(200_000),
        ..Options::default()
    };
    let mut s = System::new(&preset("cosplay"), boxed(crate::common::Plain), 2, memory(), options);
    put(&mut s, 0, |cpu| async move {
        while !cpu.word(64).swap(cpu.word(1)).await.is(2).branch(SEES_TWO) {}
    });
    put(&mut s, 1, |cpu| async move {
        cpu.word(PM_BASE).store(cpu.word(1)).await;
    });
    let stuck = s.run().expect_err("nobody ever stores a 2");
    assert!(!stuck.dead);
    assert!(stuck.to_string().contains("core 0"), "{stuck}");
}
