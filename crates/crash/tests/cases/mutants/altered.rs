//! Designs with one answer changed.

use std::collections::BTreeMap;
use strandline_design::{
    About, Acceptance, Access, Admission, Answer, Asked, ControllerId, Counters, Departure, Design, Domain, Entry,
    Eviction, Forward, Gate, Level, Message, Places, Reply, Services, Sizes, Supply, Until, WriteRequest,
};
use strandline_isa::{Addr, CoreId, Line, LineData, Lowering, Primitive};
use strandline_kernel::{Cycles, Param, Params};

/// The answer that is changed.
#[derive(Clone, Copy)]
pub enum Change {
    /// What intents become.
    Lowering(fn(&mut Lowering)),
    /// What becomes of a primitive at dispatch.
    Primitive(Primitive, Admission),
    /// An sfence waits for stores and not for flushes.
    SfenceAwaitsStores,
    /// An sfence waits for stores and for every other flush.
    SfenceAwaitsHalf,
    /// An sfence that finds something pending waits some time and does not look again.
    SfenceLooksOnce,
    /// A flush is acknowledged and not sent.
    FlushDropped,
    /// A flush is acknowledged when it is sent.
    FlushAcknowledgedAtDeparture,
    /// A flush is acknowledged when it leaves the store queue, and sent later.
    FlushSentLate,
    /// Only every other flush is sent.
    FlushHalved,
    /// What becomes of a cfence for this context.
    Cfence(fn(u8) -> Admission),
    /// Whatever setctx says, everything belongs to context 0.
    SetctxIgnored,
    /// A locked instruction waits for no flush.
    LockedWaitsForNothing,
    /// Dirty lines that leave this level are dropped.
    EvictionsDropped(Level),
    /// Dirty lines that leave this level are written back.
    EvictionsWrittenBack(Level),
    /// Only cores whose caches hold a line are asked for it.
    HoldersAsked,
    /// A pcommit is done when it departs.
    PcommitAtOnce,
    /// A pcommit is done when the first controller has answered.
    PcommitFirstAnswer,
    /// A pcommit asks the first controller only.
    PcommitOneController,
    /// Every controller's answer counts as the pcommit's.
    PcommitEachAnswer,
    /// Where the persistence domain begins.
    Domain(Domain),
    /// The owner gives these lines and notes nothing.
    Given(fn(Line, Access) -> bool),
    /// Dirty lines are handed over as they are.
    HandedOverDirty,
    /// Nothing is undone when power fails.
    NothingUndone,
    /// The design never hears that a flush of its own is acknowledged.
    AcknowledgementsLost,
}

/// A design that answers as `inner` does, but for one change.
pub struct Altered {
    inner: Box<AnyDesign>,
    change: Change,
    /// Numbers flushes, gates and commits.
    count: u64,
    /// Flushes to be sent, by number.
    late: BTreeMap<u64, (CoreId, Line)>,
    /// Contexts of commits that have not been acknowledged, by tag.
    commits: BTreeMap<u64, u8>,
}

/// Flushes of this context are told apart from stores.
const FLUSHES: u8 = 1;

/// How long what comes too early, or too late, is off by: less than a flush takes, and more.
const EARLY: Cycles = Cycles(20);
const LATE: Cycles = Cycles(2_000);

/// The message that opens a gate, and the one that sends a late flush.
const OPEN: u32 = 1_000;
const SEND: u32 = 1_001;

/// Tags that are not the inner design's.
const OWN_TAG: u64 = 1 << 40;

impl Altered {
    pub fn boxed(inner: Box<AnyDesign>, change: Change) -> Box<AnyDesign> {
        Box::new(Altered {
            inner,
            change,
            count: 0,
            late: BTreeMap::new(),
            commits: BTreeMap::new(),
        })
    }

    fn sfence(&mut self, hw: &mut dyn Services, core: CoreId) -> Option<Admission> {
        match self.change {
            Change::SfenceAwaitsStores | Change::SfenceAwaitsHalf => Some(Admission::Hold(Until::Drained(Some(0)))),
            Change::SfenceLooksOnce if hw.pending(core, None) > 0 => {
                self.count += 1;
                let message = Message {
                    kind: OPEN,
                    to: 0,
                    body: self.count,
                };
                hw.send(hw.now() + EARLY, message);
                Some(Admission::Hold(Until::Open(Gate(self.count))))
            }
            _ => None,
        }
    }

