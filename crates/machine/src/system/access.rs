//! A request for a line that misses a core's L1: the private L2, the directory, memory.

use super::directory::FromHosts;
use super::running::Running;
use super::waiters::{Condition, Waiter};
use crate::cache::{Fill, LlcLine, Sharers, State, Victim};
use crate::config::Coherence;
use crate::core::{Lost, MOST_WAITS};
use crate::timeline::{Source, Who};
use strandline_design::{Access, ByteMask, Eviction, Key, Level, Snoop, Supply, Until, WriteRequest};
use strandline_isa::{CoreId, Line};
use strandline_rules::{breaks, broken, Rule};

/// Why a request for a line must be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// The design wants the condition to hold first.
    Until(Until<Key>),
    /// The line is in flight to its owner until then. It stays there for one access at least;
    /// otherwise two cores that write one line could steal it from each other endlessly (livelock).
    Filling(u64),
}

impl From<Until<Key>> for Blocked {
    fn from(until: Until<Key>) -> Blocked {
        Blocked::Until(until)
    }
}

impl Running {
    /// Brings `line` into the caches of `core`, for a request made at `at`. Returns when the line
    /// is there. Fails, and changes nothing, if the request must be repeated.
    pub(super) fn access(&mut self, core: CoreId, line: Line, access: Access, at: u64) -> Result<u64, Blocked> {
        self.hw.llc(core).expect(line);
        let mut private = self.hw.harts[core.index()].core.private.borrow_mut();
        let fill = private.look_up(line);
        if fill.state.is_some_and(|s| access == Access::Read || s.is_writable()) {
            return Ok(private.found(line, at, &fill));
        }
        drop(private);
        self.miss(core, line, access, at, &fill)
    }

    /// As [`Running::access`], for a line that missed in the private levels or lacks write
    /// permission.
    pub(super) fn miss(
        &mut self,
        core: CoreId,
        line: Line,
        access: Access,
        at: u64,
        fill: &Fill,
    ) -> Result<u64, Blocked> {
        let shared = &self.hw.harts[core.index()].core;
        // In caches with few ways, the core's own requests could evict the line endlessly.
        if let Some(lost) = shared.lost_kept(|kept| kept != line) {
            return Err(Blocked::Filling(lost.due));
        }
        let private = shared.private.borrow();
        let start = private.misses_l2.start(private.misses.start(at) + fill.latency);
        drop(private);
        let done = self.beyond(core, line, access, start, fill.state.is_some())?;
        self.hw
            .record(|recorder, _| recorder.missed(core, line.addr(), access == Access::Own, (at, done)));
        let mut private = self.hw.harts[core.index()].core.private.borrow_mut();
        private.misses.keep(line, done);
        private.misses_l2.keep(line, done);
        Ok(done)
    }

    /// The LLC and memory. `held`: the core has a shared copy and requests only ownership.
    fn beyond(&mut self, core: CoreId, line: Line, access: Access, at: u64, held: bool) -> Result<u64, Blocked> {
        if let Some(until) = self.hw.held_until(core, line) {
            return Err(until.into());
        }
        let here = self.hw.llc(core).peek(line);
        let victim = match here {
            Some(_) => None,
            None => self.victim_for(core, line)?,
        };
        let alone = self.hw.harts.len() == 1;
        if let Some(known) = here.filter(|known| known.owned && !alone) {
            self.await_owner(core, line, known.sharers, at)?;
        }
        if self.hw.directory.is_some() {
            self.await_hosts(core, line, at)?;
            self.recall(core, line, access, at)?;
        }
        if let Some(tag) = self.hw.line_tags.get(line) {
            if let Some(until) = self.design.tagged(&mut self.hw, core, line, access, tag) {
                return Err(until.into());
            }
        }
        let supply = match here {
            Some(_) => Supply::Memory,
            // Another host's caches answer.
            None if self.hw.directory.is_some() && self.hw.is_elsewhere(core, line) => Supply::Memory,
            None => self.supply(core, line, access)?,
        };
        let remembered = match alone {
            true => None,
            false => self.ask_others(core, line, access)?,
        };
        let hop = self.hw.hop();
        let mut t = at + hop + self.hw.llc(core).latency;
        let mut elsewhere = FromHosts::default();
        if self.hw.directory.is_some() {
            elsewhere = self.ask_hosts(core, line, access, here.is_some());
            t += elsewhere.takes;
        }
        let mut entry = match self.hw.llc_mut(core).touch(line) {
            Some(entry) => entry,
            None => {
                t = self.fetch(core, line, supply, victim, t);
                LlcLine::default()
            }
        };
        entry.dirty |= elsewhere.dirty;
        let holder = entry.sharers.others(core).next();
        if let Some(other) = holder.filter(|_| entry.owned || access == Access::Own) {
            self.hw.record(|recorder, _| recorder.served_by(Source::Core));
            t += self.snoop_latency(other, entry.owned);
        } else if let Some(other) = remembered {
            t += self.snoop_latency(other, false);
        }
        let state = self.grant_line(core, line, access, entry);
        t += hop;
        let mut private = self.hw.harts[core.index()].core.private.borrow_mut();
        if held {
            private.upgrade(line, state);
            return Ok(t);
        }
        let victim = private.fill(line, state);
        drop(private);
        if let Some(victim) = victim {
            self.leaves_private(core, victim, t);
        }
        Ok(t)
    }

