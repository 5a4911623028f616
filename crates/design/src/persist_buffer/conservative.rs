//! The persist buffers of all cores, flushed conservatively: HOPS.

use super::{Buffer, Completed, EpochId, Epochs, Writers};
use crate::rules::{Broken, Rule};
use crate::{Access, Departure, Gate, Message, Reply, Services, Sizes, Until};
use strandline_isa::{Addr, CoreId, Line};
use strandline_kernel::{Cycles, Param};

/// `--set design.entries=N`: as in ASAP's Table II.
pub const BUFFER_ENTRIES: Param = Param {
    name: "entries",
    default: 32,
    min: 1,
    max: 4096,
    help: "entries of a core's persist buffer",
};

/// A message that an epoch, its body, of a core, is complete; it is for a core with an epoch that depends on it. The low
/// bits of the body are the core, the others the epoch.
const RESOLVED: u32 = 0;
const CORE_BITS: u32 = 16;

/// Persist buffers with conservative flushing: writes of an epoch are sent when every write of the core's earlier epochs is
/// acknowledged and the epochs of other cores that it depends on are complete (ASAP II and Figure 1).
///
/// Entries go as soon as they may, but for the newest of an epoch that has not ended, while the store queue holds more: a
/// store that follows may be to its line. The papers speak of coalescing and of flushing in the background, and not of when.
///
/// What is in a buffer when power fails is lost.
#[derive(Clone, Debug)]
pub struct ConservativeBuffers {
    entries: usize,
    cores: Vec<Side>,
    writers: Writers,
    broken: Broken,
}

/// A core's side.
#[derive(Clone, Debug)]
struct Side {
    buffer: Buffer,
    epochs: Epochs,
    /// A store waits for room.
    waits_for_room: bool,
    /// A fence waits for this epoch to be complete.
    fence: Option<u64>,
}

impl Default for ConservativeBuffers {
    fn default() -> Self {
        ConservativeBuffers::of(BUFFER_ENTRIES.default)
    }
}

impl ConservativeBuffers {
    /// Buffers of so many entries.
    #[must_use]
    pub fn of(entries: u64) -> ConservativeBuffers {
        ConservativeBuffers {
            entries: entries as usize,
            cores: Vec::new(),
            writers: Writers::default(),
            broken: Broken::default(),
        }
    }

    /// Breaks a rule.
    #[cfg(feature = "mutants")]
    pub fn breaking(&mut self, rule: Rule) {
        self.broken = Some(rule).into();
    }

    fn side(&mut self, core: CoreId) -> &mut Side {
        let side = Side {
            buffer: Buffer::new(self.entries).breaking(self.broken),
            epochs: Epochs::breaking(self.broken),
            waits_for_room: false,
            fence: None,
        };
        if self.cores.len() <= core.index() {
            self.cores.resize(core.index() + 1, side);
        }
        &mut self.cores[core.index()]
    }

    /// A store is about to become visible: it waits if its core's buffer has no room for it.
    pub fn departs(&mut self, hw: &mut dyn Services, core: CoreId, addr: Addr) -> Departure {
        let side = self.side(core);
        if !addr.is_persistent() || side.buffer.takes(addr.line(), side.epochs.current()) {
            return Departure::Go;
        }
        if self.broken.is(Rule::FullBufferHoldsStore) {
            return Departure::Go;
        }
        let side = self.side(core);
        side.waits_for_room = true;
        self.advance(hw, core);
        Departure::Wait(Until::Open(room(core)))
    }

    /// A store has become visible: it enters the buffer if it is persistent. Volatile lines carry dependences, too.
    pub fn visible(&mut self, hw: &mut dyn Services, core: CoreId, addr: Addr) {
        let line = addr.line();
        let side = self.side(core);
        let number = side.epochs.current();
        let has_room = side.buffer.takes(line, number);
        if addr.is_persistent() && has_room && side.buffer.enter(line, hw.visible_line(line), number) {
            side.epochs.wrote();
        }
        self.writers.wrote(line, EpochId { core, number });
        self.advance(hw, core);
    }

    /// The core begins a new epoch.
    pub fn ordered(&mut self, hw: &mut dyn Services, core: CoreId) {
        self.side(core).epochs.begin();
        self.advance(hw, core);
    }

    /// A fence that waits for all epochs so far has its turn in the store queue; [`ConservativeBuffers::drained`] opens then.
    pub fn fence(&mut self, hw: &mut dyn Services, core: CoreId) {
        let side = self.side(core);
        side.fence = Some(side.epochs.begin());
        self.advance(hw, core);
    }

    /// What a fence of this core waits for.
    #[must_use]
    pub fn drained(core: CoreId) -> Until {
        Until::Open(fence(core))
    }

    /// A write is acknowledged.
    pub fn flushed(&mut self, hw: &mut dyn Services, core: CoreId, id: u64) {
        let early = self.broken.is(Rule::EpochAwaitsWrites);
        let side = self.side(core);
        if let Some(epoch) = side.buffer.acknowledged(id) {
            if !early {
                side.epochs.acknowledged(epoch);
            }
        }
        if std::mem::take(&mut side.waits_for_room) {
            hw.open(room(core));
        }
        self.advance(hw, core);
    }

