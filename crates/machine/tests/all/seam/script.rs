//! A design that answers one place out of the ordinary.

use crate::common::as_plain;
use strandline_design::{
    Acceptance, Access, Admission, Claim, ControllerId, Departure, Design, Eviction, Forward, Level, Load, Ordering,
    Services, Snoop, StoreId, Supply, Types, Until, Wants, Write, WriteRequest,
};
use strandline_isa::{Addr, CoreId, Flush, Line, LineData, Primitive, PM_BASE};
use strandline_kernel::Cycles;

/// The only gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gate;

/// The only message: a timer.
#[derive(Clone, Debug)]
pub struct Timer;

/// What it notes on the flushes that it sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenOver(pub Line);

/// What it notes on replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note(pub u64);

/// The types of the designs here.
pub struct Own;

impl Types for Own {
    type Gate = Gate;
    type Message = Timer;
    type Tag = TakenOver;
    type Note = Note;
}

pub type Hw<'a> = dyn Services<Own> + 'a;

pub const SHUT: Until<Gate> = Until::Open(Gate);
/// When a shut gate opens after the first question.
pub const OPENS_AFTER: u64 = 5_000;

/// Which place answers out of the ordinary; all others answer as the plain machine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Odd {
    Nothing,
    ClaimWaits,
    HoldsLoads,
    LoadSupplied,
    LoadWaits,
    StoreKept,
    StoreWaits,
    FlushTakenOver,
    SnoopWaits,
    SnoopAnnotates,
    EvictionDropped,
    EvictionHeld,
    /// Held evictions, of whose lines a flush is sent.
    HeldLineFlushed,
    MissSupplied,
    ArrivalWaits,
    NoCoalescing,
    IssueBlocked,
    PowerFails,
}

pub struct Script {
    odd: Odd,
    asked: bool,
    open: bool,
    /// It opens its gate at each question that it answers with it, though it stays shut.
    reopens: bool,
    pub replies: Vec<(CoreId, CoreId, Note)>,
    context: u8,
    pub kept: Option<StoreId>,
    pub performed: Vec<StoreId>,
}

impl Script {
    pub fn new(odd: Odd) -> Script {
        Script {
            odd,
            asked: false,
            open: false,
            reopens: false,
            replies: Vec::new(),
            context: 0,
            kept: None,
            performed: Vec::new(),
        }
    }

    /// A script each of whose questions opens the gate, although the answer stays that it is shut.
    pub fn reopening(odd: Odd) -> Script {
        let reopens = true;
        Script {
            reopens,
            ..Script::new(odd)
        }
    }

    /// True while the gate is shut; the first time a timer is set that opens it.
    fn shut(&mut self, hw: &mut Hw<'_>) -> bool {
        if self.reopens {
            // For those that wait already, and for who asks now.
            hw.open(Gate);
            hw.send(hw.now(), Timer);
            return true;
        }
        if !std::mem::replace(&mut self.asked, true) {
            hw.send(hw.now() + Cycles(OPENS_AFTER), Timer);
        }
        !self.open
    }
}

impl Design for Script {
    type Own = Own;

    as_plain!();

    fn wants(&self) -> Wants {
        Wants {
            snoops_all: self.odd == Odd::SnoopAnnotates,
            ..Wants::default()
        }
    }

    fn claim(&mut self, hw: &mut Hw<'_>, _: CoreId, _: Ordering) -> Claim<Gate> {
        if self.odd == Odd::ClaimWaits && self.shut(hw) {
            Claim::Wait(SHUT)
        } else {
            Claim::No
        }
    }

    fn primitive(&mut self, hw: &mut Hw<'_>, _: CoreId, primitive: Primitive) -> Admission<Gate> {
        match primitive {
            Primitive::Pcommit => Admission::Pass,
            Primitive::Mfence if self.odd == Odd::HoldsLoads && self.shut(hw) => Admission::HoldLoads(SHUT),
            _ => Admission::Hold(Until::Drained(None)),
        }
    }

    fn load(&mut self, hw: &mut Hw<'_>, _: CoreId, load: Load) -> Forward<Gate> {
        let odd = self.odd;
        match odd {
            Odd::LoadSupplied if load.addr.0 == PM_BASE => Forward::Bytes {
                mask: 0xff,
                value: 99,
                after: Cycles(33),
            },
            Odd::LoadWaits if self.shut(hw) => Forward::Wait(SHUT),
            _ => Forward::Caches { after: Cycles(0) },
        }
    }

