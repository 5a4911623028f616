//! Epochs' numbers, as messages, records and frontiers have them: their lowest bits.

/// Numbers that wrap after `2^bits` epochs.
///
/// The later of two numbers is the one that is ahead of the other by less than half of that. So whoever keeps a number has
/// to hear of later ones in time: [`Numbers::period`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    bits: u32,
}

impl Numbers {
    /// Numbers of this many bits, 4 to 63.
    #[must_use]
    pub fn new(bits: u64) -> Numbers {
        Numbers {
            bits: bits.clamp(4, 63) as u32,
        }
    }

    /// Bits of a number.
    #[must_use]
    pub fn bits(self) -> u64 {
        u64::from(self.bits)
    }

    /// Epochs from one of which all hear to the next one, and the most that a core has at once. Two such periods, and the
    /// window of a frontier, are less than half of all numbers.
    #[must_use]
    pub fn period(self) -> u64 {
        1 << (self.bits - 3)
    }

    /// Whether all are to hear of this epoch.
    #[must_use]
    pub fn is_for_all(self, number: u64) -> bool {
        number > 0 && number % self.period() == 0
    }

    /// How far `to` seems to be ahead of `from`, by their lowest bits; negative if it seems to be behind.
    #[must_use]
    pub fn ahead(self, from: u64, to: u64) -> i64 {
        let unused = 64 - self.bits;
        (to.wrapping_sub(from) << unused) as i64 >> unused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_ahead_for_half_of_all() {
        let numbers = Numbers::new(4);
        assert_eq!((numbers.ahead(3, 10), numbers.ahead(10, 3)), (7, -7));
        assert_eq!(numbers.ahead(3, 11), -8, "too far: it seems to be behind");
        assert_eq!(numbers.ahead(3, 19), 0, "the same bits");
        assert_eq!(Numbers::new(63).ahead(5, 1 << 40), (1 << 40) - 5);
    }

    /// The newest epoch is a period ahead of the oldest at most, and that one a period ahead of the last whose commit all have
    /// answered. A strand's frontier then lacks what is left of its window.
    #[test]
    fn what_may_be_unheard_of_is_less_than_half() {
        for bits in 4..=63 {
            let numbers = Numbers::new(bits);
            let lag = if bits < 8 { 0 } else { super::super::WINDOW - 1 };
            assert!(numbers.ahead(0, 2 * numbers.period() + lag) > 0);
        }
        let strands = Numbers::new(8);
        assert!(
            strands.ahead(0, 4 * strands.period()) < 0,
            "twice the period is too much"
        );
    }
}
