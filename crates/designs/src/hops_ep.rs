//! HOPS with epoch persistency: delegated ordering by persist buffers.
//!
//! What: stores to persistent memory enter a buffer beside their core's caches as they become visible. An `ofence` begins a
//! new epoch and the core goes on; a `dfence` waits until all epochs so far are durable, with those of other cores that they
//! depend on. Buffers flush conservatively: an epoch when the one before it is durable. Dirty persistent lines that leave the
//! last level are dropped, since the buffers persist them.
//! Source: StrandWeaver (ISCA 2020), section VI-A; ASAP (HPCA 2022), sections II, IV-E, V-A and VI-B.
//! Simplified: a core's epochs that are not complete are not limited in number. A line that is missed in every cache while
//! a buffer holds it is there when memory would have answered (HOPS keeps the read until the write has been done). Instructions
//! of other ISAs that wait for flushes or order them are executed as the `dfence` or `ofence` that does the same, and flushes
//! write nothing back.

use strandline_design::{
    About, Access, Admission, Asked, ConservativeBuffers, Departure, Design, Entry, Eviction, Level, Message, Needs,
    Places, Reply, Services, Sizes, BUFFER_ENTRIES,
};
use strandline_isa::{Addr, CoreId, Line, Lowering, Primitive};
use strandline_kernel::{Param, Params};

/// Epochs in persist buffers.
#[derive(Clone, Debug, Default)]
pub struct HopsEp {
    buffers: ConservativeBuffers,
}

impl Design for HopsEp {
    fn about(&self) -> About {
        About {
            name: "hops-ep",
            paper: "StrandWeaver VI-A; ASAP VI-B",
            summary: "ofence and dfence; epochs wait in persist buffers beside the caches",
            needs: Needs { adr: true, tso: true },
            promises_recovery: true,
            model: "ep",
            intents: Some("intents"),
            window: None,
        }
    }

    fn places(&self) -> Places {
        Places {
            primitives: true,
            stores: true,
            plain_nt: true,
            all_cores_asked: true,
            ..Places::default()
        }
    }

    fn params() -> &'static [Param] {
        &[BUFFER_ENTRIES]
    }

    fn set(&mut self, params: &Params) {
        self.buffers = ConservativeBuffers::of(params.get(BUFFER_ENTRIES.name));
    }

    #[cfg(feature = "mutants")]
    fn breaking(&mut self, rule: strandline_design::Rule) {
        self.buffers.breaking(rule);
    }

    fn storage_bytes(&self, machine: &Sizes) -> u64 {
        self.buffers.storage_bytes(machine)
    }

    /// What a release persists before and an acquire after it is ordered by the lock's line itself.
    fn lowering(&self) -> Lowering {
        Lowering {
            log: true,
            log_before_update: &[Primitive::Ofence],
            commit: &[Primitive::Dfence],
            durable: &[Primitive::Dfence],
            hand_over: &[Primitive::Dfence],
            ..Lowering::NOTHING
        }
    }

    fn primitive(&mut self, _: &mut dyn Services, core: CoreId, primitive: Primitive) -> Admission {
        match primitive {
            Primitive::Ofence | Primitive::PersistBarrier => Admission::Enter,
            Primitive::Dfence
            | Primitive::JoinStrand
            | Primitive::Sfence
            | Primitive::Mfence
            | Primitive::Cfence(_)
            | Primitive::Pcommit => Admission::EnterHeld(ConservativeBuffers::drained(core)),
            Primitive::StoreBarrier
            | Primitive::Setctx(_)
            | Primitive::NewStrand
            | Primitive::Release
            | Primitive::Acquire => Admission::plain(primitive),
        }
    }

    fn departs(&mut self, hw: &mut dyn Services, core: CoreId, entry: Entry, context: u8) -> Departure {
        match entry {
            Entry::Store(addr) | Entry::StoreNt(addr) => self.buffers.departs(hw, core, addr),
            Entry::Flush(..) => {
                self.buffers.advance(hw, core);
                hw.acknowledge(core, context);
                Departure::Keep
            }
            Entry::Primitive(Primitive::StoreBarrier) => Departure::Go,
            Entry::Primitive(Primitive::Ofence | Primitive::PersistBarrier) => {
                self.buffers.ordered(hw, core);
                Departure::Go
            }
            Entry::Primitive(_) => {
                self.buffers.fence(hw, core);
                Departure::Go
            }
        }
    }

    fn visible(&mut self, hw: &mut dyn Services, core: CoreId, addr: Addr) {
        self.buffers.visible(hw, core, addr);
    }

    fn flushed(&mut self, hw: &mut dyn Services, core: CoreId, tag: u64) {
        self.buffers.flushed(hw, core, tag);
    }

    fn asked(&mut self, hw: &mut dyn Services, owner: CoreId, requester: CoreId, line: Line, access: Access) -> Asked {
        Asked::Give(self.buffers.asked(hw, owner, requester, line, access))
    }

    fn told(&mut self, hw: &mut dyn Services, requester: CoreId, owner: CoreId, _: Line, reply: Reply) {
        self.buffers.told(hw, requester, owner, reply);
    }

    fn evicted(&mut self, _: &mut dyn Services, _: CoreId, level: Level, _: Line) -> Eviction {
        match level {
            Level::Private => Eviction::WriteBack,
            Level::Last => Eviction::Drop,
        }
    }

    fn waits(&self) -> Vec<String> {
        self.buffers.waits()
    }

    fn message(&mut self, hw: &mut dyn Services, message: Message) {
        self.buffers.message(hw, message);
    }
}