    fn keep(&mut self, hw: &mut Hw<'_>, _: CoreId, _: Write, id: StoreId) -> Departure<Gate> {
        if self.odd != Odd::StoreKept {
            return Departure::Go;
        }
        self.shut(hw);
        self.kept = Some(id);
        Departure::Keep
    }

    fn performed(&mut self, _: &mut Hw<'_>, _: CoreId, id: StoreId) {
        self.performed.push(id);
    }

    fn store(&mut self, hw: &mut Hw<'_>, _: CoreId, _: Write) -> Departure<Gate> {
        if self.odd == Odd::StoreWaits && self.shut(hw) {
            Departure::Wait(SHUT)
        } else {
            Departure::Go
        }
    }

    fn departs(&mut self, hw: &mut Hw<'_>, core: CoreId, ordering: Ordering, context: u8) -> Departure<Gate> {
        match (self.odd, ordering) {
            (Odd::FlushTakenOver | Odd::HeldLineFlushed, Ordering::Flush(line, _)) => {
                self.context = context;
                hw.flush_line(core, line, Flush::Clwb, TakenOver(line));
                Departure::Keep
            }
            _ => Departure::Go,
        }
    }

    fn acknowledged(&mut self, hw: &mut Hw<'_>, core: CoreId, tag: TakenOver) {
        assert_eq!(tag, TakenOver(Addr(PM_BASE).line()));
        hw.acknowledge(core, self.context);
    }

    fn snooped(&mut self, hw: &mut Hw<'_>, _: CoreId, _: CoreId, _: Line, access: Access) -> Snoop<Gate, Note> {
        let odd = self.odd;
        match odd {
            Odd::SnoopWaits if access == Access::Own && self.shut(hw) => Snoop::Wait(SHUT),
            Odd::SnoopAnnotates => Snoop::Grant(Some(Note(5))),
            _ => Snoop::Grant(None),
        }
    }

    fn replied(&mut self, _: &mut Hw<'_>, requester: CoreId, owner: CoreId, _: Line, note: Note) {
        self.replies.push((requester, owner, note));
    }

    fn evicted(&mut self, hw: &mut Hw<'_>, _: CoreId, level: Level, _: Line) -> Eviction<Gate> {
        let odd = self.odd;
        match odd {
            Odd::EvictionDropped => Eviction::Drop,
            Odd::EvictionHeld if level == Level::Llc && self.shut(hw) => Eviction::Hold(SHUT),
            Odd::HeldLineFlushed if level == Level::Llc => Eviction::Hold(SHUT),
            _ => Eviction::WriteBack,
        }
    }

    fn missed(&mut self, _: &mut Hw<'_>, _: CoreId, _: Line, _: Access) -> Supply<Gate> {
        match self.odd {
            Odd::MissSupplied => Supply::Design(Cycles(11)),
            _ => Supply::Memory,
        }
    }

    fn arrived(&mut self, hw: &mut Hw<'_>, _: ControllerId, _: &WriteRequest<TakenOver>) -> Acceptance<Gate> {
        if self.odd == Odd::ArrivalWaits && self.shut(hw) {
            Acceptance::Wait(SHUT)
        } else {
            Acceptance::Queue
        }
    }

    fn may_coalesce(&self, _: ControllerId, _: &WriteRequest<TakenOver>, _: &WriteRequest<TakenOver>) -> bool {
        self.odd != Odd::NoCoalescing
    }

    fn may_issue(&self, _: ControllerId, _: &WriteRequest<TakenOver>) -> bool {
        self.odd != Odd::IssueBlocked || self.open
    }

    fn message(&mut self, hw: &mut Hw<'_>, _: Timer) {
        self.open = !self.reopens;
        if let Some(id) = self.kept {
            hw.perform(CoreId(0), id, hw.now());
        }
        hw.open(Gate);
    }

    fn power_fails(&self, image: &mut dyn FnMut(Line, LineData)) {
        if self.odd == Odd::PowerFails {
            image(Addr(PM_BASE).line(), [6; 8]);
        }
    }
}
