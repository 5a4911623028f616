//! Every place of the seam: a design that answers it, and what the machine then does.

use crate::common::{memory, preset, put};
use strandline_design::{
    About, Acceptance, Access, Admission, Answer, Asked, ControllerId, Departure, Design, Entry, Eviction, Forward,
    Gate, Level, Message, Places, Reply, Services, Supply, Until, WriteRequest,
};
use strandline_isa::{sites, Addr, CoreId, Cpu, Line, LineData, Lowering, Primitive, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::{Heartbeat, Machine, Op, Options, Outcome, Seen, SimCpu, System};

sites! {
    SEES_TWO = 0x4db9_6dde;
}

const GATE: Gate = Gate(7);
const SHUT: Until = Until::Open(GATE);
/// When a shut gate opens after the first question.
const OPENS_AFTER: u64 = 5_000;

/// Which place answers out of the ordinary; all others answer as the plain machine.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Odd {
    Nothing,
    AdmitWaits,
    HoldsLoads,
    LoadSupplied,
    LoadWaits,
    StoreKept,
    StoreWaits,
    FlushTakenOver,
    AskedWaits,
    AskedAnnotates,
    EvictionDropped,
    EvictionHeld,
    MissSupplied,
    ArrivalWaits,
    NoCoalescing,
    IssueBlocked,
    PowerFails,
}

struct Script {
    odd: Odd,
    asked: bool,
    open: bool,
    told: Vec<(CoreId, CoreId, Reply)>,
    kept_context: u8,
}

impl Script {
    fn new(odd: Odd) -> Script {
        Script {
            odd,
            asked: false,
            open: false,
            told: Vec::new(),
            kept_context: 0,
        }
    }

    /// True while the gate is shut; the first time a timer is set that opens it.
    fn shut(&mut self, hw: &mut dyn Services) -> bool {
        if !std::mem::replace(&mut self.asked, true) {
            let at = hw.now() + Cycles(OPENS_AFTER);
            hw.send(
                at,
                Message {
                    kind: 1,
                    to: 0,
                    body: 0,
                },
            );
        }
        !self.open
    }
}

impl Design for Script {
    fn about(&self) -> About {
        crate::common::Plain.about()
    }

    fn places(&self) -> Places {
        Places {
            admission: self.odd == Odd::AdmitWaits,
            primitives: true,
            loads: matches!(self.odd, Odd::LoadSupplied | Odd::LoadWaits),
            stores: matches!(self.odd, Odd::StoreKept | Odd::StoreWaits),
            plain_nt: false,
            all_cores_asked: self.odd == Odd::AskedAnnotates,
            strands: false,
        }
    }

    fn lowering(&self) -> Lowering {
        crate::common::Plain.lowering()
    }

    fn admit(&mut self, hw: &mut dyn Services, _: CoreId, _: Entry) -> Answer {
        if self.shut(hw) {
            Answer::Wait(SHUT)
        } else {
            Answer::Go
        }
    }

    fn primitive(&mut self, hw: &mut dyn Services, _: CoreId, primitive: Primitive) -> Admission {
        match primitive {
            Primitive::Pcommit => Admission::Pass,
            Primitive::Mfence if self.odd == Odd::HoldsLoads && self.shut(hw) => Admission::HoldLoads(SHUT),
            _ => Admission::Hold(Until::Drained(None)),
        }
    }

    fn load(&mut self, hw: &mut dyn Services, _: CoreId, addr: Addr) -> Forward {
        let odd = self.odd;
        match odd {
            Odd::LoadSupplied if addr.0 == PM_BASE => Forward::Value(99, Cycles(33)),
            Odd::LoadWaits if self.shut(hw) => Forward::Wait(SHUT),
            _ => Forward::Caches,
        }
    }

    fn departs(&mut self, hw: &mut dyn Services, core: CoreId, entry: Entry, context: u8) -> Departure {
        match (self.odd, entry) {
            (Odd::StoreKept, Entry::Store(_)) => {
                self.kept_context = context;
                self.shut(hw);
                Departure::Keep
            }
            (Odd::StoreWaits, Entry::Store(_)) if self.shut(hw) => Departure::Wait(SHUT),
            (Odd::FlushTakenOver, Entry::Flush(line, _)) => {
                self.kept_context = context;
                hw.flush_line(core, line, 41);
                Departure::Keep
            }
            _ => Departure::Go,
        }
    }

