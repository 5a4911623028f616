//! Registers as indices into a small array.

use iced_x86::Register;

/// A register's index among the tags of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub u8);

/// Size of a thread's tags: a power of two, so that no index is out of bounds.
pub const SLOTS: usize = 64;

impl Slot {
    /// Always ready: constants. Never written.
    pub const READY: Slot = Slot(0);
    /// The flags, as one.
    pub const FLAGS: Slot = Slot(17);
    /// The x87 registers as one, including the MMX registers, which are the same.
    pub const X87: Slot = Slot(58);
    /// The loaded value, for the rest of the instruction.
    pub const LOADED: Slot = Slot(59);
    /// Several sources as one.
    pub const JOINED: Slot = Slot(60);
    /// Written and never read.
    pub const NOWHERE: Slot = Slot(63);

    /// The index of a register; `None` if nothing depends on it (segments, the program counter).
    #[must_use]
    pub fn of(register: Register) -> Option<Slot> {
        let full = register.full_register();
        let from = |first: Register, base: u8| Slot(base + (full as u8).wrapping_sub(first as u8));
        if full.is_gpr64() {
            Some(from(Register::RAX, 1))
        } else if full.is_zmm() {
            Some(from(Register::ZMM0, 18))
        } else if full.is_k() {
            Some(from(Register::K0, 50))
        } else if full.is_st() || full.is_mm() {
            Some(Slot::X87)
        } else {
            None
        }
    }
}

/// Registers without repetition, in order of first mention.
#[derive(Clone, Debug, Default)]
pub struct Slots(Vec<Slot>);

impl Slots {
    pub fn add(&mut self, slot: Slot) {
        if !self.0.contains(&slot) {
            self.0.push(slot);
        }
    }

    pub fn remove(&mut self, slot: Slot) {
        self.0.retain(|other| *other != slot);
    }

    pub fn has(&self, slot: Slot) -> bool {
        self.0.contains(&slot)
    }

    pub fn as_slice(&self) -> &[Slot] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_register_has_its_own_place_and_parts_share_that_of_the_whole() {
        assert_eq!(Slot::of(Register::AL), Slot::of(Register::RAX));
        assert_eq!(Slot::of(Register::R15D), Some(Slot(16)));
        assert_eq!(Slot::of(Register::XMM31), Some(Slot(49)));
        assert_eq!(Slot::of(Register::K7), Some(Slot(57)));
        assert_eq!(Slot::of(Register::ST3), Some(Slot::X87));
        assert_eq!(Slot::of(Register::RIP), None);
        assert_eq!(Slot::of(Register::FS), None);
    }
}