    /// Fails while the line is in flight to its next owner, and until that core's store has written
    /// it: the store is due, but a core that runs ahead may issue its request first.
    pub(super) fn await_owner(&self, core: CoreId, line: Line, sharers: Sharers, at: u64) -> Result<(), Blocked> {
        // A load is requested at dispatch, for a later cycle; a store as it drains.
        let now = at.min(self.hw.harts[core.index()].core.turn.next_op.get());
        let requester = &self.hw.harts[core.index()].core;
        let busy = |owner: CoreId| {
            let owner = &self.hw.harts[owner.index()].core;
            let filled = owner.private.borrow().misses.filled(line, at);
            let has_store = || owner.awaits_own(line) || owner.performs(line).is_some();
            if filled > at && (requester.waits(line) < MOST_WAITS || has_store()) {
                return Some(filled);
            }
            // A core that runs ahead would take the line from such a store again and again (livelock).
            if let Some(due) = owner.performs(line).filter(|due| *due <= at) {
                return Some(due);
            }
            let due = owner.drain.next.get();
            // A store that has already lost its line once wins over requests for a later cycle;
            // otherwise loads requested ahead of time could steal the line endlessly (livelock).
            match due < now && owner.awaits_own(line) {
                true => Some(due),
                false => owner.lost(line).map(|lost| lost.due).filter(|due| *due <= at),
            }
        };
        sharers
            .others(core)
            .find_map(busy)
            .map_or(Ok(()), |until| Err(Blocked::Filling(until)))
    }

    /// The LLC line to evict for this one, which is not there, if its set is full: the least recently used that no
    /// store waits for after losing it. Otherwise stores of several cores whose lines share a set
    /// would evict each other endlessly. Fails until one of those stores is due if they hold all
    /// ways, unless one has waited less than this request. Otherwise cores that lose and request their lines in turn
    /// could hold all ways each time this core asks (starvation).
    pub(super) fn victim_for(&self, core: CoreId, line: Line) -> Result<Option<Line>, Blocked> {
        let llc = self.hw.llc(core);
        if llc.has_room_for(line) {
            return Ok(None);
        }
        let (mut first, mut yields) = (u64::MAX, None);
        let has_waited_less = |lost: &Lost| lost.waited < self.hw.harts[core.index()].core.waits(line);
        for (victim, known) in llc.victims_for(line) {
            let mut owners = known.sharers.cores().filter(|_| known.owned);
            match owners.find_map(|owner| self.hw.harts[owner.index()].core.lost(victim)) {
                Some(lost) => {
                    first = first.min(lost.due);
                    yields = yields.or_else(|| has_waited_less(&lost).then_some(victim));
                }
                None => return Ok(Some(victim)),
            }
        }
        yields.map(Some).ok_or(Blocked::Filling(first))
    }

    /// Place 5: snoops the cores that hold the line (or all) and passes their notes to the design.
    /// Returns a core that does not hold the line, to which the directory has forwarded the request
    /// for its note. (Of a line that the LLC lacks, all cores are asked while memory is read.)
    fn ask_others(&mut self, core: CoreId, line: Line, access: Access) -> Result<Option<CoreId>, Blocked> {
        let mut holding = self.hw.llc(core).peek(line).map_or(Sharers::default(), |l| l.sharers);
        if self.hw.directory.is_some() && !broken(Rule::SnoopsOtherHosts) {
            holding = holding.and(self.hw.sharers_elsewhere(core, line));
        }
        let holders = match self.wants.snoops_all {
            true => Sharers::first(self.hw.harts.len()),
            false => holding,
        };
        let mut notes = Vec::new();
        for other in holders.others(core) {
            if let Some(note) = self.snoop(other, core, line, access)? {
                notes.push((other, note));
            }
        }
        let mut remembered = notes
            .iter()
            .map(|(other, _)| *other)
            .filter(|other| !holding.contains(*other));
        let here = self.wants.sharers_remembered && self.hw.llc(core).peek(line).is_some();
        let remembered = remembered.next().filter(|_| here);
        for (other, note) in notes {
            self.design.replied(&mut self.hw, core, other, line, note);
        }
        Ok(remembered)
    }

