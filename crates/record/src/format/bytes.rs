//! Conversion between numbers and untrusted bytes.

/// Appends a number: seven bits a byte, the lowest first, the highest bit set in all bytes but the last.
pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends the length of bytes, and the bytes.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Maps a signed number to an unsigned one that is small near zero.
pub(crate) fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

/// The inverse of [`zigzag`].
pub(crate) fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Invalid content; the caller knows the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bad(pub &'static str);

/// Shorthand of this module and its users.
pub(crate) type Parsed<T> = Result<T, Bad>;

/// Reads bytes sequentially.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'b> {
    rest: &'b [u8],
}

const SHORT: Bad = Bad("a block ends too early");

impl<'b> Cursor<'b> {
    /// At the beginning of `bytes`.
    pub fn new(bytes: &'b [u8]) -> Cursor<'b> {
        Cursor { rest: bytes }
    }

    /// The next `bytes` bytes.
    pub fn take(&mut self, bytes: usize) -> Parsed<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(bytes).ok_or(SHORT)?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next byte.
    pub fn byte(&mut self) -> Parsed<u8> {
        Ok(self.take(1)?[0])
    }

    /// The next number ([`put`]).
    pub fn number(&mut self) -> Parsed<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return match shift == 63 && byte > 1 {
                    true => Err(Bad("a number is too large")),
                    false => Ok(number),
                };
            }
        }
        Err(Bad("a number is too long"))
    }

    /// The next number; an error if it is too large.
    pub fn small<T: TryFrom<u64>>(&mut self) -> Parsed<T> {
        T::try_from(self.number()?).map_err(|_| Bad("a number is too large"))
    }

    /// The length of a list whose items take at least `each` bytes.
    pub fn count(&mut self, each: usize) -> Parsed<usize> {
        let count: usize = self.small()?;
        match count.checked_mul(each).is_some_and(|bytes| bytes <= self.rest.len()) {
            true => Ok(count),
            false => Err(SHORT),
        }
    }

    /// Bytes, preceded by their length ([`put_bytes`]).
    pub fn bytes(&mut self) -> Parsed<&'b [u8]> {
        let bytes = self.count(1)?;
        self.take(bytes)
    }

    /// A text.
    pub fn text(&mut self) -> Parsed<String> {
        let bytes = self.bytes()?.to_vec();
        String::from_utf8(bytes).map_err(|_| Bad("a text is not UTF-8"))
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// Nothing may be left.
    pub fn end(self) -> Parsed<()> {
        match self.rest.is_empty() {
            true => Ok(()),
            false => Err(Bad("a block has bytes left over")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_too_large_ones_are_refused() {
        for number in [0, 1, 127, 128, 1 << 20, u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            let mut cursor = Cursor::new(&bytes);
            assert_eq!(cursor.number(), Ok(number));
            assert_eq!(cursor.end(), Ok(()));
            assert_eq!(unzigzag(zigzag(number as i64)), number as i64);
        }
        let too_large = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2];
        assert!(Cursor::new(&too_large).number().is_err());
    }

    #[test]
    fn a_count_that_the_bytes_cannot_hold_is_refused() {
        let mut bytes = Vec::new();
        put(&mut bytes, 3);
        bytes.extend([0; 5]);
        assert_eq!(Cursor::new(&bytes).count(1), Ok(3));
        assert_eq!(Cursor::new(&bytes).count(2), Err(SHORT));
    }
}
