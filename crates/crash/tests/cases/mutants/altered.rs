//! Designs with one answer changed.

use std::collections::BTreeMap;
use strandline_design::{
    About, Acceptance, Access, Admission, AnyDesign, Checkpoint, Claim, ControllerId, Counter, Counters, Departure,
    Design, Eviction, Forward, Held, Hook, Key, Keys, Level, LineTag, Load, Ordering, Passing, Place, PortId, Services,
    Sizes, Snoop, Store, StoreId, Supply, Until, Wants, Write, WriteRequest,
};
use strandline_isa::{CoreId, Flush, Line, LineData, Lowering, Primitive};
use strandline_kernel::{forward, Cycles, Param, Params};

/// The answer that is changed.
#[derive(Clone, Copy)]
pub enum Change {
    /// What intents become.
    Lowering(fn(&mut Lowering)),
    /// The change of a primitive at dispatch.
    Primitive(Primitive, Admission<Key>),
    /// An sfence waits for stores and for every other flush.
    SfenceAwaitsHalf,
    /// An sfence that finds something pending waits some time and does not check again.
    SfenceLooksOnce,
    /// A flush is acknowledged and not sent.
    FlushDropped,
    /// A flush is acknowledged when it is sent.
    FlushAcknowledgedAtDeparture,
    /// A flush is acknowledged when it leaves the store queue, and sent later.
    FlushSentLate,
    /// Only every other flush is sent.
    FlushHalved,
    /// The change of a cfence for this context.
    Cfence(fn(u8) -> Admission<Key>),
    /// Everything belongs to context 0, despite setctx.
    SetctxIgnored,
    /// A locked instruction waits for no flush.
    LockedWaitsForNothing,
    /// Dirty lines that leave this level are dropped.
    EvictionsDropped(Level),
    /// Dirty lines that leave this level are written back.
    EvictionsWrittenBack(Level),
    /// Only cores whose caches hold a line receive requests for it.
    HoldersAsked,
    /// A pcommit completes when it departs.
    PcommitAtOnce,
    /// A pcommit completes after the first controller's reply.
    PcommitFirstAnswer,
    /// A pcommit is sent only to the first controller.
    PcommitOneController,
    /// Every controller's reply counts as the pcommit's.
    PcommitEachAnswer,
    /// Where the persistence domain begins.
    Saves(Option<Place>),
    /// The owner forwards these lines without a note.
    Given(fn(Line, Access) -> bool),
    /// Dirty lines are forwarded without a write-back.
    HandedOverDirty,
    /// Nothing is undone when power fails.
    NothingUndone,
    /// The design never receives the acknowledgement of its own flush.
    AcknowledgementsLost,
}

/// A design that behaves as `inner`, with one change.
pub struct Altered {
    inner: Box<AnyDesign>,
    change: Change,
    /// Numbers flushes, gates and commits.
    count: u64,
    /// Pending flushes, by number.
    late: BTreeMap<u64, (CoreId, Line)>,
    /// Contexts of unacknowledged commits, by tag.
    commits: BTreeMap<Key, u8>,
}

/// How much too early or too late: less than a flush takes, or more.
const EARLY: Cycles = Cycles(20);
const LATE: Cycles = Cycles(2_000);

/// Tags outside the inner design's range.
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

    /// A key that the inner design has none of.
    fn own_key(&mut self) -> Key {
        self.count += 1;
        Key(OWN_TAG + self.count)
    }

    fn sfence(&mut self, hw: &mut dyn Services<Keys>, core: CoreId) -> Option<Admission<Key>> {
        if !matches!(self.change, Change::SfenceLooksOnce) || hw.pending(core, None) == 0 {
            return None;
        }
        let gate = self.own_key();
        hw.send(hw.now() + EARLY, gate);
        Some(Admission::Hold(Until::Open(gate)))
    }

    fn flush(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, line: Line, context: u8) -> Option<Departure<Key>> {
        let key = self.own_key();
        match self.change {
            Change::FlushDropped => {}
            Change::FlushHalved if self.count % 2 == 0 => {}
            Change::FlushAcknowledgedAtDeparture => hw.flush_line(core, line, Flush::Clwb, key),
            Change::SfenceAwaitsHalf if self.count % 2 == 0 => hw.flush_line(core, line, Flush::Clwb, key),
            Change::FlushSentLate => {
                self.late.insert(key.0, (core, line));
                hw.send(hw.now() + LATE, key);
            }
            _ => return None,
        }
        hw.acknowledge(core, context);
        Some(Departure::Keep)
    }

    fn pcommit(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, context: u8) -> Option<Departure<Key>> {
        let controllers = match self.change {
            Change::PcommitAtOnce => return Some(Departure::Go),
            Change::PcommitFirstAnswer | Change::PcommitEachAnswer => hw.controllers(),
            Change::PcommitOneController => 1,
            _ => return None,
        };
        let tag = self.own_key();
        self.commits.insert(tag, context);
        for controller in 0..controllers {
            hw.commit(core, ControllerId(controller as u16), tag);
        }
        Some(Departure::Keep)
    }
}

impl Design for Altered {
    type Own = Keys;