    /// Another core asks for a line: if this core wrote it last and not all is durable up to that, its current epoch ends,
    /// and the note names it.
    pub fn asked(
        &mut self,
        hw: &mut dyn Services,
        owner: CoreId,
        requester: CoreId,
        line: Line,
        access: Access,
    ) -> Option<Reply> {
        let unseen = access == Access::Read && self.broken.is(Rule::ReadsDepend)
            || !line.is_persistent() && self.broken.is(Rule::VolatileLinesDepend);
        if unseen {
            return None;
        }
        let written = self.writers.wrote_last(owner, line)?;
        let epoch = self.side(owner).epochs.asked(written, requester)?;
        self.advance(hw, owner);
        Some(Reply(epoch))
    }

    /// The requester reads the note, and begins an epoch that depends on that one.
    pub fn told(&mut self, hw: &mut dyn Services, requester: CoreId, owner: CoreId, reply: Reply) {
        let on = EpochId {
            core: owner,
            number: reply.0,
        };
        self.side(requester).epochs.depend(on);
        self.advance(hw, requester);
    }

    /// An epoch of another core is known to be complete.
    pub fn message(&mut self, hw: &mut dyn Services, message: Message) {
        if message.kind != RESOLVED {
            return;
        }
        let (core, done) = resolved(message);
        self.side(core).epochs.resolve(done);
        self.advance(hw, core);
    }

    /// Completes what is complete and sends what may be sent. To be called whenever an entry leaves the store queue.
    pub fn advance(&mut self, hw: &mut dyn Services, core: CoreId) {
        let broken = self.broken;
        // What is leaving the store queue now counts as pending.
        let more_follows = hw.pending(core, None) > 1;
        loop {
            let side = self.side(core);
            for epoch in side.epochs.may_send() {
                let but_newest = more_follows && !side.waits_for_room && epoch == side.epochs.current();
                while let Some(mut write) = side.buffer.send(epoch, but_newest) {
                    if broken.is(Rule::EntryKeepsBytes) {
                        write.data = hw.visible_line(write.line);
                    }
                    if broken.is(Rule::EpochAwaitsWrites) {
                        side.epochs.acknowledged(epoch);
                    }
                    hw.write(core, write.line, write.data, write.id);
                }
            }
            let Some(completed) = side.epochs.complete() else {
                break;
            };
            self.completed(hw, core, &completed);
        }
        let side = self.side(core);
        if side.fence.is_some_and(|fence| side.epochs.is_complete(fence)) {
            side.fence = None;
            hw.open(fence(core));
        }
    }

    fn completed(&mut self, hw: &mut dyn Services, core: CoreId, completed: &Completed) {
        let number = completed.number;
        self.writers.forget(EpochId { core, number });
        for dependent in &completed.dependents {
            hw.send(known_at(hw.now()), resolution(core, number, *dependent));
        }
    }

    /// Bytes added to a machine.
    ///
    /// An entry is a line and its number, its epoch, whether it is on its way, and the epoch of another core that its own
    /// depends on. Epochs of a buffer's entries are told apart by one bit more than its entries are. A core publishes
    /// its last complete epoch in the global register, and knows its current one. Physical addresses have 48 bits; the
    /// papers say neither.
    #[must_use]
    pub fn storage_bytes(&self, machine: &Sizes) -> u64 {
        let entries = self.entries as u64;
        let epoch = bits(entries) + 1;
        let entry = 512 + 42 + epoch + 1 + (1 + bits(machine.cores) + epoch);
        machine.cores * (entries * entry + 2 * epoch).div_ceil(8)
    }
}

/// When an epoch that has completed is known to be so to those that wait for it: HOPS's cores look at the global
/// register of complete epochs in every cycle and read it in one (ASAP VI-B).
fn known_at(now: Cycles) -> Cycles {
    now + Cycles(1)
}

/// Bits that tell so many things apart.
fn bits(things: u64) -> u64 {
    u64::from(things.next_power_of_two().ilog2())
}

fn room(core: CoreId) -> Gate {
    Gate(2 * u64::from(core.0))
}

fn fence(core: CoreId) -> Gate {
    Gate(2 * u64::from(core.0) + 1)
}

fn resolution(core: CoreId, number: u64, to: CoreId) -> Message {
    Message {
        kind: RESOLVED,
        to: u32::from(to.0),
        body: number << CORE_BITS | u64::from(core.0),
    }
}

/// For whom a message of completion is, and which epoch it names.
fn resolved(message: Message) -> (CoreId, EpochId) {
    let core = CoreId(message.body as u16);
    let number = message.body >> CORE_BITS;
    (CoreId(message.to as u16), EpochId { core, number })
}

#[cfg(test)]
#[path = "conservative_tests.rs"]
mod tests;
