//! Runs that cannot go on, or go on and get nowhere.

use super::script::{Gate, Hw, Odd, Own, Script, Timer, SHUT};
use crate::common::{as_plain, memory, patient, preset, put, set_caches, system, Plain};
use std::sync::atomic::Ordering;
use strandline_design::{boxed, Admission, Design};
use strandline_isa::{sites, CoreId, Cpu, Primitive, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::{Heartbeat, Options, Remote, SimCpu, Standstill, Stuck, System};

sites! {
    SEES_TWO = 0x4db9_6dde;
}

/// Its fences wait for a gate that nobody opens.
struct Shut {
    /// It sends itself messages meanwhile, so far apart.
    polls: Option<u64>,
}

impl Design for Shut {
    type Own = Own;

    as_plain!();

    fn primitive(&mut self, hw: &mut Hw<'_>, _: CoreId, _: Primitive) -> Admission<Gate> {
        self.message(hw, Timer);
        Admission::Hold(SHUT)
    }

    fn message(&mut self, hw: &mut Hw<'_>, timer: Timer) {
        if let Some(apart) = self.polls {
            hw.send(hw.now() + Cycles(apart), timer);
        }
    }
}

fn stuck_under(polls: Option<u64>, options: Options) -> Stuck {
    let mut system = System::new(&preset("cosplay"), boxed(Shut { polls }), 1, memory(), options);
    put(&mut system, 0, persist_one_then_store);
    system.run().expect_err("no gate is opened")
}

#[test]
fn a_gate_that_nobody_opens_is_an_error_that_says_who_waits() {
    let stuck = stuck_under(None, Options::default());
    assert_eq!(stuck.how, Standstill::Dead);
    let text = stuck.to_string();
    assert!(
        text.contains("core 0: waits until a fence retires, a fence is held until the design opens gate 1"),
        "{text}"
    );
    assert!(text.contains("gate 1 is Gate"), "{text}");
}

fn persist_one_then_store(cpu: &SimCpu<'_>) {
    cpu.word(PM_BASE).store(cpu.word(3));
    cpu.primitive(Primitive::Sfence);
    cpu.word(PM_BASE + 64).store(cpu.word(1));
}

#[test]
fn a_run_in_which_only_a_designs_messages_go_on_is_given_up() {
    let options = Options {
        heartbeat: Heartbeat::Instructions,
        ..patient(200_000)
    };
    let stuck = stuck_under(Some(100), options);
    assert_eq!(stuck.how, Standstill::Idle);
    assert!(stuck.at < 1_000_000, "{stuck}");
}

#[test]
fn a_core_that_spins_for_ever_is_given_up() {
    let mut s = System::new(&preset("cosplay"), boxed(Plain), 2, memory(), patient(200_000));
    put(&mut s, 0, |cpu| {
        while !cpu.word(64).swap(cpu.word(1)).is(2).branch(SEES_TWO) {}
    });
    put(&mut s, 1, |cpu| {
        cpu.word(PM_BASE).store(cpu.word(1));
    });
    let stuck = s.run().expect_err("nobody ever stores a 2");
    assert_eq!(stuck.how, Standstill::Idle);
    assert!(stuck.to_string().contains("core 0"), "{stuck}");
}

/// One task, which stores in each lap; a lap takes a locked instruction that misses.
fn store_for_laps(cpu: &SimCpu<'_>, laps: u64) {
    for lap in 0..laps {
        cpu.word(64 * (lap % 4_000)).swap(cpu.word(lap));
        cpu.word(PM_BASE).store(cpu.word(lap));
    }
}

fn stores(patience: u64, laps: u64, remote: Remote) -> Result<u64, Stuck> {
    let mut system = System::new(&preset("cosplay"), boxed(Plain), 1, memory(), patient(patience));
    system.follow(remote);
    put(&mut system, 0, move |cpu| store_for_laps(cpu, laps));
    system.run().map(|outcome| outcome.stats.cycles.0)
}

#[test]
fn a_task_that_takes_long_is_not_stuck_while_its_stores_become_visible() {
    const PATIENCE: u64 = 50_000;
    let cycles = stores(PATIENCE, 20_000, Remote::default()).expect("it ends");
    assert!(cycles > 4 * PATIENCE, "{cycles}");
    let stuck = stores(PATIENCE, u64::MAX, Remote::default()).expect_err("it never ends");
    assert_eq!(stuck.how, Standstill::Idle);
}

#[test]
fn a_run_that_is_told_to_stop_stops() {
    let remote = Remote::default();
    remote.stop.store(true, Ordering::Relaxed);
    let stuck = stores(u64::MAX, u64::MAX, remote).expect_err("it never ends by itself");
    assert_eq!(stuck.how, Standstill::Stopped);
}

#[test]
fn a_design_whose_messages_stop_time_is_given_up() {
    // Its messages are for the present, again and again.
    let stuck = stuck_under(Some(0), Options::default());
    assert_eq!(stuck.how, Standstill::Instant, "{stuck}");
    assert!(
        stuck
            .to_string()
            .contains("a fence is held until the design opens gate"),
        "{stuck}"
    );
}

/// Stores, flushes and reads lines that leave the caches soon.
fn touch_many(cpu: &SimCpu<'_>) {
    for line in 0..128 {
        let address = cpu.word(PM_BASE + line * 64);
        address.store(cpu.word(1));
        if line % 2 == 0 {
            address.flush();
        }
        cpu.word(PM_BASE + (line / 2) * 64).load();
    }
    cpu.primitive(Primitive::Mfence);
}

#[test]
fn a_gate_opened_again_and_again_though_it_stays_shut_is_given_up_whoever_waits_for_it() {
    let waiters = [
        (Odd::ClaimWaits, "core 0: Claim("),
        (Odd::LoadWaits, "core 0: a load of"),
        (Odd::StoreWaits, "in the store queue, first Store"),
        (
            Odd::EvictionHeld,
            "evicted from the LLC, waits until the design opens gate",
        ),
        (Odd::ArrivalWaits, "controller 0: write"),
    ];
    for (odd, waiter) in waiters {
        let mut m = preset("cosplay");
        m.core.store_prefetch = false;
        set_caches(&mut m, (1024, 2), (4096, 4));
        let mut s = system(&m, Script::reopening(odd), 1);
        put(&mut s, 0, touch_many);
        let stuck = s.run().expect_err("the gate stays shut");
        assert_eq!(stuck.how, Standstill::Instant, "{stuck}");
        let text = stuck.to_string();
        assert!(text.contains(waiter), "{waiter}: {text}");
        assert!(text.contains("time does not move"), "{text}");
        assert!(text.contains("opened last, is Gate"), "{text}");
    }
}
