//! What a cache holds of a footprint.

use crate::config::Cache;
use std::ops::Range;
use strandline_isa::LINE_BYTES;

/// The parts of `footprint` that are in the cache once all of its lines have been put there in order; all of it if parts
/// overlap.
///
/// Sets take turns: as many consecutive lines as there are sets are one line for each. Every set keeps its latest lines,
/// as many as it has ways.
#[must_use]
pub fn latest(footprint: Vec<Range<u64>>, cache: &Cache) -> Vec<Range<u64>> {
    let mut lines: Vec<Range<u64>> = footprint.iter().map(lines_of).collect();
    if overlap(&lines) {
        return footprint;
    }
    let sets = (cache.bytes / LINE_BYTES / cache.ways).max(1);
    let mut ways = cache.ways;
    for part in lines.iter_mut().rev() {
        let kept = (part.end - part.start).min(ways * sets);
        part.start = part.end - kept;
        ways -= kept / sets;
    }
    let addresses = |part: Range<u64>| part.start * LINE_BYTES..part.end * LINE_BYTES;
    lines.into_iter().map(addresses).collect()
}

fn lines_of(addresses: &Range<u64>) -> Range<u64> {
    let start = addresses.start / LINE_BYTES;
    start..addresses.end.div_ceil(LINE_BYTES).max(start)
}

fn overlap(lines: &[Range<u64>]) -> bool {
    let mut sorted: Vec<&Range<u64>> = lines.iter().filter(|part| !part.is_empty()).collect();
    sorted.sort_unstable_by_key(|part| part.start);
    sorted.windows(2).any(|pair| pair[0].end > pair[1].start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The lines of each set, the latest first.
    fn contents(footprint: &[Range<u64>], cache: &Cache) -> BTreeMap<u64, Vec<u64>> {
        let sets = cache.bytes / LINE_BYTES / cache.ways;
        let mut contents: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for line in footprint.iter().flat_map(lines_of) {
            let set = contents.entry(line % sets).or_default();
            if !set.contains(&line) {
                set.insert(0, line);
                set.truncate(cache.ways as usize);
            }
        }
        contents
    }

    proptest! {
        #[test]
        fn the_cache_holds_what_it_would_hold_after_all_lines(
            parts in prop::collection::vec((0u64..6000, 0u64..3000), 0..5),
            sets in 1u64..9,
            ways in 1u64..5,
        ) {
            let cache = Cache { bytes: sets * ways * LINE_BYTES, ways, ..Cache::default() };
            let footprint: Vec<Range<u64>> = parts.into_iter().map(|(start, bytes)| start..start + bytes).collect();
            prop_assert_eq!(contents(&latest(footprint.clone(), &cache), &cache), contents(&footprint, &cache));
        }
    }

    #[test]
    fn no_more_lines_are_visited_than_the_cache_has() {
        let cache = Cache {
            bytes: 8 * LINE_BYTES,
            ways: 2,
            ..Cache::default()
        };
        let kept = latest(
            vec![0..1 << 30, 1 << 31..(1 << 31) + 64, 1 << 40..(1 << 40) + 256],
            &cache,
        );
        // Four sets: the last part is a line for each, and the part of one line fills no way of all.
        let expected = [
            (1 << 30) - 256..1 << 30,
            1 << 31..(1 << 31) + 64,
            1 << 40..(1 << 40) + 256,
        ];
        assert_eq!(kept, expected);
    }
}
