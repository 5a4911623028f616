//! Flushes: from the store queue's head through the write-back buffer and the look-up to the
//! controller.

use super::events::Event;
use super::hardware::Hardware;
use super::hardware::{Buffered, Combining};
use super::mutants;
use super::running::Running;
use super::waiters::{Condition, Waiter};
use crate::cache::Sharers;
use crate::config::Coherence;
use crate::core::Entry;
use crate::memory::Origin;
use crate::timeline::Who;
use strandline_design::{Access, ByteMask, Key, Until, WriteRequest};
use strandline_isa::{Addr, CoreId, Flush, Line};
use strandline_rules::{broken, Rule};

impl Origin {
    /// The acknowledgement.
    pub(super) fn done(self) -> Event {
        match self {
            Origin::Buffer { core, slot } => Event::BufferDone { core, slot },
            Origin::Design { core, tag } | Origin::Stop { core, tag } => Event::DesignFlushed { core, tag },
        }
    }
}

/// What the look-up of a flush found.
pub struct FoundLine {
    /// Whether the line was dirty anywhere; it is clean now.
    pub dirty: bool,
    /// When the look-up was done.
    pub at: u64,
}

impl Hardware {
    /// Sends a dirty line to its controller. A flush of a clean line waits for the line's write in
    /// flight, from any core; false if there is none.
    pub(super) fn write_found(
        &mut self,
        core: CoreId,
        (line, bytes): (Line, ByteMask),
        found: &FoundLine,
        origin: Origin,
    ) -> bool {
        if !line.is_persistent() {
            return false;
        }
        let write = if found.dirty && broken(Rule::FlushReachesDevice) && self.device.is_some() {
            self.llc_mut(core).change(line, |entry| entry.dirty = true);
            None
        } else if found.dirty {
            let data = self.seen(core).line(line);
            let request = WriteRequest {
                line,
                data,
                bytes,
                core: Some(core),
                tag: None,
            };
            Some(self.send_write(self.host_of(core), request, found.at))
        } else if broken(Rule::CleanFlushWaitsForFlight) {
            None
        } else {
            match self.directory.is_some() && !broken(Rule::FlushAwaitsOtherHosts) {
                true => self.writes.awaited(line),
                false => self.writes.unaccepted_of(self.host_of(core), line),
            }
        };
        match write {
            Some(_) if broken(Rule::AcknowledgedAfterBackend) => {
                let at = found.at + self.to_controller();
                self.post(at, origin.done());
                true
            }
            Some(id) => {
                self.record(move |recorder, _| recorder.flush_awaits(origin, id));
                self.writes.wait_for(id, origin);
                true
            }
            None => false,
        }
    }

    /// A core's flush with what it has found, when it sets out for the controller: behind the flush before it.
    fn sets_out(&mut self, core: CoreId, found: FoundLine) -> FoundLine {
        if !found.dirty {
            return found;
        }
        let (latency, interval) = (self.machine.core.flush_latency.0, self.machine.core.flush_interval.0);
        let at = found.at + latency;
        if interval == 0 {
            return FoundLine { at, ..found };
        }
        let hart = self.hart(core);
        let at = at.max(hart.next_flush);
        hart.next_flush = at + interval;
        FoundLine { at, ..found }
    }

    /// Cycles of a look-up of the LLC for a flush; broadcast, of the other cores' caches too (as in `snoop_latency`).
    fn everywhere(&self) -> u64 {
        let others = match self.machine.interconnect.coherence {
            Coherence::Snoop if self.harts.len() > 1 => self.harts[0].core.private.borrow().latency(),
            Coherence::Snoop | Coherence::Directory => 0,
        };
        2 * self.hop() + self.hosts[0].llc.latency + others
    }

    /// Looks a line up in the core's private levels, among its held evictions, and in the LLC, and
    /// leaves it clean. Other cores hold none of the core's stores: lines are handed over clean.
    fn look_up_own(&mut self, core: CoreId, line: Line, at: u64) -> FoundLine {
        let mut private = self.harts[core.index()].core.private.borrow_mut();
        let at = at + private.modified_after(line);
        if private.clean(line, true) {
            return FoundLine { dirty: true, at };
        }
        drop(private);
        if self.waiters.take_held_line(line, |owner| owner == core) {
            return FoundLine { dirty: true, at };
        }
        let mut dirty = false;
        self.llc_mut(core)
            .change(line, |entry| dirty = std::mem::take(&mut entry.dirty));
        let at = at + 2 * self.hop() + self.llc(core).latency;
        FoundLine { dirty, at }
    }
}