    fn flushed(&mut self, hw: &mut dyn Services, core: CoreId, tag: u64) {
        assert_eq!(tag, 41);
        hw.acknowledge(core, self.kept_context);
    }

    fn asked(&mut self, hw: &mut dyn Services, _: CoreId, _: CoreId, _: Line, access: Access) -> Asked {
        let odd = self.odd;
        match odd {
            Odd::AskedWaits if access == Access::Own && self.shut(hw) => Asked::Wait(SHUT),
            Odd::AskedAnnotates => Asked::Give(Some(Reply(5))),
            _ => Asked::Give(None),
        }
    }

    fn told(&mut self, _: &mut dyn Services, requester: CoreId, owner: CoreId, _: Line, reply: Reply) {
        self.told.push((requester, owner, reply));
    }

    fn evicted(&mut self, hw: &mut dyn Services, _: CoreId, level: Level, _: Line) -> Eviction {
        let odd = self.odd;
        match odd {
            Odd::EvictionDropped => Eviction::Drop,
            Odd::EvictionHeld if level == Level::Last && self.shut(hw) => Eviction::Hold(SHUT),
            _ => Eviction::WriteBack,
        }
    }

    fn missed(&mut self, _: &mut dyn Services, _: CoreId, _: Line) -> Supply {
        match self.odd {
            Odd::MissSupplied => Supply::Design(Cycles(11)),
            _ => Supply::Memory,
        }
    }

    fn arrived(&mut self, hw: &mut dyn Services, _: ControllerId, _: &WriteRequest) -> Acceptance {
        if self.odd == Odd::ArrivalWaits && self.shut(hw) {
            Acceptance::Wait(SHUT)
        } else {
            Acceptance::Queue
        }
    }

    fn may_coalesce(&self, _: ControllerId, _: &WriteRequest, _: &WriteRequest) -> bool {
        self.odd != Odd::NoCoalescing
    }

    fn may_issue(&self, _: ControllerId, _: &WriteRequest) -> bool {
        self.odd != Odd::IssueBlocked || self.open
    }

    fn message(&mut self, hw: &mut dyn Services, _: Message) {
        self.open = true;
        if self.odd == Odd::StoreKept {
            hw.acknowledge(CoreId(0), self.kept_context);
        }
        hw.open(GATE);
    }

    fn power_fails(&self, image: &mut dyn FnMut(Line, LineData)) {
        if self.odd == Odd::PowerFails {
            image(Addr(PM_BASE).line(), [6; 8]);
        }
    }
}

fn machine() -> Machine {
    preset("cosplay")
}

fn system(machine: &Machine, odd: Odd, cores: usize) -> System {
    System::new(
        machine,
        Box::new(Script::new(odd)),
        cores,
        memory(),
        Options {
            journal: true,
            trace: true,
            ..Options::default()
        },
    )
}

/// What the design was told by replies.
fn told(system: &System) -> &[(CoreId, CoreId, Reply)] {
    let script = system.design().as_any().downcast_ref::<Script>();
    &script.expect("the scripted design").told
}

/// One store, flushed and fenced, on one core.
async fn persist_one(cpu: SimCpu) {
    let address = cpu.word(PM_BASE);
    address.store(cpu.word(3)).await;
    address.flush_by(strandline_isa::Flush::Clwb).await;
    cpu.primitive(Primitive::Sfence).await;
}

fn persist_under(odd: Odd) -> (Outcome, System) {
    let mut system = system(&machine(), odd, 1);
    put(&mut system, 0, persist_one);
    let outcome = system.run().expect("the program ends");
    (outcome, system)
}

fn plain_cycles() -> u64 {
    persist_under(Odd::Nothing).0.stats.cycles.0
}

#[test]
fn admission_store_and_arrival_wait_for_the_gate() {
    for odd in [Odd::AdmitWaits, Odd::StoreWaits, Odd::ArrivalWaits] {
        let (outcome, system) = persist_under(odd);
        assert!(outcome.stats.cycles.0 >= OPENS_AFTER);
        assert_eq!(system.memory().read(Addr(PM_BASE), 8), 3);
        assert_eq!(outcome.stats.pm_writes, 1);
        assert!(plain_cycles() < OPENS_AFTER);
    }
}

#[test]
fn a_kept_store_stays_pending_and_invisible() {
    let (outcome, system) = persist_under(Odd::StoreKept);
    assert!(
        outcome.stats.cycles.0 >= OPENS_AFTER,
        "the fence waits for the acknowledgement"
    );
    assert_eq!(
        system.memory().read(Addr(PM_BASE), 8),
        0,
        "the design has not made it visible"
    );
    let trace = outcome.journal.expect("kept").trace;
    assert!(matches!(trace.programs[0][0], Op::Store { .. }) && trace.visible.is_empty());
}

