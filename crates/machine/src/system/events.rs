//! Events at controllers and in write-back buffers, in time order, and the waiters that they wake.

use super::clock::Clock;
use super::hardware::Command;
use super::hosts::HostId;
use super::running::Running;
use super::waiters::{Condition, Waiter};
use crate::memory::Origin;
use crate::timeline::Recorder;
use strandline_design::{ControllerId, Key, StoreId, WriteId};
use strandline_isa::CoreId;
use strandline_rules::breaks;
use strandline_rules::time::Rule;

/// An event outside of the cores.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A write arrives at a controller.
    Arrives { controller: ControllerId, write: WriteId },
    /// A write comes to where the design is asked about it on its way.
    AtStop(WriteId),
    /// A write is on the media.
    OnMedia {
        controller: ControllerId,
        write: WriteId,
        bytes: u32,
    },
    /// A controller looks for a write to issue.
    Look { controller: ControllerId },
    /// A commit request arrives at a controller.
    CommitArrives {
        controller: ControllerId,
        core: CoreId,
        tag: Key,
    },
    /// A controller's answer to a commit is back at the core.
    CommitAnswered {
        controller: ControllerId,
        core: CoreId,
        tag: Key,
    },
    /// A flush in a write-back buffer that wrote nothing completes.
    BufferDone { core: CoreId, slot: u64 },
    /// A flush of the design's that wrote nothing completes.
    DesignFlushed { core: CoreId, tag: Key },
    /// A store that the design kept gets its line.
    Perform { core: CoreId, id: StoreId },
    /// The design's own event.
    Message(Key),
    /// A host fails.
    HostFails(HostId),
    /// The other hosts learn that one has failed.
    HostsTold(HostId),
}

impl Event {
    /// Tells the recorder what acts.
    fn acts(self, recorder: &Recorder) {
        match self {
            Event::Message(message) => recorder.message_arrives(message),
            // Those of writes name them as they are handled.
            _ => recorder.op_acts(None),
        }
    }
}

impl Running {
    pub(super) fn event(&mut self, at: u64, event: Event) {
        breaks(Rule::TurnIsNoAction, || self.hw.clock = Clock::default());
        self.hw.clock.begin(at);
        self.hw.record(move |recorder, _| event.acts(recorder));
        breaks(Rule::EveryWakeArrives, || self.hw.repair_wakes(None));
        match event {
            Event::Arrives { controller, write } => self.arrives(controller, write, false),
            Event::AtStop(write) => self.comes_to_stop(write),
            Event::OnMedia {
                controller,
                write,
                bytes,
            } => self.on_media(controller, write, bytes),
            Event::Look { controller } => {
                let queue = &mut self.hw.controllers[controller.0 as usize];
                if queue.look_at == at {
                    queue.look_at = u64::MAX;
                    self.issue(controller);
                }
            }
            Event::CommitArrives { controller, core, tag } => {
                self.hw.controllers[controller.0 as usize].commit(core, tag);
                self.commits(controller);
            }
            Event::CommitAnswered { controller, core, tag } => self.commit_answered(controller, core, tag),
            Event::BufferDone { core, slot } => self.hw.buffer_done(core, slot),
            Event::DesignFlushed { core, tag } => self.design_acknowledged(core, tag),
            Event::Perform { core, id } => self.perform_kept(core, id),
            Event::Message(message) => self.design.message(&mut self.hw, message),
            Event::HostFails(host) => self.host_fails(host),
            Event::HostsTold(host) => self.hosts_told(host),
        }
        self.run_deferred();
    }

    /// A flush that the design has sent is acknowledged.
    pub(super) fn design_acknowledged(&mut self, core: CoreId, tag: Key) {
        self.hw
            .record(move |recorder, at| recorder.acknowledged(Origin::Design { core, tag }, at));
        self.design.acknowledged(&mut self.hw, core, tag);
    }

    /// Carries out the deferred services that the design has called.
    #[inline(always)]
    pub(super) fn run_deferred(&mut self) {
        if !self.hw.commands.is_empty() {
            self.run_all_deferred();
        }
    }

    #[cold]
    #[inline(never)]
    fn run_all_deferred(&mut self) {
        let mut times = 0;
        while let Some(command) = self.hw.commands.pop_front() {
            times += 1;
            if self.repeats || !self.may_repeat(times) {
                return self.hw.commands.clear();
            }
            match command {
                Command::FlushLine { core, line, flush, tag } => self.design_flush(core, line, flush, tag),
                Command::LookAtDrained(core) => self.hw.message_drained(core),
                Command::Acknowledge { core, .. } if self.hw.has_failed(core) => {}
                Command::Acknowledge { core, context } => self.hw.complete(core, context),
                Command::Open(gate) => self.open(gate),
                Command::LookAtStop => self.look_at_stop(),
                Command::LookAtQueue(controller) => self.issue(controller),
                Command::Perform { core, id } => self.perform_kept(core, id),
                Command::RollBack { core, checkpoint } => _ = self.roll_back(core, checkpoint),
                Command::Interrupt(core) => self.interrupt(core),
                Command::CrashStateChanged => self.crash_image_changes(self.hw.now(), None),
            }
        }
    }

    fn open(&mut self, gate: Key) {
        self.opened = match self.opened {
            (at, times) if at == self.hw.now() => (at, times + 1),
            _ => (self.hw.now(), 0),
        };
        // Its waiters stay, so that the report names them.
        if !self.may_repeat(self.opened.1) {
            return;
        }
        let woken = self.hw.waiters.wake(Condition::Open(gate));
        self.go_on(&woken);
        self.hw.waiters.recycle(woken);
    }

    /// Those that have waited for a gate go on.
    #[inline]
    pub(super) fn go_on(&mut self, woken: &[Waiter]) {
        for waiter in woken {
            match *waiter {
                Waiter::Fence(core) => self.hw.release(core),
                Waiter::Program(core, then) => self.hw.resume(core, then),
                Waiter::StoreQueue(core) => self.hw.retry_drain(core),
                Waiter::Speculation { core, number } => self.confirm(core, number),
                Waiter::Eviction { level, core, line } => self.release_line(level, core, line),
                Waiter::Flush { core, line, flush, tag } => self.design_flush(core, line, flush, tag),
                Waiter::Perform { core, id } => self.perform_kept(core, id),
                Waiter::Arrival { controller, write } => self.arrives(controller, write, true),
            }
        }
    }
}
