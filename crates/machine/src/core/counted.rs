//! Writes with waiters: how recorded threads keep the order of their synchronisation.

use std::cell::RefCell;
use std::collections::HashMap;
use strandline_isa::Addr;

/// How often words were written, where their writers count.
#[derive(Default)]
pub struct Counted(RefCell<HashMap<Addr, u32>>);

impl Counted {
    /// One more write to the aligned word that holds `addr` is visible.
    pub fn add(&self, addr: Addr) {
        *self.0.borrow_mut().entry(Addr(addr.0 & !7)).or_default() += 1;
    }

    /// Whether `times` writes to the word are visible.
    pub fn reached(&self, word: Addr, times: u32) -> bool {
        times == 0 || self.0.borrow().get(&word).is_some_and(|count| *count >= times)
    }
}
