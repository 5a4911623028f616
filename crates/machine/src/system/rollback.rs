//! Speculation: checkpoints of cores, roll-backs, and notes that wait until it is certain.

use super::access::Blocked;
use super::drain::{store_of, write_of};
use super::hardware::{Hardware, Hart, ProgramState};
use super::running::Running;
use crate::core::{Entry, EntryKind, Interrupt, Response, Saved};
use crate::timeline::Who;
use strandline_design::{Access, Checkpoint, Departure, Key, Load, StoreId, Until, WriteKind};
use strandline_isa::{Addr, CoreId, Line, Rmw};

/// The checkpoints to which a core can be rolled back.
#[derive(Default)]
pub struct Checkpoints {
    next: u64,
    /// With the core's state, if it can be rolled back at all.
    kept: Vec<(Checkpoint, Option<Box<Saved>>)>,
    /// The length of the log at the checkpoint of the latest roll-back, until the core has passed
    /// it. There is no checkpoint there again unless an older one is kept.
    passes: Option<usize>,
}

impl Hart {
    /// Whether the core has checkpoints, or stores that the design keeps.
    pub fn speculates(&self) -> bool {
        !self.checkpoints.kept.is_empty() || !self.core.kept.borrow().is_empty()
    }

    /// Discards a checkpoint and all older ones.
    pub fn release(&mut self, checkpoint: Checkpoint) {
        self.checkpoints.kept.retain(|(kept, _)| *kept > checkpoint);
        self.name_oldest();
    }

    /// Tells the log the oldest checkpoint.
    fn name_oldest(&self) {
        if let Some(log) = &self.core.observer.log {
            let oldest = self.checkpoints.kept.first();
            log.need(oldest.and_then(|(_, saved)| saved.as_deref()).map(Saved::operations));
        }
    }
}

impl Hardware {
    /// Takes a checkpoint of a core just before the instruction about which the design is asked.
    pub fn take_checkpoint(&mut self, core: CoreId) -> Option<Checkpoint> {
        let hart = self.hart(core);
        let saved = hart.core.observer.log.is_some().then(|| Box::new(hart.core.save()));
        let checkpoints = &mut hart.checkpoints;
        let operations = saved.as_deref().map(Saved::operations);
        // What is before an older checkpoint becomes certain whatever happens here: that is progress enough.
        let is_oldest = checkpoints.kept.is_empty();
        if operations.is_some() && is_oldest && checkpoints.passes == operations {
            return None;
        }
        checkpoints.next += 1;
        let checkpoint = Checkpoint(checkpoints.next);
        checkpoints.kept.push((checkpoint, saved));
        hart.name_oldest();
        self.record(move |recorder, at| recorder.checkpoint(core, checkpoint, at));
        Some(checkpoint)
    }
}

impl Running {
    /// Makes a speculatively retired fence certain: its condition holds.
    pub(super) fn confirm(&mut self, core: CoreId, number: u64) {
        let now = self.hw.now();
        self.hw
            .record(move |recorder, _| recorder.woken(Who::Speculation(core, number), now));
        self.hw.hart(core).core.notes.confirm(number, now);
        self.maybe_start();
    }

    /// Performs a locked instruction of a core that speculates: its old value if the design keeps
    /// the write, or it waits. It reads its word where a load would and brings the line into its
    /// core's caches, so that another core's store is a conflict from now on.
    pub(super) fn keep_locked(
        &mut self,
        core: CoreId,
        addr: Addr,
        op: Rmw,
        operand: u64,
        at: u64,
    ) -> Option<Result<Response, Blocked>> {
        let (old, ready) = match self.loaded(core, Load { addr, size: 8 }, at, false) {
            Ok(read) => read,
            Err(blocked) => return Some(Err(blocked)),
        };
        let shared = self.hw.hart(core).core.clone();
        let kind = EntryKind::Store {
            size: 8,
            value: op.apply(old, operand),
        };
        let mut entry = Entry::of(addr, kind, 0, ready);
        let id = StoreId(shared.queue.borrow().newest() + 1);
        let asked = write_of(WriteKind::Locked, &entry);
        match self.design.keep(&mut self.hw, core, asked, id) {
            Departure::Go => return None,
            Departure::Wait(until) => return Some(Err(until.into())),
            Departure::Keep => {}
        }
        entry.number = shared.queue.borrow_mut().take_number();
        entry.op = shared.trace_kept_locked(addr, old, store_of(&entry).value);
        entry.context = shared.context.now.get();
        entry.counted = shared.observer.counts_next.replace(false);
        shared.add_pending(entry.context, at);
        shared.kept.borrow_mut().push_back(entry);
        let beyond_a_load = self.hw.machine.core.locked_latency.since(self.hw.machine.l1.latency);
        Some(Ok(Response {
            value: old,
            done: ready + beyond_a_load.0,
            ..Response::default()
        }))
    }

