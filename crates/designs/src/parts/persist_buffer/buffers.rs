//! The persist buffers of all cores: what enters them, and who waits for whom.

use super::shape::Resolution;
use super::{
    Carries, EpochId, Follows, Shape, Side, Speculation, Writers, BUFFER_ENTRIES, EPOCH_ENTRIES, GATHER, GATHER_TIME,
    POLL_ACCESS, POLL_PERIOD, TABLE_ENTRIES,
};
use crate::parts::bloom::FILTER_BYTES;
use strandline_design::{Admission, Asked, Counters, Departure, Entry, Gate, Occupancy, Reply, Services, Sizes, Until};
use strandline_isa::{Addr, CoreId, Line, Primitive, LINE_BYTES};
use strandline_kernel::{Cycles, Param, Params};
use strandline_rules::{broken, Rule};

/// Persist buffers with what orders them: HOPS's or ASAP's.
///
/// A store to persistent memory enters its core's buffer as it becomes visible, in the core's current epoch. Entries go as soon as
/// they may, but for those of an epoch that has not ended: a store that follows may be to their line. These go when
/// so many wait ([`GATHER`]) or some time has passed. The papers speak of coalescing and of flushing in the background, and not of when.
///
/// *Conservative* flushing sends what is safe: writes of an epoch when every earlier epoch of the core is durable and the epochs
/// of other cores that it depends on are (ASAP II and Figure 1). *Eager* flushing sends everything, and marks what is not safe as
/// early (ASAP IV-C). What is in a buffer when power fails is lost.
#[derive(Clone, Debug)]
pub struct PersistBuffers {
    pub(super) carries: Carries,
    pub(super) shape: Shape,
    pub(super) sides: Vec<Side>,
    pub(super) writers: Writers,
    /// With eager flushing.
    pub(super) speculation: Option<Speculation>,
    epochs: u64,
    dependences: u64,
}

/// What can be set of conservative buffers that poll.
const POLLED: &[Param] = &[BUFFER_ENTRIES, GATHER, GATHER_TIME, POLL_PERIOD, POLL_ACCESS];

/// What can be set of eager ones.
const EAGER: &[Param] = &[BUFFER_ENTRIES, GATHER, GATHER_TIME, EPOCH_ENTRIES, TABLE_ENTRIES];

impl PersistBuffers {
    /// HOPS's: conservative; cores poll a global register of complete epochs (ASAP VI-B).
    #[must_use]
    pub fn conservative(carries: Carries) -> PersistBuffers {
        let resolution = Resolution::Polled {
            period: POLL_PERIOD.default,
            access: POLL_ACCESS.default,
        };
        PersistBuffers::of(carries, None, resolution)
    }

    /// ASAP's: eager; epoch tables, and recovery tables in the controllers.
    #[must_use]
    pub fn eager(carries: Carries) -> PersistBuffers {
        let mut buffers = PersistBuffers::of(carries, Some(EPOCH_ENTRIES.default as usize), Resolution::Told);
        buffers.speculation = Some(Speculation::new(TABLE_ENTRIES.default as usize));
        buffers
    }

    fn of(carries: Carries, epochs: Option<usize>, resolution: Resolution) -> PersistBuffers {
        PersistBuffers {
            carries,
            shape: Shape {
                entries: BUFFER_ENTRIES.default as usize,
                epochs,
                resolution,
                gather: GATHER.default as usize,
                gather_time: GATHER_TIME.default,
            },
            sides: Vec::new(),
            writers: Writers::default(),
            speculation: None,
            epochs: 0,
            dependences: 0,
        }
    }