impl Running {
    /// Moves a flush into its core's write-back buffer and sends it. Returns false if the buffer is
    /// full or holds a flush of the same line (COSPlay, section 4.3). Fails while the design holds the line's eviction,
    /// or another core's reply.
    pub(super) fn flush(&mut self, core: CoreId, entry: &Entry, kind: Flush, at: u64) -> Result<bool, Until<Key>> {
        let line = entry.line();
        if let Some(until) = self.hw.held_until(core, line) {
            return Err(until);
        }
        let entries = self.hw.machine.core.writeback_buffer_entries as usize;
        let hart = self.hw.hart(core);
        let full = hart.buffer.len() >= entries;
        if full || hart.buffer.iter().any(|b| b.line == line) {
            let dropped = match full {
                true => Rule::FullBufferKeepsFlush,
                false => Rule::SameLineFlushWaits,
            };
            if broken(dropped) {
                self.hw.complete(core, entry.context);
                return Ok(true);
            }
            return Ok(false);
        }
        let found = self.look_up_flush(core, line, kind, at)?;
        let found = self.hw.sets_out(core, found);
        let is_head = kind == Flush::Clflush && !broken(Rule::ClflushBlocksQueue);
        let hart = self.hw.hart(core);
        let slot = hart.new_slot();
        hart.buffer.push(Buffered {
            slot,
            line,
            context: entry.context,
            is_head,
        });
        hart.buffer_usage.enters(at, hart.buffer.len() as u64);
        hart.core.drain.shut.set(is_head);
        self.hw
            .record(move |recorder, _| recorder.flush_sent(core, entry.op, slot, at));
        if !self
            .hw
            .write_found(core, (line, ByteMask::ALL), &found, Origin::Buffer { core, slot })
        {
            self.hw.post(found.at, Event::BufferDone { core, slot });
        }
        Ok(true)
    }

    /// Performs a flush that the design sends; the design gets its acknowledgement.
    pub(super) fn design_flush(&mut self, core: CoreId, line: Line, flush: Flush, tag: Key) {
        if self.hw.has_failed(core) && !broken(Rule::FailedHostIsSilent) {
            return;
        }
        let now = self.hw.now();
        self.hw.record(move |recorder, _| {
            recorder.woken(Who::Flush(core, line), now);
            recorder.design_flush(core, line, tag, now);
        });
        let found = match self.wants.handed_over_clean {
            true => Ok(self.hw.look_up_own(core, line, now)),
            false => self.look_up_flush(core, line, flush, now).map(|found| FoundLine {
                dirty: self.hw.waiters.take_held_line(line, |_| true) | found.dirty,
                ..found
            }),
        };
        match found {
            Ok(found) => {
                let found = self.hw.sets_out(core, found);
                if !self
                    .hw
                    .write_found(core, (line, ByteMask::ALL), &found, Origin::Design { core, tag })
                {
                    self.hw.post(found.at, Event::DesignFlushed { core, tag });
                }
            }
            Err(until) => {
                let condition = Condition::of(core, until);
                self.hw
                    .record(move |recorder, _| recorder.wait(Who::Flush(core, line), condition.why(), now, None));
                self.hw
                    .waiters
                    .park(condition, Waiter::Flush { core, line, flush, tag });
            }
        }
    }

    /// Looks a line up in the core's private levels, then in the LLC and its owner's caches, and
    /// leaves it clean. Where misses are broadcast, so is a clwb, whatever the core's own caches hold.
    #[inline]
    fn look_up_flush(&mut self, core: CoreId, line: Line, kind: Flush, at: u64) -> Result<FoundLine, Until<Key>> {
        let keeps = self.hw.machine.core.clwb_keeps_ownership;
        let mut private = self.hw.harts[core.index()].core.private.borrow_mut();
        let own = at + private.modified_after(line);
        if kind == Flush::Clwb && private.clean(line, keeps) {
            drop(private);
            if !keeps {
                self.hw.llc_mut(core).change(line, |entry| entry.owned = false);
            }
            let at = match self.hw.machine.interconnect.coherence {
                Coherence::Directory => own,
                Coherence::Snoop => own + self.hw.everywhere(),
            };
            return Ok(FoundLine { dirty: true, at });
        }
        drop(private);
        self.look_up_elsewhere(core, line, kind, own)
    }

