//! Early writes arrive at controllers, and epochs commit there.

use super::controllers::Arriving;
use super::frontiers::Heard;
use super::recovery_table::Handling;
use super::{Asap, Gate, Message, Own, Tag};
use crate::epochs::rules::Rule;
use crate::parts::epochs::{Commit, EpochId, Frontier};
use crate::parts::persist_buffer::Flush;
use strandline_design::{Acceptance, ControllerId, Services, WriteRequest};
use strandline_isa::{CoreId, Line};
use strandline_kernel::Cycles;
use strandline_rules::broken;

impl Asap {
    /// Commits an epoch: the controllers that got its early writes free its records first (ASAP
    /// V-C).
    pub(super) fn commit(&mut self, hw: &mut dyn Services<Own>, commit: Commit) {
        let Commit { epoch, early } = commit;
        let others = self.others_to_tell(hw, epoch, &early);
        let epochs = self.buffers.epochs(epoch.core);
        epochs.await_acknowledgements(epoch.number, others.len() as u64);
        let proved = epochs.proved();
        for controller in early.iter().chain(&others) {
            let at = hw.now() + self.commit_delay(hw);
            hw.send(at, Message::Commit(*controller, epoch, proved));
        }
        if broken(Rule::CommitAwaitsControllers) {
            self.durable(hw, epoch);
        }
        self.settle(hw, epoch.core);
    }

    /// The controllers that are to hear of an epoch's commit although they got no early writes of it.
    fn others_to_tell(&self, hw: &dyn Services<Own>, epoch: EpochId, early: &[ControllerId]) -> Vec<ControllerId> {
        let is_for_all = self.is_pipelined() && self.controllers.numbers().is_for_all(epoch.number);
        if !is_for_all || broken(Rule::AllHearInTime) {
            return Vec::new();
        }
        let forgotten = u16::from(broken(Rule::EachHearsInTime));
        let all = (0..hw.controllers() as u16 - forgotten).map(ControllerId);
        all.filter(|controller| !early.contains(controller)).collect()
    }

    /// How long a commit and its answer take.
    fn commit_delay(&self, hw: &mut dyn Services<Own>) -> Cycles {
        match self.commit_latency {
            Cycles::ZERO => hw.draw_controller_delay(),
            set => set,
        }
    }

    /// Removes the epochs of a core whose commits are answered.
    fn settle(&mut self, hw: &mut dyn Services<Own>, core: CoreId) {
        while let Some(epoch) = self.buffers.epochs(core).next_settled() {
            self.durable(hw, epoch);
            self.buffers.note_changed(core);
        }
    }

    /// Removes a durable epoch and notifies the cores with epochs that depend on it.
    fn durable(&mut self, hw: &mut dyn Services<Own>, done: EpochId) {
        self.refused.retain(|epoch| *epoch != done);
        let known = hw.now() + hw.to_core();
        self.buffers.durable(hw, done, known);
    }

    /// Counts a controller's acknowledgement of an epoch's commit.
    pub(super) fn commit_acknowledged(&mut self, hw: &mut dyn Services<Own>, epoch: EpochId) {
        self.buffers.epochs(epoch.core).acknowledge_commit(epoch.number);
        self.settle(hw, epoch.core);
    }

    /// Handles a message.
    pub(super) fn take_message(&mut self, hw: &mut dyn Services<Own>, message: Message) {
        match message {
            Message::Buffers(message) => self.buffers.message(hw, message),
            Message::Commit(controller, epoch, proved) if self.is_pipelined() => {
                let (core, commits) = (epoch.core, Some(epoch));
                self.hears(hw, controller, Heard { core, proved, commits });
                self.answered(core, proved);
                self.commit_acknowledged(hw, epoch);
            }
            Message::Commit(controller, epoch, _) => self.commit_arrives(hw, controller, epoch),
            Message::Refused(core, id) => self.refuse(hw, core, id),
            Message::Read(controller, line) => {
                self.controllers.table(controller).has_read(line);
                hw.look_at_queue(controller);
            }
        }
    }

    /// A controller commits an epoch: it frees the epoch's undo records, and moves the values of
    /// its delay records, as safe writes, into the write queue or a later epoch's undo record (ASAP
    /// V-C).
    fn commit_arrives(&mut self, hw: &mut dyn Services<Own>, controller: ControllerId, epoch: EpochId) {
        let mut delayed = self.controllers.table(controller).commit(epoch);
        if broken(Rule::CommitWritesDelays) {
            delayed.clear();
        }
        hw.crash_state_changed();
        let epochs = self.buffers.epochs(epoch.core);
        if !broken(Rule::CommitAwaitsDelays) {
            epochs.await_acknowledgements(epoch.number, delayed.len() as u64);
        }
        for (line, data) in delayed {
            hw.put(epoch.core, line, data, Tag::Delayed(epoch));
        }
        // A line that waited for its old value need not wait any more.
        hw.look_at_queue(controller);
        self.commit_acknowledged(hw, epoch);
    }