    /// What can be set of conservative ones.
    #[must_use]
    pub fn conservative_params() -> &'static [Param] {
        POLLED
    }

    /// What can be set of eager ones.
    #[must_use]
    pub fn eager_params() -> &'static [Param] {
        EAGER
    }

    /// Takes the values of the parameters.
    pub fn set(&mut self, params: &Params) {
        self.shape.entries = params.get(BUFFER_ENTRIES.name) as usize;
        self.shape.gather = params.get(GATHER.name) as usize;
        self.shape.gather_time = params.get(GATHER_TIME.name);
        if self.speculation.is_some() {
            self.shape.epochs = Some(params.get(EPOCH_ENTRIES.name) as usize);
            self.speculation = Some(Speculation::new(params.get(TABLE_ENTRIES.name) as usize));
        } else {
            self.shape.resolution = Resolution::Polled {
                period: params.get(POLL_PERIOD.name),
                access: params.get(POLL_ACCESS.name),
            };
        }
    }

    pub(super) fn side(&mut self, core: CoreId) -> &mut Side {
        for number in self.sides.len()..=core.index() {
            let side = Side::new(CoreId(number as u16), self.shape.entries);
            self.sides.push(side);
        }
        &mut self.sides[core.index()]
    }

    /// What becomes of a primitive as it is dispatched: those that wait for what came before wait for its epochs, and younger stores
    /// with them; those that order do so when they leave the store queue.
    #[must_use]
    pub fn primitive(core: CoreId, primitive: Primitive) -> Admission {
        match primitive {
            Primitive::Ofence
            | Primitive::PersistBarrier
            | Primitive::NewStrand
            | Primitive::Release
            | Primitive::Acquire
            | Primitive::Setctx(_) => Admission::Enter,
            Primitive::StoreBarrier => Admission::plain(primitive),
            // A `dfence`, and what the buffers have nothing weaker for.
            _ => Admission::EnterHeld {
                until: Until::Open(fence(core)),
                loads: primitive == Primitive::Mfence,
            },
        }
    }

    /// The turn of an entry of the store queue has come, or of a locked instruction.
    pub fn departs(&mut self, hw: &mut dyn Services, core: CoreId, entry: Entry, context: u8) -> Departure {
        match entry {
            Entry::Store(addr) | Entry::StoreNt(addr) => self.store(hw, core, addr),
            Entry::Flush(..) => {
                self.advance(hw, core);
                hw.acknowledge(core, context);
                Departure::Keep
            }
            Entry::Primitive(Primitive::StoreBarrier) => Departure::Go,
            Entry::Primitive(primitive) => self.orders(hw, core, primitive),
        }
    }

    /// A store is about to become visible: it waits if its core's buffer has no room for it.
    fn store(&mut self, hw: &mut dyn Services, core: CoreId, addr: Addr) -> Departure {
        if !addr.is_persistent() {
            return Departure::Go;
        }
        if let Some(until) = self.follow_last(hw, core, addr.line()) {
            return Departure::Wait(until);
        }
        let side = self.side(core);
        side.writes();
        if side.buffer.takes(addr.line(), side.epochs.current()) || broken(Rule::FullBufferHoldsStore) {
            return Departure::Go;
        }
        self.side(core).waits_for_room = true;
        self.advance(hw, core);
        Departure::Wait(Until::Open(room(core)))
    }

    /// Where reads carry no dependence, what writes a line that another core or another strand wrote follows that from here on
    /// (StrandWeaver, Equation 3). The note of who wrote a line last comes with the line and stays with it until the store: a line
    /// may come while a younger strand has not begun, and a load may bring it to be stored to without another request.
    fn follow_last(&mut self, hw: &mut dyn Services, core: CoreId, line: Line) -> Option<Until> {
        let rule = match self.carries {
            Carries::EveryLine => return None,
            Carries::Releases => Rule::LinesDepend,
            Carries::Conflicts => Rule::StrandsOfALineInOrder,
        };
        if broken(rule) {
            return None;
        }
        let last = self.writers.last(line)?;
        let own = last.core == core;
        let epochs = &self.side(core).epochs;
        let follows = if own {
            epochs.follows(last.number)
        } else {
            epochs.awaits(last)
        };
        if follows || self.side(last.core).epochs.is_settled(last.number) {
            return None;
        }
        if let Some(until) = self.room_for_epoch(core).or_else(|| self.room_for_epoch(last.core)) {
            return Some(until);
        }
        if !own {
            self.dependences += 1;
            self.counted(last.core, |side| side.epochs.awaited(last.number, core));
            self.advance(hw, last.core);
        }
        self.counted(core, |side| {
            side.epochs.depend(last);
            side.depends();
        });
        None
    }

    /// Does something that may begin epochs of a core, and counts them.
    fn counted(&mut self, core: CoreId, does: impl FnOnce(&mut Side)) {
        let side = self.side(core);
        let before = side.epochs.current();
        does(side);
        let begun = side.epochs.current() - before;
        self.epochs += begun;
    }

    /// A primitive orders what came before it and what follows.
    fn orders(&mut self, hw: &mut dyn Services, core: CoreId, primitive: Primitive) -> Departure {
        if let Some(until) = self.room_for_epoch(core) {
            return Departure::Wait(until);
        }
        let strands = self.carries == Carries::Conflicts;
        let all = if strands { Follows::All } else { Follows::Current };
        let joins = broken(Rule::ReleaseBeginsEpoch);
        self.counted(core, |side| match primitive {
            Primitive::Setctx(context) => side.switch(context),
            Primitive::PersistBarrier => _ = side.epochs.begin(Follows::Current),
            Primitive::NewStrand if strands => _ = side.epochs.begin(Follows::Join),
            Primitive::NewStrand => {}
            Primitive::Release => {
                side.releases = true;
                if !joins {
                    side.epochs.begin(all);
                }
            }
            // Of another core's release it hears with the line; its own may be in this very epoch.
            Primitive::Acquire => {
                if side.released == Some(side.epochs.current()) {
                    side.epochs.begin(all);
                }
            }
            Primitive::Ofence => _ = side.epochs.begin(all),
            _ => {
                side.fence = side.fences();
                side.epochs.begin(all);
                if side.fence.is_none() {
                    hw.open(fence(core));
                }
            }
        });
        self.advance(hw, core);
        Departure::Go
    }

    /// What a new epoch of the core waits for, if its table is full.
    fn room_for_epoch(&mut self, core: CoreId) -> Option<Until> {
        let most = self.shape.epochs?;
        let side = self.side(core);
        if side.epochs.occupied() < most {
            return None;
        }
        side.waits_for_epoch = true;
        Some(Until::Open(epoch(core)))
    }

    /// A store has become visible: it enters the buffer if it is persistent. Volatile lines may carry dependences, too.
    pub fn visible(&mut self, hw: &mut dyn Services, core: CoreId, addr: Addr) {
        let line = addr.line();
        let side = self.side(core);
        let number = side.epochs.current();
        let has_room = side.buffer.takes(line, number);
        if addr.is_persistent() && has_room {
            let is_new = side.buffer.enter(line, hw.visible_line(line), number);
            if is_new {
                side.epochs.wrote();
                self.gather(hw, core);
            }
        }
        let releases = std::mem::take(&mut self.side(core).releases);
        let epoch = EpochId { core, number };
        if addr.is_persistent() || self.carries == Carries::EveryLine {
            self.writers.wrote(line, epoch);
        }
        if releases && self.carries == Carries::Releases {
            self.side(core).released = Some(number);
            self.writers.released(line, epoch);
        }
        self.advance(hw, core);
    }

    /// Another core asks for a line: if this core's epochs carry a dependence there that is not durable, the note names the
    /// epoch that the requester's next one awaits. In a full epoch table the request waits.
    pub fn asked(&mut self, hw: &mut dyn Services, owner: CoreId, requester: CoreId, line: Line) -> Asked {
        let Some(written) = self.carried(owner, line) else {
            return Asked::Give(None);
        };
        if self.side(owner).epochs.is_settled(written) {
            return Asked::Give(None);
        }
        for core in [owner, requester] {
            if let Some(until) = self.room_for_epoch(core) {
                return Asked::Wait(until);
            }
        }
        // A core answers with its current epoch and begins a new one (ASAP IV-E).
        let named = self.side(owner).epochs.current();
        self.counted(owner, |side| side.epochs.awaited(named, requester));
        self.advance(hw, owner);
        Asked::Give(Some(Reply(named)))
    }

    /// The owner's epoch that makes the requester's next one wait, if the access is such a one.
    fn carried(&self, owner: CoreId, line: Line) -> Option<u64> {
        match self.carries {
            Carries::EveryLine => self.writers.wrote_last(owner, line),
            Carries::Conflicts => None,
            Carries::Releases => self.writers.released_last(owner, line),
        }
    }

    /// The requester reads the note, and begins an epoch that depends on that one.
    pub fn told(&mut self, hw: &mut dyn Services, requester: CoreId, owner: CoreId, reply: Reply) {
        let on = EpochId {
            core: owner,
            number: reply.0,
        };
        self.dependences += 1;
        self.counted(requester, |side| {
            side.epochs.depend(on);
            side.depends();
        });
        self.advance(hw, requester);
    }

    /// Bytes of storage added to a machine, by structure.
    #[must_use]
    pub fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        let mut parts = vec![("persist buffers", self.shape.buffer_bytes(machine))];
        if let Some(speculation) = &self.speculation {
            let records = speculation.entries() as u64;
            parts.push(("epoch tables", self.shape.epoch_table_bytes(machine)));
            parts.push(("recovery tables", self.shape.recovery_table_bytes(records, machine)));
            parts.push(("Bloom filters", machine.controllers * FILTER_BYTES));
        }
        parts
    }

    /// The most bytes that power failure writes to memory: a line for every undo record (ASAP V-E).
    #[must_use]
    pub fn drain_bytes(&self, machine: &Sizes) -> u64 {
        let records = self.speculation.as_ref().map_or(0, Speculation::entries);
        machine.controllers * records as u64 * LINE_BYTES
    }

    /// What was counted by `now`.
    #[must_use]
    pub fn counters(&self, now: Cycles) -> Counters {
        let speculation = self.speculation.as_ref();
        let counts = speculation.map(|speculation| speculation.counts);
        let filters = speculation.map(Speculation::filter_counts);
        Counters {
            epochs: Some(self.epochs),
            cross_dependences: Some(self.dependences),
            early_flushes: counts.map(|counts| counts.early),
            undo_records: counts.map(|counts| counts.undo),
            delay_records: counts.map(|counts| counts.delay),
            nacks: counts.map(|counts| counts.refused),
            blocked_cycles: Some(self.sides.iter().map(|side| side.blocked(now)).sum()),
            bloom_lookups: filters.map(|(lookups, _)| lookups),
            bloom_false_positives: filters.map(|(_, wrong)| wrong),
            buffer_occupancy: Some(Occupancy::sum(self.sides.iter().map(Side::occupancy), now)),
            table_occupancy_max: counts.map(|counts| counts.most as u64),
            ..Counters::default()
        }
    }

    /// Who waits for whom, in words.
    #[must_use]
    pub fn waits(&self) -> Vec<String> {
        let all = self.sides.iter().enumerate();
        let waiting = all.filter(|(_, side)| side.buffer.occupied() > 0 || side.fence.is_some());
        waiting
            .map(|(core, side)| {
                let (oldest, awaits) = side.epochs.oldest();
                let others = awaits
                    .iter()
                    .map(|on| format!(", waits for epoch {} of core {}", on.number, on.core.0));
                let others: String = others.collect();
                let refused = match side.refused.first() {
                    Some(number) => format!(", a write of epoch {number} was refused"),
                    None => String::new(),
                };
                let entries = side.buffer.occupied();
                format!("core {core}: epoch {oldest} is its oldest, {entries} entries{others}{refused}")
            })
            .collect()
    }
}

/// A core's gates: room in its buffer, its fence, room in its epoch table.
pub(super) fn room(core: CoreId) -> Gate {
    Gate(4 * u64::from(core.0))
}

pub(super) fn fence(core: CoreId) -> Gate {
    Gate(4 * u64::from(core.0) + 1)
}

pub(super) fn epoch(core: CoreId) -> Gate {
    Gate(4 * u64::from(core.0) + 2)
}
