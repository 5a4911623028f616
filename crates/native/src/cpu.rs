//! The back end: each operation is done when it is asked for.

use crate::modes::Lowered;
use crate::real;
use std::marker::PhantomData;
use std::sync::Barrier;
use strandline_capture::Marker;
use crate::source::isa::{Addr, Alu, CoreId, Cpu, Flush, Intent, Lowering, Note, Primitive, Rmw, Site, W};

/// One thread on real memory.
pub(crate) struct NativeCpu<'s, L> {
    core: CoreId,
    start: &'s Barrier,
    lowering: PhantomData<L>,
}

impl<'s, L: Lowered> NativeCpu<'s, L> {
    /// A thread that begins its timed region when all come to `start`.
    pub fn new(core: CoreId, start: &'s Barrier) -> Self {
        NativeCpu {
            core,
            start,
            lowering: PhantomData,
        }
    }
}

impl<L: Lowered> Cpu for NativeCpu<'_, L> {
    type Tag = ();

    #[inline(always)]
    fn core(&self) -> CoreId {
        self.core
    }

    #[inline(always)]
    fn lowering(&self) -> &Lowering {
        L::LOWERING
    }

    #[inline(always)]
    fn alu(&self, _op: Alu, _a: (), _b: ()) {}

    #[inline(always)]
    fn branch(&self, _condition: (), _taken: bool, _site: Site) {}

    #[inline(always)]
    fn load(&self, addr: Addr, _address: (), size: u8) -> W<'_, Self> {
        W::new(self, real::load(addr, size), ())
    }

    #[inline(always)]
    fn store(&self, addr: Addr, _address: (), size: u8, value: u64, _data: ()) {
        real::store(addr, size, value);
    }

    #[inline(always)]
    fn store_nt(&self, addr: Addr, _address: (), size: u8, value: u64, _data: ()) {
        real::store_nt(addr, size, value);
    }

    #[inline(always)]
    fn rmw(&self, addr: Addr, _address: (), op: Rmw, operand: u64, _data: ()) -> W<'_, Self> {
        W::new(self, real::rmw(addr, op, operand), ())
    }

    #[inline(always)]
    fn flush(&self, addr: Addr, _address: (), flush: Flush) {
        real::flush(addr, flush);
    }

    #[inline(always)]
    fn primitive(&self, primitive: Primitive) {
        real::primitive(primitive);
    }

    #[inline(always)]
    fn intent(&self, intent: Intent) {
        for primitive in L::LOWERING.of(intent) {
            real::primitive(*primitive);
        }
    }

    #[inline(always)]
    fn note(&self, note: Note) {
        match note {
            Note::TaskBegin => real::mark::<{ Marker::TaskBegin.displacement() }>(),
            Note::TaskEnd => real::mark::<{ Marker::TaskEnd.displacement() }>(),
            _ => {}
        }
    }

    /// The marked region begins while all threads wait, so none of it is lost.
    fn start_line(&self) {
        if self.start.wait().is_leader() {
            real::mark::<{ Marker::RegionBegin.displacement() }>();
        }
        self.start.wait();
    }
}
