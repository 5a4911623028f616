//! A design whose answers are noted.

use super::answers::Answer;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use strandline_design::{
    About, Acceptance, Access, Admission, AnyDesign, Checkpoint, Claim, ControllerId, Counter, Counters, Departure,
    Design, Eviction, Forward, Held, Key, Keys, Level, LineTag, Load, Ordering, Passing, PortId, Services, Sizes,
    Snoop, Store, StoreId, Supply, Until, Wants, Write, WriteRequest,
};
use strandline_isa::{CoreId, Line, LineData, Lowering, Primitive};
use strandline_kernel::{forward, Cycles, Param, Params};

/// A question of the machine, and the kind of an answer that the plain machine would not give.
pub type Taken = (&'static str, &'static str);

/// What was answered in a run: each pair of answers in which one followed the other, and so each answer.
#[derive(Default)]
pub struct Answers {
    pub pairs: BTreeSet<(Taken, Taken)>,
    last: Option<Taken>,
}

impl Answers {
    /// Notes an answer.
    fn note(&mut self, taken: Taken) {
        let last = self.last.replace(taken).unwrap_or(taken);
        self.pairs.insert((last, taken));
    }
}

/// The answers of runs that share them.
pub type Noted = Rc<RefCell<Answers>>;

/// A design that behaves as `inner`. The answers that the plain machine would give are not noted: the machine asks some
/// questions of designs that leave them to the plain machine.
pub struct Counted {
    inner: Box<AnyDesign>,
    noted: Noted,
}

impl Counted {
    pub fn boxed(inner: Box<AnyDesign>, noted: Noted) -> Box<AnyDesign> {
        Box::new(Counted { inner, noted })
    }

    /// Passes an answer on, and notes it unless the plain machine would give it.
    fn says<A: Answer + PartialEq>(&self, question: &'static str, plain: A, answer: A) -> A {
        if answer != plain {
            self.noted.borrow_mut().note((question, answer.kind()));
        }
        answer
    }

    /// Notes that the design hears of what it has asked for.
    fn hears(&self, what: &'static str) {
        self.noted.borrow_mut().note((what, "heard"));
    }
}

impl Design for Counted {
    type Own = Keys;

