//! Designs that delegate persist order to persist buffers.

use crate::parts::persist_buffer::{Carries, PersistBuffers};
use strandline_design::{
    About, Acceptance, Access, Admission, Asked, ControllerId, Counters, Departure, Design, Entry, Eviction, Level,
    Message, Places, Reply, Services, Sizes, Supply, WriteRequest,
};
use strandline_isa::{Addr, CoreId, Line, LineData, Lowering, Primitive};
use strandline_kernel::{Cycles, Param, Params};

/// A design whose persists go through [`PersistBuffers`]: with eager flushing ASAP's, without it HOPS's.
#[derive(Clone, Debug)]
pub struct Delegated<const EAGER: bool> {
    about: About,
    lowering: Lowering,
    buffers: PersistBuffers,
}

/// Epochs: `ofence` and `dfence` (ASAP IV-A).
const EPOCHS: Lowering = Lowering {
    log: true,
    log_before_update: &[Primitive::Ofence],
    commit: &[Primitive::Ofence],
    durable: &[Primitive::Dfence],
    hand_over: &[Primitive::Dfence],
    resumed: &[Primitive::Setctx(0)],
    ..Lowering::NOTHING
};

/// The same, with annotations of acquires and releases (ASAP V).
const RELEASES: Lowering = Lowering {
    acquire: &[Primitive::Acquire],
    release: &[Primitive::Release],
    ..EPOCHS
};

/// Persist barriers within a strand; an `ofence` orders all strands, and no one waits for it.
const STRANDS: Lowering = Lowering {
    log_before_update: &[Primitive::PersistBarrier],
    new_strand: &[Primitive::NewStrand],
    ..EPOCHS
};

impl<const EAGER: bool> Delegated<EAGER> {
    /// A design whose dependences these accesses carry.
    #[must_use]
    pub fn new(about: About, carries: Carries) -> Self {
        Delegated {
            about,
            lowering: match carries {
                Carries::EveryLine => EPOCHS,
                Carries::Releases => RELEASES,
                Carries::Conflicts => STRANDS,
            },
            buffers: match EAGER {
                true => PersistBuffers::eager(carries),
                false => PersistBuffers::conservative(carries),
            },
        }
    }
}

impl<const EAGER: bool> Design for Delegated<EAGER> {
    fn about(&self) -> About {
        self.about
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

    fn params(&self) -> &'static [Param] {
        match EAGER {
            true => PersistBuffers::eager_params(),
            false => PersistBuffers::conservative_params(),
        }
    }

    fn set(&mut self, params: &Params) {
        self.buffers.set(params);
    }

    fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        self.buffers.storage(machine)
    }

    fn drain_bytes(&self, machine: &Sizes) -> u64 {
        self.buffers.drain_bytes(machine)
    }

    fn lowering(&self) -> Lowering {
        self.lowering
    }

    fn primitive(&mut self, _: &mut dyn Services, core: CoreId, primitive: Primitive) -> Admission {
        PersistBuffers::primitive(core, primitive)
    }

    fn departs(&mut self, hw: &mut dyn Services, core: CoreId, entry: Entry, context: u8) -> Departure {
        self.buffers.departs(hw, core, entry, context)
    }

    fn visible(&mut self, hw: &mut dyn Services, core: CoreId, addr: Addr) {
        self.buffers.visible(hw, core, addr);
    }

    fn flushed(&mut self, hw: &mut dyn Services, core: CoreId, tag: u64) {
        self.buffers.flushed(hw, core, tag);
    }

    fn asked(&mut self, hw: &mut dyn Services, owner: CoreId, requester: CoreId, line: Line, _: Access) -> Asked {
        self.buffers.asked(hw, owner, requester, line)
    }

    fn told(&mut self, hw: &mut dyn Services, requester: CoreId, owner: CoreId, _: Line, reply: Reply) {
        self.buffers.told(hw, requester, owner, reply);
    }

    fn evicted(&mut self, hw: &mut dyn Services, core: CoreId, level: Level, line: Line) -> Eviction {
        self.buffers.evicted(hw, core, level, line)
    }

    fn missed(&mut self, hw: &mut dyn Services, _: CoreId, line: Line) -> Supply {
        self.buffers.missed(hw, line)
    }

    fn arrived(&mut self, hw: &mut dyn Services, controller: ControllerId, write: &WriteRequest) -> Acceptance {
        self.buffers.arrived(hw, controller, write)
    }

    fn may_issue(&self, controller: ControllerId, write: &WriteRequest) -> bool {
        self.buffers.may_issue(controller, write.line)
    }

    fn message(&mut self, hw: &mut dyn Services, message: Message) {
        self.buffers.message(hw, message);
    }

    fn counters(&self, now: Cycles) -> Counters {
        self.buffers.counters(now)
    }

    fn waits(&self) -> Vec<String> {
        self.buffers.waits()
    }

    fn power_fails(&self, image: &mut dyn FnMut(Line, LineData)) {
        self.buffers.power_fails(image);
    }
}