    /// Place 5: one core's reply to a request for a line: its note, if any. Where the design
    /// requires it, the core is rolled back and snooped again.
    pub(super) fn snoop(
        &mut self,
        owner: CoreId,
        requester: CoreId,
        line: Line,
        access: Access,
    ) -> Result<Option<Key>, Until<Key>> {
        loop {
            match self.design.snooped(&mut self.hw, owner, requester, line, access) {
                Snoop::Grant(note) => return Ok(note),
                Snoop::Wait(until) => return Err(until),
                Snoop::RollBack(checkpoint) => {
                    let rolled = self.roll_back(owner, checkpoint);
                    assert!(rolled, "{owner} is to be rolled back to a checkpoint that it has not");
                }
            }
        }
    }

    /// Cycles of a snoop of another core's private caches: through the directory, or broadcast
    /// together with the look-up of the LLC.
    fn snoop_latency(&self, other: CoreId, for_data: bool) -> u64 {
        let hop = self.hw.hop();
        let look_up = if for_data {
            self.hw.harts[other.index()].core.private.borrow().latency()
        } else {
            0
        };
        match self.hw.machine.interconnect.coherence {
            Coherence::Directory => 2 * hop + look_up,
            Coherence::Snoop => look_up,
        }
    }

    /// Updates the directory and the other cores' states. Returns the state that the requester
    /// gets.
    fn grant_line(&mut self, core: CoreId, line: Line, access: Access, mut entry: LlcLine) -> State {
        let alone = entry.sharers.others(core).next().is_none()
            && !self.design.is_shared(core, line)
            && self.hw.may_write(core, line);
        for other in entry.sharers.others(core) {
            if access == Access::Own {
                self.wake(other);
            }
            let mut private = self.hw.harts[other.index()].core.private.borrow_mut();
            let dirty = match access {
                Access::Own => private.remove(line),
                Access::Read => private.set_state(line, State::Shared),
            };
            entry.dirty |= dirty && !broken(Rule::TakenLineStaysDirty);
        }
        entry.join(core, access, alone);
        if entry.owned && entry.dirty && line.is_persistent() && self.wants.handed_over_clean {
            entry.dirty = false;
            self.write_back(core, line, self.hw.now());
        }
        let state = entry.hand_over(access);
        self.hw.llc_mut(core).set_latest(line, entry);
        state
    }

    /// Place 6: who supplies a line that is in no cache.
    pub(super) fn supply(&mut self, core: CoreId, line: Line, access: Access) -> Result<Supply<Key>, Blocked> {
        if !line.is_persistent() {
            return Ok(Supply::Memory);
        }
        match self.design.missed(&mut self.hw, core, line, access) {
            Supply::Wait(until) => Err(until.into()),
            supply => Ok(supply),
        }
    }

    /// Brings a line into the LLC, over `victim` if it is full. Returns when the line is there.
    pub(super) fn fetch(
        &mut self,
        core: CoreId,
        line: Line,
        supply: Supply<Key>,
        victim: Option<Line>,
        at: u64,
    ) -> u64 {
        if let Some(victim) = victim {
            self.evict(core, victim, at);
        }
        match supply {
            Supply::Durable => self.hw.fill(line),
            Supply::Bytes(_, data) => self.hw.seen(core).set_line(line, &data),
            Supply::Memory | Supply::Design(_) | Supply::Stop(..) | Supply::Wait(_) => {}
        }
        let done = match supply {
            Supply::Stop(data, bytes) => self.fetch_from_stop(core, line, (data, bytes), at),
            Supply::Memory | Supply::Durable | Supply::Wait(_) => {
                self.hw.record(|recorder, _| recorder.served_by(Source::Memory));
                let start = self.hw.llc(core).misses.start(at);
                let host = self.hw.host_of(core);
                let done = self.hw.read_memory(host, line, start);
                self.hw.refill(host, line, None);
                self.hw.llc_mut(core).misses.keep(line, done);
                done
            }
            Supply::Design(latency) | Supply::Bytes(latency, _) => at + latency.0,
        };
        self.hw.llc_mut(core).insert(line);
        done
    }

