//! Cores that no longer hold a line: what the directory remembers of them.

use crate::common::{as_plain, preset, put, system};
use std::cell::Cell;
use std::rc::Rc;
use strandline_design::{Access, Design, Never, Services, Snoop, Types, Wants};
use strandline_isa::{CoreId, Cpu, Line, Primitive, PM_BASE};
use strandline_machine::config::Coherence;

struct Own;

impl Types for Own {
    type Gate = Never;
    type Message = Never;
    type Tag = Never;
    type Note = ();
}

/// Core 0 replies with a note, whether it holds the line or not.
#[derive(Clone, Default)]
struct Remembering {
    remembers: bool,
    shares: bool,
    /// Requests to own a line.
    owned: Rc<Cell<u32>>,
}

impl Design for Remembering {
    type Own = Own;

    as_plain!();

    fn wants(&self) -> Wants {
        Wants {
            snoops_all: true,
            sharers_remembered: self.remembers,
            ..Wants::default()
        }
    }

    fn is_shared(&self, _: CoreId, _: Line) -> bool {
        self.shares
    }

    fn snooped(
        &mut self,
        _: &mut dyn Services<Own>,
        owner: CoreId,
        _: CoreId,
        _: Line,
        access: Access,
    ) -> Snoop<Never, ()> {
        self.owned.set(self.owned.get() + u32::from(access == Access::Own));
        Snoop::Grant((owner == CoreId(0)).then_some(()))
    }
}

/// Cycles of core 1's load of a line that is in the LLC alone, with core 0 idle.
fn load(coherence: Coherence, remembers: bool) -> u64 {
    let mut machine = preset("cosplay");
    machine.interconnect.coherence = coherence;
    let design = Remembering {
        remembers,
        ..Remembering::default()
    };
    let mut system = system(&machine, design, 2);
    system.warm(PM_BASE..PM_BASE + 64);
    put(&mut system, 1, |cpu| {
        _ = cpu.word(PM_BASE).load();
    });
    system.run().expect("ends").stats.cycles.0
}

#[test]
fn a_directory_forwards_requests_to_who_held_the_line() {
    let hop = preset("cosplay").interconnect.hop_latency.0;
    let forgets = load(Coherence::Directory, false);
    assert_eq!(load(Coherence::Directory, true), forgets + 2 * hop, "there and back");
    assert_eq!(
        load(Coherence::Snoop, true),
        load(Coherence::Snoop, false),
        "where requests are broadcast, it has heard of it"
    );
}

#[test]
fn a_core_without_the_only_copy_requests_the_line_to_store() {
    let requests = |shares| {
        let design = Remembering {
            shares,
            ..Remembering::default()
        };
        let owned = Rc::clone(&design.owned);
        let mut system = system(&preset("cosplay"), design, 2);
        put(&mut system, 1, |cpu| {
            cpu.word(PM_BASE).load();
            cpu.primitive(Primitive::Mfence);
            cpu.word(PM_BASE).store(cpu.word(1));
        });
        system.run().expect("ends");
        owned.get()
    };
    assert_eq!((requests(false), requests(true)), (0, 1));
}
