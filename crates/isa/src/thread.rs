//! The back end of programs that are compiled once, whatever executes them.

use crate::{Addr, Alu, CoreId, Cpu, Flush, Intent, Lowering, Note, Primitive, Rmw, Scope, Site, W};
use strandline_kernel::forward;

/// A thread on a back end that is known only when it runs.
///
/// A program compiled for it runs on all back ends whose tags are a word each. It is called through a table, so a back
/// end that must cost nothing, such as real hardware, has programs compiled for itself.
#[derive(Clone, Copy)]
pub struct Thread<'e>(&'e dyn Engine);

impl<'e> Thread<'e> {
    /// A thread on this back end.
    #[must_use]
    pub fn on(cpu: &'e impl Cpu<Tag = u64>) -> Thread<'e> {
        Thread(cpu)
    }
}

/// A value: its bits, and its tag.
type Tagged = (u64, u64);

/// [`Cpu`] with values that do not name it.
trait Engine {
    fn core(&self) -> CoreId;
    fn lowering(&self) -> &Lowering;
    fn alu(&self, op: Alu, a: u64, b: u64) -> u64;
    fn compare(&self, a: u64, b: u64) -> u64;
    fn branch(&self, condition: u64, taken: bool, site: Site);
    fn load(&self, addr: Addr, address: u64, size: u8) -> Tagged;
    fn store(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64);
    fn store_nt(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64);
    fn rmw(&self, addr: Addr, address: u64, op: Rmw, operand: u64, data: u64) -> Tagged;
    fn flush(&self, addr: Addr, address: u64, flush: Flush);
    fn primitive(&self, primitive: Primitive);
    fn note(&self, note: Note);
    fn give_way(&self);
    fn spins(&self);
    fn sleep(&self, word: Tagged, value: u64);
    fn wakes(&self);
    fn interrupted(&self) -> bool;
    fn hosts(&self) -> u64;
    fn has_failed(&self, core: CoreId) -> bool;
    fn fenced(&self);
    fn resumed(&self) -> Option<Vec<Tagged>>;
    fn wants_point(&self) -> bool;
    fn add_point(&self, state: &[Tagged]);
    fn start_line(&self);
    fn enter(&self, scope: Scope);
    fn leave(&self, scope: Scope);
    fn intent(&self, intent: Intent);
    fn jump(&self, target: u64, to: u64, site: Site);
    fn cycles(&self) -> Tagged;
    fn has_warm_task(&self) -> bool;
}

fn tagged<C: Cpu<Tag = u64>>(value: W<'_, C>) -> Tagged {
    (value.bits(), value.tag())
}

impl<C: Cpu<Tag = u64>> Engine for C {
    forward! { as Cpu =>
        fn core(&self) -> CoreId;
        fn lowering(&self) -> &Lowering;
        fn alu(&self, op: Alu, a: u64, b: u64) -> u64;
        fn compare(&self, a: u64, b: u64) -> u64;
        fn branch(&self, condition: u64, taken: bool, site: Site);
        fn store(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64);
        fn store_nt(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64);
        fn flush(&self, addr: Addr, address: u64, flush: Flush);
        fn primitive(&self, primitive: Primitive);
        fn note(&self, note: Note);
        fn give_way(&self);
        fn spins(&self);
        fn wakes(&self);
        fn interrupted(&self) -> bool;
        fn hosts(&self) -> u64;
        fn has_failed(&self, core: CoreId) -> bool;
        fn fenced(&self);
        fn wants_point(&self) -> bool;
        fn start_line(&self);
        fn enter(&self, scope: Scope);
        fn leave(&self, scope: Scope);
        fn intent(&self, intent: Intent);
        fn jump(&self, target: u64, to: u64, site: Site);
        fn has_warm_task(&self) -> bool;
    }

    fn load(&self, addr: Addr, address: u64, size: u8) -> Tagged {
        tagged(Cpu::load(self, addr, address, size))
    }

    fn rmw(&self, addr: Addr, address: u64, op: Rmw, operand: u64, data: u64) -> Tagged {
        tagged(Cpu::rmw(self, addr, address, op, operand, data))
    }

    fn sleep(&self, (word, tag): Tagged, value: u64) {
        Cpu::sleep(self, W::new(self, word, tag), value);
    }

    fn resumed(&self) -> Option<Vec<Tagged>> {
        Cpu::resumed(self).map(|state| state.into_iter().map(tagged).collect())
    }

    fn add_point(&self, state: &[Tagged]) {
        let words = state.iter().map(|(bits, tag)| W::new(self, *bits, *tag));
        Cpu::add_point(self, words.collect());
    }

    fn cycles(&self) -> Tagged {
        tagged(Cpu::cycles(self))
    }
}

impl Thread<'_> {
    fn own(&self, (bits, tag): Tagged) -> W<'_, Self> {
        W::new(self, bits, tag)
    }
}

impl Cpu for Thread<'_> {
    type Tag = u64;

    forward! { self.0 =>
        fn core(&self) -> CoreId;
        #[inline]
        fn lowering(&self) -> &Lowering;
        #[inline]
        fn alu(&self, op: Alu, a: u64, b: u64) -> u64;
        #[inline]
        fn compare(&self, a: u64, b: u64) -> u64;
        #[inline]
        fn branch(&self, condition: u64, taken: bool, site: Site);
        #[inline]
        fn store(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64);
        fn store_nt(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64);
        fn flush(&self, addr: Addr, address: u64, flush: Flush);
        fn primitive(&self, primitive: Primitive);
        fn note(&self, note: Note);
        fn give_way(&self);
        fn spins(&self);
        fn wakes(&self);
        fn interrupted(&self) -> bool;
        fn hosts(&self) -> u64;
        fn has_failed(&self, core: CoreId) -> bool;
        fn fenced(&self);
        fn wants_point(&self) -> bool;
        fn start_line(&self);
        #[inline]
        fn enter(&self, scope: Scope);
        #[inline]
        fn leave(&self, scope: Scope);
        fn intent(&self, intent: Intent);
        fn jump(&self, target: u64, to: u64, site: Site);
        fn has_warm_task(&self) -> bool;
    }

    #[inline]
    fn load(&self, addr: Addr, address: u64, size: u8) -> W<'_, Self> {
        self.own(self.0.load(addr, address, size))
    }

    fn rmw(&self, addr: Addr, address: u64, op: Rmw, operand: u64, data: u64) -> W<'_, Self> {
        self.own(self.0.rmw(addr, address, op, operand, data))
    }

    fn sleep<'c>(&'c self, word: W<'c, Self>, value: u64) {
        self.0.sleep(tagged(word), value);
    }

    fn resumed(&self) -> Option<Vec<W<'_, Self>>> {
        let state = self.0.resumed()?;
        Some(state.into_iter().map(|word| self.own(word)).collect())
    }

    fn add_point<'c>(&'c self, state: Vec<W<'c, Self>>) {
        self.0.add_point(&state.into_iter().map(tagged).collect::<Vec<_>>());
    }

    fn cycles(&self) -> W<'_, Self> {
        self.own(self.0.cycles())
    }
}