    forward! { self.inner =>
        fn about(&self) -> About;
        fn params(&self) -> &'static [Param];
        fn set(&mut self, params: &Params);
        fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)>;
        fn buffers(&self, machine: &Sizes) -> Vec<Held>;
        fn is_shared(&self, requester: CoreId, line: Line) -> bool;
        fn modes(&self) -> &'static [&'static str];
        fn own_counters(&self) -> &'static [Counter];
        fn counters(&self, now: Cycles) -> Counters;
        fn claim(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, ordering: Ordering) -> Claim<Key>;
        fn claimed(
            &mut self,
            hw: &mut dyn Services<Keys>,
            core: CoreId,
            ordering: Ordering,
            context: u8,
            retires: Cycles,
        );
        fn load(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, load: Load) -> Forward<Key>;
        fn keep(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, write: Write, id: StoreId) -> Departure<Key>;
        fn store(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, write: Write) -> Departure<Key>;
        fn watched(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, line: Line) -> Departure<Key>;
        fn visible(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, store: Store);
        fn performed(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, id: StoreId);
        fn replied(&mut self, hw: &mut dyn Services<Keys>, requester: CoreId, owner: CoreId, line: Line, note: Key);
        fn tagged(
            &mut self,
            hw: &mut dyn Services<Keys>,
            requester: CoreId,
            line: Line,
            access: Access,
            tag: LineTag,
        ) -> Option<Until<Key>>;
        fn missed(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, line: Line, access: Access) -> Supply<Key>;
        fn passes(&mut self, hw: &mut dyn Services<Keys>, port: PortId, write: &WriteRequest<Key>) -> Passing;
        fn arrived(
            &mut self,
            hw: &mut dyn Services<Keys>,
            controller: ControllerId,
            write: &WriteRequest<Key>,
        ) -> Acceptance<Key>;
        fn may_coalesce(&self, controller: ControllerId, queued: &WriteRequest<Key>, write: &WriteRequest<Key>) -> bool;
        fn may_issue(&self, controller: ControllerId, write: &WriteRequest<Key>) -> bool;
        fn coalesced(&mut self, hw: &mut dyn Services<Keys>, controller: ControllerId, write: &WriteRequest<Key>);
        fn reached_media(&mut self, hw: &mut dyn Services<Keys>, controller: ControllerId, write: &WriteRequest<Key>);
        fn rolled_back(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, checkpoint: Checkpoint);
        fn waits(&self) -> Vec<String>;
    }

    fn wants(&self) -> Wants {
        let mut wants = self.inner.wants();
        match self.change {
            Change::Saves(place) => wants.saves = place,
            Change::HoldersAsked => wants.snoops_all = false,
            Change::HandedOverDirty => wants.handed_over_clean = false,
            _ => {}
        }
        wants
    }

    fn lowering(&self) -> Lowering {
        let mut lowering = self.inner.lowering();
        if let Change::Lowering(change) = self.change {
            change(&mut lowering);
        }
        lowering
    }

    fn primitive(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, primitive: Primitive) -> Admission<Key> {
        match (self.change, primitive) {
            (Change::Primitive(changed, admission), _) if changed == primitive => return admission,
            (Change::Cfence(becomes), Primitive::Cfence(context)) => return becomes(context),
            (Change::SetctxIgnored, Primitive::Setctx(_)) => return Admission::Pass,
            _ => {}
        }
        if primitive == Primitive::Sfence {
            if let Some(admission) = self.sfence(hw, core) {
                return admission;
            }
        }
        let admission = self.inner.primitive(hw, core, primitive);
        if matches!(self.change, Change::Primitive(..) | Change::SfenceLooksOnce) {
            // The inner design may not implement the hook.
            hw.ask_again(Hook::Primitive);
        }
        admission
    }

    fn locked_waits_for(&mut self, core: CoreId) -> Option<Until<Key>> {
        match self.change {
            Change::LockedWaitsForNothing => None,
            _ => self.inner.locked_waits_for(core),
        }
    }

    fn departs(
        &mut self,
        hw: &mut dyn Services<Keys>,
        core: CoreId,
        ordering: Ordering,
        context: u8,
    ) -> Departure<Key> {
        let changed = match ordering {
            Ordering::Flush(line, _) => self.flush(hw, core, line, context),
            Ordering::Primitive(Primitive::Pcommit) => self.pcommit(hw, core, context),
            _ => None,
        };
        changed.unwrap_or_else(|| self.inner.departs(hw, core, ordering, context))
    }

    fn acknowledged(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, tag: Key) {
        if tag.0 < OWN_TAG && !matches!(self.change, Change::AcknowledgementsLost) {
            self.inner.acknowledged(hw, core, tag);
        }
    }

    fn snooped(
        &mut self,
        hw: &mut dyn Services<Keys>,
        owner: CoreId,
        requester: CoreId,
        line: Line,
        access: Access,
    ) -> Snoop<Key, Key> {
        match self.change {
            Change::Given(which) if which(line, access) => Snoop::Grant(None),
            _ => self.inner.snooped(hw, owner, requester, line, access),
        }
    }

    fn evicted(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, level: Level, line: Line) -> Eviction<Key> {
        match self.change {
            Change::EvictionsDropped(dropped) if dropped == level => Eviction::Drop,
            Change::EvictionsWrittenBack(written) if written == level => Eviction::WriteBack,
            _ => self.inner.evicted(hw, core, level, line),
        }
    }

    fn committed(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, tag: Key) {
        if tag.0 < OWN_TAG {
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

    fn message(&mut self, hw: &mut dyn Services<Keys>, message: Key) {
        if message.0 < OWN_TAG {
            return self.inner.message(hw, message);
        }
        match self.late.remove(&message.0) {
            Some((core, line)) => hw.flush_line(core, line, Flush::Clwb, message),
            None => hw.open(message),
        }
    }

    fn power_fails(&self, image: &mut dyn FnMut(Line, LineData)) {
        if !matches!(self.change, Change::NothingUndone) {
            self.inner.power_fails(image);
        }
    }
}
