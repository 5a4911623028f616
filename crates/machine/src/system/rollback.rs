//! Speculation: checkpoints of cores, the way back, and what waits until it is certain.

use super::access::Blocked;
use super::hardware::{Front, Hardware, Hart};
use super::requests::Supplied;
use super::run::System;
use super::waiters::{Condition, Waiter};
use crate::core::{Entry, Interrupt, Kind, Response, Saved};
use std::task::Poll;
use strandline_design::{self as design, Checkpoint, Departure, Key, Load, Store, StoreId, Until};
use strandline_isa::{Addr, CoreId, Rmw};

/// Where a core can be rolled back to.
#[derive(Default)]
pub struct Checkpoints {
    next: u64,
    kept: Vec<(Checkpoint, Saved)>,
    /// The length of the log at the checkpoint that the core was rolled back to last, until the core
    /// has passed it.
    passes: Option<usize>,
}

/// A locked instruction that the design keeps.
#[derive(Clone, Copy, Debug)]
pub struct KeptLocked {
    /// The word that it reads.
    old: u64,
    /// What the design has of it.
    supplied: Supplied,
}

impl Hart {
    /// Discards a checkpoint and all older ones.
    pub fn release(&mut self, checkpoint: Checkpoint) {
        self.checkpoints.kept.retain(|(kept, _)| *kept > checkpoint);
    }
}

impl Hardware {
    /// Takes a checkpoint of a core just before the instruction that is being asked about.
    pub fn take_checkpoint(&mut self, core: CoreId) -> Option<Checkpoint> {
        let hart = self.hart(core);
        let saved = hart.core.save();
        let checkpoints = &mut hart.checkpoints;
        if checkpoints.passes == Some(saved.operations()) {
            return None;
        }
        checkpoints.next += 1;
        let checkpoint = Checkpoint(checkpoints.next);
        checkpoints.kept.push((checkpoint, saved));
        Some(checkpoint)
    }
}

impl System {
    /// A core has retired a fence speculatively: what it announces from now on waits for the condition.
    pub(super) fn speculate(&mut self, core: CoreId, until: Until<Key>) {
        if self.hw.hart(core).core.holds(until) {
            return;
        }
        let number = self.hw.hart(core).core.notes.speculate();
        let condition = Condition::of(core, until);
        self.hw.waiters.park(condition, Waiter::Speculation { core, number });
    }

    /// What a speculatively retired fence waited for has come.
    pub(super) fn confirm(&mut self, core: CoreId, number: u64) {
        let now = self.hw.now;
        self.hw.hart(core).core.notes.confirm(number, now);
        self.maybe_start();
    }

    /// A locked instruction is about to ask for its line: if the design keeps it, what it has read; or it waits.
    pub(super) fn keep_locked(
        &mut self,
        core: CoreId,
        addr: Addr,
        op: Rmw,
        operand: u64,
        at: u64,
    ) -> Option<Result<Response, Blocked>> {
        let kept = match self.hw.hart(core).locked {
            Some(kept) => kept,
            None => match self.ask_to_keep(core, addr, op, operand, at) {
                Ok(kept) => kept?,
                Err(blocked) => return Some(Err(blocked)),
            },
        };
        // Kept once, however often it must ask for the line that it reads.
        self.hw.hart(core).locked = Some(kept);
        let load = Load { addr, size: 8 };
        let ready = match self.loads_line(core, load, kept.supplied, at, false) {
            Ok(ready) => ready,
            Err(blocked) => return Some(Err(blocked)),
        };
        self.hw.hart(core).locked = None;
        let beyond_a_load = self.hw.machine.core.locked_latency.since(self.hw.machine.l1.latency);
        Some(Ok(Response {
            value: kept.old,
            done: ready + beyond_a_load.0,
            ..Response::default()
        }))
    }

