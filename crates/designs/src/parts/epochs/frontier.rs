//! A set of one core's epochs, as a message or a controller holds it.

use super::Numbers;
use crate::parts::rules::Rule;
use strandline_rules::broken;

/// Epochs of one core: all below a number, and some of the [`WINDOW`] from there on.
///
/// Where a core's epochs are in one order it has only the number. Strands prove their epochs in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frontier {
    /// All below are members. This one is not.
    below: u64,
    /// Bit `n` stands for epoch `below + n`.
    more: u32,
}

/// Epochs from the lowest that is no member on that can be members.
pub const WINDOW: u64 = u32::BITS as u64;

impl Frontier {
    /// Whether an epoch is a member.
    #[must_use]
    pub fn contains(self, number: u64) -> bool {
        number < self.below || self.reaches(number) && self.more >> (number - self.below) & 1 == 1
    }

    /// Whether an epoch is a member or can be added.
    #[must_use]
    pub fn reaches(self, number: u64) -> bool {
        number < self.below + WINDOW
    }

    /// Adds an epoch that it reaches.
    pub fn add(&mut self, number: u64) {
        if number < self.below || !self.reaches(number) {
            return;
        }
        self.more |= 1 << (number - self.below);
        let low = self.more.trailing_ones();
        self.below += u64::from(low);
        self.more = self.more.checked_shr(low).unwrap_or(0);
    }

    /// As [`Frontier::contains`], where numbers wrap.
    #[must_use]
    pub fn contains_by(self, numbers: Numbers, number: u64) -> bool {
        match numbers.ahead(self.below, number) {
            behind if behind < 0 => true,
            ahead => (ahead as u64) < WINDOW && self.more >> ahead & 1 == 1,
        }
    }

    /// As [`Frontier::join`], where numbers wrap.
    #[must_use]
    pub fn join_by(self, numbers: Numbers, other: Frontier) -> Frontier {
        match numbers.ahead(self.below, other.below) {
            0 if broken(Rule::JoinKeepsBits) => self,
            0 => Frontier {
                more: self.more.max(other.more),
                ..self
            },
            1.. => other,
            _ => self,
        }
    }

    /// The larger of two sets, one of which has all members of the other.
    #[must_use]
    pub fn join(self, other: Frontier) -> Frontier {
        self.max(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(members: &[u64]) -> Frontier {
        let mut frontier = Frontier::default();
        members.iter().for_each(|number| frontier.add(*number));
        frontier
    }

    #[test]
    fn epochs_in_order_are_a_number() {
        let frontier = of(&[0, 1, 2]);
        assert_eq!((frontier.below, frontier.more), (3, 0));
        assert!(frontier.contains(2) && !frontier.contains(3));
    }

    #[test]
    fn epochs_out_of_order_are_bits_until_the_lowest_comes() {
        let mut frontier = of(&[1, 3]);
        assert_eq!((frontier.below, frontier.more), (0, 0b1010));
        assert!(frontier.contains(1) && !frontier.contains(2) && frontier.contains(3));
        frontier.add(0);
        assert_eq!((frontier.below, frontier.more), (2, 0b10));
        frontier.add(2);
        assert_eq!(frontier, of(&[0, 1, 2, 3]));
    }

    #[test]
    fn the_window_ends_and_can_be_full() {
        let mut frontier = of(&[1]);
        assert!(frontier.reaches(31) && !frontier.reaches(32));
        (2..32).for_each(|number| frontier.add(number));
        frontier.add(32);
        assert!(!frontier.contains(32), "out of reach");
        frontier.add(0);
        assert_eq!((frontier.below, frontier.more), (32, 0));
    }

    #[test]
    fn of_two_sets_one_of_which_has_the_other_the_larger_is_their_union() {
        for (small, large) in [
            (of(&[0]), of(&[0, 2])),
            (of(&[0, 2]), of(&[0, 1, 2])),
            (of(&[]), of(&[0])),
        ] {
            assert_eq!((small.join(large), large.join(small)), (large, large));
            let joined = |numbers| (small.join_by(numbers, large), large.join_by(numbers, small));
            assert_eq!(joined(Numbers::new(32)), (large, large));
        }
    }

    #[test]
    fn numbers_wrap() {
        let numbers = Numbers::new(4);
        let (old, new) = (of(&[0, 1, 2]), of(&(0..8).collect::<Vec<_>>()));
        assert_eq!((old.join_by(numbers, new), new.join_by(numbers, old)), (new, new));
        assert!(new.contains_by(numbers, 7) && !new.contains_by(numbers, 8) && !new.contains_by(numbers, 15));
        assert!(
            old.contains_by(numbers, 11),
            "an old frontier takes a new number for a member"
        );
    }
}
