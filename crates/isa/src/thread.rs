//! The back end of programs that are compiled once, whatever executes them.

use crate::{Addr, Alu, CoreId, Cpu, Flush, Intent, Lowering, Note, Primitive, Rmw, Scope, Site, W};

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
    fn goes_on(&self) -> bool;
}

fn tagged<C: Cpu<Tag = u64>>(value: W<'_, C>) -> Tagged {
    (value.bits(), value.tag())
}

impl<C: Cpu<Tag = u64>> Engine for C {
    fn core(&self) -> CoreId {
        Cpu::core(self)
    }

    fn lowering(&self) -> &Lowering {
        Cpu::lowering(self)
    }

    fn alu(&self, op: Alu, a: u64, b: u64) -> u64 {
        Cpu::alu(self, op, a, b)
    }

    fn compare(&self, a: u64, b: u64) -> u64 {
        Cpu::compare(self, a, b)
    }

    fn branch(&self, condition: u64, taken: bool, site: Site) {
        Cpu::branch(self, condition, taken, site);
    }

    fn load(&self, addr: Addr, address: u64, size: u8) -> Tagged {
        tagged(Cpu::load(self, addr, address, size))
    }

    fn store(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64) {
        Cpu::store(self, addr, address, size, value, data);
    }

    fn store_nt(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64) {
        Cpu::store_nt(self, addr, address, size, value, data);
    }

    fn rmw(&self, addr: Addr, address: u64, op: Rmw, operand: u64, data: u64) -> Tagged {
        tagged(Cpu::rmw(self, addr, address, op, operand, data))
    }

    fn flush(&self, addr: Addr, address: u64, flush: Flush) {
        Cpu::flush(self, addr, address, flush);
    }

    fn primitive(&self, primitive: Primitive) {
        Cpu::primitive(self, primitive);
    }

    fn note(&self, note: Note) {
        Cpu::note(self, note);
    }

    fn give_way(&self) {
        Cpu::give_way(self);
    }

    fn spins(&self) {
        Cpu::spins(self);
    }

    fn sleep(&self, (word, tag): Tagged, value: u64) {
        Cpu::sleep(self, W::new(self, word, tag), value);
    }

    fn wakes(&self) {
        Cpu::wakes(self);
    }

    fn interrupted(&self) -> bool {
        Cpu::interrupted(self)
    }

    fn fenced(&self) {
        Cpu::fenced(self);
    }

    fn resumed(&self) -> Option<Vec<Tagged>> {
        Cpu::resumed(self).map(|state| state.into_iter().map(tagged).collect())
    }

    fn wants_point(&self) -> bool {
        Cpu::wants_point(self)
    }

    fn add_point(&self, state: &[Tagged]) {
        let words = state.iter().map(|(bits, tag)| W::new(self, *bits, *tag));
        Cpu::add_point(self, words.collect());
    }

    fn start_line(&self) {
        Cpu::start_line(self);
    }

    fn enter(&self, scope: Scope) {
        Cpu::enter(self, scope);
    }

    fn leave(&self, scope: Scope) {
        Cpu::leave(self, scope);
    }

    fn intent(&self, intent: Intent) {
        Cpu::intent(self, intent);
    }

    fn jump(&self, target: u64, to: u64, site: Site) {
        Cpu::jump(self, target, to, site);
    }

    fn cycles(&self) -> Tagged {
        tagged(Cpu::cycles(self))
    }

    fn goes_on(&self) -> bool {
        Cpu::goes_on(self)
    }
}

impl Thread<'_> {
    fn own(&self, (bits, tag): Tagged) -> W<'_, Self> {
        W::new(self, bits, tag)
    }
}

impl Cpu for Thread<'_> {
    type Tag = u64;

    fn core(&self) -> CoreId {
        self.0.core()
    }

    #[inline]
    fn lowering(&self) -> &Lowering {
        self.0.lowering()
    }

    #[inline]
    fn alu(&self, op: Alu, a: u64, b: u64) -> u64 {
        self.0.alu(op, a, b)
    }

    #[inline]
    fn compare(&self, a: u64, b: u64) -> u64 {
        self.0.compare(a, b)
    }

    #[inline]
    fn branch(&self, condition: u64, taken: bool, site: Site) {
        self.0.branch(condition, taken, site);
    }

    #[inline]
    fn load(&self, addr: Addr, address: u64, size: u8) -> W<'_, Self> {
        self.own(self.0.load(addr, address, size))
    }

    #[inline]
    fn store(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64) {
        self.0.store(addr, address, size, value, data);
    }

    fn store_nt(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64) {
        self.0.store_nt(addr, address, size, value, data);
    }

    fn rmw(&self, addr: Addr, address: u64, op: Rmw, operand: u64, data: u64) -> W<'_, Self> {
        self.own(self.0.rmw(addr, address, op, operand, data))
    }

    fn flush(&self, addr: Addr, address: u64, flush: Flush) {
        self.0.flush(addr, address, flush);
    }

    fn primitive(&self, primitive: Primitive) {
        self.0.primitive(primitive);
    }

    fn note(&self, note: Note) {
        self.0.note(note);
    }

    fn give_way(&self) {
        self.0.give_way();
    }

    fn spins(&self) {
        self.0.spins();
    }

    fn sleep<'c>(&'c self, word: W<'c, Self>, value: u64) {
        self.0.sleep(tagged(word), value);
    }

    fn wakes(&self) {
        self.0.wakes();
    }

    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }

    fn fenced(&self) {
        self.0.fenced();
    }

    fn resumed(&self) -> Option<Vec<W<'_, Self>>> {
        let state = self.0.resumed()?;
        Some(state.into_iter().map(|word| self.own(word)).collect())
    }

    fn wants_point(&self) -> bool {
        self.0.wants_point()
    }

    fn add_point<'c>(&'c self, state: Vec<W<'c, Self>>) {
        self.0.add_point(&state.into_iter().map(tagged).collect::<Vec<_>>());
    }

    fn start_line(&self) {
        self.0.start_line();
    }

    #[inline]
    fn enter(&self, scope: Scope) {
        self.0.enter(scope);
    }

    #[inline]
    fn leave(&self, scope: Scope) {
        self.0.leave(scope);
    }

    fn intent(&self, intent: Intent) {
        self.0.intent(intent);
    }

    fn jump(&self, target: u64, to: u64, site: Site) {
        self.0.jump(target, to, site);
    }

    fn cycles(&self) -> W<'_, Self> {
        self.own(self.0.cycles())
    }

    fn goes_on(&self) -> bool {
        self.0.goes_on()
    }
}
