//! The persist buffers of all cores: what leaves them, and when epochs are durable.

use super::buffers::{epoch, fence, room};
use super::recovery_table::Handling;
use super::speculation::Arriving;
use super::{EpochId, Flush, PersistBuffers, Shape};
use strandline_design::{
    Acceptance, ControllerId, Eviction, Gate, Level, Message, Services, Supply, Until, WriteRequest,
};
use strandline_isa::{CoreId, Line, LineData};
use strandline_kernel::Cycles;
use strandline_rules::{broken, Rule};

/// A core hears that another core's epoch is durable.
const RESOLVED: u32 = 0;
/// A controller hears that an epoch commits.
const COMMIT: u32 = 1;
/// A core hears that a controller has refused its write.
const REFUSED: u32 = 2;
/// A controller has read the old value of a line.
const READ: u32 = 3;
/// A core's writes have waited for long enough for stores that join them.
const GATHERED: u32 = 4;

/// The low bits of a message that names an epoch are its core.
const CORE_BITS: u32 = 16;

impl PersistBuffers {
    /// Commits what is complete and sends what may be sent. To be called whenever an entry leaves the store queue.
    pub fn advance(&mut self, hw: &mut dyn Services, core: CoreId) {
        loop {
            self.send(hw, core);
            let Some((number, early)) = self.side(core).epochs.commits() else {
                break;
            };
            self.commits(hw, EpochId { core, number }, early);
        }
        let eager = self.speculation.is_some();
        let side = self.side(core);
        if side.fence.is_some_and(|number| side.epochs.is_complete(number)) {
            side.fence = None;
            hw.open(fence(core));
        }
        let eager = eager && side.refused.is_empty();
        let (waits, may) = side.buffer.waits(|number| eager || side.epochs.is_safe(number));
        side.note(hw.now(), waits && !may);
    }

    /// Sends what may be sent.
    fn send(&mut self, hw: &mut dyn Services, core: CoreId) {
        let most = self.shape.gather;
        let speculates = self.speculation.is_some();
        loop {
            let side = self.side(core);
            let kept = side.kept(most);
            let eager = speculates && side.refused.is_empty();
            let epochs = &side.epochs;
            let how = |number| match epochs.is_safe(number) {
                true => Some(false),
                false => eager.then_some(true),
            };
            let Some(entry) = side.buffer.send(kept, how) else {
                return;
            };
            let mut write = entry.write;
            if matches!(entry.flush, Flush::Sent { early: true, .. }) {
                side.epochs.early(entry.epoch, hw.controller_of(write.line));
                if let Some(speculation) = &mut self.speculation {
                    speculation.counts.early += 1;
                }
            }
            if broken(Rule::EntryKeepsBytes) {
                write.data = hw.visible_line(write.line);
            }
            if broken(Rule::EpochAwaitsWrites) {
                self.side(core).epochs.acknowledged(entry.epoch);
            }
            hw.write(core, write.line, write.data, write.id);
        }
    }

    /// A write has entered a core's buffer: it does not wait for stores to join it for ever.
    pub(super) fn gather(&mut self, hw: &mut dyn Services, core: CoreId) {
        let (kind, to) = (GATHERED, u32::from(core.0));
        let Shape {
            gather, gather_time, ..
        } = self.shape;
        let side = self.side(core);
        let waits = gather > 1 && !side.gathers;
        if let Some((_, newest)) = side.buffer.ends().filter(|_| waits) {
            side.gathers = true;
            let body = newest;
            hw.send(hw.now() + Cycles(gather_time), Message { kind, to, body });
        }
    }

    /// The entries of a core's buffer up to this one have waited for long enough.
    fn gathered(&mut self, hw: &mut dyn Services, core: CoreId, newest: u64) {
        let side = self.side(core);
        side.gathered = Some(newest);
        side.gathers = false;
        if side.buffer.waiting(side.epochs.current(), side.gathered).is_some() {
            self.gather(hw, core);
        }
        self.advance(hw, core);
    }

    /// An epoch is safe and complete: the controllers that got early writes of it hear that it commits (ASAP V-C).
    fn commits(&mut self, hw: &mut dyn Services, committing: EpochId, early: u64) {
        if early == 0 {
            return self.durable(hw, committing);
        }
        for controller in (0..u64::BITS).filter(|bit| early >> bit & 1 == 1) {
            let at = hw.now() + hw.to_controller();
            hw.send(at, naming(COMMIT, controller, committing));
        }
        if broken(Rule::CommitAwaitsControllers) {
            self.durable(hw, committing);
        }
    }