    /// A controller hears that epochs of a core are proved: it frees their undo records, and moves the values of their delay
    /// records into the write queue or a later epoch's undo record. They stay in the table until the write queue has them, so
    /// the answer need not wait for that.
    fn hears(&mut self, hw: &mut dyn Services<Own>, controller: ControllerId, heard: Heard) {
        self.carried.clear();
        for (epoch, line, data) in self.controllers.hear(controller, heard) {
            hw.put(epoch.core, line, data, Tag::Delayed(epoch));
        }
        hw.crash_state_changed();
        hw.look_at_queue(controller);
    }

    /// A controller has answered that it knows these epochs to be proved.
    pub(super) fn answered(&mut self, core: CoreId, proved: Frontier) {
        self.buffers.epochs(core).note_answered(proved);
        self.buffers.note_changed(core);
    }

    /// A write was refused (NACK): until its epoch is durable the core flushes conservatively (ASAP
    /// V-D).
    fn refuse(&mut self, hw: &mut dyn Services<Own>, core: CoreId, id: u64) {
        if broken(Rule::RefusedComesAgain) {
            return self.buffers.acknowledged(hw, core, id);
        }
        self.refused.extend(self.buffers.refused(core, id));
    }

    /// A write arrives at its controller (ASAP, Table I).
    pub(super) fn arrives(
        &mut self,
        hw: &mut dyn Services<Own>,
        controller: ControllerId,
        write: &WriteRequest<Tag>,
    ) -> Acceptance<Gate> {
        self.carried.clear();
        let Some(arriving) = arriving(write) else {
            return Acceptance::Queue;
        };
        let handling = self.handles(hw, controller, write, arriving);
        if arriving.was_refused {
            hw.open(Gate::Accepted(controller));
        }
        match handling {
            Handling::Write => Acceptance::Queue,
            Handling::Speculate => {
                self.read_undo_value(hw, controller, write.line);
                Acceptance::Queue
            }
            Handling::Record => {
                hw.crash_state_changed();
                // If it is a new value to undo to, the old one need not be read before the line is
                // written.
                hw.look_at_queue(controller);
                Acceptance::Absorb
            }
            Handling::Refuse => {
                if let (Some(core), Some(Tag::Entry(sent, _))) = (write.core, write.tag) {
                    hw.send(hw.now(), Message::Refused(core, sent.id));
                }
                Acceptance::Refuse
            }
        }
    }

    /// Handles a write by the recovery table (ASAP, Table I). The frontier that it carries comes first: otherwise the value of a
    /// safe write could go into the undo record of an epoch that is proved.
    fn handles(
        &mut self,
        hw: &mut dyn Services<Own>,
        controller: ControllerId,
        write: &WriteRequest<Tag>,
        arriving: Arriving,
    ) -> Handling {
        let old = hw.durable_line(write.line);
        if !self.is_pipelined() {
            return self.controllers.handle(controller, arriving, old);
        }
        let carried = match write.tag {
            Some(Tag::Entry(_, Some(proved))) if !self.controllers.knows(controller, arriving.owner.core, proved) => {
                Some(Heard {
                    core: arriving.owner.core,
                    proved,
                    commits: None,
                })
            }
            _ => None,
        };
        let is_late = broken(Rule::FrontierBeforeFlush);
        if let Some(heard) = carried.filter(|_| !is_late) {
            self.hears(hw, controller, heard);
            self.carried = self.controllers.committed(heard.core);
        }
        self.controllers.free_proved();
        let handling = match write.tag {
            Some(Tag::Delayed(epoch)) => self.controllers.table(controller).due_arrives(epoch, write.line),
            _ => self.controllers.handle(controller, arriving, old),
        };
        if let Some(heard) = carried {
            if is_late {
                self.hears(hw, controller, heard);
            } else if handling == Handling::Write {
                self.carried.push((write.line, write.data));
            }
        }
        handling
    }

    /// Reads the value of an undo record; the line is not written before.
    fn read_undo_value(&mut self, hw: &mut dyn Services<Own>, controller: ControllerId, line: Line) {
        if !self.undo_reads {
            return;
        }
        let at = hw.read_line(line);
        if at > hw.now() {
            self.controllers.table(controller).reads(line);
            hw.send(at, Message::Read(controller, line));
        }
    }
}

/// A write as it arrives, if it is one of a buffer or of a delay record.
fn arriving(write: &WriteRequest<Tag>) -> Option<Arriving> {
    let core = write.core?;
    let (owner, flush, was_refused) = match write.tag? {
        Tag::Delayed(epoch) => (epoch, Flush::Safe, false),
        Tag::Entry(sent, _) => {
            let number = sent.epoch;
            (EpochId { core, number }, sent.flush, sent.was_refused)
        }
    };
    Some(Arriving {
        owner,
        flush,
        was_refused,
        line: write.line,
        data: write.data,
    })
}