    forward! { self.inner =>
        fn about(&self) -> About;
        fn wants(&self) -> Wants;
        fn params(&self) -> &'static [Param];
        fn set(&mut self, params: &Params);
        fn modes(&self) -> &'static [&'static str];
        fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)>;
        fn buffers(&self, machine: &Sizes) -> Vec<Held>;
        fn lowering(&self) -> Lowering;
        fn visible(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, store: Store);
        fn coalesced(&mut self, hw: &mut dyn Services<Keys>, controller: ControllerId, write: &WriteRequest<Key>);
        fn reached_media(&mut self, hw: &mut dyn Services<Keys>, controller: ControllerId, write: &WriteRequest<Key>);
        fn own_counters(&self) -> &'static [Counter];
        fn counters(&self, now: Cycles) -> Counters;
        fn waits(&self) -> Vec<String>;
    }

    fn claim(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, ordering: Ordering) -> Claim<Key> {
        let answer = self.inner.claim(hw, core, ordering);
        self.says("claim", Claim::No, answer)
    }

    fn primitive(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, primitive: Primitive) -> Admission<Key> {
        let answer = self.inner.primitive(hw, core, primitive);
        self.says("primitive", Admission::plain(primitive), answer)
    }

    fn claimed(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, ordering: Ordering, context: u8, retires: Cycles) {
        self.hears("claimed");
        self.inner.claimed(hw, core, ordering, context, retires);
    }

    fn locked_waits_for(&mut self, core: CoreId) -> Option<Until<Key>> {
        let answer = self.inner.locked_waits_for(core);
        self.says("locked_waits_for", Some(Until::Drained(None)), answer)
    }

    fn load(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, load: Load) -> Forward<Key> {
        let answer = self.inner.load(hw, core, load);
        self.says("load", Forward::Caches { after: Cycles(0) }, answer)
    }

    fn keep(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, write: Write, id: StoreId) -> Departure<Key> {
        let answer = self.inner.keep(hw, core, write, id);
        self.says("keep", Departure::Go, answer)
    }

    fn store(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, write: Write) -> Departure<Key> {
        let answer = self.inner.store(hw, core, write);
        self.says("store", Departure::Go, answer)
    }

    fn watched(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, line: Line) -> Departure<Key> {
        let answer = self.inner.watched(hw, core, line);
        self.says("watched", Departure::Go, answer)
    }

    fn departs(
        &mut self,
        hw: &mut dyn Services<Keys>,
        core: CoreId,
        ordering: Ordering,
        context: u8,
    ) -> Departure<Key> {
        let answer = self.inner.departs(hw, core, ordering, context);
        self.says("departs", Departure::Go, answer)
    }

    fn performed(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, id: StoreId) {
        self.hears("performed");
        self.inner.performed(hw, core, id);
    }

    fn acknowledged(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, tag: Key) {
        self.hears("acknowledged");
        self.inner.acknowledged(hw, core, tag);
    }

    fn snooped(
        &mut self,
        hw: &mut dyn Services<Keys>,
        owner: CoreId,
        requester: CoreId,
        line: Line,
        access: Access,
    ) -> Snoop<Key, Key> {
        let answer = self.inner.snooped(hw, owner, requester, line, access);
        self.says("snooped", Snoop::Grant(None), answer)
    }

    fn tagged(
        &mut self,
        hw: &mut dyn Services<Keys>,
        requester: CoreId,
        line: Line,
        access: Access,
        tag: LineTag,
    ) -> Option<Until<Key>> {
        let answer = self.inner.tagged(hw, requester, line, access, tag);
        self.says("tagged", None, answer)
    }

    fn is_shared(&self, requester: CoreId, line: Line) -> bool {
        self.says("is_shared", false, self.inner.is_shared(requester, line))
    }

    fn replied(&mut self, hw: &mut dyn Services<Keys>, requester: CoreId, owner: CoreId, line: Line, note: Key) {
        self.hears("replied");
        self.inner.replied(hw, requester, owner, line, note);
    }

    fn evicted(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, level: Level, line: Line) -> Eviction<Key> {
        let answer = self.inner.evicted(hw, core, level, line);
        let question = match level {
            Level::Private => "evicted (private caches)",
            Level::Llc => "evicted (LLC)",
        };
        self.says(question, Eviction::WriteBack, answer)
    }

    fn missed(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, line: Line, access: Access) -> Supply<Key> {
        let answer = self.inner.missed(hw, core, line, access);
        self.says("missed", Supply::Memory, answer)
    }

    fn passes(&mut self, hw: &mut dyn Services<Keys>, port: PortId, write: &WriteRequest<Key>) -> Passing {
        let answer = self.inner.passes(hw, port, write);
        self.says("passes", Passing::GoOn, answer)
    }

    fn arrived(
        &mut self,
        hw: &mut dyn Services<Keys>,
        controller: ControllerId,
        write: &WriteRequest<Key>,
    ) -> Acceptance<Key> {
        let answer = self.inner.arrived(hw, controller, write);
        self.says("arrived", Acceptance::Queue, answer)
    }

    fn may_coalesce(&self, controller: ControllerId, queued: &WriteRequest<Key>, write: &WriteRequest<Key>) -> bool {
        let answer = self.inner.may_coalesce(controller, queued, write);
        self.says("may_coalesce", true, answer)
    }

    fn may_issue(&self, controller: ControllerId, write: &WriteRequest<Key>) -> bool {
        self.says("may_issue", true, self.inner.may_issue(controller, write))
    }

    fn committed(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, tag: Key) {
        self.hears("committed");
        self.inner.committed(hw, core, tag);
    }

    fn message(&mut self, hw: &mut dyn Services<Keys>, message: Key) {
        self.hears("message");
        self.inner.message(hw, message);
    }

    fn rolled_back(&mut self, hw: &mut dyn Services<Keys>, core: CoreId, checkpoint: Checkpoint) {
        self.hears("rolled_back");
        self.inner.rolled_back(hw, core, checkpoint);
    }

    fn power_fails(&self, image: &mut dyn FnMut(Line, LineData)) {
        let mut names = false;
        self.inner.power_fails(&mut |line, data| {
            names = true;
            image(line, data);
        });
        if names {
            self.hears("power_fails");
        }
    }
}
