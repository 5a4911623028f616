//! Splits accesses of any size and alignment into pieces that a back end accepts.

/// Bytes of the first piece of an access: 1, 2, 4 or 8, such that it is naturally aligned.
#[inline(always)]
pub fn piece(addr: u64, left: u64) -> u64 {
    let aligned = 1 << addr.trailing_zeros().min(3);
    if aligned <= left {
        aligned
    } else {
        1 << left.ilog2()
    }
}

/// At most eight bytes from `offset` on of a value in little-endian words.
#[inline(always)]
pub fn bytes(words: &[u64], offset: u64, count: u64) -> u64 {
    let (word, shift) = ((offset / 8) as usize, offset % 8 * 8);
    let low = words.get(word).map_or(0, |w| w >> shift);
    let high = match shift {
        0 => 0,
        _ => words.get(word + 1).map_or(0, |w| w << (64 - shift)),
    };
    (low | high) & mask(count)
}

/// The low bytes of a word.
#[inline(always)]
pub fn mask(count: u64) -> u64 {
    if count >= 8 {
        u64::MAX
    } else {
        (1 << (8 * count)) - 1
    }
}

/// The low bits of a mask, one for each of so many bytes.
pub fn bits(count: u64) -> u64 {
    1u64.checked_shl(count as u32).map_or(u64::MAX, |bit| bit - 1)
}

/// The runs of ones of a mask, the lowest first.
pub fn runs(mask: u64) -> impl Iterator<Item = std::ops::Range<u64>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let left = mask.checked_shr(at as u32).filter(|left| *left != 0)?;
        let start = at + u64::from(left.trailing_zeros());
        at = start + u64::from((mask >> start).trailing_ones());
        Some(start..at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(addr: u64, size: u64) -> Vec<(u64, u64)> {
        let mut at = 0;
        std::iter::from_fn(|| {
            (at < size).then(|| {
                let count = piece(addr + at, size - at);
                at += count;
                (addr + at - count, count)
            })
        })
        .collect()
    }

    #[test]
    fn an_aligned_access_of_up_to_eight_bytes_is_one_piece() {
        for size in [1, 2, 4, 8] {
            assert_eq!(pieces(64, size), [(64, size)]);
        }
    }

    #[test]
    fn pieces_are_aligned_and_cover_each_byte_once() {
        for addr in 0..16 {
            for size in 1..=64 {
                let all = pieces(addr, size);
                assert!(all.iter().all(|(at, count)| at % count == 0));
                assert_eq!(all.iter().map(|(_, count)| count).sum::<u64>(), size);
                assert!(all.windows(2).all(|w| w[0].0 + w[0].1 == w[1].0));
            }
        }
    }

    #[test]
    fn a_mask_is_a_list_of_runs() {
        assert_eq!(runs(0).count(), 0);
        assert!(runs(u64::MAX).eq(std::iter::once(0..64)));
        assert_eq!(runs(0b1_0110 | 1 << 63).collect::<Vec<_>>(), [1..3, 4..5, 63..64]);
        assert_eq!((bits(3), bits(64)), (7, u64::MAX));
    }

    #[test]
    fn bytes_of_a_value_may_come_from_two_words() {
        let words = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
        assert_eq!(bytes(&words, 0, 8), words[0]);
        assert_eq!(bytes(&words, 6, 4), 0x0908_0706);
        assert_eq!(bytes(&words, 3, 1), 3);
        assert_eq!(bytes(&words, 8, 8), words[1]);
    }
}
