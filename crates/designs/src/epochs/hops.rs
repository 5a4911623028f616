//! HOPS: delegated ordering by persist buffers, with epoch (`hops-ep`) or release persistency (`hops-rp`).
//!
//! What: stores to persistent memory enter a buffer beside their core's caches as they become
//! visible. An `ofence` begins a new epoch and does not stall the core. A `dfence` waits until all
//! epochs so far are durable, with those of other cores that they depend on. Buffers flush
//! conservatively: an epoch is flushed when its predecessor and the epochs of other cores that it
//! depends on are durable (ASAP II and Figure 1). Cores learn of that by polling a global register.
//! With release persistency only acquires of another core's release create dependences. Dirty
//! persistent lines that the LLC evicts are dropped, since the buffers persist them. Tasks that
//! share a core wait at a `dfence` for their own epochs.
//! Source: StrandWeaver (ISCA 2020), section VI-A; ASAP (HPCA 2022), sections II, IV-E, V-A and VI-B.
//! Not in the papers: writes of an epoch that has not ended are held back (`design.gather`), so
//! that stores coalesce with them.
//! Simplified: a core's epochs that are not durable are not limited in number. A line that misses
//! in every cache while a buffer holds it arrives when memory would have answered (HOPS delays the
//! read until the write has completed). Instructions of other ISAs that wait for flushes or order
//! them are executed as the equivalent `dfence` or `ofence`, and flushes write nothing back.

use super::buffers::{self, Gate, Message, Own, PersistBuffers, BUFFERED, GATHER, GATHER_TIME};
use super::persistency::Persistency;
use crate::parts::epochs::{admission, bits, Commits, EpochId};
use crate::parts::persist_buffer::{Sent, BUFFER_ENTRIES};
use strandline_design::{
    About, Access, Admission, Counters, Departure, Design, Eviction, Held, Level, Needs, Ordering, Services, Sizes,
    Snoop, Store, Until, Wants, Write,
};
use strandline_isa::{CoreId, Line, Lowering, Primitive};
use strandline_kernel::{Cycles, Param, Params};

/// `--set design.poll=N`: ASAP VI-B.
const POLL_PERIOD: Param = Param {
    name: "poll",
    default: 500,
    min: 1,
    max: 1_000_000,
    help: "cycles between two looks at the global register of complete epochs",
    source: "ASAP VI-B",
    words: &[],
};

/// `--set design.poll_access=N`: ASAP VI-B.
const POLL_ACCESS: Param = Param {
    name: "poll_access",
    default: 50,
    min: 1,
    max: 1_000_000,
    help: "cycles of an access to the global register of complete epochs",
    source: "ASAP VI-B",
    words: &[],
};

/// Persist buffers, flushed conservatively.
#[derive(Clone, Debug)]
pub struct Hops {
    about: About,
    buffers: PersistBuffers,
    register: Register,
}

/// The global register in which each core publishes its last complete epoch, and which it polls for
/// others'.
#[derive(Clone, Copy, Debug)]
struct Register {
    /// Cycles between two polls.
    period: u64,
    /// Cycles of an access.
    access: u64,
}

impl Register {
    /// When other cores learn that an epoch became durable `now`.
    fn known_at(self, now: Cycles) -> Cycles {
        let published = now.0 + self.access;
        Cycles(published.next_multiple_of(self.period) + self.access)
    }
}

const ABOUT: About = About {
    name: "hops-ep",
    paper: "StrandWeaver VI-A; ASAP VI-B",
    summary: "ofence and dfence; epochs wait in persist buffers beside the caches",
    needs: Needs {
        hosts: BUFFERED,
        ..Needs::ADR_IN_ORDER
    },
    promises_recovery: true,
    model: "ep",
    intents: Some("intents"),
    window: None,
};

/// Conservative flushing, epoch persistency.
#[must_use]
pub fn hops_ep() -> Hops {
    Hops::new(ABOUT, Persistency::Epoch)
}

/// Conservative flushing, release persistency.
#[must_use]
pub fn hops_rp() -> Hops {
    let about = About {
        name: "hops-rp",
        paper: "ASAP VI-B",
        summary: "as hops-ep, and only acquires make threads wait for each other's epochs",
        model: "rp",
        ..ABOUT
    };
    Hops::new(about, Persistency::Release)
}

impl Hops {
    fn new(about: About, persistency: Persistency) -> Hops {
        Hops {
            about,
            buffers: PersistBuffers::new(persistency, None, Commits::InTurn),
            register: Register {
                period: POLL_PERIOD.default,
                access: POLL_ACCESS.default,
            },
        }
    }

    /// Flushes what is safe and commits what is complete, in buffers that have changed. An epoch
    /// that is safe and complete is durable.
    #[inline(always)]
    fn advance(&mut self, hw: &mut dyn Services<Own>) {
        if self.buffers.have_changed() {
            self.advance_changed(hw);
        }
    }

    fn advance_changed(&mut self, hw: &mut dyn Services<Own>) {
        while let Some(core) = self.buffers.next_changed() {
            loop {
                while self.buffers.flush(hw, core, false, |_, sent| sent).is_some() {}
                let Some(commit) = self.buffers.start_commit(core) else {
                    break;
                };
                let known = self.register.known_at(hw.now());
                self.buffers.durable(hw, commit.epoch, known);
            }
            self.buffers.release_fence(hw, core, false);
        }
    }
}

impl Design for Hops {
    type Own = Own;

    hooks_of_buffers!();

    fn params(&self) -> &'static [Param] {
        &[BUFFER_ENTRIES, GATHER, GATHER_TIME, POLL_PERIOD, POLL_ACCESS]
    }

    fn set(&mut self, params: &Params) {
        self.buffers.set(params);
        self.register = Register {
            period: params.get(POLL_PERIOD.name),
            access: params.get(POLL_ACCESS.name),
        };
    }

    /// Epochs have no table: a buffer's entry holds whether it is in flight, and the epoch of
    /// another core on which its own depends. There are twice as many epoch numbers as entries.
    fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        let settings = self.buffers.settings();
        let epoch = bits(2 * settings.entries as u64);
        let dependence = 1 + bits(machine.cores) + epoch;
        vec![("persist buffers", settings.buffer_bytes(machine, epoch, 1 + dependence))]
    }

    fn buffers(&self, machine: &Sizes) -> Vec<Held> {
        vec![self.buffers.settings().held(machine)]
    }

    fn acknowledged(&mut self, hw: &mut dyn Services<Own>, core: CoreId, tag: Sent) {
        self.buffers.acknowledged(hw, core, tag.id);
        self.advance(hw);
    }

    fn evicted(&mut self, _: &mut dyn Services<Own>, _: CoreId, level: Level, _: Line) -> Eviction<Gate> {
        match level {
            Level::Private => Eviction::WriteBack,
            Level::Llc => Eviction::Drop,
        }
    }

    fn message(&mut self, hw: &mut dyn Services<Own>, message: Message) {
        self.buffers.message(hw, message);
        self.advance(hw);
    }

    fn counters(&self, now: Cycles) -> Counters {
        self.buffers.counters(now)
    }

    fn waits(&self) -> Vec<String> {
        self.buffers.waits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polling_cores_see_what_was_published_before_they_looked() {
        let register = Register {
            period: 500,
            access: 50,
        };
        let at = |now| register.known_at(Cycles(now)).0;
        assert_eq!((at(0), at(449), at(450), at(451)), (550, 550, 550, 1050));
        let every_cycle = Register { period: 1, access: 1 };
        assert_eq!(every_cycle.known_at(Cycles(7)), Cycles(9));
    }
}
