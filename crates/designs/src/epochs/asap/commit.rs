//! Early writes arrive at controllers, and epochs commit there.

use super::super::buffers::named;
use super::controllers::Arriving;
use super::recovery_table::Handling;
use super::{naming, Asap, FREE_KIND};
use crate::parts::persist_buffer::{Commit, EpochId, Flush};
use strandline_design::{Acceptance, ControllerId, Gate, Message, Services, WriteRequest};
use strandline_isa::{CoreId, Line};
use strandline_rules::{broken, Rule};

/// A controller learns that an epoch commits.
const COMMIT: u32 = FREE_KIND;
/// A core learns that a controller has refused its write.
const REFUSED: u32 = FREE_KIND + 1;
/// A controller has read the value to undo to.
const READ: u32 = FREE_KIND + 2;

impl Asap {
    /// Commits an epoch: the controllers that got early writes of it have to free its records first (ASAP V-C).
    pub(super) fn commit(&mut self, hw: &mut dyn Services, commit: Commit) {
        let Commit { epoch, early } = commit;
        for controller in (0..u64::BITS).filter(|bit| early >> bit & 1 == 1) {
            let at = hw.now() + hw.to_controller();
            hw.send(at, naming(COMMIT, controller, epoch));
        }
        if early == 0 || broken(Rule::CommitAwaitsControllers) {
            self.durable(hw, epoch);
        }
    }

    /// An epoch is durable: cores with epochs that depend on it are sent word.
    fn durable(&mut self, hw: &mut dyn Services, done: EpochId) {
        self.refused.retain(|epoch| *epoch != done);
        let known = hw.now() + hw.to_core();
        self.buffers.durable(hw, done, known);
    }

    /// A controller has done what an epoch's commit takes.
    pub(super) fn commit_acknowledged(&mut self, hw: &mut dyn Services, epoch: EpochId) {
        if self.buffers.epochs(epoch.core).acknowledge_commit(epoch.number) {
            self.durable(hw, epoch);
            self.buffers.note_changed(epoch.core);
        }
    }

    /// Takes a message of its own.
    pub(super) fn take_message(&mut self, hw: &mut dyn Services, message: Message) {
        let (core, controller) = (CoreId(message.to as u16), ControllerId(message.to as u16));
        match message.kind {
            COMMIT => self.commit_arrives(hw, controller, named(message)),
            REFUSED => self.refuse(hw, core, message.body),
            READ => {
                self.controllers.table(controller).has_read(Line(message.body));
                hw.open(read());
            }
            _ => self.buffers.message(hw, message),
        }
    }

    /// A controller commits an epoch: its undo records are freed, and the values of its delay records enter the write queue, or a
    /// later epoch's undo record, as safe writes (ASAP V-C).
    fn commit_arrives(&mut self, hw: &mut dyn Services, controller: ControllerId, epoch: EpochId) {
        let delayed = self.controllers.commit(controller, epoch);
        hw.crash_state_changed();
        let epochs = self.buffers.epochs(epoch.core);
        epochs.await_acknowledgements(epoch.number, delayed.len() as u64);
        for (line, data, tag) in delayed {
            hw.put(epoch.core, line, data, tag);
        }
        // A line that waited for its old value need not wait any more.
        hw.open(read());
        self.commit_acknowledged(hw, epoch);
    }

    /// A write was refused: until its epoch is durable the core flushes conservatively (ASAP V-D).
    fn refuse(&mut self, hw: &mut dyn Services, core: CoreId, id: u64) {
        if broken(Rule::RefusedComesAgain) {
            return self.buffers.acknowledged(hw, core, id);
        }
        self.refused.extend(self.buffers.refused(core, id));
    }

    /// A write arrives at its controller (ASAP, Table I).
    pub(super) fn arrives(
        &mut self,
        hw: &mut dyn Services,
        controller: ControllerId,
        write: &WriteRequest,
    ) -> Acceptance {
        let Some((core, arriving)) = self.arriving(write) else {
            return Acceptance::Queue;
        };
        let handling = self
            .controllers
            .handle(controller, arriving, hw.durable_line(write.line));
        if arriving.was_refused {
            hw.open(accepted(controller));
        }
        match handling {
            Handling::Write => Acceptance::Queue,
            Handling::Speculate => {
                self.read_undo_value(hw, controller, write.line);
                Acceptance::Queue
            }
            Handling::Record => {
                hw.crash_state_changed();
                Acceptance::Absorb
            }
            Handling::Refuse => {
                let (kind, to, body) = (REFUSED, u32::from(core.0), write.tag);
                hw.send(hw.now(), Message { kind, to, body });
                Acceptance::Refuse
            }
        }
    }

    /// Reads the value of an undo record, before which its line is not written.
    fn read_undo_value(&mut self, hw: &mut dyn Services, controller: ControllerId, line: Line) {
        let at = hw.read_line(line);
        if at > hw.now() {
            self.controllers.table(controller).reads(line);
            let (kind, to, body) = (READ, u32::from(controller.0), line.0);
            hw.send(at, Message { kind, to, body });
        }
    }

    /// Whose write it is, if it is one of a buffer or of a delay record.
    fn arriving(&mut self, write: &WriteRequest) -> Option<(CoreId, Arriving)> {
        let core = write.core?;
        let (owner, flush, was_refused) = match self.controllers.delayed(write.tag) {
            Some(owner) => (owner, Flush::Safe, false),
            None => {
                let entry = self.buffers.entry(core, write.tag)?;
                let number = entry.epoch;
                (EpochId { core, number }, entry.flush(), entry.was_refused())
            }
        };
        let (line, data) = (write.line, write.data);
        let arriving = Arriving {
            owner,
            flush,
            was_refused,
            line,
            data,
        };
        Some((core, arriving))
    }
}

/// Gates beyond those of [`super::super::buffers`]: a write that was refused at a controller is accepted; an old value has been read.
pub(super) fn accepted(controller: ControllerId) -> Gate {
    Gate(1 << 61 | u64::from(controller.0))
}

fn read() -> Gate {
    Gate(1 << 60)
}