    /// An epoch is durable: those that wait for it hear of it.
    fn durable(&mut self, hw: &mut dyn Services, done: EpochId) {
        self.writers.forget(done);
        let side = self.side(done.core);
        side.refused.retain(|number| *number != done.number);
        let dependents = side.epochs.leave(done.number);
        if std::mem::take(&mut side.waits_for_epoch) {
            hw.open(epoch(done.core));
        }
        let known = self.shape.resolution.known_at(hw.now(), hw.to_core());
        for dependent in dependents {
            hw.send(known, naming(RESOLVED, u32::from(dependent.0), done));
        }
    }

    /// A write is acknowledged.
    pub fn flushed(&mut self, hw: &mut dyn Services, core: CoreId, tag: u64) {
        let delivered = self.speculation.as_mut().and_then(|s| s.delivered(tag));
        if let Some(owner) = delivered {
            return self.answered(hw, owner);
        }
        let early = broken(Rule::EpochAwaitsWrites);
        let side = self.side(core);
        if let Some(number) = side.buffer.acknowledged(tag) {
            if !early {
                side.epochs.acknowledged(number);
            }
        }
        if std::mem::take(&mut side.waits_for_room) {
            hw.open(room(core));
        }
        let oldest = side.buffer.ends().map_or(u64::MAX, |(oldest, _)| oldest);
        let (gone, stay) = std::mem::take(&mut side.tails)
            .into_iter()
            .partition(|entry| *entry < oldest);
        side.tails = stay;
        let gone: Vec<u64> = gone;
        for entry in gone {
            hw.open(tail(core, entry));
        }
        self.advance(hw, core);
    }

    /// A controller has done what an epoch's commit asks of it.
    fn answered(&mut self, hw: &mut dyn Services, owner: EpochId) {
        if self.side(owner.core).epochs.answered(owner.number) {
            self.durable(hw, owner);
            self.advance(hw, owner.core);
        }
    }

    /// One of its own messages.
    pub fn message(&mut self, hw: &mut dyn Services, message: Message) {
        match message.kind {
            RESOLVED => {
                let core = CoreId(message.to as u16);
                self.side(core).epochs.resolve(named(message));
                self.advance(hw, core);
            }
            GATHERED => self.gathered(hw, CoreId(message.to as u16), message.body),
            COMMIT => self.commit_arrives(hw, ControllerId(message.to as u16), named(message)),
            REFUSED => self.refused(hw, CoreId(message.to as u16), message.body),
            READ => {
                if let Some(speculation) = &mut self.speculation {
                    speculation
                        .table(ControllerId(message.to as u16))
                        .has_read(Line(message.body));
                    hw.open(read());
                }
            }
            _ => {}
        }
    }

    /// A controller hears that an epoch commits: its records go, and their values to where they belong (ASAP V-C).
    fn commit_arrives(&mut self, hw: &mut dyn Services, controller: ControllerId, owner: EpochId) {
        let Some(speculation) = &mut self.speculation else {
            return;
        };
        let delayed = speculation.commit(controller, owner);
        hw.crash_state_changed();
        let side = self.side(owner.core);
        side.epochs.awaits_answers(owner.number, delayed.len() as u64);
        for (line, data, tag) in delayed {
            hw.put(owner.core, line, data, tag);
        }
        // A line that waited for its old value need not wait any more.
        hw.open(read());
        self.answered(hw, owner);
    }

    /// A write was refused: until its epoch is durable the core flushes conservatively (ASAP V-D).
    fn refused(&mut self, hw: &mut dyn Services, core: CoreId, id: u64) {
        if broken(Rule::RefusedComesAgain) {
            return self.flushed(hw, core, id);
        }
        let side = self.side(core);
        if let Some(number) = side.buffer.refused(id) {
            side.refused.push(number);
        }
        self.advance(hw, core);
    }

    /// A write arrives at its controller (ASAP, Table I).
    pub fn arrived(&mut self, hw: &mut dyn Services, controller: ControllerId, write: &WriteRequest) -> Acceptance {
        let Some((core, arriving)) = self.arriving(write) else {
            return Acceptance::Queue;
        };
        let Some(speculation) = &mut self.speculation else {
            return Acceptance::Queue;
        };
        let WriteRequest { line, tag, .. } = *write;
        let handling = speculation.arrives(controller, arriving, hw.durable_line(line));
        if let Flush::Sent { refused: true, .. } = arriving.flush {
            hw.open(refused_lines(controller));
        }
        match handling {
            Handling::Write => Acceptance::Queue,
            Handling::Speculate => {
                let at = hw.read_line(line);
                if at > hw.now() {
                    speculation.table(controller).reads(line);
                    let to = u32::from(controller.0);
                    let (kind, body) = (READ, line.0);
                    hw.send(at, Message { kind, to, body });
                }
                Acceptance::Queue
            }
            Handling::Record => {
                hw.crash_state_changed();
                Acceptance::Absorb
            }
            Handling::Refuse => {
                let (kind, to, body) = (REFUSED, u32::from(core.0), tag);
                hw.send(hw.now(), Message { kind, to, body });
                Acceptance::Refuse
            }
        }
    }