    fn flush(&mut self, hw: &mut dyn Services, core: CoreId, line: Line, context: u8) -> Option<Departure> {
        self.count += 1;
        match self.change {
            Change::FlushDropped => {}
            Change::FlushHalved if self.count % 2 == 0 => {}
            Change::FlushAcknowledgedAtDeparture => hw.flush_line(core, line, OWN_TAG),
            Change::FlushSentLate => {
                self.late.insert(self.count, (core, line));
                let message = Message {
                    kind: SEND,
                    to: 0,
                    body: self.count,
                };
                hw.send(hw.now() + LATE, message);
            }
            _ => return None,
        }
        hw.acknowledge(core, context);
        Some(Departure::Keep)
    }

    fn pcommit(&mut self, hw: &mut dyn Services, core: CoreId, context: u8) -> Option<Departure> {
        let controllers = match self.change {
            Change::PcommitAtOnce => return Some(Departure::Go),
            Change::PcommitFirstAnswer | Change::PcommitEachAnswer => hw.controllers(),
            Change::PcommitOneController => 1,
            _ => return None,
        };
        self.count += 1;
        let tag = OWN_TAG + self.count;
        self.commits.insert(tag, context);
        for controller in 0..controllers {
            hw.commit(core, ControllerId(controller as u16), tag);
        }
        Some(Departure::Keep)
    }
}

impl Design for Altered {
    fn about(&self) -> About {
        self.inner.about()
    }

    fn places(&self) -> Places {
        let inner = self.inner.places();
        let primitives = matches!(
            self.change,
            Change::Primitive(..) | Change::SfenceAwaitsStores | Change::SfenceAwaitsHalf | Change::SfenceLooksOnce
        );
        Places {
            primitives: inner.primitives || primitives,
            all_cores_asked: inner.all_cores_asked && !matches!(self.change, Change::HoldersAsked),
            admission: inner.admission || matches!(self.change, Change::SfenceAwaitsStores | Change::SfenceAwaitsHalf),
            ..inner
        }
    }

    fn domain(&self) -> Domain {
        match self.change {
            Change::Domain(domain) => domain,
            _ => self.inner.domain(),
        }
    }