    /// Asks the design whether it keeps a locked instruction: if so, what it reads, where a load would.
    fn ask_to_keep(
        &mut self,
        core: CoreId,
        addr: Addr,
        op: Rmw,
        operand: u64,
        at: u64,
    ) -> Result<Option<KeptLocked>, Blocked> {
        let shared = self.hw.hart(core).core.clone();
        let load = Load { addr, size: 8 };
        // A design that keeps nothing of the core has nothing to supply.
        let supplied = match shared.kept.borrow().is_empty() {
            true => Supplied::NOTHING,
            false => self.supplied(core, load)?,
        };
        if self.design.reads_durable() && self.hw.last.peek(load.addr.line()).is_none() {
            // All cores may see other bytes once it is there.
            self.loads_line(core, load, supplied, at, false)?;
        }
        let old = self.below_queue(load, supplied);
        let value = op.apply(old, operand);
        let asked = design::Entry::Locked(Store { addr, size: 8, value });
        let id = StoreId(shared.queue.borrow().newest() + 1);
        match self.design.keep(&mut self.hw, core, asked, id) {
            Departure::Go => return Ok(None),
            Departure::Wait(until) => return Err(until.into()),
            Departure::Keep => {}
        }
        shared.queue.borrow_mut().take_number();
        let op = shared.trace_kept_locked(addr, old, value);
        let context = shared.context.get();
        shared.add_pending(context);
        shared.kept.borrow_mut().push_back(Entry {
            number: id.0,
            op,
            counted: shared.counts_next.replace(false),
            ..Entry::of(addr, Kind::Store { size: 8, value }, context, at)
        });
        Ok(Some(KeptLocked { old, supplied }))
    }

    /// Rolls a core back: its program goes on from the checkpoint. Whether there still was one.
    pub(super) fn roll_back(&mut self, core: CoreId, checkpoint: Checkpoint) -> bool {
        let hart = self.hw.hart(core);
        let Some(index) = hart.checkpoints.kept.iter().position(|(kept, _)| *kept == checkpoint) else {
            return false;
        };
        let saved = hart.checkpoints.kept.drain(index..).next().map(|(_, saved)| saved);
        let saved = saved.expect("the checkpoint");
        hart.checkpoints.passes = Some(saved.operations());
        hart.locked = None;
        self.hw.waiters.forget_core(core);
        self.begin_anew(core, &saved);
        for entry in self.void_stores(core, &saved) {
            self.hw.hart(core).core.settle(entry.context);
        }
        let now = self.hw.now;
        let hart = self.hw.hart(core);
        hart.core.restore(&saved);
        hart.core.window.redirect(now);
        hart.core.front.set(hart.core.window.cycle());
        hart.front = Front::Runnable;
        self.retry_drain(core);
        self.look_at_waits(core);
        self.design.rolled_back(&mut self.hw, core, checkpoint);
        true
    }

    /// Interrupts a core's program, which hears of it when it asks. One that never asks whether it was interrupted ends there, and
    /// with it the run, as by a power failure.
    pub(super) fn interrupt(&mut self, core: CoreId) {
        let core = &self.hw.hart(core).core;
        match core.interrupted.get() {
            Interrupt::Unheeded => self.halted = true,
            Interrupt::Heeded { .. } => core.interrupted.set(Interrupt::Heeded { pending: true }),
        }
    }

    /// Takes the stores out that the core has made since: from the store queue, and those that the design keeps.
    fn void_stores(&mut self, core: CoreId, saved: &Saved) -> Vec<Entry> {
        let shared = &self.hw.hart(core).core;
        let mut void = shared.queue.borrow_mut().remove_younger(saved.newest_entry());
        shared.kept.borrow_mut().retain(|entry| {
            let stays = entry.number <= saved.newest_entry();
            if !stays {
                void.push(*entry);
            }
            stays
        });
        void
    }

    /// Begins a core's program anew and gives it what it was given up to the checkpoint.
    fn begin_anew(&mut self, core: CoreId, saved: &Saved) {
        let factory = self.factories[core.index()].clone();
        let factory = factory.expect("a design that rolls back runs programs that can be begun anew");
        let shared = self.hw.hart(core).core.clone();
        shared.begin_replay(saved.operations());
        self.programs[core.index()] = Some(factory(self.cpu(core)));
        let polled = self.poll(core);
        assert!(
            polled == Poll::Pending,
            "{core}: the program ended before its checkpoint"
        );
        shared.end_replay();
    }
}
