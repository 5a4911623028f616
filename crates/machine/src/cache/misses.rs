//! Miss-status holding registers.

use strandline_isa::Line;

/// The misses that a cache has outstanding, as the times at which they are filled.
pub struct Misses {
    slots: Box<[(Line, u64)]>,
    /// When the last of them is filled.
    last: u64,
}

impl Misses {
    pub fn new(entries: u64) -> Misses {
        Misses {
            slots: vec![(Line(u64::MAX), 0); entries as usize].into_boxed_slice(),
            last: 0,
        }
    }

    /// When a miss that wants to start at `at` finds a free register.
    pub fn start(&self, at: u64) -> u64 {
        let free = self.slots.iter().map(|s| s.1).min().unwrap_or(0);
        at.max(free)
    }

    /// Keeps a register for `line` until `done`.
    pub fn keep(&mut self, line: Line, done: u64) {
        if let Some(slot) = self.slots.iter_mut().min_by_key(|s| s.1) {
            *slot = (line, done);
        }
        self.last = self.last.max(done);
    }

    /// When `line`, present in the tags, really is: now, or when its miss is filled.
    #[inline(always)]
    pub fn filled(&self, line: Line, at: u64) -> u64 {
        if at >= self.last {
            return at;
        }
        self.filled_later(line, at)
    }

    fn filled_later(&self, line: Line, at: u64) -> u64 {
        let done = self.slots.iter().filter(|s| s.0 == line).map(|s| s.1).max();
        done.unwrap_or(0).max(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_miss_waits_for_one_of_two_registers() {
        let mut m = Misses::new(2);
        m.keep(Line(1), 100);
        m.keep(Line(2), 150);
        assert_eq!(m.start(10), 100);
        assert_eq!(m.filled(Line(2), 10), 150);
        assert_eq!(m.filled(Line(3), 10), 10);
        m.keep(Line(3), 300);
        assert_eq!(m.filled(Line(1), 99), 99, "its register serves another miss since");
        assert_eq!(m.start(120), 150);
    }
}