    /// Whose write it is, if it is one of a buffer or of a delay record.
    fn arriving(&mut self, write: &WriteRequest) -> Option<(CoreId, Arriving)> {
        let core = write.core?;
        let delayed = self.speculation.as_ref()?.delayed(write.tag);
        let (owner, flush) = match delayed {
            Some(owner) => (owner, Flush::Waits { refused: false }),
            None => {
                let entry = self.side(core).buffer.get(write.tag)?;
                let number = entry.epoch;
                (EpochId { core, number }, entry.flush)
            }
        };
        let (line, data) = (write.line, write.data);
        let arriving = Arriving {
            owner,
            flush,
            line,
            data,
        };
        Some((core, arriving))
    }

    /// Whether a queued write may go to the media: an old value that is to be undone to must have been read there.
    #[must_use]
    pub fn may_issue(&self, controller: ControllerId, line: Line) -> bool {
        let speculation = self.speculation.as_ref();
        speculation.is_none_or(|speculation| speculation.may_issue(controller, line))
    }

    /// A dirty persistent line leaves a level: the buffers persist it, so it is dropped where it would go to memory.
    ///
    /// With eager flushing, a line leaves the private caches when the entries that are in the buffer now are acknowledged, and the
    /// last level when no flush of it waits to be sent again (ASAP V-F).
    pub fn evicted(&mut self, hw: &mut dyn Services, core: CoreId, level: Level, line: Line) -> Eviction {
        let side = self.side(core);
        let newest = side.buffer.ends().map(|(_, newest)| newest);
        match (level, &mut self.speculation) {
            (Level::Private, None) => Eviction::WriteBack,
            (Level::Private, Some(_)) => {
                let Some(newest) = newest else {
                    return Eviction::WriteBack;
                };
                self.side(core).tails.push(newest);
                self.advance(hw, core);
                Eviction::Hold(Until::Open(tail(core, newest)))
            }
            (Level::Last, None) => Eviction::Drop,
            (Level::Last, Some(speculation)) => {
                let controller = hw.controller_of(line);
                match speculation.may_have_refused(controller, line) {
                    true => Eviction::Hold(Until::Open(refused_lines(controller))),
                    false => Eviction::Drop,
                }
            }
        }
    }

    /// A persistent line missed in every cache: a controller that holds a delay record of it answers without its media, since the newest
    /// value may be there alone.
    pub fn missed(&mut self, hw: &mut dyn Services, line: Line) -> Supply {
        let controller = hw.controller_of(line);
        match &self.speculation {
            Some(speculation) if speculation.delays(controller, line) => Supply::Design(hw.to_controller()),
            _ => Supply::Memory,
        }
    }

    /// What power failure writes to memory: undo records (ASAP V-E).
    pub fn power_fails(&self, image: &mut dyn FnMut(Line, LineData)) {
        for (line, data) in self.speculation.iter().flat_map(|speculation| speculation.undone()) {
            image(line, data);
        }
    }
}

/// Gates beyond those of [`super::buffers`]: an entry of a core's buffer is acknowledged; a line that was refused at a controller
/// is taken; an old value has been read.
fn tail(core: CoreId, entry: u64) -> Gate {
    Gate(1 << 62 | u64::from(core.0) << 40 | (entry & ((1 << 40) - 1)))
}

fn refused_lines(controller: ControllerId) -> Gate {
    Gate(1 << 61 | u64::from(controller.0))
}

fn read() -> Gate {
    Gate(1 << 60)
}

/// A message that names an epoch.
fn naming(kind: u32, to: u32, epoch: EpochId) -> Message {
    Message {
        kind,
        to,
        body: epoch.number << CORE_BITS | u64::from(epoch.core.0),
    }
}

/// The epoch that a message names.
fn named(message: Message) -> EpochId {
    let core = CoreId(message.body as u16);
    let number = message.body >> CORE_BITS;
    EpochId { core, number }
}
