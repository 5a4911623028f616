//! Miss-status holding registers.

use crate::line_counts::LineCounts;
use strandline_isa::Line;

/// The misses that a cache has outstanding, as the times of their fills.
#[derive(Clone)]
pub struct Misses {
    /// A ring in the order in which the registers become free.
    registers: Box<[Register]>,
    /// The register that becomes free first.
    first: usize,
    /// When the latest of them is filled.
    last: u64,
    /// The lines that the registers have held last.
    lines: LineCounts<64>,
}

#[derive(Clone, Copy)]
struct Register {
    /// When its miss is filled; of two that are filled at one time the lower number is used first.
    done: u64,
    number: usize,
    line: Line,
}

/// The line of a register that has held none.
const NONE: Line = Line(u64::MAX);

impl Misses {
    pub fn new(entries: u64) -> Misses {
        let empty = |number| Register {
            done: 0,
            number,
            line: NONE,
        };
        let mut lines = LineCounts::new();
        (0..entries).for_each(|_| lines.add(NONE));
        Misses {
            registers: (0..entries as usize).map(empty).collect(),
            first: 0,
            last: 0,
            lines,
        }
    }

    /// When a miss that wants to start at `at` finds a free register.
    pub fn start(&self, at: u64) -> u64 {
        at.max(self.registers[self.first].done)
    }

    /// Keeps a register for `line` until `done`.
    pub fn keep(&mut self, line: Line, done: u64) {
        let mut place = self.first;
        let Register { number, line: old, .. } = self.registers[place];
        self.lines.remove(old);
        self.lines.add(line);
        self.first = if place + 1 == self.registers.len() {
            0
        } else {
            place + 1
        };
        // Misses end about in the order in which they begin: this loop is short.
        loop {
            let before = self.before(place);
            let other = self.registers[before];
            if place == self.first || (other.done, other.number) < (done, number) {
                break;
            }
            self.registers[place] = other;
            place = before;
        }
        self.registers[place] = Register { done, number, line };
        self.last = self.last.max(done);
    }

    fn before(&self, place: usize) -> usize {
        if place == 0 {
            self.registers.len() - 1
        } else {
            place - 1
        }
    }

    /// When `line`, present in the tags, is available: now, or when its miss is filled.
    #[inline(always)]
    pub fn filled(&self, line: Line, at: u64) -> u64 {
        if at >= self.last || self.lines.most(line) == 0 {
            return at;
        }
        self.filled_later(line, at)
    }

    fn filled_later(&self, line: Line, at: u64) -> u64 {
        let mut place = self.first;
        for _ in 0..self.registers.len() {
            place = self.before(place);
            let register = self.registers[place];
            if register.line == line || register.done <= at {
                return register.done.max(at);
            }
        }
        at
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

    #[test]
    fn the_register_filled_first_is_free_first_whatever_the_order_of_the_misses() {
        let mut m = Misses::new(3);
        for (line, done) in [(1, 300), (2, 100), (3, 200)] {
            m.keep(Line(line), done);
        }
        assert_eq!(m.start(0), 100);
        m.keep(Line(4), 150);
        assert_eq!(
            [m.filled(Line(1), 0), m.filled(Line(2), 0), m.filled(Line(3), 0)],
            [300, 0, 200]
        );
        assert_eq!(m.start(0), 150, "the latest miss is filled first");
    }
}
