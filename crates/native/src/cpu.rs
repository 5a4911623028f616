//! The back end: each operation executes at once.

use crate::modes::{Lowered, Mode};
use crate::{count, judge, real};
use std::marker::PhantomData;
use std::sync::{Barrier, OnceLock};
use strandline_capture::Marker;
use strandline_isa::{Addr, Alu, CoreId, Cpu, Flush, Intent, Lowering, Note, Primitive, Rmw, Site, W};

/// A barrier of all threads before the timed region. A process runs one program ([`real::Real`] has fixed addresses,
/// too).
static START: OnceLock<Barrier> = OnceLock::new();

/// What all threads do besides, likewise.
static HOW: OnceLock<How> = OnceLock::new();

struct How {
    flush: Flush,
    /// Flushes and fences are counted ([`crate::count`]).
    counts: bool,
    /// The history of operations is recorded ([`crate::judge`]).
    tells: bool,
}

/// A thread on real memory.
///
/// It is empty: register values carry a reference to their back end, which costs no instruction only if the compiler
/// knows that it is always this constant.
pub(crate) struct NativeCpu<L>(PhantomData<L>);

fn how() -> &'static How {
    HOW.get().expect("threads are expected")
}

impl<L: Lowered + 'static> NativeCpu<L> {
    /// The back end of every thread.
    pub const ANY: &'static Self = &NativeCpu(PhantomData);

    /// Sets the number of threads at the barrier, and what the threads do besides.
    pub fn expect(threads: usize, mode: Mode) {
        START.get_or_init(|| Barrier::new(threads));
        HOW.get_or_init(|| How {
            flush: mode.flush().unwrap_or(Flush::Clwb),
            counts: mode == Mode::Counted,
            tells: mode == Mode::Judged,
        });
    }
}

impl<L: Lowered> Cpu for NativeCpu<L> {
    type Tag = ();

    /// The operating system moves threads; no program here requests it.
    fn core(&self) -> CoreId {
        CoreId(0)
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
    fn flush(&self, addr: Addr, _address: (), _flush: Flush) {
        let how = how();
        if how.counts {
            count::flush();
        }
        real::flush(addr, how.flush);
    }

    #[inline(always)]
    fn primitive(&self, primitive: Primitive) {
        if how().counts && matches!(primitive, Primitive::Sfence | Primitive::Mfence) {
            count::fence();
        }
        real::primitive(primitive);
    }

    #[inline(always)]
    fn intent(&self, intent: Intent) {
        for primitive in L::LOWERING.of(intent) {
            self.primitive(*primitive);
        }
    }

    #[inline(always)]
    fn note(&self, note: Note) {
        match note {
            Note::TaskBegin => real::mark::<{ Marker::TaskBegin.displacement() }>(),
            Note::TaskEnd => real::mark::<{ Marker::TaskEnd.displacement() }>(),
            note if how().tells => judge::tell(note),
            _ => {}
        }
    }

    /// What waits lets the thread run that it waits for: there may be more threads than cores.
    fn give_way(&self) {
        std::thread::yield_now();
    }

    /// The marked region starts while all threads wait, so none of it is lost.
    fn start_line(&self) {
        let Some(start) = START.get() else { return };
        if start.wait().is_leader() {
            count::begin();
            real::mark::<{ Marker::RegionBegin.displacement() }>();
        }
        start.wait();
    }
}