    fn params(&self) -> &'static [Param] {
        self.inner.params()
    }

    fn set(&mut self, params: &Params) {
        self.inner.set(params);
    }

    fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        self.inner.storage(machine)
    }

    fn drain_bytes(&self, machine: &Sizes) -> u64 {
        self.inner.drain_bytes(machine)
    }

    fn counters(&self, now: Cycles) -> Counters {
        self.inner.counters(now)
    }

    fn lowering(&self) -> Lowering {
        let mut lowering = self.inner.lowering();
        if let Change::Lowering(change) = self.change {
            change(&mut lowering);
        }
        lowering
    }

    fn admit(&mut self, hw: &mut dyn Services, core: CoreId, entry: Entry) -> Answer {
        if matches!(self.change, Change::SfenceAwaitsStores | Change::SfenceAwaitsHalf) {
            let flush = matches!(entry, Entry::Flush(..));
            self.count += u64::from(flush);
            let apart = flush && (matches!(self.change, Change::SfenceAwaitsStores) || self.count % 2 == 0);
            hw.set_context(core, if apart { FLUSHES } else { 0 });
        }
        self.inner.admit(hw, core, entry)
    }

    fn primitive(&mut self, hw: &mut dyn Services, core: CoreId, primitive: Primitive) -> Admission {
        match self.change {
            Change::Primitive(changed, admission) if changed == primitive => return admission,
            _ => {}
        }
        match (self.change, primitive) {
            (Change::Cfence(becomes), Primitive::Cfence(context)) => return becomes(context),
            (Change::SetctxIgnored, Primitive::Setctx(_)) => return Admission::Pass,
            _ => {}
        }
        if primitive == Primitive::Sfence {
            if let Some(admission) = self.sfence(hw, core) {
                return admission;
            }
        }
        if self.inner.places().primitives {
            self.inner.primitive(hw, core, primitive)
        } else {
            Admission::plain(primitive)
        }
    }

    fn locked_waits_for(&self, core: CoreId) -> Option<Until> {
        match self.change {
            Change::LockedWaitsForNothing => None,
            _ => self.inner.locked_waits_for(core),
        }
    }

    fn load(&mut self, hw: &mut dyn Services, core: CoreId, addr: Addr) -> Forward {
        self.inner.load(hw, core, addr)
    }

    fn departs(&mut self, hw: &mut dyn Services, core: CoreId, entry: Entry, context: u8) -> Departure {
        let changed = match entry {
            Entry::Flush(line, _) => self.flush(hw, core, line, context),
            Entry::Primitive(Primitive::Pcommit) => self.pcommit(hw, core, context),
            _ => None,
        };
        changed.unwrap_or_else(|| self.inner.departs(hw, core, entry, context))
    }

    fn flushed(&mut self, hw: &mut dyn Services, core: CoreId, tag: u64) {
        if tag < OWN_TAG && !matches!(self.change, Change::AcknowledgementsLost) {
            self.inner.flushed(hw, core, tag);
        }
    }

    fn taken(&mut self, hw: &mut dyn Services, core: CoreId, entry: Entry, context: u8, retires: Cycles) {
        self.inner.taken(hw, core, entry, context, retires);
    }

    fn stored(&mut self, hw: &mut dyn Services, core: CoreId, store: u64) {
        self.inner.stored(hw, core, store);
    }

    fn visible(&mut self, hw: &mut dyn Services, core: CoreId, addr: Addr) {
        self.inner.visible(hw, core, addr);
    }

    fn hands_over_clean(&self) -> bool {
        self.inner.hands_over_clean() && !matches!(self.change, Change::HandedOverDirty)
    }

    fn asked(&mut self, hw: &mut dyn Services, owner: CoreId, requester: CoreId, line: Line, access: Access) -> Asked {
        match self.change {
            Change::Given(which) if which(line, access) => Asked::Give(None),
            _ => self.inner.asked(hw, owner, requester, line, access),
        }
    }

    fn told(&mut self, hw: &mut dyn Services, requester: CoreId, owner: CoreId, line: Line, reply: Reply) {
        self.inner.told(hw, requester, owner, line, reply);
    }

    fn evicted(&mut self, hw: &mut dyn Services, core: CoreId, level: Level, line: Line) -> Eviction {
        match self.change {
            Change::EvictionsDropped(dropped) if dropped == level => Eviction::Drop,
            Change::EvictionsWrittenBack(written) if written == level => Eviction::WriteBack,
            _ => self.inner.evicted(hw, core, level, line),
        }
    }

    fn missed(&mut self, hw: &mut dyn Services, core: CoreId, line: Line) -> Supply {
        self.inner.missed(hw, core, line)
    }

    fn arrived(&mut self, hw: &mut dyn Services, controller: ControllerId, write: &WriteRequest) -> Acceptance {
        self.inner.arrived(hw, controller, write)
    }

    fn may_coalesce(&self, controller: ControllerId, queued: &WriteRequest, write: &WriteRequest) -> bool {
        self.inner.may_coalesce(controller, queued, write)
    }

    fn may_issue(&self, controller: ControllerId, write: &WriteRequest) -> bool {
        self.inner.may_issue(controller, write)
    }

    fn reached_media(&mut self, hw: &mut dyn Services, controller: ControllerId, write: &WriteRequest) {
        self.inner.reached_media(hw, controller, write);
    }

    fn committed(&mut self, hw: &mut dyn Services, core: CoreId, tag: u64) {
        if tag < OWN_TAG {
            return self.inner.committed(hw, core, tag);
        }
        let context = match self.change {
            Change::PcommitEachAnswer => self.commits.get(&tag).copied(),
            _ => self.commits.remove(&tag),
        };
        if let Some(context) = context {
            hw.acknowledge(core, context);
        }
    }

    fn message(&mut self, hw: &mut dyn Services, message: Message) {
        match message.kind {
            OPEN => hw.open(Gate(message.body)),
            SEND => {
                if let Some((core, line)) = self.late.remove(&message.body) {
                    hw.flush_line(core, line, OWN_TAG);
                }
            }
            _ => self.inner.message(hw, message),
        }
    }

    fn waits(&self) -> Vec<String> {
        self.inner.waits()
    }

    fn power_fails(&self, image: &mut dyn FnMut(Line, LineData)) {
        if !matches!(self.change, Change::NothingUndone) {
            self.inner.power_fails(image);
        }
    }
}