#[test]
fn a_flush_that_the_design_sends_costs_what_the_machines_own_costs() {
    assert_eq!(persist_under(Odd::FlushTakenOver).0.stats.cycles.0, plain_cycles());
}

#[test]
fn a_blocked_issue_keeps_the_write_queued_but_acknowledged() {
    let (outcome, _) = persist_under(Odd::IssueBlocked);
    assert_eq!(
        outcome.stats.cycles.0,
        plain_cycles(),
        "with ADR the fence does not wait for the media"
    );
    assert_eq!(outcome.stats.pm_writes, 0, "nothing opened the gate");
}

#[test]
fn loads_are_supplied_or_wait() {
    let mut supplied = system(&machine(), Odd::LoadSupplied, 1);
    put(&mut supplied, 0, |cpu| async move {
        let value = cpu.word(PM_BASE).load().await;
        assert_eq!(value.bits(), 99);
    });
    // Dispatched in cycle 0, issued in 1, 33 cycles later there.
    let outcome = supplied.run().expect("ends");
    assert_eq!(outcome.stats.cycles, Cycles(34));
    let load = Op::Load {
        addr: Addr(PM_BASE),
        size: 8,
        value: 99,
        from: Seen::Supplied(99),
    };
    assert_eq!(outcome.journal.expect("kept").trace.programs, [[load]]);
    let mut waits = system(&machine(), Odd::LoadWaits, 1);
    put(&mut waits, 0, |cpu| async move {
        assert_eq!(cpu.word(PM_BASE).load().await.bits(), 0);
    });
    waits.run().expect("the gate opens");
}

#[test]
fn a_fence_that_holds_loads_keeps_them_until_it_opens() {
    for (odd, later) in [(Odd::HoldsLoads, true), (Odd::Nothing, false)] {
        let mut s = system(&machine(), odd, 1);
        put(&mut s, 0, |cpu| async move {
            cpu.primitive(Primitive::Mfence).await;
            cpu.word(PM_BASE).load().await;
        });
        let cycles = s.run().expect("ends").stats.cycles.0;
        assert_eq!(cycles > OPENS_AFTER, later);
    }
}

/// Core 0 writes a line; after the start line core 1 writes it too.
fn two_writers(odd: Odd) -> (Outcome, System) {
    let mut s = system(&machine(), odd, 2);
    for core in 0..2 {
        put(&mut s, core, move |cpu| async move {
            if core == 1 {
                cpu.start_line().await;
            }
            cpu.word(PM_BASE).store(cpu.word(u64::from(core) + 1)).await;
            cpu.primitive(Primitive::Sfence).await;
            if core == 0 {
                cpu.start_line().await;
            }
        });
    }
    let outcome = s.run().expect("both end");
    (outcome, s)
}

#[test]
fn an_owner_delays_a_request_and_annotates_its_reply() {
    let (outcome, s) = two_writers(Odd::AskedWaits);
    assert!(outcome.stats.cycles.0 > OPENS_AFTER / 2);
    assert_eq!(s.memory().read(Addr(PM_BASE), 8), 2);
    let (_, s) = two_writers(Odd::AskedAnnotates);
    assert!(told(&s).contains(&(CoreId(1), CoreId(0), Reply(5))));
    let (_, s) = two_writers(Odd::Nothing);
    assert!(told(&s).is_empty());
}

/// Writes a line and drives it out of every cache by writing more lines than they hold.
fn overflow(odd: Odd) -> Outcome {
    let mut m = machine();
    m.l2 = None;
    (m.l1.bytes, m.l1.ways) = (1024, 2);
    (m.llc.bytes, m.llc.ways) = (4096, 4);
    let mut s = system(&m, odd, 1);
    put(&mut s, 0, |cpu| async move {
        for line in 0..128 {
            cpu.word(PM_BASE + line * 64).store(cpu.word(1)).await;
        }
        cpu.primitive(Primitive::Sfence).await;
    });
    s.run().expect("ends")
}

