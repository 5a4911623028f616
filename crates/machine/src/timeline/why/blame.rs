//! What each slot without a micro-op waited for.

use super::super::rows::{Cause, InstructionKind, Stall, TimelineOp, Wait, Write};
use super::super::waits::{Who, Why};
use super::index::{meet, overlapping, Index, Slots};
use super::{Class, Spent};
use strandline_isa::CoreId;

/// Waits that end waits: a longer chain says no more.
const DEEPEST: u8 = 24;

/// What a cause is asked about: cycles of a core, which waits in order to persist or not.
#[derive(Clone, Copy)]
struct Asked {
    core: u16,
    orders: bool,
    depth: u8,
}

impl Asked {
    fn deeper(self) -> Asked {
        Asked {
            depth: self.depth + 1,
            ..self
        }
    }
}

impl Index<'_> {
    pub(super) fn spent(&self, core: u16) -> Spent {
        let mut spent = Spent::default();
        let region = (self.slot(self.timeline.start), self.slot(self.end()));
        let of = &self.cores[usize::from(core)];
        let mut at = region.0;
        // What was executed in vain: nothing else of it is known.
        for &undone in &of.rolled_back {
            if let Some(undone) = meet(undone, (at, region.1)) {
                self.executed(core, (at, undone.0), &mut spent);
                spent.add(Class::RollBack, undone.1 - undone.0);
                at = undone.1;
            }
        }
        let last = self
            .timeline
            .last
            .get(usize::from(core))
            .copied()
            .unwrap_or(self.timeline.end);
        let last = self.slot(last + 1).clamp(at, region.1);
        self.executed(core, (at, last), &mut spent);
        self.behind(core, (last, region.1), &mut spent);
        spent
    }

    /// The first slot of a cycle.
    fn slot(&self, cycle: u64) -> u64 {
        cycle.saturating_mul(self.width)
    }

    /// When what is known ends.
    fn end(&self) -> u64 {
        let recorded = self.timeline.stopped.unwrap_or(u64::MAX);
        self.timeline.end.min(recorded).max(self.timeline.start)
    }

    /// Slots in which a core executed: those of its loops, its stalls, and all others.
    fn executed(&self, core: u16, span: Slots, spent: &mut Spent) {
        let of = &self.cores[usize::from(core)];
        let mut at = span.0;
        for (_, lap) in overlapping(&of.loops, span, |number| self.head_at(number)) {
            self.stalled(core, (at, lap.0), spent);
            spent.add(Class::Lock, lap.1 - lap.0);
            at = lap.1;
        }
        self.stalled(core, (at, span.1), spent);
    }

    fn head_at(&self, number: u32) -> Slots {
        let head = &self.timeline.heads[number as usize];
        (self.slot(head.from), self.slot(head.to))
    }

    fn stalled(&self, core: u16, span: Slots, spent: &mut Spent) {
        let of = &self.cores[usize::from(core)];
        let stall_at = |number: u32| {
            let stall = &self.timeline.stalls.0[number as usize];
            (self.slot(stall.from) + stall.used, self.slot(stall.to))
        };
        let mut at = span.0;
        for (number, stall) in overlapping(&of.stalls, span, stall_at) {
            let from = stall.0.max(at);
            spent.add(Class::Retiring, from - at);
            if from < stall.1 {
                self.stall(&self.timeline.stalls.0[number as usize], (from, stall.1), spent);
                at = stall.1;
            }
        }
        spent.add(Class::Retiring, span.1.saturating_sub(at));
    }

    /// Slots in which dispatch stalled.
    fn stall(&self, stall: &Stall, span: Slots, spent: &mut Spent) {
        let orders = |orders| Asked {
            core: stall.core,
            orders,
            depth: 0,
        };
        match stall.cause {
            Cause::Fence => self.fence(orders(true), span, spent),
            Cause::Buffer => {
                let rest = self.waits(orders(false), Who::Program(CoreId(stall.core)), span, spent);
                rest.into_iter().for_each(|span| self.queue(orders(false), span, spent));
            }
            Cause::Window => self.heads(orders(false), span, Class::Execution, spent),
            Cause::Redirect => {
                let rest = self.waits(orders(false), Who::Program(CoreId(stall.core)), span, spent);
                let front_end = |span| self.heads(orders(false), span, Class::FrontEnd, spent);
                rest.into_iter().for_each(front_end);
            }
        }
    }

    /// Slots behind a core's last instruction: its latest store or flush is not done, or it has nothing left.
    fn behind(&self, core: u16, span: Slots, spent: &mut Spent) {
        let asked = Asked {
            core,
            orders: true,
            depth: 0,
        };
        let latest = self.cores[usize::from(core)].latest;
        for rest in self.waits(asked, Who::Fence(CoreId(core)), span, spent) {
            for rest in self.waits(asked, Who::Program(CoreId(core)), rest, spent) {
                let done = latest.map_or(rest.0, |(done, _)| done.clamp(rest.0, rest.1));
                if let Some((_, op)) = latest.filter(|_| rest.0 < done) {
                    self.op(asked, op, (rest.0, done), spent);
                }
                spent.add(Class::Idle, rest.1 - done);
            }
        }
    }

    /// Slots in which a window waited for what its oldest instruction waits for.
    fn heads(&self, asked: Asked, span: Slots, otherwise: Class, spent: &mut Spent) {
        let of = &self.cores[usize::from(asked.core)];
        let mut at = span.0;
        for (number, head) in overlapping(&of.heads, span, |number| self.head_at(number)) {
            spent.add(otherwise, head.0.saturating_sub(at));
            let kind = self.timeline.heads[number as usize].kind;
            let class = match kind {
                // A store stands there where stores retire once the L1 has their line.
                Some(InstructionKind::Load | InstructionKind::Store) => Class::Data,
                Some(InstructionKind::Locked) => Class::Lock,
                Some(InstructionKind::Primitive(_) | InstructionKind::Flush(_)) => {
                    self.fence(Asked { orders: true, ..asked }.deeper(), head, spent);
                    at = head.1;
                    continue;
                }
                _ => otherwise,
            };
            // A load may have been refused by the design, or have waited for a flush.
            for rest in self.waits(asked, Who::Program(CoreId(asked.core)), head, spent) {
                spent.add(class, rest.1 - rest.0);
            }
            at = head.1;
        }
        spent.add(otherwise, span.1.saturating_sub(at));
    }

    /// Slots in which a fence of the window waited.
    fn fence(&self, asked: Asked, span: Slots, spent: &mut Spent) {
        for rest in self.waits(asked, Who::Fence(CoreId(asked.core)), span, spent) {
            for rest in self.waits(asked, Who::Program(CoreId(asked.core)), rest, spent) {
                self.queue(asked, rest, spent);
            }
        }
    }

    /// Slots in which a store queue did not go on fast enough.
    fn queue(&self, asked: Asked, span: Slots, spent: &mut Spent) {
        for rest in self.waits(asked, Who::Queue(CoreId(asked.core)), span, spent) {
            self.departures(asked, rest, spent);
        }
    }

    /// Slots in which the head of a store queue waited for its line, or for its retirement.
    fn departures(&self, asked: Asked, span: Slots, spent: &mut Spent) {
        let leaves = &self.cores[usize::from(asked.core)].leaves;
        let class = if asked.orders { Class::Visible } else { Class::Data };
        let first = leaves.partition_point(|(left, _)| *left <= span.0);
        let mut at = span.0;
        for &(left, ready) in &leaves[first..] {
            let Some(waited) = meet((at, left), span) else { break };
            let unready = ready.clamp(waited.0, waited.1);
            if waited.0 < unready && asked.depth <= DEEPEST {
                self.heads(asked.deeper(), (waited.0, unready), class, spent);
                spent.add(class, waited.1 - unready);
            } else {
                spent.add(class, waited.1 - waited.0);
            }
            at = waited.1;
        }
        spent.add(class, span.1 - at);
    }

    /// Slots in which one of a core's parts waited; what is left of them.
    fn waits(&self, asked: Asked, who: Who, span: Slots, spent: &mut Spent) -> Vec<Slots> {
        let of = &self.cores[usize::from(asked.core)];
        let list = match who {
            Who::Fence(_) => &of.fences,
            Who::Program(_) => &of.programs,
            _ => &of.queues,
        };
        let end = self.timeline.end;
        let wait_at = |number: u32| {
            let wait = &self.timeline.waits.0[number as usize];
            (self.slot(wait.from), self.slot(wait.to.unwrap_or(end)))
        };
        let (mut rest, mut at) = (Vec::new(), span.0);
        for (number, wait) in overlapping(list, span, wait_at) {
            rest.extend(meet((at, wait.0), span));
            if let Some(wait) = meet(wait, (at, span.1)) {
                self.wait(asked, &self.timeline.waits.0[number as usize], wait, spent);
                at = wait.1;
            }
        }
        rest.extend(meet((at, span.1), span));
        rest
    }

    fn wait(&self, asked: Asked, wait: &Wait, span: Slots, spent: &mut Spent) {
        let cycles = span.1 - span.0;
        let is = |why: Why| wait.why == why.name();
        if asked.depth > DEEPEST {
            return spent.add(Class::Commit, cycles);
        }
        if is(Why::Written) || is(Why::Woken) || is(Why::Started) {
            return spent.add(Class::Lock, cycles);
        }
        if is(Why::Room) || is(Why::Empty) {
            return self.queue(asked.deeper(), span, spent);
        }
        if is(Why::Retired) {
            return self.held(asked.deeper(), span, spent);
        }
        if is(Why::Line) {
            let class = if asked.orders { Class::Visible } else { Class::Data };
            return spent.add(class, cycles);
        }
        if is(Why::Buffer) {
            return self.full(asked.deeper(), wait, span, spent);
        }
        if is(Why::WriteQueue) {
            return spent.add(Class::Media, cycles);
        }
        let asked = Asked { orders: true, ..asked }.deeper();
        match (wait.by_write, wait.by_op) {
            (Some(write), _) => self.write(asked, write, span, spent),
            (None, Some(op)) if wait.op == Some(op) => self.own(asked, wait, span, spent),
            (None, Some(op)) => self.op(asked, op, span, spent),
            (None, None) => self.own(asked, wait, span, spent),
        }
    }

    /// Slots in which a buffer was full: more entries help, unless it is full since the media are busy.
    fn full(&self, asked: Asked, wait: &Wait, span: Slots, spent: &mut Spent) {
        let mut awaited = Spent::default();
        match (wait.by_write, wait.by_op) {
            (Some(write), _) => self.write(asked, write, span, &mut awaited),
            (None, Some(op)) => self.op(asked, op, span, &mut awaited),
            (None, None) => {}
        }
        let busy = awaited.of(Class::Media);
        spent.add(Class::Media, busy);
        spent.add(Class::Full, span.1 - span.0 - busy);
    }

    /// Slots of a wait that nothing known has ended.
    fn own(&self, asked: Asked, wait: &Wait, span: Slots, spent: &mut Spent) {
        let is_queue = wait.who == Who::Queue(CoreId(0)).name();
        if wait.why == Why::Design.name() || is_queue {
            let class = if wait.why == Why::Design.name() {
                Class::Commit
            } else {
                Class::Way
            };
            return spent.add(class, span.1 - span.0);
        }
        self.queue(asked, span, spent);
    }

    /// Slots in which a program waited for the fence in its window.
    fn held(&self, asked: Asked, span: Slots, spent: &mut Spent) {
        for rest in self.waits(asked, Who::Fence(CoreId(asked.core)), span, spent) {
            self.queue(Asked { orders: true, ..asked }, rest, spent);
        }
    }

    /// Slots of a wait that an operation ended.
    fn op(&self, asked: Asked, number: u32, span: Slots, spent: &mut Spent) {
        let Some(op) = self.timeline.ops.0.get(number as usize) else {
            return spent.add(Class::Commit, span.1 - span.0);
        };
        if op.core != asked.core {
            return spent.add(Class::Other, span.1 - span.0);
        }
        let left = op.left.or(op.visible).or(op.done).map_or(span.1, |at| self.slot(at));
        if let Some(before) = meet(span, (0, left)) {
            self.queue(asked, before, spent);
        }
        let Some(after) = meet(span, (left, u64::MAX)) else {
            return;
        };
        match (op.kind, op.write) {
            (InstructionKind::Flush(_), Some(write)) => self.write(asked, write, after, spent),
            (InstructionKind::Flush(_), None) => spent.add(Class::Way, after.1 - after.0),
            (InstructionKind::Primitive(_), _) => self.primitive(asked, op, after, spent),
            _ => {
                let visible = op.visible.map_or(after.1, |at| self.slot(at));
                let split = |span: Option<Slots>| span.map_or(0, |span| span.1 - span.0);
                spent.add(Class::Visible, split(meet(after, (0, visible))));
                spent.add(Class::Way, split(meet(after, (visible, u64::MAX))));
            }
        }
    }

    /// Slots of a wait that a primitive ended: what it waited for itself.
    fn primitive(&self, asked: Asked, op: &TimelineOp, span: Slots, spent: &mut Spent) {
        let done = op.done.map_or(span.1, |at| self.slot(at));
        let waited = (self.slot(op.dispatched), done);
        if let Some(waited) = meet(span, waited) {
            return self.held(asked, waited, spent);
        }
        spent.add(Class::Commit, span.1 - span.0);
    }

    /// Slots of a wait that a write ended.
    fn write(&self, asked: Asked, number: u32, span: Slots, spent: &mut Spent) {
        let cycles = |span: Option<Slots>| span.map_or(0, |span| span.1 - span.0);
        let Some(write) = self.timeline.writes.0.get(number as usize) else {
            return spent.add(Class::Way, span.1 - span.0);
        };
        if write.core.is_some_and(|core| core != asked.core) {
            return spent.add(Class::Other, span.1 - span.0);
        }
        let sent = self.slot(write.sent);
        if let Some(before) = meet(span, (0, sent)) {
            self.before(asked, number, before, spent);
        }
        let arrived = write.arrived.map_or(span.1, |at| self.slot(at));
        let accepted = write
            .accepted
            .or(write.media)
            .map_or(span.1, |at| self.slot(at))
            .max(arrived);
        spent.add(Class::Way, cycles(meet(span, (sent, arrived))));
        if let Some(held) = meet(span, (arrived, accepted)) {
            self.at_controller(asked, number, held, spent);
        }
        if let Some(after) = meet(span, (accepted, u64::MAX)) {
            self.on_media(write, after, spent);
        }
    }

    /// Slots before a write was sent: its core's write before it was under way, or waited.
    fn before(&self, asked: Asked, number: u32, span: Slots, spent: &mut Spent) {
        let writes = &self.timeline.writes.0;
        let sent = |number: u32| writes[number as usize].sent;
        let of = writes[number as usize]
            .core
            .and_then(|core| self.cores.get(usize::from(core)));
        let earlier = of.and_then(|of| {
            let place = of.writes.partition_point(|other| sent(*other) < sent(number));
            place.checked_sub(1).map(|place| of.writes[place])
        });
        match earlier {
            Some(earlier) if asked.depth < DEEPEST => self.write(asked.deeper(), earlier, span, spent),
            _ => self.queue(asked, span, spent),
        }
    }

    fn at_controller(&self, asked: Asked, number: u32, span: Slots, spent: &mut Spent) {
        let mut at = span.0;
        for wait in self.at_controller.get(&number).into_iter().flatten() {
            let wait = &self.timeline.waits.0[*wait as usize];
            let to = wait.to.map_or(span.1, |at| self.slot(at));
            if let Some(held) = meet((self.slot(wait.from), to), (at, span.1)) {
                spent.add(Class::Way, held.0 - at);
                self.wait(asked.deeper(), wait, held, spent);
                at = held.1;
            }
        }
        spent.add(Class::Way, span.1 - at);
    }

    /// Slots behind a write's acceptance: the acknowledgement's way, or, where only the media are durable, the wait for
    /// them and their latency.
    fn on_media(&self, write: &Write, span: Slots, spent: &mut Spent) {
        let at = |cycle: Option<u64>| cycle.map_or(u64::MAX, |at| self.slot(at));
        let awaits_media = at(write.media) <= span.1;
        let issued = if awaits_media { at(write.issued) } else { span.0 };
        let busy = meet(span, (0, issued)).map_or(0, |span| span.1 - span.0);
        spent.add(Class::Media, busy);
        spent.add(Class::Way, span.1 - span.0 - busy);
    }
}