    /// Place 5: snoops the cores that speculate, for a write that takes a line from all caches.
    pub(super) fn snoop_speculating(&mut self, requester: CoreId, line: Line) -> Result<(), Until<Key>> {
        for index in 0..self.hw.harts.len() {
            let other = CoreId(index as u16);
            if other != requester && self.hw.harts[index].speculates() {
                self.snoop(other, requester, line, Access::Own)?;
            }
        }
        Ok(())
    }

    /// Rolls a core back: its program resumes at the checkpoint. Returns whether the checkpoint
    /// exists.
    pub(super) fn roll_back(&mut self, core: CoreId, checkpoint: Checkpoint) -> bool {
        let hart = self.hw.hart(core);
        let Some(index) = hart.checkpoints.kept.iter().position(|(kept, _)| *kept == checkpoint) else {
            return false;
        };
        let saved = hart.checkpoints.kept.drain(index..).next().map(|(_, saved)| saved);
        let saved = saved.flatten().expect("a design that rolls back");
        hart.checkpoints.passes = Some(saved.operations());
        hart.name_oldest();
        let recorded = saved.recorded();
        self.hw
            .record(move |recorder, at| recorder.rolls_back(core, checkpoint, recorded, at));
        self.hw.waiters.forget_core(core, saved.speculations());
        self.begin_anew(core, &saved);
        let now = self.hw.now();
        for entry in self.void_stores(core, &saved) {
            self.hw.hart(core).core.complete(entry.context, now);
        }
        let hart = self.hw.hart(core);
        hart.core.restore(&saved);
        hart.core.window.redirect(now);
        hart.core.turn.next_op.set(hart.core.window.cycle());
        hart.state = ProgramState::Runnable;
        self.hw.retry_drain(core);
        self.hw.message_drained(core);
        self.hw.look_at_waits(core);
        self.design.rolled_back(&mut self.hw, core, checkpoint);
        true
    }

    /// Interrupts a core's program, which learns of it when it polls. A program that never polls
    /// ends there, and with it the run, as by a power failure. A core without a program ignores it.
    pub(super) fn interrupt(&mut self, core: CoreId) {
        if self.factories[core.index()].is_none() {
            return;
        }
        self.wake(core);
        let core = &self.hw.hart(core).core;
        match core.interrupted.get() {
            Interrupt::Unheeded => self.halted = true,
            Interrupt::Heeded { .. } => core.interrupted.set(Interrupt::Heeded { pending: true }),
        }
    }

    /// Removes the stores that the core has made since: from the store queue, and from the design's
    /// kept stores.
    fn void_stores(&mut self, core: CoreId, saved: &Saved) -> Vec<Entry> {
        let now = self.hw.now();
        let shared = &self.hw.hart(core).core;
        let mut void = shared.queue.borrow_mut().remove_younger(saved.newest_entry(), now);
        shared.kept.borrow_mut().retain(|entry| {
            let stays = entry.number <= saved.newest_entry();
            if !stays {
                void.push(*entry);
            }
            stays
        });
        void
    }

    /// Restarts a core's program and replays its log up to the checkpoint.
    fn begin_anew(&mut self, core: CoreId, saved: &Saved) {
        let factory = self.factories[core.index()].clone();
        let factory = factory.expect("a design that rolls back runs programs that can be begun anew");
        let shared = self.hw.hart(core).core.clone();
        let trained = shared.begin_replay(saved.operations());
        self.put(core, factory);
        let ended = self.resume_program(core);
        assert!(!ended, "{core}: the program ended before its checkpoint");
        shared.end_replay(&trained);
    }
}
