//! A number of states, which may be too large to count exactly.

/// A number of states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    /// Exactly, if it fits.
    pub exact: Option<u128>,
    /// Its logarithm to the base 2; minus infinity for zero.
    pub log2: f64,
}

impl Count {
    /// None.
    pub const NONE: Count = Count {
        exact: Some(0),
        log2: f64::NEG_INFINITY,
    };

    /// So many.
    #[must_use]
    pub fn exactly(count: u128) -> Count {
        Count {
            exact: Some(count),
            log2: (count as f64).log2(),
        }
    }

    /// This power of two.
    #[must_use]
    pub fn about(log2: f64) -> Count {
        Count { exact: None, log2 }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Count) -> Count {
        let exact = self.exact.zip(other.exact).and_then(|(a, b)| a.checked_add(b));
        let (small, large) = if self.log2 < other.log2 {
            (self, other)
        } else {
            (other, self)
        };
        let log2 = match small.log2 == f64::NEG_INFINITY {
            true => large.log2,
            false => large.log2 + (small.log2 - large.log2).exp2().ln_1p() / std::f64::consts::LN_2,
        };
        Count { exact, log2 }
    }

    /// Itself, but no more than `most`.
    #[must_use]
    pub fn at_most(self, most: u32) -> u32 {
        self.exact.map_or(most, |exact| exact.min(u128::from(most)) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_exact_as_long_as_they_fit() {
        let three = Count::exactly(1).plus(Count::exactly(2));
        assert_eq!(three.exact, Some(3));
        assert!((three.log2 - 3f64.log2()).abs() < 1e-12);
        let huge = Count::about(200.0).plus(Count::about(200.0));
        assert_eq!(huge, Count::about(201.0), "2^200 + 2^200 = 2^201");
        assert_eq!(Count::NONE.plus(Count::exactly(7)), Count::exactly(7));
        assert_eq!(Count::exactly(u128::MAX).plus(Count::exactly(1)).exact, None);
    }
}