    /// Looks a line up that is not dirty in the core's private levels, which have been looked up by `own`.
    #[inline(never)]
    fn look_up_elsewhere(&mut self, core: CoreId, line: Line, kind: Flush, own: u64) -> Result<FoundLine, Until<Key>> {
        let keeps = self.hw.machine.core.clwb_keeps_ownership;
        let sharers = self.hw.llc(core).peek(line).map_or(Sharers::default(), |l| l.sharers);
        for other in sharers.and(self.hw.sharers_elsewhere(core, line)).others(core) {
            self.snoop(other, core, line, Access::Read)?;
        }
        if kind != Flush::Clwb {
            sharers.cores().for_each(|sharer| self.wake(sharer));
        }
        let mut dirty = false;
        let own_only = broken(Rule::FlushFindsOtherCores);
        let holders = self.hw.harts.iter().filter(|h| sharers.contains(h.core.id));
        for hart in holders.filter(|h| !own_only || h.core.id == core) {
            let mut private = hart.core.private.borrow_mut();
            dirty |= if kind == Flush::Clwb {
                private.clean(line, keeps)
            } else {
                private.remove(line)
            };
        }
        let mut everywhere = self.hw.everywhere();
        if self.hw.directory.is_some() {
            let (found, takes) = self.flush_in_hosts(core, line, kind);
            dirty |= found;
            everywhere += takes;
        }
        let disowns = kind == Flush::Clwb && !keeps && !own_only;
        let shared = !broken(Rule::FlushFindsSharedLevel);
        self.hw.llc_mut(core).change(line, |entry| {
            dirty |= shared && std::mem::take(&mut entry.dirty);
            entry.owned &= !disowns;
        });
        if kind != Flush::Clwb && (dirty || !broken(Rule::InvalidatesClean)) {
            self.hw.llc_mut(core).remove(line);
            self.hw.forget_line(core, line);
            // What was dirty is still to be sent.
            if !dirty {
                self.maybe_fetch(core, line, own);
            }
        }
        dirty &= kind == Flush::Clwb || !broken(Rule::ClflushoptWritesBack);
        Ok(FoundLine {
            dirty,
            at: own + everywhere,
        })
    }

    /// On shaken machines whose hosts share memory, a prefetcher or a load on a wrong path brings a line that was
    /// invalidated back now and then.
    fn maybe_fetch(&mut self, core: CoreId, line: Line, at: u64) {
        let one_in = self.hw.machine.simulation.evict_one_in;
        let may = self.hw.device.is_some()
            && self.hw.directory.is_none()
            && one_in > 0
            && self.hw.llc(core).has_room_for(line);
        if may && self.hw.rng.one_in(one_in) {
            if let Ok(supply) = self.supply(core, line, Access::Read) {
                self.fetch(core, line, supply, None, at);
            }
        }
    }

    /// Puts a non-temporal store into a write-combining buffer; false if all are in flight to
    /// memory.
    pub(super) fn combine(&mut self, core: CoreId, entry: &Entry, size: u8, at: u64) -> bool {
        let line = entry.line();
        let most = self.hw.machine.core.write_combining_buffers as usize;
        let hart = self.hw.hart(core);
        if !hart.combining.iter().any(|b| b.line == line && !b.sent) && hart.combining.len() >= most {
            let Some(slot) = hart.combining.iter().find(|b| !b.sent).map(|b| b.slot) else {
                return false;
            };
            self.hw.send_combined(core, slot, at);
            return false;
        }
        self.evict(core, line, at);
        if self.hw.directory.is_some() {
            self.evict_in_hosts(core, line, at);
        }
        let hart = self.hw.hart(core);
        let index = match hart.combining.iter().position(|b| b.line == line && !b.sent) {
            Some(index) => index,
            None => {
                let slot = hart.new_slot();
                hart.combining.push(Combining {
                    slot,
                    line,
                    mask: 0,
                    contexts: Vec::new(),
                    sent: false,
                });
                hart.core.combines.set(true);
                hart.combining.len() - 1
            }
        };
        let uncounted = mutants::awaits_no_combined();
        let hart = self.hw.hart(core);
        let buffer = &mut hart.combining[index];
        if !uncounted {
            buffer.contexts.push(entry.context);
        }
        buffer.mask |= byte_mask(entry.addr, size);
        let full = (buffer.mask == u64::MAX).then_some(buffer.slot);
        self.visible(core, entry, at);
        if uncounted {
            self.hw.complete(core, entry.context);
        }
        if let Some(slot) = full {
            self.hw.send_combined(core, slot, at);
        }
        true
    }
}

/// The bytes of its line that an access covers, one bit each.
fn byte_mask(addr: Addr, size: u8) -> u64 {
    ((1u64 << size) - 1) << (addr.0 % 64)
}