#[test]
fn evictions_are_written_back_dropped_or_held() {
    // 64 lines fit; half of the 128 dirty lines are driven out.
    assert_eq!(overflow(Odd::Nothing).stats.pm_writes, 64);
    assert_eq!(overflow(Odd::EvictionDropped).stats.pm_writes, 0);
    let held = overflow(Odd::EvictionHeld);
    assert_eq!(held.stats.pm_writes, 64, "held ones are written when the gate opens");
    let first = held.journal.expect("kept").durable.first().map(|d| d.at);
    assert!(first.is_some_and(|at| at.0 > OPENS_AFTER));
}

#[test]
fn a_miss_supplied_by_the_design_reads_no_memory() {
    let (supplied, _) = persist_under(Odd::MissSupplied);
    let (plain, _) = persist_under(Odd::Nothing);
    assert_eq!((supplied.stats.pm_reads, plain.stats.pm_reads), (0, 1));
    let read = machine().pm.read_latency.0;
    assert_eq!(plain.stats.cycles.0 - supplied.stats.cycles.0, read - 11);
}

/// One line written back three times by ever later flushes, while the media are busy.
fn flush_one_line_again_and_again(odd: Odd) -> Outcome {
    let mut m = machine();
    m.pm.banks = 1;
    let mut s = system(&m, odd, 1);
    put(&mut s, 0, |cpu| async move {
        for value in 0..6 {
            cpu.word(PM_BASE).store(cpu.word(value)).await;
            cpu.word(PM_BASE).flush_by(strandline_isa::Flush::Clwb).await;
            cpu.primitive(Primitive::Sfence).await;
        }
    });
    s.run().expect("ends")
}

#[test]
fn a_write_joins_a_queued_one_unless_the_design_says_no() {
    let joined = flush_one_line_again_and_again(Odd::Nothing).stats;
    let apart = flush_one_line_again_and_again(Odd::NoCoalescing).stats;
    assert!(joined.coalesced > 0 && joined.pm_writes + joined.coalesced == 6);
    assert_eq!((apart.coalesced, apart.pm_writes), (0, 6));
}

#[test]
fn what_a_power_failure_adds_is_durable_when_the_first_write_is() {
    let durable = |odd| persist_under(odd).0.journal.expect("kept").durable;
    let plain = durable(Odd::Nothing);
    assert_eq!(plain.len(), 1);
    let [event] = &durable(Odd::PowerFails)[..] else {
        panic!("the design's line lies over the one written, and is told once");
    };
    assert_eq!(
        (event.at, event.line, event.data),
        (plain[0].at, Addr(PM_BASE).line(), [6; 8])
    );
}

/// Its fences wait for a gate that nobody opens.
struct Shut {
    /// It sends itself messages meanwhile.
    polls: bool,
}

impl Design for Shut {
    fn about(&self) -> About {
        crate::common::Plain.about()
    }
    fn lowering(&self) -> Lowering {
        crate::common::Plain.lowering()
    }
    fn places(&self) -> Places {
        Places {
            primitives: true,
            ..Places::default()
        }
    }
    fn primitive(&mut self, hw: &mut dyn Services, _: CoreId, _: Primitive) -> Admission {
        const LOOK: Message = Message {
            kind: 0,
            to: 0,
            body: 0,
        };
        self.message(hw, LOOK);
        Admission::Hold(SHUT)
    }
    fn message(&mut self, hw: &mut dyn Services, message: Message) {
        if self.polls {
            hw.send(hw.now() + Cycles(100), message);
        }
    }
}

#[test]
fn a_gate_that_nobody_opens_is_an_error_that_says_who_waits() {
    let mut s = System::new(
        &machine(),
        Box::new(Shut { polls: false }),
        1,
        memory(),
        Options::default(),
    );
    put(&mut s, 0, persist_one_then_store);
    let stuck = s.run().expect_err("the fence waits for ever");
    assert!(stuck.dead);
    let text = stuck.to_string();
    assert!(
        text.contains("core 0: waits behind a fence, a fence is held until Open(Gate(7))"),
        "{text}"
    );
}

async fn persist_one_then_store(cpu: SimCpu) {
    persist_one(cpu.clone()).await;
    cpu.word(PM_BASE + 64).store(cpu.word(1)).await;
}

#[test]
fn a_run_in_which_only_a_designs_messages_go_on_is_given_up() {
    let options = Options {
        patience: Cycles(200_000),
        heartbeat: Heartbeat::Instructions,
        ..Options::default()
    };
    let mut s = System::new(&machine(), Box::new(Shut { polls: true }), 1, memory(), options);
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
    let mut s = System::new(&machine(), Box::new(crate::common::Plain), 2, memory(), options);
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