    /// Evicts a line from a core's private caches to the LLC; silently if it is clean.
    pub(super) fn leaves_private(&mut self, core: CoreId, victim: Victim, at: u64) {
        if !victim.dirty {
            return;
        }
        let eviction = if victim.line.is_persistent() {
            self.design.evicted(&mut self.hw, core, Level::Private, victim.line)
        } else {
            Eviction::WriteBack
        };
        let goes = eviction == Eviction::WriteBack;
        breaks(Rule::LlcKeepsTag, || self.hw.line_tags.remove(victim.line));
        let here = self.hw.llc_mut(core).change(victim.line, |entry| {
            entry.sharers.remove(core);
            entry.owned = false;
            entry.dirty |= goes;
        });
        if goes && !here {
            self.write_back(core, victim.line, at);
        }
        if let Eviction::Hold(until) = eviction {
            self.hold_eviction(until, Level::Private, core, victim.line);
        }
    }

    /// Evicts a line from the LLC and from all private caches; if it is dirty, it is written back. The design is asked
    /// about a line with a tag, dirty or not.
    pub(super) fn evict(&mut self, core: CoreId, line: Line, at: u64) {
        let Some(entry) = self.hw.llc(core).peek(line) else {
            return;
        };
        let mut dirty = entry.dirty;
        let mut owner = None;
        entry.sharers.cores().for_each(|sharer| self.wake(sharer));
        for hart in &self.hw.harts {
            if entry.sharers.contains(hart.core.id) && hart.core.private.borrow_mut().remove(line) {
                owner = Some(hart.core.id);
                dirty |= !broken(Rule::BackInvalidationWritesBack);
            }
        }
        self.hw.llc_mut(core).remove(line);
        self.hw.forget_line(core, line);
        if self.hw.line_tags.get(line).is_none() {
            if !dirty {
                return;
            }
            if !line.is_persistent() {
                return self.hw.write_volatile(core, at);
            }
        }
        // It leaves its owner's private caches first.
        if let Some(owner) = owner.filter(|_| line.is_persistent()) {
            if let Eviction::Hold(until) = self.design.evicted(&mut self.hw, owner, Level::Private, line) {
                return self.hold_eviction(until, Level::Private, owner, line);
            }
        }
        self.leaves_llc(core, line, dirty, at);
    }

    /// Evicts a line from the LLC that is dirty and persistent, or has a tag. A clean one is not written.
    fn leaves_llc(&mut self, core: CoreId, line: Line, dirty: bool, at: u64) {
        match self.design.evicted(&mut self.hw, core, Level::Llc, line) {
            Eviction::Hold(until) => return self.hold_eviction(until, Level::Llc, core, line),
            Eviction::WriteBack if dirty => self.write_back(core, line, at),
            Eviction::WriteBack | Eviction::Drop => {}
        }
        self.hw.line_tags.remove(line);
    }

    /// Writes a line back that leaves the caches of a core's host at `at`; now, if that was before. A core whose load has waited for a line
    /// in flight goes on with loads that were dispatched behind it, and their victims leave at once.
    pub(super) fn write_back(&mut self, core: CoreId, line: Line, at: u64) {
        let at = at.max(self.hw.now());
        if line.is_persistent() {
            let data = self.hw.seen(core).line(line);
            let request = WriteRequest {
                line,
                data,
                bytes: ByteMask::ALL,
                core: None,
                tag: None,
            };
            self.hw.send_write(self.hw.host_of(core), request, at);
        } else {
            self.hw.write_volatile(core, at);
        }
    }

    fn hold_eviction(&mut self, until: Until<Key>, level: Level, core: CoreId, line: Line) {
        let condition = Condition::of(core, until);
        self.hw
            .record(move |recorder, at| recorder.wait(Who::Line(line), condition.why(), at, None));
        self.hw.waiters.park(condition, Waiter::Eviction { level, core, line });
    }

    /// Releases an evicted line that the design held: to the LLC, or to memory.
    pub(super) fn release_line(&mut self, level: Level, core: CoreId, line: Line) {
        let now = self.hw.now();
        self.hw.record(move |recorder, _| recorder.woken(Who::Line(line), now));
        let joins = level == Level::Private
            && self
                .hw
                .llc_mut(core)
                .change(line, |entry| entry.dirty |= !broken(Rule::HeldLineJoinsDirty));
        if !joins {
            // Whether it is dirty is not kept with it: memory gets its present bytes.
            self.leaves_llc(core, line, true, now);
        }
    }
}
